//! The REST API of a site, rebuilt when an option changes on which it depends.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use svc_auth::cookie::site_hash;
use svc_controllers::RestSite;
use svc_http::{Authenticator, Origins, RequestLimits, RestService, Runner, ServerSource, SharedCaching};
use svc_metrics::RequestCounts;
use svc_routing::{Context, Registry, Server};
use svc_site::{Settings, Site};
use svc_versions::{ByTls, Transport};

use super::{Register, openapi::Documents};
use crate::error::Error;

/// Maximum age of a cached response, for values whose changes are not recorded, such as files of plugins.
const MAX_AGE: Duration = Duration::from_mins(1);

/// How long the API is not built again after that has failed.
const RETRY: Duration = Duration::from_secs(1);

/// The REST API of a site. Cheap to clone.
#[derive(Clone)]
pub(super) struct Rest(Arc<Inner>);

/// Settings of the API that are the same for each of its requests.
pub(super) struct RestOptions {
    /// Whether developer notices are sent as headers.
    pub(super) debug: bool,
    /// Whether the `Link` to the API root is appended to the links of a route.
    pub(super) append_root_link: bool,
}

struct Inner {
    rest_site: Arc<RestSite>,
    register: Vec<Register>,
    options: RestOptions,
    requests: Arc<RequestCounts>,
    current: ArcSwapOption<Built>,
    /// Why it could not be built last, and when.
    failure: Mutex<Option<(String, Instant)>>,
}

impl Inner {
    fn failure(&self) -> MutexGuard<'_, Option<(String, Instant)>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the API could not be built a short time ago.
    fn has_just_failed(&self) -> bool {
        self.failure().as_ref().is_some_and(|(_, at)| at.elapsed() < RETRY)
    }

    /// Records that the API could not be built again, and reports each reason once.
    fn failed(&self, reason: &str) {
        let mut failure = self.failure();
        if failure.as_ref().is_none_or(|(former, _)| former != reason) {
            tracing::error!(reason, "the REST API cannot be built for the changed options; the former one is used");
        }
        *failure = Some((reason.to_owned(), Instant::now()));
    }
}

/// A server, and the values that it was built from.
struct Built {
    /// The server with its URLs. Both have the same routes.
    with_urls: ByTls<WithUrls>,
    /// Active extensions.
    extensions: Vec<String>,
}

/// A server with the URLs of one scheme.
struct WithUrls {
    server: Server,
    /// The site's settings.
    settings: Arc<Settings>,
    documents: Documents,
}

impl Rest {
    pub(super) fn build(
        rest_site: Arc<RestSite>,
        register: Vec<Register>,
        options: RestOptions,
    ) -> crate::error::Result<Self> {
        let (requests, current, failure) = (Arc::default(), ArcSwapOption::empty(), Mutex::default());
        let inner = Inner { rest_site, register, options, requests, current, failure };
        let first = build_server(&Context::background(), &inner)
            .map_err(|e| Error::Refused(format!("cannot build the REST API: {}", e.message())))?;
        for notice in first.with_urls.of(Transport::Plain).server.notices() {
            tracing::warn!(function = notice.function, "{}", notice.message);
        }
        inner.current.store(Some(Arc::new(first)));
        Ok(Rest(Arc::new(inner)))
    }

    /// The current server. Requests in progress finish on the server that they started with.
    pub(super) fn server(&self, cx: &Context) -> Server {
        let inner = &*self.0;
        let current = inner.current.load_full().expect("`build` stores the first server");
        // Without settings, keep the current server: its handlers report the error.
        let site = &inner.rest_site.site;
        let is_current = site.settings(cx).map_or(true, |settings| current.matches(cx, site, &settings));
        if is_current || inner.has_just_failed() {
            return current.with_urls.of(cx.transport()).server.clone();
        }
        match build_server(cx, inner) {
            Ok(built) => {
                let built = Arc::new(built);
                inner.current.store(Some(Arc::clone(&built)));
                *inner.failure() = None;
                built.with_urls.of(cx.transport()).server.clone()
            }
            Err(error) => {
                inner.failed(error.message());
                current.with_urls.of(cx.transport()).server.clone()
            }
        }
    }

