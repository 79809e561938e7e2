//! Errors of users.

use svc_schema::Error;

use super::{error, posts};

errors! {
    /// No user has this id.
    not_found = 404 "rest_user_invalid_id" "User not found.";

    /// A request for the current user without authentication.
    not_logged_in = 401 "rest_not_logged_in" "You must be logged in.";

    /// A request to create a user contained an id.
    exists = 400 "rest_user_exists" "A new user cannot have an id. To update a user, send the request to the user's own URL.";

    /// The e-mail address is taken or too long.
    invalid_email = 400 "rest_user_invalid_email" "This e-mail address cannot be used.";

    /// Another user has this slug.
    invalid_slug = 400 "rest_user_invalid_slug" "Another user has this slug.";

    /// The login of a user cannot change.
    fixed_username = 400 "rest_user_invalid_argument" "The user name cannot be changed.";

    /// The user name is not allowed.
    invalid_username = 400 "rest_user_invalid_username" "This user name is not allowed.";

    /// The password is empty, too long, or contains a character that login forms cannot send.
    invalid_password = 400 "rest_user_invalid_password" "A password must not be empty, very long, or contain a backslash.";

    /// The new owner of a user's posts is neither a user id nor empty.
    unreadable_reassign = 400 "rest_invalid_param" "This is not a user id.";

    /// The new owner of the posts does not exist, or is the user being deleted.
    invalid_reassign = 400 "rest_user_invalid_reassign" "The posts cannot be reassigned to this user.";
}

/// A role that is not registered.
pub fn unknown_role(role: &str) -> Error {
    error("rest_user_invalid_role", &format!("The role {role} does not exist."), 400)
}

/// The display name is too long for its column.
pub fn name_too_long() -> Error {
    posts::invalid_param("name", &error("rest_too_long", "name must be at most 250 characters long.", 400))
}

/// Another user has this login.
pub(crate) fn existing_login() -> Error {
    Error::new("existing_user_login", "A user with this name already exists.")
}

/// Another user has this e-mail address.
pub(crate) fn existing_email() -> Error {
    Error::new("existing_user_email", "A user with this e-mail address already exists.")
}

/// The login is too long for its column.
pub(crate) fn login_too_long() -> Error {
    Error::new("user_login_too_long", "A user name must be at most 60 characters long.")
}

/// The slug is too long for its column.
pub(crate) fn slug_too_long() -> Error {
    Error::new("user_nicename_too_long", "A user's slug must be at most 50 characters long.")
}

/// The URL is too long for its column.
pub(crate) fn url_too_long() -> Error {
    Error::new("user_url_too_long", "A website URL must be at most 100 characters long.")
}
