//! What a response may depend on in its request.

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header, request::Parts};
use sha2::{Digest as _, Sha256};

/// Headers that are left out of the key: those of the connection, those that this server replaces or evaluates itself, and those with which
/// browsers and proxies describe a request and which hardly any code reads. Whether responses differ by the last kind is checked
/// (`watch.rs`).
const LEFT_OUT: [HeaderName; 28] = [
    header::ACCEPT_ENCODING,
    header::CACHE_CONTROL,
    header::CONNECTION,
    header::DATE,
    header::DNT,
    header::EXPECT,
    header::FORWARDED,
    header::HOST,
    header::IF_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_NONE_MATCH,
    header::IF_UNMODIFIED_SINCE,
    header::COOKIE,
    header::PRAGMA,
    header::REFERER,
    header::TE,
    header::UPGRADE_INSECURE_REQUESTS,
    header::USER_AGENT,
    header::VIA,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("priority"),
    HeaderName::from_static("save-data"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-request-id"),
];

/// Starts of the names of such headers.
const LEFT_OUT_STARTS: [&str; 2] = ["sec-", "x-svc-"];

/// Starts of the names of cookies that scripts of widespread analytics set and no server reads.
const ANALYTICS_COOKIES: [&str; 12] =
    ["_ga", "_gid", "_gat", "_gcl_", "__utm", "_fbp", "_fbc", "_pk_", "_hj", "_clck", "_clsk", "__gads"];

/// Parts of names of headers that may identify the caller.
const IDENTIFYING: [&str; 9] = ["auth", "token", "nonce", "session", "secret", "signature", "password", "jwt", "cert"];

/// Ends of names of headers that may identify the caller: `X-API-Key`, `Remote-User`.
const IDENTIFYING_ENDS: [&str; 3] = ["key", "-user", "-email"];

/// The inputs of a request, as a keyed hash: credentials are part of it, and cannot be read from it.
pub type Key = [u8; 32];

/// Makes keys.
#[derive(Clone)]
pub struct Keys {
    visitors: Hmac<Sha256>,
    users: Hmac<Sha256>,
}

impl Keys {
    /// Keys that depend on a secret of this process if the request has credentials, and otherwise on nothing else, so that a later process
    /// has the same ones.
    pub fn new(secret: &[u8]) -> Self {
        #[expect(clippy::expect_used, reason = "keys of any length are valid")]
        let key = |secret: &[u8]| Hmac::new_from_slice(secret).expect("a key");
        Keys { visitors: key(b"visitors"), users: key(secret) }
    }

    /// The key of a request without a body.
    pub fn of(&self, parts: &Parts, tls: bool) -> Key {
        let mut mac = if has_credentials(parts) { self.users.clone() } else { self.visitors.clone() };
        let mut add = |bytes: &[u8]| {
            mac.update(&(bytes.len() as u64).to_le_bytes());
            mac.update(bytes);
        };
        add(parts.method.as_str().as_bytes());
        add(if tls { b"https" } else { b"http" });
        add(host(parts));
        add(parts.uri.path_and_query().map_or("/", |target| target.as_str()).as_bytes());
        let mut names: Vec<&HeaderName> = parts.headers.keys().filter(|name| is_input(name)).collect();
        names.sort_unstable_by_key(|name| name.as_str());
        for name in names {
            add(name.as_str().as_bytes());
            parts.headers.get_all(name).iter().for_each(|value| add(value.as_bytes()));
        }
        for cookie in cookies(&parts.headers) {
            add(cookie);
        }
        mac.finalize().into_bytes().into()
    }
}

/// A hash of what is left out of the key although a plugin might read it: the client's address and program, and where it comes from.
pub fn left_out(parts: &Parts, address: std::net::IpAddr) -> u64 {
    let mut hash = Sha256::new();
    hash.update(address.to_string());
    for name in [header::USER_AGENT, header::REFERER] {
        hash.update([0]);
        parts.headers.get_all(name).iter().for_each(|value| hash.update(value.as_bytes()));
    }
    let bytes: [u8; 32] = hash.finalize().into();
    bytes.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// The host of a request: that of its target, which has precedence (RFC 9112, section 3.2.2), or of its header.
fn host(parts: &Parts) -> &[u8] {
    let of_header = || parts.headers.get(header::HOST).map_or(&[][..], HeaderValue::as_bytes);
    parts.uri.authority().map_or_else(of_header, |authority| authority.as_str().as_bytes())
}

/// Whether a header is part of the key.
fn is_input(name: &HeaderName) -> bool {
    !LEFT_OUT.contains(name) && !LEFT_OUT_STARTS.iter().any(|start| name.as_str().starts_with(start))
}

/// Whether `Vary` of a response names only what is part of the key.
pub fn is_covered(vary: &HeaderValue) -> bool {
    let Ok(vary) = vary.to_str() else { return false };
    vary.split(',').map(str::trim).filter(|name| !name.is_empty()).all(|name| {
        name != "*"
            && name.parse().is_ok_and(|name: HeaderName| {
                is_input(&name) || matches!(name, header::ACCEPT_ENCODING | header::COOKIE | header::HOST)
            })
    })
}

/// The cookies that a server may read, in the order of the request.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let pairs = headers.get_all(header::COOKIE).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    let pairs = pairs.map(<[u8]>::trim_ascii).filter(|pair| !pair.is_empty());
    pairs.filter(|pair| !ANALYTICS_COOKIES.iter().any(|start| pair.starts_with(start.as_bytes())))
}

/// Whether a request may identify its caller to WordPress or a plugin, validly or not.
pub fn has_credentials(parts: &Parts) -> bool {
    let identifies = |name: &HeaderName| {
        let name = name.as_str();
        !LEFT_OUT_STARTS.iter().any(|start| name.starts_with(start))
            && (IDENTIFYING.iter().any(|part| name.contains(part))
                || IDENTIFYING_ENDS.iter().any(|end| name.ends_with(end)))
    };
    parts.uri.query().is_some_and(|query| query.contains("_wpnonce"))
        || parts.headers.keys().any(identifies)
        || cookies(&parts.headers).next().is_some()
}

/// Whether a response to this request can be stored at all: a read without a body whose method is not replaced.
pub fn is_plain_read(parts: &Parts, has_body: bool) -> bool {
    matches!(parts.method, Method::GET | Method::HEAD)
        && !has_body
        && !parts.headers.contains_key("x-http-method-override")
        && !parts.headers.contains_key(header::RANGE)
        && !parts.headers.contains_key(header::UPGRADE)
        && !parts.uri.query().is_some_and(|query| query.contains("_method"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(target: &str, headers: &[(&'static str, &str)]) -> Parts {
        let mut request = http::Request::get(target).header("host", "a.example").body(()).unwrap();
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        request.into_parts().0
    }

    #[test]
    fn keys_have_what_a_response_may_depend_on() {
        let keys = Keys::new(b"secret");
        let base = keys.of(&parts("/wp-json/", &[]), false);
        for (target, headers) in [
            ("/wp-json/", &[("user-agent", "x"), ("sec-fetch-mode", "cors"), ("if-none-match", "x")][..]),
            ("/wp-json/", &[("cookie", "_ga=1; _gid=2"), ("accept-encoding", "gzip")]),
            ("/wp-json/", &[("x-forwarded-for", "192.0.2.1"), ("x-svc-record", "1")]),
        ] {
            assert_eq!(keys.of(&parts(target, headers), false), base, "{headers:?}");
        }
        for (target, headers) in [
            ("/wp-json", &[][..]),
            ("/wp-json/?", &[]),
            ("/wp-json/", &[("cookie", "a=1")]),
            ("/wp-json/", &[("cookie", "_ga=1; a=1")]),
            ("/wp-json/", &[("authorization", "Basic eA==")]),
            ("/wp-json/", &[("x-wp-nonce", "1")]),
            ("/wp-json/", &[("accept-language", "de")]),
            ("/wp-json/", &[("origin", "https://b.example")]),
            ("/wp-json/", &[("x-anything", "1")]),
            ("/wp-json/", &[("x-forwarded-ssl", "on")]),
        ] {
            assert_ne!(keys.of(&parts(target, headers), false), base, "{target} {headers:?}");
        }
        assert_ne!(keys.of(&parts("/wp-json/", &[]), true), base);
        assert_ne!(keys.of(&parts("http://b.example/wp-json/", &[]), false), base);
        assert_eq!(keys.of(&parts("http://a.example/wp-json/", &[]), false), base);
        let other = Keys::new(b"other");
        assert_eq!(other.of(&parts("/wp-json/", &[]), false), base, "for the next process");
        let with = parts("/wp-json/", &[("authorization", "Basic eA==")]);
        assert_ne!(other.of(&with, false), keys.of(&with, false));
        let split = |a, b| keys.of(&parts("/", &[("x-a", a), ("x-b", b)]), false);
        assert_ne!(split("1", "23"), split("12", "3"));
    }

    #[test]
    fn credentials_of_any_kind_are_recognized() {
        let check = |target: &str, headers: &[(&'static str, &str)], expected| {
            assert_eq!(has_credentials(&parts(target, headers)), expected, "{target} {headers:?}");
        };
        for (name, value) in [
            ("authorization", "Basic eA=="),
            ("authorization", ""),
            ("cookie", "a=1"),
            ("cookie", "_ga=1;plugin_session"),
            ("x-wp-nonce", "1"),
            ("x-api-key", "1"),
            ("x-auth-token", "1"),
            ("remote-user", "ada"),
        ] {
            check("/", &[(name, value)], true);
        }
        check("/?a=1&_wpnonce=1", &[], true);
        for headers in [
            &[][..],
            &[("cookie", "_ga=GA1.1; _ga_X1=2;_gid=3")],
            &[("user-agent", "x"), ("accept", "application/json"), ("sec-fetch-user", "?1")],
            &[("origin", "https://a.example"), ("x-requested-with", "x"), ("traceparent", "00-1-2-00")],
        ] {
            check("/?search=x", headers, false);
        }
    }

    #[test]
    fn vary_must_be_covered() {
        for (vary, covered) in [
            ("Origin", true),
            ("Accept-Encoding, Cookie", true),
            ("", true),
            ("*", false),
            ("User-Agent", false),
            ("Origin, Referer", false),
        ] {
            assert_eq!(is_covered(&vary.parse().unwrap()), covered, "{vary}");
        }
    }
}
