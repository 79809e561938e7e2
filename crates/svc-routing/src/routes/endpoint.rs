//! Endpoints: methods, callback, permission and arguments of a route.

use std::marker::PhantomData;
use std::sync::Arc;

use http::Method;
use indexmap::IndexMap;
use serde_json::Value;
use svc_schema::{Args, Sanitizer, Validator};

use super::describe::describe_endpoint;
use crate::handler::{BoxFuture, CallbackPair, Handler, TypedPair};
use crate::permission::{AuthorizedValue, public};
use crate::{IntoMethods, Map, Request, Response, Result};

/// Validates a request as a whole.
type RequestValidator = Arc<dyn Fn(&Request) -> Result<bool> + Send + Sync>;

/// Validates one argument with access to the request.
type ArgValidator = Arc<dyn Fn(&Request, &Value) -> Result<bool> + Send + Sync>;

/// Sanitizes one argument with access to the request.
type ArgSanitizer = Arc<dyn Fn(&Request, &Value) -> Result<Value> + Send + Sync>;

/// Validators and sanitizers that need the request, by argument name.
#[derive(Clone, Default)]
pub(crate) struct ArgSteps {
    pub(crate) validators: IndexMap<String, ArgValidator>,
    pub(crate) sanitizers: IndexMap<String, ArgSanitizer>,
}

/// The form of successful responses, for documents that describe the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// An object as the route's item schema describes it.
    Item,
    /// An array of such objects.
    List,
    /// An object with such objects as values.
    Map,
    /// A file of this media type.
    File(&'static str),
    /// Something that the item schema does not describe.
    Other,
}

/// How long a request takes, compared with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cost {
    /// As long as most.
    #[default]
    Light,
    /// Much longer, such as a search in texts. A program with separate threads for such requests does not let them delay others.
    Heavy,
}

/// Offset in a list beyond which a page of it takes long.
const DEEP: u64 = 5_000;

impl Cost {
    /// The cost of a page of a list at this offset: heavy far into the list.
    pub fn of_offset(offset: u64) -> Self {
        if offset > DEEP { Cost::Heavy } else { Cost::Light }
    }
}

/// Estimates the cost of a request from the parameters that were sent, before they are validated.
type EstimateCost = Arc<dyn Fn(&Request) -> Cost + Send + Sync>;

/// An endpoint: methods, callback, permission, arguments. `C` is the controller that its methods belong to.
pub struct Endpoint<C = ()> {
    pub(crate) methods: Vec<Method>,
    pub(crate) pair: Arc<dyn CallbackPair<C>>,
    pub(crate) has_permission: bool,
    pub(crate) args: Args,
    pub(crate) check: Option<RequestValidator>,
    pub(crate) steps: ArgSteps,
    pub(crate) show_in_index: bool,
    pub(crate) allow_batch: Option<bool>,
    pub(crate) waits: bool,
    pub(crate) cacheable: bool,
    pub(crate) has_markdown: bool,
    pub(crate) cost: Option<EstimateCost>,
    pub(crate) returns: Option<Returns>,
    pub(crate) accepts_file: bool,
    /// Example bodies, each for a method or for all.
    pub(crate) examples: Vec<(Option<Method>, Value)>,
}

/// An endpoint for these methods. `permission` decides who may call it; its result is passed to the callback.
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
        pair: Arc::new(TypedPair::<_, _, P, A, B> { callback, permission: Arc::new(permission), types: PhantomData }),
        has_permission: true,
        args: Args::default(),
        check: None,
        steps: ArgSteps::default(),
        show_in_index: true,
        allow_batch: None,
        waits: false,
        cacheable: false,
        has_markdown: false,
        cost: None,
        returns: None,
        accepts_file: false,
        examples: Vec::new(),
    }
}

/// An endpoint for `GET`, which also handles `HEAD`.
pub fn get<C, P, A, B>(callback: impl Handler<C, A, P, Response>, permission: impl Handler<C, B, (), P>) -> Endpoint<C>
where
    C: Send + Sync + 'static,
    P: Send + 'static,
    A: 'static,
    B: 'static,
{
    on(Method::GET, callback, permission)
}

/// An endpoint without a permission callback. Anybody may call it, and its registration raises a notice. Use [`public`]
/// for routes that are intentionally open.
pub fn without_permission<C, A>(methods: impl IntoMethods, callback: impl Handler<C, A, (), Response>) -> Endpoint<C>
where
    C: Send + Sync + 'static,
    A: 'static,
{
    Endpoint { has_permission: false, ..on::<C, (), A, (Request,)>(methods, callback, public) }
}

