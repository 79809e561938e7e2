//! Routes whose requests may have preconditions (RFC 9110, section 13).

use std::future::Future;
use std::pin::Pin;

use crate::{Request, Response, Result};

/// A future that lasts no longer than what it borrows.
pub type BorrowingFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The headers that make a write conditional.
const PRECONDITIONS: [&str; 3] = ["if-match", "if-none-match", "if-unmodified-since"];

/// Checks the preconditions of requests for an object, and adds [`Validators`](crate::Validators) to its responses. Set it with
/// [`Route::conditional`](crate::Route::conditional).
///
/// A write with preconditions for a route without this is rejected with 400: a condition that cannot be checked must
/// not be ignored.
pub trait Conditional: Send + Sync + 'static {
    /// Runs `work`, which calls permission and handler.
    fn run<'a>(&'a self, req: &'a Request, work: BorrowingFuture<'a, Response>) -> BorrowingFuture<'a, Response>;

    /// Called within `work` for requests that write, once their permission is granted and before their handler is called.
    ///
    /// # Errors
    /// If a precondition is false (412) or missing (428).
    fn check(&self, req: &Request) -> Result<()>;
}

/// Whether the request, which writes, has a precondition.
pub(crate) fn has_precondition(req: &Request) -> bool {
    PRECONDITIONS.iter().any(|name| req.headers().contains_key(*name))
}
