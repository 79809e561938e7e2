//! Tests that need a server: broken connections, deadlocks, limits. Skipped if MariaDB is not installed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use mysql::prelude::Queryable as _;
use svc_db::{ReadText as _, Tuning};
use svc_model::{Post, UserId};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};
use svc_versions::Context;

use crate::import::{ImportError, ImportOptions};
use crate::{DatabaseUrl, Store, StoreConfig, StoreError, StoredText, fixture, options, posts};

/// An empty site on a server, and the URL of its database.
fn site() -> Option<(Store, StoreConfig, String)> {
    let config = fixture::database(fixture::server()?);
    let store = fixture::open(&config).unwrap();
    store.write_blocking(crate::schema::install).unwrap();
    let DatabaseUrl::MySql(url) = &config.url else { unreachable!() };
    let database = url.split(['/', '?']).nth(3).unwrap().to_owned();
    Some((store, config, database))
}

#[test]
fn closed_connections_are_replaced() {
    let (Some((store, _, database)), Some(server)) = (site(), fixture::server()) else { return };
    store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("1"), true)).unwrap();
    for _ in 0..3 {
        let ids = server.client(&format!("SELECT id FROM information_schema.processlist WHERE db = '{database}'"));
        for id in ids.unwrap().lines() {
            server.client(&format!("KILL {id}")).unwrap();
        }
        assert_eq!(store.read_blocking(|db| options::get(db, "a")).unwrap().as_ref().map(StoredText::text), Some("1"));
    }
}

#[test]
fn deadlocks_with_other_programs_are_retried() {
    retries_after_a_deadlock(false);
}

/// The server has rolled back what the transaction had written, and would commit each further statement by itself.
#[test]
fn a_transaction_that_ignores_a_deadlock_loses_nothing() {
    retries_after_a_deadlock(true);
}

fn retries_after_a_deadlock(is_ignored: bool) {
    let Some((store, config, _)) = site() else { return };
    let text = |value: &'static str| StoredText::of(value);
    store
        .write_blocking(move |tx| {
            // Every site has this option. Without it, writers lock the gap where it would be, and new options with it.
            options::set(tx, "db_version", &StoredText::of(1), true)?;
            options::set(tx, "a", &text("0"), true)?;
            options::set(tx, "b", &text("0"), true)
        })
        .unwrap();
    let both = Arc::new(Barrier::new(2));
    let runs = Arc::new(AtomicUsize::new(0));
    let write = std::thread::spawn({
        let (store, both, runs) = (store.clone(), both.clone(), runs.clone());
        move || {
            store.write_blocking(move |tx| {
                options::set(tx, "a", &text("1"), true)?;
                // Only in the first run do both wait until each holds a lock that the other needs.
                if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                    both.wait();
                }
                let set = options::set(tx, "b", &text("1"), true);
                if !is_ignored {
                    set?;
                }
                options::set(tx, "c", &text("1"), true).or(if is_ignored { Ok(()) } else { Err(StoreError::Busy) })
            })
        }
    });
    // The server rolls back the transaction with fewer changes.
    let mut other = OtherProgram::of(&config);
    other.run("START TRANSACTION");
    for n in 0..20 {
        other.run(&format!("INSERT INTO wp_options (option_name, option_value) VALUES ('other{n}', '')"));
    }
    other.run("UPDATE wp_options SET option_value = '2' WHERE option_name = 'b'");
    both.wait();
    other.run("UPDATE wp_options SET option_value = '2' WHERE option_name = 'a'");
    other.run("COMMIT");
    write.join().unwrap().unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 2);
    for name in ["a", "b", "c"] {
        let value = store.read_blocking(|db| options::get(db, name)).unwrap();
        assert_eq!(value.as_ref().map(StoredText::text), Some("1"), "{name}");
    }
}

/// Reads a number, adds one and writes it back, on eight threads at once.
fn count_up(stores: &[Store], option: &'static str) -> i64 {
    std::thread::scope(|scope| {
        for n in 0..8 {
            let store = &stores[n % stores.len()];
            scope.spawn(move || {
                for _ in 0..20 {
                    let add = move |tx: &mut crate::Tx| {
                        let now = options::get(tx, option)?.map_or(0, |v| v.text().parse::<i64>().unwrap());
                        options::set(tx, option, &StoredText::of(now + 1), false)
                    };
                    store.write_blocking(add).unwrap();
                }
            });
        }
    });
    stores[0].read_blocking(|db| options::get(db, option)).unwrap().unwrap().text().parse().unwrap()
}

