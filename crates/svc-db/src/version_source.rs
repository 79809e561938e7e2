//! Where the versions of rows come from.
//!
//! Each engine has a [`VersionSource`]: on SQLite, a version is the number of the last change in the log of changes, which a snapshot
//! contains; on MariaDB, it is the time of the last change in [`Versions`](svc_versions::Versions), once the server has shown that nothing
//! else has changed.

use std::sync::Arc;
use std::time::Instant;

use crate::error::Result;
use crate::handle::Db;
use crate::row_versions::RowVersions;

/// Where an engine finds the versions of rows.
pub(crate) trait VersionSource: Send + Sync {
    /// The versions for a snapshot that was opened after `begun`. `None` if nothing may be cached.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn versions(&self, db: &mut Db, begun: Instant) -> Result<Option<Arc<RowVersions>>>;
}

/// The versions of one snapshot, which are read when they are needed.
#[derive(Clone, Default)]
pub(crate) enum SnapshotVersions {
    /// Not read yet. With an instant before the snapshot was opened.
    Unread(Arc<dyn VersionSource>, Instant),
    Read(Arc<RowVersions>),
    /// Nothing may be cached, such as in a transaction.
    #[default]
    Unknown,
}

impl SnapshotVersions {
    /// Those of a snapshot that was opened after `begun`.
    pub(crate) fn of(source: Arc<dyn VersionSource>, begun: Instant) -> Self {
        SnapshotVersions::Unread(source, begun)
    }

    /// The same versions, once they are read from this snapshot.
    pub(crate) fn read(self, db: &mut Db) -> Self {
        let SnapshotVersions::Unread(source, begun) = self else { return self };
        // If the database is unreachable, the next statement fails with the error.
        let versions = source.versions(db, begun).ok().flatten();
        versions.map_or(SnapshotVersions::Unknown, SnapshotVersions::Read)
    }

    /// The versions, if they were read.
    pub(crate) fn get(&self) -> Option<&RowVersions> {
        match self {
            SnapshotVersions::Read(versions) => Some(versions),
            _ => None,
        }
    }
}
