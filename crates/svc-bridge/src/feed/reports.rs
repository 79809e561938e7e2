//! Reports of the connector: before WordPress writes, it says what in the table `svc_changes`, and afterwards that it has finished.
//!
//! The table is in memory, so that a report costs no access to a disk, and is visible at once whatever transaction WordPress is in. A restart
//! of the database server empties it. That is noticed: a mark of this process is in it as well.
//!
//! Other programs report nothing. About once in a second, the times at which the database server last wrote to each table are compared with the reports.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use futures_util::future::BoxFuture;
use mysql::{Conn, Opts, prelude::Queryable as _};

use super::{
    Feed, Unavailable, Unknown,
    option_values::{OptionValue, OptionValues},
    poller::{Poll, Poller},
};
use crate::{
    changes::{Changes, Position},
    names::{Name, SESSIONS, SLUGS},
};

/// Name of the table, without the prefix of the site.
pub const TABLE: &str = "svc_changes";

/// Reports that are read at once.
const BATCH: u64 = 10_000;

/// Time between two marks of this process.
const MARK_AGAIN: Duration = Duration::from_secs(60);

/// Age at which rows are deleted, in seconds.
const KEPT_SECONDS: u32 = 300;

/// Difference between the time of a report and the time at which the server wrote the table, in seconds, up to which the report explains it.
/// The times of tables have whole seconds.
const EXPLAINED_SECONDS: i64 = 2;

/// A row: position, time, connection that writes, kind, name.
type Row = (u64, i64, u64, String, Vec<u8>);

/// The feed.
pub struct Reports {
    poller: Poller,
    changes: Changes,
}

impl Reports {
    /// Reads the reports of the site whose tables begin with `prefix`. Creates the table if there is none.
    ///
    /// # Errors
    /// If the table cannot be created.
    pub fn start(opts: &Opts, prefix: &str) -> Result<Self, Unavailable> {
        let failed = |error: mysql::Error| {
            Unavailable(format!("the table {prefix}{TABLE} for reports of writes cannot be used: {error}"))
        };
        let mut conn = Conn::new(opts.clone()).map_err(failed)?;
        create(&mut conn, &format!("{prefix}{TABLE}")).map_err(failed)?;
        let changes = Changes::default();
        let poll = Reading {
            table: format!("{prefix}{TABLE}"),
            prefix: prefix.to_owned(),
            changes: changes.clone(),
            base: 0,
            read: 0,
            mark: None,
            tables: HashMap::new(),
            reported: HashMap::new(),
            writing: HashMap::new(),
            by_reads: HashMap::new(),
            options: OptionValues::default(),
            open_options: HashMap::new(),
        };
        let poller = Poller::start(opts, poll).map_err(|error| Unavailable(error.to_string()))?;
        Ok(Reports { poller, changes })
    }
}

/// Creates the table unless it exists.
fn create(conn: &mut Conn, table: &str) -> Result<(), mysql::Error> {
    conn.query_drop(format!(
        "CREATE TABLE IF NOT EXISTS `{table}` (\
         seq BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, \
         at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, \
         writer BIGINT UNSIGNED NOT NULL, \
         kind CHAR(1) CHARACTER SET ascii NOT NULL, \
         name VARBINARY(160) NOT NULL, \
         PRIMARY KEY USING BTREE (seq), KEY at USING BTREE (at)) ENGINE=MEMORY"
    ))
}

impl Feed for Reports {
    fn changes(&self) -> &Changes {
        &self.changes
    }

    fn catch_up(&self) -> BoxFuture<'_, Result<(), Unknown>> {
        Box::pin(async { self.poller.read().await.map(drop) })
    }

    fn visible(&self) -> BoxFuture<'_, Result<Position, Unknown>> {
        Box::pin(self.poller.read())
    }

    fn has_names(&self) -> bool {
        true
    }

    fn has_ends(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        "reports of the connector: writes of WordPress are known before they run; those of other programs end stored responses after \
         about two seconds, or with their age if WordPress writes the same table at the same time"
            .to_owned()
    }
}

