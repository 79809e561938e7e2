//! Comments: rows by id, lists, writes and counts.

use std::collections::HashMap;

use chrono::NaiveDateTime;
use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result, StoreError, Tx};
use svc_model::{Comment, CommentId, PostId, UserId};

use crate::caches;
use crate::columns::{self, columns};
use crate::comment_groups::{self, CommentGroup};
use crate::descriptions::Descriptions;
use crate::meta::{self, MetaKind};
use crate::position::{self, SortKey};
use crate::query::{change_matching, list_query, load_rows};
use crate::rows;
use crate::{Beyond, Order, Page, Position, stamp};

#[rustfmt::skip]
columns! { Comment, &'static str;
    ("comment_ID", id, Id, Never),
    ("comment_post_ID", post, Id),
    ("comment_author", author, Text),
    ("comment_author_email", author_email, Text),
    ("comment_author_url", author_url, Text),
    ("comment_author_IP", author_ip, Text),
    ("comment_date", date, Date),
    ("comment_date_gmt", date_gmt, Date),
    ("comment_content", content, Text),
    ("comment_karma", karma, Int),
    ("comment_approved", approved, Text),
    ("comment_agent", agent, Text),
    ("comment_type", comment_type, Text),
    ("comment_parent", parent, Id),
    ("user_id", user, Id),
}

fn select(db: &Db) -> SelectStatement {
    let mut s = Query::select();
    s.columns(columns::names(&COLUMNS)).from(db.table("comments"));
    s
}

/// Reads a comment by id.
pub fn get(db: &mut Db, id: CommentId) -> Result<Option<Comment>> {
    Ok(get_many(db, &[id])?.pop())
}

/// Reads comments in the order of `ids`. Missing comments are omitted.
pub fn get_many(db: &mut Db, ids: &[CommentId]) -> Result<Vec<Comment>> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let build = |db: &Db, ids| select(db).and_where(Expr::col("comment_ID").is_in(ids)).take();
    load_rows(db, "comments.get", rows::COMMENTS, &numbers, build, read, |comment: &Comment| comment.id.0)
}

/// Sort order of comments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommentOrderBy {
    /// Id.
    Id,
    /// The order of `include`; the direction is ignored.
    Include,
    /// Date in the site's time zone.
    Date,
    /// Date in UTC.
    #[default]
    DateGmt,
    /// Id of the post.
    Post,
    /// Id of the parent.
    Parent,
    /// Type.
    Type,
}

list_query! {
    /// Conditions for a list of comments. Empty lists and `None` are no restriction.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CommentQuery {
        /// Only comments on these posts.
        pub posts: Vec<PostId>,
        /// Only replies to these comments; 0 is top-level comments.
        pub parent_in: Vec<CommentId>,
        /// Excluded parents.
        pub parent_not_in: Vec<CommentId>,
        /// Only comments by these users.
        pub author_in: Vec<UserId>,
        /// Excluded users.
        pub author_not_in: Vec<UserId>,
        /// Only comments with this author e-mail address.
        pub author_email: Option<String>,
        /// Only comments in these stored states: `1`, `0`, `spam`, `trash`, …
        pub approved: Vec<String>,
        /// A user whose own pending comments are also listed, regardless of `approved`.
        pub own_pending: Option<UserId>,
        /// Only these stored types. `comment` also matches the empty text.
        pub types: Vec<String>,
        /// Excluded types.
        pub types_exclude: Vec<String>,
        /// Text to search for in author name, e-mail, URL, IP address and content.
        pub search: Option<String>,
        /// Only comments after this time, in the site's time zone.
        pub after: Option<NaiveDateTime>,
        /// Only comments before this time, in the site's time zone.
        pub before: Option<NaiveDateTime>,
        /// Only these ids.
        pub include: Vec<CommentId>,
        /// Excluded ids.
        pub exclude: Vec<CommentId>,
        /// Only comments on posts of these types.
        pub post_types: Vec<String>,
        /// Only comments on posts of these statuses.
        pub post_statuses: Vec<String>,
        /// Sort order.
        pub order_by: CommentOrderBy,
        /// Sort direction.
        pub order: Order,
    }
}

