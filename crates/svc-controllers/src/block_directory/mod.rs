//! Search for block plugins in the plugin directory.
//!
//! A result is installed as a plugin (see [`crate::plugins`]) through the link in the result.

use std::sync::Arc;

use chrono::{DateTime, NaiveDateTime};
use serde_json::{Map, Value, json};
use svc_resource::{Fields, VALIDATED_FIRST, View};
use svc_routing::{Controller, ExtraFields, Link, Links, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Args, Error, Schema,
    build::{integer, number, string},
};
use svc_site::{Access, Site, plugin_directory_client, plugins::item::PluginItem};
use svc_versions::Context;

use crate::{LINK_RELATION, caller, contexts::VIEW, plugins, respond};

/// The object type of a result, in the item schema and for additional fields.
const OBJECT: &str = "block-directory-item";

/// Maximum number of words of a description.
const WORDS: usize = 30;

/// Icon of blocks without their own.
const NO_ICON: &str = "block-default";

/// The caller may not install blocks.
fn cannot_view(req: &Request) -> Error {
    let text = "You are not allowed to install blocks on this site.";
    forbidden(req, "rest_block_directory_cannot_view", text)
}

/// A plugin with blocks as returned by the directory, and the current time.
struct BlockPlugin {
    plugin: Value,
    now: NaiveDateTime,
}

impl BlockPlugin {
    fn subfield(&self, name: &str) -> &Value {
        &self.plugin[name]
    }

    fn text(&self, name: &str) -> String {
        self.subfield(name).as_str().unwrap_or_default().to_owned()
    }

    fn count(&self, name: &str) -> i64 {
        svc_php::cast::to_int(self.subfield(name))
    }

    /// Converts a rating from percent to a number of stars, up to five.
    fn stars(&self, name: &str) -> Value {
        svc_php::cast::float_value(svc_php::cast::to_float(self.subfield(name)) / 20.0)
    }

    /// A property of the plugin's first block; empty if missing.
    fn block(&self, name: &str) -> String {
        let first = match self.subfield("blocks") {
            Value::Object(blocks) => blocks.values().next(),
            Value::Array(blocks) => blocks.first(),
            _ => None,
        };
        first.and_then(|block| block[name].as_str()).unwrap_or_default().to_owned()
    }

    fn title(&self) -> String {
        Some(self.block("title")).filter(|title| !title.is_empty()).unwrap_or_else(|| self.text("name"))
    }

    fn icon(&self) -> String {
        self.subfield("icons")["1x"].as_str().unwrap_or(NO_ICON).to_owned()
    }

    /// Time of the plugin's last update, in UTC.
    fn updated(&self) -> Option<NaiveDateTime> {
        let text = self.text("last_updated");
        let by_format = |format| NaiveDateTime::parse_from_str(text.trim_end_matches("GMT").trim(), format).ok();
        let rfc = || DateTime::parse_from_rfc3339(&text).ok().map(|at| at.naive_utc());
        rfc().or_else(|| by_format("%Y-%m-%d %I:%M%P")).or_else(|| by_format("%Y-%m-%d %H:%M:%S"))
    }
}

/// Formats an age in the largest fitting unit, such as `3 weeks ago`.
fn ago(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const UNITS: [(i64, &str); 6] =
        [(365 * DAY, "year"), (30 * DAY, "month"), (7 * DAY, "week"), (DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")];
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1, "second"));
    let n = (seconds.max(1) + unit / 2) / unit;
    format!("{n} {name}{} ago", if n == 1 { "" } else { "s" })
}

#[rustfmt::skip]
fn fields() -> Fields<BlockPlugin, ()> {
    let mut f = Fields::<BlockPlugin, ()>::new(OBJECT);
    f.add("name", string().describe("Name of the block, with its namespace.").context(VIEW)).get(|b| b.block("name"));
    f.add("title", string().describe("Display name of the block.").context(VIEW)).get(BlockPlugin::title);
    f.add("description", string().describe("Short description of the block.").context(VIEW)).get(|b| svc_content::excerpt::trim_words(&b.text("short_description"), WORDS, "..."));
    f.add("id", string().describe("Slug of the block's plugin in the plugin directory.").context(VIEW)).get(|b| b.text("slug"));
    f.add("rating", number().describe("Rating of the plugin, from 0 to 5 stars.").context(VIEW)).get(|b| b.stars("rating"));
    f.add("rating_count", integer().describe("Number of ratings.").context(VIEW)).get(|b| b.count("num_ratings"));
    f.add("active_installs", integer().describe("Number of active installations.").context(VIEW)).get(|b| b.count("active_installs"));
    f.add("author_block_rating", number().describe("Average rating of the author's blocks, from 0 to 5 stars.").context(VIEW)).get(|b| b.stars("author_block_rating"));
    f.add("author_block_count", integer().describe("Number of blocks by the author.").context(VIEW)).get(|b| b.count("author_block_count"));
    f.add("author", string().describe("Author of the block.").context(VIEW)).get(|b| svc_text::strip_all_tags(&b.text("author"), false));
    f.add("icon", string().describe("URL of the block's icon.").format("uri").context(VIEW)).get(BlockPlugin::icon);
    f.add("last_updated", string().describe("Date of the last update, in UTC.").format("date-time").context(VIEW))
        .get(|b| b.updated().unwrap_or_default().format("%Y-%m-%dT%H:%M:%S").to_string());
    f.add("humanized_updated", string().describe("Time since the last update.").context(VIEW))
        .get(|b| ago((b.now - b.updated().unwrap_or_default()).num_seconds()));
    f
}

