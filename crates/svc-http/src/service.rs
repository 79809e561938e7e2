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
use http::{HeaderMap, Method, Request as HttpRequest, Response as HttpResponse, StatusCode};
use http_body_util::Full;
use svc_routing::{Error, Request, RootUrl, Server};

use crate::auth::{Anonymous, Authenticator, Credentials};
use crate::cors;
use crate::large::{LargeBodies, busy};
use crate::limits::RequestLimits;
use crate::request::{self, Jsonp};
use crate::response::{self, JsonFormat};
use crate::response_cache::{CacheKey, DataVersion, Flight, ResponseCache};
use crate::root::{Root, mount_path};
use crate::route_url::normalize;
use crate::runner::{self, Inline, Overloaded, Runner};

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
    source: Box<dyn ServerSource>,
    runner: Arc<dyn Runner>,
    authenticator: Arc<dyn Authenticator>,
    limits: RequestLimits,
    large: LargeBodies,
    response_cache: Option<ResponseCache>,
    root: Root,
}

/// Where a service gets its server from. A server may be replaced while requests are in progress.
pub trait ServerSource: Send + Sync + 'static {
    /// The server as it was last built. It is needed for every request, so this must not wait for anything.
    fn current(&self) -> Server;

    /// The server for a request that is about to be dispatched. It may read data to find out whether the current one is
    /// outdated.
    fn updated(&self) -> Server {
        self.current()
    }
}

impl<F: Fn() -> Server + Send + Sync + 'static> ServerSource for F {
    fn current(&self) -> Server {
        self()
    }
}

/// The settings of a [`RestService`].
///
/// ```
/// use svc_http::{RequestLimits, RestService};
/// use svc_routing::Registry;
/// let service = RestService::builder()
///     .limits(RequestLimits { files: 1, ..RequestLimits::default() })
///     .root_url("https://example.org/api/")
///     .build(Registry::new().build());
/// assert_eq!(service.server().rest_url("/acme/v1"), "https://example.org/api/acme/v1");
/// ```
#[must_use]
pub struct RestServiceBuilder {
    authenticator: Arc<dyn Authenticator>,
    limits: RequestLimits,
    response_cache: Option<(Duration, Box<DataVersion>)>,
    root: Root,
    runner: Arc<dyn Runner>,
}

impl Default for RestServiceBuilder {
    fn default() -> Self {
        Self {
            authenticator: Arc::new(Anonymous),
            limits: RequestLimits::default(),
            response_cache: None,
            root: Root::Server,
            runner: Arc::new(Inline),
        }
    }
}

impl RestServiceBuilder {
    /// Sets the authenticator. The default is [`Anonymous`].
    pub fn authenticator(mut self, authenticator: Arc<dyn Authenticator>) -> Self {
        self.authenticator = authenticator;
        self
    }

