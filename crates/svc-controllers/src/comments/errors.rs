//! Errors of comments: one constructor per condition.

use svc_routing::{Request, forbidden};
use svc_schema::Error;

fn error(code: &str, message: &str, status: u16) -> Error {
    Error::new(code, message).with_status(status)
}

/// No comment has this number.
pub(super) fn not_found() -> Error {
    error("rest_comment_invalid_id", "There is no such comment.", 404)
}

/// The post of a comment is gone.
pub(super) fn post_is_gone() -> Error {
    error("rest_post_invalid_id", "There is no such post.", 404)
}

/// The caller may not see this comment.
pub(super) fn cannot_read(req: &Request) -> Error {
    forbidden(req, "rest_cannot_read", "You are not allowed to see this comment.")
}

/// Comments on nothing are for moderators.
pub(super) fn cannot_read_without_post(req: &Request) -> Error {
    forbidden(req, "rest_cannot_read", "You are not allowed to see comments that are on no post.")
}

/// The caller may not see the post that the comment is on.
pub(super) fn cannot_read_post(req: &Request) -> Error {
    forbidden(req, "rest_cannot_read_post", "You are not allowed to see the post of this comment.")
}

/// Context `edit` is for moderators.
pub(super) fn forbidden_context(req: &Request) -> Error {
    forbidden(req, "rest_forbidden_context", "You are not allowed to edit comments.")
}

/// Parameters that only those who write posts may use.
pub(super) fn forbidden_param(req: &Request, names: &[&str]) -> Error {
    let text = format!("You are not allowed to use these parameters: {}.", names.join(", "));
    forbidden(req, "rest_forbidden_param", &text)
}

/// Posts of this type have no notes.
pub(super) fn notes_not_supported() -> Error {
    error("rest_comment_not_supported_post_type", "Posts of this type have no notes.", 403)
}

/// Guests may not comment here.
pub(super) fn login_required() -> Error {
    error("rest_comment_login_required", "Sign in to comment.", 401)
}

/// The caller may not write in another's name.
pub(super) fn invalid_author(req: &Request) -> Error {
    forbidden(req, "rest_comment_invalid_author", "You are not allowed to choose the author of a comment.")
}

/// The caller may not say which address a comment came from.
pub(super) fn invalid_author_ip(req: &Request) -> Error {
    forbidden(req, "rest_comment_invalid_author_ip", "You are not allowed to choose the address of a comment.")
}

/// The caller may not choose the status.
pub(super) fn invalid_status(req: &Request) -> Error {
    forbidden(req, "rest_comment_invalid_status", "You are not allowed to choose the status of a comment.")
}

/// A comment must be on a post that exists.
pub(super) fn invalid_post() -> Error {
    error("rest_comment_invalid_post_id", "A comment needs a post that exists.", 403)
}

/// The caller may not write notes on this post.
pub(super) fn cannot_create_note(req: &Request) -> Error {
    forbidden(req, "rest_cannot_create_note", "You are not allowed to write notes on this post.")
}

/// Drafts take no comments.
pub(super) fn draft_post() -> Error {
    error("rest_comment_draft_post", "Drafts take no comments.", 403)
}

/// Posts in the trash take no comments.
pub(super) fn trashed_post() -> Error {
    error("rest_comment_trash_post", "Posts in the trash take no comments.", 403)
}

/// The post takes no more comments.
pub(super) fn closed() -> Error {
    error("rest_comment_closed", "This post takes no comments.", 403)
}

/// A request to create named the number of a comment.
pub(super) fn exists() -> Error {
    error("rest_comment_exists", "An existing comment cannot be created: send the change to its own address.", 400)
}

/// Only comments and notes are written here.
pub(super) fn invalid_type() -> Error {
    error("rest_invalid_comment_type", "Comments of this type cannot be created.", 400)
}

/// A comment keeps its type.
pub(super) fn type_is_fixed() -> Error {
    error("rest_comment_invalid_type", "The type of a comment cannot be changed.", 404)
}

/// Nothing is said.
pub(super) fn no_content() -> Error {
    error("rest_comment_content_invalid", "A comment needs content.", 400)
}

/// The site wants to know the author's name and e-mail address.
pub(super) fn author_data_required() -> Error {
    error("rest_comment_author_data_required", "A comment needs its author's name and e-mail address.", 400)
}

/// There is no such user to be the author.
pub(super) fn unknown_author() -> Error {
    error("rest_comment_author_invalid", "There is no such author.", 400)
}

/// A member is longer than its column; the code names it.
pub(super) fn too_long(code: &'static str) -> Error {
    error(code, "A member of the comment is too long.", 400)
}

/// The same has been said already, by the same author, in the same place.
pub(super) fn duplicate() -> Error {
    error("comment_duplicate", "You have said this already.", 409)
}

/// Comments of one author follow one another too quickly.
pub(super) fn flood() -> Error {
    error("comment_flood", "You are commenting too quickly. Wait a moment.", 400)
}

/// The caller may not change this comment.
pub(super) fn cannot_edit(req: &Request) -> Error {
    forbidden(req, "rest_cannot_edit", "You are not allowed to edit this comment.")
}

/// The caller may not delete this comment.
pub(super) fn cannot_delete(req: &Request) -> Error {
    forbidden(req, "rest_cannot_delete", "You are not allowed to delete this comment.")
}

/// The comment is in the trash already.
pub(super) fn already_trashed() -> Error {
    error("rest_already_trashed", "The comment is in the trash already.", 410)
}
