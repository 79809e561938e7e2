//! Handler groups: methods, callback, permission and arguments of a route.

use std::marker::PhantomData;
use std::sync::Arc;

use http::Method;
use indexmap::IndexMap;
use serde_json::Value;
use svc_schema::{Args, Sanitizer, Schema, Validator};

use crate::handler::{AuthorizedValue, BoxFuture, Handler, Pair, Wired};
use crate::method::IntoMethods;
use crate::{Map, Request, Response, Result, public};

/// Validation of a request as a whole.
type Check = Arc<dyn Fn(&Request) -> Result<bool> + Send + Sync>;

/// Validates the value of one argument with the request at hand.
type ArgCheck = Arc<dyn Fn(&Request, &Value) -> Result<bool> + Send + Sync>;

/// Sanitizes the value of one argument with the request at hand.
type ArgSanitizer = Arc<dyn Fn(&Request, &Value) -> Result<Value> + Send + Sync>;

/// Steps of single arguments that need the request, by the argument's name.
#[derive(Clone, Default)]
pub(crate) struct ArgSteps {
    pub(crate) checks: IndexMap<String, ArgCheck>,
    pub(crate) sanitizers: IndexMap<String, ArgSanitizer>,
}

/// A handler group: methods, callback, permission, arguments. `C` is the controller whose methods it names.
pub struct Endpoint<C = ()> {
    pub(crate) methods: Vec<Method>,
    pub(crate) pair: Arc<dyn Pair<C>>,
    pub(crate) has_permission: bool,
    pub(crate) args: Args,
    pub(crate) check: Option<Check>,
    pub(crate) steps: ArgSteps,
    pub(crate) show_in_index: bool,
    pub(crate) allow_batch: Option<bool>,
    pub(crate) cacheable: bool,
}

/// A handler group for these methods. `permission` decides who may call it; what it returns goes to the callback.
pub fn on<C, P, A, B>(
    methods: impl IntoMethods,
    callback: impl Handler<C, A, P, Response>,
    permission: impl Handler<C, B, (), P>,
) -> Endpoint<C>
where
    C: Send + Sync + 'static,
    P: Send + 'static,
    A: 'static,
    B: 'static,
{
    Endpoint {
        methods: methods.into_methods(),
        pair: Arc::new(Wired::<_, _, P, A, B> { callback, permission: Arc::new(permission), types: PhantomData }),
        has_permission: true,
        args: Args::default(),
        check: None,
        steps: ArgSteps::default(),
        show_in_index: true,
        allow_batch: None,
        cacheable: false,
    }
}

/// A handler group for `GET` (which serves `HEAD` too).
pub fn get<C, P, A, B>(callback: impl Handler<C, A, P, Response>, permission: impl Handler<C, B, (), P>) -> Endpoint<C>
where
    C: Send + Sync + 'static,
    P: Send + 'static,
    A: 'static,
    B: 'static,
{
    on(Method::GET, callback, permission)
}

/// A handler group that names no permission. It is open to everybody, and its registration raises a notice: write
/// [`public`] for routes that are meant to be open.
pub fn without_permission<C, A>(methods: impl IntoMethods, callback: impl Handler<C, A, (), Response>) -> Endpoint<C>
where
    C: Send + Sync + 'static,
    A: 'static,
{
    Endpoint { has_permission: false, ..on::<C, (), A, (Request,)>(methods, callback, public) }
}

impl<C> Endpoint<C> {
    /// Sets the arguments. They win over the common arguments of the route.
    #[must_use]
    pub fn args(mut self, args: Args) -> Self {
        self.args = args;
        self
    }

    /// Checks the request as a whole, after its parameters: `Ok(false)` answers `rest_invalid_params` (400).
    #[must_use]
    pub fn validate(mut self, check: impl Fn(&Request) -> Result<bool> + Send + Sync + 'static) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Validates one argument by this function, which sees the request, instead of by its own validator: for values that
    /// the state of the site decides on. It runs in the first step, in the order of the route's arguments.
    #[must_use]
    pub fn validate_arg(
        mut self,
        name: &str,
        check: impl Fn(&Request, &Value) -> Result<bool> + Send + Sync + 'static,
    ) -> Self {
        self.steps.checks.insert(name.to_owned(), Arc::new(check));
        self
    }

    /// Sanitizes one argument by this function, which sees the request, instead of by its own sanitizer. It runs in the
    /// second step, only when every argument was valid in the first; the values that it sees in the request are those that
    /// were sent.
    #[must_use]
    pub fn sanitize_arg(
        mut self,
        name: &str,
        clean: impl Fn(&Request, &Value) -> Result<Value> + Send + Sync + 'static,
    ) -> Self {
        self.steps.sanitizers.insert(name.to_owned(), Arc::new(clean));
        self
    }

    /// Keeps the group out of the index and of `OPTIONS`.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.show_in_index = false;
        self
    }

    /// Says that the answers may be given again (RFC 9111) while what the embedding program calls the state of its data is
    /// the same: they depend on that, on the address and on the caller alone; not on other headers, on chance, or on the
    /// clock by less than a second. See [`Served::cacheable`](crate::response::Served::cacheable).
    #[must_use]
    pub fn cacheable(mut self) -> Self {
        self.cacheable = true;
        self
    }

