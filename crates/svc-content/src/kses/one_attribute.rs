//! Single attributes that keep their spelling: for markup put together from parts, such as shortcodes inside tags.

use svc_text::{ALLOWED_PROTOCOLS, bad_protocol, decode_references, esc_attr, normalize_entities};

use super::{
    allowed::{AllowedHtml, Attributes},
    tables::ADDRESSES,
};
use crate::css::filter_declarations;

/// One attribute (`title = 'x'`) as a post may have it on this element, with the white space around it; only that space when
/// the attribute is refused, nothing when the element is.
///
/// The kind of quotes stays; a value without any gets double ones. Source: `wp_kses_one_attr`.
pub fn filter_attribute(attribute: &str, element: &str) -> String {
    let allowed = AllowedHtml::post();
    let Some(attributes) = allowed.element(&element.to_ascii_lowercase()) else { return String::new() };
    let before = &attribute[..attribute.len() - attribute.trim_start_matches(is_white).len()];
    let after = &attribute[attribute.trim_end_matches(is_white).len()..];
    let inside = attribute.trim_matches(is_white);
    // Quotes that do not end make nothing of all of it.
    if inside.split_once('=').is_some_and(|(_, raw)| unquote(raw.trim_start_matches(is_white)).is_none()) {
        return String::new();
    }
    let judged = judge(inside, allowed, attributes).unwrap_or_default();
    format!("{before}{judged}{after}")
}

fn judge(attribute: &str, allowed: &AllowedHtml, attributes: &Attributes) -> Option<String> {
    let Some((name, raw)) = attribute.split_once('=') else {
        let lower = attribute.to_ascii_lowercase();
        let rule = attributes.rule(&lower).filter(|_| lower != "style")?;
        return allowed.holds(rule, None).then(|| attribute.to_owned());
    };
    let (name, raw) = (name.trim_end_matches(is_white), raw.trim_start_matches(is_white));
    let lower = name.to_ascii_lowercase();
    let rule = attributes.rule(&lower)?;
    let value = clean(&lower, unquote(raw)?);
    let is_empty_style = lower == "style" && matches!(value.as_str(), "" | "0");
    let quote = if raw.starts_with('\'') { '\'' } else { '"' };
    (!is_empty_style && allowed.holds(rule, Some(&value))).then(|| format!("{name}={quote}{value}{quote}"))
}

/// The value without its quotes; `None` when they do not end.
fn unquote(raw: &str) -> Option<&str> {
    match raw.chars().next() {
        // A quote alone stands for both.
        Some('"' | '\'') if raw.len() == 1 => Some(""),
        Some(quote @ ('"' | '\'')) => raw.strip_prefix(quote)?.strip_suffix(quote),
        _ => Some(raw),
    }
}

/// The value as it may be written between quotes.
fn clean(name: &str, value: &str) -> String {
    if name == "style" {
        return esc_attr(&filter_declarations(&decode_references(&normalize_entities(value))));
    }
    let value = esc_attr(value);
    if ADDRESSES.contains(&name) { bad_protocol(&value, ALLOWED_PROTOCOLS) } else { value }
}

/// Cuts an opening tag into its beginning with the name, its attributes, and its end, nothing lost: joined they are the tag.
///
/// `None` when it is not such a tag: a closing one, or one with an attribute that is not written by the strict rules (a
/// name of letters, digits, `_`, `-`, `:`, `.`, or a shortcode in brackets; a value in quotes, or without and then without any
/// inside). Source: `wp_kses_attr_parse`.
pub fn split_attributes(tag: &str) -> Option<Vec<&str>> {
    // A line feed after the tag is passed over, and lost.
    let tag = tag.strip_suffix('\n').filter(|tag| tag.ends_with('>')).unwrap_or(tag);
    let inside = tag.strip_prefix('<')?.trim_start_matches(is_white);
    let name_len = inside.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if name_len == 0 {
        return None;
    }
    let rest = inside[name_len..].trim_start_matches(is_white);
    let open = rest.strip_suffix('>').unwrap_or(rest);
    if open.contains('>') {
        return None;
    }
    let attributes = match open.trim_end_matches(is_white).strip_suffix('/') {
        Some(open) => open.trim_end_matches(is_white),
        None => open,
    };
    let mut parts = vec![&tag[..tag.len() - rest.len()]];
    let mut left = attributes;
    while !left.is_empty() {
        let (attribute, after) = left.split_at(attribute_len(left)?);
        parts.push(attribute);
        left = after;
    }
    parts.push(&rest[attributes.len()..]);
    Some(parts)
}

/// Length of the attribute that the text begins with, and of the white space after it.
fn attribute_len(text: &str) -> Option<usize> {
    let name = match text.as_bytes()[0] {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
            let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':' | b'.');
            text.bytes().take_while(is_name).count()
        }
        b'[' => shortcode_len(text)?,
        _ => return None,
    };
    let rest = &text[name..];
    let skipped = |text: &str| text.len() - text.trim_start_matches(is_white).len();
    let end = match rest[skipped(rest)..].strip_prefix('=') {
        Some(value) => {
            let start = text.len() - value.len() + skipped(value);
            start + value_len(&text[start..])?
        }
        None if rest.is_empty() || skipped(rest) > 0 => name,
        None => return None,
    };
    Some(end + skipped(&text[end..]))
}

fn value_len(text: &str) -> Option<usize> {
    match text.chars().next()? {
        quote @ ('"' | '\'') => text[1..].find(quote).map(|i| i + 2),
        _ => {
            let len = text.find(|c: char| is_white(c) || c == '"' || c == '\'').unwrap_or(text.len());
            text[len..].chars().next().is_none_or(is_white).then_some(len)
        }
    }
}

/// `[…]` or `[[…]]`.
fn shortcode_len(text: &str) -> Option<usize> {
    let start = if text.starts_with("[[") { 2 } else { 1 };
    let end = start + text[start..].find(['[', ']'])?;
    let closing = text[end..].bytes().take(2).take_while(|b| *b == b']').count();
    (end > start && closing > 0).then_some(end + closing)
}

fn is_white(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0B'
}
