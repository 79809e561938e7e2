//! What a request wants to change of a post.

use indexmap::IndexMap;
use serde_json::Value;

/// A stored file that an attachment is made of.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// Its media type.
    pub mime_type: String,
    /// Its address when it was stored.
    pub url: String,
    /// Its path, and what is known of it, as meta.
    pub meta: Vec<(&'static str, svc_store::StoredText)>,
}

/// The members that a request gives; `None` leaves a member as it is.
#[derive(Clone, Debug, Default)]
pub struct PostDraft {
    /// An inner `None` sets the date back to "not dated".
    pub date: Option<Option<String>>,
    /// As `date`, in UTC.
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
    /// The text of an attachment for those who do not see it.
    pub alt_text: Option<String>,
    /// What an attachment hangs on, whether or not that exists.
    pub attached_to: Option<i64>,
    /// The file of a new attachment.
    pub file: Option<NewFile>,
    /// Ids of terms by the name of their taxonomy.
    pub terms: IndexMap<String, Vec<i64>>,
}
