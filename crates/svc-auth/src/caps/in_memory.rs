//! A simple [`CapContext`]: maps of loaded rows.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use svc_model::{CommentId, PostId, PostStatuses, PostTypes, Taxonomies, TermId, UserId};

use super::{CapContext, PostFacts, SitePolicy};

/// The rows that a request has loaded. Rows that are missing are treated as nonexistent, which denies access.
#[derive(Clone, Debug, Default)]
pub struct InMemoryContext {
    /// The registered post types.
    pub post_types: Arc<PostTypes>,
    /// The registered post statuses.
    pub post_statuses: Arc<PostStatuses>,
    /// The registered taxonomies.
    pub taxonomies: Arc<Taxonomies>,
    /// The site's settings.
    pub policy: SitePolicy,
    /// Posts by id.
    pub posts: HashMap<PostId, PostFacts<'static>>,
    /// Previous statuses of trashed posts.
    pub trashed: HashMap<PostId, String>,
    /// Post ids by comment id.
    pub comments: HashMap<CommentId, PostId>,
    /// Taxonomies by term id.
    pub terms: HashMap<TermId, String>,
    /// Default terms of taxonomies.
    pub default_terms: HashSet<TermId>,
    /// Existing users.
    pub users: HashSet<UserId>,
}

impl InMemoryContext {
    /// Adds a post.
    pub fn add_post(&mut self, post: &PostFacts<'_>) {
        let post_type = Cow::Owned(post.post_type.clone().into_owned());
        let status = Cow::Owned(post.status.clone().into_owned());
        self.posts.insert(post.id, PostFacts { post_type, status, ..*post });
    }
}

impl CapContext for InMemoryContext {
    fn post_types(&self) -> &PostTypes {
        &self.post_types
    }

    fn post_statuses(&self) -> &PostStatuses {
        &self.post_statuses
    }

    fn taxonomies(&self) -> &Taxonomies {
        &self.taxonomies
    }

    fn policy(&self) -> SitePolicy {
        self.policy
    }

    fn post(&self, id: PostId) -> Option<PostFacts<'_>> {
        let post = self.posts.get(&id)?;
        Some(PostFacts { post_type: Cow::Borrowed(&post.post_type), status: Cow::Borrowed(&post.status), ..*post })
    }

    fn status_before_trash(&self, id: PostId) -> Option<Cow<'_, str>> {
        self.trashed.get(&id).map(|s| Cow::Borrowed(s.as_str()))
    }

    fn comment_post(&self, id: CommentId) -> Option<PostId> {
        self.comments.get(&id).copied()
    }

    fn term_taxonomy(&self, id: TermId) -> Option<Cow<'_, str>> {
        self.terms.get(&id).map(|s| Cow::Borrowed(s.as_str()))
    }

    fn is_default_term(&self, _taxonomy: &str, id: TermId) -> bool {
        self.default_terms.contains(&id)
    }

    fn user_exists(&self, id: UserId) -> bool {
        self.users.contains(&id)
    }
}
