//! Safe extraction of untrusted ZIP archives into an empty folder.
//!
//! Names, entry types, the number of entries and the decompressed size are checked. Nothing is written outside the
//! folder, nothing is overwritten, and links and file modes are ignored or rejected. One invalid entry rejects the
//! whole archive.

use std::{
    collections::HashSet,
    fmt::Write as _,
    fs::{self, File},
    io::{self, Cursor, Read, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use zip::{ZipArchive, read::ZipFile};

/// Limits for archives.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveLimits {
    /// Maximum number of entries.
    pub entries: usize,
    /// Maximum decompressed size of all files, in bytes.
    pub bytes: u64,
}

impl Default for ArchiveLimits {
    /// 20,000 entries and 256 MiB.
    fn default() -> Self {
        ArchiveLimits { entries: 20_000, bytes: 256 << 20 }
    }
}

/// Maximum number of path components.
const MAX_DEPTH: usize = 32;
const NAME_BYTES: usize = 200;

/// An error of [`unpack`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The file is not a ZIP archive, or is corrupt.
    #[error("the package is not a readable ZIP archive")]
    Unreadable,
    /// A path that leaves the folder or that is not portable.
    #[error("the package contains an invalid file name: {0:?}")]
    InvalidName(String),
    /// A link, a device or an encrypted entry.
    #[error("the package contains {0:?}, which is neither a regular file nor a folder")]
    UnsupportedEntry(String),
    /// A duplicate name, or a file where another entry has a folder.
    #[error("the package contains {0:?} more than once")]
    Duplicate(String),
    /// More entries than [`ArchiveLimits::entries`].
    #[error("the package contains more than {0} entries")]
    TooMany(usize),
    /// More bytes than [`ArchiveLimits::bytes`].
    #[error("the package is larger than {0} bytes when unpacked")]
    TooLarge(u64),
    /// A file could not be written.
    #[error("the package could not be unpacked: {0}")]
    Folder(#[from] io::Error),
}

/// An extracted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpackedFile {
    /// Path in the archive, with slashes.
    pub name: String,
    /// SHA-256 of the content in hexadecimal digits.
    pub sha256: String,
}

/// Unpacks an archive into an existing, empty folder.
///
/// # Errors
/// If any part of the archive is invalid. The folder may then contain some of its files.
pub fn unpack(archive: &[u8], folder: &Path, limits: ArchiveLimits) -> Result<Vec<UnpackedFile>, ArchiveError> {
    check_count(archive, limits)?;
    let mut archive = ZipArchive::new(Cursor::new(archive)).map_err(|_| ArchiveError::Unreadable)?;
    if archive.len() > limits.entries {
        return Err(ArchiveError::TooMany(limits.entries));
    }
    if archive.has_duplicate_names() {
        return Err(ArchiveError::Duplicate("a duplicate name".to_owned()));
    }
    let (mut remaining, mut seen, mut files) = (limits.bytes, HashSet::new(), Vec::new());
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|_| ArchiveError::Unreadable)?;
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let path = safe_path(entry.name_raw()).ok_or_else(|| ArchiveError::InvalidName(name.clone()))?;
        if !is_plain(&entry) {
            return Err(ArchiveError::UnsupportedEntry(name));
        }
        // Some file systems ignore case: names that differ only in case are duplicates.
        let is_new = seen.insert(path.to_string_lossy().to_lowercase());
        let target = folder.join(&path);
        if name.ends_with('/') {
            fs::create_dir_all(&target).map_err(|_| ArchiveError::Duplicate(name))?;
            continue;
        }
        if !is_new {
            return Err(ArchiveError::Duplicate(name));
        }
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|_| ArchiveError::Duplicate(name.clone()))?;
        }
        let mut file = File::create_new(&target).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ArchiveError::Duplicate(name.clone()),
            _ => error.into(),
        })?;
        let sha256 = copy(entry, &mut file, &mut remaining, limits)?;
        files.push(UnpackedFile { name, sha256 });
    }
    Ok(files)
}

