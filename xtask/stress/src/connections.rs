//! Attackers that hold connections open, and legitimate clients that must get responses within a second.
//!
//! An attacker opens sockets, prolongs each as far as its kind can, and opens another when the server closes one. Each kind
//! attacks from one address and from many, so that both limits of the server are reached.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::{
    client::{Honest, connect, get, socket_address, start},
    report::{Effort, Report},
};

/// The longest response time for a legitimate client.
const IN_TIME: Duration = Duration::from_secs(1);

/// The same in the short run, on a busy machine.
const IN_TIME_SHORT: Duration = Duration::from_secs(10);

/// Threads of an attack.
const THREADS: usize = 4;

/// The interval at which an attacker handles its sockets.
const ROUND: Duration = Duration::from_millis(250);

/// Rounds until a closed socket is opened again. The attack is to hold connections, not to send many requests per second.
const REOPEN: u32 = 8;

/// Number of addresses of an attack from many.
const ADDRESSES: u8 = 40;

/// The addresses of the attacker and of legitimate clients.
const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 1);
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The path that legitimate clients request.
const PATH: &str = "/?rest_route=/svc/v2/types";

/// A way to hold a connection.
struct ConnectionKind {
    name: &'static str,
    /// Sent first.
    begin: &'static [u8],
    /// Sent repeatedly, after this many rounds.
    drip: &'static [u8],
    every: u32,
    does_read: bool,
    /// Whether legitimate clients at the attacker's address must get responses too: idle connections are replaced.
    spares_neighbours: bool,
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
const REQUEST: &[u8] = b"GET /?rest_route=/svc/v2/types HTTP/1.1\r\nHost: x\r\n\r\n";
/// A file that exceeds the system's buffers for a client with a small window.
const LARGE: &[u8] = b"GET /wp-content/uploads/large.txt HTTP/1.1\r\nHost: x\r\n\r\n";
const LARGE_FILE: &str = "svc-data/content/uploads/large.txt";
const LARGE_SIZE: usize = 16 << 20;
const UPLOAD: &[u8] = b"POST /?rest_route=/svc/v2/posts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n[";

#[rustfmt::skip]
const KINDS: &[ConnectionKind] = &[
    ConnectionKind { name: "silent", begin: b"", drip: b"", every: 1, does_read: true, spares_neighbours: true },
    ConnectionKind { name: "half a preface", begin: b"PRI * HTTP", drip: b"", every: 1, does_read: true, spares_neighbours: true },
    ConnectionKind { name: "half a head", begin: b"GET / HTTP/1.1\r\nX: ", drip: b"x", every: 2, does_read: true, spares_neighbours: true },
    ConnectionKind { name: "idle HTTP/2 with pings", begin: PREFACE, drip: b"\0\0\x08\x06\0\0\0\0\0pingpong", every: 4, does_read: true, spares_neighbours: true },
    ConnectionKind { name: "slow body", begin: UPLOAD, drip: b"1,", every: 2, does_read: true, spares_neighbours: false },
    ConnectionKind { name: "never reading", begin: LARGE, drip: b"", every: 1, does_read: false, spares_neighbours: false },
    ConnectionKind { name: "a request each 6 s", begin: REQUEST, drip: REQUEST, every: 24, does_read: true, spares_neighbours: true },
];

pub(crate) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let program = effort.program()?;
    let folder = tempfile::tempdir()?;
    let large = folder.path().join(LARGE_FILE);
    std::fs::create_dir_all(large.parent().context("the file has no folder")?)?;
    std::fs::write(&large, vec![b'x'; LARGE_SIZE])?;
    raise_limit();
    let long = (2_000, Duration::from_secs(30), IN_TIME);
    let (n_sockets, time, in_time) = if effort.long { long } else { (300, Duration::from_secs(4), IN_TIME_SHORT) };
    let limit = |key, value: u32| (key, value.to_string());
    let mut settings = Vec::new();
    if !effort.long {
        settings.extend([limit("limits.connections", 200), limit("limits.connections_per_network", 100)]);
        settings.extend([
            limit("limits.header_seconds", 1),
            limit("limits.idle_seconds", 2),
            limit("limits.stall_seconds", 1),
        ]);
    }
    let mut reports = Vec::new();
    for kind in KINDS {
        for n_addresses in [1, ADDRESSES] {
            let attack = Attack { kind, n_sockets, n_addresses, time, in_time };
            reports.push(attack.run(&program, folder.path(), &settings)?);
        }
    }
    Ok(reports)
}

/// One run of an attack.
struct Attack {
    kind: &'static ConnectionKind,
    n_sockets: usize,
    n_addresses: u8,
    time: Duration,
    /// The longest response time for a legitimate client.
    in_time: Duration,
}

