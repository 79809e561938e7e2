//! Site options: names and values.

use std::sync::Arc;

use sea_query::{Expr, ExprTrait as _, OnConflict, Query, SelectStatement};
use svc_db::{Db, Operation, Result, StoreError, Tx};

use crate::caches;
use crate::rows;
use crate::stored_text::StoredText;

pub use crate::caches::Options;

/// Values of the `autoload` column for options that are loaded with every request.
const AUTOLOADED: [&str; 4] = ["yes", "on", "auto-on", "auto"];

fn select(db: &Db) -> SelectStatement {
    let mut s = Query::select();
    s.columns(["option_name", "option_value"]).from(db.table("options"));
    s
}

/// All autoloaded options, from the cache if they are unchanged.
pub fn autoloaded(db: &mut Db) -> Result<Arc<Options>> {
    caches::options(db, |db| {
        let mut statement = select(db);
        statement.and_where(Expr::col("autoload").is_in(AUTOLOADED)).order_by("option_id", sea_query::Order::Asc);
        let mut options = Options::new();
        db.select(&statement, |row| {
            options.insert(row.text(0)?, StoredText::from_row(row.text(1)?));
            Ok(())
        })?;
        Ok(options)
    })
}

/// Reads an option; `None` if it does not exist.
pub fn get(db: &mut Db, name: &str) -> Result<Option<StoredText>> {
    if db.version(rows::OPTIONS).is_some()
        && let Some(value) = autoloaded(db)?.get(name)
    {
        return Ok(Some(value.clone()));
    }
    rows::OPTIONS.depend_on_all(db.cx());
    let mut found = None;
    let build = |db: &Db| select(db).and_where(Expr::col("option_name").eq("")).take();
    db.cached(("options.get", 0), &[name.into()], build, |row| {
        found = Some(StoredText::from_row(row.text(1)?));
        Ok(())
    })?;
    Ok(found)
}

/// Reads several options. Missing ones are omitted.
pub fn get_many(db: &mut Db, names: &[&str]) -> Result<Options> {
    if names.is_empty() {
        return Ok(Options::new());
    }
    let mut statement = select(db);
    statement.and_where(Expr::col("option_name").is_in(names.iter().copied()));
    let mut options = Options::new();
    db.select(&statement, |row| {
        options.insert(row.text(0)?, StoredText::from_row(row.text(1)?));
        Ok(())
    })?;
    Ok(options)
}

/// Bytes of the longest value of a new option that is loaded with every request.
const MAX_AUTOLOADED: usize = 150_000;

/// Writes an option. `autoload` applies to a new option: whether it is loaded with every request unless it is long. An
/// existing one retains its setting.
pub fn set(tx: &mut Tx, name: &str, value: &StoredText, autoload: bool) -> Result<()> {
    let mut insert = Query::insert();
    insert.into_table(tx.table("options")).columns(["option_name", "option_value", "autoload"]);
    insert
        .values([name.into(), value.as_stored().into(), new_autoload(value, autoload).into()])
        .map_err(|e| StoreError::Other(e.to_string()))?;
    insert.on_conflict(OnConflict::column("option_name").update_column("option_value").to_owned());
    // An option that exists is replaced.
    tx.change_named(&insert, Operation::Update, rows::OPTIONS, name).map(drop)
}

/// The `autoload` column of a new option. Source: `wp_determine_option_autoload_value`.
fn new_autoload(value: &StoredText, autoload: bool) -> &'static str {
    match autoload {
        false => "off",
        true if value.text().len() > MAX_AUTOLOADED => "auto-off",
        true => "auto",
    }
}

/// Replaces the value of an option if it is still `old`, and returns whether it was. For changes that depend on a value
/// read before.
pub fn replace(tx: &mut Tx, name: &str, old: &StoredText, new: &StoredText) -> Result<bool> {
    // Compare bytes here, because in SQL texts that differ in case or accents are equal.
    if get(tx, name)?.as_ref() != Some(old) {
        return Ok(false);
    }
    set(tx, name, new, true)?;
    Ok(true)
}

/// Deletes an option and returns whether it existed.
pub fn delete(tx: &mut Tx, name: &str) -> Result<bool> {
    let mut delete = Query::delete();
    delete.from_table(tx.table("options")).and_where(Expr::col("option_name").eq(name));
    Ok(tx.change_named(&delete, Operation::Delete, rows::OPTIONS, name)?.rows > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_options_are_loaded_with_every_request_unless_they_are_long() {
        let text = |length: usize| StoredText::of("x".repeat(length));
        for (length, autoload, column) in [
            (5, true, "auto"),
            (150_000, true, "auto"),
            (150_001, true, "auto-off"),
            (5, false, "off"),
            (150_001, false, "off"),
        ] {
            assert_eq!(new_autoload(&text(length), autoload), column, "{length} {autoload}");
        }
    }
}
