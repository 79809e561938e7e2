//! The table of the post types that WordPress registers itself.

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::post_type::{PostType, PostTypeCaps, RouteFamily};

/// A row of the table. Its fields are those of [`PostType`].
pub(crate) struct BuiltinType {
    pub(crate) name: &'static str,
    label: &'static str,
    singular_label: &'static str,
    labels: &'static [(&'static str, &'static str)],
    description: &'static str,
    public: bool,
    hierarchical: bool,
    publicly_queryable: bool,
    show_ui: bool,
    show_in_nav_menus: bool,
    menu_icon: Option<&'static str>,
    caps: fn() -> PostTypeCaps,
    map_meta_cap: bool,
    delete_with_user: Option<bool>,
    /// `None` for types that the REST API does not serve.
    rest_base: Option<&'static str>,
    route_family: RouteFamily,
    supports: &'static [&'static str],
    /// Whether the editor supports notes.
    has_notes: bool,
}

/// A type that only the site itself uses: it has the capabilities of posts, and the REST API does not serve it.
const INTERNAL: BuiltinType = BuiltinType {
    name: "",
    label: "",
    singular_label: "",
    labels: &[],
    description: "",
    public: false,
    hierarchical: false,
    publicly_queryable: false,
    show_ui: false,
    show_in_nav_menus: false,
    menu_icon: None,
    caps: post_caps,
    map_meta_cap: true,
    delete_with_user: None,
    rest_base: None,
    route_family: RouteFamily::Posts,
    supports: &[],
    has_notes: false,
};

/// A type with pages of its own for visitors.
const PUBLIC: BuiltinType = BuiltinType {
    public: true,
    publicly_queryable: true,
    show_ui: true,
    show_in_nav_menus: true,
    delete_with_user: Some(true),
    ..INTERNAL
};

