//! Errors of comments: refusals, and those of the site.

use svc_routing::{Request, forbidden};
use svc_schema::Error;

pub(crate) use svc_site::errors::comments::*;

refusals! {
    /// The caller may not see this comment.
    cannot_read = "rest_cannot_read" "You are not allowed to see this comment.";

    /// Comments on nothing are for moderators.
    cannot_read_without_post = "rest_cannot_read" "You are not allowed to see comments that are on no post.";

    /// The caller may not see the post that the comment is on.
    cannot_read_post = "rest_cannot_read_post" "You are not allowed to see the post of this comment.";

    /// Context `edit` is for moderators.
    forbidden_context = "rest_forbidden_context" "You are not allowed to edit comments.";

    /// The caller may not write in another's name.
    invalid_author = "rest_comment_invalid_author" "You are not allowed to choose the author of a comment.";

    /// The caller may not say which address a comment came from.
    invalid_author_ip = "rest_comment_invalid_author_ip" "You are not allowed to choose the address of a comment.";

    /// The caller may not choose the status.
    invalid_status = "rest_comment_invalid_status" "You are not allowed to choose the status of a comment.";

    /// The caller may not write notes on this post.
    cannot_create_note = "rest_cannot_create_note" "You are not allowed to write notes on this post.";

    /// The caller may not change this comment.
    cannot_edit = "rest_cannot_edit" "You are not allowed to edit this comment.";

    /// The caller may not delete this comment.
    cannot_delete = "rest_cannot_delete" "You are not allowed to delete this comment.";
}

/// Parameters that only those who write posts may use.
pub(crate) fn forbidden_param(req: &Request, names: &[&str]) -> Error {
    let text = format!("You are not allowed to use these parameters: {}.", names.join(", "));
    forbidden(req, "rest_forbidden_param", &text)
}
