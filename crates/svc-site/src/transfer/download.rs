//! An export as a stream of bytes, for a download.
//!
//! A thread writes the file as fast as it can, so that a slow client does not keep a snapshot of the database open. The stream
//! follows it.

use std::{
    fs::File,
    io::{self, BufWriter, Read as _, Write},
    sync::{Arc, LazyLock},
};

use futures_util::{Stream, stream};
use svc_schema::Error;
use tempfile::NamedTempFile;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::{
    Site, SiteError,
    blocking::run_blocking,
    errors::transfer as errors,
    transfer::export::{ExportFilter, export},
};

/// Number of exports at a time.
const MAX_EXPORTS: usize = 2;

/// Bytes of a part of the stream.
const PART: usize = 128 << 10;

/// How far the file is written.
#[derive(Clone, Copy, Default)]
struct Written {
    bytes: u64,
    /// Whether nothing more follows, and whether the file is complete.
    end: Option<bool>,
}

/// A writer that reports how much it has written, and fails when nobody is interested any more.
struct Reporting {
    file: File,
    written: watch::Sender<Written>,
}

impl Write for Reporting {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.written.is_closed() {
            return Err(io::Error::other("the client has gone"));
        }
        let n = self.file.write(buf)?;
        self.written.send_modify(|written| written.bytes = written.bytes.saturating_add(n as u64));
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

struct Following {
    file: File,
    read: u64,
    written: watch::Receiver<Written>,
    /// Deletes the file.
    _file: NamedTempFile,
    /// Until the client has it: the file takes space.
    _permit: OwnedSemaphorePermit,
}

/// Begins an export. The stream ends with an error if the export fails.
///
/// # Errors
/// 503 if there are too many exports, 500 if the disk cannot be written.
pub fn start(
    site: &Arc<Site>,
    filter: ExportFilter,
) -> Result<impl Stream<Item = io::Result<Vec<u8>>> + Send + 'static, Error> {
    static EXPORTS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(MAX_EXPORTS)));
    let permit = Arc::clone(&EXPORTS).try_acquire_owned().map_err(|_| errors::too_many_exports())?;
    let file = NamedTempFile::new().map_err(|error| errors::disk(&error))?;
    let (sender, written) = watch::channel(Written::default());
    let out = file.reopen().map_err(|error| errors::disk(&error))?;
    let reader = file.reopen().map_err(|error| errors::disk(&error))?;
    let (site, now) = (Arc::clone(site), site.clock());
    let reporting = Reporting { file: out, written: sender.clone() };
    tokio::task::spawn_blocking(move || {
        let out = BufWriter::with_capacity(PART, reporting);
        let exported = site.store.read_unlimited(|db| match export(db, &site, &filter, now, out, &mut |_| ()) {
            Ok(_) => Ok(true),
            Err(SiteError::Store(error)) => Err(error),
            Err(SiteError::Wire(error)) => {
                tracing::error!(%error, "an export failed");
                Ok(false)
            }
        });
        let is_complete = exported.unwrap_or_else(|error| {
            if !sender.is_closed() {
                tracing::error!(%error, "an export failed");
            }
            false
        });
        sender.send_modify(|written| written.end = Some(is_complete));
    });
    Ok(stream::try_unfold(Following { file: reader, read: 0, written, _file: file, _permit: permit }, next_part))
}

async fn next_part(mut following: Following) -> io::Result<Option<(Vec<u8>, Following)>> {
    loop {
        let written = *following.written.borrow_and_update();
        if following.read < written.bytes {
            let part = run_blocking(move || {
                let mut part = Vec::with_capacity(PART);
                let read = (&following.file).take(PART as u64).read_to_end(&mut part);
                following.read = following.read.saturating_add(part.len() as u64);
                read.map(|_| (part, following))
            });
            return part.await.map_err(io::Error::other)?.map(Some);
        }
        match written.end {
            Some(true) => return Ok(None),
            Some(false) => return Err(io::Error::other("the export failed")),
            None => following.written.changed().await.map_err(io::Error::other)?,
        }
    }
}
