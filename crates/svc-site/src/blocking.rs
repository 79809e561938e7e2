//! Work that waits on files or on the network, away from the workers that serve requests.

use std::future::Future;

use svc_schema::Error;

use crate::errors as site_errors;

/// Runs `f` where waiting is allowed.
///
/// # Errors
/// 500 when `f` panics; the panic itself is logged by the process.
pub async fn blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(f).await.map_err(|error| {
        tracing::error!(%error, "work beside a request failed");
        Error::new("rest_internal_error", "The site could not do this. The failure has been logged.").with_status(500)
    })
}

/// Runs what blocks aside from the async workers.
///
/// # Errors
/// When it panics.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|e| site_errors::media::storage(&e))
}

/// Runs to its end whether or not the client waits for it, so that no file is left that nothing names.
///
/// # Errors
/// Its own; when it panics.
pub async fn settled<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    tokio::spawn(work).await.map_err(|e| site_errors::media::storage(&e))?
}
