//! Answers over loopback sockets, kept alive: a list of ten posts and one post from SQLite, against a bare axum handler that
//! returns the same bytes. The ratio of each pair is what `docs/performance.md` tells.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
};

use axum::{Router, body::Bytes, http::header, routing::get};
use criterion::{Criterion, criterion_group, criterion_main};
use svc_model::Post;
use svc_server::{
    SiteBuilder,
    config::{Config, SETTINGS, Sources},
    serving::{Running, bind},
};
use svc_store::{DatabaseUrl, Store, StoreConfig, posts};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Posts in the site; the list shows ten of them.
const N_POSTS: i64 = 200;

const LIST: &str = "/svc-json/svc/v2/posts";

/// A connection that is kept.
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
        let request = format!("GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n");
        self.stream.get_mut().write_all(request.as_bytes()).expect("a connection");
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            self.stream.read_line(&mut line).expect("an answer");
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().expect("a length");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("a whole body");
        body
    }
}

fn config(folder: &TempDir) -> Config {
    let log = SETTINGS.iter().find(|s| s.key == "log").expect("a setting");
    let flags = vec![(log, "off".to_owned())];
    Config::load(&Sources { folder: folder.path().to_owned(), variables: Vec::new(), flags }).expect("defaults")
}

/// Fills the site that the first start made.
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

fn bench(c: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let config = config(&folder);
    let (site, address) = runtime.block_on(async {
        let listener = bind("127.0.0.1:0").await.expect("a port");
        let here = format!("http://{}", listener.local_addr().expect("an address")).parse().expect("an address");
        let site = SiteBuilder::new().open(&config, &here).expect("a site");
        let running = Running::start(listener, site.router(), config.limits.clone()).expect("a server");
        let address = running.address();
        (running, address)
    });
    fill(&folder);
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
        group.bench_function("svc", |b| b.iter(|| ours.get(&path)));
        group.bench_function("bare axum handler, same bytes", |b| b.iter(|| theirs.get(&path)));
        group.finish();
        runtime.block_on(bare.stop());
    }
    runtime.block_on(site.stop());
}

criterion_group!(benches, bench);
criterion_main!(benches);
