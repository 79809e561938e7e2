//! Forwards requests to a web server over pooled HTTP/1.1 connections.

use std::{sync::Arc, time::Duration};

use http::{Request, Response, StatusCode, Uri, Version, request::Parts, uri::Authority};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, Error, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use tokio::sync::OwnedSemaphorePermit;

use crate::{
    body::{Body, Download, Progress, Upload, empty},
    failure::{Failed, Failure},
    headers::{Origin, add_via, prepare, remove_hop_by_hop},
    options::ProxyLimits,
};

/// Time after which an unused connection is closed. Less than the usual limits of web servers, so that a request rarely meets a connection
/// that is just being closed.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// Most headers of a response. Themes send one for each file that browsers should load early.
const MAX_HEADERS: usize = 1_000;

/// A client of a web server.
pub(crate) struct HttpClient {
    client: Client<HttpConnector, Body>,
    authority: Authority,
    /// Name of the proxy in `Via`.
    name: String,
    limits: ProxyLimits,
}

impl HttpClient {
    pub(crate) fn new(authority: Authority, name: String, limits: ProxyLimits) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(limits.connect));
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(limits.requests)
            .http1_max_headers(MAX_HEADERS)
            .build(connector);
        HttpClient { client, authority, name, limits }
    }

    /// Forwards a request, which occupies the slot until the end of the response.
    pub(crate) async fn forward(
        &self,
        request: Request<Body>,
        origin: Origin,
        slot: OwnedSemaphorePermit,
    ) -> Result<Response<Body>, Failure> {
        let (mut parts, body) = request.into_parts();
        prepare(&mut parts, origin);
        add_via(&mut parts.headers, &self.name);
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
        let response = sent.map_err(|failed| progress.failure().unwrap_or_else(|| failed.into()))?;
        let (mut parts, body) = response.into_parts();
        if parts.status == StatusCode::SWITCHING_PROTOCOLS {
            // The request had no `Upgrade`.
            tracing::warn!(upstream = self.authority.as_str(), "the upstream changes the protocol without a request");
            return Err(Failure::Unreachable);
        }
        remove_hop_by_hop(&mut parts.headers);
        add_via(&mut parts.headers, &self.name);
        parts.version = Version::HTTP_11;
        parts.extensions.clear();
        Ok(Response::from_parts(parts, Download::new(body, self.limits.idle, slot).boxed_unsync()))
    }

    fn url(&self, received: &Uri) -> Uri {
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(http::uri::Scheme::HTTP);
        parts.authority = Some(self.authority.clone());
        // `OPTIONS *` has no path, and `http://example.org?a=1` an empty one.
        let target = received.path_and_query().map_or("/", |target| target.as_str());
        let target = match target.as_bytes().first() {
            Some(b'?') => format!("/{target}").parse().ok(),
            Some(b'/') => received.path_and_query().cloned(),
            _ => None,
        };
        parts.path_and_query = Some(target.unwrap_or_else(|| http::uri::PathAndQuery::from_static("/")));
        Uri::from_parts(parts).unwrap_or_default()
    }

    async fn send(&self, parts: Parts, body: Body, progress: &Progress) -> Result<Response<Incoming>, Failed> {
        let sent = self.client.request(Request::from_parts(parts, body));
        match progress.within(self.limits.response, sent).await {
            Some(response) => response.map_err(|error| self.failed(&error)),
            None => Err(Failed::Late),
        }
    }

    fn failed(&self, error: &Error) -> Failed {
        let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
        tracing::warn!(upstream = self.authority.as_str(), %error, cause, "cannot forward a request");
        if error.is_connect() { Failed::Refused } else { Failed::Closed }
    }
}
