//! Loads the statements of a dump into the tables of a site.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use indexmap::IndexMap;
use sea_query::Value;
use svc_db::schema::{ColumnType, DefaultValue, Table};
use svc_db::{
    ReadText as _, STAGING_PREFIX, StagedTable, StagedTables, StoreError, TableManager, Tx, WriteText as _,
    create_staging_table, quoted, table_manager,
};

use super::lexer::{Lexer, Literal};
use super::marker;
use super::replace::Replacer;
use super::{ImportError, ImportOptions, ImportReport, Progress};
use crate::tables::TABLES;

/// Tables that every site must have.
const REQUIRED_TABLES: [&str; 9] =
    ["comments", "options", "postmeta", "posts", "term_relationships", "term_taxonomy", "terms", "usermeta", "users"];

/// Maximum number of tables in a dump.
const MAX_TABLES: usize = 10_000;

/// Number of rows between progress reports.
const PROGRESS_ROWS: u64 = 1_000;

/// A table of the dump that may belong to a site.
struct DumpTable {
    staged: StagedTable,
    prefix: String,
    /// Columns of the dump's `CREATE TABLE` statement.
    columns: Vec<String>,
    /// Columns and statement of the last `INSERT`.
    insert: Option<(Vec<String>, String)>,
    rows: u64,
}

/// Rows to be sent to a server in one statement.
#[derive(Default)]
struct RowBatch {
    table: String,
    columns: Vec<String>,
    /// Rows with the line numbers at which they begin.
    rows: Vec<(u64, Vec<Value>)>,
    bytes: usize,
}

/// Loads a dump into staging tables.
struct Loader<'a, 'o> {
    tx: &'a mut Tx,
    manager: &'static dyn TableManager,
    /// The loaded tables by their names in the dump.
    tables: IndexMap<String, DumpTable>,
    skipped: IndexMap<String, u64>,
    replacer: Replacer,
    batch: RowBatch,
    options: &'a mut ImportOptions<'o>,
    bytes: &'a AtomicU64,
    rows: u64,
}

pub(super) fn load(
    tx: &mut Tx,
    dump: impl Read,
    options: &mut ImportOptions<'_>,
    bytes: &AtomicU64,
) -> Result<ImportReport, ImportError> {
    let target = tx.prefix().to_owned();
    if !options.overwrite && tx.table_exists(&format!("{target}posts"))? && has_rows(tx, &target)? {
        return Err(ImportError::NotEmpty);
    }
    let manager = table_manager(tx.dialect());
    manager.begin_import(tx)?;
    let replacer = Replacer::new(&options.search_replace);
    let mut loader = Loader {
        tx,
        manager,
        tables: IndexMap::new(),
        skipped: IndexMap::new(),
        replacer,
        batch: RowBatch::default(),
        options,
        bytes,
        rows: 0,
    };
    let mut lexer = Lexer::new(dump);
    let outcome = loader.all(&mut lexer).and_then(|()| loader.site());
    match outcome {
        Ok(prefix) => loader.finish(prefix, &target),
        Err(e) => {
            loader.drop_staged();
            Err(e)
        }
    }
}

fn has_rows(tx: &mut Tx, prefix: &str) -> Result<bool, StoreError> {
    let mut found = false;
    for table in ["posts", "users", "options"] {
        let sql = format!("SELECT 1 FROM {} LIMIT 1", quoted(&format!("{prefix}{table}")));
        tx.query_text(&sql, &[], &mut |_| {
            found = true;
            Ok(())
        })?;
    }
    Ok(found)
}

