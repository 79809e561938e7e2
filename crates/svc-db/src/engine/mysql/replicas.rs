//! Read replicas of a MariaDB server: which reads a replica answers, and with which stamp.
//!
//! Each look at the primary ([`Changes`](super::changes::Changes)) also reads its position in the replication (GTID), and is kept with
//! its stamp for as long as reads may be stale. A thread per replica reads how far that replica is. A snapshot of a replica that
//! has reached the position of a look contains everything that the look's stamp covers, so what is computed from it is cached with
//! *that* stamp, not with the current one: if something has changed since, the value is invalid at once.
//!
//! - Reads that must be [current](Freshness::Current) use a replica that has reached the position of the latest look, if that look
//!   began after the request came. To their caller the replica is the primary: nothing travels with the caller, and rights that were
//!   revoked do not hold.
//! - Reads that may be [a little old](Freshness::Recent) use the replica that is furthest, if it has reached a look that is recent
//!   enough.
//!
//! All other reads use the primary, and so do those that find the replica busier: with more snapshots than the primary, or with one more and statements that have taken
//! longer of late. So of many reads at once, each of both gets so many that it has the same work, where the primary also has the looks and
//! the writes, and the replica answers nearly all while there are few. A replica is left out as soon as its thread gets no answer, or finds that it can
//! be written.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use svc_versions::{Context, Freshness, VersionStamp};

use super::connection::{BusyTime, COMMIT, MySql, ServerOptions};
use crate::backend::Snapshot;
use crate::conn::Conn;
use crate::error::{Result, StoreError};
use crate::handle::Db;
use crate::row_versions::RowVersions;
use crate::shared::Shared;
use crate::usage::ReplicaUsage;
use crate::version_source::SnapshotVersions;

/// The position of the primary. Without a binary log it is empty.
const PRIMARY_SQL: &str = "SELECT @@global.gtid_binlog_pos";

/// How far a replica is, and whether others than the replication may write to it.
const REPLICA_SQL: &str = "SELECT @@global.gtid_slave_pos, @@global.read_only";

/// How often a replica is asked how far it is.
const INTERVAL: Duration = Duration::from_millis(10);

/// How old the answer of a replica may be. Without a newer one it is left out.
const MAX_AGE: Duration = Duration::from_millis(250);

/// Pause after a replica could not be asked.
const PAUSE: Duration = Duration::from_millis(500);

/// Time limit for connecting to a replica.
const CONNECT: Duration = Duration::from_secs(1);

/// For how long the times that statements have taken are added up before they are compared anew.
const COMPARED: Duration = Duration::from_secs(1);

/// Maximum number of looks that are kept.
const MAX_LOOKS: usize = 4_096;

/// A position in the replication: the last number of each domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Position(HashMap<u32, u64>);

impl Position {
    /// Parses `DOMAIN-SERVER-NUMBER,…`. `None` if it is not one.
    fn parse(text: &str) -> Option<Self> {
        let one = |gtid: &str| {
            let mut parts = gtid.trim().split('-');
            let (domain, _server, number) = (parts.next()?, parts.next()?, parts.next()?);
            Some((domain.parse().ok()?, number.parse().ok()?))
        };
        text.split(',').filter(|gtid| !gtid.trim().is_empty()).map(one).collect::<Option<_>>().map(Position)
    }

    /// Whether everything before the other position is before this one.
    fn has_reached(&self, other: &Position) -> bool {
        other.0.iter().all(|(domain, number)| self.0.get(domain).is_some_and(|own| own >= number))
    }
}

/// A look at the primary.
struct Look {
    /// A time at which the primary had nothing that is not before this position.
    at: Instant,
    position: Position,
    /// The stamp from before the position was read; `None` if nothing may be cached.
    stamp: Option<VersionStamp>,
    versions: Option<Arc<RowVersions>>,
}

/// A replica for a snapshot, with the stamp and the versions of the latest look that it has reached.
struct Chosen {
    replica: Arc<Replica>,
    stamp: Option<VersionStamp>,
    versions: Option<Arc<RowVersions>>,
}