    /// Numbers of requests by route.
    pub(super) fn requests(&self) -> &Arc<RequestCounts> {
        &self.0.requests
    }

    /// Calls `read` with the documents of the current server.
    pub(super) fn with_documents<T>(&self, cx: &Context, read: impl FnOnce(&Documents, &Server) -> T) -> T {
        // Rebuilds the server if its settings have changed.
        self.server(cx);
        let current = self.0.current.load_full().expect("`build` stores the first server");
        let current = current.with_urls.of(cx.transport());
        read(&current.documents, &current.server)
    }

    /// The HTTP service of the REST API.
    pub(super) fn service(
        &self,
        limits: RequestLimits,
        authenticator: Arc<dyn Authenticator>,
        runner: Arc<dyn Runner>,
        caching: SharedCaching,
        origins: Origins,
    ) -> RestService {
        let site = &self.0.rest_site.site;
        let store = site.store.clone();
        RestService::builder()
            .limits(limits)
            .authenticator(authenticator)
            .response_cache(MAX_AGE, Arc::clone(site.store.versions()), move || store.watched_stamp())
            .runner(runner)
            .shared_caching(caching)
            .origins(origins)
            .build_from(self.clone())
    }
}

impl ServerSource for Rest {
    fn current(&self, transport: Transport) -> Server {
        let current = self.0.current.load();
        current.as_ref().expect("`build` stores the first server").with_urls.of(transport).server.clone()
    }

    fn updated(&self, cx: &Context) -> Server {
        self.server(cx)
    }
}

impl Built {
    /// Whether a server built from these settings, which are those of a request with this context, would be the same.
    fn matches(&self, cx: &Context, site: &Site, settings: &Arc<Settings>) -> bool {
        let current = self.with_urls.of(cx.transport());
        Arc::ptr_eq(&current.settings, settings)
            || (settings.urls.rest("/") == current.server.root_url()
                && site.active_extensions(settings) == self.extensions
                && current.settings.languages == settings.languages)
    }
}

fn build_server(cx: &Context, inner: &Inner) -> Result<Built, svc_schema::Error> {
    let (rest_site, site) = (&inner.rest_site, &inner.rest_site.site);
    // Without TLS, so that the routes do not depend on the request during which the server is built.
    let plain = cx.over(Transport::Plain);
    let (mut info, settings) = (svc_controllers::site_info(&plain, site)?, site.settings(&plain)?);
    info.debug = inner.options.debug;
    info.append_root_link = inner.options.append_root_link;
    info.requests = Arc::clone(&inner.requests);
    let extensions = site.active_extensions(&settings);
    let mut registry = Registry::for_site(info);
    svc_controllers::mount(&plain, &mut registry, rest_site)?;
    for f in &inner.register {
        f(&mut registry, rest_site);
    }
    site.register_extensions(&extensions, &mut registry);
    let server = registry.build();
    let undeclared = server.undeclared();
    if !undeclared.is_empty() {
        let names = undeclared.join(", ");
        tracing::warn!(
            "responses of the REST API are not cached, because dependencies are not declared with `depends_on`: {names}"
        );
    }
    let cookie = site.brand.cookie("logged_in") + &site_hash(settings.option("siteurl"));
    let with_urls = ByTls::try_new(|transport| {
        let settings = site.settings(&cx.over(transport))?;
        let server = server.with_urls(svc_controllers::api_urls(Arc::clone(&settings)));
        let documents = Documents::new(&server, cookie.clone());
        Ok::<_, svc_schema::Error>(WithUrls { server, settings, documents })
    })?;
    Ok(Built { with_urls, extensions })
}
