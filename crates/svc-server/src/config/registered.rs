//! What a file of settings registers on the site beside what every site has: post types, taxonomies, meta and settings.
//!
//! The same as a program does in [`SiteBuilder::prepare`](crate::SiteBuilder::prepare), for those who write none.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use svc_controllers::{MetaField, RegisteredSetting, Site};
use svc_model::{PostType, PostTypeCaps, PostTypes, Taxonomies, Taxonomy};
use svc_schema::build::{SchemaBuilder, untyped};
use toml::Spanned;

use super::{ConfigError, layers::Origin};

/// The tables of a file that are read here.
pub(super) const TABLES: [&str; 4] = ["types", "taxonomies", "meta", "settings"];

/// Types of values that meta and settings have.
const KINDS: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// What is registered, in the order of the files; of two of one name the later one counts.
#[derive(Clone, Debug, Default)]
pub struct Registered {
    types: Vec<TypeEntry>,
    taxonomies: Vec<TaxonomyEntry>,
    meta: Vec<MetaEntry>,
    settings: Vec<SettingEntry>,
}

/// The tables as they stand in a file; others are read elsewhere.
#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    types: Vec<Spanned<TypeEntry>>,
    taxonomies: Vec<Spanned<TaxonomyEntry>>,
    meta: Vec<Spanned<MetaEntry>>,
    settings: Vec<Spanned<SettingEntry>>,
}

const fn yes() -> bool {
    true
}

/// `[[types]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TypeEntry {
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
    rest_base: Option<String>,
    supports: Option<Vec<String>>,
    #[serde(default)]
    taxonomies: Vec<String>,
    archive: Option<String>,
    slug: Option<String>,
    icon: Option<String>,
    capabilities: Option<[String; 2]>,
    template: Option<Value>,
    template_lock: Option<String>,
}

/// `[[taxonomies]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TaxonomyEntry {
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
    rest_base: Option<String>,
    slug: Option<String>,
}

/// `[[meta]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MetaEntry {
    object: String,
    #[serde(default)]
    of: String,
    key: String,
    #[serde(rename = "type")]
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
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingEntry {
    option: String,
    #[serde(rename = "type")]
    kind: String,
    name: Option<String>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    default: Option<Value>,
    #[serde(default)]
    schema: Map<String, Value>,
}

/// An entry that can be checked alone.
trait Entry {
    /// What tells it from others of its kind.
    fn is_same(&self, other: &Self) -> bool;

    /// What is wrong with it.
    fn mistake(&self) -> Option<String>;
}

/// What is wrong with a name of the stored kind: of at most `most` small letters, digits, hyphens and underscores.
fn name_mistake(what: &str, name: &str, most: usize) -> Option<String> {
    let fits = (1..=most).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'));
    (!fits).then(|| format!("{what} `{name}` must be 1 to {most} of a-z, 0-9, - and _"))
}

/// What is wrong with a part of an address.
fn address_mistake(what: &str, text: Option<&String>) -> Option<String> {
    let text = text?;
    let fits = (1..=100).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'/'))
        && text.split('/').all(|part| !part.is_empty());
    (!fits).then(|| format!("{what} `{text}` must be of letters, digits, -, _ and / between them"))
}

fn kind_mistake(kind: &str) -> Option<String> {
    (!KINDS.contains(&kind)).then(|| format!("the type `{kind}` must be one of {}", KINDS.join(", ")))
}

/// What is wrong with the name, of at most so many bytes, of a type or a taxonomy, and with its places in the interface and
/// in addresses, where these names and places are `taken`.
fn place_mistake<'t>(
    what: &str,
    (name, most): (&String, usize),
    rest_base: Option<&String>,
    slug: Option<&String>,
    mut taken: impl Iterator<Item = (&'t str, &'t str)>,
) -> Option<String> {
    let place = rest_base.unwrap_or(name);
    name_mistake("the name", name, most)
        .or_else(|| {
            let is_taken = taken.any(|(other, base)| other == name || base == place);
            is_taken.then(|| format!("every site has a {what} `{name}`, or its place in the interface"))
        })
        .or_else(|| address_mistake("rest_base", rest_base))
        .or_else(|| address_mistake("slug", slug))
}

