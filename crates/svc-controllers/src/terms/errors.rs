//! Errors of terms: one constructor per condition.

use serde_json::json;
use svc_model::TermId;
use svc_routing::{Request, forbidden};
use svc_schema::Error;

/// No term of this taxonomy has this number.
pub(crate) fn not_found() -> Error {
    Error::new("rest_term_invalid", "There is no such term.").with_status(404)
}

/// The term named as parent does not exist in this taxonomy.
pub(super) fn invalid_parent() -> Error {
    Error::new("rest_term_invalid", "There is no such parent.").with_status(400)
}

/// A parent in a taxonomy without parents.
pub(crate) fn not_hierarchical() -> Error {
    Error::new("rest_taxonomy_not_hierarchical", "Terms of this taxonomy have no parents.").with_status(400)
}

/// The post whose terms are asked for does not exist.
pub(super) fn invalid_post() -> Error {
    Error::new("rest_post_invalid_id", "There is no such post.").with_status(400)
}

/// The caller may not make terms of this taxonomy.
pub(super) fn cannot_create(req: &Request) -> Error {
    forbidden(req, "rest_cannot_create", "You are not allowed to make terms of this taxonomy.")
}

/// The caller may not change this term.
pub(super) fn cannot_update(req: &Request) -> Error {
    forbidden(req, "rest_cannot_update", "You are not allowed to change this term.")
}

/// The caller may not delete this term.
pub(super) fn cannot_delete(req: &Request) -> Error {
    forbidden(req, "rest_cannot_delete", "You are not allowed to delete this term.")
}

/// The caller may not see the terms of this post.
pub(super) fn forbidden_post(req: &Request) -> Error {
    forbidden(req, "rest_forbidden_context", "You are not allowed to see the terms of this post.")
}

/// Nothing is left of the name once markup is taken out. Without a status, as the peer: 500.
pub(crate) fn empty_name() -> Error {
    Error::new("empty_term_name", "A term needs a name.")
}

/// A name longer than the column that keeps it. Without a status, as the peer: 500.
pub(crate) fn name_too_long() -> Error {
    Error::new("db_insert_error", "The term could not be stored.").with_data(json!("The name is too long."))
}

/// Another term of the taxonomy has this slug. Without a status, as the peer: 500.
pub(super) fn duplicate_slug(slug: &str) -> Error {
    Error::new("duplicate_term_slug", format!("Another term has the slug {slug}."))
}

/// A term of this name, or slug, is there already. Its number comes three times, as the peer tells it: clients look for
/// it in each place.
pub(super) fn exists(existing: TermId) -> Error {
    let mut error = Error::new("term_exists", "There is a term of this name already.").with_data(json!(existing));
    error.add_data(json!(existing), None);
    error.add_data(json!({"status": 400, "term_id": existing}), None);
    error
}
