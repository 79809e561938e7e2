//! Which primitive capabilities an action on an object takes: the one place that decides.
//!
//! A *primitive* capability is one that roles grant (`edit_others_posts`); a *meta* capability (`edit_post`, of a given
//! post) is resolved to primitive ones by the object's type, status and owner. The object and its neighbours come
//! through [`CapContext`], which the store backs with rows that it has loaded already.

mod plain;
mod posts;
mod snapshot;

use std::borrow::Cow;

use svc_model::{CommentId, Post, PostId, PostStatuses, PostTypes, Taxonomies, TermId, UserId};

pub use posts::effective_status;
pub use snapshot::Snapshot;

use crate::Caller;

/// Granted to nobody.
pub const DO_NOT_ALLOW: &str = "do_not_allow";

/// What can be done with a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PostCap {
    /// See it.
    Read,
    /// Change it.
    Edit,
    /// Move it to the trash, or remove it.
    Delete,
    /// Make it public.
    Publish,
}

/// What an action is done to.
#[derive(Clone, Copy, Debug)]
pub enum Object<'a> {
    /// Nothing in particular.
    None,
    /// A post of any type.
    Post(PostId),
    /// A post at hand.
    LoadedPost(&'a Post),
    /// A comment.
    Comment(CommentId),
    /// A term of any taxonomy.
    Term(TermId),
    /// A user.
    User(UserId),
    /// One meta key of an object.
    Meta(MetaKind, i64, &'a str),
    /// The block editor, with the post in it (`None`: the site editor).
    Editor(Option<PostId>),
}

/// Kinds of objects that have meta.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum MetaKind {
    Post,
    Comment,
    Term,
    User,
}

impl MetaKind {
    /// The kind that a capability such as `edit_post_meta`, `add_post_meta`, `delete_post_meta` is about.
    fn of_cap(cap: &str) -> Option<Self> {
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
}

/// A question to the registrations of meta keys.
#[derive(Clone, Copy, Debug)]
pub struct MetaAccess<'a> {
    /// What kind of object has the key.
    pub kind: MetaKind,
    /// Which object.
    pub id: i64,
    /// The key.
    pub key: &'a str,
    /// Who wants to change it.
    pub user: UserId,
    /// `edit_post_meta`, `add_post_meta`, …
    pub cap: &'a str,
}

/// What the decision hangs on of a post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostFacts<'a> {
    /// The post.
    pub id: PostId,
    /// Its owner; zero is nobody.
    pub author: UserId,
    /// The post it hangs on.
    pub parent: PostId,
    /// Its type's name.
    pub post_type: Cow<'a, str>,
    /// Its status as stored.
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

/// Settings of the site that capabilities hang on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SitePolicy {
    /// Option `page_on_front`.
    pub page_on_front: PostId,
    /// Option `page_for_posts`.
    pub page_for_posts: PostId,
    /// Option `wp_page_for_privacy_policy`.
    pub privacy_page: PostId,
    /// Option `link_manager_enabled`.
    pub link_manager: bool,
    /// Files of plugins and themes may be edited (`DISALLOW_FILE_EDIT` unset).
    pub file_edits: bool,
    /// Plugins, themes and core may be installed, updated and deleted (`DISALLOW_FILE_MODS` unset).
    pub file_mods: bool,
    /// Those with the capability may post any HTML (`DISALLOW_UNFILTERED_HTML` unset).
    pub unfiltered_html: bool,
    /// Those with the capability may upload any type of file (`ALLOW_UNFILTERED_UPLOADS` set).
    pub unfiltered_uploads: bool,
}

