//! Limits on the rate of requests of a running server.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::process::{POSTS, SERVE, Server, command, credentials};

fn start(folder: &Path, settings: &str) -> Server {
    let text = format!("trusted_proxies = '127.0.0.1'\n[rate_limits]\n{settings}");
    std::fs::write(folder.join("svc.toml"), text).unwrap();
    Server::spawn(command(folder, None, &SERVE)).unwrap_or_else(|output| panic!("no server: {output}"))
}

/// The response to a request from this address: its status, the number of requests that are left by the name of the limit, and all of it.
struct Reply {
    status: u16,
    text: String,
}

impl Reply {
    fn left(&self, name: &str) -> Option<u32> {
        let line = self.text.lines().find_map(|line| line.strip_prefix("ratelimit: "))?;
        let (_, rest) = line.split_once(&format!("\"{name}\";r="))?;
        rest.split(';').next()?.parse().ok()
    }
}

fn send(server: &Server, client: &str, method: &str, path: &str, credentials: Option<&str>) -> Reply {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let basic = credentials.map(|c| format!("Authorization: Basic {}\r\n", STANDARD.encode(c))).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nHost: {}\r\nX-Forwarded-For: {client}\r\n{basic}Content-Length: 0\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    let text = String::from_utf8_lossy(&response).into_owned();
    Reply { status: text.split(' ').nth(1).unwrap().parse().unwrap(), text }
}

#[test]
fn networks_pay_for_what_their_requests_cost() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "network = '100/hour'\nexempt = '192.0.2.0/24'");
    let get = |path: &str| send(&server, "198.51.100.1", "GET", path, None);
    let first = get(POSTS);
    assert!(first.text.contains("ratelimit-policy: \"network\";q=100;w=3600\r\n"), "{}", first.text);
    assert_eq!((first.status, first.left("network")), (200, Some(99)));
    // Until the response is cached.
    for _ in 0..3 {
        get(POSTS);
    }
    let left = || get(POSTS).left("network").unwrap();
    let before = left();
    for _ in 0..9 {
        get(POSTS);
    }
    let cached = left();
    assert!(before - cached <= 1, "ten cached responses cost as much as one: {before}, {cached}");
    let heavy = get(&format!("{POSTS}?search=hello")).left("network").unwrap();
    assert!((9..=10).contains(&(cached - heavy)), "a search: {cached}, {heavy}");
    let write = send(&server, "198.51.100.1", "POST", POSTS, None).left("network").unwrap();
    assert!((4..=5).contains(&(heavy - write)), "a write: {heavy}, {write}");
    let n_admitted = (0..200).take_while(|n| get(&format!("{POSTS}?search=hello{n}")).status == 200).count();
    assert!(n_admitted.abs_diff(write as usize / 10) <= 1, "{write}, {n_admitted}");
    let refused = get("/");
    assert_eq!((refused.status, refused.left("network")), (429, Some(0)));
    assert!(
        refused.text.contains("retry-after: ") && refused.text.contains("rest_too_many_requests"),
        "{}",
        refused.text
    );
    assert_eq!(send(&server, "198.51.100.2", "GET", "/", None).status, 200, "another network");
    let exempt = send(&server, "192.0.2.1", "GET", POSTS, None);
    assert_eq!((exempt.status, exempt.left("network")), (200, None));
}

#[test]
fn users_are_limited_wherever_they_are() {
    let folder = tempfile::tempdir().unwrap();
    drop(start(folder.path(), ""));
    let admin = credentials(folder.path(), None);
    let server = start(folder.path(), "user = '30/hour'\ntoken = '20/hour'");
    let me = |n: usize, credentials| {
        send(&server, &format!("198.51.100.{n}"), "GET", &format!("{POSTS}?context=edit&page=1&n={n}"), credentials)
    };
    let first = me(1, Some(&admin));
    assert_eq!((first.status, first.left("user"), first.left("token")), (200, Some(29), Some(19)), "{}", first.text);
    let n_admitted = (2..100).take_while(|n| me(*n, Some(&admin)).status == 200).count();
    assert_eq!(n_admitted, 19);
    let refused = me(100, Some(&admin));
    assert_eq!((refused.status, refused.left("token")), (429, Some(0)));
    assert!(
        refused.text.contains("retry-after: ") && refused.text.contains("rest_too_many_requests"),
        "{}",
        refused.text
    );
    // A wrong password is no caller, and has no bucket.
    let wrong = me(101, Some("admin:wrong"));
    assert_eq!((wrong.status, wrong.left("user")), (401, None), "{}", wrong.text);
    let anonymous = send(&server, "198.51.100.1", "GET", POSTS, None);
    assert_eq!((anonymous.status, anonymous.left("user")), (200, None));
}

#[test]
fn without_limits_there_are_no_headers() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "");
    let reply = send(&server, "198.51.100.1", "GET", POSTS, None);
    assert!(!reply.text.contains("ratelimit"), "{}", reply.text);
}