#[test]
fn concurrent_read_modify_write_loses_nothing() {
    let (sqlite, _folder) = fixture::store();
    assert_eq!(count_up(&[sqlite], "n"), 160, "SQLite");
    // The option does not exist at first, and the gate row may be missing.
    let Some((store, config, _)) = site() else { return };
    let two = [store.clone(), fixture::open(&config).unwrap()];
    assert_eq!(count_up(&two[..1], "one"), 160, "one server");
    assert_eq!(count_up(&two, "two"), 160, "two servers");
    store.write_blocking(|tx| options::set(tx, "db_version", &StoredText::of(1), true)).unwrap();
    assert_eq!(count_up(&two, "with a gate"), 160, "two servers");
}

#[test]
fn concurrent_changes_by_other_programs_are_not_overwritten() {
    let Some((store, config, _)) = site() else { return };
    let mut other = OtherProgram::of(&config);
    let is_supported = other.0.query_drop("SET SESSION innodb_snapshot_isolation = ON").is_ok();
    if !is_supported {
        eprintln!("SKIPPED: the server does not support innodb_snapshot_isolation");
        return;
    }
    other.run("INSERT INTO wp_options (option_name, option_value) VALUES ('n', '1')");
    let (runs, other) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(other)));
    let counted = Arc::clone(&runs);
    let add = move |tx: &mut crate::Tx| {
        let now = options::get(tx, "n")?.map_or(0, |v| v.text().parse::<i64>().unwrap());
        if counted.fetch_add(1, Ordering::Relaxed) == 0 {
            other.lock().unwrap().run("UPDATE wp_options SET option_value = '5' WHERE option_name = 'n'");
        }
        options::set(tx, "n", &StoredText::of(now + 1), true)
    };
    store.write_blocking(add).unwrap();
    assert_eq!(store.read_blocking(|db| options::get(db, "n")).unwrap().unwrap().text(), "6");
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}

#[test]
fn errors_are_distinguished() {
    let (Some((store, config, database)), Some(server)) = (site(), fixture::server()) else { return };
    let url = |from: &str, to: &str| {
        let DatabaseUrl::MySql(url) = &config.url else { unreachable!() };
        let mut config = config.clone();
        config.url = DatabaseUrl::MySql(url.replace(from, to));
        fixture::open(&config).map(drop)
    };
    let error = url("root@", "nobody:secret@").unwrap_err();
    assert!(matches!(&error, StoreError::Unavailable(_)), "{error}");
    assert!(!error.to_string().contains("secret"));
    assert!(matches!(url(&database, "no_such_database"), Err(StoreError::Unavailable(_))));
    assert!(matches!(url("%2Fs", "%2Fnothing"), Err(StoreError::Unavailable(_))));

    let too_long = store.write_blocking(|tx| options::set(tx, &"x".repeat(500), &StoredText::of(""), true));
    assert!(matches!(too_long, Err(StoreError::Other(_))), "values must not be truncated silently: {too_long:?}");

    let mut short = config.clone();
    short.read_timeout = Some(Duration::from_millis(200));
    let slow =
        fixture::open(&short).unwrap().read_blocking(|db| db.query_text("SELECT SLEEP(5)", &[], &mut |_| Ok(())));
    assert!(matches!(slow, Err(StoreError::Deadline)), "{slow:?}");

    server.client(&format!("DROP TABLE {database}.wp_options")).unwrap();
    let missing = store.read_blocking(|db| options::get(db, "a"));
    assert!(matches!(missing, Err(StoreError::Schema(_))), "{missing:?}");
}

