//! What is replayed, and what is not.

use std::{
    sync::atomic::Ordering::SeqCst,
    time::{Duration, Instant},
};

use http::Request;
use http_body_util::BodyExt as _;
use serde_json::json;
use svc_bridge::{CACHE_STATUS, Code};
use svc_gateway::{Origin, ProxyLimits};

use crate::wordpress::{Got, Page, Site};

const POSTS: &str = "/wp-json/wp/v2/posts";

#[tokio::test]
async fn a_response_is_replayed_until_something_that_it_read_changes() {
    let site = Site::start(|_| (), true).await;
    site.reads(POSTS, "[1]", &["posts?post", "options/posts_per_page"]);
    let first = site.get(POSTS).await;
    assert_eq!((first.status, &*first.body, first.is_hit()), (200, "[1]", false));
    let second = site.get(POSTS).await;
    assert_eq!((second.status, &*second.body, second.is_hit()), (200, "[1]", true));
    assert_eq!(second.headers["content-type"], "application/json");
    assert!(!second.headers.contains_key("x-svc-record"));
    site.reads(POSTS, "[2]", &["posts?post"]);
    site.news.write("posts?page");
    assert!(site.get(POSTS).await.is_hit(), "another type");
    site.news.write("posts?post");
    let third = site.get(POSTS).await;
    assert_eq!((&*third.body, third.is_hit()), ("[2]", false));
    assert!(site.get(POSTS).await.is_hit());
}

#[tokio::test]
async fn statements_that_the_record_has_are_examined() {
    let site = Site::start(|_| (), true).await;
    let join = "SELECT * FROM wp_posts p, wp_postmeta m WHERE p.ID = m.post_id AND p.post_type = 'page'";
    let one = "SELECT * FROM wp_posts WHERE ID = 5";
    for (target, sql, written, other) in [
        ("/wp-json/one", one, "posts/5", "posts/6"),
        // Without a database, it is not known which rows the join has found.
        ("/wp-json/join", join, "postmeta/7", "termmeta/7"),
        ("/wp-json/clock", "SELECT * FROM wp_a WHERE b > NOW()", "a", "b"),
    ] {
        let record = json!({"prefix": "wp_", "database": "site", "sql": [sql], "options": ["Home"]});
        let page = |body: &str| {
            let (names, record) = (Some(Vec::new()), record.clone());
            site.page(target, Page { body: body.to_owned(), status: 200, names, record, ..Page::default() });
        };
        page("first");
        site.get(target).await;
        site.news.write(other);
        assert!(site.get(target).await.is_hit(), "{target}");
        for written in [written, "options/home"] {
            page(written);
            site.news.write(written);
            assert_eq!(site.get(target).await.body, written, "{target}");
        }
    }
    let record = json!({"prefix": "wp_", "database": "site", "sql": ["SELECT RAND()"]});
    site.page("/wp-json/chance", Page { status: 200, names: Some(Vec::new()), record, ..Page::default() });
    site.get("/wp-json/chance").await;
    assert!(!site.get("/wp-json/chance").await.is_hit());
}

#[tokio::test]
async fn what_each_rendering_writes_is_tolerated_if_it_does_not_matter() {
    let site = Site::start(|_| (), true).await;
    let names = &["options/last_request", "options/blogname"];
    site.reads(POSTS, "[1]", names);
    let counter =
        Page { body: "n".to_owned(), status: 200, names: Some(names.to_vec()), has_number: true, ..Page::default() };
    site.page("/wp-json/counter", counter);
    for n in 0..4 {
        for target in [POSTS, "/wp-json/counter"] {
            assert!(!site.get(target).await.is_hit(), "{n} {target}");
            site.news.write_by_read("options/last_request");
        }
    }
    assert!(site.get(POSTS).await.is_hit(), "three renderings were the same");
    assert!(!site.get("/wp-json/counter").await.is_hit(), "there it matters");
    site.news.write_by_read("options/last_request");
    assert!(site.get(POSTS).await.is_hit());
    site.news.write("options/last_request");
    assert!(!site.get(POSTS).await.is_hit(), "written by somebody");
    site.news.write_by_read("options/blogname");
    assert!(!site.get(POSTS).await.is_hit(), "not known to be without effect");
}

