//! FastCGI with php-fpm. Skipped if it is not installed, unless `SVC_NEED_CLIENTS` is set.

use std::{
    net::Ipv4Addr,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{future::join_all, stream};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use serde_json::Value;
use svc_gateway::{Body, BoxError, Failure, Origin, Proxy, ProxyLimits, Site, SiteFolder, boxed, empty};

use crate::php_fpm::PhpFpm;

const ORIGIN: Origin = Origin { address: std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)), tls: true };

const SCRIPTS: &[(&str, &str)] = &[
    ("index.php", "<?php header('Content-Type: application/json'); echo json_encode($_SERVER + ['front' => true]);"),
    (
        "echo.php",
        "<?php header('Content-Type: application/json'); echo json_encode(['server' => $_SERVER, 'get' => $_GET, 'post' => $_POST]);",
    ),
    (
        "form.php",
        "<?php echo json_encode($_POST + array_map(fn($f) => [$f['name'], $f['size'], $f['error']], $_FILES));",
    ),
    (
        "stream.php",
        "<?php echo 'one'; flush(); while (!file_exists(__DIR__ . '/go.txt')) { usleep(10000); clearstatcache(); } echo 'two';",
    ),
    ("large.php", "<?php for ($i = 0; $i < 2000; $i++) echo str_repeat(chr(65 + $i % 26), 10000);"),
    ("slow.php", "<?php usleep(1000 * ($_GET['ms'] ?? 1000)); echo 'slow';"),
    ("fatal.php", "<?php header('X-Before: 1'); nothing_like_this();"),
    ("exit.php", "<?php header('Content-Type: text/plain'); echo 'before'; exit(3); echo 'after';"),
    ("crash.php", "<?php echo str_repeat('x', 100000); flush(); usleep(100000); posix_kill(getmypid(), 9);"),
    ("empty.php", "<?php http_response_code(204);"),
    ("redirect.php", "<?php header('Location: /elsewhere/'); setcookie('a', '1'); setcookie('b', '2');"),
    (
        "late.php",
        "<?php echo 'sent'; fastcgi_finish_request(); while (!file_exists(__DIR__ . '/go.txt')) { usleep(10000); clearstatcache(); } file_put_contents(__DIR__ . '/late.txt', 'done');",
    ),
    ("length.php", "<?php header('Content-Length: 5'); echo 'hello';"),
    (
        "send.php",
        "<?php header($_GET['header'] . ': ' . $_GET['file']); header('Content-Type: application/x-mine'); \
         header('Content-Disposition: attachment; filename=\"a.bin\"'); header('X-Other: 1'); header('Cache-Control: private'); \
         setcookie('a', '1'); echo 'not sent';",
    ),
    (
        "aborted.php",
        "<?php ignore_user_abort(true); for ($i = 0; $i < 200 && !connection_aborted(); $i++) { echo str_repeat('x', 100000); flush(); usleep(10000); } file_put_contents(__DIR__ . '/aborted.txt', connection_aborted());",
    ),
    ("wp-content/uploads/a.txt", "text"),
    ("wp-content/uploads/shell.php", "<?php echo 'run';"),
    ("sub/index.php", "<?php echo $_SERVER['SCRIPT_NAME'];"),
    ("wp-config.php", "<?php define('DB_PASSWORD', 'secret');"),
];

