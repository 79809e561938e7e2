//! Resolves the primitive capabilities that an action on an object requires. All decisions are made here.
//!
//! A *primitive* capability is granted by roles (`edit_others_posts`). A *meta* capability (`edit_post`, for a specific
//! post) is resolved to primitive ones by the object's type, status and author. The object and related objects come
//! from a [`CapContext`], which is backed by loaded rows.

mod caller;
mod in_memory;
mod plain;
mod posts;

use std::borrow::Cow;

use svc_model::{CommentId, Post, PostId, PostStatuses, PostTypes, Taxonomies, TermId, UserId};

pub use caller::Caller;
pub use in_memory::InMemoryContext;
pub use posts::effective_status;
/// Part of [`Object::Meta`].
pub use svc_model::MetaKind;

/// A capability that is never granted.
pub const DO_NOT_ALLOW: &str = "do_not_allow";

/// An action on a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PostCap {
    /// Read it.
    Read,
    /// Edit it.
    Edit,
    /// Move it to the trash, or delete it.
    Delete,
    /// Publish it.
    Publish,
}

/// The object of an action.
#[derive(Clone, Copy, Debug)]
pub enum Object<'a> {
    /// No specific object.
    None,
    /// A post of any type.
    Post(PostId),
    /// A loaded post.
    LoadedPost(&'a Post),
    /// A comment.
    Comment(CommentId),
    /// A term of any taxonomy.
    Term(TermId),
    /// A user.
    User(UserId),
    /// A meta key of an object.
    Meta(MetaKind, i64, &'a str),
    /// The block editor with this post, or the site editor (`None`).
    Editor(Option<PostId>),
}

/// The object type of a capability such as `edit_post_meta`, `add_post_meta`, `delete_post_meta`.
fn meta_kind_of_cap(cap: &str) -> Option<MetaKind> {
    let rest = cap.strip_suffix("_meta")?;
    let kind = rest.strip_prefix("edit_").or_else(|| rest.strip_prefix("add_"));
    match kind.or_else(|| rest.strip_prefix("delete_"))? {
        "post" => Some(MetaKind::Post),
        "comment" => Some(MetaKind::Comment),
        "term" => Some(MetaKind::Term),
        "user" => Some(MetaKind::User),
        _ => None,
    }
}

/// An access to a meta key, for the `auth_callback` of its registration.
#[derive(Clone, Copy, Debug)]
pub struct MetaAccess<'a> {
    /// Type of the object that the key belongs to.
    pub kind: MetaKind,
    /// Id of the object.
    pub id: i64,
    /// The meta key.
    pub key: &'a str,
    /// The user.
    pub user: UserId,
    /// The capability: `edit_post_meta`, `add_post_meta`, …
    pub cap: &'a str,
}

/// The properties of a post that capabilities depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostFacts<'a> {
    /// Id of the post.
    pub id: PostId,
    /// Id of its author; 0 if there is none.
    pub author: UserId,
    /// Id of its parent post.
    pub parent: PostId,
    /// Name of its post type.
    pub post_type: Cow<'a, str>,
    /// Its stored status.
    pub status: Cow<'a, str>,
}

impl<'a> From<&'a Post> for PostFacts<'a> {
    fn from(post: &'a Post) -> Self {
        PostFacts {
            id: post.id,
            author: post.author,
            parent: post.parent,
            post_type: Cow::Borrowed(&post.post_type),
            status: Cow::Borrowed(&post.status),
        }
    }
}

/// Site settings that capabilities depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SitePolicy {
    /// The `page_on_front` option.
    pub page_on_front: PostId,
    /// The `page_for_posts` option.
    pub page_for_posts: PostId,
    /// The `wp_page_for_privacy_policy` option.
    pub privacy_page: PostId,
    /// The `link_manager_enabled` option.
    pub link_manager: bool,
    /// Whether plugin and theme files may be edited (`DISALLOW_FILE_EDIT` is not set).
    pub file_edits: bool,
    /// Whether plugins, themes and core may be installed, updated and deleted (`DISALLOW_FILE_MODS` is not set).
    pub file_mods: bool,
    /// Whether users with the capability may post any HTML (`DISALLOW_UNFILTERED_HTML` is not set).
    pub unfiltered_html: bool,
    /// Whether users with the capability may upload any type of file (`ALLOW_UNFILTERED_UPLOADS` is set).
    pub unfiltered_uploads: bool,
}

impl Default for SitePolicy {
    /// The policy of a new site: no special pages, files may be changed, uploads are filtered.
    fn default() -> Self {
        SitePolicy {
            page_on_front: PostId(0),
            page_for_posts: PostId(0),
            privacy_page: PostId(0),
            link_manager: false,
            file_edits: true,
            file_mods: true,
            unfiltered_html: true,
            unfiltered_uploads: false,
        }
    }
}

