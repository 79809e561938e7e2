//! Searches with the search index.
//!
//! The index narrows, the rule of [`super::search`] decides:
//!
//! - If few posts can match and this is not known exactly, the ordinary query runs on these.
//! - Otherwise the index itself determines the matches. That a word contains a term is known exactly; posts that contain
//!   all words of a phrase are examined by the database, and the result is cached per segment, which never changes.
//!   Lists by date, id or relevance are then sorted by the index, which also knows types, statuses and which posts have
//!   a password; lists with other orders or conditions are read without their search text and compared with the matches.
//!
//! Posts that have changed between the state of the index and the snapshot are examined by the database in any case.
//! If there are too many of them, or if it is unknown which they are, there is no indexed search.

use std::collections::BinaryHeap;
use std::io;

use sea_query::{Expr, ExprTrait as _, LikeExpr, Query};
use svc_db::{Db, Logged, Result, RowLog};
use svc_model::PostId;
use svc_search::{Bits, Generation, LiveSegment, SearchIndex};

use super::post_query::{PostOrderBy, PostQuery};
use super::query;
use super::search::{RankStep, SearchColumn, SearchTerms};
use crate::caches::{self, SiteCaches};
use crate::query::contains;
use crate::search_indexer::{date, key};
use crate::tuning::SearchTuning;
use crate::{Beyond, Order, Page, Position, SortValue};

/// Number of posts that are examined with one statement.
const CHUNK: usize = 1_000;

/// Positions of the matches in each segment.
type Matched = Vec<Bits>;

/// Sorts posts ascending: rank, then date and id, negated for descending lists; all three if the list is read backwards.
type SortKey = (i64, i64, i64);

/// Returns a page of a search. `None` if the index cannot be used for it.
pub(super) fn page(db: &mut Db, q: &PostQuery) -> Result<Option<Page<PostId>>> {
    let Some(text) = q.search.as_deref().filter(|_| !q.search_exact && !q.search_file_names) else { return Ok(None) };
    let caches = caches::of(db);
    let state = &caches.search;
    let (Some(log), Some(generation)) = (state.log.get(), state.index.current()) else {
        return Ok(None);
    };
    // Revisions are not indexed.
    let is_indexed = |t: &String| key(t).is_some_and(|t| t != "revision");
    if q.post_types.is_empty() || !q.post_types.iter().all(is_indexed) {
        return Ok(None);
    }
    state.note_search();
    let Some(changed) = changed(db, &**log, &caches, &generation)? else { return Ok(None) };
    let mut columns = if q.search_columns.is_empty() { SearchColumn::ALL.to_vec() } else { q.search_columns.clone() };
    columns.sort_by_key(|c| field(*c));
    columns.dedup();
    let live = generation.segments().iter().map(|segment| live(segment, &changed)).collect();
    let terms = SearchTerms::parse(text);
    let (index, generation, tuning) = (&state.index, &*generation, caches.tuning.search);
    let search = Search { log: &**log, index, generation, tuning, columns, terms, live, changed };
    match search.page(db, q) {
        Ok(page) => Ok(page),
        Err(Failure::Store(e)) => Err(e),
        Err(Failure::Index(e)) => {
            tracing::warn!(error = %e, "the search index cannot be read and will be built again");
            state.report_damage();
            Ok(None)
        }
    }
}

/// The posts that the snapshot and the index may have different versions of, ascending. `None` if they are too many or
/// unknown.
pub(super) fn changed(
    db: &mut Db,
    log: &dyn RowLog,
    caches: &SiteCaches,
    generation: &Generation,
) -> Result<Option<Vec<i64>>> {
    let mark = generation.mark();
    let (search, max_changed) = (&caches.search, caches.tuning.search.max_changed);
    let changes = match log.read(db, mark.seq, max_changed + 1)? {
        Logged::Changes(changes) => changes,
        Logged::Unknown => {
            // Changes are looked for only if there are searches.
            search.request_update();
            return Ok(None);
        }
        Logged::Nothing => return Ok(None),
    };
    if changes.len() > max_changed {
        // There may be more, of other posts.
        search.request_update();
        return Ok(None);
    }
    let mut ids = generation.uncovered().to_vec();
    match changes.split_first() {
        Some((first, rest)) if (first.seq, first.nonce) == (mark.seq, mark.nonce) => {
            ids.extend(rest.iter().map(|change| change.id));
        }
        Some(_) => return Ok(None),
        None => {
            // The snapshot is older than the index.
            let Some(last) = log.last(db)? else { return Ok(None) };
            let recent = generation.recent();
            let Some(at) = recent.iter().position(|r| (r.seq, r.nonce) == (last.seq, last.nonce)) else {
                return Ok(None);
            };
            ids.extend(recent.iter().skip(at + 1).map(|change| change.id));
        }
    }
    ids.sort_unstable();
    ids.dedup();
    if ids.len() >= max_changed {
        search.request_update();
        return Ok(None);
    }
    Ok(Some(ids))
}

