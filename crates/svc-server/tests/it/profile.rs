//! How long requests take: the header `Server-Timing`, and the log of slow requests.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Command,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::process::{SERVE, Server, command, credentials, run};

/// The header lines of the response to a request.
fn head(server: &Server, path: &str, credentials: Option<&str>, headers: &str) -> String {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let basic = credentials.map(|c| format!("Authorization: Basic {}\r\n", STANDARD.encode(c))).unwrap_or_default();
    let head = format!("GET {path} HTTP/1.0\r\nHost: {}\r\n{basic}{headers}\r\n", server.address);
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.0 200"), "{response}");
    response.split("\r\n\r\n").next().unwrap().to_owned()
}

const LIST: &str = "/svc-json/svc/v2/posts";
const ASKED: &str = "X-SVC-Timing: 1\r\n";

fn timing(head: &str) -> Option<&str> {
    head.lines().find_map(|line| line.strip_prefix("server-timing: "))
}

#[test]
fn administrators_get_the_times_of_a_request() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), None);
    let admin = credentials(folder.path(), None);
    let created = run(folder.path(), None, &["user", "create", "reader", "reader@example.org", "--role", "author"]);
    assert!(created.status.success(), "{created:?}");
    let password = run(folder.path(), None, &["app-password", "create", "reader", "test"]);
    let password = String::from_utf8(password.stdout).unwrap();
    let reader = format!("reader:{}", password.trim().rsplit(": ").next().unwrap());
    // Cached for visitors by now.
    head(&server, LIST, None, "");
    for (credentials, headers) in [(None, ASKED), (Some(&*reader), ASKED), (Some(&*admin), "")] {
        assert_eq!(timing(&head(&server, LIST, credentials, headers)), None);
    }
    for search in ["first", "second"] {
        let head = head(&server, &format!("{LIST}?search={search}"), Some(&admin), ASKED);
        let timing = timing(&head).unwrap_or_else(|| panic!("no times: {head}"));
        let (total, db) = timing.split_once(", db;dur=").unwrap();
        let total: f64 = total.strip_prefix("total;dur=").unwrap().parse().unwrap();
        let (db, statements) = db.split_once(";desc=\"").unwrap();
        assert!(total > 0.0 && db.parse::<f64>().unwrap() <= total, "{timing}");
        let n: u32 = statements.strip_suffix(" statements\"").unwrap().parse().unwrap();
        assert!((1..=20).contains(&n), "{timing}");
    }
}

fn slow_lines(serve: Command, requests: impl FnOnce(&Server)) -> Vec<Value> {
    let server = Server::spawn(serve).unwrap();
    requests(&server);
    let log = server.stop();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["message"] == "slow request").collect()
}

#[test]
fn slow_requests_are_logged_with_their_statements_but_not_their_values() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("svc.toml"), "log_format = \"json\"\nslow_request = \"1ms\"\n").unwrap();
    drop(Server::start(folder.path(), None));
    let admin = credentials(folder.path(), None);
    let lines = slow_lines(command(folder.path(), None, &SERVE), |server| {
        let post = json!({"title": "Geheimnis 4711", "content": "Geheimnis", "status": "publish"});
        assert_eq!(server.send("POST", LIST, &admin, Some(&post)).0, 201);
        assert_eq!(server.send("GET", &format!("{LIST}?search=Geheimnis&_embed=1"), "", None).0, 200);
    });
    // The first requests after the start take more than a millisecond: the password alone does.
    let of = |method: &str| lines.iter().find(|line| line["method"] == method).unwrap_or_else(|| panic!("{lines:?}"));
    let (created, listed) = (of("POST"), of("GET"));
    assert_eq!((&created["path"], &created["status"], &listed["path"]), (&json!(LIST), &json!(201), &json!(LIST)));
    assert!(created["ms"].as_f64() >= Some(1.0) && created["n_statements"].as_u64() > Some(3), "{created}");
    assert!(created["statements"].as_str().unwrap().contains("INSERT INTO"), "{created}");
    assert!(listed["statements"].as_str().unwrap().contains("SELECT"), "{listed}");
    for line in &lines {
        assert!(!line.to_string().contains("Geheimnis") && !line.to_string().contains("4711"), "{line}");
    }

    std::fs::write(folder.path().join("svc.toml"), "log_format = \"json\"\nslow_request = \"10s\"\n").unwrap();
    let lines = slow_lines(command(folder.path(), None, &SERVE), |server| {
        assert_eq!(server.send("GET", LIST, "", None).0, 200);
    });
    assert_eq!(lines, [] as [Value; 0]);
}
