//! The tower service: handles one HTTP request of the REST API.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::request::Parts;
use http::{Request as HttpRequest, Response as HttpResponse, StatusCode};
use http_body_util::Full;
use svc_routing::{Error, Request, Server};

use crate::auth::{Anonymous, Authenticator, Credentials};
use crate::cors;
use crate::large::LargeBodies;
use crate::limits::RequestLimits;
use crate::request::{self, Jsonp};
use crate::response::{self, JsonFormat};
use crate::response_cache::{CacheKey, ResponseCache};
use crate::route_url::normalize;

/// The body type of responses.
pub type ResponseBody = Full<Bytes>;

/// A tower service that handles every request as a REST API request, with the path as route. Nest it under the API
/// prefix in any router.
///
/// ```
/// use svc_http::RestService;
/// use svc_routing::{Registry, Request, Response, Result, Route, get, public};
/// async fn ping(_: Request) -> Result { Ok(Response::new("pong")) }
/// let mut registry = Registry::new();
/// registry.route("acme/v1", Route::new("/ping").endpoint(get(ping, public))).expect("a namespace and a path");
/// let app: axum::Router = axum::Router::new().nest_service("/svc-json", RestService::new(registry.build()));
/// ```
#[derive(Clone)]
pub struct RestService(Arc<ServiceInner>);

struct ServiceInner {
    /// Returns the current server, which may be replaced while requests are in progress.
    source: Box<dyn Fn() -> Server + Send + Sync>,
    authenticator: Arc<dyn Authenticator>,
    limits: RequestLimits,
    large: LargeBodies,
    response_cache: Option<Arc<ResponseCache>>,
}

impl RestService {
    /// A service over this server, for anonymous callers.
    pub fn new(server: Server) -> Self {
        Self::from_source(move || server.clone())
    }

    /// A service that calls `source` for the server of each request.
    pub fn from_source(source: impl Fn() -> Server + Send + Sync + 'static) -> Self {
        let (authenticator, limits) = (Arc::new(Anonymous), RequestLimits::default());
        let large = LargeBodies::new(limits.memory);
        Self(Arc::new(ServiceInner { source: Box::new(source), authenticator, limits, large, response_cache: None }))
    }

    /// Sets the authenticator. The default is [`Anonymous`].
    #[must_use]
    pub fn authenticator(self, authenticator: Arc<dyn Authenticator>) -> Self {
        self.configure(|inner| inner.authenticator = authenticator)
    }

    /// Sets the limits on requests.
    #[must_use]
    pub fn limits(self, limits: RequestLimits) -> Self {
        self.configure(|inner| {
            inner.limits = limits;
            inner.large = LargeBodies::new(limits.memory);
        })
    }

    /// Caches [cacheable](svc_routing::response::Served::cacheable) responses for at most `lifetime`, as long as
    /// `data_version` returns the same number. The number must change with all data that handlers and the authenticator
    /// read; `None` means that it is unknown.
    ///
    /// Requests with credentials (`Authorization`, a cookie or a nonce) share a cached response only if all their
    /// headers are equal, apart from request ids. Use this only with authenticators that depend on nothing but headers,
    /// data and the clock.
    #[must_use]
    pub fn with_response_cache(
        self,
        lifetime: Duration,
        data_version: impl Fn() -> Option<i64> + Send + Sync + 'static,
    ) -> Self {
        let nonce_header = self.server().site().brand.header("Nonce");
        self.configure(|inner| {
            inner.response_cache = Some(Arc::new(ResponseCache::new(data_version, lifetime, nonce_header)))
        })
    }

    /// Changes the settings. Clones of the service keep the previous ones.
    fn configure(self, f: impl FnOnce(&mut ServiceInner)) -> Self {
        let mut inner = match Arc::try_unwrap(self.0) {
            Ok(inner) => inner,
            Err(shared) => ServiceInner {
                source: Box::new({
                    let shared = Arc::clone(&shared);
                    move || (shared.source)()
                }),
                authenticator: Arc::clone(&shared.authenticator),
                limits: shared.limits,
                large: shared.large.clone(),
                response_cache: shared.response_cache.clone(),
            },
        };
        f(&mut inner);
        Self(Arc::new(inner))
    }

    /// The current server.
    pub fn server(&self) -> Server {
        (self.0.source)()
    }

