//! Recorded traces: `tests/traces/recorded.jsonl.gz`, a line for each trace and each step.
//!
//! The line of a trace is `{"trace": SEED}`. That of a step has the request, and WordPress's response and changes of rows.

use std::{
    fs::File,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
};

use anyhow::{Context, Result, bail};
use flate2::{Compression, GzBuilder, bufread::GzDecoder};
use serde_json::{Value, json};
use xtask_support::root;

use crate::scenario::{Step, StepResponse};

/// A step with WordPress's response to it.
pub(super) struct RecordedStep {
    pub(super) source: Value,
    pub(super) step: Step,
    pub(super) response: StepResponse,
    pub(super) rows: Value,
}

/// A sequence of steps on the recorded site.
pub(super) struct RecordedTrace {
    pub(super) seed: u64,
    pub(super) steps: Vec<RecordedStep>,
}

fn path() -> Result<PathBuf> {
    Ok(root()?.join("tests/traces/recorded.jsonl.gz"))
}

/// The recorded traces.
pub(super) fn read() -> Result<Vec<RecordedTrace>> {
    let path = path()?;
    let context = || format!("cannot read {}", path.display());
    let file = File::open(&path).with_context(context)?;
    let mut traces: Vec<RecordedTrace> = Vec::new();
    for line in BufReader::new(GzDecoder::new(BufReader::new(file))).lines() {
        let mut line: Value = serde_json::from_str(&line.with_context(context)?).with_context(context)?;
        if let Some(seed) = line.get("trace").and_then(Value::as_u64) {
            traces.push(RecordedTrace { seed, steps: Vec::new() });
            continue;
        }
        let Some(trace) = traces.last_mut() else { bail!("{}: a step before the first trace", path.display()) };
        let [source, response, rows] = ["step", "response", "rows"].map(|name| line[name].take());
        let step = serde_json::from_value(source.clone()).with_context(context)?;
        let response = serde_json::from_value(response).with_context(context)?;
        trace.steps.push(RecordedStep { source, step, response, rows });
    }
    Ok(traces)
}

/// Writes traces. The same traces result in the same file.
pub(super) fn write(traces: &[RecordedTrace]) -> Result<()> {
    let path = path()?;
    let context = || format!("cannot write {}", path.display());
    let file = File::create(&path).with_context(context)?;
    let mut out = GzBuilder::new().mtime(0).write(file, Compression::best());
    for trace in traces {
        writeln!(out, "{}", json!({"trace": trace.seed})).with_context(context)?;
        for step in &trace.steps {
            let response = &step.response;
            let response = json!({"name": response.name, "status": response.status, "headers": response.headers, "body": response.body});
            writeln!(out, "{}", json!({"step": step.source, "response": response, "rows": step.rows}))
                .with_context(context)?;
        }
    }
    out.finish().with_context(context)?;
    Ok(())
}
