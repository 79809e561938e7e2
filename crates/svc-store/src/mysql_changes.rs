//! Whether anything has been written on a MySQL-protocol server since a moment ago, whoever wrote: what lets answers be
//! kept beside other programs, in a database where nothing may be altered.
//!
//! InnoDB of MariaDB numbers its transactions: each takes a number when it first writes, and another when it commits
//! (XA and changes of tables too; reading takes none). The highest number so far is told to every account, and costs no
//! look at any table. As long as it stays the same, nothing was committed on the whole server, so one number stands for
//! all families of tables.
//!
//! *The number of a commit comes a moment before its rows are seen by others.* Who looks in between finds the new number
//! and the old rows. So a number counts only from [`SETTLE`] after it was first seen; what happens in between is work in
//! memory, of microseconds. Until then, and so on a server that is written to all the time, nothing is kept.
//!
//! *After a restart the numbers can begin again lower*, so the moment of the server's start goes with them, and its name:
//! a proxy may lead to several servers, each with numbers of its own. A restart ends the connections, so the start is read
//! once for each; and again a second later, since a proxy's connections may outlive its servers.
//!
//! *Other engines do not number*, so all tables must be InnoDB's, which is asked once for each state.
//!
//! Not used, since they do not tell everything: the times of change in `information_schema.tables` are those when the
//! transaction *began* (MariaDB), so that a long one can commit unseen; the position in the log (MySQL) is told late.
//! A server that does not tell its number (MySQL, TiDB, Vitess) is asked anew each time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::db::Db;
use crate::error::Result;
use crate::schema::{EPOCHS, TABLES};

/// How long a number must have been the highest before anything is kept under it. Tests need not wait that long.
pub(crate) const SETTLE: Duration = if cfg!(test) { Duration::from_millis(20) } else { Duration::from_secs(1) };

/// How long a server's start is taken to be the same on one connection.
const START_HOLDS: Duration = Duration::from_secs(1);

/// The highest number of a transaction, and the server's name. One variable by its name: a list of them takes the server
/// more than twice as long.
const HIGHEST: &str = "SELECT VARIABLE_VALUE, @@hostname, @@port FROM information_schema.GLOBAL_STATUS \
                       WHERE VARIABLE_NAME = 'INNODB_MAX_TRX_ID'";

/// When the server started, in seconds since the epoch.
const START: &str = "SELECT CAST(UNIX_TIMESTAMP() - VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS \
                     WHERE VARIABLE_NAME = 'UPTIME'";

/// A state of a server: two that are equal hold the same rows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    /// The highest number of a transaction.
    highest: i64,
    /// When the server started, in seconds since the epoch.
    started: i64,
    /// Its name and port.
    server: (String, i64),
}

impl Stamp {
    /// That of the server now; `None` when it does not tell.
    fn read(db: &mut Db) -> Result<Option<Self>> {
        let started = match db.server_start {
            Some((read, started)) if read.elapsed() < START_HOLDS => Some(started),
            _ => {
                let mut started = None;
                db.count(START);
                db.conn.query(START, &[], &mut |row| row.int(0).map(|at| started = Some(at)))?;
                db.server_start = started.map(|at| (Instant::now(), at));
                started
            }
        };
        let Some(started) = started else { return Ok(None) };
        let mut stamp = None;
        db.count(HIGHEST);
        db.conn.query(HIGHEST, &[], &mut |row| {
            stamp = Some(Stamp { highest: row.int(0)?, started, server: (row.text(1)?, row.int(2)?) });
            Ok(())
        })?;
        Ok(stamp)
    }
}

/// The state that was seen last.
struct ChangeCounter {
    stamp: Stamp,
    since: Instant,
    /// Told to the caches; another for each state.
    version: i64,
    /// Whether the server numbers the changes of all tables; unknown until that is asked.
    whole: Option<bool>,
}

/// What is known of the changes on a server.
pub(crate) struct Changes {
    /// Whether the server tells its number.
    told: bool,
    seen: Mutex<Option<ChangeCounter>>,
    /// How old totals may be, as configured.
    staleness: Duration,
    start: Instant,
    /// Writes of this process.
    n_writes: AtomicI64,
}

