//! Content from other servers: feeds and the pattern directory, on a loopback server.

use std::{collections::HashMap, sync::atomic::Ordering};

use serde_json::{Value, json};
use svc_server::SiteBuilder;

use crate::{
    client::{HttpResponse, send},
    loopback::{CannedResponse, serve_counted},
    site::Site,
};

const RSS: &str = r#"<rss version="2.0"><channel><title>F</title><item><title>One &lt;b&gt;bold&lt;/b&gt;</title>
    <link>https://a.example/1?b=c&amp;d</link><description>It &lt;script&gt;x&lt;/script&gt; says.</description></item></channel></rss>"#;

fn page(body: &str) -> CannedResponse {
    (200, String::new(), body.as_bytes().to_vec())
}

async fn site(settings: &[(&str, &str)]) -> (Site, String) {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), settings).await;
    let admin = site.app_password();
    (site, admin)
}

async fn get_as(site: &Site, user: &str, path: &str) -> HttpResponse {
    let basic = crate::site::basic(user);
    send(site.address, "GET", path, &[("Authorization", &basic)], "").await
}

/// Creates a post with an RSS block; returns its id.
async fn post_with_feed(site: &Site, admin: &str, address: &str) -> i64 {
    let block = json!({"feedURL": address, "displayExcerpt": true});
    let content = format!("<!-- wp:rss {block} /-->");
    let created = site
        .post("/svc-json/svc/v2/posts", admin, &json!({"title": "F", "content": content, "status": "publish"}))
        .await;
    assert_eq!(created.status, 201, "{}", created.body);
    created.json()["id"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_from_allowed_hosts_are_cached() {
    let (address, n_requests) = serve_counted(|_| {
        HashMap::from([("/feed".to_owned(), page(RSS)), ("/none".to_owned(), page("<p>no feed</p>"))])
    });
    let (site, admin) = site(&[("outgoing.allow", &address.to_string())]).await;
    let id = post_with_feed(&site, &admin, &format!("http://{address}/feed")).await;
    let expected = concat!(
        "<li class='wp-block-rss__item'><div class='wp-block-rss__item-title'>",
        "<a href='https://a.example/1?b=c&#038;d'>One bold</a></div>",
        "<div class=\"wp-block-rss__item-excerpt\">It says.</div></li>"
    );
    for _ in 0..3 {
        let response = site.get(&format!("/svc-json/svc/v2/posts/{id}")).await.json();
        assert!(response["content"]["rendered"].as_str().unwrap().contains(expected), "{response}");
    }
    let page = site.get(&format!("/?p={id}")).await;
    let page = if page.status == 200 { page } else { site.get("/").await };
    assert_eq!(page.status, 200);
    assert_eq!(n_requests.load(Ordering::SeqCst), 1, "a feed is fetched once");
    // A feed that cannot be loaded shows an error, and is not requested again immediately.
    let id = post_with_feed(&site, &admin, &format!("http://{address}/none")).await;
    for _ in 0..2 {
        let response = site.get(&format!("/svc-json/svc/v2/posts/{id}")).await.json();
        assert!(response["content"]["rendered"].as_str().unwrap().contains("notice-error"), "{response}");
    }
    assert_eq!(n_requests.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_from_other_hosts_are_not_requested() {
    let (address, n_requests) = serve_counted(|_| HashMap::from([("/feed".to_owned(), page(RSS))]));
    let (site, admin) = site(&[]).await;
    let id = post_with_feed(&site, &admin, &format!("http://{address}/feed")).await;
    let response = site.get(&format!("/svc-json/svc/v2/posts/{id}")).await.json();
    assert!(response["content"]["rendered"].as_str().unwrap().contains("notice-error"), "{response}");
    assert_eq!(n_requests.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn pattern_directory_responses_are_cached() {
    const PATTERNS: &str = "/svc-json/svc/v2/pattern-directory/patterns";
    let pattern = json!([{
        "id": 7, "title": {"rendered": "A <b>b</b>"}, "pattern_content": "<!-- wp:paragraph --><p>x</p><script>1</script><!-- /wp:paragraph -->",
        "category_slugs": ["text", "Foo Bar"], "extra": 1,
        "meta": {"wpop_description": "De <i>sc</i>", "wpop_viewport_width": "1200", "wpop_block_types": ["core/p"], "wpop_keywords": "one, Two x"},
    }]);
    let expected_path =
        "/patterns/1.0/?page=1&per_page=100&order=desc&orderby=date&search=a%20b&locale=en_US&pattern-categories=3";
    let (address, n_requests) = serve_counted(|_| {
        HashMap::from([
            (expected_path.replace("%20", "+"), page(&pattern.to_string())),
            ("/patterns/1.0/".to_owned(), page("oops")),
        ])
    });
    let (site, admin) = site(&[("directory", &format!("http://{address}"))]).await;
    let path = format!("{PATTERNS}?search=a+b&category=3");
    for _ in 0..2 {
        let listed = get_as(&site, &admin, &path).await;
        let expected = json!([{
            "id": 7, "title": "A b", "content": "<!-- wp:paragraph --><p>x</p>1<!-- /wp:paragraph -->",
            "categories": ["text", "foo-bar"], "keywords": ["one", "two-x"], "description": "De sc",
            "viewport_width": 1200, "block_types": ["core/p"],
        }]);
        assert_eq!((listed.status, listed.json()), (200, expected), "{}", listed.body);
    }
    assert_eq!(n_requests.load(Ordering::SeqCst), 1, "the response is cached");
    let failed = get_as(&site, &admin, PATTERNS).await;
    assert_eq!((failed.status, &failed.json()["code"]), (500, &Value::from("pattern_api_failed")));
    assert_eq!(failed.json()["additional_data"], json!([{"response": "oops"}]));
    assert_eq!(site.get(PATTERNS).await.status, 401);
}

/// A server that responds to every request with a feed, and the requests that it received.
fn feeds() -> (std::net::SocketAddr, std::sync::Arc<std::sync::Mutex<Vec<String>>>) {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let requests = std::sync::Arc::<std::sync::Mutex<Vec<String>>>::default();
    let received = std::sync::Arc::clone(&requests);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let (mut head, mut bytes) = (String::new(), [0; 4_096]);
            while !head.contains("\r\n\r\n") {
                match stream.read(&mut bytes) {
                    Ok(n) if n > 0 => head.push_str(&String::from_utf8_lossy(&bytes[..n])),
                    _ => break,
                }
            }
            received.lock().unwrap().push(head);
            let _ =
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{RSS}", RSS.len());
        }
    });
    (address, requests)
}

/// A page with the site's own feeds would request itself endlessly, so nothing is fetched while the server handles a
/// request of its own.
#[tokio::test(flavor = "multi_thread")]
async fn requests_from_the_server_itself_fetch_nothing() {
    let (address, requests) = feeds();
    let (site, admin) = site(&[("outgoing.allow", &address.to_string())]).await;
    // Saving fetches the feed in the background, and the view waits for that fetch.
    let id = post_with_feed(&site, &admin, &format!("http://{address}/one")).await;
    let response = site.get(&format!("/svc-json/svc/v2/posts/{id}")).await;
    assert!(response.body.contains("One bold"), "{}", response.body);
    let head = requests.lock().unwrap().concat();
    let token = head
        .lines()
        .find_map(|l| l.strip_prefix("x-feed-fetch: "))
        .expect("the server's requests have the header")
        .to_owned();
    assert_eq!(requests.lock().unwrap().len(), 1, "a feed is fetched once: {head}");

    // Change the database directly, so that saving does not fetch the feed.
    let other = format!("http://{address}/other");
    let content = format!("<!-- wp:rss {} /-->", json!({"feedURL": other}));
    crate::site::execute(
        &site.folder,
        &format!(
            "UPDATE wp_posts SET post_content = '{content}', post_modified = '2024-01-01 00:00:00' WHERE ID = {id}"
        ),
    );
    for path in [format!("/svc-json/svc/v2/posts/{id}"), format!("/?p={id}&preview=true")] {
        let own = send(site.address, "GET", &path, &[("X-Feed-Fetch", &token)], "").await;
        assert_eq!(own.status, 200, "{path}");
        assert_eq!(requests.lock().unwrap().len(), 1, "{path}");
        assert!(!own.body.contains("One bold"), "{path}");
    }
    // Forged tokens are ignored, and content that was rendered without the feed is not cached.
    let (path, forged) = (format!("/svc-json/svc/v2/posts/{id}"), "0".repeat(token.len()));
    let response = send(site.address, "GET", &path, &[("X-Feed-Fetch", &forged)], "").await;
    assert!(response.body.contains("One bold"), "{}", response.body);
    assert_eq!(requests.lock().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_save_does_not_wait_for_feeds() {
    // Accepts connections and never responds.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let (site, admin) = site(&[("outgoing.allow", &address.to_string())]).await;
    let start = std::time::Instant::now();
    let id = post_with_feed(&site, &admin, &format!("http://{address}/feed")).await;
    let changed = site.post(&format!("/svc-json/svc/v2/posts/{id}"), &admin, &json!({"title": "Changed"})).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    assert!(start.elapsed() < std::time::Duration::from_secs(8), "{:?}", start.elapsed());
}
