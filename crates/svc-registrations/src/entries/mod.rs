//! The entries of files: one type for each table.

mod areas;
mod checks;
mod meta;
mod settings;
mod taxonomies;
mod theme_supports;
mod types;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use svc_controllers::RestSetup;
use toml::Spanned;
use validator::Validate;

use areas::{LocationEntry, SidebarEntry};
use meta::MetaEntry;
use settings::SettingEntry;
use taxonomies::TaxonomyEntry;
use theme_supports::read_theme_supports;
use types::TypeEntry;

/// The tables of a file that are read here. Others are ignored.
pub const TABLES: [&str; 7] =
    ["types", "taxonomies", "meta", "settings", "sidebars", "menu_locations", "theme_supports"];

/// An invalid entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {message}", file.display())]
pub struct InvalidEntry {
    /// The file.
    pub file: PathBuf,
    /// The first line of the entry, or that of a syntax error; from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Registered entries, in the order of the files. A later entry replaces an earlier one with the same name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registrations {
    types: Vec<TypeEntry>,
    taxonomies: Vec<TaxonomyEntry>,
    meta: Vec<MetaEntry>,
    settings: Vec<SettingEntry>,
    sidebars: Vec<SidebarEntry>,
    menu_locations: Vec<LocationEntry>,
    theme_supports: Map<String, Value>,
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
    theme_supports: Option<Spanned<Map<String, Value>>>,
}

const fn yes() -> bool {
    true
}

/// An entry of a table.
trait TableEntry: Validate {
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

impl Registrations {
    /// Adds the entries of a file with this text. `path` is the file in errors.
    ///
    /// # Errors
    /// The first invalid entry, with its line.
    pub fn file(&mut self, source: &str, path: &Path) -> Result<(), InvalidEntry> {
        let here = |offset: usize, message: String| {
            let before = &source.as_bytes()[..offset.min(source.len())];
            let line = before.iter().filter(|b| **b == b'\n').count() + 1;
            InvalidEntry { file: path.to_owned(), line, message }
        };
        let file: File =
            toml::from_str(source).map_err(|e| here(e.span().map_or(0, |span| span.start), e.message().to_owned()))?;
        merge(&mut self.types, file.types, &here)?;
        merge(&mut self.taxonomies, file.taxonomies, &here)?;
        merge(&mut self.meta, file.meta, &here)?;
        merge(&mut self.settings, file.settings, &here)?;
        merge(&mut self.sidebars, file.sidebars, &here)?;
        merge(&mut self.menu_locations, file.menu_locations, &here)?;
        if let Some(supports) = file.theme_supports {
            let start = supports.span().start;
            self.theme_supports
                .extend(read_theme_supports(supports.into_inner()).map_err(|message| here(start, message))?);
        }
        Ok(())
    }

    /// The entries of one file: see [`Registrations::file`].
    ///
    /// # Errors
    /// The first invalid entry, with its line.
    pub fn parse(source: &str, path: &Path) -> Result<Self, InvalidEntry> {
        let mut registered = Registrations::default();
        registered.file(source, path)?;
        Ok(registered)
    }

    /// Registers all entries on a site that is being set up.
    pub fn register(&self, setup: &mut RestSetup) {
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
        setup.registries.theme_supports.extend(self.theme_supports.clone());
    }
}

fn merge<E: TableEntry>(
    all: &mut Vec<E>,
    entries: Vec<Spanned<E>>,
    here: &impl Fn(usize, String) -> InvalidEntry,
) -> Result<(), InvalidEntry> {
    for entry in entries {
        let start = entry.span().start;
        let entry = entry.into_inner();
        if let Some(fault) = entry.fault() {
            return Err(here(start, fault));
        }
        all.retain(|other| !entry.is_same(other));
        all.push(entry);
    }
    Ok(())
}

fn override_with<T>(default: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *default = value;
    }
}

#[cfg(test)]
mod tests {
    use svc_model::{PostType, PostTypeCaps, Taxonomy};
    use svc_site::registries::sidebars::Sidebar;

    use super::*;

    fn read(source: &str) -> Result<Registrations, String> {
        let mut registered = Registrations::default();
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
            queryable = true
            schema = { minimum = 1, maximum = 5 }
            "#,
        )
        .unwrap();
        let stars = registered.meta[0].field();
        assert_eq!((stars.key.as_str(), stars.revisions, &stars.default), ("stars", true, &serde_json::json!(3)));
        assert!(stars.item().validate(&serde_json::json!(6), "").is_err() && stars.query_type().is_some());
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
    fn registers_features_of_the_theme() {
        let first = r##"
            [theme_supports]
            html5 = ["search-form"]
            custom-logo = { width = 400, height = 100 }
            custom-background = { default-position-y = "top", default-image = "" }
            editor-color-palette = [{ slug = "blue", name = "Blue", color = "#00f" }]
        "##;
        let mut registered = read(first).unwrap();
        registered.file("[theme_supports]\nhtml5 = false", Path::new("later.toml")).unwrap();
        let expected = [
            ("html5", "false"),
            ("custom-logo", r##"{"width":400,"height":100}"##),
            ("custom-background", r##"{"default-image":"","default-position-y":"top"}"##),
            ("editor-color-palette", r##"[{"name":"Blue","slug":"blue","color":"#00f"}]"##),
        ];
        assert_eq!(registered.theme_supports.len(), expected.len());
        for (name, value) in expected {
            assert_eq!(registered.theme_supports[name].to_string(), value, "{name}");
        }
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
                "\n[theme_supports]\nsidebars = true".to_owned(),
                "svc.toml:2: themes have no feature `sidebars`",
            ),
            (
                "\n[theme_supports]\ntitle-tag = 'x'".to_owned(),
                "svc.toml:2: `title-tag` must be of type boolean",
            ),
            (
                "\n[theme_supports]\nalign-wide = 1".to_owned(),
                "svc.toml:2: `align-wide` must be of type boolean",
            ),
            (
                "\n[theme_supports]\nhtml5 = [1]".to_owned(),
                "svc.toml:2: `html5` must be of type boolean or array",
            ),
            (
                "[[settings]]\noption = 'posts_per_page'\ntype = 'integer'".to_owned(),
                "svc.toml:1: every site has a setting `posts_per_page`",
            ),
            (
                "[[settings]]\noption = 'motto'\nname = 'title'\ntype = 'string'".to_owned(),
                "svc.toml:1: every site has a setting `title`",
            ),
            (
                "[[meta]]\nobject = 'post'\nkey = 'k'\ntype = 'text'".to_owned(),
                "svc.toml:1: the type `text` must be one of string, integer, number, boolean, array, object",
            ),
            (
                "[[meta]]\nobject = 'term'\nkey = 'k'\ntype = 'string'\nqueryable = true".to_owned(),
                "svc.toml:1: only meta of posts can be `queryable`",
            ),
            (
                "[[meta]]\nobject = 'post'\nkey = '_k'\ntype = 'string'\nqueryable = true".to_owned(),
                "svc.toml:1: a key that begins with `_` is protected and cannot be `queryable`",
            ),
            (
                "[[meta]]\nobject = 'post'\nkey = 'k'\ntype = 'object'\nqueryable = true".to_owned(),
                "svc.toml:1: meta of the type `object` cannot be `queryable`",
            ),
            (
                "[[meta]]\nobject = 'post'\nkey = 'k'\ntype = 'string'\nqueryable = true\nschema = { context = ['edit'] }"
                    .to_owned(),
                "svc.toml:1: meta whose schema has another type, or not the context `view`, cannot be `queryable`",
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
