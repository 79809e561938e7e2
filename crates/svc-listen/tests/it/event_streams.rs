//! Event streams, whose sockets are taken out of their connections.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, body::Body, http::header::CONTENT_TYPE, response::IntoResponse as _, routing::get};
use bytes::Bytes;
use futures_util::stream;
use svc_listen::{ConnectionLimits, Running};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::mpsc,
    time::timeout,
};

use crate::connections::{limits, running, strict};

pub(crate) const REQUEST: &[u8] = b"GET /events HTTP/1.1\r\nHost: a.example\r\nAccept: text/event-stream\r\n\r\n";

/// Much longer than anything here takes.
const LONG: Duration = Duration::from_secs(10);

/// A router with one event stream. It ends when the sender is dropped, and the sender is closed when the server drops the stream.
pub(crate) fn events() -> (Router, mpsc::Sender<String>) {
    let (sender, receiver) = mpsc::channel::<String>(1);
    let receiver = Arc::new(Mutex::new(Some(receiver)));
    let respond = get(move || async move {
        let receiver = receiver.lock().unwrap().take().unwrap();
        let parts = stream::unfold(receiver, async |mut receiver| {
            let text = receiver.recv().await?;
            Some((Ok::<_, Infallible>(Bytes::from(text)), receiver))
        });
        ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(parts)).into_response()
    });
    (Router::new().route("/events", respond), sender)
}

/// Reads until the text ends with this.
pub(crate) async fn read_to(stream: &mut (impl AsyncRead + Unpin), end: &str) -> String {
    let mut received = Vec::new();
    while !received.ends_with(end.as_bytes()) {
        let n = timeout(LONG, stream.read_buf(&mut received)).await.unwrap().unwrap();
        assert_ne!(n, 0, "{end:?} after {:?}", String::from_utf8_lossy(&received));
    }
    String::from_utf8(received).unwrap()
}

async fn follow(limits: ConnectionLimits, request: &[u8]) -> (Running, mpsc::Sender<String>, TcpStream) {
    let (router, sender) = events();
    let server = running(router, limits).await;
    let mut client = TcpStream::connect(server.address()).await.unwrap();
    client.write_all(request).await.unwrap();
    (server, sender, client)
}

#[tokio::test]
async fn events_are_chunks_before_and_after_the_takeover() {
    let (server, sender, mut client) = follow(limits(4, 60), REQUEST).await;
    sender.send("data: 1\n\n".to_owned()).await.unwrap();
    let head = read_to(&mut client, "9\r\ndata: 1\n\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(
        head.contains("\r\ntransfer-encoding: chunked\r\n") && head.contains("\r\nconnection: close\r\n"),
        "{head}"
    );
    for n in 2..5 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        // An empty chunk would end the stream.
        sender.send(String::new()).await.unwrap();
        sender.send(format!("data: {n}{}\n\n", "x".repeat(100_000))).await.unwrap();
        let chunk = read_to(&mut client, "x\n\n\r\n").await;
        assert_eq!(chunk, format!("186A9\r\ndata: {n}{}\n\n\r\n", "x".repeat(100_000)));
    }
    drop(sender);
    let mut end = String::new();
    timeout(LONG, client.read_to_string(&mut end)).await.unwrap().unwrap();
    assert_eq!(end, "0\r\n\r\n");
    server.stop().await;
}

#[tokio::test]
async fn http_1_0_clients_get_events_without_chunks() {
    let (server, sender, mut client) = follow(limits(4, 60), b"GET /events HTTP/1.0\r\nHost: x\r\n\r\n").await;
    for n in 1..4 {
        sender.send(format!("data: {n}\n\n")).await.unwrap();
        let text = read_to(&mut client, &format!("data: {n}\n\n")).await;
        assert!(!text.contains("chunked") && !text.contains("9\r\n"), "{text}");
    }
    drop(sender);
    assert_eq!(timeout(LONG, client.read_to_end(&mut Vec::new())).await.unwrap().unwrap(), 0);
    server.stop().await;
}

#[tokio::test]
async fn a_stream_ends_when_its_client_disconnects() {
    for has_events in [false, true] {
        let (server, sender, mut client) = follow(limits(4, 60), REQUEST).await;
        sender.send("data: 1\n\n".to_owned()).await.unwrap();
        read_to(&mut client, "data: 1\n\n\r\n").await;
        if has_events {
            sender.send("data: 2\n\n".to_owned()).await.unwrap();
            read_to(&mut client, "data: 2\n\n\r\n").await;
        }
        drop(client);
        timeout(LONG, sender.closed()).await.expect("the server drops the stream");
        server.stop().await;
    }
}

#[tokio::test]
async fn a_stream_without_events_is_not_idle() {
    let (server, sender, mut client) = follow(strict(), REQUEST).await;
    sender.send("data: 1\n\n".to_owned()).await.unwrap();
    read_to(&mut client, "data: 1\n\n\r\n").await;
    // The limits are 100 ms.
    tokio::time::sleep(Duration::from_millis(500)).await;
    sender.send("data: 2\n\n".to_owned()).await.unwrap();
    read_to(&mut client, "data: 2\n\n\r\n").await;
    drop(client);
    server.stop().await;
}

#[tokio::test]
async fn clients_that_do_not_read_are_disconnected() {
    let (server, sender, mut client) = follow(strict(), REQUEST).await;
    sender.send("data: 1\n\n".to_owned()).await.unwrap();
    read_to(&mut client, "data: 1\n\n\r\n").await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let fill = async { while sender.send("x".repeat(1 << 20)).await.is_ok() {} };
    timeout(LONG, fill).await.expect("the server drops the stream");
    server.stop().await;
}

#[tokio::test]
async fn further_requests_on_the_connection_do_not_disturb_a_stream() {
    let (server, sender, mut client) = follow(limits(4, 60), &[REQUEST, REQUEST].concat()).await;
    for n in 1..4 {
        sender.send(format!("data: {n}\n\n")).await.unwrap();
        let text = read_to(&mut client, &format!("9\r\ndata: {n}\n\n\r\n")).await;
        assert_eq!(text.contains("HTTP/1.1"), n == 1, "{text}");
        client.write_all(REQUEST).await.unwrap();
    }
    drop(sender);
    let end = read_to(&mut client, "0\r\n\r\n").await;
    assert_eq!(end, "0\r\n\r\n");
    server.stop().await;
}

#[tokio::test]
async fn shutdown_waits_for_the_end_of_streams_within_its_limit() {
    for ends in [true, false] {
        let time = if ends { LONG } else { Duration::from_millis(100) };
        let (server, sender, mut client) = follow(ConnectionLimits { shutdown: time, ..limits(4, 60) }, REQUEST).await;
        sender.send("data: 1\n\n".to_owned()).await.unwrap();
        read_to(&mut client, "data: 1\n\n\r\n").await;
        let stop = tokio::spawn(server.stop());
        tokio::time::sleep(Duration::from_millis(20)).await;
        let mut rest = String::new();
        if ends {
            sender.send("data: 2\n\n".to_owned()).await.unwrap();
            drop(sender);
            timeout(LONG, client.read_to_string(&mut rest)).await.unwrap().unwrap();
            assert_eq!(rest, "9\r\ndata: 2\n\n\r\n0\r\n\r\n");
        } else {
            timeout(LONG, sender.closed()).await.expect("the server drops the stream");
        }
        timeout(LONG, stop).await.unwrap().unwrap();
    }
}
