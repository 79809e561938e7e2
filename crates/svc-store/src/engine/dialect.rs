//! Differences between the engines' SQL dialects.

use sea_query::{
    DeleteStatement, Expr, Func, InsertStatement, MysqlQueryBuilder, SelectStatement, SqliteQueryBuilder,
    UpdateStatement, Values,
};

/// SQL dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// MySQL, MariaDB and compatible servers.
    MySql,
}

/// A sea-query statement that can be rendered for any dialect.
pub(crate) trait Build {
    /// Renders the text and the values to bind.
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
    /// A random number per row.
    pub(crate) fn random(self) -> Expr {
        match self {
            Dialect::Sqlite => Expr::cust("RANDOM()"),
            Dialect::MySql => Func::random().into(),
        }
    }

    /// Casts a text to an integer like both engines do: its leading digits, or 0.
    pub(crate) fn as_integer(self, e: Expr) -> Expr {
        use sea_query::ExprTrait as _;
        match self {
            Dialect::Sqlite => e.cast_as("INTEGER"),
            Dialect::MySql => e.cast_as("SIGNED"),
        }
    }

    /// Casts a text to a number, including decimals.
    pub(crate) fn as_number(self, e: Expr) -> Expr {
        use sea_query::ExprTrait as _;
        match self {
            Dialect::Sqlite => e.cast_as("REAL"),
            Dialect::MySql => e.add(0),
        }
    }
}
