//! Test vectors for svc-text: sanitizers and escapes.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use svc_php::list;
use svc_text::{MimeTypes, Quotes};

use super::{Outcome, Vector};

/// Calls the function of this group that the vector names.
pub(super) fn call(vector: &Vector) -> Option<Outcome> {
    plain(vector).or_else(|| with_arguments(vector)).or_else(|| lists(vector)).or_else(|| nested_strings(vector))
}

/// Functions that take and return a string.
fn plain(vector: &Vector) -> Option<Outcome> {
    let text = text_of(vector.arg(0));
    let text = text.as_str();
    Some(match vector.function.as_str() {
        "sanitize_text_field" => svc_text::sanitize_text_field(text).into(),
        "sanitize_textarea_field" => svc_text::sanitize_textarea_field(text).into(),
        "esc_html" => svc_text::esc_html(text).into_string().into(),
        "esc_attr" => svc_text::esc_attr(text).into_string().into(),
        "esc_textarea" => svc_text::esc_textarea(text).into_string().into(),
        "esc_js" => svc_text::esc_js(text).into(),
        "esc_xml" => svc_text::esc_xml(text).into(),
        "sanitize_email" => svc_text::sanitize_email(text).into(),
        "wp_kses_normalize_entities" => svc_text::normalize_entities(text).into(),
        "convert_invalid_entities" => svc_text::convert_invalid_entities(text).into(),
        "normalize_whitespace" => svc_text::normalize_whitespace(text).into(),
        "sanitize_key" => svc_text::sanitize_key(text).into(),
        "sanitize_locale_name" => svc_text::sanitize_locale_name(text).into(),
        "sanitize_mime_type" => svc_text::sanitize_mime_type(text).into(),
        "sanitize_trackback_urls" => svc_text::sanitize_trackback_urls(text).into(),
        "sanitize_hex_color" => svc_text::sanitize_hex_color(text).into(),
        "validate_username" => svc_text::validate_username(text).into(),
        "wp_sanitize_redirect" => svc_text::sanitize_redirect(text).into(),
        "wp_make_link_relative" => svc_text::make_link_relative(text).into(),
        "trailingslashit" => svc_text::trailing_slash(text).into(),
        "untrailingslashit" => svc_text::untrailing_slash(text).into(),
        "_wp_to_kebab_case" => svc_text::kebab_case(text).into(),
        "sanitize_file_name" => svc_text::sanitize_file_name(text, &MimeTypes::allowed(false)).into(),
        "seems_utf8" => std::str::from_utf8(&bytes_of(vector.arg(0))).is_ok().into(),
        "is_email" if svc_text::is_email(text) => text.into(),
        "is_email" => false.into(),
        "absint" => match vector.arg(0) {
            Value::Number(n) if n.is_f64() => n.as_f64().map(|f| (f as i64).unsigned_abs()).into(),
            _ => svc_text::absint(text).into(),
        },
        "wp_check_filetype" => match svc_text::check_filetype(text, &MimeTypes::allowed(false)) {
            Some((ext, mime)) => json!({"ext": ext, "type": mime}).into(),
            None => json!({"ext": false, "type": false}).into(),
        },
        _ => return None,
    })
}

/// Functions that take a string and further arguments.
fn with_arguments(vector: &Vector) -> Option<Outcome> {
    let text = text_of(vector.arg(0));
    let text = text.as_str();
    let number = |index: usize| usize::try_from(vector.arg(index).as_i64().unwrap_or(0)).ok();
    let decimals = vector.arg(1).as_i64().map_or(0, |d| d.unsigned_abs() as u8);
    let protocols: Option<Vec<&str>> =
        vector.arg(1).as_array().map(|list| list.iter().filter_map(Value::as_str).collect());
    let protocols = protocols.as_deref().unwrap_or(svc_text::ALLOWED_PROTOCOLS);
    Some(match vector.function.as_str() {
        "wp_encode_emoji" => svc_text::encode_emoji(text).into_owned().into(),
        "wp_strip_all_tags" => svc_text::strip_all_tags(text, vector.arg(1) == &Value::Bool(true)).into(),
        "sanitize_url" | "esc_url_raw" => svc_text::sanitize_url_with(text, protocols).into(),
        "esc_url" => svc_text::esc_url_with(text, protocols).into_string().into(),
        "wp_kses_bad_protocol" => svc_text::bad_protocol(text, protocols).into(),
        "remove_accents" => {
            bytes_outcome(svc_text::remove_accents_from_bytes(&bytes_of(vector.arg(0)), vector.text(1)))
        }
        "sanitize_title" => {
            let context = vector.arg(2).as_str().unwrap_or("save");
            let slug = if context == "save" {
                svc_text::sanitize_title(text)
            } else {
                svc_text::sanitize_title_with_dashes(text, false)
            };
            if slug.is_empty() { vector.text(1).into() } else { slug.into() }
        }
        "sanitize_title_with_dashes" => svc_text::sanitize_title_with_dashes(text, vector.text(2) == "save").into(),
        "_truncate_post_slug" => {
            let max = vector.args.get(1).map_or(Some(200), |_| number(1))?;
            bytes_outcome(svc_text::truncate_post_slug_bytes(text, max))
        }
        "utf8_uri_encode" => svc_text::utf8_uri_encode(text, number(1)?).into(),
        "sanitize_user" => svc_text::sanitize_user(text, vector.arg(1) == &Value::Bool(true)).into(),
        "sanitize_html_class" => svc_text::sanitize_html_class(text, vector.text(1)).into(),
        "wp_basename" => svc_text::basename(text, vector.text(1)).into(),
        "url_shorten" => svc_text::url_shorten(text, 35).into(),
        "wp_specialchars_decode" => {
            let quotes = match vector.arg(1) {
                Value::Null => Quotes::None,
                Value::String(s) if s == "single" => Quotes::Single,
                Value::String(s) if s == "double" => Quotes::Double,
                Value::Number(n) if n.as_u64() == Some(0) => Quotes::None,
                Value::Number(n) if n.as_u64() == Some(2) => Quotes::Double,
                _ => Quotes::Both,
            };
            svc_text::specialchars_decode(text, quotes).into()
        }
        "number_format_i18n" => svc_text::number_format(vector.arg(0).as_f64()?, decimals).into(),
        "size_format" => match text.parse::<f64>().ok().and_then(|n| {
            // WordPress compares types here, so the string `0` is not the number zero.
            if n == 0.0 && !vector.arg(0).is_number() { None } else { svc_text::size_format(n, decimals) }
        }) {
            Some(size) => size.into(),
            None => false.into(),
        },
        "zeroise" => svc_text::zeroise(vector.arg(0).as_i64()?, number(1)?).into(),
        _ => return None,
    })
}