#[test]
fn uses_tls_and_verifies_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let (key, certificate) = (folder.path().join("key.pem"), folder.path().join("cert.pem"));
    let made = std::process::Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    if !made.is_ok_and(|m| m.status.success()) {
        eprintln!("SKIPPED: openssl is not installed");
        return;
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let options = [
        format!("--port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--ssl-key={}", key.display()),
        format!("--ssl-cert={}", certificate.display()),
    ];
    let Some(server) = MariaDb::start(&options.each_ref().map(String::as_str)).unwrap() else { return };
    server.create("db").unwrap();
    server.client("CREATE USER u IDENTIFIED BY 'p' REQUIRE SSL; GRANT ALL ON db.* TO u").unwrap();
    let open = |parameters: &str| {
        let url = format!("mysql://u:p@localhost:{port}/db{parameters}");
        let store = fixture::open(&StoreConfig::new(DatabaseUrl::MySql(url)))?;
        let mut cipher = String::new();
        store.read_blocking(|db| {
            db.query_text("SHOW STATUS LIKE 'Ssl_cipher'", &[], &mut |row| {
                cipher = row.text(1)?;
                Ok(())
            })
        })?;
        Ok::<_, StoreError>(!cipher.is_empty())
    };
    assert!(matches!(open(""), Err(StoreError::Unavailable(_))), "the account requires TLS");
    assert!(matches!(open("?tls=true"), Err(StoreError::Unavailable(_))), "the certificate is not trusted");
    assert!(open("?tls=unverified").unwrap());
    let own = format!("?tls_ca={}", certificate.display());
    assert!(open(&own).unwrap(), "the authority is configured");
    assert!(open(&format!("{own}&charset=latin1")).unwrap());
}

/// An empty site on a server that no other test writes to while the guard is held.
pub(super) fn quiet_site() -> Option<(MutexGuard<'static, ()>, Store, StoreConfig)> {
    static SERVER: OnceLock<Option<MariaDb>> = OnceLock::new();
    static QUIET_SERVER: Mutex<()> = Mutex::new(());
    let server = SERVER.get_or_init(|| MariaDb::start(DISPOSABLE_OPTIONS).unwrap()).as_ref()?;
    let guard = QUIET_SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let config = fixture::database(server);
    let store = fixture::open(&config).unwrap();
    store.write_blocking(crate::schema::install).unwrap();
    Some((guard, store, config))
}

/// Another program on the same database: a connection that the store does not know.
pub(super) struct OtherProgram(mysql::Conn);

impl OtherProgram {
    pub(super) fn of(config: &StoreConfig) -> Self {
        OtherProgram(mysql::Conn::new(crate::mysql_options(&config.url).unwrap()).unwrap())
    }

    pub(super) fn run(&mut self, sql: &str) {
        self.0.query_drop(sql).unwrap();
    }

    fn insert(&mut self) {
        let columns = "(post_status, post_content, post_title, post_excerpt, to_ping, pinged, post_content_filtered)";
        self.run(&format!("INSERT INTO wp_posts {columns} VALUES ('publish', '', '', '', '', '', '')"));
    }
}

/// The total of a list, and the number of statements: one more if it was counted.
pub(super) fn total(store: &Store) -> (u64, u64) {
    let q = crate::posts::PostQuery::published("post", 1);
    store
        .read_blocking(|db| {
            // The validity of cached totals is checked at the first use in a read.
            db.version(crate::rows::POSTS);
            let before = db.statement_count();
            let total = crate::posts::query(db, &q)?.total.unwrap();
            Ok((total, db.statement_count() - before))
        })
        .unwrap()
}

/// Waits for a condition. The server's background work is numbered too, and may take a while.
#[track_caller]
pub(super) fn wait_until(condition: impl Fn() -> bool) {
    for _ in 0..250 {
        if condition() {
            return;
        }
        std::thread::sleep(Tuning::QUICK.settle_time);
    }
    panic!("timed out");
}

pub(super) const CACHED: u64 = 1;
const COUNTED: u64 = 2;

#[test]
fn totals_are_cached_until_a_write() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let mut other = OtherProgram::of(&config);
    other.insert();
    for n in 1..300 {
        other.insert();
        assert_eq!(total(&store).0, n + 1);
        if n % 10 == 0 {
            wait_until(|| total(&store) == (n + 1, CACHED));
        }
    }
}

