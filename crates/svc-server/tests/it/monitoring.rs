//! The monitoring listener of a served site: metrics after known requests, health, and what clients cannot do to them.

use std::{
    collections::BTreeSet,
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

use crate::{
    process::{POSTS, Server, command, credentials, send},
    start::on_each,
};

/// A server with a monitoring listener on a Unix socket.
pub(crate) struct Monitored {
    pub(crate) server: Server,
    pub(crate) socket: PathBuf,
}

impl Monitored {
    /// Starts the site in a folder.
    pub(crate) fn start(folder: &Path, database: Option<&str>) -> Self {
        let socket = folder.join("monitoring.sock");
        let listen = format!("unix:{}", socket.display());
        let args = ["--listen", "127.0.0.1:0", "--log", "warn", "--monitoring-listen", &listen, "serve"];
        let server =
            Server::spawn(command(folder, database, &args)).unwrap_or_else(|output| panic!("no server: {output}"));
        Monitored { server, socket }
    }

    /// Status and body of a response of the monitoring listener.
    pub(crate) fn ask(&self, path: &str) -> (u16, String) {
        ask(&self.socket, path)
    }

    pub(crate) fn metrics(&self) -> String {
        let (status, text) = self.ask("/metrics");
        assert_eq!(status, 200, "{text}");
        text
    }

    /// Waits until `/readyz` gives these reasons.
    #[track_caller]
    fn until_reasons(&self, expected: &[&str]) {
        let start = Instant::now();
        loop {
            let asked = Instant::now();
            let (status, body) = self.ask("/readyz");
            assert!(asked.elapsed() < Duration::from_millis(2_500), "{:?}", asked.elapsed());
            let body: Value = serde_json::from_str(&body).unwrap();
            let reasons = body.get("reasons").cloned().unwrap_or_else(|| json!([]));
            if reasons == json!(expected) {
                assert_eq!(status, if expected.is_empty() { 200 } else { 503 }, "{body}");
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{body}, expected {expected:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Status and body of a response of the monitoring listener on this socket.
pub(crate) fn ask(socket: &Path, path: &str) -> (u16, String) {
    let mut stream = connect(socket);
    write!(stream, "GET {path} HTTP/1.0\r\nHost: x\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// The listener starts after the site.
fn connect(socket: &Path) -> UnixStream {
    let start = Instant::now();
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => return stream,
            Err(error) => assert!(start.elapsed() < Duration::from_secs(20), "{}: {error}", socket.display()),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The lines of samples of a family.
fn samples<'t>(metrics: &'t str, family: &str) -> Vec<&'t str> {
    let of_family = |line: &&str| line.strip_prefix(family).is_some_and(|rest| rest.starts_with(['{', ' ']));
    metrics.lines().filter(of_family).collect()
}

/// The value of a sample.
#[track_caller]
pub(crate) fn value(metrics: &str, sample: &str) -> f64 {
    let found = metrics.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("no {sample} in\n{metrics}")).parse().unwrap()
}

/// Status of a request without credentials.
fn status(server: &Server, method: &str, path: &str) -> u16 {
    server.send(method, path, "", None).0
}

#[test]
fn metrics_count_exactly_what_was_requested() {
    on_each("metrics", |folder, database| {
        drop(Server::start(folder, database));
        let credentials = credentials(folder, database);
        let monitored = Monitored::start(folder, database);
        let server = &monitored.server;
        let post = |id: &str| format!("{POSTS}/{id}");
        let rows: [(&str, &str, u16); 18] = [
            ("GET", POSTS, 200),
            ("GET", POSTS, 200),
            ("GET", POSTS, 200),
            ("HEAD", POSTS, 200),
            ("POST", POSTS, 401),
            ("BREW", POSTS, 404),
            ("GET", &post("1"), 200),
            ("GET", &post("999"), 404),
            ("OPTIONS", &post("1"), 200),
            ("GET", "/svc-json/none", 404),
            ("GET", "/svc-json/openapi.json", 200),
            ("GET", "/svc-json/x/openapi.json", 404),
            ("GET", "/wp-json/", 404),
            ("GET", "/", 200),
            ("GET", "/nothing-here/", 404),
            ("GET", "/wp-login.php", 200),
            ("GET", "/wp-content/uploads/none.png", 404),
            ("GET", "/healthz", 200),
        ];
        for (method, path, expected) in rows {
            assert_eq!(status(server, method, path), expected, "{method} {path}");
        }
        let new = json!({"title": "Counted", "status": "publish"});
        assert_eq!(server.send("POST", POSTS, &credentials, Some(&new)).0, 201);
        assert_eq!(server.send("GET", "/svc-json/svc/v2/users/me", "admin:wrong", None).0, 401);
        // Refused by the middleware.
        let (refused, _) = send(&server.address, "GET", "/\u{7f}", "", "", b"");
        assert_eq!(refused, 400);

        let metrics = monitored.metrics();
        let list = r#"route="/svc/v2/posts""#;
        let item = r#"route="/svc/v2/posts/(?P<id>[\\d]+)""#;
        let expected = BTreeSet::from(
            [
                format!(r#"{{{list},method="GET",status="2xx"}} 3"#),
                format!(r#"{{{list},method="HEAD",status="2xx"}} 1"#),
                format!(r#"{{{list},method="POST",status="2xx"}} 1"#),
                format!(r#"{{{list},method="POST",status="4xx"}} 1"#),
                format!(r#"{{{list},method="other",status="4xx"}} 1"#),
                format!(r#"{{{item},method="GET",status="2xx"}} 1"#),
                format!(r#"{{{item},method="GET",status="4xx"}} 1"#),
                format!(r#"{{{item},method="OPTIONS",status="2xx"}} 1"#),
                r#"{route="/svc/v2/users/me",method="GET",status="4xx"} 1"#.to_owned(),
                r#"{route="other",method="GET",status="4xx"} 3"#.to_owned(),
                r#"{route="openapi",method="GET",status="2xx"} 1"#.to_owned(),
                r#"{route="page",method="GET",status="2xx"} 1"#.to_owned(),
                r#"{route="page",method="GET",status="4xx"} 1"#.to_owned(),
                r#"{route="login",method="GET",status="2xx"} 1"#.to_owned(),
                r#"{route="uploads",method="GET",status="4xx"} 1"#.to_owned(),
                r#"{route="health",method="GET",status="2xx"} 1"#.to_owned(),
            ]
            .map(|labels| format!("svc_http_requests_total{labels}")),
        );
        let found: BTreeSet<String> =
            samples(&metrics, "svc_http_requests_total").into_iter().map(str::to_owned).collect();
        let (more, fewer): (Vec<_>, Vec<_>) =
            (found.difference(&expected).collect(), expected.difference(&found).collect());
        assert!(more.is_empty() && fewer.is_empty(), "not expected: {more:#?}, missing: {fewer:#?}");
        assert_eq!(value(&metrics, &format!(r#"svc_http_request_duration_seconds_count{{{list},method="GET"}}"#)), 3.0);
        assert_eq!(value(&metrics, r#"svc_login_failures_total{reason="wrong_application_password"}"#), 1.0);
        assert_eq!(value(&metrics, r#"svc_login_failures_total{reason="unknown_user"}"#), 0.0);
        assert!(value(&metrics, r#"svc_db_transactions_total{outcome="committed"}"#) >= 1.0);
        assert!(value(&metrics, r#"svc_db_statement_duration_seconds_count{kind="select"}"#) >= 5.0);
        assert!(value(&metrics, r#"svc_db_statement_duration_seconds_count{kind="insert"}"#) >= 1.0);
        assert!(value(&metrics, "svc_db_commit_duration_seconds_count") >= 1.0);
        if database.is_none() {
            assert!(value(&metrics, r#"svc_cache_entries{cache="items"}"#) >= 1.0);
            assert!(value(&metrics, r#"svc_cache_hits_total{cache="responses"}"#) >= 1.0);
        }
        assert_eq!(value(&metrics, "svc_http_requests_in_progress"), 0.0);
        assert!(value(&metrics, "svc_http_connections_accepted_total") >= 21.0);
        assert_eq!(value(&metrics, r#"svc_lane_requests_waiting{lane="light"}"#), 0.0);
        assert_eq!(value(&metrics, "svc_draining"), 0.0);
        assert!(value(&metrics, "svc_db_pool_max") >= 1.0);
        assert_eq!(samples(&metrics, "svc_db_wal_bytes").len(), usize::from(database.is_none()));
        let kind = if database.is_none() { "sqlite" } else { "mysql" };
        let build = format!(r#"svc_build_info{{version="{}",database="{kind}"}}"#, env!("CARGO_PKG_VERSION"));
        assert_eq!(value(&metrics, &build), 1.0);
    });
}

/// Sends requests on one connection, and reads all responses.
fn pipeline(address: &str, requests: impl Iterator<Item = (String, String)>) {
    let mut stream = TcpStream::connect(address).unwrap();
    let mut text = String::new();
    for (method, path) in requests {
        text.push_str(&format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n\r\n"));
    }
    text.push_str(&format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"));
    let mut sender = stream.try_clone().unwrap();
    let sending = std::thread::spawn(move || sender.write_all(text.as_bytes()));
    let mut responses = Vec::new();
    stream.read_to_end(&mut responses).unwrap();
    sending.join().unwrap().unwrap();
    assert!(responses.ends_with(b"ok\n"), "{}", String::from_utf8_lossy(&responses));
}

#[test]
fn clients_cannot_add_series() {
    let folder = tempfile::tempdir().unwrap();
    let monitored = Monitored::start(folder.path(), None);
    let address = &monitored.server.address;
    let hostile = |n: usize| match n % 5 {
        0 => ("GET".to_owned(), format!("/svc-json/{n}/route")),
        1 => ("GET".to_owned(), format!("{POSTS}/{n}")),
        2 => (format!("M{n}"), POSTS.to_owned()),
        3 => ("POST".to_owned(), format!("/svc-json/svc/v2/x{n}?n={n}")),
        _ => ("DELETE".to_owned(), format!("/wp-json/{n}")),
    };
    let series = || -> BTreeSet<String> {
        let metrics = monitored.metrics();
        let lines = metrics.lines().filter(|line| !line.starts_with('#'));
        // Those of jobs begin with the first run.
        let names = lines.map(|line| line.rsplit_once(' ').unwrap().0.to_owned());
        names.filter(|name| !name.starts_with("svc_job_")).collect()
    };
    pipeline(address, (0..10).map(hostile));
    let before = series();
    for batch in 0..100 {
        pipeline(address, (0..100).map(|n| hostile(10 + batch * 100 + n)));
    }
    let after = series();
    assert_eq!(after.difference(&before).collect::<Vec<_>>(), [] as [&String; 0]);
    assert_eq!(after.len(), before.len());
    let metrics = monitored.metrics();
    let sum: f64 = samples(&metrics, "svc_http_requests_total")
        .iter()
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap())
        .sum();
    assert_eq!(sum, 10_010.0 + 101.0);
}

#[test]
fn the_public_port_has_no_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let monitored = Monitored::start(folder.path(), None);
    assert_eq!(monitored.ask("/metrics").0, 200);
    assert_eq!(status(&monitored.server, "GET", "/metrics"), 404);
    assert_eq!(monitored.ask(POSTS).0, 404, "the monitoring listener has no site");
    let doctor = crate::process::run(
        folder.path(),
        None,
        &[
            "--monitoring-listen",
            "127.0.0.1:9090",
            "--site-url",
            &format!("http://{}", monitored.server.address),
            "doctor",
        ],
    );
    let doctor = String::from_utf8_lossy(&doctor.stdout);
    assert!(doctor.contains("monitoring listener of the server: http://127.0.0.1:9090 with"), "{doctor}");
}

#[test]
fn without_the_setting_there_is_no_monitoring_listener() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), None);
    assert_eq!(status(&server, "GET", "/metrics"), 404);
    let out = crate::process::run(folder.path(), None, &["--monitoring-listen", "nonsense", "serve"]);
    assert!(
        crate::process::stderr(&out).contains("`monitoring.listen` must be like"),
        "{}",
        crate::process::stderr(&out)
    );
    let taken = server.address.clone();
    let out =
        crate::process::run(folder.path(), None, &["--listen", "127.0.0.1:0", "--monitoring-listen", &taken, "serve"]);
    assert!(
        crate::process::stderr(&out).contains("monitoring listener: cannot listen on"),
        "{}",
        crate::process::stderr(&out)
    );
}

#[test]
fn an_address_that_others_can_reach_causes_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    for (listen, warns) in [("0.0.0.0:0", true), ("127.0.0.1:0", false)] {
        let args = ["--listen", "127.0.0.1:0", "--log", "warn", "--monitoring-listen", listen, "serve"];
        let server =
            Server::spawn(command(folder.path(), None, &args)).unwrap_or_else(|output| panic!("no server: {output}"));
        assert_eq!(status(&server, "GET", "/healthz"), 200);
        let log = server.stop();
        assert_eq!(log.contains("can be reached by other computers"), warns, "{log}");
    }
}

#[test]
fn a_server_that_drains_is_not_ready_and_accepts_requests() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--listen", "127.0.0.1:0", "--log", "warn", "--limits-drain-seconds", "3", "serve"];
    let server = Server::spawn(command(folder.path(), None, &args)).unwrap();
    assert_eq!(server.send("GET", "/readyz", "", None).0, 200);
    let begun = Instant::now();
    server.signal("TERM");
    while server.send("GET", "/readyz", "", None).0 != 503 {
        assert!(begun.elapsed() < Duration::from_secs(2));
    }
    assert_eq!(server.send("GET", POSTS, "", None).0, 200);
    server.stop();
    assert!(begun.elapsed() >= Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[test]
fn a_server_that_is_stopping_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let monitored = Monitored::start(folder.path(), None);
    monitored.until_reasons(&[]);
    // A request in progress keeps the server from ending.
    let mut upload = TcpStream::connect(&monitored.server.address).unwrap();
    write!(upload, "POST {POSTS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{")
        .unwrap();
    let start = Instant::now();
    while value(&monitored.metrics(), "svc_http_requests_in_progress") < 1.0 {
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    monitored.server.signal("TERM");
    monitored.until_reasons(&["the server is stopping"]);
    assert_eq!(value(&monitored.metrics(), "svc_draining"), 1.0);
    write!(upload, "}}").unwrap();
    let mut response = String::new();
    upload.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 401"), "{response}");
    let Monitored { server, socket } = monitored;
    server.stop();
    assert!(!socket.exists());
}

#[test]
fn a_site_without_its_sqlite_file_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let monitored = Monitored::start(folder.path(), None);
    monitored.until_reasons(&[]);
    let (file, moved) = (folder.path().join("svc-data/site.db"), folder.path().join("moved.db"));
    std::fs::rename(&file, &moved).unwrap();
    monitored.until_reasons(&["the database cannot be read"]);
    std::fs::rename(&moved, &file).unwrap();
    monitored.until_reasons(&[]);
}

#[test]
fn a_site_without_its_database_server_is_not_ready() {
    let Some(database) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() else {
        eprintln!("SKIPPED: no mariadbd is installed");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let monitored = Monitored::start(folder.path(), Some(&database.create("ready").unwrap()));
    monitored.until_reasons(&[]);
    database.client("SET GLOBAL read_only = 1").unwrap();
    monitored.until_reasons(&["the database is read-only"]);
    database.client("SET GLOBAL read_only = 0").unwrap();
    monitored.until_reasons(&[]);
    database.pause().unwrap();
    monitored.until_reasons(&["the database does not respond"]);
    assert_eq!(monitored.ask("/healthz"), (200, "ok\n".to_owned()));
    assert_eq!(monitored.ask("/metrics").0, 200);
    database.resume().unwrap();
    monitored.until_reasons(&[]);
    database.kill().unwrap();
    monitored.until_reasons(&["the database cannot be read"]);
    database.run().unwrap();
    monitored.until_reasons(&[]);
}
