//! Site state that the capability rules depend on.

use std::{borrow::Cow, collections::HashMap};

use svc_auth::{
    Caller,
    caps::{CapContext, MetaAccess, Object, PostFacts, SitePolicy},
};
use svc_model::{CommentId, Post, PostId, PostStatuses, PostTypes, RouteFamily, Taxonomies, TermId, UserId};
use svc_store::{
    Db,
    meta::{self, MetaKind},
    posts,
};

use crate::{Settings, Site, SiteResult};

/// The data that the capability rules look up, loaded in advance.
pub struct Access<'a> {
    site: &'a Site,
    settings: &'a Settings,
    data: CapabilityData,
    comment_posts: HashMap<CommentId, PostId>,
    term_taxonomies: HashMap<TermId, String>,
    users: Vec<UserId>,
}

/// Posts and former statuses that the capability rules depend on.
#[derive(Clone, Debug, Default)]
pub struct CapabilityData {
    posts: HashMap<PostId, Post>,
    before_trash: HashMap<PostId, String>,
}

impl CapabilityData {
    /// Loads the parents of posts that inherit their status, and the former status of posts in the trash. At most two
    /// queries, and none for posts that need neither.
    pub fn load(db: &mut Db, rows: &[Post]) -> SiteResult<Self> {
        let mut data = CapabilityData::default();
        let mut parents: Vec<PostId> = rows
            .iter()
            .filter(|p| !p.parent.is_none() && (p.status == "inherit" || p.post_type == "revision"))
            .map(|p| p.parent)
            .collect();
        parents.sort_unstable();
        parents.dedup();
        let mut trashed: Vec<i64> = rows.iter().filter(|p| p.status == "trash").map(|p| p.id.0).collect();
        if !parents.is_empty() {
            for parent in posts::get_many(db, &parents)? {
                if parent.status == "trash" {
                    trashed.push(parent.id.0);
                }
                data.posts.insert(parent.id, parent);
            }
        }
        if !trashed.is_empty() {
            for (id, meta) in meta::load(db, MetaKind::Post, &trashed)? {
                if let Some(status) = meta.first("_wp_trash_meta_status") {
                    data.before_trash.insert(PostId(id), status.text().to_owned());
                }
            }
        }
        for post in rows {
            data.posts.entry(post.id).or_insert_with(|| without_content(post));
        }
        Ok(data)
    }
}

impl<'a> Access<'a> {
    /// An empty context, for capabilities without an object.
    pub fn new(site: &'a Site, settings: &'a Settings) -> Self {
        Access {
            site,
            settings,
            data: CapabilityData::default(),
            comment_posts: HashMap::new(),
            term_taxonomies: HashMap::new(),
            users: Vec::new(),
        }
    }

