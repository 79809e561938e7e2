//! Encrypted backups: a server without the secret key writes and continues them, and whoever has it restores them.

#![cfg(feature = "age")]
#![expect(clippy::unwrap_used, reason = "a failing helper fails the test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use age::secrecy::ExposeSecret as _;
use age::x25519;
use svc_backup::{
    Backup, BackupError, BackupSettings, Decrypting, Destination, FileSource, Folder, Identities, Moment, Recipients,
    Result, check_readable, restore_database, restore_files, summary, verify,
};
use svc_db::schema::Schema;
use svc_db::{Database, DatabaseUrl, StoreConfig, Tuning, WriteText as _};

static SCHEMA: Schema = Schema { tables: &[], ..Schema::EMPTY };

/// A site with a backup.
struct Site {
    root: tempfile::TempDir,
    to: Arc<dyn Destination>,
}

impl Site {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("files")).unwrap();
        let to = Arc::new(Folder::new(&root.path().join("backup")));
        Site { root, to }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Runs a server: it writes rows, and stops.
    fn serve(&self, rows: std::ops::Range<i64>, recipients: Option<&Recipients>) {
        let mut config = StoreConfig::new(DatabaseUrl::Sqlite(self.path("site.db")));
        (config.follow_log, config.durable) = (true, false);
        let database = Database::open(&config, &SCHEMA, Arc::new(()), Tuning::default()).unwrap();
        let create = "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, text TEXT)";
        database.write_blocking(move |tx| tx.execute_text(create, &[]).map(drop)).unwrap();
        let settings = BackupSettings {
            interval: Duration::from_millis(20),
            file_interval: Duration::from_millis(50),
            recipients: recipients.cloned(),
            ..BackupSettings::default()
        };
        let files = FileSource { paths: vec![("files".to_owned(), self.path("files"))] };
        let reader = database.log_reader().unwrap().unwrap();
        let backup = Backup::start(reader, Some(files), Arc::clone(&self.to), settings).unwrap();
        let begun = Instant::now();
        while backup.report().last_snapshot.is_none() {
            assert!(begun.elapsed() < Duration::from_secs(60), "no snapshot: {:?}", backup.report());
            std::thread::sleep(Duration::from_millis(10));
        }
        for n in rows {
            let sql = format!("INSERT INTO t VALUES ({n}, 'SecretWord{n}')");
            database.write_blocking(move |tx| tx.execute_text(&sql, &[]).map(drop)).unwrap();
            std::thread::sleep(Duration::from_millis(8));
        }
    }

    fn with(&self, identity: &Path) -> Arc<dyn Destination> {
        Arc::new(Decrypting::new(Arc::clone(&self.to), Identities::read(identity).unwrap()))
    }

    fn restored(&self, from: &dyn Destination, moment: Moment) -> Result<BTreeSet<i64>> {
        let path = self.path("restored.db");
        drop(fs::remove_file(&path));
        restore_database(from, moment, &path)?;
        let conn = rusqlite::Connection::open(&path).unwrap();
        let mut all = conn.prepare("SELECT n FROM t").unwrap();
        Ok(all.query_map([], |row| row.get(0)).unwrap().map(|n| n.unwrap()).collect())
    }

    /// The files of the backup as they are stored, by key.
    fn objects(&self) -> Vec<(String, Vec<u8>)> {
        let keys = ["db", "files", "owner"].iter().flat_map(|folder| self.to.list(folder).unwrap());
        keys.map(|key| (key.clone(), self.to.get(&key).unwrap())).collect()
    }
}

fn key(folder: &Path, name: &str) -> (PathBuf, Recipients) {
    let identity = x25519::Identity::generate();
    fs::write(folder.join(name), identity.to_string().expose_secret()).unwrap();
    (folder.join(name), Recipients::parse(&[identity.to_public().to_string()]).unwrap())
}

fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    std::thread::sleep(Duration::from_millis(5));
    now
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn rows(range: std::ops::Range<i64>) -> BTreeSet<i64> {
    range.collect()
}

fn is_encrypted(bytes: &[u8]) -> bool {
    bytes.starts_with(b"age-encryption.org/v1\n")
}

