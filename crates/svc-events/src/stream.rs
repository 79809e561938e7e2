//! The change feed as server-sent events.
//!
//! A stream begins as a request for the feed itself, which authenticates the caller and returns what the client has missed. Then the
//! hub sends what happens. An idle stream has no thread, no database connection and no timer of its own.

use std::{
    collections::HashMap,
    convert::Infallible,
    future::Future,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use http_body::{Body, Frame};
use http_body_util::{BodyExt as _, Full, Limited, StreamBody, combinators::UnsyncBoxBody};
use serde::Deserialize;
use serde_json::Value;
use svc_model::UserId;
use tokio::time::{Instant, timeout_at};

use crate::{
    Hub,
    hub::{NotSubscribed, Subscription, server_sent},
};

/// The media type of server-sent events.
const MEDIA_TYPE: &str = "text/event-stream";

/// Entries of the log in one page.
const PAGE: u32 = 1_000;

/// Pages that are read before a stream begins. A client that has missed more continues with another stream.
const MAX_PAGES: usize = 10;

/// Maximum size of a page.
const MAX_PAGE_BYTES: usize = 4 << 20;

/// Maximum duration of the stream of a user, whose credentials are checked again at the next one.
const MAX_LOGGED_IN: Duration = Duration::from_mins(10);

/// Time after which a client reconnects, in milliseconds.
const RETRY: u32 = 2_000;

/// The body of a response.
pub type StreamedBody = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// Limits on the number of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Of all clients.
    pub all: usize,
    /// Of one client network.
    pub per_network: usize,
}

/// The streams of a site. Cheap to clone.
#[derive(Clone)]
pub struct EventStreams {
    hub: Hub,
    limits: StreamLimits,
    open: Arc<Mutex<Open>>,
}

/// Numbers of open streams.
#[derive(Default)]
struct Open {
    all: usize,
    by_network: HashMap<IpAddr, usize>,
}

/// An open stream, until this is dropped.
struct Place {
    open: Arc<Mutex<Open>>,
    network: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        open.all = open.all.saturating_sub(1);
        if let Some(n) = open.by_network.get_mut(&self.network) {
            *n = n.saturating_sub(1);
            if *n == 0 {
                open.by_network.remove(&self.network);
            }
        }
    }
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A page of the feed.
#[derive(Deserialize)]
struct Page {
    events: Vec<Value>,
    last: i64,
    more: bool,
}

impl EventStreams {
    /// Streams of this hub's events.
    pub fn new(hub: Hub, limits: StreamLimits) -> Self {
        EventStreams { hub, limits, open: Arc::default() }
    }

    /// The hub, which must run as a job.
    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    fn enter(&self, network: IpAddr) -> Option<Place> {
        let mut open = lock(&self.open);
        let of_network = open.by_network.get(&network).copied().unwrap_or_default();
        if open.all >= self.limits.all || of_network >= self.limits.per_network {
            return None;
        }
        open.all += 1;
        *open.by_network.entry(network).or_default() += 1;
        drop(open);
        Some(Place { open: Arc::clone(&self.open), network })
    }

    /// Responds to a request for a stream. `network` is that of the client, and `feed` responds to requests for pages of the feed.
    pub async fn respond<F, B>(
        self,
        network: IpAddr,
        mut parts: Parts,
        feed: impl Fn(Request<()>) -> F,
    ) -> Response<StreamedBody>
    where
        F: Future<Output = Response<B>>,
        B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
    {
        let Some(place) = self.enter(network) else {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "Too many streams are open.\n");
        };
        let mut last = resume_at(&parts);
        for name in [header::ACCEPT, header::IF_NONE_MATCH, header::RANGE, LAST_EVENT_ID] {
            parts.headers.remove(name);
        }
        let mut text = format!("retry: {RETRY}\n");
        for _ in 0..MAX_PAGES {
            let response = feed(page_request(&parts, last)).await;
            if response.status() != StatusCode::OK {
                return response.map(|body| body.map_err(Into::into).boxed_unsync());
            }
            let (head, body) = response.into_parts();
            let user = head.extensions.get::<UserId>().copied().unwrap_or_default();
            let page = Limited::new(body, MAX_PAGE_BYTES).collect().await.ok();
            let Some(page) = page.and_then(|page| serde_json::from_slice::<Page>(&page.to_bytes()).ok()) else {
                return plain(StatusCode::INTERNAL_SERVER_ERROR, "");
            };
            text.extend(page.events.iter().map(server_sent));
            last = Some(page.last);
            if page.more {
                continue;
            }
            match self.hub.subscribe(user, page.last) {
                Ok(subscription) => {
                    text += &format!("id: {}\n: ready\n\n", page.last);
                    let until = (!user.is_none()).then(|| Instant::now() + MAX_LOGGED_IN);
                    let live = Live { subscription, last: page.last, first: Some(text.into()), until, _place: place };
                    let body = StreamBody::new(stream::unfold(live, Live::next));
                    return stream_response(head.headers, body.map_err(|never| match never {}).boxed_unsync());
                }
                Err(NotSubscribed::Behind(_)) => {}
                Err(NotSubscribed::Closed) => return plain(StatusCode::SERVICE_UNAVAILABLE, ""),
            }
        }
        // The client reconnects, and continues with what follows.
        text += &format!("id: {}\n\n", last.unwrap_or_default());
        stream_response(HeaderMap::new(), whole(text.into()))
    }
}

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Whether a request for the feed is for a stream.
pub fn is_wanted(method: &Method, headers: &HeaderMap) -> bool {
    let accepts_events = |accept: &HeaderValue| {
        let mut ranges = accept.to_str().unwrap_or_default().split(',');
        ranges.any(|range| {
            range.split(';').next().is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case(MEDIA_TYPE))
        })
    };
    method == Method::GET && headers.get_all(header::ACCEPT).iter().any(accepts_events)
}