impl Default for SitePolicy {
    /// A site as installed: no special pages, files may be changed, uploads are filtered.
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

/// What the decision looks up. Answers must be at hand: no method may wait.
pub trait CapContext {
    /// The registered post types.
    fn post_types(&self) -> &PostTypes;
    /// The registered post statuses.
    fn post_statuses(&self) -> &PostStatuses;
    /// The registered taxonomies.
    fn taxonomies(&self) -> &Taxonomies;
    /// The site's settings.
    fn policy(&self) -> SitePolicy;
    /// A post by id.
    fn post(&self, id: PostId) -> Option<PostFacts<'_>>;
    /// The status that a post in the trash had before (post meta `_wp_trash_meta_status`).
    fn status_before_trash(&self, id: PostId) -> Option<Cow<'_, str>>;
    /// The post of a comment, zero for none; `None` when there is no such comment.
    fn comment_post(&self, id: CommentId) -> Option<PostId>;
    /// The taxonomy of a term.
    fn term_taxonomy(&self, id: TermId) -> Option<Cow<'_, str>>;
    /// Whether new posts get this term (options `default_<taxonomy>`, `default_term_<taxonomy>`): it cannot be deleted.
    fn is_default_term(&self, taxonomy: &str, id: TermId) -> bool;
    /// Whether there is such a user.
    fn user_exists(&self, id: UserId) -> bool;
    /// What the registration of a meta key says (its `auth_callback`); `None` leaves it to [`is_protected_meta`].
    fn meta_allowed(&self, _access: &MetaAccess<'_>) -> Option<bool> {
        None
    }
}

/// Whether a meta key is the machinery's own: it begins with `_`.
///
/// Bytes before it that are neither printable ASCII nor Latin-1 letters do not count, so that a control character does
/// not unlock a key. Source: recorded answers of `is_protected_meta`.
pub fn is_protected_meta(key: &str) -> bool {
    let counts = |b: &u8| matches!(b, 0x20..=0x7e | 0xaa | 0xb5 | 0xba | 0xc0..=0xd6 | 0xd8..=0xf6 | 0xf8..);
    key.bytes().find(counts) == Some(b'_')
}

/// The primitive capabilities that a user needs for this, all of them; none when everybody may.
///
/// An object that does not exist, or a meta capability without its object, needs [`DO_NOT_ALLOW`]. A capability that is
/// not known is primitive.
pub fn map_meta_cap(cap: &str, caller: &Caller, object: Object<'_>, ctx: &dyn CapContext) -> Vec<String> {
    let mut needed = Vec::new();
    Mapper { caller, ctx }.map(cap, object, &mut |cap| needed.push(cap.to_owned()));
    needed
}

/// Resolves capabilities for a user; calls `need` with each primitive one.
pub(crate) struct Mapper<'c> {
    pub(crate) caller: &'c Caller,
    pub(crate) ctx: &'c dyn CapContext,
}

