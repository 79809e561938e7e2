//! The service itself: one request of the interface from bytes to bytes.

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
use crate::limits::Limits;
use crate::request::{self, Jsonp};
use crate::response::{self, Form};
use crate::response_cache::{CacheKey, ResponseCache};
use crate::route_url::normalize;

/// The body of answers.
pub type ResponseBody = Full<Bytes>;

/// A tower service that answers every request as one of the interface: the path is the route. For nesting under the
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
pub struct RestService(Arc<Inner>);

struct Inner {
    /// Gives the server of the moment: it may be swapped while requests are under way.
    source: Box<dyn Fn() -> Server + Send + Sync>,
    authenticator: Arc<dyn Authenticator>,
    limits: Limits,
    large: LargeBodies,
    response_cache: Option<Arc<ResponseCache>>,
}

impl RestService {
    /// A service over this server, for anonymous callers.
    pub fn new(server: Server) -> Self {
        Self::from_source(move || server.clone())
    }

    /// A service over whatever server `source` gives at the time of each request.
    pub fn from_source(source: impl Fn() -> Server + Send + Sync + 'static) -> Self {
        let (authenticator, limits) = (Arc::new(Anonymous), Limits::default());
        let large = LargeBodies::new(limits.memory);
        Self(Arc::new(Inner { source: Box::new(source), authenticator, limits, large, response_cache: None }))
    }

    /// Sets who finds out who calls.
    #[must_use]
    pub fn authenticator(self, authenticator: Arc<dyn Authenticator>) -> Self {
        self.change(|inner| inner.authenticator = authenticator)
    }

    /// Sets the bounds on requests.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.change(|inner| {
            inner.limits = limits;
            inner.large = LargeBodies::new(limits.memory);
        })
    }

    /// Gives [cacheable](svc_routing::response::Served::cacheable) answers again for this long at most while `state` is the
    /// same: a number that changes whenever the data does that handlers and the authenticator read; `None` when that cannot
    /// be told. A request that says who calls, by `Authorization`, a cookie or a nonce, is answered again only when all its
    /// headers are the same, but the one that names it for logs; so this is for authenticators that look at headers, data and clock alone.
    #[must_use]
    pub fn with_response_cache(
        self,
        lifetime: Duration,
        state: impl Fn() -> Option<i64> + Send + Sync + 'static,
    ) -> Self {
        let nonce_header = self.server().site().brand.header("Nonce");
        self.change(|inner| inner.response_cache = Some(Arc::new(ResponseCache::new(state, lifetime, nonce_header))))
    }

    /// Settings are made before the service is shared.
    fn change(self, f: impl FnOnce(&mut Inner)) -> Self {
        let mut inner = match Arc::try_unwrap(self.0) {
            Ok(inner) => inner,
            Err(shared) => Inner {
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

    /// The server of the moment.
    pub fn server(&self) -> Server {
        (self.0.source)()
    }

    /// Answers a request for this route.
    pub async fn answer<B>(&self, route: String, request: HttpRequest<B>) -> HttpResponse<ResponseBody>
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
        let work = AssertUnwindSafe(self.work(&server, route, parts, body, key)).catch_unwind();
        work.await.unwrap_or_else(|_| {
            // The panic hook has printed where and why.
            tracing::error!("answering a request panicked");
            let error = Error::new("rest_internal_error", "Something went wrong on the server.").with_status(500);
            plain(&server, false, &error)
        })
    }

    async fn work<B>(
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
                let error = Error::new("rest_callback_disabled", "JSONP is switched off on this site.");
                return plain(server, true, &error.with_status(400));
            }
            Jsonp::Callback(name) => Some(name),
            Jsonp::Invalid => {
                let error = Error::new("rest_callback_invalid", "Invalid JSONP callback function.");
                return plain(server, true, &error.with_status(400));
            }
        };
        let read = request::body(req.clone(), body, &self.0.limits, &self.0.large).await;
        // The reservation lives as long as the request.
        let (req, unread, _reserved) = match read {
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
        let (req, logged_in, auth_headers, refused) = outcome.apply(req);
        // Another nonce or password may be let in at the same address.
        let is_personal = logged_in || refused.is_some();
        let is_jsonp = callback.is_some();
        let form = Form { jsonp: callback, pretty: wants_lines(&req) };
        let served = match refused.or(unread) {
            Some(error) => server.serve_error(req, error).await,
            None => server.serve(req).await,
        };

        let mut out = response::common(site, is_jsonp);
        response::exposed(&mut out, site);
        response::notices(&mut out, site, &served.notices);
        for (name, value) in &auth_headers {
            response::set(&mut out, name, value);
        }
        let key = key.filter(|_| served.cacheable);
        let (status, mut headers, body) = response::content(out, served, &form);
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

fn wants_lines(req: &Request) -> bool {
    req.has_param("_pretty")
}

/// An error that is answered without dispatch: code and message only.
fn plain(server: &Server, is_jsonp: bool, error: &Error) -> HttpResponse<ResponseBody> {
    let body = serde_json::json!({ "code": error.code(), "message": error.message() });
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response::finish(status, response::common(server.site(), is_jsonp), body.to_string().into())
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
        Box::pin(async move { Ok(service.answer(route, request).await) })
    }
}
