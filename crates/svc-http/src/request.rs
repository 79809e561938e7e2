//! Converts HTTP requests to API requests.

use bytes::{Buf, Bytes, BytesMut};
use futures_util::{Stream, TryStreamExt};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, Method};
use http_body_util::BodyDataStream;
use serde_json::Value;
use svc_routing::{Error, Request};

use crate::body_error::{too_large, unreadable_body};
use crate::large::{LargeBodies, Reservation, SMALL};
use crate::limits::RequestLimits;
use crate::{multipart, spool};

/// Header for clients that cannot send other methods than GET and POST.
const OVERRIDE: &str = "x-http-method-override";
/// Query variable with the same meaning.
const OVERRIDE_PARAM: &str = "_method";

/// The request without its body: method, route, query, headers.
pub(crate) fn head(parts: &Parts, route: String) -> Request {
    let req = Request::new(parts.method.clone(), route)
        .with_query_string(parts.uri.query().unwrap_or_default())
        .with_headers(parts.headers.clone());
    match override_method(&req) {
        Some(method) => req.with_method(method),
        None => req,
    }
}

/// The method from the query or header that overrides the one on the wire. Text that is not a method becomes `-`, which
/// no route has.
fn override_method(req: &Request) -> Option<Method> {
    let named = match req.params().query.get(OVERRIDE_PARAM) {
        Some(Value::String(text)) => text.as_str(),
        Some(_) => "",
        None => req.header(OVERRIDE)?,
    };
    let method = Method::from_bytes(named.to_ascii_uppercase().as_bytes());
    Some(method.unwrap_or_else(|_| Method::from_bytes(b"-").expect("a method is any token")))
}

/// Reads the body into the request. The memory of a large body stays reserved until the reservation is dropped.
///
/// # Errors
/// 413 beyond the limits, 400 for an unreadable body, 503 if the memory for large bodies is exhausted.
pub(crate) async fn body<B>(
    req: Request,
    body: B,
    limits: &RequestLimits,
    large: &LargeBodies,
) -> Result<(Request, Reservation), Error>
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: std::fmt::Display + Send,
{
    let kind = req.content_type();
    let stream = BodyDataStream::new(body)
        .map_ok(|mut data| data.copy_to_bytes(data.remaining()))
        .map_err(|error| std::io::Error::other(error.to_string()));
    let mut reserved = large.reserve();
    // As in PHP, only POST requests can have multipart bodies.
    if kind.as_ref().is_some_and(|k| k.value == "multipart/form-data") && *req.wire_method() == Method::POST {
        let Some(boundary) = boundary(req.headers()) else { return Ok((req, reserved)) };
        let (form, files) = multipart::read(stream, &boundary, limits, &mut reserved).await?;
        return Ok((files.into_iter().fold(req.with_form(form), Request::with_file), reserved));
    }
    let is_text = kind.as_ref().is_some_and(|k| k.is_json() || k.value == "application/x-www-form-urlencoded");
    // A body without content type is a form, except in POST requests, whose forms PHP parses by their type.
    let is_untyped_form = kind.is_none() && *req.method() != Method::POST;
    if !is_text && !is_untyped_form {
        let file = spool::read(stream, limits.body as u64, limits.file_in_memory).await?;
        return Ok((req.with_body_file(file.0), reserved));
    }
    let body = collect(stream, limits.text_body, &mut reserved).await?;
    let (is_small, max_values) = (body.len() <= SMALL, limits.values);
    let decode = move || match is_text {
        true => req.with_body_bounded(body, max_values),
        false => req.with_form(svc_php::query::parse(&body)).with_body(body),
    };
    let req = if is_small { decode() } else { large.run(decode).await? };
    Ok((req, reserved))
}

async fn collect(
    stream: impl Stream<Item = Result<Bytes, std::io::Error>>,
    limit: usize,
    reserved: &mut Reservation,
) -> Result<Bytes, Error> {
    let mut stream = std::pin::pin!(stream);
    let mut first: Option<Bytes> = None;
    let mut all = BytesMut::new();
    while let Some(chunk) = stream.try_next().await.map_err(|error| unreadable_body(&error))? {
        let received = first.as_ref().map_or(all.len(), Bytes::len);
        if received + chunk.len() > limit {
            return Err(too_large());
        }
        reserved.grow(received + chunk.len())?;
        // Most bodies arrive in one chunk, which is used without copying.
        match first.take() {
            None if all.is_empty() => first = Some(chunk),
            Some(before) => {
                all.extend_from_slice(&before);
                all.extend_from_slice(&chunk);
            }
            None => all.extend_from_slice(&chunk),
        }
    }
    Ok(first.unwrap_or_else(|| all.freeze()))
}

fn boundary(headers: &HeaderMap) -> Option<String> {
    multer::parse_boundary(headers.get(CONTENT_TYPE)?.to_str().ok()?).ok()
}

/// The nonce from the form or query parameter, otherwise from the header.
pub(crate) fn nonce(req: &Request, param: &str, header: &str) -> Option<String> {
    let params = req.params();
    let sent = params.body.get(param).or_else(|| params.query.get(param));
    match sent {
        Some(Value::String(nonce)) => Some(nonce.clone()),
        Some(_) => Some(String::new()),
        None => req.header(header).map(str::to_owned),
    }
}

/// The value of the `_jsonp` parameter.
pub(crate) enum Jsonp {
    /// Plain JSON.
    No,
    /// JSON wrapped in a call of this function.
    Callback(String),
    /// The value is not a valid function name.
    Invalid,
}

pub(crate) fn jsonp(req: &Request) -> Jsonp {
    match req.params().query.get("_jsonp") {
        None => Jsonp::No,
        // The values that PHP considers empty.
        Some(Value::String(name)) if name.is_empty() || name == "0" => Jsonp::No,
        Some(Value::String(name)) if name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')) => {
            Jsonp::Callback(name.clone())
        }
        Some(_) => Jsonp::Invalid,
    }
}
