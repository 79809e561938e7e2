//! TLS: the handshake, its limits, and clients without TLS.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Extension, Router, routing::get};
use rcgen::{CertificateParams, KeyPair};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
    version::{TLS12, TLS13},
};
use svc_listen::{
    AccessLog, Client, Compression, ConnectionLimits, Listener, Running, bind, middleware_stack, redirect_to_https,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::event_streams;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";

/// A server with a certificate for `a.example`.
struct Server {
    running: Running,
    root: CertificateDer<'static>,
}

impl Server {
    async fn start(limits: ConnectionLimits) -> Self {
        Self::with(Router::new(), limits).await
    }

    /// A server with more routes.
    async fn with(more: Router, limits: ConnectionLimits) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(["a.example".to_owned()]).unwrap().self_signed(&key).unwrap();
        let root = certificate.der().clone();
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let der = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = builder.with_single_cert(vec![root.clone()], der).unwrap();
        config.alpn_protocols = ["h2", "http/1.1", "acme-tls/1"].map(|name| name.as_bytes().to_vec()).into();
        let show = get(|Extension(client): Extension<Client>| async move { format!("tls: {}", client.tls) });
        let large = get(|| async { vec![b'x'; 64 << 20] });
        let router = Router::new().route("/", show).route("/large", large).merge(more);
        let app = middleware_stack(router, &limits, AccessLog::default(), Compression::default());
        let listener = Listener::with_tls(bind("127.0.0.1:0").await.unwrap(), Arc::new(config));
        Server { running: Running::start(listener, app.strict_transport(Some(60)), limits).unwrap(), root }
    }

    async fn connect(
        &self,
        name: &'static str,
        versions: &[&'static SupportedProtocolVersion],
        protocol: &str,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_protocol_versions(versions).unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let stream = TcpStream::connect(self.running.address()).await.unwrap();
        TlsConnector::from(Arc::new(config)).connect(name.try_into().unwrap(), stream).await
    }

    async fn get(&self, versions: &[&'static SupportedProtocolVersion]) -> String {
        let mut stream = self.connect("a.example", versions, "http/1.1").await.unwrap();
        stream.write_all(REQUEST).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }
}

/// Limits of 100 ms for slow clients.
fn strict() -> ConnectionLimits {
    let short = Duration::from_millis(100);
    ConnectionLimits { header: short, idle: short, stall: short, ..ConnectionLimits::default() }
}

async fn plain(address: SocketAddr, sent: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(sent).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

#[tokio::test]
async fn requests_with_both_versions_are_requests_over_tls() {
    let server = Server::start(ConnectionLimits::default()).await;
    for version in [&TLS12, &TLS13] {
        let response = server.get(&[version]).await;
        assert!(response.starts_with("HTTP/1.1 200") && response.ends_with("tls: true"), "{response}");
        assert!(response.contains("strict-transport-security: max-age=60\r\n"), "{response}");
    }
    server.running.stop().await;
}

#[tokio::test]
async fn event_streams_are_sent_over_tls() {
    let (router, sender) = event_streams::events();
    let server = Server::with(router, ConnectionLimits::default()).await;
    let mut client = server.connect("a.example", &[&TLS13], "http/1.1").await.unwrap();
    client.write_all(event_streams::REQUEST).await.unwrap();
    for n in 1..4 {
        sender.send(format!("data: {n}\n\n")).await.unwrap();
        event_streams::read_to(&mut client, &format!("9\r\ndata: {n}\n\n\r\n")).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(sender);
    // Without a `close_notify` this would be an error.
    let mut end = String::new();
    client.read_to_string(&mut end).await.unwrap();
    assert_eq!(end, "0\r\n\r\n");
    server.running.stop().await;
}

#[tokio::test]
async fn http2_is_negotiated() {
    let server = Server::start(ConnectionLimits::default()).await;
    let mut stream = server.connect("a.example", &[&TLS13], "h2").await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    // Preface, settings, and `GET /` on stream 1.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    stream.write_all(&[0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x87, 0x84, 0x01, 0x01, b'x']).await.unwrap();
    let mut received = Vec::new();
    while !received.windows(9).any(|part| part == b"tls: true") {
        assert_ne!(stream.read_buf(&mut received).await.unwrap(), 0, "{received:?}");
    }
    drop(stream);
    server.running.stop().await;
}

#[tokio::test]
async fn other_names_and_protocols_are_refused_without_harm() {
    let server = Server::start(ConnectionLimits::default()).await;
    let refused = server.connect("b.example", &[&TLS13], "http/1.1").await.unwrap_err();
    assert!(refused.to_string().contains("certificate"), "the client judges the name: {refused}");
    assert!(server.connect("a.example", &[&TLS13], "ftp").await.is_err());
    let mut checked = server.connect("a.example", &[&TLS13], "acme-tls/1").await.unwrap();
    let mut rest = Vec::new();
    checked.read_to_end(&mut rest).await.unwrap();
    assert!(rest.is_empty(), "the connection is closed after the handshake");
    assert!(server.get(&[&TLS13]).await.ends_with("tls: true"));
    server.running.stop().await;
}

#[tokio::test]
async fn requests_without_tls_get_400() {
    let server = Server::start(ConnectionLimits::default()).await;
    let address = server.running.address();
    let large = [b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n", &[b'x'; 10_000][..]].concat();
    for sent in [REQUEST, &large, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let response = plain(address, sent).await;
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(
            head.starts_with("HTTP/1.1 400 ") && head.contains(&format!("Content-Length: {}", body.len())),
            "{head}"
        );
        assert!(body.contains("requires TLS"), "{body}");
    }
    assert!(!plain(address, b"\x16\x03\x01\0\x05hello, this is no handshake").await.starts_with("HTTP"));
    server.running.stop().await;
}

async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await.is_ok()
}

#[tokio::test]
async fn slow_handshakes_end() {
    let server = Server::start(strict()).await;
    let address = server.running.address();
    let hello = b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03";
    for sent in [&b""[..], &hello[..1], hello] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(sent).await.unwrap();
        assert!(is_closed(&mut stream).await, "{sent:?}");
    }
    let (mut input, mut output) = TcpStream::connect(address).await.unwrap().into_split();
    output.write_all(hello).await.unwrap();
    let drip = tokio::spawn(async move {
        while output.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(5), input.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "byte by byte");
    drip.abort();
    // After the handshake, no request.
    let mut silent = server.connect("a.example", &[&TLS13], "http/1.1").await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(5), silent.read_to_end(&mut Vec::new())).await.is_ok());
    server.running.stop().await;
}

#[tokio::test]
async fn handshakes_make_room_for_new_connections() {
    let server = Server::start(ConnectionLimits { connections: 2, ..ConnectionLimits::default() }).await;
    let mut silent = Vec::new();
    for _ in 0..2 {
        silent.push(TcpStream::connect(server.running.address()).await.unwrap());
    }
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert!(server.get(&[&TLS13]).await.ends_with("tls: true"));
    assert!(is_closed(&mut silent[0]).await, "the oldest handshake was ended");
    tokio::time::timeout(Duration::from_secs(5), server.running.stop())
        .await
        .expect("handshakes do not delay the stop");
}

#[tokio::test]
async fn clients_that_do_not_read_are_closed() {
    let server = Server::start(strict()).await;
    let mut stream = server.connect("a.example", &[&TLS13], "http/1.1").await.unwrap();
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut received = Vec::new();
    let read =
        tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut received)).await.expect("it is closed");
    assert!(read.is_err() || received.len() < 32 << 20, "{} bytes", received.len());
    server.running.stop().await;
}

