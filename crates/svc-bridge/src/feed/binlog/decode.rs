//! Reads the events of the log: which names each transaction changes, and where it ends.
//!
//! Events of MariaDB and MySQL, compressed ones as well. An event that may be a change and is not understood changes everything.

use std::{collections::HashMap, fmt::Write as _, io::Read as _, sync::Arc};

use super::{
    super::option_values::{OptionValue, OptionValues},
    bytes::Bytes,
    point::Point,
    row::{Column, Form, Operation, Rows, TableMap, Value, integer},
    schema::{ColumnPlace, Schema, Site, Wanted},
    statement::{Effect, effect},
    written::Written,
};
use crate::{
    changes::Changes,
    names::{IDENTITIES, JOB_OPTIONS, JOBS, Name, SESSION_TOKENS, SESSIONS, compared},
    rows::{self, Image},
};

/// Longer values do not become names.
const LONGEST: usize = 255;

/// Bytes that a compressed event may have.
const LARGEST: u64 = 1 << 30;

/// An event: its header without lengths and checksums, and its data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    pub(super) kind: u8,
    pub(super) flags: u16,
    /// When it was written, in seconds since 1970.
    pub(super) time: u32,
    pub(super) server: u32,
    /// The lower 32 bits of the offset of its end in the file; 0 for events that are not in the file.
    pub(super) end: u32,
    pub(super) data: &'a [u8],
}

/// A place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    /// Outside of transactions.
    pub(super) offset: u64,
    /// When and by which server the file was created; `None` if its first event has not been read.
    pub(super) created: Option<(u32, u32)>,
    /// Whether the server has closed the file: after it another one follows.
    pub(super) closed: bool,
}

impl Place {
    pub(super) fn new(file: impl Into<String>, offset: u64) -> Self {
        Place { file: file.into(), offset, created: None, closed: false }
    }
}

/// The meaning of an event for the reader.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A transaction continues, or nothing changes.
    Continue,
    /// No transaction is open at [`Decoder::place`].
    Reached(Reached),
    /// The log continues in another file. If the server did not close the previous one, it crashed: what it had committed last may be lost.
    NextFile { crashed: bool },
    /// Changes were lost.
    Lost(&'static str),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    /// Changes since the previous place.
    pub(super) names: Vec<Name>,
    /// Those that renderings of reads have made, which are told apart on MariaDB.
    pub(super) by_reads: Vec<Name>,
    /// Whether a transaction ends here.
    pub(super) ends_transaction: bool,
    /// Whether it commits a prepared transaction, whose rows become visible later than the log has it.
    pub(super) commits_prepared: bool,
}

/// How the rows of a table are named.
#[derive(Debug)]
enum Target {
    /// A table of another schema.
    Foreign,
    Whole,
    Rows(Layout),
}

/// The columns of a table.
#[derive(Debug)]
struct Layout {
    columns: Vec<Column>,
    /// Those that name rows and groups; `None` for tables of plugins.
    wanted: Option<Wanted>,
    /// Those of which the values matter.
    found: Vec<ColumnPlace>,
    /// The names of all, as of [`Schema::names`].
    names: Option<Vec<Option<Arc<str>>>>,
}

impl Layout {
    /// The columns in which two rows differ. `None` if changes of others may matter as well.
    fn changed(&self, first: &[Value<'_>], second: &[Value<'_>]) -> Option<Arc<[Arc<str>]>> {
        let pairs = first.iter().zip(second).zip(self.names.as_ref()?);
        pairs.filter(|((before, after), _)| before != after).map(|(_, name)| name.clone()).collect()
    }
}

#[derive(Debug)]
struct Mapped {
    /// Full name.
    table: String,
    target: Target,
}

/// Reads `information_schema`.
pub(super) type LoadSchema = Box<dyn FnMut() -> mysql::Result<Schema> + Send>;

pub(super) struct Decoder {
    pub(super) place: Place,
    site: Site,
    load: LoadSchema,
    /// `None` if it has to be read again.
    schema: Option<Schema>,
    /// Tables whose columns were not as expected, after the last attempt to read them again.
    unexpected: HashMap<String, Vec<Column>>,
    mapped: HashMap<u64, Mapped>,
    written: Written,
    by_reads: ByReads,
    /// Whether the transaction is of a rendering of a read.
    is_by_read: bool,
    changes: Changes,
    in_transaction: bool,
    /// The offset of the end of the last event.
    end: u64,
}

