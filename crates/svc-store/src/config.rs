//! Which database a store opens, and its limits.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::error::StoreError;

/// Where the database is.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// `sqlite:PATH`, or a path alone.
    Sqlite(PathBuf),
    /// `sqlite::memory:`: an empty database of its own that is gone with the store, for tests.
    Temporary,
    /// `mysql://USER:PASSWORD@HOST:PORT/DATABASE`, with parameters for sockets, TLS and encodings (`docs/server.md`).
    MySql(String),
}

/// Shows no password.
impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DatabaseUrl::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            DatabaseUrl::Temporary => f.write_str("sqlite::memory:"),
            DatabaseUrl::MySql(url) => {
                let url = url.strip_prefix("mysql://").unwrap_or(url);
                let shown = url.rsplit_once('@').map_or(url, |(_, rest)| rest);
                write!(f, "mysql://{shown}")
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
                Err(StoreError::Config("the database address names no file".to_owned()))
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
            None if text.is_empty() => Err(StoreError::Config("the database address is empty".to_owned())),
            None => Ok(DatabaseUrl::Sqlite(text.into())),
        }
    }
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// Where the database is.
    pub url: DatabaseUrl,
    /// What table names begin with: letters, digits and underscores.
    pub table_prefix: String,
    /// Connections for reading; zero takes as many as there are processors (MySQL: at least eight).
    pub readers: usize,
    /// How long a statement may run within [`crate::Store::read`]; `None` is without limit.
    pub read_limit: Option<Duration>,
    /// How long to wait for a free connection, for another writer, or for room in the queue of writes.
    pub wait: Duration,
    /// Wait for the disk at each commit, so that acknowledged writes outlive a power cut (SQLite).
    pub durable: bool,
    /// How long totals of lists may be kept without asking, on MySQL where another process may write.
    pub staleness: Duration,
}

impl StoreConfig {
    /// The defaults: prefix `wp_`, as many readers as processors, ten seconds for a read, five for waiting, durable.
    pub fn new(url: DatabaseUrl) -> Self {
        StoreConfig {
            url,
            table_prefix: "wp_".to_owned(),
            readers: 0,
            read_limit: Some(Duration::from_secs(10)),
            wait: Duration::from_secs(5),
            durable: true,
            staleness: Duration::ZERO,
        }
    }

    /// Refuses settings that cannot work.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let fits =
            self.table_prefix.len() <= 40 && self.table_prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if fits {
            Ok(())
        } else {
            Err(StoreError::Config("a table prefix is at most 40 letters, digits and underscores".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let rows = [
            ("sqlite:/a/b.db", "sqlite:/a/b.db"),
            ("sqlite://a.db", "sqlite:a.db"),
            ("site.db", "sqlite:site.db"),
            ("sqlite::memory:", "sqlite::memory:"),
            ("mysql://u:secret@h:3306/db", "mysql://h:3306/db"),
            ("mariadb://h/db", "mysql://h/db"),
        ];
        for (text, shown) in rows {
            assert_eq!(format!("{:?}", text.parse::<DatabaseUrl>().unwrap()), shown);
        }
        for text in ["", "sqlite:", "postgres://h/db"] {
            assert!(text.parse::<DatabaseUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn prefixes() {
        let mut config = StoreConfig::new(DatabaseUrl::Temporary);
        for (prefix, fits) in [("wp_", true), ("", true), ("a1_B", true), ("a-b", false), ("x`;", false)] {
            config.table_prefix = prefix.to_owned();
            assert_eq!(config.check().is_ok(), fits, "{prefix}");
        }
    }
}
