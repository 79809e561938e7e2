//! Writing posts: rows, unique slugs, and what goes with a post when it is deleted.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering;

use sea_query::{Expr, ExprTrait as _, Query, SelectStatement};
use svc_model::{Post, PostId, TermTaxonomyId};
use svc_text::encode_emoji;

use crate::db::{Db, Tx};
use crate::error::{Result, StoreError};
use crate::meta::{self, MetaKind};
use crate::query::FreeSlug;
use crate::{comments, stamp, terms};

/// Longest slug that the column holds, in bytes.
const MAX_SLUG: usize = 200;

/// Names of feeds, which no post may take.
const FEEDS: [&str; 6] = ["feed", "rdf", "rss", "rss2", "atom", "embed"];

/// What columns hold of a post; numbers that are outside of a column's range become the nearest inside, as in a database
/// that is not strict. Where they hold no emoji, texts have references to them instead.
fn values(db: &Db, post: &Post) -> [(&'static str, Expr); 19] {
    let fit = |text: &str| match db.shared.narrow.load(Ordering::Relaxed) {
        true => Expr::from(encode_emoji(text).into_owned()),
        false => text.into(),
    };
    [
        ("post_author", Ord::max(post.author.0, 0).into()),
        ("post_date", stamp::format(post.date).into()),
        ("post_date_gmt", stamp::format(post.date_gmt).into()),
        ("post_content", fit(&post.content)),
        ("post_title", fit(&post.title)),
        ("post_excerpt", fit(&post.excerpt)),
        ("post_status", post.status.as_str().into()),
        ("comment_status", post.comment_status.as_str().into()),
        ("ping_status", post.ping_status.as_str().into()),
        ("post_password", post.password.as_str().into()),
        ("post_name", post.slug.as_str().into()),
        ("post_modified", stamp::format(post.modified).into()),
        ("post_modified_gmt", stamp::format(post.modified_gmt).into()),
        ("post_parent", Ord::max(post.parent.0, 0).into()),
        ("guid", post.guid.as_str().into()),
        ("menu_order", Ord::clamp(post.menu_order, i32::MIN.into(), i32::MAX.into()).into()),
        ("post_type", post.post_type.as_str().into()),
        ("post_mime_type", post.mime_type.as_str().into()),
        ("comment_count", post.comment_count.into()),
    ]
}

/// Adds a post; its `id` does not count. Gives the new id.
///
/// # Errors
/// Those of the database.
pub fn insert(tx: &mut Tx, post: &Post) -> Result<PostId> {
    insert_row(tx, post, None)
}

/// Adds a post under its own `id` (`import_id`).
///
/// # Errors
/// [`StoreError::Duplicate`] when the id is taken; those of the database.
pub fn insert_with_id(tx: &mut Tx, post: &Post) -> Result<PostId> {
    insert_row(tx, post, Some(post.id))
}

fn insert_row(tx: &mut Tx, post: &Post, id: Option<PostId>) -> Result<PostId> {
    let (mut columns, mut row): (Vec<&str>, Vec<Expr>) = values(tx, post).into_iter().unzip();
    // MySQL has no defaults for long texts.
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
    let done = tx.execute(&insert)?;
    Ok(id.unwrap_or(PostId(done.last_id)))
}

/// Writes all members of a post to its row; whether the row was there.
///
/// # Errors
/// Those of the database.
pub fn update(tx: &mut Tx, post: &Post) -> Result<bool> {
    let mut update = Query::update();
    update.table(tx.table("posts")).values(values(tx, post)).and_where(Expr::col("ID").eq(post.id.0));
    Ok(tx.execute(&update)?.rows > 0)
}

/// Sets a post's GUID, which is made of the id that it has just got.
///
/// # Errors
/// Those of the database.
pub fn set_guid(tx: &mut Tx, id: PostId, guid: &str) -> Result<()> {
    let mut update = Query::update();
    update.table(tx.table("posts")).value("guid", guid).and_where(Expr::col("ID").eq(id.0));
    tx.execute(&update).map(drop)
}

/// Among which posts a slug must be the only one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlugScope {
    /// Among all posts (attachments).
    All,
    /// Among posts of these types under this parent (hierarchical types, with `attachment`).
    Siblings {
        /// Types that share the addresses.
        post_types: Vec<String>,
        /// The parent.
        parent: PostId,
    },
    /// Among posts of this type.
    Type(String),
}

/// A slug that is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueSlug {
    /// The slug that is wished for.
    pub slug: String,
    /// The post that it is for, which may have it already.
    pub post: PostId,
    /// Among which posts it must be the only one.
    pub scope: SlugScope,
    /// It is taken for another reason (it would read as a date or a page number in addresses).
    pub reserved: bool,
}

/// The slug itself when it is free, else the first free of `slug-2`, `slug-3` …, cut to the column's length.
///
/// Drafts and revisions need no unique slug: do not ask for them. Source: `wp_unique_post_slug`.
///
/// # Errors
/// Those of the database.
pub fn unique_slug(db: &mut Db, wish: &UniqueSlug) -> Result<String> {
    Ok(unique_slugs(db, std::slice::from_ref(wish))?.remove(0))
}

