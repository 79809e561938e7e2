//! Converts plain URLs and e-mail addresses in text to links.

use crate::markup::{find, is_white, stored};
use svc_text::{Html, esc_html, esc_url, html};

/// How links to other sites are marked.
#[derive(Debug, Clone, Copy, Default)]
pub struct LinkRel<'a> {
    /// The site's own host; links to it are not marked.
    pub own_host: &'a str,
    /// Whether to mark links as user-generated content (`ugc`).
    pub ugc: bool,
}

impl LinkRel<'_> {
    /// The `rel` attribute for a URL, with a leading space. URLs without a host are the site's own.
    fn attribute(&self, url: &str) -> &'static str {
        let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
        let scheme = ["http://", "https://"].into_iter().find(|scheme| lower.starts_with(scheme));
        let host = scheme.and_then(|_| svc_text::parse_url(url)).and_then(|parts| parts.host);
        let own = host.is_none_or(|host| host.eq_ignore_ascii_case(self.own_host));
        match (own, self.ugc) {
            (true, true) => " rel=\"ugc\"",
            (true, false) => "",
            (false, true) => " rel=\"nofollow ugc\"",
            (false, false) => " rel=\"nofollow\"",
        }
    }
}

/// Elements whose text is unchanged.
const PLAIN: [&str; 4] = ["code", "pre", "script", "style"];

/// Longer text is split at white space before it is searched; parts that cannot be split are unchanged.
const MAX_LEN: usize = 10_000;
const TARGET_LEN: usize = 2100;

/// Links URLs and e-mail addresses in HTML, except in tags and code. Source: `make_clickable`.
pub fn make_clickable(text: &str, rel: LinkRel<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    for part in parts(text) {
        if opens_plain(part) {
            depth += 1;
        } else if depth > 0 && closes_plain(part) {
            depth -= 1;
        }
        if depth > 0 || part.starts_with('<') && !is_bracketed_url(part) {
            out.push_str(part);
        } else if part.len() > MAX_LEN {
            for chunk in split_long_text(part) {
                if chunk.len() > TARGET_LEN + 1 {
                    out.push_str(chunk);
                } else {
                    out.push_str(&make_clickable(chunk, rel));
                }
            }
        } else {
            out.push_str(&link(part, rel));
        }
    }
    unnest(&out)
}

/// Text and tags. A `<` that is followed by another one before `>` is text.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        let mut search_from = start;
        while let Some(open) = find(text, search_from, "<") {
            let stop = text[open + 1..].find(['<', '>']).map(|n| open + 1 + n);
            match stop {
                Some(end) if end > open + 1 && text.as_bytes()[end] == b'>' => {
                    at = if open > start { open } else { end + 1 };
                    return Some(&text[start..at]);
                }
                Some(end) => search_from = end.max(open + 1),
                None => break,
            }
        }
        at = text.len();
        (start < at).then(|| &text[start..])
    })
}

fn opens_plain(part: &str) -> bool {
    let Some(rest) = part.strip_prefix('<') else { return false };
    PLAIN.iter().any(|name| {
        let same = rest.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name));
        same && rest.as_bytes().get(name.len()).is_some_and(|b| is_white(*b) || *b == b'>')
    })
}

