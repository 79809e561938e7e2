//! What a WordPress and its plugins register, as far as its REST API returns it.

use serde_json::{Map, Value};

/// The registrations of a WordPress.
#[derive(Debug, Default)]
pub struct Report {
    pub(super) types: Vec<AdoptedPostType>,
    pub(super) taxonomies: Vec<AdoptedTaxonomy>,
    pub(super) meta: Vec<Meta>,
    pub(super) settings: Vec<Setting>,
    /// Whether the active theme is a block theme.
    pub(super) is_block_theme: bool,
    /// The features of the active theme.
    pub(super) theme_supports: Map<String, Value>,
    /// Those of plugins.
    pub(super) namespaces: Vec<String>,
}

/// A post type.
#[derive(Debug, Default)]
pub(super) struct AdoptedPostType {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) singular: String,
    pub(super) description: String,
    pub(super) public: bool,
    pub(super) hierarchical: bool,
    pub(super) show_ui: Option<bool>,
    pub(super) show_in_nav_menus: Option<bool>,
    pub(super) menu_icon: Option<String>,
    /// True, false, or the path.
    pub(super) has_archive: Value,
    pub(super) template: Value,
    pub(super) template_lock: Value,
    pub(super) rest_base: String,
    pub(super) rest_namespace: String,
    pub(super) taxonomies: Vec<String>,
    pub(super) capabilities: Map<String, Value>,
    /// An object, or an empty list.
    pub(super) supports: Value,
}

/// A taxonomy.
#[derive(Debug, Default)]
pub(super) struct AdoptedTaxonomy {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) singular: String,
    pub(super) description: String,
    pub(super) public: bool,
    pub(super) hierarchical: bool,
    pub(super) publicly_queryable: Option<bool>,
    pub(super) show_ui: Option<bool>,
    pub(super) show_in_nav_menus: Option<bool>,
    pub(super) show_tagcloud: Option<bool>,
    pub(super) show_in_quick_edit: Option<bool>,
    pub(super) show_admin_column: Option<bool>,
    pub(super) rest_base: String,
    pub(super) rest_namespace: String,
    pub(super) types: Vec<String>,
    pub(super) capabilities: Map<String, Value>,
}

/// Meta that the REST API returns.
#[derive(Debug, Default)]
pub(super) struct Meta {
    pub(super) object: &'static str,
    /// Post type or taxonomy; empty for all.
    pub(super) of: String,
    pub(super) key: String,
    pub(super) kind: String,
    pub(super) description: String,
    pub(super) single: bool,
    /// Further keywords of the schema of a value.
    pub(super) schema: Map<String, Value>,
}

/// A setting that the REST API returns.
#[derive(Debug, Default)]
pub(super) struct Setting {
    pub(super) option: String,
    pub(super) kind: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) schema: Map<String, Value>,
    pub(super) default: Option<Value>,
}
