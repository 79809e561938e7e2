//! Errors of media: one constructor per code, named for the condition.

use svc_routing::Request;
use svc_schema::Error;

fn error(code: &str, message: &str, status: u16) -> Error {
    Error::new(code, message).with_status(status)
}

/// Nothing was sent.
pub(super) fn no_data() -> Error {
    error("rest_upload_no_data", "The request has no file.", 400)
}

/// A file as the body, without a header that names it.
pub(super) fn no_disposition() -> Error {
    error("rest_upload_no_content_disposition", "The request has no Content-Disposition header.", 400)
}

/// A header that should name the file and does not.
pub(super) fn invalid_disposition() -> Error {
    let message = "The Content-Disposition header does not name the file: attachment; filename=\"image.png\".";
    error("rest_upload_invalid_disposition", message, 400)
}

/// What arrived is not what was sent.
pub(super) fn hash_mismatch() -> Error {
    error("rest_upload_hash_mismatch", "The file differs from the checksum that was sent with it.", 412)
}

/// A form without a file that could be stored.
pub(super) fn unusable_form(message: &str) -> Error {
    error("rest_upload_unknown_error", message, 500)
}

/// A type of file that the caller may not upload, in a form or as the body.
pub(super) fn refused_type(form: bool) -> Error {
    let code = if form { "rest_upload_unknown_error" } else { "rest_upload_sideload_error" };
    error(code, "You are not allowed to upload this type of file.", 500)
}

/// An image that no sizes can be made of.
pub(super) fn unsupported_image() -> Error {
    let message = "Sizes of this kind of image cannot be made here: upload it as JPEG or PNG.";
    error("rest_upload_image_type_not_supported", message, 400)
}

/// A featured image for a file that has none.
pub(super) fn no_featured_media(mime: &str) -> Error {
    error("rest_no_featured_media", &format!("Attachments of type {mime} have no featured image."), 400)
}

/// A featured image that does not exist or is no image.
pub(super) fn invalid_featured_media() -> Error {
    error("rest_invalid_featured_media", "The featured image does not exist or is not an image.", 400)
}

/// What is wrong with an address that the server does not ask.
pub(super) fn refused_url() -> Error {
    error("rest_invalid_url", "Only images at public addresses can be fetched.", 400)
}

/// An address that the server does not ask.
pub(super) fn invalid_url() -> Error {
    crate::errors::invalid_param("url", &refused_url())
}

/// An address that names no image.
pub(super) fn no_image_address() -> Error {
    error("rest_invalid_url", "The address does not name an image.", 400)
}

/// Nobody answered at an address.
pub(super) fn no_answer() -> Error {
    error("http_request_failed", "The image could not be fetched.", 500)
}

/// Something else than an image was answered at an address.
pub(super) fn answered(status: u16) -> Error {
    error(&format!("http_{status}"), "There is no image at the address.", 500)
}

/// The storage of uploads failed; the cause is logged.
pub(super) fn storage(cause: &dyn std::fmt::Display) -> Error {
    tracing::error!(%cause, "the storage of uploads failed");
    error("rest_upload_unknown_error", "The file could not be stored. The failure has been logged.", 500)
}

/// Attachments hang neither on attachments nor on revisions.
pub(super) fn invalid_parent_type() -> Error {
    error("rest_invalid_param", "Files cannot be attached to a post of this type.", 400)
}

/// Attachments know no trash.
pub(super) fn no_trash() -> Error {
    error("rest_trash_not_supported", "Files cannot be moved to the trash: set force to delete them.", 501)
}

/// The caller may not make edited copies.
pub(super) fn cannot_edit_image(req: &Request) -> Error {
    let message = "You are not allowed to upload files on this site.";
    error("rest_cannot_edit_image", message, req.authorization_status())
}

/// The attachment is no image, or not the one of the address given.
pub(super) fn unknown_attachment() -> Error {
    error("rest_unknown_attachment", "There is no such image.", 404)
}

/// Images of this type are not edited.
pub(super) fn cannot_edit_type() -> Error {
    error("rest_cannot_edit_file_type", "Files of this type cannot be edited.", 400)
}

/// No change was asked for.
pub(super) fn not_edited() -> Error {
    error("rest_image_not_edited", "The request asks for no change of the image.", 400)
}

/// The request asks for more changes than are made at once.
pub(super) fn too_many_changes(most: usize) -> Error {
    error("rest_invalid_param", &format!("An image takes at most {most} changes at once."), 400)
}

/// The file is no image that can be read.
pub(super) fn unreadable_image() -> Error {
    error("rest_unknown_image_file_type", "The image cannot be read.", 500)
}

/// The image cannot be turned.
pub(super) fn rotation_failed() -> Error {
    error("rest_image_rotation_failed", "The image could not be turned.", 500)
}

/// The part asked for is empty.
pub(super) fn crop_failed() -> Error {
    error("rest_image_crop_failed", "This part of the image cannot be cut out.", 500)
}
