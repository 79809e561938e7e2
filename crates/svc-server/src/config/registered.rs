//! Post types, taxonomies, meta, settings, sidebars and menu locations that `svc.toml` registers on the site.
//!
//! A program registers them in [`SiteBuilder::prepare`](crate::SiteBuilder::prepare) instead.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use svc_controllers::{RegisteredSetting, RestSetup};
use svc_model::{PostType, PostTypeCaps, PostTypes, Taxonomies, Taxonomy};
use svc_schema::build::{SchemaBuilder, untyped};
use svc_site::{MetaField, registries::sidebars::Sidebar};
use toml::Spanned;
use validator::{Validate, ValidationError};

use super::{ConfigError, origin::SettingOrigin};

/// The tables of a file that this module reads.
pub(super) const TABLES: [&str; 6] = ["types", "taxonomies", "meta", "settings", "sidebars", "menu_locations"];

/// Objects that have meta.
const OBJECTS: [&str; 4] = ["post", "term", "user", "comment"];

/// Types of meta and settings.
const KINDS: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// Registered entries, in the order of the files. A later entry replaces an earlier one with the same name.
#[derive(Clone, Debug, Default)]
pub struct RegisteredEntries {
    types: Vec<TypeEntry>,
    taxonomies: Vec<TaxonomyEntry>,
    meta: Vec<MetaEntry>,
    settings: Vec<SettingEntry>,
    sidebars: Vec<SidebarEntry>,
    menu_locations: Vec<LocationEntry>,
}

/// The tables of one file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    types: Vec<Spanned<TypeEntry>>,
    taxonomies: Vec<Spanned<TaxonomyEntry>>,
    meta: Vec<Spanned<MetaEntry>>,
    settings: Vec<Spanned<SettingEntry>>,
    sidebars: Vec<Spanned<SidebarEntry>>,
    menu_locations: Vec<Spanned<LocationEntry>>,
}

const fn yes() -> bool {
    true
}

/// `[[types]]`
#[derive(Clone, Debug, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
#[validate(schema(function = "check_free_type", skip_on_field_errors = false))]
struct TypeEntry {
    #[validate(custom(function = "check_type_name"))]
    name: String,
    label: Option<String>,
    singular: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default = "yes")]
    public: bool,
    #[serde(default)]
    hierarchical: bool,
    #[serde(default = "yes")]
    in_interface: bool,
    #[validate(custom(function = "check_rest_base"))]
    rest_base: Option<String>,
    supports: Option<Vec<String>>,
    #[serde(default)]
    taxonomies: Vec<String>,
    #[validate(custom(function = "check_archive"))]
    archive: Option<String>,
    #[validate(custom(function = "check_slug"))]
    slug: Option<String>,
    icon: Option<String>,
    capabilities: Option<[String; 2]>,
    #[validate(custom(function = "check_template"))]
    template: Option<Value>,
    template_lock: Option<String>,
    // By default these follow from `public`.
    searchable: Option<bool>,
    queryable: Option<bool>,
    show_ui: Option<bool>,
    show_in_nav_menus: Option<bool>,
    #[serde(default = "yes")]
    map_meta_cap: bool,
    delete_with_user: Option<bool>,
}

/// `[[taxonomies]]`
#[derive(Clone, Debug, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
#[validate(schema(function = "check_free_taxonomy", skip_on_field_errors = false))]
struct TaxonomyEntry {
    #[validate(custom(function = "check_taxonomy_name"))]
    name: String,
    types: Vec<String>,
    label: Option<String>,
    singular: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default = "yes")]
    public: bool,
    #[serde(default)]
    hierarchical: bool,
    #[serde(default = "yes")]
    in_interface: bool,
    #[validate(custom(function = "check_rest_base"))]
    rest_base: Option<String>,
    #[validate(custom(function = "check_slug"))]
    slug: Option<String>,
    // By default these follow from `public`.
    queryable: Option<bool>,
    show_ui: Option<bool>,
    show_in_nav_menus: Option<bool>,
    show_tagcloud: Option<bool>,
    show_in_quick_edit: Option<bool>,
    #[serde(default)]
    show_admin_column: bool,
}