impl Entry for TypeEntry {
    fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
    }

    fn mistake(&self) -> Option<String> {
        let every = PostTypes::default();
        let taken = every.iter().map(|t| (t.name.as_str(), t.rest_base.as_str()));
        place_mistake("type", (&self.name, 20), self.rest_base.as_ref(), self.slug.as_ref(), taken)
            .or_else(|| address_mistake("archive", self.archive.as_ref()))
            .or_else(|| {
                let is_list = self.template.as_ref().is_none_or(Value::is_array);
                (!is_list).then(|| "`template` must be a list of blocks".to_owned())
            })
    }
}

impl Entry for TaxonomyEntry {
    fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
    }

    fn mistake(&self) -> Option<String> {
        let every = Taxonomies::default();
        let taken = every.iter().map(|t| (t.name.as_str(), t.rest_base.as_str()));
        place_mistake("taxonomy", (&self.name, 32), self.rest_base.as_ref(), self.slug.as_ref(), taken)
    }
}

impl Entry for MetaEntry {
    fn is_same(&self, other: &Self) -> bool {
        (&self.object, &self.of, &self.key) == (&other.object, &other.of, &other.key)
    }

    fn mistake(&self) -> Option<String> {
        const OBJECTS: [&str; 4] = ["post", "term", "user", "comment"];
        if !OBJECTS.contains(&self.object.as_str()) {
            return Some(format!("the object `{}` must be one of {}", self.object, OBJECTS.join(", ")));
        }
        if self.key.is_empty() || self.key.len() > 255 {
            return Some("`key` must be of 1 to 255 bytes".to_owned());
        }
        kind_mistake(&self.kind)
    }
}

impl Entry for SettingEntry {
    fn is_same(&self, other: &Self) -> bool {
        self.option == other.option
    }

    fn mistake(&self) -> Option<String> {
        if self.option.is_empty() || self.option.len() > 191 {
            return Some("`option` must be of 1 to 191 bytes".to_owned());
        }
        kind_mistake(&self.kind)
    }
}

impl Registered {
    /// Lays what a file registers over what is there.
    ///
    /// # Errors
    /// The first mistake, with its line.
    pub(super) fn file(&mut self, source: &str, path: &Path) -> Result<(), ConfigError> {
        let here = |offset: usize| {
            let before = &source.as_bytes()[..offset.min(source.len())];
            Origin::File(path.to_owned(), before.iter().filter(|b| **b == b'\n').count() + 1)
        };
        let file: File = toml::from_str(source)
            .map_err(|e| ConfigError::at(&here(e.span().map_or(0, |s| s.start)), e.message().to_owned()))?;
        lay(&mut self.types, file.types, &here)?;
        lay(&mut self.taxonomies, file.taxonomies, &here)?;
        lay(&mut self.meta, file.meta, &here)?;
        lay(&mut self.settings, file.settings, &here)
    }

    /// Registers it all.
    pub(crate) fn on(&self, site: &mut Site) {
        for entry in &self.types {
            site.types.register(entry.post_type());
        }
        for entry in &self.taxonomies {
            site.taxonomies.register(entry.taxonomy());
        }
        for entry in &self.meta {
            site.meta.register(&entry.object, &entry.of, entry.field());
        }
        site.registered_settings.extend(self.settings.iter().map(SettingEntry::setting));
    }
}

fn lay<E: Entry>(
    over: &mut Vec<E>,
    entries: Vec<Spanned<E>>,
    here: &impl Fn(usize) -> Origin,
) -> Result<(), ConfigError> {
    for entry in entries {
        let start = entry.span().start;
        let entry = entry.into_inner();
        if let Some(mistake) = entry.mistake() {
            return Err(ConfigError::at(&here(start), mistake));
        }
        over.retain(|other| !entry.is_same(other));
        over.push(entry);
    }
    Ok(())
}

