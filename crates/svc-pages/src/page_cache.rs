//! Pages for visitors, cached until something that they depend on changes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderMap, Method, header, request::Parts};
use http_body::Body as _;
use svc_http::{Effort, SharedCaching, Uncached, transport_of};
use svc_site::Site;
use svc_store::Store;
use svc_versions::{Context, Dependencies, Making, SingleFlightCache, Transport, Usage, VersionStamp};

use crate::respond::ReadyPage;

/// Maximum age of a cached page, for values whose changes are not recorded, such as files of plugins.
const MAX_AGE: Duration = Duration::from_mins(1);

/// Longest cached path and query, in bytes.
const MAX_URL: usize = 2_048;

/// Largest cached page, in bytes.
const MAX_BODY: usize = 1 << 20;

/// Pages by URL, for visitors without cookies of this site. Of several visitors who miss a page, one has it rendered, and the others wait.
/// [`respond_cached`] uses it.
pub struct PageCache {
    store: Store,
    pages: SingleFlightCache<Arc<str>, Arc<ReadyPage>>,
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
    /// Whether the page was cached.
    is_stored: Arc<AtomicBool>,
}

impl PageCache {
    /// A cache of at most `capacity` bytes.
    pub fn new(site: &Site, capacity: u64) -> Self {
        let cookies = [site.brand.cookie(svc_auth::Scheme::LoggedIn.name()), site.brand.post_password_cookie()];
        let shared = SharedCaching::default();
        PageCache { store: site.store.clone(), pages: SingleFlightCache::new(capacity), cookies, shared }
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
        let (cache, is_stored) = (Arc::clone(self), Arc::default());
        Some(Slot { cache, transport: transport_of(parts), url: url.into(), stamp, is_stored })
    }
}

impl std::fmt::Debug for PageCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageCache").field("pages", &self.pages).finish_non_exhaustive()
    }
}

impl Slot {
    /// The page. Waits for another request that renders it.
    ///
    /// # Errors
    /// If there is none: this request renders it.
    async fn find(&self) -> Result<Arc<ReadyPage>, Making<Arc<str>>> {
        self.cache.pages.find(self.transport, self.cache.store.versions(), &self.url, self.stamp).await
    }

    /// Tells caches in front of the server what they may do with a page.
    pub(crate) fn describe(&self, page: &mut ReadyPage, dependencies: &Dependencies) {
        if page.is_for_everybody() {
            self.cache.shared.allow(&mut page.headers, "Cookie");
            self.cache.shared.describe(&mut page.headers, dependencies);
        }
    }

    /// Caches a page that was made with this context, unless it is for one visitor or too large.
    pub(crate) fn insert(self, cx: &Context, page: &Arc<ReadyPage>, mut dependencies: Dependencies) {
        let Slot { cache, transport, url, stamp, is_stored } = self;
        let Some(stamp) = cx.stamp_since(stamp) else { return };
        if !page.is_for_everybody() || page.body.len() > MAX_BODY {
            return;
        }
        dependencies.recheck_after(MAX_AGE);
        // Headers are few and short.
        let size = url.len() + page.body.len() + 2_048;
        let is_cacheable = cache.pages.insert(transport, url, Arc::clone(page), size, dependencies, stamp);
        is_stored.store(is_cacheable, Ordering::Relaxed);
    }
}

