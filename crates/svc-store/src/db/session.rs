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

use super::backend::Snapshot;
use super::handle::Db;
use super::shared_caches::SharedCaches;
use crate::error::{Result, StoreError};

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
    fn is_of(&self, store: &Arc<SharedCaches>) -> bool {
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
pub(crate) fn read_open<T, F: FnOnce(&mut Db) -> T>(store: &Arc<SharedCaches>, read: F) -> Result<T, F> {
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
pub(crate) fn is_open(store: &Arc<SharedCaches>) -> bool {
    OPEN.with_borrow(|open| open.iter().any(|session| session.is_of(store)))
}

/// Prepares a write: closes the snapshot that the scope holds, so that later reads see the write.
///
/// # Errors
/// If this thread is reading or writing, because writes cannot be nested.
pub(crate) fn before_write(store: &Arc<SharedCaches>) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use crate::db::engine::mysql::changes::START_TIME_TTL;
    use crate::{Dialect, Store, StoreError, StoredText, fixture, meta, options, request_cache};

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
                assert_eq!(store.stamp(), None, "the current state may not be that of the snapshot");
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

    fn set(store: &Store, value: &'static str) {
        store.write_blocking(move |tx| options::set(tx, "blogname", &StoredText::of(value), true)).unwrap();
    }

    fn name(store: &Store) -> String {
        let name = store.read(|db| options::get(db, "blogname")).unwrap();
        name.unwrap().text().to_owned()
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(request_cache::scope(future))
    }

    #[test]
    fn reads_of_a_request_share_a_snapshot_until_it_waits() {
        fixture::on_each_with(2, |store| {
            let store = &store;
            run(async {
                let before = name(store);
                std::thread::scope(|threads| threads.spawn(|| set(store, "other")).join().unwrap());
                assert_eq!(name(store), before);
                tokio::task::yield_now().await;
                assert_eq!(name(store), "other");
            });
        });
    }

    #[test]
    fn a_request_sees_its_own_writes() {
        fixture::on_each(|store| {
            let store = &store;
            run(async {
                name(store);
                set(store, "one");
                assert_eq!(name(store), "one");
                store.write(|tx| options::set(tx, "blogname", &StoredText::of("two"), true)).await.unwrap();
                assert_eq!(name(store), "two");
                let refused = store.read(|_| store.write_blocking(|_| Ok(())));
                assert!(matches!(refused, Err(StoreError::Nested)), "{refused:?}");
                set(store, "three");
                assert_eq!(name(store), "three");
            });
        });
    }

    #[test]
    fn the_start_time_of_the_server_is_not_read_for_each_request() {
        fixture::on_each_with(1, |store| {
            let n_statements = || store.shared().statements.load(Ordering::Relaxed);
            let request = |stamp| {
                let before = n_statements();
                run(svc_versions::scope(stamp, async { name(&store) }));
                n_statements() - before
            };
            request(None);
            let stamp = Some(store.versions().stamp());
            // On MariaDB, a request reads the number of the latest transaction. On a busy machine, the start time may be due
            // again before the second request.
            let is_read_once = || {
                std::thread::sleep(START_TIME_TTL);
                request(stamp);
                request(stamp) <= 1
            };
            assert!((0..20).any(|_| is_read_once()));
        });
    }

    #[test]
    fn a_request_that_waits_holds_no_connection() {
        fixture::on_each(|store| {
            let store = &store;
            run(async {
                name(store);
                let (store, started) = (store.clone(), std::time::Instant::now());
                let other = tokio::task::spawn_blocking(move || name(&store));
                other.await.unwrap();
                assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
            });
        });
    }

    #[test]
    fn the_stamp_of_a_request_is_not_newer_than_its_snapshot() {
        fixture::on_each_with(2, |store| {
            let store = &store;
            run(async {
                let (_, of_name) = svc_versions::capture(|| name(store));
                let stamp = store.stamp();
                std::thread::scope(|threads| threads.spawn(|| set(store, "other")).join().unwrap());
                assert_eq!(store.stamp(), stamp);
                // MariaDB reports none shortly after a write of others.
                let is_sqlite = store.read(|db| Ok(db.dialect() == Dialect::Sqlite)).unwrap();
                assert!(stamp.is_some() || !is_sqlite);
                assert!(stamp.is_none_or(|stamp| !store.versions().is_current(&of_name, stamp)));
                store.write(|tx| options::set(tx, "own", &StoredText::of("1"), true)).await.unwrap();
                assert!(!is_sqlite || store.stamp() > stamp, "after a write of its own, a request reads newer data");
            });
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
