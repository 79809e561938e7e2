//! Files as they arrive: small ones in memory, large ones on disk.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, TryStreamExt};
use svc_routing::Error;
use svc_routing::request::FileData;
use tokio::io::AsyncWriteExt;

use crate::request::{too_large, unreadable};

/// Reads a file of at most `limit` bytes, and tells its size. Beyond `in_memory` bytes it goes to a temporary file, which
/// goes with the last clone.
///
/// # Errors
/// 413 beyond the limit, 400 when the stream breaks, 500 when the disk takes no more.
pub(crate) async fn read<S, E>(stream: S, limit: u64, in_memory: usize) -> Result<(FileData, u64), Error>
where
    S: Stream<Item = Result<Bytes, E>>,
    E: Into<Refusal>,
{
    let mut stream = std::pin::pin!(stream);
    let mut memory = BytesMut::new();
    let mut disk: Option<(tokio::fs::File, tempfile::TempPath)> = None;
    let mut size = 0_u64;
    while let Some(chunk) = stream.try_next().await.map_err(|error| error.into().0)? {
        size += chunk.len() as u64;
        if size > limit {
            return Err(too_large());
        }
        if disk.is_none() && memory.len() + chunk.len() > in_memory {
            let (file, path) = tempfile::NamedTempFile::new().map_err(lost)?.into_parts();
            let mut file = tokio::fs::File::from_std(file);
            file.write_all(&memory).await.map_err(lost)?;
            memory = BytesMut::new();
            disk = Some((file, path));
        }
        match &mut disk {
            Some((file, _)) => file.write_all(&chunk).await.map_err(lost)?,
            None => memory.extend_from_slice(&chunk),
        }
    }
    let data = match disk {
        Some((mut file, path)) => {
            file.flush().await.map_err(lost)?;
            FileData::Disk(Arc::new(path))
        }
        None => FileData::Memory(memory.freeze()),
    };
    Ok((data, size))
}

/// The answer to a stream that breaks.
pub(crate) struct Refusal(pub(crate) Error);

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Refusal(unreadable(&error))
    }
}

impl From<multer::Error> for Refusal {
    fn from(error: multer::Error) -> Self {
        Refusal(match error {
            multer::Error::StreamSizeExceeded { .. } | multer::Error::FieldSizeExceeded { .. } => too_large(),
            error => unreadable(&error),
        })
    }
}

/// The temporary file could not be written.
fn lost(error: std::io::Error) -> Error {
    tracing::error!(%error, "an upload could not be kept");
    Error::new("rest_upload_unknown_error", "The upload could not be kept.").with_status(500)
}
