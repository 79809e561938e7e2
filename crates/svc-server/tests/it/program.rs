//! Tests of the program: failed starts, and a full disk.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::json;

use crate::process::{POSTS, PROGRAM, Server, command, credentials, run, send, stderr};

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
        .env_clear()
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

/// Checks that a server still responds to requests that write to its log.
#[track_caller]
fn assert_serves(address: &str, what: &str) {
    for n in 0..20 {
        let (status, _) = send(address, "GET", POSTS, "", "", b"");
        assert_eq!(status, 200, "{what}: request {n}");
        let (status, _) = send(address, "GET", "/svc-json/no/such/route", "", "", b"");
        assert_eq!(status, 404, "{what}: request {n}");
    }
}

/// `serve`, which logs every request.
fn serve_with_log(folder: &Path, shell: &str) -> Command {
    let mut command = Command::new("sh");
    let script = format!("{shell}exec \"$0\" --listen 127.0.0.1:0 --log info,svc_listen=debug serve");
    command.args(["-c", &script, PROGRAM]).current_dir(folder).env_clear().stdin(Stdio::null());
    command
}

#[cfg(target_os = "linux")]
fn full() -> Stdio {
    std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

#[test]
#[cfg(target_os = "linux")]
fn serves_while_the_log_cannot_be_written() {
    use std::io::{BufRead as _, BufReader};

    let folder = tempfile::tempdir().unwrap();
    let address_in = |text: &str| {
        text.split_whitespace()
            .find_map(|word| word.split_once("http://").map(|(_, a)| a.trim_matches(['/', '"']).to_owned()))
    };

    let mut process = serve_with_log(folder.path(), "").stdout(Stdio::piped()).stderr(full()).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    let address = lines.take(50).find_map(|line| address_in(&line)).expect("the server prints its address");
    assert_serves(&address, "full standard error, and closed standard output");
    process.kill().unwrap();
    process.wait().unwrap();

    let mut process = serve_with_log(folder.path(), "").stdout(full()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
    let address = log
        .find(|line| line.contains("serving"))
        .and_then(|line| address_in(&line))
        .expect("the server logs its address");
    drop(log);
    assert_serves(&address, "full standard output, and closed standard error");
    process.kill().unwrap();
    process.wait().unwrap();

    // A log file that may not grow, as on a full disk.
    let path = folder.path().join("log");
    std::fs::write(&path, " ".repeat(20 << 20)).unwrap();
    let log = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let mut limited = serve_with_log(folder.path(), "ulimit -f 16384; trap '' XFSZ; ");
    let mut process = limited.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    let address = lines.take(50).find_map(|line| address_in(&line)).expect("the server prints its address");
    assert_serves(&address, "full disk");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 20 << 20, "the log is full");
    process.kill().unwrap();
    process.wait().unwrap();
}

/// A file system of its own for the log, in a namespace of the process.
#[test]
#[cfg(target_os = "linux")]
fn serves_while_the_file_system_of_the_log_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let namespace = |script: &str| {
        let script = format!("mkdir -p logs && mount -t tmpfs -o size=64k none logs && {script}");
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, PROGRAM]);
        command.current_dir(folder.path());
        command
    };
    if !namespace("exec true").output().is_ok_and(|out| out.status.success()) {
        eprintln!("SKIPPED: this user cannot mount file systems");
        return;
    }
    let fill = ": > logs/log; cat /dev/zero > logs/rest 2>/dev/null; ";
    let serve = "exec \"$0\" --listen 127.0.0.1:0 --log info,svc_listen=debug serve 2>> logs/log";
    let server = Server::spawn(namespace(&format!("{fill}{serve}"))).unwrap_or_else(|output| panic!("{output}"));
    assert_serves(&server.address, "full file system");
    let logs = Path::new("/proc")
        .join(server.child.id().to_string())
        .join("root")
        .join(folder.path().strip_prefix("/").unwrap().join("logs"));
    let size = || std::fs::metadata(logs.join("log")).unwrap().len();
    let more = std::fs::write(logs.join("more"), [0; 4096]);
    assert_eq!(more.map_err(|error| error.kind()), Err(std::io::ErrorKind::StorageFull));
    assert_eq!(size(), 0, "nothing fits");
    std::fs::remove_file(logs.join("rest")).unwrap();
    assert_serves(&server.address, "there is room again");
    let begun = std::time::Instant::now();
    while size() == 0 {
        assert!(begun.elapsed() < std::time::Duration::from_secs(10), "nothing is logged any more");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_reader_of_the_log_that_stops_delays_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let server =
        Server::spawn(serve_with_log(folder.path(), "")).unwrap_or_else(|output| panic!("no server: {output}"));
    // More than a pipe holds: every path is logged.
    let path = format!("/svc-json/{}", "x".repeat(180));
    for n in 0..800 {
        let (status, _) = send(&server.address, "GET", &path, "", "", b"");
        assert_eq!(status, 404, "request {n}");
    }
    let log = server.stop();
    assert_eq!(log.matches("status=404").count(), 800, "no line is lost");
    assert!(log.contains("stopped"), "the last line");
}

