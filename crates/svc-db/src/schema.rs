//! The description of a schema: what the engines have to know of the tables. The owner of the tables passes it to
//! [`Database::open`](crate::Database::open).

use crate::rows::Rows;

/// The tables of a database, and what the engines add to them.
#[derive(Debug)]
pub struct Schema {
    /// The tables, in the order of dumps.
    pub tables: &'static [Table],
    /// The rows for which [`StoreConfig::staleness`](crate::StoreConfig::staleness) does not apply.
    pub exact: &'static [Rows],
    /// Numbers of rows that SQLite maintains in private tables.
    pub counts: &'static [CountTable],
    /// The version of the indexes and private tables on SQLite.
    pub layout: Layout,
    /// The table whose changed rows can be logged ([`RowLog`](crate::RowLog)).
    pub log: Option<LoggedTable>,
    /// What serializes the transactions of several servers on one MySQL-protocol database. Without it, only those of one
    /// process are serialized.
    pub gate: Option<Gate>,
    /// The column whose character set determines which characters can be stored.
    pub charset_of: Option<TextColumn>,
}

impl Schema {
    /// A schema without tables, to begin with.
    pub const EMPTY: Schema = Schema {
        tables: &[],
        exact: &[],
        counts: &[],
        layout: Layout { version: 1, obsolete: &[] },
        log: None,
        gate: None,
        charset_of: None,
    };

    /// The rows of a table, by its name without prefix.
    pub(crate) fn rows_of(&self, table: &str) -> impl Iterator<Item = Rows> + use<> {
        let rows = self.tables.iter().find(|t| t.name == table).map_or(&[][..], |t| t.rows);
        rows.iter().map(|rows| rows.rows)
    }

    /// Whether rows of this kind are the objects that they belong to, in one table at least.
    pub(crate) fn are_objects(&self, rows: Rows) -> bool {
        self.tables.iter().any(|table| table.rows.iter().any(|of| of.rows == rows && table.is_of_objects(of)))
    }

    /// Whether a table has rows of this kind.
    pub(crate) fn has(&self, rows: Rows) -> bool {
        self.tables.iter().any(|table| table.rows.iter().any(|of| of.rows == rows))
    }

    /// The rows of all tables, each once.
    pub(crate) fn all_rows(&self) -> Vec<Rows> {
        let mut all = Vec::new();
        for rows in self.tables.iter().flat_map(|table| table.rows).map(|rows| rows.rows) {
            if !all.contains(&rows) {
                all.push(rows);
            }
        }
        all
    }
}

/// The version of the indexes and private tables on SQLite.
#[derive(Debug)]
pub struct Layout {
    /// Increase it when the indexes, the counts or the descriptions of changes change.
    pub version: i64,
    /// Kinds and names of what earlier versions had. `{prefix}` is the prefix of table names.
    pub obsolete: &'static [&'static str],
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextColumn {
    /// The table, without prefix.
    pub table: &'static str,
    /// The column.
    pub column: &'static str,
}

/// An index of the rows of a table that have a value in a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialIndex {
    /// Name without the prefix of table names. Another index has another name.
    pub name: String,
    /// The indexed expressions, as SQL.
    pub expressions: &'static str,
    /// The column.
    pub column: &'static str,
    /// Its value.
    pub value: String,
}

/// A table of names and values, and the rows of it with which transactions begin on a server.
#[derive(Debug)]
pub struct Gate {
    /// The table, without prefix.
    pub table: &'static str,
    /// The column with the ids.
    pub id: &'static str,
    /// The column with the unique names.
    pub name: &'static str,
    /// The column with the values.
    pub value: &'static str,
    /// The name of a row that usually exists; it is locked and not changed.
    pub locked: &'static str,
    /// The name of the row that each transaction changes on a cluster, and where the other one is missing.
    pub changed: &'static str,
    /// Another column, and its value in the row that is changed.
    pub more: (&'static str, &'static str),
}

