//! Networks of IP addresses: those of proxies, and those of single clients.

use std::{net::IpAddr, str::FromStr};

/// A network of trusted proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// Whether the network contains this address. IPv4-mapped IPv6 addresses count as IPv4.
    pub fn contains(&self, ip: IpAddr) -> bool {
        match (self.address, ip.to_canonical()) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                (a.to_bits() ^ b.to_bits()) & mask == 0
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.bits)).unwrap_or(0);
                (a.to_bits() ^ b.to_bits()) & mask == 0
            }
            _ => false,
        }
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
        let address = address.parse::<IpAddr>().map_err(|_| wrong())?.to_canonical();
        let max_bits = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(max_bits), |b| b.parse::<u8>().map_err(|_| wrong()))?;
        if bits > max_bits { Err(wrong()) } else { Ok(Network { address, bits }) }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks() {
        #[rustfmt::skip]
        let rows = [
            ("10.0.0.0/8", "10.200.3.4", true), ("10.0.0.0/8", "11.0.0.1", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false), ("fd00::/8", "fd12::1", true), ("::/0", "fe80::1", true),
        ];
        for (network, ip, inside) in rows {
            assert_eq!(network.parse::<Network>().unwrap().contains(ip.parse().unwrap()), inside, "{network} {ip}");
        }
        for text in ["", "10.0.0.0/33", "::/129", "host", "10.0.0.0/"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }
}
