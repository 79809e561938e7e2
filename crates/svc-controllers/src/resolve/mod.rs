//! What a URL of the site leads to, for front ends that render the site's pages: the object with its REST URL, or a redirect.
//!
//! The answer is that of the site's own pages, by the same resolver.

mod fields;
mod request;

use std::sync::Arc;

use svc_auth::Caller;
use svc_permalinks::LookupTarget;
use svc_resource::Fields;
use svc_routing::{Controller, Cost, Request, Response, Result, Returns, Route, get, public};
use svc_schema::{Args, Error, Schema, build::string};
use svc_site::{
    Settings, Site, SiteResult,
    sitemaps::Sitemaps,
    url_resolver::{self, PageResolver, PageTarget, PageUrl},
};
use svc_store::Db;

use self::fields::{Resolution, ShownKind};
use crate::{caller, respond};

/// Longest URL, in characters.
const MAX_URL: usize = 8 * 1024;

/// No page of the site has the URL.
fn no_page() -> Error {
    Error::new("rest_no_page", "There is no page at this URL.").with_status(404)
}

/// The controller for resolving URLs.
pub struct Resolve {
    site: Arc<Site>,
    fields: Fields<Resolution, ()>,
}

impl Resolve {
    /// The controller for this site.
    pub fn new(site: &Arc<Site>) -> Self {
        Resolve { site: Arc::clone(site), fields: fields::fields() }
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let sent: String = req.require("url")?;
        let caller = caller(&req);
        let found = self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let url = request::page_url(&settings, &sent)?;
            resolution(db, &self.site, &settings, &caller, &url)
        })?;
        let view = respond::view(&req);
        Ok(respond::single(self.fields.plan(&view).prepare(&found.ok_or_else(no_page)?), None))
    }
}

impl Controller for Resolve {
    fn routes(&self) -> Vec<Route<Self>> {
        let url = string()
            .describe("Path of the page with its query, or its URL on this site.")
            .max_length(MAX_URL)
            .required();
        let context = string()
            .describe("Context of the request, which determines the fields in the response.")
            .one_of(["view"])
            .default("view");
        let args = Args::from([("url", url), ("context", context)]);
        let site = Arc::clone(&self.site);
        let cost = move |req: &Request| cost(&site, req);
        let endpoint = get(Self::fetch, public).args(args).cost(cost).cacheable().returns(Returns::Item);
        vec![Route::new("/resolve").unlisted().schema(Schema::compile(self.fields.item_schema())).endpoint(endpoint)]
    }
}

/// The cost of finding what the URL shows: light before the settings are known, as they are read first.
fn cost(site: &Site, req: &Request) -> Cost {
    let sent = req.sent_param("url").and_then(|url| url.as_str());
    let Some((sent, settings)) = sent.zip(site.last_settings()) else { return Cost::Light };
    request::page_url(&settings, sent).map_or(Cost::Light, |url| url_resolver::cost(&settings, &url))
}

/// What the URL leads to for this caller; `None` if the site's pages respond with 404.
fn resolution(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    url: &PageUrl,
) -> SiteResult<Option<Resolution>> {
    let lookups = settings.urls.lookups(&url.path, &url.query);
    let file = match lookups.first().map(|lookup| &lookup.target) {
        Some(LookupTarget::Robots) => Some(ShownKind::Robots),
        Some(LookupTarget::Favicon) => Some(ShownKind::Favicon),
        Some(LookupTarget::Sitemap(file)) => {
            Sitemaps { site, settings, db: &mut *db }.find(file)?.map(|_| ShownKind::Sitemap)
        }
        _ => None,
    };
    if let Some(kind) = file {
        return Ok(Some(Resolution::of_file(kind)));
    }
    let language = settings.urls.language_of_path(&url.path);
    let mut resolver =
        PageResolver { site, settings, db, viewer: caller, language, previewed: None, with_posts: false };
    let resolved = resolver.resolve(&lookups, &url.path)?;
    let is_found = !matches!(resolved.target, PageTarget::NotFound);
    Ok(is_found.then(|| Resolution::of_page(site, settings, &resolved)))
}
