//! The accept loop, with graceful shutdown.

use std::{convert::Infallible, future::Future, net::SocketAddr, pin::Pin, sync::Arc, task::Poll, time::Duration};

use axum::{body::Body, extract::ConnectInfo};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::conn::auto::{Builder, UpgradeableConnection},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{oneshot, watch},
    task::JoinHandle,
};
use tower::{Service, ServiceExt};

use crate::{
    activity::{Activity, CLOSE_TIME, Close, RequestBody, ResponseBody, Socket},
    client::OverTls,
    connections::{Admission, Connections, Slot},
    error::{Error, Result},
    event_stream::{Detachable, Takeover},
    in_flight::{Connected, InFlight, StreamExecutor},
    limits::ConnectionLimits,
    log::Seldom,
    tls::{self, Listener, Stream},
};

/// Maximum size of a request head in bytes.
const HEAD_LIMIT: usize = 64 << 10;

/// Maximum number of concurrent requests of an HTTP/2 connection.
const MAX_STREAMS: u32 = 100;

/// Number of bytes that an HTTP/2 client may send of one body before the server has read them. The protocol's default of 64 KiB
/// limits an upload over a distance of 100 ms to 640 KB per second.
const STREAM_WINDOW: u32 = 512 << 10;

/// The same for all bodies of a connection; also a limit on its memory.
const CONNECTION_WINDOW: u32 = 1 << 20;

/// Maximum number of bytes of a response that are buffered for a stream of HTTP/2.
const SEND_BUFFER: usize = 128 << 10;

/// Maximum number of unsent bytes that the system buffers per connection. Otherwise it would buffer megabytes for a client that does
/// not read, and many such clients would keep the server busy with copying.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSENT: u32 = 32 << 10;

/// Pause of the loop if the system has no more sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Interval of log lines about failed accepts.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// Sets socket options. Errors are ignored, since a connection works without them.
fn set_options(stream: &TcpStream) {
    // Small responses must not wait for a full packet.
    drop(stream.set_nodelay(true));
    #[cfg(any(target_os = "linux", target_os = "android"))]
    drop(socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT));
}

/// A server that runs in the background until it is stopped or dropped.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Running {
    /// Starts to serve requests with this service, such as a router.
    ///
    /// # Errors
    /// If the listener's address cannot be read.
    pub fn start(listener: impl Into<Listener>, service: impl App, limits: ConnectionLimits) -> Result<Self> {
        let listener = listener.into();
        let address = listener.tcp.local_addr().map_err(Error::Address)?;
        let (stop, stopped) = oneshot::channel();
        // Dropping the sender stops the server, too.
        let task = tokio::spawn(serve(listener, service, limits, InFlight::new(), async move {
            drop(stopped.await);
        }));
        Ok(Running { address, stop: Some(stop), task })
    }

    /// The listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the server. Waits for requests in progress, within the limits.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        if let Err(error) = self.task.await {
            tracing::error!("the accept loop ended early: {error}");
        }
    }
}

/// A service that responds to requests: a router, or the result of [`middleware_stack`](crate::middleware_stack).
pub trait App:
    Service<
        http::Request<Body>,
        Response = http::Response<Body>,
        Error = Infallible,
        Future: Future<Output = std::result::Result<http::Response<Body>, Infallible>> + Send + 'static,
    > + Clone
    + Send
    + 'static
{
}

impl<S> App for S where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible, Future: Send + 'static>
        + Clone
        + Send
        + 'static
{
}

/// Accepts and serves connections until `stop` is ready, then lets requests in progress finish for at most
/// `limits.shutdown`. Connections that have just been accepted may send their first request within a second. `requests` counts them.
pub async fn serve(
    listener: impl Into<Listener>,
    app: impl App,
    limits: ConnectionLimits,
    requests: InFlight,
    stop: impl Future<Output = ()>,
) {
    let Listener { tcp: listener, tls } = listener.into();
    let mut builder = Builder::new(requests.executor());
    // The sweep below closes slow and idle connections, including those without a request.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(HEAD_LIMIT);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEAD_LIMIT as u32)
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(limits.header)
        .keep_alive_timeout(limits.header);
    let grace = limits.shutdown;
    let connections = Connections::new(limits);
    let (stopping, stopped) = watch::channel(());
    let mut sweep = std::pin::pin!(connections.sweep());
    let mut stop = std::pin::pin!(stop);
    let refused = Seldom::every(REPORT_EVERY);
    {
        let mut next = std::pin::pin!(accept(&listener, &connections, &refused));
        loop {
            let (stream, peer, slot) = tokio::select! {
                () = &mut stop => break,
                () = &mut sweep => break,
                accepted = &mut next => accepted,
            };
            next.set(accept(&listener, &connections, &refused));
            set_options(&stream);
            let activity = Arc::clone(&slot.activity);
            let takeover = Arc::<Takeover>::default();
            let parts = (Arc::clone(&activity), Arc::clone(&takeover));
            let service = service(app.clone(), peer, tls.is_some(), parts, requests.clone());
            let socket = Socket::new(stream, activity);
            let (connected, stopped) = (requests.connect(), stopped.clone());
            let Some(acceptor) = tls.clone() else {
                let io = TokioIo::new(Detachable::new(Stream::Plain(socket), Arc::clone(&takeover)));
                // Allocated, because the task would hold it twice: as its argument, and where it is polled.
                let connection = Box::pin(builder.serve_connection_with_upgrades(io, service).into_owned());
                tokio::spawn(serve_connection(connection, takeover, slot, connected, peer, stopped));
                continue;
            };
            let builder = builder.clone();
            tokio::spawn(async move {
                let stream = tls::accept(acceptor, socket, &slot.activity, peer, stopped.clone()).await;
                let Some(stream) = stream else {
                    return;
                };
                let io = TokioIo::new(Detachable::new(Stream::Tls(stream), Arc::clone(&takeover)));
                let connection = Box::pin(builder.serve_connection_with_upgrades(io, service).into_owned());
                serve_connection(connection, takeover, slot, connected, peer, stopped).await;
            });
        }
    }
    drop((listener, stopped));
    let n_busy = connections.n_busy();
    // Fails only if there are no connections.
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
        // Wait until the connections have ended.
        drop(tokio::time::timeout(CLOSE_TIME, stopping.closed()).await);
    }
}

