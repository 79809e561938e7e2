//! Searches whose results are ranked by how well they match, with the search index.
//!
//! Posts that the index does not have in their current version are read and indexed in memory, and so are all posts of a small
//! site without an index. Both are cached while the posts are unchanged.

use std::collections::HashMap;
use std::sync::Arc;

use sea_query::{Cond, Expr, ExprTrait as _, Query};
use svc_db::{Db, Result};
use svc_model::{PostId, TermId};
use svc_search::{
    Bits, Class, Document, Generation, Highlighter, Language, QueryError, RankedPart, RankedQuery, Segment,
    SegmentBuilder, rank,
};

use super::indexed_search::{changed, live};
use crate::caches::{self, SiteCaches};
use crate::search_indexer::{date, key, ranked_texts};
use crate::search_state::UnindexedKey;
use crate::{options, rows};

/// Maximum number of posts of a site that are searched without an index.
const MAX_UNINDEXED: usize = 2_000;

/// Maximum length of the texts in memory, in bytes.
const MAX_UNINDEXED_TEXT: usize = 64 << 20;

/// Number of posts that are read with one statement.
const CHUNK: usize = 500;

/// A ranked search.
#[derive(Clone, Debug, Default)]
pub struct RankedSearch {
    /// What to search for ([`RankedQuery`]).
    pub text: String,
    /// Types and statuses of the posts that may be found. Posts with a password are never found.
    pub classes: Vec<(String, String)>,
    /// Terms that each found post has, in a taxonomy of [`Self::taxonomies`].
    pub terms: Vec<TermId>,
    /// The taxonomies of the terms.
    pub taxonomies: Vec<String>,
    /// Maximum number of posts.
    pub limit: usize,
}

/// What a ranked search has found.
pub struct Ranked {
    /// The posts, best first.
    pub ids: Vec<PostId>,
    /// The number of all posts that match.
    pub total: u64,
    /// Their number per type, most frequent first.
    pub types: Vec<(String, u64)>,
    /// Marks the words of the search in texts.
    pub highlighter: Highlighter,
}

/// Why there are no results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unranked {
    /// The text cannot be searched for.
    Query(QueryError),
    /// The index is being built, or the database cannot have one.
    NoIndex,
}

/// The language of the site, whose words are reduced to stems.
///
/// # Errors
/// Those of the database.
pub(crate) fn language(db: &mut Db) -> Result<Language> {
    let locale = options::get(db, "WPLANG")?;
    Ok(Language::of_locale(locale.as_ref().map_or("", |locale| locale.text())))
}

/// Finds the posts that match a text best.
///
/// # Errors
/// Those of the database.
pub fn ranked_search(db: &mut Db, search: &RankedSearch) -> Result<std::result::Result<Ranked, Unranked>> {
    rows::POSTS.depend_on_all(db.cx());
    if !search.terms.is_empty() {
        rows::POST_TERMS.depend_on_all(db.cx());
        rows::TERMS.depend_on_all(db.cx());
    }
    // A change of the language has an effect when the index has been built again.
    db.cx().recheck_after(std::time::Duration::from_secs(60));
    let caches = caches::of(db);
    db.recorded_by_caller(|db| {
        let (generation, language, unindexed) = match indexed(db, &caches)? {
            Some((generation, changed)) => {
                let language = generation.language();
                let mark = Some((generation.mark().seq, generation.mark().nonce));
                let of_changed = in_memory(db, &caches, language, mark, Some(&changed))?;
                (Some((generation, changed)), language, of_changed)
            }
            None => {
                let language = language(db)?;
                (None, language, in_memory(db, &caches, language, None, None)?)
            }
        };
        let Some(unindexed) = unindexed else { return Ok(Err(Unranked::NoIndex)) };
        let query = match RankedQuery::parse(&search.text, language) {
            Ok(query) => query,
            Err(e) => return Ok(Err(Unranked::Query(e))),
        };
        let with_terms = posts_with_terms(db, search)?;
        let allowed = |segment: &Segment, mut allowed: Bits| {
            allowed.subtract(&segment.of_classes(|class| !is_allowed(search, class)));
            if let Some(ids) = &with_terms {
                allowed.retain(&segment.positions(ids));
            }
            allowed
        };
        let mut parts = vec![RankedPart { segment: &unindexed, allowed: allowed(&unindexed, unindexed.all()) }];
        if let Some((generation, changed)) = &generation {
            // A phrase is looked for in the last segments first.
            parts.extend(generation.segments().iter().rev().map(|of_index| RankedPart {
                segment: &of_index.segment,
                allowed: allowed(&of_index.segment, live(of_index, changed)),
            }));
        }
        match rank(&parts, &query, search.limit) {
            Ok(found) => Ok(Ok(Ranked {
                ids: found.ids.into_iter().map(PostId).collect(),
                total: found.total,
                types: found.types,
                highlighter: found.highlighter,
            })),
            Err(e) => {
                tracing::warn!(error = %e, "the search index cannot be read and will be built again");
                caches.search.report_damage();
                Ok(Err(Unranked::NoIndex))
            }
        }
    })
}

