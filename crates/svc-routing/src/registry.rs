//! Start-up: routes, controllers, fields and hooks are collected, then frozen to a server.

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

/// One registration, put off until the additional fields are known.
type Step = Box<dyn FnOnce(&ExtraFields, &mut Table, &mut Vec<Notice>) + Send>;

/// The function that notices about registration name.
const REGISTER: &str = "register_rest_route";
/// The version since which each registration rule holds.
const SINCE_NAMESPACE: &str = "4.4.0";
const SINCE_INIT: &str = "5.1.0";
const SINCE_SLASHES: &str = "5.4.2";
const SINCE_PERMISSION: &str = "5.5.0";

/// Start-up phase: mutable. [`build`](Registry::build) freezes it.
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
    /// The extension points.
    pub hooks: Hooks,
    site: SiteInfo,
    steps: Vec<Step>,
    fields: ExtraFields,
    notices: Vec<Notice>,
    listed_last: Vec<String>,
    initialized: bool,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// A registry for a site of the default brand on this machine.
    pub fn new() -> Self {
        Self::for_site(SiteInfo::default())
    }

    /// A registry for this site.
    pub fn for_site(site: SiteInfo) -> Self {
        Self {
            hooks: Hooks::default(),
            site,
            steps: Vec::new(),
            fields: ExtraFields::default(),
            notices: Vec::new(),
            listed_last: Vec::new(),
            initialized: true,
        }
    }

    /// A registry whose initialization event has not begun: routes registered before [`begin`](Registry::begin), or
    /// before the `init` hooks run, raise a notice, and count all the same.
    pub fn before_init(site: SiteInfo) -> Self {
        Self { initialized: false, ..Self::for_site(site) }
    }

    /// Begins the initialization event.
    pub fn begin(&mut self) {
        self.initialized = true;
    }

    /// The facts of the site.
    pub fn site(&self) -> &SiteInfo {
        &self.site
    }

    /// Mounts a controller under a namespace. It is made when the server is built, when all additional fields are known.
    /// A namespace or pattern that [`route`](Registry::route) would refuse leaves out the route, with a notice.
    pub fn mount<C: Controller>(&mut self, namespace: &str, make: impl FnOnce(&ExtraFields) -> C + Send + 'static) {
        let (namespace, initialized) = (namespace.to_owned(), self.initialized);
        self.steps.push(Box::new(move |fields, table, notices| {
            let controller = Arc::new(make(fields));
            for route in controller.routes() {
                match check(&namespace, route, initialized) {
                    Ok((checked, raised)) => {
                        notices.extend(raised);
                        table.add(checked, &controller);
                    }
                    Err(notice) => notices.push(notice),
                }
            }
        }));
    }

    /// Registers a route that needs no controller.
    ///
    /// # Errors
    /// The notice when the namespace or the pattern is empty, or the pattern is not a regular expression; nothing is
    /// registered then. Other notices are recorded and the registration counts.
    pub fn route(&mut self, namespace: &str, route: Route) -> Result<(), Notice> {
        match check(namespace, route, self.initialized) {
            Ok((checked, raised)) => {
                self.notices.extend(raised);
                self.steps.push(Box::new(move |_, table, _| table.add(checked, &Arc::new(()))));
                Ok(())
            }
            Err(notice) => {
                self.notices.push(notice.clone());
                Err(notice)
            }
        }
    }

    /// Namespaces that stand behind all others in the index, in this order, whenever they are registered.
    pub fn list_last(&mut self, namespaces: impl IntoIterator<Item = String>) {
        self.listed_last.extend(namespaces);
    }

    /// Registers an additional field under every object type listed.
    pub fn field(&mut self, objects: &[&str], name: &str, field: ExtraField) {
        for object in objects {
            self.fields.insert(object, name, field.clone());
        }
    }

    /// The notices raised so far.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Runs the `init` hooks and freezes everything.
    pub fn build(mut self) -> Server {
        self.initialized = true;
        for init in self.hooks.take_init() {
            init(&mut self);
        }
        let mut table = Table::default();
        crate::index::add_root(&mut table);
        crate::batch::add_route(&mut table);
        let mut notices = self.notices;
        for step in self.steps {
            step(&self.fields, &mut table, &mut notices);
        }
        let routes: Vec<Arc<RouteEntry>> = table.routes.into_values().map(finish).collect();
        let place = |namespace: &String| self.listed_last.iter().position(|last| last == namespace);
        // None is less than any place.
        table.namespaces.sort_by_key(place);
        let matcher = Matcher::new(routes.iter().map(|r| r.pattern.as_str()));
        Server::freeze(self.site, self.hooks.freeze(), routes, table.namespaces, matcher, self.fields, notices)
    }
}

