//! The text of HTML, for indexing and excerpts of searches.

use crate::entities::decode_references;

/// Elements that are parts of words.
const INLINE: [&str; 20] = [
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "i", "ins", "mark", "s", "small", "span",
    "strong", "sub", "sup", "u",
];

/// Elements whose contents are not text.
const HIDDEN: [&str; 4] = ["script", "style", "template", "noscript"];

/// The text that a reader of HTML sees: without tags, comments and the contents of scripts and styles, with character references
/// decoded. Tags that begin or end a block separate words. The result is plain text, which must be escaped in HTML.
pub fn plain_text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        out.push_str(text);
        if let Some(comment) = tag.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let name_at = if tag.starts_with("</") { 2 } else { 1 };
        let name = &tag[name_at..];
        let name = &name[..name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len())];
        let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic()) || tag.starts_with("<!");
        if !is_tag {
            out.push('<');
            rest = &tag[1..];
            continue;
        }
        let Some(end) = tag_end(tag) else {
            // No tag ends from here on.
            rest = tag;
            break;
        };
        rest = &tag[end..];
        if !INLINE.iter().any(|inline| inline.eq_ignore_ascii_case(name)) {
            out.push(' ');
        }
        if name_at == 1
            && let Some(hidden) = HIDDEN.iter().find(|hidden| hidden.eq_ignore_ascii_case(name))
        {
            // An element without an end hides the rest, as in browsers.
            rest = after_end_tag(rest, hidden).unwrap_or_default();
        }
    }
    out.push_str(rest);
    if out.contains('&') { decode_references(&out) } else { out }
}

/// Where a tag ends; quoted values of attributes may contain `>`.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    // A quote that is not closed.
    tag.find('>').map(|at| at + 1)
}

/// What follows the end tag of an element.
fn after_end_tag<'a>(html: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = html;
    loop {
        rest = &rest[rest.find("</")? + 2..];
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return Some(rest.find('>').map_or("", |end| &rest[end + 1..]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for (html, expected) in [
            ("", ""),
            ("a &amp; b &lt;i&gt; &#8217;", "a & b <i> ’"),
            ("<p>one</p><p>two</p>", " one  two "),
            ("<em>har</em>bour<br>x", "harbour x"),
            ("<!-- wp:x {\"a\":1} --><p title=\"a > b\">t</p><!-- /wp:x -->", " t "),
            ("<script>x < y</script>z<STYLE>q</sTyle >w", " z w"),
            ("a <script>b", "a  "),
            ("1 < 2 > 0 <3", "1 < 2 > 0 <3"),
            ("a <!-- b", "a "),
            ("<a href=\"x>y", "y"),
            ("<p", "<p"),
            ("é<p é>ü", "é ü"),
            ("<p <b x", "<p <b x"),
        ] {
            assert_eq!(plain_text(html), expected, "{html}");
        }
        // Linear, whatever is opened and not closed.
        for open in ["<", "<a \"", "<!--", "<script>", "</", "<p>", "&"] {
            plain_text(&open.repeat(20_000));
        }
    }
}
