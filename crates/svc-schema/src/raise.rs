//! Validation errors, with one constructor per code. All codes and messages are defined here.
//!
//! Source: specification, "Errors" and "Combined-schema errors".

use std::fmt::Display;

use serde_json::{Value, json};
use svc_php::{
    cast::to_text,
    list::MAX_TEXT_ITEMS,
    numeric::{Num, grouped, number},
};

use crate::{Error, compile::NumberRules, formats::Format, path::Path, values::json_text};

pub(crate) fn invalid_type(path: &Path<'_>, types: impl Display) -> Error {
    let param = path.to_string();
    Error::new("rest_invalid_type", format!("{param} is not of type {types}.")).with_data(json!({ "param": param }))
}

pub(crate) fn property_required(path: &Path<'_>, name: &str) -> Error {
    Error::new("rest_property_required", format!("{name} is a required property of {path}."))
}

pub(crate) fn additional_property(name: &str) -> Error {
    Error::new("rest_additional_properties_forbidden", format!("{name} is not a valid property of Object."))
}

/// Singular and plural of the counted noun.
type CountedNoun = (&'static str, &'static str);

const PROPERTIES: CountedNoun = ("property", "properties");
const ITEMS: CountedNoun = ("item", "items");
const CHARACTERS: CountedNoun = ("character long", "characters long");

pub(crate) fn too_few_properties(path: &Path<'_>, bound: &Value) -> Error {
    count("rest_too_few_properties", path, "must contain at least", bound, PROPERTIES)
}

pub(crate) fn too_many_properties(path: &Path<'_>, bound: &Value) -> Error {
    count("rest_too_many_properties", path, "must contain at most", bound, PROPERTIES)
}

pub(crate) fn too_few_items(path: &Path<'_>, bound: &Value) -> Error {
    count("rest_too_few_items", path, "must contain at least", bound, ITEMS)
}

pub(crate) fn too_many_items(path: &Path<'_>, bound: &Value) -> Error {
    count("rest_too_many_items", path, "must contain at most", bound, ITEMS)
}

/// A list in a string with more items than any list may have.
pub(crate) fn too_many_text_items(path: &Path<'_>) -> Error {
    too_many_items(path, &MAX_TEXT_ITEMS.into())
}

pub(crate) fn too_short(path: &Path<'_>, bound: &Value) -> Error {
    count("rest_too_short", path, "must be at least", bound, CHARACTERS)
}

pub(crate) fn too_long(path: &Path<'_>, bound: &Value) -> Error {
    count("rest_too_long", path, "must be at most", bound, CHARACTERS)
}

fn count(code: &str, path: &Path<'_>, must: &str, bound: &Value, (one, many): CountedNoun) -> Error {
    let noun = if svc_php::cast::to_int(bound) == 1 { one } else { many };
    let n = grouped(number(bound).unwrap_or(Num::Int(0)));
    Error::new(code, format!("{path} {must} {n} {noun}."))
}

pub(crate) fn duplicate_items(path: &Path<'_>) -> Error {
    Error::new("rest_duplicate_items", format!("{path} has duplicate items."))
}

pub(crate) fn invalid_multiple(path: &Path<'_>, divisor: &Value) -> Error {
    Error::new("rest_invalid_multiple", format!("{path} must be a multiple of {}.", to_text(divisor)))
}

/// A bound as registered: `1.5`, `1e20`, `5` also for `5.0`. WordPress truncates bounds to integers here.
fn bound_text(bound: &Value) -> String {
    match number(bound) {
        Some(Num::Float(f)) if f.fract() != 0.0 || f.abs() >= 1e15 => format!("{f:?}"),
        Some(Num::Float(f)) => format!("{f:.0}"),
        Some(Num::Int(n)) => n.to_string(),
        None => svc_php::cast::to_int(bound).to_string(),
    }
}

