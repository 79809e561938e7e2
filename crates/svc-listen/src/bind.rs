//! Binds listening sockets.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

use crate::error::{Error, Result};

/// Length of the system's queue of connections. If a burst overflows it, clients retry after a second.
const BACKLOG: u32 = 4_096;

/// Binds a socket address or host name.
///
/// # Errors
/// If the address is in use, not permitted, or cannot be resolved.
pub async fn bind(listen: &str) -> Result<TcpListener> {
    let failed = |cause| Error::Bind { address: listen.to_owned(), cause };
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
    for address in tokio::net::lookup_host(listen).await.map_err(failed)? {
        match bind_to(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

fn bind_to(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Allows a restart while connections of the previous process are closing. The option has another meaning on other systems.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
