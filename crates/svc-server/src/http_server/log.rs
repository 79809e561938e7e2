//! One log line per request, and the id that ties a request to its lines.
//!
//! The line holds the path without the query (queries carry nonces and search words) and no header.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{extract::Request, middleware::Next, response::Response};
use http::{HeaderName, HeaderValue};
use tracing::Instrument;

use super::Client;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest path that is logged, in characters.
const PATH_LIMIT: usize = 200;

/// Gives the request an id, logs its outcome, and tells the id in the answer. A client's own id is not taken over: it
/// could be made to look like another's.
pub(super) async fn record(mut request: Request, next: Next) -> Response {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let value = HeaderValue::from_str(&id).expect("hexadecimal digits are a header value");
    request.headers_mut().insert(REQUEST_ID, value.clone());
    let method = request.method().clone();
    let path: String = request.uri().path().chars().take(PATH_LIMIT).collect();
    let client = request.extensions().get::<Client>().map(|c| c.address.to_string()).unwrap_or_default();
    let span = tracing::info_span!("request", id);
    let started = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let (status, ms) = (response.status().as_u16(), started.elapsed().as_secs_f64() * 1000.0);
    let _within = span.enter();
    let ms = (ms * 100.0).round() / 100.0;
    if status >= 500 {
        tracing::error!(%method, path, status, ms, client, "answered");
    } else {
        tracing::info!(%method, path, status, ms, client, "answered");
    }
    drop(_within);
    response.headers_mut().insert(REQUEST_ID, value);
    response
}

/// Keeps a message that repeats itself from filling the log: it is reported once per interval, with a count.
#[derive(Debug)]
pub(crate) struct Seldom {
    interval: Duration,
    /// When it was last reported, and how often it has happened since.
    last: Mutex<(Option<Instant>, u64)>,
}

impl Seldom {
    /// Reports at most once in this time.
    pub(crate) const fn every(interval: Duration) -> Self {
        Seldom { interval, last: Mutex::new((None, 0)) }
    }

    /// Counts an occurrence; how many there were since the last report, when it is time for one.
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
    fn what_repeats_itself_is_counted_and_reported_seldom() {
        let seldom = Seldom::every(Duration::from_secs(3_600));
        assert_eq!([seldom.report(), seldom.report(), seldom.report()], [Some(1), None, None]);
        let often = Seldom::every(Duration::ZERO);
        assert_eq!([often.report(), often.report()], [Some(1), Some(1)]);
    }
}
