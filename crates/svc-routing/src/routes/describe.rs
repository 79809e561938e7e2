//! Descriptions of endpoints, for `OPTIONS` and the index.

use http::Method;
use serde_json::{Value, json};
use svc_schema::{Args, KEYWORDS};

use crate::Map;

/// Names of methods, as JSON strings.
pub(super) fn method_names(methods: &[Method]) -> Vec<Value> {
    methods.iter().map(|m| m.as_str().into()).collect()
}

/// The description of an endpoint.
pub(super) fn describe_endpoint(methods: &[Method], args: &Args, allow_batch: Option<bool>) -> Value {
    let mut out = Map::new();
    out.insert("methods".to_owned(), method_names(methods).into());
    if let Some(allow_batch) = allow_batch {
        out.insert("allow_batch".to_owned(), json!({ "v1": allow_batch }));
    }
    let described: Map = args
        .iter()
        .filter(|(_, arg)| !arg.unlisted)
        .map(|(name, arg)| {
            let listed = arg.listed.as_ref().unwrap_or(arg.source());
            let source = listed.as_object();
            let mut keywords: Map = source
                .into_iter()
                .flatten()
                .filter(|(keyword, _)| KEYWORDS.contains(&keyword.as_str()))
                .map(|(keyword, value)| (keyword.clone(), value.clone()))
                .collect();
            if let (Some(default), None) = (&arg.default, keywords.get("default")) {
                keywords.insert("default".to_owned(), default.clone());
            }
            // A list of required properties is described as true, although it does not make the argument required.
            let required = arg.required || listed.get("required").is_some_and(svc_php::cast::truthy);
            keywords.insert("required".to_owned(), required.into());
            (name.to_owned(), keywords.into())
        })
        .collect();
    // PHP encodes an empty map as a list.
    let described = if described.is_empty() { json!([]) } else { described.into() };
    out.insert("args".to_owned(), described);
    out.into()
}

/// Replaces the paths of the API in the keyword `links` of a schema by their URLs, which depend on the request. Paths begin with a
/// slash.
pub(super) fn resolve_links(schema: &mut Value, url_of: &impl Fn(&str) -> String) {
    let links = schema.get_mut("links").and_then(Value::as_array_mut);
    for href in links.into_iter().flatten().filter_map(|link| link.get_mut("href")) {
        if let Some(path) = href.as_str().filter(|path| path.starts_with('/')) {
            *href = url_of(path).into();
        }
    }
}

#[cfg(test)]
mod tests {
    use svc_schema::{
        Arg,
        build::{integer, untyped},
    };

    use super::*;

    #[test]
    fn links_of_schemas_have_urls() {
        let mut schema = json!({"links": [{"href": "/a/{id}", "rel": "x"}, {"href": "https://e.org/b"}, {}]});
        resolve_links(&mut schema, &|path| format!("https://e.org/api{path}"));
        let expected = json!([{"href": "https://e.org/api/a/{id}", "rel": "x"}, {"href": "https://e.org/b"}, {}]);
        assert_eq!(schema["links"], expected);
    }

    #[test]
    fn endpoint_descriptions_have_known_keywords_and_required() {
        let args = Args::new()
            .with("n", integer().required().maximum(10).keyword("context", json!(["view"])))
            .with("d", untyped().default("x"));
        let got = describe_endpoint(&[Method::GET], &args, Some(true)).to_string();
        expect_test::expect![[r#"{"methods":["GET"],"allow_batch":{"v1":true},"args":{"n":{"type":"integer","maximum":10,"required":true},"d":{"default":"x","required":false}}}"#]].assert_eq(&got);
        let args = Args::new().with("u", Arg { unlisted: true, ..Arg::new(integer()) });
        assert_eq!(describe_endpoint(&[], &args, None)["args"], json!([]));
        let listed = Some(json!({"type": "string"}));
        let args = Args::new().with("l", Arg { listed, ..Arg::new(integer().required()) });
        assert_eq!(describe_endpoint(&[], &args, None)["args"], json!({"l": {"type": "string", "required": true}}));
        let args = Args::new().with("o", untyped().keyword("required", json!(["a"])));
        assert_eq!(describe_endpoint(&[], &args, None)["args"], json!({"o": {"required": true}}));
        assert_eq!(describe_endpoint(&[], &Args::new(), None).to_string(), r#"{"methods":[],"args":[]}"#);
    }
}
