//! Client IP address, and whether the client uses TLS: as the socket shows, or as a trusted proxy forwards.

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
    client::{Client, OverTls},
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
        let is_tls = request.extensions().get::<OverTls>().is_some();
        let client = self.client(peer, is_tls, request.headers());
        let headers = request.headers_mut();
        if FORWARDING.iter().any(|name| headers.contains_key(name)) {
            self.report_ignored(peer, headers);
            for name in FORWARDING {
                headers.remove(name);
            }
        }
        headers.insert(FORWARDED_FOR, header_of(client.address));
        if client.tls {
            headers.insert(FORWARDED_PROTO, HeaderValue::from_static("https"));
        }
        request.extensions_mut().insert(client);
        client
    }

    /// Whether the peer of the connection is a trusted proxy.
    pub(crate) fn is_from_proxy(&self, request: &Request) -> bool {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        peer.is_some_and(|peer| self.trusts(peer.0.ip().to_canonical()))
    }

    fn trusts(&self, ip: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(ip))
    }

    /// The client behind `peer`: the last address of `X-Forwarded-For` that is not a trusted proxy. Addresses before it may be
    /// forged and are ignored. The last value of `X-Forwarded-Proto` is that of the proxy that connects to this server.
    ///
    /// `Forwarded` (RFC 7239) has the same meaning. It is read if there is neither of the two: a proxy that sets them may pass
    /// on a `Forwarded` that the client has sent.
    ///
    /// `is_tls` is whether the connection itself uses TLS. A proxy may use it for a client that does not, so the headers have precedence.
    fn client(&self, peer: IpAddr, is_tls: bool, headers: &HeaderMap) -> Client {
        let peer = peer.to_canonical();
        if !self.trusts(peer) || FORWARDING.iter().all(|name| !headers.contains_key(name)) {
            return Client { address: peer, tls: is_tls };
        }
        let text = |name: HeaderName| {
            headers.get_all(name).iter().filter_map(|v| v.to_str().ok()).collect::<Vec<_>>().join(",")
        };
        let is_tls = |proto: &str| proto.trim().eq_ignore_ascii_case("https");
        if !headers.contains_key(FORWARDED_FOR) && !headers.contains_key(FORWARDED_PROTO) {
            let forwarded = text(header::FORWARDED);
            let hops: Vec<Hop> = unquoted(&forwarded, ',').rev().take(MAX_HOPS).map(Hop::parse).collect();
            let address = self.last_untrusted(peer, hops.iter().map(|hop| hop.node.as_str()));
            return Client { address, tls: hops.first().is_some_and(|hop| is_tls(&hop.proto)) };
        }
        let hops = text(FORWARDED_FOR);
        let address = self.last_untrusted(peer, hops.rsplit(',').map(str::trim).take(MAX_HOPS));
        Client { address, tls: text(FORWARDED_PROTO).rsplit(',').next().is_some_and(is_tls) }
    }

    /// The first address that is not a trusted proxy, or the last one before something else. `hops` begin at this server.
    fn last_untrusted<'h>(&self, peer: IpAddr, hops: impl Iterator<Item = &'h str>) -> IpAddr {
        let mut address = peer;
        for hop in hops {
            let Some(ip) = address_of(hop) else { break };
            address = ip;
            if !self.trusts(ip) {
                break;
            }
        }
        address
    }
}

/// An address as the value of a header.
fn header_of(address: IpAddr) -> HeaderValue {
    let text = match address {
        // Half of the work of `Display`, for a text that each request has.
        IpAddr::V4(address) => address.octets().map(|octet| octet.to_string()).join("."),
        IpAddr::V6(address) => address.to_string(),
    };
    HeaderValue::try_from(text).expect("addresses are ASCII")
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// All forwarding headers.
const FORWARDING: [HeaderName; 4] =
    [FORWARDED_FOR, FORWARDED_PROTO, HeaderName::from_static("x-forwarded-host"), header::FORWARDED];

/// A hop of the header `Forwarded`; missing parameters are empty.
#[derive(Default)]
struct Hop {
    node: String,
    proto: String,
}

impl Hop {
    fn parse(hop: &str) -> Self {
        let mut parsed = Hop::default();
        for (name, value) in unquoted(hop, ';').filter_map(|pair| pair.split_once('=')) {
            let value = value.trim();
            let value = match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
                Some(quoted) => quoted.replace('\\', ""),
                None => value.to_owned(),
            };
            match name.trim() {
                name if name.eq_ignore_ascii_case("for") => parsed.node = value,
                name if name.eq_ignore_ascii_case("proto") => parsed.proto = value,
                _ => {}
            }
        }
        parsed
    }
}

