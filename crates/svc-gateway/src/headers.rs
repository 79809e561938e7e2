//! Headers that a proxy removes and adds.

use std::net::IpAddr;

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{
        CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
        TRANSFER_ENCODING, UPGRADE, VIA,
    },
    request::Parts,
};

use crate::failure::Failure;

/// Headers of a single connection, besides those that `Connection` names (RFC 9110, section 7.6.1; RFC 9112, appendix C).
const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// A header that PHP passes to programs as the variable `HTTP_PROXY`, which names a proxy for their own requests.
const PROXY: HeaderName = HeaderName::from_static("proxy");

/// Headers that `Connection` cannot remove, since another party relies on them.
const NEVER_NAMED: [&str; 7] =
    ["host", "content-length", "authorization", "cookie", "x-forwarded-for", "x-forwarded-proto", "via"];

/// The client of a request, as the server that received it knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// IP address of the client.
    pub address: IpAddr,
    /// Whether the client used TLS.
    pub tls: bool,
}

/// Removes the headers of a single connection.
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in named_by_connection(headers).iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// Removes those headers of a request that are never forwarded and do not delimit its body: those that `Connection` names, `Proxy`, and names with `_`,
/// which some servers of PHP map to the same variable as `-`, so that they could replace another header. [`Proxy::forward`](crate::Proxy::forward) does this as well;
/// who looks at a request before has to do it first.
pub fn remove_unforwarded(headers: &mut HeaderMap) {
    let named = named_by_connection(headers).into_iter().filter(|name| !HOP_BY_HOP.contains(name));
    let ambiguous = headers.keys().filter(|name| name.as_str().contains('_')).cloned();
    let removed: Vec<HeaderName> = named.chain(ambiguous).chain([PROXY]).collect();
    for name in removed {
        headers.remove(name);
    }
}

/// The headers that `Connection` names, except those that it cannot remove.
fn named_by_connection(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok());
    names.filter(|name: &HeaderName| !NEVER_NAMED.contains(&name.as_str())).collect()
}

/// Adds this proxy to the `Via` headers.
pub(crate) fn add_via(headers: &mut HeaderMap, name: &str) {
    if let Ok(value) = HeaderValue::from_str(&format!("1.1 {name}")) {
        headers.append(VIA, value);
    }
}

/// Whether the request has passed the proxy of this name.
pub(crate) fn has_passed(headers: &HeaderMap, name: &str) -> bool {
    let hops = headers.get_all(VIA).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    hops.filter_map(|hop| hop.split_whitespace().nth(1)).any(|hop| hop == name)
}

/// Checks the headers that select a site and delimit the body, which servers read differently if they are ambiguous.
///
/// # Errors
/// If there are several hosts or lengths, even equal ones, or an invalid one (RFC 9112, sections 3.2 and 6.3); if the body has a
/// transfer coding that is not decoded (section 6.1).
pub(crate) fn check(parts: &Parts) -> Result<(), Failure> {
    let values = |name| parts.headers.get_all(name).iter().map(HeaderValue::as_bytes);
    if !values(TRANSFER_ENCODING).all(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked")) {
        return Err(Failure::TransferCoding);
    }
    let target = parts.uri.authority().map(|target| target.as_str().as_bytes());
    let is_length = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let is_valid = values(HOST).count() <= 1
        && values(HOST).chain(target).all(is_host)
        && values(CONTENT_LENGTH).count() <= 1
        && values(CONTENT_LENGTH).all(is_length);
    if is_valid { Ok(()) } else { Err(Failure::InvalidHead) }
}

/// Whether a text is a host, with or without a port: no list, no path and no user.
fn is_host(text: &[u8]) -> bool {
    text.iter().all(|b| b.is_ascii_alphanumeric() || b"-._~%:[]".contains(b))
}

/// Converts the headers of a received request to those for the upstream. A proxy adds itself to `Via`.
pub(crate) fn prepare(parts: &mut Parts, origin: Origin) {
    let chunked = parts.headers.contains_key(TRANSFER_ENCODING);
    let headers = &mut parts.headers;
    remove_unforwarded(headers);
    remove_hop_by_hop(headers);
    if chunked {
        headers.remove(CONTENT_LENGTH);
    }
    // The server that received the request has already sent, or will send, `100 Continue`.
    headers.remove(EXPECT);
    // The host of the target has precedence (RFC 9112, section 3.2.2). HTTP/2 may split cookies.
    if let Some(host) = parts.uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok()) {
        headers.insert(HOST, host);
    }
    join_cookies(headers);
    let proto = if origin.tls { "https" } else { "http" };
    headers.insert("x-forwarded-proto", HeaderValue::from_static(proto));
    let host = headers.get(HOST).cloned();
    match &host {
        Some(host) => headers.insert("x-forwarded-host", host.clone()),
        None => headers.remove("x-forwarded-host"),
    };
    if let Ok(address) = HeaderValue::from_str(&origin.address.to_string()) {
        headers.insert("x-forwarded-for", address);
    }
    let node = match origin.address {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("\"[{ip}]\""),
    };
    // A host that needs no quotes inside of a quoted string; others are only in X-Forwarded-Host.
    let host = host.as_ref().and_then(|h| h.to_str().ok()).filter(|h| !h.contains(['"', '\\']));
    let host = host.map(|host| format!(";host=\"{host}\"")).unwrap_or_default();
    headers.remove("forwarded");
    if let Ok(forwarded) = HeaderValue::from_str(&format!("for={node}{host};proto={proto}")) {
        headers.insert("forwarded", forwarded);
    }
}

