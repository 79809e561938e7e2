//! Creation of ZIP archives from a folder, for downloads.
//!
//! Links are not followed. The archive is built in memory, so its size is limited.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Cursor, Read, Write},
    path::{Path, PathBuf},
};

use zip::{CompressionMethod, ZipWriter, result::ZipError, write::SimpleFileOptions};

use crate::archive::ArchiveLimits;

/// Maximum depth of nested folders.
const MAX_DEPTH: usize = 32;

/// An error of [`pack`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The content exceeds the [`ArchiveLimits`].
    #[error("the folder exceeds the limits of an archive")]
    TooLarge,
    /// A file could not be read.
    #[error("the folder could not be read: {0}")]
    Folder(#[from] io::Error),
    /// The archive could not be written.
    #[error("the archive could not be written: {0}")]
    Archive(#[from] ZipError),
}

/// Content of an archive entry.
enum EntrySource {
    File(PathBuf),
    Generated(Vec<u8>),
}

/// Packs the files in a folder whose relative paths `include` accepts, together with generated files, which replace files
/// of the same path. `folders` are included even if they are empty.
///
/// # Errors
/// If a file cannot be read, or the content exceeds `limits`.
pub fn pack(
    folder: &Path,
    include: impl Fn(&str) -> bool,
    folders: &[&str],
    generated: impl IntoIterator<Item = (String, Vec<u8>)>,
    limits: ArchiveLimits,
) -> Result<Vec<u8>, PackError> {
    let mut sources = BTreeMap::new();
    collect(folder, "", &include, MAX_DEPTH, limits, &mut sources)?;
    sources.extend(generated.into_iter().map(|(name, bytes)| (name, EntrySource::Generated(bytes))));
    if sources.len() > limits.entries {
        return Err(PackError::TooLarge);
    }
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for folder in folders {
        archive.add_directory(*folder, options)?;
    }
    let mut remaining = limits.bytes;
    for (name, source) in sources {
        archive.start_file(name, options)?;
        let written = match source {
            EntrySource::File(path) => io::copy(&mut File::open(path)?.take(remaining + 1), &mut archive)?,
            EntrySource::Generated(bytes) => {
                archive.write_all(&bytes)?;
                u64::try_from(bytes.len()).unwrap_or(u64::MAX)
            }
        };
        remaining = remaining.checked_sub(written).ok_or(PackError::TooLarge)?;
    }
    Ok(archive.finish()?.into_inner())
}

fn collect(
    folder: &Path,
    prefix: &str,
    include: &impl Fn(&str) -> bool,
    depth: usize,
    limits: ArchiveLimits,
    sources: &mut BTreeMap<String, EntrySource>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let (name, kind) = (format!("{prefix}{name}"), entry.file_type()?);
        if !include(&name) || sources.len() > limits.entries {
            continue;
        }
        if kind.is_dir() && depth > 0 {
            collect(&entry.path(), &format!("{name}/"), include, depth - 1, limits, sources)?;
        } else if kind.is_file() {
            sources.insert(name, EntrySource::File(entry.path()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_and_texts(archive: Vec<u8>) -> Vec<(String, String)> {
        let mut archive = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
        (0..archive.len())
            .map(|at| {
                let mut entry = archive.by_index(at).unwrap();
                let mut text = String::new();
                entry.read_to_string(&mut text).unwrap();
                (entry.name().unwrap().into_owned(), text)
            })
            .collect()
    }

    #[test]
    fn generated_files_replace_those_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("parts/deep")).unwrap();
        for (name, text) in [("style.css", "a"), ("parts/deep/x.html", "b"), ("skipped", "c"), ("theme.json", "{}")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("/", folder.path().join("root")).unwrap();
        let generated = [("theme.json", "{\"a\":1}"), ("templates/new.html", "n")];
        let generated = || generated.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        let archive =
            |limits| pack(folder.path(), |name| name != "skipped", &["templates/", "parts/"], generated(), limits);
        let expected = [
            ("templates/", ""),
            ("parts/", ""),
            ("parts/deep/x.html", "b"),
            ("style.css", "a"),
            ("templates/new.html", "n"),
            ("theme.json", "{\"a\":1}"),
        ];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(names_and_texts(archive(ArchiveLimits { entries: 4, bytes: 10 }).unwrap()), expected);
        for limits in [ArchiveLimits { entries: 3, bytes: 10 }, ArchiveLimits { entries: 4, bytes: 9 }] {
            assert!(matches!(archive(limits), Err(PackError::TooLarge)), "{limits:?}");
        }
    }
}
