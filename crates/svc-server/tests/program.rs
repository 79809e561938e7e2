//! Tests of the program: failed starts, and a full disk.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a helper that fails fails its test")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_svc-server");
const POSTS: &str = "/svc-json/svc/v2/posts";

/// Runs the program in a folder to its end.
fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(PROGRAM).args(args).current_dir(folder).env_clear().stdin(Stdio::null()).output().unwrap()
}

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
    // The default port is in use, by this test or another program.
    let _taken = std::net::TcpListener::bind("127.0.0.1:8080");
    for (args, message) in rows {
        let free = ["--listen", "127.0.0.1:0"];
        let listen = if args.contains(&"--listen") { &[][..] } else { &free };
        let out = run(folder.path(), &[listen, args].concat());
        let told = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{args:?}: {told}");
        assert!(
            told.lines().any(|line| line.starts_with("svc-server: ") && line.contains(message)),
            "{args:?}: {told}"
        );
        assert!(!told.contains("panicked") && !told.contains("hunter2"), "{args:?}: {told}");
    }
}

/// A running server. It is killed on drop.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path) -> Self {
        // A write over the limit must be an error, not a signal.
        let mut child = Command::new("sh")
            .args(["-c", "trap '' XFSZ; exec \"$0\" --listen 127.0.0.1:0 --log warn serve", PROGRAM])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let word = lines.find_map(|line| line.split_whitespace().find(|w| w.starts_with("http://")).map(str::to_owned));
        let address = word.expect("it says where it listens").trim_matches('/').replace("http://", "");
        Server { child, address }
    }

    /// Limits the size of files. Returns false if the system does not support that.
    fn limit(&self, bytes: &str) -> bool {
        let pid = self.child.id().to_string();
        let limit = format!("--fsize={bytes}:unlimited");
        Command::new("prlimit").args(["--pid", &pid, &limit]).status().is_ok_and(|s| s.success())
    }

    /// Status and body of a response.
    fn ask(&self, method: &str, path: &str, credentials: &str, body: Option<&Value>) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = body.map(ToString::to_string).unwrap_or_default();
        let basic = STANDARD.encode(credentials);
        let head = format!(
            "{method} {path} HTTP/1.0\r\nHost: {}\r\nAuthorization: Basic {basic}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _ended = self.child.wait();
    }
}

#[test]
fn a_full_disk_loses_nothing_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    drop(Server::start(folder.path()));
    let made = run(folder.path(), &["app-password", "create", "admin", "tests"]);
    let told = String::from_utf8(made.stdout).unwrap();
    let credentials = format!("admin:{}", told.trim().rsplit(": ").next().unwrap());

    let server = Server::start(folder.path());
    if !server.limit("6000000") {
        eprintln!("SKIPPED: no prlimit is installed to bound files with");
        return;
    }
    let post = json!({"title": "filling", "status": "publish", "content": "word ".repeat(100_000)});
    let mut written = Vec::new();
    let refused = loop {
        let (status, answer) = server.ask("POST", POSTS, &credentials, Some(&post));
        match status {
            201 => written.push(answer["id"].clone()),
            _ => break (status, answer),
        }
        assert!(written.len() < 100, "it never fills");
    };
    assert_eq!((refused.0, &refused.1["code"]), (500, &json!("rest_internal_error")), "{refused:?}");
    let list = |server: &Server| {
        let (status, posts) = server.ask("GET", &format!("{POSTS}?search=filling&per_page=100&order=asc"), "", None);
        assert_eq!(status, 200, "what is there can be read");
        posts.as_array().unwrap().iter().map(|post| post["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(list(&server), written);

    assert!(server.limit("unlimited"));
    let (status, answer) = server.ask("POST", POSTS, &credentials, Some(&post));
    assert_eq!(status, 201, "{answer}");
    written.push(answer["id"].clone());
    drop(server);
    assert_eq!(list(&Server::start(folder.path())), written);
}