/// Joins several `Cookie` headers, which HTTP/1.1 does not allow.
fn join_cookies(headers: &mut HeaderMap) {
    let cookies: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if cookies.len() > 1
        && let Ok(joined) = HeaderValue::from_bytes(&cookies.join(&b"; "[..]))
    {
        headers.insert(COOKIE, joined);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(headers: &[(&'static str, &str)]) -> Parts {
        let target = if headers.iter().any(|(name, _)| *name == "host") { "/a" } else { "http://h2.example/a" };
        let mut request = http::Request::get(target).body(()).unwrap();
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        request.into_parts().0
    }

    #[track_caller]
    fn check(address: &str, tls: bool, given: &[(&'static str, &str)], expected: &[(&str, &str)]) {
        let mut parts = parts(given);
        prepare(&mut parts, Origin { address: address.parse().unwrap(), tls });
        let mut found: Vec<(&str, &str)> =
            parts.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        found.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn removes_headers_of_the_connection() {
        check(
            "192.0.2.1",
            false,
            &[
                ("host", "a.org"),
                ("connection", "close, X-Mine"),
                ("connection", "cookie"),
                ("x-mine", "1"),
                ("keep-alive", "timeout=5"),
                ("te", "trailers"),
                ("upgrade", "websocket"),
                ("proxy-authorization", "Basic x"),
                ("expect", "100-continue"),
                ("cookie", "a=1"),
                ("range", "bytes=0-1"),
            ],
            &[
                ("host", "a.org"),
                ("cookie", "a=1"),
                ("range", "bytes=0-1"),
                ("x-forwarded-for", "192.0.2.1"),
                ("x-forwarded-host", "a.org"),
                ("x-forwarded-proto", "http"),
                ("forwarded", "for=192.0.2.1;host=\"a.org\";proto=http"),
            ],
        );
    }

    #[test]
    fn a_chunked_body_has_no_length() {
        check(
            "2001:db8::1",
            true,
            &[
                ("transfer-encoding", "chunked"),
                ("content-length", "5"),
                ("cookie", "a=1"),
                ("cookie", "b=2"),
                ("x-forwarded-for", "10.0.0.1"),
                ("forwarded", "for=forged"),
            ],
            &[
                ("host", "h2.example"),
                ("cookie", "a=1; b=2"),
                ("x-forwarded-for", "2001:db8::1"),
                ("x-forwarded-host", "h2.example"),
                ("x-forwarded-proto", "https"),
                ("forwarded", "for=\"[2001:db8::1]\";host=\"h2.example\";proto=https"),
            ],
        );
    }

    #[test]
    fn the_host_of_the_target_has_precedence() {
        let request = http::Request::get("http://a.example/x").header("host", "b.example").body(()).unwrap();
        let mut parts = request.into_parts().0;
        assert_eq!(super::check(&parts), Ok(()));
        prepare(&mut parts, Origin { address: "192.0.2.1".parse().unwrap(), tls: false });
        assert_eq!(parts.headers.get_all(HOST).iter().collect::<Vec<_>>(), ["a.example"]);
        assert_eq!(parts.headers["x-forwarded-host"], "a.example");
    }

    #[test]
    fn ambiguous_requests_are_refused() {
        let check_parts = |target: &str, headers: &[(&'static str, &str)]| {
            let mut request = http::Request::post(target);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            super::check(&request.body(()).unwrap().into_parts().0)
        };
        let (head, coding) = (Err(Failure::InvalidHead), Err(Failure::TransferCoding));
        #[rustfmt::skip]
        let rows: [(&str, &[(&'static str, &str)], _); 18] = [
            ("/", &[], Ok(())),
            ("/", &[("host", "a.example:8080")], Ok(())),
            ("/", &[("host", "[::1]:80"), ("content-length", "5")], Ok(())),
            ("/", &[("host", "a"), ("transfer-encoding", "Chunked")], Ok(())),
            ("/", &[("host", "a"), ("host", "b")], head),
            ("/", &[("host", "a"), ("host", "a")], head),
            ("http://a/", &[("host", "a"), ("host", "b")], head),
            ("/", &[("host", "a, b")], head),
            ("/", &[("host", "a@b")], head),
            ("/", &[("host", "a/b")], head),
            ("http://user@a/", &[], head),
            ("/", &[("content-length", "5"), ("content-length", "6")], head),
            ("/", &[("content-length", "5"), ("content-length", "5")], head),
            ("/", &[("content-length", "5, 5")], head),
            ("/", &[("content-length", "+5")], head),
            ("/", &[("content-length", "")], head),
            ("/", &[("transfer-encoding", "gzip, chunked")], coding),
            ("/", &[("transfer-encoding", "chunked"), ("transfer-encoding", "identity")], coding),
        ];
        for (target, headers, expected) in rows {
            assert_eq!(check_parts(target, headers), expected, "{target} {headers:?}");
        }
    }

    #[test]
    fn headers_that_replace_others_in_php_are_removed() {
        check(
            "192.0.2.1",
            false,
            &[
                ("host", "a.org"),
                ("x_forwarded_for", "10.0.0.1"),
                ("x_svc_connector", "x"),
                ("proxy", "http://evil.example"),
                ("x-mine", "a_b"),
            ],
            &[
                ("host", "a.org"),
                ("x-mine", "a_b"),
                ("x-forwarded-for", "192.0.2.1"),
                ("x-forwarded-host", "a.org"),
                ("x-forwarded-proto", "http"),
                ("forwarded", "for=192.0.2.1;host=\"a.org\";proto=http"),
            ],
        );
    }

    #[test]
    fn own_requests_are_recognized() {
        assert!(has_passed(&parts(&[("via", "1.0 other, 1.1 p")]).headers, "p"));
        assert!(has_passed(&parts(&[("via", "1.0 other"), ("via", "2 p (x)")]).headers, "p"));
        assert!(!has_passed(&parts(&[("via", "1.1 pp")]).headers, "p"));
    }
}
