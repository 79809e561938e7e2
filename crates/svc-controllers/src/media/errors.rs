//! Errors of media.

family_errors! {
    use svc_site::errors::media;

    /// The caller may not create edited copies.
    cannot_edit_image = "rest_cannot_edit_image" "You are not allowed to upload files on this site.";
}
