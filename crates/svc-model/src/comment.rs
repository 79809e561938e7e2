//! A stored comment.

use crate::{CommentId, PostId, Timestamp, UserId};

/// A row of the `comments` table. `date` is in the site's time zone, `date_gmt` in UTC.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are the table's columns")]
pub struct Comment {
    pub id: CommentId,
    pub post: PostId,
    pub author: String,
    pub author_email: String,
    pub author_url: String,
    pub author_ip: String,
    pub date: Timestamp,
    pub date_gmt: Timestamp,
    pub content: String,
    pub karma: i64,
    /// `1` (approved), `0` (pending), `spam`, `trash` or `post-trashed`.
    pub approved: String,
    pub agent: String,
    /// `comment`, `note`, `pingback`, `trackback`, …
    pub comment_type: String,
    pub parent: CommentId,
    pub user: UserId,
}