/// Returns the ids of a page of comments, and the total if requested.
///
/// Ties are broken by id: in the given direction when sorted by date, otherwise descending. Source: WordPress's SQL
/// statements.
///
/// # Errors
/// [`StoreError::TooMany`] if the query contains too many values.
pub fn query(db: &mut Db, q: &CommentQuery) -> Result<Page<CommentId>> {
    position::page(db, q, find, position_of)
}

/// The sort expressions of a list in the direction of reading, most significant first.
fn order(q: &CommentQuery) -> Vec<SortKey> {
    let col = |name: &'static str| Expr::col(("c", name));
    let (first, tie) = match q.order_by {
        CommentOrderBy::Id => (None, q.order),
        CommentOrderBy::Include => {
            let position = crate::query::list_position(&col("comment_ID"), q.include.iter().map(|id| id.0));
            (position.map(|position| SortKey::int(position, Order::Asc)), Order::Desc)
        }
        CommentOrderBy::Date => (Some(SortKey::text(col("comment_date"), q.order)), q.order),
        CommentOrderBy::DateGmt => (Some(SortKey::text(col("comment_date_gmt"), q.order)), q.order),
        CommentOrderBy::Post => (Some(SortKey::int(col("comment_post_ID"), q.order)), Order::Desc),
        CommentOrderBy::Parent => (Some(SortKey::int(col("comment_parent"), q.order)), Order::Desc),
        CommentOrderBy::Type => (Some(SortKey::text(col("comment_type"), q.order)), Order::Desc),
    };
    let keys = first.into_iter().chain([SortKey::int(col("comment_ID"), tie)]).collect();
    position::directed(keys, q.backwards)
}

/// The position of a comment in a list.
fn position_of(db: &mut Db, q: &CommentQuery, id: i64) -> Result<Option<Position>> {
    let mut s = Query::select();
    s.from_as(db.table("comments"), "c").and_where(Expr::col(("c", "comment_ID")).eq(id));
    position::read(db, &order(q), s)
}

fn find(db: &mut Db, q: &CommentQuery) -> Result<Page<CommentId>> {
    let groups = match comment_groups::read(db, q)? {
        Some(groups) if groups.is_empty() => {
            return Ok(Page { ids: Vec::new(), total: q.total.then_some(0), next: None });
        }
        groups => groups.unwrap_or_default(),
    };
    let mut filtered = Query::select();
    filtered.from_as(db.table("comments"), "c");
    conditions(db, q, None, &mut filtered);
    let mut offset = q.offset;
    let mut branches = vec![filtered.clone()];
    if !groups.is_empty() {
        let from_day = comment_groups::day_at_offset(db, q, &groups)?;
        branches.clear();
        for group in &groups {
            let mut s = Query::select();
            s.from_as(db.table("comments"), "c");
            conditions(db, q, Some(group), &mut s);
            if let Some((day, skipped)) = &from_day {
                s.and_where(comment_groups::from_day(day, q.order));
                offset = q.offset - skipped;
            }
            branches.push(s);
        }
    }
    let keys = order(q);
    if let Some(Beyond::Position(position)) = &q.beyond {
        let behind = position::behind(&keys, position, q.backwards)?;
        for branch in &mut branches {
            branch.and_where(behind.clone());
        }
    }
    let order = keys.into_iter().map(|key| (key.by, key.order.into())).collect();
    let page = crate::query::merged(branches, ("c", "comment_ID"), order, None);
    let of_posts = !q.post_types.is_empty() || !q.post_statuses.is_empty();
    let tables = if of_posts { &[rows::COMMENTS, rows::POSTS][..] } else { &[rows::COMMENTS] };
    if !groups.is_empty() {
        let mut page = crate::query::page(db, &[], &filtered, page, (q.limit, offset, false), CommentId)?;
        page.total = match comment_groups::total(q, &groups) {
            _ if !q.total => None,
            Some(total) => Some(total),
            None => Some(db.total(tables, &filtered)?),
        };
        return Ok(page);
    }
    crate::query::page(db, tables, &filtered, page, (q.limit, q.offset, q.total), CommentId)
}

