//! Runs test vectors recorded from WordPress: lines with a function, its arguments and its result or error.
//!
//! Each submodule calls the functions of one crate; [`run_file`] compares the outcomes and counts.

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

/// One recorded function call.
#[derive(Debug)]
pub struct Vector {
    /// Name of the recorded function.
    pub function: String,
    /// Its arguments. Trailing defaults are omitted.
    pub args: Vec<Value>,
    /// The whole line, including `options`, `notices` and tags.
    pub line: Value,
}

impl Vector {
    /// The argument at this index; null if omitted.
    pub fn arg(&self, index: usize) -> &Value {
        self.args.get(index).unwrap_or(&Value::Null)
    }

    /// The string argument at this index; empty if it has another type.
    pub fn text(&self, index: usize) -> &str {
        self.arg(index).as_str().unwrap_or_default()
    }

    /// A site option that is set for this line.
    pub fn option(&self, name: &str) -> &Value {
        &self.line["options"][name]
    }
}

/// The outcome of our function.
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

/// Calls the function that a vector names; `None` if it is unknown.
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

/// Results of one function.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    /// Number of vectors with the recorded outcome.
    pub passed: usize,
    /// Number of vectors with another outcome, or with an unknown function.
    pub failed: usize,
    /// Number of vectors on which the specification and WordPress differ, by tag. These are not compared.
    pub differing: BTreeMap<String, usize>,
    /// Descriptions of the failures.
    pub failures: Vec<String>,
}

/// Runs a file of vectors and adds the results to `tallies`, by function name.
///
/// # Errors
/// If the file cannot be read or a line is not a vector.
pub fn run_file(path: &Path, tallies: &mut BTreeMap<String, Tally>) -> Result<()> {
    let file = std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    for (index, line) in std::io::BufReader::new(file).lines().enumerate() {
        let location = || format!("{}:{}", path.display(), index + 1);
        let line = line.with_context(location)?;
        if line.trim().is_empty() {
            continue;
        }
        let vector = parse_vector(&line).with_context(location)?;
        let tally = tallies.entry(vector.function.clone()).or_default();
        let is_decided = tags_of(&vector.line["spec_ambiguous"]).iter().any(|tag| tag == BOUND_IN_MESSAGE);
        let decided = is_decided.then(|| Value::from(vec![BOUND_IN_MESSAGE]));
        if let Some(tags) = vector.line.get("differs_from_spec").or(decided.as_ref()) {
            for tag in tags_of(tags) {
                *tally.differing.entry(tag).or_default() += 1;
            }
            continue;
        }
        let outcome = std::panic::catch_unwind(|| call(&vector));
        let verdict = match outcome {
            Ok(Some(outcome)) => compare::difference(&vector, &outcome),
            Ok(None) => Some("unknown function".to_owned()),
            Err(_) => Some("panicked".to_owned()),
        };
        match verdict {
            None => tally.passed += 1,
            Some(_) if schema::depends_on_list_as_object(&vector) => {
                *tally.differing.entry("list_as_object".to_owned()).or_default() += 1;
            }
            Some(_) if schema::has_cut_bound(&vector) => {
                *tally.differing.entry(BOUND_IN_MESSAGE.to_owned()).or_default() += 1;
            }
            Some(difference) => {
                tally.failed += 1;
                tally.failures.push(format!("{}: {} {}", location(), vector.function, difference));
            }
        }
    }
    Ok(())
}

/// Tag of recordings whose messages have a truncated bound. By the specification, messages have the bound itself.
const BOUND_IN_MESSAGE: &str = "bound_in_message";

fn tags_of(tags: &Value) -> Vec<String> {
    match tags {
        Value::Array(tags) => tags.iter().filter_map(|t| t.as_str().map(str::to_owned)).collect(),
        Value::String(tag) => vec![tag.clone()],
        _ => vec!["other".to_owned()],
    }
}

fn parse_vector(line: &str) -> Result<Vector> {
    let line: Value = serde_json::from_str(line)?;
    let function = line["fn"].as_str().context("the line has no function name")?.to_owned();
    let args = line["args"].as_array().cloned().unwrap_or_default();
    Ok(Vector { function, args, line })
}
