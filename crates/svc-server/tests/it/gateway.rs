//! A server in front of another one with the same database, which represents WordPress. A proxy between them changes responses.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use axum::{Router, body::Body, extract::Request};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::StatusCode;
use svc_gateway::{ErrorFormat, Limits, Origin, Proxy};
use svc_server::{
    OpenSite, SiteBuilder,
    config::{Config, SETTINGS, SiteUrl, Sources},
    listen::{Running, bind},
};
use tokio::net::TcpListener;

const ORIGIN: Origin = Origin { address: IpAddr::V4(Ipv4Addr::LOCALHOST), tls: false };

fn open(folder: &Path, here: &str, settings: &[(&str, &str)]) -> (OpenSite, Config) {
    let flag = |(key, value): &(&str, &str)| {
        (SETTINGS.iter().find(|s| s.key == *key).expect("a setting"), (*value).to_owned())
    };
    let sources =
        Sources { folder: folder.to_owned(), flags: settings.iter().map(flag).collect(), ..Sources::default() };
    let config = Config::load(&sources).unwrap();
    (SiteBuilder::new().open(&config, &here.parse::<SiteUrl>().unwrap()).unwrap(), config)
}

fn proxy(address: &str, name: &str) -> Proxy {
    Proxy::new(format!("http://{address}").parse().unwrap(), name, Limits::default())
}

/// Responses of a server, with the names of the proxies that they passed.
struct Client {
    proxy: Proxy,
    host: String,
}

impl Client {
    /// Status, whether the gateway forwarded the request, body.
    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (StatusCode, bool, String) {
        let mut request = Request::builder().method(method).uri(path).header("host", &self.host);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header("content-length", body.len()).body(Body::from(body.to_owned())).unwrap();
        let response = match self.proxy.forward(request.map(svc_gateway::boxed), ORIGIN).await {
            Ok(response) => response,
            Err(failure) => failure.response(ErrorFormat::Json),
        };
        let via = response.headers().get_all("via").iter().any(|v| v.to_str().unwrap().contains("svc-server-"));
        let is_error = response.headers().contains_key("retry-after");
        let status = response.status();
        let body = axum::body::to_bytes(Body::new(response.into_body()), 10 << 20).await.unwrap();
        (status, via || is_error, String::from_utf8_lossy(&body).into_owned())
    }

    async fn is_forwarded(&self, path: &str) -> bool {
        self.send("GET", path, &[], "").await.1
    }
}

/// The servers: one that represents WordPress, a proxy to it that changes names of categories when a switch is on, and the gateway.
struct Servers {
    client: Client,
    gateway: OpenSite,
    tampers: Arc<AtomicBool>,
    wordpress: Running,
    between: tokio::task::JoinHandle<()>,
    _running: Running,
    folder: tempfile::TempDir,
    /// The administrator's password.
    password: String,
}

impl Servers {
    /// The output of a command for the site.
    fn program(&self, args: &[&str]) -> String {
        let mut command = Command::new(crate::process::PROGRAM);
        command.current_dir(self.folder.path()).env_clear();
        let out = command.args(["--brand", "wp"]).args(args).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    }

    /// The value of an `Authorization` header of an administrator.
    fn basic(&self, name: &str) -> String {
        let password = self.program(&["app-password", "create", "admin", name, "--porcelain"]);
        format!("Basic {}", BASE64_STANDARD.encode(format!("admin:{password}")))
    }

    /// Logs the administrator in. Returns the value of a `Cookie` header and a nonce of the session.
    async fn log_in(&self) -> (String, String) {
        let form = format!("log=admin&pwd={}&testcookie=1", self.password);
        let request = Request::post("/wp-login.php").header("host", &self.client.host);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let request = request.header("cookie", "wordpress_test_cookie=1").body(Body::from(form)).unwrap();
        let response = self.client.proxy.forward(request.map(svc_gateway::boxed), ORIGIN).await.unwrap();
        let cookies = response.headers().get_all("set-cookie").iter();
        let pairs = cookies.map(|v| v.to_str().unwrap().split(';').next().unwrap().to_owned());
        let cookie = pairs.collect::<Vec<_>>().join("; ");
        assert!(cookie.contains("wordpress_logged_in_"), "{cookie}");
        let nonce = "/wp-admin/admin-ajax.php?action=rest-nonce";
        let (status, forwarded, nonce) = self.client.send("GET", nonce, &[("cookie", &cookie)], "").await;
        assert!(status == 200 && forwarded, "{nonce}");
        (cookie, nonce)
    }
}

