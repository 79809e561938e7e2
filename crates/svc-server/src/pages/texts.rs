//! How stored texts look on pages.

use svc_model::{Comment, Post};

/// Turns stored texts into HTML for people. The site's own rendering stands behind it; a site of one's own may put
/// another in its place.
pub trait Texts: Send + Sync + 'static {
    /// A title, or the name of a term: HTML without block elements.
    fn title(&self, raw: &str) -> String;
    /// A post's content.
    fn content(&self, post: &Post) -> String;
    /// A post's excerpt: its own, or the beginning of its content.
    fn excerpt(&self, post: &Post) -> String;
    /// A comment.
    fn comment(&self, comment: &Comment) -> String;
}

/// HTML as plain text: tags left out, entities as characters.
pub(super) fn plain(html: &str) -> String {
    decode(&svc_text::strip_all_tags(html, true))
}

/// A text that is stored with entities for what HTML reserves, as names and titles are.
pub(super) fn decode(stored: &str) -> String {
    svc_text::specialchars_decode(stored, svc_text::Quotes::Both)
}
