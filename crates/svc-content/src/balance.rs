//! Closes unclosed elements and removes unmatched closing tags.

use std::{borrow::Cow, collections::HashMap};

use crate::markup::{find, skip_white};

/// Void elements.
const VOID_ELEMENTS: [&str; 17] = [
    "area", "base", "basefont", "br", "col", "command", "embed", "frame", "hr", "img", "input", "isindex", "link",
    "meta", "param", "source", "track",
];
/// Elements that may be nested in an element of the same name.
const NESTABLE: [&str; 10] =
    ["article", "aside", "blockquote", "details", "div", "figure", "object", "q", "section", "span"];

struct Tag<'t> {
    start: usize,
    end: usize,
    closing: bool,
    name: &'t str,
    space: &'t str,
    /// Trimmed; includes the slash of a self-closing tag.
    attributes: &'t str,
}

/// Balances the tags of HTML. Source: `force_balance_tags`.
pub fn balance_tags(html: &str) -> String {
    let html = escape_lone_less_than(&html.replace("< !--", "<    !--"));
    let mut out = String::with_capacity(html.len() + 64);
    let mut open: Vec<String> = Vec::new();
    // The number of open elements by name, so that unmatched closing tags are found without a search.
    let mut n_open: HashMap<String, usize> = HashMap::new();
    let (mut copied, mut from) = (0, 0);
    // Closing tags to insert before the text that follows the current tag.
    let mut queue = String::new();
    while let Some(tag) = next_tag(&html, from) {
        let text = std::mem::take(&mut queue);
        out.push_str(&text);
        out.push_str(&html[copied..tag.start]);
        (copied, from) = (tag.end, tag.end);
        let name = tag.name.to_ascii_lowercase();
        if tag.closing {
            if open.last() == Some(&name) {
                close(&mut open, &mut n_open, &mut out);
            } else if n_open.get(&name).is_some_and(|n| *n > 0) {
                while open.last().is_some_and(|last| *last != name) {
                    close(&mut open, &mut n_open, &mut queue);
                }
                close(&mut open, &mut n_open, &mut queue);
            }
            continue;
        }
        let single = VOID_ELEMENTS.contains(&name.as_str()) || name == "wbr";
        let mut space = tag.space;
        let mut attributes = Cow::Borrowed(tag.attributes);
        if let Some(bare) = tag.attributes.strip_suffix('/') {
            if single {
                space = " ";
            } else {
                attributes = format!("{}></{name}", svc_text::trim(bare)).into();
            }
        } else if single {
            space = " ";
            attributes = format!("{attributes}/").into();
        } else {
            if open.last() == Some(&name) && !NESTABLE.contains(&name.as_str()) {
                close(&mut open, &mut n_open, &mut queue);
            }
            open.push(name.clone());
            *n_open.entry(name.clone()).or_default() += 1;
        }
        let target = if queue.is_empty() { &mut out } else { &mut queue };
        target.push_str(&format!("<{name}{space}{attributes}>"));
    }
    out.push_str(&queue);
    out.push_str(&html[copied..]);
    while !open.is_empty() {
        close(&mut open, &mut n_open, &mut out);
    }
    out.replace("< !--", "<!--").replace("<    !--", "< !--")
}

fn close(open: &mut Vec<String>, n_open: &mut HashMap<String, usize>, out: &mut String) {
    if let Some(name) = open.pop() {
        out.push_str(&format!("</{name}>"));
        if let Some(n) = n_open.get_mut(&name) {
            *n -= 1;
        }
    }
}

/// Escapes `<` before a digit, which starts no tag.
fn escape_lone_less_than(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        out.push_str(if rest.starts_with(|c: char| c.is_ascii_digit()) { "&lt;" } else { "<" });
    }
    out.push_str(rest);
    out
}

fn next_tag(html: &str, mut from: usize) -> Option<Tag<'_>> {
    loop {
        let start = find(html, from, "<")?;
        from = start + 1;
        let closing = html[from..].starts_with('/');
        let name = from + usize::from(closing);
        for len in [custom_name(&html[name..]), plain_name(&html[name..])].into_iter().flatten() {
            let end = name + len;
            let after = skip_white(html, end);
            let slash = usize::from(html[after..].starts_with('/'));
            let (space, attributes, end) = if html[after + slash..].starts_with('>') {
                // White space before the end is removed.
                ("", &html[after..after + slash], after + slash + 1)
            } else if after > end {
                let close = find(html, after, ">")?;
                (&html[end..after], svc_text::trim(&html[after..close]), close + 1)
            } else {
                continue;
            };
            return Some(Tag { start, end, closing, name: &html[name..name + len], space, attributes });
        }
    }
}

/// Length of a custom element's name: lowercase, with a hyphen.
fn custom_name(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let member = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_');
    bytes.first().filter(|b| b.is_ascii_lowercase())?;
    let hyphen = bytes.iter().position(|b| !member(b)).filter(|n| bytes[*n] == b'-')?;
    let len = bytes[hyphen + 1..].iter().take_while(|b| member(b) || **b == b'-').count();
    (len > 0).then_some(hyphen + 1 + len)
}

fn plain_name(text: &str) -> Option<usize> {
    let len = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':')).count();
    (len > 0).then_some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balances() {
        for (html, expected) in [
            ("<b><i>x</b>", "<b><i>x</i></b>"),
            ("<p>Test", "<p>Test</p>"),
            ("</p>x", "x"),
            ("<br><hr/><img src=x>", "<br /><hr /><img src=x/>"),
            ("<p>a<p>b", "<p>a</p><p>b</p>"),
            ("<div>a<div>b</div>", "<div>a<div>b</div></div>"),
            ("I <3 you <b>", "I &lt;3 you <b></b>"),
            ("<!-- x --><A>y", "<!-- x --><a>y</a>"),
            ("<my-el a=\"b\"/>", "<my-el a=\"b\"></my-el>"),
            ("<MY-EL>", "<MY-EL>"),
            ("<em />", "<em></em>"),
            ("< b>", "< b>"),
            ("<a b", "<a b"),
        ] {
            assert_eq!(balance_tags(html), expected, "{html}");
        }
    }

    #[test]
    fn deep_and_unbalanced_stays_linear() {
        let open = "<i><b>".repeat(50_000);
        assert!(balance_tags(&format!("{open}{}", "</x>".repeat(50_000))).len() > open.len());
        assert!(balance_tags(&"<a ".repeat(100_000)).len() >= 300_000);
    }
}
