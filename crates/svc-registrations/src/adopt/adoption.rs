//! Converts a report of WordPress's registrations to entries of `svc.toml`, and lists what cannot be converted.

use std::path::Path;

use serde_json::{Map, Value};
use svc_controllers::{site_settings, themes::supports};
use toml::{Table, Value as Toml};

use super::{
    entries::{Entry, meta_entry, setting_entry, taxonomy_entry, type_entry},
    report::Report,
};
use crate::Registrations;

/// Meta that this server registers as WordPress does. Keys of some depend on the prefix of tables.
const CORE_META: [&str; 4] = ["footnotes", "wp_pattern_sync_status", "_wp_note_status", "persisted_preferences"];

/// The table of the theme's features.
const THEME_SUPPORTS: &str = "theme_supports";

/// Entries of `svc.toml`, and what cannot be an entry.
#[derive(Debug, Default)]
pub struct Adoption {
    types: Vec<Table>,
    taxonomies: Vec<Table>,
    meta: Vec<Table>,
    settings: Vec<Table>,
    theme_supports: Table,
    /// Registrations that are not taken over, each with the reason.
    pub left_out: Vec<[String; 2]>,
}

impl Adoption {
    /// Converts a report.
    pub fn of(report: &Report) -> Self {
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
            all.add("meta", &name, Ok(meta_entry(meta)));
        }
        let core = site_settings::core_options();
        for setting in report.settings.iter().filter(|s| !core.iter().any(|names| names.contains(&s.option))) {
            all.add("settings", &format!("setting {}", setting.option), Ok(setting_entry(setting)));
        }
        all.add_theme_supports(report);
        if !report.namespaces.is_empty() {
            let routes = format!("routes below {}", report.namespaces.join(", "));
            all.left_out.push([routes, "PHP code".to_owned()]);
        }
        all
    }

    /// Adds an entry if the configuration accepts it.
    fn add(&mut self, table: &'static str, name: &str, entry: Entry) {
        let checked = entry.and_then(|entry| {
            let entry = to_table(entry)?;
            let mut alone = Table::new();
            alone.insert(table.to_owned(), Toml::Array(vec![Toml::Table(entry.clone())]));
            parse(&alone.to_string()).map(|_| entry)
        });
        match checked {
            Ok(entry) => self.list(table).push(entry),
            Err(reason) => self.left_out.push([name.to_owned(), reason]),
        }
    }

    /// Adds the features that the server does not know from the theme's files. HTML5 markup is assumed if a classic theme does not
    /// declare it.
    fn add_theme_supports(&mut self, report: &Report) {
        let known = supports::usual(report.is_block_theme, false);
        for (name, value) in &report.theme_supports {
            let is_assumed = name == "html5" && !report.is_block_theme;
            if known.get(name) == Some(value) && !is_assumed {
                continue;
            }
            let entry = to_table([(name.clone(), value.clone())].into_iter().collect());
            let checked = entry.and_then(|entry| {
                let alone = Table::from_iter([(THEME_SUPPORTS.to_owned(), Toml::Table(entry.clone()))]);
                parse(&alone.to_string()).map(|_| entry)
            });
            match checked {
                Ok(entry) => self.theme_supports.extend(entry),
                Err(reason) => self.left_out.push([format!("feature {name} of the theme"), reason]),
            }
        }
    }

    fn list(&mut self, table: &str) -> &mut Vec<Table> {
        match table {
            "types" => &mut self.types,
            "taxonomies" => &mut self.taxonomies,
            "meta" => &mut self.meta,
            _ => &mut self.settings,
        }
    }

    fn tables(&self) -> [(&'static str, &Vec<Table>); 4] {
        [("types", &self.types), ("taxonomies", &self.taxonomies), ("meta", &self.meta), ("settings", &self.settings)]
    }

    /// Number of entries.
    pub fn count(&self) -> usize {
        self.tables().iter().map(|(_, entries)| entries.len()).sum::<usize>() + self.theme_supports.len()
    }

    /// The entries as text of `svc.toml`.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for (name, entries) in self.tables() {
            for entry in entries {
                let mut table = Table::new();
                table.insert(name.to_owned(), Toml::Array(vec![Toml::Table(inline_last(entry))]));
                text.push_str(&table.to_string());
                text.push('\n');
            }
        }
        if !self.theme_supports.is_empty() {
            let supports = Toml::Table(inline_last(&self.theme_supports));
            text.push_str(&Table::from_iter([(THEME_SUPPORTS.to_owned(), supports)]).to_string());
        }
        text
    }

    /// The entries as the configuration has them.
    ///
    /// # Errors
    /// If the entries contradict each other.
    pub fn registered(&self) -> Result<Registrations, String> {
        parse(&self.to_toml())
    }
}

/// TOML has tables after values.
fn inline_last(entry: &Table) -> Table {
    let (tables, mut values): (Vec<_>, Vec<_>) = entry.clone().into_iter().partition(|(_, value)| value.is_table());
    values.extend(tables);
    values.into_iter().collect()
}

