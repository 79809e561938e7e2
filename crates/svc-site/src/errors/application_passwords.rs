//! Errors of application passwords.

use svc_schema::Error;

errors! {
    /// Application passwords are disabled on this site.
    disabled = 501 "application_passwords_disabled" "Application passwords cannot be used on this site.";

    /// The user has no application password with this UUID.
    not_found = 404 "rest_application_password_not_found" "Application password does not exist.";

    /// The name is empty after markup is removed.
    empty_name = 400 "application_password_empty_name" "An application password requires a name.";

    /// The user has the maximum number of application passwords.
    too_many = 400 "rest_too_many_application_passwords" "The maximum number of application passwords is reached. Delete one first.";

    /// The operating system returned no random bytes.
    no_randomness = 500 "rest_internal_error" "The password could not be generated.";

    /// The request was not authenticated with an application password.
    none_in_use = 404 "rest_no_authenticated_app_password" "This request was not authenticated with an application password.";
}
