//! Versions of rows: numbers that change with the rows of a kind, as of a snapshot, whichever process writes. What is derived from rows
//! may be cached for everybody who sees the same version. [`crate::version_source`] is where they come from.

use std::collections::HashMap;
use std::sync::Arc;

/// The versions as of a snapshot.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowVersions {
    /// The version of the indexes and private tables of the schema, on engines that have them.
    pub(crate) layout: Option<i64>,
    pub(crate) of: HashMap<&'static str, i64>,
}

/// The versions as of a change in the log.
#[derive(Clone, Debug)]
pub(crate) struct KnownVersions {
    /// The number of the change.
    pub(crate) last: i64,
    pub(crate) versions: Arc<RowVersions>,
}

impl KnownVersions {
    /// The numbers of the last changes of each kind, as texts.
    pub(crate) fn last_of_kinds(&self) -> Vec<String> {
        self.versions.of.values().map(i64::to_string).collect()
    }
}
