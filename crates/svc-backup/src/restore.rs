//! Restores the state of a database at a point in time.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::catalog::{self, Generation};
use crate::destination::Destination;
use crate::error::{BackupError, Result, at};
use crate::folder::create_file;
use crate::names::{LogName, SnapshotName};
use crate::object::{LogHeader, PagesHeader, Position, SnapshotHeader, decode};

/// Parts of a snapshot that are read at the same time, and parts of the log, most of which are small.
const PAGES_AT_ONCE: usize = 4;
const LOG_AT_ONCE: usize = 16;

/// Which state to restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// With everything that was acknowledged by this time, in milliseconds since 1970, and nothing that was begun later. If the clock
    /// was set back, at the last moment when it had this time.
    At(u64),
    /// After the last transaction in the backup.
    Latest,
}

impl Moment {
    pub(crate) fn millis(self) -> u64 {
        match self {
            Moment::At(time) => time,
            Moment::Latest => u64::MAX,
        }
    }
}

/// A restored database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// When it was the state of the database, in milliseconds since 1970.
    pub reached: u64,
    /// Time of the snapshot.
    pub snapshot: u64,
    /// Its generation.
    pub generation: String,
    /// Number of parts of the log that were read.
    pub log_parts: usize,
    /// Number of transactions after the snapshot.
    pub transactions: usize,
    /// Size of the database in bytes.
    pub bytes: u64,
}

/// Restores a database to a new file, which is checked for corruption.
///
/// # Errors
/// If the backup has nothing of that time, or an object is missing or damaged.
pub fn restore_database(from: &dyn Destination, moment: Moment, to: &Path) -> Result<Restored> {
    let until = moment.millis();
    let all = catalog::generations(from)?;
    let (generation, snapshot) = chosen(&all, until)?;
    let parts = needed_parts(generation, snapshot, until)?;
    // Before anything is written, since it may be encrypted.
    let header = read_header(from, generation, snapshot)?;
    let mut output = Output { file: create_file(to).map_err(at(to))?, path: to, page_size: header.page_size };
    output.write_snapshot(from, generation, snapshot, &header)?;
    let mut restored = Restored {
        reached: snapshot.time,
        snapshot: snapshot.time,
        generation: generation.name.clone(),
        log_parts: parts.len(),
        transactions: 0,
        bytes: 0,
    };
    let mut n_pages = header.n_pages;
    let mut end = header.at;
    for (n, batch) in parts.chunks(LOG_AT_ONCE).enumerate() {
        let keys: Vec<String> = batch.iter().map(|part| part.key(&generation.name)).collect();
        for (i, (key, (header, body))) in keys.iter().zip(read_all::<LogHeader>(from, &keys)?).enumerate() {
            check_order(key, &header, generation, end)?;
            end = header.end;
            let frames = LogFrames::of(key, &header, &body)?;
            let is_last = n * LOG_AT_ONCE + i + 1 == parts.len();
            // Everything before the last stamp that is not later: nothing that was acknowledged by then is after it.
            let stamp = header.stamps.iter().rfind(|(_, time)| *time <= until);
            let n_frames = if is_last { stamp.map_or(0, |(n, _)| *n as usize) } else { header.n_frames as usize };
            for (page, content) in frames.pages(n_frames) {
                output.write_page(page, content)?;
            }
            restored.reached = stamp.map_or(restored.reached, |(_, time)| *time);
            restored.transactions += frames.transactions(n_frames).count();
            n_pages = frames.transactions(n_frames).last().unwrap_or(n_pages);
        }
    }
    restored.bytes = output.finish(n_pages)?;
    svc_db::check_file(to)?;
    Ok(restored)
}

/// Reads the object that completes the snapshot of a moment, to know before anything is written whether it can be decrypted.
///
/// # Errors
/// If the backup has nothing of that time, or the object cannot be read.
pub fn check_readable(from: &dyn Destination, moment: Moment) -> Result<()> {
    let all = catalog::generations(from)?;
    let (generation, snapshot) = chosen(&all, moment.millis())?;
    read_header(from, generation, snapshot).map(drop)
}

/// The snapshot from which a time is restored.
fn chosen(all: &[Generation], until: u64) -> Result<(&Generation, &SnapshotName)> {
    // The last one, also if the clock was set back meanwhile.
    let chosen = all.iter().rev().find_map(|generation| {
        let snapshot = generation.snapshots.iter().rfind(|snapshot| snapshot.time <= until)?;
        Some((generation, snapshot))
    });
    chosen.ok_or_else(|| {
        let earliest = all.iter().flat_map(|generation| &generation.snapshots).map(|snapshot| snapshot.time).min();
        BackupError::Nothing(match earliest {
            Some(_) => "the backup begins after that time".to_owned(),
            None => "there is no complete snapshot".to_owned(),
        })
    })
}

fn read_header(from: &dyn Destination, generation: &Generation, snapshot: &SnapshotName) -> Result<SnapshotHeader> {
    let key = snapshot.complete(&generation.name);
    decode(&key, &from.get(&key)?).map(|(header, _)| header)
}

/// The parts of the log after a snapshot, up to the last one with a time that is not later.
fn needed_parts(generation: &Generation, snapshot: &SnapshotName, until: u64) -> Result<Vec<LogName>> {
    let mut parts: Vec<LogName> = generation.log_after(snapshot.index).copied().collect();
    let last = parts.last().map_or(snapshot.index, |part| part.index);
    let is_missing = |part: &&LogName| part.index > last && part.first > 0 && part.first <= until;
    if let Some(part) = generation.log.iter().find(is_missing) {
        let key = LogName { index: last + 1, first: 0, last: 0, end: None }.key(&generation.name);
        let why = format!("the part is missing, but there is part {}", part.index);
        return Err(BackupError::Damaged { key, why });
    }
    let n = parts.iter().rposition(|part| part.first > 0 && part.first <= until).map_or(0, |i| i + 1);
    parts.truncate(n);
    Ok(parts)
}

