//! The response of a handler, and the final response of the server.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use serde_json::Value;
use svc_schema::{Error, Notice};

use super::encoded::Encoded;
use super::later::LaterBody;
use super::links::{Link, Links};
use super::validators::Validators;

/// The value of a header: text, or a number, which envelopes and batches encode as such.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderText {
    text: String,
    is_number: bool,
}

impl From<&str> for HeaderText {
    fn from(text: &str) -> Self {
        Self { text: strip_controls(text), is_number: false }
    }
}

impl From<String> for HeaderText {
    fn from(text: String) -> Self {
        let text = if text.chars().any(is_forbidden) { strip_controls(&text) } else { text };
        Self { text, is_number: false }
    }
}

impl From<&String> for HeaderText {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl From<$number> for HeaderText {
            fn from(number: $number) -> Self {
                Self { text: number.to_string(), is_number: true }
            }
        }
    )*};
}

numbers!(u16, u32, u64, usize, i32, i64);

/// Headers in the order in which they were set. Envelopes and batches show names as they were written; lookups ignore
/// case. Values contain no line breaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, HeaderText)>);

impl Headers {
    fn find(&mut self, name: &str) -> Option<&mut HeaderText> {
        self.0.iter_mut().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Sets a header, replacing an existing one of this name.
    pub fn set(&mut self, name: &str, value: impl Into<HeaderText>) {
        match self.find(name) {
            Some(old) => *old = value.into(),
            None => self.0.push((name.to_owned(), value.into())),
        }
    }

    /// Appends to a header, separated by a comma.
    pub fn add(&mut self, name: &str, value: impl Into<HeaderText>) {
        match self.find(name) {
            Some(old) => {
                old.text.push_str(", ");
                old.text.push_str(&value.into().text);
                old.is_number = false;
            }
            None => self.0.push((name.to_owned(), value.into())),
        }
    }

    /// Removes a header.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
    }

    /// A header's value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.text.as_str())
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.text.as_str()))
    }

    /// As part of an envelope. Without headers this is an empty list, as PHP encodes an empty map.
    pub(crate) fn to_value(&self) -> Value {
        if self.0.is_empty() {
            return Value::Array(Vec::new());
        }
        let value = |value: &HeaderText| match value.text.parse::<i64>() {
            Ok(number) if value.is_number => number.into(),
            _ => Value::from(value.text.as_str()),
        };
        self.0.iter().map(|(name, text)| (name.clone(), value(text))).collect::<crate::Map>().into()
    }
}

fn is_forbidden(c: char) -> bool {
    c.is_ascii_control() && c != '\t'
}

/// Removes the characters that would end the header.
fn strip_controls(value: &str) -> String {
    value.chars().filter(|c| !is_forbidden(*c)).collect()
}

/// A body that is not JSON, such as a file, HTML or XML.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawBody {
    /// The `Content-Type`.
    pub content_type: String,
    /// The bytes; empty if they are made later.
    pub bytes: Bytes,
    /// What makes the bytes when they are sent.
    pub later: Option<LaterBody>,
}

/// The route and endpoint that a server matched, as positions among its routes.
#[derive(Clone, Debug)]
pub(crate) struct MatchedRoute {
    /// The route's pattern. The string is shared with the route, so it also identifies the server.
    pub(crate) pattern: Arc<str>,
    /// The position of the route.
    pub(crate) route: usize,
    /// The position of the endpoint among those of the route; `None` for `OPTIONS`.
    pub(crate) endpoint: Option<usize>,
}

/// The response of a handler: status, headers, links and data.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// The status, 200 by default.
    pub status: StatusCode,
    /// Additional headers.
    pub headers: Headers,
    /// Links, returned as `_links` if the data is an object.
    pub links: Links,
    /// The data.
    pub data: Value,
    /// A body that replaces the data.
    pub raw: Option<RawBody>,
    /// The state of the object that the response represents.
    pub validators: Validators,
    /// The data, if it is encoded already; `data` is then null and there are no other links.
    pub(crate) encoded: Option<Encoded>,
    /// The context of the data, if it differs from the request's.
    pub(crate) context: Option<&'static str>,
    pub(crate) error: Option<Box<Error>>,
    /// The route that the server matched.
    pub(crate) matched: Option<MatchedRoute>,
    /// Whether the permission callback returned exactly true.
    pub(crate) exactly_authorized: bool,
    /// The methods of the `Allow` header, once they are known.
    pub(crate) allowed: Option<Vec<String>>,
    /// Whether the response has no `Allow` header.
    pub(crate) omits_allow: bool,
}

