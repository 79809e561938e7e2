//! Dispatch: matches a request with an endpoint, calls permission and handler, and adds `Allow`.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use http::Method;
use serde_json::json;
use svc_metrics::RouteCounts;
use svc_schema::Error;
use svc_traces::TARGET;
use svc_versions::Context;
use tracing::Instrument as _;

use super::arguments::{for_permission, prepare};
use super::cached::CachedKind;
use super::{MAX_DEPTH, Server};
use crate::handler::{BoxFuture, Dispatch};
use crate::messages::MatchedRoute;
use crate::messages::error::{batch_not_allowed, internal_error, no_route, precondition_unsupported, too_deep};
use crate::routes::has_precondition;
use crate::{BoundEndpoint, CallerKey, Cost, Encoded, EncodedItem, Map, Request, Response, Result, RouteEntry};

/// The server's own dispatcher.
pub(super) struct OwnDispatcher(pub(super) Server);

impl Dispatch for OwnDispatcher {
    fn dispatch(&self, req: Request) -> BoxFuture<Response> {
        // The request's server may have other URLs.
        let server = req.server().unwrap_or_else(|| self.0.clone());
        Box::pin(async move { server.dispatch_directly(req).await })
    }
}

/// The matched route and endpoint of a request.
pub(super) struct RouteMatch<'s> {
    pub(super) route: &'s RouteEntry,
    route_idx: usize,
    endpoint_idx: usize,
    url: Arc<Map>,
}

impl<'s> RouteMatch<'s> {
    pub(super) fn endpoint(&self) -> &'s BoundEndpoint {
        &self.route.endpoints[self.endpoint_idx]
    }

    /// The request with its URL parameters, and the arguments and defaults of its endpoint.
    pub(super) fn attach(&self, req: Request) -> Request {
        let endpoint = self.endpoint();
        let (url, defaults) = (Arc::clone(&self.url), Arc::clone(&endpoint.defaults.values));
        req.with_args(url, defaults, Some(Arc::clone(&endpoint.args)))
    }

    fn tag(&self, mut res: Response) -> Response {
        res.matched = Some(MatchedRoute {
            pattern: Arc::clone(&self.route.pattern),
            route: self.route_idx,
            endpoint: Some(self.endpoint_idx),
        });
        res
    }
}

/// Dispatch.
impl Server {
    /// Responds to a request: hooks, matching, arguments, permission, handler, `Allow`, `_fields`. HTTP requests,
    /// embeds, batch requests and preloads all use this.
    pub async fn dispatch(&self, req: Request) -> Response {
        let req = self.attach_server(req);
        match &self.0.wrapped {
            Some(wrapped) => wrapped.dispatch(req).await,
            None => self.dispatch_directly(req).await,
        }
    }

    pub(super) fn attach_server(&self, req: Request) -> Request {
        let site = self.site();
        req.with_opaque_server(&self.0, site.debug).with_param_order(site.param_order)
    }

    async fn dispatch_directly(&self, req: Request) -> Response {
        let (res, req) = self.handle(req).await;
        let res = if req.takes_encoded() { res } else { res.decoded() };
        self.post_dispatch(res, &req).await
    }

    /// Responds with an error that occurred before dispatch (failed authentication), using the same hooks.
    pub(super) async fn dispatch_error(&self, req: Request, error: Error) -> Response {
        let req = self.attach_server(req);
        self.post_dispatch(error.into(), &req).await
    }

    /// The response, and the request as passed to its handler.
    async fn handle(&self, req: Request) -> (Response, Request) {
        if req.depth() > MAX_DEPTH {
            req.mark_uncacheable();
            return (too_deep().into(), req);
        }
        let hooks = self.hooks();
        if let Some(result) = hooks.run_pre_dispatch(&req, true).await {
            return (result.into(), req);
        }
        if *req.method() == Method::OPTIONS {
            return self.describe(req).await;
        }
        if let Some(result) = hooks.run_pre_dispatch(&req, false).await {
            return (result.into(), req);
        }
        let Some(matched) = self.find(&req) else { return (no_route().into(), req) };
        if !matched.endpoint().cacheable {
            req.mark_uncacheable();
        }
        let prepared = {
            let _span = tracing::info_span!(target: TARGET, "arguments").entered();
            prepare(matched.attach(req), matched.endpoint())
        };
        match prepared {
            Ok(req) => (matched.tag(self.run(&matched, &req).await), req),
            Err((req, error)) => (matched.tag(error.into()), req),
        }
    }