/// Data that capability decisions depend on. Methods must not block: all data must be loaded.
pub trait CapContext {
    /// The registered post types.
    fn post_types(&self) -> &PostTypes;
    /// The registered post statuses.
    fn post_statuses(&self) -> &PostStatuses;
    /// The registered taxonomies.
    fn taxonomies(&self) -> &Taxonomies;
    /// The site's settings.
    fn policy(&self) -> SitePolicy;
    /// Looks up a post by id.
    fn post(&self, id: PostId) -> Option<PostFacts<'_>>;
    /// The status of a trashed post before it was trashed (post meta `_wp_trash_meta_status`).
    fn status_before_trash(&self, id: PostId) -> Option<Cow<'_, str>>;
    /// The post of a comment, 0 if it has none. `None` if the comment does not exist.
    fn comment_post(&self, id: CommentId) -> Option<PostId>;
    /// The taxonomy of a term.
    fn term_taxonomy(&self, id: TermId) -> Option<Cow<'_, str>>;
    /// Returns whether a term is the default term of its taxonomy (options `default_<taxonomy>`,
    /// `default_term_<taxonomy>`), which cannot be deleted.
    fn is_default_term(&self, taxonomy: &str, id: TermId) -> bool;
    /// Returns whether a user exists.
    fn user_exists(&self, id: UserId) -> bool;
    /// The result of the meta key's registered `auth_callback`. `None` falls back to [`is_protected_meta`].
    fn meta_allowed(&self, _access: &MetaAccess<'_>) -> Option<bool> {
        None
    }
}

/// Returns whether a meta key is protected, which means that it begins with `_`.
///
/// Leading bytes that are neither printable ASCII nor Latin-1 letters are ignored, so that a control character does not
/// bypass the protection. Source: recorded results of `is_protected_meta`.
pub fn is_protected_meta(key: &str) -> bool {
    let counts = |b: &u8| matches!(b, 0x20..=0x7e | 0xaa | 0xb5 | 0xba | 0xc0..=0xd6 | 0xd8..=0xf6 | 0xf8..);
    key.bytes().find(counts) == Some(b'_')
}

/// Returns the primitive capabilities that are all required. If empty, everyone is permitted.
///
/// If the object does not exist, or a meta capability has no object, [`DO_NOT_ALLOW`] is required. Unknown capabilities
/// are treated as primitive.
pub fn map_meta_cap(cap: &str, caller: &Caller, object: Object<'_>, ctx: &dyn CapContext) -> Vec<String> {
    let mut required = Vec::new();
    Mapper { caller, ctx }.map(cap, object, &mut |cap| required.push(cap.to_owned()));
    required
}

/// Resolves capabilities for a user and calls `require` with each primitive one.
pub(crate) struct Mapper<'c> {
    pub(crate) caller: &'c Caller,
    pub(crate) ctx: &'c dyn CapContext,
}

