//! A Galera cluster for tests: private MariaDB servers that replicate to each other over loopback.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::mariadb::{MariaDb, QUICK};

/// Where packages put the replication library.
const PROVIDERS: [&str; 3] =
    ["/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so", "/usr/lib64/galera/libgalera_smm.so"];

/// How long a node may take to join.
const JOIN: Duration = Duration::from_secs(60);

/// The nodes of a cluster, all of them synced when it starts.
pub struct Galera {
    nodes: Vec<MariaDb>,
}

impl Galera {
    /// Starts a cluster of this many nodes; `None` when MariaDB or Galera is not installed.
    ///
    /// # Errors
    /// When a node does not start or join.
    pub fn start(n_nodes: usize) -> Result<Option<Self>> {
        let Some(provider) = PROVIDERS.into_iter().find(|p| Path::new(p).exists()) else { return Ok(None) };
        // A node that joins receives its data from rsync, which gives up root's rights and then cannot write root's files.
        let user = is_root().then_some("mysql");
        let mut ports = free_ports(3 * n_nodes)?.into_iter();
        let mut next = || ports.next().context("there are three ports for each node");
        let mut nodes = Vec::new();
        let mut first = None;
        for n in 0..n_nodes {
            let (group, increments, snapshot) = (next()?, next()?, next()?);
            let cluster = first.map(|port| format!("127.0.0.1:{port}")).unwrap_or_default();
            first.get_or_insert(group);
            let mut options: Vec<String> = QUICK.iter().map(|o| (*o).to_owned()).collect();
            options.extend([
                "--wsrep-on=ON".to_owned(),
                format!("--wsrep-provider={provider}"),
                "--wsrep-cluster-name=tests".to_owned(),
                format!("--wsrep-cluster-address=gcomm://{cluster}"),
                format!("--wsrep-node-name=node{n}"),
                format!("--wsrep-node-address=127.0.0.1:{group}"),
                format!(
                    "--wsrep-provider-options=base_port={group};gmcast.listen_addr=tcp://127.0.0.1:{group};\
                     ist.recv_addr=127.0.0.1:{increments};gcache.size=16M;pc.recovery=FALSE"
                ),
                "--wsrep-sst-method=rsync".to_owned(),
                format!("--wsrep-sst-receive-address=127.0.0.1:{snapshot}"),
                "--binlog-format=ROW".to_owned(),
                "--innodb-autoinc-lock-mode=2".to_owned(),
            ]);
            let Some(node) = MariaDb::start_as(user, options)? else { return Ok(None) };
            synced(&node, n + 1)?;
            nodes.push(node);
        }
        Ok(Some(Galera { nodes }))
    }

    /// The nodes.
    pub fn nodes(&self) -> &[MariaDb] {
        &self.nodes
    }

    /// Waits until every node has applied all that was committed on any of them.
    ///
    /// # Errors
    /// When a node does not respond.
    pub fn settle(&self) -> Result<()> {
        // A causal read waits for the whole cluster.
        self.nodes.iter().try_for_each(|node| node.client("SET wsrep_sync_wait = 1; SELECT 1").map(drop))
    }
}

/// Waits until the node is part of a cluster of this size.
fn synced(node: &MariaDb, size: usize) -> Result<()> {
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
        if start.elapsed() > JOIN {
            bail!("a node does not join the cluster: {status}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Ports of loopback that nobody listens on now.
fn free_ports(n: usize) -> Result<Vec<u16>> {
    // All are taken before the first is given back, so that no port comes twice.
    let taken: Vec<TcpListener> =
        (0..n).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<std::io::Result<_>>().context("no free port")?;
    taken.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

fn is_root() -> bool {
    std::process::Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout.trim_ascii() == b"0")
}
