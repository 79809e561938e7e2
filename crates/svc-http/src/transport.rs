//! The transport of an HTTP request.

use http::header::HOST;
use http::request::Parts;
use svc_routing::Transport;

/// The transport of a request: the [`Transport`] in its extensions, or else that of plain HTTP to its host.
///
/// A program that accepts TLS connections, or whose proxy does, adds the extension before the request reaches this crate.
/// Headers such as `X-Forwarded-Proto` are not read here, because any client can send them.
pub fn transport_of(request: &Parts) -> Transport {
    let sent = request.extensions.get::<Transport>().copied();
    sent.unwrap_or_else(|| Transport::of(false, host_of(request)))
}

/// The host that a request was sent to; empty if it is unknown.
fn host_of(request: &Parts) -> &str {
    let header = || request.headers.get(HOST).and_then(|host| host.to_str().ok());
    request.uri.host().or_else(header).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_the_url_comes_before_the_header() {
        for (url, host, extension, expected) in [
            ("/", Some("localhost:8080"), None, Transport::Localhost),
            ("/", Some("example.org"), None, Transport::Plain),
            ("/", None, None, Transport::Plain),
            ("http://localhost/", Some("example.org"), None, Transport::Localhost),
            ("http://example.org/", Some("localhost"), None, Transport::Plain),
            ("/", Some("example.org"), Some(Transport::Tls), Transport::Tls),
        ] {
            let mut request = http::Request::get(url);
            if let Some(host) = host {
                request = request.header(HOST, host);
            }
            if let Some(extension) = extension {
                request = request.extension(extension);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(transport_of(&parts), expected, "{url} {host:?} {extension:?}");
        }
    }
}
