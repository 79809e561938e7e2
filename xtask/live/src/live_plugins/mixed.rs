//! Reads of many callers at a constant rate, with few writes and then with many: how many are answered without PHP, and are all of them right?
//!
//! A response is compared in two ways. No version of an object in it may be older than the last one that was acknowledged before the request
//! (`writes.rs`). And it must equal WordPress's own response, if nothing was written in between: WordPress renders that once for each caller and
//! URL, and each replay until the next write is compared with it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread::{scope, sleep},
    time::{Duration, Instant},
};

use anyhow::Result;
use xtask_support::{
    gateway::{Gateway, is_forwarded},
    say,
    server::Response,
};

use crate::differences::difference;

use super::{
    traffic::{Random, Traffic, callers},
    writes::Writer,
};

/// Parallel readers: so many that those who wait for WordPress leave enough others.
const READERS: u64 = 256;

/// Renderings for comparisons at the same time: they occupy WordPress, but no reader.
const REFERENCES: usize = 1;

/// Reads that front ends send often.
const COMMON: [&str; 14] = [
    "",
    "wp/v2/posts",
    "wp/v2/posts?per_page=5&_embed=1",
    "wp/v2/posts?per_page=3&page=2&_fields=id,title,link",
    "wp/v2/posts?search=a",
    "wp/v2/pages?per_page=20",
    "wp/v2/categories",
    "wp/v2/tags?per_page=50",
    "wp/v2/comments",
    "wp/v2/users",
    "wp/v2/media?per_page=5",
    "wp/v2/search?search=e",
    "wp/v2/types",
    "wp/v2/taxonomies",
];

/// Failures that are printed.
const SHOWN: usize = 20;

/// A part of the run.
struct Phase {
    name: &'static str,
    /// Time between two writes.
    pause: Duration,
    /// Share of reads that must be replayed, in percent.
    wanted: f64,
}

const PHASES: [Phase; 3] = [
    Phase { name: "warm-up", pause: Duration::from_secs(20), wanted: 0.0 },
    Phase { name: "a write in 20 seconds", pause: Duration::from_secs(20), wanted: 90.0 },
    Phase { name: "a write per second", pause: Duration::from_secs(1), wanted: 60.0 },
];

/// A response of WordPress with which replays are compared.
struct Reference {
    /// Number of writes that had ended before it was requested.
    state: u64,
    response: Arc<Response>,
}

/// Numbers of a phase.
#[derive(Default)]
struct Counts {
    reads: AtomicU64,
    replayed: AtomicU64,
    /// Reads that were compared, by version or as a whole.
    compared: AtomicU64,
    whole: AtomicU64,
    references: AtomicU64,
    /// Comparisons in which WordPress's response changed without a known write.
    undecided: AtomicU64,
    writes: AtomicU64,
    refused_writes: AtomicU64,
    /// Microseconds of reads.
    micros: AtomicU64,
}

struct Run<'a> {
    gateway: &'a Gateway,
    traffic: Traffic,
    writer: Writer<'a>,
    /// Numbers of writes that have begun and ended.
    begun: AtomicU64,
    ended: AtomicU64,
    references: Mutex<HashMap<(usize, usize), Reference>>,
    /// URLs whose responses have old versions in WordPress as well, such as a history.
    histories: Mutex<HashSet<usize>>,
    forwarded: Mutex<BTreeMap<String, u64>>,
    failures: Mutex<Vec<String>>,
    counts: Counts,
    stop: AtomicBool,
}

/// Reads and writes. Each phase takes this number of seconds. Returns the number of failures.
pub(super) fn run(gateway: &Gateway, targets: &[String], seconds: u64, rate: u64, seed: u64) -> Result<usize> {
    if seconds == 0 {
        return Ok(0);
    }
    let callers = callers(gateway)?;
    let writer = Writer::new(gateway, seed)?;
    let common = COMMON.iter().map(|path| format!("/wp-json/{path}"));
    let mut targets: Vec<String> = targets.iter().cloned().chain(writer.paths()).chain(common).collect();
    targets.sort();
    targets.dedup();
    let mut random = Random(seed);
    for n in (1..targets.len()).rev() {
        targets.swap(n, random.below(n + 1));
    }
    writer.write_all(&mut random);
    say(&format!("seed {seed}: {} callers, {} URLs, {rate} reads per second", callers.len(), targets.len()))?;
    let mut run = Run {
        gateway,
        traffic: Traffic { callers, targets },
        writer,
        begun: AtomicU64::new(0),
        ended: AtomicU64::new(0),
        references: Mutex::default(),
        histories: Mutex::default(),
        forwarded: Mutex::default(),
        failures: Mutex::default(),
        counts: Counts::default(),
        stop: AtomicBool::new(false),
    };
    let mut n_failed = 0;
    for (n, phase) in PHASES.iter().enumerate() {
        n_failed += run.phase(phase, Duration::from_secs(seconds), rate, seed ^ (n as u64) << 20)?;
    }
    let lost = run.writer.lost()?;
    for lost in &lost {
        say(&format!("    lost: {lost}"))?;
    }
    say(&format!("writes that were lost: {}", lost.len()))?;
    Ok(n_failed + lost.len())
}

