//! Imports a WXR file: adds what the site does not have yet, so that a file can be imported again. Source: the plugin
//! `wordpress-importer`.
//!
//! Posts are recognized by their GUID and date, or by title, date and type; terms by their slug; comments by author and date. Posts
//! keep their IDs where these are free. Files are fetched from the site that wrote the file.

mod authors;
mod files;
mod item;
mod known;
mod references;
mod state;
mod terms;

use std::{
    collections::{HashMap, HashSet},
    fs::{File, TryLockError},
    io::BufRead,
    sync::{Arc, Mutex, PoisonError},
};

use svc_model::UserId;
use svc_schema::Error;
use svc_versions::Context;
use svc_wxr::{Entry, Item, ReadError, Reader};

pub use self::authors::{Survey, create_authors, survey};
use self::{
    item::{ItemImport, Work},
    known::GuidKey,
    state::State,
};
use crate::{Settings, Site, errors::transfer as errors, transfer::stored_guid};
pub use svc_wxr::Author;

/// Number of posts of a transaction, and their size in bytes.
const BATCH: usize = 25;
const BATCH_BYTES: usize = 1 << 20;

/// Entries that are read ahead, and their size in KiB.
const READ_AHEAD: usize = 16;
const READ_AHEAD_SIZE: u32 = 8 << 10;

/// Name of the file in the content folder that an import locks.
const LOCK: &str = ".import.lock";

/// Number of problems that are described.
const MAX_PROBLEMS: usize = 200;

/// How a file is imported.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The users who get the posts of an author, by the name with which the author logs in.
    pub authors: HashMap<String, UserId>,
    /// The user who gets the posts of other authors.
    pub fallback: UserId,
    /// Whether the files of attachments are fetched. Attachments without their file are not imported.
    pub files: bool,
    /// Whether texts are stored as they are; otherwise they are filtered as those of users who may not use any HTML.
    pub any_html: bool,
}

/// What was imported so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Number of posts that were created, of all types.
    pub created: u64,
    /// Number of posts that the site had.
    pub existing: u64,
    /// Number of attachments without a file.
    pub without_file: u64,
    /// Number of terms that were created.
    pub terms: u64,
    /// Number of comments that were created.
    pub comments: u64,
    /// Number of bytes of the file that were read.
    pub bytes: u64,
    /// What was left out and why: the first ones.
    pub problems: Vec<String>,
    /// Number of problems.
    pub n_problems: u64,
}

impl ImportReport {
    fn problem(&mut self, problem: String) {
        self.n_problems = self.n_problems.saturating_add(1);
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

/// Why an import ended before the end of the file. What was imported until then stays, and the import can be repeated.
#[derive(Debug)]
pub enum ImportError {
    /// The file cannot be read.
    File(ReadError),
    /// The site cannot store it.
    Site(Error),
}

impl std::fmt::Display for ImportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ImportError::File(error) => error.fmt(f),
            ImportError::Site(error) => f.write_str(error.message()),
        }
    }
}

impl std::error::Error for ImportError {}

impl From<Error> for ImportError {
    fn from(error: Error) -> Self {
        ImportError::Site(error)
    }
}

/// What the parts of an import share.
struct Import {
    site: Arc<Site>,
    settings: Arc<Settings>,
    options: ImportOptions,
    /// What is known of the file and the site; changed between transactions only, because these may run more than once.
    state: Mutex<State>,
}

