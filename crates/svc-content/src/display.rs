//! The display filters for titles, content, excerpts, comments and descriptions.

use std::{cell::Cell, fmt, sync::LazyLock};

use svc_text::Html;

use crate::{
    autop::autop,
    balance::balance_tags,
    block_render::{DynamicBlocks, Renderer, StaticOnly, Theme, excerpt_remove_blocks},
    blocks::{self, Block, BlockTypes, ContentRoot, has_blocks},
    clickable::{LinkRel, make_clickable},
    embeds::{EmbedLookup, autoembed, embed_shortcodes},
    excerpt::{EXCERPT_MORE, first_page, teaser, trim_words, without_footnotes},
    images::{Images, content_tags},
    markup::stored,
    shortcodes::{Page, Shortcodes, unautop},
    smilies::smilies,
    texturize::texturize,
};

pub use crate::shortcodes::standard_shortcodes;

/// The context of rendering. Use one for each response, so that numbers in ids are unique.
pub struct RenderContext<'r> {
    /// Renders blocks.
    pub renderer: Renderer<'r>,
    /// The registered shortcodes.
    pub shortcodes: &'r Shortcodes,
    /// State shared by all shortcodes of the response. Set the post id here before rendering a post.
    pub page: Page,
    /// Number of words in a generated excerpt.
    pub excerpt_length: usize,
    /// Whether smilies are converted to images (option `use_smilies`).
    pub smilies: bool,
    /// URL of the directory of smiley images, with a trailing slash.
    pub smilies_url: &'r str,
    /// The site's own host; links to it are not marked.
    pub own_host: &'r str,
    /// The attachments of images in content.
    pub images: Option<&'r dyn Images>,
    /// HTML before the content, such as an attachment's player. It may have shortcodes.
    pub before: Option<&'r str>,
    /// The root of the content, for block hooks.
    pub root: Option<ContentRoot>,
    /// Returns the cached embed HTML of a URL.
    pub embeds: EmbedLookup<'r>,
    depth: Cell<usize>,
}

static PLAIN_THEME: LazyLock<Theme> = LazyLock::new(Theme::default);

impl<'r> RenderContext<'r> {
    /// Creates a context with a renderer and shortcodes, and default settings otherwise.
    pub fn new(renderer: Renderer<'r>, shortcodes: &'r Shortcodes) -> Self {
        RenderContext {
            renderer,
            shortcodes,
            page: Page::default(),
            excerpt_length: 55,
            smilies: true,
            smilies_url: "",
            own_host: "",
            images: None,
            before: None,
            root: None,
            embeds: None,
            depth: Cell::new(0),
        }
    }

    fn smilies(&self, html: &str) -> String {
        if self.smilies { smilies(html, self.smilies_url) } else { html.to_owned() }
    }
}

impl Default for RenderContext<'_> {
    fn default() -> Self {
        RenderContext::new(Renderer::new(&PLAIN_THEME, &TextBlocks(&StaticOnly)), standard_shortcodes())
    }
}

impl fmt::Debug for RenderContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderContext")
            .field("renderer", &self.renderer)
            .field("shortcodes", self.shortcodes)
            .field("excerpt_length", &self.excerpt_length)
            .finish_non_exhaustive()
    }
}

/// Adds the blocks that depend only on their own text to other dynamic blocks: `core/shortcode`, whose text gets
/// paragraphs.
#[derive(Clone, Copy)]
pub struct TextBlocks<'d>(pub &'d dyn DynamicBlocks);

