//! Two servers on one database behind a proxy, which are restarted or replaced one after the other.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use svc_test_databases::mariadb::{DISPOSABLE_OPTIONS, MariaDb};
use xtask_support::{
    say,
    server::{Server, exchange},
};

use super::measure;
use crate::{
    nginx::{self, Proxy},
    report::Report,
};

/// Number of servers.
const SERVERS: usize = 2;

/// Maximum time until everything responds.
const START_TIME: Duration = Duration::from_secs(60);

/// A server that refuses connections is asked again by the next request, as `docs/scaling.md` recommends: otherwise the proxy has no server
/// to ask if the second one stops soon after the first one.
const OPTIONS: &str = "max_fails=0";

/// A header of responses with the address of the server.
const UPSTREAM: &str = "X-Upstream";

/// The servers of a site. The fields are dropped in this order.
struct Pair {
    proxy: Proxy,
    servers: Vec<Server>,
    ports: Vec<u16>,
    database: MariaDb,
    folder: tempfile::TempDir,
}

/// Restarts, and then upgrades between two builds, if there is another one. An upgrade replaces both servers.
pub(super) fn run(program: &Path, other: Option<&Path>, n_restarts: u32, n_upgrades: u32) -> Result<Vec<Report>> {
    let Some((mut pair, address)) = Pair::start(program)? else {
        say("skipped: two servers behind a proxy, because nginx or MariaDB is not installed")?;
        return Ok(Vec::new());
    };
    let mut reports = vec![measure("of two servers behind a proxy", n_restarts, address, |n| {
        pair.replace(usize::try_from(n)? % SERVERS, program)
    })?];
    if let Some(other) = other {
        reports.push(measure("by upgrades of two servers behind a proxy", n_upgrades, address, |n| {
            let next = if n.is_multiple_of(2) { other } else { program };
            (0..SERVERS).try_for_each(|server| pair.replace(server, next))
        })?);
    }
    Ok(reports)
}

impl Pair {
    /// `None` if a program is not installed.
    fn start(program: &Path) -> Result<Option<(Self, SocketAddr)>> {
        if !nginx::is_installed() {
            return Ok(None);
        }
        let Some(database) = MariaDb::start(DISPOSABLE_OPTIONS)? else { return Ok(None) };
        database.create("site")?;
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let listeners: Vec<_> = (0..=SERVERS).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
        let mut ports: Vec<u16> =
            listeners.iter().map(|l| Ok(l.local_addr()?.port())).collect::<std::io::Result<_>>()?;
        drop(listeners);
        let front = ports.pop().context("no port for the proxy")?;
        let proxy = Proxy::start(folder.path(), front, &ports, OPTIONS, UPSTREAM)?;
        let mut pair = Pair { proxy, servers: Vec::new(), ports, database, folder };
        for n in 0..SERVERS {
            fs::create_dir_all(pair.data(n))?;
            if n > 0 {
                fs::copy(pair.data(0).join("keys.toml"), pair.data(n).join("keys.toml"))?;
            }
            pair.servers.push(pair.serve(n, program)?);
        }
        let begun = Instant::now();
        while exchange(pair.proxy.address(), "GET", "/", &[], "").map_or(0, |response| response.status) != 200 {
            ensure!(begun.elapsed() < START_TIME, "the proxy does not respond");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(Some((pair, (Ipv4Addr::LOCALHOST, front).into())))
    }

    /// The data folder of a server.
    fn data(&self, n: usize) -> PathBuf {
        self.folder.path().join(n.to_string()).join("svc-data")
    }

    fn serve(&self, n: usize, program: &Path) -> Result<Server> {
        let port = self.ports.get(n).context("no such server")?;
        let folder = self.folder.path().join(n.to_string());
        let mut command = Command::new(program);
        command.args(["--listen", &format!("127.0.0.1:{port}"), "--log", "warn", "serve"]).current_dir(&folder);
        command.env_clear().env("SVC_CONTENT_DIR", self.folder.path().join("content"));
        command.env("SVC_TRUSTED_PROXIES", "127.0.0.1").env("SVC_LIMITS_CONNECTIONS_PER_NETWORK", "1024");
        command.env("SVC_SITE_URL", self.proxy.address()).env("SVC_DATABASE", self.database.url("site"));
        Server::start(command, &folder.join("server.log"))
    }

    /// Stops a server, and starts this program in its place.
    fn replace(&mut self, n: usize, program: &Path) -> Result<()> {
        self.servers.get_mut(n).context("no such server")?.stop()?;
        let next = self.serve(n, program)?;
        let begun = Instant::now();
        while exchange(next.address(), "GET", "/readyz", &[], "").map_or(0, |response| response.status) != 200 {
            ensure!(begun.elapsed() < START_TIME, "server {n} does not become ready");
            std::thread::sleep(Duration::from_millis(50));
        }
        *self.servers.get_mut(n).context("no such server")? = next;
        Ok(())
    }
}