    /// Sets the limits on requests.
    pub fn limits(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Caches [cacheable](svc_routing::Served::cacheable) responses for at most `lifetime`, as long as
    /// `data_version` returns the same number. It is called for each request that may be cached, so it must be
    /// quick. The number must change with all data that handlers and the authenticator
    /// read; `None` means that it is unknown.
    ///
    /// Requests with credentials (`Authorization`, a cookie or a nonce) share a cached response only if all their
    /// headers are equal, apart from request ids. Use this only with authenticators that depend on nothing but headers,
    /// data and the clock.
    pub fn response_cache<F>(mut self, lifetime: Duration, data_version: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<i64>> + Send + 'static,
    {
        self.response_cache = Some((lifetime, Box::new(move || Box::pin(data_version()))));
        self
    }

    /// Sets the root of the URLs in responses: the public URL at which the service is mounted, such as
    /// `https://example.org/api/`. The default is the server's own root.
    pub fn root_url(mut self, url: impl Into<String>) -> Self {
        self.root = Root::Fixed(RootUrl::new(url));
        self
    }

    /// Selects the root of the URLs in responses by the host that a request was sent to, for an application with several
    /// hosts. `path` is the path at which the service is mounted; `origins` are the public origins, such as
    /// `https://example.org`. Responses to requests for other hosts have URLs without scheme and host.
    pub fn root_from_host(mut self, path: &str, origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let origins = origins.into_iter().map(|origin| origin.into().trim_end_matches('/').to_owned()).collect();
        self.root = Root::Origins { path: mount_path(path), origins };
        self
    }

    /// As [`root_from_host`](Self::root_from_host), for all hosts, with this scheme.
    ///
    /// Clients choose the `Host` header, and shared caches may store the response. Use this only if something in front of
    /// the service rejects requests for unknown hosts.
    pub fn root_from_any_host(mut self, path: &str, scheme: &str) -> Self {
        self.root = Root::AnyHost { path: mount_path(path), scheme: scheme.to_owned() };
        self
    }

    /// Sets where requests are authenticated and dispatched, after their bodies have been read. The default is the task of
    /// the connection; [`Lanes`](crate::Lanes) separates expensive requests from others.
    pub fn runner(mut self, runner: Arc<dyn Runner>) -> Self {
        self.runner = runner;
        self
    }

    /// The service over this server.
    pub fn build(self, server: Server) -> RestService {
        self.build_from(move || server.clone())
    }

    /// The service that calls `source` for the server of each request.
    pub fn build_from(self, source: impl ServerSource) -> RestService {
        let Self { authenticator, limits, response_cache, root, runner } = self;
        let response_cache = response_cache.map(|(lifetime, data_version)| {
            ResponseCache::new(data_version, lifetime, source.current().site().brand.header("Nonce"))
        });
        if let Some(cache) = &response_cache {
            cache.set_capacity(limits.cached_responses);
        }
        let large = LargeBodies::new(limits.memory);
        RestService(Arc::new(ServiceInner {
            source: Box::new(source),
            runner,
            authenticator,
            limits,
            large,
            response_cache,
            root,
        }))
    }
}

impl RestService {
    /// A service over this server with the default settings, for anonymous callers.
    pub fn new(server: Server) -> Self {
        Self::builder().build(server)
    }

    /// The settings of a new service.
    pub fn builder() -> RestServiceBuilder {
        RestServiceBuilder::default()
    }

    /// The current server.
    pub fn server(&self) -> Server {
        self.0.root.apply(self.0.source.current())
    }

    /// Responds to a request for this route.
    pub async fn respond<B>(&self, route: String, request: HttpRequest<B>) -> HttpResponse<ResponseBody>
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: std::fmt::Display + Send,
    {
        let (parts, body) = request.into_parts();
        let root = self.0.root.of_request(&parts);
        let cache = self.0.response_cache.as_ref().filter(|_| body.is_end_stream());
        let key = match cache {
            Some(cache) => cache.key(&parts, root.as_deref(), &route).await,
            None => None,
        };
        let mut leader = None;
        if let (Some(response_cache), Some(key)) = (&self.0.response_cache, &key) {
            let mut cached = response_cache.find(key);
            if cached.is_none() {
                match response_cache.join(key) {
                    Flight::Lead(own) => leader = Some(own),
                    Flight::Follow(mut other) => {
                        // An error means that the other request has ended.
                        drop(other.changed().await);
                        cached = response_cache.find(key);
                    }
                }
            }
            if let Some((mut res, logged_in)) = cached {
                cors::add(res.headers_mut(), &parts.headers, &parts.method, logged_in);
                return res;
            }
        }
        let process = AssertUnwindSafe(self.process(route, root, parts, body, key)).catch_unwind();
        let response = process.await.unwrap_or_else(|_| panicked(&self.server()));
        drop(leader);
        response
    }

    /// Reads the body, and responds with the runner's threads.
    async fn process<B>(
        &self,
        route: String,
        root: Option<String>,
        parts: Parts,
        body: B,
        key: Option<CacheKey>,
    ) -> HttpResponse<ResponseBody>
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: std::fmt::Display + Send,
    {
        let server = self.server();
        let req = request::head(&parts, route);
        let jsonp = match request::jsonp(&req) {
            Jsonp::No => None,
            _ if !server.site().jsonp => {
                let error = Error::new("rest_callback_disabled", "JSONP is disabled on this site.");
                return plain_error(&server, true, &error.with_status(400));
            }
            Jsonp::Callback(name) => Some(name),
            Jsonp::Invalid => {
                let error = Error::new("rest_callback_invalid", "Invalid JSONP callback function.");
                return plain_error(&server, true, &error.with_status(400));
            }
        };
        let read = request::body(req.clone(), body, &self.0.limits, &self.0.large).await;
        // The reservation must live as long as the request.
        let (req, body_error, reserved) = match read {
            Ok((read, reserved)) => (read, None, Some(reserved)),
            Err(error) => (req, Some(error), None),
        };
        let (method, headers) = (parts.method.clone(), parts.headers.clone());
        let received = Received { req, body_error, jsonp, root, method, headers, key };
        let service = self.clone();
        let work = async move {
            let _reserved = reserved;
            let dispatch = AssertUnwindSafe(service.dispatch(received)).catch_unwind();
            dispatch.await.unwrap_or_else(|_| panicked(&service.server()))
        };
        runner::run(&*self.0.runner, &parts, work)
            .await
            .unwrap_or_else(|Overloaded| plain_error(&server, false, &busy()))
    }

    /// Authenticates and dispatches a request.
    async fn dispatch(&self, received: Received) -> HttpResponse<ResponseBody> {
        let Received { req, body_error, jsonp, root, method, headers: wire_headers, key } = received;
        let mut server = self.0.root.apply(self.0.source.updated());
        if let Some(root) = root {
            server = server.with_urls(RootUrl::new(root));
        }
        let site = server.site();
        let nonce_header = site.brand.header("Nonce");
        let credentials = Credentials {
            wire_method: method.clone(),
            method: req.method().clone(),
            route: req.route().to_owned(),
            headers: wire_headers.clone(),
            nonce: request::nonce(&req, &site.brand.nonce_param(), &nonce_header),
        };
        let outcome = self.0.authenticator.authenticate(credentials).await;
        let (req, logged_in, auth_headers, auth_error) = outcome.apply(req);
        // Do not cache rejections: the same URL may succeed with another nonce or password.
        let is_personal = logged_in || auth_error.is_some();
        let is_jsonp = jsonp.is_some();
        let format = JsonFormat { jsonp, pretty: wants_pretty(&req) };
        let served = match auth_error.or(body_error) {
            Some(error) => server.serve_error(req, error).await,
            None => server.serve(req).await,
        };

        let mut out = response::common_headers(&server, is_jsonp);
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
        cors::add(&mut headers, &wire_headers, &method, logged_in);
        response::finish(status, headers, body)
    }
}

/// A request whose body has been read.
struct Received {
    req: Request,
    body_error: Option<Error>,
    jsonp: Option<String>,
    /// The root URL that the request's host selects.
    root: Option<String>,
    /// The method on the wire.
    method: Method,
    headers: HeaderMap,
    key: Option<CacheKey>,
}

/// The response to a request whose handler panicked. The panic hook has already logged message and location.
fn panicked(server: &Server) -> HttpResponse<ResponseBody> {
    tracing::error!("request handler panicked");
    let error = Error::new("rest_internal_error", "Something went wrong on the server.").with_status(500);
    plain_error(server, false, &error)
}

fn wants_pretty(req: &Request) -> bool {
    req.has_param("_pretty")
}

/// An error response without dispatch: code and message only.
fn plain_error(server: &Server, is_jsonp: bool, error: &Error) -> HttpResponse<ResponseBody> {
    let body = serde_json::json!({ "code": error.code(), "message": error.message() });
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response::finish(status, response::common_headers(server, is_jsonp), body.to_string().into())
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
