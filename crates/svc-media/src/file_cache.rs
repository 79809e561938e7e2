//! A folder of files that can be made again, within a number of bytes. It has no index: the size and the time of each file are those of the
//! file system.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

/// Files of a smaller size take this many bytes on most disks, so they are counted with it. It also bounds the number of files.
const BLOCK: u64 = 4_096;

/// Bytes that are read at once.
const PART_BYTES: u64 = 64 << 10;

/// A use is recorded if the last recorded one is longer ago.
const RECORDED_USE: Duration = Duration::from_secs(60);

/// Prefix of files that are being written.
const TEMPORARY: &str = ".tmp";

/// Older files that are still being written are those of a process that has ended.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// A folder of files within a number of bytes. If they would exceed it, those that were used least recently are deleted. All methods
/// block.
#[derive(Debug)]
pub struct FileCache {
    folder: PathBuf,
    max_bytes: u64,
    /// What is in the folder; `None` before it was counted.
    content: Mutex<Option<CachedFiles>>,
}

/// The files in a [`FileCache`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachedFiles {
    /// Number of files.
    pub files: usize,
    /// Their size on the disk, in bytes.
    pub bytes: u64,
}

impl CachedFiles {
    fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let kept = entries.into_iter().filter(|entry| !entry.is_temporary);
        kept.fold(CachedFiles::default(), |all, entry| CachedFiles {
            files: all.files + 1,
            bytes: all.bytes + entry.bytes,
        })
    }
}

/// An open file of a [`FileCache`].
#[derive(Debug)]
pub struct CachedFile {
    file: File,
    size: u64,
}

impl CachedFile {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The next part of at most 64 KiB; empty at the end. Blocks.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next_part(&mut self) -> io::Result<Vec<u8>> {
        let mut part = Vec::new();
        (&mut self.file).take(PART_BYTES).read_to_end(&mut part)?;
        Ok(part)
    }
}

/// A file of the folder.
struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
    is_temporary: bool,
}

/// The size of a file on the disk.
fn on_disk(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK).max(1) * BLOCK
}

impl FileCache {
    /// A cache in this folder, which is created with the first file. Nothing else may be stored in it.
    pub fn new(folder: &Path, max_bytes: u64) -> Self {
        FileCache { folder: folder.to_owned(), max_bytes, content: Mutex::new(None) }
    }

    /// What is in the folder, as far as it is known: nothing before the first file was stored.
    pub fn content(&self) -> CachedFiles {
        self.content.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or_default()
    }

    /// Opens a file, which can be read even if it is deleted meanwhile; `None` if it is not cached. `name` is a file name.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(&self, name: &str) -> io::Result<Option<CachedFile>> {
        let file = match File::open(self.folder.join(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        let is_due = |used: SystemTime| used.elapsed().is_ok_and(|since| since > RECORDED_USE);
        if metadata.modified().is_ok_and(is_due) {
            // Without it the file is deleted earlier.
            let _ = file.set_modified(SystemTime::now());
        }
        Ok(Some(CachedFile { file, size: metadata.len() }))
    }

    /// Stores a file, which others see as a whole or not at all. Returns false if it is larger than the cache, and not stored.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let size = on_disk(bytes.len() as u64);
        if size > self.max_bytes {
            return Ok(false);
        }
        svc_files::create_private_folder(&self.folder)?;
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        // After a power failure, a file that has its name must have its contents.
        file.as_file().sync_data()?;
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match *content {
            Some(before) => before,
            None => CachedFiles::of(&self.entries()?),
        };
        let before = if before.bytes + size > self.max_bytes { self.evict(size)? } else { before };
        file.persist(self.folder.join(name)).map_err(|failed| failed.error)?;
        *content = Some(CachedFiles { files: before.files + 1, bytes: before.bytes + size });
        Ok(true)
    }

    /// Deletes the files that were used least recently, until there is room for `size` bytes and a tenth of the cache. Returns the
    /// others.
    fn evict(&self, size: u64) -> io::Result<CachedFiles> {
        let mut entries = self.entries()?;
        entries.sort_by_key(|entry| entry.used);
        let room = (self.max_bytes / 10 * 9).saturating_sub(size);
        let mut left = CachedFiles::of(&entries);
        for entry in entries {
            if entry.is_temporary {
                let is_abandoned = entry.used.elapsed().is_ok_and(|since| since > ABANDONED);
                if is_abandoned {
                    remove(&entry.path)?;
                }
            } else if left.bytes > room {
                remove(&entry.path)?;
                left = CachedFiles { files: left.files - 1, bytes: left.bytes - entry.bytes };
            }
        }
        Ok(left)
    }

    fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                // Another process has deleted it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if metadata.is_file() {
                entries.push(Entry {
                    is_temporary: entry.file_name().to_str().is_some_and(|name| name.starts_with(TEMPORARY)),
                    path: entry.path(),
                    bytes: on_disk(metadata.len()),
                    used: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                });
            }
        }
        Ok(entries)
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn names(folder: &Path) -> BTreeSet<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn read(cache: &FileCache, name: &str) -> Option<Vec<u8>> {
        let mut file = cache.open(name).unwrap()?;
        let (size, mut bytes) = (file.size(), Vec::new());
        loop {
            let part = file.next_part().unwrap();
            if part.is_empty() {
                assert_eq!(bytes.len() as u64, size);
                return Some(bytes);
            }
            bytes.extend(part);
        }
    }

    fn set_used(folder: &Path, name: &str, minutes_ago: u64) {
        let file = File::options().write(true).open(folder.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60 * minutes_ago)).unwrap();
    }

    #[test]
    fn files_are_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        let cache = FileCache::new(&folder, 1 << 20);
        assert_eq!(read(&cache, "x"), None);
        for contents in [&b""[..], b"one", b"two", &[7; 200_000]] {
            assert!(cache.write("x", contents).unwrap());
            assert_eq!(read(&cache, "x").as_deref(), Some(contents));
        }
        assert!(!cache.write("large", &vec![1; (1 << 20) + 1]).unwrap());
        assert_eq!((read(&cache, "large"), names(&folder).len()), (None, 1));
        fs::remove_file(folder.join("x")).unwrap();
        assert_eq!(read(&cache, "x"), None);
    }

    #[test]
    fn the_least_recently_used_files_are_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let cache = FileCache::new(dir.path(), 10 * BLOCK);
        for n in 0..10 {
            let name = format!("f{n}");
            cache.write(&name, &[n; 100]).unwrap();
            set_used(dir.path(), &name, 100 - u64::from(n));
        }
        assert_eq!(names(dir.path()).len(), 10);
        // The oldest one is used again.
        assert!(cache.open("f0").unwrap().is_some());
        cache.write("new", b"new").unwrap();
        let expected = ["f0", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "new"];
        assert_eq!(names(dir.path()), expected.map(str::to_owned).into());
        // A large one needs the room of several.
        cache.write("larger", &vec![1; 5 * BLOCK as usize]).unwrap();
        assert_eq!(names(dir.path()), ["f0", "f8", "f9", "new", "larger"].map(str::to_owned).into());
    }

    #[test]
    fn the_bound_holds_after_a_restart_and_with_many_writers() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..3 {
            let cache = FileCache::new(dir.path(), 20 * BLOCK);
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let cache = &cache;
                    scope.spawn(move || {
                        for n in 0..30 {
                            cache.write(&format!("{round}-{thread}-{n}"), &vec![1; n * 300]).unwrap();
                        }
                    });
                }
            });
            let total = CachedFiles::of(&cache.entries().unwrap());
            assert!((10 * BLOCK..=20 * BLOCK).contains(&total.bytes), "{total:?}");
            assert_eq!(cache.content(), total);
            assert!(names(dir.path()).iter().all(|name| !name.starts_with(TEMPORARY)));
        }
    }

    #[test]
    fn abandoned_files_are_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let cache = FileCache::new(dir.path(), 2 * BLOCK);
        fs::write(dir.path().join(".tmpold"), vec![1; 100_000]).unwrap();
        fs::write(dir.path().join(".tmpnew"), "in progress").unwrap();
        set_used(dir.path(), ".tmpold", 120);
        for name in ["a", "b", "c"] {
            cache.write(name, b"x").unwrap();
        }
        let left = names(dir.path());
        assert!(left.contains(".tmpnew") && left.contains("c") && !left.contains(".tmpold"), "{left:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_cannot_be_written_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = FileCache::new(&file, 1 << 20);
        assert!(cache.write("x", b"x").is_err() && cache.open("x").is_err());
    }
}
