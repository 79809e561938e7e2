//! oEmbed: a provider for the site's posts, and a proxy that fetches embeds of other sites for the editor.

mod foreign;
mod providers;
mod xml;

use std::{sync::Arc, time::Duration};

use foreign::MaxSize;
use serde_json::{Value, json};
use svc_render::oembed as own;
use svc_routing::{Controller, Request, Response, Result, Route, StatusCode, get, public};
use svc_schema::{
    Arg, Args, Error, Validator,
    build::{SchemaBuilder, boolean, integer, string, untyped},
};
use svc_site::{Site, TtlCache};
use svc_versions::Context;

use crate::{errors, request::can};

/// Default width of embeds, in pixels.
const WIDTH: i64 = 600;

/// Lifetime and capacity of the cache of embeds of other sites.
const CACHE_TTL: Duration = Duration::from_secs(24 * 60 * 60);
const CACHE_CAPACITY: usize = 500;

const INVALID_URL: &str = "oembed_invalid_url";

/// The URL has nothing that can be embedded.
fn invalid_url() -> Error {
    Error::new(INVALID_URL, "There is nothing to embed at this URL.").with_status(404)
}

/// The controller for oEmbed.
pub struct OEmbed {
    site: Arc<Site>,
    /// Embeds of other sites, by URL, maximum size and whether to discover endpoints.
    cache: TtlCache<(String, MaxSize, bool), Value>,
}

impl OEmbed {
    /// The controller for this site.
    pub fn new(site: &Arc<Site>) -> Self {
        OEmbed { site: Arc::clone(site), cache: TtlCache::new(CACHE_CAPACITY) }
    }

    /// The oEmbed data of the post at a URL of this site.
    fn own(&self, cx: &Context, url: &str, width: i64) -> Result<Option<Value>> {
        self.site.read(cx, |db| {
            let settings = self.site.settings_in(db)?;
            let post = own::post_at(db, &self.site, &settings, url)?;
            post.map(|post| own::data(db, &self.site, &settings, &post, width)).transpose()
        })
    }

    async fn embed(self: Arc<Self>, req: Request) -> Result<Response> {
        let (url, width): (String, i64) = (req.require("url")?, req.require("maxwidth")?);
        let data = self.own(req.cx(), &url, width)?;
        if req.param("format").is_none_or(|format| format != "xml") {
            return Ok(data.ok_or_else(invalid_url)?.into());
        }
        // Errors are XML too; their message is the status's reason phrase.
        let status = if data.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
        let error = || {
            let message = status.canonical_reason().unwrap_or_default();
            json!({"code": INVALID_URL, "message": message, "data": {"status": status.as_u16()}})
        };
        let document = xml::document(&data.unwrap_or_else(error));
        Ok(Response::raw("text/xml; charset=UTF-8", document).status(status.as_u16()))
    }

    async fn can_proxy(self: Arc<Self>, req: Request) -> Result<()> {
        if can(&self.site, &req, "edit_posts")? { Ok(()) } else { Err(errors::forbidden(&req)) }
    }

    async fn proxy(self: Arc<Self>, req: Request) -> Result<Response> {
        let (url, width): (String, i64) = (req.require("url")?, req.require("maxwidth")?);
        if let Some(data) = self.own(req.cx(), &url, width)? {
            return Ok(data.into());
        }
        let max_size = MaxSize { width: width.clamp(1, 10_000), height: req.arg("maxheight")? };
        let discover: bool = req.require("discover")?;
        let key = (url.clone(), max_size, discover);
        if let Some(data) = self.cache.get(req.cx(), &key) {
            return Ok(data.into());
        }
        let data =
            foreign::data(&self.site.services.http_client, &url, max_size, discover).await.ok_or_else(invalid_url)?;
        self.cache.insert(key, data.clone(), CACHE_TTL);
        Ok(data.into())
    }
}

fn url_param() -> SchemaBuilder {
    string().describe("URL of the content to embed.").format("uri").required()
}

/// Arguments of the public route. It accepts any value and falls back to defaults.
fn embed_args() -> Args {
    let lenient = |default: Value| Arg { validate: Validator::None, ..Arg::new(untyped().default(default)) };
    let format = |value: Value, _: &str| Ok(if value == "xml" { value } else { "json".into() });
    let mut args = Args::from([("url", url_param())]);
    args.insert("format", lenient("json".into()).sanitize_with(format));
    args.insert("maxwidth", lenient(WIDTH.into()).sanitize_with(|value, _| Ok(svc_php::list::absint(&value).into())));
    args
}

fn proxy_args() -> Args {
    let format = string().describe("Response format to request from the provider.").default("json");
    Args::from([
        ("url", url_param()),
        ("format", format.one_of(["json", "xml"])),
        ("maxwidth", integer().describe("Maximum width of the embed in pixels.").default(WIDTH)),
        ("maxheight", integer().describe("Maximum height of the embed in pixels.")),
        (
            "discover",
            boolean().describe("Whether to look for an oEmbed endpoint in pages of unknown providers.").default(true),
        ),
    ])
}

impl Controller for OEmbed {
    fn routes(&self) -> Vec<Route<Self>> {
        vec![
            Route::new("/embed").endpoint(get(Self::embed, public).args(embed_args())),
            Route::new("/proxy").endpoint(get(Self::proxy, Self::can_proxy).waits().args(proxy_args())),
        ]
    }
}
