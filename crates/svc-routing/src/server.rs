//! The built server: dispatches requests and produces the final responses.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use svc_schema::{Embed, Error, Notice, parse_embed};

use crate::endpoint::{BoundEndpoint, RouteEntry};
use crate::error::{batch_not_allowed, internal_error, no_route, too_deep};
use crate::field::ExtraFields;
use crate::handler::BoxFuture;
use crate::hooks::FrozenHooks;
use crate::links::Curie;
use crate::matcher::Matcher;
use crate::response::{Body, Served};
use crate::site::SiteInfo;
use crate::urls::{ApiUrls, ServerUrls};
use crate::validate::{for_permission, prepare};
use crate::{Map, Request, Response, Result};

/// Dispatches requests: the server's own dispatcher, or one that the `server` hook wraps around it.
pub trait Dispatch: Send + Sync {
    /// Responds to a request.
    fn dispatch(&self, req: Request) -> BoxFuture<Response>;
}

/// Routes, hooks and fields, immutable. Cheap to clone and free of locks.
#[derive(Clone)]
pub struct Server {
    frozen: Arc<Frozen>,
    wrapped: Option<Arc<dyn Dispatch>>,
    urls: ServerUrls,
}

struct Frozen {
    site: SiteInfo,
    curies: Vec<Curie>,
    hooks: FrozenHooks,
    routes: Vec<Arc<RouteEntry>>,
    namespaces: Vec<String>,
    matcher: Matcher,
    fields: ExtraFields,
    notices: Vec<Notice>,
    /// True if no hook or extra field can change responses, so they may be cached.
    cacheable: bool,
}

/// The server's own dispatcher.
struct OwnDispatcher(Server);

impl Dispatch for OwnDispatcher {
    fn dispatch(&self, req: Request) -> BoxFuture<Response> {
        // The request's server may have other URLs.
        let server = req.server().unwrap_or(&self.0).clone();
        Box::pin(async move { server.dispatch_directly(req).await })
    }
}

/// The matched route and endpoint of a request.
struct RouteMatch {
    route: Arc<RouteEntry>,
    endpoint_idx: usize,
    url: Map,
}

impl RouteMatch {
    fn endpoint(&self) -> &Arc<BoundEndpoint> {
        &self.route.endpoints[self.endpoint_idx]
    }

    /// The request with its URL parameters, its defaults and its endpoint.
    fn attach(&self, req: Request) -> Request {
        let endpoint = self.endpoint();
        req.with_endpoint(self.url.clone(), endpoint.defaults.clone(), Some(Arc::clone(endpoint)))
    }

    fn tag(&self, mut res: Response) -> Response {
        res.route = Some(Arc::clone(&self.route));
        res.endpoint = Some(self.endpoint_idx);
        res
    }
}

/// Construction and registered objects.
impl Server {
    pub(crate) fn freeze(
        site: SiteInfo,
        hooks: FrozenHooks,
        routes: Vec<Arc<RouteEntry>>,
        namespaces: Vec<String>,
        matcher: Matcher,
        fields: ExtraFields,
        notices: Vec<Notice>,
    ) -> Self {
        let curies = site.curies();
        let cacheable = !site.debug && fields.is_empty() && !hooks.can_change_responses();
        let urls = ServerUrls::new(Arc::clone(&site.urls));
        let frozen = Frozen { site, curies, hooks, routes, namespaces, matcher, fields, notices, cacheable };
        let plain = Self { frozen: Arc::new(frozen), wrapped: None, urls };
        let wrapped = plain.frozen.hooks.wrap(Arc::new(OwnDispatcher(plain.clone())));
        Self { wrapped, ..plain }
    }

    /// The site's information.
    pub fn site(&self) -> &SiteInfo {
        &self.frozen.site
    }

    pub(crate) fn hooks(&self) -> &FrozenHooks {
        &self.frozen.hooks
    }

    /// All routes, in order of registration.
    pub fn routes(&self) -> impl Iterator<Item = &RouteEntry> {
        self.frozen.routes.iter().map(AsRef::as_ref)
    }

