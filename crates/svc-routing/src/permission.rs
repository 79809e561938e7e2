//! Permission callbacks: the usual ones, their results, and the errors of those that deny access.

use std::any::Any;

use svc_schema::Error;

use crate::{Request, Result};

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
    move |req| std::future::ready(if condition(&req) { Ok(()) } else { Err(rest_forbidden(&req)) })
}

/// An authorization error: 401 for anonymous callers, otherwise 403.
pub fn forbidden(req: &Request, code: &str, message: &str) -> Error {
    Error::new(code, message).with_status(req.authorization_status())
}

/// The permission callback denied access without an error of its own.
fn rest_forbidden(req: &Request) -> Error {
    forbidden(req, "rest_forbidden", "You do not have permission to do this.")
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
    pub(crate) fn new<P: Send + 'static>(value: P, req: &Request) -> Result<Self> {
        let decision = (&value as &dyn Any).downcast_ref::<PermissionResult>().copied();
        match decision {
            Some(PermissionResult::Denied) => Err(rest_forbidden(req)),
            other => Ok(Self { value: Box::new(value), exact: other != Some(PermissionResult::Truthy) }),
        }
    }

    pub(crate) fn take<P: 'static>(self) -> P {
        *self.value.downcast().expect("the callback's argument type is its permission's result type")
    }
}
