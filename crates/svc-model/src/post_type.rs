//! Types of posts as registered: what they support, where they are served, which capabilities guard them.

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};

/// Which family of routes serves a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestController {
    /// The posts family, the one that custom types get.
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
    /// Font faces below a font family.
    FontFaces,
}

impl RestController {
    /// Whether routes of single posts are advertised: the specification's "standard controller" (Discovery).
    pub fn is_standard(self) -> bool {
        matches!(self, RestController::Posts | RestController::Attachments)
    }
}

/// The capabilities that guard a type: the three meta capabilities, then primitive ones.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the members are the capability names of the interface")]
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
    /// The capabilities of a type whose singular is `one` and plural `many`: `edit_page`, `edit_others_pages`, …
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

    /// All as `(role in the type, capability)`, in the interface's order.
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

    /// Replaces every capability but the three meta ones and `read`.
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
    /// Plural, as shown to people; `labels` adds the rest.
    pub label: String,
    /// Singular, as shown to people.
    pub singular_label: String,
    /// Labels that differ from those made of the two above, by their interface names.
    pub labels: IndexMap<String, String>,
    /// A sentence for people.
    pub description: String,
    /// Visible on the public site.
    pub public: bool,
    /// Posts can have parents of the same type.
    pub hierarchical: bool,
    /// Left out of searches.
    pub exclude_from_search: bool,
    /// Has public addresses and queries.
    pub publicly_queryable: bool,
    /// Managed in the administration area.
    pub show_ui: bool,
    /// Can be put in menus.
    pub show_in_nav_menus: bool,
    /// Icon name or null.
    pub menu_icon: Option<String>,
    /// Guards, by name.
    pub caps: PostTypeCaps,
    /// Meta capabilities are resolved by ownership and status; otherwise each stands for itself.
    pub map_meta_cap: bool,
    /// Taxonomies named at registration (others may attach later, see [`crate::Taxonomy::object_types`]).
    pub taxonomies: Vec<String>,
    /// Address of the archive: `None` for none.
    pub has_archive: Option<String>,
    /// First segment of paths; `None` when the type has none of its own, or special ones (`post`, `page`).
    pub rewrite_slug: Option<String>,
    /// Deleted together with their author: true, false, or by support of `author` when unset.
    pub delete_with_user: Option<bool>,
    /// Blocks that a new post starts with, as the interface shows it.
    pub template: Value,
    /// `false`, `"all"`, `"insert"`, …
    pub template_lock: Value,
    /// Served by the interface.
    pub show_in_rest: bool,
    /// Last segment of its routes (`posts`).
    pub rest_base: String,
    /// Which family serves it.
    pub rest_controller: RestController,
    /// Features, with their arguments (`true` without).
    pub supports: IndexMap<String, Value>,
}

impl PostType {
    /// A type with the defaults of registration: private, flat, capabilities of posts, title and editor.
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
            rest_controller: RestController::Posts,
            supports: IndexMap::new(),
        }
    }

    /// Sets what people call it.
    pub fn labelled(mut self, plural: &str, singular: &str) -> Self {
        self.label = plural.to_owned();
        self.singular_label = singular.to_owned();
        self
    }

    /// Makes it visible: public, queryable, searchable, managed, in menus, addressed under its name.
    pub fn public(mut self) -> Self {
        self.public = true;
        self.exclude_from_search = false;
        self.publicly_queryable = true;
        self.show_ui = true;
        self.show_in_nav_menus = true;
        self.rewrite_slug = Some(self.name.clone());
        self
    }

    /// Serves it by the interface under this base.
    pub fn rest(mut self, base: &str) -> Self {
        self.show_in_rest = true;
        self.rest_base = base.to_owned();
        self
    }

    /// Features that posts of the type have. What has an editor can be autosaved.
    pub fn supporting(mut self, features: &[&str]) -> Self {
        self.supports = features.iter().map(|f| ((*f).to_owned(), Value::Bool(true))).collect();
        if self.supports.contains_key("editor") {
            self.supports.entry("autosave".to_owned()).or_insert(Value::Bool(true));
        }
        self
    }

    /// Whether posts of the type have this feature.
    pub fn supports(&self, feature: &str) -> bool {
        self.supports.get(feature).is_some_and(|v| v != &Value::Bool(false))
    }

    /// Whether people can see single posts of it at an address (`is_post_type_viewable`).
    pub fn is_viewable(&self) -> bool {
        self.publicly_queryable || (self.is_builtin() && self.public)
    }

    /// One of those that every site has.
    pub fn is_builtin(&self) -> bool {
        BUILTIN.contains(&self.name.as_str())
    }
}

