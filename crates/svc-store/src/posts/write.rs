//! Writing posts: rows, unique slugs, and deletion with dependent rows.

use std::collections::{BTreeSet, HashMap};

use sea_query::{Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result, StoreError, Tx};
use svc_model::{Post, PostId, UserId};

use super::COLUMNS;
use super::dependencies::Listing;
use crate::language_terms::OF_TERMS;
use crate::meta::{self, MetaKind};
use crate::post_changes::{PostChanges, PostClass};
use crate::rows::{self, post_lists};
use crate::slugs::FreeSlug;
use crate::term_counts;
use crate::{columns, comments, terms};

/// Maximum length of a slug, in bytes.
const MAX_SLUG: usize = 200;

/// Names of feeds, which cannot be slugs.
const FEEDS: [&str; 6] = ["feed", "rdf", "rss", "rss2", "atom", "embed"];

/// Inserts a post, ignoring its `id`, and returns the new id.
pub fn insert(tx: &mut Tx, post: &Post) -> Result<PostId> {
    let id = insert_row(tx, post, None)?;
    keep_new(tx, post, id);
    Ok(id)
}

/// Inserts a post with its own `id` (`import_id`).
///
/// # Errors
/// [`StoreError::Duplicate`] if the id exists.
pub fn insert_with_id(tx: &mut Tx, post: &Post) -> Result<PostId> {
    insert_row(tx, post, Some(post.id))
}

fn insert_row(tx: &mut Tx, post: &Post, id: Option<PostId>) -> Result<PostId> {
    let (mut columns, mut row) = columns::inserted(&COLUMNS, post, tx.charset());
    // Long text columns have no defaults on MySQL.
    for column in ["to_ping", "pinged", "post_content_filtered"] {
        columns.push(column);
        row.push("".into());
    }
    if let Some(id) = id {
        columns.push("ID");
        row.push(id.0.into());
    }
    let mut insert = Query::insert();
    insert.into_table(tx.table("posts")).columns(columns);
    insert.values(row).map_err(|e| StoreError::Other(e.to_string()))?;
    let id = match id {
        // Revisions are recorded as changes of the posts that they are of.
        _ if post.post_type == "revision" => {
            let generated = tx.change_rows(&insert, rows::REVISIONS, &[post.parent.0])?.last_id;
            let id = id.unwrap_or(PostId(generated));
            tx.invalidate(rows::POSTS, &[id.0]);
            id
        }
        Some(id) => {
            tx.change_rows(&insert, rows::POSTS, &[id.0])?;
            id
        }
        None => PostId(tx.insert_row(&insert, rows::POSTS)?),
    };
    PostChanges::record(tx, id, None, Some(post.into()));
    tx.mark_changed([post_lists(&post.post_type)]);
    Ok(id)
}

/// A post with a generated id has no meta, terms and revisions, and what counts it for its terms is known.
fn keep_new(tx: &Tx, post: &Post, id: PostId) {
    term_counts::CountedBy::of(post).keep(tx, id);
    meta::keep_none(tx, MetaKind::Post, id.0);
    terms::keep_none(tx, id);
    super::batch::keep_no_revisions(tx, id);
}

/// Updates all columns of a post and the counts of its terms, and returns whether the row exists.
pub fn update(tx: &mut Tx, post: &Post) -> Result<bool> {
    let Some(before) = Listing::of(tx, post.id)? else { return Ok(false) };
    let mut update = Query::update();
    update
        .table(tx.table("posts"))
        .values(columns::updated(&COLUMNS, post, tx.charset()))
        .and_where(Expr::col("ID").eq(post.id.0));
    let after = Listing::from(post);
    if before.is_revision() && after.is_revision() {
        tx.change_rows(&update, rows::REVISIONS, &[before.parent, after.parent])?;
        tx.invalidate(rows::POSTS, &[post.id.0]);
    } else {
        tx.change_rows(&update, rows::POSTS, &[post.id.0])?;
        before.record_revision(tx);
        after.record_revision(tx);
    }
    tx.mark_changed(before.changed_lists(&after));
    PostChanges::record(tx, post.id, Some(before.class()), Some(after.class()));
    term_counts::post_changed(tx, post.id, &before.counted_by(), &after.counted_by())?;
    Ok(true)
}

/// Sets a post's GUID, which contains the new id. `revision_of` is the post of which it is a revision.
pub fn set_guid(tx: &mut Tx, id: PostId, guid: &str, revision_of: Option<PostId>) -> Result<()> {
    let mut update = Query::update();
    update.table(tx.table("posts")).value("guid", guid).and_where(Expr::col("ID").eq(id.0));
    match revision_of {
        Some(parent) => {
            tx.change_rows(&update, rows::REVISIONS, &[parent.0])?;
            tx.invalidate(rows::POSTS, &[id.0]);
        }
        None => drop(tx.change_rows(&update, rows::POSTS, &[id.0])?),
    }
    Ok(())
}

