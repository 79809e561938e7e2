//! Transactions of several writes of one request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use svc_versions::{Context, Transport};

use crate::{ChangeRecord, Object, Result, Store, StoreError, StoredText, Subscriber, Tx, fixture, options};

const LONG: Duration = Duration::from_secs(20);

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn set(name: &'static str, value: &'static str) -> impl Fn(&mut Tx) -> Result<()> + Send + 'static {
    move |tx| options::set(tx, name, &StoredText::of(value), false)
}

fn value(store: &Store, cx: &Context, name: &str) -> Option<String> {
    store.read(cx, |db| options::get(db, name)).unwrap().map(|stored| stored.text().to_owned())
}

/// The records of the transactions, and the kinds of rows in each.
#[derive(Default)]
struct Seen(Mutex<Vec<usize>>);

impl Subscriber for Seen {
    fn committed(&self, changes: &ChangeRecord) {
        self.0.lock().unwrap().push(changes.kinds().count());
    }
}

#[test]
fn all_parts_are_committed_with_one_record() {
    fixture::on_each_with(2, |store| {
        let seen = Arc::new(Seen::default());
        store.subscribe(Arc::clone(&seen) as _);
        let (cx, others) = (Context::request(Transport::Plain), Context::background());
        let effects = Arc::new(AtomicUsize::new(0));
        let logged = store.logged_changes(&others, None, 1).unwrap().and_then(|last| Some(last.last()?.seq));
        block_on(cx.run(async {
            assert_eq!(value(&store, &cx, "one"), None);
            let open = store.begin(&cx, LONG).await.unwrap();
            assert!(matches!(store.begin(&cx, LONG).await, Err(StoreError::Nested)));
            store.write(&cx, set("one", "1")).await.unwrap();
            assert_eq!((value(&store, &cx, "one").as_deref(), value(&store, &others, "one")), (Some("1"), None));
            assert_eq!(store.stamp(&cx), None, "nothing that is not committed is cached");
            let counter = Arc::clone(&effects);
            store
                .after_commit(&cx, async move {
                    counter.fetch_add(1, Ordering::Relaxed);
                })
                .await;
            store.write(&cx, set("two", "2")).await.unwrap();
            let refused = store.read(&cx, |db| {
                let reading = db.cx().clone();
                Ok(block_on_here(store.write(&reading, set("three", "3"))))
            });
            assert!(matches!(refused, Ok(Err(StoreError::Nested))), "{refused:?}");
            assert_eq!((effects.load(Ordering::Relaxed), seen.0.lock().unwrap().len()), (0, 0));
            open.commit().await.unwrap();
            assert_eq!(
                (value(&store, &cx, "one").as_deref(), value(&store, &cx, "two").as_deref()),
                (Some("1"), Some("2"))
            );
            store.write(&cx, set("four", "4")).await.unwrap();
        }));
        assert_eq!((effects.load(Ordering::Relaxed), seen.0.lock().unwrap().len()), (1, 2));
        assert_eq!(value(&store, &others, "two").as_deref(), Some("2"));
        if let Some(after) = logged {
            let entries = store.logged_changes(&others, Some(after), 10).unwrap().unwrap();
            let names: Vec<_> = entries.into_iter().map(|entry| entry.object).collect();
            assert_eq!(
                names,
                ["one", "two", "four"].map(|name| Some(Object::Name(name.to_owned()))),
                "each change is logged once"
            );
        }
    });
}

/// The output of a future that fails before it waits.
fn block_on_here<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(output) => output,
        std::task::Poll::Pending => panic!("the future waits"),
    }
}

#[test]
fn nothing_remains_of_a_transaction_that_is_not_committed() {
    fixture::on_each_with(2, |store| {
        for how in ["rolled back", "dropped", "a part fails", "too slow"] {
            let cx = Context::request(Transport::Plain);
            let seen = Arc::new(Seen::default());
            store.subscribe(Arc::clone(&seen) as _);
            block_on(cx.run(async {
                let limit = if how == "too slow" { Duration::from_millis(50) } else { LONG };
                let open = store.begin(&cx, limit).await.unwrap();
                store.write(&cx, set("half", "1")).await.unwrap();
                let effect = async { panic!("an effect without a commit") };
                store.after_commit(&cx, effect).await;
                match how {
                    "rolled back" => open.roll_back().await,
                    "dropped" => drop(open),
                    "a part fails" => {
                        let failed = store.write(&cx, |_| Err::<(), _>(StoreError::TooMany)).await;
                        assert!(matches!(failed, Err(StoreError::TooMany)), "{failed:?}");
                        let later = store.write(&cx, set("half", "2")).await;
                        assert!(matches!(later, Err(StoreError::RolledBack)), "{later:?}");
                        let end = open.commit().await;
                        assert!(matches!(end, Err(StoreError::RolledBack)), "{end:?}");
                    }
                    _ => {
                        tokio::time::sleep(Duration::from_millis(200)).await;
                        let later = store.write(&cx, set("half", "2")).await;
                        assert!(matches!(later, Err(StoreError::RolledBack)), "{later:?}");
                        let end = open.commit().await;
                        assert!(matches!(end, Err(StoreError::Deadline)), "{end:?}");
                    }
                }
                assert_eq!(value(&store, &cx, "half"), None, "{how}");
                // The request can write on its own again.
                store.write(&cx, set("whole", how)).await.unwrap();
            }));
            assert_eq!(value(&store, &Context::background(), "half"), None, "{how}");
            assert_eq!(value(&store, &Context::background(), "whole").as_deref(), Some(how));
            assert_eq!(seen.0.lock().unwrap().len(), 1, "{how}");
        }
    });
}

