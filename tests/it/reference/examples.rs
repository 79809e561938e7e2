//! Examples of requests and responses, recorded from a new site. Times and the host are replaced by fixed ones.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    client::send,
    site::{Site, basic},
};

/// Requests that write, in this order: method, path of the OpenAPI document, path of the request, and body.
fn writes() -> Vec<(&'static str, &'static str, &'static str, Value)> {
    vec![
        ("POST", "/svc/v2/categories", "/svc/v2/categories", json!({"name": "Travel"})),
        ("POST", "/svc/v2/tags", "/svc/v2/tags", json!({"name": "Sea", "description": "All about the sea."})),
        (
            "POST",
            "/svc/v2/posts",
            "/svc/v2/posts",
            json!({"title": "A day at the sea", "content": "<p>Waves.</p>", "status": "publish", "categories": [1]}),
        ),
        ("POST", "/svc/v2/posts/{id}", "/svc/v2/posts/5", json!({"title": "A week at the sea", "sticky": true})),
        ("POST", "/svc/v2/comments", "/svc/v2/comments", json!({"post": 5, "content": "Which sea?"})),
        ("DELETE", "/svc/v2/posts/{id}", "/svc/v2/posts/5", Value::Null),
        ("POST", "/svc/v2/pages", "/svc/v2/pages", json!({"title": "About", "status": "draft"})),
        (
            "POST",
            "/svc/v2/users",
            "/svc/v2/users",
            json!({"username": "editor", "email": "editor@example.org", "password": "a long password", "roles": ["editor"]}),
        ),
        ("POST", "/svc/v2/settings", "/svc/v2/settings", json!({"description": "Notes from the coast"})),
    ]
}

/// Tags whose responses depend on the machine or on other servers.
const NOT_RECORDED: &[&str] =
    &["changes", "svc-site-health/v1", "pattern-directory", "block-directory", "oembed/1.0", "svc-block-editor/v1"];

/// Longest text, list, item, inner object, and object in an inner object, in an example.
const MAX_TEXT: usize = 160;
const MAX_ITEMS: usize = 2;
const MAX_ITEM_FIELDS: usize = 40;
const MAX_FIELDS: usize = 6;
const MAX_DEEP_FIELDS: usize = 2;

/// Recorded examples as Markdown, by method and path.
pub(super) struct Recorder(BTreeMap<(String, String), String>);

impl Recorder {
    /// Sends the writes above as the administrator, and the reads of the document.
    pub(super) async fn record(site: &Site, openapi: &Value) -> Self {
        let mut recorder = Self(BTreeMap::new());
        let user = basic(&site.app_password());
        let home = format!("http://{}", site.address);
        // Writes first, so that the ids of new rows are the same in each run.
        for (method, path, concrete, body) in writes() {
            let headers = [("Authorization", user.as_str()), ("Content-Type", "application/json")];
            let text = if body.is_null() { String::new() } else { body.to_string() };
            let response = send(site.address, method, &format!("/svc-json{concrete}"), &headers, &text).await;
            assert!(response.status < 300, "{method} {concrete}: {}", response.body);
            let data = if text.is_empty() {
                String::new()
            } else {
                format!(" \\\n  -H 'Content-Type: application/json' \\\n  -d '{text}'")
            };
            let verb = if method == "POST" { String::new() } else { format!("-X {method} ") };
            let request = format!("curl {verb}-u \"admin:$PASSWORD\" https://example.org/svc-json{concrete}{data}");
            recorder.add(&method.to_lowercase(), path, &request, &response.json(), &home);
        }
        for (path, item) in openapi["paths"].as_object().into_iter().flatten() {
            let Some(operation) = item.get("get") else { continue };
            if NOT_RECORDED.iter().any(|tag| operation["tags"][0] == *tag) {
                continue;
            }
            let Some(concrete) = concrete(site, path, &user).await else { continue };
            let has_pages = operation["parameters"].as_array().into_iter().flatten().any(|p| p["name"] == "per_page");
            let query = if has_pages { "?per_page=1" } else { "" };
            let url = format!("/svc-json{concrete}{query}");
            // As a visitor if they may, else as the administrator.
            let mut login = "";
            let mut response = site.get(&url).await;
            if matches!(response.status, 401 | 403) {
                login = "-u \"admin:$PASSWORD\" ";
                response = send(site.address, "GET", &url, &[("Authorization", &user)], "").await;
            }
            // Operations with required parameters have no example.
            if response.status == 200 && !matches!(response.json(), Value::Array(items) if items.is_empty()) {
                let request = format!("curl {login}'https://example.org{url}'");
                recorder.add("get", path, &request, &response.json(), &home);
            }
        }
        recorder
    }

