//! A Galera cluster for tests: private MariaDB servers that replicate to each other over loopback.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

/// Where packages install the replication library.
const PROVIDERS: [&str; 3] =
    ["/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so", "/usr/lib64/galera/libgalera_smm.so"];

/// Time limit for a node to join the cluster.
const JOIN_TIMEOUT: Duration = Duration::from_mins(5);

/// A cluster whose nodes are all synced when it starts.
pub struct Galera {
    nodes: Vec<MariaDb>,
}

impl Galera {
    /// Starts a cluster of `n_nodes` nodes. `None` if MariaDB or Galera is not installed.
    ///
    /// # Errors
    /// If a node does not start or join.
    pub fn start(n_nodes: usize) -> Result<Option<Self>> {
        let Some(provider) = PROVIDERS.into_iter().find(|p| Path::new(p).exists()) else { return Ok(None) };
        // A joining node receives its data from rsync, which drops root privileges and cannot write files of root.
        let user = is_root().then_some("mysql");
        let mut ports = free_ports(3 * n_nodes)?.into_iter();
        let mut next = || ports.next().context("not enough ports");
        let mut nodes = Vec::new();
        let mut group_ports = Vec::new();
        for n in 0..n_nodes {
            let (group_port, increments_port, snapshot_port) = (next()?, next()?, next()?);
            let cluster = group_ports.first().map(|port| format!("127.0.0.1:{port}")).unwrap_or_default();
            group_ports.push(group_port);
            let mut options: Vec<String> = DISPOSABLE_OPTIONS.iter().map(|o| (*o).to_owned()).collect();
            options.extend([
                "--wsrep-on=ON".to_owned(),
                format!("--wsrep-provider={provider}"),
                "--wsrep-cluster-name=tests".to_owned(),
                format!("--wsrep-cluster-address=gcomm://{cluster}"),
                format!("--wsrep-node-name=node{n}"),
                format!("--wsrep-node-address=127.0.0.1:{group_port}"),
                format!(
                    "--wsrep-provider-options=base_port={group_port};gmcast.listen_addr=tcp://127.0.0.1:{group_port};\
                     ist.recv_addr=127.0.0.1:{increments_port};gcache.size=16M;pc.recovery=FALSE"
                ),
                "--wsrep-sst-method=rsync".to_owned(),
                format!("--wsrep-sst-receive-address=127.0.0.1:{snapshot_port}"),
                "--binlog-format=ROW".to_owned(),
                "--innodb-autoinc-lock-mode=2".to_owned(),
            ]);
            let Some(node) = MariaDb::start_as(user, options)? else { return Ok(None) };
            wait_until_synced(&node, n + 1)?;
            nodes.push(node);
        }
        // A node that is killed joins the others again, whichever of them run.
        let all: Vec<String> = group_ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        for node in &mut nodes {
            node.set_option(format!("--wsrep-cluster-address=gcomm://{}", all.join(",")));
        }
        Ok(Some(Galera { nodes }))
    }

    /// The nodes, in the order in which they joined.
    pub fn nodes(&self) -> &[MariaDb] {
        &self.nodes
    }

    /// Waits until every node has applied all transactions that were committed on any node.
    ///
    /// # Errors
    /// If a node does not respond.
    pub fn settle(&self) -> Result<()> {
        // A causal read waits for the whole cluster.
        self.nodes.iter().try_for_each(|node| node.client("SET wsrep_sync_wait = 1; SELECT 1").map(drop))
    }
}

/// Waits until the node is synced in a cluster of this size.
fn wait_until_synced(node: &MariaDb, size: usize) -> Result<()> {
    let start = Instant::now();
    loop {
        let status = node.client(
            "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_state_comment', 'wsrep_cluster_size', 'wsrep_ready')",
        );
        let status = status.unwrap_or_default();
        let is = |name: &str, value: &str| status.lines().any(|line| line == format!("{name}\t{value}"));
        if is("wsrep_local_state_comment", "Synced")
            && is("wsrep_cluster_size", &size.to_string())
            && is("wsrep_ready", "ON")
        {
            return Ok(());
        }
        if start.elapsed() > JOIN_TIMEOUT {
            bail!("a node did not join the cluster: {status}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Unused loopback ports.
fn free_ports(n: usize) -> Result<Vec<u16>> {
    // Bind all of them before releasing the first, so that no port is returned twice.
    let listeners: Vec<TcpListener> =
        (0..n).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<std::io::Result<_>>().context("no free port")?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

fn is_root() -> bool {
    std::process::Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout.trim_ascii() == b"0")
}