    /// Calls permission and handler, and checks preconditions between them. A panic becomes a 500.
    async fn run(&self, matched: &RouteMatch<'_>, req: &Request) -> Response {
        let (endpoint, conditional) = (matched.endpoint(), matched.route.conditional.as_deref());
        let called = async {
            let (req, validators) = match conditional {
                Some(conditional) => conditional.begin(req.clone()),
                None => (req.clone(), None),
            };
            let authorization = endpoint.invoke.authorize(req.clone());
            let authorized = authorization.instrument(tracing::info_span!(target: TARGET, "permission")).await?;
            if !is_read(req.method()) {
                match conditional {
                    Some(conditional) => conditional.check(&req)?,
                    None if has_precondition(&req) => return Err(precondition_unsupported()),
                    None => {}
                }
            }
            let exact = authorized.exact;
            let handler = tracing::info_span!(target: TARGET, "handler", http.route = matched.route.pattern());
            let mut res: Response = endpoint.invoke.call(req, authorized).instrument(handler).await.into();
            res.exactly_authorized = exact;
            if let Some(validators) = validators.filter(|_| !res.is_error()) {
                res.validators = validators;
            }
            Ok::<_, Error>(res)
        };
        match AssertUnwindSafe(called).catch_unwind().await {
            Ok(result) => result.into(),
            Err(panic) => {
                let panic = panic_text(&panic);
                tracing::error!(route = req.route(), method = %req.method(), panic, "handler panicked");
                internal_error().into()
            }
        }
    }