fn whole(body: Bytes) -> StreamedBody {
    Full::new(body).map_err(|never| match never {}).boxed_unsync()
}

/// A response that is no stream.
fn plain(status: StatusCode, text: &'static str) -> Response<StreamedBody> {
    let mut response = Response::new(whole(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    if !text.is_empty() {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    }
    response
}

/// The position that a client continues at: that of its last event, or the one in the URL.
fn resume_at(parts: &Parts) -> Option<i64> {
    let header = parts.headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()?.trim().parse().ok());
    header.or_else(|| {
        let mut sent = parts.uri.query().unwrap_or_default().split('&').rev();
        sent.find_map(|pair| pair.strip_prefix("since="))?.parse().ok()
    })
}

/// The request for a page of the feed, with the credentials of the client.
fn page_request(parts: &Parts, since: Option<i64>) -> Request<()> {
    let mut parts = parts.clone();
    let kept = parts.uri.query().unwrap_or_default().split('&');
    let kept = kept.filter(|pair| !pair.is_empty() && !pair.starts_with("since=") && !pair.starts_with("limit="));
    let mut query: Vec<String> = kept.map(str::to_owned).collect();
    query.push(format!("limit={PAGE}"));
    query.extend(since.map(|since| format!("since={since}")));
    if let Ok(uri) = format!("{}?{}", parts.uri.path(), query.join("&")).parse() {
        parts.uri = uri;
    }
    Request::from_parts(parts, ())
}

/// A stream with the headers of a page that are for any response, such as those of CORS.
fn stream_response(mut headers: HeaderMap, body: StreamedBody) -> Response<StreamedBody> {
    for name in [header::CONTENT_LENGTH, header::ETAG, header::EXPIRES, header::LAST_MODIFIED] {
        headers.remove(name);
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // For nginx, which would collect the events.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    let mut response = Response::new(body);
    *response.headers_mut() = headers;
    response
}

/// A stream that follows the hub.
struct Live {
    subscription: Subscription,
    last: i64,
    first: Option<Bytes>,
    until: Option<Instant>,
    _place: Place,
}

impl Live {
    /// The next part. The stream ends if the client is too slow, and when the server stops: clients continue with the number of the
    /// last event.
    async fn next(mut self) -> Option<(Result<Frame<Bytes>, Infallible>, Self)> {
        if let Some(first) = self.first.take() {
            return Some((Ok(Frame::data(first)), self));
        }
        loop {
            let received = match self.until {
                // Most streams have no end, and no room for a timer.
                Some(until) => Box::pin(timeout_at(until, self.subscription.recv())).await.ok()?,
                None => self.subscription.recv().await,
            };
            let part = received.ok()?.after(self.last);
            if !part.is_empty() {
                return Some((Ok(Frame::data(part)), self));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(uri: &str, headers: &[(&str, &str)]) -> Parts {
        let builder = headers.iter().fold(Request::builder().uri(uri), |b, (name, value)| b.header(*name, *value));
        builder.body(()).unwrap().into_parts().0
    }

    #[test]
    fn the_last_event_of_the_client_comes_before_the_url() {
        assert_eq!(resume_at(&parts("/a?since=7", &[("last-event-id", "9")])), Some(9));
        assert_eq!(resume_at(&parts("/a?since=7", &[("last-event-id", "x")])), Some(7));
        assert_eq!(resume_at(&parts("/a", &[])), None);
        let page = page_request(&parts("/a?since=7&_wpnonce=x&limit=1", &[]), Some(9));
        assert_eq!(page.uri(), "/a?_wpnonce=x&limit=1000&since=9");
    }

    #[test]
    fn streams_are_for_those_who_accept_events() {
        let accepts = |value: &str| is_wanted(&Method::GET, &parts("/a", &[("accept", value)]).headers);
        assert!(accepts("text/event-stream") && accepts("a/b, Text/Event-Stream;q=0.9"));
        assert!(!accepts("*/*") && !accepts("application/json"));
        assert!(!is_wanted(&Method::POST, &parts("/a", &[("accept", MEDIA_TYPE)]).headers));
    }
}
