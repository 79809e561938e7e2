//! The service of the site that is served. It can be replaced while connections are open.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use arc_swap::ArcSwap;
use axum::body::Body;
use svc_listen::App;
use tokio::sync::watch;
use tower::{Service, ServiceExt as _};

/// A service that passes each request to the service that is current when it arrives. Clones share it.
pub(super) struct Current<A>(Arc<ArcSwap<Serving<A>>>);

struct Serving<A> {
    app: A,
    /// Is dropped when the service is replaced and its last request has ended.
    _in_use: watch::Receiver<()>,
}

/// The requests of one of the services.
pub(super) struct Requests(watch::Sender<()>);

impl Requests {
    /// Waits until the service was replaced and its requests have ended.
    pub(super) async fn end(self) {
        self.0.closed().await;
    }
}

impl<A: App + Sync> Current<A> {
    /// Serves requests with this service first.
    pub(super) fn new(app: A) -> (Self, Requests) {
        let (serving, requests) = serving(app);
        (Current(Arc::new(ArcSwap::from_pointee(serving))), requests)
    }

    /// Serves later requests with another service, also those on open connections.
    pub(super) fn replace(&self, app: A) -> Requests {
        let (serving, requests) = serving(app);
        self.0.store(Arc::new(serving));
        requests
    }
}

fn serving<A>(app: A) -> (Serving<A>, Requests) {
    let (requests, in_use) = watch::channel(());
    (Serving { app, _in_use: in_use }, Requests(requests))
}

impl<A> Clone for Current<A> {
    fn clone(&self) -> Self {
        Current(Arc::clone(&self.0))
    }
}

impl<A: App + Sync> Service<http::Request<Body>> for Current<A> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let serving = self.0.load_full();
        Box::pin(async move { serving.app.clone().oneshot(request).await })
    }
}

#[cfg(test)]
mod tests {
    use axum::{Router, routing::get};
    use svc_listen::{InFlight, Limits};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
        sync::{Notify, oneshot},
    };

    use super::*;

    /// Sends a request on an open connection and returns the last byte of the response.
    async fn ask(connection: &mut TcpStream, path: &str) -> u8 {
        connection.write_all(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).await.unwrap();
        answer(connection).await
    }

    async fn answer(connection: &mut TcpStream) -> u8 {
        let mut read = Vec::new();
        while !read.windows(4).any(|end| end == b"\r\n\r\n") || read.ends_with(b"\r\n\r\n") {
            assert_ne!(connection.read_buf(&mut read).await.unwrap(), 0, "closed: {}", String::from_utf8_lossy(&read));
        }
        *read.last().unwrap()
    }

    #[tokio::test]
    async fn connections_outlive_the_service_and_its_requests_are_answered() {
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let app = |name: &'static str| {
            let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
            let slow = move || {
                let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
                async move {
                    begun.notify_one();
                    go_on.notified().await;
                    name
                }
            };
            Router::new().route("/", get(move || async move { name })).route("/slow", get(slow))
        };
        let (current, first) = Current::new(app("1"));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move { drop(stopped.await) };
        let serving =
            tokio::spawn(svc_listen::serve(listener, current.clone(), Limits::default(), InFlight::new(), stopped));
        let mut idle = TcpStream::connect(address).await.unwrap();
        let mut busy = TcpStream::connect(address).await.unwrap();
        assert_eq!(ask(&mut idle, "/").await, b'1');
        busy.write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        begun.notified().await;

        let _second = current.replace(app("2"));
        assert_eq!(ask(&mut idle, "/").await, b'2', "the connection is still open");
        let mut end = std::pin::pin!(first.end());
        assert!(futures_util::poll!(&mut end).is_pending(), "a request is in progress");
        go_on.notify_one();
        assert_eq!(answer(&mut busy).await, b'1');
        end.await;
        assert_eq!(ask(&mut busy, "/").await, b'2');
        drop((idle, busy));
        drop(stop);
        serving.await.unwrap();
    }
}
