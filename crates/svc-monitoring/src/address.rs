//! The address of the monitoring listener.

use std::{fmt, path::PathBuf, str::FromStr};

/// Prefix of the path of a Unix socket.
const UNIX: &str = "unix:";

/// Where the monitoring listener listens: `127.0.0.1:9090`, a port of the loopback address, or `unix:/path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonitoringAddress {
    /// A host or IP address with a port.
    Tcp(String),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl FromStr for MonitoringAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix(UNIX) {
            return match path.starts_with('/') {
                true if cfg!(unix) => Ok(MonitoringAddress::Unix(path.into())),
                true => Err("Unix sockets do not exist on this system".to_owned()),
                false => Err("the path of a Unix socket must be absolute".to_owned()),
            };
        }
        if text.parse::<u16>().is_ok() {
            return Ok(MonitoringAddress::Tcp(format!("127.0.0.1:{text}")));
        }
        let named = text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
        if named {
            return Ok(MonitoringAddress::Tcp(text.to_owned()));
        }
        Err("must be like 127.0.0.1:9090 or unix:/run/svc/monitoring.sock".to_owned())
    }
}

impl fmt::Display for MonitoringAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MonitoringAddress::Tcp(address) => write!(f, "http://{address}"),
            MonitoringAddress::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, shown) in [
            ("127.0.0.1:9090", "http://127.0.0.1:9090"),
            ("9090", "http://127.0.0.1:9090"),
            ("[::1]:9090", "http://[::1]:9090"),
            ("localhost:0", "http://localhost:0"),
            ("unix:/run/svc/monitoring.sock", "unix:/run/svc/monitoring.sock"),
        ] {
            assert_eq!(text.parse::<MonitoringAddress>().unwrap().to_string(), shown);
        }
        for text in ["", "unix:", "unix:monitoring.sock", "localhost", ":80", "host:port", "/run/x"] {
            assert!(text.parse::<MonitoringAddress>().is_err(), "{text}");
        }
    }
}
