//! Whole requests over real sockets: a list of ten posts and one post, against a bare axum handler on the same runtime
//! that answers the same bytes. The ratio of the two is what the site costs.
//!
//! Each iteration is one request on a connection that is kept alive.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
};

use axum::{Router, http::header, routing::get};
use criterion::{Criterion, criterion_group, criterion_main};
use svc_server::{
    SiteBuilder,
    config::{Config, Limits, Sources},
    serving,
};
use tokio::runtime::Runtime;

/// Sends one request and reads the whole answer; gives its body.
fn ask(connection: &mut TcpStream, path: &str, buffer: &mut Vec<u8>) -> usize {
    write!(connection, "GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n").expect("the server reads");
    buffer.clear();
    let mut piece = [0; 65536];
    loop {
        let n = connection.read(&mut piece).expect("the server answers");
        assert!(n > 0, "the server closed the connection");
        buffer.extend_from_slice(&piece[..n]);
        let Some(end) = buffer.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&buffer[..end]).expect("a head of text").to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 200"), "{head}");
        let length = head.lines().find_map(|l| l.strip_prefix("content-length: ")).expect("a length");
        let length: usize = length.trim().parse().expect("a number");
        if buffer.len() >= end + 4 + length {
            return end + 4;
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let connection = TcpStream::connect(address).expect("the server listens");
    connection.set_nodelay(true).expect("a socket option");
    connection
}

fn start(runtime: &Runtime, router: Router, limits: Limits) -> serving::Running {
    runtime.block_on(async {
        let listener = serving::bind("127.0.0.1:0").await.expect("a free port");
        serving::Running::start(listener, router, limits).expect("the server starts")
    })
}

/// A new site in this folder with a hundred posts.
fn site(folder: &Path) -> (Router, Limits) {
    let flags = |name: &str, value: &str| (format!("SVC_{name}"), value.to_owned());
    let data = folder.display().to_string();
    let sources = Sources {
        variables: vec![flags("DATA", &data), flags("BRAND", "svc")],
        ..Sources::of_process(Vec::new())
    };
    let config = Config::load(&sources).expect("a configuration");
    let address = "http://127.0.0.1:8080".parse().expect("an address");
    let site = SiteBuilder::new().open(&config, &address).expect("a site");
    let store = site.site().store.clone();
    store
        .write_blocking(|tx| {
            for n in 0..100 {
                let date = chrono::DateTime::from_timestamp(1_700_000_000 + n * 3600, 0).map(|d| d.naive_utc());
                let post = svc_server::model::Post {
                    author: svc_server::model::UserId(1),
                    date,
                    date_gmt: date,
                    modified: date,
                    modified_gmt: date,
                    title: format!("Entry {n}"),
                    content: format!("<!-- wp:paragraph -->\n<p>{}</p>\n<!-- /wp:paragraph -->", "Some words. ".repeat(80)),
                    status: "publish".to_owned(),
                    slug: format!("entry-{n}"),
                    post_type: "post".to_owned(),
                    ..Default::default()
                };
                svc_store::posts::insert(tx, &post)?;
            }
            Ok(())
        })
        .expect("posts are stored");
    (site.router(), config.limits.clone())
}

fn benches(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = Runtime::new().expect("a runtime");
    let (router, limits) = runtime.block_on(async { site(folder.path()) });
    let ours = start(&runtime, router, limits.clone());
    let mut buffer = Vec::new();
    for (name, path) in [
        ("list of 10 posts", "/svc-json/svc/v2/posts"),
        ("one post", "/svc-json/svc/v2/posts/1"),
        ("list of 10 posts, two fields", "/svc-json/svc/v2/posts?_fields=id,title"),
    ] {
        let body = ask(&mut connect(ours.address()), path, &mut buffer);
        let bytes = bytes::Bytes::copy_from_slice(&buffer[body..]);
        let handler = move || {
            let bytes = bytes.clone();
            async move { ([(header::CONTENT_TYPE, "application/json; charset=UTF-8")], bytes) }
        };
        let bare = start(&runtime, Router::new().route("/bytes", get(handler)), limits.clone());
        let mut group = c.benchmark_group(name);
        let mut connection = connect(ours.address());
        group.bench_function("svc", |b| b.iter(|| ask(&mut connection, path, &mut buffer)));
        let mut connection = connect(bare.address());
        group.bench_function("bare axum handler", |b| b.iter(|| ask(&mut connection, "/bytes", &mut buffer)));
        group.finish();
        runtime.block_on(bare.stop());
    }
    runtime.block_on(ours.stop());
}

criterion_group!(http_benches, benches);
criterion_main!(http_benches);
