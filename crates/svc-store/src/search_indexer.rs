//! Builds the search index of a store in the background and keeps it current.
//!
//! The log of changed posts ([`RowLog`]) is created first. Then all posts are read, a segment's worth per snapshot, and
//! after each segment the state is saved, so that a build continues after a stop. Later changes are in the log; where other
//! programs cannot be made to fill it, posts are compared with the index, when a search needs that.
//! From then on, changed posts are indexed in batches; until then, searches examine them one by one. Each state of the
//! index corresponds to one entry of the log, by which a search recognizes what its own snapshot has changed since.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sea_query::{Cond, Expr, ExprTrait as _, Query};
use svc_db::{
    Database, Db, IndexedRows, LogEntry, LogState, Logged, Result, RowLog, StoreError, WeakDatabase, parse_digest,
};
use svc_metrics::RunCounts;
use svc_search::{Change, Class, Document, Folder, Generation, Language, SearchIndexState, SegmentBuilder};

use crate::caches::SiteCaches;
use crate::posts::language;
use crate::tuning::IndexerTuning;

/// Maximum time before changed posts are indexed.
const MAX_AGE: Duration = Duration::from_secs(30);

/// Maximum length of the texts of one segment, in bytes.
const MAX_SEGMENT_TEXT: usize = 384 << 20;

/// Where the index of a store is, and when it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchIndexConfig {
    /// The folder of the index. It must not be shared by several stores.
    pub folder: PathBuf,
    /// Number of posts, of all types except revisions, from which a site gets an index.
    pub min_posts: u64,
}

impl SearchIndexConfig {
    /// Default number of posts from which a site gets an index. Smaller sites are read as fast.
    pub const DEFAULT_MIN_POSTS: u64 = 1_000;

    /// An index in this folder, for sites with [`Self::DEFAULT_MIN_POSTS`].
    pub fn new(folder: PathBuf) -> Self {
        SearchIndexConfig { folder, min_posts: Self::DEFAULT_MIN_POSTS }
    }
}

/// Keeps the search index current until it is dropped.
///
/// It has a thread of its own: a step reads posts for minutes, and stops in the middle when this is dropped.
pub struct SearchIndexer {
    caches: Arc<SiteCaches>,
    steps: Arc<RunCounts>,
    thread: Option<JoinHandle<()>>,
}

impl SearchIndexer {
    /// Starts the thread. `None` if it cannot be started.
    pub(crate) fn start(database: &Database, caches: &Arc<SiteCaches>, config: SearchIndexConfig) -> Option<Self> {
        let log = database.row_log()?;
        let log = caches.search.log.get_or_init(|| log).clone();
        caches.search.reset_requests();
        let (database, of_indexer, state) = (database.downgrade(), Arc::clone(caches), State::default());
        let tuning = caches.tuning.indexer;
        let steps = Arc::<RunCounts>::default();
        let of_thread = Arc::clone(&steps);
        let indexer =
            Indexer { database, caches: of_indexer, log, tuning, config, state, steps: of_thread, reported: None };
        let thread = std::thread::Builder::new().name("search-index".to_owned()).spawn(move || indexer.run());
        let thread = thread.map_err(|e| tracing::error!(error = %e, "cannot start the search indexer")).ok()?;
        Some(SearchIndexer { caches: Arc::clone(caches), steps, thread: Some(thread) })
    }

    /// The steps of the indexer, which can be read also after it was dropped.
    pub fn steps(&self) -> Arc<RunCounts> {
        Arc::clone(&self.steps)
    }

    /// Indexes all changes now, instead of within half a minute.
    pub fn update(&self) {
        self.caches.search.request_update();
    }

    /// Returns whether searches use the index.
    pub fn is_ready(&self) -> bool {
        matches!(self.caches.search.index.state(), SearchIndexState::Ready(_))
    }
}