fn is_allowed(search: &RankedSearch, class: &Class) -> bool {
    let is_listed = search.classes.iter().any(|(post_type, status)| {
        class.post_type.eq_ignore_ascii_case(post_type) && class.status.eq_ignore_ascii_case(status)
    });
    is_listed && !class.has_password
}

/// The state of the index, and the posts that it does not have in the version of the snapshot. `None` if it cannot be used.
fn indexed(db: &mut Db, caches: &SiteCaches) -> Result<Option<(Arc<Generation>, Vec<i64>)>> {
    let state = &caches.search;
    let (Some(log), Some(generation)) = (state.log.get(), state.index.current()) else { return Ok(None) };
    state.note_search();
    Ok(changed(db, &**log, caches, &generation)?.map(|changed| (generation, changed)))
}

/// A segment in memory with some posts, or with all of a small site. `None` if they are too many.
fn in_memory(
    db: &mut Db,
    caches: &SiteCaches,
    language: Language,
    mark: Option<(i64, i64)>,
    ids: Option<&[i64]>,
) -> Result<Option<Arc<Segment>>> {
    let cache_key = db.version(rows::POSTS).map(|version| UnindexedKey { version, mark, language });
    let cached = || cache_key.and_then(|key| caches.search.unindexed(key));
    if let Some(known) = cached() {
        return Ok(Some(known));
    }
    if ids.is_none() && has_many(db)? {
        return Ok(None);
    }
    let _indexing = caches.search.begin_indexing();
    if let Some(known) = cached() {
        return Ok(Some(known));
    }
    let (mut builder, mut left) = (SegmentBuilder::new(language), MAX_UNINDEXED_TEXT);
    match ids {
        Some(ids) => {
            for chunk in ids.chunks(CHUNK) {
                let among = Cond::all().add(Expr::col("ID").is_in(svc_db::pad(chunk)));
                if read(db, &mut builder, among, &mut left)?.is_none() {
                    return Ok(None);
                }
            }
        }
        None => {
            let mut from = i64::MIN;
            for _ in 0..=MAX_UNINDEXED / CHUNK {
                match read(db, &mut builder, Cond::all().add(Expr::col("ID").gt(from)), &mut left)? {
                    None => return Ok(None),
                    Some(None) => break,
                    Some(Some(last)) => from = last,
                }
            }
            if builder.len() > MAX_UNINDEXED {
                return Ok(None);
            }
        }
    }
    let segment = Arc::new(builder.in_memory().map_err(|e| crate::StoreError::Other(format!("ranked search: {e}")))?);
    if let Some(key) = cache_key {
        caches.search.cache_unindexed(key, &segment);
    }
    Ok(Some(segment))
}

/// Whether the site has more posts than are searched without an index. Reads no texts.
fn has_many(db: &mut Db) -> Result<bool> {
    let mut s = Query::select();
    s.column("ID").from(db.table("posts")).and_where(Expr::col("post_type").ne("revision"));
    s.limit(1).offset(MAX_UNINDEXED as u64);
    Ok(db.first(&s, |row| row.int(0))?.is_some())
}

