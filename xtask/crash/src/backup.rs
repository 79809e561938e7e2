//! Kills a server that backs up continuously, and restores what its backup has: right after each kill, as if the disk was lost, and
//! at random times. A restore is killed, too.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail, ensure};
use chrono::{DateTime, SecondsFormat};
use serde_json::json;
use svc_brand::Brand;
use svc_store::{DatabaseUrl, Store, StoreConfig, posts};
use xtask_support::{
    say,
    server::{self, Server, send},
};

use super::{MARK, RECOVERY, Run, WRITERS, content, pause};

/// The most that may be lost with the disk.
const MAX_LOSS: u64 = 1_000;

/// How the server backs up. Snapshots are taken more often than by default, so that kills interrupt them.
const SETTINGS: [(&str, &str); 2] = [("SVC_BACKUP_TO", "backup"), ("SVC_BACKUP_SNAPSHOT_INTERVAL", "3s")];

/// A write that was acknowledged, with times in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Write {
    n: u64,
    begun: u64,
    acknowledged: u64,
}

/// What the writers have done.
#[derive(Default)]
struct Log {
    writes: Mutex<Vec<Write>>,
    next: AtomicU64,
}

impl Log {
    fn writes(&self) -> Vec<Write> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn write(&self, address: &str, credentials: &str) -> Result<()> {
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        let begun = now();
        let body = json!({"title": format!("{MARK} {n}"), "content": content(n), "status": "publish"});
        let path = format!("/?rest_route=/{}/posts", Brand::default().namespace());
        let response = send(address, "POST", &path, credentials, Some(&body))?;
        ensure!(response.status == 201, "{}: {:.300}", response.status, response.body);
        let write = Write { n, begun, acknowledged: now() };
        self.writes.lock().unwrap_or_else(PoisonError::into_inner).push(write);
        Ok(())
    }
}

/// Kills the server `kills` times and restores `points` times. Returns the number of failures.
pub(crate) fn on_backup(program: &Path, kills: usize, points: usize) -> Result<usize> {
    let run = Run::new(program, None)?;
    let log = Arc::new(Log::default());
    // Of each kill, the age of the oldest write that was lost.
    let (mut losses, mut n_wrong) = (Vec::new(), 0);
    let begin = now();
    for round in 0..kills {
        let mut server = start(&run)?;
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> =
            (0..WRITERS)
                .map(|_| {
                    let (log, stop) = (Arc::clone(&log), Arc::clone(&stop));
                    let (address, credentials) = (server.address().to_owned(), run.credentials.clone());
                    std::thread::spawn(move || {
                        while !stop.load(Ordering::Relaxed) && log.write(&address, &credentials).is_ok() {}
                    })
                })
                .collect();
        let (started, before) = (Instant::now(), log.writes().len());
        while log.writes().len() == before {
            ensure!(started.elapsed() < RECOVERY, "no write was acknowledged");
            std::thread::sleep(Duration::from_millis(1));
        }
        // Up to three seconds, so that snapshots and parts of the log are interrupted.
        std::thread::sleep(pause(round) * 6);
        server.kill();
        let killed = now();
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().for_each(|writer| drop(writer.join()));
        if round == 0 && !has_snapshot(&run)? {
            continue;
        }
        // As if the disk was lost with the server.
        let found = restore(&run, "latest", round % 3 == 0)?;
        let writes = log.writes();
        let lost = writes.iter().filter(|write| !found.contains_key(&write.n));
        let age = lost.map(|write| killed.saturating_sub(write.acknowledged)).max().unwrap_or(0);
        n_wrong += usize::from(age > MAX_LOSS);
        losses.push(age);
        n_wrong += found.values().filter(|is_whole| !**is_whole).count();
    }
    let last = (log.writes().len(), start(&run)?);
    // A last write, after which everything before it is to be copied.
    log.write(last.1.address(), &run.credentials)?;
    let begun = Instant::now();
    while restore(&run, "latest", false)?.len() <= last.0 {
        ensure!(begun.elapsed() < RECOVERY, "the backup does not reach the last write");
        std::thread::sleep(Duration::from_millis(200));
    }
    drop(last);
    let (end, writes) = (now(), log.writes());
    for point in 0..points {
        let random = (point as u64 + 1).wrapping_mul(6_364_136_223_846_793_005) >> 24;
        let time = begin + random % (end - begin);
        let found = match restore(&run, &text(time)?, point % 20 == 0) {
            Err(error) if format!("{error:#}").contains("begins after") => continue,
            found => found?,
        };
        for write in &writes {
            let is_there = found.contains_key(&write.n);
            let is_missing = !is_there && write.acknowledged <= time;
            let is_early = is_there && write.begun > time;
            if is_missing || is_early {
                say(&format!("at {time}: {write:?} is {}", if is_missing { "missing" } else { "there" }))?;
                n_wrong += 1;
            }
        }
    }
    let mut verify = run.command();
    let verified = verify.args(["backup", "verify", "--from", "backup"]).output().context("cannot verify")?;
    ensure!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    losses.sort_unstable();
    let (median, largest) = (losses.get(losses.len() / 2).unwrap_or(&0), losses.last().unwrap_or(&0));
    say(&format!(
        "Backup: {kills} kills, {} writes acknowledged, at most {largest} ms lost with the disk (median {median} ms); \
         {points} points in time, {n_wrong} wrong writes or losses",
        writes.len()
    ))?;
    Ok(n_wrong)
}

