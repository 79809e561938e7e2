//! Errors of languages and translations.

use svc_schema::Error;

use super::error;

/// The site does not have the language, or objects of the kind cannot have it.
pub(crate) fn unknown_language() -> Error {
    error("rest_invalid_language", "The language does not exist.", 400)
}

/// An id in `translations` is not that of an object of the same type in the language.
pub(crate) fn not_in_language(slug: &str) -> Error {
    let message = format!("translations[{slug}] is not the ID of an object of this type in this language.");
    error("rest_invalid_translation", &message, 400)
}

/// `translations` names another object in the language of the object itself, or a request leaves a group and joins others.
pub(crate) fn own_language(slug: &str) -> Error {
    let message =
        format!("The object itself is in the language {slug}: translations[{slug}] can only be its ID, or 0 alone.");
    error("rest_invalid_translation", &message, 400)
}

/// The caller may not edit one of the objects whose translations change.
pub(crate) fn cannot_edit() -> Error {
    error("rest_cannot_edit_translation", "You are not allowed to edit all objects whose translations change.", 403)
}

/// Two objects would be translations in one language.
pub(crate) fn conflict(slugs: &[&str]) -> Error {
    let message = format!(
        "There are other translations in these languages: {}. Name those to keep in translations, or 0 to remove one.",
        slugs.join(", ")
    );
    error("rest_translation_conflict", &message, 400)
}
