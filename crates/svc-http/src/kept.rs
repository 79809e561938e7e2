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

use crate::answer;

/// Headers that name one request among others, for logs: nothing is answered by them.
const NAMES: [&str; 3] = ["x-request-id", "traceparent", "tracestate"];
/// Bytes that are kept, in all.
const CAPACITY: u64 = 64 << 20;
/// Answers that are expected, for the first size of the table.
const EXPECTED: usize = 1_000;
/// Longest address that an answer is kept for, in bytes.
const MAX_ADDRESS: usize = 2_048;
/// Largest body that is kept, in bytes.
const MAX_BODY: usize = 1 << 20;

/// An extension of requests whose responses are neither taken from the response cache nor put into it.
#[derive(Clone, Copy, Debug)]
pub struct Uncached;

/// The state of the data; `None` when it cannot be told.
type State = dyn Fn() -> Option<i64> + Send + Sync;

/// Answers by address, and by all headers where some say who calls.
pub(crate) struct KeptAnswers {
    state: Box<State>,
    lifetime: Duration,
    answers: Cache<Arc<str>, Arc<Kept>, Weight>,
    /// Name of the header that goes with a session.
    nonce_header: String,
    /// Secret keys, so that nobody can make headers that are taken for those of another.
    keys: [RandomState; 2],
}

struct Kept {
    /// The state of the data before the answer was made.
    state: i64,
    made: Instant,
    logged_in: bool,
    headers: HeaderMap,
    body: Bytes,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Arc<str>, Arc<Kept>> for Weight {
    fn weight(&self, address: &Arc<str>, kept: &Arc<Kept>) -> u64 {
        // Headers are a few, and short.
        (address.len() + kept.body.len() + 2_048) as u64
    }
}

/// A question that an answer may be kept for.
pub(crate) struct Question {
    /// Route and query, and a mark of the headers where these say who calls.
    address: Arc<str>,
    is_anonymous: bool,
    state: i64,
}

impl fmt::Debug for KeptAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptAnswers").field("n_answers", &self.answers.len()).finish()
    }
}

impl KeptAnswers {
    pub(crate) fn new(
        state: impl Fn() -> Option<i64> + Send + Sync + 'static,
        lifetime: Duration,
        nonce_header: String,
    ) -> Self {
        let answers = Cache::with_weighter(EXPECTED, CAPACITY, Weight);
        KeptAnswers { state: Box::new(state), lifetime, answers, nonce_header, keys: Default::default() }
    }

    /// A request without body as a question. The state is read now: before the answer is made. Another method in the query
    /// is the server's to notice: its answers are not cacheable.
    pub(crate) fn question(&self, parts: &Parts, route: &str) -> Option<Question> {
        let headers = &parts.headers;
        let query = parts.uri.query().unwrap_or_default();
        let is_plain = parts.method == Method::GET
            && !headers.contains_key("x-http-method-override")
            && parts.extensions.get::<Uncached>().is_none()
            && route.len() + query.len() < MAX_ADDRESS;
        if !is_plain {
            return None;
        }
        let state = (self.state)()?;
        let says_who = [AUTHORIZATION.as_str(), COOKIE.as_str(), &self.nonce_header];
        let is_anonymous = !says_who.iter().any(|name| headers.contains_key(*name));
        let address = match is_anonymous {
            true => format!("{route}?{query}"),
            false => format!("{route}?{query} {:032x}", self.mark(headers)),
        };
        Some(Question { address: address.into(), is_anonymous, state })
    }

    /// A number that stands for these headers, in their order, but for those that name the request; it tells nothing of the secrets in them.
    fn mark(&self, headers: &HeaderMap) -> u128 {
        let [high, low] = self.keys.each_ref().map(|key| {
            let mut hasher = key.build_hasher();
            for (name, value) in headers.iter().filter(|(name, _)| !NAMES.contains(&name.as_str())) {
                name.as_str().hash(&mut hasher);
                value.as_bytes().hash(&mut hasher);
            }
            u128::from(hasher.finish())
        });
        high << 64 | low
    }

    /// The answer that was given before, if it still holds.
    /// Also tells whether it is that of somebody who is logged in.
    pub(crate) fn find(&self, question: &Question) -> Option<(Response<Full<Bytes>>, bool)> {
        let kept = self.answers.get(&question.address)?;
        let holds = kept.state == question.state && kept.made.elapsed() < self.lifetime;
        holds.then(|| (answer::finish(StatusCode::OK, kept.headers.clone(), kept.body.clone()), kept.logged_in))
    }

    /// Keeps an answer with status 200, as it was before what depends on other headers of the request was added.
    pub(crate) fn keep(&self, question: Question, logged_in: bool, headers: &HeaderMap, body: &Bytes) {
        // Whoever is logged in without saying so was found by what is not known here.
        if body.len() <= MAX_BODY && !(logged_in && question.is_anonymous) {
            let (headers, body) = (headers.clone(), body.clone());
            let kept = Kept { state: question.state, made: Instant::now(), logged_in, headers, body };
            self.answers.insert(question.address, Arc::new(kept));
        }
    }
}
