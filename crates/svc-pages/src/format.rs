//! How stored texts look on pages.

use std::sync::Arc;

use svc_controllers::RestSite;
use svc_model::{Comment, Post};
use svc_render::{blocks, content as render};
use svc_site::Settings;

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

/// The rendering that every site has: that of the interface. Where the options cannot be read, texts stay as stored
/// without their markup.
pub struct SiteTexts(pub Arc<RestSite>);

/// Words in an excerpt made of the content.
const EXCERPT_WORDS: usize = 55;

impl SiteTexts {
    fn rendered(&self, raw: &str, render: impl FnOnce(&RestSite, &Arc<Settings>) -> String) -> String {
        match self.0.settings() {
            Ok(settings) => render(&self.0, &settings),
            Err(_) => svc_text::esc_html(&plain(raw)),
        }
    }
}

impl Texts for SiteTexts {
    fn title(&self, raw: &str) -> String {
        render::title(raw)
    }

    fn content(&self, post: &Post) -> String {
        self.rendered(&post.content, |site, settings| {
            blocks::on_page(site, settings, post, "", None)
                .unwrap_or_else(|_| svc_text::esc_html(&plain(&post.content)))
        })
    }

    fn excerpt(&self, post: &Post) -> String {
        self.rendered(&post.content, |site, settings| {
            blocks::on_page(site, settings, post, "", Some(EXCERPT_WORDS))
                .unwrap_or_else(|_| svc_text::esc_html(&plain(&post.content)))
        })
    }

    fn comment(&self, comment: &Comment) -> String {
        self.rendered(&comment.content, |_, settings| svc_site::comments::html::comment(settings, &comment.content))
    }
}

/// HTML as plain text: tags left out, entities as characters.
pub(crate) fn plain(html: &str) -> String {
    decode(&svc_text::strip_all_tags(html, true))
}

/// A text that is stored with entities for what HTML reserves, as names and titles are.
pub(crate) fn decode(stored: &str) -> String {
    svc_text::specialchars_decode(stored, svc_text::Quotes::Both)
}
