//! Hooks on requests and responses: a typed method for each such row of the specification's Events table.
//!
//! Hooks are added while the registry is filled. Lower priorities run first, equal priorities in order of registration.
//! Filters change a value, actions observe. The framework's own processing of a request has priority 10 and runs before
//! other hooks of that priority: `OPTIONS` in [`Hooks::pre_dispatch`], `Allow` and `_fields` in
//! [`Hooks::post_dispatch`], CORS in [`Hooks::pre_serve`].
//!
//! URLs have no hooks here: they come from the site's [`ApiUrls`](crate::ApiUrls).

use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use super::Registry;
use crate::handler::{BoxFuture, Dispatch};
use crate::{Body, DependsOn, Request, Response, Result, Served};

/// Priority of the framework's own processing.
const FRAMEWORK_PRIORITY: i32 = 10;

type Init = dyn FnOnce(&mut Registry) + Send;
type PreDispatch = dyn Fn(&Request) -> BoxFuture<Option<Result>> + Send + Sync;
type PostDispatch = dyn Fn(Response, &Request) -> Response + Send + Sync;
type PreServe = dyn Fn(&mut Served, &Request) -> Option<Body> + Send + Sync;
type Index = dyn Fn(Response, Request) -> BoxFuture<Response> + Send + Sync;
type Wrap = dyn Fn(Arc<dyn Dispatch>) -> Arc<dyn Dispatch> + Send + Sync;

/// Functions by priority, with what they depend on. Equal priorities keep their order.
struct Chain<F: ?Sized>(Vec<ChainedHook<F>>);

struct ChainedHook<F: ?Sized> {
    priority: i32,
    function: Arc<F>,
    depends_on: DependsOn,
    /// Where it was registered.
    place: &'static Location<'static>,
}

/// A registered hook. By default, its inputs are unknown, which prevents caching.
#[derive(Debug)]
pub struct RegisteredHook<'h>(&'h mut DependsOn);

impl RegisteredHook<'_> {
    /// Declares what the hook depends on.
    ///
    /// ```
    /// # use svc_routing::{DependsOn, Registry};
    /// let mut registry = Registry::new();
    /// registry.hooks.post_dispatch(10, |res, _| res.header("X-Acme", "1")).depends_on(DependsOn::Nothing);
    /// ```
    pub fn depends_on(self, inputs: DependsOn) {
        *self.0 = inputs;
    }
}

impl<F: ?Sized> Default for Chain<F> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<F: ?Sized> Chain<F> {
    #[track_caller]
    fn add(&mut self, priority: i32, function: Arc<F>) -> RegisteredHook<'_> {
        let at = self.0.partition_point(|hook| hook.priority <= priority);
        let place = Location::caller();
        self.0.insert(at, ChainedHook { priority, function, depends_on: DependsOn::Unknown, place });
        RegisteredHook(&mut self.0[at].depends_on)
    }

    /// Where the functions were registered whose dependencies are unknown.
    fn undeclared(&self) -> impl Iterator<Item = &'static Location<'static>> {
        self.0.iter().filter(|hook| hook.depends_on == DependsOn::Unknown).map(|hook| hook.place)
    }

    fn iter(&self) -> impl Iterator<Item = &F> {
        self.0.iter().map(|hook| hook.function.as_ref())
    }

    /// Whether each function depends on one of these.
    fn depends_only_on(&self, inputs: &[DependsOn]) -> bool {
        self.0.iter().all(|hook| inputs.contains(&hook.depends_on))
    }

    /// The functions that run before, or after, the framework's own processing.
    fn relative_to_framework(&self, before: bool) -> impl Iterator<Item = &F> {
        let hooks = self.0.iter().filter(move |hook| (hook.priority < FRAMEWORK_PRIORITY) == before);
        hooks.map(|hook| hook.function.as_ref())
    }
}

/// The hooks, one method each.
#[derive(Default)]
pub struct Hooks {
    init: Vec<(i32, Box<Init>)>,
    frozen: FrozenHooks,
}

/// The hooks that run after start-up.
#[derive(Default)]
pub(crate) struct FrozenHooks {
    pre_dispatch: Chain<PreDispatch>,
    post_dispatch: Chain<PostDispatch>,
    pre_serve: Chain<PreServe>,
    index: Chain<Index>,
    server: Chain<Wrap>,
}