fn parse(text: &str) -> Result<Registrations, String> {
    Registrations::parse(text, Path::new("the report of WordPress")).map_err(|error| error.message)
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
    use serde_json::json;

    use super::*;
    use crate::adopt::rest::Documents;

    fn adopt(documents: Documents) -> Adoption {
        Adoption::of(&documents.report())
    }

    /// The index with these properties of items below `wp/v2`.
    fn index(properties: &[(&str, Value)]) -> Value {
        let routes = properties
            .iter()
            .map(|(base, properties)| (format!("/wp/v2/{base}"), json!({"schema": {"properties": properties}})));
        json!({"namespaces": ["wp/v2", "shop/v1"], "routes": routes.collect::<Map<_, _>>()})
    }

    #[test]
    fn converts_registrations_to_entries() {
        let all = adopt(Documents {
            index: index(&[
                (
                    "books",
                    json!({"meta": {"properties": {
                        "isbn": {"type": "string", "title": "", "description": "Number.", "default": "", "enum": ["a", "b"]},
                        "tags": {"type": "array", "items": {"type": "string", "title": "", "description": "", "default": ""}},
                        "sizes": {"type": "array", "title": "", "description": "", "default": [], "items": {"type": "integer"}},
                        "footnotes": {"type": "string", "title": ""},
                    }}}),
                ),
                (
                    "users",
                    json!({"meta": {"properties": {"wp_persisted_preferences": {"type": "object", "title": ""}}}}),
                ),
                (
                    "settings",
                    json!({
                        "title": {"type": "string"}, "motto": {"type": "string", "title": "Motto", "default": "Onward"},
                    }),
                ),
            ]),
            types: json!({
                "post": {"rest_base": "posts"},
                "book": {
                    "name": "Books", "labels": {"singular_name": "Book"}, "viewable": true, "rest_base": "books",
                    "rest_namespace": "wp/v2", "has_archive": "library", "taxonomies": ["genre"],
                    "supports": {"title": true, "editor": true, "autosave": true},
                    "visibility": {"show_ui": true, "show_in_nav_menus": false},
                    "capabilities": {"edit_post": "edit_tome", "edit_posts": "edit_tomes"},
                },
            }),
            taxonomies: json!({
                "category": {"rest_base": "categories"},
                "genre": {
                    "name": "Genres", "labels": {"singular_name": "Genre"}, "types": ["book"], "hierarchical": true,
                    "rest_base": "genres", "visibility": {"public": true, "show_admin_column": true},
                    "capabilities": {"manage_terms": "manage_categories"},
                },
            }),
            themes: json!([{"is_block_theme": false, "theme_supports": {
                "title-tag": true, "align-wide": false, "html5": false, "custom-logo": {"width": 9}, "unknown": true,
            }}]),
        });
        let expected = r#"
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
            object = "post"
            of = "book"
            key = "isbn"
            type = "string"
            description = "Number."
            schema = { enum = ["a", "b"] }
            [[meta]]
            object = "post"
            of = "book"
            key = "tags"
            type = "string"
            list = true
            [[meta]]
            object = "post"
            of = "book"
            key = "sizes"
            type = "array"
            schema = { items = { type = "integer" } }
            [[settings]]
            option = "motto"
            type = "string"
            title = "Motto"
            default = "Onward"
            [theme_supports]
            title-tag = true
            html5 = false
            custom-logo = { width = 9 }
        "#;
        let read = |text: &str| text.parse::<Table>().unwrap();
        assert_eq!(read(&all.to_toml()), read(expected), "{}", all.to_toml());
        assert!(all.registered().is_ok());
        let left_out = [
            ["feature unknown of the theme", "themes have no feature `unknown`"],
            ["routes below shop/v1", "PHP code"],
        ];
        assert_eq!(all.left_out, left_out.map(|row| row.map(str::to_owned)));
    }

    #[test]
    fn names_what_is_left_out() {
        for (name, fields, reason) in [
            ("a", json!({"rest_namespace": "shop/v1"}), "its routes are below shop/v1"),
            ("Wrong", json!({}), "the name `Wrong` must be 1 to 20 of a-z, 0-9, - and _"),
            ("a", json!({"rest_base": "posts"}), "every site has a type `a`, or its base in the REST API"),
            (
                "a",
                json!({"capabilities": {"edit_post": "manage", "edit_posts": "manage"}}),
                "its capabilities do not follow from two names",
            ),
            ("a", json!({"template": [["x", {"y": null}]]}), "`template` contains null, or a number out of range"),
        ] {
            let all = adopt(Documents { types: json!({ name: fields }), ..Documents::default() });
            assert_eq!(all.left_out.first().map(|[_, why]| why.as_str()), Some(reason));
            assert_eq!(all.count(), 0);
        }
    }

    #[test]
    fn values_of_secret_settings_are_not_written() {
        let setting = json!({"type": "string", "default": "sk-live-1", "examples": ["sk-live-2"], "maxLength": 9});
        let index = index(&[(
            "settings",
            json!({
                "wordpress_api_key": setting, "motto": setting,
                "connectors_x_application_password": {
                    "type": "object", "default": {"username": "ada", "password": "sk-live-3"},
                },
            }),
        )]);
        let all = adopt(Documents { index, ..Documents::default() });
        let text = all.to_toml();
        // Those of `motto`.
        for (value, n) in [("sk-live-1", 1), ("sk-live-2", 1), ("sk-live-3", 0), ("\"ada\"", 0)] {
            assert_eq!(text.matches(value).count(), n, "{value} in {text}");
        }
        assert_eq!(text.matches("maxLength = 9").count(), 2, "{text}");
        assert!(all.registered().is_ok());
    }
}
