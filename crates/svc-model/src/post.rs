//! A post of any type as stored.

use crate::{PostId, Stamp, UserId};

/// A row of `posts`. Texts are raw; `date` and `modified` are in the site's zone, `*_gmt` in UTC.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the members are the columns")]
pub struct Post {
    pub id: PostId,
    pub author: UserId,
    pub date: Stamp,
    pub date_gmt: Stamp,
    pub content: String,
    pub title: String,
    pub excerpt: String,
    pub status: String,
    pub comment_status: String,
    pub ping_status: String,
    pub password: String,
    /// The slug (`post_name`), percent-encoded as stored.
    pub slug: String,
    pub modified: Stamp,
    pub modified_gmt: Stamp,
    pub parent: PostId,
    pub guid: String,
    pub menu_order: i64,
    pub post_type: String,
    pub mime_type: String,
    pub comment_count: i64,
}

impl Post {
    /// Whether a password protects the post. `0` does not, as in WordPress, where it counts as empty.
    pub fn is_protected(&self) -> bool {
        !matches!(self.password.as_str(), "" | "0")
    }
}