    /// A context with the data for these posts: at most two queries.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn of_posts(site: &'a Site, settings: &'a Settings, db: &mut Db, rows: &[Post]) -> SiteResult<Self> {
        Ok(Self::with_data(site, settings, CapabilityData::load(db, rows)?))
    }

    /// A context with data that is already loaded.
    pub fn with_data(site: &'a Site, settings: &'a Settings, data: CapabilityData) -> Self {
        Access { data, ..Self::new(site, settings) }
    }

    /// Adds the taxonomies of terms.
    pub fn with_terms(mut self, terms: impl IntoIterator<Item = (TermId, String)>) -> Self {
        self.term_taxonomies.extend(terms);
        self
    }

    /// Adds the posts of comments; pass the posts themselves to [`Self::of_posts`].
    pub(crate) fn with_comments(mut self, comments: impl IntoIterator<Item = (CommentId, PostId)>) -> Self {
        self.comment_posts.extend(comments);
        self
    }

    /// Adds the ids of existing users.
    pub fn with_users(mut self, users: impl IntoIterator<Item = UserId>) -> Self {
        self.users.extend(users);
        self
    }

    /// Whether the caller has a capability that does not apply to an object.
    pub fn can(&self, caller: &Caller, cap: &str) -> bool {
        caller.can(cap, Object::None, self)
    }

    /// Whether a post was loaded, as one of the posts or as the parent of one.
    pub fn knows(&self, id: PostId) -> bool {
        self.data.posts.contains_key(&id)
    }

    /// Whether the caller may read a post (and the post that it is attached to).
    pub fn can_read(&self, caller: &Caller, post: &Post) -> bool {
        if self.is_for_readers(post) {
            return self.can_read_at(caller, post, 8);
        }
        caller.is_logged_in() && caller.can_post(svc_auth::caps::PostCap::Read, post, self)
    }

    /// Whether the caller may see a post inside the content of another. Published patterns are visible there to
    /// everyone.
    pub fn can_read_inside(&self, caller: &Caller, post: &Post) -> bool {
        let is_public = self.site.registries.statuses.get(&post.status).is_some_and(|s| s.public);
        is_public || self.can_read(caller, post)
    }

    /// Whether an attachment counts as published: it has no parent, or a published one. A parent in the trash has its former
    /// status. Source: `get_post_status`.
    pub fn is_published_attachment(&self, post: &Post) -> bool {
        let status = match self.data.posts.get(&post.parent).filter(|_| post.status == "inherit") {
            Some(parent) if parent.status == "trash" => self.data.before_trash.get(&parent.id).map_or("publish", |s| s),
            Some(parent) => &parent.status,
            None if post.status == "inherit" => "publish",
            None => &post.status,
        };
        status == "publish"
    }

    /// Whether published posts of this type are public. Patterns are only for users who edit posts.
    fn is_for_readers(&self, post: &Post) -> bool {
        self.site.registries.types.get(&post.post_type).is_none_or(|t| t.route_family != RouteFamily::Blocks)
    }

    /// `depth` bounds chains of attachments of attachments.
    fn can_read_at(&self, caller: &Caller, post: &Post, depth: u8) -> bool {
        if self.site.registries.statuses.get(&post.status).is_some_and(|s| s.public) {
            return true;
        }
        if caller.is_logged_in() && caller.can_post(svc_auth::caps::PostCap::Read, post, self) {
            return true;
        }
        match (post.status.as_str(), depth.checked_sub(1)) {
            ("inherit", _) if post.parent.is_none() => true,
            ("inherit", Some(depth)) => {
                let is_shown =
                    |post: &Post| self.site.registries.types.get(&post.post_type).is_some_and(|t| t.show_in_rest);
                let parent = self.data.posts.get(&post.parent);
                parent.is_none_or(|parent| is_shown(parent) && self.can_read_at(caller, parent, depth))
            }
            _ => false,
        }
    }
}

/// A copy of a post with only the fields that the rules depend on.
fn without_content(post: &Post) -> Post {
    Post {
        id: post.id,
        author: post.author,
        parent: post.parent,
        post_type: post.post_type.clone(),
        status: post.status.clone(),
        ..Post::default()
    }
}

impl CapContext for Access<'_> {
    fn post_types(&self) -> &PostTypes {
        &self.site.registries.types
    }

    fn post_statuses(&self) -> &PostStatuses {
        &self.site.registries.statuses
    }

    fn taxonomies(&self) -> &Taxonomies {
        &self.site.registries.taxonomies
    }

    fn policy(&self) -> SitePolicy {
        SitePolicy {
            page_on_front: PostId(self.settings.number("page_on_front")),
            page_for_posts: PostId(self.settings.number("page_for_posts")),
            privacy_page: PostId(self.settings.number("wp_page_for_privacy_policy")),
            link_manager: self.settings.number("link_manager_enabled") != 0,
            ..SitePolicy::default()
        }
    }

    fn post(&self, id: PostId) -> Option<PostFacts<'_>> {
        self.data.posts.get(&id).map(PostFacts::from)
    }

    fn status_before_trash(&self, id: PostId) -> Option<Cow<'_, str>> {
        self.data.before_trash.get(&id).map(|s| Cow::Borrowed(s.as_str()))
    }

    fn comment_post(&self, id: CommentId) -> Option<PostId> {
        self.comment_posts.get(&id).copied()
    }

    fn term_taxonomy(&self, id: TermId) -> Option<Cow<'_, str>> {
        self.term_taxonomies.get(&id).map(|t| Cow::Borrowed(t.as_str()))
    }

    fn is_default_term(&self, taxonomy: &str, id: TermId) -> bool {
        [format!("default_{taxonomy}"), format!("default_term_{taxonomy}")]
            .iter()
            .any(|option| !id.is_none() && self.settings.number(option) == id.0)
    }

    fn user_exists(&self, id: UserId) -> bool {
        self.users.contains(&id)
    }

    fn meta_allowed(&self, _: &MetaAccess<'_>) -> Option<bool> {
        None
    }
}
