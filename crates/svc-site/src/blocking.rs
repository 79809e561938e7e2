//! Runs file and network work outside the async workers.

use std::future::Future;

use svc_schema::Error;

use crate::errors as site_errors;

/// Runs `f` on a thread that may block.
///
/// # Errors
/// 500 if `f` panics; the process logs the panic.
pub async fn blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(f).await.map_err(|error| {
        tracing::error!(%error, "a blocking task failed");
        Error::new("rest_internal_error", "The site could not do this. The failure has been logged.").with_status(500)
    })
}

/// Runs blocking work outside the async workers.
///
/// # Errors
/// 500 if the work panics.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|e| site_errors::media::storage(&e))
}

/// Runs a future to completion even if the client disconnects, so that no orphaned files are left.
///
/// # Errors
/// Errors of the future; 500 if it panics.
pub async fn settled<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    tokio::spawn(work).await.map_err(|e| site_errors::media::storage(&e))?
}
