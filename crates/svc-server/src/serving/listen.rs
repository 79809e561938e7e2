//! The accept loop: a bounded number of connections, time limits on request heads, and a shutdown that lets requests
//! under way finish.

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, extract::ConnectInfo};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore, sync::oneshot, task::JoinHandle};
use tower::ServiceExt;

use crate::{
    config::Limits,
    error::{Error, Result},
};

/// Most bytes of request heads that are buffered per connection.
const HEAD_LIMIT: usize = 64 << 10;

/// How long the loop pauses when the system has no more sockets to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Takes the address.
///
/// # Errors
/// When the address is taken, not allowed, or not known.
pub async fn bind(listen: &str) -> Result<TcpListener> {
    TcpListener::bind(listen).await.map_err(Error::io(format!("cannot listen on {listen}")))
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

    /// Accepts no more, waits for requests under way as long as the limits allow, and returns.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        if let Err(error) = self.task.await {
            tracing::error!("the accept loop ended early: {error}");
        }
    }
}

/// Accepts and serves connections until `stop` is ready, then lets requests under way finish for at most
/// `limits.shutdown`.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.header).max_buf_size(HEAD_LIMIT);
    builder.http2().timer(TokioTimer::new()).max_header_list_size(HEAD_LIMIT as u32).keep_alive_interval(limits.header);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(limits.connections));
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, peer, place)) = accepted else { continue };
        // A small answer should not wait for a full packet.
        drop(stream.set_nodelay(true));
        let service = router.clone().map_request(move |mut request: http::Request<hyper::body::Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            request.map(axum::body::Body::new)
        });
        let connection = builder
            .serve_connection_with_upgrades(TokioIo::new(stream), TowerToHyperService::new(service))
            .into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("connection with {peer}: {error}");
            }
            drop(place);
        });
    }
    drop(listener);
    let under_way = graceful.count();
    if tokio::time::timeout(limits.shutdown, graceful.shutdown()).await.is_err() {
        tracing::warn!("stopped with requests under way after {:?} ({under_way} connections)", limits.shutdown);
    }
}

type Accepted = (tokio::net::TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit);

/// The next connection, once there is a place for it; `None` when the system refused one.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<Accepted> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer, place)),
        Err(error) => {
            // Out of descriptors, or a client that left at once: neither is a reason to stop.
            tracing::warn!("cannot accept a connection: {error}");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

/// Ready when the system asks the process to stop (SIGINT or SIGTERM).
pub(crate) async fn asked_to_stop() {
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

    fn limits(connections: usize, seconds: u64) -> Limits {
        let time = Duration::from_secs(seconds);
        Limits { body: 1024, connections, header: time, request: time, shutdown: time }
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