#[test]
fn totals_follow_own_writes() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let mut other = OtherProgram::of(&config);
    let post = |status: &str| Post { post_type: "post".to_owned(), status: status.to_owned(), ..Post::default() };
    let insert =
        |status: &'static str| store.write_blocking(move |tx| crate::posts::insert(tx, &post(status))).unwrap();
    for _ in 0..40 {
        insert("publish");
    }
    let id = insert("draft");
    // The server itself writes statistics from time to time.
    let mut n_counted = 0;
    let mut expect = |n: u64| {
        let (found, n_statements) = total(&store);
        assert_eq!(found, n);
        if n_statements == COUNTED {
            n_counted += 1;
            wait_until(|| total(&store) == (n, CACHED));
        }
    };
    wait_until(|| total(&store) == (40, CACHED));
    let of_author = |author: i64| {
        let q = crate::posts::PostQuery::published("post", 1).author_in(vec![UserId(author)]);
        store.read_blocking(|db| crate::posts::query(db, &q)).unwrap().total
    };
    assert_eq!((of_author(0), of_author(9)), (Some(40), Some(0)));
    for n in 0..20_u64 {
        let update = |title: &str| {
            let post = Post { id, title: format!("{title} {n}"), ..post("publish") };
            store.write_blocking(move |tx| crate::posts::update(tx, &post)).unwrap();
        };
        expect(40 + n);
        update("published");
        expect(41 + n);
        update("changed");
        expect(41 + n);
        store.write_blocking(move |tx| options::set(tx, "a", &StoredText::of(n.to_string()), true)).unwrap();
        expect(41 + n);
        let now = chrono::NaiveDateTime::default();
        store.write_blocking(move |tx| crate::posts::trash(tx, id, (now, now))).unwrap();
        expect(40 + n);
        let other = insert("publish");
        expect(41 + n);
        store.write_blocking(move |tx| crate::posts::delete(tx, other)).unwrap();
        expect(40 + n);
        assert_eq!((of_author(0), of_author(9)), (Some(40 + n), Some(0)));
        insert("publish");
    }
    assert!(n_counted < 20, "{n_counted} of 140 lists were counted again");
    other.insert();
    assert_eq!(total(&store).0, 61);
}

#[test]
fn a_snapshot_from_before_an_own_write_is_not_cached_as_newer() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    OtherProgram::of(&config).insert();
    OtherProgram::of(&config).insert();
    wait_until(|| total(&store) == (2, CACHED));
    let writer = store.clone();
    let post = Post { post_type: "post".to_owned(), status: "publish".to_owned(), ..Post::default() };
    let old = store.read_blocking(|db| {
        std::thread::scope(|threads| {
            threads
                .spawn(move || writer.write_blocking(move |tx| crate::posts::insert(tx, &post)))
                .join()
                .unwrap()
                .unwrap();
        });
        crate::posts::query(db, &crate::posts::PostQuery::published("post", 1))
    });
    assert_eq!(old.unwrap().total, Some(2));
    assert_eq!(total(&store).0, 3);
}

#[test]
fn totals_are_never_stale() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let (begun, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let writers = [7, 13].map(|gap| {
        let (mut other, begun, done) = (OtherProgram::of(&config), begun.clone(), done.clone());
        std::thread::spawn(move || {
            for n in 0..150_u32 {
                begun.fetch_add(1, Ordering::SeqCst);
                other.insert();
                done.fetch_add(1, Ordering::SeqCst);
                // Occasionally long enough for a total to be cached.
                std::thread::sleep(if n % gap == 0 {
                    3 * Tuning::QUICK.settle_time
                } else {
                    Duration::from_micros(200 * u64::from(n % gap))
                });
            }
        })
    });
    let mut n_cached = 0;
    while !writers.iter().all(std::thread::JoinHandle::is_finished) {
        let min = done.load(Ordering::SeqCst);
        let (total, statements) = total(&store);
        let max = begun.load(Ordering::SeqCst);
        assert!((min..=max).contains(&usize::try_from(total).unwrap()), "{min} {total} {max}");
        n_cached += usize::from(statements == CACHED && total > 1);
    }
    assert!(n_cached > 10, "{n_cached}");
}

#[test]
fn late_commits_are_noticed() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let (mut long, mut short) = (OtherProgram::of(&config), OtherProgram::of(&config));
    short.insert();
    short.insert();
    long.run("START TRANSACTION");
    long.insert();
    // Within the same second, so that the table's update time does not change.
    short.insert();
    wait_until(|| total(&store) == (3, CACHED));
    long.run("COMMIT");
    assert_eq!(total(&store).0, 4);
    wait_until(|| total(&store) == (4, CACHED));
    short.run("DELETE FROM wp_posts LIMIT 1");
    assert_eq!(total(&store).0, 3);
    wait_until(|| total(&store) == (3, CACHED));
    short.run("TRUNCATE TABLE wp_posts");
    assert_eq!(total(&store).0, 0);
}

