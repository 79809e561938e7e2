//! Routes and controllers, as they are registered.

use std::sync::Arc;

use serde_json::Value;
use svc_schema::{Args, Schema};

use crate::endpoint::{Endpoint, SchemaSource};

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

    /// Sets a function that generates the item schema on request.
    #[must_use]
    pub fn schema_with(mut self, make: impl Fn() -> Value + Send + Sync + 'static) -> Self {
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

    /// Replaces an existing route with this pattern instead of adding to it.
    #[must_use]
    pub fn replace(mut self) -> Self {
        self.replace = true;
        self
    }
}

/// An object whose methods handle routes.
pub trait Controller: Send + Sync + Sized + 'static {
    /// The routes, relative to the namespace that the controller is mounted at.
    fn routes(&self) -> Vec<Route<Self>>;
}