impl DynamicBlocks for TextBlocks<'_> {
    fn render(&self, renderer: &Renderer<'_>, block: &Block<'_>, content: &Html) -> Option<Html> {
        match block.name.as_deref() {
            Some("core/shortcode") => Some(stored(autop(content, true))),
            _ => self.0.render(renderer, block, content),
        }
    }

    fn renders_inner_blocks(&self, name: &str) -> bool {
        self.0.renders_inner_blocks(name)
    }

    fn types(&self) -> &BlockTypes {
        self.0.types()
    }

    fn bound(&self, block: &Block<'_>) -> serde_json::Map<String, serde_json::Value> {
        self.0.bound(block)
    }

    fn enter(&self, block: &Block<'_>) {
        self.0.enter(block);
    }

    fn leave(&self, block: &Block<'_>) {
        self.0.leave(block);
    }
}

impl fmt::Debug for TextBlocks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextBlocks")
    }
}

/// Renders a title. Source: filter `the_title`.
pub fn render_title(title: &str) -> Html {
    let title = convert_chars(&texturize(title, standard_shortcodes()));
    stored(svc_text::trim(&title).replace("Wordpress", "WordPress"))
}

/// Renders a short text with typography only, such as the site's title.
pub fn render_inline(text: &str) -> Html {
    stored(texturize(text, standard_shortcodes()))
}

/// Renders a post's content. Source: filter `the_content`.
pub fn render_content(content: &str, context: &RenderContext<'_>) -> Html {
    // Dynamic blocks may render other posts' content recursively.
    let depth = context.depth.get();
    if depth >= blocks::MAX_DEPTH {
        return Html::new();
    }
    context.depth.set(depth + 1);
    let html = content_filters(content, context, true);
    context.depth.set(depth);
    stored(html)
}

/// The content filters; without `whole`, for excerpts, without blocks and images.
fn content_filters(content: &str, context: &RenderContext<'_>, whole: bool) -> String {
    let mut html = with_embeds(content, context);
    let mut is_blocks = false;
    if whole {
        let parsed = context.renderer.parse(&html, context.root.as_ref());
        is_blocks = has_blocks(&html) || parsed.iter().any(|block| block.name.is_some());
        html = context.renderer.content(&parsed).into_string();
    }
    format_filters(&html, context, whole, !is_blocks)
}

/// Renders the content of a block widget: embeds, blocks, shortcodes and images. Source: filter `widget_block_content`.
pub fn render_widget_blocks(text: &str, context: &RenderContext<'_>) -> Html {
    let html = context.renderer.render(&blocks::parse(&with_embeds(text, context)));
    stored(content_tags(&context.shortcodes.run(&html, &context.page), context.images))
}

/// Renders the text of a text widget. Source: filter `widget_text_content`.
pub fn render_widget_text(text: &str, context: &RenderContext<'_>) -> Html {
    stored(format_filters(&with_embeds(text, context), context, true, true))
}

/// Renders the text of an HTML text widget: shortcodes, and optionally paragraphs. Source: `WP_Widget_Text::widget`.
pub fn render_plain_widget_text(text: &str, paragraphs: bool, context: &RenderContext<'_>) -> Html {
    let html = if paragraphs { unautop(&autop(text, true), context.shortcodes) } else { text.to_owned() };
    stored(context.shortcodes.run(&html, &context.page))
}

fn with_embeds(text: &str, context: &RenderContext<'_>) -> String {
    autoembed(&embed_shortcodes(text, &context.page, context.embeds), context.embeds)
}

fn format_filters(html: &str, context: &RenderContext<'_>, images: bool, paragraphs: bool) -> String {
    let mut html = texturize(html, context.shortcodes);
    if paragraphs {
        html = autop(&html, true);
    }
    html = unautop(&html, context.shortcodes);
    if let Some(before) = context.before {
        html = format!("{before}\n{html}");
    }
    html = context.shortcodes.run(&capital_p(&html), &context.page);
    if images {
        html = content_tags(&html, context.images);
    }
    context.smilies(&html)
}

