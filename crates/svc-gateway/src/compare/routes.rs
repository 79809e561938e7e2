//! Differences between the descriptions of routes, as the index of a REST API gives them with `context=help`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::documents::{Difference, Kind, differences};

/// Maximum number of differences per part of a description.
const LIMIT: usize = 20;

/// Keywords of a schema whose value is text for people.
const PROSE: [&str; 2] = ["description", "title"];

/// Keywords of a schema whose lists are sets.
const SETS: [&str; 4] = ["enum", "context", "type", "required"];

/// The differences of one route. A part without differences is equal on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteDifferences {
    /// Differences of the item schema. They affect all methods.
    pub schema: Vec<Difference>,
    /// Differences of the arguments, by method. All methods of either side are listed.
    pub methods: BTreeMap<String, Vec<Difference>>,
}

/// Compares the routes of two indexes (their field `routes`), by pattern. Routes that only the upstream has are not listed: this
/// server cannot handle them. Texts for people and the order of sets are ignored.
pub fn compare_routes(upstream: &Value, here: &Value) -> BTreeMap<String, RouteDifferences> {
    let none = Map::new();
    let routes = here.as_object().unwrap_or(&none);
    routes.iter().map(|(pattern, route)| (pattern.clone(), compare_route(upstream.get(pattern), route))).collect()
}

fn compare_route(upstream: Option<&Value>, here: &Value) -> RouteDifferences {
    let own = methods(here);
    let Some(upstream) = upstream else {
        let missing = || vec![Difference { path: String::new(), kind: Kind::OnlyHere }];
        return RouteDifferences {
            schema: missing(),
            methods: own.into_keys().map(|method| (method, missing())).collect(),
        };
    };
    let (schema, other) = (canonical_schema(&here["schema"]), canonical_schema(&upstream["schema"]));
    let mut theirs = methods(upstream);
    let mut compared: BTreeMap<String, Vec<Difference>> = own
        .into_iter()
        .map(|(method, args)| {
            let found = match theirs.remove(&method) {
                Some(other) => differences(&other, &args, LIMIT),
                None => vec![Difference { path: String::new(), kind: Kind::OnlyHere }],
            };
            (method, found)
        })
        .collect();
    let only_theirs = |method| (method, vec![Difference { path: String::new(), kind: Kind::OnlyUpstream }]);
    compared.extend(theirs.into_keys().map(only_theirs));
    RouteDifferences { schema: differences(&other, &schema, LIMIT), methods: compared }
}

/// The arguments of each method. The first endpoint of a method handles it.
fn methods(route: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for endpoint in route["endpoints"].as_array().into_iter().flatten() {
        for method in endpoint["methods"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            found.entry(method.to_owned()).or_insert_with(|| canonical_map(&endpoint["args"]));
        }
    }
    found
}

/// A map from names to schemas.
fn canonical_map(schemas: &Value) -> Value {
    match schemas {
        Value::Object(map) => map.iter().map(|(name, schema)| (name.clone(), canonical_schema(schema))).collect(),
        other => other.clone(),
    }
}

/// A schema without texts for people, with sorted sets.
fn canonical_schema(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut out = Map::new();
    for (keyword, value) in keywords {
        let value = match (keyword.as_str(), value) {
            (name, Value::String(_)) if PROSE.contains(&name) => continue,
            ("properties" | "patternProperties", map) => canonical_map(map),
            ("items" | "additionalProperties", schema) => canonical_schema(schema),
            ("oneOf" | "anyOf" | "allOf", Value::Array(list)) => list.iter().map(canonical_schema).collect(),
            // Links are described, not served: they do not change what a route accepts or returns.
            ("links", _) => continue,
            (name, Value::Array(list)) if SETS.contains(&name) => {
                let mut list = list.clone();
                list.sort_by_cached_key(ToString::to_string);
                Value::Array(list)
            }
            (_, value) => value.clone(),
        };
        out.insert(keyword.clone(), value);
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn route(methods: &[&str], args: Value, schema: Value) -> Value {
        json!({"endpoints": [{"methods": methods, "args": args}], "schema": schema})
    }

    #[track_caller]
    fn check(upstream: &Value, here: &Value, schema: &[&str], methods: &[(&str, &[&str])]) {
        let found = compare_routes(&json!({"/a": upstream, "/only/upstream": {}}), &json!({"/a": here}));
        assert_eq!(found.keys().collect::<Vec<_>>(), ["/a"]);
        let text = |list: &[Difference]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(text(&found["/a"].schema), schema);
        let found: Vec<(String, Vec<String>)> =
            found["/a"].methods.iter().map(|(m, list)| (m.clone(), text(list))).collect();
        let expected: Vec<(String, Vec<String>)> = methods
            .iter()
            .map(|(m, list)| ((*m).to_owned(), list.iter().map(|text| (*text).to_owned()).collect()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn texts_and_the_order_of_sets_are_ignored() {
        let schema = |text: &str, context: Value| json!({"title": "post", "properties": {"title": {"description": text, "type": "string", "context": context}}});
        check(
            &route(
                &["GET"],
                json!({"order": {"enum": ["a", "d"], "description": "A"}}),
                schema("A", json!(["view", "edit"])),
            ),
            &route(
                &["GET"],
                json!({"order": {"description": "B", "enum": ["d", "a"]}}),
                schema("B", json!(["edit", "view"])),
            ),
            &[],
            &[("GET", &[])],
        );
        check(&route(&["GET"], json!([]), Value::Null), &route(&["GET"], json!({}), Value::Null), &[], &[("GET", &[])]);
    }

    #[test]
    fn fields_and_arguments_are_compared() {
        check(
            &route(&["GET"], json!({"a": {"type": "string"}, "b": {}}), json!({"properties": {"title": {}, "fx": {}}})),
            &route(&["GET"], json!({"a": {"type": "integer"}}), json!({"properties": {"title": {}}})),
            &["properties.fx: only in WordPress"],
            &[("GET", &[r#"a.type: "string" in WordPress, "integer" here"#, "b: only in WordPress"])],
        );
    }

    #[test]
    fn methods_are_compared_one_by_one() {
        check(
            &route(&["GET", "POST"], json!({}), Value::Null),
            &route(&["GET", "DELETE"], json!({}), Value::Null),
            &[],
            &[
                ("DELETE", &["the document: not in WordPress"]),
                ("GET", &[]),
                ("POST", &["the document: only in WordPress"]),
            ],
        );
    }

    #[test]
    fn routes_that_the_upstream_does_not_have() {
        let found = compare_routes(&json!({}), &json!({"/a": route(&["GET"], json!({}), Value::Null)}));
        assert!(!found["/a"].schema.is_empty() && !found["/a"].methods["GET"].is_empty());
    }
}
