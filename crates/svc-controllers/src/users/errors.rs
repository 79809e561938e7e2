//! Errors of users: refusals, and those of the site.

use svc_routing::Request;
use svc_schema::Error;

pub(crate) use svc_site::errors::users::*;

refusals! {
    /// The caller may not see this user, or may not narrow a list by what users may do.
    cannot_view = "rest_user_cannot_view" "You are not allowed to see this.";

    /// The caller may not order users by what he may not see.
    forbidden_orderby = "rest_forbidden_orderby" "You are not allowed to order users by this.";

    /// The caller may not list those who can write.
    forbidden_who = "rest_forbidden_who" "You are not allowed to list authors.";

    /// The caller may not make users.
    cannot_create = "rest_cannot_create_user" "You are not allowed to make users.";

    /// The caller may not change this user.
    cannot_edit = "rest_cannot_edit" "You are not allowed to change this user.";

    /// The caller may not say what this user may do.
    cannot_edit_roles = "rest_cannot_edit_roles" "You are not allowed to change the roles of this user.";

    /// The caller may not delete this user.
    cannot_delete = "rest_user_cannot_delete" "You are not allowed to delete this user.";

    /// Somebody who may change users would give himself a role that may not.
    cannot_lose_rights = "rest_user_invalid_role" "You cannot give up the right to change users.";
}
