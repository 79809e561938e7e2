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
//! a proxy may lead to several servers, each with numbers of its own. Both are read in the transaction that they are for.
//!
//! *Other engines do not number*, so all tables must be InnoDB's, which is asked once for each state.
//!
//! Not used, since they do not tell everything: the times of change in `information_schema.tables` are those when the
//! transaction *began* (MariaDB), so that a long one can commit unseen; the position in the log (MySQL) is told late.
//! A server that does not tell its number (MySQL, TiDB, Vitess) is asked anew each time.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::db::Db;
use crate::error::Result;
use crate::schema::TABLES;

/// How long a number must have been the highest before anything is kept under it. Tests need not wait that long.
pub(crate) const SETTLE: Duration = if cfg!(test) { Duration::from_millis(20) } else { Duration::from_secs(1) };

/// The highest number of a transaction, when the server started (the difference of the two times), and its name.
const STAMP: &str = "SELECT VARIABLE_VALUE, UNIX_TIMESTAMP(), @@hostname, @@port FROM information_schema.GLOBAL_STATUS \
                     WHERE VARIABLE_NAME IN ('INNODB_MAX_TRX_ID', 'UPTIME') ORDER BY VARIABLE_NAME";

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
        let mut values = Vec::with_capacity(2);
        db.count(STAMP);
        db.conn.query(STAMP, &[], &mut |row| {
            values.push((row.int(0)?, row.int(1)?, row.text(2)?, row.int(3)?));
            Ok(())
        })?;
        Ok(match &values[..] {
            [(highest, ..), (uptime, now, name, port)] => {
                Some(Stamp { highest: *highest, started: now - uptime, server: (name.clone(), *port) })
            }
            _ => None,
        })
    }
}

/// The state that was seen last.
struct Seen {
    stamp: Stamp,
    since: Instant,
    /// Told to the caches; another for each state.
    version: i64,
    /// Whether the server numbers the changes of all tables; unknown until that is asked.
    whole: Option<bool>,
}

/// What is known of the changes on a server; by default nothing.
#[derive(Default)]
pub(crate) struct Changes {
    told: bool,
    seen: Mutex<Option<Seen>>,
}

impl Changes {
    /// Asks once whether this server tells its number.
    pub(crate) fn of(db: &mut Db) -> Self {
        Changes { told: matches!(Stamp::read(db), Ok(Some(_))), seen: Mutex::new(None) }
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
                *seen = Some(Seen { stamp, since: now, version, whole: None });
                None
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Seen>> {
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
