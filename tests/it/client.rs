//! A minimal HTTP/1.1 client that returns responses unchanged.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A response.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl HttpResponse {
    /// The values of a header, in order.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str()).collect()
    }

    /// The value of a header; empty if it is missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.all(name).first().copied().unwrap_or_default()
    }

    /// The body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

/// Sends bytes and reads until the server closes the connection; empty if it closes without a response. `ended`
/// closes the sending side, so that the server does not wait for the rest of an incomplete request.
pub(crate) async fn raw(address: SocketAddr, request: &[u8], ended: bool) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may reject the request before everything is written.
    let _written = stream.write_all(request).await;
    if ended {
        let _closed = stream.shutdown().await;
    }
    let mut response = Vec::new();
    let _read = stream.read_to_end(&mut response).await;
    response
}

/// Sends a request and reads the response. The host is the address, unless `headers` has one.
#[track_caller]
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> impl Future<Output = HttpResponse> {
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        request.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        request.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    request.push_str("\r\n");
    request.push_str(body);
    let request_line = format!("{method} {path}");
    async move {
        let bytes = raw(address, request.as_bytes(), false).await;
        parse(&bytes).unwrap_or_else(|| panic!("{request_line}: no response: {}", String::from_utf8_lossy(&bytes)))
    }
}

fn parse(bytes: &[u8]) -> Option<HttpResponse> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let header = |line: &str| line.split_once(": ").map(|(n, v)| (n.to_owned(), v.to_owned()));
    Some(HttpResponse { status, headers: lines.filter_map(header).collect(), body: body.to_owned() })
}