/// What the server says of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TableState {
    /// When it was last written, in seconds of the server's clock. 0 if it has not kept the time.
    written: i64,
    /// When it was last created or altered.
    defined: i64,
    /// Whether it has no rows, which `TRUNCATE` leaves.
    is_empty: bool,
    /// Whether the server keeps the time of writes.
    has_time: bool,
    /// Whether its rows are in other tables.
    is_view: bool,
}

/// A row of this process in the table.
struct Mark {
    seq: u64,
    name: String,
    written: Instant,
}

struct Reading {
    /// Full name of the table.
    table: String,
    prefix: String,
    changes: Changes,
    /// Added to the numbers of rows, which begin again when the server restarts.
    base: Position,
    /// The highest number of a row that was read.
    read: u64,
    mark: Option<Mark>,
    /// What the server said last of each table.
    tables: HashMap<String, TableState>,
    /// When a write of each table last ended, in the same seconds.
    reported: HashMap<String, i64>,
    /// Tables that each connection is writing.
    writing: HashMap<u64, HashSet<String>>,
    /// What renderings of reads are writing, by connection.
    by_reads: HashMap<u64, Vec<Name>>,
    /// The values of options that were reported.
    options: OptionValues,
    /// Options that each connection is writing, and whether this counts as a write of a rendering although it is none.
    open_options: HashMap<u64, HashMap<Name, bool>>,
}

impl Reading {
    fn position(&self) -> Position {
        self.base + self.read
    }

    /// Begins anew: anything may have been written.
    fn restart(&mut self, conn: &mut Conn) -> Result<(), mysql::Error> {
        self.base += self.read + 1;
        self.read = 0;
        self.mark = None;
        self.tables.clear();
        self.writing.clear();
        self.by_reads.clear();
        self.options.forget(None);
        self.open_options.clear();
        for writer in self.changes.writers() {
            self.changes.ended(writer, self.base);
        }
        self.set_mark(conn)?;
        // Writes that were announced before, and have not finished.
        self.read_rows(conn)?;
        self.changes.missed(self.position());
        Ok(())
    }

    fn set_mark(&mut self, conn: &mut Conn) -> Result<(), mysql::Error> {
        let name = format!("{:016x}{:08x}", conn.connection_id(), std::process::id());
        conn.exec_drop(
            format!("INSERT INTO `{}` (writer, kind, name) VALUES (0, 's', ?)", self.table),
            (name.as_bytes(),),
        )?;
        self.mark = Some(Mark { seq: conn.last_insert_id(), name, written: Instant::now() });
        Ok(())
    }

    /// Reads and applies the rows after the last one. Returns false if rows are missing.
    fn read_rows(&mut self, conn: &mut Conn) -> Result<bool, mysql::Error> {
        let Some((mark, mark_name)) = self.mark.as_ref().map(|mark| (mark.seq, mark.name.clone())) else {
            return Ok(false);
        };
        loop {
            let sql = format!(
                "SELECT seq, UNIX_TIMESTAMP(at), writer, kind, name FROM `{}` WHERE seq > ? OR seq = ? ORDER BY seq LIMIT {BATCH}",
                self.table
            );
            let rows: Vec<Row> = conn.exec(sql, (self.read, mark))?;
            let is_mark = |row: &Row| row.0 == mark && row.3 == "s" && row.4 == mark_name.as_bytes();
            let n = rows.len();
            // While the mark is after the last row that was read, later batches contain it.
            if !rows.iter().any(is_mark) && (self.read >= mark || (n as u64) < BATCH) {
                return Ok(false);
            }
            self.apply(rows);
            if (n as u64) < BATCH {
                return Ok(true);
            }
        }
    }