/// `[[meta]]`
#[derive(Clone, Debug, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
struct MetaEntry {
    #[validate(custom(function = "check_object"))]
    object: String,
    #[serde(default)]
    of: String,
    #[validate(length(min = 1, max = 255, message = "`key` must have 1 to 255 characters"))]
    key: String,
    #[serde(rename = "type")]
    #[validate(custom(function = "check_kind"))]
    kind: String,
    name: Option<String>,
    #[serde(default)]
    description: String,
    default: Option<Value>,
    #[serde(default)]
    list: bool,
    #[serde(default)]
    revisions: bool,
    capability: Option<String>,
    #[serde(default)]
    schema: Map<String, Value>,
}

/// `[[settings]]`
#[derive(Clone, Debug, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
struct SettingEntry {
    #[validate(length(min = 1, max = 191, message = "`option` must have 1 to 191 characters"))]
    option: String,
    #[serde(rename = "type")]
    #[validate(custom(function = "check_kind"))]
    kind: String,
    name: Option<String>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    default: Option<Value>,
    /// Whether responses have a mask in place of the value.
    #[serde(default)]
    secret: bool,
    #[serde(default)]
    schema: Map<String, Value>,
}

/// `[[sidebars]]`
#[derive(Clone, Debug, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
struct SidebarEntry {
    #[validate(length(min = 1, max = 191, message = "`id` must have 1 to 191 characters"))]
    id: String,
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    class: String,
    // By default a list item, with a heading.
    before_widget: Option<String>,
    after_widget: Option<String>,
    before_title: Option<String>,
    after_title: Option<String>,
    /// Public in the REST API.
    #[serde(default)]
    show_in_rest: bool,
}

/// `[[menu_locations]]`
#[derive(Clone, Debug, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
struct LocationEntry {
    #[validate(length(min = 1, max = 191, message = "`name` must have 1 to 191 characters"))]
    name: String,
    description: String,
}

/// An entry of a table.
trait ConfigEntry: Validate {
    /// Fields in the order in which their errors are reported; `__all__` stands for rules on the entry as a whole.
    const FIELDS: &'static [&'static str];

    /// Whether two entries register the same thing.
    fn is_same(&self, other: &Self) -> bool;

    /// Message of the first invalid field.
    fn fault(&self) -> Option<String> {
        let errors = self.validate().err()?;
        let errors = errors.field_errors();
        let message = |field: &&str| Some(errors.get(*field)?.first()?.message.as_ref()?.to_string());
        Self::FIELDS.iter().find_map(message)
    }
}

impl ConfigEntry for TypeEntry {
    const FIELDS: &'static [&'static str] = &["name", "__all__", "rest_base", "slug", "archive", "template"];

    fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl ConfigEntry for TaxonomyEntry {
    const FIELDS: &'static [&'static str] = &["name", "__all__", "rest_base", "slug"];

    fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl ConfigEntry for MetaEntry {
    const FIELDS: &'static [&'static str] = &["object", "key", "kind"];

    fn is_same(&self, other: &Self) -> bool {
        (&self.object, &self.of, &self.key) == (&other.object, &other.of, &other.key)
    }
}

impl ConfigEntry for SettingEntry {
    const FIELDS: &'static [&'static str] = &["option", "kind"];

    fn is_same(&self, other: &Self) -> bool {
        self.option == other.option
    }
}

impl ConfigEntry for SidebarEntry {
    const FIELDS: &'static [&'static str] = &["id"];

    fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl ConfigEntry for LocationEntry {
    const FIELDS: &'static [&'static str] = &["name"];

    fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// `Ok` if `is_valid`, else an error with this message.