/// Kinds of events.
pub(super) mod kind {
    pub(super) const QUERY: u8 = 2;
    pub(super) const STOP: u8 = 3;
    pub(in super::super) const ROTATE: u8 = 4;
    pub(super) const INTVAR: u8 = 5;
    pub(super) const RAND: u8 = 13;
    pub(super) const USER_VAR: u8 = 14;
    pub(in super::super) const FORMAT: u8 = 15;
    pub(super) const XID: u8 = 16;
    pub(super) const TABLE_MAP: u8 = 19;
    pub(super) const INCIDENT: u8 = 26;
    pub(in super::super) const HEARTBEAT: u8 = 27;
    pub(super) const IGNORABLE: u8 = 28;
    pub(super) const ROWS_QUERY: u8 = 29;
    pub(super) const GTID: u8 = 33;
    pub(super) const VIEW_CHANGE: u8 = 37;
    pub(super) const XA_PREPARE: u8 = 38;
    pub(super) const PARTIAL_UPDATE_ROWS: u8 = 39;
    pub(super) const GTID_TAGGED: u8 = 42;
    pub(super) const ANNOTATE_ROWS: u8 = 160;
    pub(super) const BINLOG_CHECKPOINT: u8 = 161;
    pub(super) const MARIADB_GTID: u8 = 162;
    pub(super) const GTID_LIST: u8 = 163;
    pub(super) const START_ENCRYPTION: u8 = 164;
    pub(super) const QUERY_COMPRESSED: u8 = 165;
}

/// The operation, the version and whether it is compressed, of an event with rows.
fn rows_event(kind: u8) -> Option<(Operation, u8, bool)> {
    let (first, version, compressed) = match kind {
        23..=25 => (23, 1, false),
        30..=32 => (30, 2, false),
        166..=168 => (166, 1, true),
        169..=171 => (169, 2, true),
        _ => return None,
    };
    let operation = [Operation::Insert, Operation::Update, Operation::Delete][usize::from(kind - first)];
    Some((operation, version, compressed))
}

impl Decoder {
    /// `changes` has the columns whose values matter, and the renderings in progress.
    pub(super) fn new(place: Place, site: Site, changes: Changes, load: LoadSchema) -> Self {
        Decoder {
            end: place.offset,
            place,
            site,
            load,
            schema: None,
            unexpected: HashMap::new(),
            mapped: HashMap::new(),
            written: Written::default(),
            by_reads: ByReads::default(),
            is_by_read: false,
            changes,
            in_transaction: false,
        }
    }

