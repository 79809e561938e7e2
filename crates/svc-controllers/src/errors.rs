//! Errors of posts, and errors that several families return.

family_errors! {
    use svc_site::errors::posts;

    /// The caller may not read the object.
    forbidden = "rest_forbidden" "You are not allowed to see this.";

    /// Context `edit` requires permission to edit.
    forbidden_context = "rest_forbidden_context" "You are not allowed to edit this.";

    /// The caller may not list posts of one of the requested statuses.
    forbidden_status = "rest_forbidden_status" "You are not allowed to list posts of this status.";

    /// The caller may not create posts of this type.
    cannot_create = "rest_cannot_create" "You are not allowed to create posts of this type.";

    /// The caller may not edit this post.
    cannot_edit = "rest_cannot_edit" "You are not allowed to edit this post.";

    /// The caller may not set another user as the author.
    cannot_edit_others = "rest_cannot_edit_others" "You are not allowed to create posts as this user.";

    /// The caller may not make posts sticky.
    cannot_assign_sticky = "rest_cannot_assign_sticky" "You are not allowed to make posts sticky.";

    /// The caller may not assign one of the terms.
    cannot_assign_term = "rest_cannot_assign_term" "You are not allowed to assign these terms.";

    /// The caller may not delete this post.
    cannot_delete = "rest_cannot_delete" "You are not allowed to delete this post.";

    /// Revisions require permission to edit the post.
    cannot_read_revisions = "rest_cannot_read" "You are not allowed to view revisions of this post.";

    /// The caller may not delete this revision.
    cannot_delete_revision = "rest_cannot_delete" "You are not allowed to delete this revision.";
}

/// Rejects parameters that select by users, on a site that shows none to this caller.
pub(crate) fn hidden_users(req: &svc_routing::Request, name: &str) -> svc_schema::Error {
    let text = format!("This site does not show its users: `{name}` is not available.");
    svc_routing::forbidden(req, "rest_forbidden_param", &text)
}