/// Registration.
impl Hooks {
    /// Action `rest_api_init`: runs when the server is built and receives the registry, to register routes and fields.
    ///
    /// ```
    /// # use svc_routing::*;
    /// # async fn ping(_: Request) -> Result { Ok(Response::new("pong")) }
    /// let mut registry = Registry::new();
    /// registry.hooks.init(10, |registry| {
    ///     registry.route("acme/v1", Route::new("/ping").endpoint(get(ping, public))).expect("a namespace and a path");
    /// });
    /// assert!(registry.build().route("/acme/v1/ping").is_some());
    /// ```
    pub fn init(&mut self, priority: i32, f: impl FnOnce(&mut Registry) + Send + 'static) {
        let at = self.init.partition_point(|(p, _)| *p <= priority);
        self.init.insert(at, (priority, Box::new(f)));
    }

    /// Filter `wp_rest_server_class`: wraps or replaces the server's dispatcher.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use svc_routing::{BoxFuture, Dispatch, Registry, Request, Response};
    /// struct Closed(Arc<dyn Dispatch>);
    /// impl Dispatch for Closed {
    ///     fn dispatch(&self, req: Request) -> BoxFuture<Response> {
    ///         if req.is_authenticated() { self.0.dispatch(req) } else {
    ///             Box::pin(async { Response::new("closed").status(503) })
    ///         }
    ///     }
    /// }
    /// let mut registry = Registry::new();
    /// registry.hooks.server(10, |inner| Arc::new(Closed(inner)));
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert_eq!(registry.build().dispatch(Request::get("/")).await.status, 503);
    /// # });
    /// ```
    #[track_caller]
    pub fn server(
        &mut self,
        priority: i32,
        f: impl Fn(Arc<dyn Dispatch>) -> Arc<dyn Dispatch> + Send + Sync + 'static,
    ) -> RegisteredHook<'_> {
        self.frozen.server.add(priority, Arc::new(f))
    }

    /// Filter `rest_pre_serve_request`: inspects the final response, may change its headers, and may replace the body.
    /// The HTTP service adds its CORS headers at priority 10, so functions of this or a higher priority see them and can
    /// restrict the origins. Other headers that all responses have are added later.
    ///
    /// ```
    /// # use svc_routing::{Registry, Request};
    /// let mut registry = Registry::new();
    /// registry.hooks.pre_serve(10, |served, _req| { served.headers.set("X-Acme", "1"); None });
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let served = registry.build().serve(Request::get("/")).await;
    /// assert_eq!(served.headers.get("x-acme"), Some("1"));
    /// # });
    /// ```
    #[track_caller]
    pub fn pre_serve(
        &mut self,
        priority: i32,
        f: impl Fn(&mut Served, &Request) -> Option<Body> + Send + Sync + 'static,
    ) -> RegisteredHook<'_> {
        self.frozen.pre_serve.add(priority, Arc::new(f))
    }

    /// Filter `rest_post_dispatch`: changes a response after dispatch, including errors.
    ///
    /// ```
    /// # use svc_routing::{Registry, Request};
    /// let mut registry = Registry::new();
    /// registry.hooks.post_dispatch(10, |res, _req| res.header("X-Acme", "1"));
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let res = registry.build().dispatch(Request::get("/nosuch")).await;
    /// assert_eq!((res.status.as_u16(), res.headers.get("X-Acme")), (404, Some("1")));
    /// # });
    /// ```
    #[track_caller]
    pub fn post_dispatch(
        &mut self,
        priority: i32,
        f: impl Fn(Response, &Request) -> Response + Send + Sync + 'static,
    ) -> RegisteredHook<'_> {
        self.frozen.post_dispatch.add(priority, Arc::new(f))
    }

    /// Filter `rest_pre_dispatch`: may respond to a request before it is matched with a route.
    ///
    /// ```
    /// # use svc_routing::{Registry, Request, Response};
    /// let mut registry = Registry::new();
    /// registry.hooks.pre_dispatch(10, |req| {
    ///     let teapot = req.route() == "/tea";
    ///     Box::pin(async move { teapot.then(|| Ok(Response::new("short and stout").status(418))) })
    /// });
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert_eq!(registry.build().dispatch(Request::get("/tea")).await.status, 418);
    /// # });
    /// ```
    #[track_caller]
    pub fn pre_dispatch(
        &mut self,
        priority: i32,
        f: impl Fn(&Request) -> BoxFuture<Option<Result>> + Send + Sync + 'static,
    ) -> RegisteredHook<'_> {
        self.frozen.pre_dispatch.add(priority, Arc::new(f))
    }

    /// Filter `rest_index`: changes the index. Its data is an object; links may be added.
    ///
    /// ```
    /// # use svc_routing::{Registry, Request};
    /// let mut registry = Registry::new();
    /// registry.hooks.index(10, |mut res, _req| async move {
    ///     res.data["acme"] = true.into();
    ///     res
    /// });
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert_eq!(registry.build().dispatch(Request::get("/")).await.data["acme"], true);
    /// # });
    /// ```
    #[track_caller]
    pub fn index<F>(
        &mut self,
        priority: i32,
        f: impl Fn(Response, Request) -> F + Send + Sync + 'static,
    ) -> RegisteredHook<'_>
    where
        F: Future<Output = Response> + Send + 'static,
    {
        self.frozen.index.add(priority, Arc::new(move |res, req| Box::pin(f(res, req))))
    }

    pub(super) fn take_init(&mut self) -> Vec<Box<Init>> {
        std::mem::take(&mut self.init).into_iter().map(|(_, f)| f).collect()
    }

    pub(super) fn freeze(self) -> FrozenHooks {
        self.frozen
    }
}

