//! The SQL of MySQL, MariaDB and compatible servers.

use sea_query::{
    DeleteStatement, Expr, ExprTrait as _, InsertStatement, MysqlQueryBuilder, SelectStatement, UpdateStatement, Values,
};

use super::schema;
use crate::dialect::{Dialect, SqlDialect};
use crate::schema::Table;

/// The dialect of MySQL, MariaDB and compatible servers.
pub(crate) struct MySqlDialect;

impl SqlDialect for MySqlDialect {
    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }

    fn select(&self, statement: &SelectStatement) -> (String, Values) {
        statement.build(MysqlQueryBuilder)
    }

    fn insert(&self, statement: &InsertStatement) -> (String, Values) {
        statement.build(MysqlQueryBuilder)
    }

    fn update(&self, statement: &UpdateStatement) -> (String, Values) {
        statement.build(MysqlQueryBuilder)
    }

    fn delete(&self, statement: &DeleteStatement) -> (String, Values) {
        statement.build(MysqlQueryBuilder)
    }

    fn as_integer(&self, e: Expr) -> Expr {
        e.cast_as("SIGNED")
    }

    fn as_number(&self, e: Expr) -> Expr {
        e.add(0)
    }

    fn is_exactly(&self, column: Expr, text: &str) -> Expr {
        column.cast_as("BINARY").eq(text)
    }

    fn concat(&self, left: &str, right: &str) -> String {
        format!("CONCAT({left}, {right})")
    }

    fn table_exists(&self) -> &'static str {
        "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
    }

    fn database_size(&self) -> &'static str {
        "SELECT CAST(COALESCE(SUM(data_length + index_length), 0) AS SIGNED) FROM information_schema.tables \
         WHERE table_schema = DATABASE()"
    }

    fn column_names(&self) -> &'static str {
        "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? \
         ORDER BY ordinal_position"
    }

    fn index_columns(&self) -> Option<&'static str> {
        Some(
            "SELECT index_name, column_name FROM information_schema.statistics WHERE table_schema = DATABASE() \
             AND table_name = ? ORDER BY index_name, seq_in_index",
        )
    }

    fn next_id(&self) -> &'static str {
        "SELECT auto_increment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ? \
         AND auto_increment IS NOT NULL"
    }

    fn create_table(&self, table: &Table, full_name: &str) -> String {
        schema::create_table(table, full_name)
    }
}
