//! Memory and threads of a server under load.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Result;
use xtask_support::server;

use super::{
    load::{Request, Until},
    site::{Site, Svc},
};

/// Interval of samples.
const SAMPLE: Duration = Duration::from_millis(50);

/// Time that a new server gets to settle.
const SETTLE: Duration = Duration::from_secs(1);

/// Memory in bytes and numbers of threads; zero on systems that do not report them. Linux does.
#[derive(Debug)]
pub struct Resources {
    /// Resident memory of an idle server.
    pub at_start: u64,
    /// Largest resident memory while clients of all kinds are served.
    pub mixed: u64,
    /// Resident memory after a burst of clients and a pause.
    pub after_burst: u64,
    /// Largest number of threads while clients of all kinds are served.
    pub most_threads: u64,
    /// Requests of all phases.
    pub n_requests: u64,
    /// Those of them that failed.
    pub n_failed: u64,
}

/// How hard the server is used.
pub struct Phases {
    /// Clients of the mixed load.
    pub mixed: usize,
    /// Clients of the burst.
    pub burst: usize,
    /// Requests of each phase.
    pub n_requests: u64,
    /// Time between the burst and the last measurement.
    pub pause: Duration,
}

/// Starts a server of its own and measures it.
///
/// # Errors
/// If the server does not start, or does not accept the posts that are read.
pub fn measure(program: &Path, phases: &Phases) -> Result<Resources> {
    let svc = Svc::start(program, None)?;
    let site = &svc.site;
    std::thread::sleep(SETTLE);
    let at_start = svc.server.memory().unwrap_or_default();
    let ids = site.fill(8)?;
    let sampler = Sampler::start(svc.server.pid());
    let request = |n| mixed(site, &ids, n);
    let run = |n_clients: usize| site.clients(n_clients, &request).run(Until::Requests(phases.n_requests));
    let first = run(phases.mixed)?;
    let mixed = sampler.memory();
    let burst = run(phases.burst)?;
    std::thread::sleep(phases.pause);
    Ok(Resources {
        at_start,
        mixed,
        after_burst: svc.server.memory().unwrap_or_default(),
        most_threads: sampler.threads(),
        n_requests: first.n_requests + burst.n_requests,
        n_failed: first.n_failed + burst.n_failed,
    })
}

/// A request of each kind in turn, most of them uncached.
fn mixed(site: &Site, ids: &[u64], n: u64) -> Request {
    let id = ids[n as usize % ids.len()];
    match n % 10 {
        0 => site.get(&format!("posts?per_page=100&n={n}")),
        1 => site.get(&format!("posts?per_page=20&_embed=1&n={n}")),
        2 => site.get(&format!("posts?search=harbour&n={n}")),
        3 => Request::get(site.index()),
        4 => Request { method: "OPTIONS", ..site.get("posts") },
        5 => Request::get(format!("/?n={n}")),
        6 if n % 100 == 6 => site.create(n),
        6 | 7 => site.get("posts"),
        _ => site.get(&format!("posts/{id}?n={n}")),
    }
}

/// Records the largest figures of a process.
struct Sampler {
    stop: Arc<AtomicBool>,
    memory: Arc<AtomicU64>,
    threads: Arc<AtomicU64>,
}

impl Sampler {
    fn start(pid: u32) -> Self {
        let sampler = Sampler { stop: Arc::default(), memory: Arc::default(), threads: Arc::default() };
        let (stop, memory, threads) =
            (Arc::clone(&sampler.stop), Arc::clone(&sampler.memory), Arc::clone(&sampler.threads));
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                memory.fetch_max(server::status(pid, "VmRSS").unwrap_or_default() << 10, Ordering::Relaxed);
                threads.fetch_max(server::status(pid, "Threads").unwrap_or_default(), Ordering::Relaxed);
                std::thread::sleep(SAMPLE);
            }
        });
        sampler
    }

    fn memory(&self) -> u64 {
        self.memory.load(Ordering::Relaxed)
    }

    fn threads(&self) -> u64 {
        self.threads.load(Ordering::Relaxed)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
