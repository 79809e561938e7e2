//! The stored state of an object as a digest of its rows: if two digests are equal, nobody changed the object in
//! between.
//!
//! Counts, caches and traces of use that change without an edit are left out: the number of a post's comments, edit
//! locks, sessions. So are objects that an object refers to.

use sea_query::{Expr, ExprTrait as _, Order, Query, SelectStatement};
use sha2::{Digest as _, Sha256};
use svc_db::schema::{Column, ColumnType};
use svc_db::{Db, Result, Row};
use svc_model::{CommentId, Post, PostId, TermId, Timestamp, UserId};

use crate::meta::{self, MetaKind};
use crate::tables::TABLES;
use crate::{posts, terms};

/// An object of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredObject {
    /// A post of any type: its row, meta and terms.
    Post(PostId),
    /// A term in any taxonomy: its rows and meta.
    Term(TermId),
    /// A user: the row and meta.
    User(UserId),
    /// A comment: its row and meta.
    Comment(CommentId),
}

/// The state of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredState {
    /// A digest of the rows. It may cover secrets, such as the hash of a password: do not publish it without a key.
    pub digest: [u8; 32],
    /// When the object was last changed, in UTC, if this is stored.
    pub modified: Timestamp,
}

/// Rows of a table that belong to an object.
struct Part {
    table: &'static str,
    /// The column with the object's id.
    object: &'static str,
    /// Columns that change without an edit.
    ignored: &'static [&'static str],
    /// The column whose value decides whether a row is ignored, and the rule.
    ignored_rows: Option<(&'static str, fn(&str) -> bool)>,
    /// Name of the cached statement.
    statement: &'static str,
}

const fn part(table: &'static str, object: &'static str, statement: &'static str) -> Part {
    Part { table, object, ignored: &[], ignored_rows: None, statement }
}

/// The parts of each kind of object but posts. The first one has the object's own row.
#[rustfmt::skip]
const TERM: &[Part] = &[
    part("terms", "term_id", "state.term"),
    Part { ignored: &["count"], ..part("term_taxonomy", "term_id", "state.term.taxonomy") },
    Part { ignored: &["meta_id"], ..part("termmeta", "term_id", "state.term.meta") },
];
#[rustfmt::skip]
const USER: &[Part] = &[
    Part { ignored: &["user_activation_key"], ..part("users", "ID", "state.user") },
    Part { ignored: &["umeta_id"], ignored_rows: Some(("meta_key", is_trace_of_user)), ..part("usermeta", "user_id", "state.user.meta") },
];
#[rustfmt::skip]
const COMMENT: &[Part] = &[
    part("comments", "comment_ID", "state.comment"),
    Part { ignored: &["meta_id"], ..part("commentmeta", "comment_id", "state.comment.meta") },
];

/// Meta of posts that editors and caches store without an edit.
fn is_trace_of_post(key: &str) -> bool {
    matches!(key, "_edit_lock" | "_pingme" | "_encloseme" | "_svc_preview_link") || key.starts_with("_oembed_")
}

/// Meta of users that logging in and looking around changes. No visitor sees any trace of it.
pub(crate) fn is_trace_of_user(key: &str) -> bool {
    const ENDINGS: [&str; 3] = ["user-settings", "user-settings-time", "dashboard_quick_press_last_post_id"];
    matches!(key, "session_tokens" | "_application_passwords" | "_svc_two_factor" | "community-events-location")
        || ENDINGS.iter().any(|ending| key.ends_with(ending))
}

/// The state of an object; `None` if it does not exist. A fixed number of statements.
///
/// In a transaction it remains the object's state until the transaction changes it.
///
/// # Errors
/// Errors of the database.
pub fn read(db: &mut Db, object: StoredObject) -> Result<Option<StoredState>> {
    let (parts, id) = match object {
        StoredObject::Post(id) => return of_post(db, id),
        StoredObject::Term(id) => (TERM, id.0),
        StoredObject::User(id) => (USER, id.0),
        StoredObject::Comment(id) => (COMMENT, id.0),
    };
    let mut hasher = Sha256::new();
    for (n, part) in parts.iter().enumerate() {
        let columns = columns(part);
        let mut n_rows = 0_u64;
        // Of a term's taxonomy, the number of posts does not count.
        let table = TABLES.iter().find(|table| table.name == part.table);
        table.into_iter().flat_map(|table| table.rows).take(1).for_each(|of| of.rows.depend_on(db.cx(), [id]));
        db.cached(
            (part.statement, 0),
            &[id.into()],
            |db| select(db, part, &columns),
            |row| {
                n_rows += 1;
                add_row(&mut hasher, part, &columns, row)
            },
        )?;
        if n == 0 && n_rows == 0 {
            return Ok(None);
        }
        hasher.update(b"/");
    }
    Ok(Some(StoredState { digest: hasher.finalize().into(), modified: None }))
}