/// Renames keys that contain the table prefix: the roles option, and user meta for capabilities and settings.
///
/// `options` and `usermeta` are the full names of the tables.
fn rename_keys(tx: &mut Tx, from: &str, to: &str, options: &str, usermeta: &str) -> Result<(), StoreError> {
    if from == to {
        return Ok(());
    }
    let (options, usermeta) = (quoted(options), quoted(usermeta));
    let sql = format!("UPDATE {options} SET option_name = ? WHERE option_name = ?");
    tx.execute_text(&sql, &[format!("{to}user_roles").into(), format!("{from}user_roles").into()])?;
    if from.is_empty() {
        return Ok(());
    }
    let glue = tx.sql().concat("?", "substr(meta_key, ?)");
    let sql = format!("UPDATE {usermeta} SET meta_key = {glue} WHERE substr(meta_key, 1, ?) = ?");
    let len = from.len() as i64;
    tx.execute_text(&sql, &[to.into(), (len + 1).into(), len.into(), from.into()])?;
    Ok(())
}

impl Loader<'_, '_> {
    fn all<R: Read>(&mut self, lexer: &mut Lexer<R>) -> Result<(), ImportError> {
        while self.statement(lexer)? {}
        self.flush()?;
        self.report_progress();
        Ok(())
    }

    /// Reads one statement and returns whether there was one.
    fn statement<R: Read>(&mut self, lexer: &mut Lexer<R>) -> Result<bool, ImportError> {
        if lexer.take_end()? {
            return Ok(true);
        }
        if lexer.peek()?.is_none() {
            return Ok(false);
        }
        let first = lexer.word()?.to_ascii_lowercase();
        lexer.skip_space()?;
        match first.as_str() {
            "create" => {
                let second = lexer.word()?.to_ascii_lowercase();
                if second == "table" { self.create(lexer)? } else { lexer.skip_rest()? }
            }
            "insert" | "replace" => self.insert(lexer)?,
            "alter" => self.alter(lexer)?,
            "delimiter" => lexer.set_delimiter()?,
            "set" | "drop" | "lock" | "unlock" | "use" | "start" | "commit" | "begin" | "analyze" | "flush" => {
                lexer.skip_rest()?;
            }
            "" => return Err(lexer.error("expected a statement")),
            other => return Err(lexer.error(format!("`{other}` does not begin a supported statement"))),
        }
        Ok(true)
    }

    /// The site table and prefix that a name matches.
    fn site_table(&self, name: &str) -> Option<(&'static Table, String)> {
        let tables = TABLES.iter().filter(|t| name.ends_with(t.name));
        // Names like `wp_term_taxonomy` match several tables; the longest name is meant.
        let table = tables.max_by_key(|t| t.name.len())?;
        let prefix = name[..name.len() - table.name.len()].to_owned();
        match &self.options.prefix {
            Some(requested) if *requested != prefix => None,
            _ => Some((table, prefix)),
        }
    }

    fn create<R: Read>(&mut self, lexer: &mut Lexer<R>) -> Result<(), ImportError> {
        self.flush()?;
        let mut name = lexer.name()?;
        if name.eq_ignore_ascii_case("if") {
            lexer.word()?;
            lexer.skip_space()?;
            lexer.word()?;
            name = lexer.name()?;
        }
        if self.tables.contains_key(&name) || self.skipped.contains_key(&name) {
            return Err(lexer.error(format!("the table {name} comes twice")));
        }
        if self.tables.len() + self.skipped.len() >= MAX_TABLES {
            return Err(lexer.error("the dump contains too many tables"));
        }
        lexer.expect(b'(')?;
        let body = lexer.rest()?;
        let Some((table, prefix)) = self.site_table(&name) else {
            self.skipped.insert(name, 0);
            return Ok(());
        };
        let columns = columns(&body);
        if columns.is_empty() {
            return Err(lexer.error(format!("the table {name} has no columns")));
        }
        let stage = format!("{STAGING_PREFIX}{name}");
        create_staging_table(self.tx, self.manager, table, &stage, &columns)?;
        let staged = StagedTable { table, name: stage, next_id: auto_increment(&body) };
        self.tables.insert(name, DumpTable { staged, prefix, columns, insert: None, rows: 0 });
        Ok(())
    }

