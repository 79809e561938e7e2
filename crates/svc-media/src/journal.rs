//! Uploads in progress: which files were written before the row that names them is, so that those of an upload that was
//! interrupted can be removed.
//!
//! Each upload has an entry, a small file in a folder of the server's own. The process that makes the upload holds a lock
//! on the entry, which the system releases when the process ends, however it does. An entry that nobody holds belongs to
//! an upload that was interrupted. A path is noted before its file is made.

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

/// Ending of an entry that is not locked yet.
const UNFINISHED: &str = "new";

/// How often an entry is created again after another process has removed it.
const TRIES: u32 = 3;

/// Largest entry that is read, in bytes: an upload has a few dozen files.
const MOST: u64 = 1 << 20;

/// What an entry says of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// The upload will make an empty file of this name, unless there is one.
    Reserved,
    /// The file is the upload's.
    Own,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Mark::Reserved => "reserved",
            Mark::Own => "own",
        }
    }
}

/// An upload in progress. Its entry stays when this is dropped without [`Pending::done`].
#[derive(Debug, Default)]
pub struct Pending(Option<(PathBuf, File)>);

impl Pending {
    /// Notes a name that will be taken if it is free.
    pub(crate) fn reserve(&mut self, path: &str) -> std::io::Result<()> {
        self.note(Mark::Reserved, path)
    }

    /// Notes a file that the upload writes; it belongs to nobody else.
    ///
    /// # Errors
    /// When the entry cannot be written.
    pub fn own(&mut self, path: &str) -> std::io::Result<()> {
        self.note(Mark::Own, path)
    }

    fn note(&mut self, mark: Mark, path: &str) -> std::io::Result<()> {
        match &mut self.0 {
            Some((_, file)) => file.write_all(format!("{} {path}\n", mark.word()).as_bytes()),
            None => Ok(()),
        }
    }

    /// The upload's row is stored, or its files are removed.
    pub fn done(mut self) {
        if let Some((path, _)) = self.0.take()
            && let Err(error) = std::fs::remove_file(&path)
        {
            tracing::warn!(%error, entry = %path.display(), "the entry of a finished upload cannot be removed");
        }
    }
}

/// An upload that was interrupted. The entry is locked while this is there.
#[derive(Debug)]
pub(crate) struct Interrupted {
    entry: PathBuf,
    _lock: File,
    /// Names that were taken if they were free.
    pub(crate) reserved: Vec<String>,
    /// Files that it wrote, or was about to write.
    pub(crate) own: Vec<String>,
}

impl Interrupted {
    /// Removes the entry.
    pub(crate) fn forget(self) {
        if let Err(error) = std::fs::remove_file(&self.entry) {
            tracing::warn!(%error, entry = %self.entry.display(), "the entry of an interrupted upload cannot be removed");
        }
    }
}

/// The entries of one server.
#[derive(Clone, Debug)]
pub(crate) struct Journal(PathBuf);

impl Journal {
    /// In this folder, which is made with the first entry.
    pub(crate) fn new(folder: &Path) -> Self {
        Journal(folder.to_owned())
    }

    /// Begins an upload.
    pub(crate) fn begin(&self) -> std::io::Result<Pending> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        std::fs::create_dir_all(&self.0)?;
        let mut tries = 0;
        loop {
            tries += 1;
            let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            let entry = self.0.join(format!("{}-{n}-{nanos}", std::process::id()));
            let unfinished = entry.with_extension(UNFINISHED);
            let file = OpenOptions::new().write(true).create_new(true).open(&unfinished)?;
            // It gets its name once it is locked, so that nobody takes it for one of a process that is gone.
            match file.lock().and_then(|()| std::fs::rename(&unfinished, &entry)) {
                Ok(()) => return Ok(Pending(Some((entry, file)))),
                Err(error) if tries == TRIES => return Err(error),
                Err(_) => {}
            }
        }
    }

    /// The uploads that were interrupted: those whose entries nobody holds.
    pub(crate) fn interrupted(&self) -> Vec<Interrupted> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.filter_map(|entry| interrupted(entry.path())).collect()
    }
}

fn interrupted(entry: PathBuf) -> Option<Interrupted> {
    let file = OpenOptions::new().read(true).write(true).open(&entry).ok()?;
    file.try_lock().ok()?;
    let mut text = String::new();
    (&file).take(MOST).read_to_string(&mut text).ok()?;
    let paths = |mark: Mark| {
        // A line that was cut short names no file.
        let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        lines
            .filter_map(|line| line.split_once(' '))
            .filter(|(word, _)| *word == mark.word())
            .map(|(_, path)| path.to_owned())
            .collect()
    };
    Some(Interrupted { reserved: paths(Mark::Reserved), own: paths(Mark::Own), entry, _lock: file })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_of_an_interrupted_upload_once_nobody_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::new(&folder.path().join("journal"));
        let mut pending = journal.begin().unwrap();
        pending.reserve("a.png").unwrap();
        pending.own("a-1.png").unwrap();
        assert!(journal.interrupted().is_empty(), "in progress");
        drop(pending);
        let mut found = journal.interrupted();
        assert_eq!(
            (found.len(), &found[0].reserved[..], &found[0].own[..]),
            (1, &["a.png".to_owned()][..], &["a-1.png".to_owned()][..])
        );
        found.remove(0).forget();
        journal.begin().unwrap().done();
        assert!(journal.interrupted().is_empty());
        assert_eq!(std::fs::read_dir(folder.path().join("journal")).unwrap().count(), 0);
    }
}