#[tokio::test]
async fn a_write_during_a_rendering_ends_its_response() {
    let site = Site::start(|_| (), true).await;
    site.reads(POSTS, "[1]", &["posts?post"]);
    site.php.slow.store(true, SeqCst);
    let rendering = async { site.get(POSTS).await };
    let writing = async {
        while site.n_requests() == 0 {
            tokio::task::yield_now().await;
        }
        site.news.write("posts?post");
    };
    let (first, ()) = tokio::join!(rendering, writing);
    assert!(!first.is_hit());
    assert!(!site.get(POSTS).await.is_hit(), "the first may lack the write");
    assert!(site.get(POSTS).await.is_hit());
}

#[tokio::test]
async fn a_change_of_code_ends_what_was_rendered_before() {
    let site = Site::start(|_| (), true).await;
    site.reads(POSTS, "[1]", &["posts?post"]);
    let plugins = tempfile::tempdir().unwrap();
    let plugin = plugins.path().join("a.php");
    std::fs::write(&plugin, "1").unwrap();
    let code = Code { deep: vec![plugins.path().to_owned()], ..Code::default() };
    site.get(POSTS).await;
    assert!(site.bridge.watch_code(code.clone()).unwrap().is_some());
    assert!(!site.get(POSTS).await.is_hit(), "it was rendered while nobody watched");
    assert!(site.bridge.watch_code(code).unwrap().is_none());
    // What is rendered in the same millisecond is not stored.
    let start = Instant::now();
    while !site.get(POSTS).await.is_hit() {
        assert!(start.elapsed() < Duration::from_secs(20), "nothing is stored");
    }
    let rendered = site.n_requests();
    // The first replay is compared with a new rendering.
    while site.n_requests() == rendered {
        assert!(start.elapsed() < Duration::from_secs(20), "it is not compared");
        tokio::task::yield_now().await;
    }
    assert!(site.get(POSTS).await.is_hit());
    std::fs::write(&plugin, "2").unwrap();
    while site.get(POSTS).await.is_hit() {
        assert!(start.elapsed() < Duration::from_secs(20), "the change is not noticed");
    }
    let reasons = site.bridge.report().reasons;
    assert!(reasons.keys().any(|reason| reason.contains("code")), "{reasons:?}");
    assert_eq!(site.bridge.report().unseen_code, None);
}

#[tokio::test]
async fn a_response_that_was_rendered_while_the_feed_changed_is_not_replayed() {
    let site = Site::start(|_| (), true).await;
    site.reads(POSTS, "[1]", &["posts?post"]);
    site.php.slow.store(true, SeqCst);
    let rendering = async { site.get(POSTS).await };
    let changing = async {
        while site.n_requests() == 0 {
            tokio::task::yield_now().await;
        }
        site.change_feed();
    };
    tokio::join!(rendering, changing);
    assert!(!site.get(POSTS).await.is_hit(), "news of the former feed do not arrive any more");
    assert!(site.get(POSTS).await.is_hit());
}

#[tokio::test]
async fn requests_for_the_same_response_wait_for_one_rendering() {
    let site = Site::start(|_| (), true).await;
    site.reads(POSTS, "[1]", &["posts?post"]);
    site.php.slow.store(true, SeqCst);
    let all = futures_util::future::join_all((0..20).map(|_| site.get(POSTS))).await;
    assert!(all.iter().all(|got| got.body == "[1]"));
    // Besides, the first replay is compared.
    assert!(site.n_requests() <= 2, "{}", site.n_requests());
}

