//! What a page elsewhere says of itself, for previews of links in the editor.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use quick_cache::sync::Cache;
use serde_json::{Value, json};
use svc_fetch::{FetchError, Get};
use svc_render::html_metadata;
use svc_routing::{Controller, Request, Response, Result, Route, forbidden, get};
use svc_schema::{Arg, Args, Error, build::string};
use svc_site::{Access, http_client::own};

use crate::{RestSite, caller};

/// Beginning of a page that is read, in bytes.
const PAGE_BYTES: u64 = 150 << 10;

/// Time for a page, and for the look-up of a host.
const PAGE_TIME: Duration = Duration::from_secs(8);
const LOOKUP_TIME: Duration = Duration::from_secs(2);

/// How long what was found is remembered, and of how many pages.
const KEPT: Duration = Duration::from_secs(60 * 60);
const PAGES: usize = 500;

/// The caller writes nothing that could hold a link.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view_url_details", "You are not allowed to look at other sites through this one.")
}

/// Not an address that is asked.
fn invalid_url() -> Error {
    Error::new("rest_invalid_param", "Invalid parameter(s): url").with_data(json!({
        "status": 400,
        "params": {"url": "Invalid parameter."},
        "details": [],
    }))
}

/// Nobody answers there, or not with a page.
fn no_response() -> Error {
    Error::new("no_response", "There is no page at this address.").with_status(404)
}

/// The page is empty.
fn no_content() -> Error {
    Error::new("no_content", "The page at this address is empty.").with_status(404)
}

/// The family `url-details`.
pub struct UrlDetails {
    site: Arc<RestSite>,
    known: Arc<Cache<String, (Instant, Value)>>,
}

impl UrlDetails {
    /// The family on this site.
    pub fn new(site: &Arc<RestSite>) -> Self {
        UrlDetails { site: Arc::clone(site), known: Arc::new(Cache::new(PAGES)) }
    }

    /// A request for a page; the site's own pages may be asked wherever the site is.
    fn get(&self, url: &str) -> Result<Get> {
        Ok(Get::new(url).allow(own(&*self.site.settings()?)))
    }

    /// Whoever may write posts of some type may look. Others learn first whether the address makes sense, as on the peer,
    /// where arguments are checked before permissions: recorded in the scenario `url-details`.
    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<()> {
        let (settings, caller) = (self.site.settings()?, caller(&req));
        let access = Access::new(&self.site, &settings);
        if self.site.types.iter().any(|t| t.show_in_rest && access.can(&caller, &t.caps.edit_posts)) {
            return Ok(());
        }
        let get = self.get(&req.require::<String>("url")?)?.within(LOOKUP_TIME);
        self.site.http_client.check(get).await.map_err(|_| invalid_url())?;
        Err(cannot_view(&req))
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let url: String = req.require("url")?;
        let url = url.trim_end_matches('/').to_owned();
        if let Some((at, details)) = self.known.get(&url)
            && at.elapsed() < KEPT
        {
            return Ok(Response::new(details));
        }
        let get = self.get(&url)?.within(PAGE_TIME).first(PAGE_BYTES).header("Accept", "text/html,*/*;q=0.5");
        let answer = self.site.http_client.send(get).await.map_err(|error: FetchError| {
            tracing::debug!(%error, "a page was not read");
            if error.is_invalid_url() { invalid_url() } else { no_response() }
        })?;
        if answer.status != 200 {
            return Err(no_response());
        }
        if answer.body.is_empty() {
            return Err(no_content());
        }
        let html_metadata = html_metadata::read(&String::from_utf8_lossy(&answer.body));
        let whole = |link: &str| absolute(&answer.url, link);
        let details = json!({
            "title": html_metadata.title,
            "icon": whole(&html_metadata.icon),
            "description": html_metadata.description,
            "image": whole(&html_metadata.image),
        });
        self.known.insert(url, (Instant::now(), details.clone()));
        Ok(Response::new(details))
    }
}

/// A link of a page as an address of its own; empty for what no browser should be given.
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
        let is_permitted_url = move |value: &Value, _: &str| {
            let own = site.settings().map(|settings| own(&settings)).unwrap_or_default();
            Ok(value.as_str().is_some_and(|url| site.http_client.is_permitted_url(&Get::new(url).allow(own))))
        };
        let url = string().describe("Address of the page.").format("uri").required();
        vec![
            Route::new("/url-details").endpoint(
                get(Self::fetch, Self::can_fetch)
                    .args(Args::from([("url", Arg::new(url).validate_with(is_permitted_url))])),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_a_page_become_whole() {
        let page = "https://a.example/b/c?d";
        for (link, whole) in [
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
            assert_eq!(absolute(page, link), whole, "{link}");
        }
    }
}
