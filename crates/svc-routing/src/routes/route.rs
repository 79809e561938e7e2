//! Routes and controllers as they are registered, and the routes of a built server.

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};
use svc_metrics::RouteCounts;
use svc_schema::{Args, Schema};
use svc_versions::{Context, Transport};

use super::conditional::Conditional;
use super::describe::{self, method_names};
use super::endpoint::{BoundEndpoint, Endpoint};
use crate::Map;

/// A route: a pattern under a namespace, its endpoints, and their common settings.
///
/// Patterns are PCRE-style regular expressions with named groups, such as `/books/(?P<id>[\d]+)`. They match whole
/// paths, ignoring ASCII case.
pub struct Route<C = ()> {
    pub(crate) pattern: String,
    pub(crate) args: Args,
    pub(crate) schema: Option<SchemaSource>,
    pub(crate) endpoints: Vec<Endpoint<C>>,
    pub(crate) allow_batch: Option<bool>,
    pub(crate) replace: bool,
    pub(crate) conditional: Option<Arc<dyn Conditional>>,
    pub(crate) only_over: Option<TransportCondition>,
    pub(crate) listed: bool,
}

impl<C> Route<C> {
    /// A route without endpoints.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            args: Args::default(),
            schema: None,
            endpoints: Vec::new(),
            allow_batch: None,
            replace: false,
            conditional: None,
            only_over: None,
            listed: true,
        }
    }

    /// Sets the common arguments of all endpoints. An endpoint's own arguments take precedence.
    #[must_use]
    pub fn args(mut self, common: Args) -> Self {
        self.args = common;
        self
    }

    /// Sets the item schema, which `OPTIONS` returns.
    #[must_use]
    pub fn schema(mut self, item: Schema) -> Self {
        self.schema = Some(SchemaSource::Fixed(item));
        self
    }

    /// Sets a function that generates the item schema for a request.
    #[must_use]
    pub fn schema_with(mut self, make: impl Fn(&Context) -> Value + Send + Sync + 'static) -> Self {
        self.schema = Some(SchemaSource::Computed(Arc::new(make)));
        self
    }

    /// Adds an endpoint.
    #[must_use]
    pub fn endpoint(mut self, endpoint: Endpoint<C>) -> Self {
        self.endpoints.push(endpoint);
        self
    }

    /// Allows requests for this route in batches.
    #[must_use]
    pub fn allow_batch(mut self) -> Self {
        self.allow_batch = Some(true);
        self
    }

    /// Disallows requests for this route in batches, and states so in descriptions.
    #[must_use]
    pub fn disallow_batch(mut self) -> Self {
        self.allow_batch = Some(false);
        self
    }

    /// Sets what checks the preconditions of requests for this route, and describes the state of its object.
    #[must_use]
    pub fn conditional(mut self, conditional: Arc<dyn Conditional>) -> Self {
        self.conditional = Some(conditional);
        self
    }

    /// Limits the route to requests over transports for which the condition is true. For other requests the route does not
    /// exist: they do not match it, and descriptions of the API do not contain it.
    #[must_use]
    pub fn only_over(mut self, condition: TransportCondition) -> Self {
        self.only_over = Some(condition);
        self
    }

    /// Leaves the route out of the index, and its namespace if no other route is in it. Clients compare the index with that of other
    /// servers. `OPTIONS` and the OpenAPI document describe the route.
    #[must_use]
    pub fn unlisted(mut self) -> Self {
        self.listed = false;
        self
    }

    /// Replaces an existing route with this pattern instead of adding to it.
    #[must_use]
    pub fn replace(mut self) -> Self {
        self.replace = true;
        self
    }
}

/// Decides by the transport of a request whether a route exists for it. It depends on nothing else, because descriptions of
/// the API are cached by transport.
pub type TransportCondition = fn(Transport) -> bool;

/// An object whose methods handle routes.
pub trait Controller: Send + Sync + Sized + 'static {
    /// The routes, relative to the namespace that the controller is mounted at.
    fn routes(&self) -> Vec<Route<Self>>;
}

