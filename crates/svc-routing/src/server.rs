//! The frozen server: dispatch of requests, and what stands around it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use svc_schema::{Embed, Error, Notice, parse_embed};

use crate::endpoint::{Bound, RouteEntry};
use crate::error::{ObjectRef, batch_not_allowed, internal_error, no_route, too_deep};
use crate::field::ExtraFields;
use crate::handler::BoxFuture;
use crate::hooks::{FrozenHooks, UrlContext};
use crate::links::Curie;
use crate::matcher::Matcher;
use crate::response::{Body, Served};
use crate::site::SiteInfo;
use crate::validate::{for_permission, prepare};
use crate::{Map, Request, Response, Result};

/// Something that answers requests: the server's own dispatcher, or what the `server` hook put around it.
pub trait Dispatch: Send + Sync {
    /// Answers a request.
    fn dispatch(&self, req: Request) -> BoxFuture<Response>;
}

/// Routes, hooks and fields, frozen. Cheap to clone; nothing in it is locked.
#[derive(Clone)]
pub struct Server {
    frozen: Arc<Frozen>,
    wrapped: Option<Arc<dyn Dispatch>>,
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
    url_prefix: String,
    /// Nothing that is not known here has a word in answers.
    cacheable: bool,
}

/// The server's own dispatcher.
struct Core(Server);

impl Dispatch for Core {
    fn dispatch(&self, req: Request) -> BoxFuture<Response> {
        let server = self.0.clone();
        Box::pin(async move { server.dispatch_here(req).await })
    }
}

/// A route that answers a request, and which of its handler groups.
struct Found {
    route: Arc<RouteEntry>,
    endpoint_idx: usize,
    url: Map,
}

impl Found {
    fn endpoint(&self) -> &Arc<Bound> {
        &self.route.endpoints[self.endpoint_idx]
    }

    /// The request with its URL parameters, its defaults and its handler group.
    fn attach(&self, req: Request) -> Request {
        let endpoint = self.endpoint();
        req.with_endpoint(self.url.clone(), endpoint.defaults.clone(), Some(Arc::clone(endpoint)))
    }

    fn mark(&self, mut res: Response) -> Response {
        res.route = Some(Arc::clone(&self.route));
        res.endpoint = Some(self.endpoint_idx);
        res
    }
}

/// Start-up and what is registered.
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
        let url_prefix = hooks.run_url_prefix(site.brand.prefix());
        let curies = site.curies();
        let cacheable = !site.debug && fields.is_empty() && !hooks.see_answers();
        let frozen =
            Frozen { site, curies, hooks, routes, namespaces, matcher, fields, notices, url_prefix, cacheable };
        let plain = Self { frozen: Arc::new(frozen), wrapped: None };
        let wrapped = plain.frozen.hooks.wrap(Arc::new(Core(plain.clone())));
        Self { wrapped, ..plain }
    }

    /// The facts of the site.
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

    /// The curies that shorten relations.
    pub fn curies(&self) -> &[Curie] {
        &self.frozen.curies
    }
}

/// Addresses and the filters that are not about a request.
impl Server {
    /// The prefix of addresses: `svc-json`, or what a hook made of it.
    pub fn url_prefix(&self) -> &str {
        &self.frozen.url_prefix
    }

    /// The address of a path (which may have a query) under the interface root. The path is made to begin with one slash.
    pub fn rest_url(&self, path: &str) -> String {
        self.rest_url_for(path, 0, "rest")
    }

    /// As [`rest_url`](Server::rest_url), with what the `url` hook is told.
    pub fn rest_url_for(&self, path: &str, blog_id: u64, scheme: &str) -> String {
        let path = format!("/{}", path.trim_start_matches('/'));
        let root = self.frozen.site.rest_url.trim_end_matches('/');
        let url = match path.split_once('?') {
            // The root of a site without rewriting has a query already.
            Some((path, query)) if root.contains('?') => format!("{root}{path}&{query}"),
            _ => format!("{root}{path}"),
        };
        self.frozen.hooks.run_url(url, &UrlContext { path: &path, blog_id, scheme })
    }

