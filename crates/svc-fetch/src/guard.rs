//! Which addresses may be asked.

use std::{
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use http::Uri;

use crate::{FetchError, is_public};

/// Ports that may be asked without further leave: those of the web.
const PORTS: [u16; 3] = [80, 443, 8080];

/// Something that may be asked although it is not public: a host with its port, or a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// This host (as written in addresses) on this port, wherever its name leads.
    Origin {
        /// Host name in small letters, or an address without brackets.
        host: String,
        /// Port.
        port: u16,
    },
    /// Every address of this network, on every port.
    Network {
        /// Any address of it.
        address: IpAddr,
        /// Length of the prefix.
        bits: u8,
    },
}

impl Allowed {
    /// The host and port of an address such as `https://example.org/x`.
    pub fn origin_of(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        Some(Allowed::Origin { host: host(&uri)?, port: port(&uri)? })
    }

    fn contains(&self, ip: IpAddr) -> bool {
        let Allowed::Network { address, bits } = self else { return false };
        match (address, ip.to_canonical()) {
            (IpAddr::V4(a), IpAddr::V4(b)) => same_prefix(a.to_bits().into(), b.to_bits().into(), 32, *bits),
            (IpAddr::V6(a), IpAddr::V6(b)) => same_prefix(a.to_bits(), b.to_bits(), 128, *bits),
            _ => false,
        }
    }
}

fn same_prefix(a: u128, b: u128, width: u32, bits: u8) -> bool {
    (a ^ b).checked_shr(width - u32::from(bits)).unwrap_or(0) == 0
}

impl FromStr for Allowed {
    type Err = String;

    /// `10.0.0.0/8`, `192.168.1.7` or `intranet.example:8080`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is neither a network such as 10.0.0.0/8 nor a host with its port");
        if let Some((address, bits)) = text.split_once('/') {
            let address: IpAddr = address.parse().map_err(|_| wrong())?;
            let bits = bits.parse().ok().filter(|b| *b <= if address.is_ipv4() { 32 } else { 128 });
            return Ok(Allowed::Network { address, bits: bits.ok_or_else(wrong)? });
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            let address = address.to_canonical();
            return Ok(Allowed::Network { address, bits: if address.is_ipv4() { 32 } else { 128 } });
        }
        let origin = Allowed::origin_of(&format!("http://{text}/")).filter(|_| text.contains(':'));
        origin.ok_or_else(wrong)
    }
}

/// What may be asked: the public network on the ports of the web, and what is allowed besides.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    allowed: Vec<Allowed>,
    /// Nothing but what is allowed.
    closed: bool,
}

impl Guard {
    /// The public network, and these.
    pub fn new(allowed: Vec<Allowed>) -> Self {
        Guard { allowed, closed: false }
    }

    /// Only these: the public network is not asked.
    pub fn only(allowed: Vec<Allowed>) -> Self {
        Guard { allowed, closed: true }
    }

    /// The same, and this.
    #[must_use]
    pub fn with(mut self, allowed: impl IntoIterator<Item = Allowed>) -> Self {
        self.allowed.extend(allowed);
        self
    }