impl<C> Endpoint<C> {
    /// Sets the arguments. They take precedence over the common arguments of the route.
    #[must_use]
    pub fn args(mut self, args: Args) -> Self {
        self.args = args;
        self
    }

    /// Validates the request as a whole, after its parameters. `Ok(false)` results in `rest_invalid_params` (400).
    #[must_use]
    pub fn validate(mut self, check: impl Fn(&Request) -> Result<bool> + Send + Sync + 'static) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Validates one argument with this function, which has access to the request, instead of its own validator. Use it
    /// for values whose validity depends on the site's state. It runs in the first step, in the order of the route's
    /// arguments.
    #[must_use]
    pub fn validate_arg(
        mut self,
        name: &str,
        check: impl Fn(&Request, &Value) -> Result<bool> + Send + Sync + 'static,
    ) -> Self {
        self.steps.validators.insert(name.to_owned(), Arc::new(check));
        self
    }

    /// Sanitizes one argument with this function, which has access to the request, instead of its own sanitizer. It
    /// runs in the second step, only if every argument is valid. The request contains the values that were sent.
    #[must_use]
    pub fn sanitize_arg(
        mut self,
        name: &str,
        clean: impl Fn(&Request, &Value) -> Result<Value> + Send + Sync + 'static,
    ) -> Self {
        self.steps.sanitizers.insert(name.to_owned(), Arc::new(clean));
        self
    }

    /// Hides the endpoint from the index and from `OPTIONS`.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.show_in_index = false;
        self
    }

    /// Allows caching of responses (RFC 9111) until the data changes that the handler reads. Responses must depend only on
    /// recorded data, the URL and the caller; not on other headers or on randomness. The store and the clock of a site
    /// record what is read; a handler that reads something else records it with the crate `svc-versions`. See [`Served::cacheable`](crate::Served::cacheable).
    #[must_use]
    pub fn cacheable(mut self) -> Self {
        self.cacheable = true;
        self
    }

    /// Declares that responses are Markdown for requests that [prefer](crate::prefers_markdown) it, so that they vary by `Accept`.
    #[must_use]
    pub fn markdown(mut self) -> Self {
        self.has_markdown = true;
        self
    }

    /// Declares which requests take long. Without it, none do. `estimate` must neither block nor read data, and gets parameters as
    /// they were sent. See [`Server::cost`](crate::Server::cost).
    #[must_use]
    pub fn cost(mut self, estimate: impl Fn(&Request) -> Cost + Send + Sync + 'static) -> Self {
        self.cost = Some(Arc::new(estimate));
        self
    }

    /// Declares the form of successful responses for documents that describe the API. By default, such documents derive
    /// it from the arguments and the other routes.
    #[must_use]
    pub fn returns(mut self, form: Returns) -> Self {
        self.returns = Some(form);
        self
    }

    /// Declares that a request may have a file as its body, or as `file` in a form, for documents that describe the API.
    #[must_use]
    pub fn accepts_file(mut self) -> Self {
        self.accepts_file = true;
        self
    }

    /// Sets a body with which the request of an administrator succeeds on a new site, for documents that describe the
    /// API. Clients such as the API explorer fill in their forms with it.
    #[must_use]
    pub fn example(mut self, body: Value) -> Self {
        self.examples.push((None, body));
        self
    }

    /// [`Self::example`] for one method, if a method needs another body than the others.
    #[must_use]
    pub fn example_for(mut self, method: Method, body: Value) -> Self {
        self.examples.insert(0, (Some(method), body));
        self
    }

    /// Declares that the handler waits, such as for another server. Batches do not read from the endpoint, because they keep a snapshot
    /// of the data open.
    #[must_use]
    pub fn waits(mut self) -> Self {
        self.waits = true;
        self
    }

    /// Sets whether batches may contain requests for this endpoint. The default is the route's setting.
    #[must_use]
    pub fn allow_batch(mut self, allow: bool) -> Self {
        self.allow_batch = Some(allow);
        self
    }
}

/// An endpoint of a built server, bound to its controller. Its arguments include those of its route.
pub struct BoundEndpoint {
    pub(crate) methods: Vec<Method>,
    pub(crate) invoke: Box<dyn Invoke>,
    pub(crate) has_permission: bool,
    /// Shared with the requests that matched this endpoint.
    pub(crate) args: Arc<Args>,
    /// The names of the required arguments.
    pub(crate) required: Vec<String>,
    pub(crate) defaults: Defaults,
    pub(crate) check: Option<RequestValidator>,
    pub(crate) steps: ArgSteps,
    pub(crate) show_in_index: bool,
    pub(crate) allow_batch: bool,
    /// Whether batches may read from the endpoint.
    pub(crate) allow_batched_reads: bool,
    pub(crate) cacheable: bool,
    pub(crate) has_markdown: bool,
    pub(crate) cost: Option<EstimateCost>,
    pub(crate) returns: Option<Returns>,
    pub(crate) accepts_file: bool,
    /// Example bodies, each for a method or for all.
    pub(crate) examples: Vec<(Option<Method>, Value)>,
    /// The description for the index, computed once.
    pub(crate) description: Value,
}

