//! Limits on requests and connections.

use std::time::Duration;

use crate::network::Network;

/// Limits on requests and connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Maximum size of a request body in bytes.
    pub body: u64,
    /// Maximum number of connections.
    pub connections: usize,
    /// Maximum number of connections of one client network (an IPv4 address, or an IPv6 /64).
    pub connections_per_network: usize,
    /// Time limit for the first request, and for the head of each further one.
    pub header: Duration,
    /// Time after which a connection without a request is closed.
    pub idle: Duration,
    /// Maximum time that a client may be behind in sending a body or reading a response.
    pub stall: Duration,
    /// Time limit for a response.
    pub request: Duration,
    /// Time limit for requests in progress on shutdown.
    pub shutdown: Duration,
    /// Trusted proxies: networks without a limit per network, whose forwarding headers are used.
    pub trusted: Vec<Network>,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits {
            body: 64 << 20,
            connections: 1_024,
            connections_per_network: 256,
            header: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            stall: Duration::from_secs(20),
            request: Duration::from_secs(60),
            shutdown: Duration::from_secs(10),
            trusted: Vec::new(),
        }
    }
}
