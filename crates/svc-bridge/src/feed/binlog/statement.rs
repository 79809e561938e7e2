//! The effects of statements in the log. With row events, only definitions of tables and the like are logged as statements.

use std::borrow::Cow;

use crate::sql::tokens::{is_one, is_table, tokens};

/// A table that a statement names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableName {
    /// `None` for the default schema.
    pub(super) schema: Option<String>,
    pub(super) table: String,
}

/// The effect of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Begins a transaction.
    Begin,
    /// Ends a transaction.
    End,
    /// Commits an XA transaction whose changes are elsewhere in the log.
    CommitPrepared,
    /// No data.
    None,
    /// All rows of these tables.
    Tables(Vec<TableName>),
    /// A whole schema.
    Schema(String),
    /// It is not known what.
    Unknown,
}

/// The effect of a statement.
pub(super) fn effect(sql: &str) -> Effect {
    let Some(tokens) = tokens(sql) else { return Effect::Unknown };
    let tokens = executed(&tokens);
    let word = |at: usize| tokens.get(at).map(|token| token.to_ascii_uppercase()).unwrap_or_default();
    match (&*word(0), &*word(1)) {
        ("", _) => Effect::None,
        ("BEGIN" | "START", _) | ("XA", "START" | "BEGIN") => Effect::Begin,
        ("COMMIT", _) | ("ROLLBACK", "" | "WORK") | ("XA", "PREPARE" | "ROLLBACK") => Effect::End,
        ("XA", "COMMIT") => Effect::CommitPrepared,
        ("XA", "END") | ("SET", "PASSWORD" | "DEFAULT") => Effect::None,
        ("ROLLBACK" | "SAVEPOINT" | "RELEASE" | "GRANT" | "REVOKE" | "ANALYZE" | "OPTIMIZE" | "FLUSH", _) => {
            Effect::None
        }
        ("TRUNCATE", _) => tables(&tokens[1..]),
        ("CREATE" | "ALTER" | "DROP" | "RENAME", _) => definition(&tokens[1..]),
        _ => Effect::Unknown,
    }
}

