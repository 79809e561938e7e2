//! Exports a site as SQL in the format of mysqldump, which MariaDB, MySQL and [`Store::import`] can read.
//!
//! All tables are exported from one snapshot. Rows are in key order, so that equal sites yield equal dumps.

use std::io::Write;

use crate::store::Store;
use crate::tables::TABLES;
use svc_db::schema::{ColumnType, Table};
use svc_db::{Db, Dialect, ReadText as _, Result, StoreError, quoted};

/// Length at which an `INSERT` statement ends, in bytes.
const MAX_STATEMENT_BYTES: usize = 512 << 10;

const HEAD: &str = "-- A site as SQL\n\
/*!40101 SET NAMES utf8mb4 */;\n\
/*!40103 SET TIME_ZONE='+00:00' */;\n\
/*!40014 SET UNIQUE_CHECKS=0, FOREIGN_KEY_CHECKS=0 */;\n\
/*!40101 SET SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;\n";

impl Store {
    /// Writes the whole site, calls `progress` with the number of rows at intervals, and returns the number of rows.
    ///
    /// # Errors
    /// If the database or the output fails.
    pub fn export(&self, to: &mut dyn Write, progress: &mut dyn FnMut(u64)) -> Result<u64> {
        self.database().read_unlimited(|db| {
            let mut rows = 0;
            to.write_all(HEAD.as_bytes()).map_err(output_error)?;
            for table in TABLES {
                let full = format!("{}{}", db.prefix(), table.name);
                if db.table_exists(&full)? {
                    table_rows(db, table, &full, to, &mut rows, progress)?;
                }
            }
            to.write_all(b"-- Dump completed\n").and_then(|()| to.flush()).map_err(output_error)?;
            progress(rows);
            Ok(rows)
        })
    }
}

/// The statements of a dump that create the tables of a site with this prefix, for programs that generate sites.
pub fn create_table_statements(prefix: &str) -> String {
    let tables = TABLES.iter().map(|t| create_table(t, &format!("{prefix}{}", t.name)) + ";\n");
    tables.collect()
}

/// The statement of a dump that creates the table with this full name.
pub(crate) fn create_table(table: &Table, full_name: &str) -> String {
    svc_db::sql(Dialect::MySql).create_table(table, full_name)
}

fn output_error(e: std::io::Error) -> StoreError {
    if e.kind() == std::io::ErrorKind::StorageFull { StoreError::Full } else { StoreError::Other(e.to_string()) }
}

fn table_rows(
    db: &mut Db,
    table: &Table,
    full: &str,
    to: &mut dyn Write,
    rows: &mut u64,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let columns = column_names(db, full)?;
    let numeric: Vec<bool> = columns.iter().map(|c| is_number(table, c)).collect();
    let mut create = create_table(table, full);
    for added in
        columns.iter().filter(|c| table.columns.iter().all(|column_of_table| column_of_table.name != c.as_str()))
    {
        // Columns added by plugins follow the others.
        create = create.replacen("\n) ENGINE", &format!(",\n  {} longtext\n) ENGINE", quoted(added)), 1);
    }
    if let Some(next) = next_id(db, full)? {
        create += &format!(" AUTO_INCREMENT={next}");
    }
    let name = quoted(full);
    write!(to, "\nDROP TABLE IF EXISTS {name};\n{create};\n").map_err(output_error)?;

    let names = columns.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(", ");
    let order = table.primary.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(", ");
    let insert = format!("INSERT INTO {name} ({names}) VALUES ");
    let mut text: Vec<u8> = Vec::new();
    db.query_text(&format!("SELECT {names} FROM {name} ORDER BY {order}"), &[], &mut |row| {
        text.extend_from_slice(if text.is_empty() { insert.as_bytes() } else { b"," });
        for (i, numeric) in numeric.iter().enumerate() {
            text.push(if i == 0 { b'(' } else { b',' });
            match row.bytes(i)? {
                None => text.extend_from_slice(b"NULL"),
                Some(number) if *numeric && is_plain(&number) => text.extend_from_slice(&number),
                Some(bytes) => literal(&bytes, &mut text),
            }
        }
        text.push(b')');
        *rows += 1;
        if rows.is_multiple_of(1_000) {
            progress(*rows);
        }
        if text.len() > MAX_STATEMENT_BYTES {
            text.extend_from_slice(b";\n");
            to.write_all(&text).map_err(output_error)?;
            text.clear();
        }
        Ok(())
    })?;
    if !text.is_empty() {
        text.extend_from_slice(b";\n");
        to.write_all(&text).map_err(output_error)?;
    }
    Ok(())
}

fn is_number(table: &Table, column: &str) -> bool {
    let column_of_table = table.columns.iter().find(|c| c.name.eq_ignore_ascii_case(column));
    column_of_table.is_some_and(|c| matches!(c.kind, ColumnType::Id | ColumnType::BigInt | ColumnType::Int))
}

fn is_plain(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Writes a quoted text, escaped like mysqldump does.
fn literal(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'\'');
    for b in bytes {
        let escape = match b {
            0 => b'0',
            b'\n' => b'n',
            b'\r' => b'r',
            26 => b'Z',
            b'\\' | b'\'' | b'"' => *b,
            _ => {
                out.push(*b);
                continue;
            }
        };
        out.extend([b'\\', escape]);
    }
    out.push(b'\'');
}

fn column_names(db: &mut Db, full: &str) -> Result<Vec<String>> {
    let sql = db.sql().column_names();
    let mut names = Vec::new();
    db.query_text(sql, &[full.into()], &mut |row| {
        names.push(row.text(0)?);
        Ok(())
    })?;
    Ok(names)
}

fn next_id(db: &mut Db, full: &str) -> Result<Option<i64>> {
    let sql = db.sql().next_id();
    let mut next = None;
    db.query_text(sql, &[full.into()], &mut |row| {
        next = Some(row.int(0)?).filter(|n| *n > 1);
        Ok(())
    })?;
    Ok(next)
}

#[cfg(test)]
mod tests {
    use crate::import::ImportOptions;
    use crate::{DatabaseUrl, Store, StoreConfig, fixture, meta, posts};

    fn dump(store: &Store) -> String {
        let mut out = Vec::new();
        store.export(&mut out, &mut |_| ()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn export_and_import_round_trip() {
        let (store, _folder) = fixture::store();
        // Values that are difficult to escape.
        store
            .write_blocking(|tx| {
                let text = "quotes ' \" ` back\\slash \\' \r\n\t\u{0}\u{1a} %_\\% é 😀 ;\n-- no comment /* nor this */";
                let post =
                    svc_model::Post { title: text.to_owned(), content: text.repeat(9_000), ..Default::default() };
                let id = posts::insert(tx, &post)?;
                meta::add(tx, crate::MetaKind::Post, id.0, "k", &crate::StoredText::of(serde_json::json!({"x": "é"})))
            })
            .unwrap();
        let first = dump(&store);
        for prefix in ["wp_", "other_"] {
            let mut config = StoreConfig::new(DatabaseUrl::Temporary);
            config.table_prefix = prefix.to_owned();
            let copy = fixture::open(&config).unwrap();
            let report = copy.import(first.as_bytes(), ImportOptions::default()).unwrap();
            assert!(report.skipped.is_empty() && report.rows() > 500);
            let second = dump(&copy);
            if prefix == "wp_" {
                assert!(first == second, "the dumps differ");
            } else {
                assert!(second.contains("'other_user_roles'") && !second.contains("'wp_capabilities'"));
            }
        }
    }
}
