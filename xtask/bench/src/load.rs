//! A load generator: keep-alive connections on one thread, one request at a time on each.
//!
//! It shares the processor with the servers, so only ratios of figures from alternating rounds mean anything. It reads no more
//! of a response than its status and its length.

use std::{
    cell::Cell,
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Longest time for one response.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request without the headers that all have.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) path: String,
    /// Further header lines, each with its line end.
    pub(super) headers: String,
    pub(super) body: String,
}

impl Request {
    pub(super) fn get(path: impl Into<String>) -> Self {
        Request { method: "GET", path: path.into(), ..Request::default() }
    }

    fn text(&self, host: &str) -> Vec<u8> {
        let Request { method, path, headers, body } = self;
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}{length}\r\n{body}").into_bytes()
    }
}

/// When clients stop.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    Elapsed(Duration),
    /// After this many requests of all clients together.
    Requests(u64),
}

/// Results of a round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) n_requests: u64,
    /// Responses without a status from 200 to 299.
    pub(super) n_failed: u64,
    pub(super) elapsed: Duration,
    pub(super) slowest: Duration,
}

impl Outcome {
    pub(super) fn per_second(&self) -> f64 {
        self.n_requests as f64 / self.elapsed.as_secs_f64()
    }
}

/// The clients of one server.
pub(super) struct Clients<'a> {
    /// `HOST:PORT`.
    pub(super) host: &'a str,
    pub(super) n_clients: usize,
    /// Pause of each client between two requests.
    pub(super) pause: Duration,
    /// The request of a number; numbers never repeat.
    pub(super) request: &'a dyn Fn(u64) -> Request,
}

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// A number that has not been used on this thread.
fn next() -> u64 {
    NEXT.replace(NEXT.get() + 1)
}

impl Clients<'_> {
    /// Sends requests on the current thread.
    pub(super) fn run(&self, until: Until) -> Result<Outcome> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.send(until))
    }

    pub(super) async fn send(&self, until: Until) -> Result<Outcome> {
        let address = self.host.parse().with_context(|| format!("{} is not a socket address", self.host))?;
        let begun = Instant::now();
        let left = Cell::new(match until {
            Until::Elapsed(_) => u64::MAX,
            Until::Requests(n) => n,
        });
        let deadline = match until {
            Until::Elapsed(time) => Some(begun + time),
            Until::Requests(_) => None,
        };
        let outcome =
            Cell::new(Outcome { n_requests: 0, n_failed: 0, elapsed: Duration::ZERO, slowest: Duration::ZERO });
        let client = async || {
            let mut connection = Connection::open(address).await?;
            while left.get() > 0 && deadline.is_none_or(|deadline| Instant::now() < deadline) {
                left.set(left.get() - 1);
                let request = (self.request)(next()).text(self.host);
                let sent = Instant::now();
                let status = tokio::time::timeout(PATIENCE, connection.exchange(&request))
                    .await
                    .context("no response within a minute")??;
                let mut total = outcome.get();
                total.n_requests += 1;
                total.n_failed += u64::from(!(200..300).contains(&status));
                total.slowest = total.slowest.max(sent.elapsed());
                outcome.set(total);
                if !self.pause.is_zero() {
                    tokio::time::sleep(self.pause).await;
                }
            }
            Ok::<_, anyhow::Error>(())
        };
        futures_util::future::try_join_all((0..self.n_clients).map(|_| client())).await?;
        Ok(Outcome { elapsed: begun.elapsed(), ..outcome.get() })
    }
}

/// A keep-alive connection.
struct Connection {
    address: SocketAddr,
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// How the end of a body is found.
enum Framing {
    Length(usize),
    Chunked,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { address, stream, buffer: Vec::with_capacity(64 << 10) })
    }

    /// Sends a request and reads the response. Returns its status.
    async fn exchange(&mut self, request: &[u8]) -> Result<u16> {
        self.buffer.clear();
        // The server may have closed the connection after its last response.
        if self.stream.write_all(request).await.is_err()
            || self.stream.read_buf(&mut self.buffer).await.unwrap_or(0) == 0
        {
            *self = Connection::open(self.address).await?;
            self.stream.write_all(request).await?;
        }
        let head = loop {
            match self.buffer.windows(4).position(|end| end == b"\r\n\r\n") {
                Some(end) => break end + 4,
                None => self.read().await?,
            }
        };
        let (status, framing) = parse(&self.buffer[..head]).context("the head of a response is incomplete")?;
        match framing {
            Framing::Length(length) => {
                let mut n_read = self.buffer.len();
                while n_read < head + length {
                    self.buffer.clear();
                    self.read().await?;
                    n_read += self.buffer.len();
                }
            }
            Framing::Chunked => self.read_chunks(head).await?,
        }
        Ok(status)
    }

    async fn read_chunks(&mut self, mut at: usize) -> Result<()> {
        loop {
            let Some(line) = self.buffer[at..].windows(2).position(|end| end == b"\r\n") else {
                self.read().await?;
                continue;
            };
            let size = std::str::from_utf8(&self.buffer[at..at + line])?;
            let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16)?;
            let end = at + line + 2 + size + 2;
            while self.buffer.len() < end {
                self.read().await?;
            }
            if size == 0 {
                return Ok(());
            }
            at = end;
        }
    }

    async fn read(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the connection was closed within a response");
        }
        Ok(())
    }
}

/// Status and framing of a response.
fn parse(head: &[u8]) -> Option<(u16, Framing)> {
    let head = std::str::from_utf8(head).ok()?;
    let status = head.get(9..12)?.parse().ok()?;
    let mut framing = Framing::Length(0);
    for line in head.lines().skip(1) {
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            framing = Framing::Length(value.trim().parse().ok()?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            framing = Framing::Chunked;
        }
    }
    Some((status, framing))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    /// Serves these responses on one connection, one for each request.
    fn serve(responses: Vec<&'static str>) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            for response in responses {
                let mut buffer = [0; 1024];
                if stream.read(&mut buffer).unwrap() == 0 {
                    return;
                }
                // In small parts, so that a client has to read several times.
                for part in response.as_bytes().chunks(7) {
                    stream.write_all(part).unwrap();
                    stream.flush().unwrap();
                }
            }
        });
        host
    }

    #[test]
    fn reads_responses_to_their_ends() {
        let host = serve(vec![
            "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n01234567890123456789",
            "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\nb;x=y\r\n0123456789a\r\n0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\n\r\n",
        ]);
        let request = |_| Request::get("/");
        let clients = Clients { host: &host, n_clients: 1, pause: Duration::ZERO, request: &request };
        let outcome = clients.run(Until::Requests(4)).unwrap();
        assert_eq!((outcome.n_requests, outcome.n_failed), (4, 2));
    }
}
