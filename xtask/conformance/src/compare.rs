//! Compares a received response with the recorded one, and describes the first difference.
//!
//! Objects are equal in any order of their keys (which `order.rs` compares), lists in order only; `1` equals `1.0`. Ids that WordPress gave out
//! during the recording are related one to one with the server's (`ids.rs`).

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Map, Number, Value};

use crate::{
    brand::BrandRules,
    ids::{Ids, given_out, is_given_out, split_digits},
    normalize::Normalizer,
    pointer,
    response::sort_lists,
    scenario::{Step, StepResponse},
};

/// Relative difference of two numbers that are taken for equal, where one is a fraction.
const TOLERANCE: f64 = 1e-12;

/// Characters of a value that a message shows.
const SHOWN: usize = 160;

/// Keys that a message names.
const SHOWN_KEYS: usize = 8;

/// Compares responses of one scenario.
pub(crate) struct Comparison {
    brand: Arc<BrandRules>,
    normalizer: Arc<Normalizer>,
    ids: Ids,
}

impl Comparison {
    pub(crate) fn new(brand: Arc<BrandRules>, normalizer: Arc<Normalizer>) -> Self {
        Comparison { brand, normalizer, ids: Ids::default() }
    }

    /// The first difference between the recorded response and the received one.
    pub(crate) fn difference(
        &mut self,
        step: &Step,
        recorded: &StepResponse,
        received: &StepResponse,
    ) -> Option<String> {
        if recorded.status != received.status {
            let code = received.body.get("code").and_then(Value::as_str).unwrap_or_default();
            let text = format!("status: expected {}, got {} {code}", recorded.status, received.status);
            return Some(text.trim_end().to_owned());
        }
        let mut body = self.brand.value(&self.normalizer.recorded(&recorded.body));
        sort_lists(step, &mut body);
        self.headers(step, &recorded.headers, &received.headers)
            .or_else(|| self.value(&body, &received.body, "").map(|difference| format!("body {difference}")))
    }

    /// The first difference between recorded changes of rows and received ones.
    pub(crate) fn rows(&mut self, recorded: &Value, received: &Value) -> Option<String> {
        self.value(&self.normalizer.recorded(recorded), received, "")
    }

    fn headers(&mut self, step: &Step, recorded: &Map<String, Value>, received: &Map<String, Value>) -> Option<String> {
        let recorded: Map<String, Value> = recorded
            .iter()
            .filter(|(name, _)| !step.ignore_headers.contains(name))
            .map(|(name, value)| (self.brand.header_name(name), self.brand.value(&self.normalizer.recorded(value))))
            .collect();
        let names: BTreeSet<&String> = recorded.keys().chain(received.keys()).collect();
        names.into_iter().find_map(|name| {
            let (a, b) = (recorded.get(name).unwrap_or(&Value::Null), received.get(name).unwrap_or(&Value::Null));
            if name == "content-type" && same_content_type(a, b) {
                return None;
            }
            self.value(a, b, "").map(|_| format!("header {name}: expected {}, got {}", show(a), show(b)))
        })
    }

    /// The first difference between two values; `at` is the pointer to them.
    fn value(&mut self, recorded: &Value, received: &Value, at: &str) -> Option<String> {
        match (recorded, received) {
            (Value::Object(a), Value::Object(b)) => self.objects(a, b, at),
            (Value::Array(a), Value::Array(b)) => self.lists(a, b, at),
            (Value::Number(a), Value::Number(b)) => self.numbers(a, b, at),
            (Value::String(a), Value::String(b)) => self.texts(a, b, at),
            (a, b) if a == b => None,
            (a, b) => Some(unequal(a, b, at)),
        }
    }

