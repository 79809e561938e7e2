//! SQLite's SQL.

use sea_query::{
    DeleteStatement, Expr, ExprTrait as _, InsertStatement, SelectStatement, SqliteQueryBuilder, UpdateStatement,
    Values,
};

use super::schema;
use crate::change_log;
use crate::dialect::{Dialect, SqlDialect};
use crate::schema::Table;

/// SQLite's dialect.
pub(crate) struct SqliteDialect;

impl SqlDialect for SqliteDialect {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn select(&self, statement: &SelectStatement) -> (String, Values) {
        statement.build(SqliteQueryBuilder)
    }

    fn insert(&self, statement: &InsertStatement) -> (String, Values) {
        statement.build(SqliteQueryBuilder)
    }

    fn update(&self, statement: &UpdateStatement) -> (String, Values) {
        statement.build(SqliteQueryBuilder)
    }

    fn delete(&self, statement: &DeleteStatement) -> (String, Values) {
        statement.build(SqliteQueryBuilder)
    }

    fn as_integer(&self, e: Expr) -> Expr {
        e.cast_as("INTEGER")
    }

    fn as_number(&self, e: Expr) -> Expr {
        e.cast_as("REAL")
    }

    fn constant(&self, text: &str) -> Expr {
        // A statement ends at a zero byte.
        if text.contains('\0') { Expr::val(text) } else { Expr::cust(format!("'{}'", text.replace('\'', "''"))) }
    }

    fn is_exactly(&self, column: Expr, text: &str) -> Expr {
        Expr::cust_with_exprs("? = ? COLLATE BINARY", [column, Expr::val(text)])
    }

    fn concat(&self, left: &str, right: &str) -> String {
        format!("{left} || {right}")
    }

    fn table_exists(&self) -> &'static str {
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    }

    fn database_size(&self) -> &'static str {
        "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    }

    fn column_names(&self) -> &'static str {
        "SELECT name FROM pragma_table_info(?) ORDER BY cid"
    }

    fn next_id(&self) -> &'static str {
        "SELECT seq + 1 FROM sqlite_sequence WHERE name = ?"
    }

    fn create_table(&self, table: &Table, full_name: &str) -> String {
        schema::create_table(table, full_name)
    }

    fn create_indexes(&self, table: &Table, full_name: &str) -> Vec<String> {
        schema::create_indexes(table, full_name)
    }

    fn kept_changes(&self, prefix: &str) -> Option<String> {
        Some(format!("SELECT MAX(seq) FROM {} GROUP BY kind", change_log::table(prefix)))
    }

    fn stops_when_full(&self) -> bool {
        true
    }

    fn without_index(&self, table: &'static str, column: &'static str) -> Expr {
        // Comparisons still use the collation of the column.
        Expr::cust(format!("+\"{table}\".\"{column}\""))
    }
}
