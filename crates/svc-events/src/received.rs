//! What the responses of receivers and the errors of requests mean, for deliveries and purges alike.

use svc_fetch::{FetchError, FetchedResponse};
use svc_site::jobs::Attempt;

/// Maximum number of characters of a response in the record.
const EXCERPT: usize = 300;

/// The beginning of a response, for the record.
pub(crate) fn excerpt(response: &FetchedResponse) -> String {
    String::from_utf8_lossy(&response.body).chars().take(EXCERPT).collect()
}

/// The attempt of a request that got no response.
pub(crate) fn without_response(error: &FetchError) -> Attempt {
    let reason = error.to_string();
    // A host that does not resolve may do so later.
    match error {
        FetchError::Unresolved => Attempt::Failed { reason, retry_after: None },
        _ if error.is_invalid_url() => Attempt::Refused(reason),
        _ => Attempt::Failed { reason, retry_after: None },
    }
}
