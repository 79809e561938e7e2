//! User meta with the editor's preferences.

use serde_json::json;

use crate::MetaField;

/// The meta field with the editor's preferences; each site that shares the users table has its own.
pub(crate) fn preferences(table_prefix: &str) -> MetaField {
    let modified = json!({"description": "Last modification date of the preferences.", "type": "string", "format": "date-time", "readonly": false});
    MetaField::new(&format!("{table_prefix}persisted_preferences"), "object").named("persisted_preferences").schema(
        json!({
            "context": ["edit"],
            "properties": {"_modified": modified},
            "additionalProperties": true,
        }),
    )
}
