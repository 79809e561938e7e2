//! `cargo xtask cluster`: three servers, each with a node of a Galera cluster, behind nginx, under mixed load, while every process is
//! killed, stopped with SIGSTOP and, if it is a node, split off in turn.
//!
//! It checks that no acknowledged write is lost, that whoever has written reads it on any server, that revoked passwords and
//! hidden posts hold at once on all of them, that a node without the majority gives 503, and that one server publishes what is
//! scheduled.

mod faults;
mod fleet;
mod load;

use std::{
    path::PathBuf,
    sync::atomic::Ordering::Relaxed,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use xtask_support::{say, server};

use fleet::Fleet;
use load::Load;

/// Duration of the load with `--long`.
const LONG: Duration = Duration::from_hours(1);

/// How much more memory a server may use at the end than two thirds through a run with `--long`, in percent.
const MAX_GROWTH: u64 = 5;

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Duration of the load. Each process fails about once in three minutes.
    #[arg(long, default_value_t = 240)]
    seconds: u64,
    /// Run for an hour.
    #[arg(long)]
    long: bool,
    /// Build and run the server with optimization.
    #[arg(long)]
    release: bool,
    /// Run this program instead of building one.
    #[arg(long, value_name = "FILE", conflicts_with = "release")]
    program: Option<PathBuf>,
}

/// Runs the cluster.
pub(crate) fn run(options: &Options) -> Result<()> {
    let duration = if options.long { LONG } else { Duration::from_secs(options.seconds) };
    let program = match &options.program {
        Some(program) => program.canonicalize().with_context(|| format!("{}", program.display()))?,
        None => server::build(None, options.release)?,
    };
    let Some(fleet) = Fleet::start(&program)? else {
        return say("skipped: MariaDB, Galera or nginx is not installed");
    };
    let load = Load::new(&fleet)?;
    let end = Instant::now() + duration;
    let kept = if options.long { end - duration / 2 } else { end };
    let mut memory = Vec::new();
    let n_faults = thread::scope(|scope| -> Result<u64> {
        load.start(scope);
        let faults = faults::run(&fleet, &load, (kept, end), &mut memory);
        load.ends.store(true, Relaxed);
        faults
    })?;
    fleet.wait_until_healthy()?;
    load.check_all()?;
    let counts = &load.counts;
    let of = |n: &std::sync::atomic::AtomicU64| n.load(Relaxed);
    say(&format!("{} s, {n_faults} faults, {} requests", duration.as_secs(), of(&counts.requests)))?;
    say(&format!("acknowledged writes {:7}  lost {}", of(&counts.writes), of(&counts.lost)))?;
    say(&format!("read-your-writes    {:7}  violations {}", of(&counts.own_reads), of(&counts.own_stale)))?;
    say(&format!("revoked rights      {:7}  violations {}", of(&counts.revoked), of(&counts.revoked_stale)))?;
    say(&format!("minority reads      {:7}  not 503 {}", of(&counts.minority), of(&counts.minority_wrong)))?;
    say(&format!("scheduled posts     {:7}  not published {}", of(&counts.scheduled), of(&counts.unpublished)))?;
    say(&format!("requests without a useful response {}, slowest {} ms", of(&counts.failed), of(&counts.slowest_ms)))?;
    let mut wrong = of(&counts.lost) + of(&counts.own_stale) + of(&counts.revoked_stale);
    wrong += of(&counts.minority_wrong) + of(&counts.unpublished);
    for (n, (before, last)) in fleet::growth(&memory).into_iter().enumerate() {
        say(&format!("memory of server {n}: {} MiB after two thirds, {} MiB at the end", before >> 20, last >> 20))?;
        wrong += u64::from(last * 100 > before * (100 + MAX_GROWTH));
    }
    for violation in load.violations() {
        say(&format!("    {violation}"))?;
    }
    if wrong > 0 || of(&counts.writes) == 0 || n_faults == 0 {
        bail!("{wrong} violations");
    }
    Ok(())
}
