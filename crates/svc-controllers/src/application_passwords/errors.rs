//! Errors of application passwords.

family_errors! {
    use svc_site::errors::application_passwords;

    /// The password in use is returned only to its own user.
    not_of_caller = "rest_cannot_introspect_app_password_for_non_authenticated_user" "Only the user of the application password in use may view it.";

    /// The caller may not list the user's application passwords.
    cannot_list = "rest_cannot_list_application_passwords" "You are not allowed to list these application passwords.";

    /// The caller may not read this application password.
    cannot_read = "rest_cannot_read_application_password" "You are not allowed to view this application password.";

    /// The caller may not create application passwords for this user.
    cannot_create = "rest_cannot_create_application_passwords" "You are not allowed to create application passwords for this user.";

    /// The caller may not edit this application password.
    cannot_edit = "rest_cannot_edit_application_password" "You are not allowed to edit this application password.";

    /// The caller may not delete this application password.
    cannot_delete = "rest_cannot_delete_application_password" "You are not allowed to delete this application password.";

    /// The caller may not delete the user's application passwords.
    cannot_delete_all = "rest_cannot_delete_application_passwords" "You are not allowed to delete the application passwords of this user.";
}
