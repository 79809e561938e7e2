//! One request on a connection of its own.
//!
//! Connections are not kept: a process of php-fpm serves only the connection that it has accepted, so an idle one would take a process
//! from all other clients. A new one over a Unix socket costs less than the look-up of a file.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::{Stream as _, StreamExt as _};
use http_body::{Frame, SizeHint};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf},
    net::TcpStream,
    task::JoinHandle,
    time::{Instant, sleep, timeout_at},
};
use tokio_util::codec::FramedRead;

use super::{
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
trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

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

    fn add(&self, message: &[u8]) {
        if message.trim_ascii().is_empty() {
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, suppressed) = &mut *last;
        if at.is_some_and(|at| at.elapsed() < REPORT) {
            *suppressed += 1;
            return;
        }
        let suppressed = std::mem::take(suppressed);
        *at = Some(Instant::now());
        drop(last);
        // Other characters could forge lines of the log.
        let message = String::from_utf8_lossy(message);
        let message = message.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
        let message: String = message.take(MAX_MESSAGE).collect();
        tracing::warn!(upstream = self.upstream.authority(), message, suppressed, "a script reports errors");
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

async fn open(upstream: &Upstream) -> io::Result<Box<dyn Socket>> {
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
struct Sender(JoinHandle<WriteHalf<Box<dyn Socket>>>);

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.abort();
    }
}

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
) -> Result<(Head, Answer), Failed> {
    let (reader, writer) = tokio::io::split(connect(upstream, times.connect).await?);
    let progress = Progress::new();
    let sender = Sender(tokio::spawn(send(writer, head, body, Arc::clone(&progress))));
    let mut answer = Answer {
        records: FramedRead::new(reader, Records),
        part: Bytes::new(),
        remaining: None,
        has_ended: false,
        log,
        _sender: sender,
    };
    let head = progress.within(times.response, answer.head()).await.ok_or(Failed::Late)??;
    Ok((head, answer))
}

/// The upstream closed the connection before the end of the response.
#[derive(Debug, thiserror::Error)]
#[error("the response of the upstream is not complete")]
struct Incomplete;

/// The body of a response. Dropping it closes the connection, which is how a request is aborted.
pub(crate) struct Answer {
    records: FramedRead<ReadHalf<Box<dyn Socket>>, Records>,
    /// The beginning of the body, which was received with the head.
    part: Bytes,
    /// Bytes until the end of the body, if the script has set its length.
    remaining: Option<u64>,
    has_ended: bool,
    log: Arc<ErrorLog>,
    _sender: Sender,
}

impl Answer {
    async fn head(&mut self) -> Result<Head, Failed> {
        let mut collector = Collector::default();
        loop {
            match self.records.next().await {
                Some(Ok(Record::Stdout(part))) => {
                    if let Some((head, rest)) = collector.add(&part)? {
                        (self.part, self.remaining) = (rest, head.length);
                        return Ok(head);
                    }
                }
                Some(Ok(Record::Stderr(message))) => self.log.add(&message),
                Some(Ok(Record::Other)) => {}
                Some(Ok(Record::End(End::Overloaded))) => return Err(Failed::Overloaded),
                Some(Ok(Record::End(End::Complete | End::Refused))) => return Err(Failed::Invalid),
                Some(Err(error)) if error.kind() == io::ErrorKind::InvalidData => return Err(Failed::Invalid),
                // Also in the middle of the head, since the client has got nothing of it.
                Some(Err(_)) | None => return Err(Failed::Closed),
            }
        }
    }

    /// The next part of the response, also beyond the length that the script has set. `None` at its end.
    fn poll_part(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        loop {
            if !self.part.is_empty() {
                return Poll::Ready(Some(Ok(std::mem::take(&mut self.part))));
            }
            if self.has_ended {
                return Poll::Ready(None);
            }
            let record = ready!(Pin::new(&mut self.records).poll_next(context));
            self.has_ended = !matches!(record, Some(Ok(Record::Stdout(_) | Record::Stderr(_) | Record::Other)));
            match record {
                Some(Ok(Record::Stdout(part))) => self.part = part,
                Some(Ok(Record::Stderr(message))) => self.log.add(&message),
                Some(Ok(Record::Other)) => {}
                Some(Ok(Record::End(End::Complete))) if self.remaining.is_none_or(|n| n == 0) => {}
                Some(Ok(Record::End(_))) | None => return Poll::Ready(Some(Err(Incomplete.into()))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
            }
        }
    }
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        loop {
            let Some(part) = ready!(self.poll_part(context)) else { return Poll::Ready(None) };
            let mut part = match part {
                Ok(part) => part,
                Err(error) => return Poll::Ready(Some(Err(error))),
            };
            if let Some(remaining) = &mut self.remaining {
                // What exceeds the length would be the beginning of the next response for a client.
                part.truncate(usize::try_from(*remaining).unwrap_or(usize::MAX));
                *remaining -= part.len() as u64;
            }
            if part.has_remaining() {
                return Poll::Ready(Some(Ok(Frame::data(part))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.has_ended && self.part.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        self.remaining.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
