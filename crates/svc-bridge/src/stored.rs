//! Stored responses, and what is sent to a client from them.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode,
    header::{
        AGE, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_RANGE, CONTENT_TYPE, DATE,
        ETAG, EXPIRES, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, SET_COOKIE, VARY, VIA,
    },
};
use http_body_util::{BodyExt as _, Full};
use sha2::{Digest as _, Sha256};
use svc_gateway::Body;

use crate::{changes::Dependencies, key};

/// What WordPress sends for logged-in users, and for errors about permissions.
const PRIVATE_DEFAULT: [&str; 2] =
    ["no-cache, must-revalidate, max-age=0, no-store, private", "no-cache, must-revalidate, max-age=0"];

/// Headers of WordPress's response that let its web server send a file.
const FILE_HEADERS: [&str; 3] = ["x-accel-redirect", "x-sendfile", "x-lighttpd-send-file"];

/// Headers that describe one response: its way, and the time that it took. They are neither compared nor stored.
const OF_ONE_RESPONSE: [&str; 9] = [
    "x-request-id",
    "server-timing",
    "x-runtime",
    "x-response-time",
    "x-timer",
    "x-cache",
    "x-cache-hits",
    "x-varnish",
    "cf-ray",
];

/// Headers that a response 304 has (RFC 9110, section 15.4.5), besides those of CORS.
const OF_NOT_MODIFIED: [HeaderName; 6] = [CACHE_CONTROL, CONTENT_LOCATION, DATE, ETAG, EXPIRES, VARY];

