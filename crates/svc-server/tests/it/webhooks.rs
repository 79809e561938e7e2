//! Webhooks while server and receiver are killed: every event arrives, in the order of its object, and a repetition has the same id.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, OpenOptions},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::process::{POSTS, Server, command, run};

/// The environment variable with the number of rounds.
const ROUNDS: &str = "SVC_TEST_WEBHOOK_ROUNDS";

/// The variables by which a process of this test becomes the receiver: its port and its file.
const PORT: &str = "SVC_TEST_RECEIVER_PORT";
const LINES: &str = "SVC_TEST_RECEIVER_FILE";

/// Number of posts that are written at the same time.
const POSTS_WRITTEN: usize = 4;

/// The receiver: appends the id and the body of each request to a file, then responds.
#[test]
#[ignore = "a process of another test"]
fn receiver() {
    let (Ok(port), Ok(lines)) = (std::env::var(PORT), std::env::var(LINES)) else { return };
    let port: u16 = port.parse().unwrap();
    // The port of the process before may not be free yet.
    let listener = loop {
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => break listener,
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    };
    let file = Arc::new(OpenOptions::new().create(true).append(true).open(lines).unwrap());
    for socket in listener.incoming().map_while(Result::ok) {
        let file = Arc::clone(&file);
        thread::spawn(move || receive(socket, &file));
    }
}

fn receive(socket: TcpStream, mut file: &File) {
    let mut reader = BufReader::new(socket);
    let (mut id, mut length, mut line) = (String::new(), 0, String::new());
    while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
        let (name, value) = line.split_once(": ").unwrap_or((&line, ""));
        match name.to_ascii_lowercase().as_str() {
            "webhook-id" => id = value.trim().to_owned(),
            "content-length" => length = value.trim().parse().unwrap_or(0),
            _ => {}
        }
        line.clear();
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() || length == 0 {
        return;
    }
    // One call, so that a line is whole.
    let mut text = format!("{id} {}\n", String::from_utf8_lossy(&body)).into_bytes();
    let _written = file.write_all(&std::mem::take(&mut text));
    // A process that is killed here has got a message that the server does not know of.
    thread::sleep(Duration::from_millis(u64::from(id.bytes().last().unwrap_or(0) % 8)));
    let _sent = reader.into_inner().write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

/// A process that is killed on drop.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _ended = self.0.wait();
    }
}

fn start_receiver(port: u16, lines: &Path) -> Killed {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "webhooks::receiver", "--ignored", "--nocapture"]);
    command.env(PORT, port.to_string()).env(LINES, lines).stdout(Stdio::null()).stderr(Stdio::null());
    Killed(command.spawn().unwrap())
}

fn start_server(folder: &Path, port: u16) -> Server {
    let allow = format!("127.0.0.1:{port}");
    let args = ["--listen", "127.0.0.1:0", "--log", "error", "--outgoing-allow", &allow, "serve"];
    Server::spawn(command(folder, None, &args)).unwrap_or_else(|output| panic!("no server: {output}"))
}

