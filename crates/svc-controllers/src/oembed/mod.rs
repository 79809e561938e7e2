//! oEmbed: the site's posts described for other sites, and things of other sites described for the editor.

mod foreign;
mod providers;
mod xml;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use foreign::Room;
use quick_cache::sync::Cache;
use serde_json::{Value, json};
use svc_php::query::extend_url_with;
use svc_render::oembed as own;
use svc_routing::{Controller, Request, Response, Result, Route, StatusCode, get, public};
use svc_schema::{
    Arg, Args, Error, Validator,
    build::{SchemaBuilder, boolean, integer, string, untyped},
};
use svc_site::{Access, Settings};

use crate::{RestSite, caller, errors};

/// The namespace; it has no brand.
pub(crate) const NAMESPACE: &str = "oembed/1.0";

/// Width of the site's text, in pixels: how wide things are unless the request says more.
const WIDTH: i64 = 600;

/// How long what others said is remembered, and of how many things.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
const THINGS: usize = 500;

const INVALID_URL: &str = "oembed_invalid_url";

/// Nothing here can be embedded.
fn invalid_url() -> Error {
    Error::new(INVALID_URL, "There is nothing at this address that can be embedded.").with_status(404)
}

/// The links in the head of a post's page by which others find its description.
pub fn discovery_links(settings: &Settings, post_url: &str) -> String {
    let endpoint = settings.urls.rest(&format!("/{NAMESPACE}/embed"));
    let json = extend_url_with(&endpoint, [("url", post_url)]);
    let xml = extend_url_with(&endpoint, [("url", post_url), ("format", "xml")]);
    let link = |kind: &str, mime: &str, url: &str| {
        format!(
            "<link rel=\"alternate\" title=\"oEmbed ({kind})\" type=\"{mime}\" href=\"{}\" />\n",
            svc_text::esc_url(url)
        )
    };
    link("JSON", "application/json+oembed", &json) + &link("XML", "text/xml+oembed", &xml)
}

/// What was remembered, by address and room.
type Known = Cache<(String, Room, bool), (Instant, Value)>;

/// The family of oEmbed.
pub struct OEmbed {
    site: Arc<RestSite>,
    known: Known,
}

impl OEmbed {
    /// The family on this site.
    pub fn new(site: &Arc<RestSite>) -> Self {
        OEmbed { site: Arc::clone(site), known: Cache::new(THINGS) }
    }

    /// What others are told of the post at an address of this site.
    fn own(&self, url: &str, width: i64) -> Result<Option<Value>> {
        self.site.read(|db| {
            let settings = self.site.settings_in(db)?;
            let post = own::post_at(db, &self.site, &settings, url)?;
            post.map(|post| own::data(db, &self.site, &settings, &post, width)).transpose()
        })
    }

    async fn embed(self: Arc<Self>, req: Request) -> Result<Response> {
        let (url, width): (String, i64) = (req.require("url")?, req.require("maxwidth")?);
        let data = self.own(&url, width)?;
        if req.param("format").is_none_or(|format| format != "xml") {
            return Ok(data.ok_or_else(invalid_url)?.into());
        }
        // A refusal is XML too, in the words of the status alone.
        let status = if data.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
        let refusal = || {
            let message = status.canonical_reason().unwrap_or_default();
            json!({"code": INVALID_URL, "message": message, "data": {"status": status.as_u16()}})
        };
        let document = xml::document(&data.unwrap_or_else(refusal));
        Ok(Response::raw("text/xml; charset=UTF-8", document).status(status.as_u16()))
    }

    async fn can_proxy(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings()?;
        let may = Access::new(&self.site, &settings).can(&caller(&req), "edit_posts");
        if may { Ok(()) } else { Err(errors::forbidden(&req)) }
    }

    async fn proxy(self: Arc<Self>, req: Request) -> Result<Response> {
        let (url, width): (String, i64) = (req.require("url")?, req.require("maxwidth")?);
        if let Some(data) = self.own(&url, width)? {
            return Ok(data.into());
        }
        let room = Room { width: width.clamp(1, 10_000), height: req.arg("maxheight")? };
        let discover: bool = req.require("discover")?;
        let key = (url.clone(), room, discover);
        if let Some((at, data)) = self.known.get(&key)
            && at.elapsed() < KEPT
        {
            return Ok(data.into());
        }
        let data = foreign::data(&self.site.http_client, &url, room, discover).await.ok_or_else(invalid_url)?;
        self.known.insert(key, (Instant::now(), data.clone()));
        Ok(data.into())
    }
}

fn url_param() -> SchemaBuilder {
    string().describe("Address of the thing to embed.").format("uri").required()
}

/// The arguments of the public route, which refuses nothing: what makes no sense is read as well as it can be.
fn embed_args() -> Args {
    let lenient = |default: Value| Arg { validate: Validator::None, ..Arg::new(untyped().default(default)) };
    let format = |value: Value, _: &str| Ok(if value == "xml" { value } else { "json".into() });
    let mut args = Args::from([("url", url_param())]);
    args.insert("format", lenient("json".into()).sanitize_with(format));
    args.insert("maxwidth", lenient(WIDTH.into()).sanitize_with(|value, _| Ok(svc_php::list::absint(&value).into())));
    args
}

fn proxy_args() -> Args {
    let format = string().describe("The form of the answer that providers are asked for.").one_of(["json", "xml"]);
    Args::from([
        ("url", url_param()),
        ("format", format.default("json")),
        ("maxwidth", integer().describe("Most pixels that it may be wide.").default(WIDTH)),
        ("maxheight", integer().describe("Most pixels that it may be high.")),
        (
            "discover",
            boolean().describe("Whether pages of unknown sites are asked where they are described.").default(true),
        ),
    ])
}

impl Controller for OEmbed {
    fn routes(&self) -> Vec<Route<Self>> {
        vec![
            Route::new("/embed").endpoint(get(Self::embed, public).args(embed_args())),
            Route::new("/proxy").endpoint(get(Self::proxy, Self::can_proxy).args(proxy_args())),
        ]
    }
}
