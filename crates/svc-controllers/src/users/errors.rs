//! Errors of users: one constructor per condition.

use svc_routing::{Request, forbidden};
use svc_schema::Error;

/// An error with a status.
fn error(code: &str, message: &str, status: u16) -> Error {
    Error::new(code, message).with_status(status)
}

/// No user has this number.
pub(crate) fn not_found() -> Error {
    error("rest_user_invalid_id", "There is no such user.", 404)
}

/// Nobody is signed in, and the request is about whoever is.
pub(crate) fn not_logged_in() -> Error {
    error("rest_not_logged_in", "You are not signed in.", 401)
}

/// The caller may not see this user, or may not narrow a list by what users may do.
pub(super) fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_user_cannot_view", "You are not allowed to see this.")
}

/// The caller may not order users by what he may not see.
pub(super) fn forbidden_orderby(req: &Request) -> Error {
    forbidden(req, "rest_forbidden_orderby", "You are not allowed to order users by this.")
}

/// The caller may not list those who can write.
pub(super) fn forbidden_who(req: &Request) -> Error {
    forbidden(req, "rest_forbidden_who", "You are not allowed to list authors.")
}

/// The caller may not make users.
pub(super) fn cannot_create(req: &Request) -> Error {
    forbidden(req, "rest_cannot_create_user", "You are not allowed to make users.")
}

/// The caller may not change this user.
pub(super) fn cannot_edit(req: &Request) -> Error {
    forbidden(req, "rest_cannot_edit", "You are not allowed to change this user.")
}

/// The caller may not say what this user may do.
pub(super) fn cannot_edit_roles(req: &Request) -> Error {
    forbidden(req, "rest_cannot_edit_roles", "You are not allowed to change the roles of this user.")
}

/// The caller may not delete this user.
pub(super) fn cannot_delete(req: &Request) -> Error {
    forbidden(req, "rest_user_cannot_delete", "You are not allowed to delete this user.")
}

/// A request to create named the number of a user.
pub(super) fn exists() -> Error {
    error("rest_user_exists", "An existing user cannot be created: send the change to its own address.", 400)
}

/// A role that the site does not have.
pub(super) fn unknown_role(role: &str) -> Error {
    error("rest_user_invalid_role", &format!("There is no role {role}."), 400)
}

/// Somebody who may change users would give himself a role that may not.
pub(super) fn cannot_lose_rights(req: &Request) -> Error {
    forbidden(req, "rest_user_invalid_role", "You cannot give up the right to change users.")
}

/// Another user has this e-mail address, or it does not fit.
pub(super) fn invalid_email() -> Error {
    error("rest_user_invalid_email", "This e-mail address cannot be used.", 400)
}

/// Another user has this slug.
pub(super) fn invalid_slug() -> Error {
    error("rest_user_invalid_slug", "Another user has this slug.", 400)
}

/// The name that a user signs in with stays.
pub(super) fn fixed_username() -> Error {
    error("rest_user_invalid_argument", "The user name cannot be changed.", 400)
}

/// The name is none that a user can have.
pub(super) fn invalid_username() -> Error {
    error("rest_user_invalid_username", "This cannot be a user name.", 400)
}

/// The password is empty, too long, or has a character that log-in forms cannot send.
pub(super) fn invalid_password() -> Error {
    error("rest_user_invalid_password", "A password must not be empty, very long, or contain a backslash.", 400)
}

/// The display name does not fit its column.
pub(super) fn name_too_long() -> Error {
    crate::errors::invalid_param("name", &error("rest_too_long", "name must be at most 250 characters long.", 400))
}

/// What is to become of a user's posts is neither a user nor nothing.
pub(super) fn unreadable_reassign() -> Error {
    error("rest_invalid_param", "This is no user.", 400)
}

/// The user who would get the posts does not exist, or is the one who goes.
pub(super) fn invalid_reassign() -> Error {
    error("rest_user_invalid_reassign", "The posts cannot be given to this user.", 400)
}

// What follows has no status, as on the peer: 500.

/// Another user signs in with this name.
pub(super) fn existing_login() -> Error {
    Error::new("existing_user_login", "There is a user of this name already.")
}

/// Another user has this e-mail address.
pub(super) fn existing_email() -> Error {
    Error::new("existing_user_email", "There is a user of this e-mail address already.")
}

/// The name does not fit its column.
pub(super) fn login_too_long() -> Error {
    Error::new("user_login_too_long", "A user name has at most 60 characters.")
}

/// The slug does not fit its column.
pub(super) fn slug_too_long() -> Error {
    Error::new("user_nicename_too_long", "The slug of a user has at most 50 characters.")
}

/// The address does not fit its column.
pub(super) fn url_too_long() -> Error {
    Error::new("user_url_too_long", "The address of a web site has at most 100 characters.")
}
