//! The texts of statements that tests produce, held against a snapshot (`testdata/statements` of `svc-store`), so that
//! what is asked of databases changes knowingly and stays fit for clusters and for servers that split tables.
//!
//! The tests of the store ([`check`]) and of the whole server ([`layer`]) are held against the same files. With
//! `UPDATE_STATEMENTS=1` they add what is new; remove the files first to drop what is gone, and run both, the latter on
//! both engines.

use std::collections::{BTreeSet, HashSet};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// The engines, as the store names them in its events.
const ENGINES: [&str; 2] = ["Sqlite", "MySql"];

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

/// What is known of one engine.
struct AllowedStatements {
    /// The snapshot.
    shapes: BTreeSet<String>,
    /// Statements as they were sent that are in it.
    seen: HashSet<String>,
}

/// What is known of each engine.
static KNOWN: LazyLock<Mutex<[AllowedStatements; 2]>> = LazyLock::new(|| {
    let read = |engine| {
        let text = std::fs::read_to_string(file(engine)).unwrap_or_default();
        AllowedStatements { shapes: text.lines().map(shape).collect(), seen: HashSet::new() }
    };
    Mutex::new(ENGINES.map(read))
});

fn file(engine: &str) -> PathBuf {
    let name = format!("{}.sql", engine.to_ascii_lowercase());
    [env!("CARGO_MANIFEST_DIR"), "../svc-store/testdata/statements", &name].iter().collect()
}

/// Holds a statement against the snapshot of an engine; says so when it is not there, unless it is added.
///
/// # Errors
/// What is wrong with the statement.
pub fn check(engine: &str, prefix: &str, sql: &str) -> Result<(), String> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let at = ENGINES.iter().position(|e| *e == engine).ok_or_else(|| format!("an engine {engine}"))?;
    let known = &mut known[at];
    if known.seen.contains(sql) {
        return Ok(());
    }
    let shape = shape(&sql.replace(&format!("`{prefix}"), "`").replace(&format!("\"{prefix}"), "\""));
    if !known.shapes.contains(&shape) {
        if let Some(word) = denied(&shape) {
            return Err(format!("a statement with {word}, which some server lacks: {shape}"));
        }
        if std::env::var_os("UPDATE_STATEMENTS").is_none() {
            return Err(format!("a statement that the snapshot does not have (UPDATE_STATEMENTS=1 adds it): {shape}"));
        }
        known.shapes.insert(shape);
        let text: String = known.shapes.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        std::fs::write(file(engine), text).map_err(|e| e.to_string())?;
    }
    known.seen.insert(sql.to_owned());
    Ok(())
}

/// Holds every statement of every store in this process against the snapshot, and ends the process at one that is not
/// in it: a failure within a request could pass for an answer that was expected.
pub fn layer<S: tracing::Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    Watch.with_filter(tracing_subscriber::filter::filter_fn(|event| event.target() == "svc_store::statement"))
}

struct Watch;

impl<S: tracing::Subscriber> Layer<S> for Watch {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut statement = Statement::default();
        event.record(&mut statement);
        if let Err(why) = check(&statement.engine, &statement.prefix, &statement.sql) {
            // Not by a macro, whose output tests take for themselves.
            let _ = writeln!(std::io::stderr(), "{why}");
            // Which of its statements a server sends depends on the pace of its tests, as what is kept is not asked again:
            // a new one is told here, and fails in the tests of the store.
            if denied(&statement.sql).is_some() {
                std::process::exit(1);
            }
        }
    }
}

/// The members of the store's event.
#[derive(Default)]
struct Statement {
    engine: String,
    prefix: String,
    sql: String,
}

impl Visit for Statement {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "prefix" => value.clone_into(&mut self.prefix),
            "sql" => value.clone_into(&mut self.sql),
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "engine" {
            self.engine = format!("{value:?}");
        }
    }
}

/// What a statement may not use and does.
fn denied(shape: &str) -> Option<&'static str> {
    // Settings of the server (`@@hostname`) are no variables of a connection.
    let shape = shape.to_uppercase().replace("@@", "");
    DENIED.into_iter().find(|word| shape.contains(word))
}

/// A statement with whatever is repeated in it (items of lists, rows, terms of a search) standing once.
fn shape(sql: &str) -> String {
    let mut text = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    // Words that are searched for, and words that must not be there, come in any mixture.
    if text.contains(" LIKE ?") {
        text = text.replace(" NOT LIKE ", " LIKE ").replace(" OR ", " AND ");
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_some_server_lacks_is_used() {
        for engine in ENGINES {
            let text = std::fs::read_to_string(file(engine)).unwrap();
            assert!(text.lines().count() > 100);
            for line in text.lines() {
                assert_eq!(denied(line), None, "{line}");
            }
        }
    }

    #[test]
    fn repeated_parts_stand_once() {
        #[rustfmt::skip]
    let rows = [
        ("(a LIKE ? OR b LIKE ?) AND (a NOT LIKE ? AND b NOT LIKE ?) AND (a LIKE ? OR b LIKE ?)", "(a LIKE ? AND b LIKE ?)"),
        ("a IN (?, ?, ?)", "a IN (?)"), ("VALUES (?, ?), (?, ?)", "VALUES (?)"), ("a = ? OR a = ? OR b = ?", "a = ? OR b = ?"),
        ("SELECT a, a FROM b", "SELECT a, a FROM b"), ("CASE WHEN (a = ?) THEN ? WHEN (a = ?) THEN ? END", "CASE WHEN (a = ?) THEN ? END"),
    ];
        for (sql, expected) in rows {
            assert_eq!(shape(sql), expected);
        }
    }
}
