//! The content of a report: what WordPress and its plugins register.
//!
//! Fields that are missing have defaults.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The registrations of a WordPress.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Report {
    pub(crate) types: Vec<PostType>,
    pub(crate) taxonomies: Vec<Taxonomy>,
    pub(crate) meta: Vec<Meta>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) sidebars: Vec<Sidebar>,
    pub(crate) menu_locations: Vec<MenuLocation>,
    /// Additional fields of the REST API's items.
    pub(crate) fields: Vec<Fields>,
    /// Filters of plugins that change responses.
    pub(crate) filters: Vec<Filter>,
    pub(crate) namespaces: Vec<String>,
    pub(crate) shortcodes: Vec<String>,
    /// Blocks that are not WordPress's own.
    pub(crate) blocks: Vec<String>,
    /// Blocks that PHP renders, also WordPress's own.
    pub(crate) dynamic: Vec<String>,
    pub(crate) statuses: Vec<String>,
}

/// A post type. `None` where the source does not report a value.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PostType {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) singular: String,
    pub(crate) description: String,
    pub(crate) public: bool,
    pub(crate) hierarchical: bool,
    pub(crate) exclude_from_search: Option<bool>,
    pub(crate) publicly_queryable: Option<bool>,
    pub(crate) show_ui: Option<bool>,
    pub(crate) show_in_nav_menus: Option<bool>,
    pub(crate) map_meta_cap: Option<bool>,
    pub(crate) menu_icon: Option<String>,
    /// True, false, or the path.
    pub(crate) has_archive: Value,
    pub(crate) delete_with_user: Option<bool>,
    pub(crate) template: Value,
    pub(crate) template_lock: Value,
    pub(crate) show_in_rest: bool,
    /// The path, or something that is not a text if there is none.
    pub(crate) rest_base: Value,
    pub(crate) rest_namespace: Value,
    pub(crate) taxonomies: Value,
    pub(crate) capabilities: Map<String, Value>,
    /// First part of permalinks; `None` without permalinks.
    pub(crate) slug: Option<String>,
    /// An object, or an empty list.
    pub(crate) supports: Value,
    /// Names of classes that serve the type instead of the default.
    pub(crate) controllers: Vec<String>,
}

/// A taxonomy. `None` where the source does not report a value.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Taxonomy {
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
    pub(crate) show_in_rest: bool,
    pub(crate) rest_base: Value,
    pub(crate) rest_namespace: Value,
    pub(crate) default_term: Value,
    pub(crate) sort: Value,
    pub(crate) types: Vec<String>,
    pub(crate) capabilities: Map<String, Value>,
    pub(crate) slug: Option<String>,
    pub(crate) controllers: Vec<String>,
}

/// Meta that the REST API returns.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Meta {
    pub(crate) object: String,
    /// Post type or taxonomy; empty for all.
    pub(crate) of: String,
    pub(crate) key: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) single: bool,
    pub(crate) revisions: bool,
    pub(crate) name: Option<String>,
    pub(crate) schema: Value,
    pub(crate) default: Option<Value>,
    /// A callback in PHP changes values before they are stored.
    pub(crate) sanitized: bool,
    /// A callback in PHP decides who may write.
    pub(crate) guarded: bool,
    /// A callback in PHP changes values in responses.
    pub(crate) prepared: bool,
}

/// A setting that the REST API returns.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Setting {
    pub(crate) option: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) name: Option<String>,
    pub(crate) schema: Value,
    pub(crate) default: Option<Value>,
    /// The value is a key of another service.
    pub(crate) secret: bool,
    /// A callback in PHP changes values before they are stored.
    pub(crate) sanitized: bool,
}

/// A sidebar, with the HTML around its widgets.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Sidebar {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) class: String,
    pub(crate) before_widget: String,
    pub(crate) after_widget: String,
    pub(crate) before_title: String,
    pub(crate) after_title: String,
    pub(crate) show_in_rest: bool,
}

/// A menu location of the theme.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MenuLocation {
    pub(crate) name: String,
    pub(crate) description: String,
}

/// Additional fields of one type of items.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Fields {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) names: Vec<String>,
}

/// A filter with callbacks of plugins or the theme.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Filter {
    pub(crate) filter: String,
    /// Names of plugins or themes.
    pub(crate) by: Vec<String>,
}
