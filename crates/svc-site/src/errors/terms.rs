//! Errors of terms.

use serde_json::json;
use svc_model::TermId;
use svc_schema::Error;

errors! {
    /// No term of this taxonomy has this id.
    not_found = 404 "rest_term_invalid" "Term not found.";

    /// The parent does not exist in this taxonomy.
    invalid_parent = 400 "rest_term_invalid" "The parent does not exist.";

    /// A parent in a taxonomy that is not hierarchical.
    not_hierarchical = 400 "rest_taxonomy_not_hierarchical" "Terms of this taxonomy cannot have a parent.";

    /// The post whose terms are requested does not exist.
    invalid_post = 400 "rest_post_invalid_id" "Post not found.";
}

/// The name is empty after markup is removed. It has no status of its own: 500, as in WordPress.
pub fn empty_name() -> Error {
    Error::new("empty_term_name", "A term requires a name.")
}

/// The name is too long for its column. It has no status of its own: 500, as in WordPress.
pub fn name_too_long() -> Error {
    Error::new("db_insert_error", "The term could not be stored.").with_data(json!("The name is too long."))
}

/// Another term of the taxonomy has this slug. It has no status of its own: 500, as in WordPress.
pub(crate) fn duplicate_slug(slug: &str) -> Error {
    Error::new("duplicate_term_slug", format!("Another term has the slug {slug}."))
}

/// A term with this name or slug already exists. Its id is in the data three times, as in WordPress: clients read
/// it from each position.
pub fn exists(existing: TermId) -> Error {
    let mut error = Error::new("term_exists", "A term with this name already exists.").with_data(json!(existing));
    error.add_data(json!(existing), None);
    error.add_data(json!({"status": 400, "term_id": existing}), None);
    error
}
