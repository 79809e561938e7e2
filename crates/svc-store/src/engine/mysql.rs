//! The MySQL protocol through the `mysql` crate: opening, values, errors, rows.

use std::time::Duration;

use ::mysql::prelude::Queryable as _;
use ::mysql::{Error, Opts, OptsBuilder, Params, SslOpts, Value};
use sea_query::Value as Bound;

use crate::dialect::Dialect;
use crate::engine::{Cells, Conn, Done, Row, no_column};
use crate::error::{Result, StoreError};

/// How many prepared statements a connection keeps.
const STATEMENTS: usize = 256;

/// The largest packet that the client takes; the server has a limit of its own.
const PACKET: usize = 1 << 30;

/// How texts are encoded unless an address says otherwise.
const CHARSET: &str = "utf8mb4";

/// Errors after which the whole transaction may be run again: a row has changed since the snapshot (MariaDB with
/// `innodb_snapshot_isolation`), lock wait timeout, deadlock, and the conflicts that clusters report at commit (Galera, group
/// replication).
const AGAIN: [u16; 5] = [1020, 1205, 1213, 1180, 3101];

/// A connection to a server.
pub(crate) struct MySql {
    raw: ::mysql::Conn,
    broken: bool,
    again: bool,
}

/// A server and how it is spoken to.
pub(crate) struct Server {
    opts: Opts,
    /// The encoding that texts are sent and received in.
    charset: String,
}

impl Server {
    /// Reads an address, so that mistakes are told at start: `mysql://USER:PASSWORD@HOST:PORT/DATABASE`, and after a
    /// question mark, joined by `&`:
    ///
    /// - `socket=PATH`: a unix socket instead of host and port;
    /// - `tls=true`, `tls=unverified`: only over TLS, the server's certificate checked against those of public
    ///   authorities, or not at all;
    /// - `tls_ca=FILE`: over TLS, and certificates of these authorities (PEM) count as well;
    /// - `charset=NAME`: how texts are encoded on the wire, for tables that hold other bytes than they say.
    pub(crate) fn of(url: &str) -> Result<Self> {
        let told = |what: String| StoreError::Config(format!("the database address {what}"));
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let opts = Opts::from_url(base)
            .map_err(|_| told("cannot be read: mysql://USER:PASSWORD@HOST:PORT/DATABASE".to_owned()))?;
        if opts.get_db_name().is_none_or(str::is_empty) {
            return Err(told("names no database".to_owned()));
        }
        let (mut socket, mut charset) = (None, CHARSET.to_owned());
        let mut tls: Option<SslOpts> = None;
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned();
            match (name, value.as_str()) {
                ("socket", path) if !path.is_empty() => socket = Some(value),
                ("tls", "true") => tls = Some(tls.unwrap_or_default()),
                ("tls", "false") => tls = None,
                ("tls", "unverified") => {
                    let any = tls.unwrap_or_default();
                    tls = Some(any.with_danger_accept_invalid_certs(true).with_danger_skip_domain_validation(true));
                }
                ("tls_ca", path) if !path.is_empty() => {
                    if !std::path::Path::new(path).is_file() {
                        return Err(told(format!("names the certificates {path}, which is no file")));
                    }
                    tls = Some(tls.unwrap_or_default().with_root_cert_path(Some(std::path::PathBuf::from(value))));
                }
                ("charset", name) => {
                    charset = encoding(name).ok_or_else(|| told(format!("has no charset `{name}`")))?
                }
                (name, _) => return Err(told(format!("has a parameter `{name}` that is not known, or no such value"))),
            }
        }
        if tls.is_some() {
            // Where several are built in, rustls wants one to be chosen. One that was chosen already stays.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        // What goes through a socket does not leave the machine.
        let tls = tls.filter(|_| socket.is_none());
        let opts = OptsBuilder::from_opts(opts)
            .socket(socket)
            .ssl_opts(tls)
            .stmt_cache_size(STATEMENTS)
            .max_allowed_packet(Some(PACKET))
            .prefer_socket(false);
        Ok(Server { opts: opts.into(), charset })
    }
}

/// What a charset of this name is called on the wire; the three-byte `utf8` holds less than texts do.
fn encoding(name: &str) -> Option<String> {
    let fits = name.len() <= 32 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let narrow = name.is_empty() || name.eq_ignore_ascii_case("utf8") || name.eq_ignore_ascii_case("utf8mb3");
    fits.then(|| if narrow { CHARSET.to_owned() } else { name.to_ascii_lowercase() })
}

