//! Errors of application passwords: refusals, and those of the site.

use svc_routing::Request;
use svc_schema::Error;

pub(crate) use svc_site::errors::application_passwords::*;

refusals! {
    /// The password in use is told only to the user whose it is.
    not_of_caller = "rest_cannot_introspect_app_password_for_non_authenticated_user" "The application password in use can be shown only to its own user.";

    /// The caller may not see the user's application passwords.
    cannot_list = "rest_cannot_list_application_passwords" "You are not allowed to see these application passwords.";

    /// The caller may not see this application password.
    cannot_read = "rest_cannot_read_application_password" "You are not allowed to see this application password.";

    /// The caller may not make application passwords for this user.
    cannot_create = "rest_cannot_create_application_passwords" "You are not allowed to make application passwords for this user.";

    /// The caller may not change this application password.
    cannot_edit = "rest_cannot_edit_application_password" "You are not allowed to change this application password.";

    /// The caller may not delete this application password.
    cannot_delete = "rest_cannot_delete_application_password" "You are not allowed to delete this application password.";

    /// The caller may not delete the user's application passwords.
    cannot_delete_all = "rest_cannot_delete_application_passwords" "You are not allowed to delete the application passwords of this user.";
}
