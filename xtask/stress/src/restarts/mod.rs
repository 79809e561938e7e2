//! Restarts under load: no connection is refused, and no request fails.
//!
//! First this process is the supervisor, as systemd is with a socket unit: it binds the socket and passes it to each server (`LISTEN_FDS`). Then a
//! server with a socket of its own restarts in place, by SIGHUP: with other settings, and with another program, which first copies the database.
//! And two servers behind a proxy are restarted one after the other ([`proxy`]).
//! Each request has a connection of its own, so that the restart of a moment meets connections in all states.

mod proxy;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::{fd::OwnedFd, unix::net::UnixDatagram},
    path::Path,
    process::{Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use svc_brand::Brand;
use xtask_support::{run as run_command, say, server::Server};

use crate::{
    client::{get, socket_address},
    report::{Effort, Report},
};

/// Requests per second.
const RATE: u32 = 500;

/// Parallel clients. Enough that the rate is reached although requests wait during a restart.
const CLIENTS: u32 = 50;

/// Time between two restarts.
const PAUSE: Duration = Duration::from_millis(500);

/// Maximum time until a server that restarts reports its next state.
const RESTART_TIME: Duration = Duration::from_secs(60);

/// What the clients have seen.
#[derive(Default)]
struct Seen {
    requests: AtomicU64,
    failed: AtomicU64,
    slowest: Mutex<Duration>,
    examples: Mutex<Vec<String>>,
}

pub(crate) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let n_restarts = if effort.long { 100 } else { 5 };
    let program = effort.program()?;
    let n_upgrades = effort.upgrades.unwrap_or(if effort.long { 20 } else { 3 });
    let other = effort.other()?;
    let mut reports = vec![
        with_socket(&program, n_restarts)?,
        by_signal(&program, n_restarts)?,
        by_upgrade(&program, other.as_deref(), n_upgrades)?,
    ];
    reports.extend(proxy::run(&program, other.as_deref(), n_restarts, n_upgrades)?);
    Ok(reports)
}

/// Restarts that stop a server and start the next one with the same socket.
fn with_socket(program: &Path, n_restarts: u32) -> Result<Report> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
    let mut server = start(program, folder.path(), &listener)?;
    measure("with the socket of a supervisor", n_restarts, listener.local_addr()?, |_| {
        server.stop()?;
        server = start(program, folder.path(), &listener)?;
        Ok(())
    })
}

/// A server that reports its states to this process.
struct Reporting {
    server: Server,
    address: SocketAddr,
    states: UnixDatagram,
}

impl Reporting {
    fn start(program: &Path, folder: &Path) -> Result<Self> {
        let path = folder.join("notify");
        let states = UnixDatagram::bind(&path).context("no socket for notifications")?;
        states.set_read_timeout(Some(RESTART_TIME))?;
        let mut command = Command::new(program);
        command.args(["--listen", "127.0.0.1:0", "--log", "warn", "serve"]).current_dir(folder).env_clear();
        command.env("SVC_LIMITS_CONNECTIONS_PER_NETWORK", "1024").env("NOTIFY_SOCKET", &path);
        let server = Server::start(command, &folder.join("server.log"))?;
        let this = Reporting { address: socket_address(&server)?, server, states };
        this.until("READY=1")?;
        Ok(this)
    }

    /// Waits for the next state.
    fn until(&self, expected: &str) -> Result<()> {
        let mut state = [0; 200];
        let n_bytes = self.states.recv(&mut state).with_context(|| format!("the server does not report {expected}"))?;
        ensure!(state[..n_bytes].starts_with(expected.as_bytes()), "{:?}", String::from_utf8_lossy(&state[..n_bytes]));
        Ok(())
    }

    /// Restarts in place.
    fn restart(&self) -> Result<()> {
        run_command(Command::new("kill").args(["-HUP", &self.server.pid().to_string()]))?;
        self.until("RELOADING=1")?;
        self.until("READY=1")
    }

    /// Stops the server. It has been the same process all the time.
    fn stop(mut self) -> Result<()> {
        self.server.stop()
    }
}

/// Restarts in place with other settings.
fn by_signal(program: &Path, n_restarts: u32) -> Result<Report> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let server = Reporting::start(program, folder.path())?;
    let report = measure("by SIGHUP", n_restarts, server.address, |n| {
        let settings = format!("slow_request = '{}s'\n", 60 + n);
        fs::write(folder.path().join("svc.toml"), settings).context("cannot write the settings")?;
        server.restart()
    })?;
    server.stop()?;
    Ok(report)
}

