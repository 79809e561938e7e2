//! What a supervisor such as systemd passes to the process and learns from it: inherited sockets, and when the process is ready
//! (`sd_listen_fds(3)`, `sd_notify(3)`). A process that restarts in place passes its sockets on in the same way.
//!
//! Without a supervisor, the notifications do nothing.

use std::{io, process::Command, time::Duration};

use tokio::net::TcpListener;

use crate::{bind::bind, error::Result};

/// The sockets that a server listens on.
#[derive(Debug)]
pub struct Sockets {
    /// The socket of the server itself.
    pub main: TcpListener,
    /// The socket for redirects to HTTPS, if there is one.
    pub redirect: Option<TcpListener>,
    /// Duplicates of both, for a restart.
    pub handover: Handover,
}

/// Listening sockets that the next program of this process gets. Connections wait in their queues as long as this exists.
#[derive(Debug, Default)]
pub struct Handover {
    #[cfg(unix)]
    sockets: Vec<unix::Passed>,
}

impl Sockets {
    /// Takes the sockets that were passed to the process (`LISTEN_FDS`), the first for `listen` and the second for `redirect`, and binds those
    /// that are missing. Call this once.
    ///
    /// A socket of a supervisor is used whatever the address is. One that was handed over by [`Handover::exec`] is closed if it is not bound
    /// to the address.
    ///
    /// # Errors
    /// Those of [`bind`], or if a socket that was passed cannot be used.
    #[cfg(unix)]
    pub async fn open(listen: &str, redirect: Option<&str>) -> Result<Self> {
        let [first, second] = unix::passed()?;
        let (main, kept) = unix::listen(first, listen, "listen").await?;
        let mut sockets = vec![kept];
        let redirect = match (redirect, second) {
            (Some(address), second) => {
                let (listener, kept) = unix::listen(second, address, "tls.redirect").await?;
                sockets.push(kept);
                Some(listener)
            }
            (None, Some(unused)) if !unused.is_handed_over() => {
                tracing::warn!(
                    "the second socket that the supervisor has passed is not used: `tls.redirect` is not set"
                );
                sockets.push(unused);
                None
            }
            (None, _) => None,
        };
        Ok(Sockets { main, redirect, handover: Handover { sockets } })
    }

    /// Binds the addresses: other systems pass no sockets.
    ///
    /// # Errors
    /// Those of [`bind`].
    #[cfg(not(unix))]
    pub async fn open(listen: &str, redirect: Option<&str>) -> Result<Self> {
        let main = bind(listen).await?;
        let redirect = match redirect {
            Some(address) => Some(bind(address).await?),
            None => None,
        };
        Ok(Sockets { main, redirect, handover: Handover::default() })
    }
}

impl Handover {
    /// Replaces the program of this process by a command, which [`Sockets::open`] gives the sockets. The process id stays the same.
    ///
    /// SIGHUP is delayed until the new program calls [`hangups`](crate::hangups). Returns only if the program cannot be started. The process must then
    /// end, since some of its descriptors may have been replaced.
    #[cfg(unix)]
    pub fn exec(self, command: Command) -> io::Error {
        unix::exec(self.sockets, command)
    }

    /// Other systems cannot replace the program of a process.
    #[cfg(not(unix))]
    pub fn exec(self, _: Command) -> io::Error {
        io::ErrorKind::Unsupported.into()
    }
}

/// Tells the supervisor that the process serves requests.
pub fn notify_ready() {
    #[cfg(unix)]
    unix::notify(&[sd_notify::NotifyState::Ready]);
}

/// Asks the supervisor to wait for the next notification for this time, while the process starts.
pub fn notify_longer_start(time: Duration) {
    #[cfg(unix)]
    {
        let microseconds = u32::try_from(time.as_micros()).unwrap_or(u32::MAX);
        unix::notify(&[sd_notify::NotifyState::ExtendTimeoutUsec(microseconds)]);
    }
    #[cfg(not(unix))]
    let _ = time;
}

/// Tells the supervisor that the process is stopping.
pub fn notify_stopping() {
    #[cfg(unix)]
    unix::notify(&[sd_notify::NotifyState::Stopping]);
}

