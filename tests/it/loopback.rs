//! A minimal HTTP server on loopback, for requests that a site sends.

use std::{
    collections::HashMap,
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A response: status, further header lines, body.
pub(crate) type CannedResponse = (u16, String, Vec<u8>);

/// A server on loopback with a fixed response for each path; all other paths are 404.
pub(crate) fn serve(pages: impl FnOnce(SocketAddr) -> HashMap<String, CannedResponse>) -> SocketAddr {
    serve_counted(pages).0
}

/// [`serve`], with the number of requests so far.
pub(crate) fn serve_counted(
    pages: impl FnOnce(SocketAddr) -> HashMap<String, CannedResponse>,
) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let pages = pages(listener.local_addr().expect("an address"));
    let respond = move |path: &str| {
        let unknown = || (404, String::new(), br#"{"error":"Plugin not found."}"#.to_vec());
        let known = pages.get(path).or_else(|| pages.get(path.split('?').next()?));
        known.cloned().unwrap_or_else(unknown)
    };
    serve_on(listener, respond)
}

/// A server on loopback that responds to a path with its query as this function says.
pub(crate) fn serve_with(respond: impl Fn(&str) -> CannedResponse + Send + Sync + 'static) -> SocketAddr {
    serve_on(TcpListener::bind("127.0.0.1:0").expect("a free port"), respond).0
}

fn serve_on(
    listener: TcpListener,
    respond: impl Fn(&str) -> CannedResponse + Send + Sync + 'static,
) -> (SocketAddr, Arc<AtomicUsize>) {
    let n_requests: Arc<AtomicUsize> = Arc::default();
    let (count, respond) = (Arc::clone(&n_requests), Arc::new(respond));
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let respond = Arc::clone(&respond);
            std::thread::spawn(move || {
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let (status, lines, body) = respond(head.split(' ').nth(1).unwrap_or_default());
                let start = format!(
                    "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n{lines}\r\n",
                    body.len()
                );
                drop(stream.write_all(start.as_bytes()).and_then(|()| stream.write_all(&body)));
            });
        }
    });
    (address, n_requests)
}
