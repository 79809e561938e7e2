//! Lists that are read with cursors, and lists that are not counted.

use serde_json::{Value, json};
use svc_auth::Keys;
use svc_routing::Method;

use crate::harness::{ADMIN, AUTHOR, CONTRIBUTOR, Harness, NOBODY, TestResponse};

const POSTS: &str = "/svc/v2/posts";

fn harness() -> Harness {
    Harness::with(|setup| {
        setup.site.keys = Some(Keys::new([("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]));
    })
}

fn ids(body: &Value) -> Vec<i64> {
    body.as_array().into_iter().flatten().filter_map(|item| item["id"].as_i64()).collect()
}

/// The URL of a link, by its relation.
fn link(response: &TestResponse, relation: &str) -> Option<String> {
    let links = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("link"));
    let mut all = links.flat_map(|(_, value)| value.split(", ").map(str::to_owned).collect::<Vec<_>>());
    let found = all.find(|link| link.ends_with(&format!("rel=\"{relation}\"")))?;
    Some(found.split(['<', '>']).nth(1)?.to_owned())
}

/// The query of the link to the next page.
fn next(response: &TestResponse) -> Option<String> {
    link(response, "next").map(|url| url.split_once('?').unwrap().1.to_owned())
}

/// The cursor of the next page.
fn cursor(response: &TestResponse) -> String {
    let query = next(response).unwrap();
    query.split('&').find_map(|pair| pair.strip_prefix("cursor=")).unwrap().to_owned()
}

/// All ids of a list that is read with cursors, three at a time.
async fn walk(h: &Harness, user: i64, route: &str, query: &str) -> Vec<i64> {
    let mut all = Vec::new();
    let mut query = format!("{query}&per_page=3&cursor=");
    for _ in 0..100 {
        let page = h.get(user, route, &query).await;
        assert_eq!(page.status, 200, "{route}?{query}: {:?}", page.body);
        assert_eq!(link(&page, "prev"), None, "{route}?{query}");
        all.extend(ids(&page.body));
        match next(&page) {
            Some(next) => query = next,
            None => return all,
        }
    }
    panic!("{route}?{query}: the list does not end");
}

#[tokio::test(flavor = "multi_thread")]
async fn walks_return_the_list() {
    let h = harness();
    for (user, route, query) in [
        (NOBODY, POSTS, ""),
        (NOBODY, POSTS, "orderby=title&order=asc&_total=0&sticky=false"),
        (NOBODY, POSTS, "search=the&orderby=relevance"),
        (NOBODY, POSTS, "categories=2,3&orderby=modified"),
        (ADMIN, POSTS, "status=any&context=edit&orderby=slug"),
        (AUTHOR, POSTS, "orderby=id&order=asc"),
        (NOBODY, "/svc/v2/pages", "orderby=menu_order&order=asc"),
        (NOBODY, "/svc/v2/media", "orderby=author"),
        (NOBODY, "/svc/v2/categories", ""),
        (NOBODY, "/svc/v2/categories", "orderby=count&order=desc&hide_empty=true&_total=false"),
        (NOBODY, "/svc/v2/categories", "hide_empty=false"),
        (NOBODY, "/svc/v2/tags", "orderby=description"),
        (NOBODY, "/svc/v2/users", ""),
        (ADMIN, "/svc/v2/users", "context=edit&orderby=email"),
        (ADMIN, "/svc/v2/users", "orderby=registered_date&order=desc"),
        (NOBODY, "/svc/v2/comments", ""),
        (ADMIN, "/svc/v2/comments", "status=any&orderby=post&order=asc"),
    ] {
        let all = h.get(user, route, &format!("{query}&per_page=100")).await;
        let expected = ids(&all.body);
        assert!(!expected.is_empty(), "{route}?{query}: {:?}", all.body);
        assert_eq!(walk(&h, user, route, query).await, expected, "{route}?{query}");
    }
    assert_eq!(walk(&h, NOBODY, POSTS, "include=999999").await, [0_i64; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn totals_stay_unless_they_are_not_wanted() {
    let h = harness();
    let first = h.get(NOBODY, POSTS, "per_page=2&cursor=").await;
    let second = h.get(NOBODY, POSTS, &next(&first).unwrap()).await;
    for page in [&first, &second] {
        assert_eq!((page.header("X-SVC-Total"), page.header("X-SVC-TotalPages")), (Some("51"), Some("26")));
    }
    for route in [POSTS, "/svc/v2/categories", "/svc/v2/users", "/svc/v2/comments"] {
        for query in ["per_page=1&_total=false&cursor=", "per_page=1&_total=0&page=2", "per_page=1&_total=false"] {
            let counted = h.get(NOBODY, route, &query.replace("_total", "x")).await;
            let page = h.get(NOBODY, route, query).await;
            assert_eq!(ids(&page.body), ids(&counted.body), "{route}?{query}");
            assert_eq!((page.header("X-SVC-Total"), page.header("X-SVC-TotalPages")), (None, None), "{route}?{query}");
            assert!(counted.header("X-SVC-Total").is_some());
            let expected = link(&counted, "prev").map(|url| url.replace("x=0", "_total=false"));
            assert_eq!(link(&page, "prev"), expected, "{route}?{query}");
            assert!(next(&page).is_some(), "{route}?{query}");
        }
        let beyond = h.get(NOBODY, route, "_total=false&page=1000").await;
        assert_eq!((beyond.status, &beyond.body, next(&beyond)), (200, &json!([]), None), "{route}");
    }
    let last = h.get(NOBODY, POSTS, "per_page=51&_total=false").await;
    assert_eq!((ids(&last.body).len(), next(&last)), (51, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_without_cursors_are_unchanged() {
    let h = harness();
    let list = h.get(NOBODY, POSTS, "per_page=2").await;
    assert_eq!(next(&list).unwrap(), "per_page=2&page=2");
    assert_eq!(h.get(NOBODY, POSTS, "page=1000").await.code(), "rest_post_invalid_page_number");
    for route in [POSTS, "/svc/v2/categories", "/svc/v2/users", "/svc/v2/comments"] {
        let options = h.json(NOBODY, Method::OPTIONS, route, json!({})).await;
        let args = options.body["endpoints"][0]["args"].as_object().unwrap();
        assert!(args.contains_key("per_page") && !args.contains_key("cursor") && !args.contains_key("_total"));
    }
    let index = h.get(NOBODY, "/svc/v2", "").await.body.to_string();
    assert!(!index.contains("\"cursor\"") && !index.contains("\"_total\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_cursors_are_refused() {
    let h = harness();
    let page = h.get(NOBODY, POSTS, "per_page=2&cursor=&orderby=title").await;
    let good = cursor(&page);
    assert_eq!(h.get(NOBODY, POSTS, &format!("cursor={good}&orderby=title&per_page=5&_fields=id")).await.status, 200);
    let mut forged: Vec<String> = (0..good.len())
        .step_by(5)
        .map(|at| {
            let mut forged = good.clone();
            let other = if &good[at..=at] == "A" { "B" } else { "A" };
            forged.replace_range(at..=at, other);
            forged
        })
        .collect();
    forged.extend(["A".to_owned(), "0".to_owned(), "%00".to_owned(), "%F0%9F%98%80".to_owned(), good[1..].to_owned()]);
    forged.extend([format!("{good}A"), format!("{good}{good}"), "A".repeat(2_048), "%5B%222024%22%2C5%5D".to_owned()]);
    for forged in forged {
        let refused = h.get(NOBODY, POSTS, &format!("cursor={forged}&orderby=title")).await;
        assert_eq!((refused.status, refused.code()), (400, "rest_invalid_cursor"), "{forged}");
    }
    // A cursor belongs to one list.
    for (route, query) in [
        (POSTS, "orderby=date"),
        (POSTS, "orderby=title&order=asc"),
        (POSTS, "orderby=title&search=fox"),
        (POSTS, "orderby=title&categories=2"),
        ("/svc/v2/pages", "orderby=title"),
        ("/svc/v2/books", "orderby=title"),
    ] {
        let refused = h.get(NOBODY, route, &format!("cursor={good}&{query}")).await;
        assert_eq!((refused.status, refused.code()), (400, "rest_invalid_cursor"), "{route}?{query}");
    }
    let long = h.get(NOBODY, POSTS, &format!("cursor={}", "A".repeat(2_049))).await;
    assert_eq!((long.status, long.code()), (400, "rest_invalid_param"));
    for other in ["page=1", "page=2", "offset=0", "offset=3"] {
        let refused = h.get(NOBODY, POSTS, &format!("cursor=&{other}")).await;
        assert_eq!((refused.status, refused.code()), (400, "rest_cursor_with_page"), "{other}");
    }
    for list in ["cursor[]=", "cursor[a]=b"] {
        assert_eq!(h.get(NOBODY, POSTS, list).await.status, 400, "{list}");
    }
}

/// Creates a private post of the administrator.
async fn create_private(h: &Harness, title: &str) -> i64 {
    let body = json!({"title": title, "status": "private", "content": "x"});
    let created = h.json(ADMIN, Method::POST, POSTS, body).await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    created.body["id"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_reveal_no_sort_values() {
    let h = harness();
    create_private(&h, "00000000 SECRET").await;
    // The list contains a post that the caller does not see, and continues after it.
    let list = "status=private&orderby=title&order=asc&per_page=1&cursor=";
    let page = h.get(CONTRIBUTOR, POSTS, list).await;
    assert_eq!((page.status, ids(&page.body).len()), (200, 0), "{:?}", page.body);
    let cursor = cursor(&page);
    let decoded = base64_bytes(&cursor);
    assert!(!decoded.windows(6).any(|part| part == b"SECRET") && !cursor.contains("SECRET"));
}

/// The bytes of a text in base64 for URLs.
fn base64_bytes(text: &str) -> Vec<u8> {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bits = text.chars().flat_map(|c| {
        let value = ALPHABET.find(c).unwrap();
        (0..6).rev().map(move |bit| value >> bit & 1)
    });
    let mut bytes = Vec::new();
    loop {
        let byte: Vec<usize> = bits.by_ref().take(8).collect();
        if byte.len() < 8 {
            return bytes;
        }
        bytes.push(byte.iter().fold(0, |byte, bit| byte << 1 | u8::try_from(*bit).unwrap()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_sort_values_continue_after_their_item() {
    let h = harness();
    let title = format!("0000{}", "é".repeat(20_000));
    let long = create_private(&h, &title).await;
    let list = "status=private,publish&orderby=title&order=asc&_fields=id";
    let all = ids(&h.get(ADMIN, POSTS, &format!("{list}&per_page=100")).await.body);
    let before = all.iter().position(|id| *id == long).unwrap();
    let first = h.get(ADMIN, POSTS, &format!("{list}&per_page={}&cursor=", before + 1)).await;
    let query = next(&first).unwrap();
    assert!(query.len() < 200, "{query}");
    let second = h.get(ADMIN, POSTS, &query).await;
    assert_eq!(ids(&second.body)[..1], all[before + 1..before + 2]);
    let deleted = h.json(ADMIN, Method::DELETE, &format!("{POSTS}/{long}"), json!({"force": true})).await;
    assert_eq!(deleted.status, 200);
    assert_eq!(h.get(ADMIN, POSTS, &query).await.code(), "rest_invalid_cursor");
}

#[tokio::test(flavor = "multi_thread")]
async fn sites_without_keys_have_no_cursors() {
    let h = Harness::new();
    assert_eq!(h.get(NOBODY, POSTS, "cursor=&per_page=1").await.code(), "rest_no_keys");
    assert_eq!(h.get(NOBODY, POSTS, "cursor=&per_page=51").await.status, 200, "nothing follows");
    assert_eq!(h.get(NOBODY, POSTS, "cursor=AAAA").await.code(), "rest_invalid_cursor");
}
