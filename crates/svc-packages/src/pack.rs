//! ZIP archives made of a folder, for a person to take along.
//!
//! Links are not followed, and what goes in is bounded: the whole archive is in memory.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Cursor, Read, Write},
    path::{Path, PathBuf},
};

use zip::{CompressionMethod, ZipWriter, result::ZipError, write::SimpleFileOptions};

use crate::archive::Limits;

/// Folders within folders.
const DEPTH: usize = 32;

/// Why there is no archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// More than [`Limits`] allow.
    #[error("the folder holds more than an archive may")]
    TooLarge,
    /// A file cannot be read.
    #[error("the folder cannot be read: {0}")]
    Folder(#[from] io::Error),
    /// The archive cannot be written.
    #[error("the archive cannot be made: {0}")]
    Archive(#[from] ZipError),
}

/// What stands at a name of an archive.
enum Source {
    File(PathBuf),
    Made(Vec<u8>),
}

/// An archive of the files of a folder whose paths below it `takes`, with some that were made in their place or beside
/// them. `folders` are in it even when they are empty.
///
/// # Errors
/// When a file cannot be read, or there is more than `limits` allow.
pub fn pack(
    folder: &Path,
    takes: impl Fn(&str) -> bool,
    folders: &[&str],
    made: impl IntoIterator<Item = (String, Vec<u8>)>,
    limits: Limits,
) -> Result<Vec<u8>, PackError> {
    let mut sources = BTreeMap::new();
    collect(folder, "", &takes, DEPTH, limits, &mut sources)?;
    sources.extend(made.into_iter().map(|(name, bytes)| (name, Source::Made(bytes))));
    if sources.len() > limits.entries {
        return Err(PackError::TooLarge);
    }
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for folder in folders {
        archive.add_directory(*folder, options)?;
    }
    let mut left = limits.bytes;
    for (name, source) in sources {
        archive.start_file(name, options)?;
        let written = match source {
            Source::File(path) => io::copy(&mut File::open(path)?.take(left + 1), &mut archive)?,
            Source::Made(bytes) => {
                archive.write_all(&bytes)?;
                u64::try_from(bytes.len()).unwrap_or(u64::MAX)
            }
        };
        left = left.checked_sub(written).ok_or(PackError::TooLarge)?;
    }
    Ok(archive.finish()?.into_inner())
}

fn collect(
    folder: &Path,
    below: &str,
    takes: &impl Fn(&str) -> bool,
    depth: usize,
    limits: Limits,
    sources: &mut BTreeMap<String, Source>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let (name, kind) = (format!("{below}{name}"), entry.file_type()?);
        if !takes(&name) || sources.len() > limits.entries {
            continue;
        }
        if kind.is_dir() && depth > 0 {
            collect(&entry.path(), &format!("{name}/"), takes, depth - 1, limits, sources)?;
        } else if kind.is_file() {
            sources.insert(name, Source::File(entry.path()));
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
    fn made_files_stand_in_place_of_those_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("parts/deep")).unwrap();
        for (name, text) in [("style.css", "a"), ("parts/deep/x.html", "b"), ("skipped", "c"), ("theme.json", "{}")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("/", folder.path().join("root")).unwrap();
        let made = [("theme.json", "{\"a\":1}"), ("templates/new.html", "n")];
        let made = || made.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        let archive = |limits| pack(folder.path(), |name| name != "skipped", &["templates/", "parts/"], made(), limits);
        let expected = [
            ("templates/", ""),
            ("parts/", ""),
            ("parts/deep/x.html", "b"),
            ("style.css", "a"),
            ("templates/new.html", "n"),
            ("theme.json", "{\"a\":1}"),
        ];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(names_and_texts(archive(Limits { entries: 4, bytes: 10 }).unwrap()), expected);
        for limits in [Limits { entries: 3, bytes: 10 }, Limits { entries: 4, bytes: 9 }] {
            assert!(matches!(archive(limits), Err(PackError::TooLarge)), "{limits:?}");
        }
    }
}
