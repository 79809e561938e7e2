//! When the log had reached which position.
//!
//! A stamp is made after each commit of this process and before it is acknowledged, and whenever the log is read. Under one lock, the
//! new frames are read from the log, and then the time. So everything before the position was committed by that time, and what was
//! acknowledged by then is before it, whoever has written it here. Commits of other programs are in the next stamp.
//!
//! Stamps are also appended to a file, so that a killed server loses none. One whose position the log does not have is
//! ignored. When the log was started over after everything in it had been stored, a link is appended: what has the position before it has
//! everything that is not in the new log.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::frames::{self, Header, LARGE, LogPosition, SMALL, checksum, number};

/// Maximum number of stamps. Without its own stamp, a commit is in the next one.
const MAX_STAMPS: usize = 1 << 18;

/// Bytes of a stamp in the file.
const RECORD: usize = 32;

/// Size from which the file is written anew when no stamp is needed any more, and whenever half of its stamps are not.
const SMALL_FILE: u64 = 1 << 16;
const LARGE_FILE: u64 = 1 << 22;

/// A position of the log and when it was reached, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimedPosition {
    pub(super) at: LogPosition,
    pub(super) time: u64,
}

/// A use of the log that begins after a position of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link {
    from: LogPosition,
    to: [u32; 2],
}

/// The stamps that are needed.
#[derive(Debug)]
pub(super) struct Stamps {
    log: PathBuf,
    /// The end of what was read of the log.
    end: LogPosition,
    known: VecDeque<TimedPosition>,
    /// The end of what the follower has stored, if a read transaction keeps everything after it.
    stored: Option<LogPosition>,
    link: Option<Link>,
    path: PathBuf,
    file: Option<File>,
    file_bytes: u64,
}

impl Stamps {
    /// Reads the stamps of an earlier process. What has none is stamped now.
    pub(super) fn open(database: &Path) -> std::io::Result<Self> {
        let beside = |end: &str| {
            let mut name = database.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let (log, path) = (beside("-wal"), beside(".times"));
        let (mut known, mut link) = (VecDeque::new(), None);
        let (mut file, mut stored) = (open_alone(&path), Vec::new());
        if let Some(file) = &mut file {
            file.read_to_end(&mut stored)?;
            // A record may not have been written completely.
            stored.truncate(stored.len() / RECORD * RECORD);
            file.set_len(stored.len() as u64)?;
        }
        let file_bytes = stored.len() as u64;
        if let Some(file) = frames::open(&log)?
            && let Some(header) = Header::read(&file)?
        {
            let all = header.committed(&file, &header.start(), LARGE)?.unwrap_or_default();
            let is_there = |at: &LogPosition| {
                let frame = at.frame.checked_sub(1).and_then(|n| all.get(n as usize));
                at.salts == header.salts && frame.is_some_and(|frame| frame.checksum == at.checksum)
            };
            known.extend(
                stored.chunks_exact(RECORD).filter_map(TimedPosition::decode).filter(|stamp| is_there(&stamp.at)),
            );
            let mut links = stored.chunks_exact(RECORD).filter_map(Link::decode);
            link = links.next_back().filter(|link| link.to == header.salts);
        }
        let end = known.back().map_or_else(LogPosition::default, |stamp: &TimedPosition| stamp.at);
        let mut stamps = Stamps { log, end, known, stored: None, link, path, file, file_bytes };
        stamps.stamp()?;
        Ok(stamps)
    }

    /// Stamps what is new in the log. Returns its end, and when that was the end.
    pub(super) fn stamp(&mut self) -> std::io::Result<TimedPosition> {
        let before = self.end;
        self.end = self.read()?;
        // After reading, and before the caller acknowledges anything.
        let stamp = TimedPosition { at: self.end, time: now() };
        // The log is not started over before everything in it was stored.
        if let Some(from) = self.stored
            && self.end.salts != before.salts
            && self.known.is_empty()
            && [from, self.end].iter().all(|at| at.salts != [0, 0])
            && from.salts != self.end.salts
        {
            let link = Link { from, to: self.end.salts };
            self.link = Some(link);
            self.append(&link.encode());
        }
        if self.end != before && self.end.frame > 0 {
            if self.known.len() >= MAX_STAMPS {
                self.known.pop_front();
            }
            self.known.push_back(stamp);
            self.append(&stamp.encode());
        }
        Ok(stamp)
    }

    fn read(&self) -> std::io::Result<LogPosition> {
        let Some(file) = frames::open(&self.log)? else { return Ok(LogPosition::default()) };
        let Some(header) = Header::read(&file)? else { return Ok(LogPosition::default()) };
        let start = if header.salts == self.end.salts { self.end } else { header.start() };
        if let Some(frames) = header.committed(&file, &start, SMALL)? {
            return Ok(header.after(&start, &frames));
        }
        // What was read before is not there any more.
        let start = header.start();
        let frames = header.committed(&file, &start, LARGE)?.unwrap_or_default();
        Ok(header.after(&start, &frames))
    }

    /// Everything up to now is not needed, and from here on a read transaction keeps the log. Returns its end.
    pub(super) fn start(&mut self) -> std::io::Result<LogPosition> {
        let end = self.stamp()?.at;
        self.known.clear();
        (self.stored, self.link) = (Some(end), None);
        self.rewrite();
        Ok(end)
    }

    /// Nothing keeps the log any more.
    pub(super) fn release(&mut self) {
        self.stored = None;
    }

    /// Whether this use of the log begins after this position of an earlier one.
    pub(super) fn is_linked(&self, from: &LogPosition, to: [u32; 2]) -> bool {
        self.link == Some(Link { from: *from, to })
    }

    /// The stamps that are needed, in order.
    pub(super) fn known(&self) -> Vec<TimedPosition> {
        self.known.iter().copied().collect()
    }

    /// Everything up to this position is stored, and a read transaction keeps what comes after it.
    pub(super) fn stored(&mut self, until: &LogPosition) {
        if let Some(last) = self.known.iter().rposition(|stamp| stamp.at == *until || until.is_after(&stamp.at)) {
            self.known.drain(..=last);
        }
        self.stored = Some(*until);
        if self.link.is_some_and(|link| link.to == until.salts) {
            self.link = None;
        }
        let needed = (self.known.len() * RECORD) as u64;
        let is_large = self.file_bytes > LARGE_FILE && needed < self.file_bytes / 2;
        if is_large || needed == 0 && self.file_bytes > SMALL_FILE {
            self.rewrite();
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        // Without the file, a killed server loses the times of its last moments, but no commit.
        if let Some(file) = &mut self.file {
            match file.write_all(bytes) {
                Ok(()) => self.file_bytes += bytes.len() as u64,
                Err(error) => {
                    tracing::error!(file = %self.path.display(), %error, "times of commits cannot be stored");
                    self.file = None;
                }
            }
        }
    }

    /// Leaves only what is needed in the file, which is complete at any time.
    fn rewrite(&mut self) {
        let Some(file) = &mut self.file else { return };
        let link = self.link.iter().map(Link::encode);
        let bytes: Vec<u8> = link.chain(self.known.iter().map(TimedPosition::encode)).flatten().collect();
        let written =
            if bytes.is_empty() { file.set_len(0) } else { replace(&self.path, &bytes).map(|new| *file = new) };
        match written {
            Ok(()) => self.file_bytes = bytes.len() as u64,
            Err(error) => tracing::error!(file = %self.path.display(), %error, "times of commits cannot be deleted"),
        }
    }
}

/// Opens the file; `None` if another process has it, or it cannot be written.
fn open_alone(path: &Path) -> Option<File> {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path).ok()?;
    file.try_lock().ok().map(|()| file)
}

/// Replaces the file, and keeps it locked.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<File> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".unfinished");
    drop(std::fs::remove_file(&unfinished));
    let mut file = OpenOptions::new().append(true).create_new(true).open(&unfinished)?;
    file.try_lock()?;
    file.write_all(bytes)?;
    std::fs::rename(&unfinished, path)?;
    Ok(file)
}

