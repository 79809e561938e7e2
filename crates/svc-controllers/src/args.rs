//! Arguments that several families take.

use serde_json::Value;
use svc_routing::Result;
use svc_schema::{
    Arg,
    build::{SchemaBuilder, string},
};

/// What `context` can be.
pub(crate) const CONTEXTS: [&str; 3] = ["view", "embed", "edit"];

/// The parameter `context` of every list and item.
pub(crate) fn context_param() -> SchemaBuilder {
    string().describe("Which members are shown, and to whom.").one_of(CONTEXTS).default("view")
}

/// [`context_param`] as an argument of an endpoint: WordPress validates it before any argument is sanitized.
pub(crate) fn context_arg() -> Arg {
    Arg::by_schema(context_param())
}

/// A text as one line without markup: how the parameter `search` of lists is cleaned, and members that are plain text.
pub(crate) fn one_line(value: Value, _: &str) -> Result<Value> {
    let is_list = value.is_array() || value.is_object();
    Ok(if is_list { value } else { svc_text::sanitize_text_field(&svc_php::cast::to_text(&value)).into() })
}
