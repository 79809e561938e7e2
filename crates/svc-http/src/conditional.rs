//! Conditional requests for reading (RFC 9110, section 13): entity tags of responses, `Last-Modified`, and 304.
//!
//! Preconditions of writes are checked where the data is written; see [`svc_routing::Conditional`].

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use http_body_util::Full;
use svc_routing::{EntityTags, Headers, Validators};
use twox_hash::XxHash3_128;

use crate::{cors, response::set};

/// Adds the validators of a successful response to `GET`.
///
/// The entity tag is strong: a hash of the body and of the headers that belong to the data (totals, links, allowed methods), after
/// the state of the object if there is one. A response with this tag is therefore the same in every part that clients
/// read from it. Without a body there is no tag: a `HEAD` request has one if its response is that to `GET`.
pub(crate) fn add_validators(out: &mut HeaderMap, own: &Headers, validators: &Validators, body: Option<&[u8]>) {
    if let Some(date) = validators.modified.and_then(system_time) {
        set(out, LAST_MODIFIED.as_str(), &httpdate::fmt_http_date(date));
    }
    let Some(body) = body.filter(|_| !out.contains_key(ETAG)) else { return };
    let mut parts = XxHash3_128::oneshot(body).to_le_bytes().to_vec();
    for (name, value) in own.iter().filter(|(name, _)| !cors::is_own(name)) {
        for text in [name, value] {
            parts.push(0);
            parts.extend_from_slice(text.as_bytes());
        }
    }
    let representation = XxHash3_128::oneshot(&parts);
    let tag = match &validators.state {
        Some(state) => format!("\"{state}-{representation:032x}\""),
        None => format!("\"{representation:032x}\""),
    };
    set(out, ETAG.as_str(), &tag);
}

fn system_time(seconds: i64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

/// Whether the request has credentials of any kind.
pub(crate) fn has_credentials(request: &HeaderMap, nonce_header: &str) -> bool {
    [AUTHORIZATION.as_str(), COOKIE.as_str(), nonce_header].iter().any(|name| request.contains_key(*name))
}

/// The response to send: 304 without a body if the client has it already.
///
/// `Last-Modified` is sent only with an explicit `Cache-Control`. Without one, browsers and proxies would consider the
/// response fresh for a part of its age, and clients that expect current data would get an old response.
pub(crate) fn respond(
    request: &HeaderMap,
    method: &Method,
    mut response: Response<Full<Bytes>>,
) -> Response<Full<Bytes>> {
    if response.status() == StatusCode::OK && is_unchanged(request, method, response.headers()) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Full::default();
        let headers = response.headers_mut();
        headers.remove(CONTENT_TYPE);
        headers.remove(CONTENT_LENGTH);
        headers.remove(HeaderName::from_static("content-disposition"));
    }
    if !response.headers().contains_key(CACHE_CONTROL) {
        response.headers_mut().remove(LAST_MODIFIED);
    }
    response
}

/// Whether the client has the response with these headers: by its tag (weak comparison), or else by date.
fn is_unchanged(request: &HeaderMap, method: &Method, own: &HeaderMap) -> bool {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return false;
    }
    if request.contains_key(IF_NONE_MATCH) {
        let own =
            own.get(ETAG).and_then(|tag| tag.to_str().ok()).map(|tag| tag.trim_start_matches("W/").trim_matches('"'));
        let lists = request.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        return own.is_some_and(|own| lists.map(EntityTags::parse).any(|tags| tags.contains_weak(own)));
    }
    match (date(own.get(LAST_MODIFIED)), date(request.get(IF_MODIFIED_SINCE))) {
        (Some(modified), Some(since)) => modified <= since,
        _ => false,
    }
}

/// The date in a header. Invalid dates are ignored.
fn date(value: Option<&HeaderValue>) -> Option<SystemTime> {
    httpdate::parse_http_date(value?.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const LATER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";
    const EARLIER: &str = "Sun, 06 Nov 1994 08:49:36 GMT";

    fn map(headers: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        headers.iter().map(pair).collect()
    }

    #[test]
    fn reads_are_conditional() {
        let own =
            map(&[("etag", "\"s-r\""), ("last-modified", DATE), ("content-type", "x"), ("cache-control", "no-cache")]);
        #[rustfmt::skip]
        let rows: &[(&Method, &[(&'static str, &str)], bool)] = &[
            (&Method::GET, &[], false),
            (&Method::GET, &[("if-none-match", "\"s-r\"")], true),
            (&Method::GET, &[("if-none-match", "W/\"s-r\"")], true),
            (&Method::GET, &[("if-none-match", "\"a\", \"s-r\"")], true),
            (&Method::GET, &[("if-none-match", "*")], true),
            (&Method::GET, &[("if-none-match", "\"s-other\"")], false),
            (&Method::GET, &[("if-none-match", "s-r")], false),
            (&Method::POST, &[("if-none-match", "\"s-r\"")], false),
            (&Method::GET, &[("if-modified-since", DATE)], true),
            (&Method::HEAD, &[("if-modified-since", LATER)], true),
            (&Method::GET, &[("if-modified-since", EARLIER)], false),
            (&Method::GET, &[("if-modified-since", "yesterday")], false),
            (&Method::GET, &[("if-none-match", "\"a\""), ("if-modified-since", LATER)], false),
            (&Method::PUT, &[("if-modified-since", LATER)], false),
        ];
        for (method, headers, unchanged) in rows {
            let mut response = Response::new(Full::from("body"));
            *response.headers_mut() = own.clone();
            let response = respond(&map(headers), method, response);
            assert_eq!(response.status() == 304, *unchanged, "{method} {headers:?}");
            assert_eq!(response.headers().contains_key("content-type"), !*unchanged);
            assert_eq!(response.headers()["etag"], "\"s-r\"");
        }
    }

    #[test]
    fn a_date_is_sent_with_cache_control_only() {
        for (cache_control, sent) in [(None, false), (Some(("cache-control", "max-age=1")), true)] {
            let mut response = Response::new(Full::from(""));
            *response.headers_mut() = map(&[&[("last-modified", DATE)][..], cache_control.as_slice()].concat());
            let response = respond(&HeaderMap::new(), &Method::GET, response);
            assert_eq!(response.headers().contains_key("last-modified"), sent);
        }
    }

    #[test]
    fn tags_differ_by_body_headers_and_state() {
        let tag = |body: &str, total: &str, state: Option<&str>| {
            let (mut out, mut own) = (HeaderMap::new(), Headers::default());
            own.set("X-Total", total);
            let validators = Validators { state: state.map(str::to_owned), modified: None };
            add_validators(&mut out, &own, &validators, Some(body.as_bytes()));
            out["etag"].to_str().unwrap().to_owned()
        };
        let all = [tag("a", "1", None), tag("b", "1", None), tag("a", "2", None), tag("a", "1", Some("s"))];
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert!(all[3].starts_with("\"s-") && all[0] == tag("a", "1", None));
    }
}
