//! The directory of patterns, which is elsewhere: without a connection to it there is nothing to list.

use std::sync::Arc;

use serde_json::Value;
use svc_auth::Caller;
use svc_routing::{Controller, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Args, Error, Schema,
    build::{array, integer, string, untyped},
};

use crate::{Access, Site, caller, posts::context_param, themes};

/// Contexts in which a member is seen.
const ALL: &[&str] = &["view", "edit", "embed"];

/// The caller may not look into the directory.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_pattern_directory_cannot_view", "You are not allowed to look into the directory of patterns.")
}

/// This server asks no other one for patterns.
fn unreachable() -> Error {
    Error::new("http_request_not_executed", "This site does not ask the directory of patterns.").with_status(500)
}

/// The family of the directory.
pub struct PatternDirectory {
    site: Arc<Site>,
}

impl PatternDirectory {
    /// The family on this site.
    pub fn new(site: &Arc<Site>) -> Self {
        PatternDirectory { site: Arc::clone(site) }
    }

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings()?;
        let (caller, access): (Caller, _) = (caller(&req), Access::new(&self.site, &settings));
        if themes::is_writer(&self.site, &caller, &access) { Ok(()) } else { Err(cannot_view(&req)) }
    }

    async fn list(self: Arc<Self>, _: Request) -> Result<Response> {
        Err(unreachable())
    }
}

#[rustfmt::skip]
fn params() -> Args {
    let by = ["author", "date", "id", "include", "modified", "parent", "relevance", "slug", "include_slugs", "title", "favorite_count"];
    Args::from([
        ("context", context_param()),
        ("page", integer().describe("The page of the list.").default(1).minimum(1)),
        ("per_page", integer().describe("Patterns on a page.").default(100).range(1..=100)),
        ("search", string().describe("Text that patterns hold.").min_length(1)),
        ("category", integer().describe("Number of their category.").minimum(1)),
        ("keyword", integer().describe("Number of their keyword.").minimum(1)),
        ("slug", untyped().keyword("type", "array").describe("Their slugs.")),
        ("offset", integer().describe("How many are skipped.")),
        ("order", string().describe("Up or down.").default("desc").one_of(["asc", "desc"])),
        ("orderby", string().describe("What the list is ordered by.").default("date").one_of(by)),
    ])
}

#[rustfmt::skip]
fn schema() -> Value {
    let words = || array(string()).unique_items();
    let members = [
        ("id", integer().describe("Number of the pattern.").minimum(1).context(ALL)),
        ("title", string().describe("What people call the pattern.").min_length(1).context(ALL)),
        ("content", string().describe("The pattern's blocks.").min_length(1).context(ALL)),
        ("categories", words().describe("Categories of the pattern.").context(ALL)),
        ("keywords", words().describe("Words that the pattern is found by.").context(ALL)),
        ("description", string().describe("What the pattern is for.").min_length(1).context(ALL)),
        ("viewport_width", integer().describe("Width of the pattern's preview, in pixels.").context(ALL)),
        ("block_types", words().describe("Blocks that the pattern can stand for.").context(&["view", "embed"])),
    ];
    let properties: svc_routing::Map = members.into_iter().map(|(name, schema)| (name.to_owned(), schema.into())).collect();
    serde_json::json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "title": "pattern-directory-item",
        "type": "object",
        "properties": properties,
    })
}

impl Controller for PatternDirectory {
    fn routes(&self) -> Vec<Route<Self>> {
        vec![
            Route::new("/pattern-directory/patterns")
                .schema(Schema::compile(schema()))
                .endpoint(get(Self::list, Self::can_list).args(params())),
        ]
    }
}
