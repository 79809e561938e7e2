//! Serialization of writers on MySQL-protocol servers.
//!
//! A transaction that reads, changes and writes back must not run concurrently with another one. SQLite has a single
//! writer. Here every write transaction begins by locking one row of a table, the *gate row* ([`Gate`]), so that the
//! writers of all servers on one database are serialized. The lock is taken before anything is read, so that reads are
//! current.
//!
//! Within a process, writers wait for a slot before they take a connection, so that waiting writers leave the
//! connections to readers. There is more than one slot, because the server releases the lock before it waits for its
//! disk.
//!
//! On a single server the gate is a row that usually exists ([`Gate::locked`]); it is locked, not changed. Nodes of a
//! Galera cluster do not share locks but compare changes: there each transaction changes a row reserved for this
//! ([`Gate::changed`]), and of two concurrent transactions one is rolled back and run again. Before the commit, the value of the row
//! shows that the transaction is still the same ([`check_gate`]).

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake};
use std::thread::Thread;

use sea_query::{Expr, ExprTrait as _, LockType, OnConflict, Query};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{Result, StoreError};
use crate::handle::Tx;
use crate::schema::Gate;

/// After a transaction of a cluster: each statement outside of a transaction is committed.
pub(crate) const COMMIT_EACH: &str = "SET autocommit = 1";

/// Within a transaction of a cluster: if the node ends it, further statements belong to another one.
const COMMIT_NONE: &str = "SET autocommit = 0";

/// Maximum number of waiting writers.
const MAX_WAITING_WRITERS: usize = 1_024;

/// The slots for writers of this process.
pub(crate) struct WriterSlots {
    slots: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

/// An occupied slot, released on drop.
pub(crate) struct WriterSlot(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit);

impl WriterSlots {
    /// Slots for writers of a pool with this many connections.
    pub(crate) fn of(connections: usize) -> Self {
        WriterSlots { slots: Arc::new(Semaphore::new((connections / 4).clamp(1, 4))), waiting: Arc::default() }
    }

    /// Number of writers that wait.
    pub(crate) fn n_waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Waits for a slot in order of arrival.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if too many writers are waiting.
    pub(crate) async fn turn(&self) -> Result<WriterSlot> {
        let _waiting = WaitingGuard::enter(&self.waiting)?;
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        slot.map(WriterSlot).map_err(|_| StoreError::Unavailable("the store is closing".to_owned()))
    }

    /// Like [`Self::turn`], for threads that may block.
    ///
    /// # Errors
    /// See [`Self::turn`].
    pub(crate) fn turn_blocking(&self) -> Result<WriterSlot> {
        block_on(self.turn())
    }
}

/// Counts a waiting writer until it is dropped.
struct WaitingGuard(Arc<AtomicUsize>);

impl WaitingGuard {
    fn enter(waiting: &Arc<AtomicUsize>) -> Result<Self> {
        let entered = WaitingGuard(Arc::clone(waiting));
        if waiting.fetch_add(1, Ordering::Relaxed) < MAX_WAITING_WRITERS { Ok(entered) } else { Err(StoreError::Busy) }
    }
}

impl Drop for WaitingGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A waker that unparks a thread.
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

/// Waits until no other transaction on this database, of any server, has passed its gate. This must be the first
/// statement of a transaction. A database without tables has no gate. Returns the value that the transaction has given to the reserved
/// row of a cluster.
pub(crate) fn pass_gate(tx: &mut Tx, is_cluster: bool) -> Result<Option<String>> {
    let Some(gate) = &tx.schema().gate else { return Ok(None) };
    let passed = if is_cluster {
        tx.run(COMMIT_NONE)?;
        change_gate(tx, gate).map(Some)
    } else {
        lock_gate(tx, gate).map(|()| None)
    };
    match passed {
        Err(StoreError::Schema(_)) => Ok(None),
        passed => passed,
    }
}

/// Fails if the transaction is not the one that has given this value to the reserved row. A node that ends a transaction for one of
/// another node does not always report it, and then commits what is left of it: of 8,000 updates on three nodes, two were lost without
/// this check.
pub(crate) fn check_gate(tx: &mut Tx, value: &str) -> Result<()> {
    let Some(gate) = &tx.schema().gate else { return Ok(()) };
    let mut s = Query::select();
    s.column(gate.value).from(tx.table(gate.table)).and_where(Expr::col(gate.name).eq(gate.changed));
    let found = tx.first(&s, |row| row.text(0))?;
    if found.as_deref() == Some(value) {
        return Ok(());
    }
    tracing::warn!("the database ended a transaction without an error; the transaction is run again");
    Err(StoreError::Busy)
}

fn lock_gate(tx: &mut Tx, gate: &'static Gate) -> Result<()> {
    let mut s = Query::select();
    s.column(gate.id).from(tx.table(gate.table)).and_where(Expr::col(gate.name).eq(gate.locked));
    s.lock(LockType::Update);
    if tx.first(&s, |row| row.int(0))?.is_some() { Ok(()) } else { change_gate(tx, gate).map(drop) }
}

/// Changes the reserved row, so that two transactions can only both be committed if one waited for the other. Returns its value.
fn change_gate(tx: &mut Tx, gate: &'static Gate) -> Result<String> {
    let unique = uuid::Uuid::new_v4().to_string();
    let mut update = Query::update();
    update.table(tx.table(gate.table)).value(gate.value, unique.as_str());
    update.and_where(Expr::col(gate.name).eq(gate.changed));
    if tx.execute(gate.table, &update)?.rows > 0 {
        return Ok(unique);
    }
    let mut insert = Query::insert();
    let (column, value) = gate.more;
    insert.into_table(tx.table(gate.table)).columns([gate.name, gate.value, column]);
    insert
        .values([gate.changed.into(), unique.as_str().into(), value.into()])
        .map_err(|e| StoreError::Other(e.to_string()))?;
    insert.on_conflict(OnConflict::column(gate.name).update_column(gate.value).to_owned());
    tx.execute(gate.table, &insert).map(|_| unique)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::WriterSlots;

    #[test]
    fn writers_wait_for_a_slot() {
        let writer_slots = WriterSlots::of(4);
        let inside = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let _turn = writer_slots.turn_blocking().unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
    }
}
