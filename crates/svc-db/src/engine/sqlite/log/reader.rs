//! Reads a log while others write to it.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::frames::{self, Frame, Header, LARGE, LogPosition};
use super::gate::LogGate;
use super::image::PageImage;
use super::stamps::TimedPosition;
use crate::engine::sqlite::connection::{self, LOG_SIZE, Mode, Sqlite};
use crate::error::{Result, StoreError};

/// Maximum size of what was committed since a process has ended, in bytes.
const MAX_SINCE: u64 = 256 << 20;

/// How long emptying the log waits for those who use it.
const SHORT_WAIT: Duration = Duration::from_millis(200);

/// Follows the write-ahead log of a database. While one exists, the log grows until it was [read](Self::read).
#[derive(Debug)]
pub struct LogReader {
    database: PathBuf,
    log: PathBuf,
    gate: Arc<LogGate>,
    /// For pages that are not in the log. It is never closed: closing a file releases all locks of this process on it.
    pages: &'static Mutex<File>,
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
    n_pages: u32,
}

impl Hold {
    pub(super) fn begin(database: &Path, wait: Duration) -> Result<Self> {
        let conn = Sqlite::open(database, Mode::Read, wait)?;
        conn.raw.execute_batch("BEGIN").map_err(connection::error)?;
        // The transaction begins with its first read.
        let n_pages = conn.raw.query_row("PRAGMA page_count", [], |row| row.get(0)).map_err(connection::error)?;
        Ok(Hold { _conn: conn, n_pages })
    }

    /// Number of pages of the database.
    pub(super) fn n_pages(&self) -> u32 {
        self.n_pages
    }
}

impl LogReader {
    pub(crate) fn new(database: &Path, gate: Arc<LogGate>, wait: Duration) -> Result<Self> {
        if !Sqlite::open(database, Mode::Read, wait)?.has_log()? {
            return Err(StoreError::WriteAheadLog("the database has none, so it cannot be followed".to_owned()));
        }
        // SQLite follows symbolic links, too.
        let database = database.canonicalize().map_err(io)?;
        let pages = Box::leak(Box::new(Mutex::new(File::open(&database).map_err(io)?)));
        let mut log = database.clone().into_os_string();
        log.push("-wal");
        gate.set_reader();
        let position = LogPosition::default();
        Ok(LogReader { database, log: log.into(), gate, pages, held: None, next: None, position, wait })
    }

    /// Starts after everything that is committed now. To be complete, a copy begins with an [image](Self::read).
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn start(&mut self) -> Result<()> {
        self.release();
        if self.log_bytes() > LOG_SIZE.into() {
            // A failure leaves it long.
            drop(self.shorten_log());
        }
        let held = self.hold()?;
        // After the transaction has begun, so that all of its state is before the position.
        self.position = self.gate.start()?;
        self.held = Some(held);
        self.gate.take_over();
        Ok(())
    }

    /// Continues after this position, and returns what was committed since, if the log contains everything after it. Call
    /// [`confirm`](Self::confirm) when the frames are stored, before anything else is [read](Self::read).
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn resume(&mut self, after: &LogPosition) -> Result<Option<NewFrames>> {
        (self.held, self.next) = (None, None);
        let held = self.hold()?;
        let Some(mut since) = self.read_after(after, false)? else { return Ok(None) };
        if since.len() as u64 * u64::from(since.page_size()) > MAX_SINCE {
            return Ok(None);
        }
        // No transaction may have kept the log until now, if all of it was in the database: it may be started over at any time.
        let mut loaded = Vec::new();
        for i in 0..since.len() {
            since.content(i, &mut loaded)?;
        }
        // The header is written before the first frame of the next use of the log.
        if self.open_log()?.is_none_or(|(_, header)| header.salts != since.start.salts) {
            return Ok(None);
        }
        since.loaded = Some(loaded);
        (self.held, self.position) = (Some(held), since.start);
        self.gate.stored(after);
        self.gate.take_over();
        Ok(Some(since))
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
        // Before reading, so that at least what they see is read.
        self.next = Some(self.hold()?);
        let image = if for_image { Some(self.hold()?) } else { None };
        let before = self.position;
        let frames = self.read_after(&before, true)?;
        Ok(frames.map(|frames| NewFrames { asked, image, ..frames }))
    }

