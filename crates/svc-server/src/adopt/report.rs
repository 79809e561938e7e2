//! What a WordPress and its plugins register, as far as its REST API returns it.

use serde_json::{Map, Value};

/// The registrations of a WordPress.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) types: Vec<AdoptedPostType>,
    pub(crate) taxonomies: Vec<AdoptedTaxonomy>,
    pub(crate) meta: Vec<Meta>,
    pub(crate) settings: Vec<Setting>,
    /// Those of plugins.
    pub(crate) namespaces: Vec<String>,
}

/// A post type.
#[derive(Debug, Default)]
pub(crate) struct AdoptedPostType {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) singular: String,
    pub(crate) description: String,
    pub(crate) public: bool,
    pub(crate) hierarchical: bool,
    pub(crate) show_ui: Option<bool>,
    pub(crate) show_in_nav_menus: Option<bool>,
    pub(crate) menu_icon: Option<String>,
    /// True, false, or the path.
    pub(crate) has_archive: Value,
    pub(crate) template: Value,
    pub(crate) template_lock: Value,
    pub(crate) rest_base: String,
    pub(crate) rest_namespace: String,
    pub(crate) taxonomies: Vec<String>,
    pub(crate) capabilities: Map<String, Value>,
    /// An object, or an empty list.
    pub(crate) supports: Value,
}

/// A taxonomy.
#[derive(Debug, Default)]
pub(crate) struct AdoptedTaxonomy {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) singular: String,
    pub(crate) description: String,
    pub(crate) public: bool,
    pub(crate) hierarchical: bool,
    pub(crate) publicly_queryable: Option<bool>,
    pub(crate) show_ui: Option<bool>,
    pub(crate) show_in_nav_menus: Option<bool>,
    pub(crate) show_tagcloud: Option<bool>,
    pub(crate) show_in_quick_edit: Option<bool>,
    pub(crate) show_admin_column: Option<bool>,
    pub(crate) rest_base: String,
    pub(crate) rest_namespace: String,
    pub(crate) types: Vec<String>,
    pub(crate) capabilities: Map<String, Value>,
}

/// Meta that the REST API returns.
#[derive(Debug, Default)]
pub(crate) struct Meta {
    pub(crate) object: &'static str,
    /// Post type or taxonomy; empty for all.
    pub(crate) of: String,
    pub(crate) key: String,
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) single: bool,
    /// Further keywords of the schema of a value.
    pub(crate) schema: Map<String, Value>,
}

/// A setting that the REST API returns.
#[derive(Debug, Default)]
pub(crate) struct Setting {
    pub(crate) option: String,
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) schema: Map<String, Value>,
    pub(crate) default: Option<Value>,
}
