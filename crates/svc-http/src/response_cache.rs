//! Caches responses by URL. An entry is valid while nothing that it depends on has changed.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCESS_CONTROL_REQUEST_HEADERS, AUTHORIZATION, COOKIE, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, Response, StatusCode};
use http_body_util::Full;
use svc_metrics::RouteCounts;
use svc_routing::Transport;
use svc_versions::{Dependencies, Making, SingleFlightCache, Usage, VersionStamp, Versions};

use crate::response;
use crate::transport_of;

/// Headers on which no cached response depends: those that identify a request in logs, and conditions, which are evaluated
/// when the response is sent.
const IGNORED_HEADERS: [&str; 5] = ["x-request-id", "traceparent", "tracestate", "if-none-match", "if-modified-since"];
const METHOD_OVERRIDE: HeaderName = HeaderName::from_static("x-http-method-override");
/// Longest cached route and query, in bytes.
const MAX_PATH: usize = 2_048;
/// Largest cached body, in bytes.
const MAX_BODY: usize = 1 << 20;

/// Request extension that bypasses the response cache: responses are neither read from it nor stored in it.
#[derive(Clone, Copy, Debug)]
pub struct Uncached;

/// Returns the current stamp; `None` if nothing may be cached.
pub(crate) type CurrentStamp = dyn Fn() -> Pin<Box<dyn Future<Output = Option<VersionStamp>> + Send>> + Send + Sync;

/// Responses by URL; for requests with credentials, by URL and all headers.
pub(crate) struct ResponseCache {
    versions: Arc<Versions>,
    current_stamp: Box<CurrentStamp>,
    responses: SingleFlightCache<Arc<str>, Arc<CachedResponse>>,
    /// The headers that identify a caller.
    credential_headers: Vec<HeaderName>,
    /// Random keys, so that clients cannot construct colliding fingerprints.
    keys: [RandomState; 2],
}

struct CachedResponse {
    /// Numbers of the requests of its route.
    requests: Arc<RouteCounts>,
    logged_in: bool,
    /// Whether the CORS headers are included, for the origin in the key.
    has_cors: bool,
    headers: HeaderMap,
    body: Bytes,
}

/// Identifies a cacheable response.
pub(crate) struct CacheKey {
    /// Method, root selected by the host, route and query, followed by a fingerprint of the headers if they contain credentials.
    path: Arc<str>,
    transport: Transport,
    is_anonymous: bool,
    /// Whether `path` contains the origin of the request.
    pub(crate) has_origin: bool,
    /// The time before the response is generated.
    pub(crate) stamp: VersionStamp,
}

/// This request generates the response; others may wait for it.
pub(crate) type Generating = Making<Arc<str>>;

/// A response to be cached.
pub(crate) struct Cacheable {
    pub(crate) key: CacheKey,
    pub(crate) requests: Arc<RouteCounts>,
    pub(crate) logged_in: bool,
    /// With CORS headers if the key has the origin of the request, otherwise without.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// A cached response that is valid.
pub(crate) struct ValidResponse {
    pub(crate) response: Response<Full<Bytes>>,
    /// If the response has no CORS headers, whether the caller is logged in, which they depend on.
    pub(crate) without_cors: Option<bool>,
    /// Numbers of the requests of its route.
    pub(crate) requests: Arc<RouteCounts>,
}

impl fmt::Debug for ResponseCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseCache").field("responses", &self.responses).finish_non_exhaustive()
    }
}

impl ResponseCache {
    /// A cache of at most `capacity` bytes.
    pub(crate) fn new(
        capacity: u64,
        versions: Arc<Versions>,
        current_stamp: Box<CurrentStamp>,
        nonce_header: &str,
    ) -> Self {
        let responses = SingleFlightCache::new(capacity);
        let credential_headers = [AUTHORIZATION, COOKIE].into_iter().chain(nonce_header.parse()).collect();
        ResponseCache { versions, current_stamp, responses, credential_headers, keys: Default::default() }
    }

