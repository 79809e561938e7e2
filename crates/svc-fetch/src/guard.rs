//! The guard: which hosts, ports and networks requests may reach.

use std::{
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use http::Uri;
use ipnet::IpNet;

use crate::{FetchError, is_public};

/// Ports that are permitted by default.
const PORTS: [u16; 3] = [80, 443, 8080];

/// An exception to the guard: a host with a port, or a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// This host, as written in URLs, on this port, regardless of the addresses it resolves to.
    Origin {
        /// Host name in lower case, or an IP address without brackets.
        host: String,
        /// Port.
        port: u16,
    },
    /// Every address of a network, on every port.
    Network(IpNet),
}

impl Allowed {
    /// The origin of a URL such as `https://example.org/x`. `None` if the URL is not HTTP(S), or contains credentials.
    pub fn origin_of(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_credentials = uri.authority()?.as_str().contains('@');
        (is_http && !has_credentials).then_some(Allowed::Origin { host: host(&uri)?, port: port(&uri)? })
    }

    fn contains(&self, ip: IpAddr) -> bool {
        matches!(self, Allowed::Network(network) if network.contains(&ip.to_canonical()))
    }
}

impl FromStr for Allowed {
    type Err = String;

    /// Parses `10.0.0.0/8`, `192.168.1.7` or `intranet.example:8080`.
    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || format!("`{text}` is neither a network such as 10.0.0.0/8 nor a host with a port");
        if let Some((address, bits)) = text.split_once('/') {
            // `IpNet` accepts octets with leading zeros, which other programs read as octal numbers.
            let address: IpAddr = address.parse().map_err(|_| invalid())?;
            let bits = bits.parse().map_err(|_| invalid())?;
            return IpNet::new(address, bits).map(Allowed::Network).map_err(|_| invalid());
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Allowed::Network(address.to_canonical().into()));
        }
        let origin = Allowed::origin_of(&format!("http://{text}/")).filter(|_| text.contains(':'));
        origin.ok_or_else(invalid)
    }
}

/// Permits requests to public addresses on web ports, and to configured exceptions.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    allowed: Vec<Allowed>,
    /// Permits the exceptions only.
    exceptions_only: bool,
}

impl Guard {
    /// Permits the public network and `allowed`.
    pub fn new(allowed: Vec<Allowed>) -> Self {
        Guard { allowed, exceptions_only: false }
    }

    /// Permits `allowed` only, not the public network.
    pub fn only(allowed: Vec<Allowed>) -> Self {
        Guard { allowed, exceptions_only: true }
    }

    /// Adds exceptions.
    #[must_use]
    pub fn with(mut self, allowed: impl IntoIterator<Item = Allowed>) -> Self {
        self.allowed.extend(allowed);
        self
    }

    /// Checks the scheme, credentials and port of a URL, before its host is looked up.
    ///
    /// # Errors
    /// If the URL is not HTTP(S), contains credentials, or has a port that is not permitted.
    pub(crate) fn check_uri(&self, uri: &Uri) -> Result<(), FetchError> {
        let (Some("http" | "https"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(FetchError::InvalidUrl);
        };
        // User names in URLs are used to disguise the host.
        if authority.as_str().contains('@') {
            return Err(FetchError::InvalidUrl);
        }
        let (host, port) = (host(uri).ok_or(FetchError::InvalidUrl)?, port(uri).ok_or(FetchError::InvalidUrl)?);
        let network_allowed = host.parse().is_ok_and(|ip| self.allows_address(ip));
        // The name may resolve to an address in an allowed network, where every port is permitted. Resolution decides.
        let may_resolve_to_network = host.parse::<IpAddr>().is_err() && self.has_networks();
        if PORTS.contains(&port) || self.allows_origin(&host, port) || network_allowed || may_resolve_to_network {
            Ok(())
        } else {
            Err(FetchError::ForbiddenPort(port))
        }
    }

    /// Checks the addresses that the host of `uri` resolved to. One address that is not permitted rejects all of them:
    /// a name with both public and private addresses is suspicious.
    ///
    /// # Errors
    /// [`FetchError::ForbiddenAddress`] with the first address that is not permitted.
    pub(crate) fn check_addresses(&self, uri: &Uri, addresses: &[SocketAddr]) -> Result<(), FetchError> {
        let (host, port) = (host(uri).unwrap_or_default(), port(uri).unwrap_or_default());
        if self.allows_origin(&host, port) {
            return Ok(());
        }
        let is_permitted =
            |ip: IpAddr| self.allows_address(ip) || (!self.exceptions_only && is_public(ip) && PORTS.contains(&port));
        match addresses.iter().find(|a| !is_permitted(a.ip())) {
            Some(rejected) => Err(FetchError::ForbiddenAddress(rejected.ip())),
            None => Ok(()),
        }
    }

    fn allows_origin(&self, host: &str, port: u16) -> bool {
        self.allowed.iter().any(|a| matches!(a, Allowed::Origin { host: h, port: p } if h == host && *p == port))
    }

    fn allows_address(&self, ip: IpAddr) -> bool {
        self.allowed.iter().any(|a| a.contains(ip))
    }

    fn has_networks(&self) -> bool {
        self.allowed.iter().any(|a| matches!(a, Allowed::Network(_)))
    }
}

/// The host of a URL in lower case, without brackets and without a trailing dot.
fn host(uri: &Uri) -> Option<String> {
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

pub(crate) fn port(uri: &Uri) -> Option<u16> {
    match uri.port() {
        Some(port) => Some(port.as_u16()),
        // `http://host:/` and ports above 65535 are invalid.
        None if uri.authority()?.as_str().rsplit(']').next()?.contains(':') => None,
        None if uri.scheme_str() == Some("https") => Some(443),
        None => Some(80),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_networks_and_origins() {
        let origin = |host: &str, port| Allowed::Origin { host: host.to_owned(), port };
        let network = |ip: &str, bits| Allowed::Network(IpNet::new(ip.parse().unwrap(), bits).unwrap());
        let rows = [
            ("10.0.0.0/8", Some(network("10.0.0.0", 8))),
            ("192.168.1.7", Some(network("192.168.1.7", 32))),
            ("fd00::/8", Some(network("fd00::", 8))),
            ("Intranet.Example:8080", Some(origin("intranet.example", 8080))),
            ("127.0.0.1:9000", Some(origin("127.0.0.1", 9000))),
            ("[::1]:9000", Some(origin("::1", 9000))),
            ("intranet", None),
            ("10.0.0.0/33", None),
            ("010.0.0.0/8", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
    }

    #[test]
    fn checks_urls_and_resolved_addresses() {
        let guard = Guard::new(vec!["10.0.0.0/8".parse().unwrap(), "local.example:9000".parse().unwrap()]);
        #[rustfmt::skip]
        let rows = [
            // URL, resolved address, whether the request is permitted
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
        let exceptions_only = Guard::only(vec!["local.example:80".parse().unwrap()]);
        let (own, other) = (Uri::from_static("http://local.example/"), Uri::from_static("http://a.example/"));
        let ip = [SocketAddr::new("8.8.8.8".parse().unwrap(), 80)];
        assert!(
            exceptions_only.check_addresses(&own, &ip).is_ok() && exceptions_only.check_addresses(&other, &ip).is_err()
        );
    }

    #[test]
    fn one_private_address_rejects_the_host() {
        let both = ["8.8.8.8:80", "127.0.0.1:80"].map(|a| a.parse().unwrap());
        let uri = Uri::from_static("http://a.example/");
        assert!(Guard::default().check_addresses(&uri, &both).is_err());
    }
}
