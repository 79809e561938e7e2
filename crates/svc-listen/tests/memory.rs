//! Memory of connections that follow an event stream.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::{
    convert::Infallible,
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use axum::{Router, body::Body, http::header::CONTENT_TYPE, response::IntoResponse as _, routing::get};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use peak_alloc::PeakAlloc;
use svc_listen::{AccessLog, Compression, ConnectionLimits, Running, bind, middleware_stack};
use tokio::sync::broadcast;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const N_CLIENTS: usize = 200;

/// Bytes of memory of a client. The two buffers of a connection alone are 24 KB.
const MAX_EACH: usize = 4 << 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_of_event_streams_need_no_buffers() {
    let (sender, _) = broadcast::channel::<Bytes>(4);
    let events = sender.clone();
    let respond = get(move || async move {
        let next = async |mut events: broadcast::Receiver<Bytes>| Some((events.recv().await.ok()?, events));
        let parts =
            stream::once(async { Bytes::from_static(b": ready\n\n") }).chain(stream::unfold(events.subscribe(), next));
        ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(parts.map(Ok::<_, Infallible>))).into_response()
    });
    let limits = ConnectionLimits { connections: 1_000, connections_per_network: 1_000, ..ConnectionLimits::default() };
    let router = Router::new().route("/", respond);
    let app = middleware_stack(router, &limits, AccessLog::default(), Compression::default());
    let server = Running::start(bind("127.0.0.1:0").await.unwrap(), app, limits).unwrap();
    let request =
        format!("GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip, br\r\nUser-Agent: {}\r\n\r\n", "x".repeat(200));
    let mut clients = Vec::with_capacity(N_CLIENTS + 1);
    let mut before = 0;
    for n in 0..=N_CLIENTS {
        let mut client = TcpStream::connect(server.address()).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        read_to(&mut client, b": ready\n\n\r\n");
        clients.push(client);
        if n == 0 {
            // The first one has filled caches.
            settle().await;
            before = MEMORY.current_usage();
        }
    }
    settle().await;
    let each = MEMORY.current_usage().saturating_sub(before) / N_CLIENTS;
    sender.send(Bytes::from_static(b"data: 1\n\n")).unwrap();
    clients.iter_mut().for_each(|client| read_to(client, b"9\r\ndata: 1\n\n\r\n"));
    settle().await;
    let after_event = MEMORY.current_usage().saturating_sub(before) / N_CLIENTS;
    assert!(each < MAX_EACH && after_event < MAX_EACH, "{each} and {after_event} bytes for each client");
}

/// Time for the tasks of the connections.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(300)).await;
}

fn read_to(client: &mut TcpStream, end: &[u8]) {
    let (mut buffer, mut length) = ([0; 4096], 0);
    while !buffer[..length].ends_with(end) {
        let n = client.read(&mut buffer[length..]).unwrap();
        assert_ne!(n, 0, "{:?}", String::from_utf8_lossy(&buffer[..length]));
        length += n;
    }
}