impl Mapper<'_> {
    pub(crate) fn map(&self, cap: &str, object: Object<'_>, need: &mut dyn FnMut(&str)) {
        match cap {
            "read_post" | "read_page" => self.post_object(PostCap::Read, object, need),
            "edit_post" | "edit_page" => self.post_object(PostCap::Edit, object, need),
            "delete_post" | "delete_page" => self.post_object(PostCap::Delete, object, need),
            "publish_post" => self.post_object(PostCap::Publish, object, need),
            "edit_comment" => self.comment(object, need),
            "edit_term" | "delete_term" | "assign_term" => self.term(cap, object, need),
            "edit_user" | "edit_users" => self.edit_user(cap, object, need),
            "create_app_password"
            | "list_app_passwords"
            | "read_app_password"
            | "edit_app_password"
            | "delete_app_password"
            | "delete_app_passwords" => self.edit_user("edit_user", object, need),
            "remove_user" => self.remove_user(object, need),
            "edit_block_binding" => match object {
                Object::Editor(Some(id)) => self.post_object(PostCap::Edit, Object::Post(id), need),
                Object::Editor(None) => need("edit_theme_options"),
                _ => need(DO_NOT_ALLOW),
            },
            _ => {
                if let Some(kind) = MetaKind::of_cap(cap) {
                    return self.meta(cap, kind, object, need);
                }
                if plain::resolve(cap, &self.ctx.policy(), need) {
                    return;
                }
                match self.post_type_cap(cap) {
                    Some(post_cap) => self.post_object(post_cap, object, need),
                    None => need(cap),
                }
            }
        }
    }

    /// Whether a registered type calls one of its meta capabilities so: `edit_block`, `delete_template`, …
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

    fn post_object(&self, cap: PostCap, object: Object<'_>, need: &mut dyn FnMut(&str)) {
        let post = match object {
            Object::LoadedPost(post) => Some(PostFacts::from(post)),
            Object::Post(id) => self.ctx.post(id),
            _ => None,
        };
        match post {
            Some(post) => self.post(cap, &post, need),
            None => need(DO_NOT_ALLOW),
        }
    }

    fn comment(&self, object: Object<'_>, need: &mut dyn FnMut(&str)) {
        let Object::Comment(id) = object else { return need(DO_NOT_ALLOW) };
        match self.ctx.comment_post(id) {
            Some(post) => self.comment_on(post, need),
            None => need(DO_NOT_ALLOW),
        }
    }

    /// A comment is edited by those who may edit its post, or write posts when that is gone.
    pub(crate) fn comment_on(&self, post: PostId, need: &mut dyn FnMut(&str)) {
        match self.ctx.post(post) {
            Some(post) => self.post(PostCap::Edit, &post, need),
            None => need("edit_posts"),
        }
    }

    fn term(&self, cap: &str, object: Object<'_>, need: &mut dyn FnMut(&str)) {
        let Object::Term(id) = object else { return need(DO_NOT_ALLOW) };
        let name = self.ctx.term_taxonomy(id);
        let taxonomy = name.as_deref().and_then(|name| self.ctx.taxonomies().get(name));
        let Some(taxonomy) = taxonomy else { return need(DO_NOT_ALLOW) };
        let needed = match cap {
            "edit_term" => &taxonomy.caps.edit_terms,
            "assign_term" => &taxonomy.caps.assign_terms,
            _ if self.ctx.is_default_term(&taxonomy.name, id) => return need(DO_NOT_ALLOW),
            _ => &taxonomy.caps.delete_terms,
        };
        if !plain::resolve(needed, &self.ctx.policy(), need) {
            need(needed);
        }
    }

    fn edit_user(&self, cap: &str, object: Object<'_>, need: &mut dyn FnMut(&str)) {
        match object {
            _ if !self.caller.is_logged_in() => need(DO_NOT_ALLOW),
            Object::User(id) if cap == "edit_user" && id == self.caller.id => {}
            _ => need("edit_users"),
        }
    }

    fn remove_user(&self, object: Object<'_>, need: &mut dyn FnMut(&str)) {
        // Whoever may delete users is this site's super administrator, who may even leave.
        match object {
            Object::User(id) if id == self.caller.id && !self.caller.has("delete_users") => need(DO_NOT_ALLOW),
            _ => need("remove_users"),
        }
    }

    /// Meta of an object takes the right to edit the object, and for protected keys more than anybody has.
    fn meta(&self, cap: &str, kind: MetaKind, object: Object<'_>, need: &mut dyn FnMut(&str)) {
        let (id, key) = match (kind, object) {
            (_, Object::Meta(of, id, key)) if of == kind => (id, Some(key)),
            (MetaKind::Post, Object::Post(id)) => (id.0, None),
            (MetaKind::Post, Object::LoadedPost(post)) => (post.id.0, None),
            (MetaKind::Comment, Object::Comment(id)) => (id.0, None),
            (MetaKind::Term, Object::Term(id)) => (id.0, None),
            (MetaKind::User, Object::User(id)) => (id.0, None),
            _ => return need(DO_NOT_ALLOW),
        };
        let exists = match kind {
            MetaKind::Post => self.ctx.post(PostId(id)).is_some(),
            MetaKind::Comment => self.ctx.comment_post(CommentId(id)).is_some(),
            MetaKind::Term => self.ctx.term_taxonomy(TermId(id)).is_some(),
            MetaKind::User => self.ctx.user_exists(UserId(id)),
        };
        if !exists {
            return need(DO_NOT_ALLOW);
        }
        match kind {
            MetaKind::Post => self.post_object(PostCap::Edit, Object::Post(PostId(id)), need),
            MetaKind::Comment => self.comment(Object::Comment(CommentId(id)), need),
            MetaKind::Term => self.term("edit_term", Object::Term(TermId(id)), need),
            MetaKind::User => self.edit_user("edit_user", Object::User(UserId(id)), need),
        }
        if let Some(key) = key {
            let access = MetaAccess { kind, id, key, user: self.caller.id, cap };
            if !self.ctx.meta_allowed(&access).unwrap_or_else(|| !is_protected_meta(key)) {
                need(cap);
            }
        }
    }
}

#[cfg(test)]
mod tests;
