//! The response of a handler, and the one that goes out.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use serde_json::Value;
use svc_schema::{Error, Notice};

use crate::endpoint::RouteEntry;
use crate::links::{Link, Links};

/// The value of a header: text, or a number, which envelopes and batches show as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderText {
    text: String,
    is_number: bool,
}

impl From<&str> for HeaderText {
    fn from(text: &str) -> Self {
        Self { text: clean(text), is_number: false }
    }
}

impl From<String> for HeaderText {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
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

/// Headers in the order in which they were set, with the spelling of their names kept, as envelopes and batches show
/// them. Names compare without letter case. Values hold no line breaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, HeaderText)>);

impl Headers {
    fn find(&mut self, name: &str) -> Option<&mut HeaderText> {
        self.0.iter_mut().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Sets a header, in place of one with this name.
    pub fn set(&mut self, name: &str, value: impl Into<HeaderText>) {
        match self.find(name) {
            Some(old) => *old = value.into(),
            None => self.0.push((name.to_owned(), value.into())),
        }
    }

    /// Adds to a header: the values are joined by a comma.
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

    /// As a member of an envelope; without headers an empty list, as PHP prints an empty map.
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

/// A value without the characters that would end the header.
fn clean(value: &str) -> String {
    value.chars().filter(|c| !c.is_ascii_control() || *c == '\t').collect()
}

/// A body that is not JSON: a file, a page, XML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawBody {
    /// The `Content-Type`.
    pub content_type: String,
    /// The bytes.
    pub bytes: Bytes,
}

/// What a handler answers: status, headers, links and data.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// The status, 200 by default.
    pub status: StatusCode,
    /// Further headers.
    pub headers: Headers,
    /// Links, shown as `_links` of the data when the data is an object.
    pub links: Links,
    /// The data.
    pub data: Value,
    /// A body that goes out instead of the data.
    pub raw: Option<RawBody>,
    /// The context that the data is of, where it is not the request's.
    pub(crate) context: Option<&'static str>,
    pub(crate) error: Option<Box<Error>>,
    pub(crate) route: Option<Arc<RouteEntry>>,
    pub(crate) endpoint: Option<usize>,
    /// Whether the permission was exactly true.
    pub(crate) exactly_granted: bool,
    /// The methods of `Allow`, once they are known.
    pub(crate) allowed: Option<Vec<String>>,
}

impl Response {
    /// A response with this data and status 200.
    pub fn new(data: impl Into<Value>) -> Self {
        Self { data: data.into(), ..Self::default() }
    }

    /// A response whose body is not JSON.
    pub fn raw(content_type: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self { raw: Some(RawBody { content_type: content_type.into(), bytes: bytes.into() }), ..Self::default() }
    }

    /// Sets the status. A number that no status can have becomes 500.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        self
    }

    /// Says which context the data is of, where it is not the request's: what was just written is answered in `edit`.
    /// `Allow` then names what the caller could do had he asked for this context, as the peer's does.
    #[must_use]
    pub fn in_context(mut self, context: &'static str) -> Self {
        self.context = Some(context);
        self
    }

    /// Sets a header, in place of one with this name.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<HeaderText>) -> Self {
        self.headers.set(name, value);
        self
    }

    /// Adds to a header: the values are joined by a comma.
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

    /// Adds an entry to the `Link` header; `title` is put in quotes, other attributes are not (RFC 8288).
    #[must_use]
    pub fn link_header(self, rel: &str, href: &str, attributes: &[(&str, &str)]) -> Self {
        let mut value = format!("<{href}>; rel=\"{rel}\"");
        for (name, text) in attributes {
            let quote = if *name == "title" { "\"" } else { "" };
            value.push_str(&format!("; {name}={quote}{text}{quote}"));
        }
        self.add_header("Link", value)
    }

    /// Whether this is an error: made from one, or with a status of 400 and more.
    pub fn is_error(&self) -> bool {
        self.status.as_u16() >= 400
    }

    /// The error that this response was made from.
    pub fn error(&self) -> Option<&Error> {
        self.error.as_deref()
    }

    /// The pattern of the route that answered; `None` when none did.
    pub fn matched_route(&self) -> Option<&str> {
        self.route.as_ref().map(|r| r.pattern.as_str())
    }

    /// Whether a handler group of the route was chosen (an `OPTIONS` request chooses none).
    pub fn has_matched_endpoint(&self) -> bool {
        self.endpoint.is_some()
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
    /// The status and body of specification section Errors; an error without a code has no body.
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

/// A response ready to go out: after `_fields`, links, `_embed` and `_envelope`.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// The status.
    pub status: StatusCode,
    /// The headers of the response; those that every answer has are the server's to add.
    pub headers: Headers,
    /// The body.
    pub body: Body,
    /// Developer notices, in debug mode only.
    pub notices: Vec<Notice>,
    /// Whether the same request of the same caller may be answered by this again while the state of the data is the same:
    /// a `GET` that succeeded, all of whose handler groups, those of embedded targets too, are [cacheable][1], on a server
    /// without filters on answers and without additional fields, as nobody knows what these look at.
    ///
    /// [1]: crate::Endpoint::cacheable
    pub cacheable: bool,
}

/// The body of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Body {
    /// Nothing: `HEAD`, status 204, or data of `null`.
    #[default]
    Empty,
    /// Data, still to be printed as JSON.
    Json(Value),
    /// Bytes of another type.
    Raw(RawBody),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_keep_spelling_and_join() {
        let res = Response::default().header("X-Two", "a").add_header("x-two", "b\r\nX-Evil: 1").header("Y", 3);
        let all: Vec<_> = res.headers.iter().collect();
        assert_eq!(all, [("X-Two", "a, bX-Evil: 1"), ("Y", "3")]);
        assert_eq!(res.headers.to_value(), serde_json::json!({ "X-Two": "a, bX-Evil: 1", "Y": 3 }));
        assert_eq!(Headers::default().to_value(), serde_json::json!([]));
    }

    #[test]
    fn link_headers_quote_the_title_only() {
        let res = Response::default().link_header("next", "https://e.org/?page=2", &[]);
        let res = res.link_header("alternate", "x", &[("type", "text/html"), ("title", "A")]);
        assert_eq!(
            res.headers.get("link").unwrap(),
            "<https://e.org/?page=2>; rel=\"next\", <x>; rel=\"alternate\"; type=text/html; title=\"A\""
        );
    }
}
