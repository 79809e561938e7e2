//! Meta: key-value pairs of posts, terms, users and comments. A key may have several values.

use std::collections::HashMap;

use indexmap::IndexMap;
use sea_query::{Expr, ExprTrait as _, Func, Query, SelectStatement};
use svc_db::{Charset, Db, Result, Rows, StoreError, Tx};
/// The object types that meta belongs to.
pub use svc_model::MetaKind;

use crate::descriptions::Descriptions;
use crate::query::change_matching;
use crate::rows;
use crate::stored_text::StoredText;

/// Maximum length of keys, in characters.
const KEY_LENGTH: usize = 255;

/// Names in the table that stores the meta of an object type.
struct MetaTable {
    /// Name of the table, without prefix.
    name: &'static str,
    /// The column with the row's id.
    id: &'static str,
    /// The column with the object's id.
    object_id: &'static str,
    /// Name of the cached statement that loads meta.
    load: &'static str,
    rows: Rows,
}

#[rustfmt::skip]
fn table_of(kind: MetaKind) -> MetaTable {
    match kind {
        MetaKind::Post => MetaTable { name: "postmeta", id: "meta_id", object_id: "post_id", load: "meta.post", rows: rows::POST_META },
        MetaKind::Term => MetaTable { name: "termmeta", id: "meta_id", object_id: "term_id", load: "meta.term", rows: rows::TERM_META },
        MetaKind::User => MetaTable { name: "usermeta", id: "umeta_id", object_id: "user_id", load: "meta.user", rows: rows::USER_META },
        MetaKind::Comment => MetaTable { name: "commentmeta", id: "meta_id", object_id: "comment_id", load: "meta.comment", rows: rows::COMMENT_META },
    }
}

/// The meta of one object: keys in the order of their first rows, each with its stored values in row order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta(pub IndexMap<String, Vec<StoredText>>);

impl Meta {
    /// The first value of a key.
    pub fn first(&self, name: &str) -> Option<&StoredText> {
        self.0.get(name)?.first()
    }

    /// The first value of a key, decoded as text; empty if there is none.
    pub fn text(&self, name: &str) -> &str {
        self.first(name).map_or("", StoredText::text)
    }

    /// All values of a key.
    pub fn all(&self, name: &str) -> &[StoredText] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the key has any value.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// All keys with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[StoredText])> {
        self.0.iter().map(|(k, v)| (k.as_str(), v.as_slice()))
    }
}

fn select(db: &Db, table: &MetaTable) -> SelectStatement {
    let mut s = Query::select();
    s.columns([table.object_id, "meta_key", "meta_value"]).from(db.table(table.name));
    s
}

/// Loads all meta of several objects in one query. Objects without meta are omitted.
///
/// `ids` are the objects' numeric ids.
pub fn load(db: &mut Db, kind: MetaKind, ids: &[i64]) -> Result<HashMap<i64, Meta>> {
    let table = table_of(kind);
    db.load_once(table.rows, &[], ids, |db, ids| {
        let mut found: HashMap<i64, Meta> = HashMap::new();
        let build = |db: &Db, ids: Vec<i64>| {
            let mut s = select(db, &table);
            s.and_where(Expr::col(table.object_id).is_in(ids)).order_by(table.id, sea_query::Order::Asc);
            s
        };
        db.cached_list(table.load, &[table.rows], ids, build, |row| {
            let meta = found.entry(row.int(0)?).or_default();
            meta.0.entry(row.text(1)?).or_default().push(StoredText::from_row(row.text(2)?));
            Ok(())
        })?;
        Ok(found)
    })
}

/// A new object has no meta: it need not be loaded in this transaction.
pub(crate) fn keep_none(tx: &Tx, kind: MetaKind, id: i64) {
    tx.keep_loaded::<Meta>(table_of(kind).rows, &[], id, None);
}

/// Loads all meta of one object.
pub fn load_one(db: &mut Db, kind: MetaKind, id: i64) -> Result<Meta> {
    Ok(load(db, kind, &[id])?.remove(&id).unwrap_or_default())
}

/// The first value of a key of one object.
pub fn get(db: &mut Db, kind: MetaKind, id: i64, name: &str) -> Result<Option<StoredText>> {
    let table = table_of(kind);
    table.rows.depend_on(db.cx(), [id]);
    let mut s = db.recorded_by_caller(|db| select(db, &table));
    s.and_where(Expr::col(table.object_id).eq(id)).and_where(Expr::col("meta_key").eq(name));
    s.order_by(table.id, sea_query::Order::Asc).limit(1);
    db.first(&s, |row| Ok(StoredText::from_row(row.text(2)?)))
}

/// Ids of the objects that have this value for the key, in ascending order; at most `limit`.
pub fn find(db: &mut Db, kind: MetaKind, name: &str, value: &str, limit: u64) -> Result<Vec<i64>> {
    let table = table_of(kind);
    let mut s = Query::select();
    s.distinct().column(table.object_id).from(db.table(table.name));
    s.and_where(Expr::col("meta_key").eq(name)).and_where(Expr::col("meta_value").eq(value));
    s.order_by(table.object_id, sea_query::Order::Asc).limit(limit);
    db.all(&s, |row| row.int(0))
}

/// Adds a value to a key.
pub fn add(tx: &mut Tx, kind: MetaKind, id: i64, name: &str, value: &StoredText) -> Result<()> {
    add_many(tx, kind, id, &[(name, value)])
}

