//! Converts a report of WordPress's registrations to entries of `svc.toml`, and lists what cannot be converted.

use std::path::Path;

use serde_json::{Map, Value, json};
use svc_controllers::site_settings;
use toml::{Table, Value as Toml};

use super::{
    entries::{Entry, entry, meta_entry, setting_entry, sidebar_entry, taxonomy_entry, type_entry},
    report::Report,
};
use crate::config::Registered;

/// Meta that this server registers as WordPress does. Keys of some depend on the prefix of tables.
const CORE_META: [&str; 4] = ["footnotes", "wp_pattern_sync_status", "_wp_note_status", "persisted_preferences"];

/// Entries of `svc.toml`, and what cannot be an entry.
#[derive(Debug, Default)]
pub(crate) struct Adoption {
    types: Vec<Table>,
    taxonomies: Vec<Table>,
    meta: Vec<Table>,
    settings: Vec<Table>,
    sidebars: Vec<Table>,
    menu_locations: Vec<Table>,
    /// Meta and settings whose values PHP callbacks check or change when they are written.
    pub(crate) checked_by_php: Vec<String>,
    /// Registrations that are not taken over, each with the reason.
    pub(crate) left_out: Vec<[String; 2]>,
}

impl Adoption {
    /// Converts a report.
    pub(crate) fn of(report: &Report) -> Self {
        let mut all = Adoption::default();
        for kind in &report.types {
            all.add("types", &format!("type {}", kind.name), type_entry(kind));
        }
        for taxonomy in &report.taxonomies {
            all.add("taxonomies", &format!("taxonomy {}", taxonomy.name), taxonomy_entry(taxonomy));
        }
        for meta in report.meta.iter().filter(|meta| !is_core_meta(&meta.key)) {
            let of = if meta.of.is_empty() { String::new() } else { format!(" of {}", meta.of) };
            let name = format!("{} meta {}{of}", meta.object, meta.key);
            if all.add("meta", &name, meta_entry(meta)) && (meta.sanitized || meta.guarded) {
                all.checked_by_php.push(name);
            }
        }
        let core = site_settings::core_options();
        for setting in report.settings.iter().filter(|s| !core.iter().any(|names| names.contains(&s.option))) {
            let name = format!("setting {}", setting.option);
            if all.add("settings", &name, setting_entry(setting)) && setting.sanitized {
                all.checked_by_php.push(name);
            }
        }
        for sidebar in &report.sidebars {
            all.add("sidebars", &format!("sidebar {}", sidebar.id), Ok(sidebar_entry(sidebar)));
        }
        for location in &report.menu_locations {
            let fields = json!({"name": location.name, "description": location.description});
            all.add("menu_locations", &format!("menu location {}", location.name), Ok(entry(fields, &[])));
        }
        all.list_others(report);
        all
    }

    /// Adds an entry if the configuration accepts it. Returns whether it does.
    fn add(&mut self, table: &'static str, name: &str, entry: Entry) -> bool {
        let checked = entry.and_then(|entry| {
            let entry = to_table(entry)?;
            let mut alone = Table::new();
            alone.insert(table.to_owned(), Toml::Array(vec![Toml::Table(entry.clone())]));
            parse(&alone.to_string()).map(|_| entry)
        });
        match checked {
            Ok(entry) => self.list(table).push(entry),
            Err(reason) => {
                self.left_out.push([name.to_owned(), reason]);
                return false;
            }
        }
        true
    }

    fn list(&mut self, table: &str) -> &mut Vec<Table> {
        match table {
            "types" => &mut self.types,
            "taxonomies" => &mut self.taxonomies,
            "meta" => &mut self.meta,
            "settings" => &mut self.settings,
            "sidebars" => &mut self.sidebars,
            _ => &mut self.menu_locations,
        }
    }

    /// Lists registrations that have no form in `svc.toml`.
    fn list_others(&mut self, report: &Report) {
        let mut add = |name: String, reason: &str| self.left_out.push([name, reason.to_owned()]);
        for fields in &report.fields {
            add(format!("fields of {}: {}", fields.kind, fields.names.join(", ")), "computed by PHP");
        }
        for filter in &report.filters {
            add(format!("filter {}", filter.filter), &format!("PHP code of {}", filter.by.join(", ")));
        }
        for (what, names) in [
            ("routes below", &report.namespaces),
            ("shortcodes", &report.shortcodes),
            ("blocks", &report.blocks),
            ("post statuses", &report.statuses),
        ] {
            if !names.is_empty() {
                add(format!("{what} {}", names.join(", ")), "PHP code");
            }
        }
    }

