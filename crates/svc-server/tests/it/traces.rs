//! Traces: what a collector receives of requests, what it must not receive, and that requests do not depend on it.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read as _, Write as _},
    net::TcpListener,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use serde_json::{Value, json};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

use crate::{
    collector::{ACCEPTS, Behaviour, Collector, attributes, hex, paths},
    front::configure,
    monitoring::{ask, value},
    process::{POSTS, SERVE, Server, command, credentials, send},
    start::on_each,
};

/// The parent of requests that belong to a trace.
const PARENT: &str = "00f067aa0ba902b7";

const ALL: [&str; 2] = ["--traces-percent", "100"];

/// Starts a server that sends its traces to a collector.
fn start(folder: &Path, database: Option<&str>, collector: &Collector, flags: &[&str]) -> Server {
    let args = ["--listen", "127.0.0.1:0", "--log-format", "json", "--traces-endpoint", &collector.url];
    let args = [&args, flags, &["serve"]].concat();
    Server::spawn(command(folder, database, &args)).unwrap_or_else(|output| panic!("no server: {output}"))
}

/// The id of the n-th trace of a test.
fn trace_id(n: usize) -> String {
    format!("4bf92f3577b34da6a3ce929d{n:08x}")
}

/// The header of a request that belongs to the n-th trace.
fn traceparent(n: usize, flags: &str) -> String {
    format!("traceparent: 00-{}-{PARENT}-{flags}\r\n", trace_id(n))
}

/// The status of a request without credentials.
fn status(server: &Server, path: &str, headers: &str) -> u16 {
    send(&server.address, "GET", path, "", headers, b"").0
}

