//! Meta in which the editor stores preferences of users.

use serde_json::json;

use crate::MetaField;

/// Meta in which the editor remembers what a user has chosen; each site of a shared table of users has its own.
pub fn preferences(table_prefix: &str) -> MetaField {
    let modified = json!({"description": "When they were last changed.", "type": "string", "format": "date-time", "readonly": false});
    MetaField::new(&format!("{table_prefix}persisted_preferences"), "object").named("persisted_preferences").schema(
        json!({
            "context": ["edit"],
            "properties": {"_modified": modified},
            "additionalProperties": true,
        }),
    )
}