/// Adds several values in one statement.
pub fn add_many(tx: &mut Tx, kind: MetaKind, id: i64, rows: &[(&str, &StoredText)]) -> Result<()> {
    let table = table_of(kind);
    if rows.is_empty() {
        return Ok(());
    }
    let mut insert = Query::insert();
    insert.into_table(tx.table(table.name)).columns([table.object_id, "meta_key", "meta_value"]);
    for (name, value) in rows {
        insert
            .values([id.into(), (*name).into(), value.as_stored().into()])
            .map_err(|e| StoreError::Other(e.to_string()))?;
    }
    let known = tx.loaded::<Meta>(table.rows, id);
    tx.change_rows(&insert, table.rows, &[id])?;
    rows.iter().for_each(|(name, _)| Descriptions::meta(tx, table.rows, id, name));
    if let Some(mut meta) = known
        && is_stored_unchanged(tx, rows)
    {
        rows.iter().for_each(|(name, value)| meta.0.entry((*name).to_owned()).or_default().push((*value).clone()));
        tx.keep_loaded(table.rows, &[], id, Some(meta));
    }
    Ok(())
}

/// Whether the server stores these texts as they are: it may shorten keys and replace characters.
fn is_stored_unchanged(tx: &Tx, rows: &[(&str, &StoredText)]) -> bool {
    tx.charset() == Charset::Full && rows.iter().all(|(name, _)| name.chars().count() <= KEY_LENGTH)
}

/// Sets all values of a key to this one, or adds it if there is none.
///
/// Returns whether anything changed. Source: `update_metadata`.
pub fn update(tx: &mut Tx, kind: MetaKind, id: i64, name: &str, value: &StoredText) -> Result<bool> {
    let table = table_of(kind);
    let meta = load_one(tx, kind, id)?;
    match meta.all(name) {
        [] => {
            add(tx, kind, id, name, value)?;
            Ok(true)
        }
        [only] if only == value => Ok(false),
        _ => {
            set_values(tx, &table, id, name, None, value)?;
            Ok(true)
        }
    }
}

/// Sets the values of a key that are still `old`, byte for byte, and returns whether there were any.
///
/// It reads nothing: a value that was loaded before the transaction can be changed safely, and if it was changed since, the
/// caller loads it again.
pub fn replace(tx: &mut Tx, kind: MetaKind, id: i64, name: &str, old: &StoredText, new: &StoredText) -> Result<bool> {
    set_values(tx, &table_of(kind), id, name, Some(old), new)
}

/// Sets all values of a key, or those that are `old`, and returns whether a row was changed.
fn set_values(
    tx: &mut Tx,
    table: &MetaTable,
    id: i64,
    name: &str,
    old: Option<&StoredText>,
    new: &StoredText,
) -> Result<bool> {
    let mut update = Query::update();
    update.table(tx.table(table.name)).value("meta_value", new.as_stored());
    update.and_where(Expr::col(table.object_id).eq(id)).and_where(Expr::col("meta_key").eq(name));
    if let Some(old) = old {
        // Texts that differ in case or accents are equal to MySQL.
        let bytes = Func::cust("HEX").arg(Expr::col("meta_value"));
        update.and_where(Expr::expr(bytes).eq(Func::cust("HEX").arg(old.as_stored())));
    }
    let changed = tx.change_rows(&update, table.rows, &[id])?.rows > 0;
    Descriptions::meta(tx, table.rows, id, name);
    Ok(changed)
}

/// Deletes the values of a key, or only those equal to `value`, and returns their number.
pub fn delete(tx: &mut Tx, kind: MetaKind, id: i64, name: &str, value: Option<&StoredText>) -> Result<u64> {
    let table = table_of(kind);
    let mut delete = Query::delete();
    delete.from_table(tx.table(table.name));
    delete.and_where(Expr::col(table.object_id).eq(id)).and_where(Expr::col("meta_key").eq(name));
    if let Some(value) = value {
        delete.and_where(Expr::col("meta_value").eq(value.as_stored()));
    }
    Descriptions::meta(tx, table.rows, id, name);
    Ok(tx.change_rows(&delete, table.rows, &[id])?.rows)
}

/// Deletes the values of a key that are among `values`, and returns their number.
pub fn delete_values(tx: &mut Tx, kind: MetaKind, id: i64, name: &str, values: &[StoredText]) -> Result<u64> {
    let table = table_of(kind);
    if values.is_empty() {
        return Ok(0);
    }
    let mut delete = Query::delete();
    delete.from_table(tx.table(table.name));
    delete.and_where(Expr::col(table.object_id).eq(id)).and_where(Expr::col("meta_key").eq(name));
    delete.and_where(Expr::col("meta_value").is_in(values.iter().map(StoredText::as_stored)));
    Descriptions::meta(tx, table.rows, id, name);
    Ok(tx.change_rows(&delete, table.rows, &[id])?.rows)
}

/// Deletes all meta of these objects.
pub fn delete_all(tx: &mut Tx, kind: MetaKind, ids: &[i64]) -> Result<u64> {
    let table = table_of(kind);
    if ids.is_empty() {
        return Ok(0);
    }
    let mut delete = Query::delete();
    delete.from_table(tx.table(table.name)).and_where(Expr::col(table.object_id).is_in(ids.iter().copied()));
    Ok(tx.change_rows(&delete, table.rows, ids)?.rows)
}

/// Deletes the values of a key from all objects of this type, or only those equal to `value`, and returns their number.
pub fn delete_everywhere(tx: &mut Tx, kind: MetaKind, name: &str, value: Option<&StoredText>) -> Result<u64> {
    let table = table_of(kind);
    let mut values = Expr::col("meta_key").eq(name);
    if let Some(value) = value {
        values = values.and(Expr::col("meta_value").eq(value.as_stored()));
    }
    let mut delete = Query::delete();
    delete.from_table(tx.table(table.name)).and_where(values.clone());
    change_matching(tx, &delete, (table.name, table.object_id), table.rows, values)
}
