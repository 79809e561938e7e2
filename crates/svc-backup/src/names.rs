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
//! Times are milliseconds since 1970, and all numbers have leading zeros, so that keys sort by them.

/// Folder of the generations.
pub(crate) const GENERATIONS: &str = "db";

/// Folder of the lists of files, and that of their content.
pub(crate) const FILE_LISTS: &str = "files/list";
pub(crate) const FILE_CONTENT: &str = "files/content";

/// Folder of the objects that name the server that writes.
pub(crate) const OWNERS: &str = "owner";

/// Name of the object that completes a snapshot.
const COMPLETE: &str = "complete";

/// A part of the log of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogName {
    pub(crate) index: u64,
    /// Its earliest and latest time; zero if it has none.
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// A snapshot of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotName {
    pub(crate) index: u64,
    pub(crate) time: u64,
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
        format!("{}/{:010}-{:013}-{:013}", Self::folder(generation), self.index, self.first, self.last)
    }

    pub(crate) fn parse(key: &str) -> Option<Self> {
        let (folder, name) = key.rsplit_once('/')?;
        let mut numbers = name.split('-').map(str::parse);
        let mut next = || numbers.next()?.ok();
        let name = LogName { index: next()?, first: next()?, last: next()? };
        (folder.ends_with("/log") && numbers.next().is_none()).then_some(name)
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
        format!("{}/{COMPLETE}", self.folder(generation))
    }

    /// The snapshot of one of its objects, and whether that completes it.
    pub(crate) fn parse(key: &str) -> Option<(Self, bool)> {
        let (folder, name) = key.rsplit_once('/')?;
        let (folder, numbers) = folder.rsplit_once('/')?;
        let (index, time) = numbers.split_once('-')?;
        let snapshot = SnapshotName { index: index.parse().ok()?, time: time.parse().ok()? };
        folder.ends_with("/snapshot").then_some((snapshot, name == COMPLETE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_parts() {
        let log = LogName { index: 7, first: 1_700_000_000_000, last: 1_700_000_000_999 };
        assert_eq!(log.key("g"), "db/g/log/0000000007-1700000000000-1700000000999");
        assert_eq!(LogName::parse(&log.key("g")), Some(log));
        let snapshot = SnapshotName { index: 7, time: 1_700_000_000_999 };
        assert_eq!(SnapshotName::parse(&snapshot.part("g", 3)), Some((snapshot, false)));
        assert_eq!(SnapshotName::parse(&snapshot.complete("g")), Some((snapshot, true)));
        for key in ["", "a", "db/g/log/1-2", "db/g/log/1-2-3-4", "db/g/snapshot/1-2", "db/g/log/x-1-2"] {
            assert_eq!((LogName::parse(key), SnapshotName::parse(key)), (None, None), "{key}");
        }
    }
}