fn require(is_valid: bool, message: impl FnOnce() -> String) -> Result<(), ValidationError> {
    if is_valid { Ok(()) } else { Err(ValidationError::new("invalid").with_message(message().into())) }
}

fn check_name(name: &str, max: usize) -> Result<(), ValidationError> {
    let is_valid = (1..=max).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'));
    require(is_valid, || format!("the name `{name}` must be 1 to {max} of a-z, 0-9, - and _"))
}

fn check_type_name(name: &str) -> Result<(), ValidationError> {
    check_name(name, 20)
}

fn check_taxonomy_name(name: &str) -> Result<(), ValidationError> {
    check_name(name, 32)
}

/// Checks a path, which becomes part of a URL. `field` is its name.
fn check_path(field: &str, text: &str) -> Result<(), ValidationError> {
    let is_valid = (1..=100).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'/'))
        && text.split('/').all(|part| !part.is_empty());
    require(is_valid, || format!("{field} `{text}` must consist of letters, digits, - and _, with / between them"))
}

fn check_rest_base(text: &str) -> Result<(), ValidationError> {
    check_path("rest_base", text)
}

fn check_slug(text: &str) -> Result<(), ValidationError> {
    check_path("slug", text)
}

fn check_archive(text: &str) -> Result<(), ValidationError> {
    check_path("archive", text)
}

fn check_template(template: &Value) -> Result<(), ValidationError> {
    require(template.is_array(), || "`template` must be a list of blocks".to_owned())
}

fn check_object(object: &str) -> Result<(), ValidationError> {
    require(OBJECTS.contains(&object), || format!("the object `{object}` must be one of {}", OBJECTS.join(", ")))
}

fn check_kind(kind: &str) -> Result<(), ValidationError> {
    require(KINDS.contains(&kind), || format!("the type `{kind}` must be one of {}", KINDS.join(", ")))
}

/// Checks that a name and its REST API base are not those of the core (`taken`).
fn check_free<'t>(
    what: &str,
    (name, base): (&str, &str),
    mut taken: impl Iterator<Item = (&'t str, &'t str)>,
) -> Result<(), ValidationError> {
    let is_taken = taken.any(|(other, other_base)| other == name || other_base == base);
    require(!is_taken, || format!("every site has a {what} `{name}`, or its base in the REST API"))
}

fn check_free_type(entry: &TypeEntry) -> Result<(), ValidationError> {
    let (own, core) = (entry.post_type(), PostTypes::default());
    check_free("type", (&own.name, &own.rest_base), core.iter().map(|t| (&*t.name, &*t.rest_base)))
}

fn check_free_taxonomy(entry: &TaxonomyEntry) -> Result<(), ValidationError> {
    let (own, core) = (entry.taxonomy(), Taxonomies::default());
    check_free("taxonomy", (&own.name, &own.rest_base), core.iter().map(|t| (&*t.name, &*t.rest_base)))
}

impl RegisteredEntries {
    /// Adds the entries of a file.
    ///
    /// # Errors
    /// The first invalid entry, with its line.
    pub(super) fn file(&mut self, source: &str, path: &Path) -> Result<(), ConfigError> {
        let here = |offset: usize| {
            let before = &source.as_bytes()[..offset.min(source.len())];
            SettingOrigin::File(path.to_owned(), before.iter().filter(|b| **b == b'\n').count() + 1)
        };
        let file: File = toml::from_str(source)
            .map_err(|e| ConfigError::at(&here(e.span().map_or(0, |s| s.start)), e.message().to_owned()))?;
        merge(&mut self.types, file.types, &here)?;
        merge(&mut self.taxonomies, file.taxonomies, &here)?;
        merge(&mut self.meta, file.meta, &here)?;
        merge(&mut self.settings, file.settings, &here)?;
        merge(&mut self.sidebars, file.sidebars, &here)?;
        merge(&mut self.menu_locations, file.menu_locations, &here)
    }

