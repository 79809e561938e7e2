//! Errors of exports and imports.

use svc_schema::Error;

errors! {
    /// The password of a new user could not be hashed.
    no_password = 503 "rest_service_unavailable" "The site is busy. Import the file again in a moment.";

    /// Too many exports run.
    too_many_exports = 503 "rest_too_many_exports" "Too many exports run. Try again in a moment.";

    /// Too many imports run.
    too_many_imports = 503 "rest_too_many_imports" "Too many imports run. Wait until one has ended.";

    /// Another import runs.
    import_runs = 409 "rest_import_runs" "Another import runs. Wait until it has ended.";

    /// There is no such import, or it has begun.
    no_import = 404 "rest_no_import" "There is no such import, or it has begun already.";

    /// The file is larger than a request may be.
    too_large = 413 "rest_upload_too_large" "The file is too large.";

    /// Another site is read.
    site_is_read = 409 "rest_import_runs" "Another site is being read. Wait until that has ended, or remove it.";

    /// The address of another site is none.
    no_address = 400 "rest_no_address" "Enter the address of a site, such as https://example.org.";

    /// A name without a password, or a password without a name.
    half_credentials = 400 "rest_half_credentials" "Enter a user name with an application password, or neither of them.";

    /// The password would be sent without encryption.
    no_https = 400 "rest_no_https" "A password is only sent over HTTPS. Enter an address with https://.";

    /// The caller may not create users.
    cannot_create_users = 403 "rest_cannot_create_user" "You are not allowed to create users.";
}

/// The file is no WXR file, or is damaged.
pub(crate) fn no_wxr(why: &impl std::fmt::Display) -> Error {
    super::error("rest_no_wxr", &format!("The file cannot be read: {why}."), 400)
}

/// Another site cannot be read.
pub(crate) fn no_site(why: &str) -> Error {
    super::error("rest_no_site", &format!("The site cannot be read: {why}."), 400)
}

/// A temporary file could not be written or read.
pub(crate) fn disk(why: &std::io::Error) -> Error {
    tracing::error!(error = %why, "a temporary file could not be written or read");
    super::error("rest_transfer_failed", "The site could not do this. The failure has been logged.", 500)
}