    /// The route with this pattern.
    pub fn route(&self, pattern: &str) -> Option<&RouteEntry> {
        self.routes().find(|route| route.pattern == pattern)
    }

    /// All namespaces, in order of registration.
    pub fn namespaces(&self) -> &[String] {
        &self.frozen.namespaces
    }

    /// The additional fields.
    pub fn fields(&self) -> &ExtraFields {
        &self.frozen.fields
    }

    /// The developer notices of start-up.
    pub fn notices(&self) -> &[Notice] {
        &self.frozen.notices
    }

    /// The CURIEs that abbreviate relations.
    pub fn curies(&self) -> &[Curie] {
        &self.frozen.curies
    }
}

/// URLs.
impl Server {
    /// The same server with other URLs, such as those of the host that a request was sent to.
    #[must_use]
    pub fn with_urls(&self, urls: impl ApiUrls + 'static) -> Self {
        Self { urls: ServerUrls::new(Arc::new(urls)), ..self.clone() }
    }

    /// The URL of the API root.
    pub fn root_url(&self) -> &str {
        &self.urls.root
    }

    /// The path of the site, without trailing slash; empty at the root of a host.
    pub fn site_path(&self) -> &str {
        &self.urls.site_path
    }

    /// The prefix of API paths below the site's path: `svc-json`.
    pub fn url_prefix(&self) -> &str {
        &self.urls.prefix
    }

    /// The URL of a path below the API root. The path may have a query; a missing leading slash is added.
    pub fn rest_url(&self, path: &str) -> String {
        self.urls.url(path)
    }

    /// The route and query of a URL of this API, in either form; `None` for other URLs.
    pub fn route_of(&self, url: &str) -> Option<(String, Map)> {
        self.urls.route_of(url)
    }
}

/// Dispatch.
impl Server {
    /// Responds to a request: hooks, matching, arguments, permission, handler, `Allow`, `_fields`. HTTP requests,
    /// embeds, batch requests and preloads all use this.
    pub async fn dispatch(&self, req: Request) -> Response {
        let req = self.attach_server(req);
        match &self.wrapped {
            Some(wrapped) => wrapped.dispatch(req).await,
            None => self.dispatch_directly(req).await,
        }
    }

    fn attach_server(&self, req: Request) -> Request {
        let site = &self.frozen.site;
        req.with_server(self, site.debug).with_param_order(site.param_order)
    }

    async fn dispatch_directly(&self, req: Request) -> Response {
        let (res, req) = self.handle(req).await;
        self.post_dispatch(res, &req).await
    }

    /// Responds with an error that occurred before dispatch (failed authentication), using the same hooks.
    async fn dispatch_error(&self, req: Request, error: Error) -> Response {
        let req = self.attach_server(req);
        self.post_dispatch(error.into(), &req).await
    }

    /// The response, and the request as passed to its handler.
    async fn handle(&self, req: Request) -> (Response, Request) {
        if req.depth() > crate::embed::MAX_DEPTH {
            req.mark_uncacheable();
            return (too_deep().into(), req);
        }
        let hooks = &self.frozen.hooks;
        if let Some(result) = hooks.run_pre_dispatch(&req, true).await {
            return (result.into(), req);
        }
        if *req.method() == Method::OPTIONS {
            req.mark_uncacheable();
            return self.describe(req);
        }
        if let Some(result) = hooks.run_pre_dispatch(&req, false).await {
            return (result.into(), req);
        }
        let Some(matched) = self.find(&req) else { return (no_route().into(), req) };
        if !matched.endpoint().cacheable {
            req.mark_uncacheable();
        }
        match prepare(matched.attach(req), matched.endpoint()) {
            Ok(req) => (matched.tag(self.run(matched.endpoint(), &req).await), req),
            Err((req, error)) => (matched.tag(error.into()), req),
        }
    }