impl Response {
    /// A response with this data and status 200.
    pub fn new(data: impl Into<Value>) -> Self {
        Self { data: data.into(), ..Self::default() }
    }

    /// A response whose data is encoded already, including links. Only for requests that [take
    /// it](crate::Request::takes_encoded).
    pub fn encoded(encoded: Encoded) -> Self {
        Self { encoded: Some(encoded), ..Self::default() }
    }

    /// A response whose body is not JSON.
    pub fn raw(content_type: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        let raw = RawBody { content_type: content_type.into(), bytes: bytes.into(), later: None };
        Self { raw: Some(raw), ..Self::default() }
    }

    /// A response whose body is not JSON and is made when it is sent. Such a response has an entity tag only if the handler sets
    /// one.
    pub fn later(content_type: impl Into<String>, body: LaterBody) -> Self {
        let raw = RawBody { content_type: content_type.into(), bytes: Bytes::new(), later: Some(body) };
        Self { raw: Some(raw), ..Self::default() }
    }

    /// Omits the `Allow` header, as in WordPress if a callback sends its response itself.
    #[must_use]
    pub fn without_allow(mut self) -> Self {
        self.omits_allow = true;
        self
    }

    /// Sets the status. An invalid number becomes 500.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        self
    }

    /// Sets the context of the data, if it differs from the request's: responses to writes have the context `edit`. As
    /// in WordPress, `Allow` then lists the methods that a request with this context would be allowed.
    #[must_use]
    pub fn in_context(mut self, context: &'static str) -> Self {
        self.context = Some(context);
        self
    }

    /// Sets a header, replacing an existing one of this name.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<HeaderText>) -> Self {
        self.headers.set(name, value);
        self
    }

    /// Appends to a header, separated by a comma.
    #[must_use]
    pub fn add_header(mut self, name: &str, value: impl Into<HeaderText>) -> Self {
        self.headers.add(name, value);
        self
    }

    /// Adds a target to a relation of `_links`.
    #[must_use]
    pub fn link(mut self, rel: impl Into<String>, link: Link) -> Self {
        self.links.add(rel, link);
        self
    }

    /// Appends an entry to the `Link` header. `title` is quoted, other attributes are not (RFC 8288).
    #[must_use]
    pub fn link_header(self, rel: &str, href: &str, attributes: &[(&str, &str)]) -> Self {
        let mut value = format!("<{href}>; rel=\"{rel}\"");
        for (name, text) in attributes {
            let quote = if *name == "title" { "\"" } else { "" };
            value.push_str(&format!("; {name}={quote}{text}{quote}"));
        }
        self.add_header("Link", value)
    }

    /// The response with its data as a value.
    pub(crate) fn decoded(mut self) -> Self {
        if let Some(encoded) = self.encoded.take() {
            self.data = encoded.to_value();
        }
        self
    }

    /// Whether the status is 400 or above.
    pub fn is_error(&self) -> bool {
        self.status.as_u16() >= 400
    }

    /// The error that this response was created from.
    pub fn error(&self) -> Option<&Error> {
        self.error.as_deref()
    }

    /// The pattern of the matched route, if any. Hooks that change responses of certain routes use it.
    pub fn matched_route(&self) -> Option<&str> {
        self.matched.as_ref().map(|matched| &*matched.pattern)
    }
}

impl From<Value> for Response {
    fn from(data: Value) -> Self {
        Self::new(data)
    }
}

impl From<crate::Map> for Response {
    fn from(data: crate::Map) -> Self {
        Self::new(Value::Object(data))
    }
}

