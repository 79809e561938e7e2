//! Entries in a folder, one file each.
//!
//! A file is created and flushed to disk before a write, replaced when its outcome is known, and deleted after delivery. Each of these
//! steps is atomic, so that a crash leaves an entry whose outcome is unknown at worst. File names sort by time.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use super::{Summary, object::Object};

/// Maximum number of entries that wait or have failed.
const MAX_ENTRIES: usize = 10_000;

/// The end of the names of entries.
const ENTRY: &str = ".json";

/// The end of the names of files that are being written.
const UNFINISHED: &str = ".new";

/// Age of files that nobody is writing any more.
const ABANDONED: Duration = Duration::from_hours(1);

/// Folder of entries whose delivery has failed.
const FAILED: &str = "failed";

/// File that is locked while entries are delivered.
const LOCK: &str = "lock";

/// An entry for one write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Whether the write is known to be committed.
    pub(super) finished: bool,
    pub(super) object: Object,
}

/// The entries of a site.
#[derive(Debug)]
pub(super) struct Outbox {
    folder: PathBuf,
    /// The number of entries, which the next listing corrects.
    entries: AtomicUsize,
    sequence: AtomicU64,
}

impl Outbox {
    /// Opens the outbox in a folder, which is created.
    ///
    /// # Errors
    /// If it cannot be created or read.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder.join(FAILED))?;
        let outbox = Outbox { folder: folder.to_owned(), entries: AtomicUsize::new(0), sequence: AtomicU64::new(0) };
        outbox.list()?;
        // Files that were being written when a server was killed. Their writes have not begun.
        for file in fs::read_dir(folder)? {
            let path = file?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.ends_with(UNFINISHED) && age(name) > ABANDONED {
                fs::remove_file(&path)?;
            }
        }
        Ok(outbox)
    }

    /// Whether no more entries are accepted.
    pub(super) fn is_full(&self) -> bool {
        self.entries.load(Relaxed) >= MAX_ENTRIES
    }

    /// Stores an entry. It is on disk when this returns. Returns its name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn begin(&self, entry: &Entry) -> io::Result<String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros());
        let number = self.sequence.fetch_add(1, Relaxed);
        // Several servers may use the folder.
        let name = format!("{now:020}-{:08}-{number:06}{ENTRY}", std::process::id());
        self.write(&name, entry)?;
        self.entries.fetch_add(1, Relaxed);
        Ok(name)
    }

    /// Replaces an entry when its outcome is known.
    ///
    /// # Errors
    /// If it cannot be written. The entry is then unchanged.
    pub(super) fn finish(&self, name: &str, entry: &Entry) -> io::Result<()> {
        self.write(name, entry)
    }

    /// Removes an entry.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.folder.join(name))?;
        self.entries.fetch_sub(1, Relaxed);
        Ok(())
    }

    /// Moves an entry to those that have failed.
    ///
    /// # Errors
    /// If it cannot be moved.
    pub(super) fn fail(&self, name: &str) -> io::Result<()> {
        fs::rename(self.folder.join(name), self.folder.join(FAILED).join(name))
    }

    /// The names of waiting entries, oldest first.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub(super) fn list(&self) -> io::Result<Vec<String>> {
        let (names, failed) = (names(&self.folder)?, names(&self.folder.join(FAILED))?);
        self.entries.store(names.len() + failed.len(), Relaxed);
        Ok(names)
    }

    /// Reads an entry; `None` if it has been removed.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn read(&self, name: &str) -> io::Result<Option<Entry>> {
        match fs::read(self.folder.join(name)) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The right to deliver, until the result is dropped. `None` if somebody else has it.
    ///
    /// # Errors
    /// If the file cannot be opened or locked.
    pub(super) fn lock(&self) -> io::Result<Option<File>> {
        let path = self.folder.join(LOCK);
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Numbers of waiting and failed entries in a folder.
    ///
    /// # Errors
    /// If it does not exist or cannot be read.
    pub(super) fn summary(folder: &Path) -> io::Result<Summary> {
        let waiting = names(folder)?;
        let oldest = waiting.first().map_or(Duration::ZERO, |name| age(name));
        Ok(Summary { waiting: waiting.len(), oldest, failed: names(&folder.join(FAILED))?.len() })
    }

    /// Lets failed entries wait for delivery again. Returns their number.
    ///
    /// # Errors
    /// If an entry cannot be moved.
    pub(super) fn retry(folder: &Path) -> io::Result<usize> {
        let failed = names(&folder.join(FAILED))?;
        for name in &failed {
            fs::rename(folder.join(FAILED).join(name), folder.join(name))?;
        }
        Ok(failed.len())
    }

    /// Writes a file in one step.
    fn write(&self, name: &str, entry: &Entry) -> io::Result<()> {
        let (path, unfinished) = (self.folder.join(name), self.folder.join(format!("{name}{UNFINISHED}")));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        // The parameters of a request may be private.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&unfinished)?;
        let written = serde_json::to_vec(entry).map_err(io::Error::from).and_then(|text| {
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)
        });
        if let Err(error) = written {
            // A full disk: an incomplete file must not remain.
            drop(fs::remove_file(&unfinished));
            return Err(error);
        }
        // The name must be on disk as well.
        #[cfg(unix)]
        File::open(&self.folder)?.sync_all()?;
        Ok(())
    }
}