    /// The entries of a text. `path` is the origin in errors.
    ///
    /// # Errors
    /// The first invalid entry, with its line.
    pub(crate) fn parse(source: &str, path: &Path) -> Result<Self, ConfigError> {
        let mut registered = RegisteredEntries::default();
        registered.file(source, path)?;
        Ok(registered)
    }

    /// Registers all entries on the site.
    pub(crate) fn on(&self, setup: &mut RestSetup) {
        for entry in &self.types {
            setup.registries.types.register(entry.post_type());
        }
        for entry in &self.taxonomies {
            setup.registries.taxonomies.register(entry.taxonomy());
        }
        for entry in &self.meta {
            setup.registries.meta.register(&entry.object, &entry.of, entry.field());
        }
        setup.registered_settings.extend(self.settings.iter().map(SettingEntry::setting));
        for entry in &self.sidebars {
            setup.registries.register_sidebar(entry.sidebar());
        }
        for entry in &self.menu_locations {
            setup.registries.menu_locations.insert(entry.name.clone(), entry.description.clone());
        }
    }
}

fn merge<E: ConfigEntry>(
    all: &mut Vec<E>,
    entries: Vec<Spanned<E>>,
    here: &impl Fn(usize) -> SettingOrigin,
) -> Result<(), ConfigError> {
    for entry in entries {
        let start = entry.span().start;
        let entry = entry.into_inner();
        if let Some(fault) = entry.fault() {
            return Err(ConfigError::at(&here(start), fault));
        }
        override_entries(all, vec![entry]);
    }
    Ok(())
}

fn override_entries<E: ConfigEntry>(all: &mut Vec<E>, entries: Vec<E>) {
    for entry in entries {
        all.retain(|other| !entry.is_same(other));
        all.push(entry);
    }
}

fn override_with<T>(default: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *default = value;
    }
}

impl TypeEntry {
    fn post_type(&self) -> PostType {
        let mut post_type = PostType::new(&self.name);
        let label = self.label.as_deref().unwrap_or(&self.name);
        post_type = post_type.labelled(label, self.singular.as_deref().unwrap_or(label));
        if self.public {
            post_type = post_type.public();
        }
        if let Some(slug) = &self.slug {
            post_type.rewrite_slug = Some(slug.clone());
        }
        post_type.show_in_rest = self.in_interface;
        override_with(&mut post_type.rest_base, self.rest_base.clone());
        let default = || ["title", "editor"].map(str::to_owned).to_vec();
        let features = self.supports.clone().unwrap_or_else(default);
        post_type = post_type.supporting(&features.iter().map(String::as_str).collect::<Vec<_>>());
        if let Some([singular, plural]) = &self.capabilities {
            post_type.caps = PostTypeCaps::of(singular, plural);
        }
        post_type.description.clone_from(&self.description);
        post_type.hierarchical = self.hierarchical;
        post_type.taxonomies.clone_from(&self.taxonomies);
        post_type.has_archive.clone_from(&self.archive);
        post_type.menu_icon.clone_from(&self.icon);
        if let Some(template) = &self.template {
            post_type.template = template.clone();
        }
        if let Some(lock) = &self.template_lock {
            post_type.template_lock = lock.as_str().into();
        }
        override_with(&mut post_type.exclude_from_search, self.searchable.map(|searchable| !searchable));
        override_with(&mut post_type.publicly_queryable, self.queryable);
        override_with(&mut post_type.show_ui, self.show_ui);
        override_with(&mut post_type.show_in_nav_menus, self.show_in_nav_menus);
        post_type.map_meta_cap = self.map_meta_cap;
        post_type.delete_with_user = self.delete_with_user;
        post_type
    }
}

