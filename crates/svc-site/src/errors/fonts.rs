//! Errors of fonts.

use svc_schema::Error;

errors! {
    /// The font family of a face does not exist.
    invalid_parent = 404 "rest_post_invalid_parent" "Font family not found.";

    /// The face belongs to another family.
    parent_mismatch = 404 "rest_font_face_parent_id_mismatch" "The font face belongs to another family.";

    /// The family already has an identical face.
    duplicate_face = 400 "rest_duplicate_font_face" "This font face already exists.";

    /// No collection has this slug.
    collection_not_found = 404 "rest_font_collection_not_found" "Font collection does not exist.";

    /// The collection's fonts are not available.
    collection_missing = 500 "font_collection_json_missing" "The fonts of this collection are not available.";
}

/// Another family has this slug.
pub fn duplicate_family(slug: &str) -> Error {
    let text = format!("The font family {slug} already exists.");
    Error::new("rest_duplicate_font_family", text).with_status(400)
}