    /// Reads an event.
    ///
    /// # Errors
    /// If the columns of tables cannot be read from the server. The reader then begins again at the last place reached.
    pub(super) fn read(&mut self, event: &Event<'_>) -> mysql::Result<Step> {
        const ARTIFICIAL: u16 = 0x20;
        const IGNORABLE: u16 = 0x80;
        const MARIADB_STANDALONE: u8 = 1;
        /// Missing in transactions of sessions with `skip_parallel_replication`, which the connector sets for renderings of reads.
        const MARIADB_PARALLEL: u8 = 8;
        let mut ends_transaction = false;
        let mut commits_prepared = false;
        match event.kind {
            kind::ROTATE if event.end == 0 || event.flags & ARTIFICIAL != 0 => return Ok(self.next_file(event)),
            kind::ROTATE | kind::STOP => self.place.closed = true,
            kind::FORMAT => {
                let created = (event.time, event.server);
                if *self.place.created.get_or_insert(created) != created {
                    return Ok(Step::Lost("the server has another log with files of the same names"));
                }
                if event.end == 0 {
                    return Ok(Step::Continue);
                }
                self.in_transaction = false;
            }
            kind::HEARTBEAT => {
                if self.in_transaction || event.data != self.place.file.as_bytes() || event.end == 0 {
                    return Ok(Step::Continue);
                }
            }
            kind::MARIADB_GTID => {
                let flags = event.data.get(12);
                self.in_transaction = flags.is_none_or(|flags| flags & MARIADB_STANDALONE == 0);
                self.is_by_read = self.site.marks_reads
                    && flags.is_some_and(|flags| flags & (MARIADB_STANDALONE | MARIADB_PARALLEL) == 0)
                    && self.changes.is_rendering();
            }
            kind::XID | kind::XA_PREPARE => ends_transaction = true,
            kind::QUERY | kind::QUERY_COMPRESSED => match self.query(event) {
                Effect::Begin => self.in_transaction = true,
                Effect::End => ends_transaction = true,
                Effect::CommitPrepared => {
                    self.written.all();
                    (ends_transaction, commits_prepared) = (true, true);
                }
                _ => ends_transaction = !self.in_transaction,
            },
            kind::TABLE_MAP => self.map(event.data)?,
            kind::PARTIAL_UPDATE_ROWS => {
                let id = Bytes(event.data).number(6);
                self.whole(id);
            }
            kind::INCIDENT => return Ok(Step::Lost("the server reported that its log is incomplete")),
            kind::INTVAR
            | kind::RAND
            | kind::USER_VAR
            | kind::IGNORABLE
            | kind::ROWS_QUERY
            | kind::GTID..=kind::VIEW_CHANGE
            | kind::GTID_TAGGED
            | kind::ANNOTATE_ROWS
            | kind::BINLOG_CHECKPOINT
            | kind::GTID_LIST
            | kind::START_ENCRYPTION => {}
            other => match rows_event(other) {
                Some((operation, version, compressed)) => {
                    self.rows(event.data, event.time, operation, version, compressed)
                }
                None if event.flags & IGNORABLE != 0 => {}
                None => self.written.all(),
            },
        }
        if ends_transaction {
            self.in_transaction = false;
        }
        if event.end != 0 {
            self.end = continued(self.end, event.end);
        }
        if self.in_transaction || event.end == 0 {
            return Ok(Step::Continue);
        }
        self.place.offset = self.end;
        self.mapped.clear();
        self.is_by_read = false;
        let (names, by_reads) = (self.written.take(), self.by_reads.written.take());
        Ok(Step::Reached(Reached { names, by_reads, ends_transaction, commits_prepared }))
    }

    /// The event before the first of each file that the server sends.
    fn next_file(&mut self, event: &Event<'_>) -> Step {
        let Some((_, name)) = event.data.split_at_checked(8) else { return Step::Lost("an event names no file") };
        let name = String::from_utf8_lossy(name);
        if name == self.place.file {
            return Step::Continue;
        }
        let crashed = !self.place.closed;
        self.place = Place::new(name, 4);
        self.end = 4;
        self.in_transaction = false;
        Step::NextFile { crashed }
    }

    fn query(&mut self, event: &Event<'_>) -> Effect {
        let Some((schema, sql)) = query(event) else {
            self.written.all();
            return Effect::Unknown;
        };
        let schema = String::from_utf8_lossy(schema);
        let text = String::from_utf8_lossy(&sql);
        let mut effect = effect(&text);
        if matches!(text, std::borrow::Cow::Owned(_)) && matches!(effect, Effect::Tables(_) | Effect::Schema(_)) {
            effect = Effect::Unknown;
        }
        match &effect {
            Effect::Tables(tables) => {
                for (nth, name) in tables.iter().enumerate() {
                    if !self.site.owns(name.schema.as_deref().unwrap_or(&schema)) {
                        continue;
                    }
                    self.schema = None;
                    let table = if self.site.ignores_case { name.table.to_lowercase() } else { name.table.clone() };
                    let short = self.site.short(&table);
                    // A column may have the name of one of WordPress's tables without the prefix.
                    let is_own = self.site.identity(&table).is_some();
                    if nth == 0 || is_own || IDENTITIES.iter().all(|identity| identity.table != short) {
                        self.written.table(short);
                    }
                }
            }
            Effect::Schema(name) if !self.site.owns(name) => {}
            Effect::Schema(_) | Effect::Unknown => {
                self.schema = None;
                self.written.all();
            }
            Effect::Begin | Effect::End | Effect::CommitPrepared | Effect::None => {}
        }
        effect
    }

