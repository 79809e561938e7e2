//! Redirects from HTTP to HTTPS.

use std::{convert::Infallible, future::ready};

use axum::{body::Body, extract::Request, response::Response};
use http::{HeaderValue, Method, StatusCode, header, uri::Authority};

use crate::{head, serve::App};

/// A service that redirects each request to the same URL with HTTPS, at this port. The host is that of the request; requests without
/// one get 400.
pub fn redirect_to_https(port: u16) -> impl App {
    tower::service_fn(move |mut request: Request| {
        let location = head::check(&mut request).and_then(|()| location(&request, port).ok_or(StatusCode::BAD_REQUEST));
        let mut response = Response::new(Body::empty());
        match location {
            Ok(location) => {
                // With 308, clients repeat the method and the body.
                let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
                *response.status_mut() =
                    if is_read { StatusCode::MOVED_PERMANENTLY } else { StatusCode::PERMANENT_REDIRECT };
                response.headers_mut().insert(header::LOCATION, location);
            }
            Err(status) => *response.status_mut() = status,
        }
        ready(Ok::<_, Infallible>(response))
    })
}

fn location(request: &Request, port: u16) -> Option<HeaderValue> {
    let host: Authority = request.headers().get(header::HOST)?.to_str().ok()?.parse().ok()?;
    let host = Some(host.host()).filter(|host| !host.is_empty())?;
    let port = if port == 443 { String::new() } else { format!(":{port}") };
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let target = if target.starts_with('/') { target } else { "/" };
    HeaderValue::try_from(format!("https://{host}{port}{target}")).ok()
}

#[cfg(test)]
mod tests {
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn redirects_to_the_same_url() {
        for (method, target, host, port, expected) in [
            ("GET", "/a?b=c", "a.example", 443, Ok((301, "https://a.example/a?b=c"))),
            ("HEAD", "/", "a.example:80", 8443, Ok((301, "https://a.example:8443/"))),
            ("POST", "/a", "[::1]:8080", 443, Ok((308, "https://[::1]/a"))),
            ("GET", "http://b.example/x", "a.example", 443, Ok((301, "https://b.example/x"))),
            ("OPTIONS", "*", "a.example", 443, Ok((308, "https://a.example/"))),
            ("GET", "//evil.example", "a.example", 443, Ok((301, "https://a.example//evil.example"))),
            ("GET", "/", "", 443, Err(400)),
            ("GET", "/", "a.example/x", 443, Err(400)),
        ] {
            let request = Request::builder().method(method).uri(target).header(header::HOST, host);
            let response = redirect_to_https(port).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
            let location = response.headers().get(header::LOCATION).map(|location| location.to_str().unwrap());
            let status = response.status().as_u16();
            assert_eq!(location.map(|location| (status, location)).ok_or(status), expected, "{method} {target} {host}");
        }
    }
}