/// The defaults of an endpoint's arguments, validated and sanitized as far as this does not depend on a request.
pub(crate) struct Defaults {
    /// The values.
    pub(crate) values: Arc<Map>,
    /// The names of those that each request must validate.
    pub(crate) unvalidated: Vec<String>,
    /// The names of those that each request must sanitize.
    pub(crate) unsanitized: Vec<String>,
}

impl Defaults {
    fn new(args: &Args, steps: &ArgSteps) -> Self {
        let mut values = args.defaults();
        // A null default counts as none.
        values.retain(|_, value| !value.is_null());
        let (mut unvalidated, mut unsanitized) = (Vec::new(), Vec::new());
        for (name, value) in &mut values {
            let Some(arg) = args.get(name) else { continue };
            // Functions may depend on more than the value.
            let validates_by_function =
                steps.validators.contains_key(name) || matches!(arg.validate, Validator::Custom(_));
            if validates_by_function || !matches!(arg.check(value, name), Ok(true)) {
                unvalidated.push(name.clone());
            }
            let sanitizes_by_function =
                steps.sanitizers.contains_key(name) || matches!(arg.sanitize, Sanitizer::Custom(_));
            match (!sanitizes_by_function).then(|| arg.clean(value.clone(), name)) {
                Some(Ok(clean)) => *value = clean,
                _ => unsanitized.push(name.clone()),
            }
        }
        Defaults { values: Arc::new(values), unvalidated, unsanitized }
    }
}

impl std::fmt::Debug for BoundEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundEndpoint").field("methods", &self.methods).finish_non_exhaustive()
    }
}

impl BoundEndpoint {
    /// The methods.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The arguments, including those of the route.
    pub fn args(&self) -> &Args {
        &self.args
    }

    /// Whether the endpoint is left out of descriptions.
    pub fn is_hidden(&self) -> bool {
        !self.show_in_index
    }

    /// Whether batches may contain requests for this endpoint that write.
    pub fn allows_batch(&self) -> bool {
        self.allow_batch
    }

    /// Whether batches may contain requests for this endpoint with this method.
    pub(crate) fn allows_in_batch(&self, method: &Method) -> bool {
        if matches!(*method, Method::GET | Method::HEAD) { self.allow_batched_reads } else { self.allow_batch }
    }

    /// Whether responses vary by `Accept`.
    pub fn has_markdown(&self) -> bool {
        self.has_markdown
    }

    /// The form of successful responses, if it is declared.
    pub fn returned_form(&self) -> Option<Returns> {
        self.returns
    }

    /// Whether a request may have a file as its body.
    pub fn takes_file(&self) -> bool {
        self.accepts_file
    }

    /// A request body with which this method succeeds on a new site, if one is declared.
    pub fn example_body(&self, method: &Method) -> Option<&Value> {
        let fits = |(only, _): &&(Option<Method>, Value)| only.as_ref().is_none_or(|only| only == method);
        self.examples.iter().find(fits).map(|(_, body)| body)
    }

    /// Whether the argument is validated in the first step, before any argument is sanitized.
    pub fn validates_first(&self, name: &str) -> bool {
        let arg = self.args.get(name);
        self.steps.validators.contains_key(name) || arg.is_some_and(|arg| !matches!(arg.validate, Validator::None))
    }

    /// Whether the argument is sanitized in the second step, by a function or by its schema.
    pub fn sanitizes(&self, name: &str) -> bool {
        let arg = self.args.get(name);
        self.steps.sanitizers.contains_key(name) || arg.is_some_and(|arg| !matches!(arg.sanitize, Sanitizer::None))
    }

    /// Whether the endpoint handles this method: `GET` endpoints handle `HEAD` if no other endpoint does.
    pub(crate) fn handles(&self, method: &Method) -> bool {
        self.methods.contains(method) || (*method == Method::HEAD && self.methods.contains(&Method::GET))
    }
}

/// A callback and permission, bound to a controller.
pub(crate) trait Invoke: Send + Sync {
    fn authorize(&self, req: Request) -> BoxFuture<Result<AuthorizedValue>>;
    fn call(&self, req: Request, authorized: AuthorizedValue) -> BoxFuture<Result<Response>>;
}

