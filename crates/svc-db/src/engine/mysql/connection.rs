//! The MySQL protocol, with the `mysql` crate: connecting, values, errors, rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ::mysql::prelude::Queryable as _;
use ::mysql::{Error, Opts, OptsBuilder, Params, SslOpts, Value};
use sea_query::Value as Bound;

use super::dialect::MySqlDialect;
use crate::config::DatabaseUrl;
use crate::conn::{Cells, Conn, Done, Row, no_column};
use crate::dialect::SqlDialect;
use crate::error::{Result, StoreError};

/// Maximum number of prepared statements per connection.
const MAX_CACHED_STATEMENTS: usize = 256;

/// Maximum packet size of the client, in bytes. The server has its own limit.
const MAX_PACKET_BYTES: usize = 1 << 30;

/// Default character set of a connection.
const CHARSET: &str = "utf8mb4";

/// Errors after which the transaction may be run again: a row has changed since the snapshot (MariaDB with
/// `innodb_snapshot_isolation`), lock wait timeout, deadlock, and commit conflicts of clusters (Galera, group
/// replication).
const RETRYABLE: [u16; 5] = [1020, 1205, 1213, 1180, 3101];

/// How long a server may do nothing within a transaction.
const MAX_IDLE: Duration = Duration::from_secs(20);

/// Begins a transaction that writes.
pub(super) const BEGIN: &str = "START TRANSACTION";

/// Ends a transaction of either kind.
pub(super) const COMMIT: &str = "COMMIT";

/// Ends a transaction without storing what it has written.
pub(super) const ROLL_BACK: &str = "ROLLBACK";

/// A connection to a server.
pub(crate) struct MySql {
    raw: ::mysql::Conn,
    busy: Arc<BusyTime>,
    broken: bool,
    may_retry: bool,
    /// Whether a transaction that writes has begun and not ended.
    writes: bool,
    /// Whether a statement of that transaction has failed, so that the server may have ended it. Further statements would be committed
    /// one by one, and the commit would succeed without it. They are refused.
    failed: bool,
}

/// Connection parameters of a server.
pub(crate) struct ServerOptions {
    opts: Opts,
    /// Character set of the connection.
    charset: String,
    /// Of all connections with these parameters.
    pub(super) busy: Arc<BusyTime>,
}

/// How long statements have taken on a server, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct BusyTime(AtomicU64);

impl BusyTime {
    pub(super) fn nanos(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// The connection parameters of a database server, for connections beside those of a
/// [`Database`](crate::Database).
///
/// # Errors
/// If the URL is invalid, or is not that of a database server.
pub fn mysql_options(url: &DatabaseUrl) -> Result<Opts> {
    match url {
        DatabaseUrl::MySql(url) => Ok(ServerOptions::of(url)?.opts),
        DatabaseUrl::Sqlite(_) | DatabaseUrl::Temporary => {
            Err(StoreError::Config("the database must be one of a MySQL or MariaDB server".to_owned()))
        }
    }
}

impl ServerOptions {
    /// Returns whether connections use Unicode.
    pub(crate) fn is_unicode(&self) -> bool {
        self.charset == CHARSET
    }

    /// Parses a database URL so that mistakes are reported at startup: `mysql://USER:PASSWORD@HOST:PORT/DATABASE`,
    /// optionally followed by a question mark and parameters joined by `&`:
    ///
    /// - `socket=PATH`: connect to a Unix socket instead of host and port;
    /// - `tls=true`, `tls=unverified`: require TLS, with or without verification of the server's certificate against
    ///   public authorities;
    /// - `tls_ca=FILE`: require TLS, and also accept certificates of these authorities (PEM);
    /// - `charset=NAME`: character set of the connection, for tables whose bytes differ from their declared character
    ///   set.
    pub(crate) fn of(url: &str) -> Result<Self> {
        let config_error = |what: String| StoreError::Config(format!("the database URL {what}"));
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let opts = Opts::from_url(base)
            .map_err(|_| config_error("is invalid, expected mysql://USER:PASSWORD@HOST:PORT/DATABASE".to_owned()))?;
        if opts.get_db_name().is_none_or(str::is_empty) {
            return Err(config_error("has no database name".to_owned()));
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
                        return Err(config_error(format!(
                            "refers to the certificate file {path}, which does not exist"
                        )));
                    }
                    tls = Some(tls.unwrap_or_default().with_root_cert_path(Some(std::path::PathBuf::from(value))));
                }
                ("charset", name) => {
                    charset = encoding(name).ok_or_else(|| config_error(format!("has the unknown charset `{name}`")))?
                }
                (name, _) => {
                    return Err(config_error(format!("has an unknown parameter `{name}` or an invalid value for it")));
                }
            }
        }
        if tls.is_some() {
            // rustls requires a default provider if several are compiled in. One that is already installed stays.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        // Socket connections do not leave the machine.
        let tls = tls.filter(|_| socket.is_none());
        let opts = OptsBuilder::from_opts(opts)
            .socket(socket)
            .ssl_opts(tls)
            .stmt_cache_size(MAX_CACHED_STATEMENTS)
            .max_allowed_packet(Some(MAX_PACKET_BYTES))
            .prefer_socket(false);
        Ok(ServerOptions { opts: opts.into(), charset, busy: Arc::default() })
    }
}

