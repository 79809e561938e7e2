//! The client of a request: its IP address, and whether it uses TLS.

use std::net::IpAddr;

/// Request header with the client's IP address. The server that runs these routers must set it, and remove values that clients
/// send themselves; it is what [`Client::address`] is in requests of the REST API.
pub const FORWARDED_FOR: &str = "x-forwarded-for";

/// The client of a request. The server that runs these routers adds it to the extensions of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// IP address of the client: the socket's, or the one that a trusted proxy forwards.
    pub address: IpAddr,
    /// Whether the client reached the site over TLS, according to a trusted proxy.
    pub tls: bool,
}

/// The network of one client: an IPv4 address, or the /64 of an IPv6 address, which is usually assigned as a whole.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 => v4,
    }
}