    fn objects(&mut self, recorded: &Map<String, Value>, received: &Map<String, Value>, at: &str) -> Option<String> {
        let missing: Vec<&str> = keys_without(recorded, received);
        let unexpected: Vec<&str> = keys_without(received, recorded);
        // A key can be an id that was given out.
        let id_keys = match (missing.as_slice(), unexpected.as_slice()) {
            ([], []) => None,
            ([a], [b]) if self.same_id_keys(a, b) => Some((*a, *b)),
            _ => return Some(keys_differ(&missing, &unexpected, at)),
        };
        let mut keys: Vec<&String> = recorded.keys().collect();
        keys.sort();
        keys.into_iter().find_map(|key| {
            let other = id_keys.filter(|(a, _)| a == key).map_or(key.as_str(), |(_, b)| b);
            self.value(&recorded[key], &received[other], &format!("{at}/{}", pointer::escape(key)))
        })
    }

    fn same_id_keys(&mut self, recorded: &str, received: &str) -> bool {
        let (Some(a), Ok(b)) = (given_out(recorded), received.parse::<u64>()) else { return false };
        self.ids.relate(a, b)
    }

    fn lists(&mut self, recorded: &[Value], received: &[Value], at: &str) -> Option<String> {
        let lengths = || format!("{} entries expected, {} got", recorded.len(), received.len());
        let differs = recorded.len() != received.len();
        for (n, (a, b)) in recorded.iter().zip(received).enumerate() {
            if let Some(difference) = self.value(a, b, &format!("{at}/{n}")) {
                return Some(if differs { format!("{difference} (and {})", lengths()) } else { difference });
            }
        }
        differs.then(|| format!("at {}: {}", place(at), lengths()))
    }

    fn numbers(&mut self, recorded: &Number, received: &Number, at: &str) -> Option<String> {
        if let (Some(a), Some(b)) = (recorded.as_u64().filter(|a| is_given_out(*a)), received.as_u64()) {
            return (!self.ids.relate(a, b))
                .then(|| format!("at {}: id {b} does not correspond to the recorded {a}", place(at)));
        }
        let equal =
            recorded == received || (recorded.is_f64() || received.is_f64()) && nearly_equal(recorded, received);
        (!equal).then(|| unequal(&recorded.clone().into(), &received.clone().into(), at))
    }

    fn texts(&mut self, recorded: &str, received: &str, at: &str) -> Option<String> {
        let (a, b) = (split_digits(recorded), split_digits(received));
        if recorded == received && !a.iter().any(|part| given_out(part).is_some()) {
            return None;
        }
        if a.len() != b.len() {
            return Some(texts_differ(recorded, received, at));
        }
        a.iter().zip(&b).find_map(|(x, y)| match given_out(x) {
            Some(id) if y.parse::<u64>().is_ok_and(|y| self.ids.relate(id, y)) => None,
            Some(_) => {
                let received = show(&received.into());
                Some(format!("at {}: id {y} in {received} does not correspond to the recorded {x}", place(at)))
            }
            None => (x != y).then(|| texts_differ(recorded, received, at)),
        })
    }
}

/// Names of JSON types in messages, and in the marks of values of which only the type is compared.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// A value as JSON with the keys of its objects sorted.
pub(crate) fn sorted_text(value: &Value) -> String {
    sorted(value).to_string()
}

/// A value with the keys of its objects sorted.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(sorted).collect(),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            entries.into_iter().collect()
        }
        other => other.clone(),
    }
}

/// A value for a message.
fn show(value: &Value) -> String {
    let text = sorted_text(value);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn place(at: &str) -> &str {
    if at.is_empty() { "/" } else { at }
}

fn unequal(recorded: &Value, received: &Value, at: &str) -> String {
    format!("at {}: expected {}, got {}", place(at), show(recorded), show(received))
}

/// Two texts from shortly before the place where they part.
fn texts_differ(recorded: &str, received: &str, at: &str) -> String {
    let differs = recorded.chars().zip(received.chars()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| show(&text.chars().skip(differs.saturating_sub(30)).take(120).collect::<String>().into());
    let position =
        if recorded.chars().count() > 40 { format!(" (differs at character {differs})") } else { String::new() };
    format!("at {}: expected {}, got {}{position}", place(at), part(recorded), part(received))
}

fn keys_without<'m>(map: &'m Map<String, Value>, other: &Map<String, Value>) -> Vec<&'m str> {
    let mut keys: Vec<&str> = map.keys().map(String::as_str).filter(|key| !other.contains_key(*key)).collect();
    keys.sort_unstable();
    keys
}

