//! Errors of fonts: one constructor per condition.

use svc_routing::{Request, forbidden};
use svc_schema::Error;

/// The caller may not see fonts.
pub(super) fn cannot_read(req: &Request) -> Error {
    forbidden(req, "rest_cannot_read", "You are not allowed to see fonts.")
}

/// The family that a face belongs to does not exist.
pub(super) fn invalid_parent() -> Error {
    Error::new("rest_post_invalid_parent", "There is no such font family.").with_status(404)
}

/// The face belongs to another family.
pub(super) fn parent_mismatch() -> Error {
    Error::new("rest_font_face_parent_id_mismatch", "The font face is of another family.").with_status(404)
}

/// Another family has this slug.
pub(super) fn duplicate_family(slug: &str) -> Error {
    let text = format!("There is a font family {slug} already.");
    Error::new("rest_duplicate_font_family", text).with_status(400)
}

/// The very same face is there already.
pub(super) fn duplicate_face() -> Error {
    Error::new("rest_duplicate_font_face", "There is such a font face already.").with_status(400)
}

/// No such collection.
pub(super) fn collection_not_found() -> Error {
    Error::new("rest_font_collection_not_found", "There is no such collection of fonts.").with_status(404)
}

/// The collection's fonts are not at hand.
pub(super) fn collection_missing() -> Error {
    Error::new("font_collection_json_missing", "The fonts of this collection are not at hand.").with_status(500)
}
