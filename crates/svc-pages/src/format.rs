//! Renders stored texts for pages.

use std::sync::Arc;

use svc_model::{Comment, Post};
use svc_render::SiteRenderer;
use svc_render::{blocks, content as render};
use svc_site::Settings;
use svc_text::{Html, esc_html};
use svc_versions::Context;

/// Renders stored texts, in the context of a page. [`SiteTexts`] is the default implementation; a program may use its own.
pub trait Texts: Send + Sync + 'static {
    /// A title, or a term's name, without block elements.
    fn title(&self, raw: &str) -> Html;
    /// A post's content.
    fn content(&self, cx: &Context, post: &Post) -> Html;
    /// A post's excerpt, or the beginning of its content if it has none.
    fn excerpt(&self, cx: &Context, post: &Post) -> Html;
    /// A comment.
    fn comment(&self, cx: &Context, comment: &Comment) -> Html;
    /// Whether these texts depend only on what is stored, so that pages with them may be cached. By default they are not.
    fn is_cacheable(&self) -> bool {
        false
    }
}

/// The default rendering, which is that of the REST API. If the options cannot be read, texts are shown without markup.
pub struct SiteTexts(pub Arc<SiteRenderer>);

/// Number of words of a generated excerpt.
const EXCERPT_WORDS: usize = 55;

impl SiteTexts {
    fn rendered(&self, cx: &Context, raw: &str, render: impl FnOnce(&SiteRenderer, &Arc<Settings>) -> Html) -> Html {
        match self.0.site.settings(cx) {
            Ok(settings) => render(&self.0, &settings),
            Err(_) => esc_html(&plain(raw)),
        }
    }
}

impl Texts for SiteTexts {
    fn title(&self, raw: &str) -> Html {
        render::title(raw)
    }

    fn content(&self, cx: &Context, post: &Post) -> Html {
        self.rendered(cx, &post.content, |renderer, settings| {
            blocks::render_public(cx, renderer, settings, post, "", None)
                .unwrap_or_else(|_| esc_html(&plain(&post.content)))
        })
    }

    fn excerpt(&self, cx: &Context, post: &Post) -> Html {
        self.rendered(cx, &post.content, |renderer, settings| {
            blocks::render_public(cx, renderer, settings, post, "", Some(EXCERPT_WORDS))
                .unwrap_or_else(|_| esc_html(&plain(&post.content)))
        })
    }

    fn comment(&self, cx: &Context, comment: &Comment) -> Html {
        self.rendered(cx, &comment.content, |_, settings| svc_site::comments::html::comment(settings, &comment.content))
    }

    fn is_cacheable(&self) -> bool {
        true
    }
}

/// Converts HTML to plain text.
pub(crate) fn plain(html: &str) -> String {
    decode(&svc_text::strip_all_tags(html, true))
}

/// Decodes the HTML entities with which names and titles are stored.
pub(crate) fn decode(stored: &str) -> String {
    svc_text::specialchars_decode(stored, svc_text::Quotes::Both)
}
