//! The processes: nodes, servers and the proxy, all on loopback.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use svc_test_databases::galera::Galera;
use xtask_support::server::{self, Server, exchange};

use super::load::UPSTREAM;
use crate::nginx::{self, Proxy};

/// Number of nodes and servers.
pub(super) const SIZE: usize = 3;

/// Time limit for everything to work again after a fault.
const RECOVERY: Duration = Duration::from_mins(10);

/// The processes. Dropping it ends them.
pub(super) struct Fleet {
    program: PathBuf,
    /// The fields are dropped in this order: the folder is last.
    proxy: Proxy,
    servers: Vec<Mutex<Option<Server>>>,
    pub(super) cluster: Galera,
    ports: Vec<u16>,
    pub(super) credentials: String,
    folder: tempfile::TempDir,
}

impl Fleet {
    /// Starts everything; `None` if a program is not installed.
    pub(super) fn start(program: &Path) -> Result<Option<Self>> {
        if !nginx::is_installed() {
            return Ok(None);
        }
        let Some(cluster) = Galera::start(SIZE)? else { return Ok(None) };
        cluster.nodes().first().context("the cluster has no nodes")?.create("site")?;
        cluster.settle()?;
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let listeners: Vec<_> = (0..=SIZE).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
        let mut ports: Vec<u16> =
            listeners.iter().map(|l| Ok(l.local_addr()?.port())).collect::<std::io::Result<_>>()?;
        drop(listeners);
        let front = ports.pop().context("no port for the proxy")?;
        let proxy = Proxy::start(folder.path(), front, &ports, "max_fails=2 fail_timeout=2s", UPSTREAM)?;
        let mut fleet = Fleet {
            program: program.to_owned(),
            proxy,
            servers: Vec::new(),
            cluster,
            ports,
            credentials: String::new(),
            folder,
        };
        for n in 0..SIZE {
            let own = fleet.own_folder(n);
            std::fs::create_dir_all(own.join("svc-data"))?;
            if n > 0 {
                std::fs::copy(fleet.own_folder(0).join("svc-data/keys.toml"), own.join("svc-data/keys.toml"))?;
            }
            let server = fleet.serve(n)?;
            fleet.servers.push(Mutex::new(Some(server)));
            if n == 0 {
                fleet.credentials = server::credentials(fleet.command(0)?)?;
            }
            fleet.cluster.settle()?;
        }
        fleet.wait_until_healthy()?;
        Ok(Some(fleet))
    }

    fn own_folder(&self, n: usize) -> PathBuf {
        self.folder.path().join(n.to_string())
    }

    fn command(&self, n: usize) -> Result<Command> {
        let mut command = Command::new(&self.program);
        command.current_dir(self.own_folder(n)).env_clear();
        command.env("SVC_CONTENT_DIR", self.folder.path().join("content")).env("SVC_TRUSTED_PROXIES", "127.0.0.1");
        command.env("SVC_SITE_URL", self.front());
        // Full within minutes, so that memory that grows later is not the caches'.
        command.env("SVC_CACHE_SIZE", "8MB");
        let node = self.cluster.nodes().get(n).context("no such node")?;
        command.env("SVC_DATABASE", node.url("site"));
        Ok(command)
    }

    fn serve(&self, n: usize) -> Result<Server> {
        let port = self.ports.get(n).context("no such server")?;
        let mut command = self.command(n)?;
        command.args(["--listen", &format!("127.0.0.1:{port}"), "--log", "warn", "serve"]);
        Server::start(command, &self.own_folder(n).join("server.log"))
    }

    /// The URL of the proxy.
    pub(super) fn front(&self) -> &str {
        self.proxy.address()
    }

    /// The URL of a server.
    pub(super) fn address(&self, n: usize) -> String {
        format!("http://127.0.0.1:{}", self.ports.get(n).copied().unwrap_or_default())
    }

    fn server(&self, n: usize) -> Result<MutexGuard<'_, Option<Server>>> {
        let server = self.servers.get(n).context("no such server")?;
        Ok(server.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Kills a server.
    pub(super) fn kill_server(&self, n: usize) -> Result<()> {
        *self.server(n)? = None;
        Ok(())
    }

    /// Starts a server that was killed.
    pub(super) fn start_server(&self, n: usize) -> Result<()> {
        *self.server(n)? = Some(self.serve(n)?);
        Ok(())
    }

    /// Sends a signal to a server.
    pub(super) fn signal_server(&self, n: usize, signal: &str) -> Result<()> {
        let pid = self.server(n)?.as_ref().context("the server does not run")?.pid();
        ensure!(Command::new("kill").args([signal, &pid.to_string()]).status()?.success(), "kill {signal} {pid}");
        Ok(())
    }

    /// The memory of each server in bytes.
    pub(super) fn memory(&self) -> Vec<Option<u64>> {
        (0..SIZE).map(|n| self.server(n).ok()?.as_ref()?.memory()).collect()
    }

    /// Waits until each server reads from its node.
    pub(super) fn wait_until_healthy(&self) -> Result<()> {
        let begun = Instant::now();
        for n in 0..SIZE {
            while exchange(&self.address(n), "GET", "/readyz", &[], "").map_or(0, |response| response.status) != 200 {
                let log = || std::fs::read_to_string(self.own_folder(n).join("server.log")).unwrap_or_default();
                ensure!(begun.elapsed() < RECOVERY, "server {n} does not recover: {}", log());
                thread::sleep(Duration::from_millis(200));
            }
        }
        Ok(())
    }
}

/// The memory of each server a third into the samples, when all caches are full, and the last one, where both are known.
pub(super) fn growth(samples: &[Vec<Option<u64>>]) -> Vec<(u64, u64)> {
    let (Some(first), Some(last)) = (samples.get(samples.len().div_ceil(3)), samples.last()) else { return Vec::new() };
    first.iter().zip(last).filter_map(|(first, last)| Some(((*first)?, (*last)?))).collect()
}