    /// The route and query of an address of this interface, in either shape of address; `None` for other addresses.
    pub fn route_of(&self, url: &str) -> Option<(String, Map)> {
        let url = url.split('#').next().unwrap_or_default();
        let root = self.frozen.site.rest_url.trim_end_matches('/');
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let mut query = svc_php::query::parse(query.as_bytes());
        if !root.contains('?')
            && let Some(route) = path.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/'))
        {
            return Some((if route.is_empty() { "/".to_owned() } else { route.to_owned() }, query));
        }
        if origin(url)? != origin(root)? {
            return None;
        }
        match query.shift_remove("rest_route") {
            Some(Value::String(route)) if route.starts_with('/') => Some((route, query)),
            _ => None,
        }
    }

    /// The sizes of avatars in pixels.
    pub fn avatar_sizes(&self) -> Vec<u32> {
        self.frozen.hooks.run_avatar_sizes(vec![24, 48, 96])
    }

    /// A post's route, after the filter.
    pub fn route_for_post(&self, route: String, post: &ObjectRef) -> String {
        self.frozen.hooks.run_route_for_post(route, post)
    }

    /// A term's route, after the filter.
    pub fn route_for_term(&self, route: String, term: &ObjectRef) -> String {
        self.frozen.hooks.run_route_for_term(route, term)
    }

    /// The route of the resource that a page of the site shows, after the filter.
    pub fn queried_resource_route(&self, route: String) -> String {
        self.frozen.hooks.run_queried_resource_route(route)
    }
}

/// Scheme and host of an address.
fn origin(url: &str) -> Option<&str> {
    let start = url.find("://")? + 3;
    let len = url[start..].find(['/', '?', '#']).unwrap_or(url.len() - start);
    url.get(..start + len)
}

/// Dispatch.
impl Server {
    /// Answers a request: hooks, match, arguments, permission, handler, `Allow`, `_fields`. Requests over HTTP, embeds,
    /// parts of batches and preloads all come through here.
    pub async fn dispatch(&self, req: Request) -> Response {
        let req = self.adopt(req);
        match &self.wrapped {
            Some(wrapped) => wrapped.dispatch(req).await,
            None => self.dispatch_here(req).await,
        }
    }

    fn adopt(&self, req: Request) -> Request {
        let site = &self.frozen.site;
        req.with_server(self, site.debug).with_param_order(site.param_order)
    }

    async fn dispatch_here(&self, req: Request) -> Response {
        let (res, req) = self.handle(req).await;
        self.post_dispatch(res, &req).await
    }

    /// Answers what an error said before the request could be dispatched (failed authentication), through the same hooks.
    pub async fn refuse(&self, req: Request, error: Error) -> Response {
        let req = self.adopt(req);
        self.post_dispatch(error.into(), &req).await
    }