/// Rejects archives that declare too many entries, before memory is allocated for them. Archives with more than 65,535
/// entries use a ZIP64 record and are rejected.
fn check_count(archive: &[u8], limits: ArchiveLimits) -> Result<(), ArchiveError> {
    // The end record has 22 bytes and may be followed by a comment of up to 65,535 bytes.
    let tail = &archive[archive.len().saturating_sub(22 + 0xffff)..];
    let counts: Vec<usize> = tail
        .windows(12)
        .filter(|record| record.starts_with(b"PK\x05\x06"))
        .map(|record| usize::from(u16::from_le_bytes([record[10], record[11]])))
        .collect();
    match counts.iter().max() {
        None => Err(ArchiveError::Unreadable),
        Some(count) if *count > limits.entries.min(0xfffe) => Err(ArchiveError::TooMany(limits.entries)),
        Some(_) => Ok(()),
    }
}

/// Converts an entry name to a relative path; `None` if it is not allowed.
fn safe_path(raw: &[u8]) -> Option<PathBuf> {
    let name = std::str::from_utf8(raw).ok()?;
    let components: Vec<&str> = name.strip_suffix('/').unwrap_or(name).split('/').collect();
    let is_safe = |part: &&str| {
        let reserved = part.chars().any(|c| c.is_control() || "\\:*?\"<>|".contains(c));
        !reserved && part.len() <= NAME_BYTES && !part.is_empty() && !part.ends_with(['.', ' '])
    };
    (components.len() <= MAX_DEPTH && components.iter().all(is_safe)).then(|| components.iter().collect())
}

/// Returns whether an entry is a regular file or a folder, by its name and mode.
fn is_plain<R: Read>(entry: &ZipFile<'_, R>) -> bool {
    const KIND: u32 = 0o170_000;
    let by_mode = match entry.unix_mode().map_or(0, |mode| mode & KIND) {
        0 => true,
        0o040_000 => entry.name_raw().ends_with(b"/"),
        0o100_000 => !entry.name_raw().ends_with(b"/"),
        _ => false,
    };
    by_mode && !entry.encrypted()
}

