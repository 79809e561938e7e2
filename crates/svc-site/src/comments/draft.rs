//! A comment to be stored.

use serde_json::Value;
use svc_model::Comment;

/// The fields that a request changes; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub struct CommentDraft {
    pub author: Option<i64>,
    pub author_name: Option<String>,
    pub author_email: Option<String>,
    pub author_url: Option<String>,
    pub author_ip: Option<String>,
    pub author_user_agent: Option<String>,
    pub content: Option<String>,
    pub date: Option<String>,
    pub date_gmt: Option<String>,
    pub parent: Option<i64>,
    pub post: Option<i64>,
    pub status: Option<String>,
    pub meta: Option<Value>,
}

/// The comment's type: old rows store an empty one.
pub fn shown_type(comment: &Comment) -> &str {
    if comment.comment_type.is_empty() { "comment" } else { &comment.comment_type }
}
