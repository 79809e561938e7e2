//! Parses and builds query strings and form bodies by PHP's rules for names: `a[]=1&b[c][d]=2`.
//!
//! This module does not parse URLs and knows no parameters of the REST API.

use percent_encoding::percent_decode;
use serde_json::{Map, Value};

use crate::{Array, ArrayKey, Php, float};

/// Maximum number of variables; the rest is ignored. PHP's `max_input_vars`.
pub const MAX_VARIABLES: usize = 1000;

/// Maximum number of brackets in a name; variables with more are ignored. PHP's `max_input_nesting_level`.
pub const MAX_NESTING: usize = 64;

/// Parses a query string to objects and arrays of strings.
///
/// Invalid UTF-8 becomes `?`. Source: `wp_parse_str`.
pub fn parse(text: &[u8]) -> Map<String, Value> {
    values(parse_php(text))
}

/// [`parse`] for names and values that are already decoded: the fields of a multipart body.
pub fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Map<String, Value> {
    let mut variables = Array::new();
    for (name, value) in pairs.into_iter().take(MAX_VARIABLES) {
        register(&mut variables, name.as_bytes(), Php::Bytes(value.into_bytes()));
    }
    values(variables)
}

fn values(variables: Array) -> Map<String, Value> {
    let names = variables.into_iter();
    names.map(|(name, value)| (String::from_utf8_lossy(&name.to_bytes()).into_owned(), value.into())).collect()
}

/// [`parse`] to PHP values: arrays and byte strings.
pub fn parse_php(text: &[u8]) -> Array {
    let mut variables = Array::new();
    for pair in text.split(|b| *b == b'&').filter(|pair| !pair.is_empty()).take(MAX_VARIABLES) {
        let (name, value) = match pair.iter().position(|b| *b == b'=') {
            Some(at) => (&pair[..at], &pair[at + 1..]),
            None => (pair, &b""[..]),
        };
        register(&mut variables, &decode(name), Php::Bytes(decode(value)));
    }
    variables
}

/// Decodes form encoding: `+` is a space, `%41` a byte; a `%` that starts no escape is unchanged.
fn decode(text: &[u8]) -> Vec<u8> {
    let spaced: Vec<u8> = text.iter().map(|b| if *b == b'+' { b' ' } else { *b }).collect();
    percent_decode(&spaced).collect()
}

/// Inserts a value at the path that its name describes.
fn register(variables: &mut Array, name: &[u8], value: Php) {
    let Some((first, steps)) = split_name(name) else { return };
    let mut array = variables;
    let mut key = Some(first);
    for step in steps {
        // An earlier scalar value on the path is replaced by an array.
        let slot = match key {
            Some(key) => array.slot(key, || Php::Null),
            None => match array.push_slot(Php::Null) {
                Some(slot) => slot,
                None => return,
            },
        };
        if !matches!(slot, Php::Array(_)) {
            *slot = Php::Array(Array::new());
        }
        let Php::Array(inner) = slot else { return };
        array = inner;
        key = step;
    }
    match key {
        Some(key) => array.insert(key, value),
        None => _ = array.push(value),
    }
}

/// Splits a name into the variable's name and the keys in brackets (`None` for empty brackets). Returns `None` if the
/// name is empty or has too many brackets.
fn split_name(name: &[u8]) -> Option<(ArrayKey, Vec<Option<ArrayKey>>)> {
    let start = name.iter().position(|b| *b != b' ')?;
    // A NUL byte ends the name, as it ends a C string.
    let name = name[start..].split(|b| *b == 0).next().unwrap_or_default();
    let bracket = name.iter().position(|b| *b == b'[').unwrap_or(name.len());
    let (own, mut rest) = name.split_at(bracket);
    if own.is_empty() {
        return None;
    }
    if !rest.is_empty() && !rest.contains(&b']') {
        // The bracket is not closed, so it is part of the name.
        return Some((ArrayKey::from_bytes(&mangle(name)), Vec::new()));
    }
    let mut keys = Vec::new();
    while let Some(inside) = rest.strip_prefix(b"[") {
        if keys.len() >= MAX_NESTING {
            return None;
        }
        let blank = usize::from(inside.first().is_some_and(|b| matches!(b, b' ' | 0x09..=0x0D)));
        if inside.get(blank) == Some(&b']') {
            keys.push(None);
            rest = &inside[blank + 1..];
            continue;
        }
        // The key ends at the next closing bracket. A leading space belongs to the key.
        let Some(end) = inside.iter().position(|b| *b == b']') else { break };
        keys.push(Some(ArrayKey::from_bytes(&inside[..end])));
        rest = &inside[end + 1..];
    }
    Some((ArrayKey::from_bytes(&mangle(own)), keys))
}

