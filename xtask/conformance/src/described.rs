//! Compares the server's responses with its OpenAPI document.
//!
//! Responses that violate the schema of their operation are failures, apart from those in
//! `tests/conformance/openapi-differences.toml`: WordPress returns them too, and its own schemas do not describe them.

use std::collections::HashMap;

use anyhow::{Context, Result};
use jsonschema::Validator;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    client::{Client, HttpRequest, HttpResponse},
    folders::own_folder,
};

/// Parameters that change the method or the form of the response.
const OTHER_FORMS: &[&str] = &["_envelope", "_jsonp", "_method", "rest_route"];

/// The pointer of differences that are paths without an operation.
const UNDESCRIBED: &str = "undescribed";

/// A difference between responses and the document that is intended.
#[derive(Deserialize)]
struct Difference {
    #[expect(dead_code, reason = "required, for those who read the file")]
    reason: String,
    /// The end of the path template; empty for all.
    #[serde(default)]
    path: String,
    /// JSON pointer to the value, with `*` for any segment and `**` for any number of them.
    pointer: String,
    /// The value, as JSON; absent for any.
    value: Option<String>,
}

/// The operations of a document, and what has been compared.
pub(crate) struct Described {
    document: Value,
    /// Path of the REST API, without a slash at the end.
    prefix: String,
    /// Path templates as segments.
    templates: Vec<(Vec<String>, String)>,
    validators: HashMap<String, Vec<Validator>>,
    differences: Vec<Difference>,
    used: Vec<bool>,
    pub(crate) matching: usize,
    pub(crate) differing: usize,
}

impl Described {
    /// Reads the document of the server that `client` sends requests to. `prefix` is the path of its REST API.
    ///
    /// # Errors
    /// If the server has no document, or the file of differences cannot be read.
    pub(crate) fn fetch(client: &mut Client, prefix: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct File {
            difference: Vec<Difference>,
        }
        let target = format!("{prefix}/openapi.json");
        let get = HttpRequest { method: "GET".to_owned(), target, headers: Vec::new(), body: None };
        let response = client.send(&get)?;
        let document: Value = serde_json::from_slice(&response.body)
            .with_context(|| format!("no OpenAPI document (status {})", response.status))?;
        let path = own_folder()?.join("openapi-differences.toml");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let File { difference: differences } =
            toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
        let paths = document["paths"].as_object().context("the document has no paths")?;
        let segments = |path: &String| (path.split('/').map(str::to_owned).collect(), path.clone());
        let mut templates: Vec<(Vec<String>, String)> = paths.keys().map(segments).collect();
        // Literal segments take precedence.
        templates.sort_by_key(|(segments, _)| segments.iter().filter(|segment| segment.starts_with('{')).count());
        let used = vec![false; differences.len()];
        let prefix = prefix.to_owned();
        let validators = HashMap::new();
        Ok(Described { document, prefix, templates, validators, differences, used, matching: 0, differing: 0 })
    }

