//! A comment to be stored.

use serde_json::Value;
use svc_model::Comment;

/// What a request wants to change of a comment; `None` leaves a member as it is.
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

/// The type that a comment shows: rows of old have none.
pub fn shown_type(comment: &Comment) -> &str {
    if comment.comment_type.is_empty() { "comment" } else { &comment.comment_type }
}