impl MySql {
    /// Connects; `limit` bounds each statement, `wait` the connecting.
    pub(crate) fn open(server: &Server, limit: Option<Duration>, wait: Duration) -> Result<Self> {
        let opts = OptsBuilder::from_opts(server.opts.clone())
            .tcp_connect_timeout(Some(wait))
            // The server ends long statements itself; this is for a server that is gone.
            .read_timeout(limit.map(|t| t + Duration::from_secs(5)));
        let mut raw = ::mysql::Conn::new(opts).map_err(|e| error(&e))?;
        let names = match server.charset.as_str() {
            CHARSET => format!("SET NAMES {CHARSET} COLLATE utf8mb4_unicode_520_ci"),
            other => format!("SET NAMES {other}"),
        };
        raw.query_drop(names).map_err(|e| error(&e))?;
        // Too long values are errors, as nothing may be lost; the zero date is a value.
        for set in [
            "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'",
            "SET SESSION time_zone = '+00:00'",
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        ] {
            raw.query_drop(set).map_err(|e| error(&e))?;
        }
        // A write to a row that another program has changed since the snapshot is an error, so that the transaction is run again.
        // Older servers, and MySQL, do not know this variable.
        let _ = raw.query_drop("SET SESSION innodb_snapshot_isolation = ON");
        // How long a statement waits for the lock of another program. Not every server that speaks the protocol knows it.
        let _ = raw.query_drop(format!("SET SESSION innodb_lock_wait_timeout = {}", wait.as_secs().max(1)));
        if let Some(limit) = limit {
            // One of the two is known: the first to MariaDB, the second to MySQL.
            let seconds = format!("SET SESSION max_statement_time = {}", limit.as_secs_f64());
            if raw.query_drop(seconds).is_err() {
                let _ = raw.query_drop(format!("SET SESSION max_execution_time = {}", limit.as_millis()));
            }
        }
        Ok(MySql { raw, broken: false, again: false })
    }

    fn note(&mut self, e: &Error) -> StoreError {
        self.broken |= e.is_connectivity_error();
        if let Error::MySqlError(e) = e {
            self.again |= AGAIN.contains(&e.code);
        }
        error(e)
    }
}

impl Conn for MySql {
    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }

    fn query(&mut self, sql: &str, params: &[Bound], each: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        let MySql { raw, .. } = self;
        // An error of `each` ends the reading; what is left of the answer is skipped when it is dropped.
        let read = |rows: &mut dyn Iterator<Item = ::mysql::Result<::mysql::Row>>| -> Result<(), Either> {
            for row in rows {
                each(&Row(Cells::MySql(&row.map_err(Either::Engine)?))).map_err(Either::Caller)?;
            }
            Ok(())
        };
        let mut read = read;
        let done = if params.is_empty() {
            raw.query_iter(sql).map_err(Either::Engine).and_then(|mut rows| read(&mut rows))
        } else {
            raw.exec_iter(sql, bound(params)).map_err(Either::Engine).and_then(|mut rows| read(&mut rows))
        };
        done.map_err(|e| match e {
            Either::Engine(e) => self.note(&e),
            Either::Caller(e) => e,
        })
    }

    fn query_once(&mut self, sql: &str, params: &[Bound], each: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        let done = self.query(sql, params, each);
        if params.is_empty() || self.broken {
            return done;
        }
        let forgotten = self.raw.prep(sql).and_then(|statement| self.raw.close(statement));
        // What went wrong first is told.
        done.and(forgotten.map_err(|e| self.note(&e)))
    }

    fn execute(&mut self, sql: &str, params: &[Bound]) -> Result<Done> {
        let done = if params.is_empty() { self.raw.query_drop(sql) } else { self.raw.exec_drop(sql, bound(params)) };
        done.map_err(|e| self.note(&e))?;
        Ok(Done {
            rows: self.raw.affected_rows(),
            last_id: i64::try_from(self.raw.last_insert_id()).unwrap_or(i64::MAX),
        })
    }

    fn broken(&self) -> bool {
        self.broken
    }

    fn take_again(&mut self) -> bool {
        std::mem::take(&mut self.again)
    }
}

/// Whose error it is.
enum Either {
    Engine(Error),
    Caller(StoreError),
}

fn bound(params: &[Bound]) -> Params {
    Params::Positional(params.iter().map(value).collect())
}

/// A value of sea-query for the protocol.
fn value(v: &Bound) -> Value {
    let v = match v {
        Bound::Bool(v) => v.map(|v| Value::Int(v.into())),
        Bound::TinyInt(v) => v.map(|v| Value::Int(v.into())),
        Bound::SmallInt(v) => v.map(|v| Value::Int(v.into())),
        Bound::Int(v) => v.map(|v| Value::Int(v.into())),
        Bound::BigInt(v) => v.map(Value::Int),
        Bound::TinyUnsigned(v) => v.map(|v| Value::UInt(v.into())),
        Bound::SmallUnsigned(v) => v.map(|v| Value::UInt(v.into())),
        Bound::Unsigned(v) => v.map(|v| Value::UInt(v.into())),
        Bound::BigUnsigned(v) => v.map(Value::UInt),
        Bound::Float(v) => v.map(Value::Float),
        Bound::Double(v) => v.map(Value::Double),
        Bound::String(v) => v.as_ref().map(|v| Value::Bytes(v.as_bytes().to_vec())),
        Bound::Bytes(v) => v.as_ref().map(|v| Value::Bytes(v.clone())),
        Bound::Char(v) => v.map(|v| Value::Bytes(v.to_string().into_bytes())),
        Bound::Enum(_) => None,
    };
    v.unwrap_or(Value::NULL)
}

