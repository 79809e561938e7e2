//! Statistics of tables and indexes, from which SQLite's planner estimates what a query costs.

use crate::error::Result;
use crate::handle::Tx;

/// Tables with fewer rows have no statistics: without them the planner expects a large table, and uses indexes. It reads the
/// statistics when a connection is opened, so those of a new site would make it read whole tables of a site that has grown since.
const MIN_ROWS: i64 = 1_000;

/// Which tables are analyzed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tables {
    /// Those that have changed much, as far as this connection has read or written them.
    Changed,
    All,
}

/// Updates the statistics. A failure only affects speed, so it is not reported.
pub(super) fn update(tx: &mut Tx, tables: Tables) {
    let analyze = match tables {
        Tables::Changed => "PRAGMA optimize",
        Tables::All => "ANALYZE",
    };
    let _ = tx.conn.query("PRAGMA analysis_limit = 1000", &[], &mut |_| Ok(())).and_then(|()| tx.run(analyze));
    let _ = delete_small(tx);
}

/// Deletes the statistics of small tables.
fn delete_small(tx: &mut Tx) -> Result<()> {
    let small = format!("SELECT tbl FROM sqlite_stat1 GROUP BY tbl HAVING MAX(CAST(stat AS INTEGER)) < {MIN_ROWS}");
    tx.run(&format!("DELETE FROM sqlite_stat4 WHERE tbl IN ({small})"))?;
    tx.run(&format!("DELETE FROM sqlite_stat1 WHERE tbl IN ({small})"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::schema::Schema;
    use crate::{Database, DatabaseUrl, ReadText as _, StoreConfig, Tuning, WriteText as _};

    static SCHEMA: Schema = Schema::EMPTY;

    #[test]
    fn small_tables_have_no_statistics() {
        let folder = tempfile::tempdir().unwrap();
        let open = || {
            let config = StoreConfig::new(DatabaseUrl::Sqlite(folder.path().join("a.db")));
            Database::open(&config, &SCHEMA, Arc::new(()), Tuning::default()).unwrap()
        };
        let add = |n: u32| {
            let rows = format!("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {n})");
            move |tx: &mut crate::Tx| tx.execute_text(&format!("INSERT INTO t (a) {rows} SELECT i FROM n"), &[])
        };
        let plan = || {
            let mut plan = String::new();
            open()
                .read_blocking(|db| {
                    let sql = "EXPLAIN QUERY PLAN SELECT a FROM t WHERE id IN (1, 2, 3) ORDER BY id";
                    db.query_text(sql, &[], &mut |row| row.text(3).map(|line| plan = line))
                })
                .unwrap();
            plan
        };
        let database = open();
        let create = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER); CREATE INDEX t_a ON t (a)";
        for sql in create.split("; ") {
            database.write_blocking(move |tx| tx.execute_text(sql, &[])).unwrap();
        }
        for (n, has_statistics) in [(2, false), (2_000, true)] {
            database.exclusively(add(n)).unwrap();
            let mut found = 0;
            database
                .read_blocking(|db| {
                    db.query_text("SELECT COUNT(*) FROM sqlite_stat1", &[], &mut |row| row.int(0).map(|n| found = n))
                })
                .unwrap();
            assert_eq!(found > 0, has_statistics, "after {n} rows");
            assert!(plan().starts_with("SEARCH"), "{}", plan());
        }
    }
}
