//! The fixture site for tests, on every engine that is there: imported once, copied for each test.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::import::ImportOptions;
use crate::{DatabaseUrl, Store, StoreConfig};

/// The dump of the fixture site.
pub(crate) fn dump() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/site.sql.gz")).unwrap()
}

/// A store with the fixture site on SQLite, which the test alone uses.
pub(crate) fn store() -> (Store, tempfile::TempDir) {
    static TEMPLATE: OnceLock<PathBuf> = OnceLock::new();
    let template = TEMPLATE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap().keep();
        let path = folder.join("site.db");
        let mut config = StoreConfig::new(DatabaseUrl::Sqlite(path.clone()));
        config.durable = false;
        let store = Store::open(&config).unwrap();
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
    (Store::open(&config).unwrap(), folder)
}

/// Runs a test on every engine: on SQLite, and on a private MariaDB when its program is installed.
pub(crate) fn on_each(test: impl Fn(Store)) {
    let (sqlite, _folder) = store();
    test(sqlite);
    if let Some(config) = server().map(Server::database) {
        let mysql = Store::open(&config).unwrap();
        mysql.import(&dump()[..], ImportOptions::default()).unwrap();
        test(mysql);
    }
}

/// A MariaDB of this process's own.
pub(crate) struct Server {
    /// Ends when its input does, which is when this process does; then it ends the server.
    _guard: Mutex<Child>,
    folder: PathBuf,
}

/// The server of this process; `None`, said plainly, when none is installed.
pub(crate) fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER
        .get_or_init(|| {
            let found = ["/usr/sbin/mariadbd", "/usr/bin/mariadbd", "/usr/local/sbin/mariadbd"];
            let program = found.into_iter().find(|p| Path::new(p).exists());
            if program.is_none() {
                eprintln!("SKIPPED: no mariadbd is installed, so the tests run on SQLite only");
            }
            program.map(Server::start)
        })
        .as_ref()
}

impl Server {
    fn start(program: &str) -> Self {
        let folder = tempfile::tempdir().unwrap().keep();
        let data = folder.join("data");
        let install = Command::new("mariadb-install-db")
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .arg(format!("--datadir={}", data.display()))
            .output()
            .unwrap();
        assert!(install.status.success(), "{}", String::from_utf8_lossy(&install.stderr));
        let script = format!(
            "{program} --no-defaults --user=\"$(id -un)\" --datadir='{0}/data' --socket='{0}/s' --skip-networking \
             --pid-file='{0}/pid' --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M \
             --log-error='{0}/log' & server=$!; cat >/dev/null; kill $server; wait $server; rm -rf '{0}'",
            folder.display()
        );
        let guard = Command::new("sh").args(["-c", &script]).stdin(Stdio::piped()).spawn().unwrap();
        let server = Server { _guard: Mutex::new(guard), folder };
        let start = Instant::now();
        while server.client("SELECT 1").is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "mariadbd does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    /// Runs statements by the engine's own client.
    pub(crate) fn client(&self, sql: &str) -> Result<String, String> {
        let mut client = Command::new("mariadb")
            .args(["--no-defaults", "-u", "root", "-N", "-B", "--socket"])
            .arg(self.folder.join("s"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        client.stdin.take().unwrap().write_all(sql.as_bytes()).map_err(|e| e.to_string())?;
        let out = client.wait_with_output().map_err(|e| e.to_string())?;
        if out.status.success() {
            Ok(String::from_utf8_lossy(&out.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&out.stderr).into_owned())
        }
    }

    /// An empty database of its own.
    pub(crate) fn database(&self) -> StoreConfig {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.client(&format!("CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci")).unwrap();
        let socket = self.folder.join("s").display().to_string().replace('/', "%2F");
        StoreConfig::new(DatabaseUrl::MySql(format!("mysql://root@localhost/{name}?socket={socket}")))
    }
}

#[test]
fn the_whole_fixture_is_loaded() {
    on_each(|store| {
        store.check().unwrap();
        let (posts, users, autoloaded) = store
            .read(|db| {
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
