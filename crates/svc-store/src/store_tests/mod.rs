//! The store as a whole: snapshots, grouped writes, failures, backups.

mod change_log;
mod cluster;
mod dependencies;
mod layout;
mod leases;
mod meta_filters;
mod mysql;
mod open_transactions;
mod positions;
mod replicas;
mod sessions;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use svc_db::{ReadText as _, WriteText as _};
use svc_versions::{Context, Transport};

use crate::{DatabaseUrl, Store, StoreConfig, StoreError, StoredText, fixture, options};

#[test]
fn loads_the_fixture() {
    fixture::on_each(|store| {
        store.check().unwrap();
        let (posts, users, autoloaded) = store
            .read_blocking(|db| {
                let posts = crate::posts::query(db, &crate::posts::PostQuery::published("post", 10))?;
                let users = crate::users::by_login(db, "ADMIN")?;
                Ok((posts, users, crate::options::autoloaded(db)?.len()))
            })
            .unwrap();
        assert_eq!((posts.ids.len(), posts.total), (10, Some(51)));
        assert_eq!(users.unwrap().id.0, 1);
        assert!(autoloaded > 50);
    });
}

#[test]
fn reads_see_one_snapshot() {
    fixture::on_each_with(2, |store| {
        let seen = store
            .read_blocking(|db| {
                let before = options::get_many(db, &["blogname"])?;
                let write =
                    || store.write_blocking(|tx| options::set(tx, "blogname", &StoredText::of("changed"), true));
                std::thread::scope(|threads| threads.spawn(write).join().unwrap())?;
                let after = options::get_many(db, &["blogname"])?;
                Ok(before == after)
            })
            .unwrap();
        assert!(seen, "writes during a read must not be visible to it");
        assert_eq!(
            store.read_blocking(|db| options::get(db, "blogname")).unwrap().as_ref().map(StoredText::text),
            Some("changed")
        );
    });
}

#[test]
fn failed_writes_change_nothing() {
    fixture::on_each(|store| {
        let failed: Result<(), StoreError> = store.write_blocking(|tx| {
            options::set(tx, "half", &StoredText::of("1"), true)?;
            Err(StoreError::Other("no".to_owned()))
        });
        assert!(failed.is_err());
        let panicked: Result<(), StoreError> = store.write_blocking(|tx| {
            options::set(tx, "half", &StoredText::of("2"), true)?;
            panic!("a mistake")
        });
        assert!(panicked.is_err());
        assert_eq!(store.read_blocking(|db| options::get(db, "half")).unwrap(), None);
        store.write_blocking(|tx| options::set(tx, "whole", &StoredText::of("1"), true)).unwrap();
        assert_eq!(
            store.read_blocking(|db| options::get(db, "whole")).unwrap().as_ref().map(StoredText::text),
            Some("1")
        );
    });
}

#[test]
fn usage_counts_statements_and_transactions() {
    fixture::on_each(|store| {
        let before = store.usage();
        store.write_blocking(|tx| options::set(tx, "counted", &StoredText::of("1"), true)).unwrap();
        store.write_blocking(|_| Err::<(), _>(StoreError::Other("no".to_owned()))).unwrap_err();
        store.read_blocking(|db| options::get(db, "counted")).unwrap();
        let after = store.usage();
        let grown: Vec<u64> = after.transactions.iter().zip(&before.transactions).map(|(a, b)| a.1 - b.1).collect();
        assert_eq!(after.transactions.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["committed", "rolled_back"]);
        assert_eq!(grown, [1, 1]);
        assert!(after.commits.count > before.commits.count);
        let count = |usage: &svc_db::DatabaseUsage, kind: &str| {
            usage.statements.iter().find(|(name, _)| *name == kind).map_or(0, |(_, report)| report.count)
        };
        assert!(count(&after, "select") > count(&before, "select"));
        assert!(count(&after, "insert") > count(&before, "insert"));
        assert_eq!((after.waiting_writes, after.pool.in_use, after.pool.waiting), (0, 0, 0));
        let in_use = store.read_blocking(|_| Ok(store.usage().pool.in_use)).unwrap();
        assert_eq!(in_use, 1);
        assert!(!store.is_read_only().unwrap());
    });
}