fn closes_plain(part: &str) -> bool {
    let name = part.strip_prefix("</").and_then(|rest| rest.strip_suffix('>'));
    name.is_some_and(|name| PLAIN.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// `<http://…>`.
fn is_bracketed_url(part: &str) -> bool {
    let rest = part[1..].trim_start_matches(|c: char| c.is_ascii() && is_white(c as u8));
    scheme(rest.as_bytes(), 0).is_some()
}

/// Splits text after white space, to parts of about [`TARGET_LEN`] bytes.
fn split_long_text(mut text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    while text.len() > TARGET_LEN {
        let bytes = text.as_bytes();
        let before = bytes[..=TARGET_LEN].iter().rposition(|b| is_white(*b));
        let Some(at) =
            before.or_else(|| bytes[TARGET_LEN + 1..].iter().position(|b| is_white(*b)).map(|n| TARGET_LEN + 1 + n))
        else {
            break;
        };
        let (chunk, rest) = text.split_at(at + 1);
        out.push(chunk);
        text = rest;
    }
    if !text.is_empty() {
        out.push(text);
    }
    out
}

fn link(text: &str, rel: LinkRel<'_>) -> String {
    if !text.contains(['.', '@', ':']) {
        return text.to_owned();
    }
    // Add spaces, so that every URL is between spaces.
    let text = links(&format!(" {text} "), |text, at| link_url(text, at, rel));
    let text = links(&text, |text, at| link_host(text, at, rel));
    let text = links(&text, link_email);
    text[1..text.len() - 1].to_owned()
}

/// Replaces the matches of a rule, which is called for each position with the character before the match; it returns
/// the link and the match's end.
fn links(text: &str, rule: impl Fn(&str, usize) -> Option<(Html, usize)>) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at) = (0, 0);
    while at < text.len() {
        match text.is_char_boundary(at + 1).then(|| rule(text, at)).flatten() {
            Some((link, end)) => {
                out.push_str(&text[copied..=at]);
                out.push_str(&link);
                (copied, at) = (end, end);
            }
            None => at += 1,
        }
    }
    out.push_str(&text[copied..]);
    out
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// The position after `scheme://`.
fn scheme(bytes: &[u8], at: usize) -> Option<usize> {
    let len = bytes[at..].iter().take(20).take_while(|b| is_word(**b)).count();
    (len > 0 && bytes[at + len..].starts_with(b"://")).then_some(at + len + 3)
}

/// A URL with a scheme, after white space or punctuation.
fn link_url(text: &str, before: usize, rel: LinkRel<'_>) -> Option<(Html, usize)> {
    let bytes = text.as_bytes();
    let lead = |b: u8| is_white(b) || b"(<.,;:!?".contains(&b);
    let plain = |b: u8| is_word(b) || b >= 0x80 || b"#%~/@[]*(+=&$-".contains(&b);
    if !lead(bytes[before]) {
        return None;
    }
    let start = before + 1;
    let host = scheme(bytes, start)?;
    // URLs of 2000 bytes or more are not linked.
    let next_space = bytes[host..].iter().take(2001).position(|b| is_white(*b))?;
    (next_space > 0).then_some(())?;
    let run = |from: usize| bytes[from..].iter().position(|b| !plain(*b)).map_or(bytes.len(), |n| from + n);
    let mut end = run(host);
    // Punctuation belongs to the URL only if more characters follow.
    while bytes.get(end).is_some_and(|b| b"'.,;:!?)".contains(b)) {
        let next = run(end + 1);
        if next == end + 1 {
            break;
        }
        end = next;
    }
    if bytes.get(end) == Some(&b')') && text[start..end].contains('(') {
        end += 1;
    }
    let whole = end;
    // Unmatched closing parentheses are not part of the URL.
    let count = |c: u8| bytes[start..end].iter().filter(|b| **b == c).count();
    let (mut open, mut close) = (count(b'('), count(b')'));
    while open < close {
        let Some(last) = bytes[start..end].iter().rposition(|b| *b == b')').map(|n| start + n) else { break };
        open -= bytes[last..end].iter().filter(|b| **b == b'(').count();
        (close, end) = (close - 1, last);
    }
    let url = esc_url(&text[start..end]);
    if url.is_empty() {
        // Not a valid URL: skip it without searching inside.
        return Some((stored(&text[start..whole]), whole));
    }
    Some((html!("<a href=\"{url}\"{}>{url}</a>{}", rel.attribute(&url), stored(&text[end..whole]), url = url), whole))
}

/// A host name that starts with `www.` or `ftp.`, after white space or a tag.
fn link_host(text: &str, before: usize, rel: LinkRel<'_>) -> Option<(Html, usize)> {
    let bytes = text.as_bytes();
    if !is_white(bytes[before]) && bytes[before] != b'>' {
        return None;
    }
    let start = before + 1;
    let first = text.get(start..start + 4)?;
    (first.eq_ignore_ascii_case("www.") || first.eq_ignore_ascii_case("ftp.")).then_some(())?;
    let part = |b: u8| is_word(b) || b >= 0x80 || b"#$%&~/.-;:=,?@[]+".contains(&b);
    let end = bytes[start + 4..].iter().position(|b| !part(*b)).map_or(bytes.len(), |n| start + 4 + n);
    (end > start + 4).then_some(())?;
    let end = if b".,;:)".contains(&bytes[end - 1]) { end - 1 } else { end };
    let url = esc_url(&format!("http://{}", &text[start..end]));
    (!url.is_empty()).then(|| (html!("<a href=\"{url}\"{}>{url}</a>", rel.attribute(&url), url = url), end))
}

/// An e-mail address after white space or a tag.
fn link_email(text: &str, before: usize) -> Option<(Html, usize)> {
    let bytes = text.as_bytes();
    if !is_white(bytes[before]) && bytes[before] != b'>' {
        return None;
    }
    let start = before + 1;
    let local = |b: &u8| b.is_ascii_alphanumeric() || b"._+-".contains(b);
    let at = start + bytes[start..].iter().position(|b| !local(b))?;
    (at > start && bytes[at] == b'@').then_some(())?;
    let domain = at + 1;
    let len = bytes[domain..].iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-')).count();
    // Labels must not be empty, and the last one needs two characters; take as many labels as possible.
    let run = &text[domain..domain + len];
    let run = &run[..run.find("..").unwrap_or(run.len())];
    (!run.starts_with('.')).then_some(())?;
    let mut dots: Vec<usize> = run.match_indices('.').map(|(dot, _)| dot).collect();
    let end = loop {
        let last = dots.pop()? + 1;
        let len = run[last..].bytes().take_while(u8::is_ascii_alphanumeric).count();
        if len >= 2 {
            break domain + last + len;
        }
    };
    let mail = esc_html(&text[start..end]);
    Some((html!("<a href=\"mailto:{mail}\">{mail}</a>", mail = mail), end))
}

/// Removes links that are the only content of another link.
fn unnest(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = find(text, from, "<") {
        from = at + 1;
        if let Some((outer, inner, end)) = nested(text, at) {
            out.push_str(&text[copied..outer]);
            out.push_str(inner);
            out.push_str("</a>");
            (copied, from) = (end, end);
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// The end of the outer opening tag, the inner text, and the end of the outer link.
fn nested(text: &str, at: usize) -> Option<(usize, &str, usize)> {
    let is = |at: usize, word: &str| text.get(at..at + word.len()).is_some_and(|own| own.eq_ignore_ascii_case(word));
    is(at, "<a").then_some(())?;
    let next = *text.as_bytes().get(at + 2)?;
    // Searches end at the next `<`, so that the total time is linear.
    let close = |from: usize| {
        let end = from + text[from..].find(['<', '>'])?;
        (text.as_bytes()[end] == b'>').then_some(end)
    };
    let outer = match next {
        b'>' => at + 3,
        b' ' | b'\r' | b'\n' | b'\t' => close(at + 3).filter(|end| *end > at + 3)? + 1,
        _ => return None,
    };
    is(outer, "<a ").then_some(())?;
    let inner = close(outer + 3).filter(|end| *end > outer + 3)? + 1;
    let end = inner + text[inner..].find('<')?;
    (end > inner && is(end, "</a></a>")).then_some((outer, &text[inner..end], end + 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links() {
        let rel = LinkRel { own_host: "example.org", ugc: false };
        let to = |url: &str| format!("<a href=\"{url}\" rel=\"nofollow\">{url}</a>");
        for (text, expected) in [
            ("http://a.b/c(d)e) x", format!("{}) x", to("http://a.b/c(d)e"))),
            ("http://example.org/x", "<a href=\"http://example.org/x\">http://example.org/x</a>".to_owned()),
            ("www.foo.com,", format!("{},", to("http://www.foo.com"))),
            ("<http://foo.com>", format!("<{}>", to("http://foo.com"))),
            ("a@b.co.x", "<a href=\"mailto:a@b.co\">a@b.co</a>.x".to_owned()),
            ("javascript://x", "javascript://x".to_owned()),
            ("<code >http://a.com</CODE> x", "<code >http://a.com</CODE> x".to_owned()),
            ("<a href='x'>http://a.com</a>", "<a href='x'>http://a.com</a>".to_owned()),
        ] {
            assert_eq!(make_clickable(text, rel), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_stay_linear() {
        for part in ["http://a", "(http://a)", "a.b@", "<a <a ", "www.", "a@a.", "http://((((", ")))"] {
            let text = part.repeat(60_000 / part.len());
            assert!(make_clickable(&text, LinkRel::default()).len() >= text.len());
        }
    }
}