    /// The cache key of a request without a body; `None` if its response cannot be cached. `root` is the root URL that the
    /// request's host selects. This reads the current stamp,
    /// so call it before the response is generated. A `_method` parameter is not checked here: the server reports such
    /// responses as not cacheable. `has_origin` selects whether responses are cached for each origin.
    pub(crate) async fn key(
        &self,
        parts: &Parts,
        root: Option<&str>,
        route: &str,
        has_origin: bool,
    ) -> Option<CacheKey> {
        let headers = &parts.headers;
        let query = parts.uri.query().unwrap_or_default();
        let is_plain = matches!(parts.method, Method::GET | Method::OPTIONS)
            && !headers.contains_key(METHOD_OVERRIDE)
            && !headers.contains_key(ACCESS_CONTROL_REQUEST_HEADERS)
            && parts.extensions.get::<Uncached>().is_none()
            && route.len() + query.len() < MAX_PATH;
        if !is_plain {
            return None;
        }
        let stamp = (self.current_stamp)().await?;
        let is_anonymous = !self.credential_headers.iter().any(|name| headers.contains_key(name));
        let (root, method, transport) = (root.unwrap_or_default(), &parts.method, transport_of(parts));
        let mut path = [method.as_str(), " ", root, " ", route, "?", query].concat();
        if !is_anonymous {
            path.push_str(&format!(" {:032x}", self.fingerprint(headers)));
        }
        if has_origin && let Some(origin) = headers.get(ORIGIN) {
            path.push_str(" \0");
            path.push_str(&String::from_utf8_lossy(origin.as_bytes()));
        }
        if svc_routing::prefers_markdown(headers) {
            path.push_str(" \0markdown");
        }
        Some(CacheKey { path: path.into(), transport, is_anonymous, has_origin, stamp })
    }

    /// Fingerprint of the headers except [`IGNORED_HEADERS`]; the order matters. Secrets cannot be recovered from
    /// it.
    fn fingerprint(&self, headers: &HeaderMap) -> u128 {
        let [high, low] = self.keys.each_ref().map(|key| {
            let mut hasher = key.build_hasher();
            for (name, value) in headers.iter().filter(|(name, _)| !IGNORED_HEADERS.contains(&name.as_str())) {
                name.as_str().hash(&mut hasher);
                value.as_bytes().hash(&mut hasher);
            }
            u128::from(hasher.finish())
        });
        high << 64 | low
    }

    /// The cached response, if it is still valid. Waits for other requests that generate it.
    ///
    /// # Errors
    /// If there is none: this request generates it.
    pub(crate) async fn find(&self, key: &CacheKey) -> Result<ValidResponse, Generating> {
        let cached = self.responses.find(key.transport, &self.versions, &key.path, key.stamp).await?;
        let response = response::finish(StatusCode::OK, cached.headers.clone(), cached.body.clone());
        let without_cors = (!cached.has_cors).then_some(cached.logged_in);
        Ok(ValidResponse { response, without_cors, requests: Arc::clone(&cached.requests) })
    }

    /// The size of the cache, with hits and misses.
    pub(crate) fn usage(&self) -> Usage {
        self.responses.usage()
    }

    /// Stores a response with status 200, and returns whether it may be served to others.
    pub(crate) fn insert(&self, response: Cacheable, dependencies: Dependencies) -> bool {
        let Cacheable { key, requests, logged_in, headers, body } = response;
        // Do not cache a response for a user who was authenticated by something other than the headers in the cache
        // key.
        if body.len() > MAX_BODY || logged_in && key.is_anonymous {
            return false;
        }
        // Headers are few and short.
        let size = key.path.len() + body.len() + 2_048;
        let cached = Arc::new(CachedResponse { requests, logged_in, has_cors: key.has_origin, headers, body });
        self.responses.insert(key.transport, key.path, cached, size, dependencies, key.stamp)
    }
}
