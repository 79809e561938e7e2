//! Paragraphs: blank lines become `<p>`, line breaks `<br />`, outside of block elements.
//!
//! The rules are applied one after the other to the whole text, each in linear time. No tree is built, so unbalanced
//! markup is preserved. As in WordPress, element names are recognized in lowercase only.

use crate::markup::{ForwardSearch, MarkupKind, find, html_split, is_white, skip_white, trim_white_end};

/// Elements that are not inside paragraphs.
const BLOCKS: [&str; 46] = [
    "table",
    "thead",
    "tfoot",
    "caption",
    "col",
    "colgroup",
    "tbody",
    "tr",
    "td",
    "th",
    "div",
    "dl",
    "dd",
    "dt",
    "ul",
    "ol",
    "li",
    "pre",
    "form",
    "map",
    "area",
    "blockquote",
    "address",
    "style",
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "fieldset",
    "legend",
    "section",
    "article",
    "aside",
    "hgroup",
    "header",
    "footer",
    "nav",
    "figure",
    "figcaption",
    "details",
    "menu",
    "summary",
];

/// Elements before whose tags line breaks are removed.
const BREAKS_BEFORE: [&str; 11] = ["p", "li", "div", "dl", "dd", "dt", "th", "pre", "td", "ul", "ol"];

/// Temporarily replaces line breaks inside tags.
const LINE_IN_TAG: &str = " <!-- wpnl --> ";

/// Converts paragraphs to HTML; `breaks` also converts single line breaks to `<br />`. Source: `wpautop`.
pub fn autop(text: &str, breaks: bool) -> String {
    if svc_text::trim(text).is_empty() {
        return String::new();
    }
    let (text, elements) = extract_preformatted(&format!("{text}\n"));
    let text = double_breaks(&text);
    let text = separate_blocks(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let text = hide_breaks_in_tags(&text);
    let text = remove_inner_space(text);
    let text = paragraphs(&text);
    let mut text = paragraphs_around_blocks(text);
    if breaks {
        text = line_breaks(&text);
    }
    text = breaks_around_blocks(&text);
    for end in ["\n</p>", "\n</p>\n"] {
        if text.ends_with(end) {
            text.remove(text.len() - end.len());
        }
    }
    let text = restore_preformatted(&text, &elements);
    if text.contains("<!-- wpnl -->") {
        return text.replace(LINE_IN_TAG, "\n").replace("<!-- wpnl -->", "\n");
    }
    text
}

/// The text during a rule, with cached positions of the next `>` and `]`.
struct RuleScan<'t> {
    text: &'t str,
    tag_ends: ForwardSearch<'t>,
    brackets: ForwardSearch<'t>,
}

impl<'t> RuleScan<'t> {
    /// The text from a position on.
    fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    /// The text after `<` or `</` at this position.
    fn tag_name(&self, at: usize) -> Option<&'t str> {
        let rest = self.rest(at).strip_prefix('<')?;
        Some(rest.strip_prefix('/').unwrap_or(rest))
    }

    /// The position after the next `>`.
    fn tag_end(&mut self, at: usize) -> Option<usize> {
        self.tag_ends.next(at).map(|end| end + 1)
    }

    /// The position after the next `>` or `]`.
    fn tag_or_bracket_end(&mut self, at: usize) -> Option<usize> {
        let ends = [self.tag_ends.next(at), self.brackets.next(at)];
        ends.into_iter().flatten().min().map(|end| end + 1)
    }

    /// The end of a tag with one of these names, which are compared as prefixes: `<link>` counts as a tag of `li`.
    fn tag_of(&mut self, at: usize, names: &[&str]) -> Option<usize> {
        let name = self.tag_name(at)?;
        names.iter().any(|known| name.starts_with(known)).then(|| self.tag_end(at)).flatten()
    }

    /// The position after white space.
    fn skip(&self, at: usize) -> usize {
        skip_white(self.text, at)
    }

    fn text(&self, from: usize, to: usize) -> String {
        self.text[from..to].to_owned()
    }
}

/// The result of a rule: the end of the match, and its replacement.
type RuleMatch = Option<(usize, String)>;