/// Adds the conditions of a list, or of the comments of one state and type in it.
fn conditions(db: &Db, q: &CommentQuery, group: Option<&CommentGroup>, s: &mut SelectStatement) {
    let col = |name: &'static str| Expr::col(("c", name));
    if !q.posts.is_empty() {
        s.and_where(col("comment_post_ID").is_in(q.posts.iter().map(|id| id.0)));
    }
    if !q.parent_in.is_empty() {
        s.and_where(col("comment_parent").is_in(q.parent_in.iter().map(|id| id.0)));
    }
    if !q.parent_not_in.is_empty() {
        s.and_where(col("comment_parent").is_not_in(q.parent_not_in.iter().map(|id| id.0)));
    }
    if !q.author_in.is_empty() {
        s.and_where(col("user_id").is_in(q.author_in.iter().map(|id| id.0)));
    }
    if !q.author_not_in.is_empty() {
        s.and_where(col("user_id").is_not_in(q.author_not_in.iter().map(|id| id.0)));
    }
    if let Some(email) = &q.author_email {
        s.and_where(col("comment_author_email").eq(email.as_str()));
    }
    if let Some(group) = group {
        s.and_where(col("comment_approved").eq(group.approved.as_str()));
        s.and_where(col("comment_type").eq(group.comment_type.as_str()));
    }
    if group.is_none() && !q.approved.is_empty() {
        let states = col("comment_approved").is_in(q.approved.iter().map(String::as_str));
        match q.own_pending {
            None => drop(s.and_where(states)),
            Some(user) => drop(
                s.cond_where(
                    Cond::any()
                        .add(states)
                        .add(Cond::all().add(col("user_id").eq(user.0)).add(col("comment_approved").eq("0"))),
                ),
            ),
        }
    }
    if group.is_none() && !q.types.is_empty() {
        let empty = q.types.iter().any(|t| t == "comment").then_some("");
        s.and_where(col("comment_type").is_in(q.types.iter().map(String::as_str).chain(empty)));
    }
    if group.is_none() && !q.types_exclude.is_empty() {
        s.and_where(col("comment_type").is_not_in(q.types_exclude.iter().map(String::as_str)));
    }
    if let Some(text) = &q.search {
        let columns =
            ["comment_author", "comment_author_email", "comment_author_url", "comment_author_IP", "comment_content"];
        let any = columns.iter().fold(Cond::any(), |any, c| any.add(col(c).like(crate::query::contains(text))));
        s.cond_where(any);
    }
    if let Some(t) = q.after {
        s.and_where(col("comment_date").gt(stamp::format(Some(t))));
    }
    if let Some(t) = q.before {
        s.and_where(col("comment_date").lt(stamp::format(Some(t))));
    }
    if !q.include.is_empty() {
        s.and_where(col("comment_ID").is_in(q.include.iter().map(|id| id.0)));
    }
    if !q.exclude.is_empty() {
        s.and_where(col("comment_ID").is_not_in(q.exclude.iter().map(|id| id.0)));
    }
    if !q.post_types.is_empty() || !q.post_statuses.is_empty() {
        let mut rows = Query::select();
        rows.expr(Expr::val(1)).from_as(db.table("posts"), "p");
        rows.and_where(Expr::col(("p", "ID")).equals(("c", "comment_post_ID")));
        if !q.post_types.is_empty() {
            rows.and_where(Expr::col(("p", "post_type")).is_in(q.post_types.iter().map(String::as_str)));
        }
        if !q.post_statuses.is_empty() {
            rows.and_where(Expr::col(("p", "post_status")).is_in(q.post_statuses.iter().map(String::as_str)));
        }
        s.and_where(Expr::exists(rows));
    }
}

