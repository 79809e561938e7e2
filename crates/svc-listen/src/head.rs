//! The head of a request: what HTTP does not allow is rejected, and the host is that of the target.

use axum::extract::Request;
use http::{
    HeaderValue, StatusCode,
    header::{HOST, TRANSFER_ENCODING},
};

/// Checks the host and the transfer coding of a request. Afterwards `Host` is the host that the request is for: the target's, if it
/// has one, as in HTTP/2 and in requests to a proxy (RFC 9112, section 3.2.2; RFC 9113, section 8.3.1).
///
/// # Errors
/// 400 for several hosts or an invalid one (RFC 9112, section 3.2), 501 for a transfer coding other than `chunked` (section 6.1).
pub(crate) fn check(request: &mut Request) -> Result<(), StatusCode> {
    let headers = request.headers();
    let is_chunked = |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
    if !headers.get_all(TRANSFER_ENCODING).iter().all(is_chunked) {
        return Err(StatusCode::NOT_IMPLEMENTED);
    }
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() || host.is_some_and(|host| !is_host(host.as_bytes())) {
        return Err(StatusCode::BAD_REQUEST);
    }
    let Some(target) = request.uri().authority() else { return Ok(()) };
    if host.is_some_and(|host| host.as_bytes() == target.as_str().as_bytes()) {
        return Ok(());
    }
    let host = HeaderValue::from_str(target.as_str()).ok().filter(|host| is_host(host.as_bytes()));
    request.headers_mut().insert(HOST, host.ok_or(StatusCode::BAD_REQUEST)?);
    Ok(())
}

/// Whether a text is a host, with or without a port: no list, no path and no user.
fn is_host(text: &[u8]) -> bool {
    text.iter().all(|b| b.is_ascii_alphanumeric() || b"-._~%:[]".contains(b))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[track_caller]
    fn check(target: &str, headers: &[(&str, &str)], expected: Result<&str, u16>) {
        let mut request = Request::get(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        let checked = super::check(&mut request).map(|()| {
            let host = request.headers().get(HOST).map(|host| host.to_str().unwrap().to_owned());
            host.unwrap_or_default()
        });
        assert_eq!(checked.as_deref().map_err(|status| status.as_u16()), expected, "{target} {headers:?}");
    }

    #[test]
    fn hosts() {
        for host in ["a.example", "a.example:8080", "[::1]:80", "127.0.0.1", "", "x_y.example", "%41"] {
            check("/", &[("host", host)], Ok(host));
        }
        for host in ["a, b", "a@b", "a/b", "127.0.0.1:22/evil", "a b", "a?b", "a#b", "\"a\"", "a\\b", "<a>"] {
            check("/", &[("host", host)], Err(400));
        }
        check("/", &[("host", "a"), ("host", "b")], Err(400));
        check("/", &[("host", "a"), ("host", "a")], Err(400));
        check("/", &[], Ok(""));
    }

    #[test]
    fn the_target_has_precedence() {
        check("http://evil.example/x", &[("host", "own.example")], Ok("evil.example"));
        check("http://own.example:81/x", &[], Ok("own.example:81"));
        check("http://user@own.example/", &[], Err(400));
        check("http://own.example/", &[("host", "a"), ("host", "b")], Err(400));
    }

    #[test]
    fn transfer_codings() {
        for (values, expected) in [
            (&["chunked"][..], Ok("")),
            (&["Chunked "], Ok("")),
            (&["gzip, chunked"], Err(501)),
            (&["gzip", "chunked"], Err(501)),
            (&["identity"], Err(501)),
        ] {
            let headers: Vec<_> = values.iter().map(|value| ("transfer-encoding", *value)).collect();
            check("/", &headers, expected);
        }
    }
}