impl Drop for SearchIndexer {
    fn drop(&mut self) {
        self.caches.search.request_stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// State of the indexer.
#[derive(Default)]
struct State {
    folder: Option<Folder>,
    /// Whether the log has been opened.
    is_open: bool,
    generation: Option<Generation>,
    /// Whether the saved state has been read.
    is_loaded: bool,
    updated: Option<Instant>,
    /// Smallest number of the log's entries, as far as known.
    log_start: i64,
    began: Option<Instant>,
    /// Whether a search needs changes that the log may lack.
    is_wanted: bool,
}

/// When to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Now,
    After(Duration),
}

struct Indexer {
    database: WeakDatabase,
    caches: Arc<SiteCaches>,
    log: Arc<dyn RowLog>,
    tuning: IndexerTuning,
    config: SearchIndexConfig,
    state: State,
    steps: Arc<RunCounts>,
    /// The error that was logged last. It is logged again only after another one.
    reported: Option<String>,
}

impl Indexer {
    fn run(mut self) {
        while let Some(database) = self.database.upgrade() {
            if self.caches.search.is_stopping() {
                break;
            }
            self.steps.begin(Instant::now());
            let mut failure = None;
            let next = self.step(&database).unwrap_or_else(|e| {
                failure = Some(e.to_string());
                // The index stays correct; searches examine what has changed.
                if !is_temporary(&e) {
                    let reason = e.to_string();
                    if self.reported.as_ref() != Some(&reason) {
                        tracing::warn!(error = %e, "the search index cannot be updated; searches read all posts");
                        self.reported = Some(reason);
                    }
                    self.caches.search.index.publish(None);
                    let is_open = self.state.is_open;
                    self.state = State { folder: self.state.folder.take(), is_open, ..State::default() };
                }
                Next::After(self.tuning.after_error)
            });
            drop(database);
            let pause = match next {
                Next::Now => Duration::ZERO,
                Next::After(time) => time,
            };
            let ended = Instant::now();
            self.steps.end(ended, failure);
            self.steps.wait(ended.checked_add(pause));
            if !pause.is_zero() {
                self.caches.search.wait(pause);
            }
        }
        self.caches.search.index.publish(None);
    }

    /// # Errors
    /// If the indexer must stop.
    fn check_stop(&self) -> Result<()> {
        match self.caches.search.is_stopping() {
            true => Err(StoreError::Unavailable("the store is closing".to_owned())),
            false => Ok(()),
        }
    }

    fn step(&mut self, database: &Database) -> Result<Next> {
        let is_requested = self.caches.search.take_update();
        let has_searches = self.caches.search.take_searches();
        self.state.is_wanted |= is_requested || has_searches;
        let Some(folder) = &self.state.folder else {
            self.state.folder = Folder::open(&self.config.folder).map_err(io_error)?;
            return Ok(if self.state.folder.is_some() { Next::Now } else { Next::After(self.tuning.measure_interval) });
        };
        if !self.state.is_open {
            if database.read_unlimited(count)? < self.config.min_posts {
                return Ok(Next::After(self.tuning.measure_interval));
            }
            match database.read_unlimited(|db| self.log.open(db, &|| self.check_stop())) {
                Ok(true) => self.state.is_open = true,
                Ok(false) => {
                    tracing::info!("this database cannot have a search index; searches read all posts");
                    return Ok(Next::After(Duration::MAX));
                }
                Err(e) if is_temporary(&e) => return Err(e),
                Err(error) => {
                    tracing::warn!(%error, "this database cannot have a search index; searches read all posts");
                    return Ok(Next::After(Duration::MAX));
                }
            }
        }
        let is_damaged = self.caches.search.take_damage();
        if is_damaged {
            self.state.generation = None;
        }
        if !self.state.is_loaded && !is_damaged {
            self.state.generation = folder.load(&self.log.folding(), database.read_blocking(language)?);
            if let Some(generation) = &self.state.generation {
                self.log.resume(entry(generation.mark()));
                self.state.is_wanted = generation.is_complete();
            }
        }
        self.state.is_loaded = true;
        // An error leaves the state as it is.
        match self.state.generation.clone() {
            None => self.begin(database),
            Some(generation) if !generation.is_complete() => self.build(database, generation),
            Some(generation) => self.update(database, generation, is_requested),
        }
    }

    /// Begins to build the index of a site that is large enough.
    fn begin(&mut self, database: &Database) -> Result<Next> {
        self.caches.search.index.publish(None);
        let n = database.read_unlimited(count)?;
        if n < self.config.min_posts {
            return Ok(Next::After(self.tuning.measure_interval));
        }
        if let Some(folder) = &self.state.folder {
            folder.clear();
        }
        tracing::info!(posts = n, "building the search index");
        let log = self.log.clone();
        let mark = database.write_blocking(move |tx| log.begin(tx))?;
        self.state.log_start = mark.seq;
        self.state.began = Some(Instant::now());
        self.state.is_wanted = true;
        let language = database.read_blocking(language)?;
        self.set(Generation::new(change(mark), self.log.folding(), language))
    }