    fn map(&mut self, data: &[u8]) -> mysql::Result<()> {
        let Some(map) = TableMap::read(data) else {
            self.written.all();
            return Ok(());
        };
        // Foreign keys of any table count.
        if self.schema.is_none() {
            self.schema = Some((self.load)()?);
            self.unexpected.clear();
        }
        let (schema, table) = (String::from_utf8_lossy(map.schema), String::from_utf8_lossy(map.table));
        let (table, target) = match self.site.owns(&schema) {
            true => (table.to_string(), self.target(&table, &map)?),
            false => (format!("{schema}.{table}"), Target::Foreign),
        };
        self.mapped.insert(map.id, Mapped { table, target });
        Ok(())
    }

    fn target(&mut self, table: &str, map: &TableMap<'_>) -> mysql::Result<Target> {
        let Some(columns) = map.columns() else { return Ok(Target::Whole) };
        let Some(identity) = self.site.identity(table) else {
            let found = self.found(table, self.site.short(table), &columns);
            let names = self.names(table, &columns);
            return Ok(match found.is_empty() && names.is_none() {
                true => Target::Whole,
                false => Target::Rows(Layout { columns, wanted: None, found, names }),
            });
        };
        let mut wanted = self.schema.as_ref().and_then(|schema| schema.wanted(table, identity, &columns));
        if wanted.is_none() && self.unexpected.get(table) != Some(&columns) {
            let schema = self.schema.insert((self.load)()?);
            wanted = schema.wanted(table, identity, &columns);
            if wanted.is_none() {
                self.unexpected.insert(table.to_owned(), columns.clone());
            }
        }
        if wanted.is_none() {
            return Ok(Target::Whole);
        }
        let found = self.found(table, identity.table, &columns);
        let names = self.names(table, &columns);
        Ok(Target::Rows(Layout { columns, wanted, found, names }))
    }

    /// The columns of a table of which the values matter and are known. `short` is its name without the prefix.
    fn found(&self, table: &str, short: &str, columns: &[Column]) -> Vec<ColumnPlace> {
        let found = |schema: &Schema| schema.found(table, self.changes.columns(&short.to_lowercase()), columns);
        self.known_schema().map(found).unwrap_or_default()
    }

    /// The names of all columns of a table.
    fn names(&self, table: &str, columns: &[Column]) -> Option<Vec<Option<Arc<str>>>> {
        self.known_schema()?.names(table, columns)
    }

    /// The schema, unless it is newer than the event.
    fn known_schema(&self) -> Option<&Schema> {
        let here = Point::new(&self.place.file, self.end).ok();
        self.schema.as_ref().filter(|schema| here >= schema.since)
    }

    fn rows(&mut self, data: &[u8], time: u32, operation: Operation, version: u8, compressed: bool) {
        /// Ends a statement that has changed no rows.
        const NO_TABLE: u64 = 0xFF_FFFF;
        let is_by_read = self.is_by_read;
        let written = if is_by_read { &mut self.by_reads.written } else { &mut self.written };
        let Some(rows) = Rows::read(data, operation, version) else { return written.all() };
        if rows.table == NO_TABLE && rows.ends_statement {
            return;
        }
        let Some(Mapped { table, target }) = self.mapped.get(&rows.table) else { return written.all() };
        if operation != Operation::Insert
            && let Some(schema) = &self.schema
        {
            for table in schema.dependents(table) {
                written.table(self.site.short(table));
            }
        }
        let short = self.site.short(table);
        let layout = match target {
            Target::Foreign => return,
            _ if written.has_whole(short) => return,
            Target::Whole => return written.table(short),
            Target::Rows(layout) => layout,
        };
        let plain;
        let data = match compressed.then(|| decompress(rows.data)) {
            None => Some(rows.data),
            Some(None) => None,
            Some(Some(data)) => {
                plain = data;
                Some(&*plain)
            }
        };
        let (others, by_reads) = (&mut self.written, &mut self.by_reads);
        let added = data.and_then(|data| {
            rows.each(data, &layout.columns, |first, second| {
                let is_alike = by_reads.are_alike(layout, first, second, time, is_by_read);
                let written = if is_by_read || is_alike { &mut by_reads.written } else { &mut *others };
                add_row(written, short, &rows, layout, first, second)
            })
        });
        if added.is_none() {
            others.table(short);
        }
    }