/// The connection's name for a character set. The three-byte `utf8` cannot represent all texts.
fn encoding(name: &str) -> Option<String> {
    let is_valid = name.len() <= 32 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_utf8 = name.is_empty() || name.eq_ignore_ascii_case("utf8") || name.eq_ignore_ascii_case("utf8mb3");
    is_valid.then(|| if is_utf8 { CHARSET.to_owned() } else { name.to_ascii_lowercase() })
}

impl MySql {
    /// Connects. `limit` is the time limit per statement, `wait` the connect timeout.
    pub(crate) fn open(server: &ServerOptions, limit: Option<Duration>, wait: Duration) -> Result<Self> {
        let opts = OptsBuilder::from_opts(server.opts.clone())
            .tcp_connect_timeout(Some(wait))
            // The server itself ends long statements; this timeout detects a server that is gone.
            .read_timeout(limit.map(|t| t + Duration::from_secs(5)));
        let mut raw = ::mysql::Conn::new(opts).map_err(|e| error(&e))?;
        let names = match server.charset.as_str() {
            CHARSET => format!("SET NAMES {CHARSET} COLLATE utf8mb4_unicode_520_ci"),
            other => format!("SET NAMES {other}"),
        };
        raw.query_drop(names).map_err(|e| error(&e))?;
        // Values that are too long are errors, so that no data is lost. The zero date is a valid value.
        for set in [
            "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'",
            "SET SESSION time_zone = '+00:00'",
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        ] {
            raw.query_drop(set).map_err(|e| error(&e))?;
        }
        // With this setting, writing to a row that another program changed since the snapshot fails, and the
        // transaction is run again. Older servers and MySQL do not support it.
        let _ = raw.query_drop("SET SESSION innodb_snapshot_isolation = ON");
        // On a node of a Galera cluster, a snapshot contains what was committed on other nodes before. Other servers ignore it or do
        // not know it.
        let _ = raw.query_drop("SET SESSION wsrep_sync_wait = 1");
        // Timeout for locks of other programs. Not every compatible server supports it.
        let _ = raw.query_drop(format!("SET SESSION innodb_lock_wait_timeout = {}", wait.as_secs().max(1)));
        if let Some(limit) = limit {
            // MariaDB closes the connection of a server that hangs within a transaction, which others wait for. MySQL cannot.
            let _ = raw.query_drop(format!("SET SESSION idle_transaction_timeout = {}", MAX_IDLE.as_secs()));
            // MariaDB supports the first variable, MySQL the second.
            let seconds = format!("SET SESSION max_statement_time = {}", limit.as_secs_f64());
            if raw.query_drop(seconds).is_err() {
                let _ = raw.query_drop(format!("SET SESSION max_execution_time = {}", limit.as_millis()));
            }
        }
        Ok(MySql { raw, busy: Arc::clone(&server.busy), broken: false, may_retry: false, writes: false, failed: false })
    }

    fn convert_error(&mut self, e: &Error) -> StoreError {
        self.broken |= e.is_connectivity_error();
        if let Error::MySqlError(e) = e {
            self.may_retry |= RETRYABLE.contains(&e.code);
        }
        let error = error(e);
        // The server rejects a duplicate, or a statement with a name that it does not know, and nothing else.
        self.failed |= self.writes && !matches!(error, StoreError::Duplicate(_) | StoreError::Schema(_));
        error
    }

    /// Call it before each statement.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if an earlier statement of the transaction has failed.
    fn check(&self, sql: &str) -> Result<()> {
        if self.failed && sql != ROLL_BACK { Err(StoreError::Busy) } else { Ok(()) }
    }
}

impl Conn for MySql {
    fn sql(&self) -> &'static dyn SqlDialect {
        &MySqlDialect
    }

    fn query(&mut self, sql: &str, params: &[Bound], each: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        self.check(sql)?;
        let begun = Instant::now();
        let MySql { raw, .. } = self;
        // An error of `each` stops reading. The rest of the result is skipped on drop.
        let read = |rows: &mut dyn Iterator<Item = ::mysql::Result<::mysql::Row>>| -> Result<(), QueryError> {
            for row in rows {
                each(&Row(&row.map_err(QueryError::Engine)?)).map_err(QueryError::Caller)?;
            }
            Ok(())
        };
        let mut read = read;
        let done = if params.is_empty() {
            raw.query_iter(sql).map_err(QueryError::Engine).and_then(|mut rows| read(&mut rows))
        } else {
            raw.exec_iter(sql, bound(params)).map_err(QueryError::Engine).and_then(|mut rows| read(&mut rows))
        };
        self.busy.add(begun.elapsed());
        done.map_err(|e| match e {
            QueryError::Engine(e) => self.convert_error(&e),
            QueryError::Caller(e) => e,
        })
    }

    fn query_once(&mut self, sql: &str, params: &[Bound], each: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        let done = self.query(sql, params, each);
        if params.is_empty() || self.broken {
            return done;
        }
        let closed = self.raw.prep(sql).and_then(|statement| self.raw.close(statement));
        // Report the first error.
        done.and(closed.map_err(|e| self.convert_error(&e)))
    }

    fn execute(&mut self, sql: &str, params: &[Bound]) -> Result<Done> {
        self.check(sql)?;
        let begun = Instant::now();
        let done = if params.is_empty() { self.raw.query_drop(sql) } else { self.raw.exec_drop(sql, bound(params)) };
        self.busy.add(begun.elapsed());
        let done = done.map_err(|e| self.convert_error(&e));
        match sql {
            BEGIN => self.writes = done.is_ok(),
            COMMIT => self.writes = false,
            ROLL_BACK => (self.writes, self.failed) = (false, false),
            _ => {}
        }
        done?;
        Ok(Done {
            rows: self.raw.affected_rows(),
            last_id: i64::try_from(self.raw.last_insert_id()).unwrap_or(i64::MAX),
        })
    }

    fn broken(&self) -> bool {
        self.broken
    }

    fn take_may_retry(&mut self) -> bool {
        std::mem::take(&mut self.may_retry)
    }
}

