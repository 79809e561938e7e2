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
        .map(|(name, arg)| {
            let source = arg.source().as_object();
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
            let required = arg.required || arg.source().get("required").is_some_and(svc_php::cast::truthy);
            keywords.insert("required".to_owned(), required.into());
            (name.to_owned(), keywords.into())
        })
        .collect();
    // PHP encodes an empty map as a list.
    let described = if described.is_empty() { json!([]) } else { described.into() };
    out.insert("args".to_owned(), described);
    out.into()
}

#[cfg(test)]
mod tests {
    use svc_schema::build::{integer, untyped};

    use super::*;

    #[test]
    fn endpoint_descriptions_have_known_keywords_and_required() {
        let args = Args::new()
            .with("n", integer().required().maximum(10).keyword("context", json!(["view"])))
            .with("d", untyped().default("x"));
        let got = describe_endpoint(&[Method::GET], &args, Some(true)).to_string();
        expect_test::expect![[r#"{"methods":["GET"],"allow_batch":{"v1":true},"args":{"n":{"type":"integer","maximum":10,"required":true},"d":{"default":"x","required":false}}}"#]].assert_eq(&got);
        assert_eq!(describe_endpoint(&[], &Args::new(), None).to_string(), r#"{"methods":[],"args":[]}"#);
    }
}
