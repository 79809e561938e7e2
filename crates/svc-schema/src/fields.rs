//! `_fields`: which members of a response a caller asked for.

use serde_json::{Map, Value};
use svc_php::list::{integer_key, list_shape, parse_text_list};

/// The deepest dotted name that can select anything: no response is nested deeper, and the tree of names stays shallow
/// enough to walk by recursion.
const MAX_PARTS: usize = 32;

/// The members asked for, compiled to a tree. An empty set stands for everything.
#[derive(Clone, Debug, Default)]
pub struct FieldSet {
    names: Vec<String>,
    /// The names as nested maps, with `true` where everything below is wanted.
    tree: Map<String, Value>,
}

impl FieldSet {
    /// Reads the value of `_fields` (null when missing): a list, or a text separated by commas.
    ///
    /// A dotted name selects a nested member; a name under a parent selected before it is redundant.
    /// Source: specification, "Field selection".
    pub fn parse(value: &Value) -> Self {
        let mut names = parse_text_list(value);
        for name in &mut names {
            let trimmed = svc_php::cast::trim(name);
            if trimmed.len() != name.len() {
                *name = trimmed.to_owned();
            }
        }
        let mut tree = Map::new();
        for name in &names {
            select(&mut tree, name);
        }
        FieldSet { names, tree }
    }

    /// Whether nothing was asked for in particular.
    pub fn is_everything(&self) -> bool {
        self.names.is_empty()
    }

    /// The names as they were given, trimmed.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether a field is asked for: it equals a name, or is the parent or a child of one.
    pub fn is_included(&self, field: &str) -> bool {
        if self.is_everything() {
            return true;
        }
        let mut level = &self.tree;
        for part in field.split('.') {
            match level.get(part) {
                None => return false,
                Some(Value::Object(names)) => level = names,
                Some(_) => return true,
            }
        }
        true
    }

    /// Leaves only the members asked for; of a list, in each item. A map that loses all its members prints as `[]`.
    pub fn trim(&self, data: Value) -> Value {
        if self.is_everything() {
            return data;
        }
        match data {
            Value::Array(items) => items.into_iter().map(|item| intersect_map(item, &self.tree)).collect(),
            Value::Object(map) if has_integer_keys_only(&map) => {
                list_shape(map.into_iter().map(|(key, item)| (key, intersect_map(item, &self.tree))).collect())
            }
            other => intersect_map(other, &self.tree),
        }
    }
}

fn has_integer_keys_only(map: &Map<String, Value>) -> bool {
    !map.is_empty() && map.keys().all(|k| integer_key(k).is_some())
}

fn select(tree: &mut Map<String, Value>, name: &str) {
    if name.split('.').nth(MAX_PARTS).is_some() {
        return;
    }
    let mut level = tree;
    let mut parts = name.split('.').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            level.insert(part.to_owned(), true.into());
            return;
        }
        match level.entry(part).or_insert_with(|| Value::Object(Map::new())) {
            Value::Object(names) => level = names,
            _ => return,
        }
    }
}

/// Leaves only the members whose keys `wanted` has too, at every level at which both have members; an index is the key of
/// an item. Values that are no list or map stay as they are.
pub fn intersect_keys(data: Value, wanted: &Value) -> Value {
    match wanted {
        Value::Object(names) => intersect_map(data, names),
        Value::Array(items) => intersect(data, &|key| items.get(usize::try_from(integer_key(key)?).ok()?)),
        _ => data,
    }
}

fn intersect_map(data: Value, wanted: &Map<String, Value>) -> Value {
    intersect(data, &|key| wanted.get(key))
}

fn intersect<'w>(data: Value, wanted: &dyn Fn(&str) -> Option<&'w Value>) -> Value {
    let keep = |(key, value): (String, Value)| wanted(&key).map(|below| (key, intersect_keys(value, below)));
    match data {
        Value::Object(map) if !map.is_empty() => list_shape(map.into_iter().filter_map(keep).collect()),
        Value::Array(items) => {
            let keyed = items.into_iter().enumerate().map(|(index, item)| (index.to_string(), item));
            list_shape(keyed.filter_map(keep).collect())
        }
        other => other,
    }
}

