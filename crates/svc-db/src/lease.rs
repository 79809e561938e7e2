//! Leases: of several servers on one database, one holds each.
//!
//! A lease is a row that names its owner and counts its renewals, each of which is a transaction. No clocks are compared: a
//! server takes a lease over when it has seen no renewal for [`LeaseTimes::length`] on its own clock, and an owner stops before
//! that on its own clock, at the latest. The end of a process on the same machine is seen at once. An owner that was stopped and
//! continues, or whose clock stood still, is noticed by the database: the transactions of a [fenced](Lease::fence) context check
//! the row first. Since transactions are serialized, no such transaction is committed after another server has taken over.
//!
//! A renewal changes nothing else, so the caches of other servers stay valid: `engine/mysql/changes.rs` recognizes it.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sea_query::{Expr, ExprTrait as _, Query};
use svc_versions::Context;
use tokio::sync::watch;

use crate::database::Database;
use crate::dialect::Dialect;
use crate::engine::mysql::ServerState;
use crate::error::{Result, StoreError};
use crate::handle::Db;
use crate::lease_rows::{Fence, LEASES, NAME, Row, TABLE, row};
use crate::process;

/// Between the random number and the process of an owner.
const OWNER_SEPARATOR: char = '@';

/// The length of the name of a process for people.
const MAX_LABEL: usize = 100;

/// The times of a lease.
#[derive(Clone, Copy, Debug)]
pub struct LeaseTimes {
    /// How long others must have seen no renewal before one of them takes over.
    pub length: Duration,
    /// How much earlier the owner stops, for clocks that run differently.
    pub margin: Duration,
    /// Time between two renewals, or two looks of the others.
    pub interval: Duration,
}

impl LeaseTimes {
    /// The time after which another server has taken over from one that has died.
    pub const fn takeover(&self) -> Duration {
        self.length.saturating_add(self.interval.saturating_mul(2))
    }
}

impl Default for LeaseTimes {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        LeaseTimes { length: seconds(9), margin: seconds(1), interval: seconds(3) }
    }
}

/// The claim of this process to a lease.
pub struct Lease {
    database: Database,
    name: &'static str,
    times: LeaseTimes,
    own: String,
    label: String,
    /// What was last seen of another owner.
    seen: Mutex<Seen>,
    /// Until when this process holds the lease.
    held_until: watch::Sender<Option<Instant>>,
}

#[derive(Default)]
struct Seen {
    label: String,
    /// The number of renewals, and when it was first seen.
    renewals: Option<(i64, Instant)>,
}

/// Who holds a lease; the default is nobody.
#[derive(Default)]
struct Owner {
    id: String,
    label: String,
}

impl Lease {
    /// The claim of this process, described by `label`, to the lease with a name of at most 20 characters. Creates the table if it is
    /// missing. `None` if only one server can use the database: an SQLite file.
    ///
    /// # Errors
    /// If the table cannot be created.
    pub fn new(database: &Database, name: &'static str, label: &str, times: LeaseTimes) -> Result<Option<Self>> {
        if database.read_blocking(|db| Ok(db.dialect()))? == Dialect::Sqlite {
            return Ok(None);
        }
        database.create_own_table(&TABLE)?;
        database.shared().has_leases.store(true, Ordering::Relaxed);
        // A hash with random keys.
        let random = RandomState::new().hash_one(std::process::id());
        Ok(Some(Lease {
            database: database.clone(),
            name,
            times,
            own: format!("{random:016x}{OWNER_SEPARATOR}{}", process::identity()),
            label: label.chars().take(MAX_LABEL).collect(),
            seen: Mutex::default(),
            held_until: watch::Sender::new(None),
        }))
    }

    /// Whether this process holds the lease, by its own clock.
    pub fn is_held(&self) -> bool {
        self.held_until.borrow().is_some_and(|until| Instant::now() < until)
    }

    /// Waits until this process holds the lease.
    pub async fn held(&self) {
        let mut held_until = self.held_until.subscribe();
        while !self.is_held() {
            // The sender lives as long as this value.
            let _ = held_until.changed().await;
        }
    }

