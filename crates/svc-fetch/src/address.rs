//! Classification of IP addresses as public or special-purpose.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Special-purpose IPv4 networks (RFC 6890 and its successors).
const SPECIAL_V4: &[Ipv4Net] = &[
    v4([0, 0, 0, 0], 8),       // "this network"
    v4([10, 0, 0, 0], 8),      // private
    v4([100, 64, 0, 0], 10),   // carrier-grade NAT
    v4([127, 0, 0, 0], 8),     // loopback
    v4([169, 254, 0, 0], 16),  // link-local, including cloud metadata services
    v4([172, 16, 0, 0], 12),   // private
    v4([192, 0, 0, 0], 24),    // protocol assignments
    v4([192, 0, 2, 0], 24),    // documentation
    v4([192, 88, 99, 0], 24),  // 6to4 relays (deprecated)
    v4([192, 168, 0, 0], 16),  // private
    v4([198, 18, 0, 0], 15),   // benchmarks
    v4([198, 51, 100, 0], 24), // documentation
    v4([203, 0, 113, 0], 24),  // documentation
    v4([224, 0, 0, 0], 4),     // multicast
    v4([240, 0, 0, 0], 4),     // reserved and broadcast
];

/// Special-purpose IPv6 networks.
const SPECIAL_V6: &[Ipv6Net] = &[
    v6([0x64, 0xff9b, 1], 48),  // local-use NAT64
    v6([0x100, 0, 0], 64),      // discard
    v6([0x2001, 0, 0], 23),     // protocol assignments, including Teredo
    v6([0x2001, 0xdb8, 0], 32), // documentation
    v6([0x3fff, 0, 0], 20),     // documentation
    v6([0x5f00, 0, 0], 16),     // segment routing
    v6([0xfc00, 0, 0], 7),      // private
    v6([0xfe80, 0, 0], 10),     // link-local
    v6([0xfec0, 0, 0], 10),     // site-local (deprecated)
    v6([0xff00, 0, 0], 8),      // multicast
];

const fn v4([a, b, c, d]: [u8; 4], prefix_len: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix_len)
}

/// A network from the first three groups of its address.
const fn v6([a, b, c]: [u16; 3], prefix_len: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix_len)
}

/// Returns whether `ip` is a public address. IPv6 addresses that embed an IPv4 address (mapped, 6to4, NAT64) are
/// classified by that IPv4 address.
pub fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|network| network.contains(&ip))
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let groups = ip.segments();
    let embedded = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match groups {
        // Unspecified, loopback, and the deprecated IPv4-compatible form.
        [0, 0, 0, 0, 0, 0, ..] => false,
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(embedded(high, low)),
        [0x2002, high, low, ..] => is_public_v4(embedded(high, low)),
        _ => !SPECIAL_V6.iter().any(|network| network.contains(&ip)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_addresses_are_not_public_in_any_form() {
        let special = "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255 \
                       192.0.0.8 192.168.1.1 198.18.0.1 224.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::ffff:127.0.0.1 \
                       ::ffff:10.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 2002:7f00:1::1 2002:c0a8:101::1 \
                       2001::1 2001:db8::1 fc00::1 fd12:3456::1 fe80::1 febf::1 fec0::1 ff02::1 100::1";
        for ip in special.split_whitespace() {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
        let public = "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.0.1 100.128.0.1 126.0.0.1 128.0.0.1 169.253.0.1 172.15.0.1 \
                      172.32.0.1 192.167.0.1 192.169.0.1 223.255.255.255 2606:4700::1111 2001:4860:4860::8888 \
                      64:ff9b::808:808 2002:808:808::1 ::ffff:8.8.8.8";
        for ip in public.split_whitespace() {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
    }
}
