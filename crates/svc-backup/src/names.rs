//! Keys of objects. What is needed to choose objects is in their keys, so that choosing reads none of them.
//!
//! ```text
//! db/GENERATION/log/INDEX-FIRST-LAST         a part of the log, with the earliest and latest of its times
//! db/GENERATION/snapshot/INDEX-TIME/0000001  all pages, in parts
//! db/GENERATION/snapshot/INDEX-TIME/complete written last
//! files/content/SHA                          a file, by the SHA-256 of its content
//! files/list/TIME                            which files there were
//! owner/NUMBER                               which server writes
//! ```
//!
//! Those of encrypted parts of the log, and of objects that complete an encrypted snapshot, end with `-SEALED`: the position of the log, which
//! the server needs to continue and cannot decrypt. The content of encrypted files has a keyed hash instead of its SHA-256.
//!
//! Times are milliseconds since 1970, and all numbers have leading zeros, so that keys sort by them.

use crate::object::POSITION;

/// Folder of the generations.
pub(crate) const GENERATIONS: &str = "db";

/// Folder of the lists of files, and that of their content.
pub(crate) const FILE_LISTS: &str = "files/list";
pub(crate) const FILE_CONTENT: &str = "files/content";

/// Folder of the objects that name the server that writes.
pub(crate) const OWNERS: &str = "owner";

/// Name of the object that completes a snapshot.
const COMPLETE: &str = "complete";

/// Bytes that tell the recipients of encrypted objects from others.
pub(crate) const FINGERPRINT: usize = 8;

/// Bytes of a sealed position: with the nonce and the tag of the cipher.
const SEALED: usize = 12 + POSITION + 16;

/// A position of the log that only the server can read, and a fingerprint of the recipients of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sealed {
    fingerprint: [u8; FINGERPRINT],
    content: [u8; SEALED],
}

#[cfg_attr(not(feature = "age"), expect(dead_code, reason = "nothing is sealed"))]
impl Sealed {
    pub(crate) fn new(fingerprint: [u8; FINGERPRINT], sealed: &[u8]) -> Self {
        let mut content = [0; SEALED];
        content.copy_from_slice(sealed);
        Sealed { fingerprint, content }
    }

    pub(crate) fn content(&self) -> [u8; SEALED] {
        self.content
    }
}

impl Sealed {
    pub(crate) fn fingerprint(&self) -> [u8; FINGERPRINT] {
        self.fingerprint
    }

    fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 2 * (FINGERPRINT + SEALED) || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let bytes = text.as_bytes().chunks_exact(2).map(|two| u8::from_str_radix(str::from_utf8(two).ok()?, 16).ok());
        let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
        let (fingerprint, content) = bytes.split_first_chunk::<FINGERPRINT>()?;
        Some(Sealed { fingerprint: *fingerprint, content: content.try_into().ok()? })
    }

    /// The end of a name with it.
    fn suffix(sealed: Option<&Self>) -> String {
        let hex = |sealed: &Sealed| {
            sealed.fingerprint.iter().chain(&sealed.content).map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        sealed.map_or_else(String::new, |sealed| format!("-{}", hex(sealed)))
    }
}

/// A part of the log of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogName {
    pub(crate) index: u64,
    /// Its earliest and latest time; zero if it has none.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Where it ends, if it is encrypted.
    pub(crate) end: Option<Sealed>,
}

/// A snapshot of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotName {
    pub(crate) index: u64,
    pub(crate) time: u64,
    /// Where the log was, if it is encrypted. The names of its parts do not have it.
    pub(crate) at: Option<Sealed>,
}

/// The folder of a generation.
pub(crate) fn generation(generation: &str) -> String {
    format!("{GENERATIONS}/{generation}")
}

impl LogName {
    pub(crate) fn folder(generation: &str) -> String {
        format!("{GENERATIONS}/{generation}/log")
    }

    pub(crate) fn key(&self, generation: &str) -> String {
        let end = Sealed::suffix(self.end.as_ref());
        format!("{}/{:010}-{:013}-{:013}{end}", Self::folder(generation), self.index, self.first, self.last)
    }

    pub(crate) fn parse(key: &str) -> Option<Self> {
        let (folder, name) = key.rsplit_once('/')?;
        let mut words = name.split('-');
        let mut next = || words.next()?.parse().ok();
        let (index, first, last) = (next()?, next()?, next()?);
        let end = match words.next() {
            Some(word) => Some(Sealed::parse(word)?),
            None => None,
        };
        (folder.ends_with("/log") && words.next().is_none()).then_some(LogName { index, first, last, end })
    }
}

impl SnapshotName {
    fn folder(&self, generation: &str) -> String {
        format!("{GENERATIONS}/{generation}/snapshot/{:010}-{:013}", self.index, self.time)
    }

    /// The key of a part, from zero.
    pub(crate) fn part(&self, generation: &str, n: u32) -> String {
        format!("{}/{n:07}", self.folder(generation))
    }

    /// The key of the object that completes it.
    pub(crate) fn complete(&self, generation: &str) -> String {
        format!("{}/{COMPLETE}{}", self.folder(generation), Sealed::suffix(self.at.as_ref()))
    }

    /// The snapshot of one of its objects, and whether that completes it.
    pub(crate) fn parse(key: &str) -> Option<(Self, bool)> {
        let (folder, name) = key.rsplit_once('/')?;
        let (folder, numbers) = folder.rsplit_once('/')?;
        let (index, time) = numbers.split_once('-')?;
        let (is_complete, at) = match name.strip_prefix(COMPLETE) {
            Some("") => (true, None),
            Some(rest) => (true, Some(Sealed::parse(rest.strip_prefix('-')?)?)),
            None => (false, None),
        };
        let snapshot = SnapshotName { index: index.parse().ok()?, time: time.parse().ok()?, at };
        folder.ends_with("/snapshot").then_some((snapshot, is_complete))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_parts() {
        let log = LogName { index: 7, first: 1_700_000_000_000, last: 1_700_000_000_999, end: None };
        assert_eq!(log.key("g"), "db/g/log/0000000007-1700000000000-1700000000999");
        assert_eq!(LogName::parse(&log.key("g")), Some(log));
        let snapshot = SnapshotName { index: 7, time: 1_700_000_000_999, at: None };
        assert_eq!(SnapshotName::parse(&snapshot.part("g", 3)), Some((snapshot, false)));
        assert_eq!(SnapshotName::parse(&snapshot.complete("g")), Some((snapshot, true)));
        let sealed = Some(Sealed { fingerprint: *b"12345678", content: [0xab; SEALED] });
        let (log, complete) = (LogName { end: sealed, ..log }, SnapshotName { at: sealed, ..snapshot });
        assert!(log.key("g").starts_with("db/g/log/0000000007-1700000000000-1700000000999-3132333435363738abab"));
        assert_eq!(LogName::parse(&log.key("g")), Some(log));
        assert_eq!(LogName::parse(log.key("g").strip_suffix('b').unwrap()), None);
        assert_eq!(SnapshotName::parse(&complete.part("g", 3)), Some((snapshot, false)));
        assert_eq!(SnapshotName::parse(&complete.complete("g")), Some((complete, true)));
        assert_eq!(SnapshotName::parse(&format!("{}é", snapshot.complete("g"))), None);
        for key in ["", "a", "db/g/log/1-2", "db/g/log/1-2-3-4", "db/g/snapshot/1-2", "db/g/log/x-1-2"] {
            assert_eq!((LogName::parse(key), SnapshotName::parse(key)), (None, None), "{key}");
        }
    }
}
