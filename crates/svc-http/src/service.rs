//! The tower service: handles one HTTP request of the REST API.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::ORIGIN;
use http::request::Parts;
use http::{HeaderMap, Method, Request as HttpRequest, Response as HttpResponse, StatusCode};
use http_body_util::Full;
use svc_metrics::RouteCounts;
use svc_routing::{Body, Cost, Error, LaterBody, Request, RootUrl, RouteUrls, Served, Server, Transport};
use svc_traces::RequestTrace;
use svc_versions::{Context, Usage, VersionStamp, Versions};

use crate::auth::{Anonymous, Authenticator, Credentials};
use crate::body::ResponseBody;
use crate::conditional;
use crate::cors::{self, Origins};
use crate::large::{LargeBodies, busy};
use crate::limits::RequestLimits;
use crate::request::{self, Jsonp};
use crate::response::{self, Content, CorsLists, JsonFormat};
use crate::response_cache::{CacheKey, Cacheable, CurrentStamp, ResponseCache};
use crate::root::{Root, mount_path};
use crate::runner::{self, Inline, Overloaded, Runner};
use crate::shared_caching::SharedCaching;

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
    /// The longest time for which a response is cached.
    cache_lifetime: Duration,
    root: Root,
    caching: SharedCaching,
    origins: Origins,
    /// The same for all servers of the source, which have one brand.
    cors_lists: OnceLock<CorsLists>,
}

/// The settings of the response cache.
struct CacheSettings {
    lifetime: Duration,
    versions: Arc<Versions>,
    current_stamp: Box<CurrentStamp>,
}

/// Where a service gets its server from. A server may be replaced while requests are in progress, by one with the same brand.
pub trait ServerSource: Send + Sync + 'static {
    /// The server for requests with this transport, as it was last built. It is needed for every request, so this must not
    /// wait for anything.
    fn current(&self, transport: Transport) -> Server;

    /// The server for a request that is about to be dispatched. It may read data to find out whether the current one is
    /// outdated.
    fn updated(&self, cx: &Context) -> Server {
        self.current(cx.transport())
    }
}

impl<F: Fn() -> Server + Send + Sync + 'static> ServerSource for F {
    fn current(&self, _: Transport) -> Server {
        self()
    }
}

/// The settings of a [`RestService`].
///
/// ```
/// use svc_http::{RequestLimits, RestService};
/// use svc_routing::{Registry, Transport};
/// let service = RestService::builder()
///     .limits(RequestLimits { files: 1, ..RequestLimits::default() })
///     .root_url("https://example.org/api/")
///     .build(Registry::new().build());
/// assert_eq!(service.server(Transport::Plain).rest_url("/acme/v1"), "https://example.org/api/acme/v1");
/// ```
#[must_use]
pub struct RestServiceBuilder {
    authenticator: Arc<dyn Authenticator>,
    limits: RequestLimits,
    response_cache: Option<CacheSettings>,
    root: Root,
    runner: Arc<dyn Runner>,
    caching: SharedCaching,
    origins: Origins,
}

