//! File contents, in memory or on disk.

use std::{
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read, Seek},
    path::Path,
    sync::Arc,
};

use bytes::Bytes;

/// The contents of a file, in memory or on disk. Cheap to clone.
#[derive(Clone)]
pub enum Blob {
    /// In memory.
    Memory(Bytes),
    /// In a file. A temporary file is deleted with the last clone.
    Disk(Arc<dyn AsRef<Path> + Send + Sync>),
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blob::Memory(bytes) => write!(f, "Memory({} bytes)", bytes.len()),
            Blob::Disk(path) => write!(f, "Disk({})", (**path).as_ref().display()),
        }
    }
}

/// A seekable reader of a blob.
pub(crate) trait BlobReader: BufRead + Seek + Send {}
impl<T: BufRead + Seek + Send> BlobReader for T {}

impl Blob {
    /// Size in bytes.
    ///
    /// # Errors
    /// If the file's metadata cannot be read.
    pub fn size(&self) -> io::Result<u64> {
        match self {
            Blob::Memory(bytes) => Ok(bytes.len() as u64),
            Blob::Disk(path) => Ok(std::fs::metadata((**path).as_ref())?.len()),
        }
    }

    /// The first bytes, at most `limit`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn head(&self, limit: usize) -> io::Result<Bytes> {
        match self {
            Blob::Memory(bytes) => Ok(bytes.slice(..limit.min(bytes.len()))),
            Blob::Disk(path) => {
                let mut head = Vec::new();
                File::open((**path).as_ref())?.take(limit as u64).read_to_end(&mut head)?;
                Ok(head.into())
            }
        }
    }

    /// Opens a seekable reader at the beginning.
    pub(crate) fn open(&self) -> io::Result<Box<dyn BlobReader>> {
        Ok(match self {
            Blob::Memory(bytes) => Box::new(Cursor::new(bytes.clone())),
            Blob::Disk(path) => Box::new(BufReader::new(File::open((**path).as_ref())?)),
        })
    }

    /// Opens a reader at the beginning.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn reader(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Blob::Memory(bytes) => Box::new(Cursor::new(bytes.clone())),
            Blob::Disk(path) => Box::new(BufReader::new(File::open((**path).as_ref())?)),
        })
    }
}