    fn apply(&mut self, rows: Vec<Row>) {
        let (read, mut last) = (self.read, self.read);
        let mut rows = rows.into_iter().filter(|row| row.0 > read).peekable();
        while let Some((seq, at, writer, kind, name)) = rows.next() {
            last = seq;
            match &*kind {
                "b" => {
                    let mut names = vec![Name::parse(&String::from_utf8_lossy(&name))];
                    while let Some((seq, .., name)) = rows.next_if(|row| row.2 == writer && row.3 == "b") {
                        last = seq;
                        names.push(Name::parse(&String::from_utf8_lossy(&name)));
                    }
                    self.option_writes(writer, &names, false, last);
                    self.begun(writer, &names, last);
                }
                "r" => {
                    let names = vec![Name::parse(&String::from_utf8_lossy(&name))];
                    self.option_writes(writer, &names, true, last);
                    self.begun_by_read(writer, names, last);
                }
                // The value of an option.
                "o" | "p" => match self.option(writer, &String::from_utf8_lossy(&name), (last, at), kind == "p") {
                    (names, true) => self.begun_by_read(writer, names, last),
                    (names, false) => self.begun(writer, &names, last),
                },
                "e" => {
                    if let Some(names) = self.by_reads.remove(&writer) {
                        self.changes.changed_by_reads(&names, self.base + last);
                    }
                    self.open_options.remove(&writer);
                    let tables = self.writing.remove(&writer).unwrap_or_default();
                    self.reported.extend(tables.into_iter().map(|table| (table, at)));
                    self.changes.ended(writer, self.base + last);
                }
                _ => {}
            }
        }
        self.read = last;
    }

    /// The option and its group that a report of a value names, and whether the write is one of a rendering, or as those of renderings.
    fn option(&mut self, writer: u64, report: &str, (seq, at): (u64, i64), is_by_read: bool) -> (Vec<Name>, bool) {
        let mut lines = report.split('\n');
        let names = [lines.next(), lines.next()].map(|name| Name::parse(name.unwrap_or_default())).to_vec();
        let Some(value) = lines.next().and_then(OptionValue::parse) else { return (vec![Name::All], false) };
        let Name::Row(_, option) = &names[0] else { return (vec![Name::All], false) };
        let before = self.options.last(option.as_bytes());
        let is_alike = self.options.add(option.as_bytes(), before.as_ref(), value, at, is_by_read);
        // Others may write in another order than they have announced it.
        let is_alone = !self.others_write(writer, &names[..1], is_by_read, seq);
        if !is_alone {
            self.options.forget(Some(option.as_bytes()));
        }
        let is_alike = is_alike && is_alone;
        self.open_options.entry(writer).or_default().insert(names[0].clone(), is_alike && !is_by_read);
        (names, is_by_read || is_alike)
    }

    /// Options with these names get values that are not reported, by a writer that has not ended.
    fn option_writes(&mut self, writer: u64, names: &[Name], is_by_read: bool, seq: u64) {
        let of_options = |name: &&Name| name.table_name().is_none_or(|table| table == "options");
        let names: Vec<Name> = names.iter().filter(of_options).cloned().collect();
        self.others_write(writer, &names, is_by_read, seq);
        self.forget_options(&names);
        self.open_options.entry(writer).or_default().extend(names.into_iter().map(|name| (name, false)));
    }

    /// Whether others are writing one of these options. What counted as writes of renderings does no longer: it may come after this write.
    fn others_write(&mut self, writer: u64, names: &[Name], is_by_read: bool, seq: u64) -> bool {
        let is_whole = |name: &Name| matches!(name, Name::All | Name::Table(_));
        let is_same = |open: &Name| is_whole(open) || names.iter().any(|name| name == open || is_whole(name));
        let (mut found, mut counted) = (false, Vec::new());
        for (by, open) in self.open_options.iter_mut().filter(|(by, _)| **by != writer) {
            for (name, is_alike) in open.iter_mut().filter(|(name, _)| is_same(name)) {
                found = true;
                if !is_by_read && std::mem::take(is_alike) {
                    counted.push((*by, name.clone()));
                }
            }
        }
        for (by, name) in counted {
            self.changes.begun(by, &[name], self.base + seq);
        }
        found
    }

