//! Truncates text by words and characters, and generates excerpts.

use std::borrow::Cow;

use svc_text::strip_all_tags;

use crate::{balance::balance_tags, blocks::has_blocks, markup::find};

/// Marks omitted text at the end of an excerpt.
pub const EXCERPT_MORE: &str = " [&hellip;]";

/// The first words of a text without its tags, followed by `more` if words were omitted. Source: `wp_trim_words`.
pub fn trim_words(text: &str, n_words: usize, more: &str) -> String {
    let plain = strip_all_tags(text, false);
    let mut words = plain.split(['\n', '\r', '\t', ' ']).filter(|word| !word.is_empty());
    // Only whether there are further words matters.
    let selected: Vec<&str> = words.by_ref().take(n_words).collect();
    let mut out = selected.join(" ");
    if words.next().is_some() {
        out.push_str(more);
    }
    out
}

/// The first characters of a text without its tags; references are not split. Source: `wp_html_excerpt`.
pub fn html_excerpt(text: &str, n_chars: usize, more: &str) -> String {
    let plain = strip_all_tags(text, true);
    let end = plain.char_indices().nth(n_chars).map_or(plain.len(), |(at, _)| at);
    let mut short = &plain[..end];
    // Remove an incomplete reference, from the first ampersand that may start it.
    let plain_tail = |at: &usize| !short.bytes().skip(*at).any(|b| b == b';' || crate::markup::is_white(b));
    let mut candidates = short.match_indices('&').map(|(at, _)| at).filter(|at| short.len() - at <= 7);
    if let Some(reference) = candidates.find(plain_tail) {
        short = &short[..reference];
    }
    if short == plain { plain } else { format!("{}{more}", svc_text::trim(short)) }
}

const NEXT_PAGE: &str = "<!--nextpage-->";

/// Content before its first page break.
pub(crate) fn first_page(content: &str) -> Cow<'_, str> {
    if !content.contains(NEXT_PAGE) {
        return content.into();
    }
    let content = content
        .replace(&format!("\n{NEXT_PAGE}\n"), NEXT_PAGE)
        .replace(&format!("\n{NEXT_PAGE}"), NEXT_PAGE)
        .replace(&format!("{NEXT_PAGE}\n"), NEXT_PAGE)
        .replace("<!-- wp:nextpage -->", "")
        .replace("<!-- /wp:nextpage -->", "");
    let content = content.strip_prefix(NEXT_PAGE).unwrap_or(&content);
    content.split(NEXT_PAGE).next().unwrap_or_default().to_owned().into()
}

/// Content before its "more" tag, balanced.
pub(crate) fn teaser(content: Cow<'_, str>) -> Cow<'_, str> {
    let Some(at) = find(&content, 0, "<!--more").filter(|at| more_ends(&content, *at)) else {
        return content;
    };
    let teaser = &content[..at];
    if has_blocks(&content) && content.contains("<!-- wp:more") {
        return balance_tags(&without_more_block(teaser)).into();
    }
    balance_tags(teaser).into()
}

/// Whether the tag at this position ends on its line.
fn more_ends(content: &str, at: usize) -> bool {
    let line = content[at..].lines().next().unwrap_or_default();
    line.contains("-->")
}

fn without_more_block(teaser: &str) -> String {
    let mut out = String::with_capacity(teaser.len());
    let mut rest = teaser;
    while let Some(at) = rest.find("<!-- wp:more") {
        let Some(end) = rest[at..].find(" -->").map(|n| at + n + 4) else { break };
        out.push_str(&rest[..at]);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Removes footnote references. Source: `excerpt_remove_footnotes`.
pub(crate) fn without_footnotes(text: &str) -> Cow<'_, str> {
    const START: &str = "<sup data-fn=\"";
    if !text.contains(START) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = find(text, from, START) {
        match footnote_end(text, at) {
            Some(end) => {
                out.push_str(&text[copied..at]);
                (copied, from) = (end, end);
            }
            None => from = at + 1,
        }
    }
    out.push_str(&text[copied..]);
    out.into()
}

fn footnote_end(text: &str, at: usize) -> Option<usize> {
    let value = |at: usize, before: &str| {
        let start = text.get(at..)?.strip_prefix(before).map(|_| at + before.len())?;
        let len = text[start..].find('"').filter(|len| *len > 0)?;
        Some(start + len)
    };
    let literal = |at: usize, word: &str| text[at..].starts_with(word).then_some(at + word.len());
    let white = |at: usize| crate::markup::skip_white(text, at);
    let at = value(at, "<sup data-fn=\"")?;
    let at = value(at, "\" class=\"")?;
    let at = value(white(literal(at, "\">")?), "<a href=\"")?;
    let at = value(at, "\" id=\"")?;
    let start = literal(at, "\">")?;
    let digits = text[start..].bytes().take_while(u8::is_ascii_digit).count();
    let at = literal(start + digits, "</a>").filter(|_| digits > 0)?;
    literal(white(at), "</sup>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_characters() {
        for (text, n, expected) in
            [("a <b>b</b> c", 2, "a b…"), ("a b", 2, "a b"), ("a", 0, "…"), ("", 0, ""), ("<p> </p>", 2, "")]
        {
            assert_eq!(trim_words(text, n, "…"), expected, "{text}");
        }
        for (text, n, expected) in
            [("ab&amp;c", 5, "ab…"), ("ab", 2, "ab"), ("<p>a\nb  c</p>", 4, "a b…"), ("a&b", 3, "a…")]
        {
            assert_eq!(html_excerpt(text, n, "…"), expected, "{text}");
        }
    }

    #[test]
    fn pages_and_footnotes() {
        assert_eq!(first_page("a\n<!--nextpage-->\nb"), "a");
        assert_eq!(first_page("<!--nextpage-->\na<!--nextpage-->b"), "a");
        assert_eq!(teaser("a<b>c<!--more x-->d".into()), "a<b>c</b>");
        let note = "<sup data-fn=\"x\" class=\"fn\"> <a href=\"#x\" id=\"y\">12</a></sup>";
        assert_eq!(without_footnotes(&format!("a{note}b{note}")), "ab");
        assert_eq!(without_footnotes("<sup data-fn=\"x\">"), "<sup data-fn=\"x\">");
    }
}
