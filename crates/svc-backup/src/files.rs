//! Copies of files: uploads, themes, plugins, secret keys and settings. Content is stored once, however often a file is listed.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::destination::Destination;
use crate::encryption::Sealing;
use crate::error::{BackupError, Result, at};
use crate::folder::create_file;
use crate::names::{FILE_CONTENT, FILE_LISTS};
use crate::object::{decode, encode};
use crate::restore::Moment;
use crate::status::{BackupStatus, now};

/// Bytes of a part of a file.
const PART: usize = 16 << 20;

/// Maximum depth of folders.
const DEPTH_LIMIT: usize = 64;

/// What to copy: files, and folders with everything in them but links. A path itself may be a link.
#[derive(Clone, Debug, Default)]
pub struct FileSource {
    /// Paths in the backup (`content/uploads`), and where they are.
    pub paths: Vec<(String, PathBuf)>,
}

/// A file in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) size: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified: u128,
    /// Hashes of its parts, or what names them if they are encrypted.
    pub(crate) parts: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ListHeader {
    time: u64,
    files: usize,
    /// Whose keys decrypt the content of the files; `None` if it is not encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recipients: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PartHeader {
    /// The name of the object, if it is no hash of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

/// What was copied before.
#[derive(Debug, Default)]
pub(crate) struct FileBackup {
    last: Option<HashMap<String, File>>,
}

impl FileBackup {
    /// Copies what is new, and stores a list if anything has changed.
    pub(crate) fn copy(
        &mut self,
        source: &FileSource,
        to: &dyn Destination,
        status: &BackupStatus,
        sealing: Option<Sealing<'_>>,
    ) -> Result<()> {
        let recipients = sealing.map(|sealing| sealing.recipients());
        let last = match self.last.take() {
            Some(last) => last,
            None => match to.list(FILE_LISTS)?.last() {
                Some(key) => match read_whole_list(to, key)? {
                    (header, files) if header.recipients == recipients => {
                        files.into_iter().map(|file| (file.path.clone(), file)).collect()
                    }
                    // What was stored for others is stored again.
                    _ => HashMap::new(),
                },
                None => HashMap::new(),
            },
        };
        let mut files = BTreeMap::new();
        for (name, path) in &source.paths {
            walk(name, path, &mut |name, path, metadata| {
                let modified = modified(metadata);
                let known = last.get(name).filter(|file| (file.size, file.modified) == (metadata.len(), modified));
                let file = match known {
                    Some(file) => Some(file.clone()),
                    None => store(name, path, to, status, sealing)?,
                };
                // A file that was deleted or changed meanwhile is copied the next time; until then its last content is kept.
                if let Some(file) = file.or_else(|| last.get(name).cloned()) {
                    files.insert(name.to_owned(), file);
                }
                Ok(())
            })?;
        }
        let files: HashMap<String, File> = files.into_iter().collect();
        if files != last {
            let mut all: Vec<&File> = files.values().collect();
            all.sort_unstable_by(|a, b| a.path.cmp(&b.path));
            let header = ListHeader { time: now(), files: all.len(), recipients };
            let body = serde_json::to_vec(&all).unwrap_or_default();
            to.put(&format!("{FILE_LISTS}/{:013}", header.time), encode(&header, &body)?)?;
        }
        BackupStatus::set(&status.last_files, now());
        self.last = Some(files);
        Ok(())
    }
}

/// Stores the parts of a file; `None` if it changes meanwhile.
fn store(
    name: &str,
    path: &Path,
    to: &dyn Destination,
    status: &BackupStatus,
    sealing: Option<Sealing<'_>>,
) -> Result<Option<File>> {
    let Ok(mut file) = fs::File::open(path) else { return Ok(None) };
    let before = file.metadata().map_err(at(path))?;
    let (mut parts, mut size) = (Vec::new(), 0);
    loop {
        let mut part = Vec::new();
        (&mut file).take(PART as u64).read_to_end(&mut part).map_err(at(path))?;
        if part.is_empty() {
            break;
        }
        size += part.len() as u64;
        let id = sealing.map(|sealing| sealing.part_id(&part));
        let name = id.clone().unwrap_or_else(|| hash(&part));
        let bytes = encode(&PartHeader { id }, &part)?;
        let n_bytes = bytes.len();
        match to.put(&content_key(&name), bytes) {
            Err(BackupError::Exists(_)) => {}
            stored => {
                stored?;
                BackupStatus::add(&status.bytes, n_bytes);
            }
        }
        parts.push(name);
    }
    let after = fs::metadata(path).ok();
    let is_same = after.is_some_and(|after| modified(&after) == modified(&before)) && size == before.len();
    Ok(is_same.then(|| File { path: name.to_owned(), size, modified: modified(&before), parts }))
}

/// Calls `each` for all files, with their paths in the backup.
fn walk(name: &str, path: &Path, each: &mut dyn FnMut(&str, &Path, &fs::Metadata) -> Result<()>) -> Result<()> {
    let mut waiting = vec![(name.to_owned(), path.to_owned(), 0)];
    while let Some((name, path, depth)) = waiting.pop() {
        // Links in a folder may point anywhere.
        let metadata = if depth == 0 { fs::metadata(&path) } else { fs::symlink_metadata(&path) };
        let Ok(metadata) = metadata else { continue };
        if metadata.is_file() {
            each(&name, &path, &metadata)?;
        } else if metadata.is_dir() && depth < DEPTH_LIMIT {
            for entry in fs::read_dir(&path).map_err(at(&path))? {
                let entry = entry.map_err(at(&path))?;
                match entry.file_name().to_str() {
                    Some(child) => waiting.push((format!("{name}/{child}"), entry.path(), depth + 1)),
                    None => tracing::warn!(file = ?entry.path(), "not backed up: the name is not UTF-8"),
                }
            }
        }
    }
    Ok(())
}

/// Files that were restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestoredFiles {
    /// Number of files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Time of their list, in milliseconds; `None` if the backup has none.
    pub time: Option<u64>,
}

