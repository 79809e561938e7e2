//! One log line per request, with the request id.
//!
//! The line contains the path without the query, which may contain nonces, and no headers.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{extract::Request, middleware::Next, response::Response};
use http::{HeaderName, HeaderValue};
use tracing::Instrument;

use crate::client::Client;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of a logged path, in characters.
const PATH_LIMIT: usize = 200;

/// Assigns a request id, logs the result, and adds the id to the response. Ids from clients are ignored, since they could be
/// forged.
pub(crate) async fn record(mut request: Request, next: Next) -> Response {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let value = HeaderValue::from_str(&id).expect("hexadecimal digits are a valid header value");
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
        tracing::error!(%method, path, status, ms, client, "response");
    } else {
        tracing::info!(%method, path, status, ms, client, "response");
    }
    drop(_within);
    response.headers_mut().insert(REQUEST_ID, value);
    response
}

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
    fn reports_once_per_interval_with_a_count() {
        let seldom = Seldom::every(Duration::from_secs(3_600));
        assert_eq!([seldom.report(), seldom.report(), seldom.report()], [Some(1), None, None]);
        let often = Seldom::every(Duration::ZERO);
        assert_eq!([often.report(), often.report()], [Some(1), Some(1)]);
    }
}
