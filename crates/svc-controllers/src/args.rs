//! Arguments that several families take.

use serde_json::Value;
use svc_routing::Result;
use svc_schema::{
    Arg,
    build::{SchemaBuilder, string},
};

/// The values of `context`.
pub(crate) const CONTEXTS: [&str; 3] = ["view", "embed", "edit"];

/// The parameter `context`.
pub(crate) fn context_param() -> SchemaBuilder {
    string()
        .describe("Context of the request, which determines the fields in the response.")
        .one_of(CONTEXTS)
        .default("view")
}

/// [`context_param`] as an argument of an endpoint: WordPress validates it before any argument is sanitized.
pub(crate) fn context_arg() -> Arg {
    Arg::by_schema(context_param())
}

/// Sanitizes a text to one line without markup: the parameter `search` of lists, and plain text fields.
pub(crate) fn one_line(value: Value, _: &str) -> Result<Value> {
    let is_list = value.is_array() || value.is_object();
    Ok(if is_list { value } else { svc_text::sanitize_text_field(&svc_php::cast::to_text(&value)).into() })
}
