//! `POST /batch/v1`: runs several requests in one.

use http::Method;
use serde_json::{Value, json};
use svc_schema::Args;
use svc_schema::build::{array, object, string, types};

use super::Server;
use super::serve::envelope;
use crate::messages::error::{no_route, parse_path_failed};
use crate::{Request, Response, Result, Route, on, public};

/// Maximum number of requests in a batch.
const MAX_REQUESTS: usize = 25;

/// The value of `validation` that runs no request unless all are valid.
const REQUIRE_ALL: &str = "require-all-validate";

/// The batch route.
pub(super) fn route() -> Route {
    let no_properties: [(&str, Value); 0] = [];
    // PHP encodes an empty map as a list.
    let map = || object(no_properties.clone()).keyword("properties", json!([]));
    let header = types(["string", "array"]).keyword("items", string());
    let part = object([
        ("method", string().one_of(["POST", "PUT", "PATCH", "DELETE"]).default("POST")),
        ("path", string().required()),
        ("body", map().additional_properties(true)),
        ("headers", map().additional_properties(header)),
    ]);
    let requests = array(Value::Null).keyword("maxItems", MAX_REQUESTS).keyword("items", part).last(&["items"]);
    let args = Args::new()
        .with("validation", string().one_of([REQUIRE_ALL, "normal"]).default("normal"))
        .with("requests", requests.required());
    Route::new("/batch/v1").endpoint(on(Method::POST, serve, public).args(args))
}

async fn serve(req: Request) -> Result {
    let server = req.server().ok_or_else(no_route)?;
    let parts: Vec<Value> = req.require("requests")?;
    // The schema bounds the list as well.
    let parts: Vec<_> = parts.iter().take(MAX_REQUESTS).map(|part| parse_request(&req, part)).collect();

    if req.param("validation").and_then(Value::as_str) == Some(REQUIRE_ALL) {
        let validated: Vec<_> = parts.iter().map(|part| validate(&server, part)).collect();
        if validated.iter().any(Result::is_err) {
            let responses = validated.into_iter().map(|result| match result {
                Ok(()) => Value::Null,
                Err(error) => entry(&server, error.into()),
            });
            let data = json!({ "failed": "validation", "responses": responses.collect::<Vec<_>>() });
            return Ok(Response::new(data).status(207));
        }
    }
    let mut responses = Vec::with_capacity(parts.len());
    for part in parts {
        let res = match part {
            Ok(part) => server.dispatch_batched(part).await,
            Err(error) => error.into(),
        };
        responses.push(entry(&server, res));
    }
    Ok(Response::new(json!({ "responses": responses })).status(207))
}

fn validate(server: &Server, part: &Result<Request>) -> Result<()> {
    server.validate_batched(part.as_ref().map_err(Clone::clone)?)
}

/// One response of the batch.
fn entry(server: &Server, res: Response) -> Value {
    let (status, headers) = (res.status, res.headers.to_value());
    envelope(server.data_with_links(res), status, headers)
}

/// One request of the batch, with the caller of the batch.
fn parse_request(batch: &Request, part: &Value) -> Result<Request> {
    let method = part.get("method").and_then(Value::as_str).unwrap_or("POST");
    let method = Method::from_bytes(method.as_bytes()).map_err(|_| no_route())?;
    let url = part.get("path").and_then(Value::as_str).unwrap_or_default();
    let (path, query) = split_url(url).ok_or_else(parse_path_failed)?;
    let mut req = batch.sub_request(method, path).with_query_string(query);
    if let Some(Value::Object(body)) = part.get("body") {
        req = req.with_form(body.clone());
    }
    for (name, value) in part.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let text = match value {
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
            Value::String(text) => text.clone(),
            _ => continue,
        };
        req = req.with_header(name, &text);
    }
    Ok(req)
}

/// Path and query of a URL; `None` if PHP's `parse_url` would reject it (missing host, invalid port).
fn split_url(url: &str) -> Option<(&str, &str)> {
    let url = url.split('#').next().unwrap_or_default();
    let (url, query) = url.split_once('?').unwrap_or((url, ""));
    let after_scheme = match url.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => Some(rest),
        _ => url.strip_prefix("//"),
    };
    let Some(rest) = after_scheme else {
        return (!url.starts_with(':')).then_some((url, query));
    };
    let slash = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(slash);
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    (!authority.is_empty() && (port.is_empty() || port.parse::<u16>().is_ok())).then_some((path, query))
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_requests() {
        for (url, want) in [
            ("/a/b?n=3#f", Some(("/a/b", "n=3"))),
            ("http://h/a", Some(("/a", ""))),
            ("http://h", Some(("", ""))),
            ("a/b", Some(("a/b", ""))),
            ("", Some(("", ""))),
            ("?n=3", Some(("", "n=3"))),
            ("http:///x", None),
            ("//", None),
            ("///", None),
            (":80", None),
            ("http://a:99999999/x", None),
            ("http://a:80/x", Some(("/x", ""))),
            ("http://a:/x", Some(("/x", ""))),
            ("a+b-c.1://h/x", Some(("/x", ""))),
            ("//h/x", Some(("/x", ""))),
            // These have no scheme.
            ("a_b://h/x", Some(("a_b://h/x", ""))),
            ("://h/x", None),
        ] {
            assert_eq!(split_url(url), want, "{url}");
        }
    }
}