/// Tells the supervisor that the process restarts in place. [`notify_ready`] ends that.
pub fn notify_reloading() {
    #[cfg(unix)]
    match sd_notify::NotifyState::monotonic_usec_now() {
        Ok(now) => unix::notify(&[sd_notify::NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(%error, "cannot notify the supervisor"),
    }
}

#[cfg(unix)]
mod unix {
    use std::{
        io,
        net::{SocketAddr, TcpListener as Socket},
        os::{
            fd::{AsFd as _, OwnedFd},
            unix::process::CommandExt as _,
        },
        process::Command,
    };

    use command_fds::{CommandFdExt as _, FdMapping};
    use listenfd::ListenFd;
    use nix::sys::signal::{SigSet, Signal};
    use tokio::net::TcpListener;

    use super::bind;
    use crate::error::{Error, Result};

    /// Number of the first descriptor that is passed (`SD_LISTEN_FDS_START`).
    const FIRST_DESCRIPTOR: i32 = 3;

    /// Name in `LISTEN_FDNAMES` of a socket that a previous program of this process has bound.
    const HANDED_OVER: &str = "svc-listen-handed-over";

    /// Name of a socket that a supervisor has passed without a name.
    const UNNAMED: &str = "unknown";

    /// A listening socket that was passed to the process, or will be to its next program.
    #[derive(Debug)]
    pub(super) struct Passed {
        socket: Socket,
        name: String,
    }

    impl Passed {
        /// Whether this server has bound the socket, and not a supervisor.
        pub(super) fn is_handed_over(&self) -> bool {
            self.name == HANDED_OVER
        }
    }

    /// The first two sockets that were passed to the process.
    pub(super) fn passed() -> Result<[Option<Passed>; 2]> {
        let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
        let mut names = names.split(':');
        let mut descriptors = ListenFd::from_env();
        let mut next = |idx| -> Result<Option<Passed>> {
            let name = names.next().filter(|name| !name.is_empty()).unwrap_or(UNNAMED).to_owned();
            let socket = descriptors.take_tcp_listener(idx).map_err(Error::Inherited)?;
            Ok(socket.map(|socket| Passed { socket, name }))
        };
        Ok([next(0)?, next(1)?])
    }

    /// The listener for an address, and a duplicate for a restart.
    pub(super) async fn listen(passed: Option<Passed>, address: &str, setting: &str) -> Result<(TcpListener, Passed)> {
        let usable = match passed {
            // Closed before the address is bound, which may be the same port of all interfaces.
            Some(passed) if passed.is_handed_over() && !is_bound_to(&passed.socket, address).await => None,
            passed => passed,
        };
        let Some(passed) = usable else {
            let listener = bind(address).await?;
            let duplicate = listener.as_fd().try_clone_to_owned().map_err(Error::Address)?;
            return Ok((listener, Passed { socket: duplicate.into(), name: HANDED_OVER.to_owned() }));
        };
        if !passed.is_handed_over() {
            tracing::info!("listening on the socket that the supervisor has passed; `{setting}` has no effect");
        }
        let listener = passed.socket.try_clone().map_err(Error::Inherited)?;
        listener.set_nonblocking(true).map_err(Error::Inherited)?;
        Ok((TcpListener::from_std(listener).map_err(Error::Inherited)?, passed))
    }

    /// Whether an address, or one of a host name, is that of the socket. Port 0 is any port.
    async fn is_bound_to(socket: &Socket, address: &str) -> bool {
        let (Ok(bound), Ok(mut addresses)) = (socket.local_addr(), tokio::net::lookup_host(address).await) else {
            return false;
        };
        let is_same = |wanted: SocketAddr| wanted.ip() == bound.ip() && [0, bound.port()].contains(&wanted.port());
        addresses.any(is_same)
    }

    pub(super) fn exec(sockets: Vec<Passed>, mut command: Command) -> io::Error {
        let names: Vec<&str> = sockets.iter().map(|passed| passed.name.as_str()).collect();
        command
            .env("LISTEN_FDNAMES", names.join(":"))
            .env("LISTEN_FDS", sockets.len().to_string())
            .env("LISTEN_PID", std::process::id().to_string())
            .env_remove("LISTEN_FDS_FIRST_FD");
        let parents = sockets.into_iter().map(|passed| OwnedFd::from(passed.socket));
        let mappings = parents.zip(FIRST_DESCRIPTOR..).map(|(parent_fd, child_fd)| FdMapping { parent_fd, child_fd });
        if let Err(error) = command.fd_mappings(mappings.collect()) {
            return io::Error::other(error);
        }
        // The new program inherits the mask. Without it, a signal that comes before the program expects it would end the process.
        match hangup().thread_block() {
            Ok(()) => command.exec(),
            Err(error) => error.into(),
        }
    }

    /// Lets the calling thread, and those that it starts, receive SIGHUP.
    pub(crate) fn unblock_hangup() -> io::Result<()> {
        Ok(hangup().thread_unblock()?)
    }

    fn hangup() -> SigSet {
        Signal::SIGHUP.into()
    }

    pub(super) fn notify(states: &[sd_notify::NotifyState<'_>]) {
        if let Err(error) = sd_notify::notify(states) {
            tracing::warn!(%error, "cannot notify the supervisor");
        }
    }
}
#[cfg(unix)]
pub(crate) use unix::unblock_hangup;
