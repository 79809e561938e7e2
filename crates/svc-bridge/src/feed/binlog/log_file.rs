//! The end of the log without a question to the server: if this process sees the log's file, which it need not be able to read, its size.
//!
//! A transaction is in the file before it is acknowledged. So if all that is in the file is applied, all acknowledged transactions are.

use std::{
    fs::Metadata,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::point::Point;

/// Time for which the server is not asked: whether it is still the same, and accepts writes.
const TRUSTED: Duration = Duration::from_millis(10);

/// The file that the server writes.
#[derive(Debug)]
struct Seen {
    path: PathBuf,
    number: u64,
    /// Another file of the same name has another identity.
    identity: (u64, u64),
    asked: Instant,
}

#[derive(Debug, Default)]
pub(super) struct LogFile(Mutex<Option<Seen>>);

impl LogFile {
    /// Records the answer of a server: the end of its log, and the file, if it is one of this machine. `asked` is when the question was sent.
    pub(super) fn answered(&self, path: Option<PathBuf>, end: Point, asked: Instant) {
        let seen = path.and_then(|path| {
            let found = std::fs::metadata(&path).ok().filter(|found| found.is_file() && found.len() >= end.offset)?;
            Some(Seen { path, number: end.file, identity: identity(&found)?, asked })
        });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }

    /// Whether the log ends here.
    pub(super) fn ends_at(&self, point: Point) -> bool {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(seen) = seen.as_ref().filter(|seen| seen.number == point.file && seen.asked.elapsed() < TRUSTED)
        else {
            return false;
        };
        std::fs::metadata(&seen.path)
            .is_ok_and(|now| now.len() == point.offset && identity(&now) == Some(seen.identity))
    }
}

/// The folder of a server's log files. `None` if the server is on another machine.
pub(super) fn folder(base: Option<&str>, hostname: Option<&str>) -> Option<PathBuf> {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    (hostname == Some(own.trim_end())).then(|| Path::new(base?).parent().map(Path::to_owned)).flatten()
}

/// Device and number of a file; `None` on systems without.
#[cfg(unix)]
fn identity(file: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_log_ends_where_its_file_ends() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bin.000002");
        std::fs::write(&file, "12345").unwrap();
        let log = LogFile::default();
        let point = |file, offset| Point { file, offset };
        let ask = |path: &Path, end| log.answered(Some(path.to_owned()), end, Instant::now());
        assert!(!log.ends_at(point(2, 5)), "the server was not asked");
        ask(&file, point(2, 4));
        assert!(log.ends_at(point(2, 5)) && !log.ends_at(point(2, 4)) && !log.ends_at(point(3, 5)));
        std::fs::write(&file, "123456").unwrap();
        assert!(!log.ends_at(point(2, 5)), "something was written");
        // Another log.
        std::fs::rename(&file, folder.path().join("old")).unwrap();
        std::fs::write(&file, "123456").unwrap();
        assert!(!log.ends_at(point(2, 6)));
        ask(&file, point(2, 7));
        assert!(!log.ends_at(point(2, 6)), "the file of another server");
        ask(&folder.path().join("none"), point(2, 6));
        assert!(!log.ends_at(point(2, 6)));
        log.answered(Some(file), point(2, 6), Instant::now().checked_sub(TRUSTED).unwrap());
        assert!(!log.ends_at(point(2, 6)), "too long ago");
    }

    #[test]
    fn files_of_other_machines_are_not_looked_at() {
        let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(folder(Some("/d/bin"), Some(own.trim())), Some("/d".into()));
        assert_eq!((folder(Some("/d/bin"), Some("other.example")), folder(None, Some(own.trim()))), (None, None));
    }
}