/// The source of a route's item schema.
#[derive(Clone)]
pub(crate) enum SchemaSource {
    Fixed(Schema),
    Computed(Arc<dyn Fn(&Context) -> Value + Send + Sync>),
}

impl SchemaSource {
    pub(crate) fn value(&self, cx: &Context) -> Value {
        match self {
            SchemaSource::Fixed(schema) => schema.source().clone(),
            SchemaSource::Computed(make) => make(cx),
        }
    }
}

/// A route of a built server: its pattern and its endpoints, in order of registration.
pub struct RouteEntry {
    /// `/namespace/pattern`. Shared with the responses of the route.
    pub(crate) pattern: Arc<str>,
    pub(crate) namespace: String,
    pub(crate) schema: Option<SchemaSource>,
    pub(crate) endpoints: Vec<BoundEndpoint>,
    pub(crate) methods: Vec<Method>,
    pub(crate) conditional: Option<Arc<dyn Conditional>>,
    pub(crate) only_over: Option<TransportCondition>,
    pub(crate) listed: bool,
    /// Numbers of requests.
    pub(crate) requests: Arc<RouteCounts>,
}

impl RouteEntry {
    pub(crate) fn new(pattern: &str, namespace: String) -> Self {
        Self {
            pattern: pattern.into(),
            namespace,
            schema: None,
            endpoints: Vec::new(),
            methods: Vec::new(),
            conditional: None,
            only_over: None,
            listed: true,
            requests: Arc::default(),
        }
    }

    /// The pattern with its namespace.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The namespace; empty for the two routes at the root.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The methods of all endpoints, without duplicates.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// Whether the route exists for requests over this transport.
    pub fn exists_over(&self, transport: Transport) -> bool {
        self.only_over.is_none_or(|condition| condition(transport))
    }

    /// Whether the index lists the route.
    pub fn is_listed(&self) -> bool {
        self.listed
    }

    /// The endpoints.
    pub fn endpoints(&self) -> impl Iterator<Item = &BoundEndpoint> {
        self.endpoints.iter()
    }

    /// The item schema, if the route has one.
    pub fn schema(&self, cx: &Context) -> Option<Value> {
        self.schema.as_ref().map(|schema| schema.value(cx))
    }

    /// The description of the route for the index, and for `OPTIONS` with `help`, which adds the item schema. `None` if
    /// all endpoints are hidden. `url_of` returns the URL of a route.
    pub(crate) fn describe(&self, cx: &Context, help: bool, url_of: impl Fn(&str) -> String) -> Option<Value> {
        let visible: Vec<_> = self.endpoints.iter().filter(|e| e.show_in_index).collect();
        if visible.is_empty() {
            return None;
        }
        let methods: Vec<Value> = visible.iter().flat_map(|e| method_names(&e.methods)).collect();
        let endpoints: Vec<Value> = visible.iter().map(|e| e.description.clone()).collect();
        let mut out = Map::new();
        out.insert("namespace".to_owned(), self.namespace.clone().into());
        out.insert("methods".to_owned(), methods.into());
        out.insert("endpoints".to_owned(), endpoints.into());
        if let Some(schema) = self.schema.as_ref().filter(|_| help) {
            let mut schema = schema.value(cx);
            describe::resolve_links(&mut schema, &url_of);
            out.insert("schema".to_owned(), schema);
        }
        if !is_variable(&self.pattern) {
            out.insert("_links".to_owned(), json!({ "self": [{ "href": url_of(&self.pattern) }] }));
        }
        Some(out.into())
    }
}

impl std::fmt::Debug for RouteEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RouteEntry")
            .field("pattern", &self.pattern)
            .field("methods", &self.methods)
            .finish_non_exhaustive()
    }
}

/// Whether the route has no single URL, because its pattern has named groups or counted repetitions.
fn is_variable(pattern: &str) -> bool {
    pattern.contains("(?P<") || pattern.contains('{')
}
