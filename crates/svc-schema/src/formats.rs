//! The `format` keyword. Source: specification, "Format rules" and "Format handling".
//!
//! Unlike WordPress, this has no `text-field` and `textarea-field`: the specification does not list them.

use std::borrow::Cow;

use serde_json::Value;
use svc_php::cast::to_text;

use crate::{
    dates::parse_date,
    values::{is_ip_address, is_uuid, parse_hex_color},
};

/// A supported format. Others have no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    HexColor,
    DateTime,
    Email,
    Ip,
    Uuid,
    Uri,
}

impl Format {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "hex-color" => Format::HexColor,
            "date-time" => Format::DateTime,
            "email" => Format::Email,
            "ip" => Format::Ip,
            "uuid" => Format::Uuid,
            "uri" => Format::Uri,
            _ => return None,
        })
    }

    /// Whether a value has the format. URIs are not validated.
    pub(crate) fn fits(self, value: &Value) -> bool {
        let Some(text) = text_of(value) else { return self == Format::Uri };
        match self {
            Format::HexColor => parse_hex_color(&text).is_some(),
            Format::DateTime => parse_date(&text, false).is_some(),
            Format::Email => svc_text::is_email(&text),
            Format::Ip => is_ip_address(&text),
            Format::Uuid => is_uuid(&text, None),
            Format::Uri => true,
        }
    }

    /// Whether [`Self::sanitize`] leaves every valid value unchanged.
    pub(crate) fn leaves_valid_unchanged(self) -> bool {
        match self {
            Format::HexColor | Format::DateTime | Format::Ip | Format::Uuid => true,
            Format::Email | Format::Uri => false,
        }
    }

    /// The sanitized value; empty if it does not have the format.
    pub(crate) fn sanitize(self, value: &Value) -> String {
        let Some(text) = text_of(value) else { return String::new() };
        match self {
            // Unlike validation, sanitizing keeps a line feed after the color, as in WordPress.
            Format::HexColor => {
                let color = text.strip_suffix('\n').unwrap_or(&text);
                if parse_hex_color(color).is_some() { text.into_owned() } else { String::new() }
            }
            Format::DateTime | Format::Email | Format::Ip | Format::Uuid => svc_text::sanitize_text_field(&text),
            Format::Uri => svc_text::sanitize_url(&text),
        }
    }
}

fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Array(_) | Value::Object(_) => None,
        scalar => Some(to_text(scalar)),
    }
}
