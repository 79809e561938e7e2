//! Capabilities for posts, by type, status, author and parent.

use std::borrow::Cow;

use svc_model::{PostType, UserId};

use super::{CapContext, DO_NOT_ALLOW, Mapper, PostCap, PostFacts};

/// Maximum length of a chain of attachment parents.
const MAX_CHAIN: usize = 16;

/// The status of a post for readers. An attachment that inherits its status has that of its parent post.
///
/// An attachment with the status `inherit` is published if it has no parent. If the parent is in the trash, its
/// previous status applies. An attachment with any status other than `inherit`, `private`, `trash` and `auto-draft` is
/// published. Source: recorded results of `get_post_status`.
pub fn effective_status<'a>(post: &PostFacts<'a>, ctx: &'a dyn CapContext) -> Cow<'a, str> {
    const PUBLISH: Cow<'static, str> = Cow::Borrowed("publish");
    if post.post_type != "attachment" {
        return post.status.clone();
    }
    if post.status != "inherit" {
        return match &*post.status {
            "private" | "trash" | "auto-draft" => post.status.clone(),
            _ => PUBLISH,
        };
    }
    let (mut id, mut parent) = (post.id, post.parent);
    for _ in 0..MAX_CHAIN {
        let parent_post = if parent.is_none() || parent == id { None } else { ctx.post(parent) };
        let Some(parent_post) = parent_post else { return PUBLISH };
        if parent_post.post_type == "attachment" && parent_post.status == "inherit" {
            (id, parent) = (parent_post.id, parent_post.parent);
            continue;
        }
        let status = effective_status(&parent_post, ctx);
        return if status == "trash" {
            ctx.status_before_trash(parent_post.id).filter(|previous| !previous.is_empty()).unwrap_or(PUBLISH)
        } else {
            status
        };
    }
    // A cycle, or an implausibly long chain: visible to the author only.
    Cow::Borrowed("private")
}

fn is_published(status: &str) -> bool {
    status == "publish" || status == "future"
}

impl Mapper<'_> {
    /// The capabilities that an action on a post requires.
    pub(crate) fn post(&self, cap: PostCap, post: &PostFacts<'_>, require: &mut dyn FnMut(&str)) {
        if post.post_type == "revision" && cap != PostCap::Publish {
            // Revisions have the capabilities of their post, and cannot be deleted separately.
            return match self.ctx.post(post.parent) {
                Some(parent) if cap != PostCap::Delete => self.non_revision(cap, &parent, require),
                _ => require(DO_NOT_ALLOW),
            };
        }
        self.non_revision(cap, post, require);
    }

    fn non_revision(&self, cap: PostCap, post: &PostFacts<'_>, require: &mut dyn FnMut(&str)) {
        let policy = self.ctx.policy();
        if cap == PostCap::Delete && (post.id == policy.page_for_posts || post.id == policy.page_on_front) {
            return require("manage_options");
        }
        let Some(post_type) = self.ctx.post_types().get(&post.post_type) else { return require("edit_others_posts") };
        let caps = &post_type.caps;
        match cap {
            PostCap::Publish => require(&caps.publish_posts),
            PostCap::Read if !post_type.map_meta_cap => require(&caps.read_post),
            PostCap::Edit if !post_type.map_meta_cap => require(&caps.edit_post),
            PostCap::Delete if !post_type.map_meta_cap => require(&caps.delete_post),
            PostCap::Read => self.read(post, post_type, require),
            PostCap::Edit | PostCap::Delete => {
                self.edit_or_delete(cap, post, post_type, require);
                if post.id == policy.privacy_page {
                    require("manage_options");
                }
            }
        }
    }

    fn is_author(&self, post: &PostFacts<'_>) -> bool {
        post.author != UserId(0) && post.author == self.caller.id
    }

    fn read(&self, post: &PostFacts<'_>, post_type: &PostType, require: &mut dyn FnMut(&str)) {
        let status = effective_status(post, self.ctx);
        match self.ctx.post_statuses().get(&status) {
            None => require("edit_others_posts"),
            Some(status) if status.public => require(&post_type.caps.read),
            Some(_) if self.is_author(post) => require(&post_type.caps.read),
            Some(status) if status.private => require(&post_type.caps.read_private_posts),
            // Not published: requires permission to edit the post.
            Some(_) => self.post(PostCap::Edit, post, require),
        }
    }

    fn edit_or_delete(&self, cap: PostCap, post: &PostFacts<'_>, post_type: &PostType, require: &mut dyn FnMut(&str)) {
        let caps = &post_type.caps;
        let [own, others, published, private] = match cap {
            PostCap::Delete => [
                &caps.delete_posts,
                &caps.delete_others_posts,
                &caps.delete_published_posts,
                &caps.delete_private_posts,
            ],
            _ => [&caps.edit_posts, &caps.edit_others_posts, &caps.edit_published_posts, &caps.edit_private_posts],
        };
        if self.is_author(post) {
            // In the trash, a post that was published requires the same capability as before.
            let was_published = is_published(&post.status)
                || (post.status == "trash"
                    && self.ctx.status_before_trash(post.id).is_some_and(|previous| is_published(&previous)));
            return require(if was_published { published } else { own });
        }
        require(others);
        if is_published(&post.status) {
            require(published);
        } else if post.status == "private" {
            require(private);
        }
    }
}
