//! Client IP address: the socket's, or the one that a trusted proxy forwards.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::extract::{ConnectInfo, Request};
use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::{
    client::{Client, FORWARDED_FOR},
    network::Network,
};

/// Maximum number of hops in a forwarding header; further ones are ignored.
const MAX_HOPS: usize = 32;

/// The proxies whose forwarding headers are trusted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forwarding {
    trusted: Arc<[Network]>,
    /// Whether a header of an untrusted peer has been reported.
    has_reported: Arc<AtomicBool>,
}

impl Forwarding {
    /// Trusts these networks.
    pub(crate) fn new(trusted: &[Network]) -> Self {
        Forwarding { trusted: trusted.into(), has_reported: Arc::default() }
    }

    /// Logs the first forwarding header of an untrusted peer. It may be a proxy that is missing in the settings; all of its clients
    /// then have the proxy's address.
    fn report_ignored(&self, peer: IpAddr, headers: &HeaderMap) -> bool {
        let peer = peer.to_canonical();
        let Some(name) = FORWARDING.into_iter().find(|name| headers.contains_key(name)) else { return false };
        if self.trusts(peer) || self.has_reported.swap(true, Ordering::Relaxed) {
            return false;
        }
        tracing::warn!(
            "ignored the header {name} from {peer}, which is not in `trusted_proxies`: if this is your proxy, add it, or all \
             of its clients share one address"
        );
        true
    }

    /// Adds the [`Client`] to the request's extensions, and replaces forwarding headers by trusted values, so that handlers can
    /// rely on them.
    pub(crate) fn identify(&self, request: &mut Request) -> Client {
        let peer =
            request.extensions().get::<ConnectInfo<SocketAddr>>().map_or(IpAddr::from([0, 0, 0, 0]), |c| c.0.ip());
        let client = self.client(peer, request.headers());
        self.report_ignored(peer, request.headers());
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
        client
    }

    fn trusts(&self, ip: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(ip))
    }

    /// The client behind `peer`: the last address of `X-Forwarded-For` that is not a trusted proxy. Addresses before it may be
    /// forged and are ignored.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Client {
        let peer = peer.to_canonical();
        if !self.trusts(peer) {
            return Client { address: peer, tls: false };
        }
        let text = |name: HeaderName| {
            headers.get_all(name).iter().filter_map(|v| v.to_str().ok()).collect::<Vec<_>>().join(",")
        };
        let mut address = peer;
        for hop in text(FORWARDED_FOR).rsplit(',').map(str::trim).take(MAX_HOPS) {
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

const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// All forwarding headers.
const FORWARDING: [HeaderName; 4] =
    [FORWARDED_FOR, FORWARDED_PROTO, HeaderName::from_static("x-forwarded-host"), header::FORWARDED];

/// Parses an address of a forwarding header, with an optional port.
fn address_of(hop: &str) -> Option<IpAddr> {
    let ip = hop.parse::<IpAddr>().or_else(|_| hop.parse::<SocketAddr>().map(|a| a.ip())).ok()?;
    Some(ip.to_canonical())
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
    fn trusts_only_configured_proxies() {
        check("203.0.113.9", &["198.51.100.1"], Some("https"), "203.0.113.9", false);
        check("10.0.0.1", &["198.51.100.1"], Some("https"), "198.51.100.1", true);
        check("10.0.0.1", &[], None, "10.0.0.1", false);
        check("::ffff:10.0.0.1", &["198.51.100.1:4711"], Some("http"), "198.51.100.1", false);
    }

    #[test]
    fn reports_untrusted_headers_once() {
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
    fn ignores_forged_addresses() {
        check("10.0.0.1", &["1.2.3.4, 198.51.100.1, 10.0.0.7"], None, "198.51.100.1", false);
        check("10.0.0.1", &["1.2.3.4", "198.51.100.1"], None, "198.51.100.1", false);
        check("10.0.0.1", &["198.51.100.1, nonsense, 10.0.0.7"], None, "10.0.0.7", false);
        check("10.0.0.1", &["x"], Some("http, https"), "10.0.0.1", true);
    }
}
