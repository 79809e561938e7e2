//! Signals of the process: to stop, and to reload.

/// Resolves on SIGINT or SIGTERM. From the call on, they do not end the process by themselves.
///
/// # Panics
/// Outside of a Tokio runtime.
pub fn shutdown_signal() -> impl Future<Output = ()> + Send {
    #[cfg(unix)]
    let signals = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::interrupt()).and_then(|interrupt| Ok((interrupt, signal(SignalKind::terminate())?)))
    };
    async move {
        #[cfg(unix)]
        match signals {
            Ok((mut interrupt, mut terminate)) => tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            },
            Err(error) => {
                tracing::error!(%error, "cannot listen for signals: the process must be killed");
                std::future::pending().await
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// The SIGHUPs of the process.
#[derive(Debug)]
pub struct Hangups {
    #[cfg(unix)]
    signals: tokio::signal::unix::Signal,
}

/// Listens for SIGHUP. From the call on, it does not end the process. Call this before other threads are started, so that they receive a signal that
/// [`Handover::exec`](crate::Handover::exec) has delayed.
///
/// # Errors
/// If the system refuses it.
///
/// # Panics
/// Outside of a Tokio runtime.
pub fn hangups() -> std::io::Result<Hangups> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let signals = signal(SignalKind::hangup())?;
        crate::supervisor::unblock_hangup()?;
        Ok(Hangups { signals })
    }
    #[cfg(not(unix))]
    Ok(Hangups {})
}

impl Hangups {
    /// Waits for the next signal, for ever on systems without it. Several signals may be reported as one.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if self.signals.recv().await.is_some() {
            return;
        }
        std::future::pending().await
    }
}
