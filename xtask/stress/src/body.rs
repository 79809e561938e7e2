//! Large bodies that are expensive to parse: their memory, and the response time for other clients.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::Path,
    time::Duration,
};

use anyhow::{Context, Result};

use crate::{
    client::{Honest, socket_address, start},
    report::{Effort, Report},
};

/// The largest JSON or form body.
const SIZE: usize = 8 << 20;

/// The most memory for a body, in multiples of its size.
const MOST: u64 = 8;

/// Further growth of the process in bytes: caches, stacks, and memory that the allocator has not released.
const BESIDES: u64 = 32 << 20;

/// Parallel bodies.
const AT_ONCE: u64 = 3;

/// The longest response time for a legitimate client.
const IN_TIME: Duration = Duration::from_secs(1);

/// The same in the short run, on a busy machine.
const IN_TIME_SHORT: Duration = Duration::from_secs(10);

const PATH: &str = "/?rest_route=/svc/v2/posts&per_page=1";
const KNOWN: &str = "/?rest_route=/svc/v2/posts";
const UNKNOWN: &str = "/?rest_route=/svc/v2/nothing";

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data; boundary=XX";

/// A body: its name, type, and text.
type Body = (&'static str, &'static str, fn() -> String);

#[rustfmt::skip]
const BODIES: &[Body] = &[
    ("numbers", JSON, || list("1")),
    ("empty lists", JSON, || list("[]")),
    ("objects of one", JSON, || list(r#"{"a":0}"#)),
    ("a property with numbers", JSON, || format!(r#"{{"title":{}}}"#, list("1"))),
    ("properties", JSON, || format!("{{{}}}", numbered(|n| format!("\"k{n}\":1"), ","))),
    ("deep lists", JSON, || list(&format!("{}{}", "[".repeat(500), "]".repeat(500)))),
    ("escapes", JSON, || format!(r#"{{"content":"{}"}}"#, "\\n".repeat(SIZE / 2 - 20))),
    ("one text", JSON, || format!(r#"{{"content":"{}"}}"#, "x ".repeat(SIZE / 2 - 20))),
    ("a form of many fields", FORM, || numbered(|n| format!("k{n}={n}"), "&")),
    ("a form of deep fields", FORM, || numbered(|n| format!("k{n}{}=1", "[a]".repeat(64)), "&")),
    ("an encoded form", FORM, || format!("content={}", "%41".repeat(SIZE / 3 - 10))),
    ("parts", MULTIPART, || numbered(|n| part(&format!("k{n}"), "1"), "") + "--XX--\r\n"),
    ("one part", MULTIPART, || part("content", &"x".repeat(SIZE - 200)) + "--XX--\r\n"),
];

fn list(item: &str) -> String {
    let n = (SIZE - 40) / (item.len() + 1);
    format!("[{}{item}]", format!("{item},").repeat(n - 1))
}

fn numbered(part: impl Fn(usize) -> String, separator: &str) -> String {
    let mut text = String::new();
    for n in 0.. {
        let next = part(n);
        if text.len() + next.len() + 40 > SIZE {
            break;
        }
        text += if n == 0 { "" } else { separator };
        text += &next;
    }
    text
}

fn part(name: &str, text: &str) -> String {
    format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
}

pub(crate) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let program = effort.program()?;
    let folder = tempfile::tempdir()?;
    let rounds = if effort.long { 10 } else { 1 };
    let in_time = if effort.long { IN_TIME } else { IN_TIME_SHORT };
    BODIES.iter().map(|body| attack(&program, folder.path(), body, rounds, in_time)).collect()
}

/// Sends a body to a known and an unknown route, alone and several at once.
fn attack(program: &Path, folder: &Path, (name, kind, text): &Body, rounds: u64, in_time: Duration) -> Result<Report> {
    let server = start(program, folder, &[])?;
    let to = socket_address(&server)?;
    let mut report = Report { case: (*name).to_owned(), ..Report::default() };
    let text = text();
    let allowed = |n: u64| n * MOST * text.len() as u64 + BESIDES;
    let honest = Honest::start(Ipv4Addr::LOCALHOST, to, PATH);
    // The first response fills the caches.
    std::thread::sleep(Duration::from_millis(300));
    let before = server.peak_memory().context("the system does not report peak memory")?;
    let check = |report: &mut Report, what: &str, n: u64| {
        let cost = server.peak_memory().unwrap_or_default().saturating_sub(before);
        if cost > allowed(n) {
            report.violations.push(format!("{what}: {} MiB for {} MiB", cost >> 20, (n * text.len() as u64) >> 20));
        }
    };
    for path in [KNOWN, UNKNOWN] {
        let status = post(to, path, kind, &text)?;
        report.attempts += 1;
        if !matches!(status, None | Some(400..500)) {
            report.violations.push(format!("{path}: {status:?}"));
        }
        check(&mut report, path, 1);
    }
    for _ in 0..rounds {
        std::thread::scope(|scope| {
            let send = || post(to, KNOWN, kind, &text);
            let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(send)).collect();
            for thread in threads {
                report.attempts += 1;
                match thread.join() {
                    Ok(Ok(None | Some(400..500 | 503))) => {}
                    other => report.violations.push(format!("one of {AT_ONCE} at once: {other:?}")),
                }
            }
        });
    }
    check(&mut report, "at once", AT_ONCE);
    let seen = honest.stop()?;
    if seen.slowest > in_time || !seen.wrong.is_empty() {
        report.violations.push(format!("an honest client: {seen:?}"));
    }
    (report.slowest, report.peak_memory) = (Some(seen.slowest), server.peak_memory());
    Ok(report)
}

/// Sends a body. Returns the status, or `None` if the server closed the connection before the end of the body.
fn post(to: SocketAddr, path: &str, kind: &str, body: &str) -> Result<Option<u16>> {
    let mut stream = TcpStream::connect(to)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {to}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    let is_refused = stream.write_all(body.as_bytes()).is_err();
    let mut response = Vec::new();
    match stream.read_to_end(&mut response) {
        Err(error) if !is_refused && error.kind() != ErrorKind::ConnectionReset => return Err(error.into()),
        _ => {}
    }
    Ok(String::from_utf8_lossy(&response).split(' ').nth(1).and_then(|status| status.parse().ok()))
}
