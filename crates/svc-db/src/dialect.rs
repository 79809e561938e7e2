//! Differences between the engines' SQL dialects.

use sea_query::{DeleteStatement, Expr, InsertStatement, SelectStatement, UpdateStatement, Values};

use crate::change_record::Operation;
use crate::schema::Table;

/// SQL dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// MySQL, MariaDB and compatible servers.
    MySql,
}

/// The SQL of an engine.
pub trait SqlDialect: Sync {
    /// The dialect's name.
    fn dialect(&self) -> Dialect;

    /// Renders a query and the values to bind.
    fn select(&self, statement: &SelectStatement) -> (String, Values);
    /// Renders an `INSERT` and the values to bind.
    fn insert(&self, statement: &InsertStatement) -> (String, Values);
    /// Renders an `UPDATE` and the values to bind.
    fn update(&self, statement: &UpdateStatement) -> (String, Values);
    /// Renders a `DELETE` and the values to bind.
    fn delete(&self, statement: &DeleteStatement) -> (String, Values);

    /// Casts a text to an integer: its leading digits, or 0.
    fn as_integer(&self, e: Expr) -> Expr;
    /// Casts a text to a number, including decimals.
    fn as_number(&self, e: Expr) -> Expr;
    /// A text that is not data, such as the name of a registered field. An engine with partial indexes needs it in the statement to
    /// choose them.
    fn constant(&self, text: &str) -> Expr {
        Expr::val(text)
    }
    /// Whether a column contains exactly this text. Without an index, because the collation of columns ignores case and accents.
    fn is_exactly(&self, column: Expr, text: &str) -> Expr;
    /// Concatenates two texts.
    fn concat(&self, left: &str, right: &str) -> String;

    /// A query that returns a row if the table with the bound name exists.
    fn table_exists(&self) -> &'static str;
    /// A query for the size of the database in bytes.
    fn database_size(&self) -> &'static str;
    /// A query for the columns of the table with the bound name, in order.
    fn column_names(&self) -> &'static str;
    /// A query for the names of the indexes of the table with the bound name, each with the names of its columns, in order. `None`
    /// if the engine can create all indexes that lists need by itself.
    fn index_columns(&self) -> Option<&'static str> {
        None
    }
    /// A query for the next generated id of the table with the bound name. No row if there is none.
    fn next_id(&self) -> &'static str;

    /// The statement that creates a table with this full name.
    fn create_table(&self, table: &Table, full_name: &str) -> String;
    /// The statements that create the indexes that [`Self::create_table`] does not.
    fn create_indexes(&self, _table: &Table, _full_name: &str) -> Vec<String> {
        Vec::new()
    }
    /// The query for the entries of the log of changes that are never deleted, if there are any. It may read the whole log.
    fn kept_changes(&self, _prefix: &str) -> Option<String> {
        None
    }
    /// Returns whether the engine stops reading a statement when the page is full.
    fn stops_when_full(&self) -> bool {
        false
    }
    /// A column that the engine does not look up in an index.
    fn without_index(&self, table: &'static str, column: &'static str) -> Expr {
        Expr::col((table, column))
    }
}

/// A sea-query statement that can be rendered for any dialect.
pub trait Build {
    /// Renders the text and the values to bind.
    fn text(&self, sql: &dyn SqlDialect) -> (String, Values);
}

macro_rules! build {
    ($($statement:ty => $method:ident),*) => {$(
        impl Build for $statement {
            fn text(&self, sql: &dyn SqlDialect) -> (String, Values) {
                sql.$method(self)
            }
        }
    )*};
}

/// A statement that changes rows.
pub trait Change: Build {
    /// What it does to them.
    const OPERATION: Operation;
}

impl Change for InsertStatement {
    const OPERATION: Operation = Operation::Insert;
}

impl Change for UpdateStatement {
    const OPERATION: Operation = Operation::Update;
}

impl Change for DeleteStatement {
    const OPERATION: Operation = Operation::Delete;
}

build!(SelectStatement => select, InsertStatement => insert, UpdateStatement => update, DeleteStatement => delete);
