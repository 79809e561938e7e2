//! Answers that are given again while nothing that they depend on has changed.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::Full;
use quick_cache::{Weighter, sync::Cache};

use crate::answer;

/// How long an answer is given again at most: handlers may look at the clock.
const LIFETIME: Duration = Duration::from_secs(1);
/// Bytes that are kept, in all.
const CAPACITY: u64 = 64 << 20;
/// Answers that are expected, for the first size of the table.
const EXPECTED: usize = 1_000;
/// Longest address that an answer is kept for, in bytes.
const MAX_ADDRESS: usize = 2_048;
/// Largest body that is kept, in bytes.
const MAX_BODY: usize = 1 << 20;

/// The state of the data; `None` when it cannot be told.
type State = dyn Fn() -> Option<i64> + Send + Sync;

/// Answers to anonymous requests, by address.
pub(crate) struct KeptAnswers {
    state: Box<State>,
    answers: Cache<Arc<str>, Arc<Kept>, Weight>,
    /// Name of the header that goes with a session.
    nonce_header: String,
}

struct Kept {
    /// The state of the data before the answer was made.
    state: i64,
    made: Instant,
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
    address: Arc<str>,
    state: i64,
}

impl fmt::Debug for KeptAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptAnswers").field("n_answers", &self.answers.len()).finish()
    }
}

impl KeptAnswers {
    pub(crate) fn new(state: impl Fn() -> Option<i64> + Send + Sync + 'static, nonce_header: String) -> Self {
        let answers = Cache::with_weighter(EXPECTED, CAPACITY, Weight);
        KeptAnswers { state: Box::new(state), answers, nonce_header }
    }

    /// A request without body as a question of nobody in particular about an address. The state is read now: before the
    /// answer is made. Another method in the query is the server's to notice: its answers are not cacheable.
    pub(crate) fn question(&self, parts: &Parts, route: &str) -> Option<Question> {
        let headers = &parts.headers;
        let query = parts.uri.query().unwrap_or_default();
        let is_plain = parts.method == Method::GET
            && !headers.contains_key(AUTHORIZATION)
            && !headers.contains_key(COOKIE)
            && !headers.contains_key(self.nonce_header.as_str())
            && !headers.contains_key("x-http-method-override")
            && route.len() + query.len() < MAX_ADDRESS;
        if !is_plain {
            return None;
        }
        Some(Question { address: format!("{route}?{query}").into(), state: (self.state)()? })
    }

    /// The answer that was given before, if it still holds.
    pub(crate) fn find(&self, question: &Question) -> Option<Response<Full<Bytes>>> {
        let kept = self.answers.get(&question.address)?;
        let holds = kept.state == question.state && kept.made.elapsed() < LIFETIME;
        holds.then(|| answer::finish(StatusCode::OK, kept.headers.clone(), kept.body.clone()))
    }

    /// Keeps an answer with status 200, as it was before what depends on other headers of the request was added.
    pub(crate) fn keep(&self, question: Question, headers: &HeaderMap, body: &Bytes) {
        if body.len() <= MAX_BODY {
            let (headers, body) = (headers.clone(), body.clone());
            let kept = Kept { state: question.state, made: Instant::now(), headers, body };
            self.answers.insert(question.address, Arc::new(kept));
        }
    }
}