fn keys_differ(missing: &[&str], unexpected: &[&str], at: &str) -> String {
    let list = |what: &str, keys: &[&str]| {
        let keys = &keys[..keys.len().min(SHOWN_KEYS)];
        (!keys.is_empty()).then(|| format!("{what} members {}", keys.join(", ")))
    };
    let parts: Vec<String> = [list("missing", missing), list("unexpected", unexpected)].into_iter().flatten().collect();
    format!("at {}: {}", place(at), parts.join("; "))
}

/// Whether two content types differ at most in case and spaces.
fn same_content_type(a: &Value, b: &Value) -> bool {
    let plain = |value: &Value| value.as_str().map(|text| text.to_lowercase().replace(' ', ""));
    plain(a).is_some() && plain(a) == plain(b)
}

fn nearly_equal(a: &Number, b: &Number) -> bool {
    let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) else { return false };
    (a - b).abs() <= TOLERANCE * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The difference that a comparison reports for two bodies, or "" where there is none.
    fn difference(recorded: &Value, received: &Value) -> String {
        let (brand, normalizer) =
            (BrandRules::new("wp").unwrap(), Normalizer::new("http://h", "http://h", 0.0).unwrap());
        Comparison::new(Arc::new(brand), Arc::new(normalizer)).value(recorded, received, "").unwrap_or_default()
    }

    #[test]
    fn differences_are_found_and_named() {
        #[rustfmt::skip]
        let rows = [
            (json!({"a": 1, "b": [1.0]}), json!({"b": [1], "a": 1.0}), ""),
            (json!(0.1), json!(0.1000000000000001), ""),
            (json!(1000000), json!(1000001), "at /: expected 1000000, got 1000001"),
            (json!(0.1), json!(0.2), "at /: expected 0.1, got 0.2"),
            (json!([1, 2]), json!([2, 1]), "at /0: expected 1, got 2"),
            (json!([1, 2]), json!([1]), "at /: 2 entries expected, 1 got"),
            (json!([1, 2]), json!([3]), "at /0: expected 1, got 3 (and 2 entries expected, 1 got)"),
            (json!({"a/b": [{"c": true}]}), json!({"a/b": [{"c": false}]}), "at /a~1b/0/c: expected true, got false"),
            (json!({"a": null}), json!({"a": "null"}), "at /a: expected null, got \"null\""),
            (json!({"a": 1, "b": 2}), json!({"a": 1, "c": 2}), "at /: missing members b; unexpected members c"),
            (json!("abc"), json!("abd"), "at /: expected \"abc\", got \"abd\""),
            (json!("a1"), json!("ab"), "at /: expected \"a1\", got \"ab\""),
            // Ids that were given out.
            (json!([100001, "/100001/", {"100001": 100001}]), json!([7, "/7/", {"7": 7}]), ""),
            (json!([100001, "/100001/"]), json!([7, "/8/"]), "at /1: id 8 in \"/8/\" does not correspond to the recorded 100001"),
            (json!([100001, 100002]), json!([7, 7]), "at /1: id 7 does not correspond to the recorded 100002"),
            (json!([100001, {"100001": 1}]), json!([7, {"8": 1}]), "at /1: missing members 100001; unexpected members 8"),
            (json!(["x100001y", "x100001y"]), json!(["x100001y", "x100002y"]), "at /1: id 100002 in \"x100002y\" does not correspond to the recorded 100001"),
            (json!("900001"), json!("900002"), "at /: expected \"900001\", got \"900002\""),
        ];
        for (recorded, received, expected) in rows {
            assert_eq!(difference(&recorded, &received), expected, "{recorded} {received}");
        }
        let (a, b) = ("x".repeat(50), "x".repeat(49) + "é");
        let shown = "x".repeat(30);
        let expected = format!("at /: expected \"{shown}x\", got \"{shown}é\" (differs at character 49)");
        assert_eq!(difference(&a.into(), &b.into()), expected);
    }
}
