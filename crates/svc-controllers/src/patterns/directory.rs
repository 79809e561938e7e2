//! Client of the external pattern directory at the configured URL. Without a URL the route fails.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use svc_content::kses;
use svc_fetch::{Allowed, Get};
use svc_resource::VALIDATED_FIRST;
use svc_routing::{Controller, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Args, Error, Schema,
    build::{array, integer, string, untyped},
};
use svc_site::{Site, TtlCache};

use crate::{args::context_param, contexts::VIEW_EDIT_EMBED, theme_access};

/// Maximum size of the directory's response in bytes, and timeout.
const MAX_BYTES: u64 = 8 << 20;
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long a response or a failure is cached, and maximum number of cached queries.
const CACHE_TTL: Duration = Duration::from_secs(60 * 60);
const FAILURE_TTL: Duration = Duration::from_secs(5);
const MAX_QUERIES: usize = 200;

/// The caller may not browse the directory.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_pattern_directory_cannot_view", "You are not allowed to browse the pattern directory.")
}

/// No directory is configured, or its URL is invalid.
fn not_executed() -> Error {
    Error::new("http_request_not_executed", "This site does not send requests to the pattern directory.")
        .with_status(500)
}

/// The directory cannot be reached.
fn unreachable() -> Error {
    Error::new("http_request_failed", "The pattern directory could not be reached.").with_status(500)
}

/// The directory's response is not a list of patterns. As in WordPress, the error data contains the response.
fn failed(body: &[u8]) -> Error {
    let mut error = Error::new("pattern_api_failed", "The pattern directory returned an invalid response.");
    let excerpt = String::from_utf8_lossy(body).chars().take(2_000).collect::<String>();
    error.add_data(serde_json::json!({"response": excerpt}), None);
    error.add_data(serde_json::json!({"status": 500}), None);
    error
}

/// The patterns for a query, or the failure.
type QueryResult = Result<Arc<Vec<Value>>>;

/// The pattern directory route.
pub struct PatternDirectory {
    site: Arc<Site>,
    cache: TtlCache<String, QueryResult>,
}

impl PatternDirectory {
    /// The pattern directory route of this site.
    pub fn new(site: &Arc<Site>) -> Self {
        PatternDirectory { site: Arc::clone(site), cache: TtlCache::new(MAX_QUERIES) }
    }

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        if theme_access::is_writer(&self.site, &req)? { Ok(()) } else { Err(cannot_view(&req)) }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let query = self.query(&req)?;
        let found = match self.cache.get(req.cx(), &query) {
            Some(result) => result,
            None => {
                let result = self.request(&query).await;
                self.cache.insert(query, result.clone(), if result.is_ok() { CACHE_TTL } else { FAILURE_TTL });
                result
            }
        }?;
        let mut items: Vec<Value> = found.iter().map(show).collect();
        // `block_types` is not in the context `edit`.
        if req.context() == "edit" {
            items.iter_mut().filter_map(Value::as_object_mut).for_each(|item| drop(item.shift_remove("block_types")));
        }
        Ok(Response::new(Value::Array(items)))
    }

    /// The query string for the directory.
    fn query(&self, req: &Request) -> Result<String> {
        let mut query = Map::new();
        for name in ["page", "per_page", "order", "orderby", "search", "slug", "offset"] {
            let value = req.param(name).filter(|value| svc_php::cast::truthy(value));
            let value = match (name, value) {
                (_, None) => continue,
                ("slug", Some(slugs)) => {
                    svc_php::list::parse_list(slugs)?.into_iter().map(|slug| slug.into_owned()).collect()
                }
                (_, Some(value)) => value.clone(),
            };
            query.insert(name.to_owned(), value);
        }
        let settings = self.site.settings(req.cx())?;
        let locale = Some(settings.option("WPLANG")).filter(|locale| !locale.is_empty()).unwrap_or("en_US");
        query.insert("locale".to_owned(), locale.into());
        for (name, param) in [("pattern-categories", "category"), ("pattern-keywords", "keyword")] {
            if let Some(number) = req.param(param).filter(|value| svc_php::cast::truthy(value)) {
                query.insert(name.to_owned(), number.clone());
            }
        }
        Ok(svc_php::query::build(&query))
    }

    async fn request(&self, query: &str) -> QueryResult {
        let Some(url) = self.site.services.plugin_directory.as_deref() else { return Err(not_executed()) };
        // The configured directory may have a private address.
        let get = Get::new(format!("{url}/patterns/1.0/?{query}")).allow(Allowed::origin_of(url));
        let response =
            self.site.services.http_client.send(get.within(TIMEOUT).max_bytes(MAX_BYTES)).await.map_err(|error| {
                tracing::warn!(%error, "failed to reach the pattern directory");
                if error.is_invalid_url() { not_executed() } else { unreachable() }
            })?;
        match serde_json::from_slice(&response.body) {
            Ok(Value::Array(patterns)) if response.status == 200 => Ok(Arc::new(patterns)),
            _ => Err(failed(&response.body)),
        }
    }
}

