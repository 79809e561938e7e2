//! Networks of IP addresses: those of proxies, and those of single clients.

use std::{net::IpAddr, str::FromStr};

use ipnet::{IpNet, Ipv6Net};

/// A network of trusted proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(IpNet);

impl Network {
    /// Whether the network contains this address. IPv4-mapped IPv6 addresses count as IPv4.
    pub fn contains(&self, ip: IpAddr) -> bool {
        self.0.contains(&ip.to_canonical())
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not an IP address or a network such as 10.0.0.0/8");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        // `IpNet` accepts octets with leading zeros, which other programs read as octal numbers.
        let address = address.parse::<IpAddr>().map_err(|_| wrong())?.to_canonical();
        let Some(bits) = bits else { return Ok(Network(address.into())) };
        let bits = bits.parse().map_err(|_| wrong())?;
        IpNet::new(address, bits).map(Network).map_err(|_| wrong())
    }
}

/// The network of one client: an IPv4 address, or the /64 of an IPv6 address, which is usually assigned as a whole.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Net::new_assert(v6, 64).network().into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks() {
        #[rustfmt::skip]
        let rows = [
            ("10.0.0.0/8", "10.200.3.4", true), ("10.0.0.0/8", "11.0.0.1", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false), ("fd00::/8", "fd12::1", true), ("::/0", "fe80::1", true),
            ("10.1.2.3/8", "10.9.9.9", true), ("::ffff:10.0.0.1/8", "10.9.9.9", true), ("::/0", "::ffff:1.1.1.1", false),
        ];
        for (network, ip, inside) in rows {
            assert_eq!(network.parse::<Network>().unwrap().contains(ip.parse().unwrap()), inside, "{network} {ip}");
        }
        for text in ["", "10.0.0.0/33", "::/129", "host", "10.0.0.0/", "010.0.0.0/8", "::ffff:10.0.0.0/104"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }

    #[test]
    fn networks_of_clients() {
        for (address, network) in [
            ("198.51.100.7", "198.51.100.7"),
            ("::ffff:198.51.100.7", "198.51.100.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("::1", "::"),
        ] {
            assert_eq!(network_of(address.parse().unwrap()), network.parse::<IpAddr>().unwrap(), "{address}");
        }
    }
}
