//! Who asks: the peer of the connection, or whom a trusted proxy speaks for.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderMap, HeaderValue};
use svc_login::{Client, FORWARDED_FOR};

use crate::config::Network;

/// How many hops of a forwarding header are looked at; a longer one is cut.
const MOST_HOPS: usize = 32;

/// The proxies whose forwarding headers are believed.
#[derive(Clone, Debug, Default)]
pub struct Forwarding {
    trusted: Arc<[Network]>,
    /// A header of another peer has been reported.
    has_reported: Arc<AtomicBool>,
}

impl Forwarding {
    /// Believes these.
    pub fn new(trusted: &[Network]) -> Self {
        Forwarding { trusted: trusted.into(), has_reported: Arc::default() }
    }

    /// Reports the first forwarding header that is not believed: it may come from a proxy that should be, behind which all
    /// clients now count as one.
    fn report_ignored(&self, peer: IpAddr, headers: &HeaderMap) -> bool {
        let peer = peer.to_canonical();
        let Some(name) = FORWARDING.iter().find(|name| headers.contains_key(**name)) else { return false };
        if self.trusts(peer) || self.has_reported.swap(true, Ordering::Relaxed) {
            return false;
        }
        tracing::warn!(
            "ignored the header {name} from {peer}, which is not in `trusted_proxies`: if this is your proxy, add it there, \
             or all of its clients count as one"
        );
        true
    }

    fn trusts(&self, ip: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(ip))
    }

    /// Finds the client behind `peer`: the last address of `X-Forwarded-For` that is not itself a trusted proxy. What a
    /// stranger writes in front of it counts for nothing.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Client {
        let peer = peer.to_canonical();
        if !self.trusts(peer) {
            return Client { address: peer, tls: false };
        }
        let text =
            |name: &str| headers.get_all(name).iter().filter_map(|v| v.to_str().ok()).collect::<Vec<_>>().join(",");
        let mut address = peer;
        for hop in text(FORWARDED_FOR).rsplit(',').map(str::trim).take(MOST_HOPS) {
            let Some(ip) = address_of(hop) else { break };
            address = ip;
            if !self.trusts(ip) {
                break;
            }
        }
        let tls = text(FORWARDED_PROTO).rsplit(',').next().is_some_and(|p| p.trim().eq_ignore_ascii_case("https"));
        Client { address, tls }
    }
}

const FORWARDED_PROTO: &str = "x-forwarded-proto";

/// All headers by which proxies say for whom they speak.
const FORWARDING: [&str; 4] = [FORWARDED_FOR, FORWARDED_PROTO, "x-forwarded-host", "forwarded"];

/// An address as forwarding headers write it, perhaps with a port.
fn address_of(hop: &str) -> Option<IpAddr> {
    let ip = hop.parse::<IpAddr>().or_else(|_| hop.parse::<SocketAddr>().map(|a| a.ip())).ok()?;
    Some(ip.to_canonical())
}

/// Marks the request with its [`Client`], and puts in the place of forwarding headers what is believed of them, so that
/// everything behind can read them as true.
pub(super) async fn identify(State(forwarding): State<Forwarding>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map_or(IpAddr::from([0, 0, 0, 0]), |c| c.0.ip());
    let client = forwarding.client(peer, request.headers());
    forwarding.report_ignored(peer, request.headers());
    let headers = request.headers_mut();
    for name in FORWARDING {
        headers.remove(name);
    }
    if let Ok(address) = HeaderValue::from_str(&client.address.to_string()) {
        headers.insert(FORWARDED_FOR, address);
    }
    if client.tls {
        headers.insert(FORWARDED_PROTO, HeaderValue::from_static("https"));
    }
    request.extensions_mut().insert(client);
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], proto: Option<&str>, address: &str, tls: bool) {
        let forwarding = Forwarding::new(&["10.0.0.0/8".parse().unwrap(), "::1".parse().unwrap()]);
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, value.parse().unwrap());
        }
        if let Some(proto) = proto {
            headers.insert(FORWARDED_PROTO, proto.parse().unwrap());
        }
        let client = forwarding.client(peer.parse().unwrap(), &headers);
        assert_eq!(client, Client { address: address.parse().unwrap(), tls });
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        check("203.0.113.9", &["198.51.100.1"], Some("https"), "203.0.113.9", false);
        check("10.0.0.1", &["198.51.100.1"], Some("https"), "198.51.100.1", true);
        check("10.0.0.1", &[], None, "10.0.0.1", false);
        check("::ffff:10.0.0.1", &["198.51.100.1:4711"], Some("http"), "198.51.100.1", false);
    }

    #[test]
    fn a_header_of_an_unknown_proxy_is_reported_once() {
        let forwarding = Forwarding::new(&["10.0.0.1".parse().unwrap()]);
        let (trusted, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let headers =
            |name| HeaderMap::from_iter([(http::HeaderName::from_static(name), HeaderValue::from_static("x"))]);
        assert!(!forwarding.report_ignored(trusted, &headers("forwarded")));
        assert!(!forwarding.report_ignored(other, &headers("host")));
        assert!(forwarding.report_ignored(other, &headers("forwarded")));
        assert!(!forwarding.clone().report_ignored(other, &headers("x-forwarded-for")), "once");
    }

    #[test]
    fn what_the_client_wrote_itself_counts_for_nothing() {
        check("10.0.0.1", &["1.2.3.4, 198.51.100.1, 10.0.0.7"], None, "198.51.100.1", false);
        check("10.0.0.1", &["1.2.3.4", "198.51.100.1"], None, "198.51.100.1", false);
        check("10.0.0.1", &["198.51.100.1, nonsense, 10.0.0.7"], None, "10.0.0.7", false);
        check("10.0.0.1", &["x"], Some("http, https"), "10.0.0.1", true);
    }
}
