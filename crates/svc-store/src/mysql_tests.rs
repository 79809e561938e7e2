//! What only a server can do to a store: connections that die, deadlocks, limits. Skipped where no MariaDB is installed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use svc_testkit::mariadb::{MariaDb, QUICK};

use crate::engine::Conn as _;
use crate::engine::mysql::{MySql, Server};
use crate::import::{ImportError, ImportOptions};
use crate::mysql_changes::SETTLE;
use crate::{DatabaseUrl, Family, Store, StoreConfig, StoreError, StoredText, fixture, options, posts};

/// An empty site on a server, and how to reach it otherwise.
fn site() -> Option<(Store, StoreConfig, String)> {
    let config = fixture::database(fixture::server()?);
    let store = Store::open(&config).unwrap();
    store.write_blocking(crate::schema::install).unwrap();
    let DatabaseUrl::MySql(url) = &config.url else { unreachable!() };
    let database = url.split(['/', '?']).nth(3).unwrap().to_owned();
    Some((store, config, database))
}

#[test]
fn connections_that_the_server_closed_are_replaced() {
    let (Some((store, _, database)), Some(server)) = (site(), fixture::server()) else { return };
    store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("1"), true)).unwrap();
    for _ in 0..3 {
        let ids = server.client(&format!("SELECT id FROM information_schema.processlist WHERE db = '{database}'"));
        for id in ids.unwrap().lines() {
            server.client(&format!("KILL {id}")).unwrap();
        }
        assert_eq!(store.read(|db| options::get(db, "a")).unwrap().as_ref().map(StoredText::text), Some("1"));
    }
}

#[test]
fn a_deadlock_with_another_program_runs_the_transaction_again() {
    let Some((store, config, _)) = site() else { return };
    let text = |value: &'static str| StoredText::of(value);
    store
        .write_blocking(move |tx| {
            // As every site has it: without it, writers lock the gap in which it would be, and with it new options.
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
                // Only in the first run do the two wait until each holds what the other wants.
                if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                    both.wait();
                }
                options::set(tx, "b", &text("1"), true)
            })
        }
    });
    // The server ends the transaction that has changed less.
    let mut other = Other::of(&config);
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
}

/// Reads a number, adds one, and writes it back, from eight threads at once.
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
    stores[0].read(|db| options::get(db, option)).unwrap().unwrap().text().parse().unwrap()
}

#[test]
fn what_is_read_changed_and_written_back_by_eight_threads_is_not_lost() {
    let (sqlite, _folder) = fixture::store();
    assert_eq!(count_up(&[sqlite], "n"), 160, "SQLite");
    // The option does not exist at first, and the gate row may be missing.
    let Some((store, config, _)) = site() else { return };
    let two = [store.clone(), Store::open(&config).unwrap()];
    assert_eq!(count_up(&two[..1], "one"), 160, "one server");
    assert_eq!(count_up(&two, "two"), 160, "two servers");
    store.write_blocking(|tx| options::set(tx, "db_version", &StoredText::of(1), true)).unwrap();
    assert_eq!(count_up(&two, "with a gate"), 160, "two servers");
}

