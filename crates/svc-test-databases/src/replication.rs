//! A MariaDB server with a read replica, for tests: private servers that replicate over loopback with GTIDs.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::mariadb::MariaDb;

/// Time limit for the replica to connect, or to catch up.
const TIMEOUT: Duration = Duration::from_mins(5);

/// A server and its replica.
pub struct Replication {
    /// The server that is written.
    pub primary: MariaDb,
    /// The server that is read-only.
    pub replica: MariaDb,
}

impl Replication {
    /// Starts a server and its replica. `None` if MariaDB is not installed.
    ///
    /// # Errors
    /// If a server does not start, or the replica does not connect.
    pub fn start() -> Result<Option<Self>> {
        let port = TcpListener::bind("127.0.0.1:0").context("no free port")?.local_addr()?.port();
        let common = ["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M", "--skip-name-resolve"];
        let port_option = format!("--port={port}");
        let own = ["--bind-address=127.0.0.1", &port_option, "--log-bin=bin", "--server-id=1"];
        let Some(primary) = MariaDb::start(&[&common[..], &own].concat())? else { return Ok(None) };
        let own = ["--skip-networking", "--log-bin=bin", "--server-id=2", "--read-only=1", "--log-slave-updates=1"];
        let Some(replica) = MariaDb::start(&[&common[..], &own].concat())? else { return Ok(None) };
        primary.client("CREATE USER repl@'127.0.0.1'; GRANT REPLICATION SLAVE ON *.* TO repl@'127.0.0.1'")?;
        replica.client(&format!(
            "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, MASTER_USER = 'repl', \
             MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos; START SLAVE"
        ))?;
        let pair = Replication { primary, replica };
        pair.catch_up()?;
        Ok(Some(pair))
    }

    /// Waits until the replica has everything that is on the primary.
    ///
    /// # Errors
    /// If it does not catch up.
    pub fn catch_up(&self) -> Result<()> {
        let position = self.primary.client("SELECT @@global.gtid_binlog_pos")?;
        let begun = Instant::now();
        while self.replica.client("SELECT @@global.gtid_slave_pos")? != position {
            if begun.elapsed() > TIMEOUT {
                bail!("the replica does not catch up: {}", self.replica.client("SHOW SLAVE STATUS\\G")?);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// The replica applies nothing until [`Self::go_on`].
    ///
    /// # Errors
    /// The client's error message.
    pub fn hold(&self) -> Result<()> {
        self.replica.client("STOP SLAVE SQL_THREAD").map(drop)
    }

    /// Ends [`Self::hold`].
    ///
    /// # Errors
    /// The client's error message.
    pub fn go_on(&self) -> Result<()> {
        self.replica.client("START SLAVE SQL_THREAD").map(drop)
    }
}