    /// The values of options with these names are not known.
    fn forget_options(&mut self, names: &[Name]) {
        for name in names {
            match name {
                Name::Row(table, option) if &**table == "options" => self.options.forget(Some(option.as_bytes())),
                Name::All | Name::Table(_) if name.table_name().is_none_or(|table| table == "options") => {
                    self.options.forget(None);
                }
                _ => {}
            }
        }
    }

    fn begun(&mut self, writer: u64, names: &[Name], seq: u64) {
        let names = &self.beyond_views(names.to_vec());
        self.writes(writer, names);
        self.changes.begun(writer, names, self.base + seq);
    }

    /// These names, and everything if one is that of a view: its tables are not known.
    fn beyond_views(&self, mut names: Vec<Name>) -> Vec<Name> {
        let is_view =
            |name: &Name| name.table_name().and_then(|table| self.tables.get(table)).is_some_and(|table| table.is_view);
        if names.iter().any(is_view) {
            names.push(Name::All);
        }
        names
    }

    fn begun_by_read(&mut self, writer: u64, names: Vec<Name>, seq: u64) {
        let names = self.beyond_views(names);
        self.writes(writer, &names);
        self.changes.changed_by_reads(&names, self.base + seq);
        self.by_reads.entry(writer).or_default().extend(names);
    }

    fn writes(&mut self, writer: u64, names: &[Name]) {
        let tables = names.iter().map(|name| name.table_name().unwrap_or("*").to_owned());
        self.writing.entry(writer).or_default().extend(tables);
    }

    /// Ends the writes of connections that are gone.
    fn look_for_writers(&mut self, conn: &mut Conn) -> Result<(), mysql::Error> {
        let mut writers = self.changes.writers();
        writers.extend(self.by_reads.keys());
        if writers.is_empty() {
            return Ok(());
        }
        let connected: HashSet<u64> =
            conn.query("SELECT ID FROM information_schema.PROCESSLIST")?.into_iter().collect();
        // Those that have said it before they went.
        self.read_rows(conn)?;
        let announced: HashSet<u64> = self.changes.writers().into_iter().chain(self.by_reads.keys().copied()).collect();
        for writer in writers.into_iter().filter(|writer| announced.contains(writer) && !connected.contains(writer)) {
            tracing::warn!(writer, "a process of PHP ended in the middle of a write");
            // After all responses whose rendering began up to now.
            self.base += 1;
            self.changes.abandoned(writer, self.position());
            let by_reads = self.by_reads.remove(&writer).unwrap_or_default();
            let tables = by_reads.iter().map(|name| name.table_name().map_or(Name::All, Name::table));
            self.options.forget(None);
            self.open_options.remove(&writer);
            self.changes.changed(&tables.collect::<Vec<_>>(), self.position());
            self.writing.remove(&writer);
        }
        Ok(())
    }