/// List functions: of a string, or of the scalars of an array.
fn lists(vector: &Vector) -> Option<Outcome> {
    let value = vector.arg(0);
    Some(match vector.function.as_str() {
        "wp_parse_list" => {
            let items = list::parse_list(value).ok()?;
            Value::Array(items.into_iter().map(Cow::into_owned).collect()).into()
        }
        "wp_parse_id_list" => list::parse_id_list_value(value).ok()?.into(),
        "wp_parse_slug_list" => {
            let slugs = list::parse_text_list(value).ok()?.into_iter().map(|slug| svc_text::sanitize_title(&slug));
            let mut seen = std::collections::HashSet::new();
            let first = slugs.enumerate().filter(|(_, slug)| seen.insert(slug.clone()));
            // A removed duplicate leaves a gap in PHP's keys.
            list::list_shape(first.map(|(n, slug)| (n.to_string(), Value::from(slug))).collect::<Map<_, _>>().into())
                .into()
        }
        _ => return None,
    })
}

/// Functions that are applied to every string inside a value.
fn nested_strings(vector: &Vector) -> Option<Outcome> {
    let convert: fn(&str) -> String = match vector.function.as_str() {
        "wp_slash" => svc_text::slash,
        "wp_unslash" | "stripslashes_deep" => svc_text::unslash,
        _ => return None,
    };
    Some(map_texts(vector.arg(0), convert).into())
}

fn map_texts(value: &Value, convert: fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => convert(text).into(),
        Value::Array(items) => items.iter().map(|i| map_texts(i, convert)).collect(),
        Value::Object(properties) => match properties.get("$object") {
            Some(object) => map_texts(object, convert),
            None => properties.iter().map(|(k, v)| (k.clone(), map_texts(v, convert))).collect(),
        },
        other => other.clone(),
    }
}

/// A string argument cast as WordPress does: numbers and booleans become strings, any other value is empty.
///
/// Invalid UTF-8 is removed, since our functions never receive it.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(true) => "1".to_owned(),
        Value::Object(_) => bytes_of(value).utf8_chunks().map(|chunk| chunk.valid()).collect(),
        _ => String::new(),
    }
}

/// The bytes of a string or of the marker `{"$b64": …}`.
fn bytes_of(value: &Value) -> Vec<u8> {
    match (value, value.get("$b64").and_then(Value::as_str)) {
        (_, Some(encoded)) => from_base64(encoded),
        (Value::String(text), _) => text.as_bytes().to_vec(),
        _ => Vec::new(),
    }
}

/// Bytes in the format of the recordings: a string if they are UTF-8, a marker otherwise.
fn bytes_outcome(bytes: Vec<u8>) -> Outcome {
    match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(e) => json!({"$b64": to_base64(e.as_bytes())}).into(),
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn from_base64(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut bits, mut n) = (0u32, 0);
    for digit in text.bytes().filter_map(|b| BASE64.iter().position(|d| *d == b)) {
        bits = (bits << 6) | digit as u32;
        n += 6;
        if n >= 8 {
            n -= 8;
            out.push((bits >> n) as u8);
            bits &= (1 << n) - 1;
        }
    }
    out
}

fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |w, b| (w << 8) | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = BASE64[(word >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}
