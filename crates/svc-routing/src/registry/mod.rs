//! Start-up: collects routes, controllers, fields and hooks.

mod hooks;
mod rules;
mod table;

use std::sync::Arc;

use svc_schema::Notice;

use self::rules::validate;
use self::table::RouteTable;
use crate::extra_fields::{ExtraField, ExtraFields};
use crate::routes::{Controller, Route, RouteEntry};
use crate::site::SiteInfo;

pub(crate) use hooks::FrozenHooks;
pub use hooks::{Hooks, RegisteredHook};
pub(crate) use table::BuiltinRoutes;

/// A registration that is deferred until all additional fields are known.
type DeferredRegistration = Box<dyn FnOnce(&Registered, &mut RouteTable, &mut Vec<Notice>) + Send>;

/// What is registered besides routes, when controllers are made.
#[derive(Default)]
#[non_exhaustive]
pub struct Registered {
    /// The additional fields of resources.
    pub fields: ExtraFields,
    /// Values by type: the extension points that controllers define.
    pub extensions: http::Extensions,
}

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

    /// Lists these namespaces after all others in the index, in this order, and their routes after all others.
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

    /// Runs the `init` hooks, registers what waits for them, and ends the start-up phase.
    pub(crate) fn finish(mut self, builtin: BuiltinRoutes) -> Registrations {
        self.initialized = true;
        for init in self.hooks.take_init() {
            init(&mut self);
        }
        let mut table = RouteTable::new(builtin);
        let mut notices = self.notices;
        for register in self.deferred {
            register(&self.registered, &mut table, &mut notices);
        }
        let (routes, namespaces) = table.finish(&self.last_namespaces, &self.site.requests);
        Registrations {
            site: self.site,
            hooks: self.hooks.freeze(),
            routes,
            namespaces,
            fields: self.registered.fields,
            notices,
        }
    }
}

/// The registrations after the start-up phase.
pub(crate) struct Registrations {
    pub(crate) site: SiteInfo,
    pub(crate) hooks: FrozenHooks,
    /// The routes, in the order of the index.
    pub(crate) routes: Vec<RouteEntry>,
    /// The namespaces, in the order of the index.
    pub(crate) namespaces: Vec<String>,
    pub(crate) fields: ExtraFields,
    /// The developer notices of start-up.
    pub(crate) notices: Vec<Notice>,
}
