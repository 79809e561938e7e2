//! Every list takes as many queries for one item as for a hundred, in process, over the recorded fixture.

mod harness;

use std::collections::BTreeSet;

use harness::{ADMIN, Harness, NOBODY};

/// The route of each list as it is registered, an address of it that has several items, and a query.
const LISTS: &[(&str, &str, &str)] = &[
    ("/svc/v2/posts", "/svc/v2/posts", ""),
    ("/svc/v2/posts", "/svc/v2/posts", "search=a&categories=2"),
    (r"/svc/v2/posts/(?P<parent>[\d]+)/revisions", "/svc/v2/posts/1036/revisions", ""),
    // Addresses of pages take a query for each level above them: the deepest one comes first.
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
    // Addresses of posts of several types take a query more for each kind of thing that they name.
    ("/svc/v2/comments", "/svc/v2/comments", "post=1000"),
    ("/svc/v2/search", "/svc/v2/search", "subtype=post"),
    ("/svc/v2/search", "/svc/v2/search", "type=term&subtype=post_tag"),
];

/// Lists that the fixture has one item of at most.
const SHORT: &[&str] = &["/svc/v2/blocks/1400/revisions", "/svc/v2/navigation/1440/revisions"];

/// Lists that other servers give.
const ELSEWHERE: &[&str] = &["/svc/v2/block-directory/search"];

#[tokio::test(flavor = "multi_thread")]
async fn a_longer_list_takes_no_more_queries() {
    let h = Harness::new();
    for &(_, route, query) in LISTS {
        for (user, context) in [(NOBODY, "view"), (ADMIN, "view"), (ADMIN, "edit"), (ADMIN, "embed")] {
            // A search has no context `edit`.
            let context = if route.ends_with("search") && context == "edit" { "view" } else { context };
            let mut counts = Vec::new();
            for per_page in [1, 100] {
                let query = format!("context={context}&per_page={per_page}&{query}");
                h.get(user, route, &query).await;
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
            assert_eq!(counts[0], counts[1], "{route} {query} context={context} as {user}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_list_is_left_out() {
    let h = Harness::new();
    let paged = |route: &&svc_routing::endpoint::RouteEntry| {
        route
            .endpoints()
            .any(|e| e.methods().contains(&svc_routing::Method::GET) && e.args().0.contains_key("per_page"))
    };
    let registered: BTreeSet<&str> = h.server.routes().filter(paged).map(|route| route.pattern()).collect();
    let tested: BTreeSet<&str> =
        LISTS.iter().map(|(pattern, _, _)| *pattern).chain(ELSEWHERE.iter().copied()).collect();
    assert_eq!(registered, tested);
}
