//! Adds `rel` and `target` to links.

use std::borrow::Cow;

use svc_text::{ALLOWED_PROTOCOLS, bad_protocol, esc_attr};

use crate::markup::{ForwardSearch, find, is_white, skip_white};

/// Adds values to the `rel` attribute of links, such as `nofollow` or `nofollow ugc`. Links to the host `own` do not
/// get `nofollow`.
///
/// Source: `wp_rel_nofollow` and `wp_rel_ugc`, except that these take and return slashed text.
pub fn add_rel(html: &str, rel: &str, own: &str) -> String {
    links(html, |inside| {
        let attributes = Attribute::all(inside);
        let is_own = attributes.iter().any(|a| a.is("href") && is_own_url(a.value.unwrap_or_default(), own));
        let words: Vec<&str> = rel.split(' ').filter(|word| !is_own || *word != "nofollow").collect();
        let existing = attributes.iter().find(|a| a.is("rel"));
        let Some(existing) = existing else {
            let rel = words.join(" ");
            let mark = if rel.is_empty() { rel } else { format!(" rel=\"{}\"", esc_attr(&rel)) };
            return format!("<a {inside}{mark}>");
        };
        let mut rel: Vec<&str> = Vec::new();
        // An empty list is a single empty word, which results in a space.
        for word in existing.value.unwrap_or_default().split(' ').chain(or_empty(words)) {
            if !rel.contains(&word) || word.is_empty() && existing.value.is_some_and(|value| value.contains("  ")) {
                rel.push(word);
            }
        }
        let others: Vec<String> = attributes.iter().filter(|a| !a.is("rel")).map(Attribute::to_html).collect();
        format!("<a {} rel=\"{}\">", others.join(" "), esc_attr(&rel.join(" ")))
    })
}

fn or_empty(words: Vec<&str>) -> Vec<&str> {
    if words.is_empty() { vec![""] } else { words }
}

/// Whether a URL is on the site's own host.
fn is_own_url(url: &str, own: &str) -> bool {
    let parts = svc_text::parse_url(&url.to_ascii_lowercase()).unwrap_or_default();
    let web = parts.scheme.is_some_and(|scheme| scheme == "http" || scheme == "https");
    web && parts.host.is_some_and(|host| host.eq_ignore_ascii_case(own))
}

/// Replaces each opening tag of a link that is on a single line; `replacement` receives the text inside the tag.
fn links(html: &str, replacement: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(html.len() + html.len() / 8);
    let (mut closings, mut lines) = (ForwardSearch::new(html, ">"), ForwardSearch::new(html, "\n"));
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = find(html, from, "<") {
        from = at + 1;
        if !html.get(at + 1..at + 3).is_some_and(|name| name.eq_ignore_ascii_case("a ")) {
            continue;
        }
        // There must be at least one character, even if it is `>`.
        let Some(first) = html[at + 3..].chars().next().filter(|c| *c != '\n') else { continue };
        let start = at + 3 + first.len_utf8();
        let Some(end) = closings.next(start) else { break };
        if lines.next(start).is_none_or(|line| line > end) {
            out.push_str(&html[copied..at]);
            out.push_str(&replacement(&html[at + 3..end]));
            (copied, from) = (end + 1, end + 1);
        }
    }
    out.push_str(&html[copied..]);
    out
}

/// Sets the `target` of elements with these names, or of links if `names` is empty. Source: `links_add_target`.
pub fn add_target(html: &str, target: &str, names: &[&str]) -> String {
    let names = if names.is_empty() { &["a"] } else { names };
    let mut out = String::with_capacity(html.len());
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = find(html, from, "<") {
        from = at + 1;
        let rest = &html[from..];
        let len = rest.find(|c: char| c == '>' || c.is_ascii() && is_white(c as u8));
        let Some(name) = len.map(|len| &rest[..len]).filter(|name| names.iter().any(|n| n.eq_ignore_ascii_case(name)))
        else {
            continue;
        };
        let start = from + name.len();
        let Some(end) = find(html, start, ">") else { break };
        out.push_str(&html[copied..start]);
        out.push_str(&format!("{} target=\"{}\">", without_target(&html[start..end]), esc_attr(target)));
        (copied, from) = (end + 1, end + 1);
    }
    out.push_str(&html[copied..]);
    out
}

