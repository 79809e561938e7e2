//! Patterns: blocks to begin with, and their categories.
//!
//! Those that code registers, those that every site has, those of the active theme; whoever writes posts sees them.

mod directory;
mod registry;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_content::blocks::{self, Block, BlockTypes};
pub use svc_packages::theme::Pattern;
use svc_resource::Fields;
use svc_routing::{Controller, ExtraFields, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Error, Schema,
    build::{SchemaBuilder, boolean, number, string, untyped},
};

pub use directory::PatternDirectory;
pub use registry::{PatternCategory, PatternRegistry};

use crate::{Access, ActiveTheme, Site, caller, respond, templates::name_theme, themes};

/// Contexts in which a member is seen.
const ALL: &[&str] = &["view", "edit", "embed"];
/// Patterns within patterns.
const MAX_DEPTH: usize = 16;
/// Blocks that patterns may bring into one content.
const MAX_BLOCKS: usize = 5_000;

/// The caller may not see patterns.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to see patterns.")
}

/// The patterns of a site, in the order of the interface: by code, the server's own, the theme's.
fn all<'a>(site: &'a Site, theme: &'a ActiveTheme) -> impl Iterator<Item = &'a Pattern> {
    site.patterns.patterns().chain(theme.theme.iter().flat_map(|theme| &theme.patterns))
}

/// The pattern of this name.
pub(crate) fn find<'a>(site: &'a Site, theme: &'a ActiveTheme, name: &str) -> Option<&'a Pattern> {
    all(site, theme).find(|pattern| pattern.slug == name)
}

/// Content with the patterns in place that it names; those that are not known stay named.
pub(crate) fn expand(site: &Site, theme: &ActiveTheme, content: &str) -> String {
    if !content.contains("wp:pattern") {
        return content.to_owned();
    }
    with_patterns(site, theme, blocks::parse(content))
}

/// The blocks of a pattern as the interface shows them.
fn shown(site: &Site, types: &BlockTypes, theme: &ActiveTheme, pattern: &Pattern) -> String {
    let mut parsed = blocks::parse(&pattern.content);
    name_theme(&mut parsed, &theme.name);
    types.hooks().edited(&with_patterns(site, theme, parsed), None)
}

fn with_patterns(site: &Site, theme: &ActiveTheme, blocks: Vec<Block<'_>>) -> String {
    let mut left = MAX_BLOCKS;
    let blocks = expand_blocks(site, theme, blocks, &mut Vec::new(), &mut left);
    blocks::serialize_blocks(&blocks)
}

/// `open` holds the names of the patterns that these blocks stand in: none stands in itself.
fn expand_blocks<'a>(
    site: &'a Site,
    theme: &'a ActiveTheme,
    blocks: Vec<Block<'a>>,
    open: &mut Vec<String>,
    left: &mut usize,
) -> Vec<Block<'a>> {
    let mut out = Vec::with_capacity(blocks.len());
    for mut block in blocks {
        if let Some(inner) = named_pattern(site, theme, &block, open) {
            let mut parsed = blocks::parse(inner.content.trim());
            name_theme(&mut parsed, &theme.name);
            if parsed.len() <= *left && open.len() < MAX_DEPTH {
                *left -= parsed.len();
                // A single block is told where it is from, so that the editor can name it.
                if let [root] = parsed.as_mut_slice() {
                    name_root(root, inner);
                }
                open.push(inner.slug.clone());
                out.extend(expand_blocks(site, theme, parsed, open, left));
                open.pop();
                continue;
            }
        }
        expand_inside(site, theme, &mut block, open, left);
        out.push(block);
    }
    out
}

fn named_pattern<'a>(
    site: &'a Site,
    theme: &'a ActiveTheme,
    block: &Block<'_>,
    open: &[String],
) -> Option<&'a Pattern> {
    let slug =
        block.attrs.get("slug").and_then(Value::as_str).filter(|_| block.name.as_deref() == Some("core/pattern"))?;
    find(site, theme, slug).filter(|_| open.iter().all(|name| name != slug))
}