/// Middleware outside of the threads for requests: responds with cached pages. Others are cached by the [`router`](crate::router).
pub async fn respond_cached(State(cache): State<Arc<PageCache>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    // Others must not wait for a client that sends a body slowly.
    let slot = if body.is_end_stream() { cache.slot(&parts).await } else { None };
    let Some(slot) = slot else { return next.run(Request::from_parts(parts, body)).await };
    let rendering = match slot.find().await {
        Ok(page) => {
            let mut response = page.respond(&parts.headers);
            Effort::Cached.report(&parts.extensions, &mut response);
            return response;
        }
        Err(rendering) => rendering,
    };
    let is_stored = Arc::clone(&slot.is_stored);
    parts.extensions.insert(slot);
    let response = next.run(Request::from_parts(parts, body)).await;
    rendering.end(is_stored.load(Ordering::Relaxed));
    response
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use axum::{Router, body::Body, middleware::from_fn_with_state};
    use futures_util::future::join_all;
    use http::StatusCode;
    use svc_store::{DatabaseUrl, StoreConfig};
    use tokio::sync::Semaphore;
    use tower::ServiceExt as _;

    use super::*;
    use crate::respond::Page;

    const VISITORS: usize = 20;

    /// A router behind the cache whose page is rendered when it may be.
    struct Site {
        cache: Arc<PageCache>,
        may_render: Arc<Semaphore>,
        n_rendered: Arc<AtomicUsize>,
        router: Router,
    }

    impl Site {
        fn new(page: fn() -> Page) -> Self {
            let store = Store::open(&StoreConfig::new(DatabaseUrl::Temporary)).unwrap();
            let cookies = ["session", "password"].map(str::to_owned);
            let (pages, shared) = (SingleFlightCache::new(1 << 20), SharedCaching::default());
            let cache = Arc::new(PageCache { store, pages, cookies, shared });
            let (may_render, n_rendered) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
            let (permits, counted) = (Arc::clone(&may_render), Arc::clone(&n_rendered));
            let render = move |request: Request| {
                let (permits, counted) = (Arc::clone(&permits), Arc::clone(&counted));
                async move {
                    let _permit = permits.acquire().await.unwrap();
                    counted.fetch_add(1, Ordering::Relaxed);
                    let page = Arc::new(page().ready());
                    if let Some(slot) = request.extensions().get::<Slot>() {
                        slot.clone().insert(&Context::background(), &page, Dependencies::default());
                    }
                    page.respond(request.headers())
                }
            };
            let router = Router::new().fallback(render).layer(from_fn_with_state(Arc::clone(&cache), respond_cached));
            Site { cache, may_render, n_rendered, router }
        }

        /// Sends simultaneous requests, and returns how many of them had the page rendered.
        async fn renderings(&self, request: fn() -> Request) -> usize {
            let before = self.n_rendered.load(Ordering::Relaxed);
            let visitors = (0..VISITORS).map(|_| self.router.clone().oneshot(request()));
            let all_have_asked = async {
                while self.cache.usage().misses < VISITORS as u64 {
                    tokio::task::yield_now().await;
                }
                self.may_render.add_permits(VISITORS);
            };
            let (responses, ()) = tokio::join!(join_all(visitors), all_have_asked);
            assert!(responses.iter().all(|response| response.as_ref().unwrap().status() == StatusCode::OK));
            self.n_rendered.load(Ordering::Relaxed) - before
        }
    }

    fn get() -> Request {
        Request::get("/").body(Body::empty()).unwrap()
    }

    fn page() -> Page {
        Page::robots(None)
    }

    #[tokio::test]
    async fn simultaneous_visitors_have_a_page_rendered_once() {
        let site = Site::new(page);
        assert_eq!(site.renderings(get).await, 1);
        assert_eq!(site.renderings(get).await, 0);
    }

    #[tokio::test]
    async fn pages_that_are_not_cached_are_rendered_for_each_visitor() {
        let site = Site::new(|| page().private());
        assert_eq!(site.renderings(get).await, VISITORS);
    }

    #[tokio::test]
    async fn nobody_waits_for_a_request_with_a_body() {
        let site = Site::new(page);
        site.may_render.add_permits(VISITORS);
        for (request, n_misses) in [
            (Request::get("/").body(Body::from("text")).unwrap(), 0),
            (Request::get("/").header("cookie", "session_1=a").body(Body::empty()).unwrap(), 0),
            (get(), 1),
        ] {
            site.router.clone().oneshot(request).await.unwrap();
            assert_eq!(site.cache.usage().misses, n_misses);
        }
    }
}