#[tokio::test]
async fn a_rendering_is_for_all_that_had_begun_before_it() {
    let limits = ProxyLimits { requests: 1, ..ProxyLimits::default() };
    let site = Site::start_with(|_| (), true, limits).await;
    site.reads("/wp-json/other", "[]", &["options/a"]);
    let page = Page { body: "n".to_owned(), status: 200, names: Some(vec!["posts?post"]), ..Page::default() };
    site.page(POSTS, Page { has_number: true, ..page });
    site.php.slow.store(true, SeqCst);
    let until = async |n: usize| {
        while site.n_requests() < n {
            tokio::task::yield_now().await;
        }
    };
    // It occupies the only process of PHP.
    let other = site.get("/wp-json/other");
    let before = async {
        until(1).await;
        futures_util::future::join_all((0..10).map(|_| site.get(POSTS))).await
    };
    let after = async {
        until(2).await;
        site.news.write("posts?post");
        futures_util::future::join_all((0..10).map(|_| site.get(POSTS))).await
    };
    let (_, before, after) = tokio::join!(other, before, after);
    let status = |got: &Got| got.headers[CACHE_STATUS].to_str().unwrap().to_owned();
    assert!(before.iter().all(|got| got.body == "n1"), "one rendering, though it cannot be stored");
    let n_collapsed = before.iter().filter(|got| status(got) == "svc; fwd=uri-miss; collapsed").count();
    assert_eq!(n_collapsed, 9);
    assert!(after.iter().all(|got| got.body == "n2"), "the first may lack the write");
    assert!(site.get(POSTS).await.is_hit());
}

#[tokio::test]
async fn credentials_cookies_and_headers_have_responses_of_their_own() {
    let site = Site::start(|_| (), true).await;
    site.reads(POSTS, "[]", &["posts?post"]);
    for headers in [
        &[][..],
        &[("authorization", "Basic YTpi")],
        &[("authorization", "Basic YTpj")],
        &[("cookie", "wordpress_logged_in_x=1")],
        &[("x-wp-nonce", "1")],
        &[("accept-language", "de")],
        &[("origin", "https://a.example")],
    ] {
        assert!(!site.send("GET", POSTS, headers).await.is_hit(), "{headers:?}");
        assert!(site.send("GET", POSTS, headers).await.is_hit(), "{headers:?}");
    }
    assert!(site.send("GET", POSTS, &[("if-none-match", "x"), ("cookie", "_ga=1")]).await.is_hit());
}

#[tokio::test]
async fn without_the_connector_only_visitors_have_stored_responses() {
    let site = Site::start(|_| (), false).await;
    site.page(POSTS, Page { body: "[1]".to_owned(), status: 200, ..Page::default() });
    assert!(!site.get(POSTS).await.is_hit());
    assert!(site.get(POSTS).await.is_hit());
    for _ in 0..2 {
        assert!(!site.send("GET", POSTS, &[("authorization", "Basic eA==")]).await.is_hit());
    }
    site.news.write("anything");
    assert!(!site.get(POSTS).await.is_hit(), "it depends on everything");
}

#[tokio::test]
async fn a_response_whose_record_is_missing_or_cannot_be_found_is_sent_and_not_stored() {
    let site = Site::start(|_| (), true).await;
    // As of a web server that limits the requests of a client.
    site.page("/wp-json/limited", Page { body: "slow down".to_owned(), status: 429, ..Page::default() });
    let page = |front: &'static str| Page {
        body: "[1]".to_owned(),
        status: 200,
        names: Some(vec!["posts/1"]),
        in_front: front,
        ..Page::default()
    };
    site.page("/wp-json/blank", page("\n"));
    site.page("/wp-json/long", page("00099999"));
    site.page("/wp-json/short", Page { body: String::new(), ..page("0009999") });
    for (path, body, status) in [
        ("/wp-json/limited", "slow down", 429),
        ("/wp-json/blank", "\n[1]", 200),
        ("/wp-json/long", "00099999[1]", 200),
        ("/wp-json/short", "0009999", 200),
    ] {
        for headers in [&[][..], &[("authorization", "Basic eA==")]] {
            for _ in 0..2 {
                let got = site.send("GET", path, headers).await;
                assert_eq!((&*got.body, got.status, got.is_hit()), (body, status, false), "{path}");
            }
        }
    }
}