#[tokio::test]
async fn large_responses_arrive_as_a_whole() {
    let server = Server::start(ConnectionLimits::default()).await;
    let mut stream = server.connect("a.example", &[&TLS12], "http/1.1").await.unwrap();
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    assert!(received.len() > 64 << 20 && received.ends_with(b"xxxx"), "{} bytes", received.len());
    server.running.stop().await;
}

#[tokio::test]
async fn the_listener_for_redirects_redirects() {
    let limits = ConnectionLimits::default();
    let running = Running::start(bind("127.0.0.1:0").await.unwrap(), redirect_to_https(8443), limits).unwrap();
    let response = plain(running.address(), REQUEST).await;
    assert!(
        response.starts_with("HTTP/1.1 301 ") && response.contains("location: https://a.example:8443/\r\n"),
        "{response}"
    );
    running.stop().await;
}

/// A client without TLS gets no header for TLS.
#[tokio::test]
async fn strict_transport_needs_tls() {
    let limits = ConnectionLimits::default();
    let router = Router::new().route("/", get(|| async { "plain" }));
    let app =
        middleware_stack(router, &limits, AccessLog::default(), Compression::default()).strict_transport(Some(60));
    let running = Running::start(bind("127.0.0.1:0").await.unwrap(), app, limits).unwrap();
    let response = plain(running.address(), REQUEST).await;
    assert!(response.ends_with("plain") && !response.contains("strict-transport-security"), "{response}");
    running.stop().await;
}