    /// Calls permission and handler. A panic in either becomes a 500.
    async fn run(&self, endpoint: &BoundEndpoint, req: &Request) -> Response {
        let work = async {
            let authorized = endpoint.invoke.authorize(req.clone()).await?;
            let exact = authorized.exact;
            let mut res: Response = endpoint.invoke.call(req.clone(), authorized).await.into();
            res.exactly_authorized = exact;
            Ok::<_, Error>(res)
        };
        match AssertUnwindSafe(work).catch_unwind().await {
            Ok(result) => result.into(),
            Err(panic) => {
                tracing::error!(route = req.route(), method = %req.method(), panic = panic_text(&panic), "handler panicked");
                internal_error().into()
            }
        }
    }

    /// The first route in order of registration whose pattern matches and that has an endpoint for the method.
    fn find(&self, req: &Request) -> Option<RouteMatch> {
        self.frozen.matcher.find(req.route(), |route_idx, captures| {
            let route = &self.frozen.routes[route_idx];
            let endpoint_idx = route.endpoints.iter().position(|e| e.handles(req.method()))?;
            Some(RouteMatch { route: Arc::clone(route), endpoint_idx, url: captures.to_map() })
        })
    }

    /// Responds to `OPTIONS` with the description of the first matching route, or an empty list.
    fn describe(&self, req: Request) -> (Response, Request) {
        let matched = self
            .frozen
            .matcher
            .find(req.route(), |idx, captures| Some((Arc::clone(&self.frozen.routes[idx]), captures.to_map())));
        let Some((route, url)) = matched else { return (Response::new(json!([])), req) };
        let data = crate::options::describe_route(&route, true, |path| self.rest_url(path));
        let mut res = Response::new(data.unwrap_or_default());
        res.route = Some(route);
        (res, req.with_endpoint(url, Map::new(), None))
    }

    async fn post_dispatch(&self, res: Response, req: &Request) -> Response {
        let hooks = &self.frozen.hooks;
        let mut res = hooks.run_post_dispatch(res, req, true);
        if let Some(route) = res.route.clone() {
            let in_context = res.context.map(|context| req.clone().with_param("context", context));
            let allowed = self.allowed(&route, in_context.as_ref().unwrap_or(req), res.known_authorization(req)).await;
            if !allowed.is_empty() {
                res.headers.set("Allow", allowed.join(", "));
            }
            res.allowed = Some(allowed);
        }
        if !res.is_error()
            && (res.data.is_array() || res.data.is_object())
            && let Some(fields) = req.fields()
        {
            res.data = fields.trim(res.data);
        }
        hooks.run_post_dispatch(res, req, false)
    }

    /// The methods of the route that its permission callbacks allow, in order. `known` is an endpoint whose permission
    /// was already called, and the result.
    async fn allowed(&self, route: &RouteEntry, req: &Request, known: Option<(usize, bool)>) -> Vec<String> {
        let mut allowed: Vec<String> = Vec::new();
        for (idx, endpoint) in route.endpoints.iter().enumerate() {
            if endpoint.methods.iter().all(|m| allowed.iter().any(|a| a == m.as_str())) {
                continue;
            }
            let authorized = match known {
                Some((known_idx, exact)) if known_idx == idx => exact,
                _ if !endpoint.has_permission => true,
                _ => self.is_allowed(endpoint, req).await,
            };
            if authorized {
                for method in &endpoint.methods {
                    if !allowed.iter().any(|a| a == method.as_str()) {
                        allowed.push(method.as_str().to_owned());
                    }
                }
            }
        }
        allowed
    }

    async fn is_allowed(&self, endpoint: &Arc<BoundEndpoint>, req: &Request) -> bool {
        let permission = async { endpoint.invoke.authorize(for_permission(req, endpoint)).await };
        match AssertUnwindSafe(permission).catch_unwind().await {
            Ok(result) => result.is_ok_and(|authorized| authorized.exact),
            Err(panic) => {
                tracing::error!(route = req.route(), panic = panic_text(&panic), "permission callback panicked");
                false
            }
        }
    }