    fn tables(&self) -> [(&'static str, &Vec<Table>); 6] {
        [
            ("types", &self.types),
            ("taxonomies", &self.taxonomies),
            ("meta", &self.meta),
            ("settings", &self.settings),
            ("sidebars", &self.sidebars),
            ("menu_locations", &self.menu_locations),
        ]
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.tables().iter().map(|(_, entries)| entries.len()).sum()
    }

    /// The entries as text of `svc.toml`.
    pub(crate) fn to_toml(&self) -> String {
        let mut text = String::new();
        for (name, entries) in self.tables() {
            for entry in entries {
                let mut table = Table::new();
                table.insert(name.to_owned(), Toml::Array(vec![Toml::Table(inline_last(entry))]));
                text.push_str(&table.to_string());
                text.push('\n');
            }
        }
        text
    }

    /// The entries as the configuration has them.
    ///
    /// # Errors
    /// If the entries contradict each other.
    pub(crate) fn registered(&self) -> Result<Registered, String> {
        parse(&self.to_toml())
    }
}

/// TOML has tables after values.
fn inline_last(entry: &Table) -> Table {
    let (tables, mut values): (Vec<_>, Vec<_>) = entry.clone().into_iter().partition(|(_, value)| value.is_table());
    values.extend(tables);
    values.into_iter().collect()
}

fn parse(text: &str) -> Result<Registered, String> {
    Registered::parse(text, Path::new("the report of WordPress")).map_err(|error| error.what().to_owned())
}

/// An entry in TOML, which has no null.
fn to_table(entry: Map<String, Value>) -> Result<Table, String> {
    let mut table = Table::new();
    for (name, value) in entry.into_iter().filter(|(_, value)| !value.is_null()) {
        let value = Toml::try_from(&value).map_err(|_| format!("`{name}` contains null, or a number out of range"))?;
        table.insert(name, value);
    }
    Ok(table)
}

fn is_core_meta(key: &str) -> bool {
    CORE_META.iter().any(|core| key == *core || (*core == "persisted_preferences" && key.ends_with(core)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adopt(report: Value) -> Adoption {
        Adoption::of(&serde_json::from_value(report).unwrap())
    }

    #[test]
    fn converts_registrations_to_entries() {
        let all = adopt(json!({
            "types": [{
                "name": "book", "label": "Books", "singular": "Book", "public": true, "show_in_rest": true,
                "rest_base": "books", "rest_namespace": "wp/v2", "slug": "book", "has_archive": "library",
                "supports": {"title": true, "editor": true, "autosave": true}, "taxonomies": ["genre"],
                "exclude_from_search": false, "publicly_queryable": true, "show_ui": true, "show_in_nav_menus": false,
                "map_meta_cap": true, "capabilities": {"edit_post": "edit_tome", "edit_posts": "edit_tomes"},
            }],
            "taxonomies": [{
                "name": "genre", "label": "Genres", "singular": "Genre", "types": ["book"], "public": true,
                "show_in_rest": true, "rest_base": "genres", "slug": "genre", "hierarchical": true,
                "show_admin_column": true, "capabilities": {"manage_terms": "manage_categories"},
            }],
            "meta": [
                {"object": "post", "of": "book", "key": "isbn", "type": "string", "single": true, "revisions": true,
                 "schema": {"enum": ["a", "b"]}, "default": "a"},
                {"object": "post", "of": "book", "key": "footnotes", "type": "string", "single": true},
                {"object": "user", "of": "", "key": "wp_persisted_preferences", "type": "object", "single": true},
            ],
            "settings": [
                {"option": "motto", "type": "string", "default": "Onward", "schema": []},
                {"option": "blogname", "type": "string", "name": "title"},
            ],
            "sidebars": [{"id": "side", "name": "Side", "before_title": "<h3>", "after_title": "</h3>"}],
            "menu_locations": [{"name": "primary", "description": "Primary menu"}],
        }));
        assert!(all.left_out.is_empty() && all.checked_by_php.is_empty(), "{all:?}");
        expect_toml(
            &all,
            r#"
            [[types]]
            archive = "library"
            capabilities = ["tome", "tomes"]
            label = "Books"
            name = "book"
            rest_base = "books"
            show_in_nav_menus = false
            singular = "Book"
            supports = ["title", "editor"]
            taxonomies = ["genre"]
            [[taxonomies]]
            hierarchical = true
            label = "Genres"
            name = "genre"
            rest_base = "genres"
            show_admin_column = true
            singular = "Genre"
            types = ["book"]
            [[meta]]
            default = "a"
            key = "isbn"
            object = "post"
            of = "book"
            revisions = true
            type = "string"
            schema = { enum = ["a", "b"] }
            [[settings]]
            default = "Onward"
            option = "motto"
            type = "string"
            [[sidebars]]
            id = "side"
            name = "Side"
            before_widget = ""
            after_widget = ""
            before_title = "<h3>"
            after_title = "</h3>"
            [[menu_locations]]
            name = "primary"
            description = "Primary menu"
            "#,
        );
    }

    #[track_caller]
    fn expect_toml(all: &Adoption, expected: &str) {
        let parsed: Table = all.to_toml().parse().unwrap();
        assert_eq!(parsed, expected.parse::<Table>().unwrap(), "{}", all.to_toml());
        assert!(all.registered().is_ok());
    }

    #[test]
    fn names_what_is_left_out() {
        let usual = json!({"public": true, "show_in_rest": true, "slug": "x", "capabilities": {}});
        let with = |more: Value| {
            let mut kind = usual.clone();
            kind.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            kind
        };
        for (kind, reason) in [
            (with(json!({"name": "a", "rest_namespace": "shop/v1"})), "its routes are below shop/v1"),
            (with(json!({"name": "a", "controllers": ["Own"]})), "its REST API is the PHP class Own"),
            (with(json!({"name": "a", "slug": null})), "its posts have no permalinks"),
            (with(json!({"name": "Wrong"})), "the name `Wrong` must be 1 to 20 of a-z, 0-9, - and _"),
            (with(json!({"name": "post"})), "every site has a type `post`, or its base in the REST API"),
            (
                with(json!({"name": "a", "capabilities": {"edit_post": "manage", "edit_posts": "manage"}})),
                "its capabilities do not follow from two names",
            ),
            (
                with(json!({"name": "a", "template": [["x", {"y": null}]]})),
                "`template` contains null, or a number out of range",
            ),
        ] {
            let all = adopt(json!({"types": [kind]}));
            assert_eq!(all.left_out.first().map(|[_, why]| why.as_str()), Some(reason));
            assert_eq!(all.len(), 0);
        }
        let all = adopt(json!({
            "fields": [{"type": "post", "names": ["words"]}], "filters": [{"filter": "the_content", "by": ["seo"]}],
            "namespaces": ["shop/v1"], "shortcodes": ["hello"],
        }));
        let names: Vec<&str> = all.left_out.iter().map(|[name, _]| name.as_str()).collect();
        assert_eq!(names, ["fields of post: words", "filter the_content", "routes below shop/v1", "shortcodes hello"]);
    }

    #[test]
    fn values_of_secret_settings_are_not_written() {
        let setting = |option: &str, secret: bool| {
            json!({"option": option, "type": "string", "default": "sk-live-1", "secret": secret,
                   "schema": {"examples": ["sk-live-2"], "maxLength": 9}})
        };
        let all = adopt(json!({"settings": [
            setting("wordpress_api_key", false), setting("shop_credential", true), setting("motto", false),
            {"option": "connectors_x_application_password", "type": "object", "secret": true,
             "default": {"username": "ada", "password": "sk-live-3"}},
        ]}));
        let text = all.to_toml();
        // Those of `motto`.
        for (value, n) in [("sk-live-1", 1), ("sk-live-2", 1), ("sk-live-3", 0), ("\"ada\"", 0)] {
            assert_eq!(text.matches(value).count(), n, "{value} in {text}");
        }
        // The names of the others show that they are secret.
        assert_eq!((text.matches("secret = true").count(), text.matches("maxLength = 9").count()), (1, 3), "{text}");
        assert!(all.registered().is_ok());
    }

    #[test]
    fn values_that_php_checks_are_listed() {
        let all = adopt(json!({
            "meta": [
                {"object": "post", "of": "page", "key": "a", "type": "string", "single": true, "sanitized": true},
                {"object": "term", "of": "category", "key": "b", "type": "string", "single": true, "guarded": true},
                {"object": "comment", "key": "c", "type": "string", "single": true},
            ],
            "settings": [{"option": "d", "type": "string", "sanitized": true}],
        }));
        assert_eq!(all.checked_by_php, ["post meta a of page", "term meta b of category", "setting d"]);
        assert_eq!(all.len(), 4);
    }
}