    /// Adds the next segment.
    fn build(&mut self, database: &Database, mut generation: Generation) -> Result<Next> {
        let mut batch = Batch::new(&*self.log, self.tuning, generation.language());
        let mut from = generation.built_to().unwrap_or(i64::MIN);
        let is_complete = database.read_unlimited(|db| {
            loop {
                let after = Cond::all().add(Expr::col("ID").gt(from));
                let Some(last) = batch.read(db, after)? else { return Ok(true) };
                from = last;
                if batch.is_full() {
                    return Ok(false);
                }
                self.check_stop()?;
            }
        })?;
        self.add(&mut generation, batch)?;
        generation.set_built_to((!is_complete).then_some(from));
        if is_complete {
            let seconds = self.state.began.map(|began| began.elapsed().as_secs());
            tracing::info!(posts = generation.len(), seconds, "the search index is complete");
        }
        self.save(&generation)?;
        // Searches use it when the log is known to be complete as well.
        if !is_complete {
            self.caches.search.index.publish(Some(Arc::new(generation.clone())));
        }
        self.state.generation = Some(generation);
        Ok(Next::Now)
    }

    /// Indexes changed posts, and merges small segments.
    fn update(&mut self, database: &Database, mut generation: Generation, is_requested: bool) -> Result<Next> {
        let due = is_requested || self.state.updated.is_none_or(|updated| updated.elapsed() >= MAX_AGE);
        if !self.complete_log(database, &generation)? {
            return Ok(Next::After(self.tuning.interval));
        }
        let log = self.log.clone();
        // Usually there is nothing to do. A connection of the pool is enough to find that.
        let words = generation.language();
        let (changes, language) =
            database.read_blocking(|db| Ok((changes_since(db, &*log, generation.mark())?, language(db)?)))?;
        if language != words {
            return Ok(self.rebuild("the language of the site has changed"));
        }
        match changes {
            Logged::Changes(changes) if changes.is_empty() || (changes.len() < self.tuning.batch && !due) => {
                return Ok(self.keep(generation));
            }
            // Another program has written since then.
            Logged::Unknown => return Ok(Next::After(self.tuning.interval)),
            Logged::Changes(_) | Logged::Nothing => {}
        }
        let mut batches = Vec::new();
        let changes = database.read_unlimited(|db| {
            let changes = match changes_since(db, &*log, generation.mark())? {
                Logged::Changes(changes) => changes,
                // A change since then. Nothing is lost.
                Logged::Unknown => return Ok(Some(Vec::new())),
                Logged::Nothing => return Ok(None),
            };
            if changes.is_empty() {
                return Ok(Some(Vec::new()));
            }
            // All of this happens in one snapshot, to which the new state corresponds.
            let mut ids: Vec<i64> = changes.iter().map(|change| change.id).collect();
            ids.sort_unstable();
            ids.dedup();
            if ids.len() > self.tuning.max_updated {
                // A new index is built in steps, which can be interrupted.
                return Ok(None);
            }
            for segment in generation.segments_to_merge(&self.tuning.tiers) {
                if ids.len() > self.tuning.max_updated {
                    break;
                }
                ids.extend(segment.live_ids());
            }
            ids.sort_unstable();
            ids.dedup();
            generation.remove(&ids);
            let new_batch = || Batch::new(&*log, self.tuning, words);
            let mut batch = new_batch();
            for chunk in ids.chunks(self.tuning.read_chunk) {
                let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { continue };
                // The bounds limit what a planner reads that prefers to read the table in order.
                let among = Cond::all().add(Expr::col("ID").gte(*first)).add(Expr::col("ID").lte(*last));
                batch.read(db, among.add(Expr::col("ID").is_in(chunk.iter().copied())))?;
                if batch.is_full() {
                    batches.push(std::mem::replace(&mut batch, new_batch()));
                }
                self.check_stop()?;
            }
            batches.push(batch);
            Ok(Some(changes))
        })?;
        let Some(changes) = changes else {
            return Ok(self.rebuild("too many posts have changed, or the log does not continue where it ends"));
        };
        if changes.is_empty() {
            return Ok(self.keep(generation));
        }
        for batch in batches {
            self.add(&mut generation, batch)?;
        }
        generation.applied(&changes.into_iter().map(change).collect::<Vec<_>>());
        self.state.updated = Some(Instant::now());
        let mark = generation.mark().seq;
        let next = self.set(generation)?;
        if mark - self.state.log_start > self.tuning.max_old_entries {
            log.trim(mark);
            self.state.log_start = mark;
        }
        Ok(next)
    }

