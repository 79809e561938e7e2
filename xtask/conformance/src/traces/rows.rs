//! The rows of a site's tables, and the changes that a request makes.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use anyhow::{Context, Result};
use mysql::{Conn, Opts, Value as Cell, prelude::Queryable as _};
use rusqlite::{Connection, OpenFlags, types::Value as SqliteCell};
use serde_json::{Map, Value};

/// A table: its name without the prefix, the columns that identify a row, and the columns that are not compared.
struct Table {
    name: &'static str,
    key: &'static [&'static str],
    hidden: &'static [&'static str],
}

const fn table(name: &'static str, key: &'static [&'static str], hidden: &'static [&'static str]) -> Table {
    Table { name, key, hidden }
}

/// WordPress's tables. Ids that nothing refers to are not compared.
#[rustfmt::skip]
const TABLES: &[Table] = &[
    table("posts",              &["ID"],                             &[]),
    table("postmeta",           &["meta_id"],                        &["meta_id"]),
    table("terms",              &["term_id"],                        &[]),
    table("term_taxonomy",      &["term_taxonomy_id"],               &[]),
    table("term_relationships", &["object_id", "term_taxonomy_id"],  &[]),
    table("termmeta",           &["meta_id"],                        &["meta_id"]),
    table("users",              &["ID"],                             &[]),
    table("usermeta",           &["umeta_id"],                       &["umeta_id"]),
    table("comments",           &["comment_ID"],                     &[]),
    table("commentmeta",        &["meta_id"],                        &["meta_id"]),
    table("options",            &["option_name"],                    &["option_id"]),
];

/// The prefix of the tables.
const PREFIX: &str = "wp_";

/// Beginnings of the names of options that are caches, or that belong to one server only.
const OWN_OPTIONS: [&str; 9] = [
    "_transient",
    "_site_transient",
    "cron",
    "svc_",
    "rewrite_rules",
    "recently_edited",
    "category_children",
    "genre_children",
    // WordPress counts the users again twice a day.
    "user_count",
];

/// Beginnings of meta keys that belong to one server only: requests to WordPress's background jobs to notify other sites, and
/// cached embeds.
const OWN_META: [&str; 3] = ["_pingme", "_encloseme", "_oembed_"];

/// Columns of a row and their values as texts.
type Row = BTreeMap<String, Value>;

/// The rows of a table by key.
type Rows = BTreeMap<Vec<String>, Row>;

/// The rows of all tables. A table that did not change is shared with the snapshot before.
pub(super) type Snapshot = BTreeMap<&'static str, Arc<Rows>>;

/// The database of a server, and what tells whether a table changed: most requests change few tables or none, and reading
/// all rows costs more than the requests.
pub(super) struct Database {
    engine: Engine,
    last: Snapshot,
}

enum Engine {
    Sqlite {
        conn: Connection,
        /// Changes whenever another connection commits.
        version: Option<i64>,
        /// The cells as they were read last, by table.
        cells: BTreeMap<&'static str, Vec<Vec<SqliteCell>>>,
    },
    MySql {
        conn: Box<Conn>,
        /// The number of rows that were changed so far, by table.
        changed: Option<BTreeMap<String, u64>>,
    },
}

impl Database {
    /// The database at the `mysql://` URL of a MariaDB server, as a user who may set its variables.
    pub(super) fn at(url: &str) -> Result<Self> {
        let opts = Opts::from_url(url).with_context(|| format!("cannot read the URL {url}"))?;
        let mut conn = Conn::new(opts).with_context(|| format!("cannot connect to {url}"))?;
        conn.query_drop("SET GLOBAL userstat = 1").context("the database server does not count changed rows")?;
        let engine = Engine::MySql { conn: Box::new(conn), changed: None };
        Ok(Database { engine, last: empty() })
    }

    /// The database in a file.
    pub(super) fn file(path: &Path) -> Result<Self> {
        let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .with_context(|| format!("cannot open {}", path.display()))?;
        let engine = Engine::Sqlite { conn, version: None, cells: BTreeMap::new() };
        Ok(Database { engine, last: empty() })
    }

    /// The current rows.
    pub(super) fn snapshot(&mut self) -> Result<Snapshot> {
        let changed = self.engine.changed_tables()?;
        for table in TABLES.iter().filter(|table| changed.contains(table.name)) {
            if let Some(rows) = self.engine.rows(table)? {
                let keyed = rows.into_iter().filter_map(|row| keyed(table, row));
                self.last.insert(table.name, Arc::new(keyed.collect()));
            }
        }
        Ok(self.last.clone())
    }
}

/// A snapshot of tables without rows.
fn empty() -> Snapshot {
    TABLES.iter().map(|table| (table.name, Arc::default())).collect()
}

impl Engine {
    /// The tables that may have changed since the last call.
    fn changed_tables(&mut self) -> Result<BTreeSet<&'static str>> {
        let all = || TABLES.iter().map(|table| table.name);
        match self {
            Engine::Sqlite { conn, version, .. } => {
                let now = conn.query_row("PRAGMA data_version", [], |row| row.get(0))?;
                let is_changed = version.replace(now) != Some(now);
                Ok(all().filter(|_| is_changed).collect())
            }
            Engine::MySql { conn, changed } => {
                let sql = "SELECT table_name, rows_changed FROM information_schema.table_statistics WHERE table_schema = DATABASE()";
                let now: BTreeMap<String, u64> =
                    conn.query_iter(sql)?.map(|row| row.map(mysql::from_row)).collect::<mysql::Result<_>>()?;
                let is_changed = |name: &&str| {
                    let table = format!("{PREFIX}{name}");
                    changed.as_ref().is_none_or(|changed| now.get(&table) != changed.get(&table))
                };
                let tables = all().filter(is_changed).collect();
                *changed = Some(now);
                Ok(tables)
            }
        }
    }

    /// The rows of a table; `None` if they are those of the last call.
    fn rows(&mut self, table: &Table) -> Result<Option<Vec<Row>>> {
        let sql = format!("SELECT * FROM {PREFIX}{}", table.name);
        match self {
            Engine::Sqlite { conn, cells, .. } => sqlite_rows(conn, &sql, cells.entry(table.name).or_default()),
            Engine::MySql { conn, .. } => mysql_rows(conn, &sql).map(Some),
        }
    }
}

/// A row with its key, unless it is not compared.
fn keyed(table: &Table, mut row: Row) -> Option<(Vec<String>, Row)> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let key: Vec<String> = table.key.iter().map(|column| padded(&text(row.get(*column)))).collect();
    if table.name == "options" && OWN_OPTIONS.iter().any(|own| key[0].starts_with(own)) {
        return None;
    }
    if row.get("meta_key").and_then(Value::as_str).is_some_and(|key| OWN_META.iter().any(|own| key.starts_with(own))) {
        return None;
    }
    table.hidden.iter().for_each(|column| drop(row.remove(*column)));
    Some((key, row))
}

