//! The session of a thread on a store: its open snapshot or transaction.
//!
//! A read within a read uses the same connection and snapshot, so a request never waits for itself, whatever the size
//! of the pool. A read within a transaction sees that transaction. A write within either fails immediately with
//! [`StoreError::Nested`], because it would wait for a connection or lock that its own caller holds.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

use super::handle::Db;
use super::shared_caches::SharedCaches;
use crate::error::{Result, StoreError};

thread_local! {
    /// The open sessions of this thread, innermost last. Each has a second handle on its connection.
    static OPEN: RefCell<Vec<Db>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a session open for nested reads on this thread until it is dropped.
pub(crate) struct Session {
    /// A session belongs to the thread that opened it.
    _not_send: PhantomData<*const ()>,
}

impl Session {
    /// Registers the open snapshot or transaction of `db`.
    pub(crate) fn open(db: &Db) -> Self {
        OPEN.with_borrow_mut(|open| open.push(db.handle()));
        Session { _not_send: PhantomData }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Sessions are local to nested calls, so they are dropped in reverse order.
        OPEN.with_borrow_mut(|open| open.pop());
    }
}

/// A handle on this thread's open session on the store with these caches.
pub(crate) fn current(store: &Arc<SharedCaches>) -> Option<Db> {
    OPEN.with_borrow(|open| open.iter().rev().find(|db| Arc::ptr_eq(&db.shared, store)).map(Db::handle))
}

/// Returns whether this thread has an open session on the store with these caches.
pub(crate) fn is_open(store: &Arc<SharedCaches>) -> bool {
    OPEN.with_borrow(|open| open.iter().any(|db| Arc::ptr_eq(&db.shared, store)))
}

/// Fails if this thread has an open session on the store with these caches, because writes cannot be nested.
pub(crate) fn refuse_nested(store: &Arc<SharedCaches>) -> Result<()> {
    if is_open(store) {
        tracing::error!("a write was started within a read or a transaction on the same thread");
        return Err(StoreError::Nested);
    }
    Ok(())
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
                assert_eq!(store.data_version(), None, "the current state may not be that of the snapshot");
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
    fn nested_reads_see_the_transaction_and_nested_writes_fail() {
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
    fn stores_have_separate_sessions() {
        let ((one, _folder), (two, _other)) = (fixture::store(), fixture::store());
        let name = |store: &Store| store.read(|db| options::get(db, "blogname"));
        one.read(|_| {
            two.write_blocking(|tx| options::set(tx, "blogname", &StoredText::of("two"), true))?;
            assert_eq!(name(&two)?.as_ref().map(StoredText::text), Some("two"));
            assert_ne!(name(&one)?.as_ref().map(StoredText::text), Some("two"));
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn statements_cannot_overlap() {
        fixture::on_each(|store| {
            let nested = store.read(|db| {
                db.conn.query("SELECT 1", &[], &mut |_| store.read(|db| options::get(db, "blogname")).map(drop))
            });
            assert!(matches!(nested, Err(StoreError::Other(_))), "{nested:?}");
            assert!(store.read(|db| options::get(db, "blogname")).unwrap().is_some());
        });
    }

    /// Each thread holds the one connection and reads again. Without sessions they would wait for each other until the
    /// timeout.
    #[test]
    fn nested_reads_share_one_connection_between_threads() {
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
    fn panics_close_the_session() {
        let (store, _folder) = fixture::store();
        let panicked =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| store.read::<()>(|_| panic!("a mistake"))));
        assert!(panicked.is_err());
        store.write_blocking(|tx| options::set(tx, "after", &StoredText::of("1"), false)).unwrap();
    }
}