    /// The response, and the request as its handler saw it.
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
        let Some(found) = self.find(&req) else { return (no_route().into(), req) };
        if !found.endpoint().cacheable {
            req.mark_uncacheable();
        }
        match prepare(found.attach(req), found.endpoint()) {
            Ok(req) => (found.mark(self.run(found.endpoint(), &req).await), req),
            Err((req, error)) => (found.mark(error.into()), req),
        }
    }

    /// Permission, then handler. A panic in either is a 500.
    async fn run(&self, endpoint: &Bound, req: &Request) -> Response {
        let work = async {
            let granted = endpoint.invoke.permit(req.clone()).await?;
            let exact = granted.exact;
            let mut res: Response = endpoint.invoke.call(req.clone(), granted).await.into();
            res.exactly_granted = exact;
            Ok::<_, Error>(res)
        };
        match AssertUnwindSafe(work).catch_unwind().await {
            Ok(result) => result.into(),
            Err(panic) => {
                tracing::error!(route = req.route(), method = %req.method(), panic = panic_text(&panic), "a handler panicked");
                internal_error().into()
            }
        }
    }

    /// The first route, in order of registration, whose pattern matches and that serves the method.
    fn find(&self, req: &Request) -> Option<Found> {
        self.frozen.matcher.find(req.route(), |route_idx, captures| {
            let route = &self.frozen.routes[route_idx];
            let endpoint_idx = route.endpoints.iter().position(|e| e.serves(req.method()))?;
            Some(Found { route: Arc::clone(route), endpoint_idx, url: captures.to_map() })
        })
    }

    /// Answers `OPTIONS`: the description of the first route that matches; an empty list when none does.
    fn describe(&self, req: Request) -> (Response, Request) {
        let found = self
            .frozen
            .matcher
            .find(req.route(), |idx, captures| Some((Arc::clone(&self.frozen.routes[idx]), captures.to_map())));
        let Some((route, url)) = found else { return (Response::new(json!([])), req) };
        let data = crate::options::describe_route(&route, true, |path| self.rest_url(path));
        let mut res = Response::new(data.unwrap_or_default());
        res.route = Some(route);
        (res, req.with_endpoint(url, Map::new(), None))
    }

    async fn post_dispatch(&self, res: Response, req: &Request) -> Response {
        let hooks = &self.frozen.hooks;
        let mut res = hooks.run_post_dispatch(res, req, true);
        if let Some(route) = res.route.clone() {
            let shown = res.context.map(|context| req.clone().with_param("context", context));
            let allowed = self.allowed(&route, shown.as_ref().unwrap_or(req), res.known_grant(req)).await;
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

    /// The methods of the route that its permission callbacks grant, in order. `known` is a handler group whose
    /// permission has been asked already, and what it said.
    async fn allowed(&self, route: &RouteEntry, req: &Request, known: Option<(usize, bool)>) -> Vec<String> {
        let mut allowed: Vec<String> = Vec::new();
        for (idx, endpoint) in route.endpoints.iter().enumerate() {
            if endpoint.methods.iter().all(|m| allowed.iter().any(|a| a == m.as_str())) {
                continue;
            }
            let granted = match known {
                Some((known_idx, exact)) if known_idx == idx => exact,
                _ if !endpoint.has_permission => true,
                _ => self.grants(endpoint, req).await,
            };
            if granted {
                for method in &endpoint.methods {
                    if !allowed.iter().any(|a| a == method.as_str()) {
                        allowed.push(method.as_str().to_owned());
                    }
                }
            }
        }
        allowed
    }

    async fn grants(&self, endpoint: &Arc<Bound>, req: &Request) -> bool {
        let asked = async { endpoint.invoke.permit(for_permission(req, endpoint)).await };
        match AssertUnwindSafe(asked).catch_unwind().await {
            Ok(result) => result.is_ok_and(|granted| granted.exact),
            Err(panic) => {
                tracing::error!(route = req.route(), panic = panic_text(&panic), "a permission callback panicked");
                false
            }
        }
    }

    /// The largest page that the collection at this request's route serves.
    pub(crate) fn most_per_page(&self, req: &Request) -> Option<u64> {
        let found = self.find(req)?;
        found.endpoint().args.get("per_page")?.source().get("maximum")?.as_u64()
    }

    /// Checks a part of a batch without running it.
    pub(crate) fn validate_batched(&self, req: &Request) -> Result<()> {
        let found = self.find(req).ok_or_else(no_route)?;
        if !found.endpoint().allow_batch {
            return Err(batch_not_allowed());
        }
        prepare(found.attach(self.adopt(req.clone())), found.endpoint()).map(|_| ()).map_err(|(_, error)| error)
    }

    /// Dispatches a part of a batch.
    pub(crate) async fn dispatch_batched(&self, req: Request) -> Response {
        match self.find(&req).filter(|found| !found.endpoint().allow_batch) {
            Some(found) => {
                let req = found.attach(self.adopt(req));
                self.post_dispatch(found.mark(batch_not_allowed().into()), &req).await
            }
            None => self.dispatch(req).await,
        }
    }
}

/// What a panic said.
fn panic_text(panic: &Box<dyn std::any::Any + Send>) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}