fn get(path: &str) -> Request<Body> {
    Request::get(path).header("host", "example.org").body(empty()).unwrap()
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

async fn fetch(proxy: &Proxy, request: Request<Body>) -> (StatusCode, HeaderMap, String) {
    let response = proxy.forward(request, ORIGIN).await.unwrap();
    (response.status(), response.headers().clone(), text(response).await)
}

#[tokio::test]
async fn scripts_get_the_request() {
    let Some(fpm) = PhpFpm::start(SCRIPTS) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site { server_name: "site.example".to_owned(), ..Site::default() });
    let request = Request::post("/echo.php?x[]=1&x[]=a%20b")
        .header("host", "example.org")
        .header("content-type", "application/x-www-form-urlencoded")
        .header("authorization", "Basic eDpzZWNyZXQ=")
        .header("cookie", "c=1")
        .header("proxy", "http://evil.example")
        .header("x_svc", "1")
        .body(boxed(Full::new(Bytes::from("field=v%C3%A4lue&other=2"))))
        .unwrap();
    let (status, headers, body) = fetch(&proxy, request).await;
    assert_eq!((status.as_u16(), headers["content-type"].to_str().unwrap()), (200, "application/json"));
    let seen: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(seen["post"], serde_json::json!({"field": "v\u{e4}lue", "other": "2"}));
    assert_eq!(seen["get"], serde_json::json!({"x": ["1", "a b"]}));
    let root = fpm.root().display().to_string();
    for (name, value) in [
        ("REQUEST_METHOD", "POST"),
        ("REQUEST_URI", "/echo.php?x[]=1&x[]=a%20b"),
        ("QUERY_STRING", "x[]=1&x[]=a%20b"),
        ("SCRIPT_NAME", "/echo.php"),
        ("PHP_SELF", "/echo.php"),
        ("SCRIPT_FILENAME", &format!("{root}/echo.php")),
        ("DOCUMENT_ROOT", &root),
        ("CONTENT_LENGTH", "24"),
        ("HTTPS", "on"),
        ("REMOTE_ADDR", "192.0.2.7"),
        ("SERVER_NAME", "site.example"),
        ("SERVER_PORT", "443"),
        ("HTTP_HOST", "example.org"),
        ("HTTP_COOKIE", "c=1"),
        ("PHP_AUTH_USER", "x"),
        ("PHP_AUTH_PW", "secret"),
        ("HTTP_X_FORWARDED_FOR", "192.0.2.7"),
    ] {
        assert_eq!(seen["server"][name], value, "{name}");
    }
    for absent in ["HTTP_PROXY", "HTTP_X_SVC", "PATH_INFO", "PATH_TRANSLATED", "HTTP_VIA", "HOME_SECRET"] {
        assert!(seen["server"].get(absent).is_none(), "{absent}");
    }
    let (_, _, body) = fetch(&proxy, get("/2026/11/h%C3%A9llo/?p=1")).await;
    let seen: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (&seen["SCRIPT_NAME"], &seen["REQUEST_URI"]),
        (&"/index.php".into(), &"/2026/11/h%C3%A9llo/?p=1".into())
    );
    assert_eq!(seen["CONTENT_LENGTH"], "");
    let long = Request::get("/")
        .header("x-long", "y".repeat(60_000))
        .header("x-other", "z".repeat(30_000))
        .body(empty())
        .unwrap();
    let (_, _, body) = fetch(&proxy, long).await;
    let seen: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(seen["HTTP_X_LONG"].as_str().map(str::len), Some(60_000), "parameters in several records");
    assert_eq!(seen["HTTP_X_OTHER"].as_str().map(str::len), Some(30_000));
}

#[tokio::test]
async fn uploaded_files_of_a_form() {
    let Some(fpm) = PhpFpm::start(SCRIPTS) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site::default());
    let file = "z".repeat(3_000_000);
    let body = format!(
        "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--B\r\n\
         Content-Disposition: form-data; name=\"f\"; filename=\"f.bin\"\r\n\r\n{file}\r\n--B--\r\n"
    );
    let request = Request::post("/form.php")
        .header("host", "h")
        .header("content-type", "multipart/form-data; boundary=B")
        .body(boxed(Full::new(Bytes::from(body))))
        .unwrap();
    let (_, _, body) = fetch(&proxy, request).await;
    let seen: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(seen, serde_json::json!({"a": "one", "f": ["f.bin", 3_000_000, 0]}));
}

