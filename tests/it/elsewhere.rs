//! What a site shows of others: feeds and the directory of patterns, from a server on loopback.

use std::{collections::HashMap, sync::atomic::Ordering};

use serde_json::{Value, json};
use svc_server::SiteBuilder;

use crate::{
    client::{Answer, send},
    loopback::{Said, counted},
    site::Site,
};

const RSS: &str = r#"<rss version="2.0"><channel><title>F</title><item><title>One &lt;b&gt;bold&lt;/b&gt;</title>
    <link>https://a.example/1?b=c&amp;d</link><description>It &lt;script&gt;x&lt;/script&gt; says.</description></item></channel></rss>"#;

fn page(body: &str) -> Said {
    (200, String::new(), body.as_bytes().to_vec())
}

async fn site(settings: &[(&str, &str)]) -> (Site, String) {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), settings).await;
    let admin = site.app_password();
    (site, admin)
}

async fn get_as(site: &Site, user: &str, path: &str) -> Answer {
    let basic = crate::site::basic(user);
    send(site.address, "GET", path, &[("Authorization", &basic)], "").await
}

/// A post with the block that shows a feed; its number.
async fn post_with_feed(site: &Site, admin: &str, address: &str) -> i64 {
    let block = json!({"feedURL": address, "displayExcerpt": true});
    let content = format!("<!-- wp:rss {block} /-->");
    let made = site
        .post("/svc-json/svc/v2/posts", admin, &json!({"title": "F", "content": content, "status": "publish"}))
        .await;
    assert_eq!(made.status, 201, "{}", made.body);
    made.json()["id"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_of_allowed_addresses_are_shown_and_kept() {
    let (address, asked) =
        counted(|_| HashMap::from([("/feed".to_owned(), page(RSS)), ("/none".to_owned(), page("<p>no feed</p>"))]));
    let (site, admin) = site(&[("outgoing.allow", &address.to_string())]).await;
    let id = post_with_feed(&site, &admin, &format!("http://{address}/feed")).await;
    let expected = concat!(
        "<li class='wp-block-rss__item'><div class='wp-block-rss__item-title'>",
        "<a href='https://a.example/1?b=c&#038;d'>One bold</a></div>",
        "<div class=\"wp-block-rss__item-excerpt\">It says.</div></li>"
    );
    for _ in 0..3 {
        let shown = site.get(&format!("/svc-json/svc/v2/posts/{id}")).await.json();
        assert!(shown["content"]["rendered"].as_str().unwrap().contains(expected), "{shown}");
    }
    let page = site.get(&format!("/?p={id}")).await;
    let page = if page.status == 200 { page } else { site.get("/").await };
    assert_eq!(page.status, 200);
    assert_eq!(asked.load(Ordering::SeqCst), 1, "a feed is fetched once");
    // One that cannot be read says so, and is not asked for at once again.
    let id = post_with_feed(&site, &admin, &format!("http://{address}/none")).await;
    for _ in 0..2 {
        let shown = site.get(&format!("/svc-json/svc/v2/posts/{id}")).await.json();
        assert!(shown["content"]["rendered"].as_str().unwrap().contains("notice-error"), "{shown}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_of_other_addresses_are_not_asked_for() {
    let (address, asked) = counted(|_| HashMap::from([("/feed".to_owned(), page(RSS))]));
    let (site, admin) = site(&[]).await;
    let id = post_with_feed(&site, &admin, &format!("http://{address}/feed")).await;
    let shown = site.get(&format!("/svc-json/svc/v2/posts/{id}")).await.json();
    assert!(shown["content"]["rendered"].as_str().unwrap().contains("notice-error"), "{shown}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_directory_of_patterns_is_asked_and_its_answers_are_kept() {
    const PATTERNS: &str = "/svc-json/svc/v2/pattern-directory/patterns";
    let pattern = json!([{
        "id": 7, "title": {"rendered": "A <b>b</b>"}, "pattern_content": "<!-- wp:paragraph --><p>x</p><script>1</script><!-- /wp:paragraph -->",
        "category_slugs": ["text", "Foo Bar"], "extra": 1,
        "meta": {"wpop_description": "De <i>sc</i>", "wpop_viewport_width": "1200", "wpop_block_types": ["core/p"], "wpop_keywords": "one, Two x"},
    }]);
    let asked_for =
        "/patterns/1.0/?page=1&per_page=100&order=desc&orderby=date&search=a%20b&locale=en_US&pattern-categories=3";
    let (address, asked) = counted(|_| {
        HashMap::from([
            (asked_for.replace("%20", "+"), page(&pattern.to_string())),
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
    assert_eq!(asked.load(Ordering::SeqCst), 1, "an answer is kept");
    let failed = get_as(&site, &admin, PATTERNS).await;
    assert_eq!((failed.status, &failed.json()["code"]), (500, &Value::from("pattern_api_failed")));
    assert_eq!(failed.json()["additional_data"], json!([{"response": "oops"}]));
    assert_eq!(site.get(PATTERNS).await.status, 401);
}