/// The parts of a header between separators outside of quotes.
fn unquoted(text: &str, separator: char) -> impl DoubleEndedIterator<Item = &str> {
    let (mut is_quoted, mut is_escaped, mut start, mut parts) = (false, false, 0, Vec::new());
    for (at, c) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match c {
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter()
}

/// Parses an address of a forwarding header, with an optional port.
fn address_of(hop: &str) -> Option<IpAddr> {
    if let Some(ip) = hop.strip_prefix('[').and_then(|hop| hop.strip_suffix(']')) {
        return ip.parse().ok();
    }
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
        let client = forwarding.client(peer.parse().unwrap(), false, &headers);
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
    fn reads_the_standard_header() {
        let forwarding = Forwarding::new(&["10.0.0.0/8".parse().unwrap()]);
        #[rustfmt::skip]
        let rows = [
            ("10.0.0.1", "for=198.51.100.1;proto=https", None, "198.51.100.1", true),
            ("10.0.0.1", "For=\"198.51.100.1:4711\"; Proto=\"HTTPS\";by=x", None, "198.51.100.1", true),
            ("10.0.0.1", "for=1.2.3.4;proto=https, for=198.51.100.1;proto=http, for=10.0.0.7", None, "198.51.100.1", false),
            ("10.0.0.1", "for=\"[2001:db8::1]:80\";proto=https", None, "2001:db8::1", true),
            ("10.0.0.1", "for=\"[2001:db8::1]\"", None, "2001:db8::1", false),
            ("10.0.0.1", "for=_hidden;proto=https", None, "10.0.0.1", true),
            ("10.0.0.1", "for=unknown, for=\"a\\\"b, for=1.2.3.4\"", None, "10.0.0.1", false),
            ("10.0.0.1", "proto=https;host=\"a,b;proto=http\"", None, "10.0.0.1", true),
            ("10.0.0.1", "", None, "10.0.0.1", false),
            // A proxy that sets the other headers may pass this one on.
            ("10.0.0.1", "for=1.2.3.4;proto=https", Some("198.51.100.1"), "198.51.100.1", false),
            ("203.0.113.9", "for=1.2.3.4;proto=https", None, "203.0.113.9", false),
        ];
        for (peer, header, forwarded_for, address, tls) in rows {
            let mut headers = HeaderMap::new();
            headers.insert(header::FORWARDED, header.parse().unwrap());
            if let Some(value) = forwarded_for {
                headers.insert(FORWARDED_FOR, value.parse().unwrap());
            }
            let client = forwarding.client(peer.parse().unwrap(), false, &headers);
            assert_eq!(client, Client { address: address.parse().unwrap(), tls }, "{header}");
        }
    }

    #[test]
    fn tls_of_the_connection_counts_unless_a_proxy_reports_that_of_the_client() {
        let forwarding = Forwarding::new(&["10.0.0.0/8".parse().unwrap()]);
        for (peer, header, tls) in [
            ("203.0.113.9", None, true),
            ("203.0.113.9", Some((FORWARDED_PROTO, "http")), true),
            ("10.0.0.1", None, true),
            ("10.0.0.1", Some((FORWARDED_PROTO, "http")), false),
            ("10.0.0.1", Some((FORWARDED_PROTO, "https")), true),
            ("10.0.0.1", Some((FORWARDED_FOR, "198.51.100.1")), false),
            ("10.0.0.1", Some((header::FORWARDED, "for=198.51.100.1")), false),
        ] {
            let headers: HeaderMap = header.into_iter().map(|(name, value)| (name, value.parse().unwrap())).collect();
            assert_eq!(forwarding.client(peer.parse().unwrap(), true, &headers).tls, tls, "{peer} {headers:?}");
        }
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