/// Sanitizes a pattern of the directory.
fn show(pattern: &Value) -> Value {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let field = |value: &Value| svc_text::sanitize_text_field(&text(value));
    let slugs = |value: &Value| -> Vec<String> {
        let words = svc_php::list::parse_list(value).unwrap_or_default();
        words.iter().filter_map(|word| word.as_str()).map(svc_text::sanitize_title).collect()
    };
    let meta = &pattern["meta"];
    let keywords: Vec<String> = text(&meta["wpop_keywords"]).split(',').map(svc_text::sanitize_title).collect();
    let block_types: Vec<String> = meta["wpop_block_types"].as_array().into_iter().flatten().map(field).collect();
    serde_json::json!({
        "id": svc_php::cast::to_int(&pattern["id"]).unsigned_abs(),
        "title": field(&pattern["title"]["rendered"]),
        "content": kses::post(&text(&pattern["pattern_content"])).as_str(),
        "categories": slugs(&pattern["category_slugs"]),
        "keywords": keywords,
        "description": field(&meta["wpop_description"]),
        "viewport_width": svc_php::cast::to_int(&meta["wpop_viewport_width"]).unsigned_abs(),
        "block_types": block_types,
    })
}

#[rustfmt::skip]
fn params() -> Args {
    let by = ["author", "date", "id", "include", "modified", "parent", "relevance", "slug", "include_slugs", "title", "favorite_count"];
    Args::from([
        ("context", context_param()),
        ("page", integer().describe("Page of results.").default(1).minimum(1)),
        ("per_page", integer().describe("Maximum number of patterns per page.").default(100).range(1..=100)),
        ("search", string().describe("Only return patterns that match this text.").min_length(1)),
        ("category", integer().describe("Only return patterns of the category with this ID.").minimum(1)),
        ("keyword", integer().describe("Only return patterns of the keyword with this ID.").minimum(1)),
        ("slug", untyped().keyword("type", "array").describe("Only return patterns with these slugs.")),
        ("offset", integer().describe("Number of patterns to skip.")),
        ("order", string().describe("Sort direction.").default("desc").one_of(["asc", "desc"])),
        ("orderby", string().describe("Sort key.").default("date").one_of(by)),
    ])
    .validate_first(&VALIDATED_FIRST)
}

#[rustfmt::skip]
fn schema() -> Value {
    let words = || array(string()).unique_items().last(&["items"]);
    let properties = [
        ("id", integer().describe("The pattern's ID.").minimum(1).context(VIEW_EDIT_EMBED)),
        ("title", string().describe("The pattern's title.").min_length(1).context(VIEW_EDIT_EMBED)),
        ("content", string().describe("The pattern's content.").min_length(1).context(VIEW_EDIT_EMBED)),
        ("categories", words().describe("Slugs of the pattern's categories.").context(VIEW_EDIT_EMBED)),
        ("keywords", words().describe("Search keywords of the pattern.").context(VIEW_EDIT_EMBED)),
        ("description", string().describe("The pattern's description.").min_length(1).context(VIEW_EDIT_EMBED)),
        ("viewport_width", integer().describe("Preferred width of the pattern's preview, in pixels.").context(VIEW_EDIT_EMBED)),
        ("block_types", words().describe("Block types that the pattern can be used for.").context(&["view", "embed"])),
    ];
    let properties: svc_routing::Map = properties.into_iter().map(|(name, schema)| (name.to_owned(), schema.into())).collect();
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
                .endpoint(get(Self::list, Self::can_list).waits().args(params())),
        ]
    }
}