    /// The violations of a response. None if the request is not described by design.
    pub(crate) fn violations(&mut self, request: &HttpRequest, response: &HttpResponse) -> Result<Vec<String>> {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let is_json = response.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
        let has_override = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("x-http-method-override"));
        let body = request.body.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let in_other_form = OTHER_FORMS.iter().any(|name| query.contains(name) || body.contains(name));
        let Some(path) = path.strip_prefix(&self.prefix).filter(|_| is_json && !has_override && !in_other_form) else {
            return Ok(Vec::new());
        };
        let method = request.method.to_ascii_lowercase();
        // Parameters of paths contain no slashes; clients encode them.
        if !["get", "post", "put", "patch", "delete"].contains(&&*method) || path.contains("//") {
            return Ok(Vec::new());
        }
        let Some(template) = self.template(path, &method) else {
            let is_listed = response.status >= 300 || self.is_listed(path, UNDESCRIBED, &Value::Null);
            return Ok(if is_listed { Vec::new() } else { vec![format!("no operation {method} {path}")] });
        };
        let Ok(body) = serde_json::from_slice::<Value>(&response.body) else { return Ok(Vec::new()) };
        let Some(pointer) = self.schema(&template, &method, response.status) else {
            return Ok(vec![format!("{method} {template} does not describe the status {}", response.status)]);
        };
        if !self.validators.contains_key(&pointer) {
            let forms = self.forms(&pointer)?;
            self.validators.insert(pointer.clone(), forms);
        }
        let forms = self.validators.get(&pointer).context("the schema was compiled")?;
        // Of several forms, the one that the response fits best.
        let errors = |form: &Validator| -> Vec<(String, Value, String)> {
            let errors = form.iter_errors(&body).map(|e| {
                (e.instance_path().as_str().to_owned(), e.instance().clone().into_owned(), format!("{e:.200}"))
            });
            errors.collect()
        };
        let mut all: Vec<_> = forms.iter().map(errors).collect();
        all.sort_by_cached_key(|errors| {
            let unlisted = errors.iter().filter(|(at, value, _)| self.listed(&template, at, value).is_none());
            (unlisted.count(), errors.len())
        });
        let best = all.into_iter().next().unwrap_or_default();
        let matches = best.is_empty();
        let mut out = Vec::new();
        for (at, value, text) in best {
            if !self.is_listed(&template, &at, &value) {
                out.push(format!("{method} {template} {}: {at}: {text}", response.status));
            }
        }
        if matches {
            self.matching += 1;
        } else if out.is_empty() {
            self.differing += 1;
        }
        Ok(out)
    }

    /// Validators of the forms of a schema: of each part of `anyOf`, so that errors name the value, and not all of the response.
    fn forms(&self, pointer: &str) -> Result<Vec<Validator>> {
        let schema = self.document.pointer(pointer).cloned().unwrap_or(Value::Bool(true));
        let forms = schema["anyOf"].as_array().cloned().unwrap_or_else(|| vec![schema]);
        let compiled = forms.into_iter().map(|mut form| {
            // References of the schema lead to these parts.
            if form.is_object() {
                form["components"] = self.document["components"].clone();
            }
            jsonschema::validator_for(&form).map_err(|error| anyhow::anyhow!("{pointer}: {error}"))
        });
        compiled.collect()
    }

    fn listed(&self, template: &str, at: &str, value: &Value) -> Option<usize> {
        self.differences.iter().position(|known| known.covers(template, at, value))
    }

    /// Whether a difference is listed. Records that it occurs.
    fn is_listed(&mut self, template: &str, at: &str, value: &Value) -> bool {
        match self.listed(template, at, value).and_then(|index| self.used.get_mut(index)) {
            Some(used) => {
                *used = true;
                true
            }
            None => false,
        }
    }

    /// The template of a path, of those with this method.
    fn template(&self, path: &str, method: &str) -> Option<String> {
        let path = path.trim_end_matches('/');
        let path = if path.is_empty() { "/" } else { path };
        let segments: Vec<&str> = path.split('/').collect();
        let matches = |template: &[String]| {
            template.len() == segments.len()
                && template.iter().zip(&segments).all(|(expected, segment)| {
                    (expected.starts_with('{') && !segment.is_empty()) || expected.eq_ignore_ascii_case(segment)
                })
        };
        let has_method = |name: &String| self.document["paths"][name.as_str()].get(method).is_some();
        let mut found = self.templates.iter().filter(|(template, name)| matches(template) && has_method(name));
        found.next().map(|(_, name)| name.clone())
    }

    /// A JSON pointer to the schema of a response.
    fn schema(&self, template: &str, method: &str, status: u16) -> Option<String> {
        let escaped = template.replace('~', "~0").replace('/', "~1");
        let responses = &self.document["paths"][template][method]["responses"];
        let keys = [status.to_string(), format!("{}XX", status / 100)];
        let key = keys.iter().find(|key| responses.get(key.as_str()).is_some())?;
        let shared = responses[key.as_str()]["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
        let response = shared.map_or_else(|| format!("/paths/{escaped}/{method}/responses/{key}"), str::to_owned);
        Some(format!("{response}/content/application~1json/schema"))
    }

    /// The listed differences that no response has shown.
    pub(crate) fn unused(&self) -> Vec<String> {
        let all = self.differences.iter().zip(&self.used).filter(|(_, used)| !**used);
        all.map(|(known, _)| format!("openapi-differences.toml: {} {} occurs nowhere", known.path, known.pointer))
            .collect()
    }
}

impl Difference {
    fn covers(&self, template: &str, at: &str, value: &Value) -> bool {
        let expected: Vec<&str> = self.pointer.split('/').collect();
        let found: Vec<&str> = at.split('/').collect();
        template.ends_with(&self.path)
            && is_match(&expected, &found)
            && self.value.as_ref().is_none_or(|expected| expected.as_str() == value.to_string().as_str())
    }
}

/// Whether the segments of a pointer match those of a pattern.
fn is_match(pattern: &[&str], found: &[&str]) -> bool {
    match (pattern, found) {
        ([], []) => true,
        (["**", rest @ ..], _) => (0..=found.len()).any(|skipped| is_match(rest, &found[skipped..])),
        ([first, rest @ ..], [segment, others @ ..]) => (*first == "*" || first == segment) && is_match(rest, others),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_match_patterns() {
        for (pattern, pointer, expected) in [
            ("/meta/*", "/meta/a", true),
            ("/meta/*", "/0/meta/a", false),
            ("/**/meta/*", "/0/meta/a", true),
            ("/**", "", true),
            ("/**", "/a/b", true),
            ("", "", true),
        ] {
            let split = |text: &'static str| text.split('/').collect::<Vec<_>>();
            assert_eq!(is_match(&split(pattern), &split(pointer)), expected, "{pattern} {pointer}");
        }
    }
}
