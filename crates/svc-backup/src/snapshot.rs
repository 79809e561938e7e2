//! Stores all pages of a database, in parts.

use std::sync::atomic::{AtomicBool, Ordering};

use svc_db::PageImage;

use crate::destination::Destination;
use crate::error::{BackupError, Result};
use crate::names::SnapshotName;
use crate::object::{PagesHeader, Position, SnapshotHeader, encode};
use crate::status::BackupStatus;

/// Bytes of a part before compression.
const PART: u32 = 16 << 20;

/// A snapshot to be stored.
pub(crate) struct Snapshot {
    pub(crate) image: PageImage,
    pub(crate) generation: String,
    pub(crate) name: SnapshotName,
    pub(crate) at: Position,
}

impl Snapshot {
    /// Stores the snapshot. Without the last object it does not count.
    pub(crate) fn store(&self, to: &dyn Destination, status: &BackupStatus, stop: &AtomicBool) -> Result<()> {
        let Snapshot { image, generation, name, at } = self;
        let (page_size, n_pages) = (image.page_size(), image.n_pages());
        let (per_part, mut first, mut n_parts) = ((PART / page_size).max(1), 1, 0);
        while first <= n_pages {
            if stop.load(Ordering::Relaxed) {
                return Err(BackupError::Destination("the snapshot was abandoned".to_owned()));
            }
            let n = per_part.min(n_pages - first + 1);
            let header = PagesHeader { generation: generation.clone(), first, n_pages: n, page_size };
            let bytes = encode(&header, &image.read(first, n)?)?;
            let length = bytes.len();
            to.put(&name.part(generation, n_parts), bytes)?;
            BackupStatus::add(&status.bytes, length);
            first += n;
            n_parts += 1;
        }
        let header = SnapshotHeader {
            generation: generation.clone(),
            index: name.index,
            time: name.time,
            page_size,
            n_pages,
            n_parts,
            at: *at,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        to.put(&name.complete(generation), encode(&header, &[])?)?;
        BackupStatus::set(&status.last_snapshot, name.time);
        Ok(())
    }
}
