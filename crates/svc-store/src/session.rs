//! The session that a thread has open on a store: its snapshot or its transaction.
//!
//! A read inside a read uses the connection and the snapshot that this thread holds already, so a request never waits for
//! itself, whatever the size of the pool. A read inside a transaction sees that transaction. A write inside either fails
//! at once ([`StoreError::Nested`]): it would wait for a connection or a lock that its own caller holds.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use sea_query::Value;

use crate::cache::Shared;
use crate::db::Db;
use crate::engine::{Conn, Done, Row};
use crate::error::{Result, StoreError};

thread_local! {
    /// The open sessions of this thread, innermost last; each holds a second handle on its connection.
    static OPEN: RefCell<Vec<Db>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a session open for nested reads of this thread until it is dropped.
pub(crate) struct Session {
    /// A session belongs to the thread that opened it.
    _not_send: PhantomData<*const ()>,
}

impl Session {
    /// Announces the snapshot or transaction that `db` has open.
    pub(crate) fn open(db: &Db) -> Self {
        OPEN.with_borrow_mut(|open| open.push(db.handle()));
        Session { _not_send: PhantomData }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Sessions are dropped in the reverse of the order in which they were opened: they are local to nested calls.
        OPEN.with_borrow_mut(|open| open.pop());
    }
}

/// A handle on the session that this thread has open on the store with these caches.
pub(crate) fn current(store: &Arc<Shared>) -> Option<Db> {
    OPEN.with_borrow(|open| open.iter().rev().find(|db| Arc::ptr_eq(&db.shared, store)).map(Db::handle))
}

/// Whether this thread has a session open on the store with these caches.
pub(crate) fn is_open(store: &Arc<Shared>) -> bool {
    OPEN.with_borrow(|open| open.iter().any(|db| Arc::ptr_eq(&db.shared, store)))
}

/// Fails if this thread has a session open on the store with these caches: writes cannot be nested.
pub(crate) fn refuse_nested(store: &Arc<Shared>) -> Result<()> {
    if is_open(store) {
        tracing::error!("a write was started inside a read or a transaction of the same thread");
        return Err(StoreError::Nested);
    }
    Ok(())
}

/// A connection that several handles of one thread use in turn.
#[derive(Clone)]
pub(crate) struct SharedConn(Arc<Mutex<Box<dyn Conn>>>);

impl SharedConn {
    pub(crate) fn new(conn: Box<dyn Conn>) -> Self {
        SharedConn(Arc::new(Mutex::new(conn)))
    }

    /// The connection. It is taken only while a statement runs on it: by a function that reads rows and queries again for
    /// each of them, which would wait for itself.
    fn lock(&self) -> Result<MutexGuard<'_, Box<dyn Conn>>> {
        match self.0.try_lock() {
            Ok(conn) => Ok(conn),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::Other("a statement was run while the rows of another are read".to_owned()))
            }
        }
    }

    /// [`Conn::query`].
    pub(crate) fn query(
        &self,
        sql: &str,
        params: &[Value],
        each: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.lock()?.query(sql, params, each)
    }

    /// [`Conn::query_once`].
    pub(crate) fn query_once(
        &self,
        sql: &str,
        params: &[Value],
        each: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.lock()?.query_once(sql, params, each)
    }

    /// [`Conn::execute`].
    pub(crate) fn execute(&self, sql: &str, params: &[Value]) -> Result<Done> {
        self.lock()?.execute(sql, params)
    }

    /// [`Conn::broken`].
    pub(crate) fn broken(&self) -> bool {
        self.lock().is_ok_and(|conn| conn.broken())
    }

    /// [`Conn::take_again`].
    pub(crate) fn take_again(&self) -> bool {
        self.lock().is_ok_and(|mut conn| conn.take_again())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::{Store, StoreError, StoredText, fixture, meta, options};

    #[test]
    fn nested_reads_use_the_same_snapshot() {
        fixture::on_each_with(2, |store| {
            let other = store.clone();
            let seen = store.read(|db| {
                let before = options::get_many(db, &["blogname"])?;
                std::thread::scope(|threads| {
                    threads
                        .spawn(|| {
                            other.write_blocking(|tx| options::set(tx, "blogname", &StoredText::of("changed"), true))
                        })
                        .join()
                        .unwrap()
                })?;
                let nested = store.read(|db| store.read(|_| options::get_many(db, &["blogname"])))?;
                assert_eq!(store.state(), None, "the state that is now is not that of the snapshot");
                Ok((before == nested, options::get_many(db, &["blogname"])? == before))
            });
            assert_eq!(seen.unwrap(), (true, true));
            assert_eq!(
                store.read(|db| options::get(db, "blogname")).unwrap().as_ref().map(StoredText::text),
                Some("changed")
            );
        });
    }

    #[test]
    fn a_read_inside_a_transaction_sees_it_and_writes_inside_fail_at_once() {
        fixture::on_each(|store| {
            let inner = store.clone();
            let seen = store
                .write_blocking(move |tx| {
                    options::set(tx, "nested", &StoredText::of("1"), false)?;
                    let refused = inner.write_blocking(|tx| options::set(tx, "nested", &StoredText::of("2"), false));
                    assert!(matches!(refused, Err(StoreError::Nested)), "{refused:?}");
                    inner.read(|db| options::get(db, "nested"))
                })
                .unwrap();
            assert_eq!(seen.as_ref().map(StoredText::text), Some("1"));
            let refused =
                store.read(|_| store.write_blocking(|tx| options::set(tx, "nested", &StoredText::of("3"), false)));
            assert!(matches!(refused, Err(StoreError::Nested)), "{refused:?}");
            let refused = store.read(|_| {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(store.write(|tx| options::set(tx, "nested", &StoredText::of("4"), false)))
            });
            assert!(matches!(refused, Err(StoreError::Nested)), "{refused:?}");
            assert_eq!(store.read(|db| options::get(db, "nested")).unwrap().as_ref().map(StoredText::text), Some("1"));
        });
    }

    #[test]
    fn sessions_of_two_stores_are_apart() {
        let ((one, _folder), (two, _other)) = (fixture::store(), fixture::store());
        let name = |store: &Store| store.read(|db| options::get(db, "blogname"));
        one.read(|_| {
            two.write_blocking(|tx| options::set(tx, "blogname", &StoredText::of("two"), true))?;
            assert_eq!(name(&two)?.as_deref(), Some("two"));
            assert_ne!(name(&one)?.as_deref(), Some("two"));
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn a_statement_inside_the_rows_of_another_is_an_error() {
        fixture::on_each(|store| {
            let nested = store.read(|db| {
                db.conn.query("SELECT 1", &[], &mut |_| store.read(|db| options::get(db, "blogname")).map(drop))
            });
            assert!(matches!(nested, Err(StoreError::Other(_))), "{nested:?}");
            assert!(store.read(|db| options::get(db, "blogname")).unwrap().is_some());
        });
    }

    /// Each holds the one connection and reads again: without sessions both wait for each other until the time is over.
    #[test]
    fn many_threads_nest_reads_on_one_connection() {
        fixture::on_each(|store| {
            let start = std::time::Instant::now();
            std::thread::scope(|threads| {
                for _ in 0..8 {
                    threads.spawn(|| {
                        for _ in 0..20 {
                            let read = |db: &mut crate::Db| meta::get(db, crate::MetaKind::Post, 1, "nothing");
                            store.read(|db| read(db).and_then(|_| store.read(read))).unwrap();
                        }
                    });
                }
            });
            assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
        });
    }

    #[test]
    fn a_panic_closes_its_session() {
        let (store, _folder) = fixture::store();
        let panicked =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| store.read::<()>(|_| panic!("a mistake"))));
        assert!(panicked.is_err());
        store.write_blocking(|tx| options::set(tx, "after", &StoredText::of("1"), false)).unwrap();
    }
}