    /// Stops using the index and begins a new one.
    fn rebuild(&mut self, reason: &str) -> Next {
        tracing::info!(reason, "the search index is built again");
        self.caches.search.index.publish(None);
        self.state.generation = None;
        Next::Now
    }

    /// Leaves the index as it is.
    fn keep(&mut self, generation: Generation) -> Next {
        if self.caches.search.index.current().is_none() {
            self.caches.search.index.publish(Some(Arc::new(generation.clone())));
        }
        self.state.generation = Some(generation);
        Next::After(self.tuning.interval)
    }

    /// Looks for changes of other programs that the log lacks, if a search needs them. Returns whether the log is complete.
    fn complete_log(&mut self, database: &Database, generation: &Generation) -> Result<bool> {
        match database.read_blocking(|db| self.log.observe(db))? {
            LogState::Outdated if self.state.is_wanted => {
                let (digests, uncovered) = (generation.digests().collect(), generation.uncovered().to_vec());
                let indexed = IndexedRows { digests, uncovered };
                database.read_unlimited(|db| self.log.compare(db, indexed, &|| self.check_stop()))?;
            }
            LogState::Outdated | LogState::Unsettled => return Ok(false),
            LogState::Current => {}
        }
        self.state.is_wanted = false;
        Ok(true)
    }

    /// Writes a segment with the posts that were read.
    fn add(&self, generation: &mut Generation, batch: Batch<'_>) -> Result<()> {
        generation.add_uncovered(&batch.uncovered);
        match &self.state.folder {
            Some(folder) => folder.add(generation, batch.builder).map_err(io_error),
            None => Ok(()),
        }
    }

    fn save(&self, generation: &Generation) -> Result<()> {
        match &self.state.folder {
            Some(folder) => folder.save(generation).map_err(io_error),
            None => Ok(()),
        }
    }

    /// Saves a state. Searches use it if it is complete.
    fn set(&mut self, generation: Generation) -> Result<Next> {
        self.save(&generation)?;
        self.caches.search.index.publish(Some(Arc::new(generation.clone())));
        self.state.generation = Some(generation);
        Ok(Next::Now)
    }
}

/// Whether the database is busy or away.
fn is_temporary(e: &StoreError) -> bool {
    matches!(e, StoreError::Busy | StoreError::Unavailable(_) | StoreError::Deadline)
}

/// An entry of the log, as the index stores it.
fn change(entry: LogEntry) -> Change {
    Change { seq: entry.seq, nonce: entry.nonce, id: entry.id }
}

/// The entry of the log that an index has stored.
fn entry(change: Change) -> LogEntry {
    LogEntry { seq: change.seq, nonce: change.nonce, id: change.id }
}

/// The changes of the snapshot after a mark. [`Logged::Nothing`] if the log does not continue there.
fn changes_since(db: &mut Db, log: &dyn RowLog, mark: Change) -> Result<Logged> {
    let logged = log.read(db, mark.seq, usize::MAX)?;
    let Logged::Changes(mut changes) = logged else { return Ok(logged) };
    Ok(match changes.first() {
        Some(first) if (first.seq, first.nonce) == (mark.seq, mark.nonce) => {
            changes.remove(0);
            Logged::Changes(changes)
        }
        _ => Logged::Nothing,
    })
}

/// Number of posts that the index of a site contains.
fn count(db: &mut Db) -> Result<u64> {
    let mut s = Query::select();
    if db.has_counts() {
        s.expr(Expr::cust("SUM(n)")).from(db.table("svc_post_count"));
    } else {
        s.expr(Expr::cust("COUNT(*)")).from(db.table("posts"));
    }
    s.and_where(Expr::col("post_type").ne("revision"));
    Ok(db.first(&s, |row| row.int(0))?.and_then(|n| u64::try_from(n).ok()).unwrap_or(0))
}

fn io_error(e: io::Error) -> StoreError {
    match e.kind() {
        io::ErrorKind::StorageFull => StoreError::Full,
        io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
        _ => StoreError::Other(format!("search index: {e}")),
    }
}

/// The posts of a new segment.
struct Batch<'l> {
    log: &'l dyn RowLog,
    tuning: IndexerTuning,
    builder: SegmentBuilder,
    uncovered: Vec<i64>,
    text_len: usize,
    folded: [String; 3],
    raw: [String; 3],
}