impl TaxonomyEntry {
    fn taxonomy(&self) -> Taxonomy {
        let types: Vec<&str> = self.types.iter().map(String::as_str).collect();
        let label = self.label.as_deref().unwrap_or(&self.name);
        let mut taxonomy = Taxonomy::new(&self.name, &types).labelled(label, self.singular.as_deref().unwrap_or(label));
        if self.hierarchical {
            taxonomy = taxonomy.hierarchical();
        }
        taxonomy.show_in_rest = self.in_interface;
        override_with(&mut taxonomy.rest_base, self.rest_base.clone());
        taxonomy.description.clone_from(&self.description);
        if let Some(slug) = &self.slug {
            taxonomy.rewrite_slug = Some(slug.clone());
        }
        if !self.public {
            for flag in [
                &mut taxonomy.public,
                &mut taxonomy.publicly_queryable,
                &mut taxonomy.show_ui,
                &mut taxonomy.show_in_nav_menus,
                &mut taxonomy.show_tagcloud,
                &mut taxonomy.show_in_quick_edit,
            ] {
                *flag = false;
            }
            // The link of such a term is a path, although there is no page at that path.
            taxonomy.query_var = None;
        }
        override_with(&mut taxonomy.publicly_queryable, self.queryable);
        override_with(&mut taxonomy.show_ui, self.show_ui);
        override_with(&mut taxonomy.show_in_nav_menus, self.show_in_nav_menus);
        override_with(&mut taxonomy.show_tagcloud, self.show_tagcloud);
        override_with(&mut taxonomy.show_in_quick_edit, self.show_in_quick_edit);
        taxonomy.show_admin_column = self.show_admin_column;
        taxonomy
    }
}

impl MetaEntry {
    fn field(&self) -> MetaField {
        let mut field = MetaField::new(&self.key, &self.kind).describe(&self.description);
        if !self.schema.is_empty() {
            field = field.schema(Value::Object(self.schema.clone()));
        }
        if let Some(default) = &self.default {
            field = field.default(default.clone());
        }
        if let Some(name) = &self.name {
            field = field.named(name);
        }
        if self.list {
            field = field.list();
        }
        if self.revisions {
            field = field.with_revisions();
        }
        match &self.capability {
            Some(capability) => field.guarded_by(capability),
            None => field,
        }
    }
}

impl SettingEntry {
    fn setting(&self) -> RegisteredSetting {
        let mut schema: SchemaBuilder = untyped().keyword("type", self.kind.as_str());
        schema = schema.title(&self.title).describe(&self.description);
        for (name, value) in &self.schema {
            schema = schema.keyword(name, value.clone());
        }
        if let Some(default) = &self.default {
            schema = schema.default(default.clone());
        }
        let setting = RegisteredSetting::new(&self.option, schema);
        let setting = if self.secret { setting.secret() } else { setting };
        match &self.name {
            Some(name) => setting.named(name),
            None => setting,
        }
    }
}