/// The documents of a segment that have the same version in the snapshot.
pub(super) fn live(segment: &LiveSegment, changed: &[i64]) -> Bits {
    let mut live = segment.live();
    changed.iter().filter_map(|id| segment.segment.position(*id)).for_each(|position| live.remove(position));
    live
}

fn field(column: SearchColumn) -> usize {
    match column {
        SearchColumn::Title => 0,
        SearchColumn::Excerpt => 1,
        SearchColumn::Content => 2,
    }
}

enum Failure {
    Store(crate::StoreError),
    Index(io::Error),
}

impl From<crate::StoreError> for Failure {
    fn from(e: crate::StoreError) -> Self {
        Failure::Store(e)
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        Failure::Index(e)
    }
}

struct Search<'a> {
    log: &'a dyn RowLog,
    index: &'a SearchIndex,
    generation: &'a Generation,
    tuning: SearchTuning,
    columns: Vec<SearchColumn>,
    terms: SearchTerms,
    /// The documents of each segment that have the same version in the snapshot.
    live: Matched,
    /// The other posts, ascending.
    changed: Vec<i64>,
}

impl Search<'_> {
    fn page(&self, db: &mut Db, q: &PostQuery) -> Result<Option<Page<PostId>>, Failure> {
        let (candidates, is_exact) = self.candidates()?;
        let by_relevance = q.order_by.iter().any(|(by, _)| *by == PostOrderBy::Relevance);
        let order = index_order(q);
        let is_few = count(&candidates) <= self.tuning.few;
        if by_relevance && order.is_none() && !is_few {
            return Ok(None);
        }
        if is_few && (!is_exact || order.is_none()) {
            let mut ids = self.ids(&candidates);
            ids.extend(&self.changed);
            return Ok(Some(sliced(query::among(db, q, &ids)?, q)));
        }
        let matched = if is_exact { candidates } else { self.examined(db, candidates)? };
        if let Some(order) = order {
            let matched = if is_simple(q) { self.of_classes(q, matched) } else { self.listed(db, q, matched)? };
            return self.ordered_page(db, q, matched, order);
        }
        let n = count(&matched);
        let mut ids = self.ids(&matched);
        // These satisfy the other conditions, too.
        ids.extend(query::among(db, q, &self.changed)?.iter().map(|id| id.0));
        ids.sort_unstable();
        let mut listed = q.clone();
        listed.search = None;
        let found = if n <= self.tuning.many {
            query::among(db, &listed, &ids)?
        } else {
            let mut all = query::all(db, &listed)?;
            all.retain(|id| ids.binary_search(&id.0).is_ok());
            all
        };
        Ok(Some(sliced(found, q)))
    }

    /// The documents that may match, and whether they are exactly those that do.
    fn candidates(&self) -> Result<(Matched, bool), Failure> {
        let mut candidates = self.live.clone();
        let mut is_exact = true;
        let required = self.terms.required.iter().map(|term| (term, true));
        for (term, is_required) in required.chain(self.terms.excluded.iter().map(|term| (term, false))) {
            let term = self.fold(term);
            for (segment, bits) in self.generation.segments().iter().zip(&mut candidates) {
                if bits.is_empty() {
                    continue;
                }
                let (mut known, mut unknown) = (Bits::none(), Bits::none());
                for column in &self.columns {
                    let matches = self.index.matches(segment, field(*column), &term)?;
                    known.add(&matches.known);
                    unknown.add(&matches.unknown);
                }
                unknown.subtract(&known);
                if is_required {
                    known.add(&unknown);
                    bits.retain(&known);
                } else {
                    bits.subtract(&known);
                }
                unknown.retain(bits);
                is_exact &= unknown.is_empty();
            }
        }
        Ok((candidates, is_exact))
    }

    /// The candidates that match.
    fn examined(&self, db: &mut Db, mut matched: Matched) -> Result<Matched, Failure> {
        for term in &self.terms.required {
            let containing = self.containing(db, term, &self.columns, &matched)?;
            matched.iter_mut().zip(&containing).for_each(|(bits, containing)| bits.retain(containing));
        }
        for term in &self.terms.excluded {
            let containing = self.containing(db, term, &self.columns, &matched)?;
            matched.iter_mut().zip(&containing).for_each(|(bits, containing)| bits.subtract(containing));
        }
        Ok(matched)
    }

    /// The documents among `within` that contain a term in one of the columns. The result may contain others that are not
    /// among them.
    fn containing(
        &self,
        db: &mut Db,
        term: &str,
        columns: &[SearchColumn],
        within: &Matched,
    ) -> Result<Matched, Failure> {
        let folded = self.fold(term);
        let mut all = Vec::with_capacity(within.len());
        for (segment, within) in self.generation.segments().iter().zip(within) {
            if within.is_empty() {
                all.push(Bits::none());
                continue;
            }
            let find = |column: &SearchColumn| self.index.matches(segment, field(*column), &folded);
            let found = columns.iter().map(find).collect::<io::Result<Vec<_>>>()?;
            let (mut known, mut unknown) = (Bits::none(), Bits::none());
            for matches in &found {
                known.add(&matches.known);
                unknown.add(&matches.unknown);
            }
            unknown.subtract(&known);
            unknown.retain(within);
            if !unknown.is_empty() {
                let mut learned: Vec<_> = found.iter().map(|matches| (**matches).clone()).collect();
                learned.iter_mut().for_each(|matches| matches.unknown.subtract(&unknown));
                let ids = ids_of(segment, &unknown);
                for chunk in ids.chunks(CHUNK) {
                    examine(db, columns, term, chunk, |id, at| {
                        if let (Some(position), Some(matches)) = (segment.segment.position(id), learned.get_mut(at)) {
                            matches.known.insert(position);
                        }
                    })?;
                }
                for (column, matches) in columns.iter().zip(learned) {
                    known.add(&matches.known);
                    self.index.cache_matches(segment, field(*column), &folded, matches);
                }
            }
            all.push(known);
        }
        Ok(all)
    }

    /// The matches that are in a list with other conditions.
    fn listed(&self, db: &mut Db, q: &PostQuery, mut matched: Matched) -> Result<Matched, Failure> {
        let mut by_id = q.clone();
        (by_id.search, by_id.beyond, by_id.backwards) = (None, None, false);
        by_id.order_by = vec![(PostOrderBy::Id, Order::Asc)];
        let ids = if count(&matched) <= self.tuning.many {
            query::among(db, &by_id, &self.ids(&matched))?
        } else {
            query::all(db, &by_id)?
        };
        for (segment, bits) in self.generation.segments().iter().zip(&mut matched) {
            let segment = &segment.segment;
            // Both lists ascend, and segments often are ranges of ids.
            let (Some(first), Some(last)) = (segment.ids.first(), segment.ids.last()) else { continue };
            let start = ids.partition_point(|id| id.0 < *first);
            let of_segment = ids.iter().skip(start).take_while(|id| id.0 <= *last);
            bits.retain(&of_segment.filter_map(|id| segment.position(id.0)).collect());
        }
        Ok(matched)
    }

    /// The matches with the types, statuses and password of a list without other conditions.
    fn of_classes(&self, q: &PostQuery, mut matched: Matched) -> Matched {
        for (segment, bits) in self.generation.segments().iter().zip(&mut matched) {
            let segment = &segment.segment;
            let is_listed: Vec<bool> = segment
                .class_list
                .iter()
                .map(|class| {
                    let is_one_of = |list: &[String], value: &str| list.iter().any(|v| v.eq_ignore_ascii_case(value));
                    is_one_of(&q.post_types, &class.post_type)
                        && is_one_of(&q.statuses, &class.status)
                        && !(q.without_password && class.has_password)
                })
                .collect();
            if is_listed.contains(&false) {
                let class_of = |at: u16| segment.classes.get(usize::from(at)).map_or(usize::MAX, |c| usize::from(*c));
                let unlisted = |at: &u16| !is_listed.get(class_of(*at)).copied().unwrap_or(false);
                let unlisted: Bits = bits.iter().filter(unlisted).collect();
                bits.subtract(&unlisted);
            }
        }
        matched
    }

    /// A page of a list in the order of dates, ids or relevance.
    fn ordered_page(
        &self,
        db: &mut Db,
        q: &PostQuery,
        mut matched: Matched,
        (by, order): (PostOrderBy, Order),
    ) -> Result<Option<Page<PostId>>, Failure> {
        let sort_key = |rank: i64, date: i64, id: i64| {
            let (first, second) = if by == PostOrderBy::Id { (id, 0) } else { (date, id) };
            let (first, second) = match order {
                Order::Asc => (first, second),
                Order::Desc => (-first, -second),
            };
            if q.backwards { (-rank, -first, -second) } else { (rank, first, second) }
        };
        let is_ranked = by == PostOrderBy::Relevance;
        let beyond = match &q.beyond {
            None => None,
            Some(Beyond::Position(position)) => match values(position) {
                Some((rank, date, id)) => Some(sort_key(rank, date, id)),
                None => return Ok(None),
            },
            Some(Beyond::Item(_)) => return Ok(None),
        };
        let is_listed = |key: SortKey| beyond.is_none_or(|beyond| key > beyond || q.backwards && key == beyond);
        let mut total = count(&matched) as u64;
        let end = q.limit.map_or(u64::MAX, |limit| q.offset.saturating_add(limit));
        let mut first = First::new(usize::try_from(end).unwrap_or(usize::MAX));
        for changed in query::sort_keys(db, q, &self.changed, is_ranked)? {
            let Some(date) = date(&changed.date) else { return Ok(None) };
            first.add((sort_key(changed.rank, date, changed.id.0), changed.id.0));
            total += 1;
        }
        // Returns how many of the documents are listed.
        let add_all = |rank: i64, part: &Matched, first: &mut First| {
            let mut n = 0;
            for (segment, bits) in self.generation.segments().iter().zip(part) {
                let (ids, dates) = (&segment.segment.ids, &segment.segment.dates);
                for at in bits.iter().map(usize::from) {
                    let (Some(id), Some(date)) = (ids.get(at), dates.get(at)) else { continue };
                    let key = sort_key(rank, *date, *id);
                    if is_listed(key) {
                        first.add((key, *id));
                        n += 1;
                    }
                }
            }
            n
        };
        if is_ranked {
            let mut n = 0;
            let steps = self.terms.rank_steps();
            // Without steps, all matches are equally relevant.
            let last_rank = if steps.is_empty() { 0 } else { self.terms.last_rank() };
            // Read backwards, the least relevant are first.
            let is_full = |n| n >= end && !q.backwards;
            for step in steps {
                if is_full(n) {
                    break;
                }
                let part = self.with_rank(db, &step, &matched)?;
                matched.iter_mut().zip(&part).for_each(|(bits, part)| bits.subtract(part));
                n += add_all(step.rank, &part, &mut first);
            }
            if !is_full(n) {
                add_all(last_rank, &matched, &mut first);
            }
        } else {
            add_all(0, &matched, &mut first);
        }
        let offset = usize::try_from(q.offset).unwrap_or(usize::MAX);
        let ids = first.sorted().into_iter().skip(offset).map(|(_, id)| PostId(id)).collect();
        Ok(Some(Page { ids, total: q.total.then_some(total), next: None }))
    }

    /// The documents among `within` that satisfy the condition of a rank.
    fn with_rank(&self, db: &mut Db, step: &RankStep<'_>, within: &Matched) -> Result<Matched, Failure> {
        let mut part = within.clone();
        let mut any: Matched = within.iter().map(|_| Bits::none()).collect();
        for term in &step.terms {
            let containing = self.containing(db, term, &[step.column], &part)?;
            for ((part, any), containing) in part.iter_mut().zip(&mut any).zip(&containing) {
                if step.is_any {
                    any.add(containing);
                } else {
                    part.retain(containing);
                }
            }
        }
        if step.is_any {
            part.iter_mut().zip(&any).for_each(|(part, any)| part.retain(any));
        }
        Ok(part)
    }

    fn fold(&self, term: &str) -> String {
        let mut folded = String::new();
        self.log.fold(term, &mut folded);
        folded
    }

    fn ids(&self, matched: &Matched) -> Vec<i64> {
        self.generation.segments().iter().zip(matched).flat_map(|(segment, bits)| ids_of(segment, bits)).collect()
    }
}

