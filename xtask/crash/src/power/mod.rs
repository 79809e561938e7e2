//! Power failures: what a server has acknowledged must be there after the power has failed at any time.
//!
//! A server that backs up continuously is run under strace, which records every call that changes a file, and clients write to it.
//! It is killed and stopped between. Afterwards the calls are repeated on a model of a disk ([`disk`]), and the power fails before and after
//! each sync, and at random times between, or at some of these moments: what was not synced is lost, kept or torn. The server's code and
//! the server itself open what is left ([`check`]): the database and the files of uploads have everything that was acknowledged, searches
//! with the index find what is there, and the backup can be restored, has what was acknowledged by the time that it has reached, and
//! continues.

mod check;
mod disk;
mod replay;
mod trace;
mod writes;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use xtask_support::{
    say,
    server::{self, Server},
};

use self::{
    disk::{Loss, Random},
    replay::Replay,
    trace::{Action, Call},
    writes::{Log, Writer},
};
use crate::RECOVERY;

/// Number of parallel clients.
const CLIENTS: u64 = 3;

/// Number of times that the server is started and killed or stopped.
const SESSIONS: usize = 4;

/// The server is started on what every such failure has left.
const SERVED: usize = 50;

/// The largest number of faults that are printed.
const SHOWN: usize = 10;

/// How the server runs: snapshots are taken and the search index is used early.
const SETTINGS: [(&str, &str); 3] =
    [("SVC_BACKUP_TO", "backup"), ("SVC_BACKUP_SNAPSHOT_INTERVAL", "10s"), ("SVC_SEARCH_INDEX_MIN_POSTS", "1")];

/// The program of a site.
struct Site {
    program: PathBuf,
    strace: PathBuf,
}

impl Site {
    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(folder).env_clear().envs(SETTINGS);
        command
    }

    fn start(&self, folder: &Path) -> Result<Server> {
        server::serve(self.command(folder), folder)
    }
}

/// What was recorded.
struct Recorded {
    /// The calls of each process, one after the other.
    processes: Vec<Vec<Call>>,
    log: Log,
    credentials: String,
    /// When the credentials were valid, in microseconds since 1970.
    valid_from: u64,
}

/// Lets the power fail while there are so many writes, at about `failures` moments, or at all. Returns the number of failures with a fault.
pub(crate) fn on_power_failure(program: &Path, writes: usize, failures: Option<u64>) -> Result<usize> {
    let Some(strace) = trace::strace() else {
        say("skipped: strace is not installed")?;
        return Ok(0);
    };
    let site = Site { program: program.to_owned(), strace };
    // What is synced is a matter of the recording, so that nothing needs to wait for a disk.
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(parent).context("cannot create a temporary folder")?;
    let (data, recordings) = (folder.path().join("site"), folder.path().join("recordings"));
    for folder in [&data, &recordings] {
        fs::create_dir(folder)?;
    }
    let recorded = record(&site, &data, &recordings, writes)?;
    // What is left has the same path, as it has after a power failure.
    fs::rename(&data, folder.path().join("written"))?;
    replay(&site, &data, &recorded, failures)
}

/// Runs the server, and writes to it.
fn record(site: &Site, data: &Path, recordings: &Path, writes: usize) -> Result<Recorded> {
    let (log, mut processes, mut line) = (Log::default(), Vec::new(), 0);
    let mut finish = |recording: &Path| -> Result<()> {
        trace::wait(recording)?;
        let calls = trace::read(recording, line)?;
        line = calls.last().map_or(line, |call| call.ended + 1);
        processes.push(calls);
        Ok(())
    };
    let start = |recording: &Path| {
        let mut command = trace::recorded(&site.strace, &site.command(data), recording);
        command.stdin(Stdio::null());
        // The log of the server is not part of the site.
        server::serve(command, recordings)
    };
    let first = recordings.join("first");
    drop(start(&first)?);
    finish(&first)?;
    let created = recordings.join("credentials");
    let credentials = server::credentials(trace::recorded(&site.strace, &site.command(data), &created))?;
    let valid_from = writes::now();
    finish(&created)?;
    for session in 0..SESSIONS {
        let recording = recordings.join(session.to_string());
        let mut server = start(&recording)?;
        write(&log, &server, &credentials, session as u64, (session + 1) * writes / SESSIONS)?;
        if session % 2 == 0 {
            server.kill();
        } else {
            let status = Command::new("kill").arg(server.pid().to_string()).status().context("cannot run kill")?;
            ensure!(status.success(), "the server has ended by itself");
        }
        finish(&recording)?;
    }
    Ok(Recorded { processes, log, credentials, valid_from })
}

