//! A term to be stored.

use serde_json::Value;

/// The fields that a request changes; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub struct TermDraft {
    pub name: Option<String>,
    pub slug: Option<String>,
    pub description: Option<String>,
    pub parent: Option<i64>,
    pub meta: Option<Value>,
    /// Names of the locations of a menu; only for menus.
    pub locations: Option<Vec<String>>,
    /// Whether new pages are added to a menu; only for menus.
    pub auto_add: Option<bool>,
}
