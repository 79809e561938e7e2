//! Compares the servers with WordPress, step by step.

use serde_json::{Map, Value};

use super::{
    explained::Explained,
    same_second::{LastChanges, without_kept_times},
    side::{Observed, Side},
};
use crate::{compare::Comparison, order, scenario::Step};

/// Characters of the rows that a message shows, for each server.
const SHOWN: usize = 1500;

/// A difference between a server and WordPress.
pub(super) struct Difference {
    pub(super) engine: &'static str,
    /// Name of the step.
    pub(super) step: String,
    /// The step as JSON.
    pub(super) request: String,
    pub(super) text: String,
    /// Why the difference is known.
    pub(super) reason: Option<String>,
}

/// Compares what the servers under test do in a trace.
pub(super) struct Judge<'a> {
    /// For each server.
    comparisons: Vec<(&'static str, Comparison)>,
    /// For each server, and for WordPress.
    last_changes: (Vec<LastChanges>, LastChanges),
    explained: &'a Explained,
    differences: Vec<Difference>,
}

impl<'a> Judge<'a> {
    /// For servers that have just been restored.
    pub(super) fn new(sides: &[(&'static str, Side)], explained: &'a Explained) -> Self {
        let comparison = |(engine, side): &(_, Side)| (*engine, Comparison::new(side.brand(), side.normalizer()));
        let last_changes = (sides.iter().map(|_| LastChanges::default()).collect(), LastChanges::default());
        Judge { comparisons: sides.iter().map(comparison).collect(), last_changes, explained, differences: Vec::new() }
    }

    /// Compares what each server did in a step with what WordPress did. Returns whether the trace can go on.
    pub(super) fn check(&mut self, source: &Value, step: &Step, expected: &Observed, received: &[Observed]) -> bool {
        let mut goes_on = true;
        let request = source.to_string();
        let (own, wordpress) = &mut self.last_changes;
        for (((engine, comparison), received), own) in self.comparisons.iter_mut().zip(received).zip(own) {
            let response = comparison
                .difference(step, &expected.response, &received.response)
                .or_else(|| order::of_values(&expected.response.body, &received.response.body, ""));
            let rows = comparison.rows(
                &without_kept_times(&expected.rows, &received.rows, own),
                &without_kept_times(&received.rows, &expected.rows, wordpress),
            );
            own.record(&received.rows);
            goes_on &= rows.is_none();
            let after = if expected.response.status >= 400 { "rows after an error" } else { "rows" };
            let rows = rows.map(|text| format!("{after} {text}\n{}", both(&expected.rows, &received.rows)));
            for text in [response, rows].into_iter().flatten() {
                let reason = self.explained.reason(&request, &text).map(str::to_owned);
                let request = request.clone();
                self.differences.push(Difference { engine, step: step.name.clone(), request, text, reason });
            }
        }
        wordpress.record(&expected.rows);
        goes_on
    }

    /// All differences.
    pub(super) fn finish(self) -> Vec<Difference> {
        self.differences
    }
}

/// The changes of the tables that differ.
fn both(expected: &Value, received: &Value) -> String {
    let only = |value: &Value, other: &Value| {
        let tables = value.as_object().into_iter().flatten().filter(|(name, rows)| other.get(name) != Some(rows));
        let text =
            Value::from(tables.map(|(name, rows)| (name.clone(), rows.clone())).collect::<Map<_, _>>()).to_string();
        text.chars().take(SHOWN).collect::<String>()
    };
    format!("    expected {}\n    got      {}", only(expected, received), only(received, expected))
}
