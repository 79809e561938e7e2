//! The client against servers on loopback that mean no good.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    time::{Duration, Instant},
};

use svc_fetch::{Allowed, Client, FetchError, Get, Guard, Response};

/// A server that gives each connection to `answer`, with the head of its request.
fn serve(answer: impl Fn(&mut TcpStream, &str) + Send + Sync + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.expect("a connection"), answer.clone());
            std::thread::spawn(move || {
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
                    head.push(byte[0]);
                }
                answer(&mut stream, &String::from_utf8_lossy(&head));
            });
        }
    });
    address
}

/// A server that always says the same.
fn saying(text: String) -> SocketAddr {
    serve(move |stream, _| drop(stream.write_all(text.as_bytes())))
}

fn redirect(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

/// Asks this server, which alone is allowed.
fn ask(server: SocketAddr, change: impl FnOnce(Get) -> Get) -> Result<Response, FetchError> {
    let allowed: Allowed = server.to_string().parse().expect("a host and a port");
    let client = Client::new(Guard::new(vec![allowed]), "tests");
    client.send(&change(Get::new(format!("http://{server}/")).within(Duration::from_secs(2))))
}

#[test]
fn an_answer_comes_whole() {
    let server = serve(|stream, head| {
        let agent =
            head.lines().find(|l| l.to_ascii_lowercase().starts_with("user-agent")).unwrap_or("none").to_owned();
        drop(write!(stream, "HTTP/1.1 404 No\r\nX-A: b\r\nContent-Length: {}\r\n\r\n{agent}", agent.len()));
    });
    let answer = ask(server, |get| get).unwrap();
    assert_eq!((answer.status, answer.header("x-a")), (404, "b"));
    assert!(answer.body.ends_with(b"tests"), "{:?}", String::from_utf8_lossy(&answer.body));
}

#[test]
fn redirects_are_followed_to_allowed_addresses_only() {
    let elsewhere = saying("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret".to_owned());
    // Not allowed: another port of loopback, and addresses of private networks and clouds.
    for target in
        [format!("http://{elsewhere}/"), "http://169.254.169.254/latest".to_owned(), "http://[::1]/".to_owned()]
    {
        let error = ask(saying(redirect(&target)), |get| get).unwrap_err();
        assert!(matches!(error, FetchError::Refused(_) | FetchError::Port(_)), "{target}: {error}");
    }
    // The same redirect is followed where its target is allowed, and the answer says where it comes from.
    let target = format!("http://{elsewhere}/");
    let answer = ask(saying(redirect(&target)), |get| get.allow(Allowed::origin_of(&target))).unwrap();
    assert_eq!((answer.body.as_slice(), answer.url), (&b"secret"[..], target));
    for scheme in ["file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/"] {
        assert!(ask(saying(redirect(scheme)), |get| get).is_err(), "{scheme}");
    }
}

#[test]
fn redirects_come_to_an_end() {
    let server = serve(|stream, _| drop(stream.write_all(redirect("/again").as_bytes())));
    assert!(matches!(ask(server, |get| get).unwrap_err(), FetchError::TooManyRedirects));
}

#[test]
fn a_name_that_leads_to_loopback_is_refused() {
    let server = saying("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret".to_owned());
    let client = Client::new(Guard::default(), "tests");
    for host in ["localhost", "127.0.0.1", "127.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        for port in [80, server.port()] {
            let get = Get::new(format!("http://{host}:{port}/"));
            let error = client.send(&get).unwrap_err();
            assert!(error.is_refusal(), "{host}:{port}: {error}");
            assert!(client.check(&get).unwrap_err().is_refusal(), "{host}:{port}");
        }
    }
}

#[test]
fn a_slow_answer_is_given_up() {
    let trickle = |stream: &mut TcpStream, _: &str| {
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"));
        while stream.write_all(b".").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let silence = |_: &mut TcpStream, _: &str| std::thread::sleep(Duration::from_secs(20));
    for server in [serve(trickle), serve(silence)] {
        let started = Instant::now();
        let error = ask(server, |get| get.within(Duration::from_millis(500))).unwrap_err();
        assert!(matches!(error, FetchError::TimedOut), "{error}");
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn an_endless_answer_is_refused_or_cut() {
    let endless = |stream: &mut TcpStream, _: &str| {
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n"));
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    };
    let endless_head = |stream: &mut TcpStream, _: &str| {
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\n"));
        while stream.write_all(b"X-More: of the same\r\n").is_ok() {}
    };
    assert!(matches!(ask(serve(endless), |get| get.at_most(10_000)).unwrap_err(), FetchError::TooLarge(10_000)));
    assert_eq!(ask(serve(endless), |get| get.first(10_000)).unwrap().body.len(), 10_000);
    assert!(ask(serve(endless_head), |get| get).is_err());
}

#[test]
fn what_is_packed_counts_by_its_unpacked_size() {
    // A mebibyte of nothing, packed to about a thousand bytes.
    let packed = include_bytes!("zeros.gz");
    let server = serve(|stream, _| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", packed.len());
        drop(stream.write_all(head.as_bytes()));
        drop(stream.write_all(packed));
    });
    let refused = ask(server, |get| get.at_most(100_000)).map(|answer| answer.body.len());
    assert!(matches!(refused, Err(FetchError::TooLarge(100_000))), "{refused:?}");
    assert_eq!(ask(server, |get| get.at_most(1 << 20)).unwrap().body.len(), 1 << 20);
}