/// A table whose changed rows can be logged.
#[derive(Debug)]
pub struct LoggedTable {
    /// The table, without prefix.
    pub table: &'static str,
    /// Its rows in [`Table::rows`].
    pub rows: Rows,
    /// The column with the ids.
    pub id: &'static str,
    /// The columns with texts to search in, which must have one collation.
    pub texts: [&'static str; 3],
    /// Rows with this value in this column are not logged.
    pub except: (&'static str, &'static str),
    /// An SQL expression for a hash of the columns as a decimal number of 64 bits, on servers.
    pub digest: &'static str,
}

/// A private table of numbers of rows, which triggers maintain within the transaction that changes a row, whichever
/// program writes. The row of a number that has become zero is not deleted.
///
/// In SQL texts, `{name}` is the quoted full name of a table, `{'name'}` a text that begins with the prefix, and `TYPE` the
/// type of a machine-readable text.
#[derive(Debug)]
pub struct CountTable {
    /// Name without prefix.
    pub name: &'static str,
    /// Definitions of the columns by which rows are counted. They are the primary key, before the number `n`.
    pub columns: &'static str,
    /// Names of these columns.
    pub keys: &'static str,
    /// Queries for the keys of all rows that are counted.
    pub sources: &'static [&'static str],
    /// What maintains the numbers.
    pub triggers: &'static [CountTrigger],
}

/// Changes numbers when rows of a table change.
#[derive(Debug)]
pub struct CountTrigger {
    /// The table, without prefix.
    pub table: &'static str,
    /// `insert`, `update` or `delete`.
    pub event: &'static str,
    /// A condition.
    pub when: &'static str,
    /// Queries for the keys that are counted once less.
    pub less: &'static [&'static str],
    /// Queries for the keys that are counted once more.
    pub more: &'static [&'static str],
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// `bigint(20) unsigned`: an id, or a reference to one.
    Id,
    /// `bigint(20)`.
    BigInt,
    /// `int(11)`.
    Int,
    /// A machine-readable text of limited length (`publish`, a meta key), compared without case.
    Key(u16),
    /// A human-readable text of limited length, compared without case and accents.
    Varchar(u16),
    /// A human-readable text of this MySQL type (`text`, `longtext`, …).
    Text(&'static str),
    /// A date.
    DateTime,
}

/// A column of a table.
#[derive(Debug)]
pub struct Column {
    /// The name.
    pub name: &'static str,
    /// The type.
    pub kind: ColumnType,
    /// The default value.
    pub default: DefaultValue,
}

/// Default value of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// Generated by the engine.
    Auto,
    /// This text or number.
    Value(&'static str),
    /// `NOT NULL` without a default (on SQLite, the default is the empty text).
    Required,
    /// `NULL`.
    Null,
}

/// An index.
#[derive(Debug)]
pub struct Index {
    /// The name, unique within the table.
    pub name: &'static str,
    /// The columns, with the length that MySQL indexes (0 is the whole value).
    pub columns: &'static [(&'static str, u16)],
    /// Whether no two rows may have the same values.
    pub unique: bool,
}

/// A table of a site.
#[derive(Debug)]
pub struct Table {
    /// Name without prefix.
    pub name: &'static str,
    /// The columns.
    pub columns: &'static [Column],
    /// The columns of the primary key.
    pub primary: &'static [&'static str],
    /// The indexes on every engine.
    pub indexes: &'static [Index],
    /// Additional indexes on SQLite.
    pub sqlite_indexes: &'static [Index],
    /// The rows that the table consists of.
    pub rows: &'static [TableRows],
}

/// Rows of a table. In SQL texts, `{row}` is a row.
#[derive(Debug)]
pub struct TableRows {
    /// The rows.
    pub rows: Rows,
    /// The column with the id or the name of the object that a row belongs to.
    pub object: ObjectColumn,
    /// An SQL condition on a row; empty for all rows of the table.
    pub condition: &'static str,
    /// An SQL expression for what [`Companion::describe`](crate::Companion::describe) returns; empty for nothing.
    pub description: &'static str,
}

/// The column with the objects that rows belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectColumn {
    /// A column with ids.
    Id(&'static str),
    /// A column with names.
    Name(&'static str),
}

impl Table {
    /// Whether each of these rows is an object: its id is the primary key, or it has a name.
    pub(crate) fn is_of_objects(&self, rows: &TableRows) -> bool {
        match rows.object {
            ObjectColumn::Id(column) => self.primary == [column],
            ObjectColumn::Name(_) => true,
        }
    }

    /// The auto-increment column, if there is one.
    pub fn auto_column(&self) -> Option<&'static str> {
        self.columns.iter().find(|c| c.default == DefaultValue::Auto).map(|c| c.name)
    }
}