#[test]
fn a_row_that_another_program_changes_meanwhile_is_not_overwritten() {
    let Some((store, config, _)) = site() else { return };
    let mut other = Other::of(&config);
    let known = other.0.execute("SET SESSION innodb_snapshot_isolation = ON", &[]).is_ok();
    if !known {
        eprintln!("SKIPPED: this server does not know innodb_snapshot_isolation");
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
    assert_eq!(store.read(|db| options::get(db, "n")).unwrap().unwrap().text(), "6");
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}

#[test]
fn failures_are_told_apart() {
    let (Some((store, config, database)), Some(server)) = (site(), fixture::server()) else { return };
    let url = |from: &str, to: &str| {
        let DatabaseUrl::MySql(url) = &config.url else { unreachable!() };
        let mut config = config.clone();
        config.url = DatabaseUrl::MySql(url.replace(from, to));
        Store::open(&config).map(drop)
    };
    let wrong = url("root@", "nobody:secret@").unwrap_err();
    assert!(matches!(&wrong, StoreError::Unavailable(_)), "{wrong}");
    assert!(!wrong.to_string().contains("secret"));
    assert!(matches!(url(&database, "no_such_database"), Err(StoreError::Unavailable(_))));
    assert!(matches!(url("%2Fs", "%2Fnothing"), Err(StoreError::Unavailable(_))));

    let too_long = store.write_blocking(|tx| options::set(tx, &"x".repeat(500), &StoredText::of(""), true));
    assert!(matches!(too_long, Err(StoreError::Other(_))), "nothing is cut silently: {too_long:?}");

    let mut short = config.clone();
    short.read_limit = Some(Duration::from_millis(200));
    let slow = Store::open(&short).unwrap().read(|db| db.conn.query("SELECT SLEEP(5)", &[], &mut |_| Ok(())));
    assert!(matches!(slow, Err(StoreError::Deadline)), "{slow:?}");

    server.client(&format!("DROP TABLE {database}.wp_options")).unwrap();
    let missing = store.read(|db| options::get(db, "a"));
    assert!(matches!(missing, Err(StoreError::Schema(_))), "{missing:?}");
}

#[test]
fn tls_is_used_and_certificates_are_checked() {
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
        eprintln!("SKIPPED: no openssl is installed to make a certificate with");
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
        let store = Store::open(&StoreConfig::new(DatabaseUrl::MySql(url)))?;
        let mut cipher = String::new();
        store.read(|db| {
            db.conn.query("SHOW STATUS LIKE 'Ssl_cipher'", &[], &mut |row| {
                cipher = row.text(1)?;
                Ok(())
            })
        })?;
        Ok::<_, StoreError>(!cipher.is_empty())
    };
    assert!(matches!(open(""), Err(StoreError::Unavailable(_))), "the account asks for TLS");
    assert!(matches!(open("?tls=true"), Err(StoreError::Unavailable(_))), "nobody vouches for the certificate");
    assert!(open("?tls=unverified").unwrap());
    let own = format!("?tls_ca={}", certificate.display());
    assert!(open(&own).unwrap(), "the certificate of the server's own authority");
    assert!(open(&format!("{own}&charset=latin1")).unwrap());
}

/// An empty site on a server that nobody else writes to meanwhile, as long as the guard is held.
fn quiet_site() -> Option<(MutexGuard<'static, ()>, Store, StoreConfig)> {
    static SERVER: OnceLock<Option<MariaDb>> = OnceLock::new();
    static ALONE: Mutex<()> = Mutex::new(());
    let server = SERVER.get_or_init(|| MariaDb::start(QUICK).unwrap()).as_ref()?;
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let config = fixture::database(server);
    let store = Store::open(&config).unwrap();
    store.write_blocking(crate::schema::install).unwrap();
    Some((alone, store, config))
}

/// Another program on the same database: a connection that the store knows nothing of.
struct Other(MySql);

impl Other {
    fn of(config: &StoreConfig) -> Self {
        let DatabaseUrl::MySql(url) = &config.url else { unreachable!() };
        Other(MySql::open(&Server::of(url).unwrap(), None, Duration::from_secs(5)).unwrap())
    }

    fn run(&mut self, sql: &str) {
        self.0.execute(sql, &[]).unwrap();
    }

    fn insert(&mut self) {
        let columns = "(post_status, post_content, post_title, post_excerpt, to_ping, pinged, post_content_filtered)";
        self.run(&format!("INSERT INTO wp_posts {columns} VALUES ('publish', '', '', '', '', '', '')"));
    }
}

/// The total of a list, and how many statements were needed: one more when it was counted.
fn total(store: &Store) -> (u64, u64) {
    let q = crate::posts::PostQuery::published("post", 1);
    store
        .read(|db| {
            // What tells whether a total still holds is asked at its first use in a read.
            db.version(Family::Posts);
            let before = db.statements();
            let total = crate::posts::query(db, &q)?.total.unwrap();
            Ok((total, db.statements() - before))
        })
        .unwrap()
}

/// Waits until this is so; the server's own housekeeping is numbered too, and may need a while.
#[track_caller]
fn wait_until(so: impl Fn() -> bool) {
    for _ in 0..250 {
        if so() {
            return;
        }
        std::thread::sleep(SETTLE);
    }
    panic!("this never came");
}