/// Works out what is asked often.
fn finish(mut route: RouteEntry) -> Arc<RouteEntry> {
    let mut methods = Vec::new();
    for method in route.endpoints.iter().flat_map(|e| &e.methods) {
        if !methods.contains(method) {
            methods.push(method.clone());
        }
    }
    route.methods = methods;
    Arc::new(route)
}

/// A route that may be registered, with the address it gets.
pub(crate) struct Checked<C> {
    namespace: String,
    pattern: String,
    route: Route<C>,
}

fn notice(message: String, version: &str) -> Notice {
    Notice { kind: NoticeKind::DoingItWrong, function: REGISTER.to_owned(), message, version: version.to_owned() }
}

/// The registration rules of specification section Route registration; the notices of the rules that do not refuse.
fn check<C>(namespace: &str, route: Route<C>, initialized: bool) -> Result<(Checked<C>, Vec<Notice>), Notice> {
    let mut raised = Vec::new();
    let clean = namespace.trim_matches('/').to_owned();
    let path = route.pattern.trim_matches('/').to_owned();
    if clean.is_empty() {
        let text = format!("Routes must be namespaced. The route `{path}` was given no namespace.");
        return Err(notice(text, SINCE_NAMESPACE));
    }
    if path.is_empty() {
        return Err(notice(format!("A route under `{clean}` was given no path."), SINCE_NAMESPACE));
    }
    let pattern = format!("/{clean}/{path}");
    if let Err(problem) = crate::pattern::Pattern::compile(&pattern) {
        return Err(notice(format!("The route `{pattern}` is not a pattern: {problem}"), SINCE_NAMESPACE));
    }
    if clean != namespace {
        let text = format!("The namespace must not begin or end with a slash: `{namespace}` for the route `{path}`.");
        raised.push(notice(text, SINCE_SLASHES));
    }
    if !initialized {
        let text = format!("The route `{pattern}` was registered before the event `rest_api_init`.");
        raised.push(notice(text, SINCE_INIT));
    }
    for endpoint in route.endpoints.iter().filter(|e| !e.has_permission) {
        let methods = endpoint.methods.iter().map(http::Method::as_str).collect::<Vec<_>>().join(", ");
        let text =
            format!("The route `{pattern}` has no permission for {methods}; name `public` if it is open to all.");
        raised.push(notice(text, SINCE_PERMISSION));
    }
    Ok((Checked { namespace: clean, pattern, route }, raised))
}

/// Routes under construction, by address, in order of first registration.
#[derive(Default)]
pub(crate) struct Table {
    routes: IndexMap<String, RouteEntry>,
    pub(crate) namespaces: Vec<String>,
}

impl Table {
    fn add<C: Send + Sync + 'static>(&mut self, checked: Checked<C>, controller: &Arc<C>) {
        let Checked { namespace, pattern, route } = checked;
        if !self.namespaces.contains(&namespace) {
            self.namespaces.push(namespace.clone());
            crate::index::add_namespace(self, &namespace);
        }
        self.insert(namespace, pattern, route, controller);
    }

    /// Adds a route under its whole address: merged with one that is there, in place of it when the route says so.
    /// Where both say the same thing, the newer wins.
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
