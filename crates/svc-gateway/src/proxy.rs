//! Forwards requests to the upstream over pooled HTTP/1.1 connections.

use std::{
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{Method, Request, Response, StatusCode, Uri, Version, request::Parts, uri::Authority};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, Error, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep_until, timeout},
};

use crate::{
    body::{Body, Broken, Download, Progress, Upload, empty},
    failure::Failure,
    headers::{Origin, add_via, has_passed, prepare, remove_hop_by_hop},
};

/// Time after which an unused connection is closed. Less than the usual limits of web servers, so that a request rarely meets a connection
/// that is just being closed.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// Requests that wait for a slot, per slot. Further ones are rejected at once.
const WAITING_PER_SLOT: usize = 4;

/// Minimum time between two log lines about loops.
const REPORT_LOOP: Duration = Duration::from_secs(60);

/// The text is not the URL of an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a URL like http://127.0.0.1:8081, without a path and without TLS")]
pub struct InvalidUpstream;

/// The server that requests are forwarded to: `http://HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream(Authority);

impl Upstream {
    /// Host and port.
    pub fn authority(&self) -> &str {
        self.0.as_str()
    }

    /// The host, without the brackets of an IPv6 address.
    pub fn host(&self) -> &str {
        self.0.host().trim_start_matches('[').trim_end_matches(']')
    }

    /// The port; 80 by default.
    pub fn port(&self) -> u16 {
        self.0.port_u16().unwrap_or(80)
    }
}

impl FromStr for Upstream {
    type Err = InvalidUpstream;

    fn from_str(text: &str) -> Result<Self, InvalidUpstream> {
        let url: Uri = text.parse().map_err(|_| InvalidUpstream)?;
        let authority = url.authority().filter(|a| !a.as_str().contains('@') && !a.host().is_empty());
        let is_bare = matches!(url.path(), "" | "/") && url.query().is_none() && !text.contains('#');
        match (url.scheme_str(), authority) {
            (Some("http"), Some(authority)) if is_bare => Ok(Upstream(authority.clone())),
            _ => Err(InvalidUpstream),
        }
    }
}

/// Limits on forwarded requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time limit for a connection.
    pub connect: Duration,
    /// Time limit for the head of the response, from the last part of the request that was sent.
    pub response: Duration,
    /// Time limit between two parts of the response's body.
    pub idle: Duration,
    /// Maximum number of requests that are forwarded at the same time. Four times as many may wait for their turn.
    pub requests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connect: Duration::from_secs(5),
            response: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            requests: 64,
        }
    }
}

/// A reverse proxy to one upstream. Cheap to clone.
#[derive(Clone)]
pub struct Proxy(Arc<Inner>);

struct Inner {
    client: Client<HttpConnector, Body>,
    upstream: Upstream,
    /// Name of this proxy in `Via`.
    name: String,
    limits: Limits,
    slots: Arc<Semaphore>,
    waiting: Semaphore,
    /// When a loop was logged.
    loop_reported: Mutex<Option<Instant>>,
}

