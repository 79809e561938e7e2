//! Errors that the framework itself raises, one constructor per code.

use serde_json::{Value, json};
use svc_schema::Error;

use crate::{Map, Request};

/// The object that an extension point is about: its id and its type (`post`, `page`, `category` …).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    /// The object's id.
    pub id: u64,
    /// Name of its post type or taxonomy.
    pub kind: String,
}

/// A refusal: 401 when nobody is logged in, else 403.
pub fn forbidden(req: &Request, code: &str, message: &str) -> Error {
    Error::new(code, message).with_status(req.authorization_status())
}

/// The permission callback said no, without an error of its own.
pub(crate) fn rest_forbidden(req: &Request) -> Error {
    forbidden(req, "rest_forbidden", "You do not have permission to do this.")
}

/// No pattern matches, or none that does has the method.
pub(crate) fn no_route() -> Error {
    Error::new("rest_no_route", "No route matches this address and method.").with_status(404)
}

/// A parameter that a handler cannot use, although its schema let it pass.
pub(crate) fn invalid_param(name: &str) -> Error {
    let mut params = Map::new();
    params.insert(name.to_owned(), Value::from(INVALID));
    invalid_params(params, Map::new())
}

/// Why a parameter is refused when the validation callback gives no reason.
pub(crate) const INVALID: &str = "The value is not valid.";

/// Parameters that failed validation or sanitization; `params` has a text, `details` the error of each.
pub(crate) fn invalid_params(params: Map, details: Map) -> Error {
    let names = params.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    // PHP prints an empty map as a list.
    let details = if details.is_empty() { json!([]) } else { Value::Object(details) };
    Error::new("rest_invalid_param", format!("These parameters are not valid: {names}"))
        .with_data(json!({ "status": 400, "params": params, "details": details }))
}

/// Required parameters that are absent.
pub(crate) fn missing_params(names: &[&str]) -> Error {
    Error::new("rest_missing_callback_param", format!("Required parameters are missing: {}", names.join(", ")))
        .with_data(json!({ "status": 400, "params": names }))
}

/// The request as a whole was refused by the endpoint's validation.
pub(crate) fn invalid_request() -> Error {
    Error::new("rest_invalid_params", "The parameters are not valid.").with_status(400)
}

/// A JSON body that cannot be read; `number` and `text` are PHP's.
pub(crate) fn invalid_json(number: u8, text: &str) -> Error {
    Error::new("rest_invalid_json", "The JSON body cannot be read.")
        .with_data(json!({ "status": 400, "json_error_code": number, "json_error_message": text }))
}

/// A batch part whose address cannot be read.
pub(crate) fn parse_path_failed() -> Error {
    Error::new("parse_path_failed", "The path cannot be read.").with_status(400)
}

/// A batch part whose route is not for batches.
pub(crate) fn batch_not_allowed() -> Error {
    Error::new("rest_batch_not_allowed", "This route cannot be used in a batch.").with_status(400)
}

/// The index of a namespace that nobody registered.
pub(crate) fn invalid_namespace() -> Error {
    Error::new("rest_invalid_namespace", "There is no such namespace.").with_status(404)
}

/// Requests inside requests beyond the bound.
pub(crate) fn too_deep() -> Error {
    Error::new("rest_too_deep", "Requests are nested too deeply.").with_status(400)
}
