//! A template to be stored.

/// The fields that a request changes; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub struct TemplateDraft {
    /// Slug.
    pub slug: Option<String>,
    /// Name of the theme.
    pub theme: Option<String>,
    /// Content as sent, not yet sanitized.
    pub content: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// Id of the author.
    pub author: Option<i64>,
    /// Area of a template part.
    pub area: Option<String>,
}
