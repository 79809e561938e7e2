//! A stored post of any type.

use crate::{PostId, Timestamp, UserId};

/// A row of the `posts` table. Texts are raw. `date` and `modified` are in the site's time zone, `*_gmt` in UTC.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are the table's columns")]
pub struct Post {
    pub id: PostId,
    pub author: UserId,
    pub date: Timestamp,
    pub date_gmt: Timestamp,
    pub content: String,
    pub title: String,
    pub excerpt: String,
    pub status: String,
    pub comment_status: String,
    pub ping_status: String,
    pub password: String,
    /// The slug (`post_name`), percent-encoded as stored.
    pub slug: String,
    pub modified: Timestamp,
    pub modified_gmt: Timestamp,
    pub parent: PostId,
    pub guid: String,
    pub menu_order: i64,
    pub post_type: String,
    pub mime_type: String,
    pub comment_count: i64,
}

impl Post {
    /// Returns whether the post is password-protected. As in WordPress, the password `0` counts as empty.
    pub fn is_protected(&self) -> bool {
        !matches!(self.password.as_str(), "" | "0")
    }
}