/// A complete response of WordPress.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// Without those of the connection.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    /// Whether this may be stored: neither its status nor its headers forbid it. `is_for_user` is whether WordPress rendered it for a
    /// user.
    ///
    /// # Errors
    /// Why it may not.
    pub(crate) fn storable(&self, is_for_user: bool) -> Result<(), &'static str> {
        if self.status.is_server_error() || self.status.is_informational() || self.status == StatusCode::PARTIAL_CONTENT
        {
            return Err("status");
        }
        let headers = &self.headers;
        if headers.contains_key(SET_COOKIE) {
            return Err("sets a cookie");
        }
        if FILE_HEADERS.iter().any(|name| headers.contains_key(*name)) || headers.contains_key(CONTENT_RANGE) {
            return Err("sends a file");
        }
        if headers.contains_key(CONTENT_ENCODING) {
            return Err("is compressed by PHP");
        }
        if !headers.get_all(VARY).iter().all(key::is_covered) {
            return Err("varies by a header that is not part of the key");
        }
        let may_be_private = is_for_user || matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let forbids = |value: &HeaderValue| {
            let text = value.to_str().unwrap_or("no-store").to_ascii_lowercase();
            ["no-store", "private"].iter().any(|word| text.contains(word))
                && !(may_be_private && PRIVATE_DEFAULT.contains(&text.as_str()))
        };
        if headers.get_all(CACHE_CONTROL).iter().any(forbids) {
            return Err("Cache-Control forbids it");
        }
        Ok(())
    }

    /// Whether another response is the same to a client. Headers with times, which differ for each response, do not count.
    pub(crate) fn is_same(&self, other: &Answer) -> bool {
        let counts = |name: &HeaderName| {
            ![DATE, EXPIRES, LAST_MODIFIED, AGE, VIA, CONTENT_LENGTH].contains(name)
                && !OF_ONE_RESPONSE.contains(&name.as_str())
        };
        let headers = |answer: &Answer| -> Vec<(HeaderName, HeaderValue)> {
            let all = answer.headers.iter().filter(|(name, _)| counts(name));
            let mut all: Vec<_> = all.map(|(name, value)| (name.clone(), value.clone())).collect();
            all.sort_by(|a, b| a.0.as_str().cmp(b.0.as_str()));
            all
        };
        self.status == other.status && self.body == other.body && headers(self) == headers(other)
    }

    /// The response to a request with these method and headers.
    pub(crate) fn respond(&self, method: &Method, request: &HeaderMap) -> Response<Body> {
        if self.status == StatusCode::OK && is_unchanged(&self.headers, request) {
            let mut response = Response::new(full(Bytes::new()));
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            let kept = |name: &HeaderName| {
                OF_NOT_MODIFIED.contains(name)
                    || name.as_str().starts_with("access-control-")
                    || *name != CONTENT_TYPE && *name != CONTENT_LENGTH && *name != LAST_MODIFIED
            };
            for (name, value) in self.headers.iter().filter(|(name, _)| kept(name)) {
                response.headers_mut().append(name.clone(), value.clone());
            }
            return response;
        }
        let mut response = self.clone().into_response();
        if *method == Method::HEAD {
            *response.body_mut() = full(Bytes::new());
        }
        response
    }

    /// A response with the whole body.
    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(full(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

fn full(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// A stored response.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) answer: Answer,
    pub(crate) dependencies: Dependencies,
    /// Hash of what the key leaves out of the request that it was rendered for.
    pub(crate) left_out: u64,
    /// Whether the request had no credentials.
    pub(crate) is_for_visitor: bool,
    pub(crate) at: Instant,
    /// When it must not be replayed any more.
    pub(crate) until: Instant,
    /// How often it was replayed.
    pub(crate) replays: AtomicU32,
}

impl Stored {
    /// Approximate size in memory, in bytes.
    pub(crate) fn size(&self) -> u64 {
        let headers: usize = self.answer.headers.iter().map(|(n, v)| n.as_str().len() + v.len() + 64).sum();
        (self.answer.body.len() + headers + self.dependencies.size() + size_of::<Self>()) as u64
    }

    /// Whether it may be replayed.
    ///
    /// # Errors
    /// Why it may not: the table that has changed, or its age.
    pub(crate) fn check(&self) -> Result<(), Ended> {
        if self.until <= Instant::now() {
            return Err(Ended::Age);
        }
        self.dependencies.check().map_err(|table| Ended::Changed(table.to_owned()))
    }

    /// Whether it is near the end of its age and in use, so that it should be rendered again now.
    pub(crate) fn is_due(&self) -> bool {
        let life = self.until.saturating_duration_since(self.at);
        self.at.elapsed() >= life.mul_f32(0.75) && self.replays.load(Ordering::Relaxed) > 1
    }

    /// The response to a request with these method and headers.
    pub(crate) fn replay(&self, method: &Method, request: &HeaderMap) -> Response<Body> {
        self.replays.fetch_add(1, Ordering::Relaxed);
        let mut response = self.answer.respond(method, request);
        let age = self.at.elapsed().as_secs();
        if age > 0 {
            response.headers_mut().insert(AGE, HeaderValue::from(age));
        }
        response
    }
}

/// Why a stored response is not replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It is too old.
    Age,
    /// A table that it depends on has changed; `*` if it is not known which.
    Changed(String),
}

/// Gives a response without a validator an entity tag, and removes the headers of one response.
pub(crate) fn prepare(answer: &mut Answer) {
    for name in OF_ONE_RESPONSE {
        answer.headers.remove(name);
    }
    if answer.status != StatusCode::OK || answer.headers.contains_key(ETAG) || answer.body.is_empty() {
        return;
    }
    let hash: [u8; 32] = Sha256::digest(&answer.body).into();
    let digits: String = hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    // Weak: the same body may be sent compressed.
    if let Ok(value) = HeaderValue::try_from(format!("W/\"{digits}\"")) {
        answer.headers.insert(ETAG, value);
    }
}

/// Whether the client has this response already (RFC 9110, section 13.1).
fn is_unchanged(response: &HeaderMap, request: &HeaderMap) -> bool {
    if request.contains_key(IF_NONE_MATCH) {
        let Some(own) = response.get(ETAG).and_then(|tag| tag.to_str().ok()) else { return false };
        let weak = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let tags = request.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        return tags.flat_map(|value| value.split(',')).any(|tag| tag.trim() == "*" || weak(tag) == weak(own));
    }
    // Equal, as browsers send it back; dates are not compared.
    let since = request.get(IF_MODIFIED_SINCE);
    since.is_some() && since == response.get(LAST_MODIFIED)
}

/// The end of a response that may live for `age` at most, from when its rendering began.
pub(crate) fn end(began: Instant, age: Duration, own: Option<u64>) -> Instant {
    began + own.map_or(age, |seconds| age.min(Duration::from_secs(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &str)]) -> Answer {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        Answer { status: StatusCode::from_u16(status).unwrap(), headers: map, body: Bytes::from_static(b"[]") }
    }

    #[test]
    fn what_may_be_stored() {
        let private = "no-cache, must-revalidate, max-age=0, no-store, private";
        for (status, headers, for_visitor, for_user) in [
            (200, &[("content-type", "application/json")][..], true, true),
            (404, &[], true, true),
            (301, &[("location", "/x")], true, true),
            (500, &[], false, false),
            (503, &[], false, false),
            (206, &[], false, false),
            (200, &[("set-cookie", "a=1")], false, false),
            (200, &[("cache-control", private)], false, true),
            (401, &[("cache-control", private)], true, true),
            (200, &[("cache-control", "private")], false, false),
            (200, &[("cache-control", "max-age=60")], true, true),
            (200, &[("vary", "Origin")], true, true),
            (200, &[("vary", "User-Agent")], false, false),
            (200, &[("content-encoding", "gzip")], false, false),
            (200, &[("x-accel-redirect", "/secret")], false, false),
        ] {
            let answer = answer(status, headers);
            assert_eq!(answer.storable(false).is_ok(), for_visitor, "{status} {headers:?}, visitor");
            assert_eq!(answer.storable(true).is_ok(), for_user, "{status} {headers:?}, user");
        }
    }

    #[test]
    fn responses_are_compared_without_times() {
        let base = answer(200, &[("date", "a"), ("x-wp-total", "1"), ("link", "b")]);
        let others = [("link", "b"), ("x-wp-total", "1"), ("date", "c"), ("x-request-id", "7"), ("server-timing", "a")];
        assert!(base.is_same(&answer(200, &others)));
        assert!(!base.is_same(&answer(200, &[("link", "b"), ("x-wp-total", "2")])));
        assert!(!base.is_same(&answer(404, &[("link", "b"), ("x-wp-total", "1")])));
        assert!(!base.is_same(&Answer { body: Bytes::from_static(b"{}"), ..base.clone() }));
    }

    #[test]
    fn entity_tags_and_conditions() {
        let mut own = answer(200, &[]);
        prepare(&mut own);
        let tag = own.headers[ETAG].to_str().unwrap().to_owned();
        assert!(tag.starts_with("W/\""));
        let check = |headers: &HeaderMap, name: &'static str, value: &str, expected| {
            let request = answer(200, &[(name, value)]).headers;
            assert_eq!(is_unchanged(headers, &request), expected, "{name}: {value}");
        };
        check(&own.headers, "if-none-match", &tag, true);
        check(&own.headers, "if-none-match", &format!("\"x\", {tag}"), true);
        check(&own.headers, "if-none-match", tag.trim_start_matches("W/"), true);
        check(&own.headers, "if-none-match", "\"x\"", false);
        check(&own.headers, "if-none-match", "*", true);
        check(&own.headers, "accept", "*/*", false);
        let dated = answer(200, &[("last-modified", "Tue, 24 Nov 2026 10:00:00 GMT")]);
        check(&dated.headers, "if-modified-since", "Tue, 24 Nov 2026 10:00:00 GMT", true);
        check(&dated.headers, "if-modified-since", "Tue, 24 Nov 2026 09:00:00 GMT", false);
        let mut error = answer(404, &[]);
        prepare(&mut error);
        assert!(!error.headers.contains_key(ETAG));
    }
}