/// The types in registration order.
#[rustfmt::skip]
pub(crate) const BUILTIN: [BuiltinType; 16] = [
    BuiltinType {
        name: "post", label: "Posts", singular_label: "Post",
        labels: &[("archives", "Post Archives")],
        menu_icon: Some("dashicons-admin-post"), rest_base: Some("posts"),
        supports: &["title", "editor", "author", "thumbnail", "excerpt", "trackbacks", "custom-fields", "comments", "revisions", "post-formats", "autosave"],
        has_notes: true,
        ..PUBLIC
    },
    BuiltinType {
        name: "page", label: "Pages", singular_label: "Page",
        labels: &[("archives", "Page Archives")],
        hierarchical: true, publicly_queryable: false,
        menu_icon: Some("dashicons-admin-page"), rest_base: Some("pages"), caps: page_caps,
        supports: &["title", "editor", "author", "thumbnail", "page-attributes", "custom-fields", "comments", "revisions", "autosave"],
        has_notes: true,
        ..PUBLIC
    },
    BuiltinType {
        name: "attachment", label: "Media", singular_label: "Media",
        show_in_nav_menus: false,
        menu_icon: Some("dashicons-admin-media"), rest_base: Some("media"), caps: attachment_caps,
        route_family: RouteFamily::Attachments,
        supports: &["title", "author", "comments"],
        ..PUBLIC
    },
    BuiltinType {
        name: "revision", label: "Revisions", singular_label: "Revision",
        delete_with_user: Some(true),
        supports: &["author"],
        ..INTERNAL
    },
    BuiltinType {
        name: "nav_menu_item", label: "Navigation Menu Items", singular_label: "Navigation Menu Item",
        rest_base: Some("menu-items"), caps: theme_caps, route_family: RouteFamily::MenuItems,
        delete_with_user: Some(false),
        supports: &["title", "editor", "autosave"],
        ..INTERNAL
    },
    BuiltinType {
        name: "custom_css", label: "Custom CSS", singular_label: "Custom CSS",
        caps: css_caps, map_meta_cap: false,
        delete_with_user: Some(false),
        supports: &["title", "revisions"],
        ..INTERNAL
    },
    BuiltinType {
        name: "customize_changeset", label: "Changesets", singular_label: "Changeset",
        caps: changeset_caps,
        delete_with_user: Some(false),
        supports: &["title", "author"],
        ..INTERNAL
    },
    BuiltinType {
        name: "oembed_cache", label: "oEmbed Responses", singular_label: "oEmbed Response",
        delete_with_user: Some(false),
        supports: &["title", "editor", "autosave"],
        ..INTERNAL
    },
    BuiltinType {
        name: "user_request", label: "User Requests", singular_label: "User Request",
        delete_with_user: Some(false),
        supports: &["title", "editor", "autosave"],
        ..INTERNAL
    },
    BuiltinType {
        name: "wp_block", label: "Patterns", singular_label: "Pattern",
        show_ui: true,
        rest_base: Some("blocks"), caps: pattern_caps, route_family: RouteFamily::Blocks,
        supports: &["title", "excerpt", "editor", "revisions", "custom-fields", "autosave"],
        ..INTERNAL
    },
    BuiltinType {
        name: "wp_template", label: "Templates", singular_label: "Template",
        labels: &[("parent_item_colon", "Parent Template:")],
        description: "Templates of the active theme, including changes made on this site.",
        rest_base: Some("templates"), caps: template_caps, route_family: RouteFamily::Templates,
        supports: &["title", "slug", "excerpt", "editor", "revisions", "author", "autosave"],
        ..INTERNAL
    },
    BuiltinType {
        name: "wp_template_part", label: "Template Parts", singular_label: "Template Part",
        labels: &[("parent_item_colon", "Parent Template Part:")],
        description: "Template Parts of the active theme, including changes made on this site.",
        rest_base: Some("template-parts"), caps: template_part_caps, route_family: RouteFamily::Templates,
        supports: &["title", "slug", "excerpt", "editor", "revisions", "author", "autosave"],
        ..INTERNAL
    },
    BuiltinType {
        name: "wp_global_styles", label: "Global Styles", singular_label: "Global Style",
        description: "Site-wide styles for the active theme.",
        rest_base: Some("global-styles"), caps: styles_caps, route_family: RouteFamily::GlobalStyles,
        // It has an editor, but no autosaves.
        supports: &["title", "editor", "revisions"],
        ..INTERNAL
    },
    BuiltinType {
        name: "wp_navigation", label: "Navigation Menus", singular_label: "Navigation Menu",
        labels: &[("parent_item_colon", "Parent Navigation Menu:")],
        description: "Menus shown by navigation blocks.",
        show_ui: true,
        rest_base: Some("navigation"), caps: theme_caps,
        supports: &["title", "editor", "revisions", "autosave"],
        ..INTERNAL
    },
    BuiltinType {
        name: "wp_font_family", label: "Font Families", singular_label: "Font Family",
        rest_base: Some("font-families"), caps: font_caps, route_family: RouteFamily::FontFamilies,
        supports: &["title"],
        ..INTERNAL
    },
    BuiltinType {
        name: "wp_font_face", label: "Font Faces", singular_label: "Font Face",
        rest_base: Some(r"font-families/(?P<font_family_id>[\d]+)/font-faces"), caps: font_caps, route_family: RouteFamily::FontFaces,
        supports: &["title"],
        ..INTERNAL
    },
];

