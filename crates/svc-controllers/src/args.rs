//! Arguments that several families take.

use serde_json::Value;
use svc_routing::Result;
use svc_schema::{
    Arg, Args,
    build::{SchemaBuilder, boolean, integer, string},
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

/// The arguments of an endpoint that has only [`context_arg`].
pub(crate) fn context_args() -> Args {
    Args::from([("context", context_arg())])
}

/// [`context_args`], and the page of a list.
pub(crate) fn page_args() -> Args {
    let page = integer().describe("Page number of the list.").default(1).minimum(1);
    let per_page = integer().describe("Maximum number of items per page.").default(10).range(1..=100);
    context_args().with("page", Arg::by_schema(page)).with("per_page", Arg::by_schema(per_page))
}

/// The parameter `force` of a request to delete something.
pub(crate) fn force(description: &str) -> SchemaBuilder {
    boolean().default(false).describe(description).last(&["description"])
}

/// The text that a search for posts uses: WordPress expects slashed text, as its pages pass it, and removes the slashes.
/// `None` if nothing is left or the text is overlong, so that everything matches.
pub(crate) fn search_text(sent: &str) -> Option<String> {
    let text = svc_store::posts::search_text(Some(sent.to_owned()))?;
    Some(svc_text::unslash(&text)).filter(|text| !text.is_empty())
}

/// Sanitizes a text to one line without markup: the parameter `search` of lists, and plain text fields.
pub(crate) fn one_line(value: Value, _: &str) -> Result<Value> {
    let is_list = value.is_array() || value.is_object();
    Ok(if is_list { value } else { svc_text::sanitize_text_field(&svc_php::cast::to_text(&value)).into() })
}