/// The number of comments of each state on a post or on the whole site, except notes.
pub fn counts(db: &mut Db, post: Option<PostId>) -> Result<HashMap<String, u64>> {
    let mut s = Query::select();
    s.column("comment_approved").expr(Expr::cust("COUNT(*)")).from(db.table("comments"));
    s.and_where(Expr::col("comment_type").ne("note"));
    if let Some(post) = post {
        s.and_where(Expr::col("comment_post_ID").eq(post.0));
    }
    s.group_by_col("comment_approved");
    let rows = db.all(&s, |row| Ok((row.text(0)?, u64::try_from(row.int(1)?).unwrap_or(0))))?;
    Ok(rows.into_iter().collect())
}

/// Inserts a comment, ignoring its `id`, and returns the new id. An approved one updates the comment count of its post.
pub fn insert(tx: &mut Tx, comment: &Comment) -> Result<CommentId> {
    let (columns, row) = columns::inserted(&COLUMNS, comment, tx.charset());
    let mut insert = Query::insert();
    insert.into_table(tx.table("comments")).columns(columns);
    insert.values(row).map_err(|e| StoreError::Other(e.to_string()))?;
    let id = tx.insert_row(&insert, rows::COMMENTS)?;
    Descriptions::comment(tx, id, None, Some(comment));
    count_if_approved(tx, comment, 1)?;
    Ok(CommentId(id))
}

/// Updates all columns of a comment and the comment count of its post. Returns whether the row exists.
pub fn update(tx: &mut Tx, comment: &Comment) -> Result<bool> {
    let Some(before) = get(tx, comment.id)? else { return Ok(false) };
    let mut update = Query::update();
    update.table(tx.table("comments")).values(columns::updated(&COLUMNS, comment, tx.charset()));
    update.and_where(Expr::col("comment_ID").eq(comment.id.0));
    tx.change_rows(&update, rows::COMMENTS, &[comment.id.0])?;
    Descriptions::comment(tx, comment.id.0, Some(&before), Some(comment));
    if before.post == comment.post {
        count_changed(tx, comment.post, counted(comment) - counted(&before))?;
    } else {
        count_changed(tx, before.post, -counted(&before))?;
        count_changed(tx, comment.post, counted(comment))?;
    }
    Ok(true)
}

/// Deletes a comment with its meta and returns it. Replies are attached to its parent.
pub fn delete(tx: &mut Tx, id: CommentId) -> Result<Option<Comment>> {
    let Some(comment) = get(tx, id)? else { return Ok(None) };
    let replies = || Expr::col("comment_parent").eq(id.0);
    let mut update = Query::update();
    update.table(tx.table("comments")).value("comment_parent", comment.parent.0).and_where(replies());
    change_matching(tx, &update, ("comments", "comment_ID"), rows::COMMENTS, replies())?;
    meta::delete_all(tx, MetaKind::Comment, &[id.0])?;
    let mut delete = Query::delete();
    delete.from_table(tx.table("comments")).and_where(Expr::col("comment_ID").eq(id.0));
    tx.change_rows(&delete, rows::COMMENTS, &[id.0])?;
    Descriptions::comment(tx, id.0, Some(&comment), None);
    count_if_approved(tx, &comment, -1)?;
    Ok(Some(comment))
}

