//! The sessions of a thread on a store: its open snapshot or transaction.
//!
//! A read within a read uses the same connection and snapshot, so a request never waits for itself, whatever the size
//! of the pool. A read within a transaction sees that transaction. A write within either fails immediately with
//! [`StoreError::Nested`], because it would wait for a connection or lock that its own caller holds.
//!
//! Within a [`scope`], the snapshot of the first read stays open for the reads that follow, until the future waits for
//! something (a write, the network) or writes. A request that only reads therefore sees one state of the database on
//! one connection, and a request that waits holds no connection.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::Arc;

use crate::backend::Snapshot;
use crate::error::{Result, StoreError};
use crate::handle::Db;
use crate::shared::Shared;

thread_local! {
    /// The open sessions of this thread, innermost last.
    static OPEN: RefCell<Vec<OpenSession>> = const { RefCell::new(Vec::new()) };
    /// Whether this thread polls a future within [`scope`].
    static IN_SCOPE: Cell<bool> = const { Cell::new(false) };
    /// The id of the next session.
    static NEXT_ID: Cell<u64> = const { Cell::new(0) };
}

struct OpenSession {
    id: u64,
    /// A second handle on the connection.
    db: Db,
    /// Number of functions that read from it now, each within the one before.
    n_reading: usize,
    /// The snapshot, if the scope holds it.
    held: Option<Box<dyn Snapshot>>,
}

impl OpenSession {
    fn is_of(&self, store: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.db.shared, store)
    }
}

fn push(db: Db, n_reading: usize, held: Option<Box<dyn Snapshot>>) -> u64 {
    let id = NEXT_ID.replace(NEXT_ID.get() + 1);
    OPEN.with_borrow_mut(|open| open.push(OpenSession { id, db, n_reading, held }));
    id
}

/// Keeps a session open for nested reads on this thread until it is dropped.
pub(crate) struct Session {
    id: u64,
    /// A session belongs to the thread that opened it.
    _not_send: PhantomData<*const ()>,
}

impl Session {
    /// Registers the open snapshot or transaction of `db`.
    pub(crate) fn open(db: &Db) -> Self {
        Session { id: push(db.handle(), 1, None), _not_send: PhantomData }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        OPEN.with_borrow_mut(|open| open.retain(|session| session.id != self.id));
    }
}

/// Calls `read` with this thread's open session on the store with these caches. Returns `read` if there is none.
pub(crate) fn read_open<T, F: FnOnce(&mut Db) -> T>(store: &Arc<Shared>, read: F) -> Result<T, F> {
    let session = OPEN.with_borrow_mut(|open| {
        let session = open.iter_mut().rev().find(|session| session.is_of(store))?;
        if session.n_reading == 0
            && let Some(snapshot) = &mut session.held
        {
            snapshot.renew();
        }
        session.n_reading += 1;
        Some((session.id, session.db.handle()))
    });
    let Some((id, db)) = session else { return Err(read) };
    let mut reading = Reading { id, db };
    Ok(read(&mut reading.db))
}

/// A function that reads from a session, until this is dropped. Its change counters stay with the session.
struct Reading {
    id: u64,
    db: Db,
}

impl Drop for Reading {
    fn drop(&mut self) {
        OPEN.with_borrow_mut(|open| {
            if let Some(session) = open.iter_mut().find(|session| session.id == self.id) {
                session.n_reading -= 1;
                session.db.epochs = self.db.epochs.take();
                session.db.changes = self.db.changes.take();
            }
        });
    }
}

/// Returns whether this thread has an open session on the store with these caches.
pub(crate) fn is_open(store: &Arc<Shared>) -> bool {
    OPEN.with_borrow(|open| open.iter().any(|session| session.is_of(store)))
}

/// Prepares a write: closes the snapshot that the scope holds, so that later reads see the write.
///
/// # Errors
/// If this thread is reading or writing, because writes cannot be nested.
pub(crate) fn before_write(store: &Arc<Shared>) -> Result<()> {
    let is_held = |session: &mut OpenSession| session.is_of(store) && session.held.is_some() && session.n_reading == 0;
    let held: Vec<OpenSession> = OPEN.with_borrow_mut(|open| open.extract_if(.., is_held).collect());
    drop(held);
    if is_open(store) {
        tracing::error!("a write was started within a read or a transaction on the same thread");
        return Err(StoreError::Nested);
    }
    Ok(())
}

/// Returns whether snapshots are held until the end of the scope.
pub(crate) fn is_in_scope() -> bool {
    IN_SCOPE.get()
}

/// Holds a snapshot until the end of the scope.
pub(crate) fn hold(mut snapshot: Box<dyn Snapshot>) {
    push(snapshot.db().handle(), 0, Some(snapshot));
}

/// Runs a future whose reads share a snapshot, as the module describes.
pub(crate) async fn scope<F: Future>(request: F) -> F::Output {
    let mut request = pin!(request);
    std::future::poll_fn(move |context| {
        let _polling = Polling { within: IN_SCOPE.replace(true) };
        request.as_mut().poll(context)
    })
    .await
}

/// A poll of a future within [`scope`]. The outermost one closes the held snapshots when it ends.
struct Polling {
    within: bool,
}

impl Drop for Polling {
    fn drop(&mut self) {
        IN_SCOPE.set(self.within);
        if !self.within {
            let held: Vec<OpenSession> =
                OPEN.with_borrow_mut(|open| open.extract_if(.., |session| session.held.is_some()).collect());
            drop(held);
        }
    }
}
