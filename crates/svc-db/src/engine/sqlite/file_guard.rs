//! Detects that an open database file was deleted or replaced.
//!
//! SQLite continues to write to an open file that was deleted. Such writes are lost when the last process closes the
//! file, so they must not be acknowledged.

use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};

/// Device and inode of a file. On systems without them, all files at a path look the same.
type Identity = (u64, u64);

/// An open database file and its write-ahead log.
pub(crate) struct FileGuard {
    path: PathBuf,
    log_path: PathBuf,
    file: Option<Identity>,
    /// Known after the first commit.
    log: Option<Identity>,
    /// Whether the loss was logged, which happens once.
    reported: bool,
}

impl FileGuard {
    /// Guards a file that was just opened.
    pub(crate) fn new(path: &Path) -> Self {
        let mut log_path = path.to_owned().into_os_string();
        log_path.push("-wal");
        FileGuard { path: path.to_owned(), log_path: log_path.into(), file: identity(path), log: None, reported: false }
    }

    /// Fails if the files at these paths are not the open ones.
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
        Err(StoreError::Unavailable(format!("{path} was deleted or replaced while it was open")))
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
    fn detects_deleted_and_replaced_files() {
        let folder = tempfile::tempdir().unwrap();
        let (path, aside) = (folder.path().join("a.db"), folder.path().join("aside"));
        std::fs::write(&path, "a").unwrap();
        let mut guard = FileGuard::new(&path);
        assert!(guard.check().is_ok());
        std::fs::rename(&path, &aside).unwrap();
        assert!(matches!(guard.check(), Err(StoreError::Unavailable(_))), "file deleted");
        std::fs::write(&path, "another").unwrap();
        assert!(guard.check().is_err(), "file replaced");
        std::fs::rename(&aside, &path).unwrap();
        assert!(guard.check().is_ok(), "file restored");
        let log = folder.path().join("a.db-wal");
        std::fs::write(&log, "log").unwrap();
        assert!(guard.check().is_ok());
        std::fs::remove_file(&log).unwrap();
        assert!(guard.check().is_err(), "log deleted");
    }
}
