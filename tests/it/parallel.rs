//! Parallel clients with a connection pool of size one: no request waits for a connection that it holds itself.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{client::send, site::Site};

/// Number of parallel clients.
const CLIENTS: usize = 8;

/// How often each client requests each path.
const ROUNDS: usize = 2;

/// Blocks that query the store while a page is rendered.
const BLOCKS: &str = "<!-- wp:latest-posts /-->\n<!-- wp:query {\"query\":{\"perPage\":3,\"postType\":\"post\"}} -->\
    <!-- wp:post-template --><!-- wp:post-title /--><!-- wp:post-excerpt /--><!-- wp:post-content /-->\
    <!-- /wp:post-template --><!-- /wp:query -->\n<!-- wp:categories /-->\n<!-- wp:latest-comments /-->\n\
    <!-- wp:navigation /-->\n<!-- wp:template-part {\"slug\":\"footer\"} /-->\n<!-- wp:calendar /-->";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_clients_get_pages_feeds_and_the_api() {
    let site = Site::start().await;
    let user = site.app_password();
    let page = json!({"title": "Blocks", "slug": "blocks", "content": BLOCKS, "status": "publish"});
    let created = site.post("/svc-json/svc/v2/pages", &user, &page).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let post = json!({"title": "Blocks in a post", "slug": "in-a-post", "content": BLOCKS, "status": "publish"});
    let created = site.post("/svc-json/svc/v2/posts", &user, &post).await;
    let link = created.json()["link"].as_str().unwrap().to_owned();
    let single = link.split_once(&site.address.to_string()).unwrap().1.to_owned();
    let paths: Arc<Vec<String>> = Arc::new(
        [
            "/",
            "/blocks/",
            &single,
            &format!("{single}embed/"),
            "/feed/",
            "/category/how-to/",
            "/author/admin/",
            "/?s=notebook",
            "/nosuch/",
            "/svc-json/svc/v2/posts?_embed=1",
            "/svc-json/svc/v2/pages?search=blocks",
            "/svc-json/oembed/1.0/embed?url=/blocks/",
        ]
        .map(str::to_owned)
        .to_vec(),
    );
    let start = Instant::now();
    let clients = (0..CLIENTS).map(|client| {
        let (paths, address) = (Arc::clone(&paths), site.address);
        tokio::spawn(async move {
            let mut failed = Vec::new();
            for n in 0..paths.len() * ROUNDS {
                let path = &paths[(n + client) % paths.len()];
                let response = send(address, "GET", path, &[], "").await;
                if response.status >= 500 {
                    failed.push(format!("{path}: {}", response.status));
                }
            }
            failed
        })
    });
    let mut failed = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        failed.extend(client.await.unwrap());
    }
    assert!(failed.is_empty(), "{failed:?}");
    // A request that waits for itself takes at least five seconds.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}
