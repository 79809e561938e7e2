//! Meta fields that every site registers.

use serde_json::json;

use crate::{registries::meta::MetaField, sanitize};

/// Key of the meta field that stores whether a note is resolved.
pub(crate) const NOTE_STATUS: &str = "_wp_note_status";

/// Allowed values of [`NOTE_STATUS`].
pub(crate) const NOTE_STATES: [&str; 2] = ["resolved", "reopen"];

/// The meta field of notes that stores whether they are resolved.
pub(crate) fn note_status() -> MetaField {
    MetaField::new(NOTE_STATUS, "string")
        .describe("Resolution status of the note.")
        .schema(json!({"enum": NOTE_STATES}))
        .for_editors()
}

/// The meta field of patterns that stores whether changes of the pattern apply to all its uses.
pub(crate) fn pattern_sync_status() -> MetaField {
    MetaField::new("wp_pattern_sync_status", "string").schema(json!({"enum": ["partial", "unsynced"]}))
}

/// The meta field with the footnotes of a post.
pub(crate) fn footnotes() -> MetaField {
    MetaField::new("footnotes", "string").with_revisions().filtered_by(sanitize::footnotes)
}

/// The meta field with a user's editor preferences; each site that shares the users table has its own.
pub(crate) fn editor_preferences(table_prefix: &str) -> MetaField {
    let modified = json!({"description": "Last modification date of the preferences.", "type": "string", "format": "date-time", "readonly": false});
    MetaField::new(&format!("{table_prefix}persisted_preferences"), "object").named("persisted_preferences").schema(
        json!({
            "context": ["edit"],
            "properties": {"_modified": modified},
            "additionalProperties": true,
        }),
    )
}
