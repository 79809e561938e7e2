//! Functions of svc-text: sanitizers and escapes.

use serde_json::Value;

use super::{Outcome, Vector};

/// Calls the function of this group that the vector names.
pub(super) fn call(vector: &Vector) -> Option<Outcome> {
    plain(vector)
}

/// Functions of one text (and switches) that give a text.
fn plain(vector: &Vector) -> Option<Outcome> {
    let text = text_of(vector.arg(0));
    let text = text.as_str();
    let protocols: Option<Vec<&str>> =
        vector.arg(1).as_array().map(|list| list.iter().filter_map(Value::as_str).collect());
    let protocols = protocols.as_deref().unwrap_or(svc_text::ALLOWED_PROTOCOLS);
    Some(match vector.function.as_str() {
        "sanitize_text_field" => svc_text::sanitize_text_field(text).into(),
        "sanitize_textarea_field" => svc_text::sanitize_textarea_field(text).into(),
        "wp_strip_all_tags" => svc_text::strip_all_tags(text, vector.arg(1) == &Value::Bool(true)).into(),
        "sanitize_url" | "esc_url_raw" => svc_text::sanitize_url_with(text, protocols).into(),
        "esc_url" => svc_text::esc_url_with(text, protocols).into(),
        "esc_html" => svc_text::esc_html(text).into(),
        "esc_attr" => svc_text::esc_attr(text).into(),
        "esc_textarea" => svc_text::esc_textarea(text).into(),
        "is_email" => match svc_text::is_email(text) {
            true => text.into(),
            false => false.into(),
        },
        "sanitize_email" => svc_text::sanitize_email(text).into(),
        "wp_kses_bad_protocol" => svc_text::bad_protocol(text, protocols).into(),
        "wp_kses_normalize_entities" => svc_text::normalize_entities(text).into(),
        _ => return None,
    })
}

/// A text argument as the peer casts it: numbers and truth values become text, anything else is empty.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(true) => "1".to_owned(),
        _ => String::new(),
    }
}
