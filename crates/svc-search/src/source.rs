//! The bytes of a segment: a file, or memory.

use std::fs::File;
use std::io;
#[cfg(not(unix))]
use std::sync::{Mutex, PoisonError};

/// What a segment is read from.
pub(crate) enum Source {
    #[cfg(unix)]
    File(File),
    #[cfg(not(unix))]
    File(Mutex<File>),
    Memory(Vec<u8>),
}

impl Source {
    pub(crate) fn of_file(file: File) -> Self {
        #[cfg(not(unix))]
        let file = Mutex::new(file);
        Source::File(file)
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> io::Result<u64> {
        match self {
            #[cfg(unix)]
            Source::File(file) => Ok(file.metadata()?.len()),
            #[cfg(not(unix))]
            Source::File(file) => Ok(file.lock().unwrap_or_else(PoisonError::into_inner).metadata()?.len()),
            Source::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Reads bytes at a position.
    pub(crate) fn read_into(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        match self {
            #[cfg(unix)]
            Source::File(file) => std::os::unix::fs::FileExt::read_exact_at(file, bytes, at),
            #[cfg(not(unix))]
            Source::File(file) => {
                use std::io::{Read as _, Seek as _, SeekFrom};
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(at))?;
                file.read_exact(bytes)
            }
            Source::Memory(all) => {
                let rest = usize::try_from(at).ok().and_then(|at| all.get(at..));
                let part = rest.and_then(|rest| rest.get(..bytes.len()));
                bytes.copy_from_slice(part.ok_or_else(|| damaged("the segment is too short"))?);
                Ok(())
            }
        }
    }

    /// Reads a number of bytes at a position.
    pub(crate) fn read(&self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        // A wrong length must not allocate more than there is.
        if at.saturating_add(len as u64) > self.len()? {
            return Err(damaged("the file is too short"));
        }
        let mut bytes = vec![0; len];
        self.read_into(at, &mut bytes)?;
        Ok(bytes)
    }
}

pub(crate) fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
