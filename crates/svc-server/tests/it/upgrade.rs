//! The copy of the database from before another version first writes to it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;
use svc_store::{DatabaseUrl, Store, StoreConfig, StoredText, options};

use crate::process::{POSTS, Server, command, credentials, run, stderr};

/// Maximum time for what a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

fn record(folder: &Path) -> PathBuf {
    folder.join("svc-data/site.db.version")
}

/// As if another build had opened the database last.
fn pretend_other_build(folder: &Path) {
    fs::write(record(folder), "0.0.1 5.1\n").unwrap();
}

/// The complete copies, the oldest first.
fn copies(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("svc-data/before-upgrade")).into_iter().flatten();
    let files = entries.map(|entry| entry.unwrap().path());
    let mut copies: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|end| end == "sqlite")).collect();
    copies.sort();
    copies
}

fn serve_with_log(folder: &Path) -> Server {
    Server::spawn(command(folder, None, &["--listen", "127.0.0.1:0", "--log", "info", "serve"])).unwrap()
}

#[test]
fn going_back_to_the_copy_loses_only_later_writes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = Server::start(folder, None);
    let credentials = credentials(folder, None);
    let write = |server: &Server, title: &str| {
        let post = json!({"title": title, "status": "publish"});
        assert_eq!(server.send("POST", POSTS, &credentials, Some(&post)).0, 201);
    };
    let has = |server: &Server, title: &str| {
        let (status, found) = server.send("GET", &format!("{POSTS}?search={title}&_fields=id"), "", None);
        assert_eq!(status, 200);
        !found.as_array().unwrap().is_empty()
    };
    write(&server, "Earlier");
    drop(server.stop());
    assert!(copies(folder).is_empty(), "one build only");

    pretend_other_build(folder);
    let server = serve_with_log(folder);
    write(&server, "Afterwards");
    let log = server.stop();
    let copies = copies(folder);
    let [copy] = &*copies else { panic!("{copies:?}") };
    let name = copy.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("0.0.1-"), "{name}");
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("the database")).collect();
    let [before, after] = &*lines else { panic!("{log}") };
    assert!(before.contains("copying the database (") && before.contains(name), "{before}");
    assert!(after.contains("copied the database: ") && after.contains(" seconds"), "{after}");

    let examined = run(folder, None, &["doctor"]);
    let examined = String::from_utf8_lossy(&examined.stdout).into_owned();
    assert!(examined.lines().any(|line| line.contains("before an upgrade: ") && line.contains(name)), "{examined}");

    let restored = run(folder, None, &["restore", copy.to_str().unwrap(), "--overwrite"]);
    assert!(restored.status.success(), "{}", stderr(&restored));
    let server = Server::start(folder, None);
    assert!(has(&server, "Earlier") && !has(&server, "Afterwards"));
}

#[test]
fn commands_copy_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    drop(Server::start(folder, None).stop());
    pretend_other_build(folder);
    let listed = run(folder, None, &["user", "list"]);
    assert!(listed.status.success() && String::from_utf8_lossy(&listed.stdout).contains("admin"));
    let notes = stderr(&listed);
    assert!(notes.contains("copying the database") && notes.contains("copied the database"), "{notes}");
    assert_eq!(copies(folder).len(), 1);
    assert_eq!(stderr(&run(folder, None, &["user", "list"])), "");
    // A database elsewhere has its record beside it, and its copies in the data folder.
    let url = format!("sqlite:{}", folder.join("other.db").display());
    fs::rename(folder.join("svc-data/site.db"), folder.join("other.db")).unwrap();
    assert!(run(folder, Some(&url), &["user", "list"]).status.success());
    assert!(folder.join("other.db.version").exists());
    assert_eq!(copies(folder).len(), 2);
}

#[test]
fn a_killed_copy_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    drop(Server::start(folder, None).stop());
    let database = folder.join("svc-data/site.db");
    let store = Store::open(&StoreConfig::new(DatabaseUrl::Sqlite(database))).unwrap();
    for n in 0..10 {
        let value = "large ".repeat(2_000_000);
        store
            .write_blocking(move |tx| options::set(tx, &format!("large_{n}"), &StoredText::of(value.as_str()), false))
            .unwrap();
    }
    drop(store);
    let unfinished = || {
        let entries = fs::read_dir(folder.join("svc-data/before-upgrade")).into_iter().flatten().flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "unfinished")).count()
    };
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < PATIENCE, "no copy is met");
        let _ = fs::remove_dir_all(folder.join("svc-data/before-upgrade"));
        pretend_other_build(folder);
        let mut child = command(folder, None, &["user", "list"]).stderr(Stdio::null()).spawn().unwrap();
        while unfinished() == 0 && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Unless it was faster.
        if unfinished() == 1 {
            break;
        }
    }
    assert!(copies(folder).is_empty());
    assert_eq!(fs::read_to_string(record(folder)).unwrap(), "0.0.1 5.1\n", "the next start makes the copy");
    drop(Server::start(folder, None).stop());
    assert_eq!((copies(folder).len(), unfinished()), (1, 0));
    let copied = run(folder, Some(&format!("sqlite:{}", copies(folder)[0].display())), &["user", "list"]);
    assert!(copied.status.success(), "{}", stderr(&copied));
}
