//! When each part of the database changed, and which parts are being written.
//!
//! A response is stored with the position of the news at which its rendering began, and with the names that it read. It may be replayed as long
//! as none of these names has changed at a later position, and none is being written.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::{Arc, PoisonError, Weak},
    time::{Duration, Instant},
};

#[cfg(all(test, feature = "models"))]
use shuttle::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, AtomicU64, Ordering},
};
#[cfg(not(all(test, feature = "models")))]
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

use crate::{names::Name, rows::Condition, tolerance::Tolerance};

/// A position in the news of writes. Later news have higher positions.
pub type Position = u64;

/// Number of recent changes that are remembered for responses whose rendering began before them.
const RECENT: usize = 100_000;

/// Most conditions of a table that are told apart, and most columns that they may have. Further ones are for the whole table.
const CONDITIONS: usize = 20_000;
const COLUMNS: usize = 32;

/// Time after a rendering in which its last writes may be in the news.
const RENDERED: Duration = Duration::from_secs(2);

/// What is known of a part of the database.
#[derive(Debug)]
struct State {
    name: Name,
    covers: Covers,
    /// For people: the name of options and of entries of an object cache, and otherwise of the table; `*` for everything.
    label: Box<str>,
    /// The position of its last change, except by reads.
    changed: AtomicU64,
    /// The position of its last change by a read.
    by_reads: AtomicU64,
    /// Number of announced writes that have not finished.
    writers: AtomicU32,
}

/// Which changes count for a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Covers {
    /// Those of the part, and of all parts below it.
    Each,
    /// Those where it is not known which parts below it have changed: perhaps all.
    Unknown,
}

impl State {
    fn new(name: Name, covers: Covers) -> Arc<Self> {
        let label = match name.table_name() {
            Some(table) if table != "options" && !table.starts_with("cache:") => table.into(),
            _ => name.to_string().into(),
        };
        let (changed, by_reads, writers) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU32::new(0));
        Arc::new(State { name, covers, label, changed, by_reads, writers })
    }

    fn is_same(&self, since: Position) -> bool {
        self.writers.load(Ordering::Acquire) == 0 && self.changed.load(Ordering::Acquire) <= since
    }

    fn is_same_for_reads(&self, since: Position) -> bool {
        self.by_reads.load(Ordering::Acquire) <= since
    }
}

/// The states of a table.
#[derive(Debug)]
struct Table {
    /// Changes with each of its rows.
    any: Arc<State>,
    /// Changes with unknown rows, which may be all.
    whole: Arc<State>,
    /// Those of rows and groups that a stored response depends on or a writer is writing.
    parts: HashMap<Name, Weak<State>>,
    /// Those of rows that begin with a text, by this text.
    starts: HashMap<Box<str>, Weak<State>>,
    /// Those of rows for which a condition is true.
    conditions: HashMap<Condition, Weak<State>>,
    /// The columns of conditions that were ever read.
    columns: BTreeSet<Arc<str>>,
}

impl Table {
    fn new(name: &str) -> Self {
        let state = |covers| State::new(Name::table(name), covers);
        let (any, whole) = (state(Covers::Each), state(Covers::Unknown));
        let (parts, starts, conditions) = (HashMap::new(), HashMap::new(), HashMap::new());
        Table { any, whole, parts, starts, conditions, columns: BTreeSet::new() }
    }
}

/// What a stored response depends on.
#[derive(Debug)]
pub struct Dependencies {
    changes: Changes,
    since: Position,
    tolerance: Arc<Tolerance>,
    watched: Box<[Arc<State>]>,
    /// The number of news at which all were last found unchanged.
    checked: AtomicU64,
}

impl Dependencies {
    /// Whether nothing has changed.
    ///
    /// # Errors
    /// The table or the option that has changed or is being written; `*` if that is not known.
    pub fn check(&self) -> Result<(), &str> {
        // Read first: news that arrive meanwhile change the number.
        let news = self.changes.0.news.load(Ordering::Acquire);
        if self.checked.load(Ordering::Acquire) == news {
            return Ok(());
        }
        let ends = |state: &State| {
            !state.is_same(self.since)
                || !state.is_same_for_reads(self.since) && !self.tolerance.tolerates(&state.label)
        };
        if let Some(state) = self.watched.iter().find(|state| ends(state)) {
            tracing::trace!(name = %state.name, covers = ?state.covers, "a response has ended");
            return Err(&state.label);
        }
        self.checked.store(news, Ordering::Release);
        Ok(())
    }