#[test]
fn other_writers_wait_for_the_time_limit_at_most() {
    fixture::on_each_with(4, |store| {
        let cx = Context::request(Transport::Plain);
        let limit = Duration::from_millis(300);
        block_on(cx.run(async {
            let open = store.begin(&cx, limit).await.unwrap();
            store.write(&cx, set("held", "1")).await.unwrap();
            let (other, began) = (store.clone(), Instant::now());
            let waiting = std::thread::spawn(move || other.write_blocking(set("other", "1")).map(|()| began.elapsed()));
            let waited = tokio::task::spawn_blocking(|| waiting.join().unwrap()).await.unwrap().unwrap();
            assert!(waited >= limit / 2 && waited < LONG / 2, "{waited:?}");
            assert!(open.commit().await.is_err());
        }));
        assert_eq!(value(&store, &Context::background(), "held"), None);
    });
}

#[test]
fn held_snapshots_outlast_waiting_and_end_with_a_write() {
    fixture::on_each_with(2, |store| {
        let cx = Context::request(Transport::Plain);
        let write = |value: &'static str| {
            let other = &store;
            std::thread::scope(|threads| threads.spawn(|| other.write_blocking(set("seen", value))).join().unwrap())
                .unwrap();
        };
        block_on(cx.run(async {
            // Once with a snapshot that the request has already.
            for has_read in [false, true] {
                write("before");
                if has_read {
                    assert_eq!(value(&store, &cx, "seen").as_deref(), Some("before"));
                }
                let held = store.hold_snapshot(&cx).unwrap();
                let again = store.hold_snapshot(&cx).unwrap();
                if !has_read {
                    assert_eq!(value(&store, &cx, "seen").as_deref(), Some("before"));
                }
                write("after");
                tokio::task::yield_now().await;
                assert_eq!(value(&store, &cx, "seen").as_deref(), Some("before"));
                drop(again);
                drop(held);
                assert_eq!(value(&store, &cx, "seen").as_deref(), Some("after"));
                tokio::task::yield_now().await;
            }
            let _held = store.hold_snapshot(&cx).unwrap();
            store.write(&cx, set("seen", "own")).await.unwrap();
            assert_eq!(value(&store, &cx, "seen").as_deref(), Some("own"));
        }));
    });
}

#[test]
fn transactions_of_several_writes_take_turns() {
    const OPEN: Duration = Duration::from_millis(50);
    let of = |caller| {
        let cx = Context::request(Transport::Plain);
        cx.set_caller(caller);
        cx
    };
    fixture::on_each_with(2, |store| {
        block_on(async {
            let (one, two) = (of(1), of(2));
            let open = store.begin(&one, LONG).await.unwrap();
            let begun = Instant::now();
            {
                // Eight of a caller, with the one that is open.
                let mut own: Vec<_> = (0..7)
                    .map(|_| of(1))
                    .map(|cx| {
                        let store = store.clone();
                        Box::pin(async move { store.begin(&cx, LONG).await.is_ok() })
                    })
                    .collect();
                for waiting in &mut own {
                    assert!(tokio::time::timeout(OPEN / 50, waiting).await.is_err());
                }
                assert!(matches!(store.begin(&of(1), LONG).await, Err(StoreError::Busy)));
            }
            let mut waiting = Box::pin(store.begin(&two, LONG));
            assert!(tokio::time::timeout(OPEN, &mut waiting).await.is_err(), "one at a time");
            open.roll_back().await;
            let open = waiting.await.unwrap();
            assert!(begun.elapsed() >= 2 * OPEN, "single writes have as much time as the first transaction had");
            store.write(&two, set("turn", "2")).await.unwrap();
            open.commit().await.unwrap();
            let background = Context::background();
            assert_eq!(value(&store, &background, "turn").as_deref(), Some("2"));
            // The end of a request that waits leaves its place.
            let open = store.begin(&one, LONG).await.unwrap();
            for _ in 0..10 {
                assert!(tokio::time::timeout(OPEN / 50, store.begin(&two, LONG)).await.is_err());
            }
            drop(open);
            store.begin(&two, LONG).await.unwrap().roll_back().await;
        });
    });
}

#[test]
fn connections_are_left_for_requests_that_do_not_wait() {
    fixture::on_each_with(4, |store| {
        block_on(async {
            let mut held = Vec::new();
            for _ in 0..(store.usage().pool.max / 2).max(1) {
                held.push(store.snapshot_permit().await.unwrap());
            }
            let mut next = Box::pin(store.snapshot_permit());
            assert!(tokio::time::timeout(Duration::from_millis(50), &mut next).await.is_err());
            drop(held);
            next.await.unwrap();
        });
    });
}
