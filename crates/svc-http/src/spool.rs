//! Reads uploaded files: small ones into memory, large ones to disk.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, TryStreamExt};
use svc_routing::Error;
use svc_routing::request::FileData;
use tokio::io::AsyncWriteExt;

use crate::body_error::{too_large, unreadable_body};

/// Reads a file of at most `limit` bytes and returns its size. Beyond `in_memory` bytes it is written to a temporary
/// file, which is deleted when its last clone is dropped.
///
/// # Errors
/// 413 beyond the limit, 400 if the stream fails, 500 if the disk cannot be written.
pub(crate) async fn read<S, E>(stream: S, limit: u64, in_memory: usize) -> Result<(FileData, u64), Error>
where
    S: Stream<Item = Result<Bytes, E>>,
    E: Into<StreamError>,
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
            let (file, path) = tempfile::NamedTempFile::new().map_err(disk_error)?.into_parts();
            let mut file = tokio::fs::File::from_std(file);
            file.write_all(&memory).await.map_err(disk_error)?;
            memory = BytesMut::new();
            disk = Some((file, path));
        }
        match &mut disk {
            Some((file, _)) => file.write_all(&chunk).await.map_err(disk_error)?,
            None => memory.extend_from_slice(&chunk),
        }
    }
    let data = match disk {
        Some((mut file, path)) => {
            file.flush().await.map_err(disk_error)?;
            FileData::Disk(Arc::new(path))
        }
        None => FileData::Memory(memory.freeze()),
    };
    Ok((data, size))
}

/// Error response for a body stream that fails.
pub(crate) struct StreamError(pub(crate) Error);

impl From<std::io::Error> for StreamError {
    fn from(error: std::io::Error) -> Self {
        StreamError(unreadable_body(&error))
    }
}

impl From<multer::Error> for StreamError {
    fn from(error: multer::Error) -> Self {
        StreamError(match error {
            multer::Error::StreamSizeExceeded { .. } | multer::Error::FieldSizeExceeded { .. } => too_large(),
            error => unreadable_body(&error),
        })
    }
}

/// Error for a temporary file that cannot be written.
fn disk_error(error: std::io::Error) -> Error {
    tracing::error!(%error, "upload cannot be stored");
    Error::new("rest_upload_unknown_error", "The upload could not be stored.").with_status(500)
}
