//! Errors of the controllers: one constructor per code, named for the condition.

use serde_json::json;
use svc_routing::Request;
use svc_schema::Error;

/// An error with a status.
fn error(code: &str, message: &str, status: u16) -> Error {
    Error::new(code, message).with_status(status)
}

/// A refusal: 401 for a caller who is not signed in and 403 for one who is (specification, "Authorization failure
/// status").
fn refused(req: &Request, code: &str, message: &str) -> Error {
    error(code, message, req.authorization_status())
}

/// Not to be seen, without a further reason.
pub(crate) fn forbidden(req: &Request) -> Error {
    refused(req, "rest_forbidden", "You are not allowed to see this.")
}

/// Context `edit` is for those who may edit.
pub(crate) fn forbidden_context(req: &Request) -> Error {
    refused(req, "rest_forbidden_context", "You are not allowed to edit this.")
}

/// A list of statuses of which the caller may not see one.
pub(crate) fn forbidden_status(req: &Request) -> Error {
    refused(req, "rest_forbidden_status", "You are not allowed to list posts of this status.")
}

/// A parameter that its own check refused.
pub(crate) fn invalid_param(name: &str, why: &Error) -> Error {
    Error::new("rest_invalid_param", format!("Invalid parameter(s): {name}")).with_data(json!({
        "status": 400,
        "params": {name: why.message()},
        "details": {name: why.to_body()},
    }))
}

/// A template that the theme does not offer.
pub(crate) fn unknown_template() -> Error {
    Error::new("rest_invalid_param", "The theme does not offer this template.")
}

/// The caller may not write posts of this type.
pub(crate) fn cannot_create(req: &Request) -> Error {
    refused(req, "rest_cannot_create", "You are not allowed to create posts of this type.")
}

/// The caller may not change this post.
pub(crate) fn cannot_edit(req: &Request) -> Error {
    refused(req, "rest_cannot_edit", "You are not allowed to edit this post.")
}

/// The caller may not write in another's name.
pub(crate) fn cannot_edit_others(req: &Request) -> Error {
    refused(req, "rest_cannot_edit_others", "You are not allowed to write posts as this user.")
}

/// The caller may not make posts sticky.
pub(crate) fn cannot_assign_sticky(req: &Request) -> Error {
    refused(req, "rest_cannot_assign_sticky", "You are not allowed to make posts sticky.")
}

/// The caller may not give posts one of the terms.
pub(crate) fn cannot_assign_term(req: &Request) -> Error {
    refused(req, "rest_cannot_assign_term", "You are not allowed to give posts these terms.")
}

/// The caller may not delete this post.
pub(crate) fn cannot_delete(req: &Request) -> Error {
    refused(req, "rest_cannot_delete", "You are not allowed to delete this post.")
}

/// A stored value that does not fit its schema would be lost.
pub(crate) fn invalid_stored_meta(name: &str) -> Error {
    Error::new("rest_invalid_stored_value", format!("The stored meta value {name} does not fit its type."))
        .with_status(500)
}

/// No post has this number, or it is of another type.
pub(crate) fn post_not_found() -> Error {
    error("rest_post_invalid_id", "There is no such post.", 404)
}

/// The post named as parent does not exist.
pub(crate) fn invalid_parent() -> Error {
    error("rest_post_invalid_id", "There is no such parent.", 400)
}

/// A request to create named the number of a post.
pub(crate) fn post_exists() -> Error {
    error("rest_post_exists", "An existing post cannot be created: send the change to its own address.", 400)
}

/// The status given makes a post public, and the caller may not publish.
pub(crate) fn cannot_publish() -> Error {
    error("rest_cannot_publish", "You are not allowed to publish posts of this type.", 403)
}

/// Sticky and guarded by a password at once.
pub(crate) fn sticky_and_password() -> Error {
    error("rest_invalid_field", "A post cannot be both sticky and guarded by a password.", 400)
}

/// Neither title nor content nor excerpt.
pub(crate) fn empty_content() -> Error {
    error("empty_content", "The post needs a title, content or an excerpt.", 400)
}

/// A date before the first year.
pub(crate) fn invalid_date() -> Error {
    error("invalid_date", "There is no such date.", 400)
}

/// A value that its column does not take.
pub(crate) fn not_stored(exists: bool) -> Error {
    let code = if exists { "db_update_error" } else { "db_insert_error" };
    error(code, "The post cannot be stored: a value is too long.", 500)
}

/// No such user to be the author.
pub(crate) fn invalid_author() -> Error {
    error("rest_invalid_author", "There is no such author.", 400)
}

/// Revisions are for those who may change their post.
pub(crate) fn cannot_read_revisions(req: &Request) -> Error {
    refused(req, "rest_cannot_read", "You are not allowed to see revisions of this post.")
}

/// The caller may not delete this revision.
pub(crate) fn cannot_delete_revision(req: &Request) -> Error {
    refused(req, "rest_cannot_delete", "You are not allowed to delete this revision.")
}

/// No post of the type whose revisions are asked for has this number.
pub(crate) fn invalid_revision_parent() -> Error {
    error("rest_post_invalid_parent", "There is no such post.", 404)
}

/// No revision has this number.
pub(crate) fn revision_not_found() -> Error {
    error("rest_post_invalid_id", "There is no such revision.", 404)
}

/// The revision is of another post.
pub(crate) fn not_a_revision_of() -> Error {
    error("rest_revision_parent_id_mismatch", "The post has no such revision.", 404)
}

/// More revisions are to be left out than there are.
pub(crate) fn revision_offset_beyond_end() -> Error {
    error("rest_revision_invalid_offset_number", "There are fewer revisions than are to be left out.", 400)
}

/// Nobody has typed anything since the post was saved.
pub(crate) fn no_autosave() -> Error {
    error("rest_post_no_autosave", "The post has no autosave.", 404)
}

/// The post is in the trash already.
pub(crate) fn already_trashed() -> Error {
    error("rest_already_trashed", "The post is in the trash already.", 410)
}

/// A stored setting that does not fit its schema would be lost.
pub(crate) fn invalid_stored_setting(name: &str) -> Error {
    let text = format!("The stored value of the setting {name} does not fit its type, so it cannot be taken away.");
    Error::new("rest_invalid_stored_value", text).with_status(500)
}

/// Things of this kind go at once.
pub(crate) fn trash_not_supported() -> Error {
    error("rest_trash_not_supported", "There is no trash for this. Set `force` to delete it for good.", 501)
}

/// A wrong password was given for the content.
pub(crate) fn incorrect_password() -> Error {
    error("rest_post_incorrect_password", "The password for this post is wrong.", 403)
}

/// Sorting by relevance without a search.
pub(crate) fn no_search_term() -> Error {
    error("rest_no_search_term_defined", "Sorting by relevance needs the parameter `search`.", 400)
}

/// Sorting by inclusion without a list.
pub(crate) fn missing_include() -> Error {
    error("rest_orderby_include_missing_include", "Sorting by `include` needs the parameter `include`.", 400)
}

/// A registered meta value that this caller may not write.
pub(crate) fn cannot_update_meta(name: &str) -> Error {
    Error::new("rest_cannot_update", format!("You are not allowed to change the meta value {name}."))
        .with_data(serde_json::json!({"key": name, "status": 403}))
}

/// A registered meta value that this caller may not delete.
pub(crate) fn cannot_delete_meta(name: &str) -> Error {
    Error::new("rest_cannot_delete", format!("You are not allowed to delete the meta value {name}."))
        .with_data(serde_json::json!({"key": name, "status": 403}))
}