    /// Looks for tables that were written to, made, altered or removed without a report.
    fn look_for_others(&mut self, conn: &mut Conn) -> Result<(), mysql::Error> {
        let now: i64 = conn.query_first("SELECT UNIX_TIMESTAMP()")?.unwrap_or_default();
        let tables = self.look_at_tables(conn)?;
        // Reports that arrived with these writes.
        self.read_rows(conn)?;
        let before = std::mem::replace(&mut self.tables, tables);
        let mut others = Vec::new();
        let is_reported = |table: &str, written: i64| {
            self.writing.values().any(|tables| tables.contains(table))
                || self.reported.get(table).is_some_and(|ended| written <= ended + EXPLAINED_SECONDS)
        };
        for (name, state) in &self.tables {
            // Times have whole seconds, so that a second write may not change them.
            let is_recent = state.written != 0 && now - state.written < EXPLAINED_SECONDS;
            let last = state.written.max(state.defined);
            let is_changed = match before.get(name) {
                Some(before) => {
                    before != state && (state.written != 0 || before.defined != state.defined || state.is_empty)
                }
                // At the first look, everything has ended already.
                None => !before.is_empty(),
            };
            let is_other = (is_recent || is_changed) && !is_reported(name, last) && !is_reported("*", last);
            if state.is_view || !state.has_time || is_other {
                others.push(name.clone());
            }
        }
        others.extend(before.into_keys().filter(|name| !self.tables.contains_key(name) && !is_reported(name, now)));
        // What the connector names apart from the rows of these tables.
        let parts = [("posts", SLUGS), ("usermeta", SESSIONS)]
            .into_iter()
            .filter(|(table, _)| others.iter().any(|name| name == table));
        let others: Vec<Name> = parts.map(|(_, part)| part.to_owned()).chain(others.clone()).map(Name::table).collect();
        if !others.is_empty() {
            tracing::debug!(?others, "another program has written");
            self.forget_options(&others);
            self.base += 1;
            self.changes.changed(&others, self.position());
        }
        Ok(())
    }

    fn look_at_tables(&self, conn: &mut Conn) -> Result<HashMap<String, TableState>, mysql::Error> {
        type Row = (String, Option<i64>, Option<i64>, bool, bool, bool);
        let rows: Vec<Row> = conn.query(
            "SELECT TABLE_NAME, UNIX_TIMESTAMP(UPDATE_TIME), UNIX_TIMESTAMP(CREATE_TIME), COALESCE(TABLE_ROWS, 1) = 0, \
             COALESCE(ENGINE, '') IN ('InnoDB', 'MyISAM'), \
             COALESCE(ENGINE, 'VIEW') IN ('VIEW', 'MRG_MyISAM', 'FEDERATED', 'SPIDER', 'CONNECT') \
             FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()",
        )?;
        let state = |(table, written, defined, is_empty, has_time, is_view): Row| {
            let name = table.strip_prefix(&self.prefix).unwrap_or(&table).to_owned();
            let (written, defined) = (written.unwrap_or_default(), defined.unwrap_or_default());
            (name != TABLE).then_some((name, TableState { written, defined, is_empty, has_time, is_view }))
        };
        Ok(rows.into_iter().filter_map(state).collect())
    }
}

impl Poll for Reading {
    fn poll(&mut self, conn: &mut Conn) -> Result<Result<Position, Unknown>, mysql::Error> {
        if !self.read_rows(conn)? {
            tracing::warn!("reports of writes were lost; all stored responses end");
            self.restart(conn)?;
        }
        if !self.by_reads.is_empty() {
            // Until they end, what is rendered may have the old row.
            self.base += 1;
            let names: Vec<Name> = self.by_reads.values().flatten().cloned().collect();
            self.changes.changed_by_reads(&names, self.position());
        }
        Ok(Ok(self.position()))
    }

    fn tick(&mut self, conn: &mut Conn) -> Result<(), mysql::Error> {
        self.poll(conn)?.ok();
        self.look_for_others(conn)?;
        self.look_for_writers(conn)?;
        if self.mark.as_ref().is_none_or(|mark| mark.written.elapsed() >= MARK_AGAIN) {
            self.set_mark(conn)?;
            conn.query_drop(format!("DELETE FROM `{}` WHERE at < NOW() - INTERVAL {KEPT_SECONDS} SECOND", self.table))?;
        }
        Ok(())
    }

    fn connected(&mut self, conn: &mut Conn) -> Result<(), mysql::Error> {
        // Otherwise MySQL says for a day what it knew of tables. MariaDB has no such variable.
        drop(conn.query_drop("SET SESSION information_schema_stats_expiry = 0"));
        // A restored backup may have replaced the whole database.
        create(conn, &self.table)?;
        // After a lost connection, all rows since are still there, if the mark is.
        if self.mark.is_none() || !self.read_rows(conn)? {
            self.restart(conn)?;
        }
        Ok(())
    }
}
