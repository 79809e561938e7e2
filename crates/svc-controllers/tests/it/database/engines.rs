//! The fixture on each database engine, with one server or with several servers that share a database.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use svc_controllers::RestSetup;
use svc_store::{DatabaseUrl, Store, StoreConfig};
use svc_testkit::{
    fixture,
    mariadb::{DISPOSABLE_OPTIONS, MariaDb},
};

use crate::harness::Harness;

/// The MariaDB server of this process. Prints a message and returns `None` if MariaDB is not installed.
fn mariadb() -> Option<&'static MariaDb> {
    static SERVER: OnceLock<Option<MariaDb>> = OnceLock::new();
    let start = || {
        let server = MariaDb::start(DISPOSABLE_OPTIONS).unwrap();
        if server.is_none() {
            eprintln!("SKIPPED: no mariadbd is installed, so these tests run on SQLite only");
        }
        server
    };
    SERVER.get_or_init(start).as_ref()
}

/// A new database with the fixture on the MariaDB server.
fn database(server: &MariaDb) -> StoreConfig {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    fixture::mariadb(server, &format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed))).unwrap()
}

/// A site with the fixture on each engine, with the engine's name.
pub(crate) fn each() -> Vec<(&'static str, Harness)> {
    let mut all = vec![("sqlite", Harness::new())];
    if let Some(server) = mariadb() {
        let store = Store::open(&database(server)).unwrap();
        all.push(("mariadb", Harness::on(store, |_| ())));
    }
    all
}

/// Two sites with the fixture on each engine, with the same changes to their setup.
pub(crate) fn pairs(change: impl Fn(&mut RestSetup)) -> Vec<(Harness, Harness)> {
    let mut all = vec![(Harness::with(&change), Harness::with(&change))];
    if let Some(server) = mariadb() {
        let site = || Harness::on(Store::open(&database(server)).unwrap(), &change);
        all.push((site(), site()));
    }
    all
}

/// A site with one server, or with several servers that share its database.
pub(crate) struct Shared {
    /// The engine and the number of servers.
    pub(crate) name: &'static str,
    /// The servers.
    pub(crate) servers: Vec<Arc<Harness>>,
    /// Number of term relationships in the fixture whose term does not exist.
    pub(crate) orphans: u64,
    /// Name of the database on the MariaDB server.
    database: Option<String>,
}

impl Shared {
    /// Number of rows of a `FROM` clause. Always 0 on SQLite, which has a single writer.
    pub(crate) fn count(&self, from: &str) -> u64 {
        let (Some(server), Some(database)) = (mariadb(), &self.database) else { return 0 };
        let count = server.client(&format!("USE {database}; SELECT COUNT(*) FROM {from}")).unwrap();
        count.trim().parse().unwrap()
    }
}

/// The fixture on a database cluster, with one server per node. Requires `SVC_TEST_CLUSTER`, a comma-separated list of
/// database URLs without a database name. The databases `test_0` to `test_9` must exist and be empty.
fn cluster(change: impl Fn(&mut RestSetup)) -> Option<Shared> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let nodes = std::env::var("SVC_TEST_CLUSTER").ok()?;
    let database = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let open = |node: &str| {
        Store::open(&StoreConfig::new(DatabaseUrl::MySql(format!("{}/{database}", node.trim_end_matches('/')))))
            .unwrap()
    };
    let stores: Vec<Store> = nodes.split(',').map(open).collect();
    stores.first()?.import(fixture::DUMP, Default::default()).unwrap();
    let servers = stores.into_iter().map(|store| Arc::new(Harness::on(store, &change))).collect();
    Some(Shared { name: "cluster", servers, orphans: 0, database: None })
}

/// The fixture on SQLite, on MariaDB with one and with two servers, and on a cluster if one is configured.
pub(crate) fn shared() -> Vec<Shared> {
    shared_with(|_| ())
}

/// [`shared`], with changes to the setup of all sites.
pub(crate) fn shared_with(change: impl Fn(&mut RestSetup)) -> Vec<Shared> {
    let sqlite = vec![Arc::new(Harness::with(&change))];
    let mut all = vec![Shared { name: "sqlite", servers: sqlite, orphans: 0, database: None }];
    all.extend(cluster(&change));
    let Some(server) = mariadb() else { return all };
    for (name, n_servers) in [("mariadb, one server", 1), ("mariadb, two servers", 2)] {
        let config = database(server);
        let DatabaseUrl::MySql(url) = &config.url else { unreachable!() };
        let database = url.split(['/', '?']).nth(3).map(str::to_owned);
        let open = || Store::open(&config).unwrap();
        let servers = (0..n_servers).map(|_| Arc::new(Harness::on(open(), &change))).collect();
        let mut site = Shared { name, servers, orphans: 0, database };
        site.orphans = site.count(
            "wp_term_relationships r LEFT JOIN wp_term_taxonomy t USING (term_taxonomy_id) WHERE t.term_id IS NULL",
        );
        all.push(site);
    }
    all
}
