//! Templates and template parts as values.

use svc_content::blocks::ContentRoot;
use svc_model::{Post, UserId};

/// Templates or template parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TemplateKind {
    /// Templates of whole pages.
    Template,
    /// Template parts.
    Part,
}

impl TemplateKind {
    /// The post type of stored templates.
    pub fn post_type(self) -> &'static str {
        match self {
            TemplateKind::Template => "wp_template",
            TemplateKind::Part => "wp_template_part",
        }
    }

    /// The context for hooked blocks: that of a template part, or none for whole pages. `ignored` is the stored list of
    /// hooked blocks that are not inserted.
    pub fn root(self, ignored: &str) -> Option<ContentRoot> {
        (self == TemplateKind::Part).then(|| ContentRoot::of(self.post_type(), ignored))
    }
}

/// The author of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorKind {
    /// The theme.
    Theme,
    /// A plugin.
    Plugin,
    /// The site, without a known user.
    Site,
    /// A user.
    User,
}

impl AuthorKind {
    /// The name in the REST API.
    pub fn name(self) -> &'static str {
        match self {
            AuthorKind::Theme => "theme",
            AuthorKind::Plugin => "plugin",
            AuthorKind::Site => "site",
            AuthorKind::User => "user",
        }
    }
}

/// A template or a template part.
#[derive(Clone, Debug)]
pub struct Template {
    /// Template or template part.
    pub kind: TemplateKind,
    /// The theme that it belongs to.
    pub theme: String,
    /// Its slug within the theme.
    pub slug: String,
    /// Its blocks.
    pub content: String,
    /// The title.
    pub title: String,
    /// The description.
    pub description: String,
    /// The post, if a user has saved the template.
    pub post: Option<Post>,
    /// The original source of a saved template (`theme`, `plugin`).
    pub origin: Option<String>,
    /// Whether the theme has a file with this slug.
    pub has_theme_file: bool,
    /// Whether it is a custom template: its slug is not a template type, and posts can select it.
    pub is_custom: bool,
    /// Post types that may select it, if the theme limits them.
    pub post_types: Option<Vec<String>>,
    /// The area of a template part.
    pub area: String,
    /// Hooked blocks that are not inserted, as stored.
    pub ignored_hooks: String,
    /// Display name of the author.
    pub author_name: String,
}

impl Template {
    /// The id in the REST API: `theme//slug`.
    pub fn id(&self) -> String {
        format!("{}//{}", self.theme, self.slug)
    }

    /// Whether posts of this type may select it.
    pub fn is_selectable_for(&self, post_type: &str) -> bool {
        self.is_custom && self.post_types.as_ref().is_none_or(|all| all.iter().any(|name| name == post_type))
    }

    /// The source of the content: `theme` or `custom`.
    pub fn source(&self) -> &'static str {
        if self.post.is_some() { "custom" } else { "theme" }
    }

    /// The author of the template, derived from its source and its post.
    pub fn author_kind(&self) -> AuthorKind {
        author_kind(self.origin.as_deref(), self.has_theme_file, self.post.as_ref().map(|p| p.author))
    }
}

pub(crate) fn author_kind(origin: Option<&str>, has_theme_file: bool, author: Option<UserId>) -> AuthorKind {
    match (origin, author) {
        (None | Some("theme"), _) if has_theme_file => AuthorKind::Theme,
        (Some("plugin"), _) => AuthorKind::Plugin,
        (_, Some(UserId(0)) | None) => AuthorKind::Site,
        _ => AuthorKind::User,
    }
}
