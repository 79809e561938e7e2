//! Random HTML of which the visible text and the URLs are known.

use proptest::prelude::*;

use crate::parsers::folded;

#[derive(Debug, Clone)]
pub(crate) enum Html {
    Text(String),
    /// A name, attributes, and contents.
    Element(&'static str, Vec<(&'static str, String)>, Vec<Html>),
}

const INLINE: [&str; 14] =
    ["strong", "b", "em", "i", "del", "s", "a", "code", "kbd", "span", "sup", "cite", "unknown", "q"];
const BLOCKS: [&str; 18] = [
    "p",
    "div",
    "h1",
    "h2",
    "h6",
    "pre",
    "blockquote",
    "ul",
    "ol",
    "table",
    "tr",
    "td",
    "li",
    "figure",
    "figcaption",
    "dl",
    "dt",
    "section",
];
const HIDDEN: [&str; 5] = ["noscript", "form", "svg", "button", "template"];
const RAW: [&str; 4] = ["script", "style", "textarea", "iframe"];
const EMPTY: [&str; 3] = ["br", "hr", "img"];

/// Parts of hostile texts.
#[rustfmt::skip]
const PARTS: [&str; 68] = [
    "`", "``", "```", "~", "~~", "~~~", "|", "<", ">", "&", "\\", "[", "]", "(", ")", "*", "**", "_", "#", "##", "-", "---", "+", "=",
    "===", ":", ":--", "!", "\r", "\n", "\r\n", "\n\n", "\t", " ", "    ", "\u{a0}", "\u{2003}", "http://x.example/", "https://",
    "www.x.example", "a@b.example", "<script>", "</script>", "<b onclick=x>", "<!--", "-->", "<http://x.example>", "&lt;", "&amp;lt;",
    "&#60;", "&nbsp;", "&copy", "1.", "2)", "1", "x", "é", "字", "“", "🦔", "](javascript:x)", "[x]: /u", "[^1]", "[ ]", "\u{b}", "\u{c}",
    "\"", "'",
];

const URLS: [&str; 17] = [
    "http://a.example/",
    "https://b.example/x?y=1&z=2",
    "/a/b",
    "#c",
    "mailto:a@b.example",
    "javascript:alert(1)",
    "java\nscript:x",
    "data:text/html,x",
    "/a b",
    "/a)b(",
    "/<script>",
    "/a|b",
    "/`x`",
    "/a\\b",
    "/a&lt;b&#41;",
    "//x.example/[1]_*~~",
    "",
];

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![8 => prop::sample::select(&PARTS[..]), 3 => Just("x"), 2 => Just(" ")];
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}

fn attributes(name: &'static str) -> BoxedStrategy<Vec<(&'static str, String)>> {
    let url = || prop::sample::select(&URLS[..]).prop_map(str::to_owned);
    match name {
        "a" => url().prop_map(|url| vec![("href", url)]).boxed(),
        "img" => (url(), text()).prop_map(|(url, alt)| vec![("src", url), ("alt", alt)]).boxed(),
        "iframe" => (url(), text()).prop_map(|(url, title)| vec![("src", url), ("title", title)]).boxed(),
        "ol" => prop::sample::select(vec!["1", "7", "0", "-3", "99999999999", "x"])
            .prop_map(|start| vec![("start", start.to_owned())])
            .boxed(),
        "pre" | "code" => text().prop_map(|name| vec![("class", format!("language-{name}"))]).boxed(),
        _ => Just(Vec::new()).boxed(),
    }
}

fn element(name: &'static str, contents: impl Strategy<Value = Vec<Html>> + 'static) -> BoxedStrategy<Html> {
    (attributes(name), contents)
        .prop_map(move |(attributes, contents)| Html::Element(name, attributes, contents))
        .boxed()
}

