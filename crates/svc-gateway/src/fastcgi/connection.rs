//! One request on a connection of its own.
//!
//! A connection is closed with its request: a process of php-fpm serves only the connection that it has accepted, so an idle one would take a process
//! from all other clients. A new one over a Unix socket costs less than the look-up of a file.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf},
    net::TcpStream,
    time::{Instant, sleep, timeout_at},
};
use tokio_util::codec::FramedRead;

use super::{
    answer::{FastCgiAnswer, Incomplete, Task},
    head::{Collector, Head},
    record::{self, End, Record, Records},
    spool::Spool,
};
use crate::{
    body::{BoxError, Progress},
    failure::Failed,
    upstream::{Address, Upstream},
};

/// Maximum size of a part of the body that is read and sent at once, in bytes.
const PART: usize = 32 << 10;

/// Time between two attempts to connect to a socket whose queue is full.
const AGAIN: Duration = Duration::from_millis(20);

/// Minimum time between two log lines of scripts.
const REPORT: Duration = Duration::from_secs(1);

/// Maximum length of a logged message, in characters.
const MAX_MESSAGE: usize = 500;

/// A connection.
pub(crate) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// Logs what scripts write to the error log of the web server.
pub(crate) struct ErrorLog {
    upstream: Upstream,
    /// When a message was logged, and how many were not since then.
    last: Mutex<(Option<Instant>, u64)>,
}

impl ErrorLog {
    pub(crate) fn new(upstream: Upstream) -> Arc<Self> {
        Arc::new(ErrorLog { upstream, last: Mutex::default() })
    }

    /// Logs a message, unless one was logged just before.
    fn add(&self, message: &[u8]) {
        if let Some((message, suppressed)) = self.line(message) {
            tracing::warn!(upstream = self.upstream.authority(), message, suppressed, "a script reports errors");
        }
    }

    /// The message to log, and the number of messages that were not logged before.
    fn line(&self, message: &[u8]) -> Option<(String, u64)> {
        if message.trim_ascii().is_empty() {
            return None;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, suppressed) = &mut *last;
        if at.is_some_and(|at| at.elapsed() < REPORT) {
            *suppressed += 1;
            return None;
        }
        *at = Some(Instant::now());
        let suppressed = std::mem::take(suppressed);
        drop(last);
        // Other characters could forge lines of the log.
        let message = String::from_utf8_lossy(message);
        let message = message.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
        Some((message.take(MAX_MESSAGE).collect(), suppressed))
    }
}

/// Connects to the upstream within this time.
async fn connect(upstream: &Upstream, limit: Duration) -> Result<Box<dyn Socket>, Failed> {
    let deadline = Instant::now() + limit;
    loop {
        let error = match timeout_at(deadline, open(upstream)).await {
            Ok(Ok(socket)) => return Ok(socket),
            Ok(Err(error)) => error,
            Err(_late) => io::ErrorKind::TimedOut.into(),
        };
        // A Unix socket does not wait for a place in the queue of the server.
        let is_full = error.kind() == io::ErrorKind::WouldBlock;
        if is_full && Instant::now() + AGAIN < deadline {
            sleep(AGAIN).await;
            continue;
        }
        tracing::warn!(upstream = upstream.authority(), %error, "cannot forward a request");
        return Err(if is_full { Failed::Overloaded } else { Failed::Refused });
    }
}

/// Opens a connection to an upstream of any kind.
pub(crate) async fn open(upstream: &Upstream) -> io::Result<Box<dyn Socket>> {
    match &upstream.0 {
        #[cfg(unix)]
        Address::Socket(path) => Ok(Box::new(tokio::net::UnixStream::connect(path).await?)),
        #[cfg(not(unix))]
        Address::Socket(_) => Err(io::ErrorKind::Unsupported.into()),
        Address::FastCgi(_) | Address::Http(_) => {
            let stream = TcpStream::connect((upstream.host(), upstream.port())).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream))
        }
    }
}

