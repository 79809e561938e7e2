//! Who may see and change a comment: the one rule of this family.
//!
//! An approved comment is seen by all who may read its post (with its password, where one guards it). Anything else is
//! seen by its author and by those who may edit the post. Notes are for those who may edit the post only.

use std::collections::HashMap;

use svc_auth::{Caller, caps::PostCap};
use svc_model::{Comment, Post, PostId};
use svc_site::{Access, Settings, SiteResult};
use svc_store::{Db, posts};

use crate::RestSite;

/// A caller, and the posts of the comments that he asks for.
pub(super) struct CommentViewer<'a> {
    site: &'a RestSite,
    pub(super) access: Access<'a>,
    pub(super) caller: &'a Caller,
    posts: HashMap<PostId, Post>,
    /// The password that the request gives for posts.
    password: Option<&'a str>,
}

impl<'a> CommentViewer<'a> {
    /// Loads these posts, and what the rules ask about them.
    pub(super) fn new(
        db: &mut Db,
        site: &'a RestSite,
        settings: &'a Settings,
        caller: &'a Caller,
        ids: impl IntoIterator<Item = PostId>,
        password: Option<&'a str>,
    ) -> SiteResult<Self> {
        let mut ids: Vec<PostId> = ids.into_iter().filter(|id| !id.is_none()).collect();
        ids.sort_unstable();
        ids.dedup();
        let rows = if ids.is_empty() { Vec::new() } else { posts::get_many(db, &ids)? };
        let access = Access::of_posts(site, settings, db, &rows)?;
        let posts = rows.into_iter().map(|p| (p.id, p)).collect();
        Ok(CommentViewer { site, access, caller, posts, password })
    }

    /// A post that was loaded.
    pub(super) fn post(&self, id: PostId) -> Option<&Post> {
        self.posts.get(&id)
    }

    /// All posts that were loaded.
    pub(super) fn posts(&self) -> Vec<Post> {
        self.posts.values().cloned().collect()
    }

    /// Whether the caller looks after comments.
    pub(super) fn moderates(&self) -> bool {
        self.access.can(self.caller, "moderate_comments")
    }

    /// Whether the caller may change a post.
    pub(super) fn can_edit_post(&self, post: &Post) -> bool {
        self.caller.is_logged_in() && self.caller.can_post(PostCap::Edit, post, &self.access)
    }

    /// Whether the caller may see a post, and with it the comments on it.
    pub(super) fn can_read_post(&self, post: &Post) -> bool {
        self.can_read_post_with(post, self.password)
    }

    fn can_read_post_with(&self, post: &Post, password: Option<&str>) -> bool {
        let Some(kind) = self.site.types.get(&post.post_type) else { return false };
        let unlocked = !post.is_protected() || password.is_some_and(|p| same_secret(p, &post.password));
        if !unlocked {
            return self.can_edit_post(post);
        }
        kind.show_in_rest && self.access.can_read(self.caller, post)
    }

    /// Whether the caller may see a comment.
    pub(super) fn can_read(&self, comment: &Comment) -> bool {
        self.can_read_with(comment, self.password)
    }

    fn can_read_with(&self, comment: &Comment, password: Option<&str>) -> bool {
        if comment.comment_type == "note" {
            return self.may_edit_as_author(comment);
        }
        if comment.approved == "1"
            && self.posts.get(&comment.post).is_some_and(|post| self.can_read_post_with(post, password))
        {
            return true;
        }
        if !self.caller.is_logged_in() || (comment.post.is_none() && !self.moderates()) {
            return false;
        }
        comment.user == self.caller.id || self.may_edit_as_author(comment)
    }

    /// The capability `edit_comment`: whoever may edit the post.
    pub(super) fn may_edit_as_author(&self, comment: &Comment) -> bool {
        self.caller.is_logged_in() && self.caller.can_edit_comment(comment, &self.access)
    }

    /// Whether the caller may change or delete a comment.
    pub(super) fn can_edit(&self, comment: &Comment) -> bool {
        self.caller.is_logged_in() && (self.moderates() || self.may_edit_as_author(comment))
    }

    /// Whether the caller may see a comment in context `edit`.
    pub(super) fn sees_raw(&self, comment: &Comment) -> bool {
        if comment.comment_type == "note" { self.may_edit_as_author(comment) } else { self.moderates() }
    }

    /// Methods of the comment's own route that the caller may use, without a password.
    pub(super) fn allowed_methods(&self, comment: &Comment) -> Vec<&'static str> {
        // A comment on a post that is gone cannot be fetched or changed.
        if !comment.post.is_none() && !self.posts.contains_key(&comment.post) {
            return Vec::new();
        }
        let post_is_readable = self.posts.get(&comment.post).is_none_or(|post| self.can_read_post_with(post, None));
        let rows = [
            (post_is_readable && self.can_read_with(comment, None), &["GET"][..]),
            (self.can_edit(comment), &["POST", "PUT", "PATCH", "DELETE"][..]),
        ];
        rows.into_iter().filter(|(may, _)| *may).flat_map(|(_, methods)| methods.iter().copied()).collect()
    }
}

/// Compares in a time that tells nothing of the right one.
fn same_secret(given: &str, right: &str) -> bool {
    use subtle::ConstantTimeEq;
    !given.is_empty() && bool::from(given.as_bytes().ct_eq(right.as_bytes()))
}
