//! Errors of images on demand.

use svc_schema::Error;

errors! {
    /// The request names neither a width nor a height.
    no_size = 400 "rest_invalid_param" "An image needs a width (`w`), a height (`h`) or both.";

    /// The focus is not a point.
    invalid_focus = 400 "rest_invalid_param" "The focus must be two numbers from 0 to 1, such as 0.5,0.25.";

    /// The size is not one that anybody may request.
    not_listed = 403 "rest_image_not_signed" "This size is not one of the listed ones, so its URL must be signed.";

    /// The signature is that of another image, or of none.
    invalid_signature = 403 "rest_invalid_image_signature" "The signature of the image's URL is not valid.";

    /// There is no such attachment, it is no image, or its file is missing.
    not_found = 404 "rest_image_not_found" "Image not found.";

    /// The file's type is not one that can be decoded.
    unsupported = 400 "rest_image_not_supported" "Images of this type cannot be resized. Use the file itself.";

    /// The file cannot be decoded, or the result encoded.
    unusable = 422 "rest_image_unusable" "The image cannot be resized: it is animated, damaged or too large. Use the file itself.";

    /// Too many images are being made.
    busy = 503 "rest_service_unavailable" "The site is making too many images. Try again in a moment.";

    /// The site has no keys to sign URLs with.
    no_keys = 500 "rest_no_keys" "The site has no keys to sign URLs.";
}

/// The file cannot be read for another reason than that it is missing; the cause is logged.
pub fn unreadable(cause: &dyn std::fmt::Display) -> Error {
    tracing::error!(%cause, "an image cannot be read");
    super::error("rest_internal_error", "The image could not be read. The failure has been logged.", 500)
}
