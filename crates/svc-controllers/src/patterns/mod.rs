//! Patterns: blocks to begin with, and their categories.
//!
//! Those that code registers, those that every site has, those of the active theme; whoever writes posts sees them.

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
    patterns::expand::{all, shown},
};

use crate::{RestSite, caller, contexts::VIEW_EDIT_EMBED, respond, theme_access};

pub use svc_packages::theme::Pattern;

pub use directory::PatternDirectory;
pub use svc_site::patterns::registry::PatternCategory;
pub use svc_site::patterns::registry::PatternRegistry;

/// The caller may not see patterns.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to see patterns.")
}

/// A pattern as its members read it.
struct PatternItem {
    pattern: Pattern,
    content: String,
}

/// A list whose items are not described.
fn words() -> SchemaBuilder {
    untyped().keyword("type", "array")
}

/// A list, absent when it is empty.
fn list(words: &[String]) -> Value {
    if words.is_empty() { Value::Null } else { json!(words) }
}

/// Categories that were renamed, with their names of today.
const RENAMED: [(&str, &str); 3] = [("buttons", "call-to-action"), ("columns", "text"), ("query", "posts")];

/// The categories of a pattern by their names of today.
fn categories(pattern: &Pattern) -> Vec<String> {
    let today =
        |name: &String| RENAMED.iter().find(|(old, _)| old == name).map_or(name.clone(), |(_, new)| (*new).to_owned());
    pattern.categories.iter().map(today).collect()
}

#[rustfmt::skip]
fn fields() -> Fields<PatternItem, ()> {
    let mut f = Fields::<PatternItem, ()>::new("block-pattern");
    let sources = ["core", "plugin", "theme", "pattern-directory/core", "pattern-directory/theme", "pattern-directory/featured"];
    f.add("name", string().describe("The pattern's name.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.slug.clone());
    f.add("title", string().describe("What people call the pattern.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.title.clone());
    f.add("content", string().describe("The pattern's blocks.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.content.clone());
    f.add("description", string().describe("What the pattern is for.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.description.clone());
    f.add("viewport_width", number().describe("Width of the pattern's preview, in pixels.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.viewport_width);
    f.add("inserter", boolean().describe("Whether people can choose the pattern.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.inserter);
    f.add("categories", words().describe("Categories of the pattern.").context(VIEW_EDIT_EMBED).readonly()).get(|p| list(&categories(&p.pattern)));
    f.add("keywords", words().describe("Words that the pattern is found by.").context(VIEW_EDIT_EMBED).readonly()).get(|p| list(&p.pattern.keywords));
    f.add("block_types", words().describe("Blocks that the pattern can stand for.").context(VIEW_EDIT_EMBED).readonly()).get(|p| list(&p.pattern.block_types));
    f.add("post_types", words().describe("Types of posts that the pattern is for.").context(VIEW_EDIT_EMBED).readonly()).get(|p| list(&p.pattern.post_types));
    f.add("template_types", words().describe("Templates that the pattern is for.").context(VIEW_EDIT_EMBED).readonly()).get(|p| list(&p.pattern.template_types));
    f.add("source", string().describe("Who brings the pattern.").one_of(sources).context(VIEW_EDIT_EMBED).readonly()).get(|p| p.pattern.source.clone());
    f
}

#[rustfmt::skip]
fn category_fields() -> Fields<PatternCategory, ()> {
    let mut f = Fields::<PatternCategory, ()>::new("block-pattern-category");
    f.add("name", string().describe("The category's name for programs.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.name.clone());
    f.add("label", string().describe("What people call the category.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.label.clone());
    f.add("description", string().describe("What the category's patterns are for.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.description.clone());
    f
}

/// The family of patterns and their categories.
pub struct Patterns {
    site: Arc<RestSite>,
    fields: Fields<PatternItem, ()>,
    categories: Fields<PatternCategory, ()>,
    extra: ExtraFields,
}

impl Patterns {
    /// The family on this site.
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
                if plan.wants("content") { shown(&self.site, &types, &theme, pattern) } else { String::new() };
            let mut data = plan.prepare(&PatternItem { pattern: pattern.clone(), content });
            // What a pattern does not say is not shown.
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
