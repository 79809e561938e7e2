//! What only a server can do to a store: connections that die, deadlocks, limits. Skipped where no MariaDB is installed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use svc_testkit::mariadb::MariaDb;

use crate::import::{ImportError, ImportOptions};
use crate::{DatabaseUrl, Store, StoreConfig, StoreError, fixture, options};

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
    store.write_blocking(|tx| options::set(tx, "a", "1", true)).unwrap();
    for _ in 0..3 {
        let ids = server.client(&format!("SELECT id FROM information_schema.processlist WHERE db = '{database}'"));
        for id in ids.unwrap().lines() {
            server.client(&format!("KILL {id}")).unwrap();
        }
        assert_eq!(store.read(|db| options::get(db, "a")).unwrap().as_deref(), Some("1"));
    }
}

#[test]
fn a_deadlock_runs_the_transaction_again() {
    let Some((store, _, _)) = site() else { return };
    store
        .write_blocking(|tx| options::set(tx, "a", "0", true).and_then(|()| options::set(tx, "b", "0", true)))
        .unwrap();
    let both = Arc::new(Barrier::new(2));
    let runs = Arc::new(AtomicUsize::new(0));
    let write = |first: &'static str, second: &'static str| {
        let (store, both, runs) = (store.clone(), both.clone(), runs.clone());
        std::thread::spawn(move || {
            let met = AtomicUsize::new(0);
            store.write_blocking(move |tx| {
                runs.fetch_add(1, Ordering::Relaxed);
                options::set(tx, first, first, true)?;
                // Only in the first run do the two wait until each holds what the other wants.
                if met.fetch_add(1, Ordering::Relaxed) == 0 {
                    both.wait();
                }
                options::set(tx, second, first, true)
            })
        })
    };
    let (one, two) = (write("a", "b"), write("b", "a"));
    one.join().unwrap().unwrap();
    two.join().unwrap().unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 3);
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

    let too_long = store.write_blocking(|tx| options::set(tx, &"x".repeat(500), "", true));
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

#[test]
fn totals_are_kept_as_long_as_allowed_and_no_longer_after_own_writes() {
    let (Some((_, mut config, database)), Some(server)) = (site(), fixture::server()) else { return };
    let insert = |n: i64| {
        let columns = "(ID, post_content, post_title, post_excerpt, to_ping, pinged, post_content_filtered)";
        server
            .client(&format!("INSERT INTO {database}.wp_posts {columns} VALUES ({n}, '', '', '', '', '', '')"))
            .unwrap();
    };
    let total = |store: &Store| {
        let q = crate::posts::PostQuery::published("post", 1);
        store.read(|db| crate::posts::query(db, &q)).unwrap().total.unwrap()
    };
    insert(1);
    insert(2);
    let fresh = Store::open(&config).unwrap();
    config.staleness = Duration::from_secs(3600);
    let kept = Store::open(&config).unwrap();
    assert_eq!((total(&fresh), total(&kept)), (2, 2));
    insert(3);
    assert_eq!((total(&fresh), total(&kept)), (3, 2), "another's write is seen later, if that is allowed");
    kept.write_blocking(|tx| options::set(tx, "a", "1", true)).unwrap();
    assert_eq!(total(&kept), 3, "nothing is kept over an own write");
    // What decides permission is never old.
    assert_eq!(kept.read(|db| options::get(db, "a")).unwrap().as_deref(), Some("1"));
    server.client(&format!("UPDATE {database}.wp_options SET option_value = '2' WHERE option_name = 'a'")).unwrap();
    assert_eq!(kept.read(|db| options::get(db, "a")).unwrap().as_deref(), Some("2"));
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
    store.write_blocking(|tx| options::set(tx, "kept", "yes", true)).unwrap();
    let dump = format!("{}\nINSERT INTO `wp_options` VALUES (1", text(&fixture::dump()));
    let overwrite = || ImportOptions { overwrite: true, ..ImportOptions::default() };
    let broken = store.import(dump.as_bytes(), overwrite());
    assert!(matches!(broken, Err(ImportError::Dump { .. })), "{broken:?}");
    assert_eq!(store.read(|db| options::get(db, "kept")).unwrap().as_deref(), Some("yes"));
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
