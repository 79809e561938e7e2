//! The instructions of a request, which valgrind counts: they vary less than times on a machine with other work. They leave out what the system
//! does for the server, and how long the processor waits for memory.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use svc_brand::Brand;

use super::{
    Options,
    load::Until,
    measure::{Row, Value, median},
    rows::{KINDS, Kind, N_WRITERS},
    site::{N_POSTS, Svc},
};

/// Requests of each kind that fill caches: one for each post.
const FIRST: u64 = N_POSTS;

/// Counts of each kind, and requests per count. Jobs in the background are counted as well, so the median counts.
const COUNTS: usize = 7;
const COUNTED: u64 = 20;

/// Longest time until the counts are written.
const PATIENCE: Duration = Duration::from_secs(30);

/// Another build over this one.
pub(super) fn rows(options: &Options) -> Result<Vec<Row>> {
    let name = "instructions of another build over this one";
    let Some(other) = &options.baseline else { return Ok(vec![Row::skipped(name, "needs --baseline PROGRAM")]) };
    if Command::new("callgrind_control").arg("--version").output().is_err() {
        return Ok(vec![Row::skipped(name, "valgrind is not installed")]);
    }
    let (ours, base) = (count(&options.program)?, count(&other.canonicalize()?)?);
    let row = |((name, _), (ours, base)): (&(&str, Kind), (f64, f64))| {
        let detail = format!("{base:.0} over {ours:.0}");
        Row::new(
            format!("{name}, instructions of another build over this"),
            Value::Ratio(base / ours, Some(0.97)),
            detail,
        )
    };
    Ok(KINDS.iter().zip(ours.into_iter().zip(base)).map(row).collect())
}

/// The instructions of a request of each kind.
fn count(program: &Path) -> Result<Vec<f64>> {
    let program = program.to_owned();
    let command = move || {
        let mut command = Command::new("valgrind");
        // No settings of a server, but what valgrind and `callgrind_control` need to find each other.
        let kept = ["PATH", "TMPDIR"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        command.env_clear().envs(kept);
        command.args(["--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=counts.%p"]).arg(&program);
        command
    };
    let svc = Svc::start_as(command, Brand::default())?;
    let (ids, session) = (svc.site.fill(N_WRITERS)?, svc.session()?);
    let mut files = (1..).map(|n| svc.folder().join(format!("counts.{}.{n}", svc.server.pid())));
    KINDS
        .iter()
        .map(|(name, kind)| {
            let request = |n| kind(&svc.site, &ids, &session, n);
            let send = |n| -> Result<()> {
                let outcome = svc.site.clients(1, &request).run(Until::Requests(n))?;
                ensure!(outcome.n_failed == 0, "{name}: {} of {n} requests failed", outcome.n_failed);
                Ok(())
            };
            send(FIRST)?;
            control(&svc, &["--instr=on"])?;
            let mut counts = Vec::new();
            for file in files.by_ref().take(COUNTS) {
                send(COUNTED)?;
                control(&svc, &["--dump"])?;
                counts.push(total(&file)? / COUNTED as f64);
            }
            control(&svc, &["--instr=off"])?;
            Ok(median(counts))
        })
        .collect()
}

/// Sends a command to valgrind.
fn control(svc: &Svc, arguments: &[&str]) -> Result<()> {
    let out = Command::new("callgrind_control").args(arguments).arg(svc.server.pid().to_string()).output()?;
    ensure!(out.status.success(), "callgrind_control: {}", String::from_utf8_lossy(&out.stderr));
    Ok(())
}

/// The number of instructions in a file of counts. The counter begins anew with each file.
fn total(file: &Path) -> Result<f64> {
    let start = Instant::now();
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(total) = text.lines().find_map(|line| line.strip_prefix("totals: ")) {
            return total.trim().parse().with_context(|| format!("no number: {total}"));
        }
        ensure!(start.elapsed() < PATIENCE, "valgrind has written no counts to {}", file.display());
        std::thread::sleep(Duration::from_millis(50));
    }
}