#[tokio::test]
async fn a_script_never_gets_a_part_of_a_body() {
    let script = "<?php file_put_contents(__DIR__ . '/ran.txt', $_SERVER['REQUEST_METHOD'] . ' ', FILE_APPEND);";
    let Some(fpm) = PhpFpm::start(&[("index.php", script)]) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site::default());
    let parts =
        stream::iter([Ok(Frame::data(Bytes::from("content=abc"))), Err::<_, BoxError>("the client is gone".into())]);
    let request = Request::post("/")
        .header("content-type", "application/x-www-form-urlencoded")
        .header("content-length", "100")
        .body(boxed(StreamBody::new(parts)))
        .unwrap();
    assert_eq!(proxy.forward(request, ORIGIN).await.err(), Some(Failure::Unreadable));
    assert_eq!(fetch(&proxy, get("/")).await.0, 200);
    assert_eq!(std::fs::read_to_string(fpm.root().join("ran.txt")).unwrap(), "GET ");
}

#[tokio::test]
async fn responses_are_streamed() {
    let Some(fpm) = PhpFpm::start(SCRIPTS) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site::default());
    let mut body = proxy.forward(get("/stream.php"), ORIGIN).await.unwrap().into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first, "one");
    std::fs::write(fpm.root().join("go.txt"), "x").unwrap();
    assert_eq!(body.collect().await.unwrap().to_bytes(), "two");
    let mut large = proxy.forward(get("/large.php"), ORIGIN).await.unwrap().into_body();
    let (mut length, mut n_b) = (0, 0);
    while let Some(frame) = large.frame().await {
        let part = frame.unwrap().into_data().unwrap();
        length += part.len();
        n_b += part.iter().filter(|byte| **byte == b'B').count();
    }
    assert_eq!((length, n_b), (20_000_000, 77 * 10_000));
}

#[tokio::test]
async fn a_slow_client_does_not_keep_a_process() {
    let script = "<?php for ($i = 0; $i < 45; $i++) { echo str_repeat('x', 10000); flush(); } \
                  file_put_contents(__DIR__ . '/done.txt', 'x');";
    let Some(fpm) = PhpFpm::start(&[("index.php", script)]) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site::default());
    let response = proxy.forward(get("/"), ORIGIN).await.unwrap();
    // Nothing of the body has been read.
    wait_for(&fpm.root().join("done.txt")).await;
    assert_eq!(text(response).await.len(), 450_000);
}

#[tokio::test]
async fn slow_scripts() {
    let Some(fpm) = PhpFpm::start(SCRIPTS) else { return };
    let patient = fpm.proxy(ProxyLimits::default(), Site::default());
    assert_eq!(fetch(&patient, get("/slow.php?ms=300")).await.2, "slow");
    let limits = ProxyLimits { response: Duration::from_millis(200), ..ProxyLimits::default() };
    let hurried = fpm.proxy(limits, Site::default());
    assert_eq!(hurried.forward(get("/slow.php?ms=600"), ORIGIN).await.err(), Some(Failure::Timeout));
    assert_eq!(fetch(&patient, get("/length.php")).await.2, "hello");
}

#[tokio::test]
async fn scripts_that_fail_or_end_early() {
    let Some(fpm) = PhpFpm::start(SCRIPTS) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site::default());
    let (status, headers, body) = fetch(&proxy, get("/fatal.php")).await;
    assert_eq!((status.as_u16(), headers["x-before"].to_str().unwrap(), body.as_str()), (500, "1", ""));
    let (status, _, body) = fetch(&proxy, get("/exit.php")).await;
    assert_eq!((status.as_u16(), body.as_str()), (200, "before"));
    let response = proxy.forward(get("/crash.php"), ORIGIN).await.unwrap();
    assert!(response.into_body().collect().await.is_err(), "the process has died in the middle of its response");
    let (status, headers, body) = fetch(&proxy, get("/redirect.php")).await;
    assert_eq!((status.as_u16(), headers["location"].to_str().unwrap(), body.as_str()), (302, "/elsewhere/", ""));
    assert_eq!(headers.get_all("set-cookie").iter().count(), 2);
    assert_eq!(fetch(&proxy, get("/empty.php")).await.0, 204);
    assert_eq!(fetch(&proxy, get("/length.php")).await.2, "hello");
    let head = Request::head("/length.php").body(empty()).unwrap();
    let (_, headers, body) = fetch(&proxy, head).await;
    assert_eq!((headers["content-length"].to_str().unwrap(), body.as_str()), ("5", ""));
}