/// Attributes without `target`.
fn without_target(attributes: &str) -> String {
    const NAME: &str = " target=";
    let lower = attributes.to_ascii_lowercase();
    let mut out = String::with_capacity(attributes.len());
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = find(&lower, from, NAME) {
        let value = at + NAME.len();
        from = value;
        let Some(quote) = lower[value..].chars().next().filter(|c| matches!(c, '"' | '\'')) else { continue };
        let Some(len) = lower[value + 1..].find([quote, '\n']) else { continue };
        if lower[value + 1 + len..].starts_with(quote) {
            out.push_str(&attributes[copied..at]);
            copied = value + 1 + len + 1;
            from = copied;
        }
    }
    out.push_str(&attributes[copied..]);
    out
}

/// An attribute of a tag, with its value as written.
struct Attribute<'t> {
    name: &'t str,
    value: Option<&'t str>,
}

impl<'t> Attribute<'t> {
    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The attribute as HTML. Schemes that are not allowed are removed from URLs.
    fn to_html(&self) -> String {
        const URL_ATTRIBUTES: [&str; 7] = ["href", "src", "cite", "data", "action", "longdesc", "usemap"];
        let Some(value) = self.value else { return self.name.to_owned() };
        let value = match URL_ATTRIBUTES.iter().any(|name| self.is(name)) {
            true => Cow::from(bad_protocol(value, ALLOWED_PROTOCOLS)),
            false => value.into(),
        };
        format!("{}=\"{}\"", self.name, esc_attr(&value))
    }

    /// The attributes of a tag; of several with the same name only the first.
    fn all(text: &'t str) -> Vec<Attribute<'t>> {
        let bytes = text.as_bytes();
        let run = |from: usize, stop: &dyn Fn(u8) -> bool| {
            bytes[from..].iter().position(|b| stop(*b)).map_or(bytes.len(), |n| from + n)
        };
        let mut all: Vec<Attribute<'t>> = Vec::new();
        let mut at = skip_white(text, 0);
        while at < text.len() {
            let end = run(at, &|b| is_white(b) || matches!(b, b'=' | b'"' | b'\'' | b'/'));
            if end == at {
                at = skip_white(text, at + 1);
                continue;
            }
            let mut attribute = Attribute { name: &text[at..end], value: None };
            at = skip_white(text, end);
            if bytes.get(at) == Some(&b'=') {
                let start = skip_white(text, at + 1);
                let quote = bytes.get(start).copied().filter(|b| matches!(b, b'"' | b'\''));
                let from = start + usize::from(quote.is_some());
                let end = run(from, &|b| quote.map_or_else(|| is_white(b), |quote| b == quote));
                attribute.value = text.get(from..end);
                at = skip_white(text, (end + usize::from(quote.is_some())).min(text.len()));
            }
            if !all.iter().any(|other| other.is(attribute.name)) {
                all.push(attribute);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rel() {
        for (html, expected) in [
            ("<a href=\"x\">", "<a href=\"x\" rel=\"nofollow ugc\">"),
            ("<a href=x rel='a' download>", "<a href=\"x\" download rel=\"a nofollow ugc\">"),
            ("<a href=\"http://own.org/y\">", "<a href=\"http://own.org/y\" rel=\"ugc\">"),
            ("<A HREF='HTTP://OWN.org' rel=nofollow>", "<a HREF=\"http://OWN.org\" rel=\"nofollow ugc\">"),
            ("<a\nhref=x>", "<a\nhref=x>"),
            ("<abbr title=x>", "<abbr title=x>"),
        ] {
            assert_eq!(add_rel(html, "nofollow ugc", "own.org"), expected, "{html}");
        }
    }

    #[test]
    fn long_texts_stay_linear() {
        for part in ["<a ", "<a x\n", "<a target='"] {
            let text = part.repeat(40_000);
            assert_eq!(add_rel(&text, "nofollow", ""), text);
            assert_eq!(add_target(&text, "x", &[]), text);
        }
    }

    #[test]
    fn target() {
        for (html, names, expected) in [
            ("<A href=x >", &[][..], "<A href=x  target=\"_top\">"),
            ("<a target='x' b><i>", &[], "<a b target=\"_top\"><i>"),
            ("<a><b>", &["b"], "<a><b target=\"_top\">"),
            ("<abbr>", &[], "<abbr>"),
            ("<a ", &[], "<a "),
        ] {
            assert_eq!(add_target(html, "_top", names), expected, "{html}");
        }
    }
}
