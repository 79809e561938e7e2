//! A MariaDB server with a read replica, for tests: private servers that replicate over loopback with GTIDs, with a lag if it is wanted.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::mariadb::MariaDb;

/// Time limit for the replica to connect, or to catch up.
const TIMEOUT: Duration = Duration::from_mins(5);

/// Maximum number of reads from the server that wait for their time. Further ones stay in the socket.
const MAX_DELAYED: usize = 4_096;

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
        Self::start_with_lag(Duration::ZERO)
    }

    /// [`Self::start`] with a replica that gets each change this much later than it was made.
    ///
    /// # Errors
    /// If a server does not start, or the replica does not connect.
    pub fn start_with_lag(lag: Duration) -> Result<Option<Self>> {
        let port = TcpListener::bind("127.0.0.1:0").context("no free port")?.local_addr()?.port();
        let common = ["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M", "--skip-name-resolve"];
        let port_option = format!("--port={port}");
        let own = ["--bind-address=127.0.0.1", &port_option, "--log-bin=bin", "--server-id=1"];
        let Some(primary) = MariaDb::start(&[&common[..], &own].concat())? else { return Ok(None) };
        let own = ["--skip-networking", "--log-bin=bin", "--server-id=2", "--read-only=1", "--log-slave-updates=1"];
        let Some(replica) = MariaDb::start(&[&common[..], &own].concat())? else { return Ok(None) };
        primary.client("CREATE USER repl@'127.0.0.1'; GRANT REPLICATION SLAVE ON *.* TO repl@'127.0.0.1'")?;
        let from = if lag.is_zero() { port } else { delayed(port, lag)? };
        replica.client(&format!(
            "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {from}, MASTER_USER = 'repl', \
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

/// Listens on a free port, and connects those who connect to it with a port of this machine: what is read from there is passed on
/// after this time. It ends with the process.
fn delayed(port: u16, lag: Duration) -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
    let own = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // The client notices that its connection is closed, and connects again.
            drop(
                TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port)))
                    .and_then(|server| join(client, server, lag)),
            );
        }
    });
    Ok(own)
}

/// Passes on what a client and a server send each other, the latter after this time.
fn join(client: TcpStream, server: TcpStream, lag: Duration) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || {
        drop(std::io::copy(&mut from_client, &mut to_server));
        drop(to_server.shutdown(Shutdown::Both));
    });
    let (sender, receiver) = mpsc::sync_channel::<(Instant, Vec<u8>)>(MAX_DELAYED);
    let (mut from_server, mut to_client) = (server, client);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(n @ 1..) = from_server.read(&mut buffer) {
            let part = buffer.get(..n).unwrap_or_default().to_vec();
            if sender.send((Instant::now() + lag, part)).is_err() {
                break;
            }
        }
        drop(from_server.shutdown(Shutdown::Both));
    });
    std::thread::spawn(move || {
        for (due, part) in receiver {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if to_client.write_all(&part).is_err() {
                break;
            }
        }
        drop(to_client.shutdown(Shutdown::Both));
    });
    Ok(())
}