/// The replicas of a database.
pub(crate) struct Replicas {
    replicas: Vec<Arc<Replica>>,
    staleness: Duration,
    /// Oldest first.
    looks: Mutex<VecDeque<Look>>,
    /// The replica from which the next choice begins.
    next: AtomicUsize,
    primary_busy: Arc<BusyTime>,
    compared: Mutex<Compared>,
    prefix: Arc<str>,
    shared: Arc<Shared>,
    max: usize,
    read_limit: Option<Duration>,
}

/// From when on the times of statements are compared, and how long they had taken then, in nanoseconds.
#[derive(Default)]
struct Compared {
    since: Option<Instant>,
    primary: u64,
    /// In the order of the replicas.
    replicas: Vec<u64>,
}

/// A replica.
struct Replica {
    /// Number in the configuration, from 1. Its URL can contain secrets.
    number: usize,
    server: ServerOptions,
    state: Mutex<State>,
    n_reads: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// How far it is, and a time before it was asked. `None` while it is left out.
    reached: Option<(Position, Instant)>,
    /// Why it is left out.
    problem: Option<String>,
    idle: Vec<Db>,
    n_open: usize,
}

impl Replica {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far it is, if it works.
    fn reached(&self) -> Option<Position> {
        self.state().reached.as_ref().filter(|(_, asked)| asked.elapsed() < MAX_AGE).map(|(reached, _)| reached.clone())
    }

    /// Number of connections with an open snapshot.
    fn in_use(&self) -> usize {
        let state = self.state();
        state.n_open.saturating_sub(state.idle.len())
    }

    /// Leaves it out until it answers again.
    fn leave_out(&self, why: &str) {
        let mut state = self.state();
        let was_in = state.reached.take().is_some();
        state.problem = Some(why.to_owned());
        let closed = std::mem::take(&mut state.idle);
        state.n_open -= closed.len();
        drop(state);
        if was_in {
            tracing::warn!(replica = self.number, why, "a replica of the database is left out");
        }
    }

