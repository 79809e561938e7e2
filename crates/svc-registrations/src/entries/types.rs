//! `[[types]]`: post types.

use serde::Deserialize;
use serde_json::Value;
use svc_model::{PostType, PostTypeCaps, PostTypes};
use validator::{Validate, ValidationError};

use super::{
    TableEntry,
    checks::{check_free, check_name, check_path, check_rest_base, check_slug, require},
    override_with, yes,
};

/// `[[types]]`
#[derive(Clone, Debug, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
#[validate(schema(function = "check_free_type", skip_on_field_errors = false))]
pub(super) struct TypeEntry {
    #[validate(custom(function = "check_type_name"))]
    pub(super) name: String,
    pub(super) label: Option<String>,
    singular: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default = "yes")]
    public: bool,
    #[serde(default)]
    hierarchical: bool,
    #[serde(default = "yes")]
    in_interface: bool,
    #[validate(custom(function = "check_rest_base"))]
    rest_base: Option<String>,
    supports: Option<Vec<String>>,
    #[serde(default)]
    taxonomies: Vec<String>,
    #[validate(custom(function = "check_archive"))]
    archive: Option<String>,
    #[validate(custom(function = "check_slug"))]
    slug: Option<String>,
    icon: Option<String>,
    capabilities: Option<[String; 2]>,
    #[validate(custom(function = "check_template"))]
    template: Option<Value>,
    template_lock: Option<String>,
    // By default these follow from `public`.
    searchable: Option<bool>,
    queryable: Option<bool>,
    show_ui: Option<bool>,
    show_in_nav_menus: Option<bool>,
    #[serde(default = "yes")]
    map_meta_cap: bool,
    delete_with_user: Option<bool>,
}

impl TableEntry for TypeEntry {
    const FIELDS: &'static [&'static str] = &["name", "__all__", "rest_base", "slug", "archive", "template"];

    fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

fn check_type_name(name: &str) -> Result<(), ValidationError> {
    check_name(name, 20)
}

fn check_archive(text: &str) -> Result<(), ValidationError> {
    check_path("archive", text)
}

fn check_template(template: &Value) -> Result<(), ValidationError> {
    require(template.is_array(), || "`template` must be a list of blocks".to_owned())
}

fn check_free_type(entry: &TypeEntry) -> Result<(), ValidationError> {
    let (own, core) = (entry.post_type(), PostTypes::default());
    check_free("type", (&own.name, &own.rest_base), core.iter().map(|t| (&*t.name, &*t.rest_base)))
}

impl TypeEntry {
    pub(super) fn post_type(&self) -> PostType {
        let mut post_type = PostType::new(&self.name);
        let label = self.label.as_deref().unwrap_or(&self.name);
        post_type = post_type.labelled(label, self.singular.as_deref().unwrap_or(label));
        if self.public {
            post_type = post_type.public();
        }
        if let Some(slug) = &self.slug {
            post_type.rewrite_slug = Some(slug.clone());
        }
        post_type.show_in_rest = self.in_interface;
        override_with(&mut post_type.rest_base, self.rest_base.clone());
        let default = || ["title", "editor"].map(str::to_owned).to_vec();
        let features = self.supports.clone().unwrap_or_else(default);
        post_type = post_type.supporting(&features.iter().map(String::as_str).collect::<Vec<_>>());
        if let Some([singular, plural]) = &self.capabilities {
            post_type.caps = PostTypeCaps::of(singular, plural);
        }
        post_type.description.clone_from(&self.description);
        post_type.hierarchical = self.hierarchical;
        post_type.taxonomies.clone_from(&self.taxonomies);
        post_type.has_archive.clone_from(&self.archive);
        post_type.menu_icon.clone_from(&self.icon);
        if let Some(template) = &self.template {
            post_type.template = template.clone();
        }
        if let Some(lock) = &self.template_lock {
            post_type.template_lock = lock.as_str().into();
        }
        override_with(&mut post_type.exclude_from_search, self.searchable.map(|searchable| !searchable));
        override_with(&mut post_type.publicly_queryable, self.queryable);
        override_with(&mut post_type.show_ui, self.show_ui);
        override_with(&mut post_type.show_in_nav_menus, self.show_in_nav_menus);
        post_type.map_meta_cap = self.map_meta_cap;
        post_type.delete_with_user = self.delete_with_user;
        post_type
    }
}