/// The tokens, with those in comments that some servers execute, such as `/*!40005 TEMPORARY */` and `/*M!100000 IF EXISTS */`, and without the marks
/// of these.
fn executed<'t>(tokens: &'t [Cow<'_, str>]) -> Vec<&'t str> {
    let mut is_begun = false;
    let mut executed = Vec::with_capacity(tokens.len());
    for token in tokens {
        match &**token {
            "/*" => is_begun = true,
            "M" | "!" if is_begun => {}
            token => {
                // The first version of the server that executes it.
                let digits = if std::mem::take(&mut is_begun) {
                    token.bytes().take_while(u8::is_ascii_digit).count()
                } else {
                    0
                };
                executed.extend(Some(&token[digits..]).filter(|token| !token.is_empty()));
            }
        }
    }
    executed
}

/// The effect of a definition, from the tokens after its verb.
fn definition(tokens: &[&str]) -> Effect {
    // Words before the kind of what is defined.
    let modifiers = ["OR", "REPLACE", "ONLINE", "OFFLINE", "IGNORE", "UNIQUE", "FULLTEXT", "SPATIAL"];
    let kind = tokens.iter().take_while(|token| is_one(token, &modifiers)).count();
    let rest = tokens.get(kind + 1..).unwrap_or_default();
    match tokens.get(kind).copied().unwrap_or_default().to_ascii_uppercase().as_str() {
        "TEMPORARY" | "USER" | "ROLE" | "TRIGGER" | "EVENT" | "SERVER" => Effect::None,
        "DATABASE" | "SCHEMA" => match rest.iter().find(|token| is_name(token)) {
            Some(name) => Effect::Schema(unquoted(name)),
            None => Effect::Unknown,
        },
        "TABLE" | "TABLES" | "INDEX" => tables(rest),
        _ => Effect::Unknown,
    }
}

/// Words in front of names.
const KEYWORDS: [&str; 5] = ["IF", "NOT", "EXISTS", "TABLE", "TO"];

fn is_name(token: &str) -> bool {
    (is_table(token) || token.starts_with('"')) && !is_one(token, &KEYWORDS)
}

/// All names, the first of which is that of a table. Among the others are those of columns, and keywords.
fn tables(tokens: &[&str]) -> Effect {
    let mut tables = Vec::new();
    let mut rest = tokens;
    while let [first, after @ ..] = rest {
        rest = after;
        if !is_name(first) {
            continue;
        }
        match after {
            [".", table, after @ ..] if is_name(table) => {
                tables.push(TableName { schema: Some(unquoted(first)), table: unquoted(table) });
                rest = after;
            }
            _ => tables.push(TableName { schema: None, table: unquoted(first) }),
        }
    }
    if tables.is_empty() { Effect::Unknown } else { Effect::Tables(tables) }
}

/// A name without quotes.
fn unquoted(name: &str) -> String {
    match name.chars().next() {
        Some(quote @ ('`' | '"')) if name.len() > 1 => {
            name[1..name.len() - 1].replace(&format!("{quote}{quote}"), &quote.to_string())
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(names: &str) -> Effect {
        let name = |name: &str| match name.split_once('.') {
            Some((schema, table)) => TableName { schema: Some(schema.to_owned()), table: table.to_owned() },
            None => TableName { schema: None, table: name.to_owned() },
        };
        Effect::Tables(names.split(' ').map(name).collect())
    }

    #[test]
    fn statements_name_the_tables_that_they_change() {
        for (sql, expected) in [
            ("BEGIN", Effect::Begin),
            ("COMMIT", Effect::End),
            ("ROLLBACK", Effect::End),
            ("ROLLBACK TO SAVEPOINT `a`", Effect::None),
            ("rollback to a", Effect::None),
            ("# Dummy event", Effect::None),
            ("", Effect::None),
            ("XA START X'61',X'',1", Effect::Begin),
            ("XA COMMIT X'61',X'',1", Effect::CommitPrepared),
            ("TRUNCATE wp_posts", tables("wp_posts")),
            ("truncate table wp.wp_posts", tables("wp.wp_posts")),
            ("TRUNCATE `wp`.`wp_posts`", tables("wp.wp_posts")),
            ("DROP TABLE IF EXISTS `a`,`b`.`c` /* generated by server */", tables("a b.c")),
            ("DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `a`", Effect::None),
            ("CREATE TEMPORARY TABLE a (b int)", Effect::None),
            ("CREATE OR REPLACE TABLE a LIKE b", tables("a LIKE b")),
            ("create table if not exists a(b int)", tables("a b int")),
            ("RENAME TABLE a TO b, c TO d.e", tables("a b c d.e")),
            (
                "ALTER TABLE a ADD COLUMN `rename` varchar(20) DEFAULT 'RENAME TO x'",
                tables("a ADD COLUMN rename varchar DEFAULT"),
            ),
            (
                "ALTER /* why */ IGNORE TABLE a RENAME COLUMN x TO y, RENAME TO b",
                tables("a RENAME COLUMN x y RENAME b"),
            ),
            ("ALTER TABLE IF EXISTS a WAIT 5 RENAME b.c", tables("a WAIT RENAME b.c")),
            ("ALTER TABLE a EXCHANGE PARTITION p WITH TABLE b", tables("a EXCHANGE PARTITION p WITH b")),
            ("CREATE UNIQUE INDEX x ON a (b)", tables("x ON a b")),
            ("DROP INDEX `x` ON `b`.`a`", tables("x ON b.a")),
            ("DROP TABLE \"a\".\"b\", 2_c", tables("a.b 2_c")),
            ("TRUNCATE TABLE 2site.wp_posts", tables("2site.wp_posts")),
            ("RENAME TABLE 2a TO 2$b, `3``c` TO .4\u{e9}", tables("2a 2$b 3`c 4\u{e9}")),
            ("ALTER TABLE a ADD b int DEFAULT .5, RENAME c", tables("a ADD b int DEFAULT RENAME c")),
            ("ALTER TABLE /*!50000a*/ ADD b int", tables("a ADD b int")),
            ("DROP DATABASE /*M!100000 IF EXISTS */ x", Effect::Schema("x".to_owned())),
            ("DROP DATABASE IF EXISTS `x`", Effect::Schema("x".to_owned())),
            ("CREATE DATABASE x", Effect::Schema("x".to_owned())),
            ("CREATE USER a@b IDENTIFIED BY 'x'", Effect::None),
            ("GRANT ALL ON *.* TO a", Effect::None),
            ("CREATE DEFINER=`a`@`b` TRIGGER x", Effect::Unknown),
            ("CREATE VIEW a AS SELECT 1", Effect::Unknown),
            ("INSERT INTO a VALUES (1)", Effect::Unknown),
            ("/* a */ UPDATE a SET b = 1", Effect::Unknown),
            ("DROP TABLE 'a", Effect::Unknown),
            ("DROP TABLE", Effect::Unknown),
            ("'", Effect::Unknown),
        ] {
            assert_eq!(effect(sql), expected, "{sql}");
        }
    }
}