/// Adds the peer's address and TLS to the requests of a connection, and counts them as in progress until the response is written.
fn service(
    app: impl App,
    peer: SocketAddr,
    is_tls: bool,
    (activity, takeover): (Arc<Activity>, Arc<Takeover>),
    requests: InFlight,
) -> impl hyper::service::Service<
    http::Request<Incoming>,
    Response = http::Response<ResponseBody>,
    Error = Infallible,
    Future: Send + 'static,
> + Send {
    hyper::service::service_fn(move |request: http::Request<Incoming>| {
        let version = request.version();
        let in_progress = activity.begin_request(version);
        let activity = Arc::clone(&activity);
        // With a body, the rest of it may still have to be read.
        let takeover = request.body().is_end_stream().then(|| Arc::clone(&takeover));
        let mut request = request.map(|body| match body.is_end_stream() {
            true => Body::empty(),
            false => Body::new(RequestBody::new(body, activity)),
        });
        request.extensions_mut().insert(ConnectInfo(peer));
        if is_tls {
            request.extensions_mut().insert(OverTls);
        }
        // Allocated until the response, because a connection keeps the memory of its service's future as long as it is open.
        let response = Box::pin(app.clone().oneshot(request));
        let requests = requests.clone();
        async move {
            let mut response = requests.run(response).await?;
            if let Some(takeover) = takeover {
                response = takeover.watch(version, response);
            }
            Ok(response.map(|body| ResponseBody::new(body, in_progress, version)))
        }
    })
}

/// Serves a connection until the client, the server or the limits end it.
async fn serve_connection<S>(
    mut connection: Pin<Box<UpgradeableConnection<'static, TokioIo<Detachable>, S, StreamExecutor>>>,
    takeover: Arc<Takeover>,
    slot: Slot,
    _connected: Connected,
    peer: SocketAddr,
    mut stopped: watch::Receiver<()>,
) where
    S: hyper::service::Service<http::Request<Incoming>, Response = http::Response<ResponseBody>, Error = Infallible>,
    S::Future: Send + 'static,
{
    let activity = Arc::clone(&slot.activity);
    let mut is_stopping = false;
    loop {
        tokio::select! {
            biased;
            ended = ended_or_due(connection.as_mut(), &takeover) => {
                let result = match ended {
                    Some(result) => result,
                    None => send_events(connection, &takeover, &activity).await,
                };
                if let Err(error) = result {
                    tracing::debug!("connection with {peer}: {error}");
                }
                return;
            }
            how = activity.close_requested() => {
                if how == Close::Gracefully {
                    connection.as_mut().graceful_shutdown();
                    drop(tokio::time::timeout(CLOSE_TIME, connection).await);
                }
                return;
            }
            () = activity.until_stop(&mut stopped), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Polls a connection until it ends, or until its event stream is due to be taken over, which is `None`.
fn ended_or_due<C: Future>(
    mut connection: Pin<&mut C>,
    takeover: &Takeover,
) -> impl Future<Output = Option<C::Output>> {
    std::future::poll_fn(move |context| match connection.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending if takeover.is_due() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
}

/// Sends the events of a stream in place of its connection. They end when the service ends them, or with the limits.
async fn send_events(
    connection: impl Sized,
    takeover: &Takeover,
    activity: &Arc<Activity>,
) -> std::result::Result<(), axum::BoxError> {
    // The connection counts the request only until it is dropped.
    let _in_progress = activity.begin_request(http::Version::HTTP_11);
    let Some(events) = takeover.take(connection) else { return Ok(()) };
    tokio::select! {
        biased;
        _how = activity.close_requested() => Ok(()),
        result = Box::pin(events.send()) => result,
    }
}

/// Accepts the next connection within the limits.
async fn accept(
    listener: &TcpListener,
    connections: &Arc<Connections>,
    refused: &Seldom,
) -> (TcpStream, SocketAddr, Slot) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of descriptors, or the client has already disconnected.
                if let Some(n) = refused.report() {
                    tracing::warn!("cannot accept a connection ({n} times): {error}");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        loop {
            match connections.admit(peer.ip()) {
                Admission::Admitted(slot) => return (stream, peer, slot),
                Admission::NetworkFull => break,
                // Further connections wait in the system's queue.
                Admission::Full => connections.changed().await,
            }
        }
    }
}