    /// All rows of a mapped table.
    fn whole(&mut self, id: Option<u64>) {
        // The text of the statement does not matter here.
        match id.and_then(|id| self.mapped.get(&id)) {
            Some(Mapped { target: Target::Foreign, .. }) => {}
            Some(Mapped { table, .. }) => self.written.table(self.site.short(table)),
            None => self.written.all(),
        }
    }
}

/// What renderings of reads write.
#[derive(Debug, Default)]
struct ByReads {
    written: Written,
    options: OptionValues,
}

impl ByReads {
    /// Whether a row is that of an option that is changed as renderings change it.
    fn are_alike(
        &mut self,
        layout: &Layout,
        first: &[Value<'_>],
        second: Option<&[Value<'_>]>,
        now: u32,
        is_by_read: bool,
    ) -> bool {
        let (Some(second), Some(at)) = (second, layout.wanted.as_ref().and_then(|wanted| wanted.value)) else {
            return false;
        };
        let Some(after) = option(layout, second) else { return false };
        let is_value = (0..first.len()).all(|column| column == at || first[column] == second[column]);
        let before = if is_value { option(layout, first) } else { None };
        let before = before.map(|(_, value)| OptionValue::read(value));
        self.options.add(after.0, before.as_ref(), OptionValue::read(after.1), now.into(), is_by_read)
    }
}

/// The name and the value of an option.
fn option<'a>(layout: &Layout, row: &[Value<'a>]) -> Option<(&'a [u8], &'a [u8])> {
    let wanted = layout.wanted.as_ref()?;
    let (Value::Bytes(name), Value::Bytes(value)) = (row[wanted.row.0], row[wanted.value?]) else { return None };
    Some((name, value))
}