fn params() -> Args {
    let context = string()
        .describe("Context of the request, which determines the fields in the response.")
        .one_of(VIEW.iter().copied())
        .default("view");
    Args::from([
        ("context", context),
        ("page", integer().describe("Page number of the results.").default(1).minimum(1)),
        ("per_page", integer().describe("Maximum number of results per page.").default(10).range(1..=100)),
        ("term", string().describe("Search text.").min_length(1).required()),
    ])
    .validate_first(&VALIDATED_FIRST)
}

/// The controller for the block directory.
pub struct BlockDirectory {
    site: Arc<Site>,
    fields: Fields<BlockPlugin, ()>,
    extra: ExtraFields,
}

impl BlockDirectory {
    /// The controller for this site.
    pub fn new(site: &Arc<Site>, extra: &ExtraFields) -> Self {
        let fields = fields().with_extra(extra, OBJECT);
        BlockDirectory { site: Arc::clone(site), fields, extra: extra.clone() }
    }

    /// Links to install a block's plugin and, if it is installed, to the plugin.
    fn links(&self, cx: &Context, slug: &str, installed: &[PluginItem]) -> Result<Links> {
        let settings = self.site.settings(cx)?;
        let collection = settings.urls.rest(&plugins::route(&self.site));
        let mut links = Links::new();
        let install = svc_php::query::extend_url_with(&collection, [("slug", slug)]);
        links.add(format!("{LINK_RELATION}install-plugin"), Link::new(install));
        if let Some(item) = installed.iter().find(|item| item.is_of(slug)) {
            let own = settings.urls.rest(&format!("{}/{}", plugins::route(&self.site), item.id()));
            links.add(format!("{LINK_RELATION}plugin"), Link::new(own).embeddable());
        }
        Ok(links)
    }

    async fn can_search(self: Arc<Self>, req: Request) -> Result<()> {
        let (settings, caller) = (self.site.settings(req.cx())?, caller(&req));
        let access = Access::new(&self.site, &settings);
        let may = ["install_plugins", "activate_plugins"].iter().all(|cap| access.can(&caller, cap));
        if may { Ok(()) } else { Err(cannot_view(&req)) }
    }

    async fn search(self: Arc<Self>, req: Request) -> Result<Response> {
        let (term, per_page, page): (String, i64, i64) =
            (req.require("term")?, req.require("per_page")?, req.require("page")?);
        let params = json!({"block": term, "per_page": per_page, "page": page});
        let Value::Object(params) = params else { unreachable!("built as an object above") };
        let mut response = plugin_directory_client::request(&self.site, "query_plugins", params).await?;
        let Value::Array(found) = response["plugins"].take() else { return Ok(Response::new(json!([]))) };
        let installed = plugins::all(req.cx(), &self.site).await?;
        let view = View { context: "view".to_owned(), ..respond::view(&req) };
        let plan = self.fields.plan(&view);
        let mut items = Vec::new();
        // The directory may return more results than requested.
        for plugin in found.into_iter().take(usize::try_from(per_page).unwrap_or_default()) {
            let block = BlockPlugin { plugin, now: self.site.now(req.cx()) };
            let mut item: Map<String, Value> = plan.prepare(&block);
            respond::add_extra(&self.extra, OBJECT, &mut item, &req, &view).await?;
            let links = self.links(req.cx(), &block.text("slug"), &installed)?;
            items.push((item, view.wants_links().then_some(links)));
        }
        Ok(respond::list(items, &req))
    }
}

impl Controller for BlockDirectory {
    fn routes(&self) -> Vec<Route<Self>> {
        vec![
            Route::new("/block-directory/search")
                .schema(Schema::compile(self.fields.item_schema()))
                .endpoint(get(Self::search, Self::can_search).waits().args(params())),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_results_of_the_directory() {
        let plugin = json!({
            "name": "Boxes", "slug": "boxes", "rating": 90, "num_ratings": "12", "active_installs": 1000,
            "author_block_rating": 100, "author": "<a href=\"x\">Ann</a>", "last_updated": "2026-11-01 7:05pm GMT",
            "blocks": {"ann/box": {"name": "ann/box", "title": ""}}, "icons": [],
            "short_description": "a ".repeat(40),
        });
        let now = NaiveDateTime::parse_from_str("2026-11-21 07:00:00", "%Y-%m-%d %H:%M:%S").unwrap();
        let item = fields().plan(&View::all_of("view")).prepare(&BlockPlugin { plugin, now });
        let expected = json!({
            "name": "ann/box", "title": "Boxes", "description": format!("{}...", ["a"; 30].join(" ")), "id": "boxes",
            "rating": 4.5, "rating_count": 12, "active_installs": 1000, "author_block_rating": 5.0, "author_block_count": 0,
            "author": "Ann", "icon": "block-default", "last_updated": "2026-11-01T19:05:00", "humanized_updated": "3 weeks ago",
        });
        assert_eq!(Value::Object(item), expected);
        // Missing and malformed values are read as empty.
        let bare = fields().plan(&View::all_of("view")).prepare(&BlockPlugin { plugin: json!({"blocks": 7}), now });
        assert_eq!(bare["name"], "");
    }
}