/// The same with a process that has other writers beside it, and a destination that is slow and fails.
pub(crate) fn with_others(kills: usize, points: usize) -> Result<usize> {
    let mut test = Command::new(env!("CARGO"));
    test.args(["test", "--quiet", "-p", "svc-backup", "--test", "kills", "--", "every_point"]);
    test.env("SVC_BACKUP_KILLS", kills.to_string()).env("SVC_BACKUP_POINTS", points.to_string());
    let status = test.status().context("cannot run the test")?;
    Ok(usize::from(!status.success()))
}

fn start(run: &Run) -> Result<Server> {
    let mut command = run.command();
    command.envs(SETTINGS);
    server::serve(command, run.folder.path())
}

fn has_snapshot(run: &Run) -> Result<bool> {
    let mut verify = run.command();
    let output = verify.args(["backup", "verify", "--from", "backup"]).output().context("cannot verify")?;
    Ok(output.status.success())
}

/// Restores a time, and returns the posts: whether each is whole. If `interrupt`, the first attempt is killed.
fn restore(run: &Run, at: &str, interrupt: bool) -> Result<BTreeMap<u64, bool>> {
    let to = run.folder.path().join("restored");
    drop(std::fs::remove_dir_all(&to));
    let command = || {
        let mut command = run.command();
        command.args(["restore", "--from", "backup", "--at", at, "--to", "restored"]);
        command
    };
    if interrupt {
        let mut child = command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("cannot restore")?;
        std::thread::sleep(Duration::from_millis(30));
        drop(child.kill());
        let is_done = child.wait().context("cannot wait")?.success();
        ensure!(to.exists() == is_done, "an interrupted restore left a folder");
        drop(std::fs::remove_dir_all(&to));
    }
    let output = command().output().context("cannot restore")?;
    if !output.status.success() {
        bail!("{at}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let store = Store::open(&StoreConfig::new(DatabaseUrl::Sqlite(to.join("site.db"))))?;
    let rows = store.read_blocking(|db| {
        let ids = posts::query(db, &posts::PostQuery::published("post", 1).limit(None))?.ids;
        posts::get_many(db, &ids)
    })?;
    let number = |title: &str| title.strip_prefix(MARK)?.trim().parse().ok();
    Ok(rows.iter().filter_map(|post| number(&post.title).map(|n| (n, post.content == content(n)))).collect())
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// A time as `--at` takes it.
fn text(milliseconds: u64) -> Result<String> {
    let time = i64::try_from(milliseconds).ok().and_then(DateTime::from_timestamp_millis).context("no time")?;
    Ok(time.to_rfc3339_opts(SecondsFormat::Millis, true))
}
