//! The routes of a registry, merged by pattern.

use std::sync::Arc;

use indexmap::IndexMap;
use svc_metrics::RequestCounts;

use super::rules::ValidatedRoute;
use crate::routes::{Endpoint, Route, RouteEntry};

/// The routes that every server has. The layer that handles them provides them.
pub(crate) struct BuiltinRoutes {
    /// Routes without a namespace, which come first. Their patterns are complete.
    pub(crate) root: Vec<Route>,
    /// Makes the route that describes a namespace. It comes before the routes of the namespace.
    pub(crate) of_namespace: fn(&str) -> Route,
}

/// Routes under construction, by full pattern, in order of first registration.
pub(super) struct RouteTable {
    routes: IndexMap<String, RouteEntry>,
    namespaces: Vec<String>,
    of_namespace: fn(&str) -> Route,
}

impl RouteTable {
    /// A table with the built-in routes.
    pub(super) fn new(builtin: BuiltinRoutes) -> Self {
        let BuiltinRoutes { root, of_namespace } = builtin;
        let mut table = Self { routes: IndexMap::new(), namespaces: Vec::new(), of_namespace };
        for route in root {
            table.insert_builtin("", route);
        }
        table
    }

    /// Adds a validated route, and the built-in route of its namespace if this is the first listed route in it.
    pub(super) fn add<C: Send + Sync + 'static>(&mut self, validated: ValidatedRoute<C>, controller: &Arc<C>) {
        let ValidatedRoute { namespace, pattern, route } = validated;
        if route.listed && !self.namespaces.contains(&namespace) {
            self.namespaces.push(namespace.clone());
            self.insert_builtin(&namespace, (self.of_namespace)(&namespace));
        }
        self.insert(namespace, pattern, route, controller);
    }

    fn insert_builtin(&mut self, namespace: &str, route: Route) {
        self.insert(namespace.to_owned(), route.pattern.clone(), route, &Arc::new(()));
    }

    /// Adds a route under its full pattern. It is merged with an existing one, or replaces it if `replace` is set. The
    /// newer route's settings take precedence.
    fn insert<C: Send + Sync + 'static>(
        &mut self,
        namespace: String,
        pattern: String,
        route: Route<C>,
        controller: &Arc<C>,
    ) {
        let Route { args, schema, endpoints, allow_batch, replace, conditional, only_over, listed, .. } = route;
        let entry = self.routes.entry(pattern.clone()).or_insert_with(|| RouteEntry::new(&pattern, namespace.clone()));
        if replace {
            *entry = RouteEntry::new(&pattern, namespace.clone());
        }
        entry.namespace = namespace;
        entry.conditional = conditional.or(entry.conditional.take());
        entry.listed = listed;
        entry.only_over = only_over.or(entry.only_over.take());
        entry.schema = schema.or(entry.schema.take());
        entry.endpoints.extend(endpoints.into_iter().map(|e: Endpoint<C>| e.bind(controller, &args, allow_batch)));
    }

    /// The routes and the namespaces in order of registration, but with the namespaces of `last` at the end, in that
    /// order, and their routes after all others.
    pub(super) fn finish(mut self, last: &[String], requests: &RequestCounts) -> (Vec<RouteEntry>, Vec<String>) {
        // `None` sorts before any position.
        self.namespaces.sort_by_key(|namespace| last.iter().position(|last| last == namespace));
        let mut routes: Vec<RouteEntry> = self.routes.into_values().map(|route| complete(route, requests)).collect();
        routes.sort_by_key(|route| last.contains(&route.namespace));
        (routes, self.namespaces)
    }
}

/// Computes the route's methods, and finds its numbers of requests.
fn complete(mut route: RouteEntry, requests: &RequestCounts) -> RouteEntry {
    let mut methods = Vec::new();
    for method in route.endpoints.iter().flat_map(|e| &e.methods) {
        if !methods.contains(method) {
            methods.push(method.clone());
        }
    }
    route.methods = methods;
    route.requests = requests.of(&route.pattern);
    route
}