impl SidebarEntry {
    fn sidebar(&self) -> Sidebar {
        let mut sidebar = Sidebar::new(&self.id, &self.name).describe(&self.description).class(&self.class);
        for (html, own) in [
            (&mut sidebar.before_widget, &self.before_widget),
            (&mut sidebar.after_widget, &self.after_widget),
            (&mut sidebar.before_title, &self.before_title),
            (&mut sidebar.after_title, &self.after_title),
        ] {
            if let Some(own) = own {
                html.clone_from(own);
            }
        }
        sidebar.show_in_rest = self.show_in_rest;
        sidebar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Result<RegisteredEntries, String> {
        let mut registered = RegisteredEntries::default();
        registered.file(source, Path::new("svc.toml")).map(|()| registered).map_err(|e| e.to_string())
    }

    #[test]
    fn registers_types_and_taxonomies() {
        let registered = read(
            r#"
            listen = "ignored here"
            [[types]]
            name = "book"
            label = "Books"
            singular = "Book"
            rest_base = "books"
            archive = "library"
            supports = ["title", "editor", "revisions"]
            capabilities = ["tome", "tomes"]
            template = [["core/paragraph", { placeholder = "Summary" }]]
            [[types]]
            name = "note"
            public = false
            [[taxonomies]]
            name = "genre"
            types = ["book"]
            hierarchical = true
            rest_base = "genres"
            "#,
        )
        .unwrap();
        let book = registered.types[0].post_type();
        let mut expected = PostType::new("book").labelled("Books", "Book").public().rest("books");
        expected = expected.supporting(&["title", "editor", "revisions"]);
        expected.caps = PostTypeCaps::of("tome", "tomes");
        expected.has_archive = Some("library".to_owned());
        expected.template = serde_json::json!([["core/paragraph", {"placeholder": "Summary"}]]);
        assert_eq!(book, expected);
        assert!(book.supports("autosave"), "types with an editor support autosaves");
        let note = registered.types[1].post_type();
        assert_eq!(note, PostType::new("note").rest("note").supporting(&["title", "editor"]));
        let genre = Taxonomy::new("genre", &["book"]).hierarchical().rest("genres");
        assert_eq!(registered.taxonomies[0].taxonomy(), genre);
    }

    #[test]
    fn registers_meta_with_a_schema() {
        let registered = read(
            r#"
            [[meta]]
            object = "post"
            of = "book"
            key = "stars"
            type = "integer"
            default = 3
            revisions = true
            schema = { minimum = 1, maximum = 5 }
            "#,
        )
        .unwrap();
        let stars = registered.meta[0].field();
        assert_eq!((stars.key.as_str(), stars.revisions, &stars.default), ("stars", true, &serde_json::json!(3)));
        assert!(stars.item().validate(&serde_json::json!(6), "").is_err());
    }

    #[test]
    fn registers_sidebars_and_menu_locations() {
        let registered = read(
            r#"
            [[sidebars]]
            id = "side"
            name = "Side"
            before_title = "<h3>"
            show_in_rest = true
            [[menu_locations]]
            name = "primary"
            description = "Primary menu"
            "#,
        )
        .unwrap();
        let (own, usual) = (registered.sidebars[0].sidebar(), Sidebar::new("side", "Side"));
        assert_eq!((own.before_title.as_str(), &own.after_title), ("<h3>", &usual.after_title));
        assert_eq!((own.show_in_rest, &own.before_widget), (true, &usual.before_widget));
        assert_eq!(registered.menu_locations[0].description, "Primary menu");
    }

    #[test]
    fn errors_name_the_line() {
        let of_type = |rest: &str| format!("\n[[types]]\n{rest}");
        for (source, message) in [
            (of_type("name = 'post'"), "svc.toml:2: every site has a type `post`, or its base in the REST API"),
            (
                of_type("name = 'x'\nrest_base = 'pages'"),
                "svc.toml:2: every site has a type `x`, or its base in the REST API",
            ),
            (of_type("name = 'No'"), "svc.toml:2: the name `No` must be 1 to 20 of a-z, 0-9, - and _"),
            (
                of_type("name = 'x'\nrest_base = '(.*)'"),
                "svc.toml:2: rest_base `(.*)` must consist of letters, digits, - and _, with / between them",
            ),
            (
                "[[meta]]\nobject = 'post'\nkey = 'k'\ntype = 'text'".to_owned(),
                "svc.toml:1: the type `text` must be one of string, integer, number, boolean, array, object",
            ),
        ] {
            assert_eq!(read(&source).unwrap_err(), message, "{source}");
        }
        assert!(read("[[types]]\nname = 'x'\nlable = 'X'").unwrap_err().starts_with("svc.toml:3: unknown field"));
    }

    #[test]
    fn later_entries_replace_earlier_ones() {
        let mut registered = read("[[types]]\nname = 'a'\n[[types]]\nname = 'b'").unwrap();
        registered.file("[[types]]\nname = 'a'\nlabel = 'Other'", Path::new("later.toml")).unwrap();
        let shown: Vec<_> = registered.types.iter().map(|t| (t.name.as_str(), t.label.as_deref())).collect();
        assert_eq!(shown, [("b", None), ("a", Some("Other"))]);
    }
}
