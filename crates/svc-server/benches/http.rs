//! Requests over keep-alive loopback connections: a list of ten posts and one post from SQLite, compared with a bare axum handler
//! that returns the same bytes. `docs/performance.md` reports the ratio of each pair.
//!
//! Repeated URLs are served from the response cache, as in production. URLs with an unused, changing parameter are not cached:
//! `uncached`.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
};

use axum::{Router, body::Bytes, http::header, routing::get};
use base64::Engine as _;
use criterion::{Criterion, criterion_group, criterion_main};
use svc_model::Post;
use svc_server::{
    SiteBuilder,
    config::{Config, SETTINGS, Sources},
    listen::{Running, bind},
};
use svc_store::{DatabaseUrl, Store, StoreConfig, posts};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The allocator of the program.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Number of posts on the site. The list shows ten.
const N_POSTS: i64 = 200;

const LIST: &str = "/svc-json/svc/v2/posts";

/// A keep-alive connection.
struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        Client { stream: BufReader::new(stream) }
    }

    fn get(&mut self, path: &str) -> Vec<u8> {
        self.get_as(path, "")
    }

    /// Sends a request with these header lines.
    fn get_as(&mut self, path: &str, headers: &str) -> Vec<u8> {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: bench\r\n{headers}\r\n")).1
    }

    /// Reads the head and the body of a response.
    fn send(&mut self, request: &str) -> (String, Vec<u8>) {
        self.stream.get_mut().write_all(request.as_bytes()).expect("a connection");
        let (mut length, mut head) = (0, String::new());
        loop {
            let start = head.len();
            self.stream.read_line(&mut head).expect("an answer");
            let line = &head[start..];
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().expect("a length");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("a whole body");
        (head, body)
    }

    /// Posts a form. Returns the head and the body of the response.
    fn post(&mut self, path: &str, headers: &str, form: &str) -> (String, Vec<u8>) {
        let kind = "Content-Type: application/x-www-form-urlencoded";
        let length = form.len();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: bench\r\n{kind}\r\nContent-Length: {length}\r\n{headers}\r\n{form}"
        ))
    }
}

fn config(folder: &TempDir) -> Config {
    let log = SETTINGS.iter().find(|s| s.key == "log").expect("a setting");
    let flags = vec![(log, "off".to_owned())];
    Config::load(&Sources { folder: folder.path().to_owned(), variables: Vec::new(), flags }).expect("defaults")
}

/// Adds posts to the new site.
fn fill(folder: &TempDir) {
    let url = DatabaseUrl::Sqlite(folder.path().join("svc-data/site.db"));
    let store = Store::open(&StoreConfig::new(url)).expect("the site's database");
    store
        .write_blocking(|tx| {
            let sample =
                posts::by_slug(tx, "writing-the-first-post", &["post"])?.into_iter().next().unwrap_or_default();
            for n in 0..N_POSTS {
                let slug = format!("post-{n}");
                posts::insert(tx, &Post { title: format!("Post {n}"), slug, ..sample.clone() })?;
            }
            Ok(())
        })
        .expect("writes");
}

/// Authentication headers by name: none, Basic, cookie and nonce.
fn callers(client: &mut Client, password: &str) -> [(&'static str, String); 3] {
    let (head, _) = client.post("/wp-login.php", "", &format!("log=admin&pwd={password}"));
    let cookies: Vec<&str> = head.lines().filter_map(|l| l.strip_prefix("set-cookie: ")?.split(';').next()).collect();
    let cookie = format!("Cookie: {}\r\n", cookies.join("; "));
    let nonce = client.get_as("/wp-admin/admin-ajax.php?action=rest-nonce", &cookie);
    let session = format!("{cookie}X-SVC-Nonce: {}\r\n", String::from_utf8_lossy(&nonce));
    let (_, made) = client.post("/svc-json/svc/v2/users/me/application-passwords", &session, "name=bench");
    let made: serde_json::Value = serde_json::from_slice(&made).expect("an application password");
    let credentials = format!("admin:{}", made["password"].as_str().expect("a password"));
    let basic = format!("Authorization: Basic {}\r\n", base64::engine::general_purpose::STANDARD.encode(credentials));
    [("svc", String::new()), ("svc, with Basic authentication", basic), ("svc, with cookie and nonce", session)]
}

/// Number of rounds. Each measures all kinds of authentication in turn.
const ROUNDS: usize = 200;

/// Requests of each kind per round.
const IN_A_ROUND: usize = 20;

/// Compares the request rates with each of these headers to the first one, as medians. They are measured in turn, so that other
/// load on the machine affects all of them.
fn told_in_turn(client: &mut Client, callers: &[(&str, String)], mut address: impl FnMut() -> String) {
    let mut times = vec![Vec::with_capacity(ROUNDS); callers.len()];
    for _ in 0..ROUNDS {
        for ((_, headers), times) in callers.iter().zip(&mut times) {
            let start = std::time::Instant::now();
            for _ in 0..IN_A_ROUND {
                client.get_as(&address(), headers);
            }
            times.push(start.elapsed());
        }
    }
    let medians: Vec<f64> = times
        .iter_mut()
        .map(|times| {
            times.sort_unstable();
            times[ROUNDS / 2].as_secs_f64()
        })
        .collect();
    for ((name, _), median) in callers.iter().zip(&medians).skip(1) {
        eprintln!("{}: {name}: {:.2} of the requests per second without signing in", address(), medians[0] / median);
    }
}

fn bench(c: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let config = config(&folder);
    let (site, address, password) = runtime.block_on(async {
        let listener = bind("127.0.0.1:0").await.expect("a port");
        let here = format!("http://{}", listener.local_addr().expect("an address")).parse().expect("an address");
        let mut site = SiteBuilder::new().open(&config, &here).expect("a site");
        let running = Running::start(listener, site.router(), config.limits.clone()).expect("a server");
        let address = running.address();
        let password = site.take_created().expect("a new site").password;
        (running, address, password)
    });
    fill(&folder);
    let callers = callers(&mut Client::new(address), password.expose());
    for (name, path) in [("list of 10 posts", LIST.to_owned()), ("one post", format!("{LIST}/1"))] {
        let mut ours = Client::new(address);
        let bytes = Bytes::from(ours.get(&path));
        let bare = runtime.block_on(async {
            let answer = move || {
                let bytes = bytes.clone();
                async move { ([(header::CONTENT_TYPE, "application/json; charset=UTF-8")], bytes) }
            };
            let listener = bind("127.0.0.1:0").await.expect("a port");
            Running::start(listener, Router::new().route(&path, get(answer)), config.limits.clone()).expect("a server")
        });
        let mut theirs = Client::new(bare.address());
        let mut group = c.benchmark_group(format!("http/{name}"));
        for (name, headers) in &callers {
            group.bench_function(*name, |b| b.iter(|| ours.get_as(&path, headers)));
        }
        let mut n = 0_u64;
        let mut another = || {
            n += 1;
            format!("{path}?n={n}")
        };
        group.bench_function("svc, uncached", |b| b.iter(|| ours.get_as(&another(), "")));
        group.bench_function("bare axum handler, same bytes", |b| b.iter(|| theirs.get(&path)));
        group.finish();
        told_in_turn(&mut ours, &callers, || path.clone());
        told_in_turn(&mut ours, &callers, another);
        runtime.block_on(bare.stop());
    }
    runtime.block_on(site.stop());
}

criterion_group!(benches, bench);
criterion_main!(benches);
