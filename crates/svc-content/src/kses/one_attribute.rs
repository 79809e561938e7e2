//! Filters single attributes without changing their spelling, for markup that is assembled from parts, such as
//! shortcodes inside tags.

use svc_text::{ALLOWED_PROTOCOLS, bad_protocol, decode_references, esc_attr, normalize_entities};

use super::{
    allowed::{AllowedHtml, Attributes},
    tables::URL_ATTRIBUTES,
};
use crate::css::filter_declarations;

/// Filters a single attribute (`title = 'x'`) of an element by the rules for posts. White space around it is
/// preserved. Returns only that white space if the attribute is not allowed, and an empty string if the element is
/// not.
///
/// The kind of quotes is preserved; unquoted values get double quotes. Source: `wp_kses_one_attr`.
pub fn filter_attribute(attribute: &str, element: &str) -> String {
    let allowed = AllowedHtml::post();
    let Some(attributes) = allowed.element(&element.to_ascii_lowercase()) else { return String::new() };
    let before = &attribute[..attribute.len() - attribute.trim_start_matches(is_white).len()];
    let after = &attribute[attribute.trim_end_matches(is_white).len()..];
    let inside = attribute.trim_matches(is_white);
    // With an unclosed quote, the result is empty.
    if inside.split_once('=').is_some_and(|(_, raw)| unquote(raw.trim_start_matches(is_white)).is_none()) {
        return String::new();
    }
    let filtered_attribute = filtered(inside, allowed, attributes).unwrap_or_default();
    format!("{before}{filtered_attribute}{after}")
}

fn filtered(attribute: &str, allowed: &AllowedHtml, attributes: &Attributes) -> Option<String> {
    let Some((name, raw)) = attribute.split_once('=') else {
        let lower = attribute.to_ascii_lowercase();
        let rule = attributes.rule(&lower).filter(|_| lower != "style")?;
        return allowed.holds(rule, None).then(|| attribute.to_owned());
    };
    let (name, raw) = (name.trim_end_matches(is_white), raw.trim_start_matches(is_white));
    let lower = name.to_ascii_lowercase();
    let rule = attributes.rule(&lower)?;
    let value = sanitize_value(&lower, unquote(raw)?);
    let is_empty_style = lower == "style" && matches!(value.as_str(), "" | "0");
    let quote = if raw.starts_with('\'') { '\'' } else { '"' };
    (!is_empty_style && allowed.holds(rule, Some(&value))).then(|| format!("{name}={quote}{value}{quote}"))
}

/// The value without its quotes; `None` if they are not closed.
fn unquote(raw: &str) -> Option<&str> {
    match raw.chars().next() {
        // A single quote character counts as both quotes.
        Some('"' | '\'') if raw.len() == 1 => Some(""),
        Some(quote @ ('"' | '\'')) => raw.strip_prefix(quote)?.strip_suffix(quote),
        _ => Some(raw),
    }
}

/// The filtered value for writing between quotes.
fn sanitize_value(name: &str, value: &str) -> String {
    if name == "style" {
        return esc_attr(&filter_declarations(&decode_references(&normalize_entities(value)))).into_string();
    }
    let value = esc_attr(value).into_string();
    if URL_ATTRIBUTES.contains(&name) { bad_protocol(&value, ALLOWED_PROTOCOLS) } else { value }
}

/// Splits an opening tag into its start with the name, its attributes, and its end. The parts joined are the tag.
///
/// `None` for a closing tag, or if an attribute does not follow strict rules: a name of letters, digits, `_`, `-`,
/// `:` and `.`, or a shortcode in brackets; and a value that is quoted or has no quotes at all. Source:
/// `wp_kses_attr_parse`.
pub fn split_attributes(tag: &str) -> Option<Vec<&str>> {
    // A line feed after the tag is removed.
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
    let mut remaining = attributes;
    while !remaining.is_empty() {
        let (attribute, after) = remaining.split_at(attribute_len(remaining)?);
        parts.push(attribute);
        remaining = after;
    }
    parts.push(&rest[attributes.len()..]);
    Some(parts)
}

/// Length of the attribute at the start of the text, including the white space after it.
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
