//! Errors of posts: refusals, and those of the site.

use svc_routing::Request;
use svc_schema::Error;

pub(crate) use svc_site::errors::posts::*;

refusals! {
    /// Not to be seen, without a further reason.
    forbidden = "rest_forbidden" "You are not allowed to see this.";

    /// Context `edit` is for those who may edit.
    forbidden_context = "rest_forbidden_context" "You are not allowed to edit this.";

    /// A list of statuses of which the caller may not see one.
    forbidden_status = "rest_forbidden_status" "You are not allowed to list posts of this status.";

    /// The caller may not write posts of this type.
    cannot_create = "rest_cannot_create" "You are not allowed to create posts of this type.";

    /// The caller may not change this post.
    cannot_edit = "rest_cannot_edit" "You are not allowed to edit this post.";

    /// The caller may not write in another's name.
    cannot_edit_others = "rest_cannot_edit_others" "You are not allowed to write posts as this user.";

    /// The caller may not make posts sticky.
    cannot_assign_sticky = "rest_cannot_assign_sticky" "You are not allowed to make posts sticky.";

    /// The caller may not give posts one of the terms.
    cannot_assign_term = "rest_cannot_assign_term" "You are not allowed to give posts these terms.";

    /// The caller may not delete this post.
    cannot_delete = "rest_cannot_delete" "You are not allowed to delete this post.";

    /// Revisions are for those who may change their post.
    cannot_read_revisions = "rest_cannot_read" "You are not allowed to see revisions of this post.";

    /// The caller may not delete this revision.
    cannot_delete_revision = "rest_cannot_delete" "You are not allowed to delete this revision.";
}