    /// The frames after a position up to the last stamp, which is not before anything that was committed until this call. `is_kept` is
    /// whether a read transaction has kept everything after the position: then a log that was started over since begins there, since a
    /// log with frames is not started over before all of them are in the database.
    fn read_after(&self, before: &LogPosition, is_kept: bool) -> Result<Option<NewFrames>> {
        let TimedPosition { at: end, time } = self.gate.stamp()?;
        // After a stamp, since those of the log that is read are needed; the log itself may have been started over since.
        let log = self.open_log()?;
        let known = self.gate.known();
        let salts = log.as_ref().map(|(_, header)| header.salts);
        // What is stamped after the position is still in the log, or it was not read before the log was started over.
        if Some(before.salts) != salts && known.iter().any(|stamp| stamp.at.is_after(before)) {
            return Ok(None);
        }
        let Some((file, header)) = log else {
            // It was emptied after all of it had been read.
            return Ok(is_kept.then(|| NewFrames { time, ..NewFrames::none() }));
        };
        let start = match header.salts == before.salts {
            true => *before,
            false if is_kept || self.gate.is_linked(before, header.salts) => header.start(),
            false => return Ok(None),
        };
        let Some(mut frames) = header.committed(&file, &start, LARGE).map_err(io)? else { return Ok(None) };
        let mut stamps = Vec::new();
        for stamp in known.iter().filter(|stamp| stamp.at.is_after(&start)) {
            let n = (stamp.at.frame - start.frame) as usize;
            match frames.get(n - 1) {
                Some(frame) if frame.checksum == stamp.at.checksum => stamps.push((n, stamp.time)),
                // The log has other frames than those that were stamped.
                _ => return Ok(None),
            }
        }
        frames.truncate(stamps.last().map_or(0, |(n, _)| *n));
        let read = header.after(&start, &frames);
        if end.is_after(&read) {
            return Err(StoreError::Other("the end of the write-ahead log has no time".to_owned()));
        }
        // Others may have been stamped since then.
        let time = stamps.last().map_or(time, |(_, stamped)| time.max(*stamped));
        Ok(Some(NewFrames { file: Some((file, header)), start, frames, stamps, time, ..NewFrames::none() }))
    }

    /// Continues after frames that were read.
    pub fn confirm(&mut self, frames: &NewFrames) {
        self.position = frames.end();
        if !frames.is_empty() {
            self.gate.stored(&self.position);
        }
        if let Some(next) = self.next.take() {
            // The earlier transaction ends after the next one began.
            self.held = Some(next);
        }
        if frames.loaded.is_none() {
            self.gate.done(frames.asked);
        }
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

    /// Path of the database.
    pub fn database(&self) -> &Path {
        &self.database
    }

    /// Whether something was committed since the last [read](Self::read), or the writer waits for it.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn has_news(&self) -> Result<bool> {
        Ok(self.next.is_some() || self.gate.is_waiting() || self.gate.stamp()?.at != self.position)
    }

    /// The end of what was read.
    pub fn position(&self) -> LogPosition {
        self.position
    }

    /// Lets the log be started over. What is committed from here on is not read.
    pub fn release(&mut self) {
        self.gate.release();
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

    /// Notes that everything that is committed now is, for the [times](NewFrames::stamps) of what other programs write.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn stamp(&self) -> Result<()> {
        self.gate.stamp().map(drop)
    }

    /// Size of the log in bytes.
    pub fn log_bytes(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |log| log.len())
    }

    /// Writes the log to the database and empties it, if nobody reads it.
    fn shorten_log(&self) -> Result<()> {
        let conn = Sqlite::open(&self.database, Mode::Write { durable: true }, SHORT_WAIT)?;
        conn.keep_log()?;
        // Most of the work is done by the first, which others do not wait for.
        for mode in ["PASSIVE", "TRUNCATE"] {
            let sql = format!("PRAGMA wal_checkpoint({mode})");
            conn.raw.query_row(&sql, [], |_| Ok(())).map_err(connection::error)?;
        }
        Ok(())
    }

    fn hold(&self) -> Result<Hold> {
        Hold::begin(&self.database, self.wait)
    }

    fn open_log(&self) -> Result<Option<(File, Header)>> {
        let Some(file) = frames::open(&self.log).map_err(io)? else { return Ok(None) };
        Ok(Header::read(&file).map_err(io)?.map(|header| (file, header)))
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
    /// Numbers of frames, and when all of these were committed.
    stamps: Vec<(usize, u64)>,
    /// When nothing after the frames was acknowledged.
    time: u64,
    asked: u64,
    /// A transaction that began before the frames were read.
    image: Option<Hold>,
    /// The pages of all frames, if the log may be started over.
    loaded: Option<Vec<u8>>,
}

impl NewFrames {
    fn none() -> Self {
        let (frames, stamps, start) = (Vec::new(), Vec::new(), LogPosition::default());
        NewFrames { file: None, start, frames, stamps, time: 0, asked: 0, image: None, loaded: None }
    }

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

    /// Numbers of frames, with a time at which these were committed and nothing after them was acknowledged, in milliseconds since
    /// 1970. The last one is that of all frames. Times are in order, unless the clock was set back.
    pub fn stamps(&self) -> &[(usize, u64)] {
        &self.stamps
    }

    /// A time at which everything up to the end of the frames was committed and nothing after it was acknowledged, in milliseconds since
    /// 1970. There is one also if there are no frames.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// Appends the content of the page of a frame.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn content(&self, frame: usize, to: &mut Vec<u8>) -> Result<()> {
        let Some((file, header)) = &self.file else { return Ok(()) };
        if let Some(loaded) = &self.loaded {
            let size = header.page_size as usize;
            to.extend_from_slice(loaded.get(frame * size..(frame + 1) * size).unwrap_or_default());
            return Ok(());
        }
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
