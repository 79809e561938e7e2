//! All pages of a database as they were at a position of the log.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use super::frames::{Header, LogPosition};
use super::reader::{Hold, io};
use crate::error::Result;

/// Where the page size is in the database.
const PAGE_SIZE_AT: usize = 16;

/// All pages of a database at a position of the log. While one exists, the log cannot be started over.
#[derive(Debug)]
pub struct PageImage {
    _hold: Hold,
    /// No page is written to it that is not in `newer` too.
    pages: &'static File,
    log: Option<(File, Header)>,
    /// The last frame of each page in the log.
    newer: HashMap<u32, u32>,
    page_size: u32,
    n_pages: u32,
}

impl PageImage {
    pub(super) fn new(
        hold: Hold,
        pages: &'static File,
        log: Option<(File, Header)>,
        at: LogPosition,
    ) -> std::io::Result<Self> {
        let mut file = pages;
        let mut start = [0; 100];
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut start)?;
        let page_size = match u16::from_be_bytes([start[PAGE_SIZE_AT], start[PAGE_SIZE_AT + 1]]) {
            1 => 65_536,
            size => u32::from(size).max(512),
        };
        // All of the log is in the database, unless a commit in the log has another length.
        let mut n_pages = u32::try_from(pages.metadata()?.len() / u64::from(page_size)).unwrap_or(u32::MAX);
        let mut newer = HashMap::new();
        // An image of an empty log has nothing from a log that was begun since.
        let log = log.filter(|(_, header)| header.salts == at.salts);
        if let Some((file, header)) = &log {
            let frames = header.committed(file, &header.start())?;
            for (i, frame) in frames.iter().enumerate().take(at.frame as usize) {
                newer.insert(frame.page, u32::try_from(i).unwrap_or(u32::MAX));
                if frame.n_pages > 0 {
                    n_pages = frame.n_pages;
                }
            }
        }
        Ok(PageImage { _hold: hold, pages, log, newer, page_size, n_pages })
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> u32 {
        self.page_size
    }

    /// Number of pages.
    pub fn n_pages(&self) -> u32 {
        self.n_pages
    }

    /// Reads `n` pages from `first` on; the number of the first page of a database is 1.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(&self, first: u32, n: u32) -> Result<Vec<u8>> {
        let size = self.page_size as usize;
        let mut bytes = vec![0; size * n as usize];
        let mut file = self.pages;
        file.seek(SeekFrom::Start(u64::from(first - 1) * u64::from(self.page_size))).map_err(io)?;
        // Pages at the end may be in the log only.
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read(&mut bytes[filled..]).map_err(io)? {
                0 => break,
                n => filled += n,
            }
        }
        if let Some((file, header)) = &self.log {
            for (page, content) in (first..).zip(bytes.chunks_exact_mut(size)) {
                if let Some(frame) = self.newer.get(&page) {
                    header.page(file, *frame, content).map_err(io)?;
                }
            }
        }
        Ok(bytes)
    }
}