/// Expands the blocks inside one; a pattern of several blocks takes the place of one.
fn expand_inside<'a>(
    site: &'a Site,
    theme: &'a ActiveTheme,
    block: &mut Block<'a>,
    open: &mut Vec<String>,
    left: &mut usize,
) {
    let mut inner = std::mem::take(&mut block.inner_blocks).into_iter();
    let mut content = Vec::with_capacity(block.inner_content.len());
    for chunk in std::mem::take(&mut block.inner_content) {
        match chunk {
            Some(text) => content.push(Some(text)),
            None => {
                let Some(one) = inner.next() else { continue };
                let many = expand_blocks(site, theme, vec![one], open, left);
                content.extend(many.iter().map(|_| None));
                block.inner_blocks.extend(many);
            }
        }
    }
    block.inner_content = content;
}

fn name_root(root: &mut Block<'_>, pattern: &Pattern) {
    let metadata = root.attrs.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let Some(metadata) = metadata.as_object_mut() else { return };
    metadata.insert("patternName".to_owned(), pattern.slug.as_str().into());
    metadata.insert("name".to_owned(), pattern.title.as_str().into());
    if let Some(description) = pattern.description.as_ref().filter(|d| !d.is_empty()) {
        metadata.insert("description".to_owned(), description.as_str().into());
    }
    if !pattern.categories.is_empty() {
        metadata.insert("categories".to_owned(), json!(pattern.categories));
    }
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
    f.add("name", string().describe("The pattern's name.").context(ALL).readonly()).get(|p| p.pattern.slug.clone());
    f.add("title", string().describe("What people call the pattern.").context(ALL).readonly()).get(|p| p.pattern.title.clone());
    f.add("content", string().describe("The pattern's blocks.").context(ALL).readonly()).get(|p| p.content.clone());
    f.add("description", string().describe("What the pattern is for.").context(ALL).readonly()).get(|p| p.pattern.description.clone());
    f.add("viewport_width", number().describe("Width of the pattern's preview, in pixels.").context(ALL).readonly()).get(|p| p.pattern.viewport_width);
    f.add("inserter", boolean().describe("Whether people can choose the pattern.").context(ALL).readonly()).get(|p| p.pattern.inserter);
    f.add("categories", words().describe("Categories of the pattern.").context(ALL).readonly()).get(|p| list(&categories(&p.pattern)));
    f.add("keywords", words().describe("Words that the pattern is found by.").context(ALL).readonly()).get(|p| list(&p.pattern.keywords));
    f.add("block_types", words().describe("Blocks that the pattern can stand for.").context(ALL).readonly()).get(|p| list(&p.pattern.block_types));
    f.add("post_types", words().describe("Types of posts that the pattern is for.").context(ALL).readonly()).get(|p| list(&p.pattern.post_types));
    f.add("template_types", words().describe("Templates that the pattern is for.").context(ALL).readonly()).get(|p| list(&p.pattern.template_types));
    f.add("source", string().describe("Who brings the pattern.").one_of(sources).context(ALL).readonly()).get(|p| p.pattern.source.clone());
    f
}

#[rustfmt::skip]
fn category_fields() -> Fields<PatternCategory, ()> {
    let mut f = Fields::<PatternCategory, ()>::new("block-pattern-category");
    f.add("name", string().describe("The category's name for programs.").context(ALL).readonly()).get(|c| c.name.clone());
    f.add("label", string().describe("What people call the category.").context(ALL).readonly()).get(|c| c.label.clone());
    f.add("description", string().describe("What the category's patterns are for.").context(ALL).readonly()).get(|c| c.description.clone());
    f
}

/// The family of patterns and their categories.
pub struct Patterns {
    site: Arc<Site>,
    fields: Fields<PatternItem, ()>,
    categories: Fields<PatternCategory, ()>,
    extra: ExtraFields,
}

impl Patterns {
    /// The family on this site.
    pub fn new(site: &Arc<Site>, extra: &ExtraFields) -> Self {
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
        if themes::is_writer(&self.site, &caller(&req), &access) { Ok(()) } else { Err(cannot_view(&req)) }
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