fn ids_of<'a>(segment: &'a LiveSegment, bits: &'a Bits) -> Vec<i64> {
    bits.iter().filter_map(|at| segment.segment.ids.get(usize::from(at)).copied()).collect()
}

fn count(matched: &Matched) -> usize {
    matched.iter().map(Bits::len).sum()
}

/// A page of a whole list.
fn sliced(all: Vec<PostId>, q: &PostQuery) -> Page<PostId> {
    let total = all.len() as u64;
    let offset = usize::try_from(q.offset).unwrap_or(usize::MAX);
    let limit = q.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    Page { ids: all.into_iter().skip(offset).take(limit).collect(), total: q.total.then_some(total), next: None }
}

/// Calls `each` with the id of a post and the position of a column that contains the term.
fn examine(
    db: &mut Db,
    columns: &[SearchColumn],
    term: &str,
    ids: &[i64],
    mut each: impl FnMut(i64, usize),
) -> Result<()> {
    let mut s = Query::select();
    s.column("ID").from(db.table("posts")).and_where(Expr::col("ID").is_in(svc_db::pad(ids)));
    let pattern = || -> LikeExpr { contains(term) };
    for column in columns {
        s.expr(Expr::case(Expr::col(column.name()).like(pattern()), 1).finally(0));
    }
    db.select(&s, |row| {
        let id = row.int(0)?;
        for at in 0..columns.len() {
            if row.int(at + 1)? == 1 {
                each(id, at);
            }
        }
        Ok(())
    })
}

