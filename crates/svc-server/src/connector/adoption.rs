//! Converts a report of WordPress's registrations to entries of `svc.toml`, and lists what cannot be converted.

use std::path::Path;

use serde_json::{Map, Value, json};
use svc_controllers::site_settings;
use svc_model::{PostTypeCaps, PostTypes, Taxonomies, Taxonomy as SvcTaxonomy};
use toml::{Table, Value as Toml};

use super::{
    client::Error,
    report::{Meta, PostType, Report, Setting, Taxonomy},
};
use crate::config::Registered;

/// Meta that this server registers as WordPress does. Keys of some depend on the prefix of tables.
const CORE_META: [&str; 4] = ["footnotes", "wp_pattern_sync_status", "_wp_note_status", "persisted_preferences"];

/// Namespace of the routes of types and taxonomies.
const NAMESPACE: &str = "wp/v2";

/// Classes that serve types and taxonomies by default.
const CONTROLLERS: [&str; 4] = [
    "WP_REST_Posts_Controller",
    "WP_REST_Revisions_Controller",
    "WP_REST_Autosaves_Controller",
    "WP_REST_Terms_Controller",
];

/// Entries of `svc.toml`, and what cannot be an entry.
#[derive(Debug, Default)]
pub(crate) struct Adoption {
    types: Vec<Table>,
    taxonomies: Vec<Table>,
    meta: Vec<Table>,
    settings: Vec<Table>,
    /// Routes whose writes only PHP handles in the same way, in the form of `wordpress.php_routes`.
    pub(crate) php_writes: Vec<String>,
    /// Registrations that are not taken over, each with the reason.
    pub(crate) left_out: Vec<[String; 2]>,
}

/// An entry, or the reason for which there is none.
type Entry = Result<Map<String, Value>, String>;

impl Adoption {
    /// Converts a report.
    pub(crate) fn of(report: &Report) -> Self {
        let mut all = Adoption::default();
        let mut bases = Bases::core();
        for kind in &report.types {
            if all.add("types", &format!("type {}", kind.name), type_entry(kind))
                && let Some(base) = kind.rest_base()
            {
                bases.types.push((kind.name.clone(), base));
            }
        }
        for taxonomy in &report.taxonomies {
            if all.add("taxonomies", &format!("taxonomy {}", taxonomy.name), taxonomy_entry(taxonomy))
                && let Some(base) = taxonomy.rest_base()
            {
                bases.taxonomies.push((taxonomy.name.clone(), base));
            }
        }
        for meta in report.meta.iter().filter(|meta| !is_core_meta(&meta.key)) {
            let of = if meta.of.is_empty() { String::new() } else { format!(" of {}", meta.of) };
            let is_added = all.add("meta", &format!("{} meta {}{of}", meta.object, meta.key), meta_entry(meta));
            if is_added && (meta.sanitized || meta.guarded) {
                all.php_writes.extend(bases.writes(&meta.object, &meta.of));
            }
        }
        let core = site_settings::core_options();
        for setting in report.settings.iter().filter(|s| !core.iter().any(|names| names.contains(&s.option))) {
            let is_added = all.add("settings", &format!("setting {}", setting.option), setting_entry(setting));
            if is_added && setting.sanitized {
                all.php_writes.extend(methods("settings"));
            }
        }
        all.php_writes.sort();
        all.php_writes.dedup();
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
            _ => &mut self.settings,
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

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.types.len() + self.taxonomies.len() + self.meta.len() + self.settings.len()
    }

