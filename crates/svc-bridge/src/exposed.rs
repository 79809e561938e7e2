//! Pages that the upstream shows to clients on its own machine only. If it does not take the client's address from this server, these are
//! all clients of this server.

use std::net::{IpAddr, Ipv4Addr};

use bytes::BytesMut;
use http::{Request, header::HOST};
use svc_gateway::{Origin, Proxy};

use crate::render::read_up_to;

/// Pages about the web server, each with a text on it.
const PAGES: [(&str, &str); 4] = [
    ("/server-status", "Server Version"),
    ("/server-info", "Server Settings"),
    ("/nginx_status", "Active connections"),
    ("/fpm-status", "process manager"),
];

/// A client that nobody trusts: its address is reserved for documentation (RFC 5737).
const STRANGER: Origin = Origin { address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), tls: false };

/// Maximum size of a page that is read, in bytes.
const MAX_PAGE: usize = 1 << 20;

/// The pages that a client with a foreign address sees.
pub async fn exposed_pages(proxy: &Proxy, host: &str) -> Vec<&'static str> {
    let mut exposed = Vec::new();
    for (path, text) in PAGES {
        let Ok(request) = Request::get(path).header(HOST, host).body(svc_gateway::empty()) else { continue };
        let Ok(mut response) = proxy.forward(request, STRANGER).await else { continue };
        // WordPress may have a page at this URL.
        let is_page = response.status().is_success();
        let mut body = BytesMut::new();
        if read_up_to(response.body_mut(), &mut body, MAX_PAGE).await.is_err() {
            continue;
        }
        if is_page && String::from_utf8_lossy(&body).contains(text) {
            exposed.push(path);
        }
    }
    exposed
}

#[cfg(test)]
mod tests {
    use axum::{Router, http::HeaderMap, routing::get};
    use svc_gateway::ProxyLimits;

    use super::*;

    #[tokio::test]
    async fn pages_for_local_clients_are_found() {
        // One server trusts the address of the socket, the other that of the header.
        let page = |trusts_header: bool| {
            move |headers: HeaderMap| async move {
                match trusts_header && headers["x-forwarded-for"] != "127.0.0.1" {
                    true => (http::StatusCode::FORBIDDEN, "no"),
                    false => (http::StatusCode::OK, "Active connections: 1"),
                }
            }
        };
        for (trusts_header, expected) in [(false, &["/nginx_status"][..]), (true, &[])] {
            let router = Router::new().route("/nginx_status", get(page(trusts_header)));
            let router = router.route("/server-status", get(|| async { "A page of the site." }));
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let upstream = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
            let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
            assert_eq!(
                exposed_pages(&Proxy::new(upstream, "p", ProxyLimits::default()), "site.example").await,
                expected
            );
            server.abort();
        }
    }
}