/// The posts among which a slug must be unique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlugScope {
    /// All posts (for attachments).
    All,
    /// Posts of these types with this parent (hierarchical types, with `attachment`).
    Siblings {
        /// Types that share URLs.
        post_types: Vec<String>,
        /// The parent.
        parent: PostId,
    },
    /// Posts of this type.
    Type(String),
}

/// Input of [`unique_slug`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueSlug {
    /// The requested slug.
    pub slug: String,
    /// The post, which may already have the slug.
    pub post: PostId,
    /// The posts among which it must be unique.
    pub scope: SlugScope,
    /// Whether the requested slug is unavailable for another reason, such as looking like a date or a page number in
    /// URLs.
    pub reserved: bool,
}

/// Returns the requested slug if it is free, otherwise the first free one of `slug-2`, `slug-3`, …, truncated to the
/// column's length.
///
/// Drafts and revisions do not need unique slugs. Source: `wp_unique_post_slug`.
pub fn unique_slug(db: &mut Db, request: &UniqueSlug) -> Result<String> {
    Ok(unique_slugs(db, std::slice::from_ref(request))?.remove(0))
}

/// Like [`unique_slug`], for several independent posts. Runs a few queries, however many slugs are taken.
pub fn unique_slugs(db: &mut Db, requests: &[UniqueSlug]) -> Result<Vec<String>> {
    let mut results: Vec<Option<String>> = vec![None; requests.len()];
    let mut searches: Vec<FreeSlug<'_>> =
        requests.iter().map(|request| FreeSlug::new(&request.slug, MAX_SLUG)).collect();
    while results.iter().any(Option::is_none) {
        let open = searches.iter().zip(&results).filter(|(_, results)| results.is_none());
        let candidates: BTreeSet<&str> = open.flat_map(|(s, _)| s.candidates()).map(String::as_str).collect();
        let slug_owners = slug_owners(db, &candidates.into_iter().collect::<Vec<_>>())?;
        for ((request, search), results) in requests.iter().zip(&mut searches).zip(&mut results) {
            if results.is_none() {
                *results = search.first_free(|slug| request.is_taken(slug, &slug_owners))?;
            }
        }
    }
    Ok(results.into_iter().flatten().collect())
}

/// A post that has a slug.
struct SlugOwner {
    id: PostId,
    post_type: String,
    parent: PostId,
}

/// The posts that have these slugs, by lower-case slug.
fn slug_owners(db: &mut Db, slugs: &[&str]) -> Result<HashMap<String, Vec<SlugOwner>>> {
    let mut slug_owners: HashMap<String, Vec<SlugOwner>> = HashMap::new();
    for piece in slugs.chunks(1_000) {
        let mut s: SelectStatement = Query::select();
        s.columns(["post_name", "ID", "post_type", "post_parent"]).from(db.table("posts"));
        s.and_where(Expr::col("post_name").is_in(piece.iter().copied()));
        db.select(&s, |row| {
            let owner = SlugOwner { id: PostId(row.int(1)?), post_type: row.text(2)?, parent: PostId(row.int(3)?) };
            slug_owners.entry(row.text(0)?.to_ascii_lowercase()).or_default().push(owner);
            Ok(())
        })?;
    }
    Ok(slug_owners)
}

impl UniqueSlug {
    fn is_taken(&self, slug: &str, slug_owners: &HashMap<String, Vec<SlugOwner>>) -> bool {
        if slug == self.slug && (self.reserved || FEEDS.contains(&slug)) {
            return true;
        }
        let in_scope = |owner: &SlugOwner| match &self.scope {
            SlugScope::All => true,
            SlugScope::Siblings { post_types, parent } => {
                owner.parent == *parent && post_types.contains(&owner.post_type)
            }
            SlugScope::Type(post_type) => owner.post_type == *post_type,
        };
        let slug_owners = slug_owners.get(&slug.to_ascii_lowercase());
        slug_owners.is_some_and(|slug_owners| slug_owners.iter().any(|owner| owner.id != self.post && in_scope(owner)))
    }
}

