//! Access rules of comments.
//!
//! An approved comment can be read by everyone who may read its post (with its password, if it is protected). Other
//! comments can be read by their author and by users who may edit the post. Notes require permission to edit the post.

use std::collections::HashMap;

use svc_auth::{Caller, caps::PostCap};
use svc_model::{Comment, Post, PostId};
use svc_site::{Access, Settings, Site, SiteResult};
use svc_store::{Db, posts};

/// A caller, and the posts of the requested comments.
pub(super) struct CommentViewer<'a> {
    site: &'a Site,
    pub(super) access: Access<'a>,
    pub(super) caller: &'a Caller,
    posts: HashMap<PostId, Post>,
    /// The password of the request.
    password: Option<&'a str>,
}

impl<'a> CommentViewer<'a> {
    /// Loads these posts and the data that capability checks need.
    pub(super) fn new(
        db: &mut Db,
        site: &'a Site,
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

    /// Whether the caller may moderate comments.
    pub(super) fn moderates(&self) -> bool {
        self.access.can(self.caller, "moderate_comments")
    }

    /// Whether the caller may edit a post.
    pub(super) fn can_edit_post(&self, post: &Post) -> bool {
        self.caller.is_logged_in() && self.caller.can_post(PostCap::Edit, post, &self.access)
    }

    /// Whether the caller may read a post, and with it its comments.
    pub(super) fn can_read_post(&self, post: &Post) -> bool {
        self.can_read_post_with(post, self.password)
    }

    fn can_read_post_with(&self, post: &Post, password: Option<&str>) -> bool {
        let Some(post_type) = self.site.registries.types.get(&post.post_type) else { return false };
        let unlocked = !post.is_protected() || password.is_some_and(|p| same_secret(p, &post.password));
        if !unlocked {
            return self.can_edit_post(post);
        }
        post_type.show_in_rest && self.access.can_read(self.caller, post)
    }

    /// Whether the caller may read a comment.
    pub(super) fn can_read(&self, comment: &Comment) -> bool {
        self.can_read_with(comment, self.password)
    }

    fn can_read_with(&self, comment: &Comment, password: Option<&str>) -> bool {
        if comment.comment_type == "note" {
            return self.has_edit_comment(comment);
        }
        if comment.approved == "1"
            && self.posts.get(&comment.post).is_some_and(|post| self.can_read_post_with(post, password))
        {
            return true;
        }
        if !self.caller.is_logged_in() || (comment.post.is_none() && !self.moderates()) {
            return false;
        }
        comment.user == self.caller.id || self.has_edit_comment(comment)
    }

    /// Whether the caller has the capability `edit_comment`, which derives from permission to edit the post.
    pub(super) fn has_edit_comment(&self, comment: &Comment) -> bool {
        self.caller.is_logged_in() && self.caller.can_edit_comment(comment, &self.access)
    }

    /// Whether the caller may edit or delete a comment.
    pub(super) fn can_edit(&self, comment: &Comment) -> bool {
        self.caller.is_logged_in() && (self.moderates() || self.has_edit_comment(comment))
    }

    /// Whether the caller may read a comment in context `edit`.
    pub(super) fn sees_raw(&self, comment: &Comment) -> bool {
        if comment.comment_type == "note" { self.has_edit_comment(comment) } else { self.moderates() }
    }

    /// Methods that the caller may use on the comment's route, without a password.
    pub(super) fn allowed_methods(&self, comment: &Comment) -> Vec<&'static str> {
        // A comment on a deleted post cannot be read or changed.
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

/// Compares in constant time. An empty password never matches.
fn same_secret(sent: &str, expected: &str) -> bool {
    use subtle::ConstantTimeEq;
    !sent.is_empty() && bool::from(sent.as_bytes().ct_eq(expected.as_bytes()))
}