    /// The process that holds the lease, for people, as last seen. `None` if it is this one; empty if nobody was seen.
    pub fn holder(&self) -> Option<String> {
        if self.is_held() { None } else { Some(self.seen().label.clone()) }
    }

    /// A context whose transactions fail with [`StoreError::LeaseLost`] if this process does not hold the lease.
    #[must_use]
    pub fn fence(&self, cx: &Context) -> Context {
        cx.with(Fence { name: self.name, own: self.own.clone() })
    }

    /// Renews the lease, or takes it if its owner is gone. Returns when to look again.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn look(&self, cx: &Context) -> Result<Duration> {
        let begun = Instant::now();
        let (found, state) = self.database.read(cx, |db| Ok((row(db, self.name)?, state(db)?)))?;
        let renewals = found.as_ref().map(|row| row.renewals);
        let may_take = match &found {
            None => true,
            Some(row) => row.owner == self.own || row.owner.is_empty() || self.is_abandoned(row),
        };
        let owner = Owner { id: self.own.clone(), label: self.label.clone() };
        if may_take && self.take(cx, renewals, owner, state).await? {
            let is_new = !self.is_held();
            self.held_until.send_replace(Some(begun + self.times.length.saturating_sub(self.times.margin)));
            *self.seen() = Seen::default();
            if is_new {
                tracing::info!(lease = self.name, "this server runs the jobs that one server runs");
            }
        } else if self.held_until.send_replace(None).is_some() {
            tracing::warn!(lease = self.name, "another server runs the jobs that one server runs");
        }
        Ok(self.times.interval)
    }

    /// Ends the claim, so that another process takes the lease at its next look.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn release(&self, cx: &Context) -> Result<()> {
        let was_held = self.is_held();
        self.held_until.send_replace(None);
        if !was_held {
            return Ok(());
        }
        let (found, state) = self.database.read(cx, |db| Ok((row(db, self.name)?, state(db)?)))?;
        if let Some(row) = found.filter(|row| row.owner == self.own) {
            self.take(cx, Some(row.renewals), Owner::default(), state).await?;
        }
        Ok(())
    }

    /// Makes `owner` the owner, unless the number of renewals has changed. `follows` is the state of the server before.
    async fn take(&self, cx: &Context, renewals: Option<i64>, owner: Owner, follows: String) -> Result<bool> {
        let name = self.name;
        let taken = self.database.write(cx, move |tx| {
            let (id, label, follows) = (owner.id.as_str(), owner.label.as_str(), follows.as_str());
            let Some(renewals) = renewals else {
                let mut insert = Query::insert();
                insert.into_table(tx.table(NAME)).columns(["name", "owner", "label", "renewals", "follows"]);
                insert.values_panic([name.into(), id.into(), label.into(), Expr::from(1), follows.into()]);
                return tx.change_rows(&insert, LEASES, &[]).map(|_| true);
            };
            let mut update = Query::update();
            update.table(tx.table(NAME)).value("owner", id).value("label", label).value("follows", follows);
            update.value("renewals", Expr::col("renewals").add(1));
            update.and_where(Expr::col("name").eq(name)).and_where(Expr::col("renewals").eq(renewals));
            Ok(tx.change_rows(&update, LEASES, &[])?.rows > 0)
        });
        match taken.await {
            // Another process was faster.
            Err(StoreError::Duplicate(_)) => Ok(false),
            taken => taken,
        }
    }

    /// Whether the owner has not renewed the lease for its length, or is a process of this machine that has ended.
    fn is_abandoned(&self, row: &Row) -> bool {
        let (now, mut seen) = (Instant::now(), self.seen());
        seen.label.clone_from(&row.label);
        if row.owner.split_once(OWNER_SEPARATOR).is_some_and(|(_, process)| process::has_ended(process)) {
            return true;
        }
        match seen.renewals {
            Some((renewals, since)) if renewals == row.renewals => now.duration_since(since) >= self.times.length,
            _ => {
                seen.renewals = Some((row.renewals, now));
                false
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("name", &self.name).field("label", &self.label).finish_non_exhaustive()
    }
}

/// The state of the server, for the caches of other servers. Empty if it is not known.
fn state(db: &mut Db) -> Result<String> {
    Ok(ServerState::read(db)?.map(|state| state.to_string()).unwrap_or_default())
}