/// Restores the files of a moment to a folder, and those that were added soon after it.
///
/// # Errors
/// If an object is missing or damaged, or a file cannot be written.
pub fn restore_files(from: &dyn Destination, moment: Moment, to: &Path) -> Result<RestoredFiles> {
    let lists = from.list(FILE_LISTS)?;
    let is_before = |key: &&String| list_time(key).is_some_and(|time| time <= moment.millis());
    // Files are written before the rows of the database that name them, so that files of that moment may be in the next list.
    let (before, after) = (lists.iter().rfind(is_before), lists.iter().find(|key| !is_before(key)));
    let mut files = BTreeMap::new();
    for key in [after, before].into_iter().flatten() {
        files.extend(read_list(from, key)?.into_iter().map(|file| (file.path.clone(), file)));
    }
    let mut restored =
        RestoredFiles { time: before.or(after).and_then(|key| list_time(key)), ..RestoredFiles::default() };
    for file in files.values() {
        let is_inside = Path::new(&file.path).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside {
            let why = format!("a list has the file {}", file.path);
            return Err(BackupError::Damaged { key: FILE_LISTS.to_owned(), why });
        }
        let path = to.join(&file.path);
        let folder = path.parent().unwrap_or(to);
        svc_files::create_private_folder(folder).map_err(at(folder))?;
        let mut output = create_file(&path).map_err(at(&path))?;
        for part in &file.parts {
            let bytes = content(from, part)?;
            output.write_all(&bytes).map_err(at(&path))?;
            restored.bytes += bytes.len() as u64;
        }
        output.sync_all().map_err(at(&path))?;
        restored.files += 1;
    }
    Ok(restored)
}