/// Writes until a number of writes was acknowledged.
fn write(log: &Log, server: &Server, credentials: &str, session: u64, until: usize) -> Result<()> {
    let (stop, begun) = (AtomicBool::new(false), Instant::now());
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let random = Random(session * CLIENTS + client);
            let mut writer = Writer { log, address: server.address(), credentials, random, posts: Vec::new() };
            let stop = &stop;
            scope.spawn(move || while !stop.load(Ordering::Relaxed) && writer.write().is_ok() {});
        }
        let mut last = (log.acknowledged(), begun);
        while last.0 < until && last.1.elapsed() < RECOVERY {
            std::thread::sleep(Duration::from_millis(5));
            let n = log.acknowledged();
            if n > last.0 {
                last = (n, Instant::now());
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    ensure!(log.acknowledged() >= until, "writes are not acknowledged");
    Ok(())
}

/// Numbers for the result.
#[derive(Default)]
struct Tally {
    failures: usize,
    served: usize,
    restored: usize,
    with_index: usize,
    lag: u64,
    faulty: usize,
}

/// Repeats the calls, and lets the power fail before and after each sync and between: about `wanted` times, or at each of these moments.
fn replay(site: &Site, folder: &Path, recorded: &Recorded, wanted: Option<u64>) -> Result<usize> {
    let mut replay = Replay::new(folder)?;
    let (mut random, mut chosen, mut tally) = (Random(1), Random(2), Tally::default());
    let all = recorded.processes.iter().flatten().filter(|call| matches!(call.action, Action::Sync(_))).count();
    let (mut n_syncs, mut n_moments) = (0, 0_usize);
    for calls in &recorded.processes {
        replay.close_all();
        let mut calls = calls.iter().peekable();
        while let Some(call) = calls.next() {
            replay.apply(call).with_context(|| format!("{:?}", call.action))?;
            let is_sync = replay.is_sync(call);
            n_syncs += usize::from(is_sync);
            let is_before = calls.peek().is_some_and(|next| replay.is_sync(next));
            let is_write = matches!(call.action, Action::Write { .. } | Action::Rename { .. } | Action::Remove(_));
            if is_sync || is_before || is_write && random.below(20) == 0 {
                n_moments += 1;
                // There are two moments for each sync, and a few more.
                if wanted.is_some_and(|wanted| chosen.below(2 * all as u64) >= wanted) {
                    continue;
                }
                let losses = [Loss::All, Loss::Some, Loss::Some, Loss::Content, Loss::Nothing];
                let at = usize::try_from(random.below(losses.len() as u64))?;
                let loss = losses.get(at).copied().unwrap_or(Loss::All);
                fail(site, folder, recorded, (&replay, call), loss, &mut random, &mut tally)?;
            }
        }
    }
    say(&format!(
        "Power: {} writes acknowledged, {n_syncs} syncs; the power failed at {} of {n_moments} moments: {} with a fault. The backup was restored {} \
         times, and lacked at most the last {} ms; the search index was used {} times; the server was started {} times",
        recorded.log.acknowledged(),
        tally.failures,
        tally.faulty,
        tally.restored,
        tally.lag / 1_000,
        tally.with_index,
        tally.served,
    ))?;
    Ok(tally.faulty)
}

/// Lets the power fail after a call, and checks what is left.
fn fail(
    site: &Site,
    folder: &Path,
    recorded: &Recorded,
    (replay, call): (&Replay, &Call),
    loss: Loss,
    random: &mut Random,
    tally: &mut Tally,
) -> Result<()> {
    drop(fs::remove_dir_all(folder));
    fs::create_dir(folder)?;
    replay.disk.write_to(folder, loss, random)?;
    let mut checked = check::check(folder, &recorded.log, call.time);
    tally.failures += 1;
    tally.restored += usize::from(checked.has_backup);
    tally.with_index += usize::from(checked.has_index);
    tally.lag = tally.lag.max(checked.lag);
    if !checked.has_site || tally.failures.is_multiple_of(SERVED) {
        tally.served += 1;
        let credentials = Some(recorded.credentials.as_str()).filter(|_| recorded.valid_from <= call.time);
        if let Err(error) = check::serve(site, folder, &recorded.log, credentials) {
            checked.faults.push(format!("the server: {error:#}"));
        }
    }
    if !checked.faults.is_empty() {
        tally.faulty += 1;
        if tally.faulty <= SHOWN {
            say(&format!("failure {} ({loss:?}) after {:.200}:", tally.failures, format!("{:?}", call.action)))?;
            for fault in checked.faults.iter().take(3) {
                say(&format!("    {fault}"))?;
            }
        }
    }
    Ok(())
}
