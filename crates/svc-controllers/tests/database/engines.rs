//! The fixture site on each engine, served by one server or by two that share its database.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use svc_store::{DatabaseUrl, Store, StoreConfig};
use svc_testkit::mariadb::{MariaDb, QUICK};

use crate::harness::{DUMP, Harness};

/// The MariaDB of this process. `None`, with a message, when none is installed.
fn mariadb() -> Option<&'static MariaDb> {
    static SERVER: OnceLock<Option<MariaDb>> = OnceLock::new();
    let start = || {
        let server = MariaDb::start(QUICK).unwrap();
        if server.is_none() {
            eprintln!("SKIPPED: no mariadbd is installed, so these tests run on SQLite only");
        }
        server
    };
    SERVER.get_or_init(start).as_ref()
}

/// An empty database of its own on the MariaDB of this process.
fn database(server: &MariaDb) -> StoreConfig {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let url = server.create(&format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed))).unwrap();
    StoreConfig::new(DatabaseUrl::MySql(url))
}

/// The fixture on each engine, with the engine's name.
pub(crate) fn each() -> Vec<(&'static str, Harness)> {
    let mut all = vec![("sqlite", Harness::new())];
    if let Some(server) = mariadb() {
        let store = Store::open(&database(server)).unwrap();
        store.import(DUMP, Default::default()).unwrap();
        all.push(("mariadb", Harness::on(store, |_| ())));
    }
    all
}