/// The content of a part.
pub(crate) fn content(from: &dyn Destination, part: &str) -> Result<Vec<u8>> {
    let key = content_key(part);
    let (header, bytes): (PartHeader, _) = decode(&key, &from.get(&key)?)?;
    if header.id.unwrap_or_else(|| hash(&bytes)) == part {
        Ok(bytes)
    } else {
        Err(BackupError::Damaged { key, why: "wrong content".to_owned() })
    }
}

/// The files of a list.
pub(crate) fn read_list(from: &dyn Destination, key: &str) -> Result<Vec<File>> {
    read_whole_list(from, key).map(|(_, files)| files)
}

fn read_whole_list(from: &dyn Destination, key: &str) -> Result<(ListHeader, Vec<File>)> {
    let (header, body): (ListHeader, _) = decode(key, &from.get(key)?)?;
    let files = serde_json::from_slice(&body);
    let damaged = |_| BackupError::Damaged { key: key.to_owned(), why: "not a list of files".to_owned() };
    Ok((header, files.map_err(damaged)?))
}

/// The time of a list.
pub(crate) fn list_time(key: &str) -> Option<u64> {
    key.rsplit('/').next()?.parse().ok()
}

fn content_key(hash: &str) -> String {
    format!("{FILE_CONTENT}/{}/{hash}", hash.get(..2).unwrap_or_default())
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn modified(metadata: &fs::Metadata) -> u128 {
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    time.unwrap_or_default().as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Folder, retention};

    #[test]
    fn files_are_stored_once_and_restored_as_they_were() {
        let root = tempfile::tempdir().unwrap();
        let [content, to] = ["content", "backup"].map(|name| root.path().join(name));
        let folder = Folder::new(&to);
        fs::create_dir_all(content.join("uploads/2024")).unwrap();
        fs::write(content.join("uploads/2024/a.txt"), "one").unwrap();
        fs::write(content.join("uploads/b.txt"), vec![7; PART + 5]).unwrap();
        fs::write(root.path().join("keys.toml"), "keys").unwrap();
        let source = FileSource {
            paths: vec![
                ("content/uploads".to_owned(), content.join("uploads")),
                ("keys.toml".to_owned(), root.path().join("keys.toml")),
                ("svc.toml".to_owned(), root.path().join("svc.toml")),
            ],
        };
        let (status, mut backup) = (BackupStatus::default(), FileBackup::default());
        backup.copy(&source, &folder, &status, None).unwrap();
        let n_objects = folder.list("files").unwrap().len();
        assert_eq!(n_objects, 5, "a, two parts of b, keys, a list");
        backup.copy(&source, &folder, &status, None).unwrap();
        FileBackup::default().copy(&source, &folder, &status, None).unwrap();
        assert_eq!(folder.list("files").unwrap().len(), n_objects, "nothing has changed");
        let first = now();
        std::thread::sleep(std::time::Duration::from_millis(5));
        fs::write(content.join("uploads/2024/a.txt"), "two, longer").unwrap();
        fs::remove_file(content.join("uploads/b.txt")).unwrap();
        fs::write(content.join("uploads/c.txt"), "").unwrap();
        backup.copy(&source, &folder, &status, None).unwrap();
        let restored = |moment, name: &str| {
            let to = root.path().join(name);
            let restored = restore_files(&folder, moment, &to).unwrap();
            (restored.files, fs::read_to_string(to.join("content/uploads/2024/a.txt")).unwrap())
        };
        assert_eq!(restored(Moment::At(first), "first"), (4, "one".to_owned()), "c may have been there");
        assert_eq!(restored(Moment::Latest, "latest"), (3, "two, longer".to_owned()));
        retention::delete_files(&folder, now()).unwrap();
        assert_eq!(restored(Moment::Latest, "kept"), (3, "two, longer".to_owned()));
        assert_eq!(folder.list("files").unwrap().len(), 3, "a, keys, a list");
    }
}
