//! ZIP archives of strangers, unpacked into a folder of their own.
//!
//! Names, kinds of entries, their number and what comes out of the decoder are checked; nothing is ever written outside the
//! folder, nothing that is there is overwritten, no link and no mode is taken over. What is wrong with one entry refuses
//! the whole archive.

use std::{
    collections::HashSet,
    fmt::Write as _,
    fs::{self, File},
    io::{self, Cursor, Read, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use zip::{ZipArchive, read::ZipFile};

/// Bounds on what an archive may hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most entries.
    pub entries: usize,
    /// Most bytes of all files together, unpacked.
    pub bytes: u64,
}

impl Default for Limits {
    /// Twenty thousand entries, 256 MiB.
    fn default() -> Self {
        Limits { entries: 20_000, bytes: 256 << 20 }
    }
}

/// Most components of a name, and most bytes of each.
const DEPTH: usize = 32;
const NAME_BYTES: usize = 200;

/// Why an archive was not unpacked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// Not an archive, or a damaged one.
    #[error("the package is not a readable ZIP archive")]
    Unreadable,
    /// A name that leads outside, or that not every system can hold.
    #[error("the package holds the name {0:?}, which is not allowed")]
    Name(String),
    /// A link, a device, an encrypted entry.
    #[error("the package holds {0:?}, which is neither a plain file nor a folder")]
    Kind(String),
    /// The same name twice, or a file where another has a folder.
    #[error("the package holds {0:?} more than once")]
    Twice(String),
    /// More entries than [`Limits::entries`].
    #[error("the package holds more than {0} entries")]
    TooMany(usize),
    /// More bytes than [`Limits::bytes`].
    #[error("the package unpacks to more than {0} bytes")]
    TooLarge(u64),
    /// The folder cannot be written.
    #[error("the package cannot be written: {0}")]
    Folder(#[from] io::Error),
}

/// A file that was unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked {
    /// Its name in the archive: components joined by slashes.
    pub name: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

/// Unpacks an archive into a folder that exists and is empty.
///
/// # Errors
/// When anything in the archive is not as it should be; the folder may then hold a part of it.
pub fn unpack(archive: &[u8], folder: &Path, limits: Limits) -> Result<Vec<Unpacked>, ArchiveError> {
    check_count(archive, limits)?;
    let mut archive = ZipArchive::new(Cursor::new(archive)).map_err(|_| ArchiveError::Unreadable)?;
    if archive.len() > limits.entries {
        return Err(ArchiveError::TooMany(limits.entries));
    }
    if archive.has_duplicate_names() {
        return Err(ArchiveError::Twice("the same name".to_owned()));
    }
    let (mut left, mut seen, mut files) = (limits.bytes, HashSet::new(), Vec::new());
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|_| ArchiveError::Unreadable)?;
        let shown = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let path = path_of(entry.name_raw()).ok_or_else(|| ArchiveError::Name(shown.clone()))?;
        if !is_plain(&entry) {
            return Err(ArchiveError::Kind(shown));
        }
        // Some systems do not tell letter cases apart: what is two files here must not be one there.
        let is_new = seen.insert(path.to_string_lossy().to_lowercase());
        let target = folder.join(&path);
        if shown.ends_with('/') {
            fs::create_dir_all(&target).map_err(|_| ArchiveError::Twice(shown))?;
            continue;
        }
        if !is_new {
            return Err(ArchiveError::Twice(shown));
        }
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|_| ArchiveError::Twice(shown.clone()))?;
        }
        let mut file = File::create_new(&target).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ArchiveError::Twice(shown.clone()),
            _ => error.into(),
        })?;
        let sha256 = copy(entry, &mut file, &mut left, limits)?;
        files.push(Unpacked { name: shown, sha256 });
    }
    Ok(files)
}

