//! What statements read that are no queries: those that write may fill a table from others.

use super::{
    Clock,
    read::Reader,
    tokens::{CLAUSES, Statement, content, is, is_one},
    unclear::{is_unknown_function, unclear},
};

/// Words between UPDATE or INSERT and the table.
pub(super) const MODIFIERS: [&str; 4] = ["LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "IGNORE"];

/// Statements that read no rows, unless one of [`FILLED`] is in them.
const WITHOUT_ROWS: [&str; 19] = [
    "ALTER",
    "BEGIN",
    "COMMIT",
    "CREATE",
    "DEALLOCATE",
    "DROP",
    "FLUSH",
    "GRANT",
    "KILL",
    "LOCK",
    "PREPARE",
    "RELEASE",
    "REVOKE",
    "ROLLBACK",
    "SAVEPOINT",
    "SET",
    "START",
    "TRUNCATE",
    "UNLOCK",
];

/// Words with which those fill a table, or a variable, from others.
const FILLED: [&str; 6] = ["SELECT", "UNION", "EXCHANGE", "CONVERT", "RENAME", "ATOMIC"];

/// Parts of the names of SQL modes in which the same text is another statement.
const MODES: [&str; 9] = ["ANSI", "BACKSLASH", "PIPES", "PRECEDENCE", "ORACLE", "MSSQL", "DB2", "MAXDB", "POSTGRESQL"];

impl Reader<'_> {
    /// What a statement with another verb than SELECT and SHOW reads. One that writes reads nothing if all values are in its text or in the rows that
    /// it writes. Otherwise, what is read later from its table is what the other tables had: their names.
    pub(super) fn other(&mut self, verb: &str, s: &Statement<'_>, clock: &Clock) {
        let n_tables = s.all().iter().filter(|token| is(token, "TABLE")).count();
        let is_write = is_one(verb, &["INSERT", "REPLACE", "UPDATE", "DELETE"]);
        if s.all().contains(&"/*") {
            self.refuse("a comment that is executed");
        } else if is_write && !s.all().contains(&";") {
            self.write(s, clock);
        } else if is(verb, "CREATE") && (s.has_one(&FILLED) || n_tables > 1) || is_one(verb, &["RENAME", "LOAD"]) {
            self.refuse("a table that is filled from others");
        } else if !is_one(verb, &WITHOUT_ROWS) || s.has_one(&FILLED) || is(verb, "SET") && sets_mode(s) {
            self.refuse(format!("the statement {}", verb.to_ascii_uppercase()));
        }
    }

    fn write(&mut self, s: &Statement<'_>, clock: &Clock) {
        let verb = s.at(0);
        let before_values = s.slice(0, s.find(&CLAUSES, 0, s.len()));
        let has_tables = is_one(verb, &["UPDATE", "DELETE"]) && before_values.contains(&",");
        if has_tables || s.has_one(&["SELECT", "TABLE", "JOIN", "STRAIGHT_JOIN", "USING", "WITH"]) {
            match self.unstable(s, clock).or_else(|| unclear(s)) {
                Some(why) => self.refuse(why),
                None => self.everything_named(s),
            }
        } else if let Some(at) = (0..s.len()).find(|at| is_unknown_function(s, *at)) {
            self.refuse(format!("the function {}", s.at(at).trim_matches('`')));
        }
    }
}

/// Whether a SET changes how texts are read.
fn sets_mode(s: &Statement<'_>) -> bool {
    let is_mode = |at: &usize| s.at(*at).trim_matches(['@', '`']).eq_ignore_ascii_case("sql_mode");
    (0..s.len()).filter(is_mode).any(|at| {
        // The value of a variable is not known.
        content(s.at(at + 2)).is_none_or(is_other_mode)
    })
}

/// Whether texts are other statements in an SQL mode than those as which they are examined: `"a"` may be a column, and `\` a character.
pub(crate) fn is_other_mode(mode: &str) -> bool {
    let mode = mode.to_ascii_uppercase();
    MODES.iter().any(|part| mode.contains(part))
}
