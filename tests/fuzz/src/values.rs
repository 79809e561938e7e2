//! Targets for values: query strings, JSON, dates and schemas.

use serde_json::{Map, Value};
use svc_php::{json, query};
use svc_schema::{
    Schema,
    dates::{self, SiteZone},
};

use super::text;

/// Maximum number of values of a JSON document.
const MAX_VALUES: usize = 10_000;

/// Parses and builds query strings: what was built is parsed to the same values.
pub fn query_strings(data: &[u8]) {
    let parsed: Map<String, Value> = query::parse(data);
    let built = query::build(&parsed);
    assert!(built.is_ascii() && !built.contains(['\r', '\n', ' ']), "{built:?} is no query string");
    let again = query::parse(built.as_bytes());
    assert_eq!(query::build(&again), built, "building is not stable");
}

/// Decodes and encodes JSON: what was encoded is decoded again, and is safe in HTML.
pub fn json_output(data: &[u8]) {
    let Ok(value) = json::decode_bounded(data, MAX_VALUES) else { return };
    let encoded = json::encode(&value);
    assert!(!encoded.contains("</") && !encoded.bytes().any(|b| b < b' '), "{encoded:?}");
    // As in PHP, the float -0 is written as `-0`, which is read as an integer.
    let again = json::encode(&json::decode(encoded.as_bytes()).expect("encoded values can be decoded"));
    for text in [again.clone(), json::compact(&value), json::pretty(&value)] {
        let decoded = json::decode(text.as_bytes()).expect("encoded values can be decoded");
        assert_eq!(json::encode(&decoded), again, "{text}");
    }
}

/// Reads dates in the forms of requests and of columns.
pub fn dates(data: &[u8]) {
    let text = text(data);
    let zones = [SiteZone::UTC, SiteZone::from_options("Europe/Berlin", 0.0), SiteZone::from_options("", -9.5)];
    let (parsed, forced) = (dates::parse_date(&text, false), dates::parse_date(&text, true));
    for zone in &zones {
        for is_utc in [false, true] {
            let found = dates::date_with_gmt(&text, is_utc, zone);
            assert_eq!(found.is_some(), parsed.is_some(), "{text:?}");
        }
        for written in [
            dates::to_gmt(&text, zone),
            dates::from_gmt(&text, zone),
            dates::to_gmt_rfc3339(&text, zone),
            dates::from_gmt_rfc3339(&text, zone),
        ] {
            assert!(written.is_ascii() && written.len() >= 19, "{written:?}");
        }
    }
    if parsed.is_some() && text.ends_with('Z') {
        assert_eq!(parsed, forced, "{text:?}");
    }
    if let Some(date) = dates::mysql_to_rfc3339(&text) {
        assert!(date.contains('T'), "{date:?}");
    }
}

/// Compiles the schema of the first line, and validates and sanitizes the value of the rest. The schema is any JSON.
pub fn schema(data: &[u8]) {
    let (first, rest) = super::first_line(data);
    let Ok(source) = serde_json::from_slice::<Value>(first) else { return };
    let Ok(value) = serde_json::from_slice::<Value>(rest) else { return };
    let schema = Schema::compile(source);
    let is_valid = schema.validate(&value, "x").is_ok();
    if schema.is_sanitized(&value, "x").is_ok_and(|is_sanitized| is_sanitized) {
        let sanitized = schema.sanitize(value.clone(), "x");
        assert!(sanitized.is_ok_and(|sanitized| sanitized == value), "{value} is not what sanitizing returns");
    }
    assert!(is_valid || schema.parse(value.clone(), "x").is_err(), "{value} is invalid and is parsed");
    for context in ["view", "edit", "embed"] {
        schema.filter_by_context(value.clone(), context);
    }
}
