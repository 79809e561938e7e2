//! Errors of application passwords: one constructor per condition.

use svc_routing::{Request, forbidden};
use svc_schema::Error;

/// The site lets nobody use application passwords.
pub(super) fn disabled() -> Error {
    Error::new("application_passwords_disabled", "Application passwords cannot be used on this site.").with_status(501)
}

/// The user has no application password of this UUID.
pub(super) fn not_found() -> Error {
    Error::new("rest_application_password_not_found", "There is no such application password.").with_status(404)
}

/// Nothing is left of the name once markup is taken out.
pub(super) fn empty_name() -> Error {
    Error::new("application_password_empty_name", "An application password needs a name.").with_status(400)
}

/// The user has as many as anybody may have.
pub(super) fn too_many() -> Error {
    Error::new("rest_too_many_application_passwords", "Delete an application password before you make another.")
        .with_status(400)
}

/// The operating system gave no random bytes.
pub(super) fn no_randomness() -> Error {
    Error::new("rest_internal_error", "The password could not be made.").with_status(500)
}

/// The request was not signed in with an application password.
pub(super) fn none_in_use() -> Error {
    Error::new("rest_no_authenticated_app_password", "This request does not use an application password.")
        .with_status(404)
}

/// The password in use is told only to the user whose it is.
pub(super) fn not_of_caller(req: &Request) -> Error {
    forbidden(
        req,
        "rest_cannot_introspect_app_password_for_non_authenticated_user",
        "The application password in use can be shown only to its own user.",
    )
}

/// The caller may not see the user's application passwords.
pub(super) fn cannot_list(req: &Request) -> Error {
    forbidden(req, "rest_cannot_list_application_passwords", "You are not allowed to see these application passwords.")
}

/// The caller may not see this application password.
pub(super) fn cannot_read(req: &Request) -> Error {
    forbidden(req, "rest_cannot_read_application_password", "You are not allowed to see this application password.")
}

/// The caller may not make application passwords for this user.
pub(super) fn cannot_create(req: &Request) -> Error {
    forbidden(
        req,
        "rest_cannot_create_application_passwords",
        "You are not allowed to make application passwords for this user.",
    )
}

/// The caller may not change this application password.
pub(super) fn cannot_edit(req: &Request) -> Error {
    forbidden(req, "rest_cannot_edit_application_password", "You are not allowed to change this application password.")
}

/// The caller may not delete this application password.
pub(super) fn cannot_delete(req: &Request) -> Error {
    forbidden(
        req,
        "rest_cannot_delete_application_password",
        "You are not allowed to delete this application password.",
    )
}

/// The caller may not delete the user's application passwords.
pub(super) fn cannot_delete_all(req: &Request) -> Error {
    forbidden(
        req,
        "rest_cannot_delete_application_passwords",
        "You are not allowed to delete the application passwords of this user.",
    )
}
