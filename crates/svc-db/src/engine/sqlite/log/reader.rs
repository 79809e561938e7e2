//! Reads a log while others write to it.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::frames::{self, Frame, Header, LogPosition};
use super::gate::LogGate;
use super::image::PageImage;
use crate::engine::sqlite::connection::{self, Mode, Sqlite};
use crate::error::{Result, StoreError};

/// Follows the write-ahead log of a database. While one exists, the log grows until it was [read](Self::read).
#[derive(Debug)]
pub struct LogReader {
    database: PathBuf,
    log: PathBuf,
    gate: Arc<LogGate>,
    /// For pages that are not in the log. It is never closed: closing a file releases all locks of this process on it.
    pages: &'static File,
    /// The open transaction, all of whose state was read.
    held: Option<Hold>,
    /// The next one, until what it sees was read.
    next: Option<Hold>,
    position: LogPosition,
    wait: Duration,
}

/// An open read transaction.
#[derive(Debug)]
pub(super) struct Hold {
    _conn: Sqlite,
}

impl Hold {
    fn begin(database: &Path, wait: Duration) -> Result<Self> {
        let conn = Sqlite::open(database, Mode::Read, wait)?;
        conn.raw.execute_batch("BEGIN").map_err(connection::error)?;
        // The transaction begins with its first read.
        conn.raw.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |_| Ok(())).map_err(connection::error)?;
        Ok(Hold { _conn: conn })
    }
}

impl LogReader {
    pub(crate) fn new(database: &Path, gate: Arc<LogGate>, wait: Duration) -> Result<Self> {
        let conn = Sqlite::open(database, Mode::Read, wait)?;
        let mode: String =
            conn.raw.query_row("PRAGMA journal_mode", [], |row| row.get(0)).map_err(connection::error)?;
        if mode != "wal" {
            return Err(StoreError::WriteAheadLog("the database has none, so it cannot be followed".to_owned()));
        }
        // SQLite follows symbolic links, too.
        let database = database.canonicalize().map_err(io)?;
        let pages: &'static File = Box::leak(Box::new(File::open(&database).map_err(io)?));
        let mut log = database.clone().into_os_string();
        log.push("-wal");
        let position = LogPosition::default();
        Ok(LogReader { database, log: log.into(), gate, pages, held: None, next: None, position, wait })
    }

    /// Starts after everything that is committed now. To be complete, a copy begins with an [image](Self::read).
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn start(&mut self) -> Result<()> {
        self.release();
        let (held, end) = self.gate.follow(|| Ok::<_, StoreError>((self.hold()?, self.end_of_log()?.0)))?;
        (self.held, self.position) = (Some(held), end);
        Ok(())
    }