#[test]
fn caller_errors_roll_back() {
    fixture::on_each(|store| {
        #[derive(Debug, PartialEq)]
        enum CallerError {
            Refused,
            Store,
        }
        impl From<StoreError> for CallerError {
            fn from(_: StoreError) -> Self {
                CallerError::Store
            }
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let result: Result<(), CallerError> = runtime.block_on(store.write_or(&Context::background(), |tx| {
            options::set(tx, "mine", &StoredText::of("1"), true)?;
            Err(CallerError::Refused)
        }));
        assert_eq!(result, Err(CallerError::Refused));
        assert_eq!(store.read_blocking(|db| options::get(db, "mine")).unwrap(), None);
    });
}

#[test]
fn subscribers_learn_of_committed_transactions_in_order() {
    use svc_model::UserId;

    use crate::post_changes::PostChanges;
    use crate::{ChangeRecord, Subscriber, posts, rows, users};

    /// Ids of changed posts, with the status before and after; `None` if they are not known.
    #[derive(Default)]
    struct Seen(std::sync::Mutex<Vec<(Option<Vec<i64>>, String)>>);

    impl Subscriber for Seen {
        fn committed(&self, changes: &ChangeRecord) {
            let status = |class: &Option<crate::post_changes::PostClass>| {
                class.as_ref().map_or("-", |class| &class.status).to_owned()
            };
            let of =
                PostChanges::of(changes).iter().map(|change| status(&change.before) + ">" + &status(&change.after));
            let ids = changes.ids(rows::POSTS);
            self.0.lock().unwrap().push((ids, of.collect::<Vec<_>>().join(" ")));
        }
    }

    fixture::on_each(|store| {
        let seen = Arc::new(Seen::default());
        store.subscribe(Arc::clone(&seen) as Arc<dyn Subscriber>);
        let post =
            svc_model::Post { status: "draft".to_owned(), post_type: "post".to_owned(), ..svc_model::Post::default() };
        let id = store.write_blocking(move |tx| posts::insert(tx, &post)).unwrap();
        let failed = store.write_blocking(move |tx| {
            posts::delete(tx, id)?;
            Err::<(), _>(StoreError::Other("no".to_owned()))
        });
        assert!(failed.is_err());
        store.write_blocking(|_| Ok(())).unwrap();
        store
            .write_blocking(move |tx| {
                let mut post = posts::get(tx, id)?.unwrap();
                post.status = "publish".to_owned();
                posts::update(tx, &post)
            })
            .unwrap();
        store.write_blocking(|tx| users::delete(tx, UserId(3), Some(UserId(1)))).unwrap();
        store.write_blocking(move |tx| posts::delete(tx, id)).unwrap();
        let row = |ids: Option<Vec<i64>>, of: &str| (ids, of.to_owned());
        let [inserted, updated, reassigned, deleted] = &seen.0.lock().unwrap()[..] else { panic!("{:?}", seen.0) };
        assert_eq!(*inserted, row(Some(vec![id.0]), "->draft"));
        assert_eq!(*updated, row(Some(vec![id.0]), "draft>publish"));
        let (ids, statuses) = reassigned;
        assert!(ids.as_deref().is_some_and(|ids| ids.contains(&1001) && !ids.contains(&id.0)), "{ids:?}");
        assert!(statuses.split(' ').all(|pair| pair.split_once('>').is_some_and(|(a, b)| a == b)), "{statuses}");
        assert_eq!((deleted.0.as_deref(), &*deleted.1), (Some(&[id.0][..]), "publish>-"));
    });
}

#[test]
fn concurrent_writers_and_readers() {
    fixture::on_each(|store| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
        let runs = Arc::new(AtomicUsize::new(0));
        runtime.block_on(async {
            let mut tasks = Vec::new();
            for i in 0..100 {
                let (store, runs, cx) = (store.clone(), runs.clone(), Context::background());
                tasks.push(tokio::spawn(async move {
                    let write = store.write(&cx, move |tx| {
                        runs.fetch_add(1, Ordering::Relaxed);
                        options::set(tx, &format!("n{i}"), &StoredText::of("x"), false)?;
                        // Every tenth write fails, in a group with others.
                        if i % 10 == 0 { Err(StoreError::Other("no".to_owned())) } else { Ok(()) }
                    });
                    let wrote = write.await.is_ok();
                    // Acknowledged writes are visible immediately.
                    let there = store.read_blocking(|db| options::get(db, &format!("n{i}"))).unwrap().is_some();
                    assert_eq!((wrote, there), (i % 10 != 0, i % 10 != 0));
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
        });
        assert_eq!(runs.load(Ordering::Relaxed), 100);
        store.check().unwrap();
    });
}

#[test]
fn slow_reads_time_out() {
    let (_, folder) = fixture::store();
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(folder.path().join("site.db")));
    config.read_timeout = Some(Duration::from_millis(50));
    let store = fixture::open(&config).unwrap();
    let start = Instant::now();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
    let result = store.read_blocking(|db| db.query_text(endless, &[], &mut |_| Ok(())));
    assert!(matches!(result, Err(StoreError::Deadline)), "{result:?}");
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(
        store.read_blocking(|db| options::get(db, "blogname")).unwrap().is_some(),
        "the connection is usable again"
    );
}

#[test]
fn busy_without_a_free_connection() {
    let (_, folder) = fixture::store();
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(folder.path().join("site.db")));
    config.readers = 1;
    config.wait_timeout = Duration::from_millis(10);
    let store = fixture::open(&config).unwrap();
    let read = || store.read_blocking(|_| Ok(()));
    let inner = store.read_blocking(|_| Ok(std::thread::scope(|threads| threads.spawn(read).join().unwrap()))).unwrap();
    assert!(matches!(inner, Err(StoreError::Busy)));
    // A panic returns the connection.
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| store.read_blocking::<()>(|_| panic!("a mistake"))));
    assert!(panicked.is_err());
    store.read_blocking(|db| options::get(db, "blogname")).unwrap();
}