    fn add(&mut self, method: &str, path: &str, request: &str, response: &Value, home: &str) {
        let shown = serde_json::to_string_pretty(&shortened(&fixed(response, home), 0, false)).unwrap();
        let example = format!("```sh\n{request}\n```\n\n```json\n{shown}\n```\n");
        self.0.insert((method.to_owned(), path.to_owned()), example);
    }

    /// Request and response of an operation.
    pub(super) fn example(&self, method: &str, path: &str) -> Option<&str> {
        self.0.get(&(method.to_owned(), path.to_owned())).map(String::as_str)
    }
}

/// A path whose last parameter, if it has one, is that of the first item in its list; `None` if there is no item.
async fn concrete(site: &Site, path: &str, user: &str) -> Option<String> {
    let Some((list, rest)) = path.split_once("/{") else { return Some(path.to_owned()) };
    let (name, rest) = rest.split_once('}')?;
    if !rest.is_empty() {
        return None;
    }
    let response = send(site.address, "GET", &format!("/svc-json{list}"), &[("Authorization", user)], "").await;
    let id = match serde_json::from_str(&response.body).ok()? {
        Value::Array(items) => {
            let field = items.first()?.get(name).or_else(|| items.first()?.get("id"))?.clone();
            field.as_str().map_or_else(|| field.to_string(), str::to_owned)
        }
        Value::Object(items) if response.status == 200 => items.into_iter().find(|(_, item)| item.is_object())?.0,
        _ => return None,
    };
    Some(format!("{list}/{id}"))
}

/// A response with a fixed host and fixed times.
fn fixed(value: &Value, home: &str) -> Value {
    match value {
        Value::String(text) => Value::from(fixed_times(&text.replace(home, "https://example.org"))),
        Value::Array(items) => items.iter().map(|item| fixed(item, home)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(k, v)| (k.replace(home, "https://example.org"), fixed(v, home))).collect()
        }
        other => other.clone(),
    }
}

/// Replaces dates (`2026-11-23T10:00:00`, `/2026/11/23/`) by the first of January 2026.
fn fixed_times(text: &str) -> String {
    /// A pattern in which `0` matches any digit, and its replacement.
    const PATTERNS: [(&str, &str); 3] =
        [("0000-00-00T00:00:00", "2026-01-01T12:00:00"), ("/0000/00/00/", "/2026/01/01/"), ("/0000/00/", "/2026/01/")];
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let matches = |pattern: &str| {
            rest.len() >= pattern.len()
                && pattern.bytes().zip(rest.bytes()).all(|(p, b)| if p == b'0' { b.is_ascii_digit() } else { p == b })
        };
        if let Some((pattern, fixed)) = PATTERNS.iter().find(|(pattern, _)| matches(pattern)) {
            out.push_str(fixed);
            rest = &rest[pattern.len()..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// A value without its links, with long texts, lists and inner objects cut.
fn shortened(value: &Value, depth: usize, is_item: bool) -> Value {
    match value {
        Value::String(text) if text.chars().count() > MAX_TEXT => {
            Value::from(text.chars().take(MAX_TEXT).collect::<String>() + "…")
        }
        Value::Array(items) => {
            let mut cut: Vec<Value> =
                items.iter().take(MAX_ITEMS).map(|item| shortened(item, depth + 1, depth == 0)).collect();
            if items.len() > MAX_ITEMS {
                cut.push("…".into());
            }
            Value::Array(cut)
        }
        Value::Object(fields) => {
            let limit = match depth {
                0 => MAX_ITEM_FIELDS,
                // An object in a list is as long as one on its own.
                1 if is_item => MAX_ITEM_FIELDS,
                1 | 2 => MAX_FIELDS,
                _ => MAX_DEEP_FIELDS,
            };
            let fields: Vec<_> = fields.iter().filter(|(name, _)| *name != "_links").collect();
            let more = (fields.len() > limit).then(|| ("…".to_owned(), "…".into()));
            let cut =
                fields.into_iter().take(limit).map(|(name, field)| (name.clone(), shortened(field, depth + 1, false)));
            Value::Object(cut.chain(more).collect())
        }
        other => other.clone(),
    }
}

#[test]
fn times_are_fixed() {
    for (text, fixed) in [
        ("2026-11-23T02:50:30", "2026-01-01T12:00:00"),
        ("https://example.org/2031/11/23/a/", "https://example.org/2026/01/01/a/"),
        ("/uploads/2031/11/é.png", "/uploads/2026/01/é.png"),
        ("2026 and 11-23", "2026 and 11-23"),
    ] {
        assert_eq!(fixed_times(text), fixed);
    }
}