    /// The maximum of `per_page` for the collection at this request's route.
    pub(crate) fn max_per_page(&self, req: &Request) -> Option<u64> {
        let matched = self.find(req)?;
        matched.endpoint().args.get("per_page")?.source().get("maximum")?.as_u64()
    }

    /// Validates a request of a batch without running it.
    pub(crate) fn validate_batched(&self, req: &Request) -> Result<()> {
        let matched = self.find(req).ok_or_else(no_route)?;
        if !matched.endpoint().allow_batch {
            return Err(batch_not_allowed());
        }
        prepare(matched.attach(self.attach_server(req.clone())), matched.endpoint())
            .map(|_| ())
            .map_err(|(_, error)| error)
    }

    /// Dispatches a request of a batch.
    pub(crate) async fn dispatch_batched(&self, req: Request) -> Response {
        match self.find(&req).filter(|matched| !matched.endpoint().allow_batch) {
            Some(matched) => {
                let req = matched.attach(self.attach_server(req));
                self.post_dispatch(matched.tag(batch_not_allowed().into()), &req).await
            }
            None => self.dispatch(req).await,
        }
    }
}

/// The message of a panic.
fn panic_text(panic: &Box<dyn std::any::Any + Send>) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}

/// Final responses.
impl Server {
    /// Responds to a client's request: dispatch, `_envelope`, links, `_embed`.
    pub async fn serve(&self, req: Request) -> Served {
        let req = self.attach_server(req);
        let res = self.dispatch(req.clone()).await;
        self.finish(res, &req).await
    }

    /// Responds to a request that was rejected before dispatch.
    pub async fn serve_error(&self, req: Request, error: Error) -> Served {
        let req = self.attach_server(req);
        let res = self.dispatch_error(req.clone(), error).await;
        self.finish(res, &req).await
    }

    async fn finish(&self, res: Response, req: &Request) -> Served {
        let query = &req.params().query;
        let wanted = query.get("_embed").map(parse_embed);
        let mut served = if req.is_head() {
            let enveloped = query.contains_key("_envelope");
            let (status, mut headers) = if enveloped { Default::default() } else { (res.status, res.headers) };
            if let Some(raw) = &res.raw {
                headers.set("Content-Type", &raw.content_type);
            }
            Served { status, headers, body: Body::Empty, ..Served::default() }
        } else if let Some(raw) = &res.raw {
            Served { status: res.status, body: Body::Raw(raw.clone()), headers: res.headers, ..Served::default() }
        } else if query.contains_key("_envelope") {
            let (status, headers) = (res.status, res.headers.to_value());
            let data = self.to_data(res, wanted.as_ref(), req).await;
            let body = Body::Json(envelope(data, status, headers));
            Served { status: StatusCode::OK, headers: Default::default(), body, ..Served::default() }
        } else {
            let (status, headers) = (res.status, res.headers.clone());
            let body = match self.to_data(res, wanted.as_ref(), req).await {
                _ if status == StatusCode::NO_CONTENT => Body::Empty,
                Value::Null => Body::Empty,
                data => Body::Json(data),
            };
            Served { status, headers, body, ..Served::default() }
        };
        served.cacheable = served.status == StatusCode::OK
            && *req.method() == Method::GET
            && self.frozen.cacheable
            && !req.is_uncacheable();
        self.frozen.hooks.run_pre_serve(&mut served, req);
        if self.frozen.site.debug {
            served.notices = [self.frozen.notices.clone(), req.notices()].concat();
        }
        served
    }

    /// The data of a response with its links, and with the targets of the `wanted` relations embedded.
    pub(crate) async fn to_data(&self, mut res: Response, wanted: Option<&Embed>, req: &Request) -> Value {
        self.add_hints(&mut res, req).await;
        let data = self.data_with_links(res);
        match wanted {
            Some(wanted) => Box::pin(crate::embed::embed(self, req, data, wanted)).await,
            None => data,
        }
    }