/// Restarts in place with another program, which copies the database. Without another build, the program itself is replaced by a script that runs
/// it as if it were one.
fn by_upgrade(program: &Path, other: Option<&Path>, n_upgrades: u32) -> Result<Report> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let (file, next) = (folder.path().join("installed"), folder.path().join("next"));
    let install = |n: u32| -> Result<()> {
        match other {
            Some(other) => {
                fs::copy(if n.is_multiple_of(2) { program } else { other }, &next)
                    .context("cannot copy the program")?;
            }
            None => {
                let own = program.display();
                let copy = format!(
                    "case \"$*\" in *' upgrade-copy '*) exec '{own}' upgrade-copy --running '0.0.{n} 1.1';; esac"
                );
                // The name of the program remains that of the file, which is replaced again.
                fs::write(&next, format!("#!/bin/bash\n{copy}\nexec -a \"$0\" '{own}' \"$@\"\n"))?;
                run_command(Command::new("chmod").arg("755").arg(&next))?;
            }
        }
        fs::rename(&next, &file).context("cannot replace the program")
    };
    install(0)?;
    let server = Reporting::start(&file, folder.path())?;
    let copies = || -> BTreeSet<OsString> {
        let entries = fs::read_dir(folder.path().join("svc-data/before-upgrade")).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).collect()
    };
    let how = if other.is_some() { "by upgrades between two builds" } else { "by upgrades" };
    let report = measure(how, n_upgrades, server.address, |n| {
        let before = copies();
        install(n + 1)?;
        server.restart()?;
        let after = copies();
        ensure!(after != before && after.len() <= 2, "upgrade {n}: the copies were {before:?} and are {after:?}");
        Ok(())
    })?;
    server.stop()?;
    Ok(report)
}

/// Sends requests to an address while `restart` is called `n_restarts` times.
fn measure(
    how: &str,
    n_restarts: u32,
    address: SocketAddr,
    mut restart: impl FnMut(u32) -> Result<()>,
) -> Result<Report> {
    let (seen, ends, begun) = (Seen::default(), AtomicBool::new(false), Instant::now());
    thread::scope(|scope| -> Result<()> {
        for client in 0..CLIENTS {
            let (seen, ends) = (&seen, &ends);
            scope.spawn(move || seen.request(client, address, ends));
        }
        let restarted = (0..n_restarts).try_for_each(|n| {
            thread::sleep(PAUSE);
            restart(n)
        });
        thread::sleep(PAUSE);
        ends.store(true, Relaxed);
        restarted
    })?;
    let requests = seen.requests.into_inner();
    let rate = requests as f64 / begun.elapsed().as_secs_f64();
    say(&format!("{n_restarts} restarts {how}, {rate:.0} requests per second"))?;
    Ok(Report {
        case: format!("restarts {how}: {n_restarts}, each request a connection"),
        attempts: requests,
        lost: seen.failed.into_inner(),
        slowest: Some(seen.slowest.into_inner().unwrap_or_else(PoisonError::into_inner)),
        violations: seen.examples.into_inner().unwrap_or_else(PoisonError::into_inner),
        ..Report::default()
    })
}

/// Starts a server with this socket as its descriptor 3.
fn start(program: &Path, folder: &Path, listener: &TcpListener) -> Result<Server> {
    let script = "exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$0\" --log warn serve";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(program).current_dir(folder).env_clear();
    // All clients have the same address.
    shell.env("SVC_LIMITS_CONNECTIONS_PER_NETWORK", "1024");
    let socket = Stdio::from(OwnedFd::from(listener.try_clone()?));
    let server = Server::start_with_input(shell, socket, &folder.join("server.log"))?;
    ensure!(server.address().ends_with(&listener.local_addr()?.port().to_string()), "the server has another socket");
    Ok(server)
}

impl Seen {
    /// Sends requests at the rate of a client until the end.
    fn request(&self, client: u32, to: SocketAddr, ends: &AtomicBool) {
        let path = format!("/?rest_route=/{}/posts", Brand::default().namespace());
        let interval = Duration::from_secs(1) * CLIENTS / RATE;
        let mut next = Instant::now() + interval * client / CLIENTS;
        while !ends.load(Relaxed) {
            thread::sleep(next.saturating_duration_since(Instant::now()));
            // A client that had to wait does not make up for it.
            next = Instant::now().max(next) + interval;
            let sent = Instant::now();
            let response = get(Ipv4Addr::LOCALHOST, to, &path);
            self.requests.fetch_add(1, Relaxed);
            let mut slowest = self.slowest.lock().unwrap_or_else(PoisonError::into_inner);
            *slowest = slowest.max(sent.elapsed());
            drop(slowest);
            if !matches!(response, Ok(200)) {
                self.failed.fetch_add(1, Relaxed);
                let mut examples = self.examples.lock().unwrap_or_else(PoisonError::into_inner);
                if examples.len() < 5 {
                    examples.push(format!("{response:?}"));
                }
            }
        }
    }
}