/// Adds the next posts in the order of their ids, and returns the last id. `None` if their texts are too long.
fn read(db: &mut Db, builder: &mut SegmentBuilder, which: Cond, left: &mut usize) -> Result<Option<Option<i64>>> {
    let mut s = Query::select();
    s.columns(["ID", "post_title", "post_excerpt", "post_content", "post_date", "post_type", "post_status"]);
    s.expr(Expr::col("post_password").eq("")).from(db.table("posts"));
    s.cond_where(which).and_where(Expr::col("post_type").ne("revision"));
    s.order_by("ID", sea_query::Order::Asc).limit(CHUNK as u64);
    let (mut last, mut has_room) = (None, true);
    db.select(&s, |row| {
        let id = row.int(0)?;
        last = Some(id);
        let texts = [row.text(1)?, row.text(2)?, row.text(3)?];
        let n = texts.iter().map(String::len).sum::<usize>();
        has_room &= n <= *left;
        *left = left.saturating_sub(n);
        if let (true, Some(date), Some(post_type), Some(status)) =
            (has_room, date(&row.text(4)?), key(&row.text(5)?), key(&row.text(6)?))
        {
            let ranked = ranked_texts(&texts);
            let class = Class { post_type, status, has_password: row.int(7)? == 0 };
            let ranked = ranked.each_ref().map(String::as_str);
            builder.add(&Document { id, date, class, digest: None, texts: [""; svc_search::FIELDS], ranked });
        }
        Ok(())
    })?;
    Ok(has_room.then_some(last))
}

/// The posts with all terms of a search, ascending. `None` if it has none.
fn posts_with_terms(db: &mut Db, search: &RankedSearch) -> Result<Option<Vec<i64>>> {
    if search.terms.is_empty() {
        return Ok(None);
    }
    let mut terms: Vec<i64> = search.terms.iter().map(|id| id.0).collect();
    terms.sort_unstable();
    terms.dedup();
    let mut s = Query::select();
    s.column(("tr", "object_id")).column(("tt", "term_id")).from_as(db.table("term_relationships"), "tr");
    s.join_as(
        sea_query::JoinType::InnerJoin,
        db.table("term_taxonomy"),
        "tt",
        Expr::col(("tt", "term_taxonomy_id")).equals(("tr", "term_taxonomy_id")),
    );
    s.and_where(Expr::col(("tt", "term_id")).is_in(terms.iter().copied()));
    s.and_where(Expr::col(("tt", "taxonomy")).is_in(search.taxonomies.iter().cloned()));
    let mut found: Vec<(i64, i64)> = Vec::new();
    db.select(&s, |row| {
        found.push((row.int(0)?, row.int(1)?));
        Ok(())
    })?;
    found.sort_unstable();
    found.dedup();
    let of_posts = found.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() == terms.len());
    Ok(Some(of_posts.filter_map(|group| Some(group.first()?.0)).collect()))
}

/// The number of these posts that have each term of some taxonomies, most frequent first.
///
/// # Errors
/// Those of the database.
pub fn terms_among(db: &mut Db, ids: &[PostId], taxonomies: &[String]) -> Result<Vec<(TermId, u64)>> {
    rows::POST_TERMS.depend_on_all(db.cx());
    rows::TERMS.depend_on_all(db.cx());
    if ids.is_empty() || taxonomies.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let mut s = Query::select();
    s.column(("tt", "term_id")).expr(Expr::cust("COUNT(*)")).from_as(db.table("term_relationships"), "tr");
    s.join_as(
        sea_query::JoinType::InnerJoin,
        db.table("term_taxonomy"),
        "tt",
        Expr::col(("tt", "term_taxonomy_id")).equals(("tr", "term_taxonomy_id")),
    );
    s.and_where(Expr::col(("tr", "object_id")).is_in(svc_db::pad(&ids)));
    s.and_where(Expr::col(("tt", "taxonomy")).is_in(taxonomies.iter().cloned()));
    s.group_by_col(("tt", "term_id"));
    let mut found: HashMap<TermId, u64> = HashMap::new();
    db.select(&s, |row| {
        *found.entry(TermId(row.int(0)?)).or_default() += u64::try_from(row.int(1)?).unwrap_or_default();
        Ok(())
    })?;
    let mut found: Vec<(TermId, u64)> = found.into_iter().collect();
    found.sort_by_key(|(id, n)| (std::cmp::Reverse(*n), *id));
    Ok(found)
}
