//! Parses HTML to a tree of bounded depth.
//!
//! Tags are found as the HTML standard's tokenizer finds them. An element ends with its end tag, with the element around it, or where the
//! next one of its kind begins. The standard's rules for misnested elements are not followed: they change the structure, not which text is
//! shown.

use svc_text::decode_references;

use crate::tags::{ElementEvent, RAW_TEXT, Tag, Tags, VOID};

/// Maximum number of open elements. Those further inside are replaced by their contents.
const MAX_OPEN: usize = 128;

/// Elements whose contents are not shown, besides those whose content is text for the tokenizer, such as scripts.
const HIDDEN: [&str; 13] = [
    "audio", "button", "canvas", "datalist", "form", "map", "math", "noscript", "object", "select", "svg", "template",
    "video",
];

pub(super) enum Node {
    /// Text with its references decoded.
    Text(String),
    Element(Element),
}

pub(super) struct Element {
    /// The name in lower case.
    pub(super) name: String,
    pub(super) attributes: Attributes,
    /// Empty for elements whose contents are not shown.
    pub(super) children: Vec<Node>,
}

/// The attributes that Markdown has a place for, decoded.
#[derive(Default)]
pub(super) struct Attributes {
    /// `href` of a link, `src` of an image or of embedded media.
    pub(super) url: Option<String>,
    /// `alt` of an image, `title` of embedded media.
    pub(super) label: Option<String>,
    /// `class` of code.
    pub(super) class: Option<String>,
    /// `start` of a list.
    pub(super) start: Option<String>,
}

impl Attributes {
    fn of(name: &str, tag: &Tag, html: &str) -> Self {
        let value = |attribute: &str| tag.value(html, attribute).map(decode_references);
        let none = Attributes::default();
        match name {
            "a" => Attributes { url: value("href"), ..none },
            "img" => Attributes { url: value("src"), label: value("alt"), ..none },
            "iframe" | "embed" | "audio" | "video" => Attributes { url: value("src"), label: value("title"), ..none },
            "pre" | "code" => Attributes { class: value("class"), ..none },
            "ol" => Attributes { start: value("start"), ..none },
            _ => none,
        }
    }
}

/// Parses HTML. Comments, and a tag that is not complete, are left out.
pub(super) fn parse(html: &str) -> Vec<Node> {
    let mut tree = Tree { root: Vec::new(), open: Vec::new() };
    let mut tags = Tags::new(html);
    let mut at = 0;
    while let Some(event) = tags.next_element() {
        let start = match &event {
            ElementEvent::Open(tag) => tag.start(),
            ElementEvent::Close { start, .. } | ElementEvent::Other { start } => *start,
        };
        tree.text(html.get(at..start).unwrap_or_default());
        at = tags.position();
        match event {
            ElementEvent::Open(tag) => tree.open(html, &tag),
            ElementEvent::Close { name, .. } => tree.close(&name.to_ascii_lowercase()),
            ElementEvent::Other { .. } => {}
        }
    }
    tree.text(html.get(at..).unwrap_or_default());
    tree.close_from(0);
    tree.root
}

struct Tree {
    root: Vec<Node>,
    open: Vec<Element>,
}

impl Tree {
    fn text(&mut self, html: &str) {
        if !html.is_empty() {
            self.push(Node::Text(decode_references(html)));
        }
    }

    fn push(&mut self, node: Node) {
        self.open.last_mut().map_or(&mut self.root, |parent| &mut parent.children).push(node);
    }

    fn open(&mut self, html: &str, tag: &Tag) {
        let name = tag.name(html).to_ascii_lowercase();
        self.close_before(&name);
        let is_empty = VOID.contains(&name.as_str()) || RAW_TEXT.contains(&name.as_str());
        let is_hidden = HIDDEN.contains(&name.as_str());
        let element = Element { attributes: Attributes::of(&name, tag, html), name, children: Vec::new() };
        if is_empty {
            self.push(Node::Element(element));
        } else if self.open.len() < MAX_OPEN + usize::from(is_hidden) {
            self.open.push(element);
        }
    }

    /// Closes the elements that end where one with this name begins.
    fn close_before(&mut self, name: &str) {
        let (ended, around): (&[&str], &[&str]) = match name {
            "li" => (&["li"], &["ul", "ol"]),
            "dt" | "dd" => (&["dt", "dd"], &["dl"]),
            "td" | "th" => (&["td", "th"], &["tr", "table"]),
            "tr" => (&["tr"], &["table"]),
            _ => return,
        };
        let found = self.open.iter().enumerate().rev().find_map(|(at, open)| {
            let is_ended = ended.contains(&open.name.as_str());
            (is_ended || around.contains(&open.name.as_str())).then_some((at, is_ended))
        });
        if let Some((at, true)) = found {
            self.close_from(at);
        }
    }

    /// Closes the innermost element with this name, and those in it. An end tag without an element is ignored.
    fn close(&mut self, name: &str) {
        if let Some(at) = self.open.iter().rposition(|open| open.name == name) {
            self.close_from(at);
        }
    }

    fn close_from(&mut self, at: usize) {
        while self.open.len() > at {
            let Some(mut element) = self.open.pop() else { return };
            if HIDDEN.contains(&element.name.as_str()) {
                element.children.clear();
            }
            self.push(Node::Element(element));
        }
    }
}
