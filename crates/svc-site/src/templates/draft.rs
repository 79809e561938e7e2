//! A template to be stored.

/// The fields that a request changes; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default)]
pub struct TemplateDraft {
    pub slug: Option<String>,
    pub theme: Option<String>,
    pub content: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub author: Option<i64>,
    pub area: Option<String>,
}