fn text(folder: &Path, args: &[&str]) -> String {
    let out = run(folder, None, args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

/// A number that differs between calls, for moments that are not planned.
fn some(below: u64) -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(Instant::now()) % below
}

/// Writes to a post until the server is gone; returns the number of acknowledged writes.
fn write_to(address: &str, admin: &str, id: i64, written: &AtomicU64) {
    loop {
        let n = written.load(Ordering::Relaxed);
        let body = json!({ "title": format!("version {n}") }).to_string();
        let Some(status) = try_send(address, &format!("{POSTS}/{id}"), admin, &body) else { return };
        if status == 200 {
            written.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The status of a response; `None` if there is none.
fn try_send(address: &str, path: &str, credentials: &str, body: &str) -> Option<u16> {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let mut stream = TcpStream::connect(address).ok()?;
    let basic = STANDARD.encode(credentials);
    let head = format!(
        "POST {path} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Basic {basic}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    response.split(' ').nth(1)?.parse().ok()
}

fn get(server: &Server, path: &str, admin: &str) -> Value {
    let (status, body) = server.send("GET", path, admin, None);
    assert_eq!(status, 200, "{path}: {body}");
    body
}

#[test]
fn no_event_is_lost_when_server_and_receiver_are_killed() {
    let rounds: u64 = std::env::var(ROUNDS).map_or(5, |n| n.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("received");
    // A port that is free now.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut receiver = start_receiver(port, &lines);
    let mut server = start_server(folder.path(), port);
    let password = text(folder.path(), &["app-password", "create", "admin", "tests", "--porcelain"]);
    let admin = format!("admin:{password}");
    let url = format!("http://127.0.0.1:{port}/hook");
    let hook =
        server.send("POST", "/svc-json/svc/v2/webhooks", &admin, Some(&json!({ "url": url, "events": ["post.*"] })));
    let hook = hook.1["id"].as_str().unwrap_or_else(|| panic!("{hook:?}")).to_owned();
    let since = get(&server, "/svc-json/svc/v2/changes", &admin)["last"].as_i64().unwrap();
    let create = || {
        server.send("POST", POSTS, &admin, Some(&json!({ "title": "a", "status": "publish" }))).1["id"]
            .as_i64()
            .unwrap()
    };
    let posts: Vec<i64> = (0..POSTS_WRITTEN).map(|_| create()).collect();

    let written: Arc<Vec<AtomicU64>> = Arc::new(posts.iter().map(|_| AtomicU64::new(0)).collect());
    for round in 0..rounds {
        let writers: Vec<_> = posts
            .iter()
            .enumerate()
            .map(|(at, id)| {
                let (address, admin, id, written) = (server.address.clone(), admin.clone(), *id, Arc::clone(&written));
                thread::spawn(move || write_to(&address, &admin, id, &written[at]))
            })
            .collect();
        thread::sleep(Duration::from_millis(200 + some(300)));
        if round % 2 == 0 {
            drop(receiver);
            receiver = start_receiver(port, &lines);
        }
        thread::sleep(Duration::from_millis(50 + some(300)));
        // Killed, while requests, transactions and deliveries are in progress.
        drop(server);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        server = start_server(folder.path(), port);
    }

    // What was in progress is repeated when its lease is over, and what failed after its pause.
    let waiting = format!("/svc-json/svc/v2/webhooks/{hook}/deliveries?state=waiting&per_page=1");
    let position = || {
        let mut since = since;
        let mut events = Vec::new();
        loop {
            let page = get(&server, &format!("/svc-json/svc/v2/changes?since={since}&limit=1000"), &admin);
            events.extend(page["events"].as_array().unwrap().clone());
            since = page["last"].as_i64().unwrap();
            if page["more"] == false {
                return events;
            }
        }
    };
    let expected: Vec<Value> = position().into_iter().filter(|event| event["object"]["kind"] == "post").collect();
    let until = Instant::now() + Duration::from_secs(180);
    let received = loop {
        let received = read(&lines);
        let all: BTreeSet<&str> = received.iter().map(|(_, event)| event["id"].as_str().unwrap()).collect();
        if all.len() >= expected.len() && get(&server, &waiting, &admin) == json!([]) {
            break received;
        }
        assert!(Instant::now() < until, "{} of {} events arrived", all.len(), expected.len());
        thread::sleep(Duration::from_millis(200));
    };

    let acknowledged: u64 = written.iter().map(|n| n.load(Ordering::Relaxed)).sum();
    assert!(acknowledged > 0 && expected.len() as u64 >= acknowledged, "{acknowledged} {}", expected.len());
    let id_of = |event: &Value| event["id"].as_str().unwrap().to_owned();
    let expected: BTreeMap<String, i64> =
        expected.iter().map(|event| (id_of(event), event["seq"].as_i64().unwrap())).collect();
    let (mut messages, mut newest) = (BTreeMap::new(), BTreeMap::new());
    let mut n_repeated = 0;
    for (message, event) in &received {
        let (id, seq) = (id_of(event), event["seq"].as_i64().unwrap());
        assert_eq!(expected.get(&id), Some(&seq), "an event that did not happen: {event}");
        let first = messages.entry(id).or_insert_with(|| message.clone());
        assert_eq!(first, message, "a repetition has the same id");
        let newest = newest.entry(event["object"]["id"].as_i64().unwrap()).or_insert(0);
        assert!(seq >= *newest, "{seq} of object {} came after {newest}", event["object"]["id"]);
        n_repeated += usize::from(seq == *newest);
        *newest = seq;
    }
    assert_eq!(messages.len(), expected.len(), "every event arrived");
    println!(
        "{rounds} rounds: {acknowledged} acknowledged writes, {} events, {} deliveries, {n_repeated} of them repeated",
        expected.len(),
        received.len()
    );
}

/// The deliveries in the receiver's file: the message's id and the event.
fn read(lines: &Path) -> Vec<(String, Value)> {
    let text = fs::read_to_string(lines).unwrap_or_default();
    let delivery = |line: &str| {
        let (id, body) = line.split_once(' ').unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        (id.to_owned(), body["data"].clone())
    };
    text.lines().map(delivery).collect()
}
