//! Renders titles, contents, excerpts and widget texts.
//!
//! Fills the `svc-content` render context with the site's data: theme spacing, smilies, host name, attachments.

use std::sync::{Mutex, PoisonError};

use svc_content::{
    RenderContext,
    block_render::{DynamicBlocks, Renderer, StaticOnly},
    blocks::ContentRoot,
    display::{self, TextBlocks, standard_shortcodes},
    images::Images,
    shortcodes::Page,
};
use svc_model::Post;
use svc_site::{ActiveTheme, Settings, Site};
use svc_text::Html;
use svc_traces::TARGET;
use svc_versions::Context;

use crate::{
    SiteRenderer,
    images::SiteImages,
    renderer::render_cache::{CachedText, RenderInputs},
};

/// Data for rendering a post's content and excerpt.
pub struct RenderOptions<'a> {
    /// The context of the response.
    pub cx: &'a Context,
    /// Images and galleries that the texts refer to.
    pub images: &'a SiteImages,
    /// HTML before the content, such as an attachment's file.
    pub before: Option<Html>,
    /// Counters shared by all texts of a response, such as gallery numbers.
    pub page: &'a Mutex<Page>,
    /// Renders dynamic blocks. The render cache applies only to texts without it.
    pub dynamic: Option<&'a dyn DynamicBlocks>,
    /// The entity that contains the content, if blocks are hooked into it.
    pub root: Option<ContentRoot>,
}

impl<'a> RenderOptions<'a> {
    /// Options with these images and counters. Dynamic blocks are rendered as their saved HTML.
    pub fn new(cx: &'a Context, images: &'a SiteImages, page: &'a Mutex<Page>) -> Self {
        RenderOptions { cx, images, before: None, page, dynamic: None, root: None }
    }
}

/// Renders a text of a post, or returns it from the render cache.
fn cached(
    renderer: &SiteRenderer,
    settings: &Settings,
    (source, text): (CachedText, &str),
    post: &Post,
    options: &RenderOptions<'_>,
    run: impl FnOnce(&mut RenderContext<'_>) -> Html,
) -> Html {
    let theme = renderer.site.theme(options.cx, settings);
    let run = |images: &dyn Images| with_context(settings, &theme, post, options, images, run);
    if options.dynamic.is_some() || options.before.is_some() {
        return run(options.images);
    }
    renderer.render_cache.get_or_render(
        source,
        text,
        &RenderInputs {
            theme: &theme,
            options: &settings.texts,
            images: options.images,
            transport: options.cx.transport(),
        },
        run,
    )
}

/// Calls `run` with a render context for this site and post. Embeds are not fetched.
fn with_context<T>(
    settings: &Settings,
    theme: &ActiveTheme,
    post: &Post,
    options: &RenderOptions<'_>,
    images: &dyn Images,
    run: impl FnOnce(&mut RenderContext<'_>) -> T,
) -> T {
    let _span = tracing::info_span!(target: TARGET, "rendering").entered();
    let dynamic = TextBlocks(options.dynamic.unwrap_or(&StaticOnly));
    let shortcodes = options.images.shortcodes();
    let shortcodes = shortcodes.as_ref().unwrap_or_else(|| standard_shortcodes());
    let mut context = RenderContext::new(Renderer::new(&theme.blocks, &dynamic), shortcodes);
    let mut page = options.page.lock().unwrap_or_else(PoisonError::into_inner);
    context.page = std::mem::take(&mut *page);
    context.page.post.set(u64::try_from(post.id.0).unwrap_or_default());
    context.images = Some(images);
    context.before = options.before.as_deref();
    context.root.clone_from(&options.root);
    with_options(context, settings, |context| {
        let n_numbers = context.page.n_numbers();
        let out = run(context);
        if context.page.n_numbers() > n_numbers {
            options.cx.depends_on_request();
        }
        *page = std::mem::take(&mut context.page);
        out
    })
}

/// Calls `run` with the site's text options applied to the context.
fn with_options<'r, T>(
    mut context: RenderContext<'r>,
    settings: &'r Settings,
    run: impl FnOnce(&mut RenderContext<'r>) -> T,
) -> T {
    settings.texts.apply(&mut context);
    run(&mut context)
}

/// A title.
pub fn title(raw: &str) -> Html {
    display::render_title(raw)
}

/// A text of a menu item as its link shows it: typography without tags. Source: `nav_menu_attr_title`,
/// `nav_menu_description`.
pub fn menu_item_text(raw: &str) -> String {
    svc_text::strip_tags(&svc_content::texturize(raw, display::standard_shortcodes()))
}

/// The description of a menu item: the first words of its content. Source: `wp_setup_nav_menu_item`.
pub fn menu_item_description(content: &str) -> String {
    const WORDS: usize = 200;
    menu_item_text(&svc_content::excerpt::trim_words(content, WORDS, "&hellip;"))
}

/// A post's content.
pub fn content(renderer: &SiteRenderer, settings: &Settings, post: &Post, options: &RenderOptions<'_>) -> Html {
    cached(renderer, settings, (CachedText::Content, &post.content), post, options, |context| {
        display::render_content(&post.content, context)
    })
}

/// A post's excerpt: the manual one, or one of at most `words` words generated from the content.
pub fn excerpt(
    renderer: &SiteRenderer,
    settings: &Settings,
    post: &Post,
    options: &RenderOptions<'_>,
    words: usize,
) -> Html {
    let of = match display::is_empty_excerpt(&post.excerpt) {
        true => (CachedText::Generated(words), post.content.as_str()),
        false => (CachedText::Manual, post.excerpt.as_str()),
    };
    cached(renderer, settings, of, post, options, |context| {
        context.excerpt_length = words;
        display::render_excerpt(&post.excerpt, &post.content, context)
    })
}

/// The blocks of a widget, dynamic blocks included.
pub fn widget_blocks(cx: &Context, site: &Site, settings: &Settings, text: &str, dynamic: &dyn DynamicBlocks) -> Html {
    let (images, page) = (SiteImages::default(), Mutex::default());
    let options = RenderOptions { dynamic: Some(dynamic), ..RenderOptions::new(cx, &images, &page) };
    with_context(settings, &site.theme(cx, settings), &Post::default(), &options, &images, |context| {
        display::render_widget_blocks(text, context)
    })
}

/// The editor in which a text widget's text was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WidgetText {
    /// The visual editor. The text is rendered like a post's content.
    Visual,
    /// The HTML editor.
    Html {
        /// Whether blank lines become paragraphs.
        paragraphs: bool,
    },
}

/// The text of a text widget.
pub fn widget_text(cx: &Context, site: &Site, settings: &Settings, text: &str, written: WidgetText) -> Html {
    let (images, page) = (SiteImages::default(), Mutex::default());
    let options = RenderOptions::new(cx, &images, &page);
    with_context(settings, &site.theme(cx, settings), &Post::default(), &options, &images, |context| match written {
        WidgetText::Visual => display::render_widget_text(text, context),
        WidgetText::Html { paragraphs } => display::render_plain_widget_text(text, paragraphs, context),
    })
}
