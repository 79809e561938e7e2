//! Errors of fonts.

family_errors! {
    use svc_site::errors::fonts;

    /// The caller may not view fonts.
    cannot_read = "rest_cannot_read" "You are not allowed to view fonts.";
}
