//! An HTTP/1.1 server that plays a script: it reads a request's head and hands the socket to the test.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use svc_gateway::{Proxy, ProxyLimits};

/// A connection whose request head has been read.
pub(crate) struct Exchange {
    pub(crate) head: String,
    pub(crate) stream: TcpStream,
}

impl Exchange {
    pub(crate) fn send(&mut self, text: &str) {
        // The proxy may have given up.
        let _ = self.stream.write_all(text.as_bytes());
    }

    /// Reads exactly `n` bytes of the body.
    pub(crate) fn read(&mut self, n: usize) -> Vec<u8> {
        let mut body = vec![0; n];
        self.stream.read_exact(&mut body).unwrap();
        body
    }
}

/// Starts a server. `respond` is called for each request, also for several on one connection, with their number; it returns
/// whether the connection stays open.
pub(crate) fn start(respond: impl Fn(usize, &mut Exchange) -> bool + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let respond = std::sync::Arc::new((respond, std::sync::atomic::AtomicUsize::new(0)));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let respond = std::sync::Arc::clone(&respond);
            thread::spawn(move || {
                stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                let mut exchange = Exchange { head: String::new(), stream };
                while read_head(&mut exchange) {
                    let number = respond.1.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    if !(respond.0)(number, &mut exchange) {
                        break;
                    }
                }
            });
        }
    });
    address
}

fn read_head(exchange: &mut Exchange) -> bool {
    exchange.head.clear();
    let mut byte = [0];
    while !exchange.head.ends_with("\r\n\r\n") {
        match exchange.stream.read(&mut byte) {
            Ok(1) => exchange.head.push(char::from(byte[0])),
            _ => return false,
        }
    }
    true
}

pub(crate) fn proxy(address: SocketAddr, limits: ProxyLimits) -> Proxy {
    Proxy::new(format!("http://{address}").parse().unwrap(), "test-1", limits)
}
