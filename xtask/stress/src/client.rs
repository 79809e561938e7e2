//! Legitimate clients, and the server that they and the attackers use.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use socket2::{Domain, Socket, Type};
use xtask_support::server::{self, Server};

/// The longest wait of a legitimate client before it counts as locked out.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time between two requests of a legitimate client.
const PAUSE: Duration = Duration::from_millis(100);

/// Starts the program on a folder and a free port, with settings such as `limits.body`.
pub(crate) fn start(program: &Path, folder: &Path, settings: &[(&str, String)]) -> Result<Server> {
    let mut command = Command::new(program);
    command.current_dir(folder).env_clear();
    for (key, value) in settings {
        command.env(format!("SVC_{}", key.replace('.', "_").to_uppercase()), value);
    }
    server::serve(command, folder)
}

/// The socket address of a server.
pub(crate) fn socket_address(server: &Server) -> Result<SocketAddr> {
    server.address().trim_start_matches("http://").parse().context("the server has no socket address")
}

/// Connects from this address. A receive buffer of `buffer` bytes limits how much the system reads ahead of the client.
pub(crate) fn connect(from: Ipv4Addr, to: SocketAddr, buffer: Option<usize>) -> std::io::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    if let Some(buffer) = buffer {
        socket.set_recv_buffer_size(buffer)?;
    }
    socket.bind(&SocketAddr::from((from, 0)).into())?;
    socket.connect_timeout(&to.into(), PATIENCE)?;
    Ok(socket.into())
}

/// Sends one request on a new connection and returns the status.
pub(crate) fn get(from: Ipv4Addr, to: SocketAddr, path: &str) -> Result<u16> {
    let mut stream = connect(from, to, None)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    let head = String::from_utf8_lossy(&response[..response.len().min(20)]).into_owned();
    match head.split(' ').nth(1).and_then(|status| status.parse().ok()) {
        Some(status) => Ok(status),
        None => bail!("no response"),
    }
}

/// A client that sends a request ten times a second until it is stopped.
pub(crate) struct Honest {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

/// Results of a legitimate client.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) n_requests: u64,
    /// The longest response time, including retries after a closed connection.
    pub(crate) slowest: Duration,
    /// Statuses other than 200.
    pub(crate) wrong: Vec<u16>,
}

impl Honest {
    pub(crate) fn start(from: Ipv4Addr, to: SocketAddr, path: &'static str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut seen = Seen::default();
            while !stopped.load(Ordering::Relaxed) {
                let begun = Instant::now();
                let status = loop {
                    match get(from, to, path) {
                        Ok(status) => break status,
                        Err(_) if begun.elapsed() > PATIENCE => break 0,
                        // Like a browser, it retries if its connection is closed.
                        Err(_) => std::thread::sleep(Duration::from_millis(20)),
                    }
                };
                seen.n_requests += 1;
                seen.slowest = seen.slowest.max(begun.elapsed());
                if status != 200 {
                    seen.wrong.push(status);
                }
                std::thread::sleep(PAUSE);
            }
            seen
        });
        Honest { stop, thread }
    }

    pub(crate) fn stop(self) -> Result<Seen> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.join() {
            Ok(seen) => Ok(seen),
            Err(_) => bail!("a legitimate client panicked"),
        }
    }
}
