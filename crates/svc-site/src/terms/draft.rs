//! A term to be stored.

use serde_json::Value;

/// What a request wants to change of a term; `None` leaves a member as it is.
#[derive(Clone, Debug, Default)]
pub struct TermDraft {
    pub name: Option<String>,
    pub slug: Option<String>,
    pub description: Option<String>,
    pub parent: Option<i64>,
    pub meta: Option<Value>,
    /// Where a menu is to be shown, by name; only menus have it.
    pub locations: Option<Vec<String>>,
    /// Whether a menu is to get new pages; only menus have it.
    pub auto_add: Option<bool>,
}