/// Refuses an archive that announces too many entries before memory is taken for them. Those that announce more than 65 535
/// do so in another place, and are refused for it.
fn check_count(archive: &[u8], limits: Limits) -> Result<(), ArchiveError> {
    // The end record is 22 bytes, and a comment of at most 65 535 may follow.
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

/// The path under the folder that a name stands for; `None` for names that are not allowed.
fn path_of(raw: &[u8]) -> Option<PathBuf> {
    let name = std::str::from_utf8(raw).ok()?;
    let components: Vec<&str> = name.strip_suffix('/').unwrap_or(name).split('/').collect();
    let is_fine = |part: &&str| {
        let reserved = part.chars().any(|c| c.is_control() || "\\:*?\"<>|".contains(c));
        !reserved && part.len() <= NAME_BYTES && !part.is_empty() && !part.ends_with(['.', ' '])
    };
    (components.len() <= DEPTH && components.iter().all(is_fine)).then(|| components.iter().collect())
}

/// Whether an entry is a plain file or a folder, as its name and the mode given with it say.
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

/// Copies what comes out of the decoder, whatever size the archive announces, and gives its digest.
fn copy(mut from: impl Read, to: &mut File, left: &mut u64, limits: Limits) -> Result<String, ArchiveError> {
    let (mut buffer, mut digest) = (vec![0; 64 << 10], Sha256::new());
    loop {
        let n = from.read(&mut buffer).map_err(|_| ArchiveError::Unreadable)?;
        if n == 0 {
            break;
        }
        *left = left.checked_sub(n as u64).ok_or(ArchiveError::TooLarge(limits.bytes))?;
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

    /// An archive of these files.
    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            writer.start_file(*name, options()).expect("a name");
            writer.write_all(bytes).expect("memory");
        }
        writer.finish().expect("memory").into_inner()
    }

    fn try_unpack(archive: &[u8], limits: Limits) -> Result<Vec<Unpacked>, ArchiveError> {
        // One folder deeper, so that an escape would be seen.
        let outer = tempfile::tempdir().expect("a folder");
        let folder = outer.path().join("inner");
        fs::create_dir(&folder).expect("a folder");
        let result = unpack(archive, &folder, limits);
        let around: Vec<_> = fs::read_dir(outer.path()).expect("a folder").collect();
        assert_eq!(around.len(), 1, "something was written outside");
        result
    }

    #[test]
    fn files_come_out_with_their_digests() {
        let files = try_unpack(&archive(&[("a/b.php", b"abc"), ("a/c/d.txt", b"")]), Limits::default()).unwrap();
        assert_eq!(files.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["a/b.php", "a/c/d.txt"]);
        // The test vector of FIPS 180-2.
        assert_eq!(files[0].sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let long = "x".repeat(NAME_BYTES + 1);
        let deep = "d/".repeat(DEPTH) + "f";
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
            // Written under a harmless name of the same length and exchanged afterwards: the writer tidies names up.
            let harmless = "n".repeat(name.len());
            let bytes = exchange(&archive(&[(&harmless, b"x")]), harmless.as_bytes(), name.as_bytes());
            let error = try_unpack(&bytes, Limits::default()).unwrap_err();
            assert!(matches!(error, ArchiveError::Name(_)), "{name:?}: {error}");
        }
        assert!(try_unpack(&exchange(&archive(&[("nnnn", b"x")]), b"nnnn", b"a\xff\xfeb"), Limits::default()).is_err());
    }

    fn exchange(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
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
    fn links_are_refused() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.add_symlink("a", "/etc", options()).unwrap();
        writer.start_file("a/passwd", options()).unwrap();
        let bytes = writer.finish().unwrap().into_inner();
        assert!(matches!(try_unpack(&bytes, Limits::default()).unwrap_err(), ArchiveError::Kind(name) if name == "a"));
    }

    #[test]
    fn bombs_are_refused_by_what_comes_out() {
        let zeros = vec![0; 1 << 20];
        let files: Vec<(String, &[u8])> = (0..8).map(|i| (format!("f{i}"), zeros.as_slice())).collect();
        let files: Vec<(&str, &[u8])> = files.iter().map(|(n, b)| (n.as_str(), *b)).collect();
        let bomb = archive(&files);
        assert!(bomb.len() < 20_000, "the archive itself is small");
        let limits = Limits { bytes: 4 << 20, ..Limits::default() };
        assert!(matches!(try_unpack(&bomb, limits).unwrap_err(), ArchiveError::TooLarge(_)));
        // An entry that announces less than it holds is no way around: the size is in the central record.
        let lying = exchange(&bomb, &(1_u32 << 20).to_le_bytes(), &1_u32.to_le_bytes());
        assert!(try_unpack(&lying, limits).is_err());
        let few = Limits { entries: 7, ..Limits::default() };
        assert!(matches!(try_unpack(&bomb, few).unwrap_err(), ArchiveError::TooMany(7)));
    }

    #[test]
    fn the_same_name_twice_is_refused() {
        let twice = exchange(&archive(&[("aaaa", b"1"), ("bbbb", b"2")]), b"bbbb", b"aaaa");
        assert!(try_unpack(&twice, Limits::default()).is_err());
        for names in [["a/B", "a/b"], ["a", "a/b"], ["a/b", "a"]] {
            let error = try_unpack(&archive(&[(names[0], b"1"), (names[1], b"2")]), Limits::default()).unwrap_err();
            assert!(matches!(error, ArchiveError::Twice(_)), "{names:?}: {error}");
        }
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        let whole = archive(&[("a", b"some text that is long enough to be packed, packed, packed")]);
        for bytes in [&b""[..], b"PK", b"<html>", &whole[..whole.len() / 2]] {
            assert!(matches!(try_unpack(bytes, Limits::default()).unwrap_err(), ArchiveError::Unreadable));
        }
        // A byte of the contents is not what its checksum says.
        let mut damaged = whole.clone();
        damaged[40] ^= 0xff;
        assert!(try_unpack(&damaged, Limits::default()).is_err());
    }
}