/// Adds the names of a row. `None` if it is not as expected; then the whole table has to be added.
fn add_row(
    written: &mut Written,
    short: &str,
    rows: &Rows<'_>,
    layout: &Layout,
    first: &[Value<'_>],
    second: Option<&[Value<'_>]>,
) -> Option<()> {
    let mut text = String::new();
    let mut taxonomy: Option<String> = None;
    let changed = second.and_then(|second| layout.changed(first, second));
    for values in [Some(first), second].into_iter().flatten() {
        let image = image(values, &layout.found);
        let image = changed.clone().into_iter().fold(image, Image::with_changed);
        let Some(wanted) = &layout.wanted else {
            written.image(short, image);
            continue;
        };
        let table = wanted.identity.table;
        // A row of a term's relationships that had no term may have one now.
        if matches!(table, "terms" | "term_taxonomy") && rows.is_insert() {
            return None;
        }
        let key = wanted.key.map(|(at, _)| values[at]);
        if key == Some(Value::Absent) {
            return None;
        }
        let name = if key == Some(Value::Bytes(SESSION_TOKENS.as_bytes())) { SESSIONS } else { table };
        written.image(name, image);
        set_text(&mut text, values[wanted.row.0], wanted.row.1)?;
        written.row(name, &text);
        if table == "options" && JOBS.contains(&&*text) {
            written.group(table, JOB_OPTIONS);
        } else if let Some((group, form)) = wanted.group {
            set_text(&mut text, values[group], form)?;
            written.group(table, &text);
            // A term that changes its taxonomy may become one of an object.
            if table == "term_taxonomy" && taxonomy.get_or_insert_with(|| text.clone()) != &text {
                return None;
            }
        }
        if let Some((parent, form)) = wanted.parent.filter(|_| text.eq_ignore_ascii_case(REVISION)) {
            set_text(&mut text, values[parent], form)?;
            written.group(table, &format!("{REVISION}/{text}"));
        }
    }
    Some(())
}

/// The values of a row that matter. Those that are not known are left out.
fn image(values: &[Value<'_>], found: &[ColumnPlace]) -> Image {
    let value = |column: &ColumnPlace| match (values[column.at], column.form) {
        (Value::Absent, _) => None,
        (Value::Null, _) => Some(rows::Value::Null),
        (Value::Bytes(bytes), form @ (Form::Signed | Form::Unsigned)) => {
            Some(rows::Value::Number(integer(bytes, form)))
        }
        (Value::Bytes(bytes), _) if bytes.len() > LONGEST => None,
        (Value::Bytes(bytes), _) => compared(std::str::from_utf8(bytes).ok()?).map(rows::Value::Text),
    };
    Image::new(found.iter().filter_map(|column| Some((Arc::clone(&column.name), value(column)?))))
}

/// The type of revisions, which are also grouped by the post that they belong to: `posts?revision/5`.
const REVISION: &str = "revision";

/// Writes a value as it is in names.
fn set_text(text: &mut String, value: Value<'_>, form: Form) -> Option<()> {
    let Value::Bytes(bytes) = value else { return None };
    text.clear();
    match form {
        Form::Signed | Form::Unsigned => write!(text, "{}", integer(bytes, form)).ok()?,
        Form::Text | Form::Ascii => {
            if bytes.len() > LONGEST || (form == Form::Ascii && !bytes.is_ascii()) {
                return None;
            }
            text.push_str(std::str::from_utf8(bytes).ok()?);
        }
    }
    Some(())
}

/// The default schema and the statement of a query event.
fn query<'a>(event: &Event<'a>) -> Option<(&'a [u8], std::borrow::Cow<'a, [u8]>)> {
    let mut bytes = Bytes(event.data);
    bytes.take(8)?;
    let schema = usize::from(bytes.u8()?);
    bytes.u16()?;
    let variables = usize::from(bytes.u16()?);
    bytes.take(variables)?;
    let schema = bytes.take(schema)?;
    bytes.take(1)?;
    let sql = if event.kind == kind::QUERY_COMPRESSED { decompress(bytes.0)?.into() } else { bytes.0.into() };
    Some((schema, sql))
}

/// Decompresses data of MariaDB's compressed events: a byte with the format and the length of the length, the length, and zlib's data.
fn decompress(data: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Bytes(data);
    let format = bytes.u8()?;
    if format & 0xF0 != 0x80 {
        return None;
    }
    let length = bytes.take(usize::from(format & 7))?.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
    if length > LARGEST {
        return None;
    }
    let mut plain = Vec::new();
    flate2::read::ZlibDecoder::new(bytes.0).take(length + 1).read_to_end(&mut plain).ok()?;
    (plain.len() as u64 == length).then_some(plain)
}

/// The offset at or after `offset` whose lower 32 bits are `end`: files with a large transaction may have more than 4 GiB.
fn continued(offset: u64, end: u32) -> u64 {
    let next = offset & !0xFFFF_FFFF | u64::from(end);
    if next + (1 << 31) < offset { next + (1 << 32) } else { next.max(offset) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_continue_beyond_4_gib() {
        assert_eq!(continued(10, 20), 20);
        assert_eq!(continued(0xFFFF_FFF0, 5), 0x1_0000_0005);
        assert_eq!(continued(0x1_0000_0005, 5), 0x1_0000_0005);
        assert_eq!(continued(0x1_0000_0005, 4), 0x1_0000_0005);
    }

    #[test]
    fn events_that_are_not_understood_change_everything() {
        let site = Site { schema: "wp".to_owned(), prefix: "wp_".to_owned(), ignores_case: false, marks_reads: false };
        let decoder = || {
            Decoder::new(
                Place::new("bin.000001", 4),
                site.clone(),
                Changes::default(),
                Box::new(|| Ok(Schema::default())),
            )
        };
        let event = |kind, flags, data: &'static [u8]| Event { kind, flags, time: 1, server: 1, end: 100, data };
        let names = |event| match decoder().read(&event).unwrap() {
            Step::Reached(reached) => reached.names,
            step => panic!("{step:?}"),
        };
        for kind in [2, 6, 18, 19, 20, 23, 30, 40, 99, 165, 169, 200] {
            assert_eq!(names(event(kind, 0, b"\x01\x02\x03")), [Name::All], "{kind}");
        }
        assert_eq!(names(event(200, 0x80, b"")), []);
        assert!(matches!(decoder().read(&event(kind::INCIDENT, 0, b"")).unwrap(), Step::Lost(_)));
    }

    /// A table map of `wp.wp_terms` with `term_id bigint` and `name varchar(200)`, and an event with two rows.
    const MAP: &[u8] = b"\x09\0\0\0\0\0\0\0\x02wp\0\x08wp_terms\0\x02\x08\x0F\x02\xC8\0\x02";
    const ROWS: &[u8] = b"\x09\0\0\0\0\0\x01\0\x02\x03\0\x05\0\0\0\0\0\0\0\x01a\0\x06\0\0\0\0\0\0\0\x01b";

    fn terms() -> Decoder {
        let site = Site { schema: "wp".to_owned(), prefix: "wp_".to_owned(), ignores_case: false, marks_reads: false };
        let load = || Ok(Schema::with("wp_terms", &[("term_id", Form::Unsigned), ("name", Form::Text)]));
        Decoder::new(Place::new("bin.000001", 4), site, Changes::with_images(), Box::new(load))
    }

    #[test]
    fn damaged_events_change_at_least_the_table() {
        fn event(kind: u8, data: &[u8]) -> Event<'_> {
            Event { kind, flags: 0, time: 1, server: 1, end: 0, data }
        }
        let names = |map: &[u8], rows: &[u8]| {
            let mut decoder = terms();
            decoder.read(&event(kind::TABLE_MAP, map)).unwrap();
            // Rows that were deleted.
            decoder.read(&event(25, rows)).unwrap();
            let mut names = decoder.written.take();
            names.retain(|name| !matches!(name, Name::Image(..)));
            names.sort();
            names
        };
        let rows = [Name::row("terms", 5), Name::row("terms", 6)];
        assert_eq!(names(MAP, ROWS), rows);
        for length in 0..ROWS.len() {
            let found = names(MAP, &ROWS[..length]);
            // The event ends after the first row, or before all.
            let whole = |name: &Name| matches!(name, Name::All | Name::Table(_));
            assert!(found.iter().any(whole) || matches!(length, 10 | 21), "{length} {found:?}");
        }
        for length in 0..MAP.len() - 1 {
            let found = names(&MAP[..length], ROWS);
            assert!(found == [Name::All] || found == [Name::table("terms")], "{length} {found:?}");
        }
    }

    #[test]
    fn no_event_stops_the_reader() {
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let mut decoder = terms();
        for round in 0..30_000 {
            let kind = if round % 2 == 0 { 19 + (random() % 14) as u8 } else { (random() % 256) as u8 };
            let mut data = if kind == kind::TABLE_MAP { MAP.to_vec() } else { ROWS.to_vec() };
            for _ in 0..random() % 4 {
                let at = random() % data.len();
                data[at] = random() as u8;
            }
            data.truncate(random() % (2 * data.len()));
            let (flags, end) = ((random() % 2) as u16 * 0x20, (random() % 1_000) as u32);
            decoder.read(&Event { kind, flags, time: 1, server: 1, end, data: &data }).unwrap();
        }
    }

    #[test]
    fn a_file_that_was_not_closed_is_followed_after_a_crash() {
        let site = Site { schema: "wp".to_owned(), prefix: String::new(), ignores_case: false, marks_reads: false };
        let mut decoder =
            Decoder::new(Place::new("bin.000001", 4), site, Changes::default(), Box::new(|| Ok(Schema::default())));
        let mut read = |kind, end, time, data: &'static [u8]| {
            decoder.read(&Event { kind, flags: 0, time, server: 1, end, data }).unwrap()
        };
        assert_eq!(read(kind::ROTATE, 0, 0, b"12345678bin.000001"), Step::Continue);
        assert_eq!(read(kind::FORMAT, 0, 5, b""), Step::Continue);
        assert_eq!(read(kind::ROTATE, 0, 0, b"12345678bin.000002"), Step::NextFile { crashed: true });
        assert!(matches!(read(kind::FORMAT, 200, 6, b""), Step::Reached(_)));
        assert!(matches!(read(kind::STOP, 220, 6, b""), Step::Reached(_)));
        assert_eq!(read(kind::ROTATE, 0, 0, b"12345678bin.000003"), Step::NextFile { crashed: false });
        assert!(matches!(read(kind::FORMAT, 200, 7, b""), Step::Reached(_)));
        assert!(matches!(read(kind::FORMAT, 0, 8, b""), Step::Lost(_)));
    }
}