#[tokio::test]
async fn wordpress_gets_what_the_key_has() {
    let site = Site::start(|_| (), true).await;
    site.reads(POSTS, "[1]", &["posts?post"]);
    let headers = [
        ("connection", "x-mine, origin"),
        ("x-mine", "1"),
        ("origin", "https://a.example"),
        ("x_odd", "1"),
        ("cookie", "_ga=1"),
        ("sec-fetch-mode", "cors"),
        ("accept-encoding", "gzip"),
        ("user-agent", "x"),
    ];
    assert!(!site.send("GET", POSTS, &headers).await.is_hit());
    let asked = site.php.asked.lock().unwrap()[0].clone();
    for (name, _) in headers {
        assert_eq!(asked.contains_key(name), name == "user-agent", "{name}");
    }
    // The client that sends nothing of that gets the same.
    assert!(site.send("GET", POSTS, &[("user-agent", "x")]).await.is_hit());
    assert!(!site.send("GET", POSTS, &[("user-agent", "x"), ("origin", "https://a.example")]).await.is_hit());
    assert!(!site.send("GET", &format!("{POSTS}?%5Fmethod=POST"), &[]).await.is_hit());
    assert!(!site.send("GET", &format!("{POSTS}?%5Fmethod=POST"), &[]).await.is_hit());
}

#[tokio::test]
async fn the_length_of_what_get_returns_is_not_known_from_head() {
    let site = Site::start(|_| (), true).await;
    site.reads(POSTS, "[1]", &["posts?post"]);
    for _ in 0..2 {
        let request = Request::head(POSTS).header("host", "site.example").body(svc_gateway::empty()).unwrap();
        let origin = Origin { address: [192, 0, 2, 1].into(), tls: false };
        let response = site.bridge.respond(request, origin).await;
        assert!(!response.headers().contains_key("content-length"));
        assert_eq!(http_body::Body::size_hint(response.body()).exact(), None);
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes().len(), 0);
    }
}

