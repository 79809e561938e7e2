//! Texts of the site: for display, and on their way into the store.
//!
//! What the rules of `svc-content` ask of a site (its theme's gaps, whether smilies become pictures, its own host) is
//! filled in here, and only here.

use std::sync::{Mutex, PoisonError};

use svc_content::{
    RenderContext,
    blocks::{ContentRoot, DynamicBlocks, Renderer, StaticOnly},
    display::{self, TextBlocks, standard_shortcodes},
    images::Images,
    shortcodes::Page,
};
use svc_model::Post;
use svc_site::{ActiveTheme, Settings};

use crate::{
    SiteRenderer,
    images::SiteImages,
    render_cache::{RenderInputs, Source},
};

/// What was loaded to go with a post's texts.
pub struct RenderOptions<'a> {
    /// The images that they name.
    pub images: &'a SiteImages,
    /// The element of an attachment's file, which stands before its description.
    pub before: Option<String>,
    /// What is counted over all texts of the answer.
    pub page: &'a Mutex<Page>,
    /// The blocks that ask the store, where there are such; texts without them are rendered once and kept.
    pub dynamic: Option<&'a dyn DynamicBlocks>,
    /// What the content stands in, where blocks want to stand in it.
    pub root: Option<ContentRoot>,
}

impl<'a> RenderOptions<'a> {
    /// With these images, and blocks as far as their own text goes.
    pub fn new(images: &'a SiteImages, page: &'a Mutex<Page>) -> Self {
        RenderOptions { images, before: None, page, dynamic: None, root: None }
    }
}

/// Renders a text of a post, or finds what was made of it before.
fn cached(
    site: &SiteRenderer,
    settings: &Settings,
    (shown, text): (Source, &str),
    post: &Post,
    with: &RenderOptions<'_>,
    run: impl FnOnce(&mut RenderContext<'_>) -> String,
) -> String {
    let theme = site.theme(settings);
    let run = |images: &dyn Images| with_context(settings, &theme, post, with, images, run);
    if with.dynamic.is_some() || with.before.is_some() {
        return run(with.images);
    }
    site.rendered.of(shown, text, &RenderInputs { theme: &theme, options: &settings.texts, images: with.images }, run)
}

/// Runs a rendering with what this site has and what was loaded. Embeds are shown as far as their own text goes.
fn with_context<T>(
    settings: &Settings,
    theme: &ActiveTheme,
    post: &Post,
    with: &RenderOptions<'_>,
    images: &dyn Images,
    run: impl FnOnce(&mut RenderContext<'_>) -> T,
) -> T {
    let dynamic = TextBlocks(with.dynamic.unwrap_or(&StaticOnly));
    let shortcodes = with.images.shortcodes();
    let shortcodes = shortcodes.as_ref().unwrap_or_else(|| standard_shortcodes());
    let mut context = RenderContext::new(Renderer::new(&theme.blocks, &dynamic), shortcodes);
    let mut page = with.page.lock().unwrap_or_else(PoisonError::into_inner);
    context.page = std::mem::take(&mut *page);
    context.page.post.set(u64::try_from(post.id.0).unwrap_or_default());
    context.images = Some(images);
    context.before = with.before.as_deref();
    context.root.clone_from(&with.root);
    with_options(context, settings, |context| {
        let out = run(context);
        *page = std::mem::take(&mut context.page);
        out
    })
}

/// Fills in what the options say.
fn with_options<'r, T>(
    mut context: RenderContext<'r>,
    settings: &'r Settings,
    run: impl FnOnce(&mut RenderContext<'r>) -> T,
) -> T {
    settings.texts.apply(&mut context);
    run(&mut context)
}

/// A title as HTML.
pub fn title(raw: &str) -> String {
    display::render_title(raw)
}

/// A post's content as HTML.
pub fn content(site: &SiteRenderer, settings: &Settings, post: &Post, with: &RenderOptions<'_>) -> String {
    cached(site, settings, (Source::Content, &post.content), post, with, |context| {
        display::render_content(&post.content, context)
    })
}

/// A post's excerpt as HTML: the one written, or one of this many words made of the content.
pub fn excerpt(
    site: &SiteRenderer,
    settings: &Settings,
    post: &Post,
    with: &RenderOptions<'_>,
    words: usize,
) -> String {
    let of = match display::is_empty_excerpt(&post.excerpt) {
        true => (Source::Generated(words), post.content.as_str()),
        false => (Source::Manual, post.excerpt.as_str()),
    };
    cached(site, settings, of, post, with, |context| {
        context.excerpt_length = words;
        display::render_excerpt(&post.excerpt, &post.content, context)
    })
}

/// The blocks of a widget as HTML, with those that ask the store.
pub fn widget_blocks(site: &SiteRenderer, settings: &Settings, text: &str, dynamic: &dyn DynamicBlocks) -> String {
    let (images, page) = (SiteImages::default(), Mutex::default());
    let with = RenderOptions { dynamic: Some(dynamic), ..RenderOptions::new(&images, &page) };
    with_context(settings, &site.theme(settings), &Post::default(), &with, &images, |context| {
        context.renderer.render(&svc_content::blocks::parse(text))
    })
}

/// How the text of a text widget was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WidgetText {
    /// In the visual editor: rendered like a post's content.
    Visual,
    /// As HTML, to which paragraphs are added or not.
    Html {
        /// Whether blank lines become paragraphs.
        paragraphs: bool,
    },
}

/// The text of a text widget as HTML.
pub fn widget_text(site: &SiteRenderer, settings: &Settings, text: &str, written: WidgetText) -> String {
    let (images, page) = (SiteImages::default(), Mutex::default());
    let with = RenderOptions::new(&images, &page);
    with_context(settings, &site.theme(settings), &Post::default(), &with, &images, |context| match written {
        WidgetText::Visual => display::render_widget_text(text, context),
        WidgetText::Html { paragraphs } => display::render_plain_widget_text(text, paragraphs, context),
    })
}
