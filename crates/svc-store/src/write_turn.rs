//! One writer at a time, on MySQL-protocol servers too: whose turn it is.
//!
//! A transaction that reads, changes and writes back must not meet another one that does the same. On SQLite there is one
//! writer; here every transaction that writes begins by locking one row of the options, the *gate row*, so that the writers
//! of all servers on one database take turns. The lock is taken before anything is read, so what is read is never older.
//!
//! Within one process, writers wait for a place before they take a connection, so that waiting writers leave the connections
//! to readers. There is more than one place, since the server ends the lock before it waits for its disk.
//!
//! On one server the gate is `db_version`, which each site has; it is locked, not changed. The nodes of a Galera cluster do not
//! exchange locks, they compare what was changed: there each transaction changes an option of its own, [`OWN_GATE`], and of
//! two transactions that meet one is rolled back and run again.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake};
use std::thread::Thread;

use sea_query::{Expr, ExprTrait as _, LockType, OnConflict, Query};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::db::Tx;
use crate::error::{Result, StoreError};

/// Writers that may wait; more are refused.
const QUEUE: usize = 1_024;

/// The option that each site has.
const GATE: &str = "db_version";

/// The option that is changed by each write on a cluster, and where [`GATE`] is missing.
const OWN_GATE: &str = "rest_server_write_gate";

/// The places of the writers of this process.
pub(crate) struct Turns {
    places: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

/// A place, until it is dropped.
pub(crate) struct Turn(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit);

impl Turns {
    /// Places for writers of a pool with this many connections.
    pub(crate) fn of(connections: usize) -> Self {
        Turns { places: Arc::new(Semaphore::new((connections / 4).clamp(1, 4))), waiting: Arc::default() }
    }

    /// Waits for a place, first come, first served.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when too many wait.
    pub(crate) async fn turn(&self) -> Result<Turn> {
        let _waiting = Waiting::enter(&self.waiting)?;
        let place = Arc::clone(&self.places).acquire_owned().await;
        place.map(Turn).map_err(|_| StoreError::Unavailable("the store is closing".to_owned()))
    }

    /// [`Self::turn`] for threads that may block.
    ///
    /// # Errors
    /// As [`Self::turn`].
    pub(crate) fn turn_blocking(&self) -> Result<Turn> {
        block_on(self.turn())
    }
}

/// Counts a writer that waits, until it is dropped.
struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    fn enter(waiting: &Arc<AtomicUsize>) -> Result<Self> {
        let entered = Waiting(Arc::clone(waiting));
        if waiting.fetch_add(1, Ordering::Relaxed) < QUEUE { Ok(entered) } else { Err(StoreError::Busy) }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Wakes a parked thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future that needs no runtime on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Waits until no other transaction, of any server on this database, is past its own gate. Must be the first statement
/// of a transaction. A database without tables has no gate.
///
/// # Errors
/// Those of the database.
pub(crate) fn pass_gate(tx: &mut Tx, is_cluster: bool) -> Result<()> {
    let passed = if is_cluster { change_own(tx) } else { lock_gate(tx) };
    match passed {
        Err(StoreError::Schema(_)) => Ok(()),
        passed => passed,
    }
}

fn lock_gate(tx: &mut Tx) -> Result<()> {
    let mut s = Query::select();
    s.column("option_id").from(tx.table("options")).and_where(Expr::col("option_name").eq(GATE));
    s.lock(LockType::Update);
    if tx.first(&s, |row| row.int(0))?.is_some() { Ok(()) } else { change_own(tx) }
}

/// Changes the own gate, so that two transactions that did so cannot both be committed unless one waited for the other.
fn change_own(tx: &mut Tx) -> Result<()> {
    let mut update = Query::update();
    update.table(tx.table("options")).value("option_value", Expr::cust("UUID()"));
    update.and_where(Expr::col("option_name").eq(OWN_GATE));
    if tx.execute(&update)?.rows > 0 {
        return Ok(());
    }
    let mut insert = Query::insert();
    insert.into_table(tx.table("options")).columns(["option_name", "option_value", "autoload"]);
    insert
        .values([OWN_GATE.into(), Expr::cust("UUID()"), "off".into()])
        .map_err(|e| StoreError::Other(e.to_string()))?;
    insert.on_conflict(OnConflict::column("option_name").update_column("option_value").to_owned());
    tx.execute(&insert).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Turns;

    #[test]
    fn writers_wait_for_a_place() {
        let turns = Turns::of(4);
        let inside = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let _turn = turns.turn_blocking().unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
    }
}
