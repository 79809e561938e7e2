//! Reads a response into the form in which responses are recorded and compared.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use fancy_regex::Regex;
use serde_json::{Map, Value, json};

use crate::{
    brand::BrandRules,
    client::HttpResponse,
    compare::{kind, sorted_text},
    normalize::Normalizer,
    pointer,
    prose::without_prose,
    scenario::{Step, StepResponse},
    variables::Variables,
};

/// Headers that are compared, next to those with [`PREFIXES`].
#[rustfmt::skip]
const HEADERS: &[&str] = &[
    "allow", "link", "location", "content-type", "vary", "expires", "cache-control", "x-robots-tag",
    "x-content-type-options", "www-authenticate", "content-disposition", "x-fixture", "x-fixture-two",
    "x-frame-options", "referrer-policy",
];

/// Beginnings of the names of headers that are compared, under the recorded brand.
const PREFIXES: &[&str] = &["access-control-", "x-wp-"];

/// The header whose value is a nonce, under the recorded brand.
const NONCE_HEADER: &str = "x-wp-nonce";

/// Stores what the step captures of a response.
pub(crate) fn capture(step: &Step, response: &HttpResponse, body: &Value, variables: &mut Variables) {
    for (name, place) in &step.capture {
        let value = match place.strip_prefix("header:") {
            Some(header) => response.header(header).map(Value::from),
            None => body.pointer(place).cloned(),
        };
        if let Some(value) = value {
            variables.set(name, value);
        }
    }
}

/// Headers that the server exposes to scripts of other origins, and WordPress does not (docs/differences.md).
const ALSO_EXPOSED: &str = "ETag, Last-Modified, Retry-After, X-Request-Id";

/// The headers that are compared, by name in lower case.
pub(crate) fn headers(
    step: &Step,
    response: &HttpResponse,
    brand: &BrandRules,
    normalizer: &Normalizer,
) -> Map<String, Value> {
    let prefixes: Vec<String> = PREFIXES.iter().map(|prefix| brand.header_name(prefix)).collect();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in &response.headers {
        let name = name.to_ascii_lowercase();
        let compared = HEADERS.contains(&name.as_str()) || prefixes.iter().any(|prefix| name.starts_with(prefix));
        if compared && !is_ignored(step, brand, &name) {
            found.entry(name).or_default().push(value.clone());
        }
    }
    let nonce = brand.header_name(NONCE_HEADER);
    let value = |(name, mut values): (String, Vec<String>)| {
        if name == nonce {
            values = vec!["{nonce}".to_owned()];
        }
        if name == "vary" {
            let names: BTreeSet<&str> =
                values.iter().flat_map(|v| v.split(',')).map(str::trim).filter(|v| !v.is_empty()).collect();
            values = vec![Vec::from_iter(names).join(", ")];
        }
        if name == "access-control-expose-headers" {
            values.retain(|value| value != ALSO_EXPOSED);
        }
        let mut values: Vec<Value> = values.iter().map(|v| normalizer.text(v).into()).collect();
        let value = if values.len() == 1 { values.remove(0) } else { values.into() };
        (name, value)
    };
    found.into_iter().map(value).collect()
}

fn is_ignored(step: &Step, brand: &BrandRules, name: &str) -> bool {
    step.ignore_headers.iter().any(|ignored| brand.header_name(ignored) == name)
}

/// The body: JSON, or an object that describes another type.
pub(crate) fn body(step: &Step, response: &HttpResponse) -> Result<Value> {
    let text = || String::from_utf8_lossy(&response.body).into_owned();
    if step.no_body {
        return Ok(Value::Null);
    }
    if !step.extract.is_empty() {
        let text = text();
        let matches = |(name, pattern): (&String, &String)| Ok((name.clone(), matches(pattern, &text)?));
        return step.extract.iter().map(matches).collect::<Result<Map<_, _>>>().map(Value::Object);
    }
    if response.body.is_empty() {
        return Ok(json!({"$empty": true}));
    }
    Ok(serde_json::from_slice(&response.body).unwrap_or_else(|_| {
        let content_type = response.header("content-type").unwrap_or_default();
        if ["text", "xml", "json", "javascript"].iter().any(|kind| content_type.contains(kind)) {
            json!({"$text": text()})
        } else {
            json!({"$binary": content_type})
        }
    }))
}

