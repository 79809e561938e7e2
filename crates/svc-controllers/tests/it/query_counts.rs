//! The number of queries of a list is independent of the number of items, in process, on the recorded fixture.

use std::collections::BTreeSet;

use crate::harness::{ADMIN, Harness, NOBODY};
use serde_json::json;
use svc_routing::Method;

/// Each list: its registered pattern, a path with several items, and a query.
const LISTS: &[(&str, &str, &str)] = &[
    // The latest post has every kind of content that needs queries. Posts 1008 and 1010 are excluded because their
    // blocks and their gallery need other queries.
    ("/svc/v2/posts", "/svc/v2/posts", "exclude=1008,1010"),
    ("/svc/v2/posts", "/svc/v2/posts", "orderby=date&search=a&categories=2&exclude=1008,1010"),
    (r"/svc/v2/posts/(?P<parent>[\d]+)/revisions", "/svc/v2/posts/1036/revisions", ""),
    // URLs of pages take a query per level of ancestors, so the deepest page comes first.
    ("/svc/v2/pages", "/svc/v2/pages", "orderby=parent&order=desc"),
    (r"/svc/v2/pages/(?P<parent>[\d]+)/revisions", "/svc/v2/pages/1100/revisions", ""),
    ("/svc/v2/blocks", "/svc/v2/blocks", ""),
    (r"/svc/v2/blocks/(?P<parent>[\d]+)/revisions", "/svc/v2/blocks/1400/revisions", ""),
    ("/svc/v2/navigation", "/svc/v2/navigation", "status=publish,draft"),
    (r"/svc/v2/navigation/(?P<parent>[\d]+)/revisions", "/svc/v2/navigation/1440/revisions", ""),
    ("/svc/v2/books", "/svc/v2/books", ""),
    (r"/svc/v2/books/(?P<parent>[\d]+)/revisions", "/svc/v2/books/1300/revisions", ""),
    ("/svc/v2/categories", "/svc/v2/categories", ""),
    ("/svc/v2/tags", "/svc/v2/tags", ""),
    ("/svc/v2/genres", "/svc/v2/genres", ""),
    ("/svc/v2/wp_pattern_category", "/svc/v2/wp_pattern_category", ""),
    ("/svc/v2/users", "/svc/v2/users", ""),
    // Both are attached to one post, whose URL is part of theirs.
    ("/svc/v2/media", "/svc/v2/media", "include=1201,1202"),
    // Both link to pages. Items of other types take additional queries.
    ("/svc/v2/menu-items", "/svc/v2/menu-items", "include=1422,1421&orderby=include"),
    ("/svc/v2/menus", "/svc/v2/menus", ""),
    ("/svc/v2/font-families", "/svc/v2/font-families", ""),
    (r"/svc/v2/font-families/(?P<font_family_id>[\d]+)/font-faces", "/svc/v2/font-families/1470/font-faces", ""),
    (r"/svc/v2/global-styles/(?P<parent>[\d]+)/revisions", "/svc/v2/global-styles/1460/revisions", ""),
    // URLs of posts of several types take an additional query for each kind of object in them.
    ("/svc/v2/comments", "/svc/v2/comments", "post=1000"),
    ("/svc/v2/search", "/svc/v2/search", "subtype=post"),
    ("/svc/v2/search", "/svc/v2/search", "type=term&subtype=post_tag"),
];

/// Lists with at most one item in the fixture.
const SHORT: &[&str] = &[
    "/svc/v2/blocks/1400/revisions",
    "/svc/v2/navigation/1440/revisions",
    "/svc/v2/font-families",
    "/svc/v2/font-families/1470/font-faces",
];

/// Lists of registered objects, of what is sent later, and lists from other servers.
const NOT_STORED: &[&str] = &[
    "/svc-abilities/v1/abilities",
    "/svc-abilities/v1/categories",
    "/svc/v2/block-directory/search",
    "/svc/v2/font-collections",
    "/svc/v2/icon-collections",
    "/svc/v2/icons",
    "/svc/v2/icons/(?P<collection>[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?)",
    "/svc/v2/pattern-directory/patterns",
    "/svc/v2/webhooks/(?P<id>wh_[\\w]+)/deliveries",
];

/// Prefix of the routes of template revisions. They require a theme and share the implementation of post revisions.
const TEMPLATE_PREFIX: &str = "/svc/v2/template";

