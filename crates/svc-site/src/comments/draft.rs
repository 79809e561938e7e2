//! A comment to be stored.

use serde_json::Value;
use svc_model::Comment;

/// The fields that a request changes; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub struct CommentDraft {
    /// Id of the author; zero for a guest.
    pub author: Option<i64>,
    /// Name of the author.
    pub author_name: Option<String>,
    /// E-mail address of the author.
    pub author_email: Option<String>,
    /// URL of the author's website.
    pub author_url: Option<String>,
    /// IP address of the author.
    pub author_ip: Option<String>,
    /// User agent of the author's client.
    pub author_user_agent: Option<String>,
    /// Content as sent, not yet sanitized.
    pub content: Option<String>,
    /// Publication date in local time.
    pub date: Option<String>,
    /// Publication date in UTC.
    pub date_gmt: Option<String>,
    /// Id of the comment that this one replies to; zero for none.
    pub parent: Option<i64>,
    /// Id of the post.
    pub post: Option<i64>,
    /// Name of the status, for example `approved` or `hold`.
    pub status: Option<String>,
    /// The type as sent, which a permission checks. It is not stored: `SaveComment::kind` is the type of a new comment.
    pub comment_type: Option<Value>,
    /// Meta fields by name.
    pub meta: Option<Value>,
}

/// The comment's type: old rows store an empty one.
pub fn response_type(comment: &Comment) -> &str {
    if comment.comment_type.is_empty() { "comment" } else { &comment.comment_type }
}