impl Mapper<'_> {
    pub(crate) fn map(&self, cap: &str, object: Object<'_>, require: &mut dyn FnMut(&str)) {
        match cap {
            "read_post" | "read_page" => self.post_object(PostCap::Read, object, require),
            "edit_post" | "edit_page" => self.post_object(PostCap::Edit, object, require),
            "delete_post" | "delete_page" => self.post_object(PostCap::Delete, object, require),
            "publish_post" => self.post_object(PostCap::Publish, object, require),
            "edit_comment" => self.comment(object, require),
            "edit_term" | "delete_term" | "assign_term" => self.term(cap, object, require),
            "edit_user" | "edit_users" => self.edit_user(cap, object, require),
            "create_app_password"
            | "list_app_passwords"
            | "read_app_password"
            | "edit_app_password"
            | "delete_app_password"
            | "delete_app_passwords" => self.edit_user("edit_user", object, require),
            "remove_user" => self.remove_user(object, require),
            "edit_block_binding" => match object {
                Object::Editor(Some(id)) => self.post_object(PostCap::Edit, Object::Post(id), require),
                Object::Editor(None) => require("edit_theme_options"),
                _ => require(DO_NOT_ALLOW),
            },
            _ => {
                if let Some(kind) = meta_kind_of_cap(cap) {
                    return self.meta(cap, kind, object, require);
                }
                if plain::resolve(cap, &self.ctx.policy(), require) {
                    return;
                }
                match self.post_type_cap(cap) {
                    Some(post_cap) => self.post_object(post_cap, object, require),
                    None => require(cap),
                }
            }
        }
    }

    /// The action that a post type's own meta capability (`edit_block`, `delete_template`, …) stands for.
    fn post_type_cap(&self, cap: &str) -> Option<PostCap> {
        self.ctx.post_types().iter().filter(|t| t.map_meta_cap).find_map(|t| {
            let names = [
                (&t.caps.edit_post, PostCap::Edit),
                (&t.caps.read_post, PostCap::Read),
                (&t.caps.delete_post, PostCap::Delete),
            ];
            names.into_iter().find_map(|(name, post_cap)| (name == cap).then_some(post_cap))
        })
    }

    fn post_object(&self, cap: PostCap, object: Object<'_>, require: &mut dyn FnMut(&str)) {
        let post = match object {
            Object::LoadedPost(post) => Some(PostFacts::from(post)),
            Object::Post(id) => self.ctx.post(id),
            _ => None,
        };
        match post {
            Some(post) => self.post(cap, &post, require),
            None => require(DO_NOT_ALLOW),
        }
    }

    fn comment(&self, object: Object<'_>, require: &mut dyn FnMut(&str)) {
        let Object::Comment(id) = object else { return require(DO_NOT_ALLOW) };
        match self.ctx.comment_post(id) {
            Some(post) => self.comment_on(post, require),
            None => require(DO_NOT_ALLOW),
        }
    }

    /// Editing a comment requires permission to edit its post, or `edit_posts` if the post does not exist.
    pub(crate) fn comment_on(&self, post: PostId, require: &mut dyn FnMut(&str)) {
        match self.ctx.post(post) {
            Some(post) => self.post(PostCap::Edit, &post, require),
            None => require("edit_posts"),
        }
    }

    fn term(&self, cap: &str, object: Object<'_>, require: &mut dyn FnMut(&str)) {
        let Object::Term(id) = object else { return require(DO_NOT_ALLOW) };
        let name = self.ctx.term_taxonomy(id);
        let taxonomy = name.as_deref().and_then(|name| self.ctx.taxonomies().get(name));
        let Some(taxonomy) = taxonomy else { return require(DO_NOT_ALLOW) };
        let required = match cap {
            "edit_term" => &taxonomy.caps.edit_terms,
            "assign_term" => &taxonomy.caps.assign_terms,
            _ if self.ctx.is_default_term(&taxonomy.name, id) => return require(DO_NOT_ALLOW),
            _ => &taxonomy.caps.delete_terms,
        };
        if !plain::resolve(required, &self.ctx.policy(), require) {
            require(required);
        }
    }

    fn edit_user(&self, cap: &str, object: Object<'_>, require: &mut dyn FnMut(&str)) {
        match object {
            _ if !self.caller.is_logged_in() => require(DO_NOT_ALLOW),
            Object::User(id) if cap == "edit_user" && id == self.caller.id => {}
            _ => require("edit_users"),
        }
    }

    fn remove_user(&self, object: Object<'_>, require: &mut dyn FnMut(&str)) {
        // Users who may delete users count as super administrators, who may also remove themselves.
        match object {
            Object::User(id) if id == self.caller.id && !self.caller.has("delete_users") => require(DO_NOT_ALLOW),
            _ => require("remove_users"),
        }
    }

    /// Meta requires permission to edit the object. Protected keys also require the capability itself, which no role
    /// grants.
    fn meta(&self, cap: &str, kind: MetaKind, object: Object<'_>, require: &mut dyn FnMut(&str)) {
        let (id, key) = match (kind, object) {
            (_, Object::Meta(of, id, key)) if of == kind => (id, Some(key)),
            (MetaKind::Post, Object::Post(id)) => (id.0, None),
            (MetaKind::Post, Object::LoadedPost(post)) => (post.id.0, None),
            (MetaKind::Comment, Object::Comment(id)) => (id.0, None),
            (MetaKind::Term, Object::Term(id)) => (id.0, None),
            (MetaKind::User, Object::User(id)) => (id.0, None),
            _ => return require(DO_NOT_ALLOW),
        };
        let exists = match kind {
            MetaKind::Post => self.ctx.post(PostId(id)).is_some(),
            MetaKind::Comment => self.ctx.comment_post(CommentId(id)).is_some(),
            MetaKind::Term => self.ctx.term_taxonomy(TermId(id)).is_some(),
            MetaKind::User => self.ctx.user_exists(UserId(id)),
        };
        if !exists {
            return require(DO_NOT_ALLOW);
        }
        match kind {
            MetaKind::Post => self.post_object(PostCap::Edit, Object::Post(PostId(id)), require),
            MetaKind::Comment => self.comment(Object::Comment(CommentId(id)), require),
            MetaKind::Term => self.term("edit_term", Object::Term(TermId(id)), require),
            MetaKind::User => self.edit_user("edit_user", Object::User(UserId(id)), require),
        }
        if let Some(key) = key {
            let access = MetaAccess { kind, id, key, user: self.caller.id, cap };
            if !self.ctx.meta_allowed(&access).unwrap_or_else(|| !is_protected_meta(key)) {
                require(cap);
            }
        }
    }
}

#[cfg(test)]
mod tests;
