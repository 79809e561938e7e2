//! The accept loop, and a shutdown that lets requests in progress finish.

use std::{convert::Infallible, future::Future, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, extract::ConnectInfo};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::{Builder, UpgradeableConnection},
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{oneshot, watch},
    task::JoinHandle,
};
use tower::ServiceExt;

use super::{
    activity::{Activity, Close, RequestBody, ResponseBody, Socket},
    connections::{Admission, Connections, Place},
    log::Seldom,
};
use crate::{
    config::Limits,
    error::{Error, Result},
};

/// Most bytes of request heads that are buffered per connection.
const HEAD_LIMIT: usize = 64 << 10;

/// Connections that the system holds until they are accepted. When a burst overflows this queue, clients try again only
/// after a second.
const BACKLOG: u32 = 4_096;

/// Bytes that the system takes from a connection before it has sent them. Otherwise a client that does not read makes it take
/// megabytes, and many such clients keep the server busy with copying.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSENT: u32 = 32 << 10;

/// How long the loop pauses when the system has no more sockets to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a connection that is closed gracefully may take to end.
const CLOSE_TIME: Duration = Duration::from_millis(500);

/// How often it is reported that connections cannot be accepted.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// Takes the address.
///
/// # Errors
/// When the address is taken, not allowed, or not known.
pub async fn bind(listen: &str) -> Result<TcpListener> {
    let failed = |error| Error::io(format!("cannot listen on {listen}"))(error);
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
    for address in tokio::net::lookup_host(listen).await.map_err(failed)? {
        match bind_to(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

/// Sets what is best effort: a connection works without it.
fn set_options(stream: &TcpStream) {
    // A small response should not wait for a full packet.
    drop(stream.set_nodelay(true));
    #[cfg(any(target_os = "linux", target_os = "android"))]
    drop(socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT));
}

fn bind_to(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // So that a server can start again while connections of the one before are ending. Elsewhere it means something else.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// A server that runs in the background; it stops when this is dropped or told to.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Running {
    /// Serves this router on this listener from now on.
    ///
    /// # Errors
    /// When the listener does not know its own address.
    pub fn start(listener: TcpListener, router: Router, limits: Limits) -> Result<Self> {
        let address = listener.local_addr().map_err(Error::io("cannot tell the listening address"))?;
        let (stop, stopped) = oneshot::channel();
        // A dropped sender stops the server as well.
        let task = tokio::spawn(serve(listener, router, limits, async move { drop(stopped.await) }));
        Ok(Running { address, stop: Some(stop), task })
    }

    /// The address that connections are accepted on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts no more, waits for requests in progress as long as the limits allow, and returns.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        if let Err(error) = self.task.await {
            tracing::error!("the accept loop ended early: {error}");
        }
    }
}

/// Accepts and serves connections until `stop` is ready, then lets requests in progress finish for at most
/// `limits.shutdown`.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let mut builder = Builder::new(TokioExecutor::new());
    // Slow heads and idle connections are closed by the sweep below, which also sees what comes before the first request.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(HEAD_LIMIT);
    builder.http2().timer(TokioTimer::new()).max_header_list_size(HEAD_LIMIT as u32).keep_alive_interval(limits.header);
    let grace = limits.shutdown;
    let connections = Connections::new(limits);
    let (stopping, stopped) = watch::channel(());
    let mut sweep = std::pin::pin!(connections.sweep());
    let mut stop = std::pin::pin!(stop);
    let refused = Seldom::every(REPORT_EVERY);
    {
        let mut next = std::pin::pin!(accept(&listener, &connections, &refused));
        loop {
            let (stream, peer, place) = tokio::select! {
                () = &mut stop => break,
                () = &mut sweep => break,
                accepted = &mut next => accepted,
            };
            next.set(accept(&listener, &connections, &refused));
            set_options(&stream);
            let activity = Arc::clone(&place.activity);
            let service = service(router.clone(), peer, Arc::clone(&activity));
            let io = TokioIo::new(Socket::new(stream, activity));
            let connection = builder.serve_connection_with_upgrades(io, service).into_owned();
            tokio::spawn(drive(connection, place, peer, stopped.clone()));
        }
    }
    drop((listener, stopped));
    let n_busy = connections.n_busy();
    // Without receivers there is nothing to stop.
    let _sent = stopping.send(());
    let finished = async {
        tokio::select! {
            () = stopping.closed() => {}
            () = &mut sweep => {}
        }
    };
    if tokio::time::timeout(grace, finished).await.is_err() {
        tracing::warn!("stopped with requests in progress after {grace:?} ({n_busy} connections)");
        connections.close_all();
        // They only have to notice.
        drop(tokio::time::timeout(CLOSE_TIME, stopping.closed()).await);
    }
}

