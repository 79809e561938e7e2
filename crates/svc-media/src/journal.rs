//! A journal of uploads in progress. It records files before the database row that refers to them exists, so that files
//! of interrupted uploads can be removed.
//!
//! Each upload has an entry, a small file in a folder that belongs to this server. The uploading process holds a lock
//! on the entry; the operating system releases it when the process ends for any reason. An entry without a lock belongs
//! to an interrupted upload. Each path is recorded before its file is created.

use std::{
    collections::HashSet,
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

/// File name extension of an entry that is not locked yet.
const UNLOCKED_EXTENSION: &str = "new";

/// Maximum number of attempts to create an entry, which another process may remove.
const MAX_ATTEMPTS: u32 = 3;

/// Maximum size of an entry, in bytes. An upload has a few dozen files.
const MAX_ENTRY_BYTES: u64 = 1 << 20;

/// Kind of a recorded path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathKind {
    /// The upload creates an empty file with this name, unless the file exists.
    Reserved,
    /// The file belongs to the upload.
    Own,
}

impl PathKind {
    fn keyword(self) -> &'static str {
        match self {
            PathKind::Reserved => "reserved",
            PathKind::Own => "own",
        }
    }
}

/// An upload in progress. If it is dropped without [`PendingUpload::done`], its entry remains.
#[derive(Debug, Default)]
pub struct PendingUpload(Option<(PathBuf, File)>);

impl PendingUpload {
    /// Records a name that the upload takes if it is free.
    pub(crate) fn reserve(&mut self, path: &str) -> std::io::Result<()> {
        self.note(PathKind::Reserved, path)
    }

    /// Records a file that the upload writes and that no other upload uses.
    ///
    /// # Errors
    /// If the entry cannot be written.
    pub fn own(&mut self, path: &str) -> std::io::Result<()> {
        self.note(PathKind::Own, path)
    }

    fn note(&mut self, mark: PathKind, path: &str) -> std::io::Result<()> {
        match &mut self.0 {
            Some((_, file)) => file.write_all(format!("{} {path}\n", mark.keyword()).as_bytes()),
            None => Ok(()),
        }
    }

    /// Removes the entry: the upload's row is stored, or its files are removed.
    pub fn done(mut self) {
        if let Some((path, _)) = self.0.take()
            && let Err(error) = std::fs::remove_file(&path)
        {
            tracing::warn!(%error, entry = %path.display(), "failed to remove the journal entry of a finished upload");
        }
    }
}

/// An interrupted upload. The entry stays locked until this is dropped.
#[derive(Debug)]
pub(crate) struct InterruptedUpload {
    entry: PathBuf,
    _lock: File,
    /// Names that the upload took if they were free.
    pub(crate) reserved: Vec<String>,
    /// Files that the upload wrote or was about to write.
    pub(crate) own: Vec<String>,
}

impl InterruptedUpload {
    /// Removes the entry.
    pub(crate) fn remove_entry(self) {
        if let Err(error) = std::fs::remove_file(&self.entry) {
            tracing::warn!(%error, entry = %self.entry.display(), "failed to remove the journal entry of an interrupted upload");
        }
    }
}

/// The journal of one server.
#[derive(Clone, Debug)]
pub(crate) struct Journal(PathBuf);

impl Journal {
    /// Creates a journal in `folder`. The folder is created with the first entry.
    pub(crate) fn new(folder: &Path) -> Self {
        Journal(folder.to_owned())
    }

    /// Begins an upload.
    pub(crate) fn begin(&self) -> std::io::Result<PendingUpload> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        std::fs::create_dir_all(&self.0)?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            let entry = self.0.join(format!("{}-{n}-{nanos}", std::process::id()));
            let unfinished = entry.with_extension(UNLOCKED_EXTENSION);
            let file = OpenOptions::new().write(true).create_new(true).open(&unfinished)?;
            // The entry gets its final name once it is locked, so that no process mistakes it for an interrupted one.
            match file.lock().and_then(|()| std::fs::rename(&unfinished, &entry)) {
                Ok(()) => return Ok(PendingUpload(Some((entry, file)))),
                Err(error) if attempts == MAX_ATTEMPTS => return Err(error),
                Err(_) => {}
            }
        }
    }

    /// The interrupted uploads: those whose entries are not locked.
    pub(crate) fn interrupted(&self) -> Vec<InterruptedUpload> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.filter_map(|entry| interrupted(entry.path())).collect()
    }
}

/// The paths of all uploads that are in progress or were interrupted, according to the journal in this folder: their files may be
/// incomplete, or be removed.
///
/// # Errors
/// If the folder exists and cannot be read.
pub fn unfinished_uploads(folder: &Path) -> std::io::Result<HashSet<String>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(HashSet::new()),
        entries => entries?,
    };
    let mut paths = HashSet::new();
    for entry in entries.flatten() {
        let mut text = String::new();
        let file = match File::open(entry.path()) {
            // The upload was completed meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            file => file?,
        };
        file.take(MAX_ENTRY_BYTES).read_to_string(&mut text)?;
        paths.extend(text.lines().filter_map(|line| line.split_once(' ')).map(|(_, path)| path.to_owned()));
    }
    Ok(paths)
}

fn interrupted(entry: PathBuf) -> Option<InterruptedUpload> {
    let file = OpenOptions::new().read(true).write(true).open(&entry).ok()?;
    file.try_lock().ok()?;
    let mut text = String::new();
    (&file).take(MAX_ENTRY_BYTES).read_to_string(&mut text).ok()?;
    let paths = |mark: PathKind| {
        // A truncated line names no file.
        let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        lines
            .filter_map(|line| line.split_once(' '))
            .filter(|(keyword, _)| *keyword == mark.keyword())
            .map(|(_, path)| path.to_owned())
            .collect()
    };
    Some(InterruptedUpload { reserved: paths(PathKind::Reserved), own: paths(PathKind::Own), entry, _lock: file })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlocked_entries_are_interrupted_uploads() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::new(&folder.path().join("journal"));
        let mut pending = journal.begin().unwrap();
        pending.reserve("a.png").unwrap();
        pending.own("a-1.png").unwrap();
        assert!(journal.interrupted().is_empty(), "in progress");
        let paths = ["a.png", "a-1.png"].map(str::to_owned).into();
        assert_eq!(unfinished_uploads(&folder.path().join("journal")).unwrap(), paths);
        drop(pending);
        let mut interrupted = journal.interrupted();
        assert_eq!(
            (interrupted.len(), &interrupted[0].reserved[..], &interrupted[0].own[..]),
            (1, &["a.png".to_owned()][..], &["a-1.png".to_owned()][..])
        );
        interrupted.remove(0).remove_entry();
        journal.begin().unwrap().done();
        assert!(journal.interrupted().is_empty());
        assert_eq!(std::fs::read_dir(folder.path().join("journal")).unwrap().count(), 0);
        assert!(unfinished_uploads(&folder.path().join("none")).unwrap().is_empty());
    }
}