    /// The data with `_links`. They are omitted if the data is neither an object nor empty.
    pub(crate) fn data_with_links(&self, res: Response) -> Value {
        let Some(links) = res.links.to_value(&self.frozen.curies) else { return res.data };
        match res.data {
            Value::Object(mut map) => {
                map.insert("_links".to_owned(), links.into());
                map.into()
            }
            Value::Array(list) if list.is_empty() => json!({ "_links": links }),
            other => other,
        }
    }

    /// Adds the methods that the caller may use to the `self` links.
    async fn add_hints(&self, res: &mut Response, req: &Request) {
        let known = res.allowed.take();
        for link in res.links.unhinted_self() {
            let is_same_route =
                self.route_of(link.href()).is_some_and(|(route, query)| route == req.route() && query.is_empty());
            let allowed = match &known {
                // Already determined for the same object.
                Some(allowed) if is_same_route && is_read(req.method()) => Some(allowed.clone()),
                _ => self.target_hints(req, link.href()).await,
            };
            if let Some(allowed) = allowed.filter(|a| !a.is_empty()) {
                *link = link.clone().allow(allowed.iter().map(String::as_str));
            }
        }
    }

    /// The methods that the caller of `req` may use on the target of a link; `None` if the URL does not belong to the
    /// API or the target is not readable.
    pub async fn target_hints(&self, req: &Request, href: &str) -> Option<Vec<String>> {
        if req.depth() >= crate::embed::MAX_DEPTH {
            return None;
        }
        let (route, query) = self.route_of(href)?;
        let sub = self.attach_server(req.sub_request(Method::GET, route).with_query(query));
        let matched = self.find(&sub)?;
        let sub = prepare(matched.attach(sub), matched.endpoint()).ok()?;
        Some(self.allowed(&matched.route, &sub, None).await).filter(|allowed| !allowed.is_empty())
    }

    /// Preloads paths that a page is going to request. Returns a map from path to `{body, headers}`; entries of
    /// `OPTIONS` requests are nested under `OPTIONS`. All requests have the caller of `caller`. Each path is requested
    /// once, with `GET` unless `OPTIONS` is given, so preloading changes nothing. Responses other than 200 are omitted.
    pub async fn preload(&self, paths: &[(Method, &str)], caller: &Request) -> Map {
        let caller = self.attach_server(caller.clone());
        let mut out = Map::new();
        for (method, path) in paths {
            let options = *method == Method::OPTIONS;
            if path.is_empty() {
                continue;
            }
            let path = path.trim_end_matches('/');
            let (route, query) = path.split_once('?').map_or((path, None), |(route, query)| (route, Some(query)));
            let route = match route.trim_end_matches('/') {
                "" => "/",
                route => route,
            };
            let key = &query.map_or(route.to_owned(), |query| format!("{route}?{query}"));
            let existing = if options { out.get("OPTIONS").and_then(|nested| nested.get(key)) } else { out.get(key) };
            if existing.is_some() {
                continue;
            }
            let method = if options { Method::OPTIONS } else { Method::GET };
            let req = caller.sub_request(method, route).with_query_string(query.unwrap_or_default());
            let res = self.dispatch(req.clone()).await;
            if res.status != StatusCode::OK {
                continue;
            }
            let headers = res.headers.to_value();
            let wanted = req.params().query.get("_embed").map(parse_embed);
            let entry = json!({ "body": self.to_data(res, wanted.as_ref(), &req).await, "headers": headers });
            if options {
                let nested = out.entry("OPTIONS").or_insert_with(|| json!({}));
                nested[key] = entry;
            } else {
                out.insert(key.to_owned(), entry);
            }
        }
        out
    }
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Combines body, status and headers.
pub(crate) fn envelope(body: Value, status: StatusCode, headers: Value) -> Value {
    json!({ "body": body, "status": status.as_u16(), "headers": headers })
}

impl Response {
    /// The called endpoint and its permission's result, if it is still valid: a request that writes may have changed
    /// it.
    fn known_authorization(&self, req: &Request) -> Option<(usize, bool)> {
        let idx = self.endpoint?;
        (self.error.is_none() && is_read(req.method())).then_some((idx, self.exactly_authorized))
    }
}
