//! What a destination has.

use crate::destination::Destination;
use crate::encryption::Recipients;
use crate::error::Result;
use crate::names::{self, FINGERPRINT, GENERATIONS, LogName, SnapshotName};

/// A sequence of parts of the log without gaps, with snapshots.
#[derive(Debug)]
pub(crate) struct Generation {
    pub(crate) name: String,
    /// Complete snapshots, oldest first.
    pub(crate) snapshots: Vec<SnapshotName>,
    /// Parts of the log, in order.
    pub(crate) log: Vec<LogName>,
    /// Keys of all objects.
    pub(crate) keys: Vec<String>,
}

impl Generation {
    /// Reads the names of a generation.
    pub(crate) fn read(destination: &dyn Destination, name: &str) -> Result<Self> {
        let keys = destination.list(&names::generation(name))?;
        let complete = |key: &String| SnapshotName::parse(key).filter(|(_, is_complete)| *is_complete);
        let mut snapshots: Vec<_> = keys.iter().filter_map(complete).map(|(snapshot, _)| snapshot).collect();
        let mut log: Vec<_> = keys.iter().filter_map(|key| LogName::parse(key)).collect();
        snapshots.sort_unstable_by_key(|snapshot| (snapshot.index, snapshot.time));
        log.sort_unstable_by_key(|part| part.index);
        Ok(Generation { name: name.to_owned(), snapshots, log, keys })
    }

    /// The parts of the log after an index, until one is missing.
    pub(crate) fn log_after(&self, index: u64) -> impl Iterator<Item = &LogName> {
        let after = self.log.iter().skip_while(move |part| part.index <= index);
        after.zip(index + 1..).take_while(|(part, index)| part.index == *index).map(|(part, _)| part)
    }

    /// The time of the last transaction or snapshot.
    pub(crate) fn last_time(&self) -> u64 {
        let log = self.log.iter().map(|part| part.last).max();
        self.snapshots.iter().map(|snapshot| snapshot.time).max().max(log).unwrap_or(0)
    }
}

/// The generations, oldest first.
pub(crate) fn generations(destination: &dyn Destination) -> Result<Vec<Generation>> {
    let names = destination.folders(GENERATIONS)?;
    names.iter().map(|name| Generation::read(destination, name)).collect()
}

/// What a backup has, from its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of generations. A new one begins where the log does not continue.
    pub generations: usize,
    /// Number of complete snapshots.
    pub snapshots: usize,
    /// Number of parts of the log.
    pub log_parts: usize,
    /// The earliest time that can be restored, in milliseconds since 1970.
    pub first: Option<u64>,
    /// Time of the last transaction or snapshot.
    pub last: Option<u64>,
    /// Time of the last snapshot.
    pub last_snapshot: Option<u64>,
    /// Number of complete snapshots that are encrypted.
    pub encrypted_snapshots: usize,
    /// Fingerprint of the recipients of the last snapshot, if it is encrypted.
    last_fingerprint: Option<[u8; FINGERPRINT]>,
}

impl Summary {
    /// Whether the last snapshot is encrypted for exactly these recipients.
    pub fn is_for(&self, recipients: &Recipients) -> bool {
        self.last_fingerprint == Some(recipients.fingerprint())
    }
}

/// Describes what a destination has, without reading it.
///
/// # Errors
/// If it cannot be listed.
pub fn summary(destination: &dyn Destination) -> Result<Summary> {
    let all = generations(destination)?;
    let named = || all.iter().flat_map(|generation| &generation.snapshots);
    let snapshots = || named().map(|snapshot| snapshot.time);
    let last = named().max_by_key(|snapshot| snapshot.time);
    Ok(Summary {
        encrypted_snapshots: named().filter(|snapshot| snapshot.at.is_some()).count(),
        last_fingerprint: last.and_then(|snapshot| snapshot.at).map(|at| at.fingerprint()),
        generations: all.len(),
        snapshots: snapshots().count(),
        log_parts: all.iter().map(|generation| generation.log.len()).sum(),
        first: snapshots().min(),
        last: all.iter().map(Generation::last_time).max().filter(|time| *time > 0),
        last_snapshot: snapshots().max(),
    })
}
