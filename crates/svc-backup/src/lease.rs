//! Which server writes to a destination: one at a time.
//!
//! An object `owner/N` names it. The server writes the next one at intervals, and deletes the one before it. Objects are written
//! once, so only one of several servers gets a number, and one that was taken over notices it before it writes anything else. No clocks
//! are compared: an owner that writes no further object for a while is gone. A server that was killed continues at once.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::destination::Destination;
use crate::error::{BackupError, Result};
use crate::names::OWNERS;
use crate::object::{decode, encode};

/// Objects that are written in the time after which an owner is gone.
const BEATS: u32 = 4;

/// Where the name and the number of a machine are.
const HOST_FILES: [&str; 2] = ["/proc/sys/kernel/hostname", "/etc/machine-id"];

/// Header of an object. It has no body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    /// Machine and database. The same after a restart.
    server: String,
    /// Differs for each process.
    process: String,
}

/// The claim of this process to write.
#[derive(Debug)]
pub(crate) struct Lease {
    own: Owner,
    length: Duration,
    /// Number of the last object of this process, and when it was written.
    held: Option<(u64, Instant)>,
    /// The last object of another process, and when it was first seen.
    seen: Option<(u64, Instant)>,
    /// Another process has taken over from this one, so it is not an earlier process of this server.
    was_lost: bool,
}

impl Lease {
    /// Describes this process. `length` is the time after which an owner that writes no further object is gone.
    pub(crate) fn new(database: &Path, length: Duration) -> Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|e| BackupError::Destination(e.to_string()))?;
        let process = format!("{:032x}", u128::from_be_bytes(random));
        let host: Vec<String> = HOST_FILES.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        // Without a name of the machine, an earlier process cannot be told from that of another one.
        let host = if host.is_empty() { process.clone() } else { host.join(" ") };
        let host = host.split_whitespace().collect::<Vec<_>>().join(" ");
        let own = Owner { server: format!("{host}: {}", database.display()), process };
        Ok(Lease { own, length, held: None, seen: None, was_lost: false })
    }

    /// Makes sure that only this process writes.
    ///
    /// # Errors
    /// [`BackupError::Taken`] if another one does, or if the destination does not work.
    pub(crate) fn hold(&mut self, to: &dyn Destination) -> Result<()> {
        let before = match self.held {
            Some((_, at)) if at.elapsed() < self.length / BEATS => return Ok(()),
            Some((n, _)) => n,
            None => self.last_of_others(to)?,
        };
        let n = before + 1;
        match to.put(&key(n), encode(&self.own, &[])?) {
            // It was stored, but the result did not arrive.
            Err(BackupError::Exists(_)) if read(to, n)? == self.own => {}
            Err(BackupError::Exists(_)) => {
                self.was_lost |= self.held.take().is_some();
                return Err(BackupError::Taken(read(to, n)?.server));
            }
            put => put?,
        }
        self.seen = None;
        match self.held.replace((n, Instant::now())) {
            Some(_) => to.delete(&key(before)),
            None => {
                let mut earlier = to.list(OWNERS)?;
                earlier.retain(|key| number(key).is_some_and(|other| other < n));
                to.delete_all(&earlier)
            }
        }
    }

    /// The number after which this process continues.
    fn last_of_others(&mut self, to: &dyn Destination) -> Result<u64> {
        let Some(n) = to.list(OWNERS)?.iter().filter_map(|key| number(key)).max() else { return Ok(0) };
        let owner = match read(to, n) {
            // It has written the next one, or has stopped.
            Err(BackupError::Missing(_)) => return Err(BackupError::Taken("it has just written".to_owned())),
            owner => owner?,
        };
        let is_earlier = owner.process == self.own.process || owner.server == self.own.server && !self.was_lost;
        let since = self.seen.filter(|(seen, _)| *seen == n).map_or_else(Instant::now, |(_, since)| since);
        self.seen = Some((n, since));
        if is_earlier || since.elapsed() >= self.length { Ok(n) } else { Err(BackupError::Taken(owner.server)) }
    }

    /// Lets another server write at once.
    pub(crate) fn release(&mut self, to: &dyn Destination) {
        if let Some((n, _)) = self.held.take() {
            // If it fails, the next one waits.
            drop(to.delete(&key(n)));
        }
    }
}

fn key(n: u64) -> String {
    format!("{OWNERS}/{n:010}")
}

fn number(key: &str) -> Option<u64> {
    key.rsplit('/').next()?.parse().ok()
}

fn read(to: &dyn Destination, n: u64) -> Result<Owner> {
    let key = key(n);
    decode(&key, &to.get(&key)?).map(|(owner, _)| owner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Folder;

    const LENGTH: Duration = Duration::from_millis(400);

    fn lease(database: &str) -> Lease {
        Lease::new(Path::new(database), LENGTH).unwrap()
    }

    #[test]
    fn one_server_writes_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let to = Folder::new(root.path());
        let (mut first, mut second) = (lease("/a/site.db"), lease("/b/site.db"));
        first.hold(&to).unwrap();
        let begun = Instant::now();
        while begun.elapsed() < 3 * LENGTH {
            first.hold(&to).unwrap();
            let refused = second.hold(&to).unwrap_err();
            assert!(matches!(&refused, BackupError::Taken(by) if by.ends_with(": /a/site.db")), "{refused}");
            std::thread::sleep(LENGTH / 10);
        }
        assert_eq!(to.list(OWNERS).unwrap().len(), 1);
        // It ends.
        first.release(&to);
        second.hold(&to).unwrap();
        assert!(matches!(first.hold(&to), Err(BackupError::Taken(_))));
        // It is killed: the same server continues at once, another one only after a while.
        drop(second);
        let mut again = lease("/b/site.db");
        again.hold(&to).unwrap();
        drop(again);
        assert!(matches!(first.hold(&to), Err(BackupError::Taken(_))));
        std::thread::sleep(LENGTH);
        first.hold(&to).unwrap();
    }

    #[test]
    fn a_server_that_was_taken_over_stops() {
        let root = tempfile::tempdir().unwrap();
        let to = Folder::new(root.path());
        let (mut first, mut second) = (lease("/a/site.db"), lease("/a/site.db"));
        first.hold(&to).unwrap();
        second.hold(&to).unwrap();
        std::thread::sleep(LENGTH / BEATS);
        for _ in 0..3 {
            assert!(matches!(first.hold(&to), Err(BackupError::Taken(_))), "it does not take over in turn");
            second.hold(&to).unwrap();
        }
    }
}
