//! Which parts of the database a statement reads, from its text.
//!
//! What is not understood becomes the whole table, and where the tables are not known, everything.

mod clock;
mod columns;
mod conditions;
mod joins;
mod read;
pub(crate) mod tokens;
mod unclear;
mod variables;
mod writes;

use crate::names::Name;

pub(crate) use clock::Clock;
pub(crate) use joins::{Join, Lookups};
pub(crate) use read::{Read, Terms};
pub(crate) use variables::Variables;
pub(crate) use writes::is_other_mode;

/// Most rows and groups of a table that are named for one statement.
pub(crate) const MAX_ROWS: usize = 500;

/// Maximum length of the identity of a row or a group, in bytes.
const MAX_NAME: usize = 160;

/// How the tables of a site are named.
#[derive(Clone, Debug, Default)]
pub(crate) struct Site {
    /// The prefix, in lower case.
    pub(crate) prefix: String,
    pub(crate) database: String,
    /// Whether changes have the values of rows, so that conditions on any column can be told apart.
    pub(crate) has_images: bool,
}

impl Site {
    /// The name of a table without the prefix, if it has it.
    fn short(&self, table: &str) -> String {
        table.strip_prefix(&*self.prefix).filter(|rest| !rest.is_empty()).unwrap_or(table).to_owned()
    }
}

/// All rows of a table. Names of tables with other characters than those of ASCII may be equal to others.
fn whole(table: &str) -> Name {
    if table.is_ascii() { Name::table(table) } else { Name::All }
}

/// The names of rows or groups with these values; the table's where they are too many or too long.
pub(crate) fn named<V: AsRef<str>>(table: &str, values: &[V], of: fn(&str, &str) -> Name) -> Vec<Name> {
    if values.len() > MAX_ROWS {
        return vec![whole(table)];
    }
    let long = |value: &str| table.len() + 1 + value.len() > MAX_NAME;
    let names = values.iter().map(|value| match value.as_ref() {
        value if long(value) || !table.is_ascii() => whole(table),
        value => of(table, value),
    });
    names.collect()
}

pub(crate) fn row(table: &str, value: &str) -> Name {
    Name::row(table, value)
}

fn group(table: &str, value: &str) -> Name {
    Name::group(table, value)
}
