//! A burst of clients with all kinds of requests: memory and threads stay within bounds, and every request is served. And clients that
//! follow the changes of the site, of which each needs little memory.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::Path,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use xtask_bench::resources::{self, Phases};

use crate::{
    client::{connect, socket_address, start},
    report::{Effort, Report},
};

/// Largest resident memory after the burst, in bytes. Programs without optimization are larger.
const MAX_MEMORY: u64 = 250 << 20;

/// Clients that follow the changes before memory is measured, so that what they share is not counted, and after that. Together they are
/// fewer than the limit on subscribers.
const FIRST_FOLLOWERS: usize = 100;
const FOLLOWERS: usize = 400;

/// Clients with one address: fewer than the limit on subscribers of a network.
const FOLLOWERS_PER_ADDRESS: usize = 25;

/// Largest memory of a client that follows the changes, in bytes. With the buffers of a connection it takes 20 KB.
const MAX_FOLLOWER: u64 = 12 << 10;

/// Time that a server gets until its memory is measured.
const SETTLE: Duration = Duration::from_secs(1);

pub(crate) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let program = effort.program()?;
    Ok(vec![burst(&program, effort)?, followers(&program)?])
}

fn burst(program: &Path, effort: &Effort) -> Result<Report> {
    let phases = Phases {
        mixed: 16,
        burst: if effort.long { 200 } else { 64 },
        n_requests: if effort.long { 10_000 } else { 600 },
        pause: Duration::from_secs(3),
    };
    let measured = resources::measure(program, &phases)?;
    let max_threads = 4 * std::thread::available_parallelism().map_or(1, usize::from) as u64 + 16;
    let mut violations = Vec::new();
    if measured.after_burst > MAX_MEMORY {
        violations.push(format!("{} MB of memory after the burst", measured.after_burst >> 20));
    }
    if measured.most_threads > max_threads {
        violations.push(format!("{} threads", measured.most_threads));
    }
    Ok(Report {
        case: format!("memory: {} clients", phases.burst),
        attempts: measured.n_requests,
        lost: measured.n_failed,
        peak_memory: Some(measured.mixed),
        violations,
        ..Report::default()
    })
}

fn followers(program: &Path) -> Result<Report> {
    let folder = tempfile::tempdir()?;
    let server = start(program, folder.path(), &[("log", "warn".to_owned())])?;
    let to = socket_address(&server)?;
    let mut clients = Vec::new();
    let mut follow = |until: usize| -> Result<u64> {
        while clients.len() < until {
            let address = Ipv4Addr::new(127, 0, 1, 1 + (clients.len() / FOLLOWERS_PER_ADDRESS) as u8);
            clients.push(follower(address, to)?);
        }
        std::thread::sleep(SETTLE);
        Ok(server.memory().unwrap_or_default())
    };
    let before = follow(FIRST_FOLLOWERS)?;
    let after = follow(FIRST_FOLLOWERS + FOLLOWERS)?;
    let each = after.saturating_sub(before) / FOLLOWERS as u64;
    let too_much = (each > MAX_FOLLOWER).then(|| format!("{each} bytes of memory for each of {FOLLOWERS} clients"));
    Ok(Report {
        case: format!("memory: {FOLLOWERS} clients that follow /changes"),
        attempts: clients.len() as u64,
        peak_memory: server.peak_memory(),
        violations: too_much.into_iter().collect(),
        ..Report::default()
    })
}

/// A connection that receives events.
fn follower(from: Ipv4Addr, to: SocketAddr) -> Result<TcpStream> {
    let mut stream = connect(from, to, None)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let head = format!("GET /svc-json/svc/v2/changes HTTP/1.1\r\nHost: {to}\r\nAccept: text/event-stream\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut received = Vec::new();
    while !received.windows(7).any(|part| part == b": ready") {
        let mut buffer = [0; 4096];
        let n_bytes = stream.read(&mut buffer).context("no events")?;
        received.extend(&buffer[..n_bytes]);
        if n_bytes == 0 {
            bail!("no events: {}", String::from_utf8_lossy(&received));
        }
    }
    Ok(stream)
}
