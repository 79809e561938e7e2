//! Parses, filters and writes the attributes of a tag.

use std::collections::HashSet;

use svc_text::{ALLOWED_PROTOCOLS, bad_protocol, decode_references};

use super::{
    allowed::{AllowedHtml, Attributes},
    tables::URL_ATTRIBUTES,
};
use crate::{css::filter_declarations, tags};

/// Parses attributes by HTML's tokenization rules.
struct AttributeParser<'a> {
    text: &'a str,
    at: usize,
}

/// An attribute as written, its value without quotes; `None` for an attribute without a value.
type RawAttribute<'a> = (&'a str, Option<&'a str>);

impl<'a> AttributeParser<'a> {
    /// Consumes the bytes that `member` accepts.
    fn take(&mut self, member: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let len = rest.bytes().take_while(|b| member(*b)).count();
        // The run is all ASCII or stops at an ASCII byte, so it ends at a character boundary.
        let (taken, _) = rest.split_at_checked(len).unwrap_or_default();
        self.at += len;
        taken
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next attribute, or `None` at the end.
    ///
    /// # Errors
    /// If a quote is not closed; the tag is invalid in this case.
    fn next(&mut self) -> Result<Option<RawAttribute<'a>>, UnclosedQuote> {
        self.take(|b| is_white(b) || b == b'/');
        let start = self.at;
        // An equals sign is part of a name only at its start.
        self.at += usize::from(self.peek() == Some(b'='));
        self.take(|b| !is_white(b) && !matches!(b, b'=' | b'/'));
        let name = &self.text[start..self.at];
        if name.is_empty() {
            return Ok(None);
        }
        self.take(is_white);
        if self.peek() != Some(b'=') {
            return Ok(Some((name, None)));
        }
        self.at += 1;
        self.take(is_white);
        let value = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => {
                self.at += 1;
                let value = self.take(|b| b != quote);
                if self.peek().is_none() {
                    return Err(UnclosedQuote);
                }
                self.at += 1;
                value
            }
            _ => self.take(|b| !is_white(b)),
        };
        Ok(Some((name, Some(value))))
    }
}

/// Error for an unclosed quote.
struct UnclosedQuote;

fn is_white(b: u8) -> bool {
    b.is_ascii_whitespace()
}

/// Writes the allowed attributes of a tag, each after a space. Writes none if a required one is missing or invalid.
///
/// Values are decoded, checked, and written in double quotes with all special characters escaped. Of several
/// attributes with the same name only the first is used, even if it is invalid. Returns whether all required
/// attributes are valid.
pub(super) fn write(out: &mut String, text: &str, attributes: &Attributes, allowed: &AllowedHtml) -> bool {
    if attributes.is_empty() {
        return true;
    }
    let start = out.len();
    let mut parser = AttributeParser { text, at: 0 };
    let mut seen = HashSet::new();
    let mut missing: Vec<&str> = attributes.required().collect();
    loop {
        let (name, value) = match parser.next() {
            Ok(Some(raw)) => raw,
            Ok(None) => break,
            Err(UnclosedQuote) => {
                out.truncate(start);
                return attributes.required().next().is_none();
            }
        };
        let name = name.to_ascii_lowercase();
        let Some(rule) = attributes.rule(&name) else { continue };
        if seen.contains(&name) {
            continue;
        }
        let value = value.map(|value| sanitize_url_attribute(&name, decode(value)));
        let value = if name == "style" { value.map(|style| filter_declarations(&style)) } else { value };
        let is_empty_style = name == "style" && matches!(value.as_deref(), None | Some("" | "0"));
        if !is_empty_style && allowed.holds(rule, value.as_deref()) {
            missing.retain(|required| *required != name);
            write_one(out, &name, value.as_deref());
        }
        seen.insert(name);
    }
    if !missing.is_empty() {
        out.truncate(start);
    }
    missing.is_empty()
}

fn write_one(out: &mut String, name: &str, value: Option<&str>) {
    out.push(' ');
    out.push_str(name);
    let Some(value) = value else { return };
    out.push_str("=\"");
    out.push_str(&tags::escape(value));
    out.push('"');
}

/// Decodes a value as HTML does: normalizes line breaks and decodes references.
fn decode(raw: &str) -> String {
    if raw.contains('\r') {
        decode_references(&raw.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        decode_references(raw)
    }
}

/// Removes schemes that are not allowed from the values of URL attributes.
fn sanitize_url_attribute(name: &str, value: String) -> String {
    if URL_ATTRIBUTES.contains(&name) { bad_protocol(&value, ALLOWED_PROTOCOLS) } else { value }
}