/// Sends the records of a request. An error ends it: what has happened is known from the response, or from its absence.
async fn send(
    mut writer: WriteHalf<Box<dyn Socket>>,
    mut buffer: BytesMut,
    mut body: Spool,
    progress: Arc<Progress>,
) -> WriteHalf<Box<dyn Socket>> {
    let sent = async {
        body.rewind().await?;
        loop {
            let part = body.read(PART).await?;
            record::stdin(&mut buffer, part.len());
            writer.write_all(&buffer).await?;
            writer.write_all(&part).await?;
            progress.advance();
            buffer.clear();
            if part.is_empty() {
                return writer.flush().await;
            }
        }
    };
    if let Err(error) = sent.await {
        tracing::debug!(%error, "a request was not sent as a whole");
        // Without its end, the request would wait for the rest.
        let _closed = writer.shutdown().await;
    }
    // The caller closes the connection.
    writer
}

/// The task that sends a request. It ends with the response.
type Sender = Task<WriteHalf<Box<dyn Socket>>>;

/// How long a request may take.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) connect: Duration,
    pub(crate) response: Duration,
}

/// Sends a request, and returns the head and the body of its response. `head` is the beginning of the request.
///
/// # Errors
/// If there is no response, or it is not valid.
pub(crate) async fn exchange(
    upstream: &Upstream,
    head: BytesMut,
    body: Spool,
    times: Times,
    log: Arc<ErrorLog>,
) -> Result<(Head, FastCgiAnswer), Failed> {
    let (reader, writer) = tokio::io::split(connect(upstream, times.connect).await?);
    let progress = Progress::new();
    let sender = Task(tokio::spawn(send(writer, head, body, Arc::clone(&progress))));
    let mut records = FramedRead::new(reader, Records);
    let received = progress.within(times.response, receive_head(&mut records, &log)).await;
    let (head, first) = received.ok_or(Failed::Late)??;
    let answer = FastCgiAnswer::new(FastCgiResponse { records, log, _sender: sender }, first, head.length);
    Ok((head, answer))
}

async fn receive_head(records: &mut Reader, log: &ErrorLog) -> Result<(Head, Bytes), Failed> {
    let mut collector = Collector::default();
    loop {
        match records.next().await {
            Some(Ok(Record::Stdout(part))) => {
                if let Some(received) = collector.add(&part)? {
                    return Ok(received);
                }
            }
            Some(Ok(Record::Stderr(message))) => log.add(&message),
            Some(Ok(Record::Other)) => {}
            Some(Ok(Record::End(End::Overloaded))) => return Err(Failed::Overloaded),
            Some(Ok(Record::End(End::Complete | End::Refused))) => return Err(Failed::Invalid),
            Some(Err(error)) if error.kind() == io::ErrorKind::InvalidData => return Err(Failed::Invalid),
            // Also in the middle of the head, since the client has got nothing of it.
            Some(Err(_)) | None => return Err(Failed::Closed),
        }
    }
}

/// The records of a response.
type Reader = FramedRead<ReadHalf<Box<dyn Socket>>, Records>;

/// A response whose head has been received. Dropping it closes the connection, which is how a request is aborted.
pub(super) struct FastCgiResponse {
    records: Reader,
    log: Arc<ErrorLog>,
    _sender: Sender,
}

impl FastCgiResponse {
    /// The next part of the body. `None` at its end.
    ///
    /// # Errors
    /// If the connection ends before the response.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, BoxError> {
        loop {
            match self.records.next().await {
                Some(Ok(Record::Stdout(part))) if part.is_empty() => {}
                Some(Ok(Record::Stdout(part))) => return Ok(Some(part)),
                Some(Ok(Record::Stderr(message))) => self.log.add(&message),
                Some(Ok(Record::Other)) => {}
                Some(Ok(Record::End(End::Complete))) => return Ok(None),
                Some(Ok(Record::End(_))) | None => return Err(Incomplete.into()),
                Some(Err(error)) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn messages_of_scripts_are_bounded() {
        let log = ErrorLog::new("fastcgi://127.0.0.1:9000".parse().unwrap());
        assert_eq!(log.line(b" \n"), None);
        assert_eq!(log.line(b"PHP Notice:  a\nb\x1b[0m\xff\n"), Some(("PHP Notice:  a b [0m\u{fffd}".to_owned(), 0)));
        assert_eq!((log.line(b"second"), log.line(b"third")), (None, None));
        tokio::time::advance(REPORT).await;
        let (message, suppressed) = log.line(&[b'x'; 60_000]).unwrap();
        assert_eq!((message.len(), suppressed), (MAX_MESSAGE, 2));
    }
}
