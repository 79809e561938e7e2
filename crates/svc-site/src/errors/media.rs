//! Errors of media.

use svc_schema::Error;

use super::{error, posts};

errors! {
    /// The request has no file.
    no_data = 400 "rest_upload_no_data" "The request contains no file.";

    /// A file as the request body, without a `Content-Disposition` header.
    no_disposition = 400 "rest_upload_no_content_disposition" "The request has no Content-Disposition header.";

    /// The file does not match the checksum sent with it.
    hash_mismatch = 412 "rest_upload_hash_mismatch" "The file does not match the checksum in the request.";

    /// The featured image does not exist or is not an image.
    invalid_featured_media = 400 "rest_invalid_featured_media" "The featured image does not exist or is not an image.";

    /// The server does not fetch this URL.
    refused_url = 400 "rest_invalid_url" "Only images at public URLs can be fetched.";

    /// The URL does not name an image.
    no_image_url = 400 "rest_invalid_url" "The URL does not name an image.";

    /// The URL did not respond.
    no_response = 500 "http_request_failed" "The image could not be fetched.";

    /// Attachments cannot be attached to attachments or revisions.
    invalid_parent_type = 400 "rest_invalid_param" "Files cannot be attached to a post of this type.";

    /// Attachments cannot be trashed.
    no_trash = 501 "rest_trash_not_supported" "Files cannot be trashed. Set `force` to delete them permanently.";

    /// The attachment is not an image, or its URL differs from the one in the request.
    unknown_attachment = 404 "rest_unknown_attachment" "Image not found.";

    /// Images of this type cannot be edited.
    cannot_edit_type = 400 "rest_cannot_edit_file_type" "Files of this type cannot be edited.";

    /// The request contains no changes.
    not_edited = 400 "rest_image_not_edited" "The request contains no changes to the image.";

    /// The file cannot be read as an image.
    unreadable_image = 500 "rest_unknown_image_file_type" "The image cannot be read.";

    /// The image could not be rotated.
    rotation_failed = 500 "rest_image_rotation_failed" "The image could not be rotated.";

    /// Files can be sideloaded for images and PDF documents only.
    cannot_sideload = 400 "rest_post_invalid_id" "Files can be added to images and PDF documents only.";

    /// The attachment's file is outside of the uploads folder.
    not_in_uploads = 403 "rest_sideload_attachment_not_in_uploads" "Files can be added to attachments in the uploads folder only.";

    /// The dimensions of a sideloaded image cannot be read.
    no_dimensions = 400 "rest_upload_invalid_image" "The width and height of the image could not be read. It may be damaged, or its type is not supported.";

    /// A sideloaded image has no pixels.
    empty_image = 400 "rest_upload_invalid_dimensions" "The image is empty.";

    /// The image size is not registered any more.
    unknown_size = 400 "rest_upload_unknown_size" "There is no image size of this name.";

    /// A file in the request was not sideloaded for the attachment.
    not_sideloaded = 400 "rest_invalid_sub_size_file" "Only files that were added to this attachment before can be named.";

    /// The requested area is empty.
    crop_failed = 500 "rest_image_crop_failed" "The image could not be cropped to this area.";
}

/// A `Content-Disposition` header without a file name.
pub fn invalid_disposition() -> Error {
    let message = "The Content-Disposition header must name the file, for example: attachment; filename=\"image.png\".";
    error("rest_upload_invalid_disposition", message, 400)
}

/// A form without a usable file.
pub fn invalid_form(message: &str) -> Error {
    error("rest_upload_unknown_error", message, 500)
}

/// A file type that the caller may not upload, in a form or as the body.
pub fn refused_type(form: bool) -> Error {
    let code = if form { "rest_upload_unknown_error" } else { "rest_upload_sideload_error" };
    error(code, "You are not allowed to upload this type of file.", 500)
}

/// An image size that is neither a text nor a list.
pub fn no_size_name(param: &str) -> Error {
    Error::new("rest_invalid_type", format!("{param} must be the name of an image size, or a list of names."))
}

/// An image size that does not exist, or cannot be in a list.
pub fn unknown_size_name(param: &str) -> Error {
    Error::new("rest_not_in_enum", format!("{param} is not an image size of this site."))
}

/// A full-size image that has other dimensions than the one that it replaces.
pub fn other_dimensions((width, height): (u32, u32), (expected_width, expected_height): (u32, u32)) -> Error {
    let message =
        format!("The image has {width} × {height} pixels. The original has {expected_width} × {expected_height}.");
    error("rest_upload_dimension_mismatch", &message, 400)
}

/// An image that is larger than its size. A maximum of 0 is unlimited.
pub fn exceeds_size((width, height): (u32, u32), name: &str, (max_width, max_height): (u32, u32)) -> Error {
    let bound = |most: u32| if most == 0 { "any".to_owned() } else { most.to_string() };
    let (max_width, max_height) = (bound(max_width), bound(max_height));
    let message =
        format!("The image has {width} × {height} pixels. The size {name} allows {max_width} × {max_height}.");
    error("rest_upload_dimension_mismatch", &message, 400)
}

/// The attachment has too many sideloaded files that its metadata does not contain.
pub fn too_many_sideloaded(most: usize) -> Error {
    let message = format!("An attachment can have at most {most} files that were added but not finalized.");
    error("rest_too_many_sideloaded_files", &message, 400)
}

/// An image for which no sizes can be generated.
pub fn unsupported_image() -> Error {
    let message = "Images of this type cannot be resized. Convert the image to JPEG or PNG and upload it again.";
    error("rest_upload_image_type_not_supported", message, 400)
}

/// A featured image for an attachment type that does not support one.
pub fn no_featured_media(mime: &str) -> Error {
    error("rest_no_featured_media", &format!("Attachments of type {mime} do not support featured images."), 400)
}

/// The server does not fetch this URL.
pub fn invalid_url() -> Error {
    posts::invalid_param("url", &refused_url())
}

/// The URL returned something other than an image.
pub fn unexpected_status(status: u16) -> Error {
    error(&format!("http_{status}"), "The URL did not return an image.", 500)
}

/// The storage of uploads failed; the cause is logged.
pub fn storage(cause: &dyn std::fmt::Display) -> Error {
    tracing::error!(%cause, "the storage of uploads failed");
    error("rest_upload_unknown_error", "The file could not be stored. The failure has been logged.", 500)
}

/// The request contains more changes than are allowed at once.
pub fn too_many_changes(most: usize) -> Error {
    error("rest_invalid_param", &format!("An image can have at most {most} changes per request."), 400)
}
