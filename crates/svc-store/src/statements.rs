//! The texts of statements that the tests produce, held against a snapshot (`testdata/statements`), so that what is asked
//! of databases changes knowingly and stays fit for clusters and for servers that split tables.
//!
//! `UPDATE_STATEMENTS=1 cargo test -p svc-store` adds new ones; remove the files first to drop those that are gone.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::dialect::Dialect;

/// What no statement may use: it is unknown to some of the servers, locks more than it must, or is for the installer.
const DENIED: [&str; 14] = [
    "SQL_CALC_FOUND_ROWS",
    "FOUND_ROWS",
    "GET_LOCK",
    "RELEASE_LOCK",
    "LOCK TABLES",
    "FULLTEXT",
    "AGAINST",
    "@",
    "TEMPORARY",
    "CREATE ",
    "ALTER ",
    "DROP ",
    "TRUNCATE",
    "LAST_INSERT_ID",
];

/// The texts known for both engines.
static KNOWN: LazyLock<Mutex<[BTreeSet<String>; 2]>> = LazyLock::new(|| {
    let read = |dialect| {
        let text = std::fs::read_to_string(file(dialect)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    Mutex::new([Dialect::Sqlite, Dialect::MySql].map(read))
});

fn file(dialect: Dialect) -> PathBuf {
    let name = if dialect == Dialect::Sqlite { "sqlite.sql" } else { "mysql.sql" };
    [env!("CARGO_MANIFEST_DIR"), "testdata/statements", name].iter().collect()
}

/// Holds a statement that is about to run against the snapshot.
///
/// # Panics
/// When the snapshot does not have it, unless it is being written.
pub(crate) fn note(dialect: Dialect, prefix: &str, sql: &str) {
    let shape = shape(&sql.replace(&format!("`{prefix}"), "`").replace(&format!("\"{prefix}"), "\""));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = &mut known[usize::from(dialect == Dialect::MySql)];
    if known.contains(&shape) {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_STATEMENTS").is_some(),
        "a statement that the snapshot does not have (UPDATE_STATEMENTS=1 adds it): {shape}"
    );
    known.insert(shape);
    let path = file(dialect);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, known.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>()).unwrap();
}

/// A statement with whatever is repeated in it (items of lists, rows, terms of a search) standing once.
fn shape(sql: &str) -> String {
    let mut text = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    // Nearly all there is, and quick.
    while text.contains("?, ?") {
        text = text.replace("?, ?", "?");
    }
    loop {
        let shorter = once(&text);
        if shorter.len() == text.len() {
            return text;
        }
        text = shorter;
    }
}

/// Takes out the second of two like parts with a comma, `AND`, `OR` or `WHEN` between them.
fn once(text: &str) -> String {
    for joint in [", ", " AND ", " OR ", " WHEN "] {
        let mut at = 0;
        while let Some(found) = text[at..].find(joint) {
            let (before, after) = (&text[..at + found], &text[at + found + joint.len()..]);
            // The longest like part: most statements have none, and are short.
            let most = before.len().min(after.len());
            for length in (1..=most).rev() {
                let whole = before.is_char_boundary(before.len() - length) && after.is_char_boundary(length);
                let ends = after[length..].chars().next().is_none_or(|c| matches!(c, ',' | ')' | ' '));
                let part = if whole && ends { &after[..length] } else { continue };
                let begins = before[..before.len() - length].chars().next_back().is_none_or(|c| matches!(c, '(' | ' '));
                if begins && part.contains('?') && balanced(part) && before.ends_with(part) {
                    return format!("{before}{}", &after[length..]);
                }
            }
            at += found + joint.len();
        }
    }
    text.to_owned()
}

fn balanced(part: &str) -> bool {
    let mut depth = 0_i32;
    part.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    }) && depth == 0
}

#[test]
fn nothing_that_some_server_lacks_is_used() {
    for dialect in [Dialect::Sqlite, Dialect::MySql] {
        let text = std::fs::read_to_string(file(dialect)).unwrap();
        assert!(text.lines().count() > 100);
        for line in text.lines() {
            // Settings of the server (`@@hostname`) are no variables of a connection.
            let line = line.to_uppercase().replace("@@", "");
            let denied = DENIED.iter().find(|word| line.contains(**word));
            assert_eq!(denied, None, "{line}");
        }
    }
}

#[test]
fn repeated_parts_stand_once() {
    #[rustfmt::skip]
    let rows = [
        ("a IN (?, ?, ?)", "a IN (?)"), ("VALUES (?, ?), (?, ?)", "VALUES (?)"), ("a = ? OR a = ? OR b = ?", "a = ? OR b = ?"),
        ("SELECT a, a FROM b", "SELECT a, a FROM b"), ("CASE WHEN (a = ?) THEN ? WHEN (a = ?) THEN ? END", "CASE WHEN (a = ?) THEN ? END"),
    ];
    for (sql, expected) in rows {
        assert_eq!(shape(sql), expected);
    }
}