#[test]
#[cfg(target_os = "linux")]
fn commands_end_quietly_without_a_reader_and_report_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    drop(Server::start(folder.path(), None));
    for args in [&["routes"][..], &["config"], &["config", "--template"], &["openapi"], &["types"], &["user", "list"]] {
        // A pipe whose reader ends at once.
        let mut process =
            command(folder.path(), None, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(process.stdout.take());
        let out = process.wait_with_output().unwrap();
        assert_eq!((stderr(&out), out.status.code()), (String::new(), Some(0)), "{args:?}");

        let out = command(folder.path(), None, args).stdout(full()).output().unwrap();
        assert_eq!(out.status.code(), Some(1), "{args:?}");
        assert!(
            stderr(&out).contains("standard output cannot be written: No space left"),
            "{args:?}: {}",
            stderr(&out)
        );

        let out = command(folder.path(), None, args).stderr(full()).output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{args:?}");
    }
    let out = command(folder.path(), None, &["--no-such-flag"]).stderr(full()).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_only_data_folder_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    // After an orderly end, SQLite has to create files next to the database. (With those of a server that was killed, it
    // can read without writing.)
    let server = start(folder.path());
    assert_serves(&server.address, "writable folder");
    server.stop();
    // A namespace of its own, in which the folder is mounted without write access.
    let namespace = ["--user", "--map-root-user", "--mount", "sh", "-c"];
    let mount = "mount --bind . . && mount -o remount,ro,bind . && cd \"$PWD\"";
    let run = |then: &str| {
        let script = format!("{mount} && {then}");
        Command::new("unshare").args(namespace).args([&script, PROGRAM]).current_dir(folder.path()).output()
    };
    if !run("exec true").is_ok_and(|out| out.status.success()) {
        eprintln!("SKIPPED: this user cannot mount folders");
        return;
    }
    let out = run("exec \"$0\" --listen 127.0.0.1:0 serve").unwrap();
    let reported = stderr(&out);
    assert_eq!(out.status.code(), Some(1), "{reported}");
    let [message, hint] =
        ["svc-data is read-only", "hint: make the folder writable"].map(|text| reported.contains(text));
    assert!(message && hint, "{reported}");
}

#[test]
fn an_unreachable_database_is_logged_once() {
    let folder = tempfile::tempdir().unwrap();
    drop(start(folder.path()));
    let credentials = credentials(folder.path(), None);
    let server = start(folder.path());
    let data = folder.path().join("svc-data");
    std::fs::rename(data.join("site.db"), data.join("moved.db")).unwrap();
    let post = json!({"title": "x", "status": "publish"});
    // The file is examined from time to time, so the first requests may still succeed.
    let start = std::time::Instant::now();
    while server.send("POST", POSTS, &credentials, Some(&post)).0 != 503 {
        assert!(start.elapsed() < std::time::Duration::from_secs(30), "the loss is never noticed");
    }
    for _ in 0..50 {
        assert_eq!(server.send("POST", POSTS, &credentials, Some(&post)).0, 503);
    }
    let log = server.stop();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).collect();
    assert!(lines.len() <= 4, "{} lines:\n{log}", lines.len());
    assert!(lines.iter().any(|line| line.contains("was deleted or replaced")), "{log}");
}
