//! Errors of comments.

family_errors! {
    use svc_site::errors::comments;

    /// The caller may not read this comment.
    cannot_read = "rest_cannot_read" "You are not allowed to read this comment.";

    /// Comments without a post require permission to moderate.
    cannot_read_without_post = "rest_cannot_read" "You are not allowed to read comments without a post.";

    /// The caller may not read the comment's post.
    cannot_read_post = "rest_cannot_read_post" "You are not allowed to read the post of this comment.";

    /// Context `edit` requires permission to moderate.
    forbidden_context = "rest_forbidden_context" "You are not allowed to edit comments.";

    /// The caller may not set another author.
    invalid_author = "rest_comment_invalid_author" "You are not allowed to set the author of a comment.";

    /// The caller may not set the IP address.
    invalid_author_ip = "rest_comment_invalid_author_ip" "You are not allowed to set the IP address of a comment.";

    /// The caller may not set the status.
    invalid_status = "rest_comment_invalid_status" "You are not allowed to set the status of a comment.";

    /// The caller may not create notes on this post.
    cannot_create_note = "rest_cannot_create_note" "You are not allowed to create notes on this post.";

    /// The caller may not edit this comment.
    cannot_edit = "rest_cannot_edit" "You are not allowed to edit this comment.";

    /// The caller may not delete this comment.
    cannot_delete = "rest_cannot_delete" "You are not allowed to delete this comment.";
}

/// Rejects parameters that require permission to edit posts.
pub(crate) fn forbidden_param(req: &svc_routing::Request, names: &[&str]) -> svc_schema::Error {
    let text = format!("You are not allowed to use these parameters: {}.", names.join(", "));
    svc_routing::forbidden(req, "rest_forbidden_param", &text)
}
