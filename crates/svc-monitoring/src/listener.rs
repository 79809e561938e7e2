//! The monitoring listener.

use std::{io, sync::Arc};

use axum::{
    Router,
    extract::State,
    response::{IntoResponse as _, Response},
    routing::get,
};
use http::{StatusCode, header};
use serde_json::json;
use svc_listen::{ConnectionLimits, Running, health};

use crate::{Checks, Metrics, MonitoringAddress};

/// The path of the metrics.
const METRICS: &str = "/metrics";

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 64;

/// The content type of the text format.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Why the listener could not be started. The message says what failed; `source` has the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MonitoringError {
    /// The address cannot be used.
    #[error("monitoring listener")]
    Listen(#[from] svc_listen::Error),
    /// The socket cannot be created.
    #[error("monitoring listener: cannot listen on {path}")]
    Socket {
        /// Path of the socket.
        path: String,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
}

/// A running monitoring listener. It stops when this is dropped.
pub struct MonitoringListener {
    kind: MonitoringSocket,
    shown: String,
    checks: Arc<Checks>,
}

enum MonitoringSocket {
    Tcp(Running),
    #[cfg(unix)]
    Unix(unix::Listening),
}

struct Answers {
    checks: Arc<Checks>,
    metrics: Arc<Metrics>,
}

impl MonitoringListener {
    /// Starts to listen. Logs a warning if other computers can reach the address.
    ///
    /// # Errors
    /// If the address is in use, not permitted, or cannot be resolved.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub async fn start(
        address: &MonitoringAddress,
        checks: Arc<Checks>,
        metrics: Metrics,
    ) -> Result<Self, MonitoringError> {
        // Every listener has the metrics of its own checks.
        let metrics = Arc::new(metrics.with(Arc::clone(&checks)));
        let router = router(Answers { checks: Arc::clone(&checks), metrics });
        let (kind, shown) = match address {
            MonitoringAddress::Tcp(address) => {
                let listener = svc_listen::bind(address).await?;
                let limits = ConnectionLimits {
                    body: 0,
                    connections: MAX_CONNECTIONS,
                    connections_per_network: MAX_CONNECTIONS,
                    ..ConnectionLimits::default()
                };
                let running = Running::start(listener, router, limits)?;
                let here = running.address();
                if !here.ip().is_loopback() {
                    tracing::warn!(
                        "the monitoring listener on {here} can be reached by other computers, and shows metrics to everybody: use a \
                         loopback address, a Unix socket or a firewall"
                    );
                }
                (MonitoringSocket::Tcp(running), MonitoringAddress::Tcp(here.to_string()).to_string())
            }
            #[cfg(unix)]
            MonitoringAddress::Unix(path) => {
                let failed = |cause| MonitoringError::Socket { path: path.display().to_string(), cause };
                (MonitoringSocket::Unix(unix::Listening::start(path, router).map_err(failed)?), address.to_string())
            }
            #[cfg(not(unix))]
            MonitoringAddress::Unix(path) => {
                let cause = io::Error::from(io::ErrorKind::Unsupported);
                return Err(MonitoringError::Socket { path: path.display().to_string(), cause });
            }
        };
        Ok(MonitoringListener { kind, shown, checks })
    }

    /// The address as text, with the port that the system has chosen: `http://127.0.0.1:9090`, or `unix:/path`.
    pub fn address(&self) -> &str {
        &self.shown
    }

    /// Records that the process is stopping: `/readyz` fails from now on.
    pub fn drain(&self) {
        self.checks.drain();
    }

    /// Stops to listen, after requests in progress.
    pub async fn stop(self) {
        match self.kind {
            MonitoringSocket::Tcp(running) => running.stop().await,
            #[cfg(unix)]
            MonitoringSocket::Unix(listening) => listening.stop().await,
        }
    }
}

fn router(answers: Answers) -> Router {
    Router::new()
        .route(health::ALIVE, get(|| async { health::response(StatusCode::OK, "ok\n") }))
        .route(health::READY, get(ready))
        .route(METRICS, get(metrics))
        .with_state(Arc::new(answers))
}

/// Whether the process can serve, and the reasons if it cannot.
async fn ready(State(answers): State<Arc<Answers>>) -> Response {
    let reasons = answers.checks.reasons().await;
    let (status, body) = match reasons.is_empty() {
        true => (StatusCode::OK, json!({ "status": "ready" })),
        false => (StatusCode::SERVICE_UNAVAILABLE, json!({ "status": "unavailable", "reasons": reasons })),
    };
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, format!("{body}\n")).into_response()
}