    /// Asks how far it is, until nobody else uses it.
    fn watch(replica: &Weak<Self>) {
        let mut conn = None;
        while let Some(replica) = replica.upgrade() {
            match replica.ask(&mut conn) {
                Ok(()) => {
                    drop(replica);
                    std::thread::sleep(INTERVAL);
                }
                Err(why) => {
                    conn = None;
                    replica.leave_out(&why.to_string());
                    drop(replica);
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    fn ask(&self, conn: &mut Option<MySql>) -> Result<()> {
        let conn = match conn {
            Some(conn) => conn,
            // No time limit for the server, and the shortest one for its answers.
            None => conn.insert(MySql::open(&self.server, Some(Duration::ZERO), CONNECT)?),
        };
        let asked = Instant::now();
        let mut answer = (String::new(), String::new());
        conn.query(REPLICA_SQL, &[], &mut |row| {
            answer = (row.text(0)?, row.text(1)?);
            Ok(())
        })?;
        let refused = |why: &str| Err(StoreError::Config(why.to_owned()));
        if matches!(answer.1.as_str(), "0" | "OFF") {
            return refused("it can be written: set read_only");
        }
        let reached = Position::parse(&answer.0).filter(|position| !position.0.is_empty());
        let Some(reached) = reached else { return refused("it does not replicate with GTIDs") };
        let is_new = self.state().reached.replace((reached, asked)).is_none();
        if is_new {
            tracing::info!(replica = self.number, "reading from a replica of the database");
        }
        Ok(())
    }
}

impl Replicas {
    /// Starts to watch the replicas with these URLs; `None` without any.
    ///
    /// # Errors
    /// If a URL is invalid, or the primary has no binary log.
    pub(super) fn open(
        urls: &[String],
        staleness: Duration,
        primary: &mut Db,
        primary_busy: &Arc<BusyTime>,
        max: usize,
        read_limit: Option<Duration>,
    ) -> Result<Option<Self>> {
        if urls.is_empty() {
            return Ok(None);
        }
        if position(primary)?.is_none() {
            return Err(StoreError::Config(
                "database_replicas requires a MariaDB server with a binary log (log_bin)".to_owned(),
            ));
        }
        let mut replicas = Vec::new();
        for (at, url) in urls.iter().enumerate() {
            let server = ServerOptions::of(url)?;
            let (state, n_reads) = (Mutex::default(), AtomicUsize::new(0));
            let replica = Arc::new(Replica { number: at + 1, server, state, n_reads });
            let watched = Arc::downgrade(&replica);
            let thread = std::thread::Builder::new().name(format!("replica {}", at + 1));
            thread.spawn(move || Replica::watch(&watched)).map_err(|e| StoreError::Other(e.to_string()))?;
            replicas.push(replica);
        }
        let (prefix, shared) = (Arc::clone(&primary.prefix), Arc::clone(&primary.shared));
        let (looks, next) = (Mutex::default(), AtomicUsize::new(0));
        let (primary_busy, compared) = (Arc::clone(primary_busy), Mutex::default());
        Ok(Some(Replicas { replicas, staleness, looks, next, primary_busy, compared, prefix, shared, max, read_limit }))
    }

    /// Keeps a look at the primary, whose stamp was taken before, with the position of the primary.
    pub(super) fn looked(&self, primary: &mut Db, stamp: Option<VersionStamp>, versions: Option<Arc<RowVersions>>) {
        let at = Instant::now();
        let Ok(Some(position)) = position(primary) else { return };
        let mut looks = self.looks();
        while looks.len() >= MAX_LOOKS || looks.front().is_some_and(|look| look.at.elapsed() > self.staleness) {
            looks.pop_front();
        }
        match looks.back_mut() {
            Some(last) if last.position == position => {
                last.at = last.at.max(at);
                if stamp.is_some() {
                    (last.stamp, last.versions) = (stamp, versions);
                }
            }
            // Another thread was faster.
            Some(last) if last.position.has_reached(&position) => last.at = last.at.max(at),
            _ => looks.push_back(Look { at, position, stamp, versions }),
        }
    }

    fn looks(&self) -> MutexGuard<'_, VecDeque<Look>> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A snapshot of a replica for this context; `None` if it must be one of the primary, or if the replica is busier. The context's
    /// stamp becomes that of the snapshot.
    pub(super) fn snapshot(&self, cx: &Context, primary_in_use: usize) -> Option<Box<dyn Snapshot>> {
        let Chosen { replica, stamp, versions } = self.choose(*cx.get::<Freshness>()?)?;
        if self.is_busier(&replica, primary_in_use) {
            return None;
        }
        let mut db = self.begin(&replica)?;
        replica.n_reads.fetch_add(1, Ordering::Relaxed);
        cx.lower_stamp(stamp);
        db.versions = versions.map_or(SnapshotVersions::Unknown, SnapshotVersions::Read);
        Some(Box::new(ReplicaSnapshot { handle: db.handle(), db: Some(db), replica }))
    }

    /// Whether a replica has more to do than the primary.
    fn is_busier(&self, replica: &Replica, primary_in_use: usize) -> bool {
        let in_use = replica.in_use();
        if in_use != primary_in_use + 1 {
            return in_use > primary_in_use;
        }
        let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if compared.since.is_none_or(|since| since.elapsed() > COMPARED) {
            let replicas = self.replicas.iter().map(|replica| replica.server.busy.nanos()).collect();
            *compared = Compared { since: Some(Instant::now()), primary: self.primary_busy.nanos(), replicas };
        }
        let before = compared.replicas.get(replica.number - 1).copied().unwrap_or_default();
        replica.server.busy.nanos() - before > self.primary_busy.nanos() - compared.primary
    }

    /// The replica that is furthest, and the stamp of the latest look that it has reached.
    fn choose(&self, freshness: Freshness) -> Option<Chosen> {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let looks = self.looks();
        let mut best: Option<(usize, Arc<Replica>)> = None;
        for at in 0..self.replicas.len() {
            let replica = self.replicas.get((first.wrapping_add(at)) % self.replicas.len())?;
            let Some(reached) = replica.reached() else { continue };
            let latest = looks.iter().rposition(|look| reached.has_reached(&look.position));
            if let Some(latest) = latest.filter(|latest| best.as_ref().is_none_or(|(best, _)| latest > best)) {
                best = Some((latest, Arc::clone(replica)));
            }
        }
        let (at, replica) = best?;
        let look = looks.get(at)?;
        let is_good = match freshness {
            Freshness::Current(since) => at + 1 == looks.len() && look.at >= since,
            Freshness::Recent => look.at.elapsed() <= self.staleness,
        };
        is_good.then(|| Chosen { replica, stamp: look.stamp, versions: look.versions.clone() })
    }

    /// A connection to a replica with an open snapshot.
    fn begin(&self, replica: &Replica) -> Option<Db> {
        let idle = {
            let mut state = replica.state();
            let idle = state.idle.pop();
            if idle.is_none() {
                if state.n_open >= self.max {
                    return None;
                }
                state.n_open += 1;
            }
            idle
        };
        let conn = match idle {
            Some(db) => Ok(db),
            None => MySql::open(&replica.server, self.read_limit, CONNECT)
                .map(|conn| Db::new(Box::new(conn), Arc::clone(&self.prefix), Arc::clone(&self.shared))),
        };
        let begun = conn.and_then(|db| {
            db.conn.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", &[])?;
            Ok(db)
        });
        begun
            .map_err(|why| {
                replica.state().n_open -= 1;
                replica.leave_out(&why.to_string());
            })
            .ok()
    }

    /// The state of each replica.
    pub(super) fn usage(&self) -> Vec<ReplicaUsage> {
        let looks = self.looks();
        let usage = |replica: &Arc<Replica>| {
            let reached = replica.reached();
            // Positions that it has not reached were the primary's since then.
            let missing = reached.as_ref().and_then(|reached| {
                let at = looks.iter().rposition(|look| reached.has_reached(&look.position));
                looks.get(at.map_or(0, |at| at + 1)).map(|look| look.at.elapsed())
            });
            ReplicaUsage {
                number: replica.number,
                problem: match &reached {
                    Some(_) => None,
                    None => Some(replica.state().problem.clone().unwrap_or_else(|| "it does not answer".to_owned())),
                },
                lag: reached.map(|_| missing.unwrap_or_default()),
                reads: replica.n_reads.load(Ordering::Relaxed) as u64,
            }
        };
        self.replicas.iter().map(usage).collect()
    }
}

/// The position of the primary; `None` if it has no binary log, or is no MariaDB.
fn position(primary: &mut Db) -> Result<Option<Position>> {
    let mut found = None;
    let _timer = primary.count(PRIMARY_SQL);
    let read = primary.conn.query(PRIMARY_SQL, &[], &mut |row| {
        found = Position::parse(&row.text(0)?).filter(|position| !position.0.is_empty());
        Ok(())
    });
    match read {
        Ok(()) => Ok(found),
        Err(error) if error.is_temporary() => Err(error),
        // MySQL does not know the variable.
        Err(_) => Ok(None),
    }
}

/// A snapshot on a replica.
struct ReplicaSnapshot {
    /// A second handle on the connection.
    handle: Db,
    db: Option<Db>,
    replica: Arc<Replica>,
}

impl Snapshot for ReplicaSnapshot {
    fn db(&mut self) -> &mut Db {
        &mut self.handle
    }

    /// The server limits each statement.
    fn renew(&mut self) {}
}

impl Drop for ReplicaSnapshot {
    fn drop(&mut self) {
        let Some(mut db) = self.db.take() else { return };
        let is_ended = db.conn.execute(COMMIT, &[]).is_ok() && !db.conn.broken();
        db.versions = SnapshotVersions::Unknown;
        let mut state = self.replica.state();
        if is_ended && state.reached.is_some() {
            state.idle.push(db);
        } else {
            state.n_open -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Position;

    #[test]
    fn positions_are_compared_by_domain() {
        let reached =
            |own: &str, other: &str| Position::parse(own).unwrap().has_reached(&Position::parse(other).unwrap());
        for (own, other, is_reached) in [
            ("0-1-5", "0-1-5", true),
            ("0-1-6", "0-2-5", true),
            ("0-1-4", "0-1-5", false),
            ("0-1-10", "0-1-9", true),
            ("0-1-5, 1-2-7", "1-2-7", true),
            ("0-1-5,1-2-7", "1-2-8,0-1-1", false),
            ("0-1-5", "1-1-1", false),
            ("", "", true),
        ] {
            assert_eq!(reached(own, other), is_reached, "{own} {other}");
        }
        assert_eq!((Position::parse("1-2"), Position::parse("a-b-c")), (None, None));
    }
}
