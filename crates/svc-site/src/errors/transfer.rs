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

    /// The caller may not create users.
    cannot_create_users = 403 "rest_cannot_create_user" "You are not allowed to create users.";
}

/// The file is no WXR file, or is damaged.
pub(crate) fn no_wxr(why: &impl std::fmt::Display) -> Error {
    super::error("rest_no_wxr", &format!("The file cannot be read: {why}."), 400)
}

/// A temporary file could not be written or read.
pub(crate) fn disk(why: &std::io::Error) -> Error {
    tracing::error!(error = %why, "a temporary file could not be written or read");
    super::error("rest_transfer_failed", "The site could not do this. The failure has been logged.", 500)
}