impl Run<'_> {
    fn phase(&mut self, phase: &Phase, time: Duration, rate: u64, seed: u64) -> Result<usize> {
        self.counts = Counts::default();
        self.stop = AtomicBool::new(false);
        lock(&self.forwarded).clear();
        let before = self.gateway.reasons();
        let start = Instant::now();
        scope(|threads| -> Result<()> {
            let run = &*self;
            let readers: Vec<_> = (0..READERS)
                .map(|n| threads.spawn(move || run.read_all(Random(seed ^ ((n + 1) << 40)), n, rate)))
                .collect();
            let comparisons: Vec<_> = (0..REFERENCES)
                .map(|n| threads.spawn(move || run.render_references(Random(seed ^ (99 + n as u64)))))
                .collect();
            let mut random = Random(seed);
            let mut writers = Vec::new();
            while start.elapsed() < time {
                let mut random = Random(random.below(usize::MAX) as u64);
                writers.push(threads.spawn(move || run.write(&mut random)));
                sleep(phase.pause.min(time.saturating_sub(start.elapsed())));
            }
            run.stop.store(true, SeqCst);
            for thread in readers.into_iter().chain(comparisons) {
                thread.join().unwrap_or(Ok(()))?;
            }
            writers.into_iter().try_for_each(|writer| writer.join().unwrap_or(Ok(())))
        })?;
        let time = start.elapsed();
        let n_failed = self.report(phase, time)?;
        let grown = |(why, n): (String, u64)| (n - before.get(&why).copied().unwrap_or_default().min(n), why);
        let mut reasons: Vec<(u64, String)> = self.gateway.reasons().into_iter().map(grown).collect();
        reasons.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
        for (n, why) in reasons.iter().take(SHOWN).filter(|(n, _)| *n > 0) {
            say(&format!("    because: {n:5} {why}"))?;
        }
        Ok(n_failed)
    }

    fn report(&self, phase: &Phase, time: Duration) -> Result<usize> {
        let get = |n: &AtomicU64| n.load(SeqCst);
        let counts = &self.counts;
        let share = get(&counts.replayed) as f64 * 100.0 / get(&counts.reads).max(1) as f64;
        let failures = std::mem::take(&mut *lock(&self.failures));
        say(&format!(
            "{}: {} reads ({:.0} per second), {share:.1} % without PHP, {:.1} ms each; {} compared ({} as a whole, with {} responses of \
             WordPress), {} wrong, {} undecided; {} writes, {} refused",
            phase.name,
            get(&counts.reads),
            get(&counts.reads) as f64 / time.as_secs_f64(),
            get(&counts.micros) as f64 / 1000.0 / get(&counts.reads).max(1) as f64,
            get(&counts.compared),
            get(&counts.whole),
            get(&counts.references),
            failures.len(),
            get(&counts.undecided),
            get(&counts.writes),
            get(&counts.refused_writes),
        ))?;
        for failure in failures.iter().take(SHOWN) {
            say(&format!("    {failure}"))?;
        }
        let mut forwarded: Vec<(String, u64)> = std::mem::take(&mut *lock(&self.forwarded)).into_iter().collect();
        forwarded.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        for (what, n) in forwarded.iter().take(SHOWN) {
            say(&format!("    PHP: {n:5} {what}"))?;
        }
        if share < phase.wanted {
            say(&format!("    less than {} % are answered without PHP", phase.wanted))?;
        }
        Ok(failures.len() + usize::from(share < phase.wanted))
    }

    /// Reads at this thread's part of the rate.
    fn read_all(&self, mut random: Random, n: u64, rate: u64) -> Result<()> {
        let pause = Duration::from_secs(READERS) / u32::try_from(rate).unwrap_or(1).max(1);
        let mut next = Instant::now() + pause.mul_f64(n as f64 / READERS as f64);
        while !self.stop.load(SeqCst) {
            sleep(next.saturating_duration_since(Instant::now()).min(Duration::from_millis(200)));
            if Instant::now() < next {
                continue;
            }
            // No burst after a slow response.
            next = (next + pause).max(Instant::now());
            self.read(&mut random)?;
        }
        Ok(())
    }

    fn read(&self, random: &mut Random) -> Result<()> {
        let (caller, target) = self.traffic.pick(random);
        let who = &self.traffic.callers[caller];
        let path = &self.traffic.targets[target];
        let reference = lock(&self.references).get(&(caller, target)).map(|r| (r.state, Arc::clone(&r.response)));
        let acknowledged = self.writer.acknowledged();
        let before = self.state();
        let start = Instant::now();
        let ours = who.get(self.gateway.address(), path)?;
        let counts = &self.counts;
        counts.micros.fetch_add(u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX), SeqCst);
        counts.reads.fetch_add(1, SeqCst);
        if is_forwarded(&ours) {
            let status: String = ours.headers("cache-status").collect::<Vec<_>>().join(", ");
            *lock(&self.forwarded).entry(format!("{status} {path}")).or_default() += 1;
        } else {
            counts.replayed.fetch_add(1, SeqCst);
        }
        let what = format!("{path} ({})", who.name);
        let mut is_compared = false;
        if !lock(&self.histories).contains(&target) {
            match self.writer.check(&ours.body, &acknowledged) {
                Ok(has_versions) => is_compared = has_versions,
                Err(_) if self.has_old_versions(caller, target, &acknowledged)? => {}
                Err(why) => lock(&self.failures).push(format!("stale: {what}: {why}, {}", status_of(&ours))),
            }
        }
        let same_state = before.filter(|state| self.state() == Some(*state));
        if let (Some((state, theirs)), Some(now)) = (reference, same_state)
            && state == now
        {
            is_compared = true;
            counts.whole.fetch_add(1, SeqCst);
            if let Some(found) = difference(&theirs, &ours) {
                self.examine((caller, target), now, &theirs, &what, &format!("{found}, {}", status_of(&ours)))?;
            }
        }
        counts.compared.fetch_add(u64::from(is_compared), SeqCst);
        Ok(())
    }

    /// The number of writes, if none is under way.
    fn state(&self) -> Option<u64> {
        let ended = self.ended.load(SeqCst);
        (self.begun.load(SeqCst) == ended).then_some(ended)
    }

    /// Whether WordPress's own response has versions that are older.
    fn has_old_versions(&self, caller: usize, target: usize, acknowledged: &[u64]) -> Result<bool> {
        let theirs = self.traffic.callers[caller].get(&self.gateway.site, &self.traffic.targets[target])?;
        let is_old = self.writer.check(&theirs.body, acknowledged).is_err();
        if is_old {
            lock(&self.histories).insert(target);
        }
        Ok(is_old)
    }

    /// After a difference: it is a failure, unless WordPress now responds in another way than before as well.
    fn examine(&self, key: (usize, usize), state: u64, theirs: &Response, what: &str, found: &str) -> Result<()> {
        let again = self.traffic.callers[key.0].get(&self.gateway.site, &self.traffic.targets[key.1])?;
        lock(&self.references).remove(&key);
        if difference(theirs, &again).is_some() || self.state() != Some(state) {
            self.counts.undecided.fetch_add(1, SeqCst);
            return Ok(());
        }
        lock(&self.failures).push(format!("wrong: {what}: {found}"));
        Ok(())
    }

    /// Renders what replays are compared with, as long as the phase lasts: what is read often, first.
    fn render_references(&self, mut random: Random) -> Result<()> {
        while !self.stop.load(SeqCst) {
            let (caller, target) = self.traffic.pick(&mut random);
            let Some(state) = self.state() else {
                sleep(Duration::from_millis(20));
                continue;
            };
            if lock(&self.references).get(&(caller, target)).is_some_and(|reference| reference.state == state) {
                // All of them are known, or few are missing.
                sleep(Duration::from_millis(1));
                continue;
            }
            let start = Instant::now();
            let response = self.traffic.callers[caller].get(&self.gateway.site, &self.traffic.targets[target])?;
            self.counts.references.fetch_add(1, SeqCst);
            // The rest of WordPress's time is for readers.
            sleep(start.elapsed());
            if self.state() == Some(state) {
                lock(&self.references).insert((caller, target), Reference { state, response: Arc::new(response) });
            }
        }
        Ok(())
    }

    fn write(&self, random: &mut Random) -> Result<()> {
        self.begun.fetch_add(1, SeqCst);
        let result = self.writer.write(random);
        self.ended.fetch_add(1, SeqCst);
        self.counts.writes.fetch_add(1, SeqCst);
        if let Err(error) = result {
            // Plugins may refuse writes.
            if self.counts.refused_writes.fetch_add(1, SeqCst) < 3 {
                say(&format!("    a write was refused: {error:#}"))?;
            }
        }
        Ok(())
    }
}

fn status_of(response: &Response) -> String {
    format!("{:?}", response.headers("cache-status").collect::<Vec<_>>())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