/// All matches of a pattern: its first group where it has one.
fn matches(pattern: &str, text: &str) -> Result<Value> {
    let regex = Regex::new(pattern).with_context(|| format!("cannot read the pattern {pattern}"))?;
    let mut found = Vec::new();
    for captures in regex.captures_iter(text) {
        let captures = captures.with_context(|| format!("the pattern {pattern} takes too long"))?;
        let whole = captures.get(0);
        found.push(if captures.len() > 1 { captures.get(1) } else { whole }.map_or("", |m| m.as_str()).into());
    }
    Ok(Value::Array(found))
}

/// Removes the parts that the step does not compare from a normalized response.
pub(crate) fn reduce(step: &Step, response: &mut StepResponse) {
    response.body = without_prose(&response.body);
    for place in &step.ignore {
        pointer::remove(&mut response.body, place);
    }
    for place in &step.volatile {
        pointer::change(&mut response.body, place, &mut |value| *value = format!("<{}>", kind(value)).into());
    }
    sort_lists(step, &mut response.body);
}

/// Sorts the lists whose order is not compared.
pub(crate) fn sort_lists(step: &Step, body: &mut Value) {
    for place in &step.unordered {
        pointer::change(body, place, &mut |value| {
            if let Value::Array(list) = value {
                list.sort_by_cached_key(sorted_text);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(fields: Value) -> Step {
        let mut step = json!({"name": "n", "method": "GET"});
        step.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::from_value(step).unwrap()
    }

    fn response(headers: &[(&str, &str)], body: &str) -> HttpResponse {
        let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        HttpResponse { status: 200, headers, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn headers_are_selected_and_normalized() {
        let sent = [
            ("X-SVC-Total", "3"),
            ("X-WP-Total", "4"),
            ("Link", "<http://h/a>"),
            ("link", "<http://h/b>"),
            ("Vary", "b, a"),
            ("vary", "a"),
            ("X-SVC-Nonce", "0123456789"),
            ("Date", "today"),
        ];
        let (brand, normalizer) =
            (BrandRules::new("svc").unwrap(), Normalizer::new("http://h", "http://h", 0.0).unwrap());
        let read = |fields: Value| Value::Object(headers(&step(fields), &response(&sent, ""), &brand, &normalizer));
        let expected =
            json!({"x-svc-total": "3", "link": ["<{base}/a>", "<{base}/b>"], "vary": "a, b", "x-svc-nonce": "{nonce}"});
        assert_eq!(read(json!({})), expected);
        let ignored = json!({"ignore_headers": ["x-wp-total", "link", "x-wp-nonce"]});
        assert_eq!(read(ignored), json!({"vary": "a, b"}));
    }

    #[test]
    fn bodies_are_json_or_a_description() {
        let (html, image) = ([("Content-Type", "text/html")], [("Content-Type", "image/png")]);
        #[rustfmt::skip]
        let rows = [
            (json!({}), response(&html, "{\"a\": 1.0}"), json!({"a": 1.0})),
            (json!({}), response(&html, ""), json!({"$empty": true})),
            (json!({}), response(&html, "<a>"), json!({"$text": "<a>"})),
            (json!({}), response(&image, "<a>"), json!({"$binary": "image/png"})),
            (json!({"no_body": true}), response(&html, "<a>"), json!(null)),
            (json!({"extract": {"x": "<.>", "y": "<(.)>", "z": "nothing"}}), response(&html, "<a><b>"), json!({"x": ["<a>", "<b>"], "y": ["a", "b"], "z": []})),
        ];
        for (fields, response, expected) in rows {
            assert_eq!(body(&step(fields), &response).unwrap(), expected);
        }
    }

    #[test]
    fn ignored_parts_are_left_out() {
        let step = step(json!({"ignore": ["/*/a"], "volatile": ["/0/b", "/1/b"], "unordered": ["/1/c", ""]}));
        let body = json!([{"a": 1, "b": 2, "c": [2, 1]}, {"a": 1, "b": null, "c": ["b", "a"]}]);
        let mut response = StepResponse { name: "n".to_owned(), status: 200, headers: Map::new(), body };
        reduce(&step, &mut response);
        assert_eq!(response.body, json!([{"b": "<null>", "c": ["a", "b"]}, {"b": "<number>", "c": [2, 1]}]));
    }

    #[test]
    fn values_and_headers_are_captured() {
        let step = step(json!({"capture": {"id": "/id", "place": "header:location", "none": "/none"}}));
        let mut variables = Variables::new("").unwrap();
        capture(&step, &response(&[("Location", "/x")], ""), &json!({"id": 7}), &mut variables);
        assert_eq!(variables.value(&json!(["{{id}}", "{{place}}", "{{none}}"])), json!([7, "/x", "{{none}}"]));
    }
}
