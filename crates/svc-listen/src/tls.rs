//! Connections with TLS: the handshake, and clients that send HTTP without it.
//!
//! A handshake has no limits of its own. Until a connection has served a request, it must send one within the time limit of heads, and
//! it is closed in favour of a new connection, like any other. So handshakes are bounded in time and number.

use std::{
    io::{self, IoSlice},
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use rustls::ServerConfig;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf},
    net::TcpListener,
    sync::watch,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::activity::{Activity, CLOSE_TIME, Socket};

/// A listening socket, with or without TLS.
pub struct Listener {
    pub(crate) tcp: TcpListener,
    pub(crate) tls: Option<TlsAcceptor>,
}

impl Listener {
    /// Connections use TLS. The configuration should offer the protocols (ALPN) `h2` and `http/1.1`. A connection for which another
    /// protocol is negotiated, such as that of a check of certificates, is closed after the handshake.
    pub fn with_tls(tcp: TcpListener, config: Arc<ServerConfig>) -> Self {
        Listener { tcp, tls: Some(TlsAcceptor::from(config)) }
    }
}

impl From<TcpListener> for Listener {
    fn from(tcp: TcpListener) -> Self {
        Listener { tcp, tls: None }
    }
}

/// Response to a request without TLS.
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 60\r\n\
    Connection: close\r\n\r\nThis port requires TLS: begin the URL with https, not http.\n";

/// Maximum number of bytes that are read from a client without TLS, so that it can read the response.
const PLAIN_BYTES: u64 = 64 << 10;

/// Performs the handshake. `None` if there is no connection that can send requests: because the handshake fails, or because a limit or the stop of
/// the server ends it.
pub(crate) async fn accept(
    acceptor: TlsAcceptor,
    socket: Socket,
    activity: &Activity,
    peer: SocketAddr,
    mut stopped: watch::Receiver<()>,
) -> Option<Box<TlsStream<Socket>>> {
    tokio::select! {
        biased;
        _how = activity.close_requested() => None,
        () = activity.until_stop(&mut stopped) => None,
        result = handshake(acceptor, socket) => result.unwrap_or_else(|error| {
            tracing::debug!("TLS handshake with {peer}: {error}");
            None
        }),
    }
}

async fn handshake(acceptor: TlsAcceptor, mut socket: Socket) -> io::Result<Option<Box<TlsStream<Socket>>>> {
    let Some(first) = socket.first_byte().await? else { return Ok(None) };
    // Methods are in capital letters. A record with a handshake begins with 22.
    if first.is_ascii_uppercase() {
        drop(tokio::time::timeout(CLOSE_TIME, explain(&mut socket)).await);
        return Ok(None);
    }
    let mut stream = Box::new(acceptor.accept(socket).await?);
    if matches!(stream.get_ref().1.alpn_protocol(), None | Some(b"h2" | b"http/1.1")) {
        return Ok(Some(stream));
    }
    drop(tokio::time::timeout(CLOSE_TIME, stream.shutdown()).await);
    Ok(None)
}

/// Responds to a request without TLS. The request is read, because the system would discard the response if it closed the socket
/// with unread bytes.
async fn explain(socket: &mut Socket) -> io::Result<()> {
    socket.write_all(PLAIN).await?;
    socket.shutdown().await?;
    tokio::io::copy(&mut socket.take(PLAIN_BYTES), &mut tokio::io::sink()).await.map(drop)
}

/// A connection, with or without TLS.
pub(crate) enum Stream {
    Plain(Socket),
    Tls(Box<TlsStream<Socket>>),
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Stream::Plain(socket) => Pin::new(socket).poll_read(context, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_read(context, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Stream::Plain(socket) => Pin::new(socket).poll_write(context, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_write(context, buf),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Stream::Plain(socket) => Pin::new(socket).poll_write_vectored(context, bufs),
            Stream::Tls(stream) => Pin::new(stream).poll_write_vectored(context, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Stream::Plain(socket) => socket.is_write_vectored(),
            Stream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Stream::Plain(socket) => Pin::new(socket).poll_flush(context),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Stream::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