/// Replaces characters that PHP does not allow in variable names by `_`.
fn mangle(name: &[u8]) -> Vec<u8> {
    name.iter().map(|b| if matches!(b, b' ' | b'.' | b'[') { b'_' } else { *b }).collect()
}

/// Builds a query string like PHP's `http_build_query`: names and values are encoded, nulls and empty arrays are
/// omitted, `true` is 1 and `false` is 0.
pub fn build(parameters: &Map<String, Value>) -> String {
    let mut out = String::new();
    for (name, value) in parameters {
        build_pair(&urlencode(name), value, &mut out);
    }
    out
}

fn build_pair(name: &str, value: &Value, out: &mut String) {
    let text = match value {
        Value::Null => return,
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                build_pair(&format!("{name}%5B{n}%5D"), item, out);
            }
            return;
        }
        Value::Object(entries) => {
            for (key, item) in entries {
                build_pair(&format!("{name}%5B{}%5D", urlencode(key)), item, out);
            }
            return;
        }
        Value::Bool(b) => i32::from(*b).to_string(),
        Value::Number(n) => match n.as_i64() {
            Some(n) => n.to_string(),
            None => float::to_text(n.as_f64().unwrap_or_default()),
        },
        Value::String(text) => text.clone(),
    };
    if !out.is_empty() {
        out.push('&');
    }
    out.push_str(name);
    out.push('=');
    out.push_str(&urlencode(&text));
}

/// Builds the query string of a link: names are not encoded, values are, and an empty value has no `=`.
///
/// Null, `false` and empty strings become bare names; empty arrays are omitted. Source: `add_query_arg` with
/// `urlencode_deep`; unlike those, no empty pair is written for an empty array.
fn build_link(parameters: &Map<String, Value>) -> String {
    let mut out = String::new();
    for (name, value) in parameters {
        link_pair(name, value, &mut out);
    }
    out
}

fn link_pair(name: &str, value: &Value, out: &mut String) {
    let text = match value {
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                link_pair(&format!("{name}%5B{n}%5D"), item, out);
            }
            return;
        }
        Value::Object(entries) => {
            for (key, item) in entries {
                link_pair(&format!("{name}%5B{key}%5D"), item, out);
            }
            return;
        }
        Value::Null | Value::Bool(false) => String::new(),
        Value::Bool(true) => "1".to_owned(),
        Value::Number(n) => match n.as_i64() {
            Some(n) => n.to_string(),
            None => urlencode(&float::to_text(n.as_f64().unwrap_or_default())),
        },
        Value::String(text) => urlencode(text),
    };
    if !out.is_empty() {
        out.push('&');
    }
    out.push_str(name);
    if !text.is_empty() {
        out.push('=');
        out.push_str(&text);
    }
}

/// Adds query parameters to a URL, before its fragment.
///
/// A parameter that is already in the URL is replaced in its position. All parameters of the URL are decoded and
/// encoded again, so `?rest_route=/a/b` becomes `?rest_route=%2Fa%2Fb`. Source: `add_query_arg`.
pub fn extend_url(url: &str, parameters: &Map<String, Value>) -> String {
    let (url, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let mut all = parse(query.as_bytes());
    for (name, value) in parameters {
        all.insert(name.clone(), value.clone());
    }
    let query = build_link(&all);
    if query.is_empty() { format!("{base}{fragment}") } else { format!("{base}?{query}{fragment}") }
}

/// [`extend_url`] with string values.
pub fn extend_url_with<'a>(url: &str, parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
    extend_url(url, &parameters.collect())
}

/// PHP's `urlencode`: letters, digits and `-_.` are unchanged, a space becomes `+`, everything else is
/// percent-encoded.
pub fn urlencode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'-' | b'_' | b'.' => out.push(char::from(byte)),
            b if b.is_ascii_alphanumeric() => out.push(char::from(b)),
            b => out.push_str(percent_encoding::percent_encode_byte(b)),
        }
    }
    out
}

/// PHP's `urldecode`: `+` is a space, `%41` a byte; a `%` that starts no escape is unchanged. Invalid UTF-8 is replaced.
pub fn urldecode(text: &str) -> String {
    String::from_utf8_lossy(&decode(text.as_bytes())).into_owned()
}

