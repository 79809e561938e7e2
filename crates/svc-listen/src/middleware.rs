//! The middleware of all requests: see [`middleware_stack`].

use std::{
    any::Any,
    convert::Infallible,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::Body,
    extract::Request,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, header::Entry};
use http_body::Body as _;
use http_body_util::Limited;
use tower::{Service, ServiceExt as _};

use crate::{
    client::Client,
    compression::{Accepted, Compression},
    forwarding::Forwarding,
    head,
    limits::ConnectionLimits,
    log::{self, AccessLog},
    rate_limits::{RateAdmission, RateLimitSettings, RateLimits},
};

/// `Retry-After` of 503 responses, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Headers that are hidden in debug output, and that HTTP/2 does not index.
const SENSITIVE: [HeaderName; 3] = [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION];

/// Wraps a service, such as a router, outermost first: client address, request id and log, compression, `Retry-After`, check of the head, panic
/// handler, time limit, body limit.
///
/// One service does all of it: a tower layer for each would allocate and dispatch dynamically several times per request, which
/// costs as much as serving a small response.
pub fn middleware_stack<S>(inner: S, limits: &ConnectionLimits, log: AccessLog, compression: Compression) -> Stack<S> {
    let settings = StackSettings {
        forwarding: Forwarding::new(&limits.trusted),
        compression,
        log,
        body: usize::try_from(limits.body).unwrap_or(usize::MAX),
        time: limits.request,
        refused: None,
        hsts: None,
        rates: None,
    };
    Stack { inner, settings: Arc::new(settings) }
}

struct StackSettings {
    forwarding: Forwarding,
    compression: Compression,
    log: AccessLog,
    /// Maximum size of a request body in bytes.
    body: usize,
    /// Time limit for a response.
    time: Duration,
    /// Called for each response of the middleware itself.
    refused: Option<Box<OnRefused>>,
    /// `Strict-Transport-Security` of responses over TLS.
    hsts: Option<HeaderValue>,
    rates: Option<Arc<RateLimits>>,
}

/// Called with the method, the status and the time since the request arrived.
type OnRefused = dyn Fn(&Method, StatusCode, Duration) + Send + Sync;

/// A service in the middleware: see [`middleware_stack`].
#[derive(Clone)]
pub struct Stack<S> {
    inner: S,
    settings: Arc<StackSettings>,
}

impl<S> Stack<S> {
    /// Calls `count` with the method, the status and the duration of each request that the middleware responds to itself, because the
    /// request violates a limit or the service fails to respond to it.
    ///
    /// # Panics
    /// If the stack was cloned.
    #[must_use]
    pub fn count_refused(mut self, count: impl Fn(&Method, StatusCode, Duration) + Send + Sync + 'static) -> Self {
        let settings = Arc::get_mut(&mut self.settings).expect("the stack was not cloned yet");
        settings.refused = Some(Box::new(count));
        self
    }

    /// Limits the rate of requests. Services can report what a request has cost as the extension [`RequestCost`](crate::RequestCost) of the
    /// response, and must report callers with the extension [`RateAdmission`](crate::RateAdmission) of the request.
    ///
    /// # Panics
    /// If the stack was cloned.
    #[must_use]
    pub fn rate_limits(mut self, settings: RateLimitSettings) -> Self {
        let stack = Arc::get_mut(&mut self.settings).expect("the stack was not cloned yet");
        stack.rates = RateLimits::new(settings);
        self
    }

    /// Adds `Strict-Transport-Security` with this number of seconds to responses over TLS, after which browsers request the host with
    /// HTTPS only for that time. Zero makes them forget it; `None` adds nothing.
    ///
    /// # Panics
    /// If the stack was cloned.
    #[must_use]
    pub fn strict_transport(mut self, seconds: Option<u32>) -> Self {
        let settings = Arc::get_mut(&mut self.settings).expect("the stack was not cloned yet");
        let value = |seconds| HeaderValue::try_from(format!("max-age={seconds}")).expect("digits are a valid value");
        settings.hsts = seconds.map(value);
        self
    }
}