/// The lines of a log.
fn lines(log: &str) -> Vec<Value> {
    log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// The number of lines of a log with this message.
fn n_lines(log: &[Value], message: &str) -> usize {
    log.iter().filter(|line| line["message"].as_str().is_some_and(|text| text.contains(message))).count()
}

/// The only span of a trace with a parent outside of it.
#[track_caller]
fn root(spans: &[Span]) -> &Span {
    let roots: Vec<&Span> =
        spans.iter().filter(|span| spans.iter().all(|s| s.span_id != span.parent_span_id)).collect();
    assert_eq!(roots.len(), 1, "{roots:?}");
    roots[0]
}

#[test]
fn spans_of_a_request_form_a_tree() {
    on_each("traces", |folder, database| {
        drop(Server::start(folder, database));
        let admin = credentials(folder, database);
        let collector = Collector::start();
        let server = start(folder, database, &collector, &ALL);
        let post = json!({"title": "New", "content": "<!-- wp:paragraph --><p>x</p><!-- /wp:paragraph -->", "status": "publish"});
        #[rustfmt::skip]
        let rows: &[(&str, &str, &str, Option<&Value>, u16, &str, &[&str])] = &[
            ("GET", POSTS, "", None, 200, "GET /svc/v2/posts", &["arguments", "handler", "handler > SELECT", "handler > rendering", "permission", "response"]),
            ("GET", "/svc-json/svc/v2/posts/4711", "", None, 404, r"GET /svc/v2/posts/(?P<id>[\d]+)", &["SELECT", "arguments", "permission", "response"]),
            ("GET", "/svc-json/none", "", None, 404, "GET", &["response"]),
            ("POST", POSTS, &admin, Some(&post), 201, "POST /svc/v2/posts", &["SELECT", "arguments", "handler", "handler > SELECT", "handler > rendering", "handler > transaction",
                "handler > transaction > INSERT", "handler > transaction > SELECT", "handler > transaction > UPDATE", "permission", "response"]),
            ("GET", "/", "", None, 200, "GET page", &["SELECT", "rendering"]),
        ];
        for (n, (method, path, user, body, status, ..)) in rows.iter().enumerate() {
            let body = body.map(ToString::to_string).unwrap_or_default();
            let headers = format!("Content-Type: application/json\r\n{}", traceparent(n, "00"));
            assert_eq!(send(&server.address, method, path, user, &headers, body.as_bytes()).0, *status, "{path}");
        }
        let log = lines(&server.stop());
        for (n, (method, path, user, _, status, name, parts)) in rows.iter().enumerate() {
            let spans = collector.trace(&trace_id(n));
            let expected = parts.iter().map(|part| format!("{name} > {part}")).chain([(*name).to_owned()]);
            // Whether a request itself reads, such as the settings, depends on what others have read and changed before.
            let without_own = |paths: BTreeSet<String>| -> BTreeSet<String> {
                paths.into_iter().filter(|path| *path != format!("{name} > SELECT")).collect()
            };
            assert_eq!(without_own(paths(&spans)), without_own(expected.collect()), "{method} {path}");
            assert!(spans.iter().all(|span| span.start_time_unix_nano <= span.end_time_unix_nano));

            let root = root(&spans);
            assert_eq!(
                (hex(&root.parent_span_id).as_str(), root.kind()),
                (PARENT, SpanKind::Server),
                "{method} {path}"
            );
            let (_, route) = name.split_once(' ').unwrap_or_default();
            let status = status.to_string();
            let mut expected = BTreeMap::from([
                ("http.request.method", (*method).to_owned()),
                ("http.response.status_code", status.clone()),
                ("http.route", route.to_owned()),
                ("url.path", (*path).to_owned()),
                ("url.scheme", "http".to_owned()),
            ]);
            expected.retain(|_, value| !value.is_empty());
            assert_eq!(attributes(&root.attributes), expected);

            for span in spans.iter().filter(|span| ["SELECT", "INSERT", "UPDATE"].contains(&&*span.name)) {
                let attributes = attributes(&span.attributes);
                let system = if database.is_some() { "mysql" } else { "sqlite" };
                assert_eq!((&*attributes["db.system.name"], span.kind()), (system, SpanKind::Client));
                assert!(attributes["db.query.text"].trim_start().starts_with(&span.name), "{attributes:?}");
                assert_eq!(attributes.len(), 2, "{attributes:?}");
            }

            let is_line = |line: &&Value| line["message"] == "response" && line["span"]["trace_id"] == trace_id(n);
            let line = log.iter().find(is_line).unwrap_or_else(|| panic!("no line of {path}: {log:#?}"));
            assert_eq!((&line["status"].to_string(), &line["path"]), (&status, &json!(path)));
            // The fields of the request's span, without those of the spans in it.
            let mut fields = vec!["id", "name", "trace_id"];
            fields.extend((!user.is_empty()).then_some("user"));
            let found: BTreeSet<&str> = line["span"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(found, BTreeSet::from_iter(fields));
        }
        for resource in collector.resources() {
            let resource = resource.resource.unwrap();
            let attributes = attributes(&resource.attributes);
            assert_eq!(
                [&*attributes["service.name"], &*attributes["service.version"]],
                ["svc-server", env!("CARGO_PKG_VERSION")]
            );
        }
    });
}

/// In everything that a client sends and that must not be in a trace.
const SECRET: &str = "Geheimnis";

#[test]
fn traces_contain_nothing_of_what_clients_send() {
    on_each("secret_traces", |folder, database| {
        drop(Server::start(folder, database));
        let admin = credentials(folder, database);
        let wrong = format!("admin:{SECRET}");
        let collector = Collector::start();
        let server = start(folder, database, &collector, &ALL);
        let all = format!(
            "Cookie: wordpress_logged_in_x={SECRET}; x={SECRET}\r\nUser-Agent: {SECRET}\r\nReferer: http://{SECRET}/\r\n\
             X-Forwarded-For: {SECRET}\r\nX-WP-Nonce: {SECRET}\r\ntracestate: {}={SECRET}\r\n",
            SECRET.to_lowercase()
        );
        let as_json = format!("Content-Type: application/json\r\n{}", traceparent(0, "01"));
        let as_form = "Content-Type: application/x-www-form-urlencoded\r\n".to_owned();
        let post = json!({"title": SECRET, "content": SECRET, "password": SECRET, "slug": SECRET, "status": "publish"});
        let user = json!({"username": SECRET, "email": format!("{SECRET}@example.org"), "password": SECRET});
        let form = format!("log={SECRET}&pwd={SECRET}");
        #[rustfmt::skip]
        let rows: &[(&str, String, &str, &str, String, u16)] = &[
            ("POST", POSTS.to_owned(), &admin, &as_json, post.to_string(), 201),
            ("POST", "/svc-json/svc/v2/users".to_owned(), &admin, &as_json, user.to_string(), 201),
            ("GET", format!("{POSTS}?search={SECRET}&slug={SECRET}&exclude=4711&{SECRET}={SECRET}"), &admin, "", String::new(), 200),
            ("GET", format!("{POSTS}?status={SECRET}"), &admin, "", String::new(), 400),
            ("GET", format!("{POSTS}?_fields=id&x={SECRET}"), &wrong, &all, String::new(), 401),
            ("GET", format!("/svc-json/svc/v2/search?search={SECRET}"), "", &all, String::new(), 200),
            ("GET", format!("/?s={SECRET}"), "", &all, String::new(), 200),
            ("POST", "/wp-login.php".to_owned(), "", &as_form, form, 302),
            ("GET", format!("/wp-login.php?action=rp&key={SECRET}&login={SECRET}"), "", "", String::new(), 302),
            (SECRET, POSTS.to_owned(), "", "", String::new(), 404),
        ];
        for (method, path, user, headers, body, expected) in rows {
            let (status, response) = send(&server.address, method, path, user, headers, body.as_bytes());
            assert_eq!(status, *expected, "{method} {path}: {response}");
        }
        server.stop();
        let spans = collector.spans();
        let statements = spans.iter().filter_map(|span| attributes(&span.attributes).remove("db.query.text"));
        let statements: Vec<String> = statements.collect();
        let has = |part: &str| statements.iter().any(|sql| sql.contains(part));
        assert!(has("INSERT INTO") && has("LIKE ?") && has("post_password"), "{statements:#?}");
        assert!(spans.iter().any(|span| span.name.starts_with("_OTHER")), "{:?}", paths(&spans));
        for (head, body) in collector.requests() {
            for part in [head.into_bytes(), body] {
                let part = String::from_utf8_lossy(&part).to_lowercase();
                assert!(!part.contains(&SECRET.to_lowercase()), "{part}");
                assert!(!part.contains("127.0.0.1") || part.starts_with("post /v1/traces"), "{part}");
            }
        }
    });
}

#[test]
fn clients_do_not_decide_what_is_traced() {
    let folder = tempfile::tempdir().unwrap();
    const NONE: [&str; 2] = ["--traces-percent", "0"];
    const FOLLOW: [&str; 2] = ["--traces-follow-proxy", "true"];
    const TRUSTED: [&str; 2] = ["--trusted-proxies", "127.0.0.1"];
    // The flags of the server; those of `traceparent`, and whether the request is traced.
    let rows: [(&[[&str; 2]], &[(&str, bool)]); 6] = [
        (&[ALL], &[("00", true), ("01", true), ("", true)]),
        (&[NONE], &[("00", false), ("01", false), ("", false)]),
        (&[NONE, FOLLOW], &[("00", false), ("01", false), ("", false)]),
        (&[NONE, TRUSTED], &[("00", false), ("01", false), ("", false)]),
        (&[NONE, FOLLOW, TRUSTED], &[("00", false), ("01", true), ("", false)]),
        (&[ALL, FOLLOW, TRUSTED], &[("00", false), ("01", true), ("", true)]),
    ];
    for (flags, requests) in rows {
        let collector = Collector::start();
        let server = start(folder.path(), None, &collector, &flags.concat());
        for (n, (flag, _)) in requests.iter().enumerate() {
            let header = if flag.is_empty() { String::new() } else { traceparent(n, flag) };
            assert_eq!(status(&server, "/healthz", &header), 200);
        }
        server.stop();
        for (n, (flag, is_traced)) in requests.iter().enumerate() {
            let spans = collector.spans();
            let is_found = match flag.is_empty() {
                true => spans.iter().any(|span| span.parent_span_id.is_empty()),
                false => spans.iter().any(|span| hex(&span.trace_id) == trace_id(n)),
            };
            assert_eq!(is_found, *is_traced, "{flags:?} {flag}: {spans:?}");
        }
    }
}

#[test]
fn invalid_and_repeated_headers_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start();
    let server = start(folder.path(), None, &collector, &ALL);
    let valid = traceparent(0, "01");
    let id = trace_id(0);
    let rows = [
        format!("{valid}{valid}"),
        format!("{valid}{}", traceparent(1, "01")),
        format!("traceparent: 00-{id}-{PARENT}-01, 00-{id}-{PARENT}-01\r\n"),
        format!("traceparent: 00-{}-{PARENT}-01\r\n", id.to_uppercase()),
        format!("traceparent: 00-{}-{PARENT}-01\r\n", "0".repeat(32)),
        format!("traceparent: 00-{id}-{}-01\r\n", "0".repeat(16)),
        format!("traceparent: ff-{id}-{PARENT}-01\r\n"),
        format!("traceparent: 00-{id}-{PARENT}-01-{}\r\n", "x".repeat(4_000)),
        "traceparent: \u{e9}\r\n".to_owned(),
        "traceparent:\r\n".to_owned(),
    ];
    for headers in &rows {
        assert_eq!(status(&server, "/healthz", headers), 200, "{headers}");
    }
    server.stop();
    let spans = collector.spans();
    assert_eq!(spans.len(), rows.len(), "{spans:?}");
    assert!(spans.iter().all(|span| span.parent_span_id.is_empty()), "{spans:?}");
    let ids: BTreeSet<String> = spans.iter().map(|span| hex(&span.trace_id)).collect();
    assert!(ids.len() == rows.len() && !ids.contains(&id), "{ids:?}");
}

const CANNOT: &str = "traces cannot be exported";

#[test]
fn requests_do_not_depend_on_the_collector() {
    let folder = tempfile::tempdir().unwrap();
    let (collector, elsewhere) = (Collector::start(), Collector::start());
    let server = start(folder.path(), None, &collector, &ALL);
    let redirect = format!("HTTP/1.1 307 X\r\nLocation: {}/v1/traces\r\nContent-Length: 0\r\n\r\n", elsewhere.url);
    for behaviour in [
        Behaviour::Responds("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\x07xx"),
        // A status of success is one, whatever follows.
        Behaviour::Floods,
        Behaviour::Responds("HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"),
        Behaviour::Responds(redirect.leak()),
        Behaviour::Responds("nonsense\r\n\r\n"),
        Behaviour::Drips,
        Behaviour::Hangs,
    ] {
        collector.set(behaviour);
        let n_received = collector.requests().len();
        for n in 1..=20 {
            let begun = Instant::now();
            assert_eq!(status(&server, &format!("{POSTS}?per_page={n}"), ""), 200);
            assert!(begun.elapsed() < Duration::from_secs(4), "{behaviour:?}: {:?}", begun.elapsed());
        }
        collector.until(n_received + 1);
    }
    collector.set(ACCEPTS);
    assert_eq!(status(&server, POSTS, &traceparent(1, "00")), 200);
    let begun = Instant::now();
    while collector.trace(&trace_id(1)).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30), "nothing is exported again");
        std::thread::sleep(Duration::from_millis(50));
    }
    let log = lines(&server.stop());
    assert_eq!((n_lines(&log, CANNOT), n_lines(&log, "exported again")), (1, 1), "{log:#?}");
    assert!(elsewhere.requests().is_empty(), "redirects are not followed");
}

