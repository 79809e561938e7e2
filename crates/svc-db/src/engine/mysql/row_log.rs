//! The changed rows of a table on a MariaDB server. Nothing is added to the database: own writes are recorded, and those of
//! other programs are found by comparing hashes of all rows, when the server shows that the table has been changed ([`super::ledger`]).

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use sea_query::{Expr, ExprTrait as _, Order, Query};

use super::changes::{AloneWrite, ServerState};
use super::folding::{Collation, Folding};
use super::ledger::{Ledger, Observation, TableState};
use crate::change_record::{ChangeRecord, Subscriber};
use crate::error::{Result, StoreError};
use crate::handle::{Db, Tx};
use crate::row_log::{IndexedRows, LogEntry, LogState, Logged, RowLog, parse_digest};
use crate::schema::LoggedTable;
use crate::tuning::Tuning;

/// The state of the logged table, and the age of its last change in seconds.
const TABLE_SQL: &str = "SELECT @@hostname, @@port, CREATE_TIME, UPDATE_TIME, TIMESTAMPDIFF(SECOND, UPDATE_TIME, NOW()) \
                         FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND ENGINE = 'InnoDB'";

/// The changed rows of a database.
pub(crate) struct MySqlRowLog {
    logged: &'static LoggedTable,
    /// Number of rows that are hashed with one statement.
    chunk: u64,
    /// Whether connections use Unicode, so that texts have the characters that the server compares.
    is_unicode: bool,
    ledger: Mutex<Ledger>,
    folding: RwLock<Option<Arc<Folding>>>,
    nonces: RandomState,
}

impl MySqlRowLog {
    pub(super) fn new(logged: &'static LoggedTable, is_unicode: bool, tuning: Tuning) -> Self {
        let (ledger, folding, nonces) = (Mutex::new(Ledger::new(tuning)), RwLock::default(), RandomState::new());
        MySqlRowLog { logged, chunk: tuning.compared_rows, is_unicode, ledger, folding, nonces }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn nonce(&self) -> i64 {
        self.nonces.hash_one(std::time::Instant::now()).cast_signed()
    }

    fn current_folding(&self) -> Option<Arc<Folding>> {
        self.folding.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The entry that a snapshot corresponds to.
    fn position(&self, db: &mut Db) -> Result<Option<i64>> {
        // A transaction sees its own changes.
        let Some(begun) = db.begun else { return Ok(None) };
        let Some(table) = table_state(db, self.logged)? else { return Ok(None) };
        let table = table.map(|(table, _)| table);
        if let Some(seq) = self.ledger().position(table.as_ref(), None, begun) {
            return Ok(Some(seq));
        }
        let server = ServerState::read(db)?;
        Ok(self.ledger().position(None, server.as_ref(), begun))
    }
}

impl Subscriber for MySqlRowLog {
    /// Records a transaction that was the only one between two states of the server.
    fn committed(&self, changes: &ChangeRecord) {
        if let Some(AloneWrite(Some((before, after)))) = changes.facts()
            && let Some(ids) = changes.ids(self.logged.rows)
        {
            self.ledger().record_own(before, after.clone(), &ids, || self.nonce());
        }
    }
}

/// Reads the state of the logged table. `None` if it does not use InnoDB, whose transactions are numbered; within, `None` if it
/// has not been changed since the server has opened it.
fn table_state(db: &mut Db, logged: &LoggedTable) -> Result<Option<Option<(TableState, i64)>>> {
    let table = format!("{}{}", db.prefix(), logged.table);
    let mut found = None;
    let _timer = db.count(TABLE_SQL);
    db.conn.query(TABLE_SQL, &[table.into()], &mut |row| {
        let (server, created, updated) = ((row.text(0)?, row.int(1)?), row.text(2)?, row.text(3)?);
        found = Some((!updated.is_empty()).then_some((TableState { server, created, updated }, row.int(4)?)));
        Ok(())
    })?;
    Ok(found)
}

fn observation(db: &mut Db, logged: &LoggedTable) -> Result<Observation> {
    let unknown =
        || StoreError::Other("the server does not number the transactions of the logged table any more".to_owned());
    let before = ServerState::read(db)?.ok_or_else(unknown)?;
    let table = table_state(db, logged)?.ok_or_else(unknown)?;
    let after = ServerState::read(db)?.ok_or_else(unknown)?;
    Ok(Observation { before, table, after })
}

impl RowLog for MySqlRowLog {
    fn open(&self, db: &mut Db, proceed: &dyn Fn() -> Result<()>) -> Result<bool> {
        if !self.is_unicode || ServerState::read(db)?.is_none() || table_state(db, self.logged)?.is_none() {
            return Ok(false);
        }
        let Some(collation) = Collation::of_texts(db, self.logged)? else { return Ok(false) };
        // Servers in FIPS mode have no MD5.
        db.conn
            .query("SELECT CONV(LEFT(MD5(''), 16), 16, 10)", &[], &mut |row| parse_digest(&row.text(0)?).map(drop))?;
        let folding = Folding::read(db, collation, proceed)?;
        *self.folding.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(folding));
        Ok(true)
    }

    fn folding(&self) -> String {
        self.current_folding().map_or_else(String::new, |folding| folding.name())
    }

    fn fold(&self, text: &str, out: &mut String) {
        match self.current_folding() {
            Some(folding) => folding.fold(text, out),
            None => text.clone_into(out),
        }
    }

    fn digest(&self) -> Option<&'static str> {
        Some(self.logged.digest)
    }