/// The age of an entry, by its name. Zero if the clock was set back.
pub(super) fn age(name: &str) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let micros = name.split('-').next().and_then(|text| text.parse().ok()).unwrap_or_default();
    now.saturating_sub(Duration::from_micros(micros))
}

/// The names of the entries in a folder, oldest first.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for file in fs::read_dir(folder)? {
        if let Ok(name) = file?.file_name().into_string()
            && name.ends_with(ENTRY)
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(id: i64, finished: bool) -> Entry {
        let object = json!({"kind": "post", "of": "post", "id": id, "after": null, "before": {"post_status": "draft"},
                            "method": "PUT", "route": "/wp/v2/posts/1", "params": {}, "user": 1});
        Entry { finished, object: serde_json::from_value(object).unwrap() }
    }

    #[test]
    fn entries_outlive_the_process_after_each_step() {
        let folder = tempfile::tempdir().unwrap();
        // How far the process came before it was killed, and what the next process finds.
        for (steps, found) in [(0, None), (1, Some(false)), (2, Some(true)), (3, None)] {
            let outbox = Outbox::open(folder.path()).unwrap();
            let name = (steps > 0).then(|| outbox.begin(&entry(steps, false)).unwrap());
            if let Some(name) = name.as_ref().filter(|_| steps > 1) {
                outbox.finish(name, &entry(steps, true)).unwrap();
            }
            if let Some(name) = name.as_ref().filter(|_| steps > 2) {
                outbox.remove(name).unwrap();
            }
            drop(outbox);
            let next = Outbox::open(folder.path()).unwrap();
            let names = next.list().unwrap();
            let read: Vec<_> = names.iter().map(|name| next.read(name).unwrap().unwrap()).collect();
            assert_eq!(read, found.map(|finished| entry(steps, finished)).into_iter().collect::<Vec<_>>());
            names.iter().for_each(|name| next.remove(name).unwrap());
        }
    }

    #[test]
    fn an_incomplete_file_is_no_entry() {
        let folder = tempfile::tempdir().unwrap();
        let outbox = Outbox::open(folder.path()).unwrap();
        let name = outbox.begin(&entry(1, false)).unwrap();
        // Killed while the outcome was being written.
        fs::write(folder.path().join(format!("{name}{UNFINISHED}")), "{\"fini").unwrap();
        let old = format!("{:020}-1-000001{ENTRY}{UNFINISHED}", 1);
        fs::write(folder.path().join(&old), "").unwrap();
        let next = Outbox::open(folder.path()).unwrap();
        assert_eq!(next.list().unwrap(), std::slice::from_ref(&name));
        assert_eq!(next.read(&name).unwrap(), Some(entry(1, false)));
        assert!(!folder.path().join(old).exists(), "abandoned files are removed");
    }

    #[test]
    fn entries_are_in_order_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let outbox = Outbox::open(folder.path()).unwrap();
        let names: Vec<String> = (0..30).map(|id| outbox.begin(&entry(id, true)).unwrap()).collect();
        assert_eq!(outbox.list().unwrap(), names);
        assert!(age(&names[0]) < Duration::from_secs(60));
        outbox.fail(&names[3]).unwrap();
        let summary = Outbox::summary(folder.path()).unwrap();
        assert_eq!((summary.waiting, summary.failed), (29, 1));
        outbox.list().unwrap();
        assert_eq!(outbox.entries.load(Relaxed), 30, "failed entries count as well");
        outbox.entries.store(MAX_ENTRIES, Relaxed);
        assert!(outbox.is_full());
        assert_eq!(Outbox::retry(folder.path()).unwrap(), 1);
        assert_eq!(outbox.list().unwrap(), names, "a failed entry returns to its place");
        assert!(outbox.read("none.json").unwrap().is_none());
        assert!(!outbox.is_full());
    }

    #[test]
    fn one_task_delivers_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (Outbox::open(folder.path()).unwrap(), Outbox::open(folder.path()).unwrap());
        let lock = first.lock().unwrap();
        assert!(lock.is_some() && second.lock().unwrap().is_none());
        drop(lock);
        assert!(second.lock().unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn others_cannot_read_entries() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let outbox = Outbox::open(folder.path()).unwrap();
        let path = folder.path().join(outbox.begin(&entry(1, false)).unwrap());
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
