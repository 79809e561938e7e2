//! Errors of conditional requests (RFC 9110, section 13; RFC 6585, section 3).

use svc_schema::Error;

errors! {
    /// The object is not in the state that the request requires.
    failed = 412 "rest_precondition_failed" "The object has changed since you read it. Read it again and repeat your change.";

    /// The site requires a precondition for changes to existing objects.
    required = 428 "rest_precondition_required" "This site requires If-Match or If-Unmodified-Since for changes. Send the ETag of the object you have read in If-Match.";

    /// `If-Unmodified-Since` for an object without a stored date.
    no_date = 400 "rest_precondition_unsupported" "This object has no modification date. Use If-Match instead of If-Unmodified-Since.";
}
