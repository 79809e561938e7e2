//! The built server: dispatches requests and produces the final responses.

mod arguments;
mod batch;
mod build;
mod cached;
mod dispatch;
mod embed;
mod index;
mod preload;
mod serve;

use std::sync::Arc;

use svc_metrics::{RouteCounts, UNKNOWN_ROUTE};
use svc_schema::Notice;

use self::cached::EncodedCache;
use self::dispatch::OwnDispatcher;
use crate::handler::Dispatch;
use crate::matching::Matcher;
use crate::registry::{FrozenHooks, Registrations};
use crate::urls::ServerUrls;
use crate::{ApiUrls, Curie, ExtraFields, Map, Request, RouteEntry, RouteUrls, SiteInfo};

/// Maximum nesting of requests inside requests, such as a batch with embeds.
const MAX_DEPTH: u8 = 4;

/// Routes, hooks and fields, immutable. Cheap to clone and free of locks.
#[derive(Clone)]
pub struct Server(Arc<ServerParts>);

struct ServerParts {
    frozen: Arc<Frozen>,
    /// The dispatcher of the `server` hooks, if there are any.
    wrapped: Option<Arc<dyn Dispatch>>,
    urls: ServerUrls,
}

struct Frozen {
    registered: Registrations,
    curies: Vec<Curie>,
    matcher: Matcher,
    /// Whether responses may be cached: what hooks and additional fields depend on is known.
    cacheable: bool,
    encoded: EncodedCache,
    /// Numbers of requests that no route handles.
    unknown: Arc<RouteCounts>,
}

/// Construction and registered objects.
impl Server {
    fn new(registered: Registrations) -> Self {
        let site = &registered.site;
        let hooks = &registered.hooks;
        let frozen = Frozen {
            curies: site.curies(),
            matcher: Matcher::new(registered.routes.iter().map(RouteEntry::pattern)),
            cacheable: !site.debug && registered.fields.are_cacheable() && hooks.are_cacheable(),
            encoded: EncodedCache::default(),
            unknown: site.requests.of(UNKNOWN_ROUTE),
            registered,
        };
        let urls = Arc::clone(&frozen.registered.site.urls);
        let frozen = Arc::new(frozen);
        let with = |wrapped| {
            let urls = ServerUrls::new(Arc::clone(&urls));
            Self(Arc::new(ServerParts { frozen: Arc::clone(&frozen), wrapped, urls }))
        };
        let own = with(None);
        match own.hooks().wrap(Arc::new(OwnDispatcher(own.clone()))) {
            None => own,
            wrapped => with(wrapped),
        }
    }

    fn frozen(&self) -> &Frozen {
        &self.0.frozen
    }

    fn hooks(&self) -> &FrozenHooks {
        &self.frozen().registered.hooks
    }

    /// The site's information.
    pub fn site(&self) -> &SiteInfo {
        &self.frozen().registered.site
    }

    /// All routes, in the order of the index, including those that it does not [list](RouteEntry::is_listed) and those that
    /// [exist](RouteEntry::exists_over) for some requests only.
    pub fn routes(&self) -> impl Iterator<Item = &RouteEntry> {
        self.frozen().registered.routes.iter()
    }

    /// The route with this pattern.
    pub fn route(&self, pattern: &str) -> Option<&RouteEntry> {
        self.routes().find(|route| route.pattern() == pattern)
    }

    /// The namespaces of the listed routes, in the order of the index.
    pub fn namespaces(&self) -> &[String] {
        &self.frozen().registered.namespaces
    }

    /// The additional fields.
    pub fn fields(&self) -> &ExtraFields {
        &self.frozen().registered.fields
    }

    /// The hooks and additional fields that do not declare what they depend on. Because of them, responses are not cached.
    pub fn undeclared(&self) -> Vec<String> {
        let mut all = self.hooks().undeclared();
        all.extend(self.fields().undeclared());
        all
    }

    /// The developer notices of start-up.
    pub fn notices(&self) -> &[Notice] {
        &self.frozen().registered.notices
    }

    /// The CURIEs that abbreviate relations.
    pub fn curies(&self) -> &[Curie] {
        &self.frozen().curies
    }
}

impl Request {
    /// The server that dispatches this request; `None` before dispatch. Handlers use it to build URLs of the API and to
    /// dispatch [requests of their own](Request::sub_request).
    pub fn server(&self) -> Option<Server> {
        let parts = Arc::clone(self.opaque_server()?).downcast::<ServerParts>();
        parts.ok().map(Server)
    }
}

/// URLs.
impl Server {
    /// The same server with other URLs, such as those of the host that a request was sent to.
    #[must_use]
    pub fn with_urls(&self, urls: impl ApiUrls + 'static) -> Self {
        let ServerParts { frozen, wrapped, .. } = &*self.0;
        let urls = ServerUrls::new(Arc::new(urls));
        Self(Arc::new(ServerParts { frozen: Arc::clone(frozen), wrapped: wrapped.clone(), urls }))
    }

    /// The URL of the API root.
    pub fn root_url(&self) -> &str {
        &self.0.urls.root
    }

    /// The path of the site, without trailing slash; empty at the root of a host.
    pub fn site_path(&self) -> &str {
        self.0.urls.route_urls.site_path()
    }

    /// The prefix of API paths below the site's path: `svc-json`.
    pub fn url_prefix(&self) -> &str {
        self.0.urls.route_urls.prefix()
    }

    /// The URLs that belong to the API.
    pub fn route_urls(&self) -> &RouteUrls {
        &self.0.urls.route_urls
    }

    /// The URL of a path below the API root. The path may have a query; a missing leading slash is added.
    pub fn rest_url(&self, path: &str) -> String {
        self.0.urls.url(path)
    }

    /// The route and query of a URL of this API, in either form; `None` for other URLs.
    pub fn route_of(&self, url: &str) -> Option<(String, Map)> {
        self.0.urls.route_of(url)
    }
}
