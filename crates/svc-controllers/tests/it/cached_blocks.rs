//! Cached posts with dynamic blocks and shortcodes: blocks that show the caller, the URL or the time are never shared.

use std::{sync::LazyLock, time::Duration};

use chrono::{NaiveDate, NaiveDateTime, Utc};
use serde_json::{Value, json};
use svc_routing::Method;

use crate::harness::{ADMIN, EDITOR, Harness, NOBODY};

const POSTS: &str = "/svc/v2/posts";

/// Contents, and whether the post is encoded once for all URLs.
const CONTENTS: &[(&str, bool)] = &[
    ("<p>No dynamic block</p>", true),
    ("<!-- wp:latest-posts /-->", true),
    ("<!-- wp:categories /-->", true),
    ("<!-- wp:archives /-->", true),
    ("<!-- wp:tag-cloud /-->", true),
    ("<!-- wp:latest-comments /-->", true),
    ("<!-- wp:calendar /-->", true),
    ("<!-- wp:site-title /-->", true),
    ("<!-- wp:post-title /-->", true),
    ("<!-- wp:search {\"label\":\"Search\"} /-->", true),
    ("<!-- wp:post-comments-form /-->", false),
    ("<!-- wp:loginout /-->", false),
    ("<!-- wp:loginout {\"redirectToCurrent\":false} /-->", true),
    ("<!-- wp:loginout {\"redirectToCurrent\":true} /-->", false),
    ("<!-- wp:loginout {\"displayLoginAsForm\":true} /-->", false),
    ("<!-- wp:page-list /-->", false),
    (
        "<!-- wp:query {\"queryId\":3,\"query\":{\"perPage\":1,\"postType\":\"post\"}} --><div class=\"wp-block-query\">\
         <!-- wp:post-template --><!-- wp:post-title /--><!-- /wp:post-template --></div><!-- /wp:query -->",
        true,
    ),
    (
        "<!-- wp:query {\"queryId\":3,\"query\":{\"perPage\":1,\"postType\":\"post\"}} --><div class=\"wp-block-query\">\
         <!-- wp:query-pagination --><!-- wp:query-pagination-next /--><!-- /wp:query-pagination --></div><!-- /wp:query -->",
        false,
    ),
    (
        "<!-- wp:comments --><div class=\"wp-block-comments\"><!-- wp:comment-template --><!-- wp:comment-edit-link /--><!-- /wp:comment-template --></div><!-- /wp:comments -->",
        true,
    ),
    ("<!-- wp:categories {\"displayAsDropdown\":true} /-->", false),
    ("<p>A note [1] in brackets</p>", true),
    ("[caption width=\"100\"]<img src=\"a.png\"> A caption[/caption]", true),
    ("[audio src=\"http://example.org/a.mp3\"]", false),
];

async fn create(h: &Harness, content: &str) -> i64 {
    let body = json!({"title": "With blocks", "content": content, "status": "publish", "comment_status": "open"});
    let created = h.json(ADMIN, Method::POST, POSTS, body).await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    created.body["id"].as_i64().unwrap()
}

fn joined(ids: &[i64]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_of_the_request_are_not_shared() {
    let h = Harness::new();
    let mut ids = Vec::new();
    for (content, _) in CONTENTS {
        ids.push(create(&h, content).await);
    }
    let post = ids[ids.len() - 5];
    let comment = json!({"post": post, "content": "Hello"});
    assert_eq!(h.json(ADMIN, Method::POST, "/svc/v2/comments", comment).await.status, 201);
    let all = format!("include={}&orderby=include&per_page=100", joined(&ids));
    let mut requests = Vec::new();
    for query in ["", "x=1", "x=2&query-3-page=2", "query-3-page=1", "s=hello"] {
        for caller in [NOBODY, ADMIN, EDITOR, NOBODY] {
            requests.push((caller, format!("{all}&{query}")));
        }
    }
    let read_all = async || {
        let mut bodies: Vec<Value> = Vec::new();
        for (caller, query) in &requests {
            bodies.push(h.get(*caller, POSTS, query).await.body);
            for id in &ids {
                bodies.push(h.get(*caller, &format!("{POSTS}/{id}"), query).await.body);
            }
        }
        bodies
    };
    let cached = [read_all().await, read_all().await];
    h.rest.item_cache.set_capacity(0);
    assert_eq!(h.rest.item_cache.usage().entries, 0);
    let uncached = read_all().await;
    assert_eq!(h.rest.item_cache.usage().entries, 0);
    for bodies in cached {
        for (body, expected) in bodies.iter().zip(&uncached) {
            assert_eq!(body, expected);
        }
    }
    let text = |at: usize| uncached[at * (ids.len() + 1)].to_string();
    assert!(text(0).contains(">Log in<") && !text(0).contains(">Log out<"));
    assert!(text(1).contains(">Log out<") && text(1).contains("comment.php?action=editcomment"));
    assert!(text(4).contains("x%3D1") && !text(0).contains("x%3D1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_blocks_are_rendered_once() {
    let h = Harness::new();
    for (content, is_cached) in CONTENTS {
        let id = create(&h, content).await;
        let mut counts = Vec::new();
        // The first request loads the ids on the page, too.
        for n in 0..3 {
            let entries = h.rest.item_cache.usage();
            h.get(NOBODY, POSTS, &format!("include={id}&x={n}")).await;
            counts.push(h.rest.item_cache.usage().misses - entries.misses);
        }
        assert_eq!(counts[1..], if *is_cached { [0, 0] } else { [1, 1] }, "{content}");
    }
}

/// The time when the site's clock shows midnight, two seconds after the first call.
fn before_midnight() -> NaiveDateTime {
    static START: LazyLock<NaiveDateTime> = LazyLock::new(|| Utc::now().naive_utc());
    let midnight = NaiveDate::from_ymd_opt(2024, 6, 1).unwrap().and_hms_opt(0, 0, 0).unwrap();
    midnight - Duration::from_secs(2) + (Utc::now().naive_utc() - *START)
}

#[tokio::test(flavor = "multi_thread")]
async fn calendars_change_at_midnight() {
    let h = Harness::at(before_midnight, |_| ());
    let zone = h.json(ADMIN, Method::POST, "/svc/v2/settings", json!({"timezone": "UTC"})).await;
    assert_eq!(zone.status, 200, "{:?}", zone.body);
    let id = create(&h, "<!-- wp:calendar /-->").await;
    let calendar = async || h.get(NOBODY, &format!("{POSTS}/{id}"), "").await.body["content"].to_string();
    assert!(calendar().await.contains("May 2024"));
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    assert!(calendar().await.contains("June 2024"));
}
