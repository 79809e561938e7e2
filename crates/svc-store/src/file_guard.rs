//! Notices that a database file was deleted or replaced while it is open.
//!
//! SQLite goes on writing to an open file that has no name any more. Such writes are lost with the last process that
//! has the file open, so they must not be acknowledged.

use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};

/// Device and inode of a file; where the system has none, two files at one path look the same.
type Identity = (u64, u64);

/// The file of an open database, and its write-ahead log.
pub(crate) struct FileGuard {
    path: PathBuf,
    log_path: PathBuf,
    file: Option<Identity>,
    /// Known from the first commit on.
    log: Option<Identity>,
    /// The loss was logged; it is logged once.
    reported: bool,
}

impl FileGuard {
    /// Guards a file that was just opened.
    pub(crate) fn new(path: &Path) -> Self {
        let mut log_path = path.to_owned().into_os_string();
        log_path.push("-wal");
        FileGuard { path: path.to_owned(), log_path: log_path.into(), file: identity(path), log: None, reported: false }
    }

    /// Fails while the files at these paths are not the ones that are open.
    pub(crate) fn check(&mut self) -> Result<()> {
        let log = identity(&self.log_path);
        let is_same = identity(&self.path) == self.file && (self.log.is_none() || log == self.log);
        if is_same {
            self.log = log;
            self.reported = false;
            return Ok(());
        }
        let path = self.path.display();
        if !self.reported {
            self.reported = true;
            tracing::error!(
                database = %path,
                "the database file was deleted or replaced while the server has it open: writes are refused; put the \
                 file back, or restart the server"
            );
        }
        Err(StoreError::Unavailable(format!("{path} was deleted or replaced while it is open")))
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let metadata = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        drop(metadata);
        Some((0, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_deleted_or_replaced_is_noticed_and_one_that_is_back_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let (path, aside) = (folder.path().join("a.db"), folder.path().join("aside"));
        std::fs::write(&path, "a").unwrap();
        let mut guard = FileGuard::new(&path);
        assert!(guard.check().is_ok());
        std::fs::rename(&path, &aside).unwrap();
        assert!(matches!(guard.check(), Err(StoreError::Unavailable(_))), "gone");
        std::fs::write(&path, "another").unwrap();
        assert!(guard.check().is_err(), "replaced");
        std::fs::rename(&aside, &path).unwrap();
        assert!(guard.check().is_ok(), "back");
        let log = folder.path().join("a.db-wal");
        std::fs::write(&log, "log").unwrap();
        assert!(guard.check().is_ok());
        std::fs::remove_file(&log).unwrap();
        assert!(guard.check().is_err(), "the log is gone");
    }
}