/// Whether a field is included in a list of accepted names: it equals one, or is the parent or a child of one.
///
/// Source: specification, "Field selection", 5.
pub fn is_field_included(field: &str, fields: &[String]) -> bool {
    let is_below = |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
    fields.iter().any(|accepted| accepted == field || is_below(accepted, field) || is_below(field, accepted))
}

/// The fields of a response: the members of an item schema that are visible in the context (all without one), and `_links`;
/// of these, those that `wanted` names, by themselves or by a dotted name below them. `id` stays when it is visible.
///
/// `properties` are the item schema's; a context of `None` leaves all.
pub fn fields_for_response(properties: &Map<String, Value>, context: Option<&str>, wanted: &FieldSet) -> Vec<String> {
    let is_shown = |schema: &Value| match (context, schema.get("context")) {
        (Some(context), Some(Value::Array(contexts))) if !contexts.is_empty() => {
            contexts.iter().any(|c| c.as_str() == Some(context))
        }
        _ => true,
    };
    let mut fields: Vec<String> =
        properties.iter().filter(|(_, schema)| is_shown(schema)).map(|(name, _)| name.clone()).collect();
    fields.push("_links".to_owned());
    if wanted.is_everything() {
        return fields;
    }
    let shown: std::collections::HashSet<&str> = fields.iter().map(String::as_str).collect();
    let id = shown.contains("id").then_some("id");
    let names = wanted.names.iter().map(String::as_str).chain(id);
    names
        .filter(|name| name.split('.').next().is_some_and(|top| shown.contains(name) || shown.contains(top)))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(fields: Value, data: Value, expected: Value) {
        assert_eq!(FieldSet::parse(&fields).trim(data), expected, "{fields}");
    }

    #[test]
    fn trims_objects_and_items() {
        let post = json!({"id": 1, "title": {"raw": "t", "rendered": "T"}, "meta": {"a": {"b": 1, "c": 2}}});
        check(json!("id"), post.clone(), json!({"id": 1}));
        check(json!("title.raw, id"), post.clone(), json!({"id": 1, "title": {"raw": "t"}}));
        check(json!(["meta.a.c"]), post.clone(), json!({"meta": {"a": {"c": 2}}}));
        check(json!(""), post.clone(), post.clone());
        check(json!("id"), json!([post.clone(), {"x": 1}]), json!([{"id": 1}, []]));
        check(json!("title.missing"), post, json!({"title": []}));
    }

    // The reference drops every name after one under a selected parent; the specification only calls that one redundant.
    #[test]
    fn a_name_under_a_selected_parent_is_only_redundant() {
        let data = json!({"id": 1, "title": {"raw": "t", "rendered": "T"}, "a": 2});
        check(json!("title,title.raw,id"), data.clone(), json!({"id": 1, "title": {"raw": "t", "rendered": "T"}}));
        check(json!("title.raw,title,a"), data, json!({"title": {"raw": "t", "rendered": "T"}, "a": 2}));
    }

    #[test]
    fn inclusion() {
        let rows = [
            ("title", "title", true),
            ("title", "title.raw", true),
            ("title.raw", "title", true),
            ("title.raw", "title.rendered", false),
            ("titl", "title", false),
            ("title.raw", "title.raw.x", true),
            ("", "_links", false),
        ];
        for (field, accepted, expected) in rows {
            assert_eq!(is_field_included(field, &[accepted.to_owned()]), expected, "{field} {accepted}");
            assert_eq!(FieldSet::parse(&json!([accepted])).is_included(field), expected, "{field} {accepted}");
        }
    }

    #[test]
    fn endless_names_are_dropped() {
        let name = "a.".repeat(200_000);
        let set = FieldSet::parse(&json!([name, "b"]));
        assert!(set.is_included("b") && !set.is_included("a"));
    }
}