/// The rows of a query, unless its cells are those before. Keeps the cells.
fn sqlite_rows(conn: &Connection, sql: &str, before: &mut Vec<Vec<SqliteCell>>) -> Result<Option<Vec<Row>>> {
    let mut statement = conn.prepare_cached(sql)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let cells = |row: &rusqlite::Row<'_>| (0..names.len()).map(|n| row.get(n)).collect::<rusqlite::Result<Vec<_>>>();
    let cells: Vec<Vec<SqliteCell>> = statement.query_map([], cells)?.collect::<rusqlite::Result<_>>()?;
    if cells == *before {
        return Ok(None);
    }
    let row = |cells: &Vec<SqliteCell>| names.iter().cloned().zip(cells.iter().map(sqlite_cell)).collect();
    let rows = cells.iter().map(row).collect();
    *before = cells;
    Ok(Some(rows))
}

fn sqlite_cell(cell: &SqliteCell) -> Value {
    match cell {
        SqliteCell::Null => Value::Null,
        SqliteCell::Integer(n) => n.to_string().into(),
        SqliteCell::Real(n) => n.to_string().into(),
        SqliteCell::Text(text) => text.clone().into(),
        SqliteCell::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
    }
}

fn mysql_rows(conn: &mut Conn, sql: &str) -> Result<Vec<Row>> {
    let row = |row: mysql::Row| {
        let names: Vec<String> = row.columns_ref().iter().map(|column| column.name_str().into_owned()).collect();
        names.into_iter().zip(row.unwrap()).map(|(name, cell)| (name, mysql_cell(&cell))).collect::<Row>()
    };
    // The text protocol returns all values as texts.
    Ok(conn.query_map(sql, row)?)
}

fn mysql_cell(cell: &Cell) -> Value {
    match cell {
        Cell::NULL => Value::Null,
        Cell::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
        other => other.as_sql(true).trim_matches('\'').to_owned().into(),
    }
}

