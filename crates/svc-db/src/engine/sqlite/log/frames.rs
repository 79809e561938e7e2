//! The frames of a write-ahead log (<https://sqlite.org/fileformat2.html#walformat>).

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek as _, SeekFrom};
use std::path::Path;

/// Length of the file's header, and of the header of a frame.
const FILE_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// Bytes that are read at once.
const BUFFER: usize = 1 << 20;

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

    /// The beginning of this use of the log.
    pub(super) fn start(&self) -> LogPosition {
        LogPosition { salts: self.salts, frame: 0, checksum: self.checksum }
    }

    /// The committed frames after a position in this use of the log. They are not overwritten while a read transaction is open that
    /// uses the log.
    pub(super) fn committed(&self, mut file: &File, after: &LogPosition) -> std::io::Result<Vec<Frame>> {
        file.seek(SeekFrom::Start(self.offset(after.frame)))?;
        let mut input = BufReader::with_capacity(BUFFER, file);
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
        Ok(frames)
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
fn checksum(is_big_endian: bool, [mut a, mut b]: [u32; 2], bytes: &[u8]) -> [u32; 2] {
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
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_be_bytes)
}
