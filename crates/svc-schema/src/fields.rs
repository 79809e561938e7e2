//! The `_fields` parameter: which fields of a response are requested.

use serde_json::{Map, Value};
use svc_php::list::{TooManyItems, integer_key, list_shape, parse_text_list};

/// Maximum number of parts of a dotted name. No response is nested deeper, and the bound allows walking the tree by
/// recursion.
const MAX_PARTS: usize = 32;

/// The requested fields, compiled to a tree. An empty set selects everything.
#[derive(Clone, Debug, Default)]
pub struct FieldSet {
    names: Vec<String>,
    /// The names as nested maps, with `true` where everything below is selected.
    tree: Map<String, Value>,
}

impl FieldSet {
    /// Parses the value of `_fields` (null if it is missing): a list, or a comma-separated string.
    ///
    /// A dotted name selects a nested field; a name below an already selected parent is redundant. Source:
    /// specification, "Field selection".
    ///
    /// # Errors
    /// [`TooManyItems`] for a string with too many names.
    pub fn parse(value: &Value) -> Result<Self, TooManyItems> {
        Ok(Self::of(parse_text_list(value)?))
    }

    /// The set of these names.
    pub fn of(mut names: Vec<String>) -> Self {
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

    /// Whether no fields were requested explicitly, so that all are returned.
    pub fn is_everything(&self) -> bool {
        self.names.is_empty()
    }

    /// The requested names, trimmed.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether a field is selected: it equals a name, or is the parent or a child of one.
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

    /// Removes all other fields; from each item if `data` is a list. An object without remaining fields becomes `[]`.
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

impl FieldSet {
    /// As [`Self::trim`] for one item of a list.
    pub fn trim_item(&self, item: Value) -> Value {
        if self.is_everything() { item } else { intersect_map(item, &self.tree) }
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

/// Removes all keys that `selected` does not have, at every level at which both have entries. The key of a list item is
/// its index. Scalars stay unchanged.
pub fn intersect_keys(data: Value, selected: &Value) -> Value {
    match selected {
        Value::Object(names) => intersect_map(data, names),
        Value::Array(items) => intersect(data, &|key| items.get(usize::try_from(integer_key(key)?).ok()?)),
        _ => data,
    }
}

fn intersect_map(data: Value, selected: &Map<String, Value>) -> Value {
    intersect(data, &|key| selected.get(key))
}

fn intersect<'w>(data: Value, selected: &dyn Fn(&str) -> Option<&'w Value>) -> Value {
    let intersect_entry =
        |(key, value): (String, Value)| selected(&key).map(|nested| (key, intersect_keys(value, nested)));
    match data {
        Value::Object(map) if !map.is_empty() => list_shape(map.into_iter().filter_map(intersect_entry).collect()),
        Value::Array(items) => {
            let keyed = items.into_iter().enumerate().map(|(index, item)| (index.to_string(), item));
            list_shape(keyed.filter_map(intersect_entry).collect())
        }
        other => other,
    }
}

/// Whether a field is included in a list of names: it equals one, or is the parent or a child of one.
///
/// Source: specification, "Field selection", 5.
pub fn is_field_included(field: &str, fields: &[String]) -> bool {
    let is_below = |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
    fields.iter().any(|accepted| accepted == field || is_below(accepted, field) || is_below(field, accepted))
}

/// The names of the fields in a response: the properties of an item schema that are visible in the context, and
/// `_links`, limited to those that `selected` names directly or by a dotted name below them. A visible `id` is always
/// included.
///
/// A context of `None` includes all properties.
pub fn fields_for_response(properties: &Map<String, Value>, context: Option<&str>, selected: &FieldSet) -> Vec<String> {
    let is_visible = |schema: &Value| match (context, schema.get("context")) {
        (Some(context), Some(Value::Array(contexts))) if !contexts.is_empty() => {
            contexts.iter().any(|c| c.as_str() == Some(context))
        }
        _ => true,
    };
    let mut fields: Vec<String> =
        properties.iter().filter(|(_, schema)| is_visible(schema)).map(|(name, _)| name.clone()).collect();
    fields.push("_links".to_owned());
    if selected.is_everything() {
        return fields;
    }
    let visible: std::collections::HashSet<&str> = fields.iter().map(String::as_str).collect();
    let id = visible.contains("id").then_some("id");
    let names = selected.names.iter().map(String::as_str).chain(id);
    names
        .filter(|name| name.split('.').next().is_some_and(|top| visible.contains(name) || visible.contains(top)))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(fields: Value, data: Value, expected: Value) {
        assert_eq!(FieldSet::parse(&fields).unwrap().trim(data), expected, "{fields}");
    }

    #[test]
    fn trim_applies_to_objects_and_items() {
        let post = json!({"id": 1, "title": {"raw": "t", "rendered": "T"}, "meta": {"a": {"b": 1, "c": 2}}});
        check(json!("id"), post.clone(), json!({"id": 1}));
        check(json!("title.raw, id"), post.clone(), json!({"id": 1, "title": {"raw": "t"}}));
        check(json!(["meta.a.c"]), post.clone(), json!({"meta": {"a": {"c": 2}}}));
        check(json!(""), post.clone(), post.clone());
        check(json!("id"), json!([post.clone(), {"x": 1}]), json!([{"id": 1}, []]));
        check(json!("title.missing"), post, json!({"title": []}));
        check(json!([" id "]), json!({"id": 1, "x": 2}), json!({"id": 1}));
        check(json!("meta.a"), json!({"meta": {}}), json!({"meta": {}}));
        // A map with integer keys is a list of items.
        check(json!("id"), json!({"3": {"id": 1, "x": 2}, "7": {"x": 1}}), json!({"3": {"id": 1}, "7": []}));
        check(json!("id"), json!({}), json!({}));
    }

    #[test]
    fn trim_item_trims_one_object() {
        let item = json!({"id": 1, "0": {"id": 2}});
        let trimmed = |fields: &str| FieldSet::parse(&json!(fields)).unwrap().trim_item(item.clone());
        assert_eq!((trimmed("id"), trimmed("")), (json!({"id": 1}), item.clone()));
    }

    #[test]
    fn keys_of_a_list_are_its_indexes() {
        let data = json!({"0": "a", "1": ["b", "c"], "x": "d"});
        assert_eq!(intersect_keys(data.clone(), &json!([true])), json!(["a"]));
        assert_eq!(intersect_keys(data.clone(), &json!({"1": [true], "x": true})), json!({"1": ["b"], "x": "d"}));
        assert_eq!(intersect_keys(data.clone(), &json!(true)), data);
    }

    #[test]
    fn fields_of_a_response() {
        let properties = json!({
            "id": {"context": ["view", "edit"]}, "title": {"context": ["edit"]}, "free": {}, "any": {"context": []},
        });
        let rows = [
            (Some("view"), "", "id free any _links"),
            (Some("edit"), "", "id title free any _links"),
            (None, "", "id title free any _links"),
            (Some("view"), "free, title", "free id"),
            (Some("edit"), "title.raw, _links.self, x", "title.raw _links.self id"),
            (Some("embed"), "id, any", "any"),
        ];
        for (context, selected, expected) in rows {
            let selected = FieldSet::parse(&json!(selected)).unwrap();
            let fields = fields_for_response(properties.as_object().unwrap(), context, &selected);
            assert_eq!(fields.join(" "), expected, "{context:?} {:?}", selected.names());
        }
        assert_eq!(FieldSet::parse(&json!("a, b.c")).unwrap().names(), ["a", "b.c"]);
    }

    // WordPress drops every name after one below a selected parent; the specification only calls that name redundant.
    #[test]
    fn name_below_a_selected_parent_is_redundant() {
        let data = json!({"id": 1, "title": {"raw": "t", "rendered": "T"}, "a": 2});
        check(json!("title,title.raw,id"), data.clone(), json!({"id": 1, "title": {"raw": "t", "rendered": "T"}}));
        check(json!("title.raw,title,a"), data, json!({"title": {"raw": "t", "rendered": "T"}, "a": 2}));
    }

    #[test]
    fn field_inclusion() {
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
            assert_eq!(FieldSet::parse(&json!([accepted])).unwrap().is_included(field), expected, "{field} {accepted}");
        }
    }

    #[test]
    fn overlong_names_are_ignored() {
        let name = "a.".repeat(200_000);
        let set = FieldSet::parse(&json!([name, "b"])).unwrap();
        assert!(set.is_included("b") && !set.is_included("a"));
    }
}