/// Renders a post's `excerpt.rendered`: the manual excerpt, or one generated from the content.
///
/// Source: filters `get_the_excerpt` and `the_excerpt`.
pub fn render_excerpt(excerpt: &str, content: &str, context: &RenderContext<'_>) -> Html {
    if is_empty_excerpt(excerpt) {
        let generated = trim_excerpt(content, context.excerpt_length, context);
        return render_manual_excerpt(&generated, context);
    }
    render_manual_excerpt(excerpt, context)
}

/// Generates an excerpt from a post's content, as plain text with typography. Source: `wp_trim_excerpt`.
pub fn trim_excerpt(content: &str, n_words: usize, context: &RenderContext<'_>) -> Html {
    let text = teaser(first_page(content));
    let text = context.shortcodes.strip(&text);
    let text = excerpt_remove_blocks(&text, &context.renderer);
    let text = without_footnotes(&text);
    let text = content_filters(&text, context, false).replace("]]>", "]]&gt;");
    stored(trim_words(&text, n_words, EXCERPT_MORE))
}

/// Whether there is no manual excerpt, so that one is generated.
pub fn is_empty_excerpt(excerpt: &str) -> bool {
    svc_text::trim(excerpt).is_empty()
}

/// Renders a manual excerpt. Source: filter `the_excerpt`.
pub fn render_manual_excerpt(excerpt: &str, context: &RenderContext<'_>) -> Html {
    let html = context.smilies(&texturize(excerpt, context.shortcodes));
    let html = autop(&convert_chars(&html), true);
    stored(content_tags(&unautop(&html, context.shortcodes), context.images))
}

/// Renders a comment. Source: filter `comment_text`.
pub fn render_comment(text: &str, context: &RenderContext<'_>) -> Html {
    let html = make_clickable(text, LinkRel { own_host: context.own_host, ugc: true });
    let html = convert_chars(&texturize(&html, context.shortcodes));
    let html = autop(&balance_tags(&context.smilies(&html)), true);
    stored(capital_p(&html))
}

/// Renders a term's description. Source: filter `term_description`.
pub fn render_term_description(text: &str, context: &RenderContext<'_>) -> Html {
    let html = autop(&convert_chars(&texturize(text, context.shortcodes)), true);
    stored(unautop(&html, context.shortcodes))
}

/// Replaces ampersands that start no reference by `&#038;`. Source: `convert_chars`.
///
/// As in WordPress, the character after the ampersand is not checked as part of the name.
pub fn convert_chars(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at) = (0, 0);
    while let Some(amp) = crate::markup::find(text, at, "&") {
        at = amp + 1;
        let Some(first) = bytes.get(amp + 1).filter(|b| **b != b'#') else { continue };
        let name = bytes[amp + 2..].iter().take_while(|b| b.is_ascii_alphabetic() || matches!(b, b'1'..=b'4'));
        let len = name.take(9).count();
        if (1..=8).contains(&len) && bytes.get(amp + 2 + len) == Some(&b';') {
            continue;
        }
        out.push_str(&text[copied..amp]);
        out.push_str("&#038;");
        copied = amp + 1;
        // Skip the next character, even if it is an ampersand.
        at = amp + 1 + usize::from(*first == b'&');
    }
    out.push_str(&text[copied..]);
    out
}