/// Deletes all comments on these posts, with their meta.
pub(crate) fn delete_of_posts(tx: &mut Tx, posts: &[i64]) -> Result<()> {
    for piece in posts.chunks(1_000) {
        let mut s = Query::select();
        s.column("comment_ID").from(tx.table("comments"));
        s.and_where(Expr::col("comment_post_ID").is_in(piece.iter().copied()));
        let ids = tx.all(&s, |row| row.int(0))?;
        for comments in ids.chunks(1_000) {
            meta::delete_all(tx, MetaKind::Comment, comments)?;
            let mut delete = Query::delete();
            delete.from_table(tx.table("comments"));
            delete.and_where(Expr::col("comment_ID").is_in(comments.iter().copied()));
            tx.change_rows(&delete, rows::COMMENTS, comments)?;
        }
    }
    Ok(())
}

/// 1 if a comment counts for its post, otherwise 0: approved comments count, except notes.
fn counted(comment: &Comment) -> i64 {
    i64::from(comment.approved == "1" && comment.comment_type != "note")
}

/// Updates the comment count of a comment's post after the comment was added (1) or deleted (-1). If the comment is not approved, the
/// stored count stays as it is, as in WordPress: that of a post in the trash is the one before.
fn count_if_approved(tx: &mut Tx, comment: &Comment, n: i64) -> Result<()> {
    if comment.approved == "1" { count_changed(tx, comment.post, n * counted(comment)) } else { Ok(()) }
}

