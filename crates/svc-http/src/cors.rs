//! CORS: which origins may read responses (specification, section CORS headers).

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Method};
use svc_routing::Headers;

/// The methods that other origins may use.
const METHODS: HeaderValue = HeaderValue::from_static("OPTIONS, GET, POST, PUT, PATCH, DELETE");

/// Headers that scripts of other origins may read, in addition to WordPress's list. They are a second header line, which
/// requests without `Origin` do not get.
const EXPOSED: HeaderValue = HeaderValue::from_static("ETag, Last-Modified, Retry-After, X-Request-Id");

/// The origins that may read responses, such as `https://front.example`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(Option<Vec<String>>);

impl Origins {
    /// These origins only. By default, all of them may, as in WordPress.
    pub fn only(origins: impl IntoIterator<Item = String>) -> Self {
        Origins(Some(origins.into_iter().map(|origin| origin.to_ascii_lowercase()).collect()))
    }

    fn allow(&self, origin: &HeaderValue) -> bool {
        let is_listed =
            |all: &Vec<String>| all.iter().any(|listed| origin.as_bytes().eq_ignore_ascii_case(listed.as_bytes()));
        self.0.as_ref().is_none_or(is_listed)
    }
}

/// Adds the CORS headers to the response of a request with these headers.
pub(crate) fn add(
    origins: &Origins,
    out: &mut HeaderMap,
    request_headers: &HeaderMap,
    wire_method: &Method,
    logged_in: bool,
) {
    let vary = HeaderValue::from_static("Origin");
    match request_headers.get(ORIGIN).filter(|origin| !origin.is_empty()) {
        Some(origin) if !origins.allow(origin) => {
            out.append(VARY, vary);
        }
        Some(origin) => {
            out.insert(ACCESS_CONTROL_ALLOW_ORIGIN, sanitize_origin(origin));
            out.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
            out.append(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
            out.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
            out.append(VARY, vary);
        }
        None if *wire_method == Method::GET && !logged_in => {
            out.append(VARY, vary);
        }
        None => {}
    }
}

/// [`add`] to the headers of a response that hooks may still change.
pub(crate) fn add_to(
    origins: &Origins,
    out: &mut Headers,
    request_headers: &HeaderMap,
    wire_method: &Method,
    logged_in: bool,
) {
    let mut added = HeaderMap::new();
    add(origins, &mut added, request_headers, wire_method, logged_in);
    for (name, value) in &added {
        let value = String::from_utf8_lossy(value.as_bytes());
        if *name == VARY { out.add("Vary", &*value) } else { out.set(name.as_str(), &*value) }
    }
}

/// Whether a header belongs to CORS, not to the data of a response.
pub(crate) fn is_own(name: &str) -> bool {
    name.eq_ignore_ascii_case("vary")
        || name.get(..15).is_some_and(|start| start.eq_ignore_ascii_case("access-control-"))
}

/// Headers of conditional requests, which other origins may send.
const CONDITIONS: [&str; 4] = ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"];

/// The headers of conditional requests that a preflight requests. Others are not listed, so that the list is WordPress's
/// unless a client uses them.
pub(crate) fn requested_conditions(request_headers: &HeaderMap) -> impl Iterator<Item = &'static str> {
    let requested = request_headers.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|value| value.to_str().ok());
    let is_requested = move |name: &&'static str| {
        requested.is_some_and(|list| list.split(',').any(|other| other.trim().eq_ignore_ascii_case(name)))
    };
    CONDITIONS.into_iter().filter(is_requested)
}

/// The origin as sent if it is `null`, otherwise sanitized as a URL.
fn sanitize_origin(origin: &HeaderValue) -> HeaderValue {
    if origin == "null" {
        return origin.clone();
    }
    let clean = svc_text::sanitize_url(&String::from_utf8_lossy(origin.as_bytes()));
    HeaderValue::from_bytes(clean.as_bytes()).unwrap_or_else(|_| HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_is_sanitized() {
        for (origin, want) in [
            ("http://example.org", "http://example.org"),
            ("https://app.example.com:8080", "https://app.example.com:8080"),
            ("null", "null"),
            ("not a url", "http://not%20a%20url"),
            ("javascript:alert(1)", ""),
            ("http://example.org/path?x=1", "http://example.org/path?x=1"),
        ] {
            let request_headers = HeaderMap::from_iter([(ORIGIN, HeaderValue::from_static(origin))]);
            let mut out = HeaderMap::new();
            add(&Origins::default(), &mut out, &request_headers, &Method::PUT, true);
            assert_eq!(out[ACCESS_CONTROL_ALLOW_ORIGIN], want, "{origin}");
            assert_eq!(out[VARY], "Origin");
        }
    }

    #[test]
    fn only_listed_origins_may_read() {
        let origins = Origins::only(["https://front.example".to_owned()]);
        for (origin, allowed) in [
            ("https://front.example", true),
            ("HTTPS://Front.example", true),
            ("https://front.example.evil.test", false),
            ("https://front.example:8443", false),
            ("http://front.example", false),
            ("null", false),
        ] {
            let request_headers = HeaderMap::from_iter([(ORIGIN, HeaderValue::from_static(origin))]);
            let mut out = HeaderMap::new();
            add(&origins, &mut out, &request_headers, &Method::GET, false);
            assert_eq!(out.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN), allowed, "{origin}");
            assert_eq!(out.contains_key(ACCESS_CONTROL_ALLOW_CREDENTIALS), allowed, "{origin}");
            assert_eq!(out[VARY], "Origin");
        }
    }

    #[test]
    fn a_preflight_may_ask_for_conditions() {
        for (requested, want) in [
            ("content-type", vec![]),
            ("content-type, if-match", vec!["If-Match"]),
            ("IF-NONE-MATCH,if-unmodified-since", vec!["If-None-Match", "If-Unmodified-Since"]),
        ] {
            let headers = HeaderMap::from_iter([(ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_static(requested))]);
            assert_eq!(requested_conditions(&headers).collect::<Vec<_>>(), want);
        }
        assert_eq!(requested_conditions(&HeaderMap::new()).count(), 0);
    }

    #[test]
    fn without_origin_only_anonymous_get_varies() {
        let vary = |origin: Option<&'static str>, method, logged_in| {
            let request_headers = origin.map(|o| (ORIGIN, HeaderValue::from_static(o))).into_iter().collect();
            let mut out = HeaderMap::new();
            add(&Origins::default(), &mut out, &request_headers, &method, logged_in);
            assert!(!out.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN));
            out.contains_key(VARY)
        };
        assert!(vary(None, Method::GET, false) && vary(Some(""), Method::GET, false));
        assert!(!vary(None, Method::GET, true) && !vary(None, Method::HEAD, false) && !vary(None, Method::POST, false));
    }
}