/// A number out of bounds.
pub(crate) fn out_of_bounds(path: &Path<'_>, rules: &NumberRules) -> Error {
    let side = |exclusive: bool| if exclusive { "exclusive" } else { "inclusive" };
    let or_equal = |exclusive: bool| if exclusive { "" } else { " or equal to" };
    let (low, high) = (rules.min_exclusive, rules.max_exclusive);
    let text = match (&rules.min, &rules.max) {
        (Some(min), Some(max)) => {
            let (min, max) = (bound_text(&min.source), bound_text(&max.source));
            format!("{path} must be between {min} ({}) and {max} ({})", side(low), side(high))
        }
        (Some(min), None) => format!("{path} must be greater than{} {}", or_equal(low), bound_text(&min.source)),
        (None, max) => {
            let max = max.as_ref().map_or_else(|| "0".to_owned(), |max| bound_text(&max.source));
            format!("{path} must be less than{} {max}", or_equal(high))
        }
    };
    Error::new("rest_out_of_bounds", text)
}

pub(crate) fn invalid_pattern(path: &Path<'_>, pattern: &str) -> Error {
    Error::new("rest_invalid_pattern", format!("{path} does not match pattern {pattern}."))
}

pub(crate) fn not_in_enum(path: &Path<'_>, values: &[Value]) -> Error {
    let texts: Vec<String> = values.iter().map(enum_value).collect();
    let message = match texts.as_slice() {
        [one] => format!("{path} is not {one}."),
        many => format!("{path} is not one of {}.", sentence_list(many)),
    };
    Error::new("rest_not_in_enum", message)
}

fn enum_value(value: &Value) -> String {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => json_text(value),
        scalar => to_text(scalar).into_owned(),
    }
}

/// A value that does not have the format.
pub(crate) fn invalid_format(path: &Path<'_>, format: Format) -> Error {
    match format {
        Format::HexColor => invalid_hex_color(),
        Format::DateTime => invalid_date(),
        Format::Email => invalid_email(),
        Format::Ip => invalid_ip(path),
        Format::Uuid | Format::Uri => invalid_uuid(path),
    }
}

fn invalid_hex_color() -> Error {
    Error::new("rest_invalid_hex_color", "Invalid hex color.")
}

fn invalid_date() -> Error {
    Error::new("rest_invalid_date", "Invalid date.")
}

fn invalid_email() -> Error {
    Error::new("rest_invalid_email", "Invalid email address.")
}

fn invalid_ip(path: &Path<'_>) -> Error {
    Error::new("rest_invalid_ip", format!("{path} is not a valid IP address."))
}

fn invalid_uuid(path: &Path<'_>) -> Error {
    Error::new("rest_invalid_uuid", format!("{path} is not a valid UUID."))
}

/// A single sub-schema did not match, for a known reason.
pub(crate) fn no_match_for(path: &Path<'_>, title: Option<&str>, position: usize, reason: &str) -> Error {
    let message = match title {
        Some(title) => format!("{path} is not a valid {title}. Reason: {reason}"),
        None => format!("{path} does not match the expected format. Reason: {reason}"),
    };
    Error::new("rest_no_matching_schema", message).with_data(json!({ "position": position }))
}

/// None of several sub-schemas matched. `titles` is set if each of them has one.
pub(crate) fn no_match(path: &Path<'_>, titles: Option<&[&str]>) -> Error {
    let message = match titles {
        Some([]) => format!("{path} does not match any of the expected formats."),
        Some(titles) => format!("{path} is not a valid {}.", sentence_list(titles)),
        None => format!("{path} does not match any of the expected formats."),
    };
    Error::new("rest_no_matching_schema", message)
}

/// Several sub-schemas of `oneOf` matched. `titles` is set if each of them has one.
pub(crate) fn multiple_matches(path: &Path<'_>, titles: Option<&[&str]>, positions: &[usize]) -> Error {
    let message = match titles {
        Some(titles) => format!("{path} matches {}, but should match only one.", sentence_list(titles)),
        None => format!("{path} matches more than one of the expected formats."),
    };
    Error::new("rest_one_of_multiple_matches", message).with_data(json!({ "positions": positions }))
}

/// The value exceeds the limit on validation steps. Legitimate values stay far below it.
pub(crate) fn too_complex(path: &Path<'_>) -> Error {
    Error::new("rest_too_complex", format!("{path} is too complex to be checked.")).with_status(400)
}

/// `a`, `a and b`, `a, b, and c`.
fn sentence_list<S: AsRef<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [one, two] => format!("{} and {}", one.as_ref(), two.as_ref()),
        [start @ .., last] => {
            let start: Vec<&str> = start.iter().map(AsRef::as_ref).collect();
            format!("{}, and {}", start.join(", "), last.as_ref())
        }
    }
}