impl Changes {
    /// Asks once whether this server tells its number.
    pub(crate) fn of(db: &mut Db, staleness: Duration) -> Self {
        Changes {
            told: matches!(Stamp::read(db), Ok(Some(_))),
            seen: Mutex::new(None),
            staleness,
            start: Instant::now(),
            n_writes: AtomicI64::new(0),
        }
    }

    /// Notes a write of this process.
    pub(crate) fn wrote(&self) {
        self.n_writes.fetch_add(1, Ordering::Release);
    }

    /// What stands for the counts of changes in a transaction that was begun after `begun`.
    ///
    /// # Errors
    /// Those of the database.
    pub(crate) fn epochs(&self, db: &mut Db, begun: Instant) -> Result<Option<Arc<HashMap<String, i64>>>> {
        let version = self.version(db, begun)?;
        // Options and users decide what is permitted: how old they may be is no setting.
        let of = |family: &str| match family {
            "options" | "users" => version,
            _ => self.step().or(version),
        };
        let counts: HashMap<_, _> = EPOCHS.iter().filter_map(|f| Some(((*f).to_owned(), of(f)?))).collect();
        Ok((!counts.is_empty()).then(|| Arc::new(counts)))
    }

    /// The time in steps of the staleness and the writes of this process, when totals may be old.
    fn step(&self) -> Option<i64> {
        let step = Some(self.staleness.as_millis()).filter(|step| *step > 0)?;
        let time = i64::try_from(self.start.elapsed().as_millis() / step).unwrap_or(i64::MAX);
        Some(time.wrapping_mul(1_000_003).wrapping_add(self.n_writes.load(Ordering::Acquire)))
    }

    /// A number for the state that a transaction sees which was begun after `begun`; another for each state. `None` when
    /// nothing may be kept.
    ///
    /// # Errors
    /// Those of the database.
    pub(crate) fn version(&self, db: &mut Db, begun: Instant) -> Result<Option<i64>> {
        if !self.told {
            return Ok(None);
        }
        let Some(stamp) = Stamp::read(db)? else { return Ok(None) };
        let Some((version, whole)) = self.settled(stamp, begun) else { return Ok(None) };
        let whole = match whole {
            Some(whole) => whole,
            None => {
                let whole = all_numbered(db)?;
                if let Some(seen) = self.lock().as_mut().filter(|seen| seen.version == version) {
                    seen.whole = Some(whole);
                }
                whole
            }
        };
        Ok(whole.then_some(version))
    }

    /// Notes a state; its number, and whether all tables count, when it was there for long enough before `begun`.
    fn settled(&self, stamp: Stamp, begun: Instant) -> Option<(i64, Option<bool>)> {
        let now = Instant::now();
        let mut seen = self.lock();
        match &*seen {
            Some(seen) if seen.stamp == stamp => {
                (begun.saturating_duration_since(seen.since) >= SETTLE).then_some((seen.version, seen.whole))
            }
            last => {
                // A state that comes again (seen by two transactions in turn) is taken for a new one.
                let version = last.as_ref().map_or(0, |last| last.version) + 1;
                *seen = Some(ChangeCounter { stamp, since: now, version, whole: None });
                None
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<ChangeCounter>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether all tables of the site are there and of the engine that numbers its transactions.
fn all_numbered(db: &mut Db) -> Result<bool> {
    let names: Vec<sea_query::Value> = TABLES.iter().map(|t| format!("{}{}", db.prefix, t.name).into()).collect();
    let sql = format!(
        "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ({}) \
         AND ENGINE = 'InnoDB'",
        vec!["?"; names.len()].join(", ")
    );
    let mut n = 0;
    db.count(&sql);
    db.conn.query(&sql, &names, &mut |row| row.int(0).map(|found| n = found))?;
    Ok(usize::try_from(n).is_ok_and(|n| n == names.len()))
}
