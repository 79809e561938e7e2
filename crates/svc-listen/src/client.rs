//! The client of a request: its IP address, and whether it uses TLS.

use std::net::IpAddr;

/// The client of a request. The middleware adds it to the extensions of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// IP address of the client: the socket's, or the one that a trusted proxy forwards.
    pub address: IpAddr,
    /// Whether the client reached the site over TLS: that of this server, or according to a trusted proxy.
    pub tls: bool,
}

/// Marks a request whose connection uses the TLS of this server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverTls;
