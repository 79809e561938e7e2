//! A comment to be stored.

use serde_json::Value;
use svc_model::Comment;

/// What a request wants to change of a comment; `None` leaves a member as it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommentDraft {
    pub(crate) author: Option<i64>,
    pub(crate) author_name: Option<String>,
    pub(crate) author_email: Option<String>,
    pub(crate) author_url: Option<String>,
    pub(crate) author_ip: Option<String>,
    pub(crate) author_user_agent: Option<String>,
    pub(crate) content: Option<String>,
    pub(crate) date: Option<String>,
    pub(crate) date_gmt: Option<String>,
    pub(crate) parent: Option<i64>,
    pub(crate) post: Option<i64>,
    pub(crate) status: Option<String>,
    pub(crate) meta: Option<Value>,
}

/// The type that a comment shows: rows of old have none.
pub(crate) fn shown_type(comment: &Comment) -> &str {
    if comment.comment_type.is_empty() { "comment" } else { &comment.comment_type }
}