/// From the response to what goes out.
impl Server {
    /// Answers a request from outside: dispatch, `_envelope`, links, `_embed`.
    pub async fn serve(&self, req: Request) -> Served {
        let req = self.adopt(req);
        let res = self.dispatch(req.clone()).await;
        self.finish(res, &req).await
    }

    /// Answers a request that was refused before dispatch.
    pub async fn serve_error(&self, req: Request, error: Error) -> Served {
        let req = self.adopt(req);
        let res = self.refuse(req.clone(), error).await;
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

    /// The data of a response with its links, and with the targets that `wanted` names embedded.
    pub async fn to_data(&self, mut res: Response, wanted: Option<&Embed>, req: &Request) -> Value {
        self.add_hints(&mut res, req).await;
        let data = self.data_with_links(res);
        match wanted {
            Some(wanted) => Box::pin(crate::embed::embed(self, req, data, wanted)).await,
            None => data,
        }
    }

    /// The data with `_links`. Data that is neither a map nor empty keeps none.
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

    /// Says at the `self` links which methods the caller may use there.
    async fn add_hints(&self, res: &mut Response, req: &Request) {
        let known = res.allowed.take();
        for link in res.links.unhinted_self() {
            let own = self.route_of(link.href()).is_some_and(|(route, query)| route == req.route() && query.is_empty());
            let allowed = match &known {
                // Asked just now, for the same object.
                Some(allowed) if own && is_read(req.method()) => Some(allowed.clone()),
                _ => self.target_hints(req, link.href()).await,
            };
            if let Some(allowed) = allowed.filter(|a| !a.is_empty()) {
                *link = link.clone().allow(allowed.iter().map(String::as_str));
            }
        }
    }

    /// The methods that the caller of `req` may use on the target of a link; `None` when the address is not of this
    /// interface or cannot be read.
    pub async fn target_hints(&self, req: &Request, href: &str) -> Option<Vec<String>> {
        if req.depth() >= crate::embed::MAX_DEPTH {
            return None;
        }
        let (route, query) = self.route_of(href)?;
        let sub = self.adopt(req.sub_request(Method::GET, route).with_query(query));
        let found = self.find(&sub)?;
        let sub = prepare(found.attach(sub), found.endpoint()).ok()?;
        Some(self.allowed(&found.route, &sub, None).await).filter(|allowed| !allowed.is_empty())
    }

    /// Answers paths ahead of a page that will ask for them: a map from path to `{body, headers}`, those of `OPTIONS`
    /// requests nested under `OPTIONS`. `caller` gives its caller to all. A path is asked for once, by `GET` unless it says
    /// `OPTIONS`: preloading changes nothing. Paths that answer other than 200 are left out.
    pub async fn preload(&self, paths: &[(Method, &str)], caller: &Request) -> Map {
        let caller = self.adopt(caller.clone());
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
            let address = &query.map_or(route.to_owned(), |query| format!("{route}?{query}"));
            let done =
                if options { out.get("OPTIONS").and_then(|nested| nested.get(address)) } else { out.get(address) };
            if done.is_some() {
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
                nested[address] = entry;
            } else {
                out.insert(address.to_owned(), entry);
            }
        }
        out
    }
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Body, status and headers in one.
pub(crate) fn envelope(body: Value, status: StatusCode, headers: Value) -> Value {
    json!({ "body": body, "status": status.as_u16(), "headers": headers })
}

impl Response {
    /// The handler group that was called and its permission's outcome, where that still holds: a request that writes may
    /// have changed it.
    fn known_grant(&self, req: &Request) -> Option<(usize, bool)> {
        let idx = self.endpoint?;
        (self.error.is_none() && is_read(req.method())).then_some((idx, self.exactly_granted))
    }
}
