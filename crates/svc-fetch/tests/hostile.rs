//! The client against hostile servers on loopback.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    time::{Duration, Instant},
};

use svc_fetch::{Allowed, FetchError, FetchedResponse, Get, Guard, GuardedClient};

/// Starts a server that passes each connection and its request headers to `respond`.
fn serve(respond: impl Fn(&mut TcpStream, &str) + Send + Sync + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("failed to bind");
    let address = listener.local_addr().expect("failed to read the local address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, respond) = (stream.expect("failed to accept"), respond.clone());
            std::thread::spawn(move || {
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
                    head.push(byte[0]);
                }
                respond(&mut stream, &String::from_utf8_lossy(&head));
            });
        }
    });
    address
}

/// Starts a server that always sends the same response.
fn fixed_response(text: String) -> SocketAddr {
    serve(move |stream, _| drop(stream.write_all(text.as_bytes())))
}

fn redirect(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

/// Sends a request to `server`, the only permitted target.
fn send(server: SocketAddr, change: impl FnOnce(Get) -> Get) -> Result<FetchedResponse, FetchError> {
    let allowed: Allowed = server.to_string().parse().expect("invalid origin");
    let client = GuardedClient::new(Guard::new(vec![allowed]), "tests");
    client.send(&change(Get::new(format!("http://{server}/")).within(Duration::from_secs(2))))
}

#[test]
fn returns_the_whole_response() {
    let server = serve(|stream, head| {
        let agent =
            head.lines().find(|l| l.to_ascii_lowercase().starts_with("user-agent")).unwrap_or("none").to_owned();
        drop(write!(stream, "HTTP/1.1 404 No\r\nX-A: b\r\nContent-Length: {}\r\n\r\n{agent}", agent.len()));
    });
    let response = send(server, |get| get).unwrap();
    assert_eq!((response.status, response.header("x-a")), (404, "b"));
    assert!(response.body.ends_with(b"tests"), "{:?}", String::from_utf8_lossy(&response.body));
}

#[test]
fn redirects_are_followed_to_allowed_addresses_only() {
    let other_server = fixed_response("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret".to_owned());
    // Not permitted: another loopback port, and private and cloud metadata addresses.
    for target in
        [format!("http://{other_server}/"), "http://169.254.169.254/latest".to_owned(), "http://[::1]/".to_owned()]
    {
        let error = send(fixed_response(redirect(&target)), |get| get).unwrap_err();
        assert!(matches!(error, FetchError::ForbiddenAddress(_) | FetchError::ForbiddenPort(_)), "{target}: {error}");
    }
    // The same redirect is followed if its target is permitted, and the response reports the final URL.
    let target = format!("http://{other_server}/");
    let response = send(fixed_response(redirect(&target)), |get| get.allow(Allowed::origin_of(&target))).unwrap();
    assert_eq!((response.body.as_slice(), response.url), (&b"secret"[..], target));
    for scheme in ["file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/"] {
        assert!(send(fixed_response(redirect(scheme)), |get| get).is_err(), "{scheme}");
    }
}

#[test]
fn stops_after_too_many_redirects() {
    let server = serve(|stream, _| drop(stream.write_all(redirect("/again").as_bytes())));
    assert!(matches!(send(server, |get| get).unwrap_err(), FetchError::TooManyRedirects));
}

#[test]
fn rejects_names_that_resolve_to_loopback() {
    let server = fixed_response("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret".to_owned());
    let client = GuardedClient::new(Guard::default(), "tests");
    for host in ["localhost", "127.0.0.1", "127.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        for port in [80, server.port()] {
            let get = Get::new(format!("http://{host}:{port}/"));
            let error = client.send(&get).unwrap_err();
            assert!(error.is_invalid_url(), "{host}:{port}: {error}");
            assert!(client.check(&get).unwrap_err().is_invalid_url(), "{host}:{port}");
        }
    }
}

#[test]
fn times_out_on_slow_responses() {
    let trickle = |stream: &mut TcpStream, _: &str| {
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"));
        while stream.write_all(b".").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let silence = |_: &mut TcpStream, _: &str| std::thread::sleep(Duration::from_secs(20));
    for server in [serve(trickle), serve(silence)] {
        let started = Instant::now();
        let error = send(server, |get| get.within(Duration::from_millis(500))).unwrap_err();
        assert!(matches!(error, FetchError::TimedOut), "{error}");
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn endless_responses_are_rejected_or_truncated() {
    let endless = |stream: &mut TcpStream, _: &str| {
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n"));
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    };
    let endless_headers = |stream: &mut TcpStream, _: &str| {
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\n"));
        while stream.write_all(b"X-More: of the same\r\n").is_ok() {}
    };
    assert!(matches!(send(serve(endless), |get| get.max_bytes(10_000)).unwrap_err(), FetchError::TooLarge(10_000)));
    assert_eq!(send(serve(endless), |get| get.first(10_000)).unwrap().body.len(), 10_000);
    assert!(send(serve(endless_headers), |get| get).is_err());
}

#[test]
fn limits_apply_to_the_decompressed_size() {
    // One mebibyte of zeros, compressed to about a thousand bytes.
    let compressed = include_bytes!("zeros.gz");
    let server = serve(|stream, _| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", compressed.len());
        drop(stream.write_all(head.as_bytes()));
        drop(stream.write_all(compressed));
    });
    let result = send(server, |get| get.max_bytes(100_000)).map(|response| response.body.len());
    assert!(matches!(result, Err(FetchError::TooLarge(100_000))), "{result:?}");
    assert_eq!(send(server, |get| get.max_bytes(1 << 20)).unwrap().body.len(), 1 << 20);
}
