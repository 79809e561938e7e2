//! A term to be stored.

use serde_json::Value;

use crate::languages::Translations;

/// The fields that a request changes; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub struct TermDraft {
    /// Name as sent, not yet sanitized.
    pub name: Option<String>,
    /// Slug.
    pub slug: Option<String>,
    /// Description as sent, not yet sanitized.
    pub description: Option<String>,
    /// Id of the parent term; zero for none.
    pub parent: Option<i64>,
    /// Meta fields by name.
    pub meta: Option<Value>,
    /// Code of the language.
    pub language: Option<String>,
    /// Ids of the translations.
    pub translations: Option<Translations>,
    /// Names of the locations of a menu; only for menus.
    pub locations: Option<Vec<String>>,
    /// Whether new pages are added to a menu; only for menus.
    pub auto_add: Option<bool>,
}
