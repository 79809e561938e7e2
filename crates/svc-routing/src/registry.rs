//! Start-up: collects routes, controllers, fields and hooks, and builds the server from them.

use std::sync::Arc;

use indexmap::IndexMap;
use svc_schema::{Notice, NoticeKind};

use crate::endpoint::{Endpoint, RouteEntry};
use crate::field::{ExtraField, ExtraFields};
use crate::hooks::Hooks;
use crate::matcher::Matcher;
use crate::route::{Controller, Route};
use crate::server::Server;
use crate::site::SiteInfo;

/// A registration that is deferred until all additional fields are known.
type DeferredRegistration = Box<dyn FnOnce(&Registered, &mut RouteTable, &mut Vec<Notice>) + Send>;

/// What is registered besides routes, when controllers are made.
#[derive(Default)]
pub struct Registered {
    /// The additional fields of resources.
    pub fields: ExtraFields,
    /// Values by type: the extension points that controllers define.
    pub extensions: http::Extensions,
}

/// The function name in notices about registration.
const REGISTER: &str = "register_rest_route";
/// The version since which each registration rule applies.
const SINCE_NAMESPACE: &str = "4.4.0";
const SINCE_INIT: &str = "5.1.0";
const SINCE_SLASHES: &str = "5.4.2";
const SINCE_PERMISSION: &str = "5.5.0";

/// The registrations of the start-up phase. [`build`](Registry::build) turns them into an immutable server.
///
/// ```
/// use svc_routing::{Registry, Request, Response, Result, Route, get, public};
/// async fn ping(_: Request) -> Result { Ok(Response::new("pong")) }
/// let mut registry = Registry::new();
/// registry.route("acme/v1", Route::new("/ping").endpoint(get(ping, public))).expect("a namespace and a path");
/// let server = registry.build();
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert_eq!(server.dispatch(Request::get("/acme/v1/ping")).await.data, "pong");
/// # });
/// ```
pub struct Registry {
    /// The hooks.
    pub hooks: Hooks,
    site: SiteInfo,
    deferred: Vec<DeferredRegistration>,
    registered: Registered,
    notices: Vec<Notice>,
    last_namespaces: Vec<String>,
    initialized: bool,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// A registry for a site with the default brand, whose host is not known.
    pub fn new() -> Self {
        Self::for_site(SiteInfo::default())
    }

    /// A registry for this site.
    pub fn for_site(site: SiteInfo) -> Self {
        Self {
            hooks: Hooks::default(),
            site,
            deferred: Vec::new(),
            registered: Registered::default(),
            notices: Vec::new(),
            last_namespaces: Vec::new(),
            initialized: true,
        }
    }

    /// A registry before its initialization event. Routes registered before [`begin`](Registry::begin), or before the
    /// `init` hooks run, raise a notice but are registered.
    pub fn before_init(site: SiteInfo) -> Self {
        Self { initialized: false, ..Self::for_site(site) }
    }

    /// Starts the initialization event.
    pub fn begin(&mut self) {
        self.initialized = true;
    }

    /// The site's information.
    pub fn site(&self) -> &SiteInfo {
        &self.site
    }

    /// Mounts a controller under a namespace. `make` is called when the server is built and all additional fields are
    /// known. A route that [`route`](Registry::route) would reject is skipped with a notice.
    pub fn mount<C: Controller>(&mut self, namespace: &str, make: impl FnOnce(&ExtraFields) -> C + Send + 'static) {
        self.mount_with(namespace, |registered| make(&registered.fields));
    }

    /// As [`mount`](Registry::mount), for a controller with extension points of its own.
    pub fn mount_with<C: Controller>(&mut self, namespace: &str, make: impl FnOnce(&Registered) -> C + Send + 'static) {
        let (namespace, initialized) = (namespace.to_owned(), self.initialized);
        self.deferred.push(Box::new(move |registered, table, notices| {
            let controller = Arc::new(make(registered));
            for route in controller.routes() {
                match validate(&namespace, route, initialized) {
                    Ok((validated, raised)) => {
                        notices.extend(raised);
                        table.add(validated, &controller);
                    }
                    Err(notice) => notices.push(notice),
                }
            }
        }));
    }

    /// Registers a route without a controller.
    ///
    /// # Errors
    /// Returns a notice, and registers nothing, if the namespace or the pattern is empty or the pattern is not a valid
    /// regular expression. Other notices are recorded without preventing the registration.
    pub fn route(&mut self, namespace: &str, route: Route) -> Result<(), Notice> {
        match validate(namespace, route, self.initialized) {
            Ok((validated, raised)) => {
                self.notices.extend(raised);
                self.deferred.push(Box::new(move |_, table, _| table.add(validated, &Arc::new(()))));
                Ok(())
            }
            Err(notice) => {
                self.notices.push(notice.clone());
                Err(notice)
            }
        }
    }

    /// Lists these namespaces after all others in the index, in this order.
    pub fn list_namespaces_last(&mut self, namespaces: impl IntoIterator<Item = String>) {
        self.last_namespaces.extend(namespaces);
    }

    /// Registers an additional field for each of these object types.
    pub fn field(&mut self, objects: &[&str], name: &str, field: ExtraField) {
        for object in objects {
            self.registered.fields.insert(object, name, field.clone());
        }
    }