/// The origin of an error.
enum QueryError {
    Engine(Error),
    Caller(StoreError),
}

fn bound(params: &[Bound]) -> Params {
    Params::Positional(params.iter().map(value).collect())
}

/// Converts a sea-query value for the protocol.
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

impl Cells for ::mysql::Row {
    fn int(&self, column: usize) -> Result<i64> {
        Ok(match cell(self, column)? {
            Value::Int(n) => *n,
            Value::UInt(n) => i64::try_from(*n).unwrap_or(i64::MAX),
            Value::Double(n) => *n as i64,
            Value::Float(n) => *n as i64,
            Value::Bytes(b) => std::str::from_utf8(b).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0),
            _ => 0,
        })
    }

    /// The bytes of a text, or a date as text.
    fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>> {
        Ok(match cell(self, column)? {
            Value::NULL => None,
            Value::Bytes(b) => Some(b.clone()),
            Value::Int(n) => Some(n.to_string().into_bytes()),
            Value::UInt(n) => Some(n.to_string().into_bytes()),
            Value::Float(n) => Some(n.to_string().into_bytes()),
            Value::Double(n) => Some(n.to_string().into_bytes()),
            Value::Date(y, mo, d, h, mi, s, _) => {
                Some(format!("{y:04}-{mo:02}-{d:02} {h:02}:{mi:02}:{s:02}").into_bytes())
            }
            Value::Time(..) => None,
        })
    }
}

/// Converts an error of the server or the connection.
fn error(e: &Error) -> StoreError {
    let Error::MySqlError(server) = e else {
        return match e {
            // The library's own text of these contains the name of the variant.
            Error::IoError(e) => StoreError::Unavailable(e.to_string()),
            Error::DriverError(e) => StoreError::Unavailable(e.to_string()),
            Error::CodecError(e) => StoreError::Unavailable(e.to_string()),
            _ => StoreError::Other(e.to_string()),
        };
    };
    let message = server.message.clone();
    match server.code {
        1020 | 1205 | 1213 | 1180 | 3101 | 1040 | 1203 | 1226 => StoreError::Busy,
        // Killed, shutting down, or too slow. The last two codes are MySQL's and MariaDB's own time limits for
        // statements.
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

    fn error_of(url: &str) -> String {
        ServerOptions::of(url).err().unwrap().to_string()
    }

    #[test]
    fn errors_of_invalid_urls_omit_the_password() {
        let base = "mysql://u:secret@h";
        for rest in ["", "/", ":port/db", "/db?tls=maybe", "/db?sockets=x", "/db?charset=a;b", "/db?tls_ca=/no/file"] {
            let error = error_of(&format!("{base}{rest}"));
            assert!(error.starts_with("the database URL") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn urls() {
        let opts = |url: &str| ServerOptions::of(url).unwrap().opts;
        let plain = opts("mysql://u:p%40@127.0.0.1:3307/d%2Fb");
        assert_eq!((plain.get_pass(), plain.get_tcp_port(), plain.get_db_name()), (Some("p@"), 3307, Some("d/b")));
        assert!(plain.get_ssl_opts().is_none());
        assert_eq!(opts("mysql://h/db?socket=%2Frun%2Fx").get_socket(), Some("/run/x"));
        assert!(opts("mysql://h/db?tls=true").get_ssl_opts().is_some_and(|tls| !tls.accept_invalid_certs()));
        assert!(opts("mysql://h/db?tls=unverified").get_ssl_opts().is_some_and(SslOpts::accept_invalid_certs));
        assert!(opts("mysql://h/db?tls=true&socket=/run/x").get_ssl_opts().is_none());
        assert_eq!(opts("mysql://[::1]:3308/db").get_ip_or_hostname(), "[::1]");
        for (name, used) in [("latin1", "latin1"), ("utf8", "utf8mb4"), ("", "utf8mb4"), ("UTF8MB4", "utf8mb4")] {
            assert_eq!(ServerOptions::of(&format!("mysql://h/db?charset={name}")).unwrap().charset, used);
        }
    }
}
