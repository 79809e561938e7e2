//! Descriptions of routes, for `OPTIONS` and the indexes.

use http::Method;
use serde_json::{Value, json};
use svc_schema::{Args, KEYWORDS};

use crate::Map;
use crate::endpoint::RouteEntry;

fn names(methods: &[Method]) -> Vec<Value> {
    methods.iter().map(|m| m.as_str().into()).collect()
}

/// A handler group as descriptions show it.
pub(crate) fn describe_endpoint(methods: &[Method], args: &Args, allow_batch: Option<bool>) -> Value {
    let mut out = Map::new();
    out.insert("methods".to_owned(), names(methods).into());
    if let Some(allow_batch) = allow_batch {
        out.insert("allow_batch".to_owned(), json!({ "v1": allow_batch }));
    }
    let described: Map = args
        .iter()
        .map(|(name, arg)| {
            let source = arg.source().as_object();
            let mut shown: Map = source
                .into_iter()
                .flatten()
                .filter(|(keyword, _)| KEYWORDS.contains(&keyword.as_str()))
                .map(|(keyword, value)| (keyword.clone(), value.clone()))
                .collect();
            if let (Some(default), None) = (&arg.default, shown.get("default")) {
                shown.insert("default".to_owned(), default.clone());
            }
            // A list of required members shows as true, although it does not make the argument required.
            let required = arg.required || arg.source().get("required").is_some_and(svc_php::cast::truthy);
            shown.insert("required".to_owned(), required.into());
            (name.to_owned(), shown.into())
        })
        .collect();
    // PHP prints an empty map as a list.
    let described = if described.is_empty() { json!([]) } else { described.into() };
    out.insert("args".to_owned(), described);
    out.into()
}

/// A route as the indexes show it, and as `OPTIONS` does with `help`, which adds the item schema. `None` when every
/// handler group is hidden. `address` gives a route's address.
pub(crate) fn describe_route(route: &RouteEntry, help: bool, address: impl Fn(&str) -> String) -> Option<Value> {
    let shown: Vec<_> = route.endpoints.iter().filter(|e| e.show_in_index).collect();
    if shown.is_empty() {
        return None;
    }
    let methods: Vec<Value> = shown.iter().flat_map(|e| names(&e.methods)).collect();
    let endpoints: Vec<Value> = shown.iter().map(|e| e.description.clone()).collect();
    let mut out = Map::new();
    out.insert("namespace".to_owned(), route.namespace.clone().into());
    out.insert("methods".to_owned(), methods.into());
    out.insert("endpoints".to_owned(), endpoints.into());
    if let Some(schema) = route.schema.as_ref().filter(|_| help) {
        out.insert("schema".to_owned(), schema.value());
    }
    if !is_variable(&route.pattern) {
        out.insert("_links".to_owned(), json!({ "self": [{ "href": address(&route.pattern) }] }));
    }
    Some(out.into())
}

/// Whether an address cannot be given, since the pattern has named groups or counted repetitions.
fn is_variable(pattern: &str) -> bool {
    pattern.contains("(?P<") || pattern.contains('{')
}

#[cfg(test)]
mod tests {
    use svc_schema::build::{integer, untyped};

    use super::*;

    #[test]
    fn endpoints_show_known_keywords_and_whether_required() {
        let args = Args::new()
            .with("n", integer().required().maximum(10).keyword("context", json!(["view"])))
            .with("d", untyped().default("x"));
        let got = describe_endpoint(&[Method::GET], &args, Some(true)).to_string();
        expect_test::expect![[r#"{"methods":["GET"],"allow_batch":{"v1":true},"args":{"n":{"type":"integer","maximum":10,"required":true},"d":{"default":"x","required":false}}}"#]].assert_eq(&got);
        assert_eq!(describe_endpoint(&[], &Args::new(), None).to_string(), r#"{"methods":[],"args":[]}"#);
    }
}