/// Applies a rule at each occurrence of one of the marks, from left to right.
fn rewrite(text: &str, marks: &[char], rule: impl FnMut(&mut RuleScan<'_>, usize) -> RuleMatch) -> String {
    apply_rule(text, marks, false, rule)
}

/// [`rewrite`], which also removes white space before matches.
fn rewrite_tight(text: &str, marks: &[char], rule: impl FnMut(&mut RuleScan<'_>, usize) -> RuleMatch) -> String {
    apply_rule(text, marks, true, rule)
}

fn apply_rule(
    text: &str,
    marks: &[char],
    tight: bool,
    mut rule: impl FnMut(&mut RuleScan<'_>, usize) -> RuleMatch,
) -> String {
    let mut scan = RuleScan { text, tag_ends: ForwardSearch::new(text, ">"), brackets: ForwardSearch::new(text, "]") };
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = text[from..].find(marks).map(|n| from + n) {
        match rule(&mut scan, at) {
            Some((end, by)) => {
                let before = &text[copied..at];
                out.push_str(if tight { trim_white_end(before) } else { before });
                out.push_str(&by);
                (copied, from) = (end, end);
            }
            None => from = at + 1,
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// Replaces `<pre>` elements by empty numbered ones, and returns them.
fn extract_preformatted(text: &str) -> (String, Vec<String>) {
    if !text.contains("<pre") {
        return (text.to_owned(), Vec::new());
    }
    let mut out = String::with_capacity(text.len());
    let mut elements = Vec::new();
    let mut rest = text;
    while let Some((part, after)) = rest.split_once("</pre>") {
        match part.find("<pre") {
            Some(start) => {
                out.push_str(&part[..start]);
                out.push_str(&placeholder(elements.len()));
                elements.push(format!("{}</pre>", &part[start..]));
            }
            // A closing tag without an opening one is removed.
            None => out.push_str(part),
        }
        rest = after;
    }
    out.push_str(rest);
    (out, elements)
}

const PLACEHOLDER: &str = "<pre wp-pre-tag-";

fn placeholder(n: usize) -> String {
    format!("{PLACEHOLDER}{n}></pre>")
}

fn restore_preformatted(text: &str, elements: &[String]) -> String {
    if elements.is_empty() {
        return text.to_owned();
    }
    rewrite(text, &['<'], |scan, at| {
        let rest = scan.rest(at).strip_prefix(PLACEHOLDER)?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let n: usize = rest[..digits].parse().ok()?;
        let own = placeholder(n);
        scan.rest(at).starts_with(&own).then_some((at + own.len(), elements.get(n)?.clone()))
    })
}

/// The position after white space, an optional slash and `>`.
fn void_end(scan: &RuleScan<'_>, at: usize) -> Option<usize> {
    let end = scan.skip(at);
    let end = end + usize::from(scan.rest(end).starts_with('/'));
    scan.rest(end).starts_with('>').then_some(end + 1)
}

/// Two `<br>` in a row separate paragraphs.
fn double_breaks(text: &str) -> String {
    let break_end =
        |scan: &RuleScan<'_>, at: usize| scan.rest(at).starts_with("<br").then(|| void_end(scan, at + 3)).flatten();
    rewrite(text, &['<'], |scan, at| {
        let second = scan.skip(break_end(scan, at)?);
        Some((break_end(scan, second)?, "\n\n".to_owned()))
    })
}

/// Adds blank lines before opening tags and after closing tags of block elements, and after `<hr>`.
fn separate_blocks(text: &str) -> String {
    let block = |name: &str, ends: fn(u8) -> bool| {
        let len = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let whole = BLOCKS.contains(&&name[..len]) && name.as_bytes().get(len).is_some_and(|b| ends(*b));
        whole.then_some(len)
    };
    let text = rewrite(text, &['<'], |scan, at| {
        let len = block(scan.rest(at + 1), |b| is_white(b) || matches!(b, b'/' | b'>'))?;
        let end = at + 1 + len + 1;
        Some((end, format!("\n\n{}", &scan.text[at..end])))
    });
    let text = rewrite(&text, &['<'], |scan, at| {
        let len = block(scan.rest(at).strip_prefix("</")?, |b| b == b'>')?;
        let end = at + 2 + len + 1;
        Some((end, format!("{}\n\n", &scan.text[at..end])))
    });
    rewrite(&text, &['<'], |scan, at| {
        let end = scan.rest(at).starts_with("<hr").then(|| void_end(scan, at + 3)).flatten()?;
        Some((end, format!("{}\n\n", &scan.text[at..end])))
    })
}

/// Hides line breaks inside tags and comments.
fn hide_breaks_in_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (kind, part) in html_split(text) {
        if kind == MarkupKind::Text || !part.contains('\n') {
            out.push_str(part);
        } else {
            out.push_str(&part.replace('\n', LINE_IN_TAG));
        }
    }
    out
}

/// Removes white space around the children of option lists, media players and objects, and around captions.
fn remove_inner_space(mut text: String) -> String {
    let exact = |scan: &RuleScan<'_>, at: usize, word: &str| scan.rest(at).starts_with(word).then(|| at + word.len());
    if text.contains("<option") {
        text = rewrite_tight(&text, &['<'], |scan, at| exact(scan, at, "<option").map(|end| (end, scan.text(at, end))));
        text = rewrite(&text, &['<'], |scan, at| {
            exact(scan, at, "</option>").map(|end| (scan.skip(end), scan.text(at, end)))
        });
    }
    if text.contains("</object>") {
        text = rewrite(&text, &['<'], |scan, at| {
            let end = exact(scan, at, "<object").and_then(|_| scan.tag_end(at))?;
            Some((scan.skip(end), scan.text(at, end)))
        });
        text =
            rewrite_tight(&text, &['<'], |scan, at| exact(scan, at, "</object>").map(|end| (end, scan.text(at, end))));
        text = rewrite_tight(&text, &['<'], |scan, at| {
            let end = scan.tag_of(at, &["param", "embed"])?;
            Some((scan.skip(end), scan.text(at, end)))
        });
    }
    if text.contains("<source") || text.contains("<track") {
        text = remove_space_in_players(&text);
    }
    if text.contains("<figcaption") {
        text = rewrite_tight(&text, &['<'], |scan, at| {
            let end = exact(scan, at, "<figcaption").and_then(|_| scan.tag_end(at))?;
            Some((end, scan.text(at, end)))
        });
        text = rewrite(&text, &['<'], |scan, at| {
            exact(scan, at, "</figcaption>").map(|end| (scan.skip(end), scan.text(at, end)))
        });
    }
    text
}

/// Removes white space around the children of media players, which are elements or shortcodes.
fn remove_space_in_players(text: &str) -> String {
    let is_player = |rest: &str| rest.starts_with("audio") || rest.starts_with("video");
    let text = rewrite(text, &['<', '['], |scan, at| {
        let end = is_player(scan.rest(at + 1)).then(|| scan.tag_or_bracket_end(at)).flatten()?;
        Some((scan.skip(end), scan.text(at, end)))
    });
    let text = rewrite_tight(&text, &['<', '['], |scan, at| {
        let name = scan.rest(at + 1).strip_prefix('/')?;
        (is_player(name) && name[5..].starts_with(['>', ']'])).then(|| (at + 8, scan.text(at, at + 8)))
    });
    rewrite_tight(&text, &['<'], |scan, at| {
        let end = if scan.rest(at).starts_with("</") { None } else { scan.tag_of(at, &["source", "track"]) }?;
        Some((scan.skip(end), scan.text(at, end)))
    })
}

/// Wraps each run of text between blank lines in a paragraph.
fn paragraphs(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut add = |part: &str| {
        if !part.is_empty() {
            out.push_str("<p>");
            out.push_str(part.trim_matches('\n'));
            out.push_str("</p>\n");
        }
    };
    let (mut start, mut from) = (0, 0);
    while let Some(line_end) = find(text, from, "\n") {
        let end = skip_white(text, line_end);
        // The blank lines end at the last line break of this white space.
        let last = text[line_end..end].rfind('\n').map_or(line_end, |n| line_end + n);
        if last > line_end {
            add(&text[start..line_end]);
            start = last + 1;
        }
        from = end.max(line_end + 1);
    }
    add(&text[start..]);
    out
}

/// Removes paragraphs that are empty or around block elements, and moves them inside of quotations.
fn paragraphs_around_blocks(text: String) -> String {
    let opened = |scan: &RuleScan<'_>, at: usize| scan.rest(at).starts_with("<p>").then_some(at + 3);
    let text = rewrite(&text, &['<'], |scan, at| {
        let end = scan.skip(opened(scan, at)?);
        scan.rest(end).starts_with("</p>").then(|| (end + 4, String::new()))
    });
    // A paragraph that is closed only by the end of its parent.
    let text = rewrite(&text, &['<'], |scan, at| {
        let start = opened(scan, at)?;
        let tag = start + scan.rest(start).find('<').filter(|n| *n > 0)?;
        let name = scan.rest(tag).strip_prefix("</")?;
        let name = ["div>", "address>", "form>"].into_iter().find(|known| name.starts_with(known))?;
        let end = tag + 2 + name.len();
        Some((end, format!("{}</p>{}", &scan.text[at..tag], &scan.text[tag..end])))
    });
    let text = rewrite(&text, &['<'], |scan, at| {
        let tag = scan.skip(opened(scan, at)?);
        let end = scan.tag_of(tag, &BLOCKS)?;
        let close = scan.skip(end);
        scan.rest(close).starts_with("</p>").then(|| (close + 4, scan.text(tag, end)))
    });
    let text = list_items(&text);
    let text = rewrite(&text, &['<'], |scan, at| {
        const QUOTE: &str = "<p><blockquote";
        scan.rest(at).get(..QUOTE.len()).filter(|start| start.eq_ignore_ascii_case(QUOTE))?;
        let end = scan.tag_end(at + QUOTE.len())?;
        Some((end, format!("<blockquote{}<p>", &scan.text[at + QUOTE.len()..end])))
    });
    let text = text.replace("</blockquote></p>", "</p></blockquote>");
    let text = rewrite(&text, &['<'], |scan, at| {
        let tag = scan.skip(opened(scan, at)?);
        let end = scan.tag_of(tag, &BLOCKS)?;
        Some((end, scan.text(tag, end)))
    });
    rewrite(&text, &['<'], |scan, at| {
        let end = scan.tag_of(at, &BLOCKS)?;
        let close = scan.skip(end);
        scan.rest(close).starts_with("</p>").then(|| (close + 4, scan.text(at, end)))
    })
}

/// Removes the paragraph around a nested list item on its own line.
fn list_items(text: &str) -> String {
    let (mut closings, mut lines) = (ForwardSearch::new(text, "</p>"), ForwardSearch::new(text, "\n"));
    rewrite(text, &['<'], |scan, at| {
        scan.rest(at).starts_with("<p><li").then_some(())?;
        // The item has at least one more character.
        let first = at + 6 + scan.rest(at + 6).chars().next()?.len_utf8();
        let close = closings.next(first)?;
        let same_line = lines.next(at + 6).is_none_or(|line| line > close);
        same_line.then(|| (close + 4, scan.text(at + 3, close)))
    })
}

/// Converts line breaks to `<br />` unless there is one, except in scripts, styles, SVG and MathML.
fn line_breaks(text: &str) -> String {
    const UNCHANGED: [(&str, &str); 4] =
        [("<script", "</script>"), ("<style", "</style>"), ("<svg", "</svg>"), ("<math", "</math>")];
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut closings = UNCHANGED.map(|(_, close)| ForwardSearch::new(text, close));
    let (mut start, mut from) = (0, 0);
    while let Some(at) = find(text, from, "<") {
        from = at + 1;
        let Some(kind) = UNCHANGED.iter().position(|(open, _)| text[at..].starts_with(open)) else { continue };
        let (open, close) = UNCHANGED[kind];
        let Some(end) = closings[kind].next(at + open.len()).map(|end| end + close.len()) else { continue };
        break_lines(&text[start..at], &mut out);
        out.push_str(&normal_breaks(&text[at..end]));
        (start, from) = (end, end);
    }
    break_lines(&text[start..], &mut out);
    out
}

fn normal_breaks(text: &str) -> String {
    text.replace("<br>", "<br />").replace("<br/>", "<br />")
}

fn break_lines(text: &str, out: &mut String) {
    let text = normal_breaks(text);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < text.len() {
        let word = bytes[at..].iter().position(|b| is_white(*b)).map_or(text.len(), |n| at + n);
        out.push_str(&text[at..word]);
        let end = skip_white(&text, word);
        let space = &text[word..end];
        // The first white space character after a `<br />` is unchanged.
        let first = usize::from(text[..word].ends_with("<br />"));
        match space.rfind('\n').filter(|line| *line >= first) {
            Some(line) => {
                out.push_str(&space[..first]);
                out.push_str("<br />\n");
                out.push_str(&space[line + 1..]);
            }
            None => out.push_str(space),
        }
        at = end;
    }
}

/// Removes `<br />` after tags of block elements and before those of paragraphs and lists.
fn breaks_around_blocks(text: &str) -> String {
    let text = rewrite(text, &['<'], |scan, at| {
        let end = scan.tag_of(at, &BLOCKS)?;
        let br = scan.skip(end);
        scan.rest(br).starts_with("<br />").then(|| (br + 6, scan.text(at, end)))
    });
    rewrite(&text, &['<'], |scan, at| {
        let start = scan.rest(at).starts_with("<br />").then_some(at + 6)?;
        let end = scan.tag_of(scan.skip(start), &BREAKS_BEFORE)?;
        Some((end, scan.text(start, end)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rows: &[(&str, &str)]) {
        for (text, expected) in rows {
            assert_eq!(autop(text, true), *expected, "{text}");
        }
    }

    #[test]
    fn lines() {
        check(&[
            ("a\nb\n\nc", "<p>a<br />\nb</p>\n<p>c</p>\n"),
            ("a<br><br/>b", "<p>a</p>\n<p>b</p>\n"),
            ("a<br>\nb", "<p>a<br />\nb</p>\n"),
            (" \n ", ""),
            ("a \r\n \r\n b", "<p>a </p>\n<p> b</p>\n"),
            ("a\n<script>\n\nx\ny</script>", "<p>a<br />\n<script></p>\n<p>x\ny</script></p>\n"),
            ("<script>x\ny</script>", "<p><script>x\ny</script></p>\n"),
            ("<a\nb>c", "<p><a\nb>c</p>\n"),
        ]);
        assert_eq!(autop("a\nb", false), "<p>a\nb</p>\n");
    }

    #[test]
    fn blocks() {
        check(&[
            ("a<div>b</div>c", "<p>a</p>\n<div>b</div>\n<p>c</p>\n"),
            ("<blockquote>a\n\nb</blockquote>", "<blockquote><p>a</p>\n<p>b</p></blockquote>\n"),
            ("<ul>\n<li>a</li>\n</ul>", "<ul>\n<li>a</li>\n</ul>\n"),
            ("<pre>a\n\nb</pre>c", "<pre>a\n\nb</pre>\n<p>c</p>\n"),
            ("<pre>a</pre>x</pre>y", "<pre>a</pre>\n<p>xy</p>\n"),
            ("a<hr>b", "<p>a</p>\n<hr>\n<p>b</p>\n"),
            ("<p>a</p><p></p>", "<p>a</p></p>\n"),
            ("<select>\n <option>a</option>\n </select>", "<p><select><option>a</option></select></p>\n"),
            ("<video>\n<source src=a>\n</video>", "<p><video><source src=a></video></p>\n"),
            ("<figure>\n<figcaption>a</figcaption>\n</figure>", "<figure><figcaption>a</figcaption></figure>\n"),
        ]);
    }

    #[test]
    fn long_texts_stay_linear() {
        for part in [
            "<p",
            "<p>",
            "<pre>",
            "</pre>",
            "<p><li",
            "<p><li>\n",
            "<br>",
            "<br",
            "\n",
            " \n",
            "<script",
            "<option ",
            "<blockquote",
            "<div>\n",
            "<audio",
            "[audio",
            "<object",
            "<hr",
            "<source <track",
            " ",
            "<p> ",
            "</p>\n ",
        ] {
            let text = part.repeat(30_000 / part.len());
            for text in [format!("x{text}"), format!("x{text}></object><source <option <figcaption")] {
                let html = autop(&text, true);
                assert!(html.starts_with("<p>x") && html.len() < 6 * text.len(), "{part}");
            }
        }
    }
}
