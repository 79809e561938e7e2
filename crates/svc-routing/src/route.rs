//! Routes as they are registered, and controllers, which are objects with routes.

use std::sync::Arc;

use serde_json::Value;
use svc_schema::{Args, Schema};

use crate::endpoint::{Endpoint, SchemaSource};

/// A route: a pattern under a namespace, its handler groups, and what they share.
///
/// Patterns are regular expressions in the manner of PCRE with named groups, `/books/(?P<id>[\d]+)`; they match whole
/// paths, without regard to ASCII letter case.
pub struct Route<C = ()> {
    pub(crate) pattern: String,
    pub(crate) args: Args,
    pub(crate) schema: Option<SchemaSource>,
    pub(crate) endpoints: Vec<Endpoint<C>>,
    pub(crate) allow_batch: Option<bool>,
    pub(crate) replace: bool,
}

impl<C> Route<C> {
    /// A route without handler groups.
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

    /// Sets the common arguments, merged into every handler group; the group's own win.
    #[must_use]
    pub fn args(mut self, common: Args) -> Self {
        self.args = common;
        self
    }

    /// Sets the item schema, shown by `OPTIONS`.
    #[must_use]
    pub fn schema(mut self, item: Schema) -> Self {
        self.schema = Some(SchemaSource::Fixed(item));
        self
    }

    /// Sets a function that makes the item schema when it is asked for.
    #[must_use]
    pub fn schema_with(mut self, make: impl Fn() -> Value + Send + Sync + 'static) -> Self {
        self.schema = Some(SchemaSource::Made(Arc::new(make)));
        self
    }

    /// Adds a handler group.
    #[must_use]
    pub fn endpoint(mut self, endpoint: Endpoint<C>) -> Self {
        self.endpoints.push(endpoint);
        self
    }

    /// Lets batches hold requests for this route.
    #[must_use]
    pub fn allow_batch(mut self) -> Self {
        self.allow_batch = Some(true);
        self
    }

    /// Says in descriptions that batches may not hold requests for this route.
    #[must_use]
    pub fn refuse_batch(mut self) -> Self {
        self.allow_batch = Some(false);
        self
    }

    /// Replaces a route with this pattern, instead of adding to it.
    #[must_use]
    pub fn replace(mut self) -> Self {
        self.replace = true;
        self
    }
}

/// An object whose methods answer routes.
pub trait Controller: Send + Sync + Sized + 'static {
    /// The routes, under the namespace that the controller is mounted at.
    fn routes(&self) -> Vec<Route<Self>>;
}
