//! Post types: supported features, routes and capabilities.

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};

use crate::builtin_types::BUILTIN;

/// The route family of the REST API that serves a post type.
///
/// It is named here because it is part of a type's registration, as `rest_base` is, and because rules below the REST API
/// depend on it: who may read patterns, and which routes are advertised. The family itself is not known here; the REST
/// API maps each name to its routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteFamily {
    /// The posts family, the default for custom types.
    Posts,
    /// `media`.
    Attachments,
    /// `blocks` (synced patterns).
    Blocks,
    /// `menu-items`.
    MenuItems,
    /// `templates` and `template-parts`.
    Templates,
    /// `global-styles`.
    GlobalStyles,
    /// `font-families`.
    FontFamilies,
    /// Font faces of a font family.
    FontFaces,
}

impl RouteFamily {
    /// Whether routes of single posts are advertised: the specification's "standard controller" (Discovery).
    pub fn is_standard(self) -> bool {
        matches!(self, RouteFamily::Posts | RouteFamily::Attachments)
    }
}

/// Capabilities of a post type: the three meta capabilities, then the primitive ones.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are WordPress's capability names")]
pub struct PostTypeCaps {
    pub edit_post: String,
    pub read_post: String,
    pub delete_post: String,
    pub edit_posts: String,
    pub edit_others_posts: String,
    pub delete_posts: String,
    pub publish_posts: String,
    pub read_private_posts: String,
    pub read: String,
    pub delete_private_posts: String,
    pub delete_published_posts: String,
    pub delete_others_posts: String,
    pub edit_private_posts: String,
    pub edit_published_posts: String,
    pub create_posts: String,
}

impl PostTypeCaps {
    /// Capabilities with the given singular and plural stem: `edit_page`, `edit_others_pages`, …
    pub fn of(one: &str, many: &str) -> Self {
        PostTypeCaps {
            edit_post: format!("edit_{one}"),
            read_post: format!("read_{one}"),
            delete_post: format!("delete_{one}"),
            edit_posts: format!("edit_{many}"),
            edit_others_posts: format!("edit_others_{many}"),
            delete_posts: format!("delete_{many}"),
            publish_posts: format!("publish_{many}"),
            read_private_posts: format!("read_private_{many}"),
            read: "read".to_owned(),
            delete_private_posts: format!("delete_private_{many}"),
            delete_published_posts: format!("delete_published_{many}"),
            delete_others_posts: format!("delete_others_{many}"),
            edit_private_posts: format!("edit_private_{many}"),
            edit_published_posts: format!("edit_published_{many}"),
            create_posts: format!("edit_{many}"),
        }
    }

    /// All capabilities as `(field name, capability)`, in REST API order.
    pub fn pairs(&self) -> [(&'static str, &str); 15] {
        [
            ("edit_post", &self.edit_post),
            ("read_post", &self.read_post),
            ("delete_post", &self.delete_post),
            ("edit_posts", &self.edit_posts),
            ("edit_others_posts", &self.edit_others_posts),
            ("delete_posts", &self.delete_posts),
            ("publish_posts", &self.publish_posts),
            ("read_private_posts", &self.read_private_posts),
            ("read", &self.read),
            ("delete_private_posts", &self.delete_private_posts),
            ("delete_published_posts", &self.delete_published_posts),
            ("delete_others_posts", &self.delete_others_posts),
            ("edit_private_posts", &self.edit_private_posts),
            ("edit_published_posts", &self.edit_published_posts),
            ("create_posts", &self.create_posts),
        ]
    }

    /// Replaces every capability except the three meta capabilities and `read`.
    pub(crate) fn all_primitive(mut self, cap: &str) -> Self {
        for slot in [
            &mut self.edit_posts,
            &mut self.edit_others_posts,
            &mut self.delete_posts,
            &mut self.publish_posts,
            &mut self.read_private_posts,
            &mut self.delete_private_posts,
            &mut self.delete_published_posts,
            &mut self.delete_others_posts,
            &mut self.edit_private_posts,
            &mut self.edit_published_posts,
            &mut self.create_posts,
        ] {
            *slot = cap.to_owned();
        }
        self
    }
}

/// A registered post type.
#[derive(Clone, Debug, PartialEq)]
pub struct PostType {
    /// `post`, `page`, `wp_block`, …
    pub name: String,
    /// Display name, plural. See also `labels`.
    pub label: String,
    /// Display name, singular.
    pub singular_label: String,
    /// Labels that differ from those derived from `label` and `singular_label`, by their REST API names.
    pub labels: IndexMap<String, String>,
    /// Description of the type.
    pub description: String,
    /// Visible to visitors.
    pub public: bool,
    /// Posts can have parent posts of the same type.
    pub hierarchical: bool,
    /// Excluded from site searches.
    pub exclude_from_search: bool,
    /// Has public URLs and can be queried publicly.
    pub publicly_queryable: bool,
    /// Managed in the admin area.
    pub show_ui: bool,
    /// Posts can be added to menus.
    pub show_in_nav_menus: bool,
    /// Name of the menu icon.
    pub menu_icon: Option<String>,
    /// The type's capabilities.
    pub caps: PostTypeCaps,
    /// Resolve meta capabilities by author and status. If false, each meta capability is checked as a primitive one.
    pub map_meta_cap: bool,
    /// Taxonomies named at registration. Others may be attached later; see [`crate::Taxonomy::object_types`].
    pub taxonomies: Vec<String>,
    /// URL path of the archive page, if there is one.
    pub has_archive: Option<String>,
    /// First path segment of permalinks. `None` if the type has no permalinks, or special ones (`post`, `page`).
    pub rewrite_slug: Option<String>,
    /// Whether posts are deleted together with their author. If unset, they are deleted if the type supports `author`.
    pub delete_with_user: Option<bool>,
    /// Initial blocks of a new post, as returned by the REST API.
    pub template: Value,
    /// Lock of the template: `false`, `"all"`, `"insert"`, …
    pub template_lock: Value,
    /// Served by the REST API.
    pub show_in_rest: bool,
    /// REST base: the last segment of the type's routes (`posts`).
    pub rest_base: String,
    /// The route family that serves the type.
    pub route_family: RouteFamily,
    /// Supported features with their arguments (`true` if none).
    pub supports: IndexMap<String, Value>,
}

impl PostType {
    /// Creates a type with WordPress's registration defaults: private, not hierarchical, with the capabilities of posts.
    /// It supports no features; see [`PostType::supporting`].
    pub fn new(name: &str) -> Self {
        PostType {
            name: name.to_owned(),
            label: name.to_owned(),
            singular_label: name.to_owned(),
            labels: IndexMap::new(),
            description: String::new(),
            public: false,
            hierarchical: false,
            exclude_from_search: true,
            publicly_queryable: false,
            show_ui: false,
            show_in_nav_menus: false,
            menu_icon: None,
            caps: PostTypeCaps::of("post", "posts"),
            map_meta_cap: true,
            taxonomies: Vec::new(),
            has_archive: None,
            rewrite_slug: (!is_builtin(name)).then(|| name.to_owned()),
            delete_with_user: None,
            template: json!([]),
            template_lock: json!(false),
            show_in_rest: false,
            rest_base: name.to_owned(),
            route_family: RouteFamily::Posts,
            supports: IndexMap::new(),
        }
    }

