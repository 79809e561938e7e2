//! Form encoding as PHP reads it: lists as `a[]=1`, maps as `a[k]=1`.

use std::fmt::Write;

use serde_json::Value;

/// The encoding of a space.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// `%20`, in a query.
    Percent,
    /// `+`, in a body.
    Plus,
}

/// Encodes a map of parameters.
pub(crate) fn encode(parameters: &Value, space: Space) -> String {
    let mut pairs = Vec::new();
    flatten("", parameters, &mut pairs);
    let encode = |text: &str| {
        let text = percent_encode(text, b"");
        if space == Space::Plus { text.replace("%20", "+") } else { text }
    };
    let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("{}={}", encode(k), encode(v))).collect();
    pairs.join("&")
}

/// Writes a value as pairs of names and texts; `name` is the name so far.
fn flatten(name: &str, value: &Value, pairs: &mut Vec<(String, String)>) {
    let text = match value {
        Value::Object(map) => {
            for (key, value) in map {
                let name = if name.is_empty() { key.clone() } else { format!("{name}[{key}]") };
                flatten(&name, value, pairs);
            }
            return;
        }
        Value::Array(list) => {
            for value in list {
                // An index ties the fields of one entry together; the recordings were made with this numbering.
                let name = if value.is_object() || value.is_array() {
                    format!("{name}[{}]", pairs.len())
                } else if name.ends_with("[]") {
                    name.to_owned()
                } else {
                    format!("{name}[]")
                };
                flatten(&name, value, pairs);
            }
            return;
        }
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    // An absent query is no parameter.
    if !name.is_empty() {
        pairs.push((name.to_owned(), text));
    }
}

/// Percent-encodes all bytes but unreserved ones and those of `safe`.
pub(crate) fn percent_encode(text: &str, safe: &[u8]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"_.-~".contains(&byte) || safe.contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _written = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parameters_are_encoded_as_php_reads_them() {
        #[rustfmt::skip]
        let rows = [
            (json!(null),                              "",                                   ""),
            (json!({"a": 1, "b": true, "c": null}),    "a=1&b=true&c=",                      "a=1&b=true&c="),
            (json!({"a": [1, "x y"]}),                 "a%5B%5D=1&a%5B%5D=x%20y",            "a%5B%5D=1&a%5B%5D=x+y"),
            (json!({"a": {"b": [2]}, "c/": "é+"}),     "a%5Bb%5D%5B%5D=2&c%2F=%C3%A9%2B",    "a%5Bb%5D%5B%5D=2&c%2F=%C3%A9%2B"),
            (json!({"a[]": [1], "b": [{"k": 1.5}]}),   "a%5B%5D=1&b%5B1%5D%5Bk%5D=1.5",      "a%5B%5D=1&b%5B1%5D%5Bk%5D=1.5"),
        ];
        for (parameters, query, body) in rows {
            assert_eq!(encode(&parameters, Space::Percent), query);
            assert_eq!(encode(&parameters, Space::Plus), body);
        }
    }
}