async fn start(settings: &[(&str, &str)]) -> Servers {
    let folder = tempfile::tempdir().unwrap();
    let registered = "[[meta]]\nobject = 'term'\nkey = 'rank'\ntype = 'integer'\n";
    std::fs::write(folder.path().join("svc.toml"), registered).unwrap();
    let database = format!("sqlite:{}", folder.path().join("svc-data/site.db").display());
    // The public URL is that of the gateway.
    let listener = bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let (mut wordpress, config) =
        open(folder.path(), &format!("http://{host}"), &[("brand", "wp"), ("environment", "local")]);
    let password = wordpress.take_created().unwrap().password.expose().to_owned();
    let behind = bind("127.0.0.1:0").await.unwrap();
    let wordpress_address = behind.local_addr().unwrap().to_string();
    let wordpress = Running::start(behind, wordpress.app(), config.limits).unwrap();

    let tampers = Arc::new(AtomicBool::new(false));
    let between = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = format!("http://{}", between.local_addr().unwrap());
    let (to_wordpress, switch) = (proxy(&wordpress_address, "between"), Arc::clone(&tampers));
    let router = Router::new().fallback(move |request: Request| {
        let (proxy, switch) = (to_wordpress.clone(), Arc::clone(&switch));
        async move {
            let uri = request.uri().to_string();
            let tampers = switch.load(SeqCst) && (uri.contains("categories") || uri == "/wp-json/");
            let response = match proxy.forward(request.map(svc_gateway::boxed), ORIGIN).await {
                Ok(response) => response.map(Body::new),
                Err(failure) => failure.response(ErrorFormat::Json).map(Body::new),
            };
            let (mut parts, body) = response.into_parts();
            if !tampers {
                return http::Response::from_parts(parts, body);
            }
            let body = axum::body::to_bytes(body, 10 << 20).await.unwrap();
            let text = String::from_utf8_lossy(&body).replace("\"name\":\"", "\"name\":\"Filtered ");
            // WordPress has no such routes.
            let text = text.replace("\"/wp/v2/tags", "\"/wp/v2/others");
            parts.headers.remove("content-length");
            http::Response::from_parts(parts, Body::from(text))
        }
    });
    let between = tokio::spawn(async move { axum::serve(between, router).await.unwrap() });

    std::fs::write(folder.path().join("wp-config.php"), "<?php $table_prefix = 'wp_';").unwrap();
    let mut all = vec![
        ("wp_config", "wp-config.php"),
        ("database", &*database),
        ("content_dir", "svc-data/content"),
        ("brand", "wp"),
        ("environment", "local"),
        ("wordpress.upstream", &*upstream),
    ];
    all.extend_from_slice(settings);
    let (gateway, config) = open(folder.path(), "http://localhost", &all);
    let running = Running::start(listener, gateway.app(), config.limits).unwrap();
    let client = Client { proxy: proxy(&host, "client"), host };
    Servers { client, gateway, tampers, wordpress, between, _running: running, folder, password }
}