    fn begin(&self, _: &mut Tx) -> Result<LogEntry> {
        let mark = LogEntry { seq: 1, nonce: self.nonce(), id: 0 };
        self.ledger().begin(mark);
        Ok(mark)
    }

    fn resume(&self, mark: LogEntry) {
        self.ledger().begin(mark);
    }

    fn observe(&self, db: &mut Db) -> Result<LogState> {
        let seen = observation(db, self.logged)?;
        Ok(self.ledger().observe(&seen))
    }

    fn compare(&self, db: &mut Db, indexed: IndexedRows, proceed: &dyn Fn() -> Result<()>) -> Result<()> {
        let collation = Collation::of_texts(db, self.logged)?;
        if self.current_folding().map(|folding| folding.collation.clone()) != collation {
            // The index is built again with the new rules.
            self.open(db, proceed)?;
            return Err(StoreError::Schema("the collation of the logged table has changed".to_owned()));
        }
        let mut known = indexed.digests;
        known.sort_unstable();
        let mut known = known.into_iter().peekable();
        let mut uncovered: HashSet<i64> = indexed.uncovered.into_iter().collect();
        let (mut differing, mut after) = (Vec::new(), i64::MIN);
        loop {
            proceed()?;
            let mut s = Query::select();
            let LoggedTable { table, id, digest, except: (column, value), .. } = self.logged;
            s.column(*id).expr(Expr::cust(*digest)).from(db.table(table));
            s.and_where(Expr::col(*id).gt(after)).and_where(Expr::col(*column).ne(*value));
            s.order_by(*id, Order::Asc).limit(self.chunk);
            let mut n = 0;
            db.select(&s, |row| {
                let (id, digest) = (row.int(0)?, parse_digest(&row.text(1)?)?);
                (after, n) = (id, n + 1);
                // Both lists ascend.
                differing.extend(std::iter::from_fn(|| known.next_if(|(known, _)| *known < id)).map(|(gone, _)| gone));
                let indexed = known.next_if(|(known, _)| *known == id).map(|(_, digest)| digest);
                // Each search examines the rows that are not indexed.
                if !uncovered.remove(&id) && indexed != Some(digest) {
                    differing.push(id);
                }
                Ok(())
            })?;
            if n < self.chunk {
                break;
            }
        }
        differing.extend(known.map(|(gone, _)| gone).chain(uncovered));
        let seen = observation(db, self.logged)?;
        self.ledger().compared(&differing, &seen, || self.nonce());
        Ok(())
    }

    fn read(&self, db: &mut Db, from: i64, limit: usize) -> Result<Logged> {
        let Some(to) = self.position(db)? else {
            return Ok(Logged::Unknown);
        };
        Ok(Logged::Changes(self.ledger().between(from, to, limit)))
    }

    fn last(&self, db: &mut Db) -> Result<Option<LogEntry>> {
        let Some(seq) = self.position(db)? else { return Ok(None) };
        Ok(self.ledger().entry(seq))
    }

    fn trim(&self, before: i64) {
        self.ledger().trim(before);
    }
}
