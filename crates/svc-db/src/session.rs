//! The sessions of a [`Context`]: its open snapshot or transaction.
//!
//! A read within a read uses the same connection and snapshot, so a request never waits for itself, whatever the size
//! of the pool. A read within a transaction sees that transaction. A write within either fails immediately with
//! [`StoreError::Nested`], because it would wait for a connection or lock that its own caller holds.
//!
//! The snapshot of a request's first read stays open for the reads that follow, until the request waits for something
//! (a write, the network) or writes ([`Context::run`]). A request that only reads therefore sees one state of the
//! database on one connection, and a request that waits holds no connection.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use svc_versions::Context;

use crate::backend::Snapshot;
use crate::error::{Result, StoreError};
use crate::handle::{Db, Tx};
use crate::shared::Shared;

/// The open sessions of a context, innermost last.
#[derive(Default)]
struct Sessions {
    open: Mutex<OpenSessions>,
    /// Notified when a function has read from a lent session.
    freed: Condvar,
}

#[derive(Default)]
struct OpenSessions {
    open: Vec<OpenSession>,
    /// The id of the next session.
    next_id: u64,
}

struct OpenSession {
    id: u64,
    /// A second handle on the connection, without a context.
    db: Db,
    /// Number of functions that read from it now, each within the one before.
    n_reading: usize,
    /// The snapshot, if the request holds it.
    held: Option<Box<dyn Snapshot>>,
    /// Whether the snapshot is held while the request waits, too.
    is_kept: bool,
    /// Whether the transaction is one of several parts, which waits while the request reads.
    is_lent: bool,
}

impl OpenSession {
    fn is_of(&self, store: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.db.shared, store)
    }
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, OpenSessions> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, db: Db, n_reading: usize, held: Option<Box<dyn Snapshot>>) -> u64 {
        let mut sessions = self.lock();
        let id = sessions.next_id;
        sessions.next_id += 1;
        sessions.open.push(OpenSession { id, db, n_reading, held, is_kept: false, is_lent: false });
        id
    }

    /// Removes sessions, and ends their snapshots.
    fn remove(&self, is_removed: impl Fn(&mut OpenSession) -> bool) {
        let removed: Vec<OpenSession> = self.lock().open.extract_if(.., |session| is_removed(session)).collect();
        drop(removed);
    }
}

/// Keeps a session open for nested reads until it is dropped.
pub(crate) struct Session {
    id: u64,
    sessions: Arc<Sessions>,
}

impl Session {
    /// Registers the open snapshot or transaction of `db`, which reads with this context from now on.
    pub(crate) fn open(cx: &Context, db: &mut Db) -> Self {
        db.cx = cx.clone();
        let sessions = cx.state::<Sessions>();
        Session { id: sessions.push(db.handle(), 1, None), sessions }
    }

    /// Ends the session of a transaction, whose connection is used again.
    pub(crate) fn close(self, tx: &mut Tx) {
        tx.db.cx = tx.db.shared.no_context.clone();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.sessions.remove(|session| session.id == self.id);
    }
}

/// The open transaction of several parts, in which the request reads while the thread that runs it waits.
pub(crate) struct LentSession {
    id: u64,
    sessions: Arc<Sessions>,
}

impl LentSession {
    /// Lends the transaction to a request.
    pub(crate) fn open(cx: &Context, tx: &Tx) -> Self {
        let sessions = cx.state::<Sessions>();
        let id = sessions.push(tx.handle(), 0, None);
        if let Some(session) = sessions.lock().open.iter_mut().find(|session| session.id == id) {
            session.is_lent = true;
        }
        LentSession { id, sessions }
    }

    /// Ends the session, as soon as nothing reads from it.
    pub(crate) fn end(self) {
        let mut sessions = self.sessions.lock();
        loop {
            match sessions.open.iter().position(|session| session.id == self.id) {
                Some(at) if sessions.open[at].n_reading == 0 => {
                    let ended = sessions.open.remove(at);
                    drop(sessions);
                    drop(ended);
                    return;
                }
                Some(_) => sessions = self.sessions.freed.wait(sessions).unwrap_or_else(PoisonError::into_inner),
                None => return,
            }
        }
    }
}

/// Ends the session that was lent to the context, if there is one. Nothing may read from it.
pub(crate) fn end_lent(cx: &Context, store: &Arc<Shared>) {
    cx.state::<Sessions>().remove(|session| session.is_of(store) && session.is_lent);
}