impl Proxy {
    /// A proxy to this upstream. `name` identifies this process in `Via`, so that a loop is recognized; it must be a token.
    pub fn new(upstream: Upstream, name: impl Into<String>, limits: Limits) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(limits.connect));
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(limits.requests)
            .build(connector);
        let slots = limits.requests.clamp(1, Semaphore::MAX_PERMITS / WAITING_PER_SLOT);
        Proxy(Arc::new(Inner {
            client,
            upstream,
            name: name.into(),
            limits,
            slots: Arc::new(Semaphore::new(slots)),
            waiting: Semaphore::new(slots * WAITING_PER_SLOT),
            loop_reported: Mutex::default(),
        }))
    }

    /// The upstream.
    pub fn upstream(&self) -> &Upstream {
        &self.0.upstream
    }

    /// Forwards a request and returns the upstream's response. The body of either is streamed.
    ///
    /// # Errors
    /// If the request must not be forwarded, or the upstream did not respond.
    pub async fn forward(&self, request: Request<Body>, origin: Origin) -> Result<Response<Body>, Failure> {
        let Inner { name, limits, .. } = &*self.0;
        if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
            return Err(Failure::Method);
        }
        if has_passed(request.headers(), name) {
            self.report_loop();
            return Err(Failure::Loop);
        }
        let slot = self.slot().await?;
        let (mut parts, body) = request.into_parts();
        prepare(&mut parts, origin, name);
        parts.uri = self.url(&parts.uri);
        parts.version = Version::HTTP_11;
        parts.extensions.clear();
        // Without a body, a safe request may be sent twice.
        let again = (parts.method.is_safe() && http_body::Body::is_end_stream(&body)).then(|| parts.clone());
        let progress = Progress::new();
        let upload = Upload::new(body, Arc::clone(&progress)).boxed_unsync();
        let mut sent = self.send(parts, upload, &progress).await;
        if let (Err(Failed::Closed), Some(parts)) = (&sent, again) {
            sent = self.send(parts, empty(), &Progress::new()).await;
        }
        let response = sent.map_err(|failed| match (progress.broken(), failed) {
            (Some(Broken::TooLarge), _) => Failure::TooLarge,
            (Some(Broken::Unreadable), _) => Failure::Unreadable,
            (None, Failed::Late) => Failure::Timeout,
            (None, Failed::Refused | Failed::Closed) => Failure::Unreachable,
        })?;
        let (mut parts, body) = response.into_parts();
        if parts.status == StatusCode::SWITCHING_PROTOCOLS {
            // The request had no `Upgrade`.
            tracing::warn!(
                upstream = self.upstream().authority(),
                "the upstream changes the protocol without a request"
            );
            return Err(Failure::Unreachable);
        }
        remove_hop_by_hop(&mut parts.headers);
        add_via(&mut parts.headers, name);
        parts.version = Version::HTTP_11;
        parts.extensions.clear();
        Ok(Response::from_parts(parts, Download::new(body, limits.idle, slot).boxed_unsync()))
    }

    /// Logs a request that came back, at most once in a while: a client can cause it as well, since it sees the name in `Via`.
    fn report_loop(&self) {
        let mut reported = self.0.loop_reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.is_none_or(|at| at.elapsed() >= REPORT_LOOP) {
            *reported = Some(Instant::now());
            let upstream = self.upstream().authority();
            tracing::warn!(
                upstream,
                "a request has passed this server before: the upstream sends requests back, or a client claims it"
            );
        }
    }

    /// Waits for the turn of a request.
    async fn slot(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let Inner { slots, waiting, limits, .. } = &*self.0;
        if let Ok(slot) = Arc::clone(slots).try_acquire_owned() {
            return Ok(slot);
        }
        let _waiting = waiting.try_acquire().map_err(|_| Failure::Busy)?;
        let slot = timeout(limits.response, Arc::clone(slots).acquire_owned()).await;
        slot.ok().and_then(Result::ok).ok_or(Failure::Busy)
    }

    fn url(&self, received: &Uri) -> Uri {
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(http::uri::Scheme::HTTP);
        parts.authority = Some(self.0.upstream.0.clone());
        let root = || http::uri::PathAndQuery::from_static("/");
        // `OPTIONS *` has no path.
        parts.path_and_query =
            Some(received.path_and_query().filter(|p| p.as_str().starts_with('/')).cloned().unwrap_or_else(root));
        Uri::from_parts(parts).unwrap_or_default()
    }

    async fn send(&self, parts: Parts, body: Body, progress: &Progress) -> Result<Response<Incoming>, Failed> {
        let sent = self.0.client.request(Request::from_parts(parts, body));
        let mut sent = std::pin::pin!(sent);
        loop {
            let deadline = progress.last() + self.0.limits.response;
            tokio::select! {
                response = &mut sent => return response.map_err(|error| self.failed(&error)),
                () = sleep_until(deadline) => {
                    if progress.last() + self.0.limits.response <= Instant::now() {
                        return Err(Failed::Late);
                    }
                }
            }
        }
    }

    fn failed(&self, error: &Error) -> Failed {
        let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
        tracing::warn!(upstream = self.upstream().authority(), %error, cause, "cannot forward a request");
        if error.is_connect() { Failed::Refused } else { Failed::Closed }
    }
}

/// How sending failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failed {
    /// No connection was made.
    Refused,
    /// The connection ended before the response's head.
    Closed,
    /// No response in time.
    Late,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstreams() {
        for (text, parsed) in [
            ("http://127.0.0.1:8081", Some(("127.0.0.1:8081", "127.0.0.1", 8081))),
            ("http://[::1]:81/", Some(("[::1]:81", "::1", 81))),
            ("http://php", Some(("php", "php", 80))),
            ("https://php", None),
            ("http://php/blog", None),
            ("http://php?a", None),
            ("http://u@php", None),
            ("127.0.0.1:80", None),
            ("", None),
        ] {
            let upstream = text.parse::<Upstream>().ok();
            assert_eq!(upstream.as_ref().map(|u| (u.authority(), u.host(), u.port())), parsed, "{text}");
        }
    }
}