/// Creates a post with an image, a gallery and blocks that query posts and comments. Returns its id.
async fn rich_post(h: &Harness) -> String {
    let content = "<!-- wp:latest-posts {\"postsToShow\":3} /--><!-- wp:latest-comments /--><!-- wp:archives /-->\
        <!-- wp:image {\"id\":1200} --><figure class=\"wp-block-image\"><img src=\"x.jpg\" class=\"wp-image-1200\"/></figure>\
        <!-- /wp:image -->[gallery ids=\"1200,1201\"]";
    // This image is attached to another post.
    let post =
        json!({"title": "a fox", "content": content, "status": "publish", "categories": [2], "featured_media": 1202});
    let response = h.json(ADMIN, Method::POST, "/svc/v2/posts", post).await;
    assert_eq!(response.status, 201, "{:?}", response.body);
    response.body["id"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn query_count_is_independent_of_the_number_of_items() {
    let h = Harness::new();
    rich_post(&h).await;
    // The first item of a list needs as many queries as the others.
    for &(_, route, query) in LISTS.iter().filter(|(_, route, _)| ["/svc/v2/pages", "/svc/v2/books"].contains(route)) {
        let first = h.get(ADMIN, route, &format!("per_page=1&{query}")).await.body[0]["id"].to_string();
        let pictured = json!({"featured_media": 1202});
        assert_eq!(h.json(ADMIN, Method::PUT, &format!("{route}/{first}"), pictured).await.status, 200);
    }
    for &(_, route, query) in LISTS {
        for (user, context) in [(NOBODY, "view"), (ADMIN, "view"), (ADMIN, "edit"), (ADMIN, "embed")] {
            // Search has no `edit` context.
            let context = if route.ends_with("search") && context == "edit" { "view" } else { context };
            let mut counts = Vec::new();
            for per_page in [1, 100] {
                let query = format!("context={context}&per_page={per_page}&{query}");
                h.get(user, route, &query).await;
                // No item is cached.
                h.site.store.versions().change_all();
                let before = h.statements();
                let list = h.get(user, route, &query).await;
                counts.push(h.statements() - before);
                if user == ADMIN {
                    let n = list.body.as_array().map_or(0, Vec::len);
                    assert_eq!(list.status, 200, "{route} {query}: {:?}", list.body);
                    let enough = if per_page == 1 || SHORT.contains(&route) { n == 1 } else { n > 1 };
                    assert!(enough, "{route} {query}: {n} items");
                }
            }
            // A page that is not full shows the total, so that no query counts it.
            assert!(counts[1] <= counts[0], "{route} {query} context={context} as {user}: {counts:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_registered_list_is_covered() {
    let h = Harness::new();
    let paged = |route: &&svc_routing::RouteEntry| {
        route
            .endpoints()
            .any(|e| e.methods().contains(&svc_routing::Method::GET) && e.args().0.contains_key("per_page"))
    };
    let is_tested = |pattern: &&str| !pattern.starts_with(TEMPLATE_PREFIX);
    let registered: BTreeSet<&str> =
        h.server.routes().filter(paged).map(|route| route.pattern()).filter(is_tested).collect();
    let tested: BTreeSet<&str> =
        LISTS.iter().map(|(pattern, _, _)| *pattern).chain(NOT_STORED.iter().copied()).collect();
    assert_eq!(registered, tested);
}

/// Blocks that list posts and comments run their own queries; identical queries run once per response.
#[tokio::test(flavor = "multi_thread")]
async fn identical_queries_of_blocks_run_once_per_list() {
    let h = Harness::new();
    let mut created = Vec::new();
    for _ in 0..4 {
        created.push(rich_post(&h).await);
    }
    let mut counts = Vec::new();
    for n in [1, 4] {
        let query = format!("include={}", created[..n].join(","));
        h.get(NOBODY, "/svc/v2/posts", &query).await;
        let before = h.statements();
        let list = h.get(NOBODY, "/svc/v2/posts", &query).await;
        counts.push(h.statements() - before);
        let html = list.body[n - 1]["content"]["rendered"].as_str().unwrap_or_default();
        assert!(html.contains("wp-block-latest-posts") && html.contains("wp-block-archives"), "{html}");
    }
    assert_eq!(counts[0], counts[1]);
}