#[tokio::test]
async fn what_must_not_be_stored_is_not() {
    let site = Site::start(|settings| settings.never.push("/never".parse().unwrap()), true).await;
    let page = |headers: &[(&'static str, &str)], record| Page {
        body: "x".to_owned(),
        status: 200,
        headers: headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
        names: Some(vec!["posts/1"]),
        record,
        ..Page::default()
    };
    let pages = [
        ("/wp-json/cookie", page(&[("set-cookie", "a=1")], json!({}))),
        ("/wp-json/private", page(&[("cache-control", "private")], json!({}))),
        ("/wp-json/vary", page(&[("vary", "User-Agent")], json!({}))),
        ("/wp-json/refused", page(&[], json!({"store": false, "why": "an outgoing request"}))),
        ("/wp-json/cache", page(&[], json!({"cache": true}))),
        ("/wp-json/clock", page(&[], json!({"age": 0}))),
        ("/wp-json/large", Page { body: "x".repeat(20_000), ..page(&[], json!({})) }),
        ("/wp-json/error", Page { status: 500, ..page(&[], json!({})) }),
        ("/wp-json/never/x", page(&[], json!({}))),
        ("/page/", page(&[], json!({}))),
    ];
    for (path, page) in pages {
        let (length, status) = (page.body.len(), page.status);
        site.page(path, page);
        for _ in 0..2 {
            let got = site.get(path).await;
            assert!(!got.is_hit(), "{path}");
            assert_eq!((got.body.len(), got.status), (length, status), "{path}");
        }
    }
    site.reads(POSTS, "[]", &["posts?post"]);
    for (method, target, headers) in [
        ("POST", POSTS, &[][..]),
        ("OPTIONS", POSTS, &[]),
        ("GET", "/wp-json/wp/v2/posts?_method=POST", &[]),
        ("GET", POSTS, &[("x-http-method-override", "POST")]),
        ("GET", POSTS, &[("range", "bytes=0-0")]),
    ] {
        for _ in 0..2 {
            assert!(!site.send(method, target, headers).await.is_hit(), "{method} {target} {headers:?}");
        }
    }
}

#[tokio::test]
async fn errors_and_conditions() {
    let site = Site::start(|_| (), true).await;
    let names = Some(vec!["posts/9"]);
    let missing = Page { body: "{\"code\":\"x\"}".to_owned(), status: 404, names, ..Page::default() };
    site.page("/wp-json/wp/v2/posts/9", missing);
    for hit in [false, true] {
        let got = site.get("/wp-json/wp/v2/posts/9").await;
        assert_eq!((got.status, got.is_hit()), (404, hit));
    }
    site.reads(POSTS, "[1]", &["posts?post"]);
    let tag = site.get(POSTS).await.headers["etag"].to_str().unwrap().to_owned();
    let same = site.send("GET", POSTS, &[("if-none-match", &tag)]).await;
    assert_eq!((same.status, &*same.body, same.is_hit()), (304, "", true));
    // Not even the first rendering is conditional in PHP.
    let fresh = site.send("GET", "/wp-json/wp/v2/posts?x", &[("if-none-match", &tag)]).await;
    assert_eq!(fresh.status, 304);
    assert!(site.php.asked.lock().unwrap().iter().all(|headers| !headers.contains_key("if-none-match")));
}

#[tokio::test]
async fn nothing_is_replayed_while_the_news_cannot_be_read() {
    let site = Site::start(|_| (), true).await;
    site.reads(POSTS, "[1]", &["posts?post"]);
    site.get(POSTS).await;
    assert!(site.get(POSTS).await.is_hit());
    site.news.is_away.store(true, SeqCst);
    for _ in 0..2 {
        let got = site.get(POSTS).await;
        assert_eq!((got.status, got.is_hit()), (200, false));
    }
    site.news.is_away.store(false, SeqCst);
    assert!(site.get(POSTS).await.is_hit());
    site.bridge.set_feed(None);
    assert!(!site.get(POSTS).await.is_hit());
}

#[tokio::test]
async fn routes_that_vary_are_not_stored() {
    let site = Site::start(|settings| settings.checks = 1_000_000, true).await;
    let names = || Some(vec!["posts/1"]);
    site.page(
        "/wp-json/number",
        Page { body: "x".into(), status: 200, names: names(), has_number: true, ..Page::default() },
    );
    site.page(
        "/wp-json/agent",
        Page { body: "x".into(), status: 200, names: names(), has_agent: true, ..Page::default() },
    );
    site.get("/wp-json/number").await;
    // The first replay is compared in the background.
    let start = std::time::Instant::now();
    while site.get("/wp-json/number").await.is_hit() {
        assert!(start.elapsed().as_secs() < 10, "it is never noticed");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    // Other clients are compared before anything is replayed to them.
    for agent in ["a", "b", "a", "b"] {
        let got = site.send("GET", "/wp-json/agent", &[("user-agent", agent)]).await;
        assert_eq!(got.body, format!("x{agent}"));
    }
    let report = site.bridge.report();
    let varies = |route: &str| report.routes.iter().any(|r| r.route == route && r.varies.is_some());
    assert!(varies("/number") && varies("/agent"), "{report:?}");
}

#[tokio::test]
async fn what_was_replayed_is_counted_by_route_and_reason() {
    let site = Site::start(|_| (), true).await;
    site.reads(POSTS, "[1]", &["posts?post"]);
    for _ in 0..3 {
        site.get(POSTS).await;
    }
    // The first replay is compared in the background, and that rendering is stored.
    while site.n_requests() < 2 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    site.news.write("posts");
    site.get(POSTS).await;
    site.send("POST", POSTS, &[]).await;
    let report = site.bridge.report();
    assert_eq!((report.replayed, report.forwarded, report.stored), (2, 3, 1));
    for (why, n) in [("not asked before", 1), ("changed: posts", 1), ("not stored: a write", 1)] {
        assert_eq!(report.reasons.get(why), Some(&n), "{why}: {report:?}");
    }
    assert_eq!(report.routes[0].route, "/wp/v2/posts");
    assert!((report.share() - 0.4).abs() < 0.01);
}
