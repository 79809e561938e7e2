//! A folder as the destination.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use svc_files::{create_private_folder, sync_folder};

use crate::destination::Destination;
use crate::error::{BackupError, Result, at};

/// Suffix of files that are being written.
const UNFINISHED: &str = ".unfinished";

/// Age from which such a file is left from a killed process.
const LEFT_AFTER: Duration = Duration::from_secs(3_600);

/// A local folder, or one of a mounted file system. Each object is a file.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder, which is created with the first object.
    pub fn new(path: &Path) -> Self {
        Folder(path.to_owned())
    }

    fn entries(&self, folder: &str) -> Result<Vec<(String, bool)>> {
        let path = self.0.join(folder);
        let entries = match fs::read_dir(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(at(&path))?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(at(&path))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            found.push((name, entry.file_type().map_err(at(&path))?.is_dir()));
        }
        found.sort_unstable();
        Ok(found)
    }
}

impl Destination for Folder {
    fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        let path = self.0.join(key);
        let folder = path.parent().unwrap_or(&self.0);
        let is_new = !folder.is_dir();
        create_private_folder(folder).map_err(at(folder))?;
        if path.exists() {
            return Err(BackupError::Exists(key.to_owned()));
        }
        let mut unfinished = path.clone().into_os_string();
        // Another process may be writing the same object.
        unfinished.push(format!(".{}{UNFINISHED}", std::process::id()));
        let unfinished = PathBuf::from(unfinished);
        let written = create_file(&unfinished).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_all()
        });
        let placed = written.and_then(|()| match fs::hard_link(&unfinished, &path) {
            // Some file systems have no links. There, two processes that write the same object are not noticed.
            Err(e) if e.kind() != ErrorKind::AlreadyExists => fs::rename(&unfinished, &path),
            linked => {
                fs::remove_file(&unfinished)?;
                linked
            }
        });
        match placed {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::AlreadyExists => return Err(BackupError::Exists(key.to_owned())),
            Err(e) => {
                drop(fs::remove_file(&unfinished));
                return Err(at(&path)(e));
            }
        }
        // The names are durable, too.
        sync_folder(folder).map_err(at(folder))?;
        if is_new {
            let inside = folder.ancestors().skip(1).take_while(|parent| parent.starts_with(&self.0));
            for parent in inside.chain(self.0.parent()) {
                sync_folder(parent).map_err(at(parent))?;
            }
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Result<Vec<u8>> {
        let path = self.0.join(key);
        fs::read(&path).map_err(|e| match e.kind() {
            ErrorKind::NotFound => BackupError::Missing(key.to_owned()),
            _ => at(&path)(e),
        })
    }

    fn list(&self, folder: &str) -> Result<Vec<String>> {
        let (mut keys, mut waiting) = (Vec::new(), vec![folder.to_owned()]);
        while let Some(folder) = waiting.pop() {
            for (name, is_folder) in self.entries(&folder)? {
                let key = format!("{folder}/{name}");
                if is_folder {
                    waiting.push(key);
                } else if !name.ends_with(UNFINISHED) {
                    keys.push(key);
                }
            }
        }
        keys.sort_unstable();
        Ok(keys)
    }

    fn folders(&self, folder: &str) -> Result<Vec<String>> {
        Ok(self.entries(folder)?.into_iter().filter(|(_, is_folder)| *is_folder).map(|(name, _)| name).collect())
    }

    fn delete(&self, key: &str) -> Result<()> {
        let path = self.0.join(key);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(at(&path)(e)),
            _ => {}
        }
        // Folders that are empty now.
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != self.0) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn delete_incomplete(&self) -> Result<()> {
        let mut waiting = vec![self.0.clone()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).map_err(at(&folder))?.flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|of| of.is_dir()) {
                    waiting.push(path);
                } else if path.to_string_lossy().ends_with(UNFINISHED) && is_old(&path) {
                    fs::remove_file(&path).map_err(at(&path))?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a file has not been written to for a while.
fn is_old(path: &Path) -> bool {
    let changed = fs::metadata(path).and_then(|file| file.modified());
    changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > LEFT_AFTER))
}

/// Creates or replaces a file that only its owner can read, because a backup contains password hashes and keys.
pub(crate) fn create_file(path: &Path) -> std::io::Result<File> {
    svc_files::private().create(true).truncate(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_written_once() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::new(&root.path().join("backup"));
        assert_eq!(folder.list("a").unwrap(), Vec::<String>::new());
        folder.put("a/b/2", b"two".to_vec()).unwrap();
        folder.put("a/1", b"one".to_vec()).unwrap();
        assert!(matches!(folder.put("a/1", b"other".to_vec()), Err(BackupError::Exists(_))));
        assert_eq!(folder.get("a/1").unwrap(), b"one");
        assert!(matches!(folder.get("a/3"), Err(BackupError::Missing(_))));
        // What a stopped process has left behind.
        fs::write(root.path().join("backup/a/3.unfinished"), "half").unwrap();
        assert_eq!(folder.list("a").unwrap(), ["a/1", "a/b/2"]);
        folder.put("a/3", b"three".to_vec()).unwrap();
        let half = root.path().join("backup/a/3.unfinished");
        folder.delete_incomplete().unwrap();
        assert!(half.exists(), "another process may be writing it");
        let file = File::options().write(true).open(&half).unwrap();
        file.set_modified(std::time::SystemTime::now() - 2 * LEFT_AFTER).unwrap();
        folder.delete_incomplete().unwrap();
        assert!(!half.exists() && folder.list("a").unwrap().len() == 3);
        assert_eq!(folder.folders("a").unwrap(), ["b"]);
        folder.delete("a/b/2").unwrap();
        folder.delete("a/b/2").unwrap();
        assert_eq!((folder.list("a").unwrap().len(), folder.folders("a").unwrap().len()), (2, 0));
    }
}
