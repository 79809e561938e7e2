//! Route and permission callbacks: async functions, or methods of a controller.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::{Request, Response, Result};

/// A boxed future that may move between threads.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An async function of a request, or a method of a controller.
///
/// A callback may take the permission's result as its last argument; it can then only be combined with a permission
/// that returns this type. `Args` only distinguishes the signatures and is inferred.
///
/// ```
/// use svc_routing::{Request, Response, Result, get, forbidden, Endpoint};
/// struct Book(u64);
/// async fn may_read(req: Request) -> Result<Book> {
///     Ok(Book(req.require("id")?))
/// }
/// async fn read(_req: Request, book: Book) -> Result<Response> {
///     Ok(Response::new(book.0))
/// }
/// let endpoint: Endpoint = get(read, may_read);
/// ```
///
/// A callback that ignores its permission's result does not compile, nor does one that expects another type:
///
/// ```compile_fail
/// use svc_routing::{Request, Response, Result, get, Endpoint};
/// async fn may_read(_: Request) -> Result<String> { Ok(String::new()) }
/// async fn read(_: Request) -> Result<Response> { Ok(Response::new(1)) }
/// let endpoint: Endpoint = get(read, may_read);
/// ```
///
/// ```compile_fail
/// use svc_routing::{Request, Response, Result, get, public, Endpoint};
/// async fn read(_: Request, book: String) -> Result<Response> { Ok(Response::new(book)) }
/// let endpoint: Endpoint = get(read, public);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a route callback",
    note = "write `async fn f(req: Request[, authorized: P]) -> Result<_>` or `async fn f(self: Arc<Self>, req: Request[, authorized: P]) -> Result<_>`"
)]
pub trait Handler<C, Args, In, Out>: Send + Sync + 'static {
    /// Calls the function.
    fn call(&self, controller: Arc<C>, req: Request, authorized: In) -> BoxFuture<Result<Out>>;
}

impl<C, F, Fut, Out> Handler<C, (Request,), (), Out> for F
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Out>> + Send + 'static,
{
    fn call(&self, _: Arc<C>, req: Request, (): ()) -> BoxFuture<Result<Out>> {
        Box::pin(self(req))
    }
}

impl<C, F, Fut, Out> Handler<C, (C, Request), (), Out> for F
where
    F: Fn(Arc<C>, Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Out>> + Send + 'static,
{
    fn call(&self, controller: Arc<C>, req: Request, (): ()) -> BoxFuture<Result<Out>> {
        Box::pin(self(controller, req))
    }
}

impl<C, F, Fut, In, Out> Handler<C, (Request, In), In, Out> for F
where
    F: Fn(Request, In) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Out>> + Send + 'static,
{
    fn call(&self, _: Arc<C>, req: Request, authorized: In) -> BoxFuture<Result<Out>> {
        Box::pin(self(req, authorized))
    }
}

impl<C, F, Fut, In, Out> Handler<C, (C, Request, In), In, Out> for F
where
    F: Fn(Arc<C>, Request, In) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Out>> + Send + 'static,
{
    fn call(&self, controller: Arc<C>, req: Request, authorized: In) -> BoxFuture<Result<Out>> {
        Box::pin(self(controller, req, authorized))
    }
}

/// The permission of routes that anybody may call.
pub async fn public(_: Request) -> Result<()> {
    Ok(())
}

/// A permission from a predicate. If it returns false, the response is `rest_forbidden`.
///
/// ```
/// use svc_routing::{Request, Response, Result, Endpoint, get, allow_if};
/// async fn hello(_: Request) -> Result<Response> { Ok(Response::new("hello")) }
/// let endpoint: Endpoint = get(hello, allow_if(|req| req.is_authenticated()));
/// ```
pub fn allow_if(
    condition: impl Fn(&Request) -> bool + Send + Sync + 'static,
) -> impl Fn(Request) -> std::future::Ready<Result<()>> + Send + Sync + 'static {
    move |req| std::future::ready(if condition(&req) { Ok(()) } else { Err(crate::error::rest_forbidden(&req)) })
}

/// A permission result with more detail than success or failure. Return it from the permission callback, and take it as
/// last argument of the callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionResult {
    /// True: the request is allowed, and `Allow` lists the methods.
    True,
    /// Another truthy value: the request is allowed, but `Allow` does not list the methods.
    Truthy,
    /// False or null: `rest_forbidden`.
    Denied,
}

/// The permission's result, on its way to the callback.
pub(crate) struct AuthorizedValue {
    value: Box<dyn Any + Send>,
    /// Whether `Allow` lists the methods.
    pub(crate) exact: bool,
}

impl AuthorizedValue {
    /// # Errors
    /// `rest_forbidden` for [`PermissionResult::Denied`].
    fn new<P: Send + 'static>(value: P, req: &Request) -> Result<Self> {
        let decision = (&value as &dyn Any).downcast_ref::<PermissionResult>().copied();
        match decision {
            Some(PermissionResult::Denied) => Err(crate::error::rest_forbidden(req)),
            other => Ok(Self { value: Box::new(value), exact: other != Some(PermissionResult::Truthy) }),
        }
    }

    fn take<P: 'static>(self) -> P {
        *self.value.downcast().expect("the callback's argument type is its permission's result type")
    }
}

/// A callback and its permission. The type of the permission's result is erased.
pub(crate) trait CallbackPair<C>: Send + Sync {
    /// Calls the permission callback.
    fn authorize(&self, controller: Arc<C>, req: Request) -> BoxFuture<Result<AuthorizedValue>>;
    /// Calls the callback.
    fn call(&self, controller: Arc<C>, req: Request, authorized: AuthorizedValue) -> BoxFuture<Result<Response>>;
}

/// Marks types as used without storing values.
type TypeMarker<P, A, B> = std::marker::PhantomData<fn() -> (P, A, B)>;

/// The implementation of [`CallbackPair`]. `A` and `B` are the marker types of the two handlers.
pub(crate) struct TypedPair<H, Q, P, A, B> {
    pub(crate) callback: H,
    pub(crate) permission: Arc<Q>,
    pub(crate) types: TypeMarker<P, A, B>,
}

impl<C, H, Q, P, A, B> CallbackPair<C> for TypedPair<H, Q, P, A, B>
where
    C: Send + Sync + 'static,
    P: Send + 'static,
    A: 'static,
    B: 'static,
    H: Handler<C, A, P, Response>,
    Q: Handler<C, B, (), P>,
{
    fn authorize(&self, controller: Arc<C>, req: Request) -> BoxFuture<Result<AuthorizedValue>> {
        let permission = Arc::clone(&self.permission);
        Box::pin(async move { AuthorizedValue::new(permission.call(controller, req.clone(), ()).await?, &req) })
    }

    fn call(&self, controller: Arc<C>, req: Request, authorized: AuthorizedValue) -> BoxFuture<Result<Response>> {
        self.callback.call(controller, req, authorized.take())
    }
}