/// Running.
impl FrozenHooks {
    pub(crate) async fn run_pre_dispatch(&self, req: &Request, before_framework: bool) -> Option<Result> {
        for f in self.pre_dispatch.relative_to_framework(before_framework) {
            // Call the hook before awaiting, so that no reference to it is held across the await.
            let future = f(req);
            if let Some(result) = future.await {
                return Some(result);
            }
        }
        None
    }

    /// Whether responses may be cached: what the hooks depend on is known.
    pub(crate) fn are_cacheable(&self) -> bool {
        let known = &[DependsOn::Nothing, DependsOn::Object];
        self.pre_dispatch.depends_only_on(known)
            && self.post_dispatch.depends_only_on(known)
            && self.pre_serve.depends_only_on(known)
            && self.index.depends_only_on(known)
            && self.server.depends_only_on(known)
    }

    /// The hooks whose dependencies are unknown, so that responses are not cached: each as `kind at file:line`.
    pub(crate) fn undeclared(&self) -> Vec<String> {
        let name = |kind: &'static str| {
            move |place: &'static Location<'static>| format!("the hook `{kind}` of {}:{}", place.file(), place.line())
        };
        let all = self.pre_dispatch.undeclared().map(name("pre_dispatch"));
        let all = all.chain(self.post_dispatch.undeclared().map(name("post_dispatch")));
        let all = all.chain(self.pre_serve.undeclared().map(name("pre_serve")));
        let all = all.chain(self.index.undeclared().map(name("index")));
        all.chain(self.server.undeclared().map(name("server"))).collect()
    }

    /// Whether a hook may look into the data of responses.
    pub(crate) fn can_change_data(&self) -> bool {
        let nothing = &[DependsOn::Nothing];
        !(self.post_dispatch.depends_only_on(nothing)
            && self.pre_serve.depends_only_on(nothing)
            && self.server.depends_only_on(nothing))
    }

    pub(crate) fn run_post_dispatch(&self, res: Response, req: &Request, before_framework: bool) -> Response {
        self.post_dispatch.relative_to_framework(before_framework).fold(res, |res, f| f(res, req))
    }

    /// Whether functions see final responses.
    pub(crate) fn see_final_responses(&self) -> bool {
        !self.pre_serve.0.is_empty()
    }

    /// Calls the functions; `own` is the framework's processing.
    pub(crate) fn run_pre_serve(&self, served: &mut Served, req: &Request, own: impl FnOnce(&mut Served)) {
        let run = |served: &mut Served, before| {
            for f in self.pre_serve.relative_to_framework(before) {
                if let Some(body) = f(served, req) {
                    served.body = body;
                }
            }
        };
        run(served, true);
        own(served);
        run(served, false);
    }

    pub(crate) async fn run_index(&self, mut res: Response, req: &Request) -> Response {
        for f in self.index.iter() {
            res = f(res, req.clone()).await;
        }
        res
    }

    pub(crate) fn wrap(&self, inner: Arc<dyn Dispatch>) -> Option<Arc<dyn Dispatch>> {
        (!self.server.0.is_empty()).then(|| self.server.iter().fold(inner, |inner, f| f(inner)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn hooks_run_by_priority_then_registration() {
        let mut hooks = Hooks::default();
        for (priority, mark) in [(10, "b"), (5, "a"), (10, "c"), (20, "d"), (-1, "0")] {
            hooks.index(priority, move |mut res, _| async move {
                res.data = format!("{}{mark}", res.data.as_str().unwrap_or_default()).into();
                res
            });
        }
        let res = hooks.freeze().run_index(Response::new(""), &Request::get("/")).await;
        assert_eq!(res.data, "0abcd");
    }
}