    /// What has been changed by reads. `None` if something was changed otherwise, so that it is not known which change matters.
    pub fn changed_by_reads(&self) -> Option<Vec<Box<str>>> {
        let is_same = self.watched.iter().all(|state| state.is_same(self.since));
        let by_reads = self.watched.iter().filter(|state| !state.is_same_for_reads(self.since));
        is_same.then(|| by_reads.map(|state| state.label.clone()).collect())
    }

    /// The parts that the response has read.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        // The others follow from these.
        self.watched.iter().filter(|state| state.covers == Covers::Each).map(|state| &state.name)
    }

    /// Whether these are the changes that end them. Those of a former feed end nothing any more.
    pub(crate) fn are_of(&self, changes: &Changes) -> bool {
        Arc::ptr_eq(&self.changes.0, &changes.0)
    }

    /// Lets the next check compare all states, although there are no news.
    pub(crate) fn check_again(&self) {
        self.changes.0.news.fetch_add(1, Ordering::Release);
    }

    /// Approximate size, in bytes.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.watched.len() * 64
    }
}

#[derive(Debug, Default)]
struct Inner {
    /// Number of news so far. It changes after each of them was applied.
    news: AtomicU64,
    log: Mutex<Log>,
    /// Whether the changes of each row have its [`Name::Image`].
    has_images: bool,
    /// Number of renderings of reads in progress, and when the last one ended.
    renderings: Mutex<(usize, Option<Instant>)>,
}

#[derive(Debug)]
struct Log {
    /// Changes with everything.
    any: Arc<State>,
    /// Changes where it is not known what has changed.
    unknown: Arc<State>,
    tables: HashMap<Box<str>, Table>,
    recent: VecDeque<(Position, Name)>,
    /// The same, by reads.
    recent_by_reads: VecDeque<(Position, Name)>,
    /// The position up to which changes have been forgotten.
    forgotten: Position,
    /// What each writer has announced.
    writing: HashMap<u64, Vec<(Name, Vec<Arc<State>>)>>,
}

impl Default for Log {
    fn default() -> Self {
        Log {
            any: State::new(Name::All, Covers::Each),
            unknown: State::new(Name::All, Covers::Unknown),
            tables: HashMap::new(),
            recent: VecDeque::new(),
            recent_by_reads: VecDeque::new(),
            forgotten: 0,
            writing: HashMap::new(),
        }
    }
}

/// A rendering in progress. It ends when this is dropped.
#[derive(Debug)]
#[must_use = "the rendering ends when this is dropped"]
pub struct Rendering(Changes);

impl Drop for Rendering {
    fn drop(&mut self) {
        let mut renderings = self.0.renderings();
        *renderings = (renderings.0.saturating_sub(1), Some(Instant::now()));
    }
}

/// The changes of a database. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Changes(Arc<Inner>);

impl Changes {
    /// Changes that have the values of rows ([`Name::Image`]).
    pub fn with_images() -> Self {
        Changes(Arc::new(Inner { has_images: true, ..Inner::default() }))
    }

    /// Whether these changes have the values of rows.
    pub(crate) fn has_images(&self) -> bool {
        self.0.has_images
    }

    /// The columns of a table of which the values matter.
    pub fn columns(&self, table: &str) -> Vec<Arc<str>> {
        let log = self.log();
        log.tables.get(table).map(|table| table.columns.iter().cloned().collect()).unwrap_or_default()
    }

    /// Records that a read is being rendered, as long as this lives.
    pub fn rendering(&self) -> Rendering {
        self.renderings().0 += 1;
        Rendering(self.clone())
    }

    /// Whether a read is being rendered, or was until just now.
    pub(crate) fn is_rendering(&self) -> bool {
        let renderings = self.renderings();
        renderings.0 > 0 || renderings.1.is_some_and(|ended| ended.elapsed() < RENDERED)
    }

