//! Copies a content folder (uploads, themes, plugins) for an imported database.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

/// Folders of a content folder that are copied.
pub(crate) const FOLDERS: [&str; 3] = ["uploads", "themes", "plugins"];

/// Maximum depth of folders.
const DEPTH_LIMIT: usize = 64;

/// Totals of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copied {
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// Links, special files, and folders below the maximum depth.
    pub(super) skipped: u64,
}

/// Whether the folder is a content folder.
pub(super) fn has_folders(folder: &Path) -> bool {
    FOLDERS.iter().any(|name| folder.join(name).is_dir())
}

/// Copies uploads, themes and plugins from one content folder into another and replaces files of the same name. Symbolic links
/// are not followed, since they may point outside of the folder.
///
/// # Errors
/// If a folder cannot be read or a file cannot be written. Files copied until then stay.
pub(super) fn copy(from: &Path, to: &Path) -> Result<Copied> {
    let mut copied = Copied::default();
    let mut waiting: Vec<(PathBuf, PathBuf, usize)> =
        FOLDERS.iter().map(|f| (from.join(f), to.join(f), 0)).filter(|(f, ..)| f.is_dir()).collect();
    ensure!(!waiting.is_empty(), "{} has no folder uploads, themes or plugins", from.display());
    while let Some((source, target, depth)) = waiting.pop() {
        std::fs::create_dir_all(&target).with_context(|| format!("cannot create {}", target.display()))?;
        let reading = || format!("cannot read {}", source.display());
        for entry in std::fs::read_dir(&source).with_context(reading)? {
            let entry = entry.with_context(reading)?;
            let kind = entry.file_type().with_context(reading)?;
            let target = target.join(entry.file_name());
            if kind.is_dir() && depth < DEPTH_LIMIT {
                waiting.push((entry.path(), target, depth + 1));
            } else if kind.is_file() {
                let writing = || format!("cannot copy {} to {}", entry.path().display(), target.display());
                copied.bytes += std::fs::copy(entry.path(), &target).with_context(writing)?;
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
    fn copies_known_folders_and_skips_links() {
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
    fn rejects_a_folder_without_content() {
        let dir = tempfile::tempdir().unwrap();
        assert!(copy(dir.path(), &dir.path().join("to")).unwrap_err().to_string().contains("has no folder uploads"));
    }
}