/// Waits until the gateway handles this path itself, or forwards it.
async fn wait(client: &Client, path: &str, forwarded: bool) {
    for _ in 0..600 {
        if client.is_forwarded(path).await == forwarded {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{path}: expected forwarded = {forwarded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn proven_reads_are_answered_and_everything_else_is_forwarded() {
    let servers = start(&[("wordpress.shadow_percent", "100")]).await;
    let client = &servers.client;
    let categories = "/wp-json/wp/v2/categories";
    assert!(client.is_forwarded(categories).await, "nothing is known yet");
    let _watch = servers.gateway.start_watch().unwrap();
    wait(client, categories, false).await;

    for path in [
        "/",
        "/wp-login.php",
        "/wp-json/demo/v1/route",
        "/wp-json/wp/v2/categories?lang=de",
        "/wp-json/wp/v2/categories?_envelope",
        "/wp-json/wp/v2/categories?_locale=de",
        "/wp-json/wp/v2/categories?_method=OPTIONS",
        "/wp-json/wp/v2/categories?per_page=0",
        "/wp-json/wp/v2/categories/999999",
        "/wp-json/wp/v2/users/me",
        "/wp-json/wp/v2/categories?search=a%5Cb",
        "/wp-json/wp/v2/categories?_wpnonce=1",
    ] {
        assert!(client.is_forwarded(path).await, "{path}");
    }
    for path in [
        "/wp-json/wp/v2/categories?per_page=1&_fields=id",
        "/?rest_route=/wp/v2/categories",
        "/wp-json/wp/v2/categories?_locale=user",
        "/index.php/wp-json/wp/v2/categories/1",
    ] {
        assert!(!client.is_forwarded(path).await, "{path}");
    }
    let json = ("content-type", "application/json");
    for (method, path) in [("POST", categories), ("POST", "/wp-json/batch/v1")] {
        assert!(client.send(method, path, &[json], "{}").await.1, "{method}");
    }

    // A plugin changes names: the shadow comparison of a read that was handled here finds it.
    servers.tampers.store(true, SeqCst);
    wait(client, categories, true).await;
    assert!(client.is_forwarded("/wp-json/wp/v2/categories/1").await, "an item of the list that differs");
    assert!(!client.is_forwarded("/wp-json/wp/v2/posts").await, "another route");
    servers.tampers.store(false, SeqCst);
    assert!(client.is_forwarded(categories).await, "not trusted again without new comparisons");
    wait(client, categories, false).await;

    // Without WordPress, other routes are still handled; what is forwarded fails as an API error or a page.
    let posts = "/wp-json/wp/v2/posts";
    assert!(!client.is_forwarded(posts).await);
    servers.between.abort();
    servers.wordpress.stop().await;
    let (status, forwarded, body) = client.send("GET", posts, &[], "").await;
    assert!(status == 200 && !forwarded, "{body}");
    let (status, _, body) = client.send("GET", "/wp-json/demo/v1/route", &[], "").await;
    assert!(status == 502 && body.contains("rest_upstream_unavailable"), "{body}");
    let (status, _, body) = client.send("GET", "/", &[], "").await;
    assert!(status == 502 && body.starts_with("<!DOCTYPE html>"), "{body}");
    let (status, _, body) = client.send("GET", "/wp-json/wp/v2/posts/999999", &[], "").await;
    assert!(status == 404 && body.contains("rest_post_invalid_id"), "the error of this server: {body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn descriptions_are_cached_until_options_change() {
    let servers = start(&[("wordpress.shadow_percent", "0")]).await;
    let client = &servers.client;
    for (method, path) in
        [("GET", "/wp-json/"), ("GET", "/wp-json/wp/v2?_fields=namespace"), ("OPTIONS", "/wp-json/wp/v2/posts")]
    {
        let (status, forwarded, body) = client.send(method, path, &[], "").await;
        assert!(status == 200 && forwarded, "{method} {path}: {body}");
        let (status, forwarded, cached) = client.send(method, path, &[], "").await;
        assert!(status == 200 && !forwarded, "{method} {path}");
        assert_eq!(body, cached, "{method} {path}");
    }
    for (path, headers) in [
        ("/wp-json/", &[("cookie", "a=1")][..]),
        ("/wp-json/", &[("authorization", "Basic eA==")]),
        ("/wp-json/", &[("origin", "http://other.example")]),
        ("/wp-json/?lang=de", &[]),
        ("/wp-json/?_fields=url", &[]),
    ] {
        assert!(client.send("GET", path, headers, "").await.1, "{path} {headers:?}");
    }
    let store = &servers.gateway.site().store;
    let write = |name: &'static str| {
        let value = svc_store::StoredText::of("x");
        store.write(move |tx| svc_store::options::set(tx, name, &value, true))
    };
    write("_transient_x").await.unwrap();
    assert!(!client.is_forwarded("/wp-json/").await, "transients decide nothing");
    write("types_of_a_plugin").await.unwrap();
    assert!(client.is_forwarded("/wp-json/").await, "options may decide registrations");
    assert!(!client.is_forwarded("/wp-json/").await, "cached again");
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_that_only_this_server_has_are_added_to_the_index() {
    let servers = start(&[("wordpress.svc_routes", "/wp/v2/tags"), ("wordpress.shadow_percent", "0")]).await;
    servers.tampers.store(true, SeqCst);
    let (status, _, body) = servers.client.send("GET", "/wp-json/", &[], "").await;
    let index: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert!(status == 200 && index["routes"]["/wp/v2/tags"].is_object(), "{body}");
    assert!(!servers.client.is_forwarded("/wp-json/wp/v2/tags").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_difference_before_the_start_is_found_by_the_comparison() {
    let servers = start(&[("wordpress.shadow_percent", "0"), ("wordpress.php_routes", "/wp/v2/tags")]).await;
    servers.tampers.store(true, SeqCst);
    let _watch = servers.gateway.start_watch().unwrap();
    wait(&servers.client, "/wp-json/wp/v2/posts", false).await;
    assert!(servers.client.is_forwarded("/wp-json/wp/v2/categories").await);
    assert!(servers.client.is_forwarded("/wp-json/wp/v2/tags").await, "configured");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_reads_without_credentials_are_handled_here() {
    let servers = start(&[("wordpress.shadow_percent", "0")]).await;
    let client = &servers.client;
    let _watch = servers.gateway.start_watch().unwrap();
    wait(client, "/wp-json/wp/v2/posts", false).await;
    let (valid, revoked) = (servers.basic("valid"), servers.basic("old"));
    let list: serde_json::Value =
        serde_json::from_str(&servers.program(&["app-password", "list", "admin", "--json"])).unwrap();
    let old = list.as_array().unwrap().iter().find(|item| item["name"] == "old").unwrap();
    servers.program(&["app-password", "revoke", "admin", old["uuid"].as_str().unwrap()]);
    let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
    let (cookie, nonce) = servers.log_in().await;
    // Each cookie is `NAME=LOGIN|EXPIRATION|TOKEN|SIGNATURE`.
    let session = cookie.split("; ").find(|pair| pair.starts_with("wordpress_logged_in_")).unwrap();
    let expired = session.replace(session.split("%7C").nth(1).unwrap(), "1500000000");
    let callers = [
        ("none", vec![]),
        ("malformed", vec![("authorization", "Basic eA==".to_owned())]),
        ("wrong", vec![("authorization", basic("admin:wrong"))]),
        ("revoked", vec![("authorization", revoked)]),
        ("valid", vec![("authorization", valid)]),
        ("bearer", vec![("authorization", "Bearer x".to_owned())]),
        ("cookie without nonce", vec![("cookie", cookie.clone())]),
        ("cookie and nonce", vec![("cookie", cookie), ("x-wp-nonce", nonce.clone())]),
        ("expired cookie", vec![("cookie", expired), ("x-wp-nonce", nonce.clone())]),
        ("nonce of a visitor", vec![("cookie", "a=b".to_owned()), ("x-wp-nonce", nonce)]),
        ("key of a plugin", vec![("x-api-key", "1".to_owned())]),
        ("analytics", vec![("cookie", "_ga=GA1.1.5; _gid=1".to_owned())]),
    ];
    let requests = [
        ("GET", "/wp-json/wp/v2/posts/1", true),
        ("HEAD", "/wp-json/wp/v2/posts/1", true),
        ("GET", "/wp-json/wp/v2/posts", true),
        ("HEAD", "/wp-json/wp/v2/posts", true),
        ("GET", "/wp-json/wp/v2/posts?search=hello", true),
        ("GET", "/?rest_route=/wp/v2/posts", true),
        ("GET", "/wp-json/wp/v2/posts?context=edit", false),
        ("POST", "/wp-json/wp/v2/posts", false),
        ("PUT", "/wp-json/wp/v2/posts/1", false),
        ("PATCH", "/wp-json/wp/v2/posts/1", false),
        ("DELETE", "/wp-json/wp/v2/posts/999999", false),
        ("POST", "/wp-json/batch/v1", false),
        ("POST", "/wp-json/wp/v2/posts?_method=GET", false),
    ];
    for (caller, headers) in &callers {
        let is_logged_in = matches!(*caller, "valid" | "cookie and nonce");
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
        for (method, path, is_read) in requests {
            let is_visitor = matches!(*caller, "none" | "analytics");
            let body = if method == "POST" || method == "PUT" { r#"{"title":""}"# } else { "" };
            let with_type = [&headers[..], &[("content-type", "application/json")]].concat();
            let (status, forwarded, text) = client.send(method, path, &with_type, body).await;
            assert_eq!(forwarded, !(is_visitor && is_read), "{caller}: {method} {path}: {status} {text}");
        }
        let (status, ..) = client.send("GET", "/wp-json/wp/v2/users/me", &headers, "").await;
        assert_eq!(status == 200, is_logged_in, "{caller}");
    }
    assert!(!servers.folder.path().join("svc-data/actions").exists(), "nothing is stored for a forwarded request");
}

#[test]
fn settings_without_effect_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wp-config.php"), "<?php").unwrap();
    let load = |settings: &[(&str, &str)]| {
        let flags = settings
            .iter()
            .map(|(key, value)| (SETTINGS.iter().find(|s| s.key == *key).expect("a setting"), (*value).to_owned()));
        let sources = Sources { folder: folder.path().to_owned(), flags: flags.collect(), ..Sources::default() };
        Config::load(&sources).map(drop).map_err(|error| error.to_string())
    };
    let base = [("wp_config", "wp-config.php"), ("database", "sqlite:x.db"), ("content_dir", "c")];
    let with = |more: &[(&'static str, &'static str)]| load(&[&base[..], more].concat());
    let upstream = ("wordpress.upstream", "http://127.0.0.1:1");
    assert_eq!(with(&[upstream]), Ok(()));
    for (settings, message) in [
        (&[("wordpress.reads", "php")][..], "`wordpress.reads` requires `wordpress.upstream`"),
        (&[upstream, ("listen", "localhost:1")], "is the address of this server"),
        (&[upstream, ("brand", "svc")], "requires the brand `wp`"),
        (&[("wordpress.upstream", "https://php")], "must be a URL like"),
    ] {
        let error = with(settings).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    assert!(load(&[upstream, ("brand", "wp")]).unwrap_err().contains("requires `wp_config`"));
}
