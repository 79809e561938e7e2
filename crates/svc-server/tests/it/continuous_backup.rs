//! The continuous backup: a site is restored as it was at a time, across a killed server.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use chrono::{SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::{
    monitoring::Monitored,
    process::{POSTS, PROGRAM, Server, command, credentials, run, stderr},
};

const FLAGS: [&str; 9] =
    ["--listen", "127.0.0.1:0", "--log", "info", "--backup-to", "backup", "--backup-interval", "100ms", "serve"];

fn start(folder: &Path) -> Server {
    Server::spawn(command(folder, None, &FLAGS)).unwrap_or_else(|output| panic!("no server: {output}"))
}

fn titles(server: &Server) -> Vec<String> {
    let (status, posts) = server.send("GET", &format!("{POSTS}?orderby=id&order=asc&_fields=title"), "", None);
    assert_eq!(status, 200, "{posts}");
    let title = |post: &Value| post["title"]["rendered"].as_str().unwrap().to_owned();
    posts.as_array().unwrap().iter().map(title).filter(|title| title.starts_with("backup")).collect()
}

/// Restores to a new folder, and returns the titles of the restored site and the output.
fn restored(folder: &Path, at: &str, to: &str) -> (Vec<String>, String) {
    let out = run(folder, None, &["restore", "--from", "backup", "--at", at, "--to", to]);
    assert!(out.status.success(), "{}", stderr(&out));
    (served(folder, to), String::from_utf8(out.stdout).unwrap())
}

/// The titles of the site in this folder.
fn served(folder: &Path, data: &str) -> Vec<String> {
    let server = Server::spawn(command(folder, None, &["--data", data, "--listen", "127.0.0.1:0", "serve"])).unwrap();
    let found = titles(&server);
    server.stop();
    found
}

fn now() -> String {
    std::thread::sleep(Duration::from_millis(3));
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
    std::thread::sleep(Duration::from_millis(3));
    now
}

#[test]
fn a_site_is_restored_as_it_was_at_a_time() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path();
    let mut server = start(folder);
    let user = credentials(folder, None);
    let write = |server: &Server, n: u32| {
        let post = json!({"title": format!("backup {n}"), "status": "publish"});
        let (status, post) = server.send("POST", POSTS, &user, Some(&post));
        assert_eq!(status, 201, "{post}");
        post["id"].as_i64().unwrap()
    };
    let first = write(&server, 1);
    let before = now();
    write(&server, 2);
    fs::create_dir_all(folder.join("svc-data/content/uploads/2024")).unwrap();
    fs::write(folder.join("svc-data/content/uploads/2024/a.txt"), "a file").unwrap();
    let between = now();
    std::thread::sleep(Duration::from_millis(400));
    server.signal("KILL");
    server.child.wait().unwrap();
    let server = start(folder);
    write(&server, 3);
    let (status, _) = server.send("DELETE", &format!("{POSTS}/{first}?force=true"), &user, None);
    assert_eq!(status, 200);
    let log = server.stop();
    assert!(log.contains("the backup continues where it ended"), "{log}");

    let (found, text) = restored(folder, &before, "one");
    assert_eq!(found, ["backup 1"], "{text}");
    assert_eq!(restored(folder, &between, "two").0, ["backup 1", "backup 2"]);
    // What an interrupted run has left behind is replaced.
    fs::create_dir(folder.join("three.unfinished")).unwrap();
    fs::write(folder.join("three.unfinished/site.db"), "half").unwrap();
    let (found, text) = restored(folder, "latest", "three");
    assert_eq!(found, ["backup 2", "backup 3"], "{text}");
    assert!(text.contains("Reached: 20") && text.contains("it was checked"), "{text}");
    for file in ["site.db", "keys.toml", "content/uploads/2024/a.txt"] {
        assert!(folder.join("three").join(file).is_file(), "{file}");
    }
    assert!(!folder.join("three.unfinished").exists());
    let same = |name: &str| {
        fs::read(folder.join("svc-data").join(name)).unwrap() == fs::read(folder.join("three").join(name)).unwrap()
    };
    assert!(same("keys.toml") && same("content/uploads/2024/a.txt"));

    for (at, to, why) in
        [("latest", "three", "three is not empty"), ("2001-01-01 00:00", "four", "the backup begins after that time")]
    {
        let out = run(folder, None, &["restore", "--from", "backup", "--at", at, "--to", to]);
        assert!(!out.status.success() && stderr(&out).contains(why), "{}", stderr(&out));
    }
    assert!(!folder.join("four").exists());
    let out = run(folder, None, &["backup", "verify", "--from", "backup"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("in 1 generations") && text.contains("objects were read"), "{text}");
    // Without the setting, a command says what is missing.
    let out = run(folder, None, &["restore", "--at", "latest", "--to", "five"]);
    assert!(stderr(&out).contains("set backup.to"), "{}", stderr(&out));
}

#[test]
fn an_interrupted_restore_leaves_nothing_at_its_place() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path();
    start(folder).stop();
    for pause in [0, 2, 5, 10, 20, 40, 80] {
        let mut restoring = command(folder, None, &["restore", "--from", "backup", "--at", "latest", "--to", "site"]);
        let mut child = restoring.stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        drop(child.kill());
        let has_ended = child.wait().unwrap().success();
        if folder.join("site").exists() {
            // It can be killed after everything is in its place.
            assert_eq!(served(folder, "site"), restored(folder, "latest", "again").0, "after {pause} ms");
            break;
        }
        assert!(!has_ended, "after {pause} ms");
    }
    drop(fs::remove_dir_all(folder.join("site")));
    restored(folder, "latest", "site");
}

#[test]
fn a_second_server_does_not_back_up() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path();
    let first = start(folder);
    let log = start(folder).stop();
    assert!(log.contains("this server does not back up the site: another server (pid"), "{log}");
    let other: Vec<&str> = ["--data", "other"].into_iter().chain(FLAGS).collect();
    let second = Server::spawn(command(folder, None, &other)).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let log = second.stop();
    assert!(log.contains("another server backs up to it (") && log.contains("/svc-data/site.db)"), "{log}");
    drop(first);
}

#[test]
fn doctor_and_metrics_know_the_backup() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path();
    fs::create_dir(folder.join("svc-data")).unwrap();
    fs::write(folder.join("svc-data/svc.toml"), "[backup]\nto = \"backup\"\n").unwrap();
    let monitored = Monitored::start(folder, None);
    let begun = Instant::now();
    while !monitored.metrics().contains("svc_backup_last_snapshot_timestamp_seconds 1") {
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", monitored.metrics());
        std::thread::sleep(Duration::from_millis(50));
    }
    let metrics = monitored.metrics();
    assert_eq!(crate::deploy::missing_of(&metrics, "svc_backup_"), [] as [String; 0]);
    for line in [
        "svc_backup_failures_total 0",
        "svc_backup_generations_total 1",
        "svc_backup_pending_frames 0.0",
        "svc_job_failed_runs_total{job_name=\"back-up-database\"} 0",
        "svc_job_failed_runs_total{job_name=\"back-up-files\"} 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    let out = run(folder, None, &["doctor"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("continuous backup: backup: 1 snapshots"), "{PROGRAM}: {text}");
    drop(monitored);
    fs::remove_dir_all(folder.join("backup")).unwrap();
    let out = run(folder, None, &["doctor"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(!out.status.success() && text.contains("critical  it has no complete snapshot"), "{text}");
}