impl TimedPosition {
    fn encode(&self) -> [u8; RECORD] {
        let time = [self.time >> 32, self.time & 0xffff_ffff].map(|half| u32::try_from(half).unwrap_or(0));
        encode(&self.at, time, STAMP)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (at, [high, low]) = decode(bytes, STAMP)?;
        Some(TimedPosition { at, time: u64::from(high) << 32 | u64::from(low) })
    }
}

impl Link {
    fn encode(&self) -> [u8; RECORD] {
        encode(&self.from, self.to, LINK)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        decode(bytes, LINK).map(|(from, to)| Link { from, to })
    }
}

/// Kinds of records.
const STAMP: u32 = 1;
const LINK: u32 = 2;

fn encode(at: &LogPosition, two: [u32; 2], kind: u32) -> [u8; RECORD] {
    let LogPosition { salts, frame, checksum } = *at;
    let numbers = [salts[0], salts[1], checksum[0], checksum[1], two[0], two[1], frame];
    let mut bytes = [0; RECORD];
    for (four, n) in bytes.chunks_exact_mut(4).zip(numbers) {
        four.copy_from_slice(&n.to_be_bytes());
    }
    let check = check(&bytes, kind);
    bytes[RECORD - 4..].copy_from_slice(&check.to_be_bytes());
    bytes
}

fn decode(bytes: &[u8], kind: u32) -> Option<(LogPosition, [u32; 2])> {
    let [a, b, c, d, e, f, frame, sum] = [0, 4, 8, 12, 16, 20, 24, 28].map(|at| number(bytes, at));
    let at = LogPosition { salts: [a, b], frame, checksum: [c, d] };
    (check(bytes, kind) == sum).then_some((at, [e, f]))
}

/// The checksum of a record without its last four bytes.
fn check(bytes: &[u8], kind: u32) -> u32 {
    let [a, b] = checksum(true, [number(bytes, 24), kind], &bytes[..24]);
    a ^ b.rotate_left(16)
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_read_as_they_were_written() {
        let at = LogPosition { salts: [1, u32::MAX], frame: 77, checksum: [3, 4] };
        let stamp = TimedPosition { at, time: 1_800_000_000_123 };
        let bytes = stamp.encode();
        assert_eq!(TimedPosition::decode(&bytes), Some(stamp));
        for i in 0..RECORD {
            let mut other = bytes;
            other[i] ^= 1;
            assert_eq!(TimedPosition::decode(&other), None, "{i}");
        }
        assert_eq!(TimedPosition::decode(&[0; RECORD]), None);
        let link = Link { from: at, to: [5, 6] };
        assert_eq!((Link::decode(&link.encode()), TimedPosition::decode(&link.encode())), (Some(link), None));
    }
}
