//! All pages of a database as they were at a position of the log.
//!
//! A page is in the log, or else in the database. If all of the log was in the database when the read transaction of the image began, the
//! log can be started over meanwhile; then the database has all pages, and is not written to any more.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Error, Read as _, Seek as _, SeekFrom};
use std::sync::{Mutex, PoisonError};

use super::frames::{Header, LogPosition};
use super::reader::{Hold, io};
use crate::error::Result;

/// Where the page size is in the database.
const PAGE_SIZE_AT: usize = 16;

/// All pages of a database at a position of the log. While one exists, changes stay in the log.
#[derive(Debug)]
pub struct PageImage {
    /// No page is written to the database that is not in `newer` too.
    _hold: Hold,
    pages: &'static Mutex<File>,
    log: Option<InLog>,
    page_size: u32,
    n_pages: u32,
}

/// The pages that are in the log.
#[derive(Debug)]
struct InLog {
    file: File,
    header: Header,
    /// The last frame of each page.
    newer: HashMap<u32, u32>,
}

impl PageImage {
    pub(super) fn new(
        hold: Hold,
        pages: &'static Mutex<File>,
        log: Option<(File, Header)>,
        at: LogPosition,
    ) -> std::io::Result<Self> {
        let mut start = [0; 100];
        {
            let mut file = pages.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(0))?;
            file.read_exact(&mut start)?;
        }
        let page_size = match u16::from_be_bytes([start[PAGE_SIZE_AT], start[PAGE_SIZE_AT + 1]]) {
            1 => 65_536,
            size => u32::from(size).max(512),
        };
        let mut image = PageImage { n_pages: hold.n_pages(), _hold: hold, pages, log: None, page_size };
        // An image of an empty log has nothing from a log that was begun since.
        if let Some((file, header)) = log.filter(|(_, header)| header.salts == at.salts) {
            let frames = header.pages(&file, &at)?;
            let mut log = InLog { file, header, newer: HashMap::new() };
            if log.is_same()? {
                for (i, (page, n_pages)) in (0..).zip(frames.ok_or_else(|| Error::other("it has changed"))?) {
                    log.newer.insert(page, i);
                    if n_pages > 0 {
                        image.n_pages = n_pages;
                    }
                }
                image.log = Some(log);
            }
        }
        Ok(image)
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
        let bytes = self.database_pages(first, n).map_err(io)?;
        let Some(log) = &self.log else { return Ok(bytes) };
        let mut newer = bytes.clone();
        let is_read = log.read(first, &mut newer, self.page_size as usize);
        // The log is overwritten only after its header.
        match log.is_same().map_err(io)? {
            true => is_read.map(|()| newer).map_err(io),
            false => Ok(bytes),
        }
    }

    fn database_pages(&self, first: u32, n: u32) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.page_size as usize * n as usize];
        // Several images may be read at the same time.
        let mut file = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(u64::from(first - 1) * u64::from(self.page_size)))?;
        // Pages at the end may be in the log only.
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read(&mut bytes[filled..])? {
                0 => break,
                n => filled += n,
            }
        }
        Ok(bytes)
    }
}

impl InLog {
    /// Replaces the pages from `first` on that are in the log.
    fn read(&self, first: u32, pages: &mut [u8], size: usize) -> std::io::Result<()> {
        for (page, content) in (first..).zip(pages.chunks_exact_mut(size)) {
            if let Some(frame) = self.newer.get(&page) {
                self.header.page(&self.file, *frame, content)?;
            }
        }
        Ok(())
    }

    /// Whether the log was not started over.
    fn is_same(&self) -> std::io::Result<bool> {
        Ok(Header::read(&self.file)?.is_some_and(|header| header.salts == self.header.salts))
    }
}
