//! Answers that are given again while nothing that they depend on has changed.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::Full;
use quick_cache::{Weighter, sync::Cache};

use crate::response;

/// Headers that name one request among others, for logs: nothing is answered by them.
const REQUEST_ID_HEADERS: [&str; 3] = ["x-request-id", "traceparent", "tracestate"];
/// Bytes that are kept, in all.
const CAPACITY: u64 = 64 << 20;
/// Answers that are expected, for the first size of the table.
const EXPECTED: usize = 1_000;
/// Longest address that an answer is kept for, in bytes.
const MAX_PATH: usize = 2_048;
/// Largest body that is kept, in bytes.
const MAX_BODY: usize = 1 << 20;

/// An extension of requests whose responses are neither taken from the response cache nor put into it.
#[derive(Clone, Copy, Debug)]
pub struct Uncached;

/// The state of the data; `None` when it cannot be told.
type State = dyn Fn() -> Option<i64> + Send + Sync;

/// Answers by address, and by all headers where some say who calls.
pub(crate) struct ResponseCache {
    state: Box<State>,
    lifetime: Duration,
    responses: Cache<Arc<str>, Arc<CachedResponse>, Weight>,
    /// Name of the header that goes with a session.
    nonce_header: String,
    /// Secret keys, so that nobody can make headers that are taken for those of another.
    keys: [RandomState; 2],
}

struct CachedResponse {
    /// The state of the data before the answer was made.
    state: i64,
    created: Instant,
    logged_in: bool,
    headers: HeaderMap,
    body: Bytes,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Arc<str>, Arc<CachedResponse>> for Weight {
    fn weight(&self, path: &Arc<str>, cached: &Arc<CachedResponse>) -> u64 {
        // Headers are a few, and short.
        (path.len() + cached.body.len() + 2_048) as u64
    }
}

/// A question that an answer may be kept for.
pub(crate) struct CacheKey {
    /// Route and query, and a mark of the headers where these say who calls.
    path: Arc<str>,
    is_anonymous: bool,
    state: i64,
}

impl fmt::Debug for ResponseCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptAnswers").field("n_answers", &self.responses.len()).finish()
    }
}

impl ResponseCache {
    pub(crate) fn new(
        state: impl Fn() -> Option<i64> + Send + Sync + 'static,
        lifetime: Duration,
        nonce_header: String,
    ) -> Self {
        let responses = Cache::with_weighter(EXPECTED, CAPACITY, Weight);
        ResponseCache { state: Box::new(state), lifetime, responses, nonce_header, keys: Default::default() }
    }

    /// A request without body as a question. The state is read now: before the answer is made. Another method in the query
    /// is the server's to notice: its answers are not cacheable.
    pub(crate) fn key(&self, parts: &Parts, route: &str) -> Option<CacheKey> {
        let headers = &parts.headers;
        let query = parts.uri.query().unwrap_or_default();
        let is_plain = parts.method == Method::GET
            && !headers.contains_key("x-http-method-override")
            && parts.extensions.get::<Uncached>().is_none()
            && route.len() + query.len() < MAX_PATH;
        if !is_plain {
            return None;
        }
        let state = (self.state)()?;
        let credential_headers = [AUTHORIZATION.as_str(), COOKIE.as_str(), &self.nonce_header];
        let is_anonymous = !credential_headers.iter().any(|name| headers.contains_key(*name));
        let path = match is_anonymous {
            true => format!("{route}?{query}"),
            false => format!("{route}?{query} {:032x}", self.fingerprint(headers)),
        };
        Some(CacheKey { path: path.into(), is_anonymous, state })
    }

    /// A number that stands for these headers, in their order, but for those that name the request; it tells nothing of the secrets in them.
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

    /// The answer that was given before, if it still holds.
    /// Also tells whether it is that of somebody who is logged in.
    pub(crate) fn find(&self, key: &CacheKey) -> Option<(Response<Full<Bytes>>, bool)> {
        let cached = self.responses.get(&key.path)?;
        let is_valid = cached.state == key.state && cached.created.elapsed() < self.lifetime;
        is_valid
            .then(|| (response::finish(StatusCode::OK, cached.headers.clone(), cached.body.clone()), cached.logged_in))
    }

    /// Keeps an answer with status 200, as it was before what depends on other headers of the request was added.
    pub(crate) fn insert(&self, key: CacheKey, logged_in: bool, headers: &HeaderMap, body: &Bytes) {
        // Whoever is logged in without saying so was found by what is not known here.
        if body.len() <= MAX_BODY && !(logged_in && key.is_anonymous) {
            let (headers, body) = (headers.clone(), body.clone());
            let cached = CachedResponse { state: key.state, created: Instant::now(), logged_in, headers, body };
            self.responses.insert(key.path, Arc::new(cached));
        }
    }
}