#[test]
fn tables_of_other_engines_are_not_cached() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let mut other = OtherProgram::of(&config);
    other.insert();
    other.insert();
    wait_until(|| total(&store) == (2, CACHED));
    other.run("ALTER TABLE wp_posts ENGINE = MyISAM");
    for n in 2..20 {
        assert_eq!(total(&store), (n, COUNTED));
        std::thread::sleep(2 * Tuning::QUICK.settle_time);
        assert_eq!(total(&store), (n, COUNTED));
        other.insert();
    }
}

#[test]
fn options_are_cached_until_a_write() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let mut other = OtherProgram::of(&config);
    let get = || {
        let read = |db: &mut crate::Db| {
            db.version(crate::rows::OPTIONS);
            let before = db.statement_count();
            Ok((options::get(db, "a")?, db.statement_count() - before))
        };
        store.read_blocking(read).unwrap()
    };
    store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("1"), true)).unwrap();
    wait_until(|| get() == (Some(StoredText::of("1")), 0));
    other.run("UPDATE wp_options SET option_value = '2' WHERE option_name = 'a'");
    assert_eq!(get().0.as_ref().map(StoredText::text), Some("2"));
}

#[test]
fn writes_of_others_are_noticed() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let mut other = OtherProgram::of(&config);
    let nothing = svc_versions::Dependencies::default();
    for _ in 0..20 {
        wait_until(|| store.stamp(&Context::background()).is_some());
        let before = store.stamp(&Context::background()).unwrap();
        assert!(store.versions().is_current(&nothing, before));
        other.insert();
        assert_eq!(store.stamp(&Context::background()), None, "the state is not settled yet");
        assert!(!store.versions().is_current(&nothing, before), "everything is invalid");
    }
}

#[test]
fn own_writes_invalidate_what_they_change() {
    let Some((_alone, store, _)) = quiet_site() else { return };
    let id = store.write_blocking(|tx| posts::insert(tx, &svc_model::Post::default())).unwrap();
    let set = |value: &'static str| {
        store.write_blocking(move |tx| options::set(tx, "a", &StoredText::of(value), true)).unwrap()
    };
    set("0");
    let cx = Context::background();
    let (_, of_posts) = cx.capture(|| store.read(&cx, |db| posts::get(db, id)).unwrap());
    let (_, of_options) = cx.capture(|| store.read(&cx, |db| options::get(db, "a")).unwrap());
    let mut n_exact = 0;
    for value in ["1", "2", "3", "4", "5", "6"] {
        wait_until(|| store.stamp(&Context::background()).is_some());
        let before = store.versions().stamp();
        set(value);
        let is_known = store.stamp(&Context::background()).is_some();
        assert!(!store.versions().is_current(&of_options, before));
        // The server's own transactions, which are rare, look like those of others.
        n_exact += usize::from(is_known && store.versions().is_current(&of_posts, before));
    }
    assert!(n_exact > 2, "{n_exact} of 6 writes were recognized as own");
}

#[test]
fn the_stamp_is_known_while_all_connections_are_in_use() {
    let Some((_alone, _, mut config)) = quiet_site() else { return };
    config.readers = 1;
    let store = fixture::open(&config).unwrap();
    let mut other = OtherProgram::of(&config);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let watched = || runtime.block_on(store.watched_stamp());
    let read = |db: &mut crate::Db| {
        wait_until(|| watched().is_some());
        let (before, n_before) = (watched(), db.statement_count());
        let many: Vec<_> = (0..200).map(|_| runtime.spawn(store.watched_stamp())).collect();
        let stamps: Vec<_> = many.into_iter().map(|stamp| runtime.block_on(stamp).unwrap()).collect();
        assert!(stamps.iter().all(|stamp| *stamp == before), "{stamps:?}");
        let n_queries = db.statement_count() - n_before;
        assert!(n_queries < 150, "{n_queries} queries for 200 callers");
        other.insert();
        assert_eq!(watched(), None, "the state is not settled yet");
        wait_until(|| watched().is_some());
        assert_ne!(watched(), before);
        Ok(())
    };
    store.read_blocking(read).unwrap();
}