    /// Says whether batches may hold such requests; without it the route's word counts.
    #[must_use]
    pub fn allow_batch(mut self, allow: bool) -> Self {
        self.allow_batch = Some(allow);
        self
    }
}

/// A handler group bound to its controller: what [`Request::endpoint`] shows.
pub struct Bound {
    pub(crate) methods: Vec<Method>,
    pub(crate) invoke: Box<dyn Invoke>,
    pub(crate) has_permission: bool,
    pub(crate) args: Args,
    pub(crate) defaults: Map,
    pub(crate) check: Option<Check>,
    pub(crate) steps: ArgSteps,
    pub(crate) show_in_index: bool,
    pub(crate) allow_batch: bool,
    pub(crate) cacheable: bool,
    /// As the index shows it, made once.
    pub(crate) description: Value,
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound").field("methods", &self.methods).finish_non_exhaustive()
    }
}

impl Bound {
    /// The methods served.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The arguments, those of the route included.
    pub fn args(&self) -> &Args {
        &self.args
    }

    /// Whether the argument is validated in the first step, before any argument is sanitized.
    pub fn validates_first(&self, name: &str) -> bool {
        let arg = self.args.get(name);
        self.steps.checks.contains_key(name) || arg.is_some_and(|arg| !matches!(arg.validate, Validator::None))
    }

    /// Whether the argument is sanitized by a function, or by its schema, in the second step.
    pub fn sanitizes(&self, name: &str) -> bool {
        let arg = self.args.get(name);
        self.steps.sanitizers.contains_key(name) || arg.is_some_and(|arg| !matches!(arg.sanitize, Sanitizer::None))
    }

    /// Whether a request with this method is for this group: `HEAD` is served by `GET` where it has no group.
    pub(crate) fn serves(&self, method: &Method) -> bool {
        self.methods.contains(method) || (*method == Method::HEAD && self.methods.contains(&Method::GET))
    }
}

/// A pair with its controller inside.
pub(crate) trait Invoke: Send + Sync {
    fn permit(&self, req: Request) -> BoxFuture<Result<AuthorizedValue>>;
    fn call(&self, req: Request, granted: AuthorizedValue) -> BoxFuture<Result<Response>>;
}

struct WithController<C> {
    controller: Arc<C>,
    pair: Arc<dyn Pair<C>>,
}

impl<C: Send + Sync + 'static> Invoke for WithController<C> {
    fn permit(&self, req: Request) -> BoxFuture<Result<AuthorizedValue>> {
        self.pair.permit(Arc::clone(&self.controller), req)
    }

    fn call(&self, req: Request, granted: AuthorizedValue) -> BoxFuture<Result<Response>> {
        self.pair.call(Arc::clone(&self.controller), req, granted)
    }
}

impl<C: Send + Sync + 'static> Endpoint<C> {
    /// Puts the controller in, and merges what the route says for all its groups.
    pub(crate) fn bind(self, controller: &Arc<C>, common: &Args, allow_batch: Option<bool>) -> Bound {
        let args = self.args.over(common);
        let allow_batch = self.allow_batch.or(allow_batch);
        let mut defaults = args.defaults();
        // A default of null is no default.
        defaults.retain(|_, value| !value.is_null());
        Bound {
            description: crate::options::describe_endpoint(&self.methods, &args, allow_batch),
            methods: self.methods,
            invoke: Box::new(WithController { controller: Arc::clone(controller), pair: self.pair }),
            has_permission: self.has_permission,
            args,
            defaults,
            check: self.check,
            steps: self.steps,
            show_in_index: self.show_in_index,
            allow_batch: allow_batch.unwrap_or(false),
            cacheable: self.cacheable,
        }
    }
}

/// Where a route's schema comes from.
#[derive(Clone)]
pub(crate) enum SchemaSource {
    Fixed(Schema),
    Made(Arc<dyn Fn() -> Value + Send + Sync>),
}

impl SchemaSource {
    pub(crate) fn value(&self) -> Value {
        match self {
            SchemaSource::Fixed(schema) => schema.source().clone(),
            SchemaSource::Made(make) => make(),
        }
    }
}

/// A route of the frozen server: its pattern and its handler groups in order of registration.
pub struct RouteEntry {
    /// `/namespace/pattern`.
    pub(crate) pattern: String,
    pub(crate) namespace: String,
    pub(crate) schema: Option<SchemaSource>,
    pub(crate) endpoints: Vec<Arc<Bound>>,
    pub(crate) methods: Vec<Method>,
}

impl RouteEntry {
    pub(crate) fn new(pattern: String, namespace: String) -> Self {
        Self { pattern, namespace, schema: None, endpoints: Vec::new(), methods: Vec::new() }
    }

    /// The pattern with its namespace.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The namespace; empty for the two root routes.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Every method that some group serves, each once.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The handler groups.
    pub fn endpoints(&self) -> impl Iterator<Item = &Bound> {
        self.endpoints.iter().map(AsRef::as_ref)
    }

    /// The item schema, if the route has one.
    pub fn schema(&self) -> Option<Value> {
        self.schema.as_ref().map(SchemaSource::value)
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