    /// phpMyAdmin writes the next id in a separate statement.
    fn alter<R: Read>(&mut self, lexer: &mut Lexer<R>) -> Result<(), ImportError> {
        lexer.word()?;
        let name = lexer.name()?;
        let body = lexer.rest()?;
        if let (Some(table), Some(next)) = (self.tables.get_mut(&name), auto_increment(&body)) {
            table.staged.next_id = Some(next);
        }
        Ok(())
    }

    fn insert<R: Read>(&mut self, lexer: &mut Lexer<R>) -> Result<(), ImportError> {
        let mut name = lexer.name()?;
        while matches!(name.to_ascii_lowercase().as_str(), "into" | "ignore" | "delayed" | "low_priority") {
            name = lexer.name()?;
        }
        let Some(table) = self.tables.get(&name) else {
            // Rows of a plugin's table, or of a table that was not created.
            return match self.skipped.get_mut(&name) {
                Some(rows) => {
                    *rows += 1;
                    lexer.skip_rest()
                }
                None => Err(lexer.error(format!("rows for the table {name}, which the dump does not create"))),
            };
        };
        let mut columns = Vec::new();
        if lexer.take(b'(')? {
            loop {
                columns.push(lexer.name()?);
                if columns.len() > 256 {
                    return Err(lexer.error("too many columns"));
                }
                if !lexer.take(b',')? {
                    break;
                }
            }
            lexer.expect(b')')?;
        } else {
            columns.clone_from(&table.columns);
        }
        lexer.skip_space()?;
        if !lexer.word()?.eq_ignore_ascii_case("values") {
            return Err(lexer.error("expected VALUES"));
        }
        if self.batch.table != name || self.batch.columns != columns {
            self.flush()?;
            self.batch.table.clone_from(&name);
            self.batch.columns.clone_from(&columns);
        }
        let kinds = kinds(self.tables.get(&name), &columns);
        loop {
            lexer.expect(b'(')?;
            let line = lexer.line();
            let mut values = Vec::with_capacity(columns.len());
            loop {
                let literal = lexer.literal()?;
                let kind = kinds.get(values.len()).copied().flatten();
                values.push(self.value(literal, kind));
                if values.len() > columns.len() || !lexer.take(b',')? {
                    break;
                }
            }
            if values.len() != columns.len() {
                return Err(
                    lexer.error(format!("the number of values in a row of {name} differs from the number of columns"))
                );
            }
            lexer.expect(b')')?;
            self.batch.bytes += values.iter().map(size).sum::<usize>();
            self.batch.rows.push((line, values));
            let (n_rows, n_bytes) = self.manager.max_batch();
            if self.batch.rows.len() >= n_rows || self.batch.bytes >= n_bytes {
                self.flush()?;
            }
            self.count(&name);
            if !lexer.take(b',')? {
                break;
            }
        }
        if lexer.take_end()? { Ok(()) } else { Err(lexer.error("expected the end of the statement")) }
    }

    /// Writes the batched rows. If the server rejects the batch, rows are written one by one to find the invalid one.
    fn flush(&mut self) -> Result<(), ImportError> {
        let rows = std::mem::take(&mut self.batch.rows);
        let (n_rows, n_bytes) = self.manager.max_batch();
        let is_small = self.batch.bytes < n_bytes;
        self.batch.bytes = 0;
        if rows.len() == n_rows && is_small {
            let sql = self.insert_sql(rows.len());
            let (lines, rows): (Vec<u64>, Vec<Vec<Value>>) = rows.into_iter().unzip();
            let n_columns = self.batch.columns.len();
            let values: Vec<Value> = rows.into_iter().flatten().collect();
            return match self.tx.execute_text(&sql, &values) {
                Ok(_) => Ok(()),
                Err(_) => lines.iter().zip(values.chunks(n_columns)).try_for_each(|(line, row)| self.write(*line, row)),
            };
        }
        rows.iter().try_for_each(|(line, row)| self.write(*line, row))
    }

