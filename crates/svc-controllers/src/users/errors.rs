//! Errors of users.

family_errors! {
    use svc_site::errors::users;

    /// The caller may not view this user, or may not filter a list by roles or capabilities.
    cannot_view = "rest_user_cannot_view" "You are not allowed to view this user or to filter users by role or capability.";

    /// The caller may not sort users by a field that they may not read.
    forbidden_orderby = "rest_forbidden_orderby" "You are not allowed to sort users by this field.";

    /// The caller may not list authors.
    forbidden_who = "rest_forbidden_who" "You are not allowed to list authors.";

    /// The caller may not create users.
    cannot_create = "rest_cannot_create_user" "You are not allowed to create users.";

    /// The caller may not edit this user.
    cannot_edit = "rest_cannot_edit" "You are not allowed to edit this user.";

    /// The caller may not change the user's roles.
    cannot_edit_roles = "rest_cannot_edit_roles" "You are not allowed to change the roles of this user.";

    /// The caller may not delete this user.
    cannot_delete = "rest_user_cannot_delete" "You are not allowed to delete this user.";

    /// Users who may edit users may not assign themselves a role without that capability.
    cannot_lose_rights = "rest_user_invalid_role" "You cannot give up your own permission to edit users.";
}