/// Copies the decompressed bytes, whatever size the archive declares, and returns their digest.
fn copy(
    mut from: impl Read,
    to: &mut File,
    remaining: &mut u64,
    limits: ArchiveLimits,
) -> Result<String, ArchiveError> {
    let (mut buffer, mut digest) = (vec![0; 64 << 10], Sha256::new());
    loop {
        let n = from.read(&mut buffer).map_err(|_| ArchiveError::Unreadable)?;
        if n == 0 {
            break;
        }
        *remaining = remaining.checked_sub(n as u64).ok_or(ArchiveError::TooLarge(limits.bytes))?;
        digest.update(&buffer[..n]);
        to.write_all(&buffer[..n])?;
    }
    Ok(digest.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use zip::{
        CompressionMethod, ZipWriter,
        write::{FileOptions, SimpleFileOptions},
    };

    use super::*;

    fn options() -> SimpleFileOptions {
        FileOptions::default().compression_method(CompressionMethod::Deflated)
    }

    /// Creates an archive with these files.
    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            writer.start_file(*name, options()).expect("failed to start a file");
            writer.write_all(bytes).expect("failed to write");
        }
        writer.finish().expect("failed to finish").into_inner()
    }

    fn try_unpack(archive: &[u8], limits: ArchiveLimits) -> Result<Vec<UnpackedFile>, ArchiveError> {
        // Use a nested folder, so that the test detects files written outside it.
        let outer = tempfile::tempdir().expect("failed to create a folder");
        let folder = outer.path().join("inner");
        fs::create_dir(&folder).expect("failed to create a folder");
        let result = unpack(archive, &folder, limits);
        let entries: Vec<_> = fs::read_dir(outer.path()).expect("failed to read the folder").collect();
        assert_eq!(entries.len(), 1, "files were written outside the folder");
        result
    }

    #[test]
    fn unpacks_files_with_digests() {
        let files = try_unpack(&archive(&[("a/b.php", b"abc"), ("a/c/d.txt", b"")]), ArchiveLimits::default()).unwrap();
        assert_eq!(files.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["a/b.php", "a/c/d.txt"]);
        // Test vector from FIPS 180-2.
        assert_eq!(files[0].sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn rejects_unsafe_names() {
        let long = "x".repeat(NAME_BYTES + 1);
        let deep = "d/".repeat(MAX_DEPTH) + "f";
        let names = [
            "../evil",
            "a/../../evil",
            "/etc/passwd",
            "a//b",
            "./a",
            "a/.",
            "C:/x",
            "a\\..\\..\\evil",
            "a\0b",
            "",
            "a/ ",
            "con:",
            "a.",
            &long,
            &deep,
        ];
        for name in names {
            // The writer normalizes names, so write a harmless name of the same length and replace it afterwards.
            let harmless = "n".repeat(name.len());
            let bytes = replace_bytes(&archive(&[(&harmless, b"x")]), harmless.as_bytes(), name.as_bytes());
            let error = try_unpack(&bytes, ArchiveLimits::default()).unwrap_err();
            assert!(matches!(error, ArchiveError::InvalidName(_)), "{name:?}: {error}");
        }
        assert!(
            try_unpack(&replace_bytes(&archive(&[("nnnn", b"x")]), b"nnnn", b"a\xff\xfeb"), ArchiveLimits::default())
                .is_err()
        );
    }

    fn replace_bytes(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
        let mut out = bytes.to_vec();
        if from.is_empty() {
            return out;
        }
        for at in 0..=out.len() - from.len() {
            if out[at..].starts_with(from) {
                out[at..at + to.len()].copy_from_slice(to);
            }
        }
        out
    }

    #[test]
    fn rejects_links() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.add_symlink("a", "/etc", options()).unwrap();
        writer.start_file("a/passwd", options()).unwrap();
        let bytes = writer.finish().unwrap().into_inner();
        assert!(
            matches!(try_unpack(&bytes, ArchiveLimits::default()).unwrap_err(), ArchiveError::UnsupportedEntry(name) if name == "a")
        );
    }

    #[test]
    fn rejects_bombs_by_decompressed_size() {
        let zeros = vec![0; 1 << 20];
        let files: Vec<(String, &[u8])> = (0..8).map(|i| (format!("f{i}"), zeros.as_slice())).collect();
        let files: Vec<(&str, &[u8])> = files.iter().map(|(n, b)| (n.as_str(), *b)).collect();
        let bomb = archive(&files);
        assert!(bomb.len() < 20_000, "the archive should be small");
        let limits = ArchiveLimits { bytes: 4 << 20, ..ArchiveLimits::default() };
        assert!(matches!(try_unpack(&bomb, limits).unwrap_err(), ArchiveError::TooLarge(_)));
        // Declaring a smaller size in the local header does not help.
        let mislabeled = replace_bytes(&bomb, &(1_u32 << 20).to_le_bytes(), &1_u32.to_le_bytes());
        assert!(try_unpack(&mislabeled, limits).is_err());
        let few = ArchiveLimits { entries: 7, ..ArchiveLimits::default() };
        assert!(matches!(try_unpack(&bomb, few).unwrap_err(), ArchiveError::TooMany(7)));
    }

    #[test]
    fn rejects_duplicate_names() {
        let duplicates = replace_bytes(&archive(&[("aaaa", b"1"), ("bbbb", b"2")]), b"bbbb", b"aaaa");
        assert!(try_unpack(&duplicates, ArchiveLimits::default()).is_err());
        for names in [["a/B", "a/b"], ["a", "a/b"], ["a/b", "a"]] {
            let error =
                try_unpack(&archive(&[(names[0], b"1"), (names[1], b"2")]), ArchiveLimits::default()).unwrap_err();
            assert!(matches!(error, ArchiveError::Duplicate(_)), "{names:?}: {error}");
        }
    }

    #[test]
    fn rejects_invalid_archives() {
        let valid = archive(&[("a", b"some text that is long enough to be packed, packed, packed")]);
        for bytes in [&b""[..], b"PK", b"<html>", &valid[..valid.len() / 2]] {
            assert!(matches!(try_unpack(bytes, ArchiveLimits::default()).unwrap_err(), ArchiveError::Unreadable));
        }
        // One byte of the content does not match its checksum.
        let mut damaged = valid.clone();
        damaged[40] ^= 0xff;
        assert!(try_unpack(&damaged, ArchiveLimits::default()).is_err());
    }
}