impl Attack {
    fn run(&self, program: &Path, folder: &Path, settings: &[(&str, String)]) -> Result<Report> {
        let Attack { kind, n_sockets, n_addresses, time, in_time } = *self;
        let server = start(program, folder, settings)?;
        let to = socket_address(&server)?;
        // Fill the caches, so that start-up is not measured.
        get(ELSEWHERE, to, PATH)?;
        let (stop, n_attempts) = (AtomicBool::new(false), AtomicU64::new(0));
        let mut report = Report { case: format!("{} from {n_addresses}", kind.name), ..Report::default() };
        std::thread::scope(|scope| -> Result<()> {
            let (stop, n_attempts) = (&stop, &n_attempts);
            for thread in 0..THREADS {
                let own = (thread..n_sockets).step_by(THREADS).map(|n| address(n, n_addresses)).collect();
                scope.spawn(move || Attacker::new(kind, to, own).run(stop, n_attempts));
            }
            let mut honest = vec![("elsewhere", Honest::start(ELSEWHERE, to, PATH))];
            if kind.spares_neighbours && n_addresses == 1 {
                honest.push(("at the same address", Honest::start(ATTACKER, to, PATH)));
            }
            std::thread::sleep(time);
            for (place, client) in honest {
                // The attack continues until the legitimate clients have stopped.
                let seen = client.stop().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                report.slowest = report.slowest.max(Some(seen.slowest));
                if seen.slowest > in_time || !seen.wrong.is_empty() || seen.n_requests == 0 {
                    report.violations.push(format!("a client {place}: {seen:?}"));
                }
            }
            stop.store(true, Ordering::Relaxed);
            Ok(())
        })?;
        report.attempts = n_attempts.into_inner();
        report.peak_memory = server.peak_memory();
        Ok(report)
    }
}

/// The local address of an attacker's socket.
fn address(n: usize, n_addresses: u8) -> Ipv4Addr {
    match n_addresses {
        1 => ATTACKER,
        _ => Ipv4Addr::new(127, 0, 1, 1 + (n % usize::from(n_addresses)) as u8),
    }
}

/// Raises the limit of open files, which is often about a thousand.
fn raise_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum.map_or(Some(16_384), |hard| Some(hard.min(16_384))).max(limit.current);
        // On failure the attack is smaller; the report shows its size.
        let _raised = setrlimit(Resource::Nofile, limit);
    }
}

/// The sockets of one thread of an attack.
struct Attacker {
    kind: &'static ConnectionKind,
    to: SocketAddr,
    sockets: Vec<(Ipv4Addr, Option<TcpStream>)>,
}

impl Attacker {
    fn new(kind: &'static ConnectionKind, to: SocketAddr, addresses: Vec<Ipv4Addr>) -> Self {
        Attacker { kind, to, sockets: addresses.into_iter().map(|address| (address, None)).collect() }
    }

    fn run(mut self, stop: &AtomicBool, n_attempts: &AtomicU64) {
        let mut round = 0_u32;
        while !stop.load(Ordering::Relaxed) {
            let begun = Instant::now();
            for (n, (address, socket)) in (0_u32..).zip(&mut self.sockets) {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                match socket {
                    Some(stream) => {
                        let drip = round.is_multiple_of(self.kind.every).then_some(self.kind.drip);
                        if !stays(stream, self.kind, drip.unwrap_or_default()) {
                            *socket = None;
                        }
                    }
                    None if round > 0 && !round.wrapping_add(n).is_multiple_of(REOPEN) => {}
                    None => {
                        n_attempts.fetch_add(1, Ordering::Relaxed);
                        *socket = open(*address, self.to, self.kind).ok();
                    }
                }
            }
            round = round.wrapping_add(1);
            std::thread::sleep(ROUND.saturating_sub(begun.elapsed()));
        }
    }
}

fn open(from: Ipv4Addr, to: SocketAddr, kind: &ConnectionKind) -> std::io::Result<TcpStream> {
    let mut stream = connect(from, to, (!kind.does_read).then_some(4096))?;
    stream.set_nonblocking(true)?;
    stream.write_all(kind.begin)?;
    Ok(stream)
}

/// Prolongs a connection as far as its kind can. Returns `false` if the server has closed it.
fn stays(stream: &mut TcpStream, kind: &ConnectionKind, drip: &[u8]) -> bool {
    let blocked = |error: &std::io::Error| error.kind() == ErrorKind::WouldBlock;
    if !drip.is_empty() && stream.write(drip).is_err_and(|error| !blocked(&error)) {
        return false;
    }
    if !kind.does_read {
        return !stream.take_error().is_ok_and(|error| error.is_some());
    }
    let mut buffer = [0; 8192];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return false,
            Ok(n) if kind.begin == PREFACE => acknowledge(stream, &buffer[..n]),
            Ok(_) => {}
            Err(error) => return blocked(&error),
        }
    }
}

/// Acknowledges settings and pings of an HTTP/2 server. Frames that span two reads are ignored: the server sends few.
fn acknowledge(stream: &mut TcpStream, mut frames: &[u8]) {
    const SETTINGS: u8 = 4;
    const PING: u8 = 6;
    const ACK: u8 = 1;
    while let Some((&[a, b, c, kind, flags, ..], rest)) = frames.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        let Some((payload, rest)) = rest.split_at_checked(length) else { return };
        let response = match kind {
            _ if flags & ACK != 0 => Vec::new(),
            SETTINGS => vec![0, 0, 0, SETTINGS, ACK, 0, 0, 0, 0],
            PING => [&[0, 0, 8, PING, ACK, 0, 0, 0, 0], payload].concat(),
            _ => Vec::new(),
        };
        // If this fails, the server closes the connection.
        let _sent = stream.write(&response);
        frames = rest;
    }
}