    /// Continues after this position, and returns true, if the log contains everything after it.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn resume(&mut self, after: &LogPosition) -> Result<bool> {
        self.release();
        let (held, known) = self.gate.follow(|| Ok::<_, StoreError>((self.hold()?, self.end_of_log()?.1)))?;
        if after.salts == [0, 0] || !known.contains(after) {
            self.gate.end();
            return Ok(false);
        }
        (self.held, self.position) = (Some(held), *after);
        Ok(true)
    }

    /// Reads what was committed after the position. `None` if the log does not continue there: then [`start`](Self::start) again.
    /// Call [`confirm`](Self::confirm) when the frames are stored, or [`release`](Self::release). `for_image` is whether
    /// [`image`](Self::image) will be called.
    ///
    /// # Errors
    /// If the database cannot be read. Then the next call reads the same and more.
    pub fn read(&mut self, for_image: bool) -> Result<Option<NewFrames>> {
        let Some(_) = &self.held else { return Ok(None) };
        let asked = self.gate.asked();
        // Before reading, so that at least what it sees is read.
        self.next = Some(self.hold()?);
        let image = if for_image { Some(self.hold()?) } else { None };
        let Some((file, header)) = self.open_log()? else {
            // It was emptied after all of it had been read.
            let (frames, times) = (Vec::new(), Vec::new());
            return Ok(Some(NewFrames { file: None, start: LogPosition::default(), frames, times, asked, image }));
        };
        let before = self.position;
        let is_next = header.salts[0] == before.salts[0].wrapping_add(1);
        let start = match header.salts == before.salts {
            true => before,
            false if is_next || before.salts == [0, 0] => header.start(),
            false => return Ok(None),
        };
        let frames = header.committed(&file, &start).map_err(io)?;
        let n_before = |i: usize| start.frame + u32::try_from(i).unwrap_or(u32::MAX);
        let ends = frames.iter().enumerate().filter(|(_, frame)| frame.n_pages > 0);
        let commits: Vec<u32> = ends.map(|(i, _)| n_before(i + 1)).collect();
        let times = self.gate.times(&commits);
        Ok(Some(NewFrames { file: Some((file, header)), start, frames, times, asked, image }))
    }

    /// Continues after frames that were read.
    pub fn confirm(&mut self, frames: &NewFrames) {
        self.position = frames.end();
        if let Some(next) = self.next.take() {
            // The earlier transaction ends after the next one began.
            self.held = Some(next);
        }
        self.gate.done(frames.asked);
    }

    /// The state of all pages at the end of these frames, which were read last, [for an image](Self::read). `None` if there is none,
    /// or it was taken.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn image(&self, frames: &mut NewFrames) -> Result<Option<PageImage>> {
        let Some(hold) = frames.image.take() else { return Ok(None) };
        PageImage::new(hold, self.pages, self.open_log()?, frames.end()).map(Some).map_err(io)
    }

    /// The end of what was read.
    pub fn position(&self) -> LogPosition {
        self.position
    }

    /// Lets the log be started over. What is committed from here on is not read.
    pub fn release(&mut self) {
        self.gate.end();
        (self.held, self.next) = (None, None);
    }

    /// Whether changes are kept for [`read`](Self::read).
    pub fn is_following(&self) -> bool {
        self.held.is_some()
    }

    /// Sets whether writes wait, for at most seconds, when the log is long, so that it can be started over.
    pub fn set_keeping_up(&self, keeps_up: bool) {
        self.gate.set_keeping_up(keeps_up && self.held.is_some());
    }

    /// Waits for this time, or until the writer waits for the log to be [read](Self::read); returns whether it does.
    pub fn wait(&self, longest: Duration) -> bool {
        self.gate.wait(longest)
    }

    /// Size of the log in bytes.
    pub fn log_bytes(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |log| log.len())
    }

    fn hold(&self) -> Result<Hold> {
        Hold::begin(&self.database, self.wait)
    }

    fn open_log(&self) -> Result<Option<(File, Header)>> {
        let Some(file) = frames::open(&self.log).map_err(io)? else { return Ok(None) };
        Ok(Header::read(&file).map_err(io)?.map(|header| (file, header)))
    }

    /// The end of the committed frames, and every position up to there.
    fn end_of_log(&self) -> Result<(LogPosition, Vec<LogPosition>)> {
        let Some((file, header)) = self.open_log()? else { return Ok((LogPosition::default(), Vec::new())) };
        let mut known = vec![header.start()];
        for (i, frame) in header.committed(&file, &header.start()).map_err(io)?.iter().enumerate() {
            let n = u32::try_from(i + 1).unwrap_or(u32::MAX);
            known.push(LogPosition { salts: header.salts, frame: n, checksum: frame.checksum });
        }
        Ok((known.last().copied().unwrap_or_default(), known))
    }
}

impl Drop for LogReader {
    fn drop(&mut self) {
        self.release();
    }
}

/// Committed frames that were not read before.
#[derive(Debug)]
pub struct NewFrames {
    file: Option<(File, Header)>,
    start: LogPosition,
    frames: Vec<Frame>,
    times: Vec<u64>,
    asked: u64,
    /// A transaction that began before the frames were read.
    image: Option<Hold>,
}

impl NewFrames {
    /// Number of frames.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether nothing was committed.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> u32 {
        self.file.as_ref().map_or(0, |(_, header)| header.page_size)
    }

    /// The position after this number of frames.
    pub fn position(&self, n: usize) -> LogPosition {
        let Some(last) = n.checked_sub(1).and_then(|i| self.frames.get(i)) else { return self.start };
        let frame = self.start.frame + u32::try_from(n).unwrap_or(u32::MAX);
        LogPosition { salts: self.start.salts, frame, checksum: last.checksum }
    }

    /// The position after all of them.
    pub fn end(&self) -> LogPosition {
        self.position(self.frames.len())
    }

    /// The numbers of the pages of some frames, each with the number of pages of the database if its transaction ends there, else zero.
    pub fn pages(&self, range: Range<usize>) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.frames.get(range).unwrap_or_default().iter().map(|frame| (frame.page, frame.n_pages))
    }

    /// When the transactions were committed, in order, in milliseconds since 1970.
    pub fn times(&self) -> &[u64] {
        &self.times
    }

    /// Appends the content of the page of a frame.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn content(&self, frame: usize, to: &mut Vec<u8>) -> Result<()> {
        let Some((file, header)) = &self.file else { return Ok(()) };
        let start = to.len();
        to.resize(start + header.page_size as usize, 0);
        let n = self.start.frame + u32::try_from(frame).unwrap_or(u32::MAX);
        header.page(file, n, &mut to[start..]).map_err(io)
    }
}

/// Converts an error of the file system.
pub(super) fn io(e: std::io::Error) -> StoreError {
    StoreError::Other(format!("the write-ahead log cannot be read: {e}"))
}