impl<'l> Batch<'l> {
    fn new(log: &'l dyn RowLog, tuning: IndexerTuning, language: Language) -> Self {
        let (builder, uncovered) = (SegmentBuilder::new(language), Vec::new());
        Batch { log, tuning, builder, uncovered, text_len: 0, folded: Default::default(), raw: Default::default() }
    }

    /// Returns whether another chunk might not fit.
    fn is_full(&self) -> bool {
        let chunk = self.tuning.read_chunk;
        self.builder.len() + chunk > self.tuning.segment_posts.max(chunk) || self.text_len > MAX_SEGMENT_TEXT
    }

    /// Reads the first posts that match, in the order of their ids, and returns the last id.
    fn read(&mut self, db: &mut Db, which: Cond) -> Result<Option<i64>> {
        let mut s = Query::select();
        s.columns(["ID", "post_title", "post_excerpt", "post_content", "post_date", "post_type", "post_status"]);
        s.expr(Expr::col("post_password").eq("")).from(db.table("posts"));
        let has_digest = self.log.digest().map(|digest| s.expr(Expr::cust(digest))).is_some();
        s.cond_where(which).and_where(Expr::col("post_type").ne("revision"));
        s.order_by("ID", sea_query::Order::Asc).limit(self.tuning.read_chunk as u64);
        let mut last = None;
        db.select(&s, |row| {
            let id = row.int(0)?;
            last = Some(id);
            for (column, (raw, folded)) in (1..).zip(self.raw.iter_mut().zip(&mut self.folded)) {
                *raw = row.text(column)?;
                self.text_len += raw.len();
                self.log.fold(raw, folded);
            }
            let ranked = ranked_texts(&self.raw);
            let [title, excerpt, content] = &self.folded;
            let texts = [title.as_str(), excerpt, content];
            let has_password = row.int(7)? == 0;
            let digest = if has_digest { Some(parse_digest(&row.text(8)?)?) } else { None };
            let document = match (date(&row.text(4)?), key(&row.text(5)?), key(&row.text(6)?)) {
                (Some(date), Some(post_type), Some(status)) => {
                    let class = Class { post_type, status, has_password };
                    Some(Document { id, date, class, digest, texts, ranked: ranked.each_ref().map(String::as_str) })
                }
                _ => None,
            };
            if !document.is_some_and(|document| self.builder.add(&document)) {
                self.uncovered.push(id);
            }
            Ok(())
        })?;
        Ok(last)
    }
}

/// Title and text of a post for ranked searches, from its title, excerpt and content.
pub(crate) fn ranked_texts([title, excerpt, content]: &[String; 3]) -> [String; 2] {
    let (title, mut text) = (svc_text::plain_text(title), svc_text::plain_text(excerpt));
    text.push('\n');
    text.push_str(&svc_text::plain_text(content));
    [title, text]
}

/// A number that sorts like a stored date. `None` if it has another form.
pub(crate) fn date(text: &str) -> Option<i64> {
    const FORM: &[u8; 19] = b"dddd-dd-dd dd:dd:dd";
    let is_valid = text.len() == FORM.len()
        && text.bytes().zip(FORM).all(|(c, form)| if *form == b'd' { c.is_ascii_digit() } else { c == *form });
    let digits = || text.bytes().filter(u8::is_ascii_digit);
    is_valid.then(|| digits().fold(0, |n, c| n * 10 + i64::from(c - b'0')))
}

/// A type or status in lower case. `None` if the engines might compare it differently.
pub(crate) fn key(text: &str) -> Option<String> {
    let is_simple = text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_'));
    is_simple.then(|| text.to_ascii_lowercase())
}
