//! Sessions: nested reads and writes, and the reads of a request.

use std::time::Duration;

use svc_db::{ReadText as _, Tuning};

use svc_versions::{Context, Transport};

use crate::{Dialect, Store, StoreError, StoredText, fixture, meta, options};

#[test]
fn nested_reads_use_the_same_snapshot() {
    fixture::on_each_with(2, |store| {
        let (other, cx) = (store.clone(), Context::background());
        let seen = store.read(&cx, |db| {
            let before = options::get_many(db, &["blogname"])?;
            std::thread::scope(|threads| {
                threads
                    .spawn(|| other.write_blocking(|tx| options::set(tx, "blogname", &StoredText::of("changed"), true)))
                    .join()
                    .unwrap()
            })?;
            let nested = store.read(&cx, |db| store.read(&cx, |_| options::get_many(db, &["blogname"])))?;
            assert_eq!(store.stamp(&cx), None, "the current state may not be that of the snapshot");
            Ok((before == nested, options::get_many(db, &["blogname"])? == before))
        });
        assert_eq!(seen.unwrap(), (true, true));
        assert_eq!(
            store.read_blocking(|db| options::get(db, "blogname")).unwrap().as_ref().map(StoredText::text),
            Some("changed")
        );
    });
}

#[test]
fn nested_reads_see_the_transaction_and_nested_writes_fail() {
    fixture::on_each(|store| {
        let inner = store.clone();
        let write = |store: &Store, cx: &Context| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(store.write(cx, |tx| options::set(tx, "nested", &StoredText::of("2"), false)))
        };
        let seen = store
            .write_blocking(move |tx| {
                options::set(tx, "nested", &StoredText::of("1"), false)?;
                let refused = write(&inner, tx.cx());
                assert!(matches!(refused, Err(StoreError::Nested)), "{refused:?}");
                if tx.dialect() == Dialect::Sqlite {
                    // The writer's thread would wait for itself.
                    let refused = inner.write_blocking(|_| Ok(()));
                    assert!(matches!(refused, Err(StoreError::Nested)), "{refused:?}");
                }
                inner.read(&tx.cx().clone(), |db| options::get(db, "nested"))
            })
            .unwrap();
        assert_eq!(seen.as_ref().map(StoredText::text), Some("1"));
        let refused = store.read(&Context::background(), |db| write(&store, db.cx()));
        assert!(matches!(refused, Err(StoreError::Nested)), "{refused:?}");
        assert_eq!(
            store.read_blocking(|db| options::get(db, "nested")).unwrap().as_ref().map(StoredText::text),
            Some("1")
        );
    });
}

#[test]
fn stores_have_separate_sessions() {
    let ((one, _folder), (two, _other)) = (fixture::store(), fixture::store());
    let cx = Context::background();
    let name = |store: &Store| store.read(&cx, |db| options::get(db, "blogname"));
    one.read(&cx, |_| {
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
        let cx = Context::background();
        let nested = store.read(&cx, |db| {
            db.query_text("SELECT 1", &[], &mut |_| store.read(&cx, |db| options::get(db, "blogname")).map(drop))
        });
        assert!(matches!(nested, Err(StoreError::Other(_))), "{nested:?}");
        assert!(store.read_blocking(|db| options::get(db, "blogname")).unwrap().is_some());
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
                        let cx = Context::background();
                        store.read(&cx, |db| read(db).and_then(|_| store.read(db.cx(), read))).unwrap();
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

fn name(cx: &Context, store: &Store) -> String {
    let name = store.read(cx, |db| options::get(db, "blogname")).unwrap();
    name.unwrap().text().to_owned()
}

/// Runs a request.
fn run<F: Future>(request: impl FnOnce(Context) -> F) -> F::Output {
    let cx = Context::request(Transport::Plain);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(cx.run(request(cx.clone())))
}

#[test]
fn reads_of_a_request_share_a_snapshot_until_it_waits() {
    fixture::on_each_with(2, |store| {
        let store = &store;
        run(async |cx| {
            let before = name(&cx, store);
            std::thread::scope(|threads| threads.spawn(|| set(store, "other")).join().unwrap());
            assert_eq!(name(&cx, store), before);
            tokio::task::yield_now().await;
            assert_eq!(name(&cx, store), "other");
        });
    });
}

#[test]
fn a_request_sees_its_own_writes() {
    fixture::on_each(|store| {
        let store = &store;
        run(async |cx| {
            name(&cx, store);
            store.write(&cx, |tx| options::set(tx, "blogname", &StoredText::of("one"), true)).await.unwrap();
            assert_eq!(name(&cx, store), "one");
            store.write(&cx, |tx| options::set(tx, "blogname", &StoredText::of("two"), true)).await.unwrap();
            assert_eq!(name(&cx, store), "two");
        });
    });
}

#[test]
fn the_start_time_of_the_server_is_not_read_for_each_request() {
    fixture::on_each_with(1, |store| {
        let n_statements = || store.database().statement_count();
        let request = |stamp| {
            let before = n_statements();
            run(async |cx| {
                cx.renew_stamp(stamp);
                name(&cx, &store)
            });
            n_statements() - before
        };
        request(None);
        let stamp = Some(store.versions().stamp());
        // On MariaDB, a request reads the number of the latest transaction. On a busy machine, the start time may be due
        // again before the second request, or another test may write to the same server in between.
        let is_read_once = || {
            std::thread::sleep(Tuning::QUICK.start_time_ttl);
            request(stamp);
            request(stamp) <= 1
        };
        assert!((0..500).any(|_| is_read_once()));
    });
}

#[test]
fn a_request_that_waits_holds_no_connection() {
    fixture::on_each(|store| {
        let store = &store;
        run(async |cx| {
            name(&cx, store);
            let (store, started) = (store.clone(), std::time::Instant::now());
            let other = tokio::task::spawn_blocking(move || name(&Context::background(), &store));
            other.await.unwrap();
            assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
        });
    });
}

#[test]
fn the_stamp_of_a_request_is_not_newer_than_its_snapshot() {
    fixture::on_each_with(2, |store| {
        let store = &store;
        run(async |cx| {
            let (_, of_name) = cx.capture(|| name(&cx, store));
            let stamp = store.stamp(&cx);
            std::thread::scope(|threads| threads.spawn(|| set(store, "other")).join().unwrap());
            assert_eq!(store.stamp(&cx), stamp);
            // MariaDB reports none shortly after a write of others.
            let is_sqlite = store.read(&cx, |db| Ok(db.dialect() == Dialect::Sqlite)).unwrap();
            assert!(stamp.is_some() || !is_sqlite);
            assert!(stamp.is_none_or(|stamp| !store.versions().is_current(&of_name, stamp)));
            store.write(&cx, |tx| options::set(tx, "own", &StoredText::of("1"), true)).await.unwrap();
            assert!(!is_sqlite || store.stamp(&cx) > stamp, "after a write of its own, a request reads newer data");
        });
    });
}

#[test]
fn panics_close_the_session() {
    let (store, _folder) = fixture::store();
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| store.read_blocking::<()>(|_| panic!("a mistake"))));
    assert!(panicked.is_err());
    store.write_blocking(|tx| options::set(tx, "after", &StoredText::of("1"), false)).unwrap();
}