#[tokio::test]
async fn a_script_continues_after_its_response() {
    let Some(fpm) = PhpFpm::start(SCRIPTS) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site::default());
    assert_eq!(fetch(&proxy, get("/late.php")).await.2, "sent");
    assert!(!fpm.root().join("late.txt").exists(), "the response has not waited");
    std::fs::write(fpm.root().join("go.txt"), "x").unwrap();
    wait_for(&fpm.root().join("late.txt")).await;
}

#[tokio::test]
async fn a_client_that_leaves_aborts_the_script() {
    let Some(fpm) = PhpFpm::start(SCRIPTS) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site::default());
    let mut body = proxy.forward(get("/aborted.php"), ORIGIN).await.unwrap().into_body();
    assert!(body.frame().await.unwrap().is_ok());
    drop(body);
    wait_for(&fpm.root().join("aborted.txt")).await;
    assert_eq!(std::fs::read_to_string(fpm.root().join("aborted.txt")).unwrap(), "1");
}

async fn wait_for(file: &std::path::Path) {
    let deadline = Instant::now() + Duration::from_secs(10);
    // The file is made before it is written.
    while !std::fs::metadata(file).is_ok_and(|about| about.len() > 0) {
        assert!(Instant::now() < deadline, "{} was not written", file.display());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn many_requests_share_two_processes() {
    let Some(fpm) = PhpFpm::start(SCRIPTS) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site::default());
    let requests = (0..200).map(|i| {
        let proxy = proxy.clone();
        async move {
            let (status, _, body) = fetch(&proxy, get(&format!("/echo.php?i={i}"))).await;
            let seen: Value = serde_json::from_str(&body).unwrap();
            assert_eq!((status.as_u16(), &seen["get"]["i"]), (200, &i.to_string().into()));
        }
    });
    join_all(requests).await;
}

#[tokio::test]
async fn a_full_queue_of_php_fpm() {
    let Some(fpm) = PhpFpm::with(SCRIPTS, "listen.backlog = 1") else { return };
    let send = |proxy: Proxy| {
        join_all((0..12).map(move |_| {
            let proxy = proxy.clone();
            async move { Ok::<_, Failure>(text(proxy.forward(get("/slow.php?ms=100"), ORIGIN).await?).await) }
        }))
    };
    let results = send(fpm.proxy(ProxyLimits::default(), Site::default())).await;
    assert!(results.iter().all(|result| result.as_deref() == Ok("slow")), "requests wait for a place: {results:?}");
    let limits = ProxyLimits { connect: Duration::from_millis(50), ..ProxyLimits::default() };
    let results = send(fpm.proxy(limits, Site::default())).await;
    assert!(results.contains(&Err(Failure::Busy)) && results.contains(&Ok("slow".to_owned())), "{results:?}");
}

#[tokio::test]
async fn php_fpm_may_be_restarted() {
    let Some(mut fpm) = PhpFpm::start(SCRIPTS) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site::default());
    assert_eq!(fetch(&proxy, get("/length.php")).await.2, "hello");
    assert!(proxy.connects().await);
    fpm.stop();
    assert!(!proxy.connects().await);
    assert_eq!(proxy.forward(get("/length.php"), ORIGIN).await.err(), Some(Failure::Unreachable));
    assert_eq!(fetch(&proxy, get("/wp-content/uploads/a.txt")).await.2, "text", "files need no PHP");
    fpm.start_again();
    let post = || Request::post("/length.php").body(boxed(Full::new(Bytes::from("x=1")))).unwrap();
    for _ in 0..4 {
        assert_eq!(fetch(&proxy, post()).await.2, "hello", "no connection is left from before");
    }
}

