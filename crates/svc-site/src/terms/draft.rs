//! A term to be stored.

use serde_json::Value;

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
    /// Names of the locations of a menu; only for menus.
    pub locations: Option<Vec<String>>,
    /// Whether new pages are added to a menu; only for menus.
    pub auto_add: Option<bool>,
}