    fn write(&mut self, line: u64, row: &[Value]) -> Result<(), ImportError> {
        let sql = match self.tables.get(&self.batch.table).and_then(|table| table.insert.as_ref()) {
            Some((columns, sql)) if *columns == self.batch.columns => sql.clone(),
            _ => {
                let sql = self.insert_sql(1);
                if let Some(table) = self.tables.get_mut(&self.batch.table) {
                    table.insert = Some((self.batch.columns.clone(), sql.clone()));
                }
                sql
            }
        };
        self.tx.execute_text(&sql, row).map(drop).map_err(|e| match e {
            e @ (StoreError::Full | StoreError::ReadOnly | StoreError::Unavailable(_)) => ImportError::Store(e),
            e => ImportError::Dump { line, what: format!("a row of {} is refused: {e}", self.batch.table) },
        })
    }

    /// The statement that inserts `n_rows` rows. Required text columns that the dump lacks are empty.
    fn insert_sql(&self, n_rows: usize) -> String {
        let Some(DumpTable { staged, .. }) = self.tables.get(&self.batch.table) else { return String::new() };
        let columns = &self.batch.columns;
        let is_listed = |name: &str| columns.iter().any(|c| c.eq_ignore_ascii_case(name));
        let absent = staged.table.columns.iter().filter(|c| c.default == DefaultValue::Required && !is_listed(c.name));
        let absent: Vec<String> = absent.map(|c| quoted(c.name)).collect();
        let names: Vec<String> = columns.iter().map(|c| quoted(c)).chain(absent.iter().cloned()).collect();
        let values = vec!["?"; columns.len()].into_iter().chain(vec!["''"; absent.len()]);
        let row = format!("({})", values.collect::<Vec<_>>().join(","));
        format!("INSERT INTO {} ({}) VALUES {}", quoted(&staged.name), names.join(","), vec![row; n_rows].join(","))
    }

    fn value(&self, literal: Literal, kind: Option<ColumnType>) -> Value {
        let number = matches!(kind, Some(ColumnType::Id | ColumnType::BigInt | ColumnType::Int));
        match literal {
            Literal::Null => Value::String(None),
            Literal::Number(text) if number => match text.parse::<i64>() {
                Ok(n) => n.into(),
                Err(_) => text.into(),
            },
            Literal::Number(text) => text.into(),
            Literal::Text(bytes) if number => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                text.parse::<i64>().map_or_else(|_| text.clone().into(), Value::from)
            }
            Literal::Text(bytes) => {
                // Bytes are preserved, even if they are not valid UTF-8.
                let replaced = if kind == Some(GUID) { bytes } else { self.replacer.apply(&bytes).into_owned() };
                Value::Bytes(Some(replaced))
            }
        }
    }

    fn count(&mut self, name: &str) {
        if let Some(table) = self.tables.get_mut(name) {
            table.rows += 1;
        }
        self.rows += 1;
        if self.rows.is_multiple_of(PROGRESS_ROWS) {
            self.report_progress();
        }
    }

    fn report_progress(&mut self) {
        let progress = Progress { bytes: self.bytes.load(Ordering::Relaxed), rows: self.rows };
        if let Some(progress_of) = &mut self.options.progress {
            progress_of(&progress);
        }
    }

    /// Installs the site's tables and drops the others.
    fn finish(mut self, prefix: String, target: &str) -> Result<ImportReport, ImportError> {
        let mut report =
            ImportReport { prefix: prefix.clone(), skipped: std::mem::take(&mut self.skipped), ..Default::default() };
        let tables = std::mem::take(&mut self.tables);
        let (site_tables, others): (Vec<_>, Vec<_>) = tables.into_iter().partition(|(_, t)| t.prefix == prefix);
        for (name, table) in others {
            self.tx.execute_text(&format!("DROP TABLE {}", quoted(&table.staged.name)), &[])?;
            report.skipped.insert(name, table.rows);
        }
        for (_, table) in &site_tables {
            report.tables.insert(table.staged.table.name.to_owned(), table.rows);
        }
        let tables = site_tables.into_iter().map(|(_, table)| table.staged).collect();
        let complete = |tx: &mut Tx, name: &dyn Fn(&str) -> String| {
            rename_keys(tx, &prefix, target, &name("options"), &name("usermeta"))
        };
        let marker = marker::table(target);
        let staged = StagedTables { tables, prefix: &prefix, target, marker: &marker, complete: &complete };
        self.manager.install(self.tx, staged)?;
        Ok(report)
    }

    /// Drops the staging tables on engines where a rollback does not.
    fn drop_staged(&mut self) {
        let names: Vec<&str> = self.tables.values().map(|table| table.staged.name.as_str()).collect();
        self.manager.drop_staged(self.tx, &names);
    }

    /// The prefix of the site in the dump. If there are several, the one with the most tables, then the shortest (the
    /// main site of a network).
    fn site(&self) -> Result<String, ImportError> {
        let mut sites: HashMap<&str, HashSet<&str>> = HashMap::new();
        for table in self.tables.values() {
            sites.entry(&table.prefix).or_default().insert(table.staged.table.name);
        }
        let best = sites
            .iter()
            .filter(|(_, tables)| tables.contains("options") && tables.contains("posts"))
            .max_by_key(|(prefix, tables)| (tables.len(), usize::MAX - prefix.len()));
        let Some((prefix, tables)) = best else {
            return Err(ImportError::NoSite(
                "there are no tables `…options` and `…posts` with the same prefix".to_owned(),
            ));
        };
        let missing: Vec<&str> = REQUIRED_TABLES.iter().copied().filter(|t| !tables.contains(t)).collect();
        if missing.is_empty() {
            Ok((*prefix).to_owned())
        } else {
            Err(ImportError::NoSite(format!("{} missing", missing.join(", "))))
        }
    }
}