    /// The entries as text of `svc.toml`.
    pub(crate) fn to_toml(&self) -> String {
        let mut text = String::new();
        for (name, entries) in [
            ("types", &self.types),
            ("taxonomies", &self.taxonomies),
            ("meta", &self.meta),
            ("settings", &self.settings),
        ] {
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
    pub(crate) fn registered(&self) -> Result<Registered, Error> {
        parse(&self.to_toml()).map_err(Error::Report)
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

/// An entry, without fields that have the value of the default.
fn entry(fields: Value, defaults: &[(&str, Value)]) -> Map<String, Value> {
    let Value::Object(mut map) = fields else { return Map::new() };
    map.retain(|name, value| {
        !value.is_null() && !defaults.iter().any(|(other, default)| other == name && default == value)
    });
    map
}

fn custom_controller(controllers: &[String]) -> Option<String> {
    let other = controllers.iter().find(|name| !CONTROLLERS.contains(&name.trim_start_matches('\\')))?;
    Some(format!("its REST API is the PHP class {other}"))
}

/// `Ok` if the routes are in the usual namespace.
fn check_namespace(namespace: &Value) -> Result<(), String> {
    match namespace.as_str() {
        None | Some("" | NAMESPACE) => Ok(()),
        Some(other) => Err(format!("its routes are below {other}")),
    }
}

impl PostType {
    /// The base of its routes, if it has any.
    fn rest_base(&self) -> Option<String> {
        self.show_in_rest.then(|| base(&self.rest_base, &self.name))
    }
}

impl Taxonomy {
    fn rest_base(&self) -> Option<String> {
        self.show_in_rest.then(|| base(&self.rest_base, &self.name))
    }
}

fn base(rest_base: &Value, name: &str) -> String {
    rest_base.as_str().filter(|base| !base.is_empty()).unwrap_or(name).to_owned()
}

fn type_entry(kind: &PostType) -> Entry {
    if kind.show_in_rest {
        check_namespace(&kind.rest_namespace)?;
        if let Some(reason) = custom_controller(&kind.controllers) {
            return Err(reason);
        }
    }
    let Some(slug) = &kind.slug else { return Err("its posts have no permalinks".to_owned()) };
    let defaults = |public: bool| {
        [
            ("label", json!(kind.name)),
            ("description", json!("")),
            ("public", json!(true)),
            ("hierarchical", json!(false)),
            ("in_interface", json!(true)),
            ("rest_base", json!(kind.name)),
            ("taxonomies", json!([])),
            ("slug", json!(kind.name)),
            ("template", json!([])),
            ("searchable", json!(public)),
            ("queryable", json!(public)),
            ("show_ui", json!(public)),
            ("show_in_nav_menus", json!(public)),
            ("map_meta_cap", json!(true)),
        ]
    };
    let archive = match &kind.has_archive {
        Value::String(path) if !path.is_empty() => json!(path),
        Value::Bool(true) => json!(slug),
        _ => Value::Null,
    };
    let supports: Vec<&String> = match &kind.supports {
        Value::Object(features) => features.keys().filter(|name| *name != "autosave").collect(),
        _ => Vec::new(),
    };
    Ok(entry(
        json!({
            "name": kind.name,
            "label": kind.label,
            "singular": kind.singular,
            "description": kind.description,
            "public": kind.public,
            "hierarchical": kind.hierarchical,
            "in_interface": kind.show_in_rest,
            "rest_base": kind.rest_base(),
            "supports": supports,
            "taxonomies": if kind.taxonomies.is_array() { kind.taxonomies.clone() } else { json!([]) },
            "archive": archive,
            "slug": slug,
            "icon": kind.menu_icon,
            "capabilities": capabilities(&kind.capabilities)?,
            "template": if kind.template.is_array() { kind.template.clone() } else { json!([]) },
            "template_lock": if kind.template_lock.is_string() { kind.template_lock.clone() } else { Value::Null },
            "searchable": kind.exclude_from_search.map(|excluded| !excluded),
            "queryable": kind.publicly_queryable,
            "show_ui": kind.show_ui,
            "show_in_nav_menus": kind.show_in_nav_menus,
            "map_meta_cap": kind.map_meta_cap,
            "delete_with_user": kind.delete_with_user,
        }),
        &defaults(kind.public),
    ))
}

/// The stems of a type's capabilities; `None` for those of posts.
fn capabilities(caps: &Map<String, Value>) -> Result<Option<[String; 2]>, String> {
    let stem = |name: &str| caps.get(name)?.as_str()?.strip_prefix("edit_");
    if caps.is_empty() {
        return Ok(None);
    }
    let custom = || "its capabilities do not follow from two names".to_owned();
    let (Some(one), Some(many)) = (stem("edit_post"), stem("edit_posts")) else { return Err(custom()) };
    let derived = PostTypeCaps::of(one, many);
    let pairs = derived.pairs();
    let is_derived = pairs.iter().all(|(name, cap)| caps.get(*name).is_none_or(|own| own == cap));
    match (is_derived, one, many) {
        (false, ..) => Err(custom()),
        (true, "post", "posts") => Ok(None),
        (true, one, many) => Ok(Some([one.to_owned(), many.to_owned()])),
    }
}

fn taxonomy_entry(taxonomy: &Taxonomy) -> Entry {
    if taxonomy.show_in_rest {
        check_namespace(&taxonomy.rest_namespace)?;
        if let Some(reason) = custom_controller(&taxonomy.controllers) {
            return Err(reason);
        }
    }
    let is_set = |value: &Value| !matches!(value, Value::Null | Value::Bool(false)) && value != "";
    if is_set(&taxonomy.default_term) || is_set(&taxonomy.sort) {
        return Err("it has a default term or an order of its own".to_owned());
    }
    let Some(slug) = &taxonomy.slug else { return Err("its terms have no permalinks".to_owned()) };
    let own = SvcTaxonomy::new(&taxonomy.name, &[]).caps;
    let usual = [&own.manage_terms, &own.edit_terms, &own.delete_terms, &own.assign_terms];
    let names = ["manage_terms", "edit_terms", "delete_terms", "assign_terms"];
    if names.iter().zip(usual).any(|(name, cap)| taxonomy.capabilities.get(*name).is_some_and(|own| own != cap)) {
        return Err("it has capabilities of its own".to_owned());
    }
    let public = taxonomy.public;
    Ok(entry(
        json!({
            "name": taxonomy.name,
            "types": taxonomy.types,
            "label": taxonomy.label,
            "singular": taxonomy.singular,
            "description": taxonomy.description,
            "public": public,
            "hierarchical": taxonomy.hierarchical,
            "in_interface": taxonomy.show_in_rest,
            "rest_base": taxonomy.rest_base(),
            "slug": slug,
            "queryable": taxonomy.publicly_queryable,
            "show_ui": taxonomy.show_ui,
            "show_in_nav_menus": taxonomy.show_in_nav_menus,
            "show_tagcloud": taxonomy.show_tagcloud,
            "show_in_quick_edit": taxonomy.show_in_quick_edit,
            "show_admin_column": taxonomy.show_admin_column,
        }),
        &[
            ("label", json!(taxonomy.name)),
            ("description", json!("")),
            ("public", json!(true)),
            ("hierarchical", json!(false)),
            ("in_interface", json!(true)),
            ("rest_base", json!(taxonomy.name)),
            ("slug", json!(taxonomy.name)),
            ("queryable", json!(public)),
            ("show_ui", json!(public)),
            ("show_in_nav_menus", json!(public)),
            ("show_tagcloud", json!(public)),
            ("show_in_quick_edit", json!(public)),
            ("show_admin_column", json!(false)),
        ],
    ))
}

fn is_core_meta(key: &str) -> bool {
    CORE_META.iter().any(|core| key == *core || (*core == "persisted_preferences" && key.ends_with(core)))
}

fn meta_entry(meta: &Meta) -> Entry {
    if meta.prepared {
        return Err("PHP code computes its values in responses".to_owned());
    }
    Ok(entry(
        json!({
            "object": meta.object,
            "of": meta.of,
            "key": meta.key,
            "type": meta.kind,
            "name": meta.name,
            "description": meta.description,
            "default": meta.default,
            "list": !meta.single,
            "revisions": meta.revisions,
            "schema": keywords(&meta.schema),
        }),
        &[
            ("of", json!("")),
            ("name", json!(meta.key)),
            ("description", json!("")),
            ("list", json!(false)),
            ("revisions", json!(false)),
            ("schema", json!({})),
        ],
    ))
}

fn setting_entry(setting: &Setting) -> Entry {
    Ok(entry(
        json!({
            "option": setting.option,
            "type": setting.kind,
            "name": setting.name,
            "title": setting.title,
            "description": setting.description,
            "default": setting.default,
            "schema": keywords(&setting.schema),
        }),
        &[("name", json!(setting.option)), ("title", json!("")), ("description", json!("")), ("schema", json!({}))],
    ))
}

/// Keywords of a schema; PHP encodes an empty object as a list.
fn keywords(schema: &Value) -> Value {
    if schema.is_object() { schema.clone() } else { json!({}) }
}

/// Bases of routes by type and taxonomy.
struct Bases {
    types: Vec<(String, String)>,
    taxonomies: Vec<(String, String)>,
}

impl Bases {
    /// Those of WordPress itself.
    fn core() -> Self {
        let (types, taxonomies) = (PostTypes::default(), Taxonomies::default());
        Bases {
            types: types.iter().filter(|t| t.show_in_rest).map(|t| (t.name.clone(), t.rest_base.clone())).collect(),
            taxonomies: taxonomies
                .iter()
                .filter(|t| t.show_in_rest)
                .map(|t| (t.name.clone(), t.rest_base.clone()))
                .collect(),
        }
    }

    /// Rules for the writes to objects with a meta key; `of` is a type or taxonomy, or empty for all.
    fn writes(&self, object: &str, of: &str) -> Vec<String> {
        let of_list = |list: &[(String, String)]| -> Vec<String> {
            let bases = list.iter().filter(|(name, _)| of.is_empty() || name == of);
            bases.flat_map(|(_, base)| methods(base)).collect()
        };
        match object {
            "post" => of_list(&self.types),
            "term" => of_list(&self.taxonomies),
            "user" => methods("users").into(),
            _ => methods("comments").into(),
        }
    }
}

/// Rules for the methods that change objects.
fn methods(base: &str) -> [String; 3] {
    ["POST", "PUT", "PATCH"].map(|method| format!("{method} /{NAMESPACE}/{base}"))
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
        }));
        assert!(all.left_out.is_empty() && all.php_writes.is_empty(), "{all:?}");
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
    fn php_writes_what_its_callbacks_check() {
        let all = adopt(json!({
            "meta": [
                {"object": "post", "of": "page", "key": "a", "type": "string", "single": true, "sanitized": true},
                {"object": "term", "of": "category", "key": "b", "type": "string", "single": true, "guarded": true},
                {"object": "comment", "key": "c", "type": "string", "single": true},
            ],
            "settings": [{"option": "d", "type": "string", "sanitized": true}],
        }));
        let posts: Vec<&str> = all.php_writes.iter().filter_map(|rule| rule.strip_prefix("POST ")).collect();
        assert_eq!(posts, ["/wp/v2/categories", "/wp/v2/pages", "/wp/v2/settings"]);
        assert_eq!(all.php_writes.len(), 9);
        assert_eq!(all.len(), 4);
    }
}
