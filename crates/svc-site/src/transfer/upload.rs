//! A file that is being uploaded for an import.

use svc_schema::Error;
use tempfile::{NamedTempFile, TempPath};
use tokio::io::AsyncWriteExt as _;

use crate::errors::transfer as errors;

/// A temporary file, which is deleted unless it is finished.
pub struct Upload {
    file: tokio::fs::File,
    path: TempPath,
    size: u64,
    limit: u64,
}

impl Upload {
    /// An empty file that may grow to `limit` bytes.
    ///
    /// # Errors
    /// 500 if the disk cannot be written.
    pub fn new(limit: u64) -> Result<Self, Error> {
        let (file, path) = NamedTempFile::new().map_err(|error| errors::disk(&error))?.into_parts();
        Ok(Upload { file: tokio::fs::File::from_std(file), path, size: 0, limit })
    }

    /// Adds a part.
    ///
    /// # Errors
    /// 413 beyond the limit, 500 if the disk cannot be written.
    pub async fn write(&mut self, part: &[u8]) -> Result<(), Error> {
        self.size = self.size.saturating_add(part.len() as u64);
        if self.size > self.limit {
            return Err(errors::too_large());
        }
        self.file.write_all(part).await.map_err(|error| errors::disk(&error))
    }

    /// The complete file, which is deleted when the path is dropped.
    ///
    /// # Errors
    /// 500 if the disk cannot be written.
    pub async fn finish(mut self) -> Result<TempPath, Error> {
        self.file.flush().await.map_err(|error| errors::disk(&error))?;
        Ok(self.path)
    }
}