impl Import {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Imports a file, and calls `progress` after each part.
///
/// # Errors
/// See [`ImportError`].
pub async fn import(
    site: &Arc<Site>,
    cx: &Context,
    file: impl BufRead + Send + 'static,
    options: ImportOptions,
    progress: &(dyn Fn(&ImportReport) + Send + Sync),
) -> Result<ImportReport, ImportError> {
    let _lock = lock(site)?;
    let state = State::new(known::load(site, cx)?);
    let import =
        Arc::new(Import { site: Arc::clone(site), settings: site.settings(cx)?, options, state: Mutex::new(state) });
    let (sender, mut entries) = tokio::sync::mpsc::channel(READ_AHEAD);
    let room = Arc::new(tokio::sync::Semaphore::new(READ_AHEAD_SIZE as usize));
    let runtime = tokio::runtime::Handle::current();
    // Reading blocks, and the receiver is gone if the import fails.
    let reading = tokio::task::spawn_blocking(move || {
        let mut reader = Reader::new(file);
        while let Some(entry) = reader.next() {
            let position = reader.position();
            let size = if let Ok(Entry::Item(item)) = &entry { item.size() } else { 0 };
            let size = u32::try_from(size >> 10).unwrap_or(u32::MAX).min(READ_AHEAD_SIZE);
            let Ok(held) = runtime.block_on(Arc::clone(&room).acquire_many_owned(size)) else { break };
            if sender.blocking_send(entry.map(|entry| (entry, position, held))).is_err() {
                break;
            }
        }
    });
    let mut batch = Batch::default();
    while let Some(entry) = entries.recv().await {
        let (entry, position, held) = entry.map_err(ImportError::File)?;
        drop(held);
        import.state().report.bytes = position;
        match entry {
            Entry::Author(author) => drop(import.state().authors.insert(author.id, author.login)),
            Entry::Term(term) => import.term(cx, term).await?,
            Entry::Item(mut item) => {
                item.guid = item::clipped(&stored_guid(&item.guid), 255);
                // The second of two items with the same GUID finds the post of the first one.
                if batch.has(&item) {
                    import.batch(cx, batch.take()).await?;
                }
                batch.add(*item);
                if batch.is_full() {
                    import.batch(cx, batch.take()).await?;
                    progress(&import.state().report);
                }
            }
        }
    }
    import.batch(cx, batch.take()).await?;
    reading.await.map_err(|error| crate::errors::media::storage(&error))?;
    import.resolve_references(cx).await?;
    let report = import.state().report.clone();
    progress(&report);
    Ok(report)
}

/// Makes sure that one import runs at a time, in all processes that use the content folder: each knows only what the site had
/// before it, so that two would create the same posts.
fn lock(site: &Site) -> Result<File, Error> {
    let file = File::options().create(true).append(true).open(site.content_dir.join(LOCK));
    let file = file.map_err(|error| errors::disk(&error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(errors::import_runs()),
        Err(TryLockError::Error(error)) => Err(errors::disk(&error)),
    }
}

/// Posts that are stored together.
#[derive(Default)]
struct Batch {
    items: Vec<Item>,
    keys: HashSet<GuidKey>,
    bytes: usize,
}

impl Batch {
    /// Whether an item has the GUID, the date and the type of this one.
    fn has(&self, item: &Item) -> bool {
        known::guid_key(item).is_some_and(|key| self.keys.contains(&key))
    }

    fn add(&mut self, item: Item) {
        self.keys.extend(known::guid_key(&item));
        self.bytes = self.bytes.saturating_add(item.size());
        self.items.push(item);
    }

    fn is_full(&self) -> bool {
        self.items.len() >= BATCH || self.bytes >= BATCH_BYTES
    }

    fn take(&mut self) -> Vec<Item> {
        std::mem::take(self).items
    }
}

impl Import {
    async fn batch(self: &Arc<Self>, cx: &Context, items: Vec<Item>) -> Result<(), ImportError> {
        let mut works = Vec::new();
        let mut written = Vec::new();
        for item in items {
            if let Some((work, files)) = self.prepare(cx, item).await? {
                works.push(work);
                written.extend(files);
            }
        }
        if works.is_empty() {
            return Ok(());
        }
        let (own, works) = (Arc::clone(self), Arc::new(works));
        let stored = self.site.write(cx, move |tx| {
            let mut import = ItemImport::new(&own);
            works.iter().try_for_each(|work| import.run(tx, work))?;
            Ok(import.done)
        });
        match stored.await {
            Ok(done) => {
                self.state().merge(done);
                written.into_iter().for_each(crate::media::upload_store::WrittenFiles::commit);
                Ok(())
            }
            Err(error) => {
                for files in written {
                    files.delete(&self.site).await;
                }
                Err(error.into())
            }
        }
    }

    /// What there is to do for an item; `None` for nothing. Fetches the file of an attachment.
    async fn prepare(
        &self,
        cx: &Context,
        item: Item,
    ) -> Result<Option<(Work, Option<crate::media::upload_store::WrittenFiles>)>, ImportError> {
        let name = || format!("{} “{}”", item.post_type, item.title);
        if item.status == "auto-draft" {
            return Ok(None);
        }
        let is_known_type = super::export::types(&self.site).any(|t| t.name == item.post_type);
        if !is_known_type {
            self.state().report.problem(format!("{}: the site has no such type.", name()));
            return Ok(None);
        }
        let existing = self.state().known.find(&item);
        if let Some(id) = existing {
            return Ok(Some((Work { item, existing: Some(id), file: None }, None)));
        }
        if item.post_type != "attachment" {
            return Ok(Some((Work { item, existing: None, file: None }, None)));
        }
        if !self.options.files {
            let mut state = self.state();
            state.report.without_file = state.report.without_file.saturating_add(1);
            return Ok(None);
        }
        match files::fetch(cx, &self.site, &self.settings, &item, self.options.any_html).await {
            Ok((file, written)) => Ok(Some((Work { item, existing: None, file: Some(file) }, Some(written)))),
            Err(reason) => {
                let problem = format!("{}: {reason} ({})", name(), item.attachment_url);
                let mut state = self.state();
                state.report.without_file = state.report.without_file.saturating_add(1);
                state.report.problem(problem);
                Ok(None)
            }
        }
    }
}
