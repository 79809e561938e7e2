//! Errors of terms.

family_errors! {
    use svc_site::errors::terms;

    /// The caller may not create terms of this taxonomy.
    cannot_create = "rest_cannot_create" "You are not allowed to create terms of this taxonomy.";

    /// The caller may not edit this term.
    cannot_update = "rest_cannot_update" "You are not allowed to edit this term.";

    /// The caller may not delete this term.
    cannot_delete = "rest_cannot_delete" "You are not allowed to delete this term.";

    /// The caller may not view the terms of this post.
    forbidden_post = "rest_forbidden_context" "You are not allowed to view the terms of this post.";
}
