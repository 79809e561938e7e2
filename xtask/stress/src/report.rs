//! What a scenario gets, and what it returns.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use xtask_support::server;

/// How hard the scenarios try.
pub(crate) struct Effort {
    /// Use larger numbers than CI.
    pub(crate) long: bool,
    /// The server to run instead of building one.
    pub(crate) program: Option<PathBuf>,
    /// Another build of the server.
    pub(crate) other: Option<PathBuf>,
    /// Number of upgrades, if it is given.
    pub(crate) upgrades: Option<u32>,
}

impl Effort {
    /// The server.
    ///
    /// # Errors
    /// If it cannot be built, or the given one does not exist.
    pub(crate) fn program(&self) -> Result<PathBuf> {
        match &self.program {
            // Servers run in folders of their own.
            Some(program) => program.canonicalize().with_context(|| format!("{}", program.display())),
            None => server::build(None, self.long),
        }
    }

    /// Another build of the server, if one is given.
    ///
    /// # Errors
    /// If it does not exist.
    pub(crate) fn other(&self) -> Result<Option<PathBuf>> {
        let found = |other: &PathBuf| other.canonicalize().with_context(|| format!("{}", other.display()));
        self.other.as_ref().map(found).transpose()
    }
}

/// Measurements of one case of a scenario.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The case, such as `races sqlite: same title`.
    pub(crate) case: String,
    /// Requests or connections of the attack or load.
    pub(crate) attempts: u64,
    /// Lost acknowledged writes or invalid results. Only zero passes.
    pub(crate) lost: u64,
    /// The slowest response to a legitimate client during the attack.
    pub(crate) slowest: Option<Duration>,
    /// The server's peak resident memory in bytes, if measured.
    pub(crate) peak_memory: Option<u64>,
    /// Other reasons for failure.
    pub(crate) violations: Vec<String>,
}

impl Report {
    pub(crate) fn passed(&self) -> bool {
        self.lost == 0 && self.violations.is_empty()
    }

    pub(crate) fn line(&self) -> String {
        let mut line = format!("{:44} {:7} attempts {:5} lost", self.case, self.attempts, self.lost);
        if let Some(slowest) = self.slowest {
            line += &format!("  slowest {:5} ms", slowest.as_millis());
        }
        if let Some(bytes) = self.peak_memory {
            line += &format!("  peak {:5} MiB", bytes >> 20);
        }
        line
    }
}
