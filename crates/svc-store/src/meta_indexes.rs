//! Indexes of the values of meta keys that lists of posts are filtered and sorted by.
//!
//! On SQLite each key has an index of its own, which the engine maintains whichever program writes. On a server nothing is
//! created; [`missing`] names the index that the administrator may add.

use svc_db::schema::PartialIndex;
use svc_db::{Db, ReadText as _, Result};

use crate::Store;
use crate::posts::MetaType;

/// A meta key of posts that lists are filtered and sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueriedKey {
    /// The key.
    pub key: String,
    /// How its values are compared.
    pub value_type: MetaType,
}

const TABLE: &str = "postmeta";

/// How the names of these indexes begin.
const START: &str = "svc_meta_";

/// Columns that an index of a server begins with.
const COLUMNS: [&str; 2] = ["meta_key", "meta_value"];

fn index(queried: &QueriedKey) -> PartialIndex {
    // As the statements of lists have them. The key is in front, although all rows have the same one: otherwise SQLite prefers the index of all
    // keys. A cast has the collation of its column in statements, but not in indexes.
    let (kind, expressions) = match queried.value_type {
        MetaType::Text => ("text", "\"meta_key\", \"meta_value\", \"post_id\""),
        MetaType::Integer => ("integer", "\"meta_key\", CAST(\"meta_value\" AS INTEGER) COLLATE PEOPLE, \"post_id\""),
        MetaType::Number => ("number", "\"meta_key\", CAST(\"meta_value\" AS REAL) COLLATE PEOPLE, \"post_id\""),
    };
    // Keys may have any characters.
    let key: String = queried.key.bytes().map(|byte| format!("{byte:02x}")).collect();
    PartialIndex { name: format!("{START}{kind}_{key}"), expressions, column: "meta_key", value: queried.key.clone() }
}

/// Creates the indexes of these keys, and drops those of others. Returns `false` if the engine has no such indexes.
///
/// # Errors
/// Those of the statements.
pub fn create(store: &Store, keys: &[QueriedKey]) -> Result<bool> {
    let mut wanted: Vec<PartialIndex> = keys.iter().filter(|key| !key.key.contains('\0')).map(index).collect();
    wanted.sort_by(|a, b| a.name.cmp(&b.name));
    wanted.dedup();
    store.set_partial_indexes(TABLE, START, wanted)
}

/// The statement that creates the index which lists with meta filters need and the database does not have. `None` if nothing is
/// missing.
///
/// # Errors
/// Those of the statements.
pub fn missing(db: &mut Db) -> Result<Option<String>> {
    let Some(sql) = db.sql().index_columns() else { return Ok(None) };
    let table = format!("{}{TABLE}", db.prefix());
    let mut indexes: Vec<(String, Vec<String>)> = Vec::new();
    db.query_text(sql, &[table.as_str().into()], &mut |row| {
        let (name, column) = (row.text(0)?, row.text(1)?);
        match indexes.last_mut().filter(|(last, _)| *last == name) {
            Some((_, columns)) => columns.push(column),
            None => indexes.push((name, vec![column])),
        }
        Ok(())
    })?;
    let is_fitting = |columns: &Vec<String>| {
        columns.len() >= COLUMNS.len()
            && columns.iter().zip(COLUMNS).all(|(column, wanted)| column.eq_ignore_ascii_case(wanted))
    };
    let statement = || format!("CREATE INDEX svc_meta_key_value ON `{table}` (meta_key(64), meta_value(64))");
    Ok((!indexes.iter().any(|(_, columns)| is_fitting(columns))).then(statement))
}
