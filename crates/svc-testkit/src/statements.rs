//! Compares the SQL statements that tests run with a snapshot (`testdata/statements` of `svc-store`), so that changes
//! to statements are deliberate and the statements stay suitable for clusters and sharded servers.
//!
//! The tests of the store ([`check`]) and of the whole server ([`layer`]) use the same snapshot files. With
//! `UPDATE_STATEMENTS=1` they add new statements. To drop obsolete ones, delete the files first and run both test
//! suites, the server's on both engines.

use std::collections::{BTreeSet, HashSet};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// The engines, as named in the store's events.
const ENGINES: [&str; 2] = ["Sqlite", "MySql"];

/// Words that no statement may contain: some servers lack them, they lock too much, or only the installer may use
/// them.
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

/// The allowed statements of one engine.
struct AllowedStatements {
    /// The snapshot: statements in normalized form.
    normalized: BTreeSet<String>,
    /// Verbatim statements that were already checked.
    checked: HashSet<String>,
}

/// The allowed statements of each engine of [`ENGINES`].
static ALLOWED: LazyLock<Mutex<[AllowedStatements; 2]>> = LazyLock::new(|| {
    let read = |engine| {
        let text = std::fs::read_to_string(file(engine)).unwrap_or_default();
        AllowedStatements { normalized: text.lines().map(normalize).collect(), checked: HashSet::new() }
    };
    Mutex::new(ENGINES.map(read))
});

fn file(engine: &str) -> PathBuf {
    let name = format!("{}.sql", engine.to_ascii_lowercase());
    [env!("CARGO_MANIFEST_DIR"), "../svc-store/testdata/statements", &name].iter().collect()
}

/// Checks a statement against an engine's snapshot. With `UPDATE_STATEMENTS` set, a new statement is added.
///
/// # Errors
/// A message if the statement is not in the snapshot, or contains a denied word.
pub fn check(engine: &str, prefix: &str, sql: &str) -> Result<(), String> {
    let mut allowed = ALLOWED.lock().unwrap_or_else(PoisonError::into_inner);
    let at = ENGINES.iter().position(|e| *e == engine).ok_or_else(|| format!("unknown engine {engine}"))?;
    let allowed = &mut allowed[at];
    if allowed.checked.contains(sql) {
        return Ok(());
    }
    let text = normalize(&sql.replace(&format!("`{prefix}"), "`").replace(&format!("\"{prefix}"), "\""));
    if !allowed.normalized.contains(&text) {
        if let Some(word) = denied_word(&text) {
            return Err(format!("statement contains {word}, which not all servers support: {text}"));
        }
        if std::env::var_os("UPDATE_STATEMENTS").is_none() {
            return Err(format!("statement is not in the snapshot (run with UPDATE_STATEMENTS=1 to add it): {text}"));
        }
        allowed.normalized.insert(text);
        let text: String = allowed.normalized.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        std::fs::write(file(engine), text).map_err(|e| e.to_string())?;
    }
    allowed.checked.insert(sql.to_owned());
    Ok(())
}

/// A tracing layer that checks every statement of every store in this process. The process exits at a statement with
/// a denied word: an error inside a request could be mistaken for an expected response.
pub fn layer<S: tracing::Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    StatementLayer.with_filter(tracing_subscriber::filter::filter_fn(|event| event.target() == "svc_store::statement"))
}

struct StatementLayer;

impl<S: tracing::Subscriber> Layer<S> for StatementLayer {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut statement = Statement::default();
        event.record(&mut statement);
        if let Err(why) = check(&statement.engine, &statement.prefix, &statement.sql) {
            static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
            if REPORTED.lock().unwrap_or_else(PoisonError::into_inner).insert(why.clone()) {
                // The test harness captures the output of `eprintln!`.
                let _ = writeln!(std::io::stderr(), "{why}");
            }
            // Which statements a server runs depends on timing, because of its caches. So a statement that is not in
            // the snapshot is only reported here, and fails in the tests of the store.
            if denied_word(&statement.sql).is_some() {
                std::process::exit(1);
            }
        }
    }
}

/// The fields of the store's tracing event.
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

/// The first denied word in a statement.
fn denied_word(text: &str) -> Option<&'static str> {
    // `@@hostname` is a server setting, not a connection variable.
    let text = text.to_uppercase().replace("@@", "");
    DENIED.into_iter().find(|word| text.contains(word))
}

/// Normalizes a statement: repeated parts (list items, rows, search terms) occur only once.
fn normalize(sql: &str) -> String {
    let mut text = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    // Searches combine included and excluded terms in any order.
    if text.contains(" LIKE ?") {
        text = text.replace(" NOT LIKE ", " LIKE ").replace(" OR ", " AND ");
    }
    // A fast path for most repetitions.
    while text.contains("?, ?") {
        text = text.replace("?, ?", "?");
    }
    loop {
        let shorter = remove_repeated_part(&text);
        if shorter.len() == text.len() {
            return text;
        }
        text = shorter;
    }
}

/// Removes the second of two equal parts that are joined by a comma, `AND`, `OR`, `WHEN` or `UNION ALL`.
fn remove_repeated_part(text: &str) -> String {
    for separator in [", ", " AND ", " OR ", " WHEN ", " UNION ALL "] {
        let mut at = 0;
        while let Some(found) = text[at..].find(separator) {
            let (before, after) = (&text[..at + found], &text[at + found + separator.len()..]);
            // Try the longest part first. Most statements are short and have no equal parts.
            let max_length = before.len().min(after.len());
            for length in (1..=max_length).rev() {
                let whole = before.is_char_boundary(before.len() - length) && after.is_char_boundary(length);
                let ends = after[length..].chars().next().is_none_or(|c| matches!(c, ',' | ')' | ' '));
                let part = if whole && ends { &after[..length] } else { continue };
                let begins = before[..before.len() - length].chars().next_back().is_none_or(|c| matches!(c, '(' | ' '));
                if begins && part.contains('?') && balanced(part) && before.ends_with(part) {
                    return format!("{before}{}", &after[length..]);
                }
            }
            at += found + separator.len();
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
    fn snapshots_contain_no_denied_words() {
        for engine in ENGINES {
            let text = std::fs::read_to_string(file(engine)).unwrap();
            assert!(text.lines().count() > 100);
            for line in text.lines() {
                assert_eq!(denied_word(line), None, "{line}");
            }
        }
    }

    #[test]
    fn repeated_parts_are_removed() {
        #[rustfmt::skip]
    let rows = [
        ("(a LIKE ? OR b LIKE ?) AND (a NOT LIKE ? AND b NOT LIKE ?) AND (a LIKE ? OR b LIKE ?)", "(a LIKE ? AND b LIKE ?)"),
        ("a IN (?, ?, ?)", "a IN (?)"), ("VALUES (?, ?), (?, ?)", "VALUES (?)"), ("a = ? OR a = ? OR b = ?", "a = ? OR b = ?"),
        ("(SELECT ?) UNION ALL (SELECT ?) UNION ALL (SELECT ?)", "(SELECT ?)"), ("SELECT a, a FROM b", "SELECT a, a FROM b"), ("CASE WHEN (a = ?) THEN ? WHEN (a = ?) THEN ? END", "CASE WHEN (a = ?) THEN ? END"),
    ];
        for (sql, expected) in rows {
            assert_eq!(normalize(sql), expected);
        }
    }
}
