//! Configuration: database URL and limits.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::error::StoreError;

/// Location of the database.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// `sqlite:PATH`, or a path alone.
    Sqlite(PathBuf),
    /// `sqlite::memory:`: a private, empty database that is deleted with the store, for tests.
    Temporary,
    /// `mysql://USER:PASSWORD@HOST:PORT/DATABASE`, with parameters for sockets, TLS and encodings (`docs/server.md`).
    MySql(String),
}

/// Omits the password.
impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DatabaseUrl::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            DatabaseUrl::Temporary => f.write_str("sqlite::memory:"),
            DatabaseUrl::MySql(url) => {
                let url = url.strip_prefix("mysql://").unwrap_or(url);
                let redacted = url.rsplit_once('@').map_or(url, |(_, rest)| rest);
                write!(f, "mysql://{redacted}")
            }
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        if text == "sqlite::memory:" || text == ":memory:" {
            return Ok(DatabaseUrl::Temporary);
        }
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() {
                Err(StoreError::Config("the database URL has no file name".to_owned()))
            } else {
                Ok(DatabaseUrl::Sqlite(path.into()))
            };
        }
        if let Some(rest) = text.strip_prefix("mariadb://") {
            return Ok(DatabaseUrl::MySql(format!("mysql://{rest}")));
        }
        match text.split_once("://") {
            Some(("mysql", _)) => Ok(DatabaseUrl::MySql(text.to_owned())),
            Some((scheme, _)) => Err(StoreError::Config(format!(
                "`{scheme}` is no kind of database that is known: use sqlite:PATH or mysql://USER:PASSWORD@HOST/DATABASE"
            ))),
            None if text.is_empty() => Err(StoreError::Config("the database URL is empty".to_owned())),
            None => Ok(DatabaseUrl::Sqlite(text.into())),
        }
    }
}

/// Configuration of a database.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoreConfig {
    /// Location of the database.
    pub url: DatabaseUrl,
    /// Prefix of table names: letters, digits and underscores.
    pub table_prefix: String,
    /// Number of read connections. 0 chooses by the number of processors (SQLite: 3/2 and one more; MySQL: four
    /// per processor, 8 to 64).
    pub readers: usize,
    /// Time limit for a statement within [`crate::Database::read`]; `None` is unlimited.
    pub read_timeout: Option<Duration>,
    /// How long to wait for a free connection, for another writer, or for space in the write queue.
    pub wait_timeout: Duration,
    /// Whether each commit waits for the disk, so that acknowledged writes survive a power failure (SQLite).
    pub durable: bool,
    /// Whether the write-ahead log can be followed ([`Database::log_reader`](crate::Database::log_reader)). The log then stays when the
    /// database is closed, so that it can be followed from where it was (SQLite).
    pub follow_log: bool,
    /// Memory for pages of the database, in bytes, for all connections together (SQLite). Other pages are read through the
    /// memory of the operating system.
    pub page_cache: u64,
    /// How many changes the table of changes keeps. `None` is the default number on SQLite, whose caches need the table, and no
    /// table on servers. With a number, a server gets the table `{prefix}svc_changes`.
    pub change_log: Option<u32>,
    /// How long list totals may be cached without validation, on MySQL servers where other processes may write.
    pub staleness: Duration,
    /// URLs of read replicas of a MariaDB server, which answer reads of contexts with a [`Freshness`](svc_versions::Freshness).
    pub replicas: Vec<String>,
    /// How old the data of a replica may be for reads that need not be current.
    pub replica_staleness: Duration,
}

impl StoreConfig {
    /// How many changes are kept by default.
    pub const DEFAULT_CHANGE_LOG: u32 = 100_000;

    /// The defaults: prefix `wp_`, readers by the number of processors, 10 seconds per read, 5 seconds of waiting, durable.
    pub fn new(url: DatabaseUrl) -> Self {
        StoreConfig {
            url,
            table_prefix: "wp_".to_owned(),
            readers: 0,
            read_timeout: Some(Duration::from_secs(10)),
            wait_timeout: Duration::from_secs(5),
            durable: true,
            follow_log: false,
            page_cache: 16 << 20,
            change_log: None,
            staleness: Duration::ZERO,
            replicas: Vec::new(),
            replica_staleness: Duration::from_secs(1),
        }
    }

    /// Rejects invalid settings.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let is_valid =
            self.table_prefix.len() <= 40 && self.table_prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if is_valid {
            Ok(())
        } else {
            Err(StoreError::Config("the table prefix must have at most 40 letters, digits and underscores".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_urls() {
        let rows = [
            ("sqlite:/a/b.db", "sqlite:/a/b.db"),
            ("sqlite://a.db", "sqlite:a.db"),
            ("site.db", "sqlite:site.db"),
            ("sqlite::memory:", "sqlite::memory:"),
            ("mysql://u:secret@h:3306/db", "mysql://h:3306/db"),
            ("mariadb://h/db", "mysql://h/db"),
        ];
        for (text, redacted) in rows {
            assert_eq!(format!("{:?}", text.parse::<DatabaseUrl>().unwrap()), redacted);
        }
        for text in ["", "sqlite:", "postgres://h/db"] {
            assert!(text.parse::<DatabaseUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn table_prefixes() {
        let mut config = StoreConfig::new(DatabaseUrl::Temporary);
        for (prefix, is_valid) in [("wp_", true), ("", true), ("a1_B", true), ("a-b", false), ("x`;", false)] {
            config.table_prefix = prefix.to_owned();
            assert_eq!(config.check().is_ok(), is_valid, "{prefix}");
        }
    }
}
