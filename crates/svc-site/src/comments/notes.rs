//! Notes: comments on blocks of a post, visible to its editors.

use serde_json::{Value, json};
use svc_model::PostType;

use crate::MetaField;

/// Key of the meta field that stores whether a note is resolved.
pub(crate) const NOTE_STATUS: &str = "_wp_note_status";

/// Allowed values of [`NOTE_STATUS`].
pub(crate) const NOTE_STATES: [&str; 2] = ["resolved", "reopen"];

/// The meta field of notes that stores whether they are resolved. Every site has it.
pub(crate) fn note_status() -> MetaField {
    MetaField::new(NOTE_STATUS, "string")
        .describe("Resolution status of the note.")
        .schema(json!({"enum": NOTE_STATES}))
        .for_editors()
}

/// Whether posts of this type support notes.
pub fn has_notes(kind: &PostType) -> bool {
    let options = kind.supports.get("editor").and_then(Value::as_array);
    options.into_iter().flatten().any(|o| o.get("notes").is_some_and(svc_php::cast::truthy))
}