/// After a commit, a request waits longer for a connection, because it must not respond with "try again".
#[tokio::test(flavor = "multi_thread")]
async fn requests_wait_longer_after_a_write() {
    let (_, folder) = fixture::store();
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(folder.path().join("site.db")));
    config.readers = 1;
    config.wait_timeout = Duration::from_millis(10);
    let store = fixture::open(&config).unwrap();
    let (taken, holds) = std::sync::mpsc::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let other = store.clone();
    let holder = std::thread::spawn(move || {
        other.read_blocking(|_| {
            taken.send(()).unwrap();
            released.recv().unwrap();
            // Far longer than a request waits that has not written.
            std::thread::sleep(Duration::from_millis(500));
            Ok(())
        })
    });
    holds.recv().unwrap();
    let cx = Context::request(Transport::Plain);
    let request = cx.run(async {
        let before = store.read(&cx, |db| options::get(db, "blogname"));
        assert!(matches!(before, Err(StoreError::Busy)));
        store.write(&cx, |tx| options::set(tx, "blogname", &StoredText::of("written"), true)).await?;
        release.send(()).unwrap();
        store.read(&cx, |db| options::get(db, "blogname"))
    });
    assert_eq!(request.await.unwrap().as_ref().map(StoredText::text), Some("written"));
    holder.join().unwrap().unwrap();
}

