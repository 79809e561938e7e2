//! Routes whose requests may have preconditions (RFC 9110, section 13).

use crate::{Request, Result, Validators};

/// The headers that make a write conditional.
const PRECONDITIONS: [&str; 3] = ["if-match", "if-none-match", "if-unmodified-since"];

/// Checks the preconditions of requests for an object, and adds [`Validators`](crate::Validators) to its responses. Set it with
/// [`Route::conditional`](crate::Route::conditional).
///
/// A write with preconditions for a route without this is rejected with 400: a condition that cannot be checked must
/// not be ignored.
pub trait Conditional: Send + Sync + 'static {
    /// The request as permission and handler get it, and the validators of its response if it reads. These describe the
    /// state before the response is generated: if the object changes in between, the client gets a tag that no longer
    /// matches, and never the tag of a state that it has not seen.
    fn begin(&self, req: Request) -> (Request, Option<Validators>);

    /// Called for requests that write, once their permission is granted and before their handler is called.
    ///
    /// # Errors
    /// If a precondition is false (412) or missing (428).
    fn check(&self, req: &Request) -> Result<()>;
}

/// Whether the request, which writes, has a precondition.
pub(crate) fn has_precondition(req: &Request) -> bool {
    PRECONDITIONS.iter().any(|name| req.headers().contains_key(*name))
}