#[test]
fn a_stop_waits_for_the_last_spans_but_not_for_a_collector_that_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start();
    for (behaviour, n_late) in [(ACCEPTS, 0), (Behaviour::Hangs, 1)] {
        collector.set(behaviour);
        let server = start(folder.path(), None, &collector, &ALL);
        let n_received = collector.requests().len();
        assert_eq!(status(&server, POSTS, ""), 200);
        if n_late > 0 {
            collector.until(n_received + 1);
        }
        assert_eq!(status(&server, POSTS, &traceparent(1 + n_late, "00")), 200);
        let begun = Instant::now();
        let log = lines(&server.stop());
        // Two seconds for the spans, and the rest for the site and a machine that is busy.
        assert!(begun.elapsed() < Duration::from_millis(4_500), "{:?}", begun.elapsed());
        assert_eq!(n_lines(&log, "the last spans may be missing"), n_late, "{log:#?}");
        assert_eq!(collector.trace(&trace_id(1 + n_late)).is_empty(), n_late > 0);
    }
    // Nobody listens there any more.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{gone}");
    let args = ["--listen", "127.0.0.1:0", "--log-format", "json", "--traces-endpoint", &url, "serve"];
    let server = Server::spawn(command(folder.path(), None, &[&ALL[..], &args].concat())).unwrap();
    assert_eq!(status(&server, POSTS, ""), 200);
    let begun = Instant::now();
    let log = lines(&server.stop());
    assert!(begun.elapsed() < Duration::from_millis(4_500), "{:?}", begun.elapsed());
    assert_eq!(n_lines(&log, CANNOT), 1, "{log:#?}");
}