const KEPT: u64 = 1;
const COUNTED: u64 = 2;

#[test]
fn totals_are_kept_while_nobody_writes_and_true_at_once_when_somebody_does() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let mut other = Other::of(&config);
    other.insert();
    for n in 1..300 {
        other.insert();
        assert_eq!(total(&store).0, n + 1);
        if n % 10 == 0 {
            wait_until(|| total(&store) == (n + 1, KEPT));
        }
    }
    store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("1"), true)).unwrap();
    assert_eq!(total(&store), (300, COUNTED), "own writes count too");
}

#[test]
fn totals_are_never_older_than_what_was_committed_before() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let (begun, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let writers = [7, 13].map(|gap| {
        let (mut other, begun, done) = (Other::of(&config), begun.clone(), done.clone());
        std::thread::spawn(move || {
            for n in 0..150_u32 {
                begun.fetch_add(1, Ordering::SeqCst);
                other.insert();
                done.fetch_add(1, Ordering::SeqCst);
                // Now and then long enough for a total to be kept.
                std::thread::sleep(if n % gap == 0 {
                    3 * SETTLE
                } else {
                    Duration::from_micros(200 * u64::from(n % gap))
                });
            }
        })
    });
    let mut n_kept = 0;
    while !writers.iter().all(std::thread::JoinHandle::is_finished) {
        let least = done.load(Ordering::SeqCst);
        let (total, statements) = total(&store);
        let most = begun.load(Ordering::SeqCst);
        assert!((least..=most).contains(&usize::try_from(total).unwrap()), "{least} {total} {most}");
        n_kept += usize::from(statements == KEPT && total > 1);
    }
    assert!(n_kept > 10, "{n_kept}");
}

#[test]
fn a_transaction_that_commits_long_after_it_wrote_is_seen() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let (mut long, mut short) = (Other::of(&config), Other::of(&config));
    short.insert();
    short.insert();
    long.run("START TRANSACTION");
    long.insert();
    // Within the same second, so that the table's time of change is the same before and after.
    short.insert();
    wait_until(|| total(&store) == (3, KEPT));
    long.run("COMMIT");
    assert_eq!(total(&store).0, 4);
    wait_until(|| total(&store) == (4, KEPT));
    short.run("DELETE FROM wp_posts LIMIT 1");
    assert_eq!(total(&store).0, 3);
    wait_until(|| total(&store) == (3, KEPT));
    short.run("TRUNCATE TABLE wp_posts");
    assert_eq!(total(&store).0, 0);
}

#[test]
fn nothing_is_kept_of_tables_whose_changes_are_not_numbered() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let mut other = Other::of(&config);
    other.insert();
    other.insert();
    wait_until(|| total(&store) == (2, KEPT));
    other.run("ALTER TABLE wp_posts ENGINE = MyISAM");
    for n in 2..20 {
        assert_eq!(total(&store), (n, COUNTED));
        std::thread::sleep(2 * SETTLE);
        assert_eq!(total(&store), (n, COUNTED));
        other.insert();
    }
}

#[test]
fn options_are_loaded_once_while_nobody_writes_and_never_old() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let mut other = Other::of(&config);
    let get = || {
        let read = |db: &mut crate::Db| {
            db.version(Family::Options);
            let before = db.statements();
            Ok((options::get(db, "a")?, db.statements() - before))
        };
        store.read(read).unwrap()
    };
    store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("1"), true)).unwrap();
    wait_until(|| get() == (Some(StoredText::of("1")), 0));
    other.run("UPDATE wp_options SET option_value = '2' WHERE option_name = 'a'");
    assert_eq!(get().0.as_ref().map(StoredText::text), Some("2"));
}

#[test]
fn a_state_is_told_while_nobody_writes_and_another_after_each_write() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let mut other = Other::of(&config);
    let mut last = None;
    for _ in 0..20 {
        let state = std::cell::Cell::new(None);
        wait_until(|| {
            state.set(store.state());
            state.get().is_some()
        });
        assert_ne!(state.get(), last);
        other.insert();
        assert_eq!(store.state(), None, "not yet");
        last = state.get();
    }
}