/// Updates the comment count of a post after `n` more comments count.
fn count_changed(tx: &mut Tx, post: PostId, n: i64) -> Result<()> {
    let mut count = Query::select();
    count.expr(Expr::cust("COUNT(*)")).from_as(tx.table("comments"), "c");
    count.and_where(Expr::col(("c", "comment_post_ID")).eq(post.0));
    count.and_where(Expr::col(("c", "comment_approved")).eq("1"));
    count.and_where(Expr::col(("c", "comment_type")).ne("note"));
    let stored = || Expr::col("comment_count");
    let is_small = stored().lt(caches::tuning(tx).many_comments);
    let count = Expr::case(is_small, Expr::SubQuery(None, Box::new(count.into()))).finally(stored().add(n));
    let mut update = Query::update();
    update.table(tx.table("posts")).value("comment_count", count).and_where(Expr::col("ID").eq(post.0));
    tx.change_rows(&update, rows::POSTS, &[post.0]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn ids(list: &[i64]) -> Vec<CommentId> {
        list.iter().map(|id| CommentId(*id)).collect()
    }

    #[test]
    #[rustfmt::skip]
    fn lists_match_wordpress() {
        fixture::on_each(|store| {
        use CommentOrderBy as By;
        let texts = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect::<Vec<String>>();
        let base = || CommentQuery {
            approved: texts(&["1"]), types: texts(&["comment"]), types_exclude: texts(&["note"]), limit: Some(5), total: true,
            ..CommentQuery::default()
        };
        let by = |order_by, order| CommentQuery { order_by, order, ..base() };
        let rows: Vec<(&str, CommentQuery, &[i64], u64)> = vec![
            ("default", base(), &[514, 511, 510, 509, 531], 23),
            ("search", CommentQuery { search: Some("fox".to_owned()), ..base() }, &[], 0),
            ("search author", CommentQuery { search: Some("zoe guest".to_owned()), ..base() }, &[500], 1),
            ("held", CommentQuery { approved: texts(&["0"]), ..base() }, &[517, 503], 2),
            ("all states", CommentQuery { approved: texts(&["0", "1"]), ..base() }, &[514, 511, 510, 509, 531], 25),
            ("of a post, first level", CommentQuery { posts: vec![PostId(1000)], parent_in: ids(&[0]), ..base() }, &[500], 1),
            ("after", CommentQuery { after: stamp::parse("2024-01-01 00:00:00"), ..by(By::Id, Order::Desc) }, &[531, 530, 529, 528, 527], 23),
            ("include", CommentQuery { include: ids(&[501, 500]), exclude: ids(&[502]), ..by(By::Include, Order::Asc) }, &[501, 500], 2),
            ("post", by(By::Post, Order::Desc), &[514, 512, 511, 510, 509], 23),
            ("parent", by(By::Parent, Order::Desc), &[531, 530, 529, 527, 526], 23),
            ("type", by(By::Type, Order::Asc), &[531, 530, 529, 528, 527], 23),
            ("not this parent", CommentQuery { parent_not_in: ids(&[500]), ..base() }, &[514, 511, 510, 509, 531], 22),
            ("all types", CommentQuery { types: vec![], types_exclude: vec![], ..base() }, &[516, 515, 514, 511, 510], 26),
            ("of posts that are published", CommentQuery { post_statuses: texts(&["publish"]), posts: vec![PostId(1014), PostId(1000)], ..base() }, &[502, 501, 500], 3),
        ];
        for (name, q, expected, total) in rows {
            let page = store.read_blocking(|db| query(db, &q)).unwrap();
            assert_eq!((page.ids, page.total), (ids(expected), Some(total)), "{name}");
        }
        });
    }

    #[test]
    fn maintains_comment_counts() {
        fixture::on_each(|store| {
            let count =
                || store.read_blocking(|db| Ok(crate::posts::get(db, PostId(1001))?.unwrap().comment_count)).unwrap();
            let before = count();
            let comment = Comment {
                post: PostId(1001),
                approved: "1".to_owned(),
                comment_type: "comment".to_owned(),
                ..Comment::default()
            };
            let id = store
                .write_blocking({
                    let c = comment.clone();
                    move |tx| insert(tx, &c)
                })
                .unwrap();
            assert_eq!((id.0, count()), (200_001, before + 1));
            let reply = Comment { parent: id, approved: "0".to_owned(), ..comment.clone() };
            let reply = store.write_blocking(move |tx| insert(tx, &reply)).unwrap();
            assert_eq!(count(), before + 1, "pending comments are not counted");
            let held = Comment { id, approved: "0".to_owned(), ..comment };
            store.write_blocking(move |tx| update(tx, &held)).unwrap();
            assert_eq!(count(), before);
            store.write_blocking(move |tx| delete(tx, id)).unwrap();
            assert_eq!(store.read_blocking(|db| get(db, reply)).unwrap().unwrap().parent.0, 0, "replies move up");
            assert_eq!(store.read_blocking(|db| counts(db, Some(PostId(1001)))).unwrap()["0"], 1);
        });
    }

    #[test]
    fn comments_that_are_not_approved_leave_the_stored_count() {
        use svc_model::Post;

        fixture::on_each(|store| {
            let pending = Comment { post: PostId(1001), approved: "0".to_owned(), ..Comment::default() };
            // The count that is stored after another program wrote a wrong one and `change` ran.
            let counted_after = |change: Box<dyn Fn(&mut Tx) -> Result<()> + Send>| {
                let count = store.write_blocking(move |tx| {
                    let wrong =
                        Post { comment_count: 0, ..Post::clone(&crate::posts::get(tx, PostId(1001))?.unwrap()) };
                    crate::posts::update(tx, &wrong)?;
                    change(tx)?;
                    Ok(crate::posts::get(tx, PostId(1001))?.unwrap().comment_count)
                });
                count.unwrap()
            };
            let held = pending.clone();
            let inserted = store.write_blocking(move |tx| insert(tx, &held)).unwrap();
            let approved = Comment { approved: "1".to_owned(), ..pending.clone() };
            let note = Comment { comment_type: "note".to_owned(), ..approved.clone() };
            assert_eq!(counted_after(Box::new(move |tx| insert(tx, &pending).map(drop))), 0, "inserted");
            assert_eq!(counted_after(Box::new(move |tx| delete(tx, inserted).map(drop))), 0, "deleted");
            assert_eq!(counted_after(Box::new(move |tx| insert(tx, &note).map(drop))), 1, "an approved note");
            assert_eq!(counted_after(Box::new(move |tx| insert(tx, &approved).map(drop))), 2, "approved");
        });
    }
}
