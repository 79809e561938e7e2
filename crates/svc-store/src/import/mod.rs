//! Imports the SQL dump of a WordPress site (mysqldump, mariadb-dump, phpMyAdmin; plain or gzip).
//!
//! The dump is read as a stream. Rows are loaded into staging tables, because the table prefix is only certain at the
//! end of the dump. The staging tables then replace the site's tables in one transaction. An invalid dump changes
//! nothing. No SQL of the dump is executed: statements are parsed, and only rows of a site's tables are inserted, as
//! bound values.

mod lexer;
mod load;
mod marker;
mod replace;

use std::io::{BufRead as _, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use svc_db::StoreError;

use indexmap::IndexMap;

use crate::store::Store;

/// An error of an import. The database is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The dump is invalid.
    #[error("line {line}: {what}")]
    Dump {
        /// Line number, from one.
        line: u64,
        /// Description of the error.
        what: String,
    },
    /// The dump contains no site, or not all of its tables.
    #[error("the dump does not contain a complete site: {0}")]
    NoSite(String),
    /// The database already contains a site.
    #[error("the database already contains a site; nothing was imported")]
    NotEmpty,
    /// An error of the database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Progress of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Number of bytes read from the file, before decompression.
    pub bytes: u64,
    /// Number of rows loaded.
    pub rows: u64,
}

/// Options for an import.
#[derive(Default)]
pub struct ImportOptions<'a> {
    /// Prefix of the dump's table names; detected if `None`. The imported tables get the store's prefix.
    pub prefix: Option<String>,
    /// Pairs of search text and replacement, applied to all texts except `guid`. Serialized values remain valid.
    pub search_replace: Vec<(String, String)>,
    /// Name of the dump, stored until the import is complete; see [`Store::interrupted_import`].
    pub source: Option<String>,
    /// Replace an existing site.
    pub overwrite: bool,
    /// Called at intervals.
    pub progress: Option<&'a mut dyn FnMut(&Progress)>,
}

/// Summary of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportReport {
    /// Prefix of the dump's table names.
    pub prefix: String,
    /// Number of rows per table, by table name without prefix.
    pub tables: IndexMap<String, u64>,
    /// Tables that do not belong to a site, such as those of plugins, with their number of skipped `INSERT` statements.
    pub skipped: IndexMap<String, u64>,
}

impl ImportReport {
    /// Total number of rows.
    pub fn rows(&self) -> u64 {
        self.tables.values().sum()
    }
}

/// A reader that counts bytes, for progress reports.
struct CountingReader<R> {
    from: R,
    n: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.from.read(buf)?;
        self.n.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl Store {
    /// Imports a dump, plain or gzip. Blocks until it is complete.
    ///
    /// Meanwhile, readers see the old data and writers wait.
    ///
    /// # Errors
    /// [`ImportError`]. The database is then unchanged.
    pub fn import(&self, dump: impl Read, mut options: ImportOptions<'_>) -> Result<ImportReport, ImportError> {
        let n = Arc::new(AtomicU64::new(0));
        let mut dump = BufReader::with_capacity(64 << 10, CountingReader { from: dump, n: n.clone() });
        let start = dump.fill_buf().map_err(|e| ImportError::Dump { line: 1, what: e.to_string() })?;
        let dump: Box<dyn Read + '_> = if start.starts_with(&[0x1f, 0x8b]) {
            // Dumps compressed in chunks consist of several gzip streams.
            Box::new(flate2::bufread::MultiGzDecoder::new(dump))
        } else {
            Box::new(dump)
        };
        let was_interrupted = self.interrupted_import()?.is_some();
        let source = options.source.clone().unwrap_or_default();
        self.write_blocking(move |tx| marker::set(tx, &source))?;
        let done = self.database().exclusively(|tx| load::load(tx, dump, &mut options, &n));
        if done.is_err() && !was_interrupted {
            // The import left nothing behind, so it need not be repeated.
            self.write_blocking(marker::remove)?;
        }
        done
    }
}

impl Store {
    /// The name of the dump whose import into this database was interrupted or is in progress.
    pub fn interrupted_import(&self) -> Result<Option<String>, StoreError> {
        self.read_blocking(marker::get)
    }
}

#[cfg(test)]
mod tests;