/// Marks the one column in which texts are never replaced.
const GUID: ColumnType = ColumnType::Varchar(0);

/// Approximate size of a value in bytes.
fn size(value: &Value) -> usize {
    match value {
        Value::Bytes(Some(bytes)) => bytes.len(),
        Value::String(Some(text)) => text.len(),
        _ => 8,
    }
}

fn kinds(table: Option<&DumpTable>, columns: &[String]) -> Vec<Option<ColumnType>> {
    let Some(DumpTable { staged, .. }) = table else { return Vec::new() };
    columns
        .iter()
        .map(|name| {
            let column = staged.table.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name))?;
            Some(if column.name == "guid" { GUID } else { column.kind })
        })
        .collect()
}

/// The column names in the body of a `CREATE TABLE` statement.
fn columns(body: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    let mut quote = None;
    let mut part = String::new();
    for c in body.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') if depth == 0 => break,
            (None, ')') => depth -= 1,
            (None, ',') if depth == 0 => {
                names.extend(column_name(&part));
                part.clear();
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    names.extend(column_name(&part));
    names
}

/// The column that a line of a `CREATE TABLE` statement defines; `None` for keys.
fn column_name(part: &str) -> Option<String> {
    const KEYS: [&str; 9] =
        ["primary", "unique", "key", "index", "constraint", "fulltext", "spatial", "foreign", "check"];
    let part = part.trim();
    match part.chars().next()? {
        quote @ ('`' | '"') => part[1..].split(quote).next().map(str::to_owned),
        _ => {
            let word = part.split(|c: char| c.is_whitespace() || c == '(').next()?;
            (!KEYS.contains(&word.to_ascii_lowercase().as_str())).then(|| word.to_owned())
        }
    }
}

/// The number after `AUTO_INCREMENT=`.
fn auto_increment(body: &str) -> Option<i64> {
    let at = body.to_ascii_uppercase().rfind("AUTO_INCREMENT=")?;
    let digits = body.get(at + "AUTO_INCREMENT=".len()..)?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}