impl TypeEntry {
    fn post_type(&self) -> PostType {
        let mut kind = PostType::new(&self.name);
        let label = self.label.as_deref().unwrap_or(&self.name);
        kind = kind.labelled(label, self.singular.as_deref().unwrap_or(label));
        if self.public {
            kind = kind.public();
        }
        if let Some(slug) = &self.slug {
            kind.rewrite_slug = Some(slug.clone());
        }
        if self.in_interface {
            kind = kind.rest(self.rest_base.as_deref().unwrap_or(&self.name));
        }
        let by_default = || ["title", "editor"].map(str::to_owned).to_vec();
        let features = self.supports.clone().unwrap_or_else(by_default);
        kind = kind.supporting(&features.iter().map(String::as_str).collect::<Vec<_>>());
        if let Some([one, many]) = &self.capabilities {
            kind.caps = PostTypeCaps::of(one, many);
        }
        kind.description.clone_from(&self.description);
        kind.hierarchical = self.hierarchical;
        kind.taxonomies.clone_from(&self.taxonomies);
        kind.has_archive.clone_from(&self.archive);
        kind.menu_icon.clone_from(&self.icon);
        if let Some(template) = &self.template {
            kind.template = template.clone();
        }
        if let Some(lock) = &self.template_lock {
            kind.template_lock = lock.as_str().into();
        }
        kind
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
        if self.in_interface {
            taxonomy = taxonomy.rest(self.rest_base.as_deref().unwrap_or(&self.name));
        }
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
            // The link of such a term is a path, although no page is there.
            taxonomy.query_var = None;
        }
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
        match &self.name {
            Some(name) => setting.named(name),
            None => setting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Result<Registered, String> {
        let mut registered = Registered::default();
        registered.file(source, Path::new("svc.toml")).map(|()| registered).map_err(|e| e.to_string())
    }

    #[test]
    fn entries_become_what_a_program_would_register() {
        let registered = read(
            r#"
            listen = "elsewhere read"
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
        assert!(book.supports("autosave"), "what has an editor can be autosaved");
        let note = registered.types[1].post_type();
        assert_eq!(note, PostType::new("note").rest("note").supporting(&["title", "editor"]));
        let genre = Taxonomy::new("genre", &["book"]).hierarchical().rest("genres");
        assert_eq!(registered.taxonomies[0].taxonomy(), genre);
    }

    #[test]
    fn meta_is_read_with_its_schema() {
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
    fn mistakes_name_their_line() {
        let of_type = |rest: &str| format!("\n[[types]]\n{rest}");
        for (source, message) in [
            (of_type("name = 'post'"), "svc.toml:2: every site has a type `post`, or its place in the interface"),
            (
                of_type("name = 'x'\nrest_base = 'pages'"),
                "svc.toml:2: every site has a type `x`, or its place in the interface",
            ),
            (of_type("name = 'No'"), "svc.toml:2: the name `No` must be 1 to 20 of a-z, 0-9, - and _"),
            (
                of_type("name = 'x'\nrest_base = '(.*)'"),
                "svc.toml:2: rest_base `(.*)` must be of letters, digits, -, _ and / between them",
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
    fn a_later_entry_replaces_one_of_its_name() {
        let mut registered = read("[[types]]\nname = 'a'\n[[types]]\nname = 'b'").unwrap();
        registered.file("[[types]]\nname = 'a'\nlabel = 'Other'", Path::new("later.toml")).unwrap();
        let shown: Vec<_> = registered.types.iter().map(|t| (t.name.as_str(), t.label.as_deref())).collect();
        assert_eq!(shown, [("b", None), ("a", Some("Other"))]);
    }
}
