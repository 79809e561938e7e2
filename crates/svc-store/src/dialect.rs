//! What differs between the engines in the text of statements.

use sea_query::{
    DeleteStatement, Expr, Func, InsertStatement, MysqlQueryBuilder, SelectStatement, SqliteQueryBuilder,
    UpdateStatement, Values,
};

/// The engine that a statement is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// MySQL, MariaDB and what speaks their protocol.
    MySql,
}

/// A statement of sea-query that can be written for either engine.
pub(crate) trait Build {
    /// The text and the values to bind.
    fn text(&self, dialect: Dialect) -> (String, Values);
}

macro_rules! build {
    ($($statement:ty),*) => {$(
        impl Build for $statement {
            fn text(&self, dialect: Dialect) -> (String, Values) {
                match dialect {
                    Dialect::Sqlite => self.build(SqliteQueryBuilder),
                    Dialect::MySql => self.build(MysqlQueryBuilder),
                }
            }
        }
    )*};
}

build!(SelectStatement, InsertStatement, UpdateStatement, DeleteStatement);

impl Dialect {
    /// A random number for each row.
    pub(crate) fn random(self) -> Expr {
        match self {
            Dialect::Sqlite => Expr::cust("RANDOM()"),
            Dialect::MySql => Func::random().into(),
        }
    }

    /// A text cast to a whole number as both engines do it: the leading digits, else zero.
    pub(crate) fn as_integer(self, e: Expr) -> Expr {
        use sea_query::ExprTrait as _;
        match self {
            Dialect::Sqlite => e.cast_as("INTEGER"),
            Dialect::MySql => e.cast_as("SIGNED"),
        }
    }

    /// A text as a number, fractions too.
    pub(crate) fn as_number(self, e: Expr) -> Expr {
        use sea_query::ExprTrait as _;
        match self {
            Dialect::Sqlite => e.cast_as("REAL"),
            Dialect::MySql => e.add(0),
        }
    }
}