/// Percent-encodes each segment of a URL path; slashes are unchanged. Source: `rawurlencode`.
pub fn encode_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'-' | b'_' | b'.' | b'~' | b'/' => out.push(char::from(byte)),
            b if b.is_ascii_alphanumeric() => out.push(char::from(b)),
            b => out.push_str(percent_encoding::percent_encode_byte(b)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Value) {
        assert_eq!(Value::Object(parse(text.as_bytes())), expected, "{text}");
    }

    #[test]
    fn pairs_are_parsed_like_their_encoded_form() {
        let pairs = [("a[x]", "1 & 2"), ("a[y]", "é=%41+"), ("b.c", ""), ("", "d"), ("a[x]", "3")];
        let encoded = pairs.map(|(name, value)| format!("{}={}", urlencode(name), urlencode(value))).join("&");
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(from_pairs(pairs), parse(encoded.as_bytes()));
    }

    #[test]
    fn values_are_nested_by_name() {
        check("a[]=1&b[c][d]=2&a[]=3", json!({"a": ["1", "3"], "b": {"c": {"d": "2"}}}));
        check("a.b=1&c d=2& e=3&=4", json!({"a_b": "1", "c_d": "2", "e": "3"}));
        check("a=1&a=2", json!({"a": "2"}));
        check("a=1&a[x]=2&a[]=3", json!({"a": {"x": "2", "0": "3"}}));
        check("a[[x]]=1&b[x]y=2&c[x=3&d[ ]=4", json!({"a": {"[x": "1"}, "b": {"x": "2"}, "c_x": "3", "d": ["4"]}));
        check("a[x][y=1&b[][y=2", json!({"a": {"x": "1"}, "b": ["2"]}));
        check("a%00b=1&[a]=2", json!({"a": "1"}));
        check("a=%zz%&b=%41+%2B", json!({"a": "%zz%", "b": "A +"}));
        check("a=%FF", json!({"a": "?"}));
    }

    #[test]
    fn number_of_variables_and_nesting_are_limited() {
        let many: Vec<String> = (0..2000).map(|n| format!("v{n}=1")).collect();
        assert_eq!(parse(many.join("&").as_bytes()).len(), MAX_VARIABLES);
        for (n, found) in [(MAX_NESTING, 1), (MAX_NESTING + 1, 0), (100_000, 0)] {
            assert_eq!(parse(format!("a{}=1", "[x]".repeat(n)).as_bytes()).len(), found, "{n}");
        }
    }

    fn parameters() -> Map<String, Value> {
        let value = json!({"a": "x y&z/é", "b": [1, {"q": true, "f": 1.0, "e": 1e25}], "c[d]": "1", "~": "~-_.*", "n": null, "5": "i"});
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn build_encodes_names_and_values() {
        let expected = "a=x+y%26z%2F%C3%A9&b%5B0%5D=1&b%5B1%5D%5Bq%5D=1&b%5B1%5D%5Bf%5D=1&b%5B1%5D%5Be%5D=1.0E%2B25&c%5Bd%5D=1&%7E=%7E-_.%2A&5=i";
        assert_eq!(build(&parameters()), expected);
    }

    #[test]
    fn parameters_are_added_to_urls() {
        for (url, expected) in [
            ("http://a.b/x", "http://a.b/x?post=3&q=a%2Fb+c"),
            ("http://a.b/x?", "http://a.b/x?post=3&q=a%2Fb+c"),
            ("http://a.b/x?e=&z=1#f?g", "http://a.b/x?e&z=1&post=3&q=a%2Fb+c#f?g"),
            ("http://a.b/?post=1&z=1", "http://a.b/?post=3&z=1&q=a%2Fb+c"),
            ("http://a.b/?rest_route=/x/v2/y", "http://a.b/?rest_route=%2Fx%2Fv2%2Fy&post=3&q=a%2Fb+c"),
            ("http://a.b/?a[]=1&a[]=2", "http://a.b/?a%5B0%5D=1&a%5B1%5D=2&post=3&q=a%2Fb+c"),
        ] {
            assert_eq!(extend_url_with(url, [("post", "3"), ("q", "a/b c")]), expected, "{url}");
        }
        assert_eq!(extend_url("http://a.b/x?", &Map::new()), "http://a.b/x");
    }

    #[test]
    fn build_link_encodes_values_only() {
        let expected = "a=x+y%26z%2F%C3%A9&b%5B0%5D=1&b%5B1%5D%5Bq%5D=1&b%5B1%5D%5Bf%5D=1&b%5B1%5D%5Be%5D=1.0E%2B25&c[d]=1&~=%7E-_.%2A&n&5=i";
        assert_eq!(build_link(&parameters()), expected);
    }
}