#[test]
fn spans_that_wait_are_bounded_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start();
    let socket = folder.path().join("monitoring.sock");
    let listen = format!("unix:{}", socket.display());
    // Two spans of the first batch are refused.
    collector.set(Behaviour::Responds("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\n\x02\x08\x02"));
    let server = start(folder.path(), None, &collector, &[&ALL[..], &["--monitoring-listen", &listen]].concat());
    assert_eq!(status(&server, POSTS, ""), 200);
    collector.until(1);
    let outcome =
        |metrics: &str, outcome: &str| value(metrics, &format!("svc_trace_spans_total{{outcome=\"{outcome}\"}}"));
    let begun = Instant::now();
    loop {
        let metrics = ask(&socket, "/metrics").1;
        if outcome(&metrics, "failed") > 0.0 {
            assert_eq!(outcome(&metrics, "failed"), 2.0);
            assert_eq!(outcome(&metrics, "exported"), collector.spans().len() as f64 - 2.0);
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{metrics}");
        std::thread::sleep(Duration::from_millis(20));
    }
    collector.set(Behaviour::Hangs);
    let (mut n, mut metrics) = (0, String::new());
    while n < 5_000 {
        n += 1;
        assert_eq!(status(&server, &format!("{POSTS}?offset={n}"), ""), 200);
        if n % 50 == 0 {
            metrics = ask(&socket, "/metrics").1;
            assert!(value(&metrics, "svc_trace_spans_waiting") <= 4_096.0, "{metrics}");
            if outcome(&metrics, "dropped") > 0.0 {
                break;
            }
        }
    }
    assert!(outcome(&metrics, "dropped") > 0.0, "after {n} requests: {metrics}");
}

