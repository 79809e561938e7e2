//! Work that waits on files or on the network, away from the workers that serve requests.

use svc_schema::Error;

/// Runs `f` where waiting is allowed.
///
/// # Errors
/// 500 when `f` panics; the panic itself is logged by the process.
pub(crate) async fn blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(f).await.map_err(|error| {
        tracing::error!(%error, "work beside a request failed");
        Error::new("rest_internal_error", "The site could not do this. The failure has been logged.").with_status(500)
    })
}
