//! Route and permission callbacks: async functions, or methods of a controller. Dispatchers of requests.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::permission::AuthorizedValue;
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

/// Dispatches requests: the server's own dispatcher, or one that the [`server`](crate::Hooks::server) hook wraps around
/// it.
pub trait Dispatch: Send + Sync {
    /// Responds to a request.
    fn dispatch(&self, req: Request) -> BoxFuture<Response>;
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
