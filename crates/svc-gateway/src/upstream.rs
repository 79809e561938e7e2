//! The address of an upstream.

use std::{fmt, str::FromStr};

use http::{Uri, uri::Authority};

/// Maximum length of a Unix socket's path, in bytes: that of `sockaddr_un` without its final NUL, on the systems where it is shortest.
const MAX_SOCKET_PATH: usize = 103;

/// The text is not the URL of an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a URL like http://127.0.0.1:8081, fastcgi://127.0.0.1:9000 or fastcgi:/run/php/php-fpm.sock, without TLS, \
     and without a path after the port"
)]
pub struct InvalidUpstream;

/// The server that requests are forwarded to.
///
/// - `http://HOST:PORT` is a web server.
/// - `fastcgi://HOST:PORT` and `fastcgi:/PATH/OF/SOCKET` are php-fpm, over TCP or a Unix socket. The latter needs a Unix system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream(pub(crate) Address);

/// How an upstream is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A web server.
    Http(Authority),
    /// A FastCGI server over TCP.
    FastCgi(Authority),
    /// A FastCGI server at a Unix socket.
    Socket(String),
}

impl Upstream {
    /// Host and port, or the path of the Unix socket.
    pub fn authority(&self) -> &str {
        match &self.0 {
            Address::Http(authority) | Address::FastCgi(authority) => authority.as_str(),
            Address::Socket(path) => path,
        }
    }

    /// The host, without the brackets of an IPv6 address. Empty for a Unix socket.
    pub fn host(&self) -> &str {
        match &self.0 {
            Address::Http(authority) | Address::FastCgi(authority) => {
                authority.host().trim_start_matches('[').trim_end_matches(']')
            }
            Address::Socket(_) => "",
        }
    }

    /// The port; 80 or, for FastCGI, 9000 by default. 0 for a Unix socket.
    pub fn port(&self) -> u16 {
        match &self.0 {
            Address::Http(authority) => authority.port_u16().unwrap_or(80),
            Address::FastCgi(authority) => authority.port_u16().unwrap_or(9000),
            Address::Socket(_) => 0,
        }
    }

    /// Whether the upstream runs scripts for this server, which serves the files of the site itself.
    pub fn is_fastcgi(&self) -> bool {
        !matches!(self.0, Address::Http(_))
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Address::Http(authority) => write!(f, "http://{authority}"),
            Address::FastCgi(authority) => write!(f, "fastcgi://{authority}"),
            Address::Socket(path) => write!(f, "fastcgi:{path}"),
        }
    }
}

impl FromStr for Upstream {
    type Err = InvalidUpstream;

    fn from_str(text: &str) -> Result<Self, InvalidUpstream> {
        if let Some(path) = text.strip_prefix("fastcgi:").filter(|rest| !rest.starts_with("//")) {
            let is_path = path.starts_with('/') && !path.ends_with('/') && !path.contains('\0');
            return match cfg!(unix) && is_path && path.len() <= MAX_SOCKET_PATH {
                true => Ok(Upstream(Address::Socket(path.to_owned()))),
                false => Err(InvalidUpstream),
            };
        }
        let url: Uri = text.parse().map_err(|_| InvalidUpstream)?;
        let authority = url.authority().filter(|a| !a.as_str().contains('@') && !a.host().is_empty());
        let is_bare = matches!(url.path(), "" | "/") && url.query().is_none() && !text.contains('#');
        match (url.scheme_str(), authority) {
            (Some("http"), Some(authority)) if is_bare => Ok(Upstream(Address::Http(authority.clone()))),
            (Some("fastcgi"), Some(authority)) if is_bare => Ok(Upstream(Address::FastCgi(authority.clone()))),
            _ => Err(InvalidUpstream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstreams() {
        for (text, parsed) in [
            ("http://127.0.0.1:8081", Some(("127.0.0.1:8081", "127.0.0.1", 8081, false))),
            ("http://[::1]:81/", Some(("[::1]:81", "::1", 81, false))),
            ("http://php", Some(("php", "php", 80, false))),
            ("fastcgi://127.0.0.1:9001", Some(("127.0.0.1:9001", "127.0.0.1", 9001, true))),
            ("fastcgi://[::1]", Some(("[::1]", "::1", 9000, true))),
            ("fastcgi://run/php/php-fpm.sock", None),
            ("fastcgi:///run/php/php-fpm.sock", None),
            ("fastcgi:run/php-fpm.sock", None),
            ("fastcgi:/run/", None),
            ("fastcgi:", None),
            ("https://php", None),
            ("http://php/blog", None),
            ("http://php?a", None),
            ("http://u@php", None),
            ("127.0.0.1:80", None),
            ("", None),
        ] {
            let upstream = text.parse::<Upstream>().ok();
            let found = upstream.as_ref().map(|u| (u.authority(), u.host(), u.port(), u.is_fastcgi()));
            assert_eq!(found, parsed, "{text}");
            if let Some(upstream) = upstream {
                assert_eq!(upstream.to_string(), text.trim_end_matches('/'));
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn sockets() {
        let upstream: Upstream = "fastcgi:/run/php/php-fpm.sock".parse().unwrap();
        assert_eq!((upstream.authority(), upstream.host(), upstream.port()), ("/run/php/php-fpm.sock", "", 0));
        assert_eq!(upstream.to_string(), "fastcgi:/run/php/php-fpm.sock");
        let long = format!("fastcgi:/{}", "a".repeat(MAX_SOCKET_PATH));
        assert!(long.parse::<Upstream>().is_err());
    }
}
