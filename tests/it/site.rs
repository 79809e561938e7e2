//! A running site with a temporary directory.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::PathBuf,
    sync::{Mutex, OnceLock},
};

use svc_auth::application_password::{ApplicationPassword, list_to_value};
use svc_server::{
    Created, SiteBuilder,
    config::{Config, SETTINGS, Sources},
    jobs::Supervisor,
    listen::{Running, bind},
};
use svc_store::{MetaKind, Store, StoreConfig, StoredText, meta, options, users};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};
use tempfile::TempDir;

use crate::client::{HttpResponse, send};

/// A server and its directory. Dropping it stops the server and deletes the directory.
pub(crate) struct Site {
    pub(crate) folder: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) created: Option<Created>,
    running: Option<Running>,
    _jobs: Supervisor,
}

/// The environment variable that selects the database engine of all tests: `mysql`, or SQLite by default.
const ENGINE: &str = "SVC_TEST_DATABASE";

/// The database server of these tests; `None` for SQLite.
///
/// # Panics
/// If a server is requested and MariaDB is not installed.
fn server() -> Option<&'static MariaDb> {
    static SERVER: OnceLock<Option<MariaDb>> = OnceLock::new();
    let start = || {
        let is_requested = std::env::var_os(ENGINE).is_some_and(|engine| engine == "mysql");
        is_requested.then(|| MariaDb::start(DISPOSABLE_OPTIONS).unwrap().expect("MariaDB is installed"))
    };
    SERVER.get_or_init(start).as_ref()
}

/// Whether the tests run on SQLite.
pub(crate) fn on_sqlite() -> bool {
    server().is_none()
}

/// The URL of the directory's database. The first call creates the database.
pub(crate) fn database(folder: &TempDir) -> String {
    static CREATED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let Some(server) = server() else {
        return format!("sqlite:{}", folder.path().join("svc-data/site.db").display());
    };
    let name = folder.path().file_name().unwrap().to_string_lossy().replace('.', "");
    if CREATED.lock().unwrap().insert(folder.path().to_owned()) {
        server.create(&name).unwrap()
    } else {
        server.url(&name)
    }
}

/// Runs a statement on the directory's database, bypassing the store.
pub(crate) fn execute(folder: &TempDir, sql: &str) {
    match (server(), database(folder)) {
        (Some(server), url) => {
            let name = url.split(['/', '?']).nth(3).unwrap();
            server.client(&format!("USE `{name}`; {sql}")).unwrap();
        }
        (None, url) => {
            let raw = rusqlite::Connection::open(url.strip_prefix("sqlite:").unwrap()).unwrap();
            // The index of users needs it; the tests have ASCII names only.
            let compare = |a: &str, b: &str| a.to_lowercase().cmp(&b.to_lowercase());
            raw.create_collation("PEOPLE", compare).unwrap();
            raw.execute_batch(sql).unwrap();
        }
    }
}

/// Settings for a site in this directory. By default the store has a single read connection, so that a request that
/// waits for a second one fails.
pub(crate) fn config(folder: &TempDir, settings: &[(&str, &str)]) -> Config {
    let mut variables = vec![("SVC_READERS".to_owned(), "1".to_owned())];
    if server().is_some() {
        variables.push(("SVC_DATABASE".to_owned(), database(folder)));
    }
    let flag = |(key, value): &(&str, &str)| {
        (SETTINGS.iter().find(|s| s.key == *key).expect("a setting"), (*value).to_owned())
    };
    let sources = Sources { folder: folder.path().to_owned(), variables, flags: settings.iter().map(flag).collect() };
    Config::load(&sources).unwrap()
}

/// Opens the database of a site, which may be running.
pub(crate) fn store(folder: &TempDir) -> Store {
    Store::open(&StoreConfig::new(database(folder).parse().unwrap())).unwrap()
}

impl Site {
    /// Starts a new site.
    pub(crate) async fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &[]).await
    }

    /// Starts a site in an existing directory.
    pub(crate) async fn start_in(folder: TempDir, builder: &SiteBuilder, settings: &[(&str, &str)]) -> Self {
        crate::log::install();
        let config = config(&folder, settings);
        let listener = bind("127.0.0.1:0").await.unwrap();
        let here = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let mut site = builder.open(&config, &here).unwrap();
        let running = Running::start(listener, site.app(), config.limits.clone()).unwrap();
        Site {
            folder,
            address: running.address(),
            created: site.take_created().inspect(Created::shown),
            running: Some(running),
            _jobs: site.start_jobs(),
        }
    }

    /// Stops the server and returns its directory.
    pub(crate) async fn stop(mut self) -> TempDir {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
        self.folder
    }

    pub(crate) async fn get(&self, path: &str) -> HttpResponse {
        send(self.address, "GET", path, &[], "").await
    }

    /// Posts JSON as this user (`NAME:APPLICATION PASSWORD`).
    pub(crate) async fn post(&self, path: &str, as_user: &str, body: &serde_json::Value) -> HttpResponse {
        let basic = basic(as_user);
        let headers = [("Authorization", basic.as_str()), ("Content-Type", "application/json")];
        send(self.address, "POST", path, &headers, &body.to_string()).await
    }

    /// Creates an application password for the administrator; returns the credentials for Basic authentication.
    pub(crate) fn app_password(&self) -> String {
        app_password(&database(&self.folder))
    }
}

/// [`Site::app_password`] for the database at this URL.
pub(crate) fn app_password(url: &str) -> String {
    let (item, plain) = ApplicationPassword::generate("tests", "", 1_700_000_000).unwrap();
    let stored = StoredText::of(list_to_value(&[item]));
    Store::open(&StoreConfig::new(url.parse().unwrap()))
        .unwrap()
        .write_blocking(move |tx| {
            let admin = users::by_login(tx, "admin")?.expect("the first user");
            meta::update(tx, MetaKind::User, admin.id.0, "_application_passwords", &stored)?;
            options::set(tx, "using_application_passwords", &StoredText::of(1), false)
        })
        .unwrap();
    format!("admin:{}", plain.expose())
}

/// The Basic authentication header for `NAME:PASSWORD`.
pub(crate) fn basic(user: &str) -> String {
    format!("Basic {}", base64(user.as_bytes()))
}

/// Encodes Base64 (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0_u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let sign = if i <= chunk.len() { SIGNS[(n >> (18 - 6 * i) & 63) as usize] } else { b'=' };
            text.push(char::from(sign));
        }
    }
    text
}
