//! JSON pointers in which `*` matches every key or index.

use serde_json::Value;

/// Changes each value that the pointer leads to.
pub(crate) fn change(value: &mut Value, pointer: &str, change: &mut dyn FnMut(&mut Value)) {
    let Some((key, rest)) = split(pointer) else {
        change(value);
        return;
    };
    match value {
        Value::Object(map) if key == "*" => map.values_mut().for_each(|v| self::change(v, rest, change)),
        Value::Array(list) if key == "*" => list.iter_mut().for_each(|v| self::change(v, rest, change)),
        Value::Object(map) => map.get_mut(&key).into_iter().for_each(|v| self::change(v, rest, change)),
        Value::Array(list) => {
            index(&key, list.len()).into_iter().for_each(|n| self::change(&mut list[n], rest, change))
        }
        _ => {}
    }
}

/// Removes each value that the pointer leads to; the whole value becomes null.
pub(crate) fn remove(value: &mut Value, pointer: &str) {
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        *value = Value::Null;
        return;
    };
    let last = unescape(last);
    change(value, parent, &mut |parent| match parent {
        Value::Object(map) if last == "*" => map.clear(),
        Value::Array(list) if last == "*" => list.clear(),
        Value::Object(map) => drop(map.shift_remove(&last)),
        Value::Array(list) => index(&last, list.len()).into_iter().for_each(|n| drop(list.remove(n))),
        _ => {}
    });
}

/// The first key of a pointer, and the rest; nothing of the empty pointer.
fn split(pointer: &str) -> Option<(String, &str)> {
    let rest = pointer.strip_prefix('/')?;
    let end = rest.find('/').unwrap_or(rest.len());
    Some((unescape(&rest[..end]), &rest[end..]))
}

/// Reads a key of a pointer.
fn unescape(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

/// Writes a key for a pointer.
pub(crate) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn index(key: &str, length: usize) -> Option<usize> {
    key.parse().ok().filter(|n| *n < length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pointers_lead_to_values_and_wildcards_to_all() {
        let value = json!({"a": [{"b/c": 1}, {"b/c": 2, "d": 3}], "e": {"f": 4}});
        #[rustfmt::skip]
        let rows = [
            ("/a/*/b~1c", json!({"a": [{"b/c": 0}, {"b/c": 0, "d": 3}], "e": {"f": 4}}), json!({"a": [{}, {"d": 3}], "e": {"f": 4}})),
            ("/a/1/d",    json!({"a": [{"b/c": 1}, {"b/c": 2, "d": 0}], "e": {"f": 4}}), json!({"a": [{"b/c": 1}, {"b/c": 2}], "e": {"f": 4}})),
            ("/a/0",      json!({"a": [0, {"b/c": 2, "d": 3}], "e": {"f": 4}}),          json!({"a": [{"b/c": 2, "d": 3}], "e": {"f": 4}})),
            ("/e/*",      json!({"a": [{"b/c": 1}, {"b/c": 2, "d": 3}], "e": {"f": 0}}), json!({"a": [{"b/c": 1}, {"b/c": 2, "d": 3}], "e": {}})),
            ("/a/2/d",    value.clone(), value.clone()),
            ("/x/y",      value.clone(), value.clone()),
            ("",          json!(0), json!(null)),
        ];
        for (pointer, changed, removed) in rows {
            let (mut c, mut r) = (value.clone(), value.clone());
            change(&mut c, pointer, &mut |v| *v = json!(0));
            remove(&mut r, pointer);
            assert_eq!((c, r), (changed, removed), "{pointer}");
        }
    }
}
