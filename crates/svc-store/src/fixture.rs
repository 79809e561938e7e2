//! The fixture site for tests on all available engines, imported once and copied for each test.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use svc_db::Tuning;
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

use crate::import::ImportOptions;
use crate::tuning::{IndexerTuning, SearchTuning};
use crate::{DatabaseUrl, Result, Store, StoreConfig};

thread_local! {
    /// Whether this thread's statements need not be in the snapshot.
    static HAS_RANDOM_STATEMENTS: Cell<bool> = const { Cell::new(false) };
}

/// Small numbers, so that the rows of the fixture are enough for every way.
const TUNING: crate::tuning::Tuning = crate::tuning::Tuning {
    deep_offset: 3,
    many_terms: 3,
    rare_users: 2,
    many_comments: 3,
    search: SearchTuning { few: 6, many: 12, max_changed: 60 },
    indexer: IndexerTuning {
        interval: Duration::from_millis(5),
        after_error: Duration::from_millis(20),
        measure_interval: Duration::from_millis(5),
        batch: 4,
        max_old_entries: 20,
        read_chunk: 8,
        tiers: [(4, 3), (16, 3)],
        segment_posts: 32,
        max_updated: 1_000,
    },
};

/// Opens a store with short intervals and small numbers, whose statements must be in the snapshot.
pub(crate) fn open(config: &StoreConfig) -> Result<Store> {
    open_tuned(config, Tuning::QUICK)
}

/// [`open`] with other intervals.
pub(crate) fn open_tuned(config: &StoreConfig, mut tuning: Tuning) -> Result<Store> {
    tuning.on_statement = Some(|dialect, prefix, sql| {
        if !HAS_RANDOM_STATEMENTS.get()
            && let Err(why) = svc_testkit::statements::check(&format!("{dialect:?}"), prefix, sql)
        {
            panic!("{why}");
        }
    });
    Store::open_tuned(config, tuning, TUNING)
}

/// The dump of the fixture site.
pub(crate) fn dump() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/site.sql.gz")).unwrap()
}

/// A private SQLite store with the fixture site.
pub(crate) fn store() -> (Store, tempfile::TempDir) {
    static TEMPLATE: OnceLock<PathBuf> = OnceLock::new();
    let template = TEMPLATE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap().keep();
        let path = folder.join("site.db");
        let mut config = StoreConfig::new(DatabaseUrl::Sqlite(path.clone()));
        config.durable = false;
        let store = open(&config).unwrap();
        store.import(&dump()[..], ImportOptions::default()).unwrap();
        let copy = folder.join("template.db");
        store.backup(&copy).unwrap();
        copy
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.db");
    std::fs::copy(template, &path).unwrap();
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(path));
    config.durable = false;
    config.readers = 1;
    (open(&config).unwrap(), folder)
}

/// Permits all statements of `f`, for random queries.
pub(crate) fn with_random_statements<T>(f: impl FnOnce() -> T) -> T {
    HAS_RANDOM_STATEMENTS.set(true);
    let value = f();
    HAS_RANDOM_STATEMENTS.set(false);
    value
}

/// Runs a test on SQLite, and on a private MariaDB if it is installed. The pool has one connection, so that a read that
/// waits for another connection of its own caller fails.
pub(crate) fn on_each(test: impl Fn(Store)) {
    on_each_with(1, test);
}

/// Like [`on_each`], with this many connections (SQLite: one read connection in addition to the writer).
pub(crate) fn on_each_with(connections: usize, test: impl Fn(Store)) {
    let (sqlite, _folder) = store();
    test(sqlite);
    if let Some(mut config) = server().map(database) {
        config.readers = connections;
        let mysql = open(&config).unwrap();
        mysql.import(&dump()[..], ImportOptions::default()).unwrap();
        test(mysql);
    }
}

/// The database server of this process. `None`, with a message, if none is installed.
pub(crate) fn server() -> Option<&'static MariaDb> {
    static SERVER: OnceLock<Option<MariaDb>> = OnceLock::new();
    let start = || {
        let server = MariaDb::start(DISPOSABLE_OPTIONS).unwrap();
        if server.is_none() {
            eprintln!("SKIPPED: mariadbd is not installed; the tests run on SQLite only");
        }
        server
    };
    SERVER.get_or_init(start).as_ref()
}

/// Creates an empty database.
pub(crate) fn database(server: &MariaDb) -> StoreConfig {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let url = server.create(&format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed))).unwrap();
    StoreConfig::new(DatabaseUrl::MySql(url))
}

/// A generator of pseudo-random numbers (SplitMix64) with its seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number less than `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as usize % n
    }
}