    /// Sets the display names.
    pub fn labelled(mut self, plural: &str, singular: &str) -> Self {
        self.label = plural.to_owned();
        self.singular_label = singular.to_owned();
        self
    }

    /// Makes the type public, queryable, searchable, shown in the admin area and in menus, with permalinks under its
    /// name.
    pub fn public(mut self) -> Self {
        self.public = true;
        self.exclude_from_search = false;
        self.publicly_queryable = true;
        self.show_ui = true;
        self.show_in_nav_menus = true;
        self.rewrite_slug = Some(self.name.clone());
        self
    }

    /// Serves the type over REST under `base`.
    pub fn rest(mut self, base: &str) -> Self {
        self.show_in_rest = true;
        self.rest_base = base.to_owned();
        self
    }

    /// Replaces the supported features. Types with an editor also get `autosave`.
    pub fn supporting(mut self, features: &[&str]) -> Self {
        self.supports = features.iter().map(|f| ((*f).to_owned(), Value::Bool(true))).collect();
        if self.supports.contains_key("editor") {
            self.supports.entry("autosave".to_owned()).or_insert(Value::Bool(true));
        }
        self
    }

    /// Returns whether the type supports `feature`.
    pub fn supports(&self, feature: &str) -> bool {
        self.supports.get(feature).is_some_and(|v| v != &Value::Bool(false))
    }

    /// Returns whether single posts have public URLs (`is_post_type_viewable`).
    pub fn is_viewable(&self) -> bool {
        self.publicly_queryable || (self.is_builtin() && self.public)
    }

    /// Returns whether the type is one that WordPress registers itself.
    pub fn is_builtin(&self) -> bool {
        is_builtin(&self.name)
    }
}

/// Whether WordPress registers the type of this name itself.
fn is_builtin(name: &str) -> bool {
    BUILTIN.iter().any(|row| row.name == name)
}

/// The registered post types, in registration order.
#[derive(Clone, Debug)]
pub struct PostTypes(IndexMap<String, PostType>);

impl PostTypes {
    /// Registers a type, replacing one of the same name. An empty `rest_base` becomes the type's name.
    pub fn register(&mut self, mut post_type: PostType) {
        if post_type.rest_base.is_empty() {
            post_type.rest_base.clone_from(&post_type.name);
        }
        self.0.insert(post_type.name.clone(), post_type);
    }

    /// Looks up a type by name.
    pub fn get(&self, name: &str) -> Option<&PostType> {
        self.0.get(name)
    }

    /// Looks up a type by name, for modification.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut PostType> {
        self.0.get_mut(name)
    }

    /// All types, in registration order.
    pub fn iter(&self) -> impl Iterator<Item = &PostType> {
        self.0.values()
    }

    /// Names of the types that site searches include.
    pub fn searchable(&self) -> IndexSet<&str> {
        self.iter().filter(|t| !t.exclude_from_search).map(|t| t.name.as_str()).collect()
    }
}

impl Default for PostTypes {
    /// The sixteen types that WordPress registers.
    fn default() -> Self {
        PostTypes(BUILTIN.iter().map(|row| (row.name.to_owned(), row.post_type())).collect())
    }
}
