//! `POST /batch/v1`: runs several requests in one.
//!
//! In addition to what WordPress has: with `reads`, requests may read, and see one snapshot until one of them writes; with `transaction`, all of
//! them are one transaction.

use http::Method;
use serde_json::{Value, json};
use svc_schema::build::{SchemaBuilder, array, boolean, object, string, types};
use svc_schema::values::{is_boolean, sanitize_boolean};
use svc_schema::{Arg, Args, Schema};

use super::Server;
use super::dispatch::is_read;
use super::serve::{envelope, wanted};
use crate::messages::error::{
    batch_too_large, file_in_batch, no_route, no_transactions, parse_path_failed, read_in_transaction, rolled_back,
};
use crate::{BatchData, Cost, Request, Response, Result, Route, forbidden, on, public};

/// The value of `validation` that runs no request unless all are valid.
const REQUIRE_ALL: &str = "require-all-validate";

/// Maximum size of the responses to reads, approximately, in bytes. Further reads are refused.
const MAX_READ: usize = 32 << 20;

/// The methods of requests that write.
const WRITES: [&str; 4] = ["POST", "PUT", "PATCH", "DELETE"];

/// The methods of all requests.
const ALL: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// The batch route for at most `max` requests.
pub(super) fn route(max: usize) -> Route {
    let writes = requests(max, &WRITES);
    let only_writes = Schema::compile(writes.clone().into());
    let all = Schema::compile(requests(max, &ALL).into());
    let reads = boolean().default(false).describe(
        "Whether the requests may have the methods GET and HEAD. Those before the first write read from one snapshot.",
    );
    let transaction = boolean().default(false).describe(
        "Whether the requests, all of which write, are one transaction: if one fails, none of them changes anything.",
    );
    let args = Args::new()
        .with("validation", string().one_of([REQUIRE_ALL, "normal"]).default("normal"))
        .with("requests", Arg { listed: Some(writes.into()), ..Arg::new(all.clone()) })
        .with("reads", Arg { unlisted: true, ..Arg::new(reads) })
        .with("transaction", Arg { unlisted: true, ..Arg::new(transaction) });
    let endpoint = on(Method::POST, serve, public).args(args).cost(cost).sanitize_arg("requests", move |req, sent| {
        let schema = if has_reads(req) { &all } else { &only_writes };
        schema.parse(sent.clone(), "requests")
    });
    Route::new("/batch/v1").endpoint(endpoint)
}

/// The schema of at most `max` requests with these methods.
fn requests(max: usize, methods: &[&str]) -> SchemaBuilder {
    let no_properties: [(&str, Value); 0] = [];
    // PHP encodes an empty map as a list.
    let map = || object(no_properties.clone()).keyword("properties", json!([]));
    let header = types(["string", "array"]).keyword("items", string());
    let part = object([
        ("method", string().one_of(methods.iter().copied()).default("POST")),
        ("path", string().required()),
        ("body", map().additional_properties(true)),
        ("headers", map().additional_properties(header)),
    ]);
    array(Value::Null).keyword("maxItems", max).keyword("items", part).last(&["items"]).required()
}

/// Whether requests may read, before the parameters are sanitized.
fn has_reads(req: &Request) -> bool {
    req.param("reads").is_some_and(|value| is_boolean(value) && sanitize_boolean(value))
}

/// Reads may search, or be far into a list.
fn cost(req: &Request) -> Cost {
    if has_reads(req) { Cost::Heavy } else { Cost::Light }
}

