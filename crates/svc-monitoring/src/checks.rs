//! Whether a process can serve.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

use svc_listen::health::Readiness;

/// Free space in bytes below which a disk counts as nearly full: enough to copy the pages of a large write-ahead log into the database.
const MIN_FREE: u64 = 64 << 20;

/// Why a process whose disk is nearly full is not ready.
const NEARLY_FULL: &str = "the disk of the data folder is nearly full";

/// The answers of `/readyz`.
pub struct Checks {
    data: PathBuf,
    is_draining: AtomicBool,
    disk: Readiness,
    database: Readiness,
}

impl Checks {
    /// Checks of a process with this data folder. `database` reads the database and returns why the process cannot serve; it may block.
    pub fn new(
        data: impl Into<PathBuf>,
        database: impl Fn() -> Result<(), &'static str> + Send + Sync + 'static,
    ) -> Self {
        Self::with_min_free(data.into(), MIN_FREE, database)
    }

    fn with_min_free(
        data: PathBuf,
        min_free: u64,
        database: impl Fn() -> Result<(), &'static str> + Send + Sync + 'static,
    ) -> Self {
        let of = data.clone();
        let disk = Readiness::new(move || {
            // A folder that is not there yet, or a system that cannot be asked, is no reason to refuse requests.
            match free_bytes(&of) {
                Some(free) if free < min_free => Err(NEARLY_FULL),
                _ => Ok(()),
            }
        });
        Checks { data, is_draining: AtomicBool::new(false), disk, database: Readiness::new(database) }
    }

    /// Records that the process is stopping: it is not ready from now on.
    pub(crate) fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Whether the process is stopping.
    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }

    /// Free space of the data folder's disk in bytes; `None` if it is unknown.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        free_bytes(&self.data)
    }

    /// The reasons why the process cannot serve; none if it can. Takes as long as [`svc_listen::health::LIMIT`] at most.
    pub async fn reasons(&self) -> Vec<&'static str> {
        let (disk, database) = tokio::join!(self.disk.check(), self.database.check());
        let draining = if self.is_draining() { Err("the server is stopping") } else { Ok(()) };
        // A disk that does not respond is not known to be full, and its database does not respond either.
        let disk = disk.or_else(|why| if why == NEARLY_FULL { Err(why) } else { Ok(()) });
        [draining, disk, database].into_iter().filter_map(Result::err).collect()
    }
}

/// Free space of the disk of a folder in bytes, for this user; `None` if it is unknown.
#[cfg(unix)]
pub fn free_bytes(folder: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

/// Unknown on other systems.
#[cfg(not(unix))]
pub fn free_bytes(_: &std::path::Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reasons() {
        let folder = tempfile::tempdir().unwrap();
        let checks = |min_free, database: Result<(), &'static str>| {
            Checks::with_min_free(folder.path().to_owned(), min_free, move || database)
        };
        assert_eq!(checks(0, Ok(())).reasons().await, [] as [&str; 0]);
        assert_eq!(checks(u64::MAX, Ok(())).reasons().await, [NEARLY_FULL]);
        let all = checks(u64::MAX, Err("the database is away"));
        all.drain();
        assert_eq!(all.reasons().await, ["the server is stopping", NEARLY_FULL, "the database is away"]);
        let missing = Checks::new(folder.path().join("missing"), || Ok(()));
        assert_eq!(missing.reasons().await, [] as [&str; 0]);
    }

    #[tokio::test]
    async fn a_database_that_hangs_is_a_reason_after_the_limit() {
        let (_release, hang) = std::sync::mpsc::channel::<()>();
        let hang = std::sync::Mutex::new(hang);
        let checks = Checks::new(".", move || {
            // An error means that the test has ended.
            hang.lock().unwrap().recv().or(Ok(()))
        });
        let began = std::time::Instant::now();
        assert_eq!(checks.reasons().await, ["the database does not respond"]);
        assert!(began.elapsed() < 2 * svc_listen::health::LIMIT);
    }
}
