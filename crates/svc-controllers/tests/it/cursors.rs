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
    query_of(response, "next")
}

/// The query of the link to the previous page.
fn previous(response: &TestResponse) -> Option<String> {
    query_of(response, "prev")
}

fn query_of(response: &TestResponse, relation: &str) -> Option<String> {
    link(response, relation).map(|url| url.split_once('?').unwrap().1.to_owned())
}

/// The cursor of the page before or after.
fn cursor(response: &TestResponse, relation: &str) -> String {
    let query = query_of(response, relation).unwrap();
    query.split('&').find_map(|pair| pair.strip_prefix("cursor=")).unwrap().to_owned()
}

/// All ids of a list that is read with cursors, three at a time, to the end and back.
async fn walk(h: &Harness, user: i64, route: &str, query: &str) -> Vec<i64> {
    let read = async |query: String| {
        let page = h.get(user, route, &query).await;
        assert_eq!(page.status, 200, "{route}?{query}: {:?}", page.body);
        page
    };
    let mut queries = vec![format!("{query}&per_page=3&cursor=")];
    let mut pages = Vec::new();
    let last = loop {
        let page = read(queries.last().unwrap().clone()).await;
        assert_eq!(previous(&page).is_some(), !pages.is_empty(), "{route}?{query}");
        pages.push(ids(&page.body));
        assert!(pages.len() < 100, "{route}?{query}: the list does not end");
        match next(&page) {
            Some(next) => queries.push(next),
            None => break page,
        }
    };
    let mut back = previous(&last);
    for (at, expected) in pages.iter().enumerate().rev().skip(1) {
        let page = read(back.expect("a link to the page before")).await;
        assert_eq!(ids(&page.body), *expected, "{route}?{query}");
        assert_eq!(next(&page).as_ref(), queries.get(at + 1), "{route}?{query}");
        back = previous(&page);
    }
    assert_eq!(back, None, "{route}?{query}: before the first page");
    pages.concat()
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

/// Creates a public post whose text has the word `walked`.
async fn create(h: &Harness, title: &str) -> i64 {
    let body = json!({"title": title, "status": "publish", "content": "walked"});
    let created = h.json(ADMIN, Method::POST, POSTS, body).await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    created.body["id"].as_i64().unwrap()
}

async fn delete(h: &Harness, id: i64) {
    assert_eq!(h.json(ADMIN, Method::DELETE, &format!("{POSTS}/{id}"), json!({"force": true})).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_before_keep_their_place() {
    let h = harness();
    let mut posts = Vec::new();
    for title in ["b", "d", "f", "h", "j", "l"] {
        posts.push(create(&h, title).await);
    }
    let [b, d, f, h_, j, l] = posts[..] else { panic!("six posts") };
    let list = "search=walked&orderby=title&order=asc&per_page=2&cursor=";
    let read = async |query: Option<String>| h.get(NOBODY, POSTS, &query.expect("a link")).await;
    let first = read(Some(list.to_owned())).await;
    let second = read(next(&first)).await;
    let third = read(next(&second)).await;
    assert_eq!((ids(&second.body), ids(&third.body)), (vec![f, h_], vec![j, l]));
    // What is deleted is replaced from the pages before; what is added between is read.
    delete(&h, f).await;
    let e = create(&h, "e").await;
    let back = read(previous(&third)).await;
    assert_eq!(ids(&back.body), [e, h_]);
    delete(&h, e).await;
    let back = read(previous(&third)).await;
    assert_eq!(ids(&back.body), [d, h_]);
    // Nothing is repeated: the first page is what is left before.
    let start = read(previous(&back)).await;
    assert_eq!((ids(&start.body), previous(&start)), (vec![b], None));
    assert_eq!(ids(&read(next(&start)).await.body), [d, h_]);
    let a = create(&h, "a").await;
    let a2 = create(&h, "a2").await;
    let start = read(previous(&back)).await;
    assert_eq!(ids(&start.body), [a2, b]);
    let start = read(previous(&start)).await;
    assert_eq!((ids(&start.body), previous(&start)), (vec![a], None));
    // Nothing is left before.
    for id in [a, a2, b] {
        delete(&h, id).await;
    }
    let start = read(previous(&back)).await;
    assert_eq!((start.status, &start.body, previous(&start)), (200, &json!([]), None));
    assert_eq!(start.header("X-SVC-Total"), Some("4"));
    assert_eq!(ids(&read(next(&start)).await.body), [d, h_], "the first page");
    // Nothing is left behind.
    let place = next(&second);
    for id in [j, l] {
        delete(&h, id).await;
    }
    let end = read(place).await;
    assert_eq!((end.status, &end.body, next(&end)), (200, &json!([]), None));
    assert_eq!(ids(&read(previous(&end)).await.body), [d, h_]);
}

/// Links of pages are cached with them, and change with the list.
#[tokio::test(flavor = "multi_thread")]
async fn links_of_cached_pages_are_current() {
    let h = harness();
    let first = h.get(NOBODY, POSTS, "per_page=2&cursor=").await;
    let second = next(&first).unwrap();
    let back = previous(&h.get(NOBODY, POSTS, &second).await).unwrap();
    let statements = h.statements();
    for _ in 0..2 {
        let page = h.get(NOBODY, POSTS, &second).await;
        assert_eq!((previous(&page), next(&page).is_some()), (Some(back.clone()), true));
    }
    assert_eq!(h.statements(), statements, "the page was cached");
    assert_eq!(previous(&h.get(NOBODY, POSTS, &back).await), None);
    create(&h, "new").await;
    assert!(previous(&h.get(NOBODY, POSTS, &back).await).is_some(), "there is a post before now");
}

#[tokio::test(flavor = "multi_thread")]
async fn both_directions_cost_the_same() {
    let h = harness();
    let third = {
        let first = h.get(NOBODY, POSTS, "per_page=2&cursor=&_fields=id").await;
        let second = h.get(NOBODY, POSTS, &next(&first).unwrap()).await;
        h.get(NOBODY, POSTS, &next(&second).unwrap()).await
    };
    let cost = async |query: &str| {
        h.get(NOBODY, POSTS, query).await;
        h.site.store.versions().change_all();
        let before = h.statements();
        h.get(NOBODY, POSTS, query).await;
        h.statements() - before
    };
    let (onward, back) = (next(&third).unwrap(), previous(&third).unwrap());
    assert_eq!(cost(&onward).await, cost(&back).await, "each page has one query for its links");
}

#[tokio::test(flavor = "multi_thread")]
async fn totals_stay_unless_they_are_not_wanted() {
    let h = harness();
    let first = h.get(NOBODY, POSTS, "per_page=2&cursor=").await;
    let second = h.get(NOBODY, POSTS, &next(&first).unwrap()).await;
    let back = h.get(NOBODY, POSTS, &previous(&second).unwrap()).await;
    assert_eq!(ids(&back.body), ids(&first.body));
    for page in [&first, &second, &back] {
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
    let page = h.get(NOBODY, POSTS, &next(&page).unwrap()).await;
    for relation in ["next", "prev"] {
        refuses_others(&h, &cursor(&page, relation)).await;
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

/// Sends changed forms of a cursor of the list by title, and sends it to other lists.
async fn refuses_others(h: &Harness, good: &str) {
    assert_eq!(h.get(NOBODY, POSTS, &format!("cursor={good}&orderby=title&per_page=5&_fields=id")).await.status, 200);
    let mut forged: Vec<String> = (0..good.len())
        .step_by(5)
        .map(|at| {
            let mut forged = good.to_owned();
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
    let second = h.get(CONTRIBUTOR, POSTS, &next(&page).unwrap()).await;
    assert_eq!(second.status, 200, "{:?}", second.body);
    for cursor in [cursor(&page, "next"), cursor(&second, "prev")] {
        let decoded = base64_bytes(&cursor);
        assert!(!decoded.windows(6).any(|part| part == b"SECRET") && !cursor.contains("SECRET"));
    }
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
    let back = previous(&second).unwrap();
    assert!(back.len() < 200, "{back}");
    assert_eq!(ids(&h.get(ADMIN, POSTS, &back).await.body), all[..=before]);
    // A place before it that is read backwards.
    let two = h.get(ADMIN, POSTS, &format!("{list}&per_page={}&cursor=", before + 2)).await;
    let page = h.get(ADMIN, POSTS, &next(&two).unwrap()).await;
    let one = previous(&page).unwrap().replace(&format!("per_page={}", before + 2), "per_page=1");
    let one = h.get(ADMIN, POSTS, &one).await;
    assert_eq!(ids(&one.body), all[before + 1..before + 2]);
    let to_long = previous(&one).unwrap();
    assert!(to_long.len() < 200, "{to_long}");
    assert_eq!(ids(&h.get(ADMIN, POSTS, &to_long).await.body), [long]);
    let deleted = h.json(ADMIN, Method::DELETE, &format!("{POSTS}/{long}"), json!({"force": true})).await;
    assert_eq!(deleted.status, 200);
    for gone in [query, back, to_long] {
        assert_eq!(h.get(ADMIN, POSTS, &gone).await.code(), "rest_invalid_cursor", "{gone}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sites_without_keys_have_no_cursors() {
    let h = Harness::new();
    assert_eq!(h.get(NOBODY, POSTS, "cursor=&per_page=1").await.code(), "rest_no_keys");
    assert_eq!(h.get(NOBODY, POSTS, "cursor=&per_page=51").await.status, 200, "nothing follows");
    assert_eq!(h.get(NOBODY, POSTS, "cursor=AAAA").await.code(), "rest_invalid_cursor");
}
