//! The program in front of a WordPress, which another one on the same database represents. Skipped if MariaDB is not installed.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::json;
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

use crate::{
    monitoring::{Monitored, ask, value},
    process::{SERVE, Server, command, run, stderr},
};

const POSTS: &str = "/wp-json/wp/v2/posts";

/// Head and body of a response.
fn get(address: &str, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.to_ascii_lowercase(), body.to_owned())
}

fn is_replayed(head: &str) -> bool {
    head.contains("cache-status: svc; hit")
}

/// Waits until a response is replayed. Returns the server, which is stopped otherwise to show its log.
fn until_replayed(front: Server, path: &str) -> (Server, String) {
    let start = Instant::now();
    loop {
        let (head, body) = get(&front.address, path);
        if is_replayed(&head) {
            return (front, body);
        }
        if start.elapsed() > Duration::from_secs(30) {
            panic!("it is never replayed: {head}\n{}", front.stop());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The configuration of a server in front.
pub(crate) fn configure(folder: &Path, database: &MariaDb, name: &str, upstream: &str) {
    let socket = database.folder().join("s");
    let config = format!(
        "<?php define('DB_NAME', '{name}'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); \
         define('DB_HOST', 'localhost:{}'); $table_prefix = 'wp_';",
        socket.display()
    );
    std::fs::write(folder.join("wp-config.php"), config).unwrap();
    let settings = format!("wp_config = 'wp-config.php'\nbrand = 'wp'\n[wordpress]\nupstream = 'http://{upstream}'\n");
    std::fs::write(folder.join("svc.toml"), settings).unwrap();
}

#[test]
fn responses_are_replayed_until_the_database_is_written_to() {
    let Some(database) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() else {
        eprintln!("SKIPPED: MariaDB is not installed");
        return;
    };
    let url = database.create("front").unwrap();
    let site = tempfile::tempdir().unwrap();
    let args = ["--brand", "wp", "--table-prefix", "wp_", "--listen", "127.0.0.1:0", "--log", "warn"];
    let with = |more: &[&'static str]| command(site.path(), Some(&url), &[&args, more].concat());
    let wordpress = Server::spawn(with(&["serve"])).unwrap_or_else(|output| panic!("no server: {output}"));
    let made = with(&["app-password", "create", "admin", "tests", "--porcelain"]).output().unwrap();
    let credentials = format!("admin:{}", String::from_utf8(made.stdout).unwrap().trim());

    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), &database, "front", &wordpress.address);
    let front = Monitored::start(folder.path(), None);
    let metrics = front.metrics();
    assert_eq!(crate::deploy::missing(&metrics, true), [] as [String; 0]);
    let Monitored { server: front, socket } = front;
    for path in ["/healthz", "/readyz"] {
        assert!(get(&front.address, path).0.starts_with("http/1.1 200"), "{path}");
    }
    let (front, before) = until_replayed(front, POSTS);
    assert_eq!(before, get(&wordpress.address, POSTS).1);
    // A write is WordPress's, and no later read is older.
    let post = json!({"title": "New", "status": "publish"});
    let (status, created) = front.send("POST", POSTS, &credentials, Some(&post));
    assert_eq!((status, &created["title"]["raw"]), (201, &json!("New")), "{created}");
    let (head, after) = get(&front.address, POSTS);
    assert!(!is_replayed(&head) && after.contains("New"), "{head}");
    // Written past the server in front.
    let (front, _) = until_replayed(front, POSTS);
    let id = &created["id"];
    let (status, _) = wordpress.send("DELETE", &format!("{POSTS}/{id}?force=true"), &credentials, None);
    assert_eq!(status, 200);
    assert!(!get(&front.address, POSTS).1.contains("New"));
    // Pages and requests with credentials are WordPress's.
    let (head, _) = get(&front.address, "/");
    assert!(head.starts_with("http/1.1 200") && head.contains("\r\nvia: "), "{head}");
    let (_, me) = front.send("GET", "/wp-json/wp/v2/users/me", &credentials, None);
    assert_eq!(me["id"], 1);

    let doctor = String::from_utf8(run(folder.path(), None, &["doctor"]).stdout).unwrap();
    assert!(doctor.contains("news of writes") && doctor.contains("connector"), "{doctor}");
    let metrics = ask(&socket, "/metrics").1;
    assert!(value(&metrics, "svc_bridge_requests_total{result=\"replayed\"}") >= 2.0, "{metrics}");
    assert!(value(&metrics, "svc_bridge_forwarded_total{reason=\"a write\"}") >= 1.0, "{metrics}");
    assert!(value(&metrics, "svc_http_requests_total{route=\"wordpress\",method=\"POST\",status=\"2xx\"}") == 1.0);
    assert_eq!(ask(&socket, "/readyz").0, 200);
    drop(wordpress);
    let (status, body) = ask(&socket, "/readyz");
    assert!(status == 503 && body.contains("WordPress does not accept connections"), "{body}");
    assert!(get(&front.address, "/readyz").0.starts_with("http/1.1 503"));
    assert!(get(&front.address, "/wp-json/none").0.starts_with("http/1.1 502"));
    front.stop();
}

#[test]
fn wordpress_gets_requests_without_a_host_and_for_the_explorer() {
    let Some(database) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() else {
        eprintln!("SKIPPED: MariaDB is not installed");
        return;
    };
    let url = database.create("front").unwrap();
    let site = tempfile::tempdir().unwrap();
    let args = ["--brand", "wp", "--table-prefix", "wp_", "--listen", "127.0.0.1:0", "--log", "warn", "serve"];
    drop(Server::spawn(command(site.path(), Some(&url), &args)).unwrap_or_else(|output| panic!("no server: {output}")));
    database
        .client("UPDATE front.wp_options SET option_value = 'http://site.example' WHERE option_name = 'home'")
        .unwrap();

    // A web server that responds with the head of the request.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
                head.push(byte[0]);
            }
            let line = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", head.len());
            let _gone = stream.write_all(&[line.as_bytes(), &head].concat());
        }
    });
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), &database, "front", &upstream);
    let settings = folder.path().join("svc.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, format!("explorer = true\n{text}")).unwrap();
    let printed = folder.path().join("printed");
    let mut serve = command(folder.path(), None, &SERVE);
    let child = serve.stdout(std::fs::File::create(&printed).unwrap()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let output = loop {
        let output = std::fs::read_to_string(&printed).unwrap();
        if output.contains("WordPress: ") {
            break output;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{output}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let address = output.split_whitespace().find_map(|word| word.strip_prefix("http://")).unwrap();
    let front = Server { child, address: address.trim_matches('/').to_owned(), output: output.clone() };

    for (host, expected) in [("", "site.example"), ("Host: other.example\r\n", "other.example")] {
        let mut stream = TcpStream::connect(&front.address).unwrap();
        write!(stream, "GET /wp-json/a/v1/b HTTP/1.0\r\n{host}\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let head = response.split_once("\r\n\r\n").unwrap().1.to_ascii_lowercase();
        assert_eq!(head.lines().find_map(|line| line.strip_prefix("host: ")), Some(expected), "{response}");
    }
    let (_, head) = get(&front.address, "/wp-explorer/");
    assert!(head.starts_with("GET /wp-explorer/ HTTP/1.1\r\n"), "{head}");
    assert!(!output.contains("Explorer"), "{output}");
    let log = front.stop();
    assert!(log.contains("`explorer` has no effect with `wordpress.upstream`"), "{log}");
}

#[test]
fn a_database_without_a_server_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wp-config.php"), "<?php $table_prefix = 'wp_';").unwrap();
    let settings = "wp_config = 'wp-config.php'\ndatabase = 'sqlite:site.db'\nbrand = 'wp'\n\
                    [wordpress]\nupstream = 'http://127.0.0.1:9'\n";
    std::fs::write(folder.path().join("svc.toml"), settings).unwrap();
    let out = run(folder.path(), None, &["--listen", "127.0.0.1:0", "serve"]);
    assert!(stderr(&out).contains("the database must be one of a MySQL or MariaDB server"), "{}", stderr(&out));
}