impl BuiltinType {
    pub(crate) fn post_type(&self) -> PostType {
        let true_or_notes = |feature| match feature {
            "editor" if self.has_notes => json!([{"notes": true}]),
            _ => Value::Bool(true),
        };
        PostType {
            name: self.name.to_owned(),
            label: self.label.to_owned(),
            singular_label: self.singular_label.to_owned(),
            labels: self.labels.iter().map(|(name, label)| ((*name).to_owned(), (*label).to_owned())).collect(),
            description: self.description.to_owned(),
            public: self.public,
            hierarchical: self.hierarchical,
            exclude_from_search: !self.public,
            publicly_queryable: self.publicly_queryable,
            show_ui: self.show_ui,
            show_in_nav_menus: self.show_in_nav_menus,
            menu_icon: self.menu_icon.map(str::to_owned),
            caps: (self.caps)(),
            map_meta_cap: self.map_meta_cap,
            delete_with_user: self.delete_with_user,
            show_in_rest: self.rest_base.is_some(),
            rest_base: self.rest_base.unwrap_or(self.name).to_owned(),
            route_family: self.route_family,
            supports: self.supports.iter().map(|f| ((*f).to_owned(), true_or_notes(f))).collect::<IndexMap<_, _>>(),
            ..PostType::new(self.name)
        }
    }
}

fn post_caps() -> PostTypeCaps {
    PostTypeCaps::of("post", "posts")
}

fn page_caps() -> PostTypeCaps {
    PostTypeCaps::of("page", "pages")
}

fn attachment_caps() -> PostTypeCaps {
    PostTypeCaps { create_posts: "upload_files".to_owned(), ..post_caps() }
}

/// What only those who may change the theme may do. Everybody may read.
fn theme_caps() -> PostTypeCaps {
    post_caps().all_primitive("edit_theme_options")
}

fn css_caps() -> PostTypeCaps {
    let theme_options = || "edit_theme_options".to_owned();
    PostTypeCaps {
        edit_post: "edit_css".to_owned(),
        read_post: "read".to_owned(),
        delete_post: theme_options(),
        delete_posts: theme_options(),
        publish_posts: theme_options(),
        read_private_posts: "read".to_owned(),
        delete_private_posts: theme_options(),
        delete_published_posts: theme_options(),
        delete_others_posts: theme_options(),
        ..post_caps().all_primitive("edit_css")
    }
}

fn changeset_caps() -> PostTypeCaps {
    PostTypeCaps {
        edit_post: "customize".to_owned(),
        read_post: "customize".to_owned(),
        delete_post: "customize".to_owned(),
        edit_published_posts: "do_not_allow".to_owned(),
        ..post_caps().all_primitive("customize")
    }
}

/// Patterns: authors create them, and edit them as they edit posts.
fn pattern_caps() -> PostTypeCaps {
    PostTypeCaps {
        read: "edit_posts".to_owned(),
        create_posts: "publish_posts".to_owned(),
        edit_posts: "edit_posts".to_owned(),
        edit_published_posts: "edit_published_posts".to_owned(),
        delete_published_posts: "delete_published_posts".to_owned(),
        delete_posts: "delete_posts".to_owned(),
        edit_others_posts: "edit_others_posts".to_owned(),
        delete_others_posts: "delete_others_posts".to_owned(),
        ..PostTypeCaps::of("block", "blocks")
    }
}

fn template_caps() -> PostTypeCaps {
    let caps = PostTypeCaps::of("template", "templates").all_primitive("edit_theme_options");
    PostTypeCaps { read: "edit_theme_options".to_owned(), ..caps }
}

fn template_part_caps() -> PostTypeCaps {
    PostTypeCaps { read: "edit_theme_options".to_owned(), ..theme_caps() }
}

fn styles_caps() -> PostTypeCaps {
    let theme_options = || "edit_theme_options".to_owned();
    PostTypeCaps {
        read: "edit_posts".to_owned(),
        edit_posts: theme_options(),
        edit_published_posts: theme_options(),
        delete_published_posts: theme_options(),
        edit_others_posts: theme_options(),
        delete_others_posts: theme_options(),
        create_posts: theme_options(),
        ..post_caps()
    }
}

fn font_caps() -> PostTypeCaps {
    PostTypeCaps {
        read: "edit_theme_options".to_owned(),
        delete_private_posts: "delete_private_posts".to_owned(),
        edit_private_posts: "edit_private_posts".to_owned(),
        ..theme_caps()
    }
}