    /// The first route in order of registration whose pattern matches and that has an endpoint for the method.
    pub(super) fn find(&self, req: &Request) -> Option<RouteMatch<'_>> {
        let frozen = self.frozen();
        frozen.matcher.find(req.route(), |route_idx, captures| {
            let route = self.existing(route_idx, req)?;
            let endpoint_idx = route.endpoints.iter().position(|e| e.handles(req.method()))?;
            Some(RouteMatch { route, route_idx, endpoint_idx, url: Arc::new(captures.to_map()) })
        })
    }

    /// The route at a position, if it exists for this request.
    fn existing(&self, route_idx: usize, req: &Request) -> Option<&RouteEntry> {
        let route = &self.frozen().registered.routes[route_idx];
        route.exists_over(req.transport()).then_some(route)
    }

    /// The route and the endpoint that handle requests with this method for this path, over the transports that the route exists
    /// for.
    pub fn endpoint_for(&self, method: &Method, path: &str) -> Option<(&RouteEntry, &BoundEndpoint)> {
        let frozen = self.frozen();
        frozen.matcher.find(path, |route_idx, _| {
            let route = &frozen.registered.routes[route_idx];
            route.endpoints.iter().find(|endpoint| endpoint.handles(method)).map(|endpoint| (route, endpoint))
        })
    }

    /// The numbers of the requests of the route that handles this method and path; without one, those of the first route with this path,
    /// and otherwise those of requests that no route handles.
    pub fn request_counts(&self, method: &Method, path: &str) -> &Arc<RouteCounts> {
        let frozen = self.frozen();
        let mut first = None;
        let handles = frozen.matcher.find(path, |route_idx, _| {
            let route = &frozen.registered.routes[route_idx];
            first = first.or(Some(&route.requests));
            route.endpoints.iter().any(|endpoint| endpoint.handles(method)).then_some(&route.requests)
        });
        handles.or(first).unwrap_or(&frozen.unknown)
    }

    /// How long a request takes, as its endpoint has declared with [`Endpoint::cost`](crate::Endpoint::cost).
    pub fn cost(&self, req: &Request) -> Cost {
        let endpoint = self.endpoint_for(req.method(), req.route()).map(|(_, endpoint)| endpoint);
        endpoint.and_then(|endpoint| endpoint.cost.as_ref()).map_or(Cost::Light, |estimate| estimate(req))
    }

    /// Responds to `OPTIONS` with the description of the first matching route, or an empty list.
    async fn describe(&self, req: Request) -> (Response, Request) {
        let matched = self.frozen().matcher.find(req.route(), |idx, captures| {
            let route = self.existing(idx, &req)?;
            Some((idx, route, captures.to_map()))
        });
        let Some((idx, route, url)) = matched else {
            req.mark_uncacheable();
            return (Response::new(json!([])), req);
        };
        // `Allow` depends on the permissions of all endpoints, as it does in a response to `GET`.
        if !route.endpoints.iter().any(|endpoint| endpoint.handles(&Method::GET) && endpoint.cacheable) {
            req.mark_uncacheable();
        }
        let describe = |cx: &Context| route.describe(cx, true, |path| self.rest_url(path)).unwrap_or_default();
        // `_fields` applies to values.
        let encoded = if req.takes_encoded() && req.fields().is_none() {
            let describe = |part: Context| std::future::ready((Some(EncodedItem::new(&describe(&part))), true));
            self.cached(req.cx(), CachedKind::Description, Some(CallerKey::ANONYMOUS), route.pattern(), describe).await
        } else {
            None
        };
        let mut res = match encoded.filter(|item| item.json() != &b"null"[..]) {
            Some(item) => Response::encoded(Encoded::Item(item)),
            None => Response::new(describe(req.cx())),
        };
        res.matched = Some(MatchedRoute { pattern: Arc::clone(&route.pattern), route: idx, endpoint: None });
        (res, req.with_args(Arc::new(url), Arc::default(), None))
    }

    /// The route that this server matched. A response may come from another server, for example from a hook.
    fn route_of_response(&self, res: &Response) -> Option<&RouteEntry> {
        let matched = res.matched.as_ref()?;
        let route = self.frozen().registered.routes.get(matched.route)?;
        Arc::ptr_eq(&route.pattern, &matched.pattern).then_some(route)
    }

    async fn post_dispatch(&self, res: Response, req: &Request) -> Response {
        let hooks = self.hooks();
        let mut res = hooks.run_post_dispatch(res, req, true);
        if let Some(route) = self.route_of_response(&res) {
            let in_context = res.context.map(|context| req.clone().with_param("context", context));
            let allowed = self.allowed(route, in_context.as_ref().unwrap_or(req), res.known_authorization(req)).await;
            if !allowed.is_empty() && !res.omits_allow {
                res.headers.set("Allow", allowed.join(", "));
            }
            res.allowed = Some(allowed);
        }
        // Encoded data contains the requested fields only.
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
    pub(super) async fn allowed(&self, route: &RouteEntry, req: &Request, known: Option<(usize, bool)>) -> Vec<String> {
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

    async fn is_allowed(&self, endpoint: &BoundEndpoint, req: &Request) -> bool {
        let permission = async { endpoint.invoke.authorize(for_permission(req, endpoint)).await };
        let permission = permission.instrument(tracing::info_span!(target: TARGET, "permission"));
        match AssertUnwindSafe(permission).catch_unwind().await {
            Ok(result) => result.is_ok_and(|authorized| authorized.exact),
            Err(panic) => {
                tracing::error!(route = req.route(), panic = panic_text(&panic), "permission callback panicked");
                false
            }
        }
    }

    /// The maximum of `per_page` for the collection at this request's route.
    pub(super) fn max_per_page(&self, req: &Request) -> Option<u64> {
        let matched = self.find(req)?;
        matched.endpoint().args.get("per_page")?.source().get("maximum")?.as_u64()
    }

    /// Validates a request of a batch without running it.
    pub(super) fn validate_batched(&self, req: &Request) -> Result<()> {
        let matched = self.find(req).ok_or_else(no_route)?;
        if !matched.endpoint().allows_in_batch(req.method()) {
            return Err(batch_not_allowed());
        }
        prepare(matched.attach(self.attach_server(req.clone())), matched.endpoint())
            .map(|_| ())
            .map_err(|(_, error)| error)
    }

    /// Dispatches a request of a batch.
    pub(super) async fn dispatch_batched(&self, req: Request) -> Response {
        match self.find(&req).filter(|matched| !matched.endpoint().allows_in_batch(req.method())) {
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

/// Whether the method reads.
pub(super) fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

impl Response {
    /// The called endpoint and its permission's result, if it is still valid: a request that writes may have changed
    /// it.
    fn known_authorization(&self, req: &Request) -> Option<(usize, bool)> {
        let idx = self.matched.as_ref()?.endpoint?;
        (self.error.is_none() && is_read(req.method())).then_some((idx, self.exactly_authorized))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_have_texts() {
        let panics: [Box<dyn std::any::Any + Send>; 3] = [Box::new("a"), Box::new("b".to_owned()), Box::new(5)];
        assert_eq!(panics.each_ref().map(panic_text), ["a", "b", "no text"]);
    }
}
