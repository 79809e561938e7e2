//! One log line per request, with the request id.
//!
//! The line contains the path without the query, which may contain nonces, and no headers.

use std::{
    borrow::Cow,
    hash::{BuildHasher, RandomState},
    num::NonZeroU64,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{extract::Request, response::Response};
use http::{HeaderName, HeaderValue, Method, Uri};
use svc_traces::RequestTrace;
use tracing::{Level, Span};

use crate::client::Client;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of a logged path, in bytes.
const PATH_LIMIT: usize = 200;

/// The log of requests: one line for each, or a sample of them.
///
/// Responses with a status of 400 or more are always logged. Lines have the level info, those of errors of the server (500 and
/// more) the level error.
#[derive(Clone, Debug)]
pub struct AccessLog {
    /// Log one in this many successful requests.
    sample: NonZeroU64,
    ids: Arc<Ids>,
}

impl Default for AccessLog {
    fn default() -> Self {
        Self::sampled(1)
    }
}

impl AccessLog {
    /// Logs one in `n` successful requests; zero counts as one.
    pub fn sampled(n: u64) -> Self {
        AccessLog { sample: NonZeroU64::new(n).unwrap_or(NonZeroU64::MIN), ids: Arc::default() }
    }

    /// Assigns an id to a request. Ids from clients are replaced, since they could be forged.
    pub(crate) fn begin(&self, request: &mut Request, client: Client) -> Line {
        let (n, id) = self.ids.next();
        request.headers_mut().insert(REQUEST_ID, id.clone());
        // The request is gone when its line is written.
        let head = tracing::enabled!(Level::ERROR).then(|| (request.method().clone(), request.uri().clone()));
        Line {
            id,
            head,
            client,
            is_sampled: n % self.sample == 0,
            started: Instant::now(),
            span: Span::none(),
            trace: None,
        }
    }
}

/// Ids of requests: random to clients, so that they reveal nothing about other requests.
#[derive(Debug, Default)]
struct Ids {
    n: AtomicU64,
    keys: [RandomState; 2],
}

impl Ids {
    /// The number of a request and its id, 32 hexadecimal digits.
    fn next(&self) -> (u64, HeaderValue) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let n = self.n.fetch_add(1, Ordering::Relaxed);
        let mut text = [0; 32];
        for (half, keys) in text.chunks_exact_mut(16).zip(&self.keys) {
            let hash = keys.hash_one(n);
            for (position, digit) in half.iter_mut().enumerate() {
                *digit = DIGITS[(hash >> (4 * position)) as usize & 15];
            }
        }
        (n, HeaderValue::from_bytes(&text).expect("hexadecimal digits are a valid header value"))
    }
}

/// Why a response has status 401 or 403: an extension of the response, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenialReason(pub Cow<'static, str>);

/// The log line of a request in progress.
pub(crate) struct Line {
    id: HeaderValue,
    /// Method and URL; `None` if the line will not be written.
    head: Option<(Method, Uri)>,
    client: Client,
    is_sampled: bool,
    started: Instant,
    span: Span,
    trace: Option<RequestTrace>,
}

impl Line {
    /// The span of the request, which adds its id to all log lines, and the user's id if the program records it as `user`. It is also the
    /// first span of a trace, if the request is traced.
    pub(crate) fn span(&mut self, request: &mut Request, from_proxy: bool) -> Span {
        let id = self.id.to_str().unwrap_or_default();
        self.trace = RequestTrace::begin(request, id, self.client.tls, from_proxy);
        self.span = match &self.trace {
            Some(trace) => trace.span().clone(),
            None => tracing::info_span!("request", id, user = tracing::field::Empty),
        };
        if let Some(trace) = &self.trace {
            request.extensions_mut().insert(trace.clone());
        }
        self.span.clone()
    }