    /// What can be said of an address before its host is looked up.
    ///
    /// # Errors
    /// When it is no web address, holds credentials, or names a port that is not of the web.
    pub(crate) fn check_uri(&self, uri: &Uri) -> Result<(), FetchError> {
        let (Some("http" | "https"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(FetchError::BadAddress);
        };
        // User names in addresses serve to mislead.
        if authority.as_str().contains('@') {
            return Err(FetchError::BadAddress);
        }
        let (host, port) = (host(uri).ok_or(FetchError::BadAddress)?, port(uri).ok_or(FetchError::BadAddress)?);
        let by_network = host.parse().is_ok_and(|ip| self.has_network_of(ip));
        // A name may lead into an allowed network on any port; that is seen when it is resolved.
        let may_lead_there = host.parse::<IpAddr>().is_err() && self.has_networks();
        if PORTS.contains(&port) || self.has_origin(&host, port) || by_network || may_lead_there {
            Ok(())
        } else {
            Err(FetchError::Port(port))
        }
    }

    /// Whether these are addresses that the host of `uri` may be reached at. One that is refused refuses all: a name that
    /// stands for a public and a private address is no honest name.
    ///
    /// # Errors
    /// [`FetchError::Refused`] with the address.
    pub(crate) fn check_addresses(&self, uri: &Uri, found: &[SocketAddr]) -> Result<(), FetchError> {
        let (host, port) = (host(uri).unwrap_or_default(), port(uri).unwrap_or_default());
        if self.has_origin(&host, port) {
            return Ok(());
        }
        let is_fine = |ip: IpAddr| self.has_network_of(ip) || (!self.closed && is_public(ip) && PORTS.contains(&port));
        match found.iter().find(|a| !is_fine(a.ip())) {
            Some(refused) => Err(FetchError::Refused(refused.ip())),
            None => Ok(()),
        }
    }

    fn has_origin(&self, host: &str, port: u16) -> bool {
        self.allowed.iter().any(|a| matches!(a, Allowed::Origin { host: h, port: p } if h == host && *p == port))
    }

    fn has_network_of(&self, ip: IpAddr) -> bool {
        self.allowed.iter().any(|a| a.contains(ip))
    }

    fn has_networks(&self) -> bool {
        self.allowed.iter().any(|a| matches!(a, Allowed::Network { .. }))
    }
}

/// The host of an address in small letters, without brackets and without the dot that may end a name.
fn host(uri: &Uri) -> Option<String> {
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

fn port(uri: &Uri) -> Option<u16> {
    match uri.port() {
        Some(port) => Some(port.as_u16()),
        // `http://host:/` and a port past the last one are no addresses.
        None if uri.authority()?.as_str().rsplit(']').next()?.contains(':') => None,
        None if uri.scheme_str() == Some("https") => Some(443),
        None => Some(80),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_is_a_network_or_an_origin() {
        let origin = |host: &str, port| Allowed::Origin { host: host.to_owned(), port };
        let network = |ip: &str, bits| Allowed::Network { address: ip.parse().unwrap(), bits };
        let rows = [
            ("10.0.0.0/8", Some(network("10.0.0.0", 8))),
            ("192.168.1.7", Some(network("192.168.1.7", 32))),
            ("fd00::/8", Some(network("fd00::", 8))),
            ("Intranet.Example:8080", Some(origin("intranet.example", 8080))),
            ("127.0.0.1:9000", Some(origin("127.0.0.1", 9000))),
            ("[::1]:9000", Some(origin("::1", 9000))),
            ("intranet", None),
            ("10.0.0.0/33", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
    }

    #[test]
    fn addresses_are_judged_before_and_after_they_are_looked_up() {
        let guard = Guard::new(vec!["10.0.0.0/8".parse().unwrap(), "local.example:9000".parse().unwrap()]);
        #[rustfmt::skip]
        let rows = [
            // Address, where its host leads, may it be asked
            ("http://a.example/", "8.8.8.8", true),
            ("https://a.example:8080/x", "8.8.8.8", true),
            ("https://a.example:25/", "8.8.8.8", false),
            ("http://8.8.8.8:25/", "8.8.8.8", false),
            ("http://a.example/", "127.0.0.1", false),
            ("http://a.example/", "::ffff:192.168.0.1", false),
            ("http://a.example/", "10.1.1.1", true),
            ("http://a.example:25/", "10.1.1.1", true),
            ("http://10.1.1.1:25/", "10.1.1.1", true),
            ("http://local.example:9000/", "127.0.0.1", true),
            ("http://LOCAL.example.:9000/", "127.0.0.1", true),
            ("http://local.example:9001/", "127.0.0.1", false),
            ("http://user@a.example/", "8.8.8.8", false),
            ("ftp://a.example/", "8.8.8.8", false),
            ("/x", "8.8.8.8", false),
            ("http://a.example:/", "8.8.8.8", false),
            ("http://a.example:99999/", "8.8.8.8", false),
        ];
        for (url, ip, expected) in rows {
            let allowed = url.parse::<Uri>().is_ok_and(|uri| {
                guard.check_uri(&uri).is_ok()
                    && guard.check_addresses(&uri, &[SocketAddr::new(ip.parse().unwrap(), 80)]).is_ok()
            });
            assert_eq!(allowed, expected, "{url} at {ip}");
        }
        let closed = Guard::only(vec!["local.example:80".parse().unwrap()]);
        let (own, other) = (Uri::from_static("http://local.example/"), Uri::from_static("http://a.example/"));
        let ip = [SocketAddr::new("8.8.8.8".parse().unwrap(), 80)];
        assert!(closed.check_addresses(&own, &ip).is_ok() && closed.check_addresses(&other, &ip).is_err());
    }

    #[test]
    fn one_refused_address_refuses_the_name() {
        let both = ["8.8.8.8:80", "127.0.0.1:80"].map(|a| a.parse().unwrap());
        let uri = Uri::from_static("http://a.example/");
        assert!(Guard::default().check_addresses(&uri, &both).is_err());
    }
}