#[test]
fn utf8mb3_columns_store_emoji_as_references() {
    let Some((_, config, _)) = site() else { return };
    let mut other = OtherProgram::of(&config);
    other.run("ALTER TABLE wp_posts CONVERT TO CHARACTER SET utf8mb3 COLLATE utf8mb3_unicode_520_ci");
    let store = fixture::open(&config).unwrap();
    let post =
        svc_model::Post { title: "Größe 🎉".to_owned(), content: "👍🏽".to_owned(), ..Default::default() };
    let stored = store.write_blocking(move |tx| {
        let id = posts::insert(tx, &post)?;
        let changed = svc_model::Post { id, excerpt: "🎉".to_owned(), ..post.clone() };
        posts::update(tx, &changed)?;
        posts::get(tx, id)
    });
    let stored = stored.unwrap().unwrap();
    let texts = [stored.title.as_str(), &stored.content, &stored.excerpt];
    assert_eq!(texts, ["Größe &#x1f389;", "&#x1f44d;&#x1f3fd;", "&#x1f389;"]);
}

#[test]
fn staleness_permits_old_totals_until_an_own_write() {
    let Some((_, mut config, _)) = site() else { return };
    config.staleness = Duration::from_secs(3600);
    let store = fixture::open(&config).unwrap();
    let mut other = OtherProgram::of(&config);
    other.insert();
    other.insert();
    assert_eq!(total(&store).0, 2);
    other.insert();
    assert_eq!(total(&store), (2, CACHED), "writes of others may be seen late");
    store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("1"), true)).unwrap();
    assert_eq!(total(&store), (3, COUNTED), "own writes invalidate the total");
    // Data that determines permissions is never stale.
    let get = || store.read_blocking(|db| options::get(db, "a")).unwrap();
    assert_eq!(get().as_ref().map(StoredText::text), Some("1"));
    other.run("UPDATE wp_options SET option_value = '2' WHERE option_name = 'a'");
    assert_eq!(get().as_ref().map(StoredText::text), Some("2"));
}

#[test]
fn all_exports_are_equal() {
    let Some(server) = fixture::server() else { return };
    let dump = |store: &Store| {
        let mut out = Vec::new();
        store.export(&mut out, &mut |_| ()).unwrap();
        String::from_utf8(out).unwrap()
    };
    let (sqlite, _folder) = fixture::store();
    let from_sqlite = dump(&sqlite);

    let mysql = fixture::open(&fixture::database(server)).unwrap();
    mysql.import(&fixture::dump()[..], ImportOptions::default()).unwrap();
    assert!(dump(&mysql) == from_sqlite, "the engines differ");

    let config = fixture::database(server);
    let DatabaseUrl::MySql(url) = &config.url else { unreachable!() };
    let database = url.split(['/', '?']).nth(3).unwrap();
    server.client(&format!("USE {database};\n{from_sqlite}")).unwrap();
    assert!(dump(&fixture::open(&config).unwrap()) == from_sqlite, "the client imports different data");
}

#[test]
fn invalid_dumps_leave_nothing_behind() {
    let (Some((store, _, database)), Some(server)) = (site(), fixture::server()) else { return };
    store.write_blocking(|tx| options::set(tx, "marker", &StoredText::of("yes"), true)).unwrap();
    let dump = format!("{}\nINSERT INTO `wp_options` VALUES (1", text(&fixture::dump()));
    let overwrite = || ImportOptions { overwrite: true, ..ImportOptions::default() };
    let broken = store.import(dump.as_bytes(), overwrite());
    assert!(matches!(broken, Err(ImportError::Dump { .. })), "{broken:?}");
    assert_eq!(
        store.read_blocking(|db| options::get(db, "marker")).unwrap().as_ref().map(StoredText::text),
        Some("yes")
    );
    let tables = |()| server.client(&format!("SHOW TABLES FROM {database}")).unwrap().lines().count();
    assert_eq!(tables(()), 12);
    // A valid dump replaces the existing site.
    store.import(&fixture::dump()[..], overwrite()).unwrap();
    assert_eq!(store.read_blocking(|db| options::get(db, "marker")).unwrap(), None);
    assert_eq!(tables(()), 12);
}

fn text(packed: &[u8]) -> String {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed), &mut text).unwrap();
    text
}
