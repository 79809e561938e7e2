//! Pages for visitors, cached until something that they depend on changes.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderMap, Method, header, request::Parts};
use svc_http::{Effort, SharedCaching, Uncached, transport_of};
use svc_site::Site;
use svc_store::Store;
use svc_versions::{Dependencies, Transport, Usage, VersionStamp, VersionedCache};

use crate::respond::ReadyPage;

/// Maximum age of a cached page, for values whose changes are not recorded, such as files of plugins.
const MAX_AGE: Duration = Duration::from_mins(1);

/// Longest cached path and query, in bytes.
const MAX_URL: usize = 2_048;

/// Largest cached page, in bytes.
const MAX_BODY: usize = 1 << 20;

/// Pages by URL, for visitors without cookies of this site. [`respond_cached`] uses it.
pub struct PageCache {
    store: Store,
    pages: VersionedCache<Arc<str>, Arc<ReadyPage>>,
    /// Starts of the names of the cookies that pages read.
    cookies: [String; 2],
    /// What caches in front of the server may do.
    shared: SharedCaching,
}

/// Where the page of a request is cached. A request extension.
#[derive(Clone)]
pub(crate) struct Slot {
    cache: Arc<PageCache>,
    transport: Transport,
    url: Arc<str>,
    /// The time before the page is rendered.
    pub(crate) stamp: VersionStamp,
}

impl PageCache {
    /// A cache of at most `capacity` bytes.
    pub fn new(site: &Site, capacity: u64) -> Self {
        let cookies = [site.brand.cookie(svc_auth::Scheme::LoggedIn.name()), site.brand.post_password_cookie()];
        let shared = SharedCaching::default();
        PageCache { store: site.store.clone(), pages: VersionedCache::new(capacity), cookies, shared }
    }

    /// Lets caches in front of the server use pages that are the same for everybody. By default they have no `Cache-Control`.
    #[must_use]
    pub fn shared(self, shared: SharedCaching) -> Self {
        PageCache { shared, ..self }
    }

    /// The size of the cache, with hits and misses.
    pub fn usage(&self) -> Usage {
        self.pages.usage()
    }

    /// Whether pages for these headers are those for everybody.
    fn is_visitor(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter();
        cookies.flat_map(|value| value.as_bytes().split(|byte| *byte == b';')).all(|cookie| {
            let cookie = cookie.trim_ascii_start();
            !self.cookies.iter().any(|start| cookie.starts_with(start.as_bytes()))
        })
    }

    /// The slot of a request; `None` if its page is not cached.
    async fn slot(self: &Arc<Self>, parts: &Parts) -> Option<Slot> {
        let url = parts.uri.path_and_query()?.as_str();
        let is_cached = matches!(parts.method, Method::GET | Method::HEAD)
            && url.len() <= MAX_URL
            && self.is_visitor(&parts.headers)
            && parts.extensions.get::<Uncached>().is_none();
        if !is_cached {
            return None;
        }
        let stamp = self.store.watched_stamp().await?;
        Some(Slot { cache: Arc::clone(self), transport: transport_of(parts), url: url.into(), stamp })
    }
}

impl std::fmt::Debug for PageCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageCache").field("pages", &self.pages).finish_non_exhaustive()
    }
}

impl Slot {
    fn find(&self) -> Option<Arc<ReadyPage>> {
        let found = self.cache.pages.find(self.transport, self.cache.store.versions(), &self.url, self.stamp);
        found.map(|(page, _)| page)
    }

    /// Tells caches in front of the server what they may do with a page.
    pub(crate) fn describe(&self, page: &mut ReadyPage, dependencies: &Dependencies) {
        if page.is_for_everybody() {
            self.cache.shared.allow(&mut page.headers, "Cookie");
            self.cache.shared.describe(&mut page.headers, dependencies);
        }
    }

    /// Caches a page, unless it is for one visitor or too large.
    pub(crate) fn insert(self, page: &Arc<ReadyPage>, mut dependencies: Dependencies) {
        let Slot { cache, transport, url, stamp } = self;
        if !page.is_for_everybody() || page.body.len() > MAX_BODY {
            return;
        }
        dependencies.recheck_after(MAX_AGE);
        // Headers are few and short.
        let size = url.len() + page.body.len() + 2_048;
        cache.pages.insert(transport, url, Arc::clone(page), size, dependencies, stamp);
    }
}

/// Middleware outside of the threads for requests: responds with cached pages. Others are cached by the [`router`](crate::router).
pub async fn respond_cached(State(cache): State<Arc<PageCache>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    if let Some(slot) = cache.slot(&parts).await {
        if let Some(page) = slot.find() {
            let mut response = page.respond(&parts.headers);
            Effort::Cached.report(&parts.extensions, &mut response);
            return response;
        }
        parts.extensions.insert(slot);
    }
    next.run(Request::from_parts(parts, body)).await
}
