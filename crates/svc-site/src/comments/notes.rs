//! Notes: comments on blocks of a post, for those who edit it.

use serde_json::{Value, json};
use svc_model::PostType;

use crate::MetaField;

/// Key of the meta that every site keeps with notes, and what it says.
pub const NOTE_STATUS: &str = "_wp_note_status";

pub const NOTE_STATES: [&str; 2] = ["resolved", "reopen"];

/// The meta that every site keeps with notes: whether the matter is settled.
pub fn note_status() -> MetaField {
    MetaField::new(NOTE_STATUS, "string")
        .describe("Whether the matter is settled.")
        .schema(json!({"enum": NOTE_STATES}))
        .for_editors()
}

/// Whether posts of this type have notes.
pub fn has_notes(kind: &PostType) -> bool {
    let options = kind.supports.get("editor").and_then(Value::as_array);
    options.into_iter().flatten().any(|o| o.get("notes").is_some_and(svc_php::cast::truthy))
}
