//! A small server on loopback that replaces other sites.

use std::{
    collections::HashMap,
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A fixed response: status, further header lines, body.
pub(crate) type FixedResponse = (u16, String, Vec<u8>);

/// A server with a fixed response per path; other paths get 404.
pub(crate) fn serve(pages: impl FnOnce(SocketAddr) -> HashMap<String, FixedResponse>) -> SocketAddr {
    counted(pages).0
}

/// [`serve`], with the number of received requests.
pub(crate) fn counted(
    pages: impl FnOnce(SocketAddr) -> HashMap<String, FixedResponse>,
) -> (SocketAddr, Arc<AtomicUsize>) {
    let received: Arc<AtomicUsize> = Arc::default();
    let count = Arc::clone(&received);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let pages = Arc::new(pages(address));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let pages = Arc::clone(&pages);
            std::thread::spawn(move || {
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let unknown = (404, String::new(), br#"{"error":"Plugin not found."}"#.to_vec());
                let known = pages.get(&path).or_else(|| pages.get(path.split('?').next()?));
                let (status, lines, body) = known.unwrap_or(&unknown);
                let start = format!(
                    "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n{lines}\r\n",
                    body.len()
                );
                drop(stream.write_all(start.as_bytes()).and_then(|()| stream.write_all(body)));
            });
        }
    });
    (address, received)
}