impl<S, B> Service<Request> for Stack<S>
where
    S: Service<Request, Response = Response<B>, Error = Infallible, Future: Send> + Clone + Send + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (inner, settings) = (self.inner.clone(), Arc::clone(&self.settings));
        Box::pin(async move { Ok(settings.respond(inner, request).await) })
    }
}

impl StackSettings {
    async fn respond<S, B>(&self, inner: S, mut request: Request) -> Response
    where
        S: Service<Request, Response = Response<B>, Error = Infallible>,
        B: http_body::Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
    {
        let from_proxy = self.forwarding.is_from_proxy(&request);
        let client = self.forwarding.identify(&mut request);
        hide_credentials(request.headers_mut());
        let mut line = self.log.begin(&mut request, client);
        let accepted = Accepted::take(request.headers_mut());
        let span = line.span(&mut request, from_proxy);
        let method = request.method().clone();
        let (handled, admission) = match self.admit(&mut request, client) {
            Ok(admission) => {
                let handled = tracing::Instrument::instrument(self.handle(inner, request), span).await;
                (handled, admission)
            }
            Err(refused) => (Err(*refused), None),
        };
        let mut response = handled.unwrap_or_else(|refused| {
            if let Some(count) = &self.refused {
                count(&method, refused.status(), line.elapsed());
            }
            refused
        });
        if let (Some(rates), Some(admission)) = (&self.rates, &admission) {
            rates.settle(admission, &mut response);
        }
        if response.status() == StatusCode::SERVICE_UNAVAILABLE {
            // The database is restarting, or the server is overloaded.
            response.headers_mut().entry(header::RETRY_AFTER).or_insert(RETRY_AFTER);
        }
        if let Some(hsts) = self.hsts.as_ref().filter(|_| client.tls) {
            response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, hsts.clone());
        }
        let mut response = self.compression.compress(accepted, response).await;
        line.end(&mut response);
        response
    }

    /// Admits a request within the limits on rates, if there are any.
    fn admit(&self, request: &mut Request, client: Client) -> Result<Option<RateAdmission>, Box<Response>> {
        self.rates.as_ref().map_or(Ok(None), |rates| rates.admit(request, client))
    }

    /// Calls the service within the limits on body and time.
    ///
    /// # Errors
    /// The response to a request to which the service has not responded.
    async fn handle<S, B>(&self, inner: S, mut request: Request) -> Result<Response, Response>
    where
        S: Service<Request, Response = Response<B>, Error = Infallible>,
        B: http_body::Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
    {
        if let Err(status) = head::check(&mut request) {
            return Err(status.into_response());
        }
        let length = request.headers().get(header::CONTENT_LENGTH).and_then(|n| n.to_str().ok()?.parse::<usize>().ok());
        if length.is_some_and(|length| length > self.body) {
            return Err(StatusCode::PAYLOAD_TOO_LARGE.into_response());
        }
        let request = request.map(|body| match body.is_end_stream() {
            true => body,
            false => Body::new(Limited::new(body, self.body)),
        });
        let response = AssertUnwindSafe(async { inner.oneshot(request).await }).catch_unwind();
        match tokio::time::timeout(self.time, response).await {
            Ok(Ok(Ok(response))) => Ok(response.map(Body::new)),
            Ok(Err(panic)) => Err(panicked(&*panic)),
            Err(_too_late) => Err(StatusCode::SERVICE_UNAVAILABLE.into_response()),
        }
    }
}

fn hide_credentials(headers: &mut HeaderMap) {
    for name in SENSITIVE {
        if headers.contains_key(&name)
            && let Entry::Occupied(mut values) = headers.entry(name)
        {
            values.iter_mut().for_each(|value| value.set_sensitive(true));
        }
    }
}

/// Converts a panic to a 500 response without details.
fn panicked(payload: &(dyn Any + Send)) -> Response {
    tracing::error!("a request handler panicked: {}", log::panic_message(payload));
    (StatusCode::INTERNAL_SERVER_ERROR, "Internal server error.\n").into_response()
}