impl From<Error> for Response {
    /// The status and body of specification section Errors. An error without a code has no body.
    fn from(error: Error) -> Self {
        let data = if error.code().is_empty() { Value::Null } else { error.to_body() };
        let status = error.status();
        Self { data, error: Some(Box::new(error)), ..Self::default() }.status(status)
    }
}

impl From<crate::Result> for Response {
    fn from(result: crate::Result) -> Self {
        result.unwrap_or_else(Response::from)
    }
}

/// The final response: after `_fields`, links, `_embed` and `_envelope`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Served {
    /// The status.
    pub status: StatusCode,
    /// The headers of the response. The HTTP service adds those that all responses have.
    pub headers: Headers,
    /// The body.
    pub body: Body,
    /// The state of the object in the response, if the response represents one.
    pub validators: Validators,
    /// Developer notices, in debug mode only.
    pub notices: Vec<Notice>,
    /// Whether the response may be cached for the same request and caller while the data is unchanged. It must be the
    /// response to a successful `GET`, or to `OPTIONS` for a route whose `GET` may be cached. All of its endpoints, including those of embedded targets, must be [cacheable][1], and the
    /// server must have no response filters and no additional fields, because their inputs are unknown.
    ///
    /// [1]: crate::Endpoint::cacheable
    pub cacheable: bool,
}

/// The body of a response.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Body {
    /// No body: `HEAD`, status 204, or null data.
    #[default]
    Empty,
    /// Data to be encoded as JSON.
    Json(Value),
    /// Data that is encoded as JSON in PHP's compact style.
    Encoded(Bytes),
    /// Bytes of another content type.
    Raw(RawBody),
}

impl Body {
    /// The data; null if there is none, or if it is not JSON.
    pub fn into_value(self) -> Value {
        match self {
            Body::Json(data) => data,
            // The encoder's output can be read.
            Body::Encoded(json) => serde_json::from_slice(&json).unwrap_or_default(),
            Body::Empty | Body::Raw(_) => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_names_keep_their_case_and_values_join() {
        let res = Response::default().header("X-Two", "a").add_header("x-two", "b\r\nX-Evil: 1").header("Y", 3);
        let all: Vec<_> = res.headers.iter().collect();
        assert_eq!(all, [("X-Two", "a, bX-Evil: 1"), ("Y", "3")]);
        assert_eq!(res.headers.to_value(), serde_json::json!({ "X-Two": "a, bX-Evil: 1", "Y": 3 }));
        assert_eq!(Headers::default().to_value(), serde_json::json!([]));
    }

    #[test]
    fn removed_headers_are_found_in_any_case() {
        let mut headers = Response::default().header("X-A", 1).header("X-B", 2).headers;
        headers.remove("x-a");
        assert_eq!(headers.iter().collect::<Vec<_>>(), [("X-B", "2")]);
    }

    #[test]
    fn responses_from_other_types() {
        let map = crate::Map::from_iter([("a".to_owned(), Value::from(1))]);
        assert_eq!(Response::from(map).data, serde_json::json!({"a": 1}));
        let raw = Response::raw("text/plain", "abc").raw.expect("a raw body");
        assert_eq!((raw.content_type.as_str(), &raw.bytes[..]), ("text/plain", &b"abc"[..]));
        let error = Response::from(Error::new("gone", "Gone.").with_status(410));
        assert_eq!((error.status.as_u16(), error.error().map(Error::code)), (410, Some("gone")));
        assert!(Response::new(1).error().is_none() && Response::new(1).matched_route().is_none());
        assert_eq!(Response::from(Error::empty()).data, Value::Null);
    }

    #[test]
    fn link_header_quotes_only_the_title() {
        let res = Response::default().link_header("next", "https://e.org/?page=2", &[]);
        let res = res.link_header("alternate", "x", &[("type", "text/html"), ("title", "A")]);
        assert_eq!(
            res.headers.get("link").unwrap(),
            "<https://e.org/?page=2>; rel=\"next\", <x>; rel=\"alternate\"; type=text/html; title=\"A\""
        );
    }
}
