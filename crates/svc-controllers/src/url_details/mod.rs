//! Metadata of external pages, for link previews in the editor.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use svc_fetch::{FetchError, Get};
use svc_render::html_metadata;
use svc_routing::{Controller, Request, Response, Result, Route, forbidden, get};
use svc_schema::{Arg, Args, Error, build::string};
use svc_site::{Access, Site, TtlCache, http_client::own_origins};
use svc_versions::Context;

use crate::caller;

/// Maximum number of bytes that are read of a page.
const PAGE_BYTES: u64 = 150 << 10;

/// Timeouts of a page request and of a host lookup.
const PAGE_TIME: Duration = Duration::from_secs(8);
const LOOKUP_TIME: Duration = Duration::from_secs(2);

/// Lifetime and capacity of the cache of pages.
const CACHE_TTL: Duration = Duration::from_secs(60 * 60);
const CACHE_CAPACITY: usize = 500;

/// The caller may not edit posts of any type.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view_url_details", "You are not allowed to fetch the details of URLs.")
}

/// The URL is malformed or not allowed.
fn invalid_url() -> Error {
    Error::new("rest_invalid_param", "Invalid parameter(s): url").with_data(json!({
        "status": 400,
        "params": {"url": "Invalid parameter."},
        "details": [],
    }))
}

/// The request failed, or its status is not 200.
fn no_response() -> Error {
    Error::new("no_response", "The URL did not return a page.").with_status(404)
}

/// The page is empty.
fn no_content() -> Error {
    Error::new("no_content", "The page at this URL is empty.").with_status(404)
}

/// The controller for URL details.
pub struct UrlDetails {
    site: Arc<Site>,
    cache: TtlCache<String, Value>,
}

impl UrlDetails {
    /// The controller for this site.
    pub fn new(site: &Arc<Site>) -> Self {
        UrlDetails { site: Arc::clone(site), cache: TtlCache::new(CACHE_CAPACITY) }
    }

    /// A request for a page. The site's own origin is allowed even on a private address.
    fn get(&self, cx: &Context, url: &str) -> Result<Get> {
        Ok(Get::new(url).allow(own_origins(&*self.site.settings(cx)?)))
    }

    /// Requires the capability to edit posts of any type. For other callers an invalid URL is reported first, because
    /// WordPress validates arguments before permissions; recorded in the scenario `url-details`.
    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<()> {
        let (settings, caller) = (self.site.settings(req.cx())?, caller(&req));
        let access = Access::new(&self.site, &settings);
        if self.site.registries.types.iter().any(|t| t.show_in_rest && access.can(&caller, &t.caps.edit_posts)) {
            return Ok(());
        }
        let get = self.get(req.cx(), &req.require::<String>("url")?)?.within(LOOKUP_TIME);
        self.site.services.http_client.check(get).await.map_err(|_| invalid_url())?;
        Err(cannot_view(&req))
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let url: String = req.require("url")?;
        let url = url.trim_end_matches('/').to_owned();
        if let Some(details) = self.cache.get(req.cx(), &url) {
            return Ok(Response::new(details));
        }
        let get = self.get(req.cx(), &url)?.within(PAGE_TIME).first(PAGE_BYTES).header("Accept", "text/html,*/*;q=0.5");
        let response = self.site.services.http_client.send(get).await.map_err(|error: FetchError| {
            tracing::debug!(%error, "failed to fetch a page");
            if error.is_invalid_url() { invalid_url() } else { no_response() }
        })?;
        if response.status != 200 {
            return Err(no_response());
        }
        if response.body.is_empty() {
            return Err(no_content());
        }
        let html_metadata = html_metadata::read(&String::from_utf8_lossy(&response.body));
        let absolute_url = |link: &str| absolute(&response.url, link);
        let details = json!({
            "title": html_metadata.title,
            "icon": absolute_url(&html_metadata.icon),
            "description": html_metadata.description,
            "image": absolute_url(&html_metadata.image),
        });
        self.cache.insert(url, details.clone(), CACHE_TTL);
        Ok(Response::new(details))
    }
}

/// Resolves a link against its page's URL. Returns an empty string for links that are neither HTTP nor an image data URL.
fn absolute(page: &str, link: &str) -> String {
    if link.is_empty() || link.starts_with("data:image/") {
        return link.to_owned();
    }
    let found = url::Url::parse(page).and_then(|page| page.join(link.trim()));
    found.ok().filter(|url| matches!(url.scheme(), "http" | "https")).map(String::from).unwrap_or_default()
}

impl Controller for UrlDetails {
    fn routes(&self) -> Vec<Route<Self>> {
        let site = Arc::clone(&self.site);
        let is_permitted_url = move |req: &Request, value: &Value| {
            let own = site.settings(req.cx()).map(|settings| own_origins(&settings)).unwrap_or_default();
            Ok(value.as_str().is_some_and(|url| site.services.http_client.is_permitted_url(&Get::new(url).allow(own))))
        };
        let url = string().describe("URL of the page.").format("uri").required();
        vec![
            Route::new("/url-details").endpoint(
                get(Self::fetch, Self::can_fetch)
                    .waits()
                    .args(Args::from([("url", Arg::new(url).validate_with(|_, _| Ok(true)))]))
                    .validate_arg("url", is_permitted_url),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_links_against_the_page() {
        let page = "https://a.example/b/c?d";
        for (link, expected) in [
            ("", ""),
            ("/i.png", "https://a.example/i.png"),
            ("i.png", "https://a.example/b/i.png"),
            ("../i.png?x=1", "https://a.example/i.png?x=1"),
            ("//o.example/i", "https://o.example/i"),
            ("http://o.example/i", "http://o.example/i"),
            ("javascript:alert(1)", ""),
            ("data:text/html,x", ""),
            ("data:image/png;base64,AA==", "data:image/png;base64,AA=="),
        ] {
            assert_eq!(absolute(page, link), expected, "{link}");
        }
    }
}