struct WithController<C> {
    controller: Arc<C>,
    pair: Arc<dyn CallbackPair<C>>,
}

impl<C: Send + Sync + 'static> Invoke for WithController<C> {
    fn authorize(&self, req: Request) -> BoxFuture<Result<AuthorizedValue>> {
        self.pair.authorize(Arc::clone(&self.controller), req)
    }

    fn call(&self, req: Request, authorized: AuthorizedValue) -> BoxFuture<Result<Response>> {
        self.pair.call(Arc::clone(&self.controller), req, authorized)
    }
}

impl<C: Send + Sync + 'static> Endpoint<C> {
    /// Binds the controller and merges the route's common settings.
    pub(crate) fn bind(self, controller: &Arc<C>, common: &Args, allow_batch: Option<bool>) -> BoundEndpoint {
        let args = self.args.over(common);
        let allow_batch = self.allow_batch.or(allow_batch);
        let required = args.iter().filter(|(_, arg)| arg.required).map(|(name, _)| name.to_owned()).collect();
        BoundEndpoint {
            description: describe_endpoint(&self.methods, &args, allow_batch),
            methods: self.methods,
            invoke: Box::new(WithController { controller: Arc::clone(controller), pair: self.pair }),
            has_permission: self.has_permission,
            required,
            defaults: Defaults::new(&args, &self.steps),
            args: Arc::new(args),
            check: self.check,
            steps: self.steps,
            show_in_index: self.show_in_index,
            allow_batched_reads: !self.waits && self.allow_batch != Some(false),
            allow_batch: allow_batch.unwrap_or(false),
            cacheable: self.cacheable,
            has_markdown: self.has_markdown,
            cost: self.cost,
            returns: self.returns,
            accepts_file: self.accepts_file,
            examples: self.examples,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use svc_schema::Arg;
    use svc_schema::build::{integer, string};

    use super::*;
    use crate::{Response, public};

    async fn ok(_: Request) -> Result {
        Ok(Response::default())
    }

    #[test]
    fn pages_far_into_a_list_are_heavy() {
        assert_eq!([0, DEEP, DEEP + 1].map(Cost::of_offset), [Cost::Light, Cost::Light, Cost::Heavy]);
    }

    #[test]
    fn a_bound_endpoint_has_the_settings_of_endpoint_and_route() {
        let common = Args::from([("id", integer()), ("a", string())]);
        let controller = Arc::new(());
        let plain = get(ok, public).bind(&controller, &common, Some(true));
        assert_eq!((plain.methods(), plain.args().iter().count()), (&[Method::GET][..], 2));
        assert!(plain.allows_batch() && !plain.is_hidden() && !plain.takes_file());
        assert_eq!((plain.returned_form(), plain.example_body(&Method::GET)), (None, None));
        let full = on("PUT,POST", ok, public)
            .args(Args::from([("a", integer()), ("b", integer())]))
            .hidden()
            .accepts_file()
            .returns(Returns::Map)
            .allow_batch(false)
            .example(json!("any"))
            .example_for(Method::PUT, json!("put"))
            .bind(&controller, &common, Some(true));
        assert_eq!(full.methods(), [Method::PUT, Method::POST]);
        assert_eq!(full.args().iter().map(|(name, _)| name).collect::<Vec<_>>(), ["id", "a", "b"]);
        assert!(!full.allows_batch() && full.is_hidden() && full.takes_file());
        assert_eq!(full.returned_form(), Some(Returns::Map));
        let example = |method| full.example_body(&method).and_then(Value::as_str);
        assert_eq!((example(Method::PUT), example(Method::POST)), (Some("put"), Some("any")));
        assert_eq!(format!("{full:?}"), "BoundEndpoint { methods: [PUT, POST], .. }");
    }

    #[test]
    fn steps_of_arguments() {
        let args = Args::from([
            ("parsed", Arg::new(integer())),
            ("by_schema", Arg::by_schema(integer())),
            ("free", Arg::default()),
            ("checked", Arg::default()),
            ("cleaned", Arg::default()),
        ]);
        let endpoint = get(ok, public)
            .args(args)
            .validate_arg("checked", |_, _| Ok(true))
            .sanitize_arg("cleaned", |_, value| Ok(value.clone()))
            .bind(&Arc::new(()), &Args::new(), None);
        for (name, validates, sanitizes) in [
            ("parsed", false, true),
            ("by_schema", true, true),
            ("free", false, false),
            ("checked", true, false),
            ("cleaned", false, true),
            ("unknown", false, false),
        ] {
            assert_eq!((endpoint.validates_first(name), endpoint.sanitizes(name)), (validates, sanitizes), "{name}");
        }
    }
}