    fn renderings(&self) -> MutexGuard<'_, (usize, Option<Instant>)> {
        self.0.renderings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that these parts changed at a position.
    pub fn changed(&self, names: &[Name], at: Position) {
        tracing::trace!(?names, at, "a write");
        self.log().change(names, at);
        self.0.news.fetch_add(1, Ordering::Release);
    }

    /// Records that renderings of reads changed these parts at a position; see [`Tolerance`].
    pub fn changed_by_reads(&self, names: &[Name], at: Position) {
        self.log().change_by_reads(names, at);
        self.0.news.fetch_add(1, Ordering::Release);
    }

    /// Records that news up to a position were missed: anything may have changed.
    pub fn missed(&self, at: Position) {
        let mut log = self.log();
        log.forgotten = log.forgotten.max(at);
        log.recent.clear();
        log.recent_by_reads.clear();
        log.change(&[Name::All], at);
        drop(log);
        self.0.news.fetch_add(1, Ordering::Release);
    }

    /// Records that a writer has announced writes of these parts.
    pub fn begun(&self, writer: u64, names: &[Name], at: Position) {
        let mut log = self.log();
        for name in names {
            let states = log.changed_states(name);
            for state in &states {
                state.writers.fetch_add(1, Ordering::AcqRel);
            }
            log.writing.entry(writer).or_default().push((name.clone(), states));
        }
        log.change(names, at);
        drop(log);
        self.0.news.fetch_add(1, Ordering::Release);
    }

    /// Records that all writes that a writer has announced have finished.
    pub fn ended(&self, writer: u64, at: Position) {
        self.finish(writer, at, |name| name);
    }

    /// Records that a writer is gone, and did not say that its writes have finished: other rows of their tables may have changed as well.
    pub fn abandoned(&self, writer: u64, at: Position) {
        self.finish(writer, at, |name| name.table_name().map_or(Name::All, Name::table));
    }

    fn finish(&self, writer: u64, at: Position, widened: impl Fn(Name) -> Name) {
        let mut log = self.log();
        let announced = log.writing.remove(&writer).unwrap_or_default();
        let names: HashSet<Name> = announced.iter().map(|(name, _)| widened(name.clone())).collect();
        log.change(&names.into_iter().collect::<Vec<_>>(), at);
        for state in announced.iter().flat_map(|(_, states)| states) {
            state.writers.fetch_sub(1, Ordering::AcqRel);
        }
        drop(log);
        self.0.news.fetch_add(1, Ordering::Release);
    }

    /// The writers that have not finished.
    pub fn writers(&self) -> Vec<u64> {
        self.log().writing.keys().copied().collect()
    }

    /// The dependencies of a response that read these parts, and whose rendering began at a position.
    ///
    /// # Errors
    /// What has changed since, of that which was read; everything if that is not known.
    pub fn depend(&self, names: &[Name], since: Position) -> Result<Dependencies, Name> {
        self.depend_with(names, since, Arc::default())
    }

