//! Post types: supported features, routes and capabilities.

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};

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
    fn all_primitive(mut self, cap: &str) -> Self {
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
            rewrite_slug: (!BUILTIN.contains(&name)).then(|| name.to_owned()),
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
        BUILTIN.contains(&self.name.as_str())
    }
}

/// Names of the types that WordPress registers itself, in registration order.
const BUILTIN: [&str; 16] = [
    "post",
    "page",
    "attachment",
    "revision",
    "nav_menu_item",
    "custom_css",
    "customize_changeset",
    "oembed_cache",
    "user_request",
    "wp_block",
    "wp_template",
    "wp_template_part",
    "wp_global_styles",
    "wp_navigation",
    "wp_font_family",
    "wp_font_face",
];

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
        let caps = || PostTypeCaps::of("post", "posts");
        let themed = |caps: PostTypeCaps| caps.all_primitive("edit_theme_options");
        let icon = |name: &str| Some(format!("dashicons-admin-{name}"));

        let mut post = PostType::new("post").labelled("Posts", "Post").public().rest("posts").supporting(&[
            "title",
            "editor",
            "author",
            "thumbnail",
            "excerpt",
            "trackbacks",
            "custom-fields",
            "comments",
            "revisions",
            "post-formats",
            "autosave",
        ]);
        post.supports.insert("editor".to_owned(), json!([{"notes": true}]));
        post.menu_icon = icon("post");
        post.labels.insert("archives".to_owned(), "Post Archives".to_owned());
        post.rewrite_slug = None;
        post.delete_with_user = Some(true);

        let mut page = PostType::new("page").labelled("Pages", "Page").public().rest("pages").supporting(&[
            "title",
            "editor",
            "author",
            "thumbnail",
            "page-attributes",
            "custom-fields",
            "comments",
            "revisions",
            "autosave",
        ]);
        page.supports.insert("editor".to_owned(), json!([{"notes": true}]));
        page.menu_icon = icon("page");
        page.labels.insert("archives".to_owned(), "Page Archives".to_owned());
        page.publicly_queryable = false;
        page.hierarchical = true;
        page.caps = PostTypeCaps::of("page", "pages");
        page.rewrite_slug = None;
        page.delete_with_user = Some(true);

        let mut attachment = PostType::new("attachment").labelled("Media", "Media").public().rest("media");
        attachment = attachment.supporting(&["title", "author", "comments"]);
        attachment.menu_icon = icon("media");
        attachment.show_in_nav_menus = false;
        attachment.caps.create_posts = "upload_files".to_owned();
        attachment.route_family = RouteFamily::Attachments;
        attachment.rewrite_slug = None;
        attachment.delete_with_user = Some(true);

        let mut revision = PostType::new("revision").labelled("Revisions", "Revision").supporting(&["author"]);
        revision.delete_with_user = Some(true);

        let mut nav_menu_item = PostType::new("nav_menu_item")
            .labelled("Navigation Menu Items", "Navigation Menu Item")
            .rest("menu-items")
            .supporting(&["title", "editor", "autosave"]);
        nav_menu_item.caps = themed(caps());
        nav_menu_item.route_family = RouteFamily::MenuItems;
        nav_menu_item.delete_with_user = Some(false);

        let mut custom_css = PostType::new("custom_css").labelled("Custom CSS", "Custom CSS");
        custom_css = custom_css.supporting(&["title", "revisions"]);
        custom_css.map_meta_cap = false;
        let theme_options = "edit_theme_options".to_owned();
        custom_css.caps = PostTypeCaps {
            edit_post: "edit_css".to_owned(),
            read_post: "read".to_owned(),
            delete_post: theme_options.clone(),
            delete_posts: theme_options.clone(),
            publish_posts: theme_options.clone(),
            read_private_posts: "read".to_owned(),
            delete_private_posts: theme_options.clone(),
            delete_published_posts: theme_options.clone(),
            delete_others_posts: theme_options,
            ..caps().all_primitive("edit_css")
        };
        custom_css.delete_with_user = Some(false);

        let mut changeset = PostType::new("customize_changeset").labelled("Changesets", "Changeset");
        changeset = changeset.supporting(&["title", "author"]);
        changeset.caps = PostTypeCaps {
            edit_post: "customize".to_owned(),
            read_post: "customize".to_owned(),
            delete_post: "customize".to_owned(),
            edit_published_posts: "do_not_allow".to_owned(),
            ..caps().all_primitive("customize")
        };
        changeset.delete_with_user = Some(false);

        // Types that are not hierarchical but have a label for parent posts.
        let parent_label =
            |singular: &str| IndexMap::from([("parent_item_colon".to_owned(), format!("Parent {singular}:"))]);

        let internal = |name: &str, plural: &str, singular: &str| {
            let mut t = PostType::new(name).labelled(plural, singular).supporting(&["title", "editor", "autosave"]);
            t.delete_with_user = Some(false);
            t
        };

        let mut block = PostType::new("wp_block").labelled("Patterns", "Pattern").rest("blocks").supporting(&[
            "title",
            "excerpt",
            "editor",
            "revisions",
            "custom-fields",
            "autosave",
        ]);
        block.show_ui = true;
        block.route_family = RouteFamily::Blocks;
        block.caps = PostTypeCaps::of("block", "blocks");
        block.caps.read = "edit_posts".to_owned();
        block.caps.create_posts = "publish_posts".to_owned();
        block.caps.edit_posts = "edit_posts".to_owned();
        block.caps.edit_published_posts = "edit_published_posts".to_owned();
        block.caps.delete_published_posts = "delete_published_posts".to_owned();
        block.caps.delete_posts = "delete_posts".to_owned();
        block.caps.edit_others_posts = "edit_others_posts".to_owned();
        block.caps.delete_others_posts = "delete_others_posts".to_owned();

        let templates = |name: &str, plural: &str, singular: &str, base: &str, kind: &str| {
            let mut t = PostType::new(name).labelled(plural, singular).rest(base).supporting(&[
                "title",
                "slug",
                "excerpt",
                "editor",
                "revisions",
                "author",
                "autosave",
            ]);
            t.route_family = RouteFamily::Templates;
            t.caps = themed(PostTypeCaps::of(kind, &format!("{kind}s")));
            t.caps.read = "edit_theme_options".to_owned();
            t.description = format!("{plural} of the active theme, including changes made on this site.");
            t.labels = parent_label(singular);
            t
        };

        let mut global_styles = PostType::new("wp_global_styles")
            .labelled("Global Styles", "Global Style")
            .rest("global-styles")
            .supporting(&["title", "editor", "revisions"]);
        global_styles.supports.shift_remove("autosave");
        global_styles.route_family = RouteFamily::GlobalStyles;
        global_styles.description = "Site-wide styles for the active theme.".to_owned();
        global_styles.caps.read = "edit_posts".to_owned();
        for slot in [
            &mut global_styles.caps.edit_posts,
            &mut global_styles.caps.edit_published_posts,
            &mut global_styles.caps.delete_published_posts,
            &mut global_styles.caps.edit_others_posts,
            &mut global_styles.caps.delete_others_posts,
            &mut global_styles.caps.create_posts,
        ] {
            *slot = "edit_theme_options".to_owned();
        }

        let mut navigation = PostType::new("wp_navigation")
            .labelled("Navigation Menus", "Navigation Menu")
            .rest("navigation")
            .supporting(&["title", "editor", "revisions", "autosave"]);
        navigation.show_ui = true;
        navigation.caps = themed(caps());
        navigation.description = "Menus shown by navigation blocks.".to_owned();
        navigation.labels = parent_label("Navigation Menu");

        let fonts = |name: &str, plural: &str, singular: &str, base: &str, controller: RouteFamily| {
            let mut t = PostType::new(name).labelled(plural, singular).rest(base).supporting(&["title"]);
            t.route_family = controller;
            t.caps = themed(caps());
            t.caps.read = "edit_theme_options".to_owned();
            t.caps.delete_private_posts = "delete_private_posts".to_owned();
            t.caps.edit_private_posts = "edit_private_posts".to_owned();
            t
        };

        let mut all = PostTypes(IndexMap::new());
        for post_type in [
            post,
            page,
            attachment,
            revision,
            nav_menu_item,
            custom_css,
            changeset,
            internal("oembed_cache", "oEmbed Responses", "oEmbed Response"),
            internal("user_request", "User Requests", "User Request"),
            block,
            templates("wp_template", "Templates", "Template", "templates", "template"),
            templates("wp_template_part", "Template Parts", "Template Part", "template-parts", "post"),
            global_styles,
            navigation,
            fonts("wp_font_family", "Font Families", "Font Family", "font-families", RouteFamily::FontFamilies),
            fonts(
                "wp_font_face",
                "Font Faces",
                "Font Face",
                r"font-families/(?P<font_family_id>[\d]+)/font-faces",
                RouteFamily::FontFaces,
            ),
        ] {
            all.register(post_type);
        }
        all
    }
}