#[test]
fn reports_corruption_and_missing_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.db");
    std::fs::write(&path, vec![b'x'; 8192]).unwrap();
    let opened = fixture::open(&StoreConfig::new(DatabaseUrl::Sqlite(path)));
    assert!(matches!(opened, Err(StoreError::Corrupt(_))));

    let empty = fixture::open(&StoreConfig::new(DatabaseUrl::Temporary)).unwrap();
    let read = empty.read_blocking(|db| options::get(db, "x"));
    assert!(matches!(read, Err(StoreError::Schema(_))), "{read:?}");

    let nowhere = StoreConfig::new(DatabaseUrl::Sqlite(folder.path().join("no/such/folder.db")));
    assert!(matches!(fixture::open(&nowhere), Err(StoreError::Unavailable(_))));
}

#[test]
fn checks_for_corruption_only_after_an_unclean_shutdown() {
    let (store, folder) = fixture::store();
    let path = folder.path().join("site.db");
    let mark = || std::fs::read_to_string(folder.path().join("site.db.running")).unwrap();
    assert_eq!(mark(), "open\n");
    drop(store);
    assert_eq!(mark(), "closed\n");
    assert!(!folder.path().join("site.db-wal").exists(), "the log should be checkpointed");
    // The state after a crash, with a corrupt page.
    std::fs::write(folder.path().join("site.db.running"), "open\n").unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 4096 / 2 * 4096;
    bytes[middle..middle + 4096].fill(0xee);
    std::fs::write(&path, bytes).unwrap();
    let opened = fixture::open(&StoreConfig::new(DatabaseUrl::Sqlite(path)));
    assert!(matches!(opened, Err(StoreError::Corrupt(_))));
}

#[test]
fn a_full_disk_loses_no_acknowledged_write() {
    let (store, _folder) = fixture::store();
    // Sets the number of additional pages; `None` is the maximum.
    let room = |more: Option<i64>| {
        let limit = move |tx: &mut crate::Tx| {
            let mut pages = 0;
            tx.query_text("PRAGMA page_count", &[], &mut |row| row.int(0).map(|n| pages = n))?;
            let most = more.map_or(i64::from(u32::MAX - 1), |more| pages + more);
            tx.query_text(&format!("PRAGMA max_page_count = {most}"), &[], &mut |_| Ok(()))
        };
        store.write_blocking(limit).unwrap();
    };
    room(Some(100));
    let write = |n: usize| {
        let store = store.clone();
        let post = svc_model::Post { title: format!("n{n}"), content: "x".repeat(60_000), ..Default::default() };
        std::thread::spawn(move || store.write_blocking(move |tx| crate::posts::insert(tx, &post)))
    };
    let threads: Vec<_> = (0..24).map(write).collect();
    let outcomes: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    let written: Vec<_> = outcomes.iter().filter_map(|o| o.as_ref().ok().copied()).collect();
    let full = outcomes.iter().filter(|o| matches!(o, Err(StoreError::Full))).count();
    assert!(!written.is_empty() && full > 0 && written.len() + full == 24, "{outcomes:?}");
    let found = store.read_blocking(|db| crate::posts::get_many(db, &written)).unwrap();
    assert_eq!(found.len(), written.len());
    store.check().unwrap();
    room(None);
    write(24).join().unwrap().unwrap();
}

#[cfg(unix)]
#[test]
fn read_only_files_can_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let (store, folder) = fixture::store();
    drop(store);
    let path = folder.path().join("site.db");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    if std::fs::File::options().write(true).open(&path).is_ok() {
        eprintln!("SKIPPED: the current user can write to every file");
        return;
    }
    let store = fixture::open(&StoreConfig::new(DatabaseUrl::Sqlite(path.clone()))).unwrap();
    assert!(store.read_blocking(|db| options::get(db, "blogname")).unwrap().is_some());
    let refused = store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("1"), true));
    assert!(matches!(refused, Err(StoreError::ReadOnly)), "{refused:?}");
    drop(store);
    // The files that SQLite created next to it have inherited its mode.
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        std::fs::set_permissions(entry.unwrap().path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let store = fixture::open(&StoreConfig::new(DatabaseUrl::Sqlite(path))).unwrap();
    store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("1"), true)).unwrap();
}

