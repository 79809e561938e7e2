//! Differences between two JSON documents.

use std::fmt;

use serde_json::Value;
use xtask_support::server::Response;

/// Maximum length of a path, and of a value, in a description.
const SHOWN: usize = 60;

/// One difference between a document of the upstream and the same document of this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Names and positions, separated by dots. Empty for the whole document.
    pub(crate) path: String,
    /// The kind of a difference.
    pub(crate) kind: DifferenceKind,
}

/// The kind of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DifferenceKind {
    /// Only the upstream has the value.
    OnlyUpstream,
    /// Only this server has the value.
    OnlyHere,
    /// The values differ: that of the upstream and that of this server, shortened.
    Value(String, String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the document" } else { &self.path };
        match &self.kind {
            DifferenceKind::OnlyUpstream => write!(f, "{path}: only in WordPress"),
            DifferenceKind::OnlyHere => write!(f, "{path}: not in WordPress"),
            DifferenceKind::Value(upstream, here) => write!(f, "{path}: {upstream} in WordPress, {here} here"),
        }
    }
}

/// The first `limit` differences. The order of fields is not compared, that of lists is. An empty list equals an empty object,
/// since PHP encodes both as a list.
pub(crate) fn differences(upstream: &Value, here: &Value, limit: usize) -> Vec<Difference> {
    let mut found = Vec::new();
    visit(upstream, here, &mut Vec::new(), limit, &mut found);
    found
}

fn visit(upstream: &Value, here: &Value, path: &mut Vec<String>, limit: usize, found: &mut Vec<Difference>) {
    if found.len() >= limit {
        return;
    }
    match (upstream, here) {
        (Value::Object(a), Value::Object(b)) => {
            for (name, value) in a {
                path.push(name.clone());
                match b.get(name) {
                    Some(other) => visit(value, other, path, limit, found),
                    None => add(path, DifferenceKind::OnlyUpstream, limit, found),
                }
                path.pop();
            }
            for name in b.keys().filter(|name| !a.contains_key(*name)) {
                path.push(name.clone());
                add(path, DifferenceKind::OnlyHere, limit, found);
                path.pop();
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for i in 0..a.len().max(b.len()) {
                path.push(i.to_string());
                match (a.get(i), b.get(i)) {
                    (Some(value), Some(other)) => visit(value, other, path, limit, found),
                    (Some(_), None) => add(path, DifferenceKind::OnlyUpstream, limit, found),
                    (None, _) => add(path, DifferenceKind::OnlyHere, limit, found),
                }
                path.pop();
            }
        }
        _ if is_equal(upstream, here) => {}
        _ => add(path, DifferenceKind::Value(shorten(upstream), shorten(here)), limit, found),
    }
}

fn add(path: &[String], kind: DifferenceKind, limit: usize, found: &mut Vec<Difference>) {
    if found.len() < limit {
        found.push(Difference { path: path.join("."), kind });
    }
}

fn is_equal(a: &Value, b: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    match (a, b) {
        // 1 and 1.0 are one number.
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64().is_some() && x.as_f64() == y.as_f64(),
        _ => a == b || is_empty(a) && is_empty(b),
    }
}

fn shorten(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// How a response of the gateway differs from WordPress's.
pub(crate) fn difference(theirs: &Response, ours: &Response) -> Option<String> {
    if theirs.status != ours.status {
        return Some(format!("status {} in WordPress, {} here", theirs.status, ours.status));
    }
    for name in ["x-wp-total", "x-wp-totalpages", "link", "allow"] {
        if theirs.header(name) != ours.header(name) {
            return Some(format!(
                "header {name}: {:?} in WordPress, {:?} here",
                theirs.header(name),
                ours.header(name)
            ));
        }
    }
    match (theirs.json(), ours.json()) {
        (Ok(theirs), Ok(ours)) => differences(&theirs, &ours, 1).first().map(ToString::to_string),
        _ => (theirs.body != ours.body).then(|| "the bodies differ".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(upstream: Value, here: Value, expected: &[&str]) {
        let found: Vec<String> = differences(&upstream, &here, 10).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn documents() {
        check(json!({"a": 1, "b": []}), json!({"b": {}, "a": 1.0}), &[]);
        check(json!({"a": {"b": [1, 2]}}), json!({"a": {"b": [1, 3]}}), &["a.b.1: 2 in WordPress, 3 here"]);
        check(json!({"a": 1}), json!({"b": 1}), &["a: only in WordPress", "b: not in WordPress"]);
        check(json!([1, 2]), json!([1]), &["1: only in WordPress"]);
        check(json!([1]), json!({"a": 1}), &[r#"the document: [1] in WordPress, {"a":1} here"#]);
        check(json!("1"), json!(1), &[r#"the document: "1" in WordPress, 1 here"#]);
    }

    #[test]
    fn the_number_of_differences_is_bounded() {
        assert_eq!(differences(&json!([1, 2, 3]), &json!([4, 5, 6]), 2).len(), 2);
    }
}