    /// Values by type, for extension points that controllers define. Controllers read them when the server is built.
    ///
    /// ```
    /// # use svc_routing::*;
    /// #[derive(Clone, Default)]
    /// struct Greetings(Vec<&'static str>);
    /// # struct Greeter(Greetings);
    /// # impl Controller for Greeter { fn routes(&self) -> Vec<Route<Self>> { assert_eq!(self.0.0, ["hello"]); Vec::new() } }
    /// let mut registry = Registry::new();
    /// registry.mount_with("acme/v1", |registered| Greeter(registered.extensions.get().cloned().unwrap_or_default()));
    /// registry.extensions().get_or_insert_default::<Greetings>().0.push("hello");
    /// registry.build();
    /// ```
    pub fn extensions(&mut self) -> &mut http::Extensions {
        &mut self.registered.extensions
    }

    /// The notices recorded so far.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Runs the `init` hooks and builds the server.
    pub fn build(mut self) -> Server {
        self.initialized = true;
        for init in self.hooks.take_init() {
            init(&mut self);
        }
        let mut table = RouteTable::default();
        crate::index::add_root(&mut table);
        crate::batch::add_route(&mut table);
        let mut notices = self.notices;
        for register in self.deferred {
            register(&self.registered, &mut table, &mut notices);
        }
        let routes: Vec<Arc<RouteEntry>> = table.routes.into_values().map(with_methods).collect();
        let position = |namespace: &String| self.last_namespaces.iter().position(|last| last == namespace);
        // `None` sorts before any position.
        table.namespaces.sort_by_key(position);
        let matcher = Matcher::new(routes.iter().map(|r| r.pattern.as_str()));
        Server::freeze(
            self.site,
            self.hooks.freeze(),
            routes,
            table.namespaces,
            matcher,
            self.registered.fields,
            notices,
        )
    }
}

/// Computes the route's methods.
fn with_methods(mut route: RouteEntry) -> Arc<RouteEntry> {
    let mut methods = Vec::new();
    for method in route.endpoints.iter().flat_map(|e| &e.methods) {
        if !methods.contains(method) {
            methods.push(method.clone());
        }
    }
    route.methods = methods;
    Arc::new(route)
}

/// A validated route, with its full pattern.
pub(crate) struct ValidatedRoute<C> {
    namespace: String,
    pattern: String,
    route: Route<C>,
}

fn notice(message: String, version: &str) -> Notice {
    Notice { kind: NoticeKind::DoingItWrong, function: REGISTER.to_owned(), message, version: version.to_owned() }
}

/// Applies the registration rules of specification section Route registration. Also returns the notices of rules that
/// do not reject.
fn validate<C>(
    namespace: &str,
    route: Route<C>,
    initialized: bool,
) -> Result<(ValidatedRoute<C>, Vec<Notice>), Notice> {
    let mut raised = Vec::new();
    let trimmed = namespace.trim_matches('/').to_owned();
    let path = route.pattern.trim_matches('/').to_owned();
    if trimmed.is_empty() {
        let text = format!("Routes must be namespaced. The route `{path}` has no namespace.");
        return Err(notice(text, SINCE_NAMESPACE));
    }
    if path.is_empty() {
        return Err(notice(format!("A route in the namespace `{trimmed}` has no path."), SINCE_NAMESPACE));
    }
    let pattern = format!("/{trimmed}/{path}");
    if let Err(problem) = crate::pattern::Pattern::compile(&pattern) {
        return Err(notice(format!("The route `{pattern}` is not a valid pattern: {problem}"), SINCE_NAMESPACE));
    }
    if trimmed != namespace {
        let text = format!("The namespace must not start or end with a slash: `{namespace}` of the route `{path}`.");
        raised.push(notice(text, SINCE_SLASHES));
    }
    if !initialized {
        let text = format!("The route `{pattern}` was registered before `rest_api_init`.");
        raised.push(notice(text, SINCE_INIT));
    }
    for endpoint in route.endpoints.iter().filter(|e| !e.has_permission) {
        let methods = endpoint.methods.iter().map(http::Method::as_str).collect::<Vec<_>>().join(", ");
        let text = format!(
            "The route `{pattern}` has no permission callback for {methods}. Use `public` if anybody may call it."
        );
        raised.push(notice(text, SINCE_PERMISSION));
    }
    Ok((ValidatedRoute { namespace: trimmed, pattern, route }, raised))
}

/// Routes under construction, by full pattern, in order of first registration.
#[derive(Default)]
pub(crate) struct RouteTable {
    routes: IndexMap<String, RouteEntry>,
    pub(crate) namespaces: Vec<String>,
}

impl RouteTable {
    fn add<C: Send + Sync + 'static>(&mut self, validated: ValidatedRoute<C>, controller: &Arc<C>) {
        let ValidatedRoute { namespace, pattern, route } = validated;
        if !self.namespaces.contains(&namespace) {
            self.namespaces.push(namespace.clone());
            crate::index::add_namespace(self, &namespace);
        }
        self.insert(namespace, pattern, route, controller);
    }

    /// Adds a route under its full pattern. It is merged with an existing one, or replaces it if `replace` is set. The
    /// newer route's settings take precedence.
    pub(crate) fn insert<C: Send + Sync + 'static>(
        &mut self,
        namespace: String,
        pattern: String,
        route: Route<C>,
        controller: &Arc<C>,
    ) {
        let Route { args, schema, endpoints, allow_batch, replace, .. } = route;
        let entry =
            self.routes.entry(pattern.clone()).or_insert_with(|| RouteEntry::new(pattern.clone(), namespace.clone()));
        if replace {
            *entry = RouteEntry::new(pattern, namespace.clone());
        }
        entry.namespace = namespace;
        entry.schema = schema.or(entry.schema.take());
        entry
            .endpoints
            .extend(endpoints.into_iter().map(|e: Endpoint<C>| Arc::new(e.bind(controller, &args, allow_batch))));
    }
}