async fn serve(req: Request) -> Result {
    let server = req.server().ok_or_else(no_route)?;
    let parts: Vec<Value> = req.require("requests")?;
    // The schema bounds the list as well.
    let parts: Vec<_> = parts.iter().take(server.site().max_batch).map(|part| parse_request(&req, part)).collect();
    let is_transaction: bool = req.arg("transaction")?.unwrap_or(false);

    if is_transaction || req.param("validation").and_then(Value::as_str) == Some(REQUIRE_ALL) {
        let validated: Vec<_> = parts.iter().map(|part| validate(&server, part, is_transaction)).collect();
        if validated.iter().any(Result::is_err) {
            let responses = validated.into_iter().map(|result| match result {
                Ok(()) => Value::Null,
                Err(error) => entry(&server, error.into()),
            });
            return Ok(failed("validation", responses.collect()));
        }
    }
    if is_transaction {
        let data = server.site().batch_data.as_ref().ok_or_else(no_transactions)?;
        // Other writers wait for transactions, so those without a known caller could stop them all.
        if !req.is_authenticated() || !data.may_begin(&req)? {
            return Err(forbidden(&req, "rest_cannot_batch", "You are not allowed to run transactions."));
        }
        let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
        return run_transaction(&server, &**data, &req, parts).await;
    }
    let mut responses = Vec::with_capacity(parts.len());
    let mut snapshots = Vec::new();
    let mut n_read = 0;
    // Before anything is written.
    let data = server.site().batch_data.as_ref();
    let has_reads = parts.iter().flatten().any(|part| is_read(part.method()));
    let _permit = match data.filter(|_| has_reads) {
        Some(data) => Some(data.snapshot_permit().await?),
        None => None,
    };
    for part in parts {
        let response = match part {
            Ok(part) if is_read(part.method()) && n_read > MAX_READ => entry(&server, batch_too_large().into()),
            Ok(part) if is_read(part.method()) => {
                // The one before, unless something was written since.
                match data.map(|data| data.hold_snapshot(req.cx())).transpose() {
                    Ok(held) => {
                        snapshots.extend(held);
                        let response = read(&server, part).await;
                        n_read += size(&response);
                        response
                    }
                    Err(error) => entry(&server, error.into()),
                }
            }
            Ok(part) => entry(&server, server.dispatch_batched(part).await),
            Err(error) => entry(&server, error.into()),
        };
        responses.push(response);
    }
    Ok(Response::new(json!({ "responses": responses })).status(207))
}

/// The size of a value, approximately.
fn size(value: &Value) -> usize {
    const EACH: usize = 8;
    EACH + match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(size).sum(),
        Value::Object(map) => map.iter().map(|(name, value)| name.len() + size(value)).sum(),
        _ => 0,
    }
}

/// Runs requests in one transaction, until one fails.
async fn run_transaction(server: &Server, data: &dyn BatchData, batch: &Request, parts: Vec<Request>) -> Result {
    let transaction = data.begin(batch.cx().clone()).await?;
    let n_parts = parts.len();
    let mut responses = Vec::with_capacity(n_parts);
    for part in parts {
        let response = server.dispatch_batched(part).await;
        if response.is_error() {
            transaction.roll_back().await;
            let error = entry(server, response);
            let others = entry(server, rolled_back().into());
            let n_done = responses.len();
            let all = (0..n_parts).map(|n| if n == n_done { error.clone() } else { others.clone() });
            return Ok(failed("transaction", all.collect()));
        }
        responses.push(entry(server, response));
    }
    transaction.commit().await?;
    Ok(Response::new(json!({ "responses": responses })).status(207))
}

/// The response to a batch of which nothing was changed.
fn failed(step: &str, responses: Vec<Value>) -> Response {
    Response::new(json!({ "failed": step, "responses": responses })).status(207)
}

fn validate(server: &Server, part: &Result<Request>, in_transaction: bool) -> Result<()> {
    let part = part.as_ref().map_err(Clone::clone)?;
    if in_transaction && is_read(part.method()) {
        return Err(read_in_transaction());
    }
    server.validate_batched(part)
}

/// The response to a read, with what it embeds.
async fn read(server: &Server, part: Request) -> Value {
    let embedded = match wanted(&part) {
        Ok(embedded) => embedded,
        Err(error) => return entry(server, error.into()),
    };
    let response = server.dispatch_batched(part.clone()).await;
    if response.raw.is_some() {
        return entry(server, file_in_batch().into());
    }
    let (status, headers) = (response.status, response.headers.to_value());
    let data = if part.is_head() { Value::Null } else { server.to_data(response, embedded.as_ref(), &part).await };
    envelope(data, status, headers)
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
    let address = authority.rsplit_once('@').map_or(authority, |(_, address)| address);
    // Colons in brackets are part of an IPv6 address.
    let (host, port) = address.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).unwrap_or((address, ""));
    (!host.is_empty() && (port.is_empty() || port.parse::<u16>().is_ok())).then_some((path, query))
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
            ("http://user@:80", None),
            ("//user@/x", None),
            ("//:80", None),
            ("http://user:word@h:80/x", Some(("/x", ""))),
            ("http://[::1]/x", Some(("/x", ""))),
            ("http://[::1]:80/x", Some(("/x", ""))),
            // These have no scheme.
            ("a_b://h/x", Some(("a_b://h/x", ""))),
            ("://h/x", None),
        ] {
            assert_eq!(split_url(url), want, "{url}");
        }
    }
}