/// The changes between two snapshots: by table, the rows that were added, changed (their key and their changed columns) and
/// removed, in the order of their keys.
pub(super) fn changes(before: &Snapshot, after: &Snapshot) -> Value {
    let mut all = Map::new();
    for table in TABLES {
        let (Some(before), Some(after)) = (before.get(table.name), after.get(table.name)) else { continue };
        if Arc::ptr_eq(before, after) {
            continue;
        }
        let mut changed = Vec::new();
        for (key, row) in after.iter() {
            match before.get(key) {
                None => changed.push(entry("added", row.clone())),
                Some(old) if old == row => {}
                Some(old) => {
                    let kept =
                        |column: &str, value: &Value| table.key.contains(&column) || old.get(column) != Some(value);
                    let columns = row.iter().filter(|(column, value)| kept(column, value) || is_label(column));
                    changed.push(entry("changed", columns.map(|(c, v)| (c.clone(), v.clone())).collect()));
                }
            }
        }
        let removed = before.iter().filter(|(key, _)| !after.contains_key(*key));
        changed.extend(removed.map(|(_, row)| {
            let columns = row.iter().filter(|(column, _)| table.key.contains(&column.as_str()) || is_label(column));
            entry("removed", columns.map(|(c, v)| (c.clone(), v.clone())).collect())
        }));
        if !table.hidden.is_empty() {
            // The order of rows with different keys has no meaning.
            changed.sort_by_cached_key(label);
        }
        if !changed.is_empty() {
            all.insert(table.name.to_owned(), Value::Array(changed));
        }
    }
    Value::Object(all)
}

/// Columns that say which row of a table with hidden ids is meant.
const LABELS: [&str; 6] = ["post_id", "term_id", "user_id", "comment_id", "meta_key", "option_name"];

fn is_label(column: &str) -> bool {
    LABELS.contains(&column)
}

/// The labels of a changed row, with ids in the form in which they are sorted as numbers.
fn label(change: &Value) -> Vec<String> {
    let rows = change.as_object().into_iter().flat_map(Map::values);
    let labels = rows.flat_map(|row| LABELS.iter().filter_map(|label| row.get(*label)?.as_str()));
    labels.map(padded).collect()
}

/// The form of a text in which numbers are sorted as such.
fn padded(text: &str) -> String {
    if text.bytes().all(|b| b.is_ascii_digit()) { format!("{text:0>20}") } else { text.to_owned() }
}

fn entry(kind: &str, row: Row) -> Value {
    Value::Object([(kind.to_owned(), Value::Object(row.into_iter().collect()))].into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changes_name_added_changed_and_removed_rows() {
        let row = |columns: &[(&str, &str)]| columns.iter().map(|(c, v)| ((*c).to_owned(), json!(v))).collect::<Row>();
        let snapshot = |table: &'static str, rows: Vec<Row>| -> Snapshot {
            let found = TABLES.iter().find(|t| t.name == table).unwrap();
            TABLES
                .iter()
                .map(|t| {
                    (
                        t.name,
                        Arc::new(if t.name == table {
                            rows.iter().cloned().filter_map(|r| keyed(found, r)).collect()
                        } else {
                            Rows::new()
                        }),
                    )
                })
                .collect()
        };
        let before = snapshot(
            "postmeta",
            vec![
                row(&[("meta_id", "9"), ("post_id", "1"), ("meta_key", "a"), ("meta_value", "x")]),
                row(&[("meta_id", "10"), ("post_id", "1"), ("meta_key", "b"), ("meta_value", "x")]),
            ],
        );
        let after = snapshot(
            "postmeta",
            vec![
                row(&[("meta_id", "9"), ("post_id", "1"), ("meta_key", "a"), ("meta_value", "y")]),
                row(&[("meta_id", "11"), ("post_id", "2"), ("meta_key", "c"), ("meta_value", "z")]),
            ],
        );
        let expected = json!({"postmeta": [
            {"changed": {"meta_key": "a", "meta_value": "y", "post_id": "1"}},
            {"removed": {"meta_key": "b", "post_id": "1"}},
            {"added": {"meta_key": "c", "meta_value": "z", "post_id": "2"}},
        ]});
        assert_eq!(changes(&before, &after), expected);
        assert_eq!(changes(&before, &before), json!({}));
        let own = snapshot(
            "options",
            vec![row(&[("option_id", "1"), ("option_name", "_transient_x"), ("option_value", "y")])],
        );
        assert!(own["options"].is_empty());
    }

    #[test]
    fn a_snapshot_reads_tables_that_other_connections_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.db");
        let writer = Connection::open(&path).unwrap();
        for table in TABLES {
            let columns = table.key.join(" TEXT, ");
            writer.execute_batch(&format!("CREATE TABLE {PREFIX}{} ({columns} TEXT, note TEXT)", table.name)).unwrap();
        }
        let mut database = Database::file(&path).unwrap();
        let first = database.snapshot().unwrap();
        let same = database.snapshot().unwrap();
        assert!(TABLES.iter().all(|table| Arc::ptr_eq(&first[table.name], &same[table.name])));
        writer.execute_batch("INSERT INTO wp_terms (term_id, note) VALUES ('7', 'x')").unwrap();
        let second = database.snapshot().unwrap();
        let expected = json!({"terms": [{"added": {"term_id": "7", "note": "x"}}]});
        assert_eq!(changes(&first, &second), expected);
        assert!(Arc::ptr_eq(&first["posts"], &second["posts"]));
    }
}