    /// Responds to a request for this route.
    pub async fn respond<B>(&self, route: String, request: HttpRequest<B>) -> HttpResponse<ResponseBody>
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: std::fmt::Display + Send,
    {
        let (parts, body) = request.into_parts();
        let key = self.0.response_cache.as_ref().filter(|_| body.is_end_stream()).and_then(|k| k.key(&parts, &route));
        if let (Some(response_cache), Some(key)) = (&self.0.response_cache, &key)
            && let Some((mut res, logged_in)) = response_cache.find(key)
        {
            cors::add(res.headers_mut(), &parts.headers, &parts.method, logged_in);
            return res;
        }
        let server = self.server();
        let process = AssertUnwindSafe(self.process(&server, route, parts, body, key)).catch_unwind();
        process.await.unwrap_or_else(|_| {
            // The panic hook has already logged message and location.
            tracing::error!("request handler panicked");
            let error = Error::new("rest_internal_error", "Something went wrong on the server.").with_status(500);
            plain_error(&server, false, &error)
        })
    }

    async fn process<B>(
        &self,
        server: &Server,
        route: String,
        parts: Parts,
        body: B,
        key: Option<CacheKey>,
    ) -> HttpResponse<ResponseBody>
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: std::fmt::Display + Send,
    {
        let site = server.site();
        let req = request::head(&parts, route);
        let callback = match request::jsonp(&req) {
            Jsonp::No => None,
            _ if !site.jsonp => {
                let error = Error::new("rest_callback_disabled", "JSONP is disabled on this site.");
                return plain_error(server, true, &error.with_status(400));
            }
            Jsonp::Callback(name) => Some(name),
            Jsonp::Invalid => {
                let error = Error::new("rest_callback_invalid", "Invalid JSONP callback function.");
                return plain_error(server, true, &error.with_status(400));
            }
        };
        let read = request::body(req.clone(), body, &self.0.limits, &self.0.large).await;
        // The reservation must live as long as the request.
        let (req, body_error, _reserved) = match read {
            Ok((read, reserved)) => (read, None, Some(reserved)),
            Err(error) => (req, Some(error), None),
        };
        let nonce_header = site.brand.header("Nonce");
        let credentials = Credentials {
            wire_method: parts.method.clone(),
            method: req.method().clone(),
            route: req.route().to_owned(),
            headers: parts.headers.clone(),
            nonce: request::nonce(&req, &site.brand.nonce_param(), &nonce_header),
        };
        let outcome = self.0.authenticator.authenticate(credentials).await;
        let (req, logged_in, auth_headers, auth_error) = outcome.apply(req);
        // Do not cache rejections: the same URL may succeed with another nonce or password.
        let is_personal = logged_in || auth_error.is_some();
        let is_jsonp = callback.is_some();
        let format = JsonFormat { jsonp: callback, pretty: wants_pretty(&req) };
        let served = match auth_error.or(body_error) {
            Some(error) => server.serve_error(req, error).await,
            None => server.serve(req).await,
        };

        let mut out = response::common_headers(site, is_jsonp);
        response::add_cors_lists(&mut out, site);
        response::notices(&mut out, site, &served.notices);
        for (name, value) in &auth_headers {
            response::set(&mut out, name, value);
        }
        let key = key.filter(|_| served.cacheable);
        let (status, mut headers, body) = response::content(out, served, &format);
        if is_personal {
            response::forbid_caching(&mut headers);
        }
        if let (Some(response_cache), Some(key)) = (&self.0.response_cache, key.filter(|_| status == StatusCode::OK)) {
            response_cache.insert(key, logged_in, &headers, &body);
        }
        cors::add(&mut headers, &parts.headers, &parts.method, logged_in);
        response::finish(status, headers, body)
    }
}

fn wants_pretty(req: &Request) -> bool {
    req.has_param("_pretty")
}

/// An error response without dispatch: code and message only.
fn plain_error(server: &Server, is_jsonp: bool, error: &Error) -> HttpResponse<ResponseBody> {
    let body = serde_json::json!({ "code": error.code(), "message": error.message() });
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response::finish(status, response::common_headers(server.site(), is_jsonp), body.to_string().into())
}

impl<B> tower::Service<HttpRequest<B>> for RestService
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: std::fmt::Display + Send,
{
    type Response = HttpResponse<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<B>) -> Self::Future {
        let service = self.clone();
        let route = normalize(request.uri().path());
        Box::pin(async move { Ok(service.respond(route, request).await) })
    }
}
