//! Compares the service with WordPress's recorded responses to requests of the demo namespace.
//!
//! `data/recorded.json` contains steps of our own recordings (scenarios about routing, errors, batches, fields, CORS
//! and the index). Messages in WordPress's words are recorded as `(prose)`; only their presence is checked.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request as HttpRequest, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Map, Value, json};
use svc_http::{AuthOutcome, Authenticator, Credentials, RestService};
use svc_routing::{BoxFuture, ParamOrder, RouteUrls};

use crate::demo;

/// The URL that recordings abbreviate to `{base}`.
const BASE: &str = "http://127.0.0.1:8801";

/// Steps for which the specification requires a different response, with the reason.
const KNOWN_DIFFERENCES: &[(&str, &str)] = &[
    (r#"POST /demo/v1/schema {"line": "a\nb <b>c</b>"}"#, "the specification has no format `text-field`"),
    (r#"POST /demo/v1/schema {"line": " x "}"#, "the specification has no format `text-field`"),
    (r#"POST /demo/v1/schema {"lines": "a\nb <b>c</b>"}"#, "the specification has no format `textarea-field`"),
    (r#"POST /demo/v1/schema {"obj": ["a"]}"#, "the specification does not accept a list as an object"),
    (r#"POST /demo/v1/schema {"multi_mix": ["x"]}"#, "the specification does not accept a list as an object"),
    (r#"POST /demo/v1/schema {"num_range": -1.6}"#, "messages have bounds as registered, WordPress cuts fractions"),
];

struct TestUserAuthenticator;

impl Authenticator for TestUserAuthenticator {
    fn authenticate(&self, credentials: Credentials) -> BoxFuture<AuthOutcome> {
        let name = credentials.headers.get("x-test-user").and_then(|v| v.to_str().ok()).unwrap_or_default();
        let outcome = demo::User::named(name).map_or_else(AuthOutcome::anonymous, AuthOutcome::caller);
        Box::pin(std::future::ready(outcome))
    }
}

fn encode(query: &Value) -> String {
    match query {
        Value::String(text) => text.replace(' ', "%20"),
        Value::Object(map) => {
            let mut flat = String::new();
            for (name, value) in map {
                pairs(name, value, &mut flat);
            }
            flat
        }
        _ => String::new(),
    }
}

fn pairs(name: &str, value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| pairs(&format!("{name}[{k}]"), v, out)),
        Value::Array(list) => list.iter().for_each(|v| pairs(name, v, out)),
        scalar => {
            let text = scalar.as_str().map_or_else(|| scalar.to_string(), str::to_owned);
            let encode = svc_php::query::urlencode;
            out.push_str(&format!("&{}={}", encode(name), encode(&text)));
        }
    }
}

fn request(step: &Value) -> HttpRequest<Full<Bytes>> {
    let text = |name: &str| step.get(name).and_then(Value::as_str);
    let path = match text("raw_path") {
        Some(raw) => raw.to_owned(),
        None => format!("/wp-json{}", text("path").unwrap()),
    };
    let query = encode(&step["query"]);
    let query = query.trim_start_matches('&');
    let uri = match (query.is_empty(), path.contains('?')) {
        (true, _) => path,
        (false, false) => format!("{path}?{query}"),
        (false, true) => format!("{path}&{query}"),
    };
    let mut req = HttpRequest::builder().method(text("method").unwrap_or("GET")).uri(uri);
    for (name, value) in step["headers"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap().replace("{{base}}", BASE);
        req = req.header(name, http::HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    if let Some(user) = text("as") {
        req = req.header("x-test-user", user);
    }
    let mut body = text("body").unwrap_or_default().to_owned();
    if let Some(json) = step.get("json") {
        req = req.header("content-type", "application/json");
        body = json.to_string();
    } else if step.get("form").is_some() {
        req = req.header("content-type", "application/x-www-form-urlencoded");
        body = encode(&step["form"]).trim_start_matches('&').to_owned();
    } else if let Some(parts) = step["multipart"].as_array() {
        req = req.header("content-type", "multipart/form-data; boundary=conformance-boundary-7d1");
        for part in parts {
            let name = part["name"].as_str().unwrap();
            body += &match part["file"].as_str() {
                Some(file) => format!(
                    "--conformance-boundary-7d1\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file}\"\r\nContent-Type: text/plain\r\n\r\nx\r\n"
                ),
                None => format!(
                    "--conformance-boundary-7d1\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{}\r\n",
                    part["value"].as_str().unwrap()
                ),
            };
        }
        body += "--conformance-boundary-7d1--\r\n";
    }
    req.body(Full::new(Bytes::from(body))).unwrap()
}

/// The second line of exposed headers, which requests with `Origin` get and WordPress does not send.
const ALSO_EXPOSED: &str = "ETag, Last-Modified, Retry-After, X-Request-Id";

/// Sends a step's request to the service, as if to its URL.
async fn send(service: &RestService, urls: &RouteUrls, step: &Value) -> Response<Bytes> {
    let req = request(step);
    let route = urls.route(req.uri().path(), req.uri().query().unwrap_or_default()).expect("a URL of the API");
    let (parts, body) = service.respond(route, req).await.into_parts();
    Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
}

/// The first difference of two values, or `None`. The order of properties does not matter, an empty map equals an empty
/// list, and `1` equals `1.0`.
fn difference(want: &Value, got: &Value, at: &str, ignored: &[&str]) -> Option<String> {
    if ignored.contains(&at) {
        return None;
    }
    match (want, got) {
        (Value::String(want), Value::String(_)) if want == "(prose)" => None,
        (Value::Object(want), Value::Object(got)) => {
            for name in want.keys().chain(got.keys()) {
                let at = format!("{at}/{name}");
                if ignored.contains(&at.as_str()) {
                    continue;
                }
                match (want.get(name), got.get(name)) {
                    (Some(want), Some(got)) => {
                        if let Some(text) = difference(want, got, &at, ignored) {
                            return Some(text);
                        }
                    }
                    (want, got) => return Some(format!("{at}: want {want:?}, got {got:?}")),
                }
            }
            None
        }
        (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
            let mut items = want.iter().zip(got).enumerate();
            items.find_map(|(i, (want, got))| difference(want, got, &format!("{at}/{i}"), ignored))
        }
        (Value::Number(want), Value::Number(got)) if want.as_f64() == got.as_f64() => None,
        (want, got) if want == got => None,
        (want, got) => Some(format!("{at}: want {want}, got {got}")),
    }
}

fn with_base(value: &Value) -> Value {
    match value {
        Value::String(text) => text.replace("{base}", BASE).into(),
        Value::Array(list) => list.iter().map(with_base).collect(),
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), with_base(v))).collect::<Map<_, _>>().into(),
        other => other.clone(),
    }
}

/// The headers of every response, unless the recording has others.
fn common_headers() -> Map<String, Value> {
    let common_headers = json!({
        "access-control-allow-headers": "Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type",
        "access-control-expose-headers": "X-WP-Total, X-WP-TotalPages, Link",
        "content-type": "application/json; charset=UTF-8",
        "link": format!("<{BASE}/wp-json/>; rel=\"https://api.w.org/\""),
        "x-content-type-options": "nosniff",
        "x-robots-tag": "noindex",
    });
    common_headers.as_object().cloned().unwrap()
}

fn compare(step: &Value, res: &Response<Bytes>) -> Option<String> {
    let want = &step["expect"];
    if want["status"] != res.status().as_u16() {
        return Some(format!("status: want {}, got {}", want["status"], res.status()));
    }
    let mut headers = common_headers();
    for (name, value) in want["headers"].as_object().into_iter().flatten() {
        headers.insert(name.clone(), with_base(value));
    }
    let mut got: Map<String, Value> = Map::new();
    // WordPress sends no entity tags.
    let compared = res.headers().iter().filter(|(name, value)| *name != http::header::ETAG && *value != ALSO_EXPOSED);
    for (name, value) in compared {
        // The recorder decoded header bytes as Latin-1.
        let text: String = value.as_bytes().iter().map(|b| char::from(*b)).collect();
        got.insert(name.to_string(), text.into());
    }
    if let Some(text) = difference(&headers.into(), &got.into(), "header", &[]) {
        return Some(text);
    }
    let body = match &want["body"] {
        Value::Object(map) if map.contains_key("$empty") => {
            return (!res.body().is_empty()).then(|| format!("body: want none, got {:?}", res.body()));
        }
        Value::Object(map) if map.contains_key("$text") => {
            // The order of the envelope's properties, and the JSONP wrapper.
            let got = String::from_utf8_lossy(res.body()).into_owned();
            return difference(&map["$text"], &got.into(), "text", &[]);
        }
        body => with_base(body),
    };
    let got: Value = match serde_json::from_slice(res.body()) {
        Ok(got) => got,
        Err(error) => return Some(format!("body: {error}: {:?}", res.body())),
    };
    let ignored: Vec<&str> = step["ignore"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    difference(&body, &got, "", &ignored)
}

#[tokio::test]
async fn demo_responses_match_recordings() {
    let steps: Vec<Value> = serde_json::from_str(include_str!("../data/recorded.json")).unwrap();
    let server = demo::registry("wp", ParamOrder::UrlLast).build();
    let urls = server.route_urls().clone();
    let service = RestService::builder().authenticator(Arc::new(TestUserAuthenticator)).build(server);
    let mut failures = Vec::new();
    for step in &steps {
        let name = format!("{} {} as {}", step["scenario"], step["name"], step["as"]);
        let found = compare(step, &send(&service, &urls, step).await);
        match (found, KNOWN_DIFFERENCES.iter().find(|(n, _)| step["name"] == *n)) {
            (Some(text), None) => failures.push(format!("{name}\n    {text}")),
            (None, Some((_, reason))) => failures.push(format!("{name}\n    passes now, although {reason}")),
            _ => {}
        }
    }
    assert!(failures.is_empty(), "{} of {} differ\n{}", failures.len(), steps.len(), failures.join("\n"));
}
