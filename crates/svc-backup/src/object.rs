//! What an object is: a header as JSON and a compressed body, with a checksum of both.
//!
//! `SVCBAK1\n`, the length of the header (four bytes, big-endian), the header, the body (a Zstandard frame), and the SHA-256 of
//! everything before it.

use std::io::Read as _;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};
use svc_db::LogPosition;

use crate::encryption;
use crate::error::{BackupError, Result};

const MAGIC: &[u8] = b"SVCBAK1\n";

/// Length of the checksum.
const SUM: usize = 32;

/// Level of the compression: the fastest, since what is not stored yet can be lost.
const LEVEL: i32 = 1;

/// The largest body, for objects that are damaged on purpose.
const MAX_BODY: u64 = 1 << 31;

/// A position of the log, in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    salts: [u32; 2],
    frame: u32,
    checksum: [u32; 2],
}

/// Bytes of a position.
pub(crate) const POSITION: usize = 20;

#[cfg_attr(not(feature = "age"), expect(dead_code, reason = "only sealed positions are bytes"))]
impl Position {
    pub(crate) fn to_bytes(self) -> [u8; POSITION] {
        let numbers = [self.salts[0], self.salts[1], self.frame, self.checksum[0], self.checksum[1]];
        let mut bytes = [0; POSITION];
        for (four, number) in bytes.chunks_exact_mut(4).zip(numbers) {
            four.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: [u8; POSITION]) -> Self {
        let mut numbers = bytes.chunks_exact(4).map(|four| u32::from_be_bytes(four.try_into().unwrap_or_default()));
        let mut next = || numbers.next().unwrap_or_default();
        Position { salts: [next(), next()], frame: next(), checksum: [next(), next()] }
    }
}

impl From<LogPosition> for Position {
    fn from(LogPosition { salts, frame, checksum }: LogPosition) -> Self {
        Position { salts, frame, checksum }
    }
}

impl From<Position> for LogPosition {
    fn from(Position { salts, frame, checksum }: Position) -> Self {
        LogPosition { salts, frame, checksum }
    }
}

/// Header of a part of the log. Its body has the number of the page and that of all pages at the end of a transaction, four bytes
/// each, for each frame, then the pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogHeader {
    pub(crate) generation: String,
    pub(crate) index: u64,
    pub(crate) page_size: u32,
    pub(crate) n_frames: u32,
    /// Where the part before this one ends.
    pub(crate) after: Position,
    pub(crate) end: Position,
    /// Numbers of frames, and when all of these and of the parts before had been committed, in milliseconds. What was acknowledged by
    /// then is in them.
    pub(crate) stamps: Vec<(u32, u64)>,
}

/// Header of a part of all pages. Its body has the pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PagesHeader {
    pub(crate) generation: String,
    /// Number of the first page.
    pub(crate) first: u32,
    pub(crate) n_pages: u32,
    pub(crate) page_size: u32,
}

/// Header of the object that completes a snapshot. It has no body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SnapshotHeader {
    pub(crate) generation: String,
    /// Number of the part of the log after which the snapshot was taken.
    pub(crate) index: u64,
    /// Time of the last transaction in it, or later.
    pub(crate) time: u64,
    pub(crate) page_size: u32,
    pub(crate) n_pages: u32,
    pub(crate) n_parts: u32,
    pub(crate) at: Position,
    /// Version of the program that wrote it.
    pub(crate) version: String,
}

/// An object with this header and body.
///
/// # Errors
/// If there is no memory for it.
pub(crate) fn encode(header: &impl Serialize, body: &[u8]) -> Result<Vec<u8>> {
    let header = serde_json::to_vec(header).unwrap_or_default();
    let body = zstd::bulk::compress(body, LEVEL)
        .map_err(|e| BackupError::Destination(format!("an object cannot be compressed: {e}")))?;
    let mut bytes = Vec::with_capacity(MAGIC.len() + 4 + header.len() + body.len() + SUM);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&u32::try_from(header.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend_from_slice(&header);
    bytes.extend_from_slice(&body);
    let sum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&sum);
    Ok(bytes)
}

/// The header and body of an object.
pub(crate) fn decode<H: DeserializeOwned>(key: &str, bytes: &[u8]) -> Result<(H, Vec<u8>)> {
    let damaged = |why: &str| BackupError::Damaged { key: key.to_owned(), why: why.to_owned() };
    if encryption::is_encrypted(bytes) {
        encryption::check_form(key, bytes)?;
        return Err(BackupError::Encrypted(key.to_owned()));
    }
    let (content, sum) = bytes.split_at_checked(bytes.len().saturating_sub(SUM)).ok_or_else(|| damaged("too short"))?;
    if *Sha256::digest(content) != *sum {
        return Err(damaged("wrong checksum"));
    }
    let rest = content.strip_prefix(MAGIC).ok_or_else(|| damaged("not an object of a backup"))?;
    let (length, rest) = rest.split_at_checked(4).ok_or_else(|| damaged("too short"))?;
    let length = u32::from_be_bytes(length.try_into().unwrap_or_default()) as usize;
    let (header, body) = rest.split_at_checked(length).ok_or_else(|| damaged("too short"))?;
    let header = serde_json::from_slice(header).map_err(|_| damaged("unknown header"))?;
    let mut decoded = Vec::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(body);
    let read = decoder.and_then(|decoder| decoder.take(MAX_BODY).read_to_end(&mut decoded));
    read.map_err(|_| damaged("cannot be decompressed"))?;
    Ok((header, decoded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_noticed() {
        let header = PagesHeader { generation: "g".to_owned(), first: 1, n_pages: 2, page_size: 4 };
        let bytes = encode(&header, b"12345678").unwrap();
        assert_eq!(decode::<PagesHeader>("a", &bytes).unwrap(), (header, b"12345678".to_vec()));
        for i in 0..bytes.len() {
            let mut other = bytes.clone();
            other[i] ^= 4;
            assert!(matches!(decode::<PagesHeader>("a", &other), Err(BackupError::Damaged { .. })), "{i}");
            assert!(decode::<PagesHeader>("a", &bytes[..i]).is_err(), "{i}");
        }
    }
}
