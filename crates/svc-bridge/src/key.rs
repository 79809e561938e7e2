//! What a response may depend on in its request.

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header, request::Parts};
use percent_encoding::percent_decode_str;
use sha2::{Digest as _, Sha256};

/// Headers of which responses do not depend: those of the connection, those that this server replaces or evaluates itself, and ids of single requests.
const LEFT_OUT: [HeaderName; 28] = [
    header::CONNECTION,
    header::COOKIE,
    header::DATE,
    header::EXPECT,
    header::FORWARDED,
    header::HOST,
    header::IF_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_NONE_MATCH,
    header::IF_UNMODIFIED_SINCE,
    header::TE,
    header::VIA,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("cdn-loop"),
    HeaderName::from_static("cf-ray"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    HeaderName::from_static("x-amz-cf-id"),
    HeaderName::from_static("x-amzn-trace-id"),
    HeaderName::from_static("x-b3-sampled"),
    HeaderName::from_static("x-b3-spanid"),
    HeaderName::from_static("x-b3-traceid"),
    HeaderName::from_static("x-cloud-trace-context"),
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("x-svc-record"),
];

/// Headers with which browsers describe themselves and the connection, and which hardly any code reads. WordPress does not get them with a request whose
/// response may be stored, so that it does not depend on them.
const WITHHELD: [HeaderName; 7] = [
    header::ACCEPT_ENCODING,
    header::CACHE_CONTROL,
    header::DNT,
    header::PRAGMA,
    header::UPGRADE_INSECURE_REQUESTS,
    HeaderName::from_static("priority"),
    HeaderName::from_static("save-data"),
];

/// Starts of the names of such headers.
const WITHHELD_STARTS: [&str; 4] = ["sec-ch-", "sec-fetch-", "sec-gpc", "sec-purpose"];

/// Headers that describe the client: its program, where it comes from, and its address as some proxies tell it. Whether responses differ by these is
/// checked (`routes.rs`).
const OF_CLIENT: [HeaderName; 7] = [
    header::USER_AGENT,
    header::REFERER,
    HeaderName::from_static("cf-connecting-ip"),
    HeaderName::from_static("fastly-client-ip"),
    HeaderName::from_static("true-client-ip"),
    HeaderName::from_static("x-client-ip"),
    HeaderName::from_static("x-real-ip"),
];

/// Names of cookies that scripts of widespread analytics set and no server reads. WordPress does not get them either with a request whose response may be
/// stored. After `*` comes anything, and after `^` what begins with a capital letter.
const ANALYTICS_COOKIES: [&str; 19] = [
    "_ga", "_ga_*", "_gid", "_gat", "_gat_*", "_gcl_*", "__utma", "__utmb", "__utmc", "__utmt", "__utmz", "_fbp",
    "_fbc", "_pk_*", "_hjid", "_hj^", "_clck", "_clsk", "__gads",
];

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
        // With the numbers, so that no value is taken for a name.
        add(&names.len().to_le_bytes());
        for name in names {
            add(name.as_str().as_bytes());
            add(&parts.headers.get_all(name).iter().count().to_le_bytes());
            parts.headers.get_all(name).iter().for_each(|value| add(value.as_bytes()));
        }
        for cookie in cookies(&parts.headers) {
            add(cookie);
        }
        mac.finalize().into_bytes().into()
    }
}

/// Removes from the headers of a request what its key leaves out and PHP could read.
pub(crate) fn withhold(headers: &mut HeaderMap) {
    let names: Vec<HeaderName> = headers.keys().filter(|name| is_withheld(name)).cloned().collect();
    for name in names {
        headers.remove(name);
    }
    let cookies: Vec<&[u8]> = cookies(headers).collect();
    match HeaderValue::from_bytes(&cookies.join(&b"; "[..])) {
        Ok(cookies) if !cookies.is_empty() => drop(headers.insert(header::COOKIE, cookies)),
        _ => drop(headers.remove(header::COOKIE)),
    }
}

fn is_withheld(name: &HeaderName) -> bool {
    WITHHELD.contains(name) || WITHHELD_STARTS.iter().any(|start| name.as_str().starts_with(start))
}

/// A hash of what is left out of the key although a plugin might read it: the client's address and program, and where it comes from.
pub fn left_out(parts: &Parts, address: std::net::IpAddr) -> u64 {
    let mut hash = Sha256::new();
    hash.update(address.to_string());
    for name in OF_CLIENT {
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
    !LEFT_OUT.contains(name) && !OF_CLIENT.contains(name) && !is_withheld(name)
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
    pairs.filter(|pair| {
        let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
        !ANALYTICS_COOKIES.iter().any(|known| match known.split_at(known.len() - 1) {
            (start, "*") => name.starts_with(start.as_bytes()),
            (start, "^") => {
                name.strip_prefix(start.as_bytes()).is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_uppercase))
            }
            _ => name == known.as_bytes(),
        })
    })
}

