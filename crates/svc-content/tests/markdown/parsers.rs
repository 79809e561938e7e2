//! What two parsers find in Markdown.

use markdown::{Constructs, ParseOptions, mdast::Node};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What readers see of a document.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Shown {
    /// The text with white space folded.
    pub(crate) text: String,
    /// Destinations of links and images, in order.
    pub(crate) urls: Vec<String>,
    /// Raw HTML.
    pub(crate) html: Vec<String>,
}

/// Folds white space, and leaves out control characters.
pub(crate) fn folded(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0C'), "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn by_pulldown(markdown: &str) -> Shown {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut shown = Shown::default();
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(text) | Event::Code(text) => shown.text.push_str(&text),
            Event::Html(html) | Event::InlineHtml(html) => shown.html.push(html.into_string()),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                shown.urls.push(dest_url.into_string());
            }
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough)
            | Event::End(TagEnd::Link | TagEnd::Image | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough) => {}
            Event::Start(Tag::FootnoteDefinition(_) | Tag::MetadataBlock(_))
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => shown.text.push_str(" not text "),
            _ => shown.text.push(' '),
        }
    }
    shown.text = folded(&shown.text);
    shown
}

pub(crate) fn by_markdown(markdown: &str) -> Shown {
    // Bare URLs in text are links in GitHub's extension, whatever is escaped.
    with_constructs(markdown, Constructs { gfm_autolink_literal: false, ..Constructs::gfm() })
}

/// Raw HTML, if bare URLs in text are links.
pub(crate) fn html_with_bare_links(markdown: &str) -> Vec<String> {
    with_constructs(markdown, Constructs::gfm()).html
}

fn with_constructs(markdown: &str, constructs: Constructs) -> Shown {
    let constructs = Constructs { frontmatter: true, ..constructs };
    let tree = markdown::to_mdast(markdown, &ParseOptions { constructs, ..ParseOptions::default() }).unwrap();
    let mut shown = Shown::default();
    add(&tree, &mut shown);
    shown.text = folded(&shown.text);
    shown
}

fn add(node: &Node, shown: &mut Shown) {
    let is_inline = match node {
        Node::Text(text) => {
            shown.text.push_str(&text.value);
            true
        }
        Node::InlineCode(code) => {
            shown.text.push_str(&code.value);
            true
        }
        Node::Code(code) => {
            shown.text.push_str(&format!(" {} ", code.value));
            false
        }
        Node::Html(html) => {
            shown.html.push(html.value.clone());
            true
        }
        Node::Link(link) => {
            shown.urls.push(link.url.clone());
            true
        }
        Node::Image(image) => {
            shown.urls.push(image.url.clone());
            shown.text.push_str(&image.alt);
            true
        }
        Node::Emphasis(_) | Node::Strong(_) | Node::Delete(_) => true,
        Node::FootnoteReference(_)
        | Node::FootnoteDefinition(_)
        | Node::Definition(_)
        | Node::Yaml(_)
        | Node::Toml(_) => {
            shown.text.push_str(" not text ");
            false
        }
        _ => false,
    };
    if !is_inline {
        shown.text.push(' ');
    }
    node.children().into_iter().flatten().for_each(|child| add(child, shown));
    if !is_inline {
        shown.text.push(' ');
    }
}
