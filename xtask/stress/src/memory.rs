//! A burst of clients with all kinds of requests: memory and threads stay within bounds, and every request is served.

use std::time::Duration;

use anyhow::Result;
use xtask_bench::resources::{self, Phases};

use crate::report::{Effort, Report};

/// Largest resident memory after the burst, in bytes. Programs without optimization are larger.
const MAX_MEMORY: u64 = 250 << 20;

pub(crate) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let program = effort.program()?;
    let phases = Phases {
        mixed: 16,
        burst: if effort.long { 200 } else { 64 },
        n_requests: if effort.long { 10_000 } else { 600 },
        pause: Duration::from_secs(3),
    };
    let measured = resources::measure(&program, &phases)?;
    let max_threads = 4 * std::thread::available_parallelism().map_or(1, usize::from) as u64 + 16;
    let mut violations = Vec::new();
    if measured.after_burst > MAX_MEMORY {
        violations.push(format!("{} MB of memory after the burst", measured.after_burst >> 20));
    }
    if measured.most_threads > max_threads {
        violations.push(format!("{} threads", measured.most_threads));
    }
    Ok(vec![Report {
        case: format!("memory: {} clients", phases.burst),
        attempts: measured.n_requests,
        lost: measured.n_failed,
        peak_memory: Some(measured.mixed),
        violations,
        ..Report::default()
    }])
}