async fn metrics(State(answers): State<Arc<Answers>>) -> Response {
    let metrics = Arc::clone(&answers.metrics);
    // A source may read from a disk.
    let text = tokio::task::spawn_blocking(move || metrics.encode()).await;
    match text {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, TEXT)], text).into_response(),
        _ => health::response(StatusCode::INTERNAL_SERVER_ERROR, "the metrics cannot be read\n"),
    }
}

#[cfg(unix)]
mod unix {
    //! A Unix socket.

    use std::{
        io,
        os::unix::{fs::PermissionsExt as _, net::UnixStream},
        path::{Path, PathBuf},
    };

    use axum::Router;
    use tokio::{net::UnixListener, sync::oneshot, task::JoinHandle};

    /// Access for the owner and the group, in which a monitoring system can be.
    const MODE: u32 = 0o660;

    pub(super) struct Listening {
        path: PathBuf,
        /// Dropping this stops the task.
        stop: Option<oneshot::Sender<()>>,
        task: Option<JoinHandle<()>>,
    }

    impl Listening {
        pub(super) fn start(path: &Path, router: Router) -> io::Result<Self> {
            remove_stale(path)?;
            let listener = UnixListener::bind(path)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(MODE))?;
            let (stop, stopped) = oneshot::channel::<()>();
            let task = tokio::spawn(async move {
                let serving = axum::serve(listener, router).with_graceful_shutdown(async move { drop(stopped.await) });
                if let Err(error) = serving.await {
                    tracing::error!(%error, "the monitoring listener ended early");
                }
            });
            Ok(Listening { path: path.to_owned(), stop: Some(stop), task: Some(task) })
        }

        pub(super) async fn stop(mut self) {
            self.stop.take();
            if let Some(task) = self.task.take() {
                // A client that keeps its connection open does not delay the stop.
                let abort = task.abort_handle();
                drop(tokio::time::timeout(std::time::Duration::from_secs(1), task).await);
                abort.abort();
            }
        }
    }

    impl Drop for Listening {
        fn drop(&mut self) {
            drop(std::fs::remove_file(&self.path));
        }
    }

    /// Removes the socket of a process that has ended.
    fn remove_stale(path: &Path) -> io::Result<()> {
        match UnixStream::connect(path) {
            Ok(_) => Err(io::Error::from(io::ErrorKind::AddrInUse)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
            Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Process;

    fn answers() -> (Arc<Checks>, Metrics) {
        (Arc::new(Checks::new(".", || Ok(()))), Metrics::default().with(Process::new("1.2.3", "none")))
    }

    fn exchange(mut stream: impl io::Read + io::Write, path: &str) -> String {
        stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn answers_over_tcp() {
        let (checks, metrics) = answers();
        let monitoring = MonitoringListener::start(&"127.0.0.1:0".parse().unwrap(), checks, metrics).await.unwrap();
        let here = monitoring.address().strip_prefix("http://").unwrap().to_owned();
        let get = |path: &str| exchange(std::net::TcpStream::connect(&here).unwrap(), path);
        assert!(get("/healthz").starts_with("HTTP/1.0 200"));
        let ready = get("/readyz");
        assert!(ready.starts_with("HTTP/1.0 200") && ready.ends_with("{\"status\":\"ready\"}\n"), "{ready}");
        monitoring.drain();
        let draining = get("/readyz");
        assert!(draining.starts_with("HTTP/1.0 503"), "{draining}");
        assert!(draining.ends_with("\"reasons\":[\"the server is stopping\"]}\n"), "{draining}");
        assert!(get("/healthz").starts_with("HTTP/1.0 200"), "a process that is stopping is alive");
        assert!(get("/metrics").contains(r#"svc_build_info{version="1.2.3",database="none"} 1"#));
        assert!(get("/").starts_with("HTTP/1.0 404"));
        monitoring.stop().await;
        assert!(std::net::TcpStream::connect(&here).is_err());
    }

    #[cfg(unix)]
    #[tokio::test(flavor = "multi_thread")]
    async fn answers_on_a_unix_socket() {
        use std::os::unix::net::UnixStream;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("monitoring.sock");
        // As a killed process leaves it.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let address: MonitoringAddress = format!("unix:{}", path.display()).parse().unwrap();
        let (checks, metrics) = answers();
        let monitoring = MonitoringListener::start(&address, checks, metrics).await.unwrap();
        let metrics = exchange(UnixStream::connect(&path).unwrap(), "/metrics");
        assert!(metrics.starts_with("HTTP/1.0 200") && metrics.contains("svc_build_info"), "{metrics}");
        let (checks, metrics) = answers();
        assert!(MonitoringListener::start(&address, checks, metrics).await.is_err(), "the socket is in use");
        monitoring.stop().await;
        assert!(!path.exists(), "the socket is removed");
    }
}
