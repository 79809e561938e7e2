//! Posts: who may read, edit, delete and publish one, by its type, status, owner and place.

use std::borrow::Cow;

use svc_model::{PostType, UserId};

use super::{CapContext, DO_NOT_ALLOW, Mapper, PostCap, PostFacts};

/// Longest chain of attachments below one another that is followed.
const MAX_CHAIN: usize = 16;

/// The status that counts for readers: an attachment's is that of the post it hangs on.
///
/// An attachment with status `inherit` is published when it hangs on nothing; below a post in the trash it keeps the
/// status that the post had before. With any other status but `private`, `trash` and `auto-draft` it is published.
/// Source: recorded answers of `get_post_status`.
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
        let above = if parent.is_none() || parent == id { None } else { ctx.post(parent) };
        let Some(above) = above else { return PUBLISH };
        if above.post_type == "attachment" && above.status == "inherit" {
            (id, parent) = (above.id, above.parent);
            continue;
        }
        let status = effective_status(&above, ctx);
        return if status == "trash" {
            ctx.status_before_trash(above.id).filter(|was| !was.is_empty()).unwrap_or(PUBLISH)
        } else {
            status
        };
    }
    // A ring, or a chain that nobody makes by hand: nobody but its owner is to see it.
    Cow::Borrowed("private")
}

fn is_published(status: &str) -> bool {
    status == "publish" || status == "future"
}

impl Mapper<'_> {
    /// What a post takes.
    pub(crate) fn post(&self, cap: PostCap, post: &PostFacts<'_>, need: &mut dyn FnMut(&str)) {
        if post.post_type == "revision" && cap != PostCap::Publish {
            // A revision is its post's, and goes with it.
            return match self.ctx.post(post.parent) {
                Some(parent) if cap != PostCap::Delete => self.whole_post(cap, &parent, need),
                _ => need(DO_NOT_ALLOW),
            };
        }
        self.whole_post(cap, post, need);
    }

    fn whole_post(&self, cap: PostCap, post: &PostFacts<'_>, need: &mut dyn FnMut(&str)) {
        let policy = self.ctx.policy();
        if cap == PostCap::Delete && (post.id == policy.page_for_posts || post.id == policy.page_on_front) {
            return need("manage_options");
        }
        let Some(post_type) = self.ctx.post_types().get(&post.post_type) else { return need("edit_others_posts") };
        let caps = &post_type.caps;
        match cap {
            PostCap::Publish => need(&caps.publish_posts),
            PostCap::Read if !post_type.map_meta_cap => need(&caps.read_post),
            PostCap::Edit if !post_type.map_meta_cap => need(&caps.edit_post),
            PostCap::Delete if !post_type.map_meta_cap => need(&caps.delete_post),
            PostCap::Read => self.read(post, post_type, need),
            PostCap::Edit | PostCap::Delete => {
                self.change(cap, post, post_type, need);
                if post.id == policy.privacy_page {
                    need("manage_options");
                }
            }
        }
    }

    fn owns(&self, post: &PostFacts<'_>) -> bool {
        post.author != UserId(0) && post.author == self.caller.id
    }

    fn read(&self, post: &PostFacts<'_>, post_type: &PostType, need: &mut dyn FnMut(&str)) {
        let status = effective_status(post, self.ctx);
        match self.ctx.post_statuses().get(&status) {
            None => need("edit_others_posts"),
            Some(status) if status.public => need(&post_type.caps.read),
            Some(_) if self.owns(post) => need(&post_type.caps.read),
            Some(status) if status.private => need(&post_type.caps.read_private_posts),
            // Not published yet, or no longer: for those who work on it.
            Some(_) => self.post(PostCap::Edit, post, need),
        }
    }

    fn change(&self, cap: PostCap, post: &PostFacts<'_>, post_type: &PostType, need: &mut dyn FnMut(&str)) {
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
        if self.owns(post) {
            // What was published takes the same right in the trash.
            let was_published = is_published(&post.status)
                || (post.status == "trash"
                    && self.ctx.status_before_trash(post.id).is_some_and(|was| is_published(&was)));
            return need(if was_published { published } else { own });
        }
        need(others);
        if is_published(&post.status) {
            need(published);
        } else if post.status == "private" {
            need(private);
        }
    }
}
