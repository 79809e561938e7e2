//! Bodies that are made after the handler has returned.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt as _};

use super::error::internal_error;
use crate::{BoxFuture, Result};

/// A body that is made when it is sent, after the handler has returned and what it holds is free: its thread, its place among the
/// requests in progress, and its snapshot. For a client that has the response already, it is not made.
///
/// Clones are the same body, which is made once.
#[derive(Clone)]
pub struct LaterBody(Arc<Mutex<Option<BoxFuture<Result<MadeBody>>>>>);

/// A body of a known size, in parts. If reading it fails, the client sees that it is not complete.
pub struct MadeBody {
    /// Size of all parts in bytes.
    pub size: u64,
    /// The parts.
    pub parts: BoxStream<'static, io::Result<Bytes>>,
}

impl LaterBody {
    /// A body that this future makes. It may wait, and must not block. Its error replaces the response.
    pub fn new(making: impl Future<Output = Result<MadeBody>> + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::pin(making)))))
    }

    /// Makes the body.
    ///
    /// # Errors
    /// Those of the future; 500 if it was made before.
    pub async fn make(self) -> Result<MadeBody> {
        let making = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        making.ok_or_else(internal_error)?.await
    }
}

impl From<Bytes> for MadeBody {
    fn from(bytes: Bytes) -> Self {
        MadeBody { size: bytes.len() as u64, parts: stream::iter([Ok(bytes)]).boxed() }
    }
}

impl fmt::Debug for LaterBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaterBody").finish_non_exhaustive()
    }
}

impl fmt::Debug for MadeBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadeBody").field("size", &self.size).finish_non_exhaustive()
    }
}

impl PartialEq for LaterBody {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for LaterBody {}