/// Capitalizes the P of "WordPress" after a space, a bracket or a quote. Source: `capital_P_dangit`.
pub fn capital_p(text: &str) -> String {
    if !text.contains("Wordpress") {
        return text.to_owned();
    }
    let mut out = text.to_owned();
    for before in [" ", "&#8216;", "&#8220;", ">", "("] {
        out = out.replace(&format!("{before}Wordpress"), &format!("{before}WordPress"));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn titles() {
        for (title, expected) in [
            (" it's  Wordpress ", "it&#8217;s  WordPress"),
            ("a & b", "a &#038; b"),
            ("<b>x", "<b>x"),
            ("[gallery id='1']", "[gallery id='1']"),
        ] {
            assert_eq!(render_title(title), expected, "{title}");
        }
    }

    #[test]
    fn content() {
        for (content, expected) in [
            ("a\n\nb", "<p>a</p>\n<p>b</p>\n"),
            (
                "<!-- wp:paragraph -->\n<p>a\n'b'</p>\n<!-- /wp:paragraph -->",
                "\n<p class=\"wp-block-paragraph\">a\n&#8216;b&#8217;</p>\n",
            ),
            ("<!-- wp:shortcode -->a\n\nb<!-- /wp:shortcode -->", "<p>a</p>\n<p>b</p>\n"),
            (
                "[embed]http://e.com/?a=1&b=2[/embed]",
                "<p><a href=\"http://e.com/?a=1&#038;b=2\">http://e.com/?a=1&amp;b=2</a></p>\n",
            ),
            ("http://e.com/page?a=1&amp;b", "<p>http://e.com/page?a=1&#038;b</p>\n"),
            ("https://www.youtube.com/embed/abc", "<p>https://youtube.com/watch?v=abc</p>\n"),
            ("[caption width=\"100\"]x[/caption]", "x\n"),
            (
                "<img src=\"a\" width=\"1\" height=\"1\">",
                "<p><img loading=\"lazy\" decoding=\"async\" src=\"a\" width=\"1\" height=\"1\"></p>\n",
            ),
            ("Wordpress :)", "<p>WordPress 🙂</p>\n"),
        ] {
            assert_eq!(render_content(content, &RenderContext::default()), expected, "{content}");
        }
    }

    #[test]
    fn excerpts() {
        let context = RenderContext { excerpt_length: 3, ..RenderContext::default() };
        for (excerpt, content, expected) in [
            ("own <b>e</b>", "x", "<p>own <b>e</b></p>\n"),
            ("", "one [gallery] <b>two</b>\n\nthree four", "<p>one two three [&hellip;]</p>\n"),
            (" ", "a<!--more-->b", "<p>a</p>\n"),
            ("", "", ""),
        ] {
            assert_eq!(render_excerpt(excerpt, content, &context), expected, "{content}");
        }
    }

    #[test]
    fn ampersands() {
        for (text, expected) in [
            ("a & b &amp; &copy &a; &#1; &", "a &#038; b &amp; &#038;copy &#038;a; &#1; &"),
            ("& amp; &&amp; &&x", "& amp; &&amp; &#038;&x"),
        ] {
            assert_eq!(convert_chars(text), expected, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Random combinations of the tokens of all filters and of arbitrary text.
        #[test]
        fn no_text_panics(parts in proptest::collection::vec(prop_oneof![
            "[\\PC\n]{0,6}",
            proptest::sample::select(vec![
                "<p>", "</p>", "<li>", "<br>", "<!--", "-->", "<![CDATA[", "<pre>", "</pre>", "[gallery", "[caption width=5]",
                "[/caption]", "[[", "]]", "]", "<img src=\"", "\" width=\"1\" height=\"2\"", ">", "http://a.b/", "www.a", "a@b.co",
                "(", ")", "'", "\"", "99", "--", "x", "&", "&nbsp;", "&#91;", "\u{a0}", ":)", "<!-- wp:paragraph -->", "\r\n",
                "<!--more-->", "<!--nextpage-->", "[audio src=a.mp3]", "<sup data-fn=\"", "\\", "\\x", "=", "<script>", "<a ", "/",
            ]).prop_map(str::to_owned),
        ], 0..24)) {
            let text = parts.concat();
            let context = RenderContext::default();
            render_title(&text);
            render_content(&text, &context);
            render_excerpt("", &text, &context);
            render_excerpt(&text, "", &context);
            render_comment(&text, &context);
            render_term_description(&text, &context);
            context.shortcodes.strip(&text);
            crate::excerpt::html_excerpt(&text, 7, "");
            crate::links::add_rel(&text, "nofollow ugc", "a.b");
            crate::links::add_target(&text, "_blank", &[]);
        }
    }
}