/// [`unique_slug`] for several posts, each for itself: a few queries, however many of their slugs are taken.
///
/// # Errors
/// Those of the database.
pub fn unique_slugs(db: &mut Db, wishes: &[UniqueSlug]) -> Result<Vec<String>> {
    let mut found: Vec<Option<String>> = vec![None; wishes.len()];
    let mut searches: Vec<FreeSlug<'_>> = wishes.iter().map(|wish| FreeSlug::new(&wish.slug, MAX_SLUG)).collect();
    while found.iter().any(Option::is_none) {
        let open = searches.iter().zip(&found).filter(|(_, found)| found.is_none());
        let asked: BTreeSet<&str> = open.flat_map(|(s, _)| s.candidates()).map(String::as_str).collect();
        let holders = holders(db, &asked.into_iter().collect::<Vec<_>>())?;
        for ((wish, search), found) in wishes.iter().zip(&mut searches).zip(&mut found) {
            if found.is_none() {
                *found = search.settle(|slug| wish.is_taken(slug, &holders))?;
            }
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// A post that has a slug.
struct Holder {
    id: PostId,
    post_type: String,
    parent: PostId,
}

/// The posts that have these slugs, by slug in lower case.
fn holders(db: &mut Db, slugs: &[&str]) -> Result<HashMap<String, Vec<Holder>>> {
    let mut holders: HashMap<String, Vec<Holder>> = HashMap::new();
    for piece in slugs.chunks(1_000) {
        let mut s: SelectStatement = Query::select();
        s.columns(["post_name", "ID", "post_type", "post_parent"]).from(db.table("posts"));
        s.and_where(Expr::col("post_name").is_in(piece.iter().copied()));
        db.select(&s, |row| {
            let holder = Holder { id: PostId(row.int(1)?), post_type: row.text(2)?, parent: PostId(row.int(3)?) };
            holders.entry(row.text(0)?.to_ascii_lowercase()).or_default().push(holder);
            Ok(())
        })?;
    }
    Ok(holders)
}

impl UniqueSlug {
    fn is_taken(&self, slug: &str, holders: &HashMap<String, Vec<Holder>>) -> bool {
        if slug == self.slug && (self.reserved || FEEDS.contains(&slug)) {
            return true;
        }
        let in_scope = |holder: &Holder| match &self.scope {
            SlugScope::All => true,
            SlugScope::Siblings { post_types, parent } => {
                holder.parent == *parent && post_types.contains(&holder.post_type)
            }
            SlugScope::Type(post_type) => holder.post_type == *post_type,
        };
        let holders = holders.get(&slug.to_ascii_lowercase());
        holders.is_some_and(|holders| holders.iter().any(|holder| holder.id != self.post && in_scope(holder)))
    }
}

/// Deletes a post with its meta, revisions, comments and places in terms; its children move up to its parent.
///
/// Gives the post as it was; `None` when there is none. Files of attachments are the caller's, and so is the list of
/// sticky posts. Source: `wp_delete_post`.
///
/// # Errors
/// Those of the database.
pub fn delete(tx: &mut Tx, id: PostId) -> Result<Option<Post>> {
    let Some(post) = super::get(tx, id)? else { return Ok(None) };
    let mut up = Query::update();
    up.table(tx.table("posts")).value("post_parent", post.parent.0);
    up.and_where(Expr::col("post_parent").eq(id.0));
    up.and_where(Expr::col("post_type").is_in([post.post_type.as_str(), "attachment"]));
    tx.execute(&up)?;

    let mut s = Query::select();
    s.column("ID").from(tx.table("posts"));
    s.and_where(Expr::col("post_parent").eq(id.0)).and_where(Expr::col("post_type").eq("revision"));
    let mut gone = tx.all(&s, |row| row.int(0))?;
    gone.push(id.0);

    comments::delete_of_posts(tx, &gone)?;
    for piece in gone.chunks(1_000) {
        meta::delete_all(tx, MetaKind::Post, piece)?;
        let mut s = Query::select();
        s.distinct().column("term_taxonomy_id").from(tx.table("term_relationships"));
        s.and_where(Expr::col("object_id").is_in(piece.iter().copied()));
        let of_terms = tx.all(&s, |row| Ok(TermTaxonomyId(row.int(0)?)))?;
        let mut places = Query::delete();
        places.from_table(tx.table("term_relationships"));
        places.and_where(Expr::col("object_id").is_in(piece.iter().copied()));
        tx.execute(&places)?;
        let mut rows = Query::delete();
        rows.from_table(tx.table("posts")).and_where(Expr::col("ID").is_in(piece.iter().copied()));
        tx.execute(&rows)?;
        terms::recount(tx, &of_terms)?;
    }
    Ok(Some(post))
}

/// Counts the approved comments of posts anew and writes the numbers to their rows; notes do not count.
///
/// # Errors
/// Those of the database.
pub fn recount_comments(tx: &mut Tx, posts: &[PostId]) -> Result<()> {
    if posts.is_empty() {
        return Ok(());
    }
    let mut count = Query::select();
    count.expr(Expr::cust("COUNT(*)")).from_as(tx.table("comments"), "c");
    count.and_where(Expr::col(("c", "comment_post_ID")).equals((tx.table("posts"), "ID")));
    count.and_where(Expr::col(("c", "comment_approved")).eq("1"));
    count.and_where(Expr::col(("c", "comment_type")).ne("note"));
    let mut update = Query::update();
    update.table(tx.table("posts"));
    update.value("comment_count", Expr::SubQuery(None, Box::new(count.into())));
    update.and_where(Expr::col("ID").is_in(posts.iter().map(|id| id.0)));
    tx.execute(&update).map(drop)
}
