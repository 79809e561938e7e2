//! A term to be stored.

use serde_json::Value;

/// What a request wants to change of a term; `None` leaves a member as it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermDraft {
    pub(crate) name: Option<String>,
    pub(crate) slug: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) parent: Option<i64>,
    pub(crate) meta: Option<Value>,
    /// Where a menu is to be shown, by name; only menus have it.
    pub(crate) locations: Option<Vec<String>>,
    /// Whether a menu is to get new pages; only menus have it.
    pub(crate) auto_add: Option<bool>,
}
