//! Loads the SQL dump of a WordPress site (mysqldump, mariadb-dump, phpMyAdmin; plain or gzip) into a store.
//!
//! The dump is read as a stream. Its rows go into tables under another name first, since the prefix of its tables is
//! only known for certain at its end; then these take the place of the site's tables, all in one transaction. A dump
//! that is broken anywhere changes nothing. Nothing of the dump is run as SQL: its statements are taken apart, and only
//! the rows of the tables of a site are kept, as bound values.

mod lexer;
mod load;
mod marker;
mod replace;

use std::io::{BufRead as _, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indexmap::IndexMap;

use crate::error::StoreError;
use crate::store::Store;

/// Why a dump was not loaded. Nothing is changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The dump cannot be understood.
    #[error("line {line}: {what}")]
    Dump {
        /// Where, from one.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// The dump holds no site, or not all of its tables.
    #[error("the dump holds no whole site: {0}")]
    NoSite(String),
    /// The database holds a site already.
    #[error("the database holds a site already; nothing was loaded")]
    NotEmpty,
    /// The database refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How far an import is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file read, compressed as it is.
    pub bytes: u64,
    /// Rows loaded.
    pub rows: u64,
}

/// How a dump is loaded.
#[derive(Default)]
pub struct ImportOptions<'a> {
    /// What the names of the dump's tables begin with; `None` finds out. Tables get the store's own prefix.
    pub prefix: Option<String>,
    /// Texts to be replaced everywhere but in `guid`, each with what takes its place; serialized values stay whole.
    pub search_replace: Vec<(String, String)>,
    /// Name of the dump, which is stored until the import is done: see [`Store::interrupted_import`].
    pub source: Option<String>,
    /// A site that is there already is replaced.
    pub overwrite: bool,
    /// Called now and then.
    pub progress: Option<&'a mut dyn FnMut(&Progress)>,
}

/// What was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// What the names of the dump's tables begin with.
    pub prefix: String,
    /// Rows of each table of the site, by names without prefix.
    pub tables: IndexMap<String, u64>,
    /// Tables that are none of a site (those of plugins) and were left out, with the number of their `INSERT` statements.
    pub skipped: IndexMap<String, u64>,
}

impl ImportReport {
    /// Rows loaded in all.
    pub fn rows(&self) -> u64 {
        self.tables.values().sum()
    }
}

/// Counts what passes, for the progress.
struct Counting<R> {
    from: R,
    n: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.from.read(buf)?;
        self.n.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl Store {
    /// Loads a dump, gzip or plain, into this store. Blocks until it is done.
    ///
    /// Other readers see the old state until the end, and writers wait.
    ///
    /// # Errors
    /// [`ImportError`]; nothing is changed then.
    pub fn import(&self, dump: impl Read, mut options: ImportOptions<'_>) -> Result<ImportReport, ImportError> {
        let n = Arc::new(AtomicU64::new(0));
        let mut dump = BufReader::with_capacity(64 << 10, Counting { from: dump, n: n.clone() });
        let start = dump.fill_buf().map_err(|e| ImportError::Dump { line: 1, what: e.to_string() })?;
        let dump: Box<dyn Read + '_> = if start.starts_with(&[0x1f, 0x8b]) {
            // Dumps that were packed in pieces are several streams one after the other.
            Box::new(flate2::bufread::MultiGzDecoder::new(dump))
        } else {
            Box::new(dump)
        };
        let was_interrupted = self.interrupted_import()?.is_some();
        let source = options.source.clone().unwrap_or_default();
        self.write_blocking(move |tx| marker::set(tx, &source))?;
        let done = self.exclusively(|tx| load::load(tx, dump, &mut options, &n));
        if done.is_err() && !was_interrupted {
            // Nothing of it is left, so nothing needs to be repeated.
            self.write_blocking(marker::remove)?;
        }
        done
    }
}

impl Store {
    /// The name of the dump whose import into this database has not finished: it was interrupted, or is still running.
    ///
    /// # Errors
    /// Those of the database.
    pub fn interrupted_import(&self) -> Result<Option<String>, StoreError> {
        self.read(marker::get)
    }
}

#[cfg(test)]
mod tests;
