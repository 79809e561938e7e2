//! Errors of the framework, with one constructor per code.

use serde_json::{Value, json};
use svc_php::json::{JsonError, JsonErrorKind};
use svc_schema::Error;

use crate::Map;

/// No pattern matches, or no endpoint of the matching routes has the method.
pub(crate) fn no_route() -> Error {
    Error::new("rest_no_route", "No route matches this URL and method.").with_status(404)
}

/// A parameter whose value its schema accepts but the handler's type cannot represent.
pub(crate) fn invalid_param(name: &str) -> Error {
    let params = Map::from_iter([(name.to_owned(), Value::from("Invalid parameter."))]);
    Error::new("rest_invalid_param", format!("Invalid parameter(s): {name}"))
        .with_data(json!({ "status": 400, "params": params, "details": [] }))
}

/// A required parameter that is absent.
pub(crate) fn missing_param(name: &str) -> Error {
    Error::new("rest_missing_callback_param", format!("Missing parameter(s): {name}"))
        .with_data(json!({ "status": 400, "params": [name] }))
}

/// The endpoint's validation rejected the request as a whole.
pub(crate) fn invalid_request() -> Error {
    Error::new("rest_invalid_params", "The parameters are not valid.").with_status(400)
}

/// A malformed JSON body. Error number and message are PHP's.
pub(crate) fn invalid_json(error: &JsonError) -> Error {
    if error.kind == JsonErrorKind::TooManyValues {
        return Error::too_many_values();
    }
    Error::new("rest_invalid_json", "The JSON body cannot be read.").with_data(json!({
        "status": 400,
        "json_error_code": error.number(),
        "json_error_message": error.to_string(),
    }))
}

/// A batch request with an invalid path.
pub(crate) fn parse_path_failed() -> Error {
    Error::new("parse_path_failed", "The path cannot be read.").with_status(400)
}

/// A batch request for a route that does not allow batches.
pub(crate) fn batch_not_allowed() -> Error {
    Error::new("rest_batch_not_allowed", "This route cannot be used in a batch.").with_status(400)
}

/// A read in a batch that is a transaction.
pub(crate) fn read_in_transaction() -> Error {
    Error::new("rest_batch_not_allowed", "A transaction contains only requests that write.").with_status(400)
}

/// A file or a page, which has no place in the JSON of a batch.
pub(crate) fn file_in_batch() -> Error {
    Error::new("rest_batch_not_allowed", "The response is a file. Request it without a batch.").with_status(400)
}

/// A read in a batch whose responses are large already.
pub(crate) fn batch_too_large() -> Error {
    Error::new("rest_batch_too_large", "The responses of the batch are too large. Request less at once.")
        .with_status(413)
}

/// A request of a transaction that was undone because another one failed.
pub(crate) fn rolled_back() -> Error {
    let message = "The request was rolled back or not run, because another request of the batch failed.";
    Error::new("rest_batch_rolled_back", message).with_status(424)
}

/// A transaction on a site whose data has none.
pub(crate) fn no_transactions() -> Error {
    Error::new("rest_no_transactions", "This site does not support transactions.").with_status(501)
}

/// A write with a precondition on a route that cannot check it.
pub(crate) fn precondition_unsupported() -> Error {
    Error::new("rest_precondition_unsupported", "This route does not support conditional requests.").with_status(400)
}

/// The index of an unknown namespace.
pub(crate) fn invalid_namespace() -> Error {
    Error::new("rest_invalid_namespace", "There is no such namespace.").with_status(404)
}

/// Requests inside requests beyond the limit.
pub(crate) fn too_deep() -> Error {
    Error::new("rest_too_deep", "Requests are nested too deeply.").with_status(400)
}

/// A handler panicked. Details are in the log.
pub(crate) fn internal_error() -> Error {
    Error::new("rest_internal_error", "Something went wrong on the server.").with_status(500)
}
