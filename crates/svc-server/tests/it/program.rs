//! Tests of the program: failed starts, and a full disk.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::json;

use crate::process::{POSTS, PROGRAM, Server, credentials, run};

#[test]
fn failed_starts_report_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("file"), "no folder").unwrap();
    std::fs::write(path("other.db"), "no database, but long enough to be looked at. ".repeat(100)).unwrap();
    let no_database = format!("sqlite:{}", path("other.db"));
    let nowhere = format!("sqlite:{}", path("no/such/folder.db"));
    // A port that was free just now.
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = format!("mysql://u:hunter2@{unused}/db");
    let rows: [(&[&str], &str); 5] = [
        (&["--data", &path("file")], "file"),
        (&["--database", &no_database], "the database is damaged"),
        (&["--database", &nowhere], "the database cannot be reached"),
        (&["--database", &nobody], "the database cannot be reached"),
        (&["--listen", "nonsense"], "`listen` must be like"),
    ];
    for (args, message) in rows {
        let free = ["--listen", "127.0.0.1:0"];
        let listen = if args.contains(&"--listen") { &[][..] } else { &free };
        let out = run(folder.path(), None, &[listen, args].concat());
        let reported = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{args:?}: {reported}");
        assert!(
            reported.lines().any(|line| line.starts_with("svc-server: ") && line.contains(message)),
            "{args:?}: {reported}"
        );
        assert!(!reported.contains("panicked") && !reported.contains("hunter2"), "{args:?}: {reported}");
    }
}

/// Starts a server for which a write over a size limit is an error, not a signal.
fn start(folder: &Path) -> Server {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; exec \"$0\" --listen 127.0.0.1:0 --log warn serve", PROGRAM])
        .current_dir(folder)
        .stdin(Stdio::null());
    Server::spawn(shell).unwrap_or_else(|output| panic!("no server: {output}"))
}

/// Limits the size of the server's files. Returns false if the system does not support that.
fn limit(server: &Server, bytes: &str) -> bool {
    let pid = server.child.id().to_string();
    let limit = format!("--fsize={bytes}:unlimited");
    Command::new("prlimit").args(["--pid", &pid, &limit]).status().is_ok_and(|s| s.success())
}

#[test]
fn a_full_disk_loses_nothing_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    drop(start(folder.path()));
    let credentials = credentials(folder.path(), None);

    let server = start(folder.path());
    if !limit(&server, "6000000") {
        eprintln!("SKIPPED: prlimit is not installed");
        return;
    }
    let post = json!({"title": "filling", "status": "publish", "content": "word ".repeat(100_000)});
    let mut written = Vec::new();
    let refused = loop {
        let (status, response) = server.send("POST", POSTS, &credentials, Some(&post));
        match status {
            201 => written.push(response["id"].clone()),
            _ => break (status, response),
        }
        assert!(written.len() < 100, "the limit is never reached");
    };
    assert_eq!((refused.0, &refused.1["code"]), (500, &json!("rest_internal_error")), "{refused:?}");
    let list = |server: &Server| {
        let (status, posts) =
            server.send("GET", &format!("{POSTS}?search=filling&per_page=100&order=asc&_fields=id"), "", None);
        assert_eq!(status, 200, "stored posts can be read: {posts}");
        posts.as_array().unwrap().iter().map(|post| post["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(list(&server), written);

    assert!(limit(&server, "unlimited"));
    let (status, response) = server.send("POST", POSTS, &credentials, Some(&post));
    assert_eq!(status, 201, "{response}");
    written.push(response["id"].clone());
    drop(server);
    assert_eq!(list(&start(folder.path())), written);
}
