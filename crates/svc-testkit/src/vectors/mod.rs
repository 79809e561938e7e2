//! Recorded functions: runs lines of `{fn, args, out | error, …}` against this project's own functions.
//!
//! Each submodule knows the functions of one crate; [`run_file`] compares and counts.

mod auth;
mod block_data;
mod block_types;
mod blocks;
mod compare;
mod content;
mod kses;
mod php;
mod preload;
mod schema;
mod text;
mod urls;

use std::{collections::BTreeMap, io::BufRead, path::Path};

use anyhow::{Context, Result};
use serde_json::Value;

/// One recorded call.
#[derive(Debug)]
pub struct Vector {
    /// Name of the recorded function.
    pub function: String,
    /// Its arguments; trailing defaults are left out.
    pub args: Vec<Value>,
    /// The whole line, with `options`, `notices` and the marks.
    pub line: Value,
}

impl Vector {
    /// The argument at this place, null when left out.
    pub fn arg(&self, index: usize) -> &Value {
        self.args.get(index).unwrap_or(&Value::Null)
    }

    /// A text argument; anything else reads as empty.
    pub fn text(&self, index: usize) -> &str {
        self.arg(index).as_str().unwrap_or_default()
    }

    /// A site option in force for this line.
    pub fn option(&self, name: &str) -> &Value {
        &self.line["options"][name]
    }
}

/// What our function gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A result, in the form of the vectors' `out`.
    Value(Value),
    /// An error, in the form of the vectors' `error`.
    Error(Value),
}

impl<T: Into<Value>> From<T> for Outcome {
    fn from(value: T) -> Self {
        Outcome::Value(value.into())
    }
}

/// Calls the function that a vector names; `None` when it is not known here.
pub fn call(vector: &Vector) -> Option<Outcome> {
    schema::call(vector)
        .or_else(|| php::call(vector))
        .or_else(|| text::call(vector))
        .or_else(|| content::call(vector))
        .or_else(|| kses::call(vector))
        .or_else(|| blocks::call(vector))
        .or_else(|| block_types::call(vector))
        .or_else(|| auth::call(vector))
        .or_else(|| urls::call(vector))
        .or_else(|| preload::call(vector))
}

/// Counts of one function.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    /// Vectors whose result was the recorded one.
    pub passed: usize,
    /// Vectors whose result was another one, or whose function is not known.
    pub failed: usize,
    /// Vectors on which the specification and the peer part, by tag: counted, not judged.
    pub differing: BTreeMap<String, usize>,
    /// The first failures, told.
    pub failures: Vec<String>,
}

/// Runs a file of vectors and adds to the tallies, by function.
///
/// # Errors
/// When the file cannot be read or a line is not a vector.
pub fn run_file(path: &Path, tallies: &mut BTreeMap<String, Tally>) -> Result<()> {
    let file = std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    for (index, line) in std::io::BufReader::new(file).lines().enumerate() {
        let place = || format!("{}:{}", path.display(), index + 1);
        let line = line.with_context(place)?;
        if line.trim().is_empty() {
            continue;
        }
        let vector = read(&line).with_context(place)?;
        let tally = tallies.entry(vector.function.clone()).or_default();
        if let Some(tags) = vector.line.get("differs_from_spec") {
            for tag in tags_of(tags) {
                *tally.differing.entry(tag).or_default() += 1;
            }
            continue;
        }
        let outcome = std::panic::catch_unwind(|| call(&vector));
        let verdict = match outcome {
            Ok(Some(outcome)) => compare::difference(&vector, &outcome),
            Ok(None) => Some("not known here".to_owned()),
            Err(_) => Some("panicked".to_owned()),
        };
        match verdict {
            None => tally.passed += 1,
            Some(_) if schema::hangs_on_list_as_object(&vector) => {
                *tally.differing.entry("list_as_object".to_owned()).or_default() += 1;
            }
            Some(why) => {
                tally.failed += 1;
                tally.failures.push(format!("{}: {} {}", place(), vector.function, why));
            }
        }
    }
    Ok(())
}

fn tags_of(tags: &Value) -> Vec<String> {
    match tags {
        Value::Array(tags) => tags.iter().filter_map(|t| t.as_str().map(str::to_owned)).collect(),
        Value::String(tag) => vec![tag.clone()],
        _ => vec!["other".to_owned()],
    }
}

fn read(line: &str) -> Result<Vector> {
    let line: Value = serde_json::from_str(line)?;
    let function = line["fn"].as_str().context("the line names no function")?.to_owned();
    let args = line["args"].as_array().cloned().unwrap_or_default();
    Ok(Vector { function, args, line })
}