    /// The time since the request arrived.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn is_logged(&self, status: u16) -> bool {
        self.is_sampled || status >= 400
    }

    /// Logs the response, and adds the id to it.
    pub(crate) fn end(self, response: &mut Response) {
        let status = response.status().as_u16();
        if let Some((method, uri)) = &self.head
            && self.is_logged(status)
        {
            let _within = self.span.enter();
            let path = uri.path();
            // Paths are ASCII.
            let path = path.get(..PATH_LIMIT).unwrap_or(path);
            let client = self.client.address;
            // Unknown for bodies that are generated while they are sent.
            let bytes = http_body::Body::size_hint(response.body()).exact();
            if matches!(status, 401 | 403) {
                let reason = response.extensions().get::<DenialReason>().map(|reason| &*reason.0);
                // First the client, which programs such as fail2ban look for, since the path is chosen by it.
                tracing::info!(%client, status, reason = reason.unwrap_or("unknown"), %method, path, "access denied");
            }
            let ms = (self.started.elapsed().as_secs_f64() * 100_000.0).round() / 100.0;
            if status == 503 {
                // The cause is logged once by the part that is overloaded or unavailable.
                if let Some(n_refused) = REFUSED.report() {
                    tracing::warn!(n_refused, "responses with status 503");
                }
                tracing::info!(%method, path, status, bytes, ms, %client, "response");
            } else if status >= 500 {
                tracing::error!(%method, path, status, bytes, ms, %client, "response");
            } else {
                tracing::info!(%method, path, status, bytes, ms, %client, "response");
            }
        }
        if let Some(trace) = &self.trace {
            trace.end(status);
        }
        response.headers_mut().insert(REQUEST_ID, self.id);
    }
}

/// Responses with status 503.
static REFUSED: Seldom = Seldom::every(Duration::from_secs(10));

/// The message of a panic.
pub fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// Limits a repeated log message to one per interval, with a count.
#[derive(Debug)]
pub(crate) struct Seldom {
    interval: Duration,
    /// Time of the last report, and the number of occurrences since.
    last: Mutex<(Option<Instant>, u64)>,
}

impl Seldom {
    /// Reports at most once per interval.
    pub(crate) const fn every(interval: Duration) -> Self {
        Seldom { interval, last: Mutex::new((None, 0)) }
    }

    /// Counts an occurrence. Returns the number since the last report if a new one is due.
    pub(crate) fn report(&self) -> Option<u64> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.1 += 1;
        if last.0.is_some_and(|reported| reported.elapsed() < self.interval) {
            return None;
        }
        last.0 = Some(Instant::now());
        Some(std::mem::take(&mut last.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ() {
        let ids = Ids::default();
        let all: std::collections::HashSet<HeaderValue> = (0..1_000).map(|_| ids.next().1).collect();
        assert_eq!(all.len(), 1_000);
        assert_ne!(Ids::default().next().1, Ids::default().next().1, "servers have different ids");
    }

    #[test]
    fn successful_requests_are_sampled() {
        let client = Client { address: std::net::IpAddr::from([127, 0, 0, 1]), tls: false };
        let n_logged = |log: AccessLog, status| {
            let lines = (0..12).map(|_| log.begin(&mut Request::new(axum::body::Body::empty()), client));
            lines.filter(|line| line.is_logged(status)).count()
        };
        for (log, status, expected) in [
            (AccessLog::default(), 200, 12),
            (AccessLog::sampled(0), 304, 12),
            (AccessLog::sampled(4), 200, 3),
            (AccessLog::sampled(4), 404, 12),
            (AccessLog::sampled(4), 503, 12),
        ] {
            assert_eq!(n_logged(log, status), expected, "{status}");
        }
    }

    #[test]
    fn reports_once_per_interval_with_a_count() {
        let seldom = Seldom::every(Duration::from_secs(3_600));
        assert_eq!([seldom.report(), seldom.report(), seldom.report()], [Some(1), None, None]);
        let often = Seldom::every(Duration::ZERO);
        assert_eq!([often.report(), often.report()], [Some(1), Some(1)]);
    }
}
