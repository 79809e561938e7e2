//! A request body that has been received as a whole, in memory or in a temporary file.
//!
//! PHP does not recognize a body that ends early: the script runs with what has arrived, and would store the beginning of a text.
//! PHP also keeps one of its few processes for a request from the first byte on, however slow the client is. So a request begins when
//! its body is complete. Its length, which is a parameter before the body, is then known as well.

use std::io::SeekFrom;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use tokio::{
    fs::File,
    io::{self, AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _},
    time::{Duration, timeout},
};

use crate::{
    body::{Body, Progress, Upload},
    failure::Failure,
};

/// Maximum size of a part of a body in memory, in bytes.
const IN_MEMORY: usize = 128 << 10;

/// A complete body.
pub(crate) struct Spool {
    length: u64,
    /// The end of the body, or all of it.
    memory: Bytes,
    /// The beginning, if the body is longer than fits into memory. The file has no name and disappears when it is closed.
    file: Option<File>,
}

impl Spool {
    /// A body without content.
    pub(crate) fn empty() -> Self {
        Spool { length: 0, memory: Bytes::new(), file: None }
    }

    /// Receives a body of at most `limit` bytes. `idle` is the maximum time between two parts.
    ///
    /// # Errors
    /// If the body is too large or cannot be received, or there is no space for it.
    pub(crate) async fn receive(body: Body, limit: u64, idle: Duration) -> Result<Spool, Failure> {
        let progress = Progress::new();
        let mut body = Upload::new(body, std::sync::Arc::clone(&progress));
        let (mut length, mut memory, mut file) = (0_u64, BytesMut::new(), None);
        loop {
            let Ok(frame) = timeout(idle, body.frame()).await else { return Err(Failure::Unreadable) };
            let part = match frame {
                None => break,
                Some(Err(_)) => return Err(progress.failure().unwrap_or(Failure::Unreadable)),
                // Trailers have no place in CGI.
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            };
            length += part.len() as u64;
            if length > limit {
                return Err(Failure::TooLarge);
            }
            if memory.len() + part.len() > IN_MEMORY {
                let full = [memory.split().freeze(), part];
                append(&mut file, &full).await.map_err(|error| no_space(&error))?;
            } else {
                memory.extend_from_slice(&part);
            }
        }
        if let Some(file) = &mut file {
            file.flush().await.map_err(|error| no_space(&error))?;
        }
        Ok(Spool { length, memory: memory.freeze(), file })
    }

    /// Size of the body in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Prepares to read the body from its beginning.
    pub(crate) async fn rewind(&mut self) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.seek(SeekFrom::Start(0)).await.map(|_| ()),
            None => Ok(()),
        }
    }

    /// Reads the next part, of at most `max` bytes. Empty at the end.
    pub(crate) async fn read(&mut self, max: usize) -> io::Result<Bytes> {
        if let Some(file) = &mut self.file {
            let mut part = BytesMut::with_capacity(max);
            let read = io::AsyncReadExt::take(&mut *file, max as u64).read_buf(&mut part).await?;
            if read > 0 {
                return Ok(part.freeze());
            }
            self.file = None;
        }
        let n = self.memory.len().min(max);
        Ok(self.memory.split_to(n))
    }
}

async fn append(file: &mut Option<File>, parts: &[Bytes]) -> io::Result<()> {
    let file = match file {
        Some(file) => file,
        None => {
            let made = tokio::task::spawn_blocking(tempfile::tempfile).await.map_err(io::Error::other)??;
            file.insert(File::from_std(made))
        }
    };
    for part in parts {
        file.write_all(part).await?;
    }
    Ok(())
}

fn no_space(error: &io::Error) -> Failure {
    tracing::error!(%error, "cannot write a request body to a temporary file");
    Failure::Busy
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::{Full, Limited, StreamBody};

    use super::*;
    use crate::body::{BoxError, boxed};

    const IDLE: Duration = Duration::from_millis(200);

    fn parts(sizes: &[usize]) -> (Body, Vec<u8>) {
        let parts: Vec<Bytes> = sizes.iter().enumerate().map(|(i, n)| Bytes::from(vec![i as u8; *n])).collect();
        let all = parts.concat();
        let frames = parts.into_iter().map(|part| Ok::<_, BoxError>(Frame::data(part)));
        (boxed(StreamBody::new(stream::iter(frames))), all)
    }

    #[tokio::test]
    async fn a_body_is_read_as_it_was_received() {
        for sizes in [&[][..], &[5], &[IN_MEMORY], &[IN_MEMORY, 1], &[IN_MEMORY + 1], &[90_000, 90_000, 90_000, 3]] {
            let (body, all) = parts(sizes);
            let mut spool = Spool::receive(body, 1 << 20, IDLE).await.unwrap();
            assert_eq!((spool.length(), spool.file.is_some()), (all.len() as u64, all.len() > IN_MEMORY), "{sizes:?}");
            spool.rewind().await.unwrap();
            let mut read = Vec::new();
            loop {
                let part = spool.read(10_000).await.unwrap();
                assert!(part.len() <= 10_000);
                if part.is_empty() {
                    break;
                }
                read.extend_from_slice(&part);
            }
            assert!(read == all, "{sizes:?}");
        }
    }

    #[tokio::test]
    async fn bodies_that_are_not_complete() {
        let failure = async |body, limit| Spool::receive(body, limit, IDLE).await.err();
        assert_eq!(failure(parts(&[5, 5]).0, 9).await, Some(Failure::TooLarge));
        let limited = boxed(Limited::new(Full::new(Bytes::from("12345")), 3));
        assert_eq!(failure(limited, 9).await, Some(Failure::TooLarge));
        let broken = stream::iter([Ok(Frame::data(Bytes::from("abc"))), Err::<_, BoxError>("gone".into())]);
        assert_eq!(failure(boxed(StreamBody::new(broken)), 9).await, Some(Failure::Unreadable));
        let stalled = StreamBody::new(stream::pending::<Result<Frame<Bytes>, BoxError>>());
        assert_eq!(failure(boxed(stalled), 9).await, Some(Failure::Unreadable));
    }
}
