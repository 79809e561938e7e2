//! Errors of posts.

use serde_json::json;
use svc_schema::Error;

errors! {
    /// No post has this id, or it has another type.
    post_not_found = 404 "rest_post_invalid_id" "Post not found.";

    /// The post named as parent does not exist.
    invalid_parent = 400 "rest_post_invalid_id" "The parent does not exist.";

    /// A request to create a post contained an id.
    post_exists = 400 "rest_post_exists" "A new post cannot have an id. To update a post, send the request to the post's own URL.";

    /// The status makes the post public, and the caller may not publish.
    cannot_publish = 403 "rest_cannot_publish" "You are not allowed to publish posts of this type.";

    /// A post is sticky and protected by a password at the same time.
    sticky_and_password = 400 "rest_invalid_field" "A post cannot be both sticky and password protected.";

    /// No title, content or excerpt.
    empty_content = 400 "empty_content" "The post needs a title, content or an excerpt.";

    /// A date before year 1.
    invalid_date = 400 "invalid_date" "The date is invalid.";

    /// The author is not a user.
    invalid_author = 400 "rest_invalid_author" "The author does not exist.";

    /// No post with this id and of the type whose revisions are requested.
    invalid_revision_parent = 404 "rest_post_invalid_parent" "Post not found.";

    /// No revision has this id.
    revision_not_found = 404 "rest_post_invalid_id" "Revision not found.";

    /// The revision belongs to another post.
    not_a_revision_of = 404 "rest_revision_parent_id_mismatch" "The revision does not belong to this post.";

    /// The offset is larger than the number of revisions.
    revision_offset_beyond_end = 400 "rest_revision_invalid_offset_number" "The offset is larger than the number of revisions.";

    /// The user has no autosave of the post.
    no_autosave = 404 "rest_post_no_autosave" "The post has no autosave.";

    /// The post is already in the trash.
    already_trashed = 410 "rest_already_trashed" "The post is already in the trash.";

    /// Items of this type are always deleted permanently.
    trash_not_supported = 501 "rest_trash_not_supported" "Items of this type cannot be trashed. Set `force` to delete permanently.";

    /// A wrong password for the content.
    incorrect_password = 403 "rest_post_incorrect_password" "The password for this post is wrong.";

    /// Sorting by relevance without a search term.
    no_search_term = 400 "rest_no_search_term_defined" "Sorting by relevance requires the parameter `search`.";

    /// Sorting by `include` without a list.
    missing_include = 400 "rest_orderby_include_missing_include" "Sorting by `include` requires the parameter `include`.";
}

/// A parameter that failed its own validation.
pub fn invalid_param(name: &str, why: &Error) -> Error {
    Error::new("rest_invalid_param", format!("Invalid parameter(s): {name}")).with_data(json!({
        "status": 400,
        "params": {name: why.message()},
        "details": {name: why.to_body()},
    }))
}

/// A template that the theme does not have.
pub fn unknown_template() -> Error {
    Error::new("rest_invalid_param", "The theme does not have this template.")
}

/// Deleting a stored value that does not fit its schema would lose it.
pub(crate) fn invalid_stored_meta(name: &str) -> Error {
    Error::new(
        "rest_invalid_stored_value",
        format!("The stored value of the meta field {name} does not match its type."),
    )
    .with_status(500)
}

/// A value that is too long for its column.
pub(crate) fn not_stored(exists: bool) -> Error {
    let code = if exists { "db_update_error" } else { "db_insert_error" };
    let mut error = Error::new(code, "The post cannot be stored.").with_data(json!("A value is too long."));
    error.add_data(json!({"status": 500}), None);
    error
}

/// Resetting a stored setting that does not fit its schema would lose it.
pub fn invalid_stored_setting(name: &str) -> Error {
    let text = format!("The stored value of the setting {name} does not match its type, so it cannot be reset.");
    Error::new("rest_invalid_stored_value", text).with_status(500)
}

/// The caller may not edit this registered meta field.
pub(crate) fn cannot_update_meta(name: &str) -> Error {
    Error::new("rest_cannot_update", format!("You are not allowed to edit the meta field {name}."))
        .with_data(serde_json::json!({"key": name, "status": 403}))
}

/// The caller may not delete this registered meta field.
pub(crate) fn cannot_delete_meta(name: &str) -> Error {
    Error::new("rest_cannot_delete", format!("You are not allowed to delete the meta field {name}."))
        .with_data(serde_json::json!({"key": name, "status": 403}))
}
