//! What a supervisor such as systemd passes to the process and learns from it: an inherited socket, and when the process is ready
//! (`sd_listen_fds(3)`, `sd_notify(3)`). Without a supervisor, these functions do nothing.

use tokio::net::TcpListener;

use crate::error::{Error, Result};

/// The listening socket that the supervisor has passed to the process, if there is one. Call this once.
///
/// # Errors
/// If what was passed is no TCP socket, or it cannot be used.
#[cfg(unix)]
pub(crate) fn inherited() -> Result<Option<TcpListener>> {
    let Some(listener) = listenfd::ListenFd::from_env().take_tcp_listener(0).map_err(Error::Inherited)? else {
        return Ok(None);
    };
    listener.set_nonblocking(true).map_err(Error::Inherited)?;
    TcpListener::from_std(listener).map(Some).map_err(Error::Inherited)
}

/// Other systems pass no sockets.
#[cfg(not(unix))]
pub(crate) fn inherited() -> Result<Option<TcpListener>> {
    Ok(None)
}

/// Tells the supervisor that the process serves requests.
pub fn notify_ready() {
    #[cfg(unix)]
    notify(sd_notify::NotifyState::Ready);
}

/// Tells the supervisor that the process is stopping.
pub fn notify_stopping() {
    #[cfg(unix)]
    notify(sd_notify::NotifyState::Stopping);
}

#[cfg(unix)]
fn notify(state: sd_notify::NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "cannot notify the supervisor");
    }
}
