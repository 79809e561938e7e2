#![doc = include_str!("../README.md")]

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    path::Path,
};

/// Options for writing a file that only its owner can read, if it is created. Add whether it is created or replaced.
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a folder with its parents, unless it exists. Only the owner can read those that are created.
///
/// # Errors
/// If one cannot be created.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes the names in a folder durable: without it, files that were created in it, renamed or removed may be as before after a power
/// failure, even if they were synced themselves. An empty path, as the parent of a relative name, is the working folder.
///
/// # Errors
/// If the folder cannot be opened or synced.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    // Windows has no such call.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_synced() {
        let folder = tempfile::tempdir().unwrap();
        sync_folder(folder.path()).unwrap();
        sync_folder(Path::new("name").parent().unwrap()).unwrap();
        let missing = sync_folder(&folder.path().join("missing"));
        assert_eq!(missing.is_err(), cfg!(unix));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_what_is_private() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| folder.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
        create_private_folder(&folder.path().join("a/b")).unwrap();
        create_private_folder(&folder.path().join("a/b")).unwrap();
        private().create_new(true).open(folder.path().join("a/file")).unwrap();
        assert_eq!(["a", "a/b", "a/file"].map(mode), [0o700, 0o700, 0o600]);
        assert!(private().create_new(true).open(folder.path().join("a/file")).is_err());
    }
}