/// Fails if a part does not continue where the one before it ends.
pub(crate) fn check_order(key: &str, header: &LogHeader, generation: &Generation, end: Position) -> Result<()> {
    let is_next = header.generation == generation.name && header.after == end;
    let why = || "it does not continue where the part before it ends".to_owned();
    if is_next { Ok(()) } else { Err(BackupError::Damaged { key: key.to_owned(), why: why() }) }
}

/// Reads objects at the same time.
pub(crate) fn read_all<H: DeserializeOwned + Send>(
    from: &dyn Destination,
    keys: &[String],
) -> Result<Vec<(H, Vec<u8>)>> {
    std::thread::scope(|scope| {
        let read = |key: &String| from.get(key).and_then(|bytes| decode(key, &bytes));
        let threads: Vec<_> = keys.iter().map(|key| scope.spawn(move || read(key))).collect();
        let stopped = || Err(BackupError::Destination("a thread has stopped".to_owned()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| stopped())).collect()
    })
}

/// The frames of a part of the log.
pub(crate) struct LogFrames<'a> {
    /// Page, and number of pages after the transaction if it ends here.
    frames: Vec<(u32, u32)>,
    contents: std::slice::ChunksExact<'a, u8>,
}

impl<'a> LogFrames<'a> {
    pub(crate) fn of(key: &str, header: &LogHeader, body: &'a [u8]) -> Result<Self> {
        let damaged = || BackupError::Damaged { key: key.to_owned(), why: "wrong length".to_owned() };
        let (n, size) = (header.n_frames as usize, header.page_size as usize);
        let (heads, contents) = body.split_at_checked(n * 8).ok_or_else(damaged)?;
        if size == 0 || contents.len() != n * size {
            return Err(damaged());
        }
        let number = |four: &[u8]| u32::from_be_bytes(four.try_into().unwrap_or_default());
        let frames: Vec<_> = heads.chunks_exact(8).map(|head| (number(&head[..4]), number(&head[4..]))).collect();
        let is_end =
            |n: u32| (n as usize).checked_sub(1).and_then(|i| frames.get(i)).is_some_and(|(_, n_pages)| *n_pages > 0);
        if !header.stamps.iter().all(|(n, _)| is_end(*n)) {
            return Err(damaged());
        }
        Ok(LogFrames { frames, contents: contents.chunks_exact(size) })
    }

    /// The transactions that end in the first frames: the numbers of pages of the database after them.
    pub(crate) fn transactions(&self, n_frames: usize) -> impl Iterator<Item = u32> + '_ {
        self.frames.iter().take(n_frames).map(|(_, n_pages)| *n_pages).filter(|n_pages| *n_pages > 0)
    }

    fn pages(&self, n: usize) -> impl Iterator<Item = (u32, &'a [u8])> {
        self.frames.iter().map(|(page, _)| *page).zip(self.contents.clone()).take(n)
    }
}

/// The file that is written.
struct Output<'p> {
    file: File,
    path: &'p Path,
    page_size: u32,
}

impl Output<'_> {
    fn write_snapshot(
        &mut self,
        from: &dyn Destination,
        generation: &Generation,
        snapshot: &SnapshotName,
        header: &SnapshotHeader,
    ) -> Result<()> {
        let keys: Vec<String> = (0..header.n_parts).map(|n| snapshot.part(&generation.name, n)).collect();
        let mut next = 1;
        for keys in keys.chunks(PAGES_AT_ONCE) {
            for (key, (part, body)) in keys.iter().zip(read_all::<PagesHeader>(from, keys)?) {
                next = check_pages(key, &part, &body, header, next)?;
                self.write_at(part.first, &body)?;
            }
        }
        if next != header.n_pages + 1 {
            let key = snapshot.complete(&generation.name);
            return Err(BackupError::Damaged { key, why: "pages are missing".to_owned() });
        }
        Ok(())
    }

    fn write_page(&mut self, page: u32, content: &[u8]) -> Result<()> {
        self.write_at(page, content)
    }

    fn write_at(&mut self, page: u32, content: &[u8]) -> Result<()> {
        let offset = u64::from(page.saturating_sub(1)) * u64::from(self.page_size);
        let written = self.file.seek(SeekFrom::Start(offset)).and_then(|_| self.file.write_all(content));
        written.map_err(at(self.path))
    }

    fn finish(&mut self, n_pages: u32) -> Result<u64> {
        let length = u64::from(n_pages) * u64::from(self.page_size);
        self.file.set_len(length).and_then(|()| self.file.sync_all()).map_err(at(self.path))?;
        Ok(length)
    }
}

/// Checks a part of a snapshot, and returns the number of the next page.
pub(crate) fn check_pages(key: &str, part: &PagesHeader, body: &[u8], of: &SnapshotHeader, next: u32) -> Result<u32> {
    let is_whole = body.len() as u64 == u64::from(part.n_pages) * u64::from(of.page_size);
    let is_next = (part.first, part.page_size, &part.generation) == (next, of.page_size, &of.generation);
    let damaged = || BackupError::Damaged { key: key.to_owned(), why: "not the next pages".to_owned() };
    if is_whole && is_next { Ok(next.saturating_add(part.n_pages)) } else { Err(damaged()) }
}