#[test]
fn a_server_without_the_secret_key_continues_after_restarts() {
    let site = Site::new();
    let (identity, recipients) = key(site.root.path(), "key");
    fs::write(site.path("files/a.txt"), "SecretFile").unwrap();
    site.serve(0..10, Some(&recipients));
    let between = now();
    let n_files = site.to.list("files/content").unwrap().len();
    site.serve(10..20, Some(&recipients));
    site.serve(20..30, Some(&recipients));
    let found = summary(&*site.to).unwrap();
    assert_eq!((found.generations, found.snapshots, found.encrypted_snapshots), (1, 1, 1), "{found:?}");
    assert!(found.is_for(&recipients) && !found.is_for(&key(site.root.path(), "other").1));
    assert_eq!(
        (n_files, site.to.list("files/content").unwrap().len(), site.to.list("files/list").unwrap().len()),
        (1, 1, 1)
    );
    // Everything but the lists of files is encrypted.
    let objects = site.objects();
    for (key, bytes) in &objects {
        assert_eq!(is_encrypted(bytes), !key.starts_with("files/list/") && !key.starts_with("owner/"), "{key}");
        for secret in [&b"SecretWord"[..], b"SecretFile"] {
            assert!(!bytes.windows(secret.len()).any(|at| at == secret), "{key}");
        }
    }
    // The name of the content must not tell what it is.
    let hash = sha256(b"SecretFile");
    assert!(objects.iter().all(|(key, bytes)| !key.contains(&hash) && !String::from_utf8_lossy(bytes).contains(&hash)));

    let from = site.with(&identity);
    assert_eq!(site.restored(&*from, Moment::Latest).unwrap(), rows(0..30));
    assert_eq!(site.restored(&*from, Moment::At(between)).unwrap(), rows(0..10));
    let restored = restore_files(&*from, Moment::Latest, &site.path("out")).unwrap();
    assert_eq!(
        (restored.files, fs::read_to_string(site.path("out/files/a.txt")).unwrap()),
        (1, "SecretFile".to_owned())
    );
    let verified = verify(&*from).unwrap();
    assert!(verified.faults.is_empty() && verified.encrypted == 0 && verified.transactions >= 30, "{verified:?}");
    let blind = verify(&*site.to).unwrap();
    assert!(blind.faults.is_empty(), "{blind:?}");
    assert_eq!((blind.objects, blind.encrypted, blind.transactions), (verified.objects, verified.objects - 1, 0));
}

#[test]
fn without_the_right_key_nothing_is_written() {
    let site = Site::new();
    let (_, recipients) = key(site.root.path(), "key");
    let (wrong, _) = key(site.root.path(), "wrong");
    fs::write(site.path("files/a.txt"), "SecretFile").unwrap();
    site.serve(0..3, Some(&recipients));
    let error = |from: &dyn Destination| {
        let error = site.restored(from, Moment::Latest).unwrap_err();
        assert!(!site.path("restored.db").exists());
        assert_eq!(check_readable(from, Moment::Latest).unwrap_err().to_string(), error.to_string());
        assert!(restore_files(from, Moment::Latest, &site.path("out")).is_err());
        error
    };
    assert!(matches!(error(&*site.to), BackupError::Encrypted(_)));
    let from = site.with(&wrong);
    assert!(matches!(error(&*from), BackupError::WrongIdentity(_)));
    assert!(!verify(&*from).unwrap().faults.is_empty());
}