/// The state of a post, from the rows that a response with it is made of, so that they are loaded once.
fn of_post(db: &mut Db, id: PostId) -> Result<Option<StoredState>> {
    let Some(post) = posts::get(db, id)? else { return Ok(None) };
    let meta = meta::load_one(db, MetaKind::Post, id.0)?;
    let mut terms: Vec<i64> =
        terms::of_objects(db, &[id])?.remove(&id).unwrap_or_default().iter().map(|term| term.taxonomy_id.0).collect();
    terms.sort_unstable();
    let modified = post.modified_gmt;
    let mut digest = Digest::default();
    digest.add_post(&post);
    for (key, values) in meta.iter().filter(|(key, _)| !is_trace_of_post(key)) {
        digest.text(key);
        digest.number(i64::try_from(values.len()).unwrap_or(i64::MAX));
        values.iter().for_each(|value| digest.text(value.as_stored()));
    }
    terms.into_iter().for_each(|term| digest.number(term));
    Ok(Some(StoredState { digest: digest.0.finalize().into(), modified }))
}

/// A digest of values in a fixed order.
#[derive(Default)]
struct Digest(Sha256);

impl Digest {
    fn number(&mut self, number: i64) {
        self.0.update(number.to_le_bytes());
    }

    /// With its length, so that neighbouring values cannot be confused.
    fn text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    fn time(&mut self, stamp: Timestamp) {
        self.number(stamp.map_or(i64::MIN, |time| time.and_utc().timestamp()));
    }

    /// All columns but the number of comments, which changes without an edit.
    #[rustfmt::skip]
    fn add_post(&mut self, post: &Post) {
        let Post {
            id, author, date, date_gmt, content, title, excerpt, status, comment_status, ping_status, password, slug, modified,
            modified_gmt, parent, guid, menu_order, post_type, mime_type, comment_count: _,
        } = post;
        [id.0, author.0, parent.0, *menu_order].into_iter().for_each(|number| self.number(number));
        [date, date_gmt, modified, modified_gmt].into_iter().for_each(|stamp| self.time(*stamp));
        [content, title, excerpt, status, comment_status, ping_status, password, slug, guid, post_type, mime_type]
            .into_iter()
            .for_each(|text| self.text(text));
    }
}

/// The columns of the table that count.
fn columns(part: &Part) -> Vec<&'static Column> {
    let table = TABLES.iter().find(|table| table.name == part.table);
    let columns = table.map_or(&[][..], |table| table.columns);
    columns.iter().filter(|column| !part.ignored.contains(&column.name)).collect()
}

fn select(db: &Db, part: &Part, columns: &[&'static Column]) -> SelectStatement {
    let mut statement = Query::select();
    statement.columns(columns.iter().map(|column| column.name)).from(db.table(part.table));
    statement.and_where(Expr::col(part.object).eq(0));
    let table = TABLES.iter().find(|table| table.name == part.table);
    for name in table.map_or(&[][..], |table| table.primary) {
        statement.order_by(*name, Order::Asc);
    }
    statement
}

/// Adds a row to the digest, unless it is ignored.
fn add_row(hasher: &mut Sha256, part: &Part, columns: &[&'static Column], row: &Row<'_>) -> Result<()> {
    if let Some((name, is_ignored)) = part.ignored_rows
        && let Some(at) = columns.iter().position(|column| column.name == name)
        && is_ignored(&row.text(at)?)
    {
        return Ok(());
    }
    hasher.update(b"+");
    for (at, column) in columns.iter().enumerate() {
        if matches!(column.kind, ColumnType::Id | ColumnType::BigInt | ColumnType::Int) {
            hasher.update(row.int(at)?.to_le_bytes());
        } else {
            // With its length, so that neighbouring values cannot be confused. `NULL` is different from an empty text.
            let bytes = row.bytes(at)?;
            hasher.update(bytes.as_ref().map_or(u64::MAX, |bytes| bytes.len() as u64).to_le_bytes());
            hasher.update(bytes.unwrap_or_default());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Store, StoredText, fixture};

    fn state(store: &Store, object: StoredObject) -> StoredState {
        store.read_blocking(|db| read(db, object)).unwrap().expect("an object of the fixture")
    }

    #[test]
    fn edits_change_the_state_and_traces_do_not() {
        fixture::on_each(|store| {
            let id = PostId(1059);
            let object = StoredObject::Post(id);
            assert_eq!(state(&store, object), state(&store, object));
            for (key, value, is_edit) in [
                ("_edit_lock", "1:1", false),
                ("_oembed_x", "y", false),
                ("_svc_preview_link", "{}", false),
                ("subtitle", "a", true),
                ("subtitle", "a", false),
                ("subtitle", "b", true),
            ] {
                let before = state(&store, object);
                let write =
                    move |tx: &mut crate::Tx| meta::update(tx, MetaKind::Post, id.0, key, &StoredText::of(value));
                store.write_blocking(write).unwrap();
                assert_eq!(state(&store, object) != before, is_edit, "{key} {value}");
            }
            let before = state(&store, object);
            store.write_blocking(move |tx| terms::set_object_terms(tx, id, "category", &[])).unwrap();
            assert_ne!(state(&store, object), before);
        });
    }

    #[test]
    fn every_kind_of_object_has_a_state() {
        fixture::on_each(|store| {
            assert!(state(&store, StoredObject::Post(PostId(1059))).modified.is_some());
            for object in [StoredObject::Term(TermId(1)), StoredObject::User(UserId(1))] {
                assert_eq!(state(&store, object).modified, None, "{object:?}");
            }
            for object in
                [StoredObject::Post(PostId(0)), StoredObject::Comment(CommentId(-1)), StoredObject::User(UserId(0))]
            {
                assert_eq!(store.read_blocking(|db| read(db, object)).unwrap(), None, "{object:?}");
            }
        });
    }
}
