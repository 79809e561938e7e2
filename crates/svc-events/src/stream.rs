//! The change feed as server-sent events.
//!
//! A stream begins as a request for the feed itself, which authenticates the caller and returns what the client has missed. Then the
//! hub sends what happens. An idle stream has no thread, no database connection and no timer of its own.

use std::{
    collections::HashMap,
    convert::Infallible,
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    body::Body,
    extract::Request,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, request::Parts};
use serde::Deserialize;
use serde_json::Value;
use svc_controllers::events::changes_route;
use svc_events::{
    Hub,
    hub::{NotSubscribed, Subscription, server_sent},
};
use svc_listen::{Client, network_of};
use svc_model::UserId;
use svc_routing::RouteUrls;
use tokio::time::{Instant, timeout_at};
use tower::{Service, ServiceExt as _};

use crate::config::SubscriberLimits;

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

/// The streams of a site. Cheap to clone.
#[derive(Clone)]
pub(super) struct EventStreams {
    hub: Hub,
    /// The URLs of the REST API, by which requests for the feed are found.
    urls: Arc<RouteUrls>,
    limits: SubscriberLimits,
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
    /// Streams of this hub's events. `urls` are those of the REST API.
    pub(super) fn new(hub: Hub, urls: RouteUrls, limits: SubscriberLimits) -> Self {
        EventStreams { hub, urls: Arc::new(urls), limits, open: Arc::default() }
    }

    /// The hub, which must run as a job.
    pub(super) fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Whether a request is for a stream.
    pub(super) fn is_for(&self, request: &Request) -> bool {
        request.method() == Method::GET
            && request.headers().get_all(header::ACCEPT).iter().any(accepts_events)
            && self
                .urls
                .route(request.uri().path(), request.uri().query().unwrap_or_default())
                .is_some_and(|route| route == changes_route())
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

    /// Responds to a request for a stream. `rest` responds to requests of the REST API.
    pub(super) async fn respond<S, B>(self, rest: S, request: Request) -> Response
    where
        S: Service<Request, Response = http::Response<B>, Error = Infallible, Future: Send> + Clone + Send,
        B: http_body::Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
    {
        let address = request.extensions().get::<Client>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |c| c.address);
        let Some(place) = self.enter(network_of(address)) else {
            return (StatusCode::SERVICE_UNAVAILABLE, "Too many streams are open.\n").into_response();
        };
        let (mut parts, _) = request.into_parts();
        let mut last = resume_at(&parts);
        for name in [header::ACCEPT, header::IF_NONE_MATCH, header::RANGE, LAST_EVENT_ID] {
            parts.headers.remove(name);
        }
        let mut text = format!("retry: {RETRY}\n");
        for _ in 0..MAX_PAGES {
            let response = rest.clone().oneshot(page_request(&parts, last)).await;
            let response = match response {
                Ok(response) if response.status() == StatusCode::OK => response.map(Body::new),
                Ok(refused) => return refused.map(Body::new),
            };
            let (head, body) = response.into_parts();
            let user = head.extensions.get::<UserId>().copied().unwrap_or_default();
            let page = axum::body::to_bytes(body, MAX_PAGE_BYTES).await.ok();
            let Some(page) = page.and_then(|page| serde_json::from_slice::<Page>(&page).ok()) else {
                return StatusCode::INTERNAL_SERVER_ERROR.into_response();
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
                    let body = Body::from_stream(futures_util::stream::unfold(live, Live::next));
                    return stream_response(head.headers, body);
                }
                Err(NotSubscribed::Behind(_)) => {}
                Err(NotSubscribed::Closed) => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
            }
        }
        // The client reconnects, and continues with what follows.
        text += &format!("id: {}\n\n", last.unwrap_or_default());
        stream_response(HeaderMap::new(), Body::from(text))
    }
}

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

fn accepts_events(accept: &HeaderValue) -> bool {
    accept.to_str().is_ok_and(|accept| {
        accept.split(',').any(|range| {
            range.split(';').next().is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case(MEDIA_TYPE))
        })
    })
}

/// The position that a client continues at: that of its last event, or the one in the URL.
fn resume_at(parts: &Parts) -> Option<i64> {
    let header = parts.headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()?.trim().parse().ok());
    header.or_else(|| {
        let params = svc_php::query::parse(parts.uri.query().unwrap_or_default().as_bytes());
        params.get("since").and_then(Value::as_str).and_then(|since| since.parse().ok())
    })
}

/// The request for a page of the feed, with the credentials of the client.
fn page_request(parts: &Parts, since: Option<i64>) -> Request {
    let mut parts = parts.clone();
    let kept = parts.uri.query().unwrap_or_default().split('&');
    let kept = kept.filter(|pair| !pair.is_empty() && !pair.starts_with("since=") && !pair.starts_with("limit="));
    let mut query: Vec<String> = kept.map(str::to_owned).collect();
    query.push(format!("limit={PAGE}"));
    query.extend(since.map(|since| format!("since={since}")));
    if let Ok(uri) = format!("{}?{}", parts.uri.path(), query.join("&")).parse() {
        parts.uri = uri;
    }
    Request::from_parts(parts, Body::empty())
}

/// A stream with the headers of a page that are for any response, such as those of CORS.
fn stream_response(mut headers: HeaderMap, body: Body) -> Response {
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
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if let Some(first) = self.first.take() {
            return Some((Ok(first), self));
        }
        loop {
            let received = match self.until {
                Some(until) => timeout_at(until, self.subscription.recv()).await.ok()?,
                None => self.subscription.recv().await,
            };
            let part = received.ok()?.after(self.last);
            if !part.is_empty() {
                return Some((Ok(part), self));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(uri: &str, headers: &[(&str, &str)]) -> Parts {
        let builder = headers.iter().fold(Request::builder().uri(uri), |b, (name, value)| b.header(*name, *value));
        builder.body(Body::empty()).unwrap().into_parts().0
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
        let accepts = |value: &'static str| accepts_events(&HeaderValue::from_static(value));
        assert!(accepts("text/event-stream") && accepts("a/b, Text/Event-Stream;q=0.9"));
        assert!(!accepts("*/*") && !accepts("application/json"));
    }
}
