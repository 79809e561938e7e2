//! Copies a content folder (uploads, themes, plugins) along with an imported database.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Folders of a content folder that mean something to the site.
const FOLDERS: [&str; 3] = ["uploads", "themes", "plugins"];

/// Deepest folder that is followed.
const DEPTH_LIMIT: usize = 64;

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copied {
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// Links and other things that are no plain files.
    pub(super) skipped: u64,
}

/// Copies the known folders in `from` into `to`; files of the same name are replaced. Links are not followed: they could
/// lead anywhere.
///
/// # Errors
/// When a folder cannot be read or a file not written; what was copied until then stays.
pub(super) fn copy(from: &Path, to: &Path) -> Result<Copied> {
    let mut copied = Copied::default();
    let mut waiting: Vec<(PathBuf, PathBuf, usize)> =
        FOLDERS.iter().map(|f| (from.join(f), to.join(f), 0)).filter(|(f, ..)| f.is_dir()).collect();
    if waiting.is_empty() {
        return Err(Error::Refused(format!("{} holds none of uploads, themes and plugins", from.display())));
    }
    while let Some((source, target, depth)) = waiting.pop() {
        std::fs::create_dir_all(&target).map_err(Error::io(format!("cannot make {}", target.display())))?;
        let reading = || Error::io(format!("cannot read {}", source.display()));
        for entry in std::fs::read_dir(&source).map_err(reading())? {
            let entry = entry.map_err(reading())?;
            let kind = entry.file_type().map_err(reading())?;
            let target = target.join(entry.file_name());
            if kind.is_dir() && depth < DEPTH_LIMIT {
                waiting.push((entry.path(), target, depth + 1));
            } else if kind.is_file() {
                let writing = Error::io(format!("cannot copy {} to {}", entry.path().display(), target.display()));
                copied.bytes += std::fs::copy(entry.path(), &target).map_err(writing)?;
                copied.files += 1;
            } else {
                copied.skipped += 1;
            }
        }
    }
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_folders_are_copied_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        std::fs::create_dir_all(from.join("uploads/2024/01")).unwrap();
        std::fs::create_dir_all(from.join("cache")).unwrap();
        std::fs::write(from.join("uploads/2024/01/a.png"), "12345").unwrap();
        std::fs::write(from.join("cache/x"), "x").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/passwd", from.join("uploads/link")).unwrap();
        let copied = copy(&from, &to).unwrap();
        assert_eq!((copied.files, copied.bytes, copied.skipped), (1, 5, u64::from(cfg!(unix))));
        assert_eq!(std::fs::read_to_string(to.join("uploads/2024/01/a.png")).unwrap(), "12345");
        assert!(!to.join("cache").exists() && !to.join("uploads/link").exists());
    }

    #[test]
    fn a_folder_without_content_is_told() {
        let dir = tempfile::tempdir().unwrap();
        assert!(copy(dir.path(), &dir.path().join("to")).unwrap_err().to_string().contains("holds none of"));
    }
}