/// Makes all posts of a user, revisions included, those of another.
pub(crate) fn replace_author(tx: &mut Tx, from: UserId, to: UserId) -> Result<()> {
    let mut s = Query::select();
    s.columns(["ID", "post_type", "post_status"])
        .from(tx.table("posts"))
        .and_where(Expr::col("post_author").eq(from.0));
    let posts = tx.all(&s, |row| Ok((row.int(0)?, row.text(1)?, row.text(2)?)))?;
    for piece in posts.chunks(1_000) {
        let ids: Vec<i64> = piece.iter().map(|(id, ..)| *id).collect();
        let mut update = Query::update();
        update.table(tx.table("posts")).value("post_author", to.0);
        update.and_where(Expr::col("ID").is_in(ids.iter().copied()));
        tx.change_rows(&update, rows::POSTS, &ids)?;
        for (id, post_type, status) in piece {
            let by = |author| {
                let (post_type, status) = (post_type.clone(), status.clone());
                Some(PostClass { post_type, status, author: Some(author), parent: None })
            };
            PostChanges::record(tx, PostId(*id), by(from), by(to));
        }
    }
    let types: BTreeSet<&String> = posts.iter().map(|(_, post_type, _)| post_type).collect();
    tx.mark_changed(types.into_iter().map(|post_type| post_lists(post_type)));
    Ok(())
}

/// The taxonomy of a row of `term_relationships` whose object is a term with the id of the post, for `NOT EXISTS`.
fn of_terms(tx: &Tx) -> SelectStatement {
    let of_row = (tx.table("term_relationships"), "term_taxonomy_id");
    let mut taxonomy = Query::select();
    taxonomy.expr(Expr::val(1)).from_as(tx.table("term_taxonomy"), "tt");
    taxonomy.and_where(Expr::col(("tt", "term_taxonomy_id")).equals(of_row));
    taxonomy.and_where(Expr::col(("tt", "taxonomy")).is_in(OF_TERMS)).take()
}

/// Deletes a post with its meta, revisions, comments and term relationships. Its children are attached to its parent.
///
/// Returns the deleted post; `None` if it does not exist. The caller deletes files of attachments and updates the list
/// of sticky posts. Source: `wp_delete_post`.
pub fn delete(tx: &mut Tx, id: PostId) -> Result<Option<Post>> {
    let Some(post) = super::get(tx, id)? else { return Ok(None) };
    let mut s = Query::select();
    s.columns(["ID", "post_type", "post_status"]).from(tx.table("posts")).and_where(Expr::col("post_parent").eq(id.0));
    s.and_where(Expr::col("post_type").is_in([post.post_type.as_str(), "attachment", "revision"]));
    let below = tx.all(&s, |row| Ok((row.int(0)?, row.text(1)?, row.text(2)?)))?;
    let (revisions, children): (Vec<_>, Vec<_>) = below.into_iter().partition(|(_, kind, _)| kind == "revision");
    for piece in children.chunks(1_000) {
        let mut update = Query::update();
        update.table(tx.table("posts")).value("post_parent", post.parent.0);
        update.and_where(Expr::col("ID").is_in(piece.iter().map(|(id, ..)| *id)));
        let ids: Vec<i64> = piece.iter().map(|(id, ..)| *id).collect();
        tx.change_rows(&update, rows::POSTS, &ids)?;
        for (child, kind, status) in piece {
            let below = |parent| {
                let (post_type, status) = (kind.clone(), status.clone());
                Some(PostClass { post_type, status, author: None, parent: Some(parent) })
            };
            PostChanges::record(tx, PostId(*child), below(id), below(post.parent));
        }
        tx.mark_changed([post_lists(&post.post_type), post_lists("attachment")]);
    }
    PostChanges::record(tx, id, Some((&post).into()), None);
    for (revision, kind, status) in &revisions {
        let class = PostClass { post_type: kind.clone(), status: status.clone(), author: None, parent: Some(id) };
        PostChanges::record(tx, PostId(*revision), Some(class), None);
    }
    let mut deleted: Vec<i64> = revisions.into_iter().map(|(id, ..)| id).collect();
    deleted.push(id.0);

    // Revisions do not count.
    term_counts::before_delete(tx, &post)?;
    comments::delete_of_posts(tx, &deleted)?;
    for piece in deleted.chunks(1_000) {
        meta::delete_all(tx, MetaKind::Post, piece)?;
        let mut relationships = Query::delete();
        relationships.from_table(tx.table("term_relationships"));
        relationships.and_where(Expr::col("object_id").is_in(piece.iter().copied()));
        relationships.and_where(Expr::not_exists(of_terms(tx)));
        tx.change_rows(&relationships, rows::POST_TERMS, piece)?;
        let mut rows = Query::delete();
        rows.from_table(tx.table("posts")).and_where(Expr::col("ID").is_in(piece.iter().copied()));
        tx.change_rows(&rows, rows::POSTS, &[id.0])?;
        tx.invalidate(rows::POSTS, piece);
        tx.mark_changed([post_lists(&post.post_type), post_lists("revision")]);
        tx.record(rows::REVISIONS, &[id.0]);
        Listing::from(&post).record_revision(tx);
    }
    Ok(Some(post))
}