fn cell(row: &::mysql::Row, column: usize) -> Result<&Value> {
    row.as_ref(column).ok_or_else(|| no_column(column))
}

/// A whole number.
pub(crate) fn int(row: &::mysql::Row, column: usize) -> Result<i64> {
    Ok(match cell(row, column)? {
        Value::Int(n) => *n,
        Value::UInt(n) => i64::try_from(*n).unwrap_or(i64::MAX),
        Value::Double(n) => *n as i64,
        Value::Float(n) => *n as i64,
        Value::Bytes(b) => std::str::from_utf8(b).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0),
        _ => 0,
    })
}

/// The bytes of a text, a date as text.
pub(crate) fn bytes(row: &::mysql::Row, column: usize) -> Result<Option<Vec<u8>>> {
    Ok(match cell(row, column)? {
        Value::NULL => None,
        Value::Bytes(b) => Some(b.clone()),
        Value::Int(n) => Some(n.to_string().into_bytes()),
        Value::UInt(n) => Some(n.to_string().into_bytes()),
        Value::Float(n) => Some(n.to_string().into_bytes()),
        Value::Double(n) => Some(n.to_string().into_bytes()),
        Value::Date(y, mo, d, h, mi, s, _) => Some(format!("{y:04}-{mo:02}-{d:02} {h:02}:{mi:02}:{s:02}").into_bytes()),
        Value::Time(..) => None,
    })
}

/// An error of the server or the connection in the store's words.
fn error(e: &Error) -> StoreError {
    let Error::MySqlError(server) = e else {
        return match e {
            Error::IoError(_) | Error::DriverError(_) | Error::CodecError(_) => StoreError::Unavailable(e.to_string()),
            _ => StoreError::Other(e.to_string()),
        };
    };
    let message = server.message.clone();
    match server.code {
        1020 | 1205 | 1213 | 1180 | 3101 | 1040 | 1203 | 1226 => StoreError::Busy,
        // Killed, shutting down, too long; the last two are MySQL's and MariaDB's own limits for a statement.
        1053 | 1927 | 1047 => StoreError::Unavailable(message),
        1317 | 3024 | 1969 => StoreError::Deadline,
        1044 | 1045 | 1049 | 1698 => StoreError::Unavailable(message),
        1062 => StoreError::Duplicate(message),
        1146 | 1054 => StoreError::Schema(message),
        1021 | 1114 => StoreError::Full,
        1290 | 1836 | 1792 => StoreError::ReadOnly,
        1034 | 1035 | 1194 | 1712 => StoreError::Corrupt(message),
        _ => StoreError::Other(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(url: &str) -> String {
        Server::of(url).err().unwrap().to_string()
    }

    #[test]
    fn addresses_that_cannot_work_are_told_without_their_password() {
        let base = "mysql://u:secret@h";
        for rest in ["", "/", ":port/db", "/db?tls=maybe", "/db?sockets=x", "/db?charset=a;b", "/db?tls_ca=/no/file"] {
            let told = told(&format!("{base}{rest}"));
            assert!(told.starts_with("the database address") && !told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn addresses() {
        let opts = |url: &str| Server::of(url).unwrap().opts;
        let plain = opts("mysql://u:p%40@127.0.0.1:3307/d%2Fb");
        assert_eq!((plain.get_pass(), plain.get_tcp_port(), plain.get_db_name()), (Some("p@"), 3307, Some("d/b")));
        assert!(plain.get_ssl_opts().is_none());
        assert_eq!(opts("mysql://h/db?socket=%2Frun%2Fx").get_socket(), Some("/run/x"));
        assert!(opts("mysql://h/db?tls=true").get_ssl_opts().is_some_and(|tls| !tls.accept_invalid_certs()));
        assert!(opts("mysql://h/db?tls=unverified").get_ssl_opts().is_some_and(SslOpts::accept_invalid_certs));
        assert!(opts("mysql://h/db?tls=true&socket=/run/x").get_ssl_opts().is_none());
        assert_eq!(opts("mysql://[::1]:3308/db").get_ip_or_hostname(), "[::1]");
        for (name, used) in [("latin1", "latin1"), ("utf8", "utf8mb4"), ("", "utf8mb4"), ("UTF8MB4", "utf8mb4")] {
            assert_eq!(Server::of(&format!("mysql://h/db?charset={name}")).unwrap().charset, used);
        }
    }
}
