//! The changes of a request to a post.

use indexmap::IndexMap;
use serde_json::Value;

/// The stored file of a new attachment.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// The file's media type.
    pub mime_type: String,
    /// The file's URL when it was stored.
    pub url: String,
    /// The file's path and metadata, as meta.
    pub meta: Vec<(&'static str, svc_store::StoredText)>,
}

/// The fields that a request sets; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub struct PostDraft {
    /// `Some(None)` resets the date of a draft to "not set".
    pub date: Option<Option<String>>,
    /// Like `date`, in UTC.
    pub date_gmt: Option<Option<String>>,
    pub slug: Option<String>,
    pub status: Option<String>,
    pub password: Option<String>,
    pub parent: Option<i64>,
    pub title: Option<String>,
    pub content: Option<String>,
    pub author: Option<i64>,
    pub excerpt: Option<String>,
    pub featured_media: Option<i64>,
    pub comment_status: Option<String>,
    pub ping_status: Option<String>,
    pub menu_order: Option<i64>,
    pub format: Option<String>,
    pub meta: Option<Value>,
    pub sticky: Option<bool>,
    pub template: Option<String>,
    /// Alt text of an attachment.
    pub alt_text: Option<String>,
    /// Id of the post that an attachment is attached to; it need not exist.
    pub attached_to: Option<i64>,
    /// The file of a new attachment.
    pub file: Option<NewFile>,
    /// Ids of terms by taxonomy name.
    pub terms: IndexMap<String, Vec<i64>>,
}
