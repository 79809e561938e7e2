//! A comment as stored.

use crate::{CommentId, PostId, Stamp, UserId};

/// A row of `comments`. `date` is in the site's zone, `date_gmt` in UTC.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the members are the columns")]
pub struct Comment {
    pub id: CommentId,
    pub post: PostId,
    pub author: String,
    pub author_email: String,
    pub author_url: String,
    pub author_ip: String,
    pub date: Stamp,
    pub date_gmt: Stamp,
    pub content: String,
    pub karma: i64,
    /// `1` approved, `0` held, `spam`, `trash`, `post-trashed`.
    pub approved: String,
    pub agent: String,
    /// `comment`, `note`, `pingback`, `trackback`, …
    pub comment_type: String,
    pub parent: CommentId,
    pub user: UserId,
}
