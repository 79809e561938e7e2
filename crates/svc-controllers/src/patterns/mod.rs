//! Block patterns and their categories: built-in, registered by code, and of the active theme.
//!
//! Reading requires permission to edit posts.

mod directory;

use std::sync::Arc;

use serde_json::{Value, json};
use svc_resource::Fields;
use svc_routing::{Controller, ExtraFields, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Error, Schema,
    build::{SchemaBuilder, boolean, number, string, untyped},
};
use svc_site::{
    Access,
    patterns::{all, editor_content},
};

use crate::{RestSite, caller, contexts::VIEW_EDIT_EMBED, respond, theme_access};

pub use svc_packages::theme::Pattern;

pub use directory::PatternDirectory;
pub use svc_site::patterns::PatternCategory;
pub use svc_site::patterns::PatternRegistry;

/// The caller may not view patterns.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to view block patterns.")
}

/// A pattern with its content for editors.
struct PatternItem {
    pattern: Pattern,
    content: String,
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

#[rustfmt::skip]
fn fields() -> Fields<PatternItem, ()> {
    let mut f = Fields::<PatternItem, ()>::new("block-pattern");
    let sources = ["core", "plugin", "theme", "pattern-directory/core", "pattern-directory/theme", "pattern-directory/featured"];
    f.add("name", string().describe("The pattern's name.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.slug.clone());
    f.add("title", string().describe("The pattern's title.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.title.clone());
    f.add("content", string().describe("The pattern's content.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.content.clone());
    f.add("description", string().describe("The pattern's description.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.description.clone());
    f.add("viewport_width", number().describe("Preferred width of the pattern's preview, in pixels.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.viewport_width);
    f.add("inserter", boolean().describe("Whether the inserter offers the pattern.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.inserter);
    f.add("categories", untyped_list().describe("Names of the pattern's categories.").context(VIEW_EDIT_EMBED).readonly()).get(|p| list(&categories(&p.pattern)));
    f.add("keywords", untyped_list().describe("Search keywords of the pattern.").context(VIEW_EDIT_EMBED).readonly()).get(|p| list(&p.pattern.keywords));
    f.add("block_types", untyped_list().describe("Block types that the pattern can be used for.").context(VIEW_EDIT_EMBED).readonly()).get(|p| list(&p.pattern.block_types));
    f.add("post_types", untyped_list().describe("Post types that the pattern is restricted to.").context(VIEW_EDIT_EMBED).readonly()).get(|p| list(&p.pattern.post_types));
    f.add("template_types", untyped_list().describe("Template types that the pattern fits.").context(VIEW_EDIT_EMBED).readonly()).get(|p| list(&p.pattern.template_types));
    f.add("source", string().describe("Origin of the pattern.").one_of(sources).context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.source.clone());
    f
}

#[rustfmt::skip]
fn category_fields() -> Fields<PatternCategory, ()> {
    let mut f = Fields::<PatternCategory, ()>::new("block-pattern-category");
    f.add("name", string().describe("The category's name.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.name.clone());
    f.add("label", string().describe("Display name of the category.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.label.clone());
    f.add("description", string().describe("The category's description.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.description.clone());
    f
}

/// The routes of patterns and pattern categories.
pub struct Patterns {
    site: Arc<RestSite>,
    fields: Fields<PatternItem, ()>,
    categories: Fields<PatternCategory, ()>,
    extra: ExtraFields,
}

impl Patterns {
    /// The pattern routes of this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        Patterns {
            site: Arc::clone(site),
            fields: fields().with_extra(extra, "block-pattern"),
            categories: category_fields().with_extra(extra, "block-pattern-category"),
            extra: extra.clone(),
        }
    }

    async fn can_read(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings()?;
        let access = Access::new(&self.site, &settings);
        if theme_access::is_writer(&self.site, &caller(&req), &access) { Ok(()) } else { Err(cannot_view(&req)) }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let settings = self.site.settings()?;
        let (theme, types) = (self.site.theme(&settings), self.site.block_types(&settings));
        let view = respond::view(&req);
        let plan = self.fields.plan(&view);
        let mut items = Vec::new();
        for pattern in all(&self.site, &theme) {
            let content =
                if plan.wants("content") { editor_content(&self.site, &types, &theme, pattern) } else { String::new() };
            let mut data = plan.prepare(&PatternItem { pattern: pattern.clone(), content });
            // Missing properties are omitted.
            data.retain(|_, value| !value.is_null());
            respond::add_extra(&self.extra, "block-pattern", &mut data, &req, &view).await?;
            items.push(respond::with_links(data, None, &req));
        }
        Ok(Response::new(Value::Array(items)))
    }

    async fn list_categories(self: Arc<Self>, req: Request) -> Result<Response> {
        let view = respond::view(&req);
        let plan = self.categories.plan(&view);
        let mut items = Vec::new();
        for category in self.site.patterns.categories() {
            let mut data = plan.prepare(category);
            respond::add_extra(&self.extra, "block-pattern-category", &mut data, &req, &view).await?;
            items.push(respond::with_links(data, None, &req));
        }
        Ok(Response::new(Value::Array(items)))
    }
}

impl Controller for Patterns {
    fn routes(&self) -> Vec<Route<Self>> {
        vec![
            Route::new("/block-patterns/patterns")
                .schema(Schema::compile(self.fields.item_schema()))
                .endpoint(get(Self::list, Self::can_read)),
            Route::new("/block-patterns/categories")
                .schema(Schema::compile(self.categories.item_schema()))
                .endpoint(get(Self::list_categories, Self::can_read)),
        ]
    }
}
