//! Notes: comments on blocks of a post, visible to its editors.

use serde_json::Value;
use svc_model::PostType;

/// Whether posts of this type support notes.
pub fn has_notes(post_type: &PostType) -> bool {
    let options = post_type.supports.get("editor").and_then(Value::as_array);
    options.into_iter().flatten().any(|o| o.get("notes").is_some_and(svc_php::cast::truthy))
}