/// Elements with random contents.
pub(crate) fn nodes() -> impl Strategy<Value = Vec<Html>> {
    let leaf = prop_oneof![
        6 => text().prop_map(Html::Text),
        2 => prop::sample::select(&EMPTY[..]).prop_flat_map(|name| element(name, Just(Vec::new()))),
        1 => prop::sample::select(&RAW[..])
            .prop_flat_map(|name| element(name, Just(vec![Html::Text("hidden".to_owned())]))),
    ];
    let node = leaf.prop_recursive(5, 40, 5, |inner| {
        let contents = || prop::collection::vec(inner.clone(), 0..5);
        let within = {
            let inner = inner.clone();
            move |names: &'static [&'static str]| {
                let inner = inner.clone();
                prop::sample::select(names)
                    .prop_flat_map(move |name| element(name, prop::collection::vec(inner.clone(), 0..5)))
            }
        };
        let cells = prop::collection::vec(element("td", contents()), 1..4);
        let rows = prop::collection::vec(element("tr", cells), 1..4);
        let items = || prop::collection::vec(element("li", contents()), 1..4);
        prop_oneof![
            6 => within(&INLINE),
            5 => within(&BLOCKS[..9]),
            1 => within(&HIDDEN),
            2 => element("table", rows),
            2 => element("ul", items()),
            1 => element("ol", items()),
        ]
    });
    prop::collection::vec(node, 1..5)
}

/// Markup that need not be well-formed.
pub(crate) fn fragments() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = [&INLINE[..], &BLOCKS, &HIDDEN, &RAW, &EMPTY].concat();
    let name = prop::sample::select(names);
    let fragment = prop_oneof![
        3 => prop::sample::select(&PARTS[..]).prop_map(str::to_owned),
        3 => text().prop_map(|text| escaped(&text)),
        5 => (name.clone().prop_flat_map(|name| (Just(name), attributes(name))))
            .prop_map(|(name, attributes)| open_tag(name, &attributes)),
        4 => name.prop_map(|name| format!("</{name}>")),
    ];
    prop::collection::vec(fragment, 1..25).prop_map(|fragments| fragments.concat())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn open_tag(name: &str, attributes: &[(&str, String)]) -> String {
    let attributes: String = attributes.iter().map(|(name, value)| format!(" {name}=\"{}\"", escaped(value))).collect();
    format!("<{name}{attributes}>")
}

pub(crate) fn to_html(nodes: &[Html]) -> String {
    let mut out = String::new();
    for node in nodes {
        match node {
            Html::Text(text) => out.push_str(&escaped(text)),
            Html::Element(name, attributes, contents) => {
                out.push_str(&open_tag(name, attributes));
                if !EMPTY.contains(name) {
                    out.push_str(&format!("{}</{name}>", to_html(contents)));
                }
            }
        }
    }
    out
}

/// The text that a browser shows, with alternative texts, and titles of frames; white space is folded.
pub(crate) fn visible(nodes: &[Html]) -> String {
    let mut out = String::new();
    add(nodes, false, &mut out);
    folded(&out)
}

fn add(nodes: &[Html], in_code: bool, out: &mut String) {
    for node in nodes {
        match node {
            Html::Text(text) => out.push_str(text),
            Html::Element(name, attributes, contents) => {
                let value = |of: &str| attributes.iter().find(|(name, _)| *name == of).map_or("", |(_, value)| value);
                match *name {
                    "img" if !in_code => out.push_str(&folded(value("alt"))),
                    "iframe" if !in_code && is_safe(value("src")) => {
                        let label = if value("title").trim().is_empty() { value("src") } else { value("title") };
                        out.push_str(&format!(" {label} "));
                    }
                    name if HIDDEN.contains(&name) || RAW.contains(&name) => {}
                    "br" | "hr" => out.push(' '),
                    name => {
                        let separator = if BLOCKS.contains(&name) { " " } else { "" };
                        out.push_str(separator);
                        add(contents, in_code || matches!(name, "code" | "kbd" | "pre"), out);
                        out.push_str(separator);
                    }
                }
            }
        }
    }
}

/// Whether a URL of the generator may be in the Markdown.
pub(crate) fn is_safe(url: &str) -> bool {
    !url.is_empty() && !url.starts_with("java") && !url.starts_with("data")
}

/// A destination as compared: percent-encoded or not.
pub(crate) fn decoded(url: &str) -> String {
    percent_encoding::percent_decode_str(url).decode_utf8_lossy().into_owned()
}

/// All URLs that may be in Markdown.
pub(crate) fn safe_urls() -> Vec<String> {
    URLS.iter().filter(|url| is_safe(url)).map(|url| decoded(url)).collect()
}