#[test]
fn encryption_is_turned_on_changed_and_off() {
    let site = Site::new();
    let (one, for_one) = key(site.root.path(), "one");
    let (two, for_two) = key(site.root.path(), "two");
    fs::write(site.path("files/a.txt"), "the same all the time").unwrap();
    let mut times = Vec::new();
    let mut serve = |n: i64, recipients: Option<&Recipients>| {
        site.serve(n * 5..n * 5 + 5, recipients);
        // A snapshot for the new keys is stored at once.
        let found = summary(&*site.to).unwrap();
        let n_plain = found.snapshots - found.encrypted_snapshots;
        let is_new = recipients.map_or(n_plain == 1 + usize::from(n > 0), |recipients| found.is_for(recipients));
        assert!(is_new, "{found:?}");
        times.push(now());
    };
    serve(0, None);
    serve(1, Some(&for_one));
    serve(2, Some(&for_two));
    serve(3, None);
    assert_eq!(summary(&*site.to).unwrap().generations, 1, "nothing was missed");
    let both = site.path("both");
    fs::write(&both, format!("{}\n{}\n", fs::read_to_string(&one).unwrap(), fs::read_to_string(&two).unwrap()))
        .unwrap();
    let all = site.with(&both);
    let verified = verify(&*all).unwrap();
    assert!(verified.faults.is_empty() && verified.encrypted == 0, "{verified:?}");
    for (n, time) in times.iter().enumerate() {
        let n = n as i64 + 1;
        assert_eq!(site.restored(&*all, Moment::At(*time)).unwrap(), rows(0..n * 5));
        let to = site.path(&format!("out{n}"));
        assert_eq!(restore_files(&*all, Moment::At(*time), &to).unwrap().files, 1);
    }
    // Each key restores what was stored for it; what is not encrypted needs none.
    assert_eq!(site.restored(&*site.with(&one), Moment::At(times[1])).unwrap(), rows(0..10));
    assert_eq!(site.restored(&*site.with(&two), Moment::At(times[2])).unwrap(), rows(0..15));
    assert!(matches!(site.restored(&*site.with(&one), Moment::At(times[2])), Err(BackupError::WrongIdentity(_))));
    assert_eq!(site.restored(&*site.to, Moment::At(times[0])).unwrap(), rows(0..5));
    assert_eq!(site.restored(&*site.to, Moment::Latest).unwrap(), rows(0..20));
    // The content of the file was stored again for each of them.
    assert_eq!(site.to.list("files/content").unwrap().len(), 3);
}

#[test]
fn a_server_with_another_key_of_its_own_begins_anew() {
    let site = Site::new();
    let (identity, recipients) = key(site.root.path(), "key");
    site.serve(0..3, Some(&recipients));
    fs::remove_file(site.path("site.db.backup-key")).unwrap();
    site.serve(3..6, Some(&recipients));
    assert_eq!(summary(&*site.to).unwrap().generations, 2);
    let from = site.with(&identity);
    assert_eq!(site.restored(&*from, Moment::Latest).unwrap(), rows(0..6));
    assert!(verify(&*from).unwrap().faults.is_empty());
}

#[test]
fn changed_and_missing_objects_are_noticed() {
    let site = Site::new();
    let (identity, recipients) = key(site.root.path(), "key");
    fs::write(site.path("files/a.txt"), "SecretFile").unwrap();
    site.serve(0..6, Some(&recipients));
    let from = site.with(&identity);
    for (key, bytes) in site.objects().into_iter().filter(|(_, bytes)| is_encrypted(bytes)) {
        let path = site.path("backup").join(&key);
        let mut changed = bytes.clone();
        let last = changed.len() - 1;
        changed[last] ^= 1;
        fs::write(&path, &changed).unwrap();
        assert!(!verify(&*from).unwrap().faults.is_empty(), "{key}");
        fs::write(&path, &bytes[..bytes.len() / 3]).unwrap();
        let faults = verify(&*from).unwrap().faults.len();
        assert!(faults > 0 && (bytes.len() > 1_000 || !verify(&*site.to).unwrap().faults.is_empty()), "{key}");
        fs::write(&path, bytes).unwrap();
    }
    assert!(verify(&*from).unwrap().faults.is_empty());
    let log: Vec<String> = site.to.list("db").unwrap().into_iter().filter(|key| key.contains("/log/")).collect();
    fs::remove_file(site.path("backup").join(&log[log.len() - 2])).unwrap();
    for from in [&*from, &*site.to] {
        assert!(!verify(from).unwrap().faults.is_empty());
    }
    assert!(matches!(site.restored(&*from, Moment::Latest), Err(BackupError::Damaged { .. })));
}
