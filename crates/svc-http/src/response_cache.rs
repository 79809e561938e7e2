//! Caches responses by URL. An entry is valid while the data version is unchanged.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::Full;
use quick_cache::{Weighter, sync::Cache};
use tokio::sync::watch;

use crate::response;

/// Headers that only identify a request in logs. No response depends on them.
const REQUEST_ID_HEADERS: [&str; 3] = ["x-request-id", "traceparent", "tracestate"];
/// Maximum size of the cache, in bytes.
const CAPACITY: u64 = 64 << 20;
/// Expected number of entries; the initial size of the table.
const EXPECTED: usize = 1_000;
/// Longest cached route and query, in bytes.
const MAX_PATH: usize = 2_048;
/// Largest cached body, in bytes.
const MAX_BODY: usize = 1 << 20;

/// Request extension that bypasses the response cache: responses are neither read from it nor stored in it.
#[derive(Clone, Copy, Debug)]
pub struct Uncached;

/// Returns the data version; `None` if it is unknown.
pub(crate) type DataVersion = dyn Fn() -> Pin<Box<dyn Future<Output = Option<i64>> + Send>> + Send + Sync;

/// Responses by URL; for requests with credentials, by URL and all headers.
pub(crate) struct ResponseCache {
    data_version: Box<DataVersion>,
    lifetime: Duration,
    responses: Cache<Arc<str>, Arc<CachedResponse>, EntryWeight>,
    /// Responses that are being generated. Requests for the same response wait for it.
    flights: Mutex<HashMap<FlightId, watch::Sender<()>>>,
    /// Name of the nonce header.
    nonce_header: String,
    /// Random keys, so that clients cannot construct colliding fingerprints.
    keys: [RandomState; 2],
}

struct CachedResponse {
    /// The data version before the response was generated.
    data_version: i64,
    created: Instant,
    logged_in: bool,
    headers: HeaderMap,
    body: Bytes,
}

#[derive(Clone)]
struct EntryWeight;

impl Weighter<Arc<str>, Arc<CachedResponse>> for EntryWeight {
    fn weight(&self, path: &Arc<str>, cached: &Arc<CachedResponse>) -> u64 {
        // Headers are few and short.
        (path.len() + cached.body.len() + 2_048) as u64
    }
}

/// Identifies a cacheable response.
pub(crate) struct CacheKey {
    /// Root selected by the host, route and query, followed by a fingerprint of the headers if they contain credentials.
    path: Arc<str>,
    is_anonymous: bool,
    data_version: i64,
}

/// The path of a key, and its data version.
type FlightId = (Arc<str>, i64);

/// The part of a request in generating a response.
pub(crate) enum Flight<'a> {
    /// It generates the response; others wait until the leader is dropped.
    Lead(Leader<'a>),
    /// Another request generates it. The receiver is closed when that request has ended, with or without a response in
    /// the cache.
    Follow(watch::Receiver<()>),
}

/// The request that generates a response.
pub(crate) struct Leader<'a> {
    cache: &'a ResponseCache,
    id: FlightId,
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        self.cache.flights.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl fmt::Debug for ResponseCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseCache").field("n_responses", &self.responses.len()).finish()
    }
}

impl ResponseCache {
    pub(crate) fn new(data_version: Box<DataVersion>, lifetime: Duration, nonce_header: String) -> Self {
        let responses = Cache::with_weighter(EXPECTED, CAPACITY, EntryWeight);
        ResponseCache {
            data_version,
            lifetime,
            responses,
            flights: Mutex::default(),
            nonce_header,
            keys: Default::default(),
        }
    }

    /// The cache key of a request without a body; `None` if its response cannot be cached. `root` is the root URL that the
    /// request's host selects. This reads the data version,
    /// so call it before the response is generated. A `_method` parameter is not checked here: the server reports such
    /// responses as not cacheable.
    pub(crate) async fn key(&self, parts: &Parts, root: Option<&str>, route: &str) -> Option<CacheKey> {
        let headers = &parts.headers;
        let query = parts.uri.query().unwrap_or_default();
        let is_plain = parts.method == Method::GET
            && !headers.contains_key("x-http-method-override")
            && parts.extensions.get::<Uncached>().is_none()
            && route.len() + query.len() < MAX_PATH;
        if !is_plain {
            return None;
        }
        let data_version = (self.data_version)().await?;
        let credential_headers = [AUTHORIZATION.as_str(), COOKIE.as_str(), &self.nonce_header];
        let is_anonymous = !credential_headers.iter().any(|name| headers.contains_key(*name));
        let root = root.unwrap_or_default();
        let path = match is_anonymous {
            true => format!("{root} {route}?{query}"),
            false => format!("{root} {route}?{query} {:032x}", self.fingerprint(headers)),
        };
        Some(CacheKey { path: path.into(), is_anonymous, data_version })
    }

    /// Fingerprint of the headers except [`REQUEST_ID_HEADERS`]; the order matters. Secrets cannot be recovered from
    /// it.
    fn fingerprint(&self, headers: &HeaderMap) -> u128 {
        let [high, low] = self.keys.each_ref().map(|key| {
            let mut hasher = key.build_hasher();
            for (name, value) in headers.iter().filter(|(name, _)| !REQUEST_ID_HEADERS.contains(&name.as_str())) {
                name.as_str().hash(&mut hasher);
                value.as_bytes().hash(&mut hasher);
            }
            u128::from(hasher.finish())
        });
        high << 64 | low
    }

    /// The cached response, if it is still valid, and whether the caller is logged in.
    pub(crate) fn find(&self, key: &CacheKey) -> Option<(Response<Full<Bytes>>, bool)> {
        let cached = self.responses.get(&key.path)?;
        let is_valid = cached.data_version == key.data_version && cached.created.elapsed() < self.lifetime;
        is_valid
            .then(|| (response::finish(StatusCode::OK, cached.headers.clone(), cached.body.clone()), cached.logged_in))
    }

    /// Whether the response of this key is being generated for another request.
    pub(crate) fn join(&self, key: &CacheKey) -> Flight<'_> {
        let id = (Arc::clone(&key.path), key.data_version);
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        match flights.entry(id.clone()) {
            Entry::Occupied(other) => Flight::Follow(other.get().subscribe()),
            Entry::Vacant(free) => {
                free.insert(watch::Sender::new(()));
                Flight::Lead(Leader { cache: self, id })
            }
        }
    }

    /// Sets the maximum size of the cache, in bytes.
    pub(crate) fn set_capacity(&self, bytes: u64) {
        self.responses.set_capacity(bytes);
    }

    /// Stores a response with status 200, before headers are added that depend on uncached request headers.
    pub(crate) fn insert(&self, key: CacheKey, logged_in: bool, headers: &HeaderMap, body: &Bytes) {
        // Do not cache a response for a user who was authenticated by something other than the headers in the cache
        // key.
        if body.len() <= MAX_BODY && !(logged_in && key.is_anonymous) {
            let (headers, body) = (headers.clone(), body.clone());
            let cached =
                CachedResponse { data_version: key.data_version, created: Instant::now(), logged_in, headers, body };
            self.responses.insert(key.path, Arc::new(cached));
        }
    }
}
