//! A server that takes part in a trace: it receives the requests, and the changes of its rows are observed.

use std::{sync::Arc, thread};

use anyhow::{Context, Result, anyhow};
use fancy_regex::Regex;
use serde_json::Value;

use super::rows::{Database, Snapshot, changes};
use crate::{
    brand::BrandRules,
    normalize::Normalizer,
    runner::{Runner, Session},
    scenario::{Step, StepResponse},
};

/// A server on the recorded site, and its database.
pub(super) struct Side {
    runner: Runner,
    session: Session,
    normalizer: Arc<Normalizer>,
    database: Database,
    rows: Snapshot,
    lengths: Regex,
    hashes: Regex,
}

/// The response to a step, and the changes of rows that it made.
pub(super) struct Observed {
    pub(super) response: StepResponse,
    pub(super) rows: Value,
}

impl Side {
    /// A server that has just been restored.
    pub(super) fn new(runner: Runner, mut database: Database) -> Result<Self> {
        let normalizer = runner.normalizer()?;
        let session = runner.session(&normalizer)?;
        let rows = database.snapshot()?;
        // Lengths of texts in serialized values: those with URLs depend on the port.
        let lengths = Regex::new(r#"\bs:\d+:(?=\\?")"#).context("the pattern of lengths can be read")?;
        // Hashes of passwords and of application passwords.
        let hashes = Regex::new(r"\$generic\$[\w-]+|\$wp\$2y\$10\$[./A-Za-z0-9]{53}")
            .context("the pattern of hashes can be read")?;
        Ok(Side { runner, session, normalizer, database, rows, lengths, hashes })
    }

    pub(super) fn brand(&self) -> Arc<BrandRules> {
        self.runner.brand()
    }

    pub(super) fn normalizer(&self) -> Arc<Normalizer> {
        Arc::clone(&self.normalizer)
    }

    /// Sends a step and compares the rows with those before it.
    pub(super) fn send(&mut self, step: &Step) -> Result<Observed> {
        let response = self.runner.send(&mut self.session, step)?.with_context(|| format!("step {}", step.name))?;
        let after = self.database.snapshot()?;
        let rows = changes(&self.rows, &after);
        self.rows = after;
        Ok(Observed { response, rows: self.stored(&self.normalizer.value(&rows)) })
    }

    /// Sends a step to several servers at once, and returns what each of them does.
    pub(super) fn send_to_all<'s>(sides: impl Iterator<Item = &'s mut Side>, step: &Step) -> Result<Vec<Observed>> {
        thread::scope(|scope| {
            let sent: Vec<_> = sides.map(|side| scope.spawn(|| side.send(step))).collect();
            sent.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?).collect()
        })
    }

    /// A stored value without what differs from run to run, and with a mark for the present time.
    fn stored(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let text = self.normalizer.unix_times(text);
                let text = self.lengths.replace_all(&text, "s:");
                self.hashes.replace_all(&text, "{random}").into_owned().into()
            }
            Value::Array(list) => list.iter().map(|v| self.stored(v)).collect(),
            Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), self.stored(v))).collect(),
            other => other.clone(),
        }
    }
}
