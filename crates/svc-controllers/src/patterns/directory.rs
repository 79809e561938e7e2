//! The directory of patterns, which is elsewhere: asked at the address that the configuration names. Without one there is
//! nothing to list.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use quick_cache::sync::Cache;
use serde_json::{Map, Value};
use svc_auth::Caller;
use svc_content::kses;
use svc_fetch::{Allowed, Get};
use svc_resource::VALIDATED_FIRST;
use svc_routing::{Controller, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Args, Error, Schema,
    build::{array, integer, string, untyped},
};
use svc_site::Access;

use crate::{RestSite, args::context_param, caller, contexts::VIEW_EDIT_EMBED, theme_access};

/// Largest answer of the directory, in bytes, and the time for it.
const BYTES: u64 = 8 << 20;
const TIME: Duration = Duration::from_secs(10);

/// How long an answer is kept, how long a failure, and of how many questions.
const KEPT: Duration = Duration::from_secs(60 * 60);
const FAILED: Duration = Duration::from_secs(5);
const QUESTIONS: usize = 200;

/// The caller may not look into the directory.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_pattern_directory_cannot_view", "You are not allowed to look into the directory of patterns.")
}

/// There is no directory to ask, or it may not be asked.
fn not_asked() -> Error {
    Error::new("http_request_not_executed", "This site does not ask the directory of patterns.").with_status(500)
}

/// The directory cannot be reached.
fn unreachable() -> Error {
    Error::new("http_request_failed", "The directory of patterns could not be reached.").with_status(500)
}

/// The directory answers, but not with patterns. What it says is shown, as the peer does.
fn failed(body: &[u8]) -> Error {
    let mut error = Error::new("pattern_api_failed", "The directory of patterns gave no list of patterns.");
    let shown = String::from_utf8_lossy(body).chars().take(2_000).collect::<String>();
    error.add_data(serde_json::json!({"response": shown}), None);
    error.add_data(serde_json::json!({"status": 500}), None);
    error
}

/// What a question was answered with.
type Answered = Result<Arc<Vec<Value>>>;

/// The family of the directory.
pub struct PatternDirectory {
    site: Arc<RestSite>,
    known: Arc<Cache<String, (Instant, Answered)>>,
}

impl PatternDirectory {
    /// The family on this site.
    pub fn new(site: &Arc<RestSite>) -> Self {
        PatternDirectory { site: Arc::clone(site), known: Arc::new(Cache::new(QUESTIONS)) }
    }

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings()?;
        let (caller, access): (Caller, _) = (caller(&req), Access::new(&self.site, &settings));
        if theme_access::is_writer(&self.site, &caller, &access) { Ok(()) } else { Err(cannot_view(&req)) }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let query = self.query(&req)?;
        let found = match self.known.get(&query) {
            Some((at, answered)) if at.elapsed() < if answered.is_ok() { KEPT } else { FAILED } => answered,
            _ => {
                let answered = self.ask(&query).await;
                self.known.insert(query, (Instant::now(), answered.clone()));
                answered
            }
        }?;
        let mut items: Vec<Value> = found.iter().map(show).collect();
        // Editors place patterns by their own lists of blocks.
        if req.context() == "edit" {
            items.iter_mut().filter_map(Value::as_object_mut).for_each(|item| drop(item.shift_remove("block_types")));
        }
        Ok(Response::new(Value::Array(items)))
    }

    /// What the directory is asked, as parameters of an address.
    fn query(&self, req: &Request) -> Result<String> {
        let mut query = Map::new();
        for name in ["page", "per_page", "order", "orderby", "search", "slug", "offset"] {
            let given = req.param(name).filter(|value| svc_php::cast::truthy(value));
            let value = match (name, given) {
                (_, None) => continue,
                ("slug", Some(slugs)) => {
                    svc_php::list::parse_list(slugs).into_iter().map(|slug| slug.into_owned()).collect()
                }
                (_, Some(value)) => value.clone(),
            };
            query.insert(name.to_owned(), value);
        }
        let settings = self.site.settings()?;
        let locale = Some(settings.option("WPLANG")).filter(|locale| !locale.is_empty()).unwrap_or("en_US");
        query.insert("locale".to_owned(), locale.into());
        for (name, ours) in [("pattern-categories", "category"), ("pattern-keywords", "keyword")] {
            if let Some(number) = req.param(ours).filter(|value| svc_php::cast::truthy(value)) {
                query.insert(name.to_owned(), number.clone());
            }
        }
        Ok(svc_php::query::build(&query))
    }

    async fn ask(&self, query: &str) -> Answered {
        let Some(address) = self.site.directory.as_deref() else { return Err(not_asked()) };
        // The directory's address may be private: it was configured.
        let get = Get::new(format!("{address}/patterns/1.0/?{query}")).allow(Allowed::origin_of(address));
        let answer = self.site.http_client.send(get.within(TIME).max_bytes(BYTES)).await.map_err(|error| {
            tracing::warn!(%error, "the directory of patterns was not reached");
            if error.is_invalid_url() { not_asked() } else { unreachable() }
        })?;
        match serde_json::from_slice(&answer.body) {
            Ok(Value::Array(patterns)) if answer.status == 200 => Ok(Arc::new(patterns)),
            _ => Err(failed(&answer.body)),
        }
    }
}

/// A pattern of the directory, made fit to be shown.
fn show(pattern: &Value) -> Value {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let field = |value: &Value| svc_text::sanitize_text_field(&text(value));
    let slugs = |value: &Value| -> Vec<String> {
        let words = svc_php::list::parse_list(value);
        words.iter().filter_map(|word| word.as_str()).map(svc_text::sanitize_title).collect()
    };
    let meta = &pattern["meta"];
    let keywords: Vec<String> = text(&meta["wpop_keywords"]).split(',').map(svc_text::sanitize_title).collect();
    let block_types: Vec<String> = meta["wpop_block_types"].as_array().into_iter().flatten().map(field).collect();
    serde_json::json!({
        "id": svc_php::cast::to_int(&pattern["id"]).unsigned_abs(),
        "title": field(&pattern["title"]["rendered"]),
        "content": kses::post(&text(&pattern["pattern_content"])),
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
    .validate_first(&VALIDATED_FIRST)
}

#[rustfmt::skip]
fn schema() -> Value {
    let words = || array(string()).unique_items();
    let members = [
        ("id", integer().describe("Number of the pattern.").minimum(1).context(VIEW_EDIT_EMBED)),
        ("title", string().describe("What people call the pattern.").min_length(1).context(VIEW_EDIT_EMBED)),
        ("content", string().describe("The pattern's blocks.").min_length(1).context(VIEW_EDIT_EMBED)),
        ("categories", words().describe("Categories of the pattern.").context(VIEW_EDIT_EMBED)),
        ("keywords", words().describe("Words that the pattern is found by.").context(VIEW_EDIT_EMBED)),
        ("description", string().describe("What the pattern is for.").min_length(1).context(VIEW_EDIT_EMBED)),
        ("viewport_width", integer().describe("Width of the pattern's preview, in pixels.").context(VIEW_EDIT_EMBED)),
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
