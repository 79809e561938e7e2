//! The changes of a request to a post.

use indexmap::IndexMap;
use serde_json::Value;

use crate::{languages::Translations, media::upload_store::NewFile};

/// What a request does with a field that can be unset, which null does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FieldChange<T> {
    /// The request does not contain the field.
    #[default]
    Keep,
    /// The field is unset.
    Clear,
    /// The field gets this value.
    Set(T),
}

impl<T> From<Option<T>> for FieldChange<T> {
    /// The change by a value that the request contains; `None` for null.
    fn from(value: Option<T>) -> Self {
        value.map_or(FieldChange::Clear, FieldChange::Set)
    }
}

/// The fields that a request sets; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub struct PostDraft {
    /// Clearing it resets the date of a draft to "not set".
    pub date: FieldChange<String>,
    /// Like `date`, in UTC.
    pub date_gmt: FieldChange<String>,
    /// Slug as sent, not yet unique.
    pub slug: Option<String>,
    /// Name of the status.
    pub status: Option<String>,
    /// Password of the post; empty for none.
    pub password: Option<String>,
    /// Id of the parent post.
    pub parent: Option<i64>,
    /// Title as sent, not yet sanitized.
    pub title: Option<String>,
    /// Content as sent, not yet sanitized.
    pub content: Option<String>,
    /// Id of the author.
    pub author: Option<i64>,
    /// Excerpt as sent, not yet sanitized.
    pub excerpt: Option<String>,
    /// Id of the featured image; zero for none.
    pub featured_media: Option<i64>,
    /// `open` or `closed`.
    pub comment_status: Option<String>,
    /// `open` or `closed`.
    pub ping_status: Option<String>,
    /// Sort position.
    pub menu_order: Option<i64>,
    /// Name of the post format.
    pub format: Option<String>,
    /// Meta fields by name.
    pub meta: Option<Value>,
    /// Whether the post is sticky.
    pub sticky: Option<bool>,
    /// Fields that are stored as meta: the values by key, not yet encoded.
    pub field_meta: Vec<(&'static str, String)>,
    /// Alt text of an attachment.
    pub alt_text: Option<String>,
    /// Id of a parent that need not exist: the post that an attachment is attached to, or the parent of a menu item's
    /// target.
    pub unchecked_parent: Option<i64>,
    /// Whether an update sets the local date to the current time, but not the date in UTC.
    pub redated: bool,
    /// The file of a new attachment.
    pub file: Option<NewFile>,
    /// Code of the language.
    pub language: Option<String>,
    /// Ids of the translations.
    pub translations: Option<Translations>,
    /// Ids of terms by taxonomy name.
    pub terms: IndexMap<String, Vec<i64>>,
}

impl AsRef<PostDraft> for PostDraft {
    fn as_ref(&self) -> &PostDraft {
        self
    }
}
