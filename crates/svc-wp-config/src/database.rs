//! Database settings.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that are not percent-encoded in a part of a URL.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Bit of `MYSQL_CLIENT_FLAGS` that requests TLS.
pub(crate) const CLIENT_SSL: i64 = 2048;

/// Bit of `MYSQL_CLIENT_FLAGS` that requests TLS without verification of the server's certificate.
pub(crate) const CLIENT_SSL_UNVERIFIED: i64 = 64;

/// Usual paths of a server's socket, which is what `localhost` refers to.
const SOCKETS: [&str; 4] =
    ["/run/mysqld/mysqld.sock", "/var/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// Default port of MySQL.
const PORT: u16 = 3306;

/// How to connect to the database: the `DB_…` constants and `MYSQL_CLIENT_FLAGS`.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseConstants {
    /// `DB_NAME`.
    pub name: String,
    /// `DB_USER`.
    pub user: String,
    /// `DB_PASSWORD`.
    pub password: String,
    /// Host and port of `DB_HOST` as in a URL: `db.example:3306`, `[::1]:3306`.
    pub host: String,
    /// Path of the server's Unix socket.
    pub socket: Option<String>,
    /// `DB_CHARSET`.
    pub charset: Option<String>,
    /// Whether the connection uses TLS.
    pub tls: Tls,
    /// File that defines `DB_NAME`.
    pub file: PathBuf,
    /// Line of that definition, from 1.
    pub line: usize,
}

impl fmt::Debug for DatabaseConstants {
    /// Leaves out the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DatabaseConstants { name, user, host, socket, charset, tls, .. } = self;
        let mut out = f.debug_struct("Database");
        out.field("name", name).field("user", user).field("host", host).field("socket", socket);
        out.field("charset", charset).field("tls", tls).finish_non_exhaustive()
    }
}

impl DatabaseConstants {
    /// The URL of the database: `mysql://user:password@host:3306/name?charset=utf8mb4`.
    pub fn url(&self) -> String {
        let escape = |text: &str| utf8_percent_encode(text, UNRESERVED).to_string();
        let tls = match self.tls {
            Tls::Off => None,
            Tls::Verified => Some("true"),
            Tls::Unverified => Some("unverified"),
        };
        let parameters = [("socket", self.socket.as_deref()), ("charset", self.charset.as_deref()), ("tls", tls)];
        let query: Vec<String> =
            parameters.iter().filter_map(|(name, value)| Some(format!("{name}={}", escape((*value)?)))).collect();
        let [user, password, name] = [&self.user, &self.password, &self.name].map(|text| escape(text));
        let url = format!("mysql://{user}:{password}@{}/{name}", self.host);
        if query.is_empty() { url } else { format!("{url}?{}", query.join("&")) }
    }
}

/// TLS of a database connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// No TLS.
    #[default]
    Off,
    /// TLS with a verified certificate.
    Verified,
    /// TLS with any certificate.
    Unverified,
}

impl Tls {
    /// Reads the value of `MYSQL_CLIENT_FLAGS`.
    pub(crate) fn from_flags(flags: i64) -> Self {
        if flags & CLIENT_SSL_UNVERIFIED != 0 {
            Tls::Unverified
        } else if flags & CLIENT_SSL != 0 {
            Tls::Verified
        } else {
            Tls::Off
        }
    }
}

/// A parsed `DB_HOST`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DatabaseServer {
    /// Host and port as in a URL.
    pub(crate) host: String,
    pub(crate) socket: Option<String>,
}

impl DatabaseServer {
    /// Parses `host`, `host:port`, `[v6]:port` or a bare IPv6 address, each optionally followed by `:/path/of/socket`, or a
    /// socket's path alone.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (address, socket) = match text.find(":/") {
            Some(i) => (&text[..i], Some(text[i + 1..].to_owned())),
            None if text.starts_with('/') => ("", Some(text.to_owned())),
            None => (text, None),
        };
        // `p:` requests a persistent connection.
        let address = address.strip_prefix("p:").unwrap_or(address);
        let socket = socket.or_else(|| {
            let usual = || SOCKETS.iter().find(|s| Path::new(s).exists()).map(|s| (*s).to_owned());
            (address.is_empty() || address.eq_ignore_ascii_case("localhost")).then(usual).flatten()
        });
        let (host, port) = if let Some(v6) = address.strip_prefix('[') {
            let (host, after) = v6.split_once(']')?;
            (format!("[{host}]"), after.strip_prefix(':'))
        } else if address.matches(':').count() > 1 {
            (format!("[{address}]"), None)
        } else {
            let (host, port) = address.split_once(':').map_or((address, None), |(h, p)| (h, Some(p)));
            (if host.is_empty() { "localhost" } else { host }.to_owned(), port)
        };
        let port = port.filter(|p| !p.is_empty()).map_or(Ok(PORT), str::parse::<u16>).ok()?;
        let is_valid = host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_[]:%".contains(&b));
        is_valid.then(|| DatabaseServer { host: format!("{host}:{port}"), socket })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_server_addresses() {
        let rows = [
            ("h", "h:3306", None),
            ("h:3307", "h:3307", None),
            ("localhost:/run/x.sock", "localhost:3306", Some("/run/x.sock")),
            (":/run/x.sock", "localhost:3306", Some("/run/x.sock")),
            ("/run/x.sock", "localhost:3306", Some("/run/x.sock")),
            ("h:3307:/run/x.sock", "h:3307", Some("/run/x.sock")),
            ("[::1]:3307", "[::1]:3307", None),
            ("::1", "[::1]:3306", None),
            ("p:h", "h:3306", None),
        ];
        for (text, host, socket) in rows {
            let expected = DatabaseServer { host: host.to_owned(), socket: socket.map(str::to_owned) };
            assert_eq!(DatabaseServer::parse(text), Some(expected), "{text}");
        }
        for text in ["h:x", "a b", "h/x", "[::1"] {
            assert_eq!(DatabaseServer::parse(text), None, "{text}");
        }
    }
}
