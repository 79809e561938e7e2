//! Kills a server that backs up continuously, to a folder or a bucket, and restores what its backup has: right after each kill, as if
//! the disk was lost, and at random times. A restore is killed, too.

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

use super::{MARK, RECOVERY, Run, WRITERS, content, pause, target::Target};

/// The most that may be lost with the disk.
const MAX_LOSS: u64 = 1_000;

/// Snapshots are taken more often than by default, so that kills interrupt them.
const SNAPSHOT_INTERVAL: (&str, &str) = ("SVC_BACKUP_SNAPSHOT_INTERVAL", "3s");

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
pub(crate) fn on_backup(program: &Path, target: &Target, kills: usize, points: usize) -> Result<usize> {
    let site = &Site { run: Run::new(program, None)?, target };
    let log = Arc::new(Log::default());
    // Of each kill, the age of the oldest write that was lost.
    let (mut losses, mut n_wrong, mut n_late) = (Vec::new(), 0, 0);
    let begin = now();
    for round in 0..kills {
        let mut server = site.start()?;
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> =
            (0..WRITERS)
                .map(|_| {
                    let (log, stop) = (Arc::clone(&log), Arc::clone(&stop));
                    let (address, credentials) = (server.address().to_owned(), site.run.credentials.clone());
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
        if round == 0 && !site.has_snapshot()? {
            continue;
        }
        // As if the disk was lost with the server.
        let found = site.restore("latest", round % 3 == 0)?;
        let writes = log.writes();
        let lost = writes.iter().filter(|write| !found.contains_key(&write.n));
        let age = lost.map(|write| killed.saturating_sub(write.acknowledged)).max().unwrap_or(0);
        n_late += usize::from(age > MAX_LOSS);
        losses.push(age);
        n_wrong += found.values().filter(|is_whole| !**is_whole).count();
    }
    let last = (log.writes().len(), site.start()?);
    // A last write, after which everything before it is to be copied.
    log.write(last.1.address(), &site.run.credentials)?;
    let begun = Instant::now();
    while site.restore("latest", false)?.len() <= last.0 {
        ensure!(begun.elapsed() < RECOVERY, "the backup does not reach the last write");
        std::thread::sleep(Duration::from_millis(200));
    }
    drop(last);
    let (end, writes) = (now(), log.writes());
    let mut n_restored = 0;
    for point in 0..points {
        let random = (point as u64 + 1).wrapping_mul(6_364_136_223_846_793_005) >> 24;
        let time = begin + random % (end - begin);
        let found = match site.restore(&text(time)?, point % 20 == 0) {
            Err(error) if format!("{error:#}").contains("begins after") => continue,
            found => found?,
        };
        n_restored += 1;
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
    let mut verify = site.command();
    let verified = verify.args(["backup", "verify", "--from", &target.from]).output().context("cannot verify")?;
    ensure!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    losses.sort_unstable();
    let (median, largest) = (losses.get(losses.len() / 2).unwrap_or(&0), losses.last().unwrap_or(&0));
    say(&format!(
        "Backup to {}: {kills} kills, {} writes acknowledged, at most {largest} ms lost with the disk (median {median} ms, {n_late} \
         times more than {MAX_LOSS} ms); {n_restored} points in time, {n_wrong} wrong writes",
        target.from,
        writes.len()
    ))?;
    Ok(n_wrong + n_late)
}

/// The same with a process that has other writers beside it, and a destination that is slow and fails.
pub(crate) fn with_others(kills: usize, points: usize) -> Result<usize> {
    let mut test = Command::new(env!("CARGO"));
    test.args(["test", "--quiet", "-p", "svc-backup", "--test", "kills", "--", "every_point"]);
    test.env("SVC_BACKUP_KILLS", kills.to_string()).env("SVC_BACKUP_POINTS", points.to_string());
    let status = test.status().context("cannot run the test")?;
    Ok(usize::from(!status.success()))
}

/// A site and its backup.
struct Site<'t> {
    run: Run,
    target: &'t Target,
}

impl Site<'_> {
    fn command(&self) -> Command {
        let mut command = self.run.command();
        command.envs(self.target.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    fn start(&self) -> Result<Server> {
        let mut command = self.command();
        command.env(SNAPSHOT_INTERVAL.0, SNAPSHOT_INTERVAL.1);
        server::serve(command, self.run.folder.path())
    }

    fn has_snapshot(&self) -> Result<bool> {
        let mut verify = self.command();
        let output =
            verify.args(["backup", "verify", "--from", &self.target.from]).output().context("cannot verify")?;
        Ok(output.status.success())
    }

    /// Restores a time, and returns the posts: whether each is whole. If `interrupt`, the first attempt is killed.
    fn restore(&self, at: &str, interrupt: bool) -> Result<BTreeMap<u64, bool>> {
        let to = self.run.folder.path().join("restored");
        drop(std::fs::remove_dir_all(&to));
        let command = || {
            let mut command = self.command();
            command.args(["restore", "--from", &self.target.from, "--at", at, "--to", "restored"]);
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
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// A time as `--at` takes it.
fn text(milliseconds: u64) -> Result<String> {
    let time = i64::try_from(milliseconds).ok().and_then(DateTime::from_timestamp_millis).context("no time")?;
    Ok(time.to_rfc3339_opts(SecondsFormat::Millis, true))
}