impl Default for RestServiceBuilder {
    fn default() -> Self {
        Self {
            authenticator: Arc::new(Anonymous),
            limits: RequestLimits::default(),
            response_cache: None,
            root: Root::Server,
            runner: Arc::new(Inline),
            caching: SharedCaching::default(),
            origins: Origins::default(),
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

    /// Caches [cacheable](svc_routing::Served::cacheable) responses until something changes that they depend on.
    /// Handlers and the authenticator [record](svc_versions) what they read in `versions`; a value whose changes are not
    /// recorded is at most `lifetime` old.
    ///
    /// `current_stamp` is called for each request that may be cached, so it must be quick. It returns the stamp of
    /// `versions`, after changes that others have made were recorded there; `None` means that nothing may be cached.
    ///
    /// Requests with credentials (`Authorization`, a cookie or a nonce) share a cached response only if all their
    /// headers are equal, apart from request ids and conditions. Use this only with authenticators that depend on nothing but headers,
    /// recorded data and the clock.
    pub fn response_cache<F>(
        mut self,
        lifetime: Duration,
        versions: Arc<Versions>,
        current_stamp: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Option<VersionStamp>> + Send + 'static,
    {
        let current_stamp = Box::new(move || -> Pin<Box<dyn Future<Output = _> + Send>> { Box::pin(current_stamp()) });
        self.response_cache = Some(CacheSettings { lifetime, versions, current_stamp });
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

    /// Lets browsers and caches in front of the server use [cacheable](svc_routing::Served::cacheable) responses to requests
    /// without credentials. By default such responses have no `Cache-Control`, as in WordPress.
    pub fn shared_caching(mut self, caching: SharedCaching) -> Self {
        self.caching = caching;
        self
    }

    /// Sets which origins may read responses. By default, all of them may, as in WordPress.
    pub fn origins(mut self, origins: Origins) -> Self {
        self.origins = origins;
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
        let Self { authenticator, limits, response_cache, root, runner, caching, origins } = self;
        let cache_lifetime = response_cache.as_ref().map_or(Duration::ZERO, |settings| settings.lifetime);
        let response_cache = response_cache.map(|CacheSettings { versions, current_stamp, .. }| {
            ResponseCache::new(
                limits.cached_responses,
                versions,
                current_stamp,
                &source.current(Transport::Plain).site().brand.header("Nonce"),
            )
        });
        let large = LargeBodies::new(limits.memory);
        RestService(Arc::new(ServiceInner {
            source: Box::new(source),
            runner,
            authenticator,
            limits,
            large,
            response_cache,
            cache_lifetime,
            root,
            caching,
            origins,
            cors_lists: OnceLock::new(),
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

    /// The size of the response cache, with hits and misses. Empty without a cache.
    pub fn cache_usage(&self) -> Usage {
        self.0.response_cache.as_ref().map(ResponseCache::usage).unwrap_or_default()
    }

    /// The current server for requests with this transport.
    pub fn server(&self, transport: Transport) -> Server {
        self.0.root.apply(self.0.source.current(transport))
    }

    /// Responds to a request for this route.
    ///
    /// A `HEAD` request that the endpoint for `GET` handles has the response to `GET`, from the same cache, without its body
    /// (RFC 9110, section 9.3.2).
    pub async fn respond<B>(&self, route: String, request: HttpRequest<B>) -> HttpResponse<ResponseBody>
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: std::fmt::Display + Send,
    {
        let arrived = Instant::now();
        let (mut parts, body) = request.into_parts();
        let method = parts.method.clone();
        let trace = parts.extensions.get::<RequestTrace>().cloned();
        let is_head = method == Method::HEAD && self.serves_head_as_get(&route);
        if is_head {
            parts.method = Method::GET;
        }
        let (mut response, requests) = self.respond_to(route, method.clone(), parts, body).await;
        if is_head {
            *response.body_mut() = ResponseBody::default();
        }
        requests.record(method.as_str(), response.status().as_u16(), arrived.elapsed());
        if let (Some(trace), Some(pattern)) = (trace, requests.route()) {
            trace.set_route(&method, pattern);
        }
        response
    }

    /// Whether no endpoint of a route is for `HEAD` only.
    fn serves_head_as_get(&self, route: &str) -> bool {
        let server = self.0.source.current(Transport::Plain);
        let endpoint = |method| server.endpoint_for(method, route).map(|(_, endpoint)| std::ptr::from_ref(endpoint));
        endpoint(&Method::HEAD) == endpoint(&Method::GET)
    }

    /// Responds to a request with this method on the wire. Also returns the numbers of requests of its route.
    async fn respond_to<B>(
        &self,
        route: String,
        method: Method,
        mut parts: Parts,
        body: B,
    ) -> (HttpResponse<ResponseBody>, Arc<RouteCounts>)
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: std::fmt::Display + Send,
    {
        let arrived = Instant::now();
        let root = self.0.root.of_request(&parts);
        let cache = self.0.response_cache.as_ref().filter(|_| body.is_end_stream());
        let key = match cache {
            Some(cache) => {
                let has_origin = self.0.source.current(Transport::Plain).filters_final_responses();
                cache.key(&parts, root.as_deref(), &route, has_origin).await
            }
            None => None,
        };
        let mut generating = None;
        if let (Some(response_cache), Some(key)) = (&self.0.response_cache, &key) {
            match response_cache.find(key).await {
                Ok(mut found) => {
                    if let Some(logged_in) = found.without_cors {
                        cors::add(&self.0.origins, found.response.headers_mut(), &parts.headers, &method, logged_in);
                    }
                    let mut response = conditional::respond(&parts.headers, &method, found.response);
                    Effort::Cached.report(&parts.extensions, &mut response);
                    return (response.map(Into::into), found.requests);
                }
                Err(nothing) => generating = Some(nothing),
            }
        }
        // What an error depends on if nothing else is known.
        let headers: HeaderMap = parts.headers.get(ORIGIN).map(|origin| (ORIGIN, origin.clone())).into_iter().collect();
        let cx = self.0.runner.context(&parts, arrived);
        parts.extensions.insert(cx.clone());
        let requests = Arc::clone(self.0.source.current(Transport::Plain).request_counts(&method, &route));
        // Allocated, so that the futures of cached responses are small.
        let process = Box::pin(self.process(
            Addressed { route, root, requests: Arc::clone(&requests) },
            method.clone(),
            parts,
            body,
            key,
        ));
        let process = AssertUnwindSafe(process).catch_unwind();
        let failed = |error: &Error| self.failed(&cx, &headers, &method, None, error);
        let (mut response, is_cached) = process.await.unwrap_or_else(|_| (failed(&panicked()), false));
        if let Some(generating) = generating {
            generating.end(is_cached);
        }
        let response = match response.extensions_mut().remove::<LaterBody>() {
            None => response.map(Into::into),
            Some(later) => match AssertUnwindSafe(later.make()).catch_unwind().await {
                Ok(Ok(made)) => response.map(|_| made.into()),
                Ok(Err(error)) => failed(&error).map(Into::into),
                Err(_) => failed(&panicked()).map(Into::into),
            },
        };
        (response, requests)
    }

    /// Reads the body, and responds with the runner's threads. Also returns whether the response is cached.
    async fn process<B>(
        &self,
        addressed: Addressed,
        method: Method,
        parts: Parts,
        body: B,
        key: Option<CacheKey>,
    ) -> (HttpResponse<Full<Bytes>>, bool)
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: std::fmt::Display + Send,
    {
        let Addressed { route, root, requests } = addressed;
        let cx = runner::context_of(&parts.extensions);
        let server = self.server(cx.transport());
        let req = request::head(&parts, route).with_cx(cx.clone());
        let jsonp = match request::jsonp(&req) {
            Jsonp::No => None,
            _ if !server.site().jsonp => {
                let error = Error::new("rest_callback_disabled", "JSONP is disabled on this site.");
                return (plain_error(&server, true, &error.with_status(400)), false);
            }
            Jsonp::Callback(name) => Some(name),
            Jsonp::Invalid => {
                let error = Error::new("rest_callback_invalid", "Invalid JSONP callback function.");
                return (plain_error(&server, true, &error.with_status(400)), false);
            }
        };
        let read = request::body(req.clone(), body, &self.0.limits, &self.0.large).await;
        // The reservation must live as long as the request.
        let (req, body_error, reserved) = match read {
            Ok((read, reserved)) => (read, None, Some(reserved)),
            Err(error) => (req, Some(error), None),
        };
        let (headers, extensions) = (parts.headers.clone(), parts.extensions.clone());
        let cost = server.cost(&req);
        let received = Received {
            req,
            body_error,
            jsonp: jsonp.clone(),
            root,
            method: method.clone(),
            headers,
            extensions,
            key,
            requests,
            cost,
        };
        let service = self.clone();
        let work = async move {
            let _reserved = reserved;
            let cx = received.req.cx().clone();
            AssertUnwindSafe(cx.run(service.dispatch_and_cache(received))).catch_unwind().await
        };
        let error = match runner::run(&*self.0.runner, cost, work).await {
            Ok(Ok(done)) => return done,
            Ok(Err(_)) => panicked(),
            Err(Overloaded) => busy(),
        };
        (self.failed(&cx, &parts.headers, &method, jsonp, &error), false)
    }

    fn cors_lists(&self, server: &Server) -> &CorsLists {
        self.0.cors_lists.get_or_init(|| CorsLists::new(server.site()))
    }

    /// The response to a request whose dispatch failed: the caller is not known, so it has the headers of an anonymous
    /// one, and other origins can read it.
    fn failed(
        &self,
        cx: &Context,
        request_headers: &HeaderMap,
        method: &Method,
        jsonp: Option<String>,
        error: &Error,
    ) -> HttpResponse<Full<Bytes>> {
        let server = self.server(cx.transport());
        let mut response = plain_error(&server, jsonp.is_some(), error);
        if let Some(function) = jsonp {
            let body = error.to_body();
            let format = JsonFormat { jsonp: Some(function), pretty: false };
            if let Ok(script) = response::encode(&body, &format) {
                *response.body_mut() = Full::from(script);
            }
        }
        self.cors_lists(&server).add(response.headers_mut(), request_headers);
        cors::add(&self.0.origins, response.headers_mut(), request_headers, method, false);
        response
    }

    /// Responds to a request, and caches the response if that is possible. Returns whether it is cached.
    async fn dispatch_and_cache(&self, received: Received) -> (HttpResponse<Full<Bytes>>, bool) {
        let cx = received.req.cx().clone();
        cx.renew_stamp(received.key.as_ref().map(|key| key.stamp));
        let (dispatched, mut dependencies) = cx.scope(|part| Box::pin(self.dispatch(received, part))).await;
        let Dispatched { mut response, mut cacheable, is_public } = dispatched;
        if is_public {
            let cached = cacheable.iter_mut().map(|cacheable| &mut cacheable.headers);
            for headers in cached.chain([response.headers_mut()]) {
                self.0.caching.describe(headers, &dependencies);
            }
        }
        let cacheable = cacheable.and_then(|mut cacheable| {
            cacheable.key.stamp = cx.stamp_since(cacheable.key.stamp)?;
            Some(cacheable)
        });
        let is_cached = match (&self.0.response_cache, cacheable) {
            (Some(cache), Some(cacheable)) => {
                dependencies.recheck_after(self.0.cache_lifetime);
                cache.insert(cacheable, dependencies)
            }
            _ => false,
        };
        (response, is_cached)
    }

    /// Authenticates and dispatches a request.
    async fn dispatch(&self, received: Received, cx: Context) -> Dispatched {
        let Received { req, body_error, jsonp, root, method, headers: wire_headers, extensions, key, requests, cost } =
            received;
        let req = req.with_cx(cx.clone());
        let reports_effort = cost == Cost::Heavy && extensions.get::<ReportEffort>().is_some();
        let mut server = self.0.root.apply(self.0.source.updated(&cx));
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
            cost,
            cx: cx.clone(),
            extensions,
        };
        let mut outcome = self.0.authenticator.authenticate(credentials).await;
        let response_extensions = outcome.response_extensions();
        let (req, logged_in, auth_headers, auth_error) = outcome.apply(req);
        // Do not cache rejections: the same URL may succeed with another nonce or password.
        let is_personal = logged_in || auth_error.is_some();
        let is_jsonp = jsonp.is_some();
        let effective_method = req.method().clone();
        let has_markdown = !self.0.caching.is_none()
            && server.endpoint_for(&effective_method, req.route()).is_some_and(|(_, endpoint)| endpoint.has_markdown());
        let format = JsonFormat { jsonp, pretty: wants_pretty(&req) };
        // With hooks on final responses, which see the CORS headers, the response differs between origins.
        let is_filtered = server.filters_final_responses();
        let add_cors = |served: &mut Served| {
            if is_filtered {
                cors::add_to(&self.0.origins, &mut served.headers, &wire_headers, &method, logged_in);
            }
        };
        let served = match auth_error.or(body_error) {
            Some(error) => Box::pin(server.serve_error_with(req, error, add_cors)).await,
            // Allocated, because the futures around this one are moved.
            None => Box::pin(server.serve_with(req, add_cors)).await,
        };

        if !effective_method.is_safe() {
            // The write may have changed the URLs of the API, by which the next request is recognized.
            self.0.source.updated(&cx);
        }

        let mut out = response::common_headers(&server, is_jsonp);
        self.cors_lists(&server).add(&mut out, &wire_headers);
        response::notices(&mut out, site, &served.notices);
        for (name, value) in &auth_headers {
            response::set(&mut out, name, value);
        }
        let (key, cacheable) = (key.filter(|_| served.cacheable), served.cacheable);
        let denial = DenialCode::of(&served);
        let Content { status, mut headers, body, later } =
            response::content(out, served, &format, &effective_method, site.append_root_link);
        let is_public = !is_personal
            && !self.0.caching.is_none()
            && cacheable
            && effective_method == Method::GET
            && !conditional::has_credentials(&wire_headers, &nonce_header);
        if is_personal {
            response::forbid_caching(&mut headers);
        } else if is_public {
            // A cache must not give the response to a caller who is logged in.
            let accept = if has_markdown { "Accept, " } else { "" };
            self.0.caching.allow(&mut headers, &format!("{accept}Authorization, Cookie, {nonce_header}"));
        }
        // The hooks may have been registered since the key was made.
        let key = key.filter(|key| status == StatusCode::OK && later.is_none() && key.has_origin == is_filtered);
        let cacheable =
            key.map(|key| Cacheable { key, requests, logged_in, headers: headers.clone(), body: body.clone() });
        if !is_filtered {
            cors::add(&self.0.origins, &mut headers, &wire_headers, &method, logged_in);
        }
        let mut response = conditional::respond(&wire_headers, &method, response::finish(status, headers, body));
        *response.extensions_mut() = response_extensions;
        if reports_effort {
            response.extensions_mut().insert(Effort::Heavy);
        }
        if let Some(code) = denial {
            response.extensions_mut().insert(code);
        }
        if let Some(later) = later.filter(|_| response.status() != StatusCode::NOT_MODIFIED) {
            response.extensions_mut().insert(later);
        }
        Dispatched { response, cacheable, is_public }
    }
}

/// The response to a request that was dispatched.
struct Dispatched {
    response: HttpResponse<Full<Bytes>>,
    /// What can be cached of it.
    cacheable: Option<Cacheable>,
    /// Whether caches in front of the server may use it.
    is_public: bool,
}

/// The code of the error in a response with status 401 or 403, such as `rest_forbidden`: an extension of the response, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenialCode(pub String);

impl DenialCode {
    fn of(served: &Served) -> Option<Self> {
        match &served.body {
            Body::Json(error) if matches!(served.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                error.get("code")?.as_str().map(|code| DenialCode(code.to_owned()))
            }
            _ => None,
        }
    }
}

/// What a response has cost, if that differs from others: an extension of responses to requests with the extension [`ReportEffort`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// It is from a cache.
    Cached,
    /// It has taken long, such as a search in texts.
    Heavy,
}

/// Request extension that asks for the [`Effort`] of the response.
#[derive(Clone, Copy, Debug)]
pub struct ReportEffort;

impl Effort {
    /// Adds this to the response, if the request with these extensions asks for it.
    pub fn report<B>(self, request: &http::Extensions, response: &mut HttpResponse<B>) {
        if request.get::<ReportEffort>().is_some() {
            response.extensions_mut().insert(self);
        }
    }
}

/// What a request is for.
struct Addressed {
    route: String,
    /// The root URL that the request's host selects.
    root: Option<String>,
    /// Numbers of the requests of the route.
    requests: Arc<RouteCounts>,
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
    extensions: http::Extensions,
    key: Option<CacheKey>,
    requests: Arc<RouteCounts>,
    cost: Cost,
}

/// The error of a request whose handler panicked. The panic hook has already logged message and location.
fn panicked() -> Error {
    tracing::error!("request handler panicked");
    Error::new("rest_internal_error", "Something went wrong on the server.").with_status(500)
}

fn wants_pretty(req: &Request) -> bool {
    req.has_param("_pretty")
}

/// An error response without dispatch.
fn plain_error(server: &Server, is_jsonp: bool, error: &Error) -> HttpResponse<Full<Bytes>> {
    let body = error.to_body();
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

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<B>) -> Self::Future {
        let service = self.clone();
        let route = RouteUrls::normalize(request.uri().path());
        Box::pin(async move { Ok(service.respond(route, request).await) })
    }
}