#[tokio::test]
async fn files_and_scripts_of_a_site() {
    let Some(fpm) = PhpFpm::start(SCRIPTS) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site::default());
    for (path, status, expected) in [
        ("/sub/", 200, "/sub/index.php"),
        ("/sub/index.php", 200, "/sub/index.php"),
        ("/sub//%69ndex.php", 200, "/sub/index.php"),
        ("/wp-content/uploads/a.txt", 200, "text"),
        ("/wp-content/uploads/shell.php", 404, "404 Not Found\n"),
        ("/wp-config.php", 404, "404 Not Found\n"),
        ("/wp-config.php/", 404, "404 Not Found\n"),
        ("/../www/index.php", 400, "400 Bad Request\n"),
    ] {
        let (found, _, body) = fetch(&proxy, get(path)).await;
        assert_eq!((found.as_u16(), body.as_str()), (status, expected), "{path}");
    }
    for front in ["/wp-content/uploads/a.txt/x.jpg", "/nothing.php", "/index.php/hello/", "/a%5cb"] {
        let (_, _, body) = fetch(&proxy, get(front)).await;
        assert!(body.contains("\"front\":true"), "{front}: {body}");
    }
    let (status, headers, _) = fetch(&proxy, get("/sub?a=b")).await;
    assert_eq!((status.as_u16(), headers["location"].to_str().unwrap()), (301, "/sub/?a=b"));
    let post = Request::post("/wp-content/uploads/a.txt").body(empty()).unwrap();
    let (status, headers, _) = fetch(&proxy, post).await;
    assert_eq!((status.as_u16(), headers["allow"].to_str().unwrap()), (405, "GET, HEAD"));
    let range = Request::get("/wp-content/uploads/a.txt").header("range", "bytes=1-2").body(empty()).unwrap();
    let (status, _, body) = fetch(&proxy, range).await;
    assert_eq!((status.as_u16(), body.as_str()), (206, "ex"));
}

#[tokio::test]
async fn scripts_let_the_server_send_files() {
    let Some(fpm) = PhpFpm::start(SCRIPTS) else { return };
    let store = fpm.beside("store");
    std::fs::create_dir(&store).unwrap();
    std::fs::write(store.join("a.pdf"), "0123456789").unwrap();
    let folders = vec![SiteFolder { folder: store.clone(), accel: Some("/protected".to_owned()) }];
    let proxy = fpm.proxy(ProxyLimits::default(), Site { folders, ..Site::default() });
    let send = |header: &str, file: &str| get(&format!("/send.php?header={header}&file={file}"));
    let (in_store, in_root) = (store.join("a.pdf"), fpm.root().join("wp-content/uploads/a.txt"));
    for (header, file, expected) in [
        ("X-Accel-Redirect", "/wp-content/uploads/a.txt", Some("text")),
        ("X-Accel-Redirect", "/protected/a.pdf", Some("0123456789")),
        ("x-sendfile", in_store.to_str().unwrap(), Some("0123456789")),
        ("X-Sendfile", in_root.to_str().unwrap(), Some("text")),
        ("X-Accel-Redirect", "/wp-config.php", None),
        ("X-Accel-Redirect", "/protected/../../etc/passwd", None),
        ("X-Sendfile", "/etc/passwd", None),
        ("X-Sendfile", fpm.root().join("wp-config.php").to_str().unwrap(), None),
    ] {
        let (status, headers, body) = fetch(&proxy, send(header, file)).await;
        assert!(!headers.contains_key("x-accel-redirect") && !headers.contains_key("x-sendfile"));
        let Some(expected) = expected else {
            assert_eq!((status.as_u16(), body.as_str()), (404, "404 Not Found\n"), "{file}");
            continue;
        };
        assert_eq!((status.as_u16(), body.as_str()), (200, expected), "{file}");
        for (name, value) in [
            ("content-type", "application/x-mine"),
            ("content-disposition", "attachment; filename=\"a.bin\""),
            ("cache-control", "private"),
            ("set-cookie", "a=1"),
            ("content-length", &expected.len().to_string()),
        ] {
            assert_eq!(headers[name], value, "{name}");
        }
        assert!(!headers.contains_key("x-other") && headers.contains_key("etag"));
    }
    let mut request = send("X-Accel-Redirect", "/protected/a.pdf");
    request.headers_mut().insert("range", "bytes=2-3".parse().unwrap());
    let (status, headers, body) = fetch(&proxy, request).await;
    assert_eq!((status.as_u16(), body.as_str()), (206, "23"));
    assert_eq!(headers["content-range"], "bytes 2-3/10");
}