/// Whether a request may identify its caller to WordPress or a plugin, validly or not.
pub fn has_credentials(parts: &Parts) -> bool {
    let identifies = |header: &HeaderName| {
        let name = header.as_str();
        !is_withheld(header)
            && (IDENTIFYING.iter().any(|part| name.contains(part))
                || IDENTIFYING_ENDS.iter().any(|end| name.ends_with(end)))
    };
    has_parameter(parts, "_wpnonce") || parts.headers.keys().any(identifies) || cookies(&parts.headers).next().is_some()
}

/// Whether a response to this request can be stored at all: a read without a body whose method is not replaced.
pub fn is_plain_read(parts: &Parts, has_body: bool) -> bool {
    matches!(parts.method, Method::GET | Method::HEAD)
        && !has_body
        && !parts.headers.contains_key("x-http-method-override")
        && !parts.headers.contains_key(header::RANGE)
        && !parts.headers.contains_key(header::UPGRADE)
        && !has_parameter(parts, "_method")
}

/// Whether PHP finds a parameter with this name, or an array with it. It takes some other characters of names for `_`.
fn has_parameter(parts: &Parts, name: &str) -> bool {
    let is_it = |pair: &str| {
        let encoded = pair.split('=').next().unwrap_or_default().replace('+', " ");
        let decoded: Vec<u8> =
            percent_decode_str(&encoded).skip_while(|byte| *byte == b' ').take_while(|byte| *byte != 0).collect();
        let found: Vec<u8> = decoded.iter().map(|byte| if b" .[".contains(byte) { b'_' } else { *byte }).collect();
        found.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first().is_none_or(|next| *next == b'_'))
    };
    parts.uri.query().is_some_and(|query| query.split(['&', ';']).any(is_it))
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
            ("/wp-json/", &[("cf-ray", "1"), ("cf-connecting-ip", "192.0.2.1"), ("x-amzn-trace-id", "1")]),
            ("/wp-json/", &[("cookie", "_hjSession_1=2; _hjid=3;_pk_id.1.2=3")]),
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
            ("/wp-json/", &[("x-svc-key", "1")]),
            ("/wp-json/", &[("sec-key", "1")]),
            ("/wp-json/", &[("cookie", "_gallery_session=1")]),
            ("/wp-json/", &[("cookie", "_hjelp_login=1")]),
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
        let of = |headers: &[(&'static str, &str)]| keys.of(&parts("/", headers), false);
        assert_ne!(of(&[("x-a", "1"), ("x-a", "x-b"), ("x-a", "2")]), of(&[("x-a", "1"), ("x-b", "2")]));
        assert_ne!(of(&[("x-a", "1"), ("x-a", "b=2")]), of(&[("x-a", "1"), ("cookie", "b=2")]));
    }

    #[test]
    fn what_the_key_leaves_out_is_withheld_from_php() {
        let mut given = parts(
            "/",
            &[
                ("cookie", "a=1;_ga=2"),
                ("cookie", "_gallery=3"),
                ("sec-fetch-mode", "cors"),
                ("accept-encoding", "br"),
                ("user-agent", "x"),
            ],
        );
        let key = |parts: &Parts| Keys::new(b"secret").of(parts, false);
        let before = key(&given);
        withhold(&mut given.headers);
        let mut names: Vec<&str> = given.headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["cookie", "host", "user-agent"]);
        assert_eq!(given.headers["cookie"], "a=1; _gallery=3");
        assert_eq!(key(&given), before);
        let mut given = parts("/", &[("cookie", "_ga=2")]);
        withhold(&mut given.headers);
        assert!(!given.headers.contains_key("cookie"));
    }

    #[test]
    fn other_methods_are_recognized_as_php_does() {
        for (target, expected) in [
            ("/?a=1", true),
            ("/?methods=1", true),
            ("/?search=payment+method&filter[method]=x&a=_method", true),
            ("/?_method=DELETE", false),
            ("/?a=1&%5Fmethod=DELETE", false),
            ("/?.method=DELETE", false),
            ("/?%5bmethod=DELETE", false),
            ("/?+%20_method=DELETE", false),
            ("/?_method[]=DELETE", false),
            ("/?_method%00x=DELETE", false),
        ] {
            assert_eq!(is_plain_read(&parts(target, &[]), false), expected, "{target}");
        }
        assert!(has_credentials(&parts("/?%5Fwpnonce=1", &[])) && has_credentials(&parts("/?.wpnonce=1", &[])));
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
