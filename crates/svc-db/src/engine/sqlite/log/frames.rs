//! The frames of a write-ahead log (<https://sqlite.org/fileformat2.html#walformat>).

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek as _, SeekFrom};
use std::path::Path;

/// Length of the file's header, and of the header of a frame.
const FILE_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// Bytes that are read at once: of a whole log, and of what one commit has added.
pub(super) const LARGE: usize = 1 << 20;
pub(super) const SMALL: usize = 1 << 16;

/// A place in a use of the log: everything up to a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// Which use of the log; zeros if the log was empty.
    pub salts: [u32; 2],
    /// Number of frames before the place.
    pub frame: u32,
    /// Checksum of all of them.
    pub checksum: [u32; 2],
}

impl LogPosition {
    /// Whether it is a later one in the same use of the log.
    pub(super) fn is_after(&self, other: &LogPosition) -> bool {
        self.salts == other.salts && self.frame > other.frame
    }
}

/// Header of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) page_size: u32,
    pub(super) salts: [u32; 2],
    checksum: [u32; 2],
    is_big_endian: bool,
}

/// A frame of a committed transaction: the new content of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) page: u32,
    /// Pages of the database after the transaction, in its last frame; otherwise zero.
    pub(super) n_pages: u32,
    pub(super) checksum: [u32; 2],
}

impl Header {
    /// The header of an open log; `None` if the log is empty.
    pub(super) fn read(mut file: &File) -> std::io::Result<Option<Header>> {
        let mut bytes = [0; FILE_HEADER];
        file.seek(SeekFrom::Start(0))?;
        match file.read_exact(&mut bytes) {
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let is_big_endian = match number(&bytes, 0) {
            0x377f_0682 => false,
            0x377f_0683 => true,
            _ => return Ok(None),
        };
        let checksum = checksum(is_big_endian, [0, 0], &bytes[..24]);
        // A page size of 65536 is written as 1 in the database, but not here.
        let page_size = number(&bytes, 8);
        let is_valid = checksum == [number(&bytes, 24), number(&bytes, 28)]
            && page_size.is_power_of_two()
            && (512..=65_536).contains(&page_size);
        let salts = [number(&bytes, 16), number(&bytes, 20)];
        Ok(is_valid.then_some(Header { page_size, salts, checksum, is_big_endian }))
    }

    /// The position after the first frames that follow another position.
    pub(super) fn after(&self, start: &LogPosition, frames: &[Frame]) -> LogPosition {
        let Some(last) = frames.last() else { return *start };
        let n = u32::try_from(frames.len()).unwrap_or(u32::MAX);
        LogPosition { salts: self.salts, frame: start.frame.saturating_add(n), checksum: last.checksum }
    }

    /// The beginning of this use of the log.
    pub(super) fn start(&self) -> LogPosition {
        LogPosition { salts: self.salts, frame: 0, checksum: self.checksum }
    }

    /// The committed frames after a position in this use of the log; `None` if the log does not have that position. They are not
    /// overwritten while a read transaction is open that uses the log. Reads `buffer` bytes at once.
    pub(super) fn committed(
        &self,
        mut file: &File,
        after: &LogPosition,
        buffer: usize,
    ) -> std::io::Result<Option<Vec<Frame>>> {
        if after.salts != self.salts || !self.has(file, after)? {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(self.offset(after.frame)))?;
        let mut input = BufReader::with_capacity(buffer, file);
        let (mut frames, mut n_committed) = (Vec::new(), 0);
        let (mut sum, mut bytes) = (after.checksum, vec![0; FRAME_HEADER + self.page_size as usize]);
        loop {
            match input.read_exact(&mut bytes) {
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => break,
                read => read?,
            }
            let (head, page) = bytes.split_at(FRAME_HEADER);
            if [number(head, 8), number(head, 12)] != self.salts {
                break;
            }
            sum = checksum(self.is_big_endian, checksum(self.is_big_endian, sum, &head[..8]), page);
            if sum != [number(head, 16), number(head, 20)] {
                break;
            }
            let frame = Frame { page: number(head, 0), n_pages: number(head, 4), checksum: sum };
            frames.push(frame);
            if frame.n_pages > 0 {
                n_committed = frames.len();
            }
        }
        frames.truncate(n_committed);
        Ok(Some(frames))
    }

    /// Page, and number of pages of the database if a transaction ends there, of all frames up to a position that was read before;
    /// `None` if the log does not have that position.
    pub(super) fn pages(&self, mut file: &File, until: &LogPosition) -> std::io::Result<Option<Vec<(u32, u32)>>> {
        if until.salts != self.salts || !self.has(file, until)? {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(self.offset(0)))?;
        let mut input = BufReader::with_capacity(LARGE, file);
        let (mut pages, mut head) = (Vec::new(), [0; FRAME_HEADER]);
        for _ in 0..until.frame {
            match input.read_exact(&mut head) {
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(None),
                read => read?,
            }
            input.seek_relative(self.page_size.into())?;
            pages.push((number(&head, 0), number(&head, 4)));
        }
        Ok(Some(pages))
    }

    /// Whether the last frame before a position is the one with that checksum. Another one is there if a commit could not be synced, or
    /// was lost with the power.
    fn has(&self, mut file: &File, position: &LogPosition) -> std::io::Result<bool> {
        let Some(last) = position.frame.checked_sub(1) else { return Ok(position.checksum == self.checksum) };
        let mut head = [0; FRAME_HEADER];
        file.seek(SeekFrom::Start(self.offset(last)))?;
        match file.read_exact(&mut head) {
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(false),
            read => read?,
        }
        let numbers = [8, 12, 16, 20].map(|at| number(&head, at));
        Ok(numbers == [self.salts[0], self.salts[1], position.checksum[0], position.checksum[1]])
    }

    /// Reads the page of the frame with this number, from zero.
    pub(super) fn page(&self, mut file: &File, frame: u32, page: &mut [u8]) -> std::io::Result<()> {
        file.seek(SeekFrom::Start(self.offset(frame) + FRAME_HEADER as u64))?;
        file.read_exact(page)
    }

    /// The place of a frame in the file.
    fn offset(&self, frame: u32) -> u64 {
        FILE_HEADER as u64 + u64::from(frame) * (FRAME_HEADER as u64 + u64::from(self.page_size))
    }
}

/// Opens a log; `None` if it does not exist.
pub(super) fn open(log: &Path) -> std::io::Result<Option<File>> {
    match File::open(log) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        file => file.map(Some),
    }
}

/// Continues a checksum over bytes in groups of eight.
pub(super) fn checksum(is_big_endian: bool, [mut a, mut b]: [u32; 2], bytes: &[u8]) -> [u32; 2] {
    let word = |four: &[u8]| {
        let four = four.try_into().unwrap_or_default();
        if is_big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    };
    for eight in bytes.chunks_exact(8) {
        a = a.wrapping_add(word(&eight[..4])).wrapping_add(b);
        b = b.wrapping_add(word(&eight[4..])).wrapping_add(a);
    }
    [a, b]
}

/// A big-endian number.
pub(super) fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_be_bytes)
}