/// The order of a list that the index can return: by date, id or relevance.
fn index_order(q: &PostQuery) -> Option<(PostOrderBy, Order)> {
    match &q.order_by[..] {
        [] => Some((PostOrderBy::Date, Order::Desc)),
        [(by @ (PostOrderBy::Date | PostOrderBy::Id | PostOrderBy::Relevance), order)] => Some((by.clone(), *order)),
        _ => None,
    }
}

/// Returns whether a list is restricted by types, statuses and password only.
fn is_simple(q: &PostQuery) -> bool {
    let simple = PostQuery {
        post_types: q.post_types.clone(),
        statuses: q.statuses.clone(),
        search: q.search.clone(),
        search_columns: q.search_columns.clone(),
        without_password: q.without_password,
        order_by: q.order_by.clone(),
        limit: q.limit,
        offset: q.offset,
        total: q.total,
        beyond: q.beyond.clone(),
        backwards: q.backwards,
        ..PostQuery::default()
    };
    simple == *q && !q.statuses.is_empty() && q.statuses.iter().all(|status| key(status).is_some())
}

/// The rank, the date and the id of a position in a list that the index sorts. What its order does not have is 0.
fn values(position: &Position) -> Option<SortKey> {
    match &position.0[..] {
        [SortValue::Int(id)] => Some((0, 0, *id)),
        [SortValue::Text(stored), SortValue::Int(id)] => Some((0, date(stored)?, *id)),
        [SortValue::Int(rank), SortValue::Text(stored), SortValue::Int(id)] => Some((*rank, date(stored)?, *id)),
        _ => None,
    }
}

/// The first items in ascending order.
struct First {
    n: usize,
    items: BinaryHeap<(SortKey, i64)>,
}

impl First {
    fn new(n: usize) -> Self {
        First { n, items: BinaryHeap::new() }
    }

    fn add(&mut self, item: (SortKey, i64)) {
        if self.items.len() < self.n {
            self.items.push(item);
        } else if self.items.peek().is_some_and(|last| item < *last) {
            self.items.pop();
            self.items.push(item);
        }
    }

    fn sorted(self) -> Vec<(SortKey, i64)> {
        self.items.into_sorted_vec()
    }
}
