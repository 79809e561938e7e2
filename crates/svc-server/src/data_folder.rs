//! The data folder: creates it, and detects servers that use the same one. They may (SQLite locks its files itself), but it is rarely
//! intended.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    path::Path,
    time::SystemTime,
};

use crate::error::{Error, Result};

/// Name of the file in the data folder. A running server holds a lock on it; its content is the process id.
const FILE: &str = "server.pid";

/// Maximum number of digits that are read from the file.
const PID_LENGTH: u64 = 20;

/// Locks the data folder until the result is dropped, so that one of several concurrent starts creates the site. `None` if the
/// system cannot lock folders.
pub(crate) fn lock(data: &Path) -> Option<File> {
    let folder = File::open(data).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// Creates the data folder, readable by its owner only, if it is missing.
///
/// # Errors
/// If it cannot be created.
pub(crate) fn create(data: &Path) -> Result {
    if data.is_dir() {
        return Ok(());
    }
    if data.exists() {
        return Err(Error::Refused(format!("the data folder {} is a file: set `data` to a folder", data.display())));
    }
    let missing: Vec<&Path> = data.ancestors().take_while(|folder| !folder.exists()).collect();
    // Without its name, a power failure could remove the folder with all files that were synced in it.
    let sync_name = |folder: &Path| folder.parent().map_or(Ok(()), svc_files::sync_folder);
    let created = svc_files::create_private_folder(data).and_then(|()| missing.into_iter().try_for_each(sync_name));
    created.map_err(Error::io(format!("cannot create the data folder {}", data.display())))
}

/// When the running server that uses the folder was started or reloaded; `None` if there is none, or it cannot be told.
pub(crate) fn running_since(data: &Path) -> Option<SystemTime> {
    let file = File::open(data.join(FILE)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => file.metadata().ok()?.modified().ok(),
        _ => None,
    }
}

/// The state of a data folder.
#[derive(Debug)]
pub(crate) enum DataLock {
    /// No other server used the folder. The lock is released when this is dropped.
    Acquired {
        /// The locked file.
        _file: File,
    },
    /// A running server uses the folder; its process id, if it could be read.
    Held(Option<u32>),
    /// The system or the file system cannot lock files.
    Unsupported,
}

impl DataLock {
    /// Locks the folder for this process.
    pub(crate) fn acquire(data: &Path) -> Self {
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(data.join(FILE));
        let Ok(mut file) = opened else { return DataLock::Unsupported };
        match file.try_lock() {
            Ok(()) => {
                // Without the id, the message of another server is less helpful.
                drop(
                    file.set_len(0)
                        .and_then(|()| file.rewind())
                        .and_then(|()| writeln!(file, "{}", std::process::id())),
                );
                DataLock::Acquired { _file: file }
            }
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                drop(file.take(PID_LENGTH).read_to_string(&mut text));
                DataLock::Held(text.trim().parse().ok())
            }
            Err(TryLockError::Error(_)) => DataLock::Unsupported,
        }
    }

    /// A message if another server uses the folder.
    pub(crate) fn conflict(&self, data: &Path) -> Option<String> {
        let DataLock::Held(pid) = self else { return None };
        let pid = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
        Some(format!("another server{pid} uses the folder {}", data.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_reports_the_process_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let first = DataLock::acquire(folder.path());
        assert!(matches!(first, DataLock::Acquired { .. }) && first.conflict(folder.path()).is_none());
        assert!(running_since(folder.path()).is_some_and(|since| since.elapsed().unwrap().as_secs() < 60));
        let conflict = DataLock::acquire(folder.path()).conflict(folder.path()).unwrap();
        assert!(conflict.starts_with(&format!("another server (pid {}) uses", std::process::id())), "{conflict}");
        drop(first);
        assert_eq!(running_since(folder.path()), None);
        assert!(matches!(DataLock::acquire(folder.path()), DataLock::Acquired { .. }), "it is released on drop");
    }
}