#[test]
fn columns_of_old_sites_have_references_to_emoji() {
    let Some((_, config, _)) = site() else { return };
    let mut other = Other::of(&config);
    other.run("ALTER TABLE wp_posts CONVERT TO CHARACTER SET utf8mb3 COLLATE utf8mb3_unicode_520_ci");
    let store = Store::open(&config).unwrap();
    let post =
        svc_model::Post { title: "Größe 🎉".to_owned(), content: "👍🏽".to_owned(), ..Default::default() };
    let stored = store.write_blocking(move |tx| {
        let id = posts::insert(tx, &post)?;
        let again = svc_model::Post { id, excerpt: "🎉".to_owned(), ..post.clone() };
        posts::update(tx, &again)?;
        posts::get(tx, id)
    });
    let stored = stored.unwrap().unwrap();
    let texts = [stored.title.as_str(), &stored.content, &stored.excerpt];
    assert_eq!(texts, ["Größe &#x1f389;", "&#x1f44d;&#x1f3fd;", "&#x1f389;"]);
}

#[test]
fn a_staleness_lets_totals_be_old_until_this_process_writes() {
    let Some((_, mut config, _)) = site() else { return };
    config.staleness = Duration::from_secs(3600);
    let store = Store::open(&config).unwrap();
    let mut other = Other::of(&config);
    other.insert();
    other.insert();
    assert_eq!(total(&store).0, 2);
    other.insert();
    assert_eq!(total(&store), (2, KEPT), "another's write is seen later, if that is allowed");
    store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("1"), true)).unwrap();
    assert_eq!(total(&store), (3, COUNTED), "nothing is kept over an own write");
    // What decides permission is never old.
    let get = || store.read(|db| options::get(db, "a")).unwrap();
    assert_eq!(get().as_ref().map(StoredText::text), Some("1"));
    other.run("UPDATE wp_options SET option_value = '2' WHERE option_name = 'a'");
    assert_eq!(get().as_ref().map(StoredText::text), Some("2"));
}

#[test]
fn both_engines_and_the_engines_own_client_make_the_same_dump() {
    let Some(server) = fixture::server() else { return };
    let dump = |store: &Store| {
        let mut out = Vec::new();
        store.export(&mut out, &mut |_| ()).unwrap();
        String::from_utf8(out).unwrap()
    };
    let (sqlite, _folder) = fixture::store();
    let from_sqlite = dump(&sqlite);

    let mysql = Store::open(&fixture::database(server)).unwrap();
    mysql.import(&fixture::dump()[..], ImportOptions::default()).unwrap();
    assert!(dump(&mysql) == from_sqlite, "the engines differ");

    let config = fixture::database(server);
    let DatabaseUrl::MySql(url) = &config.url else { unreachable!() };
    let database = url.split(['/', '?']).nth(3).unwrap();
    server.client(&format!("USE {database};\n{from_sqlite}")).unwrap();
    assert!(dump(&Store::open(&config).unwrap()) == from_sqlite, "the client loads something else");
}

#[test]
fn a_broken_dump_leaves_nothing_behind() {
    let (Some((store, _, database)), Some(server)) = (site(), fixture::server()) else { return };
    store.write_blocking(|tx| options::set(tx, "kept", &StoredText::of("yes"), true)).unwrap();
    let dump = format!("{}\nINSERT INTO `wp_options` VALUES (1", text(&fixture::dump()));
    let overwrite = || ImportOptions { overwrite: true, ..ImportOptions::default() };
    let broken = store.import(dump.as_bytes(), overwrite());
    assert!(matches!(broken, Err(ImportError::Dump { .. })), "{broken:?}");
    assert_eq!(store.read(|db| options::get(db, "kept")).unwrap().as_ref().map(StoredText::text), Some("yes"));
    let tables = |()| server.client(&format!("SHOW TABLES FROM {database}")).unwrap().lines().count();
    assert_eq!(tables(()), 12);
    // And a whole one takes the place of the old.
    store.import(&fixture::dump()[..], overwrite()).unwrap();
    assert_eq!(store.read(|db| options::get(db, "kept")).unwrap(), None);
    assert_eq!(tables(()), 12);
}

fn text(packed: &[u8]) -> String {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed), &mut text).unwrap();
    text
}
