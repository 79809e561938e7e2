//! Block patterns and their categories: built-in, registered by code, and of the active theme.
//!
//! Reading requires permission to edit posts.

mod directory;

use std::sync::Arc;

use serde_json::{Value, json};
use svc_content::blocks::BlockTypes;
use svc_resource::{Fields, Plan};
use svc_routing::{Map, Request, Result, Route, forbidden};
use svc_schema::{
    Args, Error,
    build::{SchemaBuilder, boolean, number, string, untyped},
};
use svc_site::{
    ActiveTheme, Site,
    patterns::{all, editor_content},
};

use crate::{
    RestSite,
    contexts::VIEW_EDIT_EMBED,
    registry_family::{Listed, RegistryEntries, RegistryFamily},
    theme_access,
};

pub use svc_packages::theme::Pattern;

pub use directory::PatternDirectory;
pub use svc_site::patterns::PatternCategory;
pub use svc_site::patterns::PatternRegistry;

/// The caller may not view patterns.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to view block patterns.")
}

/// A pattern with everything that its fields read.
pub struct PatternItem {
    pattern: Pattern,
    site: Arc<Site>,
    types: Arc<BlockTypes>,
    theme: Arc<ActiveTheme>,
}

impl PatternItem {
    /// The content for editors.
    fn content(&self) -> String {
        editor_content(&self.site, &self.types, &self.theme, &self.pattern)
    }
}

/// An array without an item schema.
fn untyped_list() -> SchemaBuilder {
    untyped().keyword("type", "array")
}

/// A list, or null if it is empty.
fn list(items: &[String]) -> Value {
    if items.is_empty() { Value::Null } else { json!(items) }
}

/// Renamed categories: old and current name.
const RENAMED_CATEGORIES: [(&str, &str); 3] = [("buttons", "call-to-action"), ("columns", "text"), ("query", "posts")];

/// The current names of a pattern's categories.
fn categories(pattern: &Pattern) -> Vec<String> {
    let current_name = |name: &String| {
        RENAMED_CATEGORIES.iter().find(|(old, _)| old == name).map_or(name.clone(), |(_, new)| (*new).to_owned())
    };
    pattern.categories.iter().map(current_name).collect()
}

/// Fails unless the caller may edit posts of any type.
fn check_read(site: &Site, req: &Request) -> Result<()> {
    if theme_access::is_writer(site, req)? { Ok(()) } else { Err(cannot_view(req)) }
}

/// The block patterns.
pub struct Patterns;

impl RegistryEntries for Patterns {
    type Entry = PatternItem;
    const OBJECT: &'static str = "block-pattern";

    #[rustfmt::skip]
    fn fields() -> Fields<PatternItem, ()> {
        let mut f = Fields::<PatternItem, ()>::new("block-pattern");
        let sources = ["core", "plugin", "theme", "pattern-directory/core", "pattern-directory/theme", "pattern-directory/featured"];
        f.add("name", string().describe("The pattern's name.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.pattern.slug.clone());
        f.add("title", string().describe("The pattern's title.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.pattern.title.clone());
        f.add("content", string().describe("The pattern's content.").readonly().context(VIEW_EDIT_EMBED)).get(PatternItem::content);
        f.add("description", string().describe("The pattern's description.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.pattern.description.clone());
        f.add("viewport_width", number().describe("Preferred width of the pattern's preview, in pixels.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.pattern.viewport_width);
        f.add("inserter", boolean().describe("Whether the inserter offers the pattern.").readonly().context(VIEW_EDIT_EMBED)).get(|p| p.pattern.inserter);
        f.add("categories", untyped_list().describe("Names of the pattern's categories.").readonly().context(VIEW_EDIT_EMBED)).get(|p| list(&categories(&p.pattern)));
        f.add("keywords", untyped_list().describe("Search keywords of the pattern.").readonly().context(VIEW_EDIT_EMBED)).get(|p| list(&p.pattern.keywords));
        f.add("block_types", untyped_list().describe("Block types that the pattern can be used for.").readonly().context(VIEW_EDIT_EMBED)).get(|p| list(&p.pattern.block_types));
        f.add("post_types", untyped_list().describe("Post types that the pattern is restricted to.").readonly().context(VIEW_EDIT_EMBED)).get(|p| list(&p.pattern.post_types));
        f.add("template_types", untyped_list().describe("Template types that the pattern fits.").readonly().context(VIEW_EDIT_EMBED)).get(|p| list(&p.pattern.template_types));
        f.add("source", string().describe("Origin of the pattern.").readonly().context(VIEW_EDIT_EMBED).one_of(sources)).get(|p| p.pattern.source.clone());
        f
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        check_read(&rest.site, req)
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<PatternItem>> {
        let settings = rest.site.settings(req.cx())?;
        let (theme, types) = (rest.site.theme(req.cx(), &settings), rest.site.block_types(&settings));
        let item = |pattern: &Pattern| PatternItem {
            pattern: pattern.clone(),
            site: Arc::clone(&rest.site),
            types: Arc::clone(&types),
            theme: Arc::clone(&theme),
        };
        Ok(all(&rest.site, &theme).map(item).collect::<Vec<_>>().into())
    }

    /// Omits missing properties.
    fn prepare(plan: &Plan<'_, PatternItem, ()>, item: &PatternItem) -> Result<Map> {
        let mut data = plan.prepare(item);
        data.retain(|_, value| !value.is_null());
        Ok(data)
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        vec![family.list_route("/block-patterns/patterns", Args::new())]
    }
}

/// The categories of block patterns.
pub struct PatternCategories;

impl RegistryEntries for PatternCategories {
    type Entry = PatternCategory;
    const OBJECT: &'static str = "block-pattern-category";

    #[rustfmt::skip]
    fn fields() -> Fields<PatternCategory, ()> {
        let mut f = Fields::<PatternCategory, ()>::new("block-pattern-category");
        f.add("name", string().describe("The category's name.").readonly().context(VIEW_EDIT_EMBED)).get(|c| c.name.clone());
        f.add("label", string().describe("Display name of the category.").readonly().context(VIEW_EDIT_EMBED)).get(|c| c.label.clone());
        f.add("description", string().describe("The category's description.").readonly().context(VIEW_EDIT_EMBED)).get(|c| c.description.clone());
        f
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        check_read(&rest.site, req)
    }

    async fn entries(rest: &Arc<RestSite>, _: &Request) -> Result<Listed<PatternCategory>> {
        Ok(rest.site.registries.patterns.categories().cloned().collect::<Vec<_>>().into())
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        vec![family.list_route("/block-patterns/categories", Args::new())]
    }
}