/// A server that responds with 404, and stores the heads of requests.
fn stranger() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let heads = Arc::<Mutex<Vec<String>>>::default();
    let stored = Arc::clone(&heads);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
                head.push(byte[0]);
            }
            stored.lock().unwrap().push(String::from_utf8_lossy(&head).to_lowercase());
            let _gone = stream.write_all(b"HTTP/1.1 404 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        }
    });
    (address, heads)
}

/// Checks that a trace has one request to another server, and that this server got the ids of its span in a head with this text.
#[track_caller]
fn assert_continued(spans: &[Span], heads: &Mutex<Vec<String>>, text: &str) {
    let client = spans.iter().find(|span| attributes(&span.attributes).contains_key("server.address"));
    let client = client.unwrap_or_else(|| panic!("{:#?}", paths(spans)));
    assert_eq!((&*client.name, client.kind()), ("GET", SpanKind::Client));
    assert_eq!(client.status.as_ref().map(|status| status.code()), Some(StatusCode::Error));
    let [method, status, host] = ["http.request.method", "http.response.status_code", "server.address"]
        .map(|name| attributes(&client.attributes).remove(name).unwrap());
    assert_eq!([&*method, &*status, &*host], ["GET", "404", "127.0.0.1"]);
    let expected = format!("\r\ntraceparent: 00-{}-{}-01\r\n", hex(&client.trace_id), hex(&client.span_id));
    let heads = heads.lock().unwrap();
    let head = heads.iter().find(|head| head.contains(text)).unwrap_or_else(|| panic!("{heads:?}"));
    assert!(head.contains(&expected) && head.matches("traceparent").count() == 1, "{head} {expected}");
}

#[test]
fn a_server_that_is_asked_for_an_embed_continues_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    drop(Server::start(folder.path(), None));
    let admin = credentials(folder.path(), None);
    let (address, heads) = stranger();
    let collector = Collector::start();
    let server = start(folder.path(), None, &collector, &[&ALL[..], &["--outgoing-allow", &address]].concat());
    let path = format!("/svc-json/oembed/1.0/proxy?url=http%3A%2F%2F{}%2Fx", address.replace(':', "%3A"));
    assert_eq!(send(&server.address, "GET", &path, &admin, &traceparent(1, "00"), b"").0, 404);
    server.stop();
    assert_continued(&collector.trace(&trace_id(1)), &heads, "get /x ");
}

#[test]
fn wordpress_behind_the_server_continues_the_trace() {
    let Some(database) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() else {
        eprintln!("SKIPPED: MariaDB is not installed");
        return;
    };
    let url = database.create("front").unwrap();
    let site = tempfile::tempdir().unwrap();
    let args = [&["--brand", "wp", "--table-prefix", "wp_"], &SERVE[..]].concat();
    drop(Server::spawn(command(site.path(), Some(&url), &args)).unwrap_or_else(|output| panic!("no server: {output}")));
    let (upstream, heads) = stranger();
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), &database, "front", &upstream);
    let collector = Collector::start();
    let server = start(folder.path(), None, &collector, &ALL);
    for (n, header) in
        [traceparent(1, "00"), format!("{}{}", traceparent(2, "01"), traceparent(3, "01"))].iter().enumerate()
    {
        assert_eq!(status(&server, &format!("/wp-json/a/v1/{n}"), header), 404);
    }
    server.stop();
    let spans = collector.trace(&trace_id(1));
    assert_eq!(root(&spans).name, "GET wordpress");
    assert_continued(&spans, &heads, "get /wp-json/a/v1/0 ");
    let other = collector.spans().into_iter().find(|span| span.parent_span_id.is_empty()).unwrap();
    assert_continued(&collector.trace(&hex(&other.trace_id)), &heads, "get /wp-json/a/v1/1 ");
}