    /// The same, for a route of which it is known which changes by reads are tolerated. Changes by reads since are no error: they show when
    /// the dependencies are checked.
    pub(crate) fn depend_with(
        &self,
        names: &[Name],
        since: Position,
        tolerance: Arc<Tolerance>,
    ) -> Result<Dependencies, Name> {
        let widened: Vec<Name>;
        let names = if self.0.has_images || !names.iter().any(|name| matches!(name, Name::Where(..))) {
            names
        } else {
            let wide = |name: &Name| name.without_condition().unwrap_or_else(|| vec![name.clone()]);
            widened = names.iter().flat_map(wide).collect();
            &widened
        };
        let mut log = self.log();
        if since < log.forgotten {
            return Err(Name::All);
        }
        // Changes of names that no response depended on were not stored with the states.
        let read: HashSet<&Name> = names.iter().collect();
        let some: Vec<&Name> = names.iter().filter(|name| matches!(name, Name::Start(..) | Name::Where(..))).collect();
        let reads_table = |table: &str| read.iter().find(|name| name.table_name() == Some(table)).copied();
        for (_, changed) in log.recent.iter().rev().take_while(|(at, _)| *at > since) {
            let hit = match changed.table_name() {
                None => names.first(),
                Some(table) => read
                    .get(changed)
                    .or_else(|| read.get(&Name::table(table)))
                    .or_else(|| read.get(&Name::All))
                    .copied()
                    .or_else(|| matches!(changed, Name::Table(_)).then(|| reads_table(table)).flatten())
                    .or_else(|| some.iter().find(|some| contains(some, changed)).copied()),
            };
            if let Some(name) = hit {
                tracing::trace!(%name, %changed, "a response was rendered during a write");
                // The narrower of the two.
                let is_wide = matches!(name, Name::All | Name::Table(_));
                return Err(if is_wide { changed.clone() } else { name.clone() });
            }
        }
        let hits = |changed: &Name| {
            names.iter().any(|read| {
                read == changed
                    || contains(read, changed)
                    || *read == Name::All
                    || read.table_name() == changed.table_name()
                        && (matches!(read, Name::Table(_)) || matches!(changed, Name::Table(_)))
            })
        };
        let recent = log.recent_by_reads.iter().rev().take_while(|(at, _)| *at > since);
        let by_reads: Vec<(Position, Name)> = recent.filter(|(_, changed)| hits(changed)).cloned().collect();
        let mut watched: HashMap<*const State, Arc<State>> = HashMap::new();
        let states = names.iter().flat_map(|name| log.read_states(name));
        let states: Vec<Arc<State>> = states.collect();
        for state in states.into_iter().chain([Arc::clone(&log.unknown)]) {
            watched.insert(Arc::as_ptr(&state), state);
        }
        // Their states may be new.
        for (at, name) in by_reads {
            for state in log.changed_states(&name).into_iter().filter(|state| watched.contains_key(&Arc::as_ptr(state)))
            {
                state.by_reads.fetch_max(at, Ordering::AcqRel);
            }
        }
        let watched: Vec<_> = watched.into_values().collect();
        // The states are compared at the first check.
        Ok(Dependencies {
            changes: self.clone(),
            since,
            tolerance,
            watched: watched.into_boxed_slice(),
            checked: AtomicU64::new(u64::MAX),
        })
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn change(&mut self, names: &[Name], at: Position) {
        self.record(names, at, |state| &state.changed);
        self.forgotten = self.forgotten.max(remember(&mut self.recent, names, at));
    }

    fn change_by_reads(&mut self, names: &[Name], at: Position) {
        self.record(names, at, |state| &state.by_reads);
        self.forgotten = self.forgotten.max(remember(&mut self.recent_by_reads, names, at));
    }

    fn record(&mut self, names: &[Name], at: Position, kind: impl Fn(&State) -> &AtomicU64) {
        for state in names.iter().flat_map(|name| self.changed_states(name)) {
            kind(&state).fetch_max(at, Ordering::AcqRel);
        }
    }

    fn table(&mut self, name: &str) -> &mut Table {
        self.tables.entry(name.into()).or_insert_with(|| Table::new(name))
    }

    /// The states that a change of `name` changes.
    fn changed_states(&mut self, name: &Name) -> Vec<Arc<State>> {
        let mut states = vec![Arc::clone(&self.any)];
        match name.table_name() {
            None => states.push(Arc::clone(&self.unknown)),
            Some(table) => {
                let part = self.part(name);
                let table = self.table(table);
                states.push(Arc::clone(&table.any));
                if let Name::Image(_, row) = name {
                    let found = table.conditions.iter().filter(|(condition, _)| condition.may_have(row));
                    states.extend(found.filter_map(|(_, state)| state.upgrade()));
                    return states;
                }
                states.push(part.unwrap_or_else(|| Arc::clone(&table.whole)));
                if let Name::Row(_, id) = name {
                    let starts = table.starts.iter().filter(|(start, _)| id.starts_with(&***start));
                    states.extend(starts.filter_map(|(_, state)| state.upgrade()));
                }
            }
        }
        states
    }

    /// The states that a response that has read `name` depends on, besides the unknown.
    fn read_states(&mut self, name: &Name) -> Vec<Arc<State>> {
        let Some(table) = name.table_name() else { return vec![Arc::clone(&self.any)] };
        let part = match name {
            Name::Start(_, start) => Some(self.start(name, table, start)),
            Name::Where(_, condition) => self.condition(name, table, condition),
            _ => self.part(name),
        };
        let table = self.table(table);
        match part {
            None => vec![Arc::clone(&table.any)],
            Some(part) => vec![Arc::clone(&table.whole), part],
        }
    }

    /// The state of the rows that begin with a text.
    fn start(&mut self, name: &Name, table: &str, start: &str) -> Arc<State> {
        let starts = &mut self.table(table).starts;
        if let Some(state) = starts.get(start).and_then(Weak::upgrade) {
            return state;
        }
        starts.retain(|_, state| state.strong_count() > 0);
        let state = State::new(name.clone(), Covers::Each);
        starts.insert(start.into(), Arc::downgrade(&state));
        // Rows that are being written.
        for (_, states) in self.writing.values_mut().flatten().filter(|(written, _)| contains(name, written)) {
            state.writers.fetch_add(1, Ordering::AcqRel);
            states.push(Arc::clone(&state));
        }
        state
    }

    /// The state of the rows for which a condition is true. `None` if there are too many conditions.
    fn condition(&mut self, name: &Name, table: &str, condition: &Condition) -> Option<Arc<State>> {
        let table = self.table(table);
        for column in condition.columns() {
            if !table.columns.contains(column) {
                if table.columns.len() >= COLUMNS {
                    return None;
                }
                table.columns.insert(column.into());
            }
        }
        if let Some(state) = table.conditions.get(condition).and_then(Weak::upgrade) {
            return Some(state);
        }
        let n = table.conditions.len();
        if n >= CONDITIONS || n >= 1_024 && n.is_power_of_two() {
            table.conditions.retain(|_, state| state.strong_count() > 0);
        }
        if table.conditions.len() >= CONDITIONS {
            return None;
        }
        let state = State::new(name.clone(), Covers::Each);
        table.conditions.insert(condition.clone(), Arc::downgrade(&state));
        Some(state)
    }

    /// The state of a row or group.
    fn part(&mut self, name: &Name) -> Option<Arc<State>> {
        let (Name::Row(table, _) | Name::Group(table, _)) = name else { return None };
        let parts = &mut self.table(table).parts;
        if let Some(state) = parts.get(name).and_then(Weak::upgrade) {
            return Some(state);
        }
        // Those of responses that are no longer stored.
        if parts.len() >= 1_024 && parts.len().is_power_of_two() {
            parts.retain(|_, state| state.strong_count() > 0);
        }
        let state = State::new(name.clone(), Covers::Each);
        parts.insert(name.clone(), Arc::downgrade(&state));
        Some(state)
    }
}

/// Adds changes to the recent ones. Returns the position up to which others were removed.
fn remember(recent: &mut VecDeque<(Position, Name)>, names: &[Name], at: Position) -> Position {
    let mut forgotten = 0;
    for name in names {
        if recent.len() == RECENT
            && let Some((position, _)) = recent.pop_front()
        {
            forgotten = position;
        }
        recent.push_back((at, name.clone()));
    }
    forgotten
}

/// Whether a changed row may be one of those that a [`Name::Start`] or [`Name::Where`] reads.
fn contains(read: &Name, changed: &Name) -> bool {
    match (read, changed) {
        (Name::Start(of, text), Name::Row(table, id)) => table == of && id.starts_with(&**text),
        (Name::Where(of, condition), Name::Image(table, row)) => table == of && condition.may_have(row),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{Image, Value};

    fn names(text: &str) -> Vec<Name> {
        text.split_whitespace().map(Name::parse).collect()
    }

    /// Whether a response that reads `read` is still the same after `written` was written.
    #[track_caller]
    fn check(read: &str, written: &str, same: bool) {
        let changes = Changes::default();
        let read = names(read);
        let known = changes.depend(&read, 5).unwrap();
        assert!(known.check().is_ok());
        changes.changed(&names(written), 6);
        assert_eq!(known.check().is_ok(), same, "{read:?} {written}, known before");
        let later = changes.depend(&read, 5);
        assert_eq!(later.is_ok_and(|later| later.check().is_ok()), same, "{read:?} {written}, known afterwards");
        assert!(changes.depend(&read, 6).unwrap().check().is_ok(), "{read:?} {written}, rendered afterwards");
    }

    #[test]
    fn a_change_ends_what_has_read_it_and_nothing_else() {
        for (read, written, same) in [
            ("posts/5", "posts/5", false),
            ("posts/5", "posts/6 posts?post", true),
            ("posts/5", "posts", false),
            ("posts/5", "*", false),
            ("posts/5", "postmeta/5", true),
            ("posts?post", "posts/5 posts?post", false),
            ("posts?post", "posts/5 posts?page", true),
            ("posts", "posts/5", false),
            ("posts", "posts?page", false),
            ("*", "options/x", false),
            ("options/a options/b", "options/b", false),
            ("options/a", "options", false),
            ("posts/5", "terms", true),
            ("options^a_b", "options/a_b1", false),
            ("options^a_b", "options/a_b", false),
            ("options^a_b", "options/a_ options?on", true),
            ("options^a_b", "options", false),
            ("options^a_b", "users/a_b1", true),
            ("options", "options/a options?on", false),
            ("options?on", "options/a options?off", true),
        ] {
            check(read, written, same);
        }
    }

    #[test]
    fn rows_end_what_has_read_rows_with_their_values() {
        let row = |values: &[(&str, &str)]| {
            let value = |text: &str| match text.parse() {
                Ok(number) => Value::Number(number),
                Err(_) => Value::Text(text.into()),
            };
            let values = values.iter().map(|(column, text)| (Arc::from(*column), value(text)));
            Name::Image("orders".into(), Image::new(values))
        };
        let read = names("orders#id:5&state=new|paid");
        for (written, same) in [
            (row(&[("id", "5"), ("state", "paid")]), false),
            (row(&[("id", "5"), ("state", "sent")]), true),
            (row(&[("id", "6"), ("state", "new")]), true),
            (row(&[("id", "5")]), false),
            (row(&[("state", "sent")]), true),
            (row(&[]), false),
            (Name::row("orders", 5), true),
            (Name::table("orders"), false),
            (Name::table("posts"), true),
            (Name::All, false),
        ] {
            let changes = Changes::with_images();
            let known = changes.depend(&read, 5).unwrap();
            assert_eq!(changes.columns("orders"), ["id".into(), "state".into()]);
            changes.changed(std::slice::from_ref(&written), 6);
            assert_eq!(known.check().is_ok(), same, "{written:?}, known before");
            assert_eq!(changes.depend(&read, 5).is_ok(), same, "{written:?}, known afterwards");
            assert!(changes.depend(&read, 6).unwrap().check().is_ok(), "{written:?}, rendered afterwards");
            // By a read.
            changes.changed_by_reads(std::slice::from_ref(&written), 7);
            assert_eq!(changes.depend(&read, 6).unwrap().check().is_ok(), same, "{written:?}, by a read");
        }
        let whole = Changes::with_images();
        let known = whole.depend(&names("orders"), 5).unwrap();
        whole.changed(&[row(&[("id", "6")])], 6);
        assert!(known.check().is_err() && whole.depend(&names("*"), 5).is_err());
    }

    #[test]
    fn without_the_values_of_rows_conditions_are_wider() {
        for (read, written, same) in [
            ("posts#post_status=a&post_type=page", "posts/5 posts?page", false),
            ("posts#post_status=a&post_type=page", "posts/5 posts?post", true),
            ("posts#post_name=a|b&post_type=page", "posts/5 posts?page slugs/b", false),
            ("posts#post_name=a|b&post_type=page", "posts/5 posts?page slugs/c", true),
            ("posts#post_name=a|b&post_type=page", "posts slugs", false),
            ("orders#id:5", "orders/6", false),
            ("options#autoload=yes", "options/cron options?jobs", false),
        ] {
            check(read, written, same);
        }
    }

    #[test]
    fn renderings_are_known_until_they_have_ended() {
        let changes = Changes::default();
        assert!(!changes.is_rendering());
        let rendering = changes.rendering();
        assert!(changes.is_rendering());
        drop(rendering);
        assert!(changes.is_rendering() && changes.renderings().0 == 0);
        changes.renderings().1 = Instant::now().checked_sub(RENDERED);
        assert!(!changes.is_rendering());
    }

    #[test]
    fn dependencies_have_the_names_that_were_read() {
        let changes = Changes::default();
        for read in ["*", "options", "options^a_b", "posts/5 posts?page", "options options/a posts?revision/5 users/1"]
        {
            let known = changes.depend(&names(read), 0).unwrap();
            let mut found: Vec<String> = known.names().map(Name::to_string).collect();
            found.sort();
            let mut expected: Vec<&str> = read.split(' ').collect();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_is_being_written_is_not_the_same() {
        let changes = Changes::default();
        let read = names("posts/5");
        changes.begun(1, &names("posts/5"), 10);
        // Rendered during the write.
        let during = changes.depend(&read, 10).unwrap();
        assert_eq!(during.check(), Err("posts"));
        changes.ended(1, 11);
        assert_eq!(during.check(), Err("posts"), "it may have the old row");
        let after = changes.depend(&read, 11).unwrap();
        assert!(after.check().is_ok() && changes.writers().is_empty());
        // Two writers.
        changes.begun(1, &names("posts/5"), 12);
        changes.begun(2, &names("posts"), 13);
        changes.ended(1, 14);
        assert!(changes.depend(&read, 14).unwrap().check().is_err());
        changes.ended(2, 15);
        assert!(changes.depend(&read, 15).unwrap().check().is_ok());
    }

    #[test]
    fn what_is_being_written_may_begin_with_a_text_that_is_read_later() {
        let changes = Changes::default();
        let read = names("options^a");
        changes.begun(1, &names("options/abc options?on"), 10);
        let during = changes.depend(&read, 10).unwrap();
        assert_eq!(during.check(), Err("options^a"));
        let before = changes.depend(&read, 9);
        assert_eq!(before.err(), Some(Name::start("options", "a")));
        changes.ended(1, 11);
        assert!(during.check().is_err() && changes.depend(&read, 11).unwrap().check().is_ok());
    }

    #[test]
    fn a_writer_that_is_gone_may_have_written_more_rows() {
        let changes = Changes::default();
        let (other, table) = (names("posts/6"), names("terms"));
        let other = changes.depend(&other, 10).unwrap();
        let table = changes.depend(&table, 10).unwrap();
        changes.begun(1, &names("posts/5"), 11);
        assert!(other.check().is_ok());
        changes.abandoned(1, 12);
        assert_eq!((other.check(), table.check()), (Err("posts"), Ok(())));
    }

    #[test]
    fn changes_by_reads_are_tolerated_once_they_are_known_not_to_matter() {
        let changes = Changes::default();
        let read = names("options/a options/b posts?post");
        let tolerance: Arc<Tolerance> = Arc::default();
        let depend = |since| changes.depend_with(&read, since, Arc::clone(&tolerance)).unwrap();
        // By its own rendering.
        changes.changed_by_reads(&names("options/a options?on"), 6);
        let first = depend(5);
        assert_eq!(first.check(), Err("options/a"));
        assert_eq!(first.changed_by_reads(), Some(vec!["options/a".into()]));
        for _ in 0..3 {
            tolerance.same_after(&["options/a".into()]);
        }
        assert_eq!((first.check(), depend(5).check()), (Ok(()), Ok(())));
        changes.changed_by_reads(&names("options/b"), 7);
        assert_eq!(first.check(), Err("options/b"));
        // By somebody else.
        let second = depend(7);
        assert!(second.check().is_ok());
        changes.changed(&names("options/a"), 8);
        assert_eq!((second.check(), second.changed_by_reads()), (Err("options/a"), None));
        let third = depend(8);
        changes.changed_by_reads(&names("options/a"), 9);
        assert!(third.check().is_ok());
        tolerance.other_after(&["options/a".into()]);
        third.check_again();
        assert_eq!(third.check(), Err("options/a"));
    }

    #[test]
    fn missed_news_end_everything() {
        let changes = Changes::default();
        let read = names("posts/5");
        let known = changes.depend(&read, 5).unwrap();
        changes.missed(7);
        assert!(known.check().is_err() && changes.depend(&read, 6).is_err());
        assert!(changes.depend(&read, 7).unwrap().check().is_ok());
        let mut at = 8;
        for _ in 0..RECENT + 10 {
            at += 1;
            changes.changed(&names("posts/6"), at);
        }
        assert_eq!(changes.depend(&read, 8).err(), Some(Name::All), "changes since then have been forgotten");
        assert!(changes.depend(&read, at).is_ok());
    }
}