/// Returns whether the context is reading from a session on the store with these caches.
pub(crate) fn is_reading(cx: &Context, store: &Arc<Shared>) -> bool {
    cx.state::<Sessions>().lock().open.iter().any(|session| session.is_of(store) && session.n_reading > 0)
}

/// Calls `read` with the context's open session on the store with these caches. Returns `read` if there is none.
pub(crate) fn read_open<T, F: FnOnce(&mut Db) -> T>(cx: &Context, store: &Arc<Shared>, read: F) -> Result<T, F> {
    let sessions = cx.state::<Sessions>();
    let session = {
        let mut sessions = sessions.lock();
        sessions.open.iter_mut().rev().find(|session| session.is_of(store)).map(|session| {
            if session.n_reading == 0
                && let Some(snapshot) = &mut session.held
            {
                snapshot.renew();
            }
            session.n_reading += 1;
            (session.id, session.db.handle())
        })
    };
    let Some((id, mut db)) = session else { return Err(read) };
    db.cx = cx.clone();
    let mut reading = Reading { id, sessions, db };
    Ok(read(&mut reading.db))
}

/// A function that reads from a session, until this is dropped. Its versions of rows stay with the session.
struct Reading {
    id: u64,
    sessions: Arc<Sessions>,
    db: Db,
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut sessions = self.sessions.lock();
        if let Some(session) = sessions.open.iter_mut().find(|session| session.id == self.id) {
            session.n_reading -= 1;
            session.db.versions = std::mem::take(&mut self.db.versions);
            if session.is_lent {
                self.sessions.freed.notify_all();
            }
        }
    }
}

/// Returns whether the context has an open session on the store with these caches.
pub(crate) fn is_open(cx: &Context, store: &Arc<Shared>) -> bool {
    cx.state::<Sessions>().lock().open.iter().any(|session| session.is_of(store))
}

/// Prepares a write: closes the snapshot that the request holds, so that later reads see the write.
///
/// # Errors
/// If the context is reading or writing, because writes cannot be nested.
pub(crate) fn before_write(cx: &Context, store: &Arc<Shared>) -> Result<()> {
    let is_held = |session: &mut OpenSession| session.is_of(store) && session.held.is_some() && session.n_reading == 0;
    cx.state::<Sessions>().remove(is_held);
    if is_open(cx, store) {
        tracing::error!("a write was started within a read or a transaction");
        return Err(StoreError::Nested);
    }
    Ok(())
}

/// Holds a snapshot for the reads that follow, until the request waits. Returns it if nothing [runs](Context::run) a request.
pub(crate) fn hold(cx: &Context, mut snapshot: Box<dyn Snapshot>) -> Result<(), Box<dyn Snapshot>> {
    let sessions = cx.state::<Sessions>();
    let held = Arc::clone(&sessions);
    if !cx.hold_until_waiting(move || held.remove(|session| session.held.is_some() && !session.is_kept)) {
        return Err(snapshot);
    }
    sessions.push(snapshot.db().handle(), 0, Some(snapshot));
    Ok(())
}

/// A session whose snapshot is kept while the request waits, until this is dropped.
pub(crate) struct KeptSession {
    id: u64,
    sessions: Arc<Sessions>,
}

/// Keeps the snapshot that the context holds, or the one that `open` returns. `None` if the context has a transaction, whose reads see
/// one state anyway.
///
/// # Errors
/// Those of `open`.
pub(crate) fn keep(
    cx: &Context,
    store: &Arc<Shared>,
    open: impl FnOnce() -> Result<Box<dyn Snapshot>>,
) -> Result<Option<KeptSession>> {
    let sessions = cx.state::<Sessions>();
    let keep = |id: Option<u64>| {
        let mut found = sessions.lock();
        let session =
            found.open.iter_mut().rev().find(|session| session.is_of(store) && id.is_none_or(|id| session.id == id));
        session.map(|session| {
            session.is_kept = session.held.is_some();
            session.is_kept.then_some(session.id)
        })
    };
    let id = match keep(None) {
        Some(known) => known,
        None => {
            let mut snapshot = open()?;
            let id = sessions.push(snapshot.db().handle(), 0, Some(snapshot));
            keep(Some(id)).flatten()
        }
    };
    Ok(id.map(|id| KeptSession { id, sessions }))
}

impl Drop for KeptSession {
    fn drop(&mut self) {
        self.sessions.remove(|session| session.id == self.id);
    }
}