#[test]
fn backups_are_complete() {
    let (store, folder) = fixture::store();
    let copy = folder.path().join("copy.db");
    store.backup(&copy).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&copy).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "it contains password hashes");
    }
    assert!(store.backup(&copy).is_err(), "existing files must not be overwritten");
    let copy = fixture::open(&StoreConfig::new(DatabaseUrl::Sqlite(copy))).unwrap();
    copy.check().unwrap();
    assert_eq!(
        copy.read_blocking(|db| options::get(db, "blogname")).unwrap(),
        store.read_blocking(|db| options::get(db, "blogname")).unwrap()
    );
    // New ids continue in the copy.
    let id = copy.write_blocking(|tx| crate::posts::insert(tx, &svc_model::Post::default())).unwrap();
    assert_eq!(id.0, 100_001);
}

#[test]
fn another_collation_order_rebuilds_indexes() {
    let (store, folder) = fixture::store();
    let made_with = |tx: &mut crate::Tx| {
        let mut n = 0;
        let sql = "SELECT n FROM wp_svc_layout WHERE name = 'collation'";
        tx.query_text(sql, &[], &mut |row| row.int(0).map(|v| n = v))?;
        Ok(n)
    };
    store
        .write_blocking(|tx| tx.execute_text("UPDATE wp_svc_layout SET n = -1 WHERE name = 'collation'", &[]).map(drop))
        .unwrap();
    drop(store);
    let store = fixture::open(&StoreConfig::new(DatabaseUrl::Sqlite(folder.path().join("site.db")))).unwrap();
    assert_eq!(store.write_blocking(made_with).unwrap(), svc_db::collation::VERSION);
}

#[test]
fn installing_twice_changes_nothing() {
    let store = fixture::open(&StoreConfig::new(DatabaseUrl::Temporary)).unwrap();
    for _ in 0..2 {
        store.write_blocking(crate::schema::install).unwrap();
    }
    store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("1"), true)).unwrap();
    let version = |store: &Store| store.read_blocking(|db| Ok(db.version(crate::rows::OPTIONS))).unwrap().unwrap();
    let before = version(&store);
    store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("2"), true)).unwrap();
    assert!(version(&store) > before);
    assert!(
        store
            .write_blocking(|tx| options::replace(tx, "a", &StoredText::of("1"), &StoredText::of("3")))
            .is_ok_and(|done| !done)
    );
    assert!(
        store
            .write_blocking(|tx| options::replace(tx, "a", &StoredText::of("2"), &StoredText::of("3")))
            .is_ok_and(|done| done)
    );
    assert!(store.write_blocking(|tx| options::delete(tx, "a")).unwrap());
    assert_eq!(store.read_blocking(|db| options::get(db, "a")).unwrap(), None);
}

#[test]
fn meta_is_replaced_if_its_bytes_are_the_same() {
    use crate::{MetaKind, meta};
    let rows = [("phone é", false), ("Phone e", false), ("Phone é ", false), ("Phone é", true), ("", false)];
    fixture::on_each(|store| {
        for (known, expected) in rows {
            let (done, stored) = store
                .write_blocking(move |tx| {
                    meta::update(tx, MetaKind::User, 1, "k", &StoredText::of("Phone é"))?;
                    let new = StoredText::of("next");
                    let done = meta::replace(tx, MetaKind::User, 1, "k", &StoredText::of(known), &new)?;
                    Ok::<_, StoreError>((done, meta::get(tx, MetaKind::User, 1, "k")?))
                })
                .unwrap();
            let wanted = if expected { "next" } else { "Phone é" };
            assert_eq!((done, stored.as_ref().map(StoredText::text)), (expected, Some(wanted)), "{known}");
        }
    });
}