/// The router as one connection sees it: requests name their peer, and count as in progress until their response is
/// written.
fn service(
    router: Router,
    peer: SocketAddr,
    activity: Arc<Activity>,
) -> impl hyper::service::Service<
    http::Request<Incoming>,
    Response = http::Response<ResponseBody>,
    Error = Infallible,
    Future: Send + 'static,
> + Send {
    hyper::service::service_fn(move |request: http::Request<Incoming>| {
        let in_progress = activity.begin_request(request.version());
        let (router, activity) = (router.clone(), Arc::clone(&activity));
        async move {
            let mut request = request.map(|body| match body.is_end_stream() {
                true => axum::body::Body::empty(),
                false => axum::body::Body::new(RequestBody::new(body, activity)),
            });
            request.extensions_mut().insert(ConnectInfo(peer));
            let response = router.oneshot(request).await?;
            Ok(response.map(|body| ResponseBody::new(body, in_progress)))
        }
    })
}

/// Serves one connection to its end: its own, the server's, or that of its place.
async fn drive<S>(
    connection: UpgradeableConnection<'static, TokioIo<Socket>, S, TokioExecutor>,
    place: Place,
    peer: SocketAddr,
    mut stopped: watch::Receiver<()>,
) where
    S: hyper::service::Service<http::Request<Incoming>, Response = http::Response<ResponseBody>, Error = Infallible>,
    S::Future: Send + 'static,
{
    let activity = Arc::clone(&place.activity);
    let mut connection = std::pin::pin!(connection);
    let mut is_stopping = false;
    loop {
        tokio::select! {
            result = connection.as_mut() => {
                if let Err(error) = result {
                    tracing::debug!("connection with {peer}: {error}");
                }
                return;
            }
            how = activity.asked_to_close() => {
                if how == Close::Gracefully {
                    connection.as_mut().graceful_shutdown();
                    drop(tokio::time::timeout(CLOSE_TIME, connection).await);
                }
                return;
            }
            _ = stopped.changed(), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// The next connection that has a place.
async fn accept(
    listener: &TcpListener,
    connections: &Arc<Connections>,
    refused: &Seldom,
) -> (TcpStream, SocketAddr, Place) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of descriptors, or a client that left at once: neither is a reason to stop.
                if let Some(n) = refused.report() {
                    tracing::warn!("cannot accept a connection ({n} times): {error}");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        loop {
            match connections.admit(peer.ip()) {
                Admission::Admitted(place) => return (stream, peer, place),
                Admission::NetworkFull => break,
                // The next ones wait in the system's queue.
                Admission::Full => connections.changed().await,
            }
        }
    }
}

/// Ready when the system asks the process to stop (SIGINT or SIGTERM).
pub(crate) async fn shutdown_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            tracing::error!("signals cannot be listened to; stop the process by force");
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
        sync::Notify,
    };

    /// Long enough for a connection to count as idle.
    const IDLE: Duration = Duration::from_millis(60);

    fn limits(connections: usize, seconds: u64) -> Limits {
        let time = Duration::from_secs(seconds);
        Limits {
            body: 1024,
            values: 1000,
            connections,
            connections_per_network: connections,
            header: time,
            idle: time,
            stall: time,
            request: time,
            shutdown: time,
            trusted: Vec::new(),
        }
    }

    async fn running(router: Router, limits: Limits) -> Running {
        Running::start(bind("127.0.0.1:0").await.unwrap(), router, limits).unwrap()
    }

    async fn ask(address: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_stop_lets_requests_under_way_finish() {
        let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (b, g) = (begun.clone(), go.clone());
        let slow = get(move || async move {
            b.notify_one();
            g.notified().await;
            "late"
        });
        let server = running(Router::new().route("/", slow), limits(4, 5)).await;
        let address = server.address();
        let answer = tokio::spawn(ask(address, "/"));
        begun.notified().await;
        let stop = tokio::spawn(server.stop());
        tokio::task::yield_now().await;
        go.notify_one();
        assert!(answer.await.unwrap().ends_with("late"));
        stop.await.unwrap();
        assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
    }

    #[tokio::test]
    async fn an_idle_connection_does_not_hold_up_a_stop() {
        let server = running(Router::new(), limits(4, 60)).await;
        let _idle = TcpStream::connect(server.address()).await.unwrap();
        assert!(ask(server.address(), "/").await.starts_with("HTTP/1.1 404"));
        tokio::time::timeout(Duration::from_secs(5), server.stop()).await.unwrap();
    }

    /// Limits of a tenth of a second where a client can be slow.
    fn strict() -> Limits {
        let short = Duration::from_millis(100);
        Limits { header: short, idle: short, stall: short, ..limits(8, 30) }
    }

    /// An application with a large response, and one that reads its request.
    fn app() -> Router {
        let large = get(|| async { vec![b'x'; 64 << 20] });
        let read = axum::routing::post(|body: axum::body::Bytes| async move { body.len().to_string() });
        Router::new().route("/", get(|| async { "small" })).route("/large", large).route("/read", read)
    }

    async fn is_closed(stream: &mut TcpStream) -> bool {
        let mut rest = Vec::new();
        tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await.is_ok()
    }

    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    /// Streams may send nothing until the client says so.
    const NO_WINDOW: &[u8] = &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0];
    const PING: &[u8] = &[0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    /// `GET /` over HTTP on stream 1: `:method: GET`, `:scheme: http`, `:path: /`, `:authority: x`.
    const GET: &[u8] = &[0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x84, 0x01, 0x01, b'x'];

    #[tokio::test]
    async fn clients_that_send_too_little_are_closed() {
        let server = running(app(), strict()).await;
        let rows: [(&str, &[&[u8]]); 7] = [
            ("nothing", &[]),
            ("half of the preface of HTTP/2", &[b"PRI * HTTP"]),
            ("half of a head", &[b"GET / HTTP/1.1\r\nHo"]),
            ("half of a second head", &[b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HT"]),
            ("no second request", &[b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"]),
            ("half of a body", &[b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345"]),
            ("no request over HTTP/2", &[PREFACE, SETTINGS]),
        ];
        for (what, sent) in rows {
            let mut stream = TcpStream::connect(server.address()).await.unwrap();
            for bytes in sent {
                stream.write_all(bytes).await.unwrap();
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert!(is_closed(&mut stream).await, "{what}");
        }
        server.stop().await;
    }

    /// Sends `drip` over and over, and returns whether the server ends the connection.
    async fn ends_despite(server: &Running, begin: &[&[u8]], drip: &[u8]) -> bool {
        let stream = TcpStream::connect(server.address()).await.unwrap();
        let (mut input, mut output) = stream.into_split();
        for bytes in begin {
            output.write_all(bytes).await.unwrap();
        }
        let drip = drip.to_vec();
        let writer = tokio::spawn(async move {
            while output.write_all(&drip).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        let mut sink = [0; 1024];
        let closed = async { while input.read(&mut sink).await.is_ok_and(|n| n > 0) {} };
        let ended = tokio::time::timeout(Duration::from_secs(5), closed).await.is_ok();
        writer.abort();
        ended
    }

    #[tokio::test]
    async fn clients_that_only_look_alive_are_closed() {
        let server = running(app(), strict()).await;
        let post = b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n";
        let rows: [(&str, &[&[u8]], &[u8]); 4] = [
            ("a head byte by byte", &[b"GET / HTTP/1.1\r\nX: "], b"x"),
            ("a body byte by byte", &[post], b"x"),
            ("pings before a request", &[PREFACE, SETTINGS], PING),
            ("pings after a request", &[PREFACE, SETTINGS, GET], PING),
        ];
        for (what, begin, drip) in rows {
            assert!(ends_despite(&server, begin, drip).await, "{what}");
        }
        server.stop().await;
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_its_response_is_closed() {
        let (done, mut ended) = tokio::sync::mpsc::unbounded_channel::<()>();
        struct Guard(tokio::sync::mpsc::UnboundedSender<()>);
        impl Drop for Guard {
            fn drop(&mut self) {
                let _sent = self.0.send(());
            }
        }
        // A body that reports when the server has given it up.
        let endless = get(move || {
            let guard = Guard(done.clone());
            let chunks = futures_util::stream::repeat_with(move || {
                let _alive = &guard;
                Ok::<_, Infallible>(bytes::Bytes::from_static(&[b'x'; 1 << 14]))
            });
            async move { axum::body::Body::from_stream(chunks) }
        });
        let server = running(Router::new().route("/", endless), strict()).await;
        for begin in [&[b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".as_slice()] as &[&[u8]], &[PREFACE, NO_WINDOW, GET]] {
            let mut stream = TcpStream::connect(server.address()).await.unwrap();
            for bytes in begin {
                stream.write_all(bytes).await.unwrap();
            }
            tokio::time::timeout(Duration::from_secs(5), ended.recv()).await.expect("the response is given up");
        }
        server.stop().await;
    }

    #[tokio::test]
    async fn a_slow_client_that_makes_progress_is_served() {
        // Far less than the body takes; at a thousand bytes a second nobody is too slow.
        let server = running(app(), strict()).await;
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n").await.unwrap();
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_millis(40)).await;
            stream.write_all(&[b'x'; 100]).await.unwrap();
        }
        let mut response = vec![0; 12];
        stream.read_exact(&mut response).await.unwrap();
        assert_eq!(response, b"HTTP/1.1 200");
        server.stop().await;
    }

    #[tokio::test]
    async fn when_all_places_are_taken_the_longest_idle_makes_room() {
        let server = running(app(), Limits { connections_per_network: 2, ..limits(3, 60) }).await;
        let mut silent = Vec::new();
        for _ in 0..2 {
            silent.push(TcpStream::connect(server.address()).await.unwrap());
            tokio::time::sleep(IDLE).await;
        }
        assert!(ask(server.address(), "/").await.ends_with("small"), "the limit of a network");
        assert!(is_closed(&mut silent[0]).await, "the first has been idle for longest");
        let alive = async { silent[1].read_u8().await };
        assert!(tokio::time::timeout(IDLE, alive).await.is_err(), "the second is still open");
        server.stop().await;

        let server = running(app(), Limits { connections_per_network: 9, ..limits(2, 60) }).await;
        let mut first = TcpStream::connect(server.address()).await.unwrap();
        let _second = TcpStream::connect(server.address()).await.unwrap();
        tokio::time::sleep(IDLE).await;
        assert!(ask(server.address(), "/").await.ends_with("small"), "the limit of all");
        assert!(is_closed(&mut first).await);
        server.stop().await;
    }

    #[tokio::test]
    async fn idle_connections_that_have_served_requests_make_room() {
        let server = running(app(), Limits { connections_per_network: 9, ..limits(2, 60) }).await;
        let mut served = Vec::new();
        for _ in 0..2 {
            let mut stream = TcpStream::connect(server.address()).await.unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
            let mut response = Vec::new();
            while !response.ends_with(b"small") {
                assert_ne!(stream.read_buf(&mut response).await.unwrap(), 0);
            }
            served.push(stream);
        }
        let response = tokio::time::timeout(Duration::from_secs(5), ask(server.address(), "/")).await;
        assert!(response.expect("a new client gets a place").ends_with("small"));
        server.stop().await;
    }

    #[tokio::test]
    async fn requests_in_progress_do_not_make_room() {
        let begun = Arc::new(Notify::new());
        let notify = begun.clone();
        let endless = get(move || async move {
            notify.notify_one();
            std::future::pending::<()>().await;
        });
        let router = app().route("/endless", endless);
        let request = b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n";
        let one = Limits { connections_per_network: 1, shutdown: Duration::ZERO, ..limits(9, 60) };
        let server = running(router, one.clone()).await;
        let mut busy = TcpStream::connect(server.address()).await.unwrap();
        busy.write_all(request).await.unwrap();
        begun.notified().await;
        tokio::time::sleep(IDLE).await;
        let mut refused = TcpStream::connect(server.address()).await.unwrap();
        assert!(is_closed(&mut refused).await, "another of the same network");
        let alive = async { busy.read_u8().await };
        assert!(tokio::time::timeout(IDLE, alive).await.is_err(), "the request goes on");
        server.stop().await;

        // Trusted proxies speak for many clients.
        let trusted = Limits { trusted: vec!["127.0.0.0/8".parse().unwrap()], ..one };
        let server = running(app(), trusted).await;
        let _idle =
            [TcpStream::connect(server.address()).await.unwrap(), TcpStream::connect(server.address()).await.unwrap()];
        tokio::time::sleep(IDLE).await;
        assert!(ask(server.address(), "/").await.ends_with("small"));
        server.stop().await;
    }

    #[tokio::test]
    async fn handlers_see_the_address_of_the_peer() {
        let peer = get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.ip().to_string() });
        let server = running(Router::new().route("/", peer), limits(4, 5)).await;
        assert!(ask(server.address(), "/").await.ends_with("127.0.0.1"));
        server.stop().await;
    }

    #[tokio::test]
    async fn an_address_that_is_taken_is_told() {
        let first = bind("127.0.0.1:0").await.unwrap();
        let address = first.local_addr().unwrap().to_string();
        let message = bind(&address).await.unwrap_err().to_string();
        assert!(message.starts_with(&format!("cannot listen on {address}: ")), "{message}");
    }
}
