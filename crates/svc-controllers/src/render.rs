//! Texts of the site: for display, and on their way into the store.
//!
//! What the rules of `svc-content` ask of a site (its theme's gaps, whether smilies become pictures, its own host) is
//! filled in here, and only here.

use svc_content::{
    RenderContext,
    blocks::{DynamicBlocks, Renderer, StaticOnly},
    display::{self, TextBlocks, standard_shortcodes},
    links, save,
};
use svc_model::Post;

use crate::{Settings, Site};

/// What links of strangers are marked with.
const STRANGERS: &str = "nofollow ugc";

/// Runs a rendering with what this site has. Images and embeds are shown as far as their own text goes, and so are blocks
/// that ask the store, unless they are given.
fn with_context<T>(
    site: &Site,
    settings: &Settings,
    post: &Post,
    dynamic: &dyn DynamicBlocks,
    run: impl FnOnce(&mut RenderContext<'_>) -> T,
) -> T {
    let theme = site.theme(settings);
    let dynamic = TextBlocks(dynamic);
    let context = RenderContext::new(Renderer::new(&theme.blocks, &dynamic), standard_shortcodes());
    context.page.post.set(u64::try_from(post.id.0).unwrap_or_default());
    with_options(context, settings, run)
}

/// Fills in what the options say.
fn with_options<'r, T>(
    mut context: RenderContext<'r>,
    settings: &'r Settings,
    run: impl FnOnce(&mut RenderContext<'r>) -> T,
) -> T {
    context.smilies = svc_php::cast::truthy(&settings.option("use_smilies").into());
    context.smilies_url = &settings.smilies_url;
    context.own_host = host(settings.option("home"));
    run(&mut context)
}

/// The host of an address, with its port.
pub(crate) fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// A title as HTML.
pub fn title(raw: &str) -> String {
    display::render_title(raw)
}

/// A post's content as HTML, as far as it can be told without a look into the store.
pub fn content(site: &Site, settings: &Settings, post: &Post) -> String {
    content_with(site, settings, post, &StaticOnly)
}

/// A post's excerpt as HTML: the one written, or one of this many words made of the content.
pub fn excerpt(site: &Site, settings: &Settings, post: &Post, words: usize) -> String {
    excerpt_with(site, settings, post, words, &StaticOnly)
}

/// [`content`] with blocks that ask the store.
pub(crate) fn content_with(site: &Site, settings: &Settings, post: &Post, dynamic: &dyn DynamicBlocks) -> String {
    with_context(site, settings, post, dynamic, |context| display::render_content(&post.content, context))
}

/// [`excerpt`] with blocks that ask the store.
pub(crate) fn excerpt_with(
    site: &Site,
    settings: &Settings,
    post: &Post,
    words: usize,
    dynamic: &dyn DynamicBlocks,
) -> String {
    with_context(site, settings, post, dynamic, |context| {
        context.excerpt_length = words;
        display::render_excerpt(&post.excerpt, &post.content, context)
    })
}

/// A comment as HTML.
pub fn comment(settings: &Settings, raw: &str) -> String {
    with_options(RenderContext::default(), settings, |context| display::render_comment(raw, context))
}

/// A title as it is stored. `filtered` is for those who may not use any HTML.
pub(crate) fn save_title(text: &str, filtered: bool) -> String {
    save::title(text, filtered)
}

/// Content as it is stored.
pub(crate) fn save_content(text: &str, filtered: bool) -> String {
    save::content(text, filtered)
}

/// An excerpt as it is stored.
pub(crate) fn save_excerpt(text: &str, filtered: bool) -> String {
    save::excerpt(text, filtered)
}

/// A comment as it is stored: links of strangers lend no weight.
pub(crate) fn save_comment(settings: &Settings, text: &str, filtered: bool) -> String {
    links::add_rel(&save::comment_content(text, filtered), STRANGERS, host(settings.option("home")))
}

/// A term's name as it is stored.
pub(crate) fn save_term_name(text: &str) -> String {
    save::term_name(text)
}

/// A term's description as it is stored.
pub(crate) fn save_term_description(text: &str) -> String {
    save::term_description(text)
}

/// A name of a user as it is stored: as that of a term.
pub(crate) fn save_user_name(text: &str) -> String {
    save::term_name(text)
}

/// What a user says of himself, as it is stored: the little HTML that anybody may use.
pub(crate) fn save_user_description(text: &str) -> String {
    save::user_description(text)
}
