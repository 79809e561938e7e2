//! Comparisons in alternating rounds, and the rows of the table.

use std::time::Duration;

use anyhow::{Result, ensure};
use xtask_support::server::Server;

use super::{
    Options,
    load::{Clients, Until},
};

/// A row of the table.
pub(super) struct Row {
    name: String,
    /// The measured value and its target; `None` if it was not measured.
    value: Option<Value>,
    /// Figures behind the value, or why it was not measured.
    detail: String,
}

/// A measured value, with its target.
pub(super) enum Value {
    /// At least this ratio, if there is a target.
    Ratio(f64, Option<f64>),
    /// At most this many, in the unit.
    Most(f64, f64, &'static str),
}

impl Row {
    pub(super) fn new(name: impl Into<String>, value: Value, detail: impl Into<String>) -> Self {
        Row { name: name.into(), value: Some(value), detail: detail.into() }
    }

    pub(super) fn ratio(name: impl Into<String>, comparison: &Comparison, target: Option<f64>) -> Self {
        Row::new(name, Value::Ratio(comparison.ratio, target), comparison.detail())
    }

    pub(super) fn skipped(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Row { name: name.into(), value: None, detail: reason.into() }
    }

    pub(super) fn is_missed(&self) -> bool {
        match self.value {
            Some(Value::Ratio(value, Some(target))) => value < target,
            Some(Value::Most(value, target, _)) => value > target,
            _ => false,
        }
    }

    pub(super) fn line(&self) -> String {
        let (measured, target) = match &self.value {
            Some(Value::Ratio(value, target)) => {
                (ratio_text(*value), target.map_or(String::new(), |target| format!("≥ {target}")))
            }
            Some(Value::Most(value, target, unit)) => (format!("{value:.0} {unit}"), format!("≤ {target} {unit}")),
            None => ("–".to_owned(), String::new()),
        };
        let mark = if self.is_missed() { "missed  " } else { "        " };
        format!("{:58} {measured:>9} {target:>9} {mark}{}", self.name, self.detail)
    }
}

fn ratio_text(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}") } else { format!("{ratio:.0}") }
}

/// A load, and the process that serves it.
pub(super) struct Load<'a> {
    pub(super) clients: Clients<'a>,
    /// The process whose CPU time is counted.
    pub(super) server: Option<&'a Server>,
}

/// The first load over the second: medians of all rounds.
pub(super) struct Comparison {
    pub(super) ratio: f64,
    per_second: [f64; 2],
    /// CPU time of the server per request, in microseconds.
    cpu: [Option<f64>; 2],
}

impl Comparison {
    /// How much longer a request of the first load takes than one of the second, in milliseconds. Both have one client.
    pub(super) fn added_ms(&self) -> f64 {
        let [ours, base] = self.per_second.map(|rate| 1_000.0 / rate);
        ours - base
    }

    pub(super) fn detail(&self) -> String {
        let side = |n: usize| {
            let cpu = self.cpu[n].map_or(String::new(), |cpu| format!(" ({cpu:.0} µs CPU)"));
            format!("{:.0}/s{cpu}", self.per_second[n])
        };
        format!("{} over {}", side(0), side(1))
    }
}

/// Compares two loads. A round of the second lasts `slower` times as long, for servers with few responses per second.
pub(super) fn compare(options: &Options, ours: &Load<'_>, base: &Load<'_>, slower: u32) -> Result<Comparison> {
    let loads = [(ours, options.round), (base, options.round * slower)];
    let (mut rates, mut cpu) = ([Vec::new(), Vec::new()], [Duration::ZERO; 2]);
    let mut n_requests = [0; 2];
    for round in 0..=options.n_rounds {
        for (side, (load, duration)) in loads.iter().enumerate() {
            let before = load.server.and_then(Server::cpu_time);
            let outcome = load.clients.run(Until::Elapsed(*duration))?;
            ensure!(outcome.n_failed == 0, "{} of {} requests failed", outcome.n_failed, outcome.n_requests);
            // The first round fills caches.
            if round == 0 {
                continue;
            }
            rates[side].push(outcome.per_second());
            n_requests[side] += outcome.n_requests;
            if let (Some(before), Some(after)) = (before, load.server.and_then(Server::cpu_time)) {
                cpu[side] += after - before;
            }
        }
    }
    let ratios = rates[0].iter().zip(&rates[1]).map(|(ours, base)| ours / base).collect();
    let per_request = |side: usize| {
        loads[side].0.server.map(|_| cpu[side].as_secs_f64() * 1_000_000.0 / n_requests[side].max(1) as f64)
    };
    let cpu = [per_request(0), per_request(1)];
    let [ours, base] = rates;
    Ok(Comparison { ratio: median(ratios), per_second: [median(ours), median(base)], cpu })
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_compared_with_their_targets() {
        let row = |value| Row::new("a row", value, "");
        assert!(row(Value::Ratio(0.84, Some(0.85))).is_missed());
        assert!(!row(Value::Ratio(0.85, Some(0.85))).is_missed());
        assert!(!row(Value::Ratio(0.1, None)).is_missed());
        assert!(row(Value::Most(41.0, 40.0, "MB")).is_missed());
        assert!(!Row::skipped("a row", "no WordPress").is_missed());
        assert_eq!((ratio_text(0.854), ratio_text(312.4)), ("0.85".to_owned(), "312".to_owned()));
    }

    #[test]
    fn medians() {
        assert_eq!((median(vec![3.0, 1.0, 2.0]), median(Vec::new())), (2.0, 0.0));
    }
}