/// The types that every site has, in registration order.
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

/// The registered types, in registration order.
#[derive(Clone, Debug)]
pub struct PostTypes(IndexMap<String, PostType>);

impl PostTypes {
    /// Adds a type, or replaces the one of the same name.
    pub fn register(&mut self, post_type: PostType) {
        self.0.insert(post_type.name.clone(), post_type);
    }

    /// The type of this name.
    pub fn get(&self, name: &str) -> Option<&PostType> {
        self.0.get(name)
    }

    /// The type of this name, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut PostType> {
        self.0.get_mut(name)
    }

    /// All, in registration order.
    pub fn iter(&self) -> impl Iterator<Item = &PostType> {
        self.0.values()
    }

    /// Names of the types that a search looks through.
    pub fn searchable(&self) -> IndexSet<&str> {
        self.iter().filter(|t| !t.exclude_from_search).map(|t| t.name.as_str()).collect()
    }
}

impl Default for PostTypes {
    /// The sixteen types that every site has.
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
        attachment.rest_controller = RestController::Attachments;
        attachment.rewrite_slug = None;
        attachment.delete_with_user = Some(true);

        let mut revision = PostType::new("revision").labelled("Revisions", "Revision").supporting(&["author"]);
        revision.delete_with_user = Some(true);

        let mut nav_menu_item = PostType::new("nav_menu_item")
            .labelled("Navigation Menu Items", "Navigation Menu Item")
            .rest("menu-items")
            .supporting(&["title", "editor", "autosave"]);
        nav_menu_item.caps = themed(caps());
        nav_menu_item.rest_controller = RestController::MenuItems;
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

        // Flat types that are labelled as if their posts had parents.
        let parent_label =
            |singular: &str| IndexMap::from([("parent_item_colon".to_owned(), format!("{singular} above:"))]);

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
        block.rest_controller = RestController::Blocks;
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
            t.rest_controller = RestController::Templates;
            t.caps = themed(PostTypeCaps::of(kind, &format!("{kind}s")));
            t.caps.read = "edit_theme_options".to_owned();
            t.description = format!("{plural} of the theme, as the site has changed them.");
            t.labels = parent_label(singular);
            t
        };

        let mut global_styles = PostType::new("wp_global_styles")
            .labelled("Global Styles", "Global Style")
            .rest("global-styles")
            .supporting(&["title", "editor", "revisions"]);
        global_styles.supports.shift_remove("autosave");
        global_styles.rest_controller = RestController::GlobalStyles;
        global_styles.description = "How the site looks as a whole.".to_owned();
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
        navigation.description = "Menus that can be put on the site's pages.".to_owned();
        navigation.labels = parent_label("Navigation Menu");

        let fonts = |name: &str, plural: &str, singular: &str, base: &str, controller: RestController| {
            let mut t = PostType::new(name).labelled(plural, singular).rest(base).supporting(&["title"]);
            t.rest_controller = controller;
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
            fonts("wp_font_family", "Font Families", "Font Family", "font-families", RestController::FontFamilies),
            fonts(
                "wp_font_face",
                "Font Faces",
                "Font Face",
                r"font-families/(?P<font_family_id>[\d]+)/font-faces",
                RestController::FontFaces,
            ),
        ] {
            all.register(post_type);
        }
        all
    }
}
