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

/// The rendering that every site has.
pub(crate) struct SiteTexts;

/// Words in an excerpt made of the content.
const EXCERPT_WORDS: usize = 55;

impl Texts for SiteTexts {
    fn title(&self, raw: &str) -> String {
        svc_text::esc_html(raw)
    }

    fn content(&self, post: &Post) -> String {
        post.content.clone()
    }

    fn excerpt(&self, post: &Post) -> String {
        if !post.excerpt.trim().is_empty() {
            return format!("<p>{}</p>", svc_text::esc_html(&plain(&post.excerpt)));
        }
        let text = plain(&post.content);
        let words: Vec<&str> = text.split_whitespace().take(EXCERPT_WORDS + 1).collect();
        let more = if words.len() > EXCERPT_WORDS { " …" } else { "" };
        format!("<p>{}{more}</p>", svc_text::esc_html(&words[..words.len().min(EXCERPT_WORDS)].join(" ")))
    }

    fn comment(&self, comment: &Comment) -> String {
        format!("<p>{}</p>", svc_text::esc_html(&plain(&comment.content)))
    }
}

/// HTML as plain text: tags left out, entities as characters.
pub(super) fn plain(html: &str) -> String {
    decode(&svc_text::strip_all_tags(html, true))
}

/// A text that is stored with entities for what HTML reserves, as names and titles are.
pub(super) fn decode(stored: &str) -> String {
    svc_text::specialchars_decode(stored, svc_text::Quotes::Both)
}
