//! Ranked search: what is found, in which order, by whom; and what is refused.

use serde_json::{Value, json};
use svc_server::SiteBuilder;

use crate::{
    client::{HttpResponse, send},
    site::{Site, basic},
    visitor::encode,
};

const API: &str = "/svc-json/svc/v2";

/// A word of everything that visitors must not read.
const CANARY: &str = "quokkasecret";

struct Filled {
    site: Site,
    admin: String,
    /// The category of the posts about harbours.
    term: i64,
}

async fn filled(brand: &str) -> Filled {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &[("brand", brand)]).await;
    let admin = site.app_password();
    let create = async |route: &str, body: Value| {
        let created = site.post(&format!("/{brand}-json/{brand}/v2/{route}"), &admin, &body).await;
        assert_eq!(created.status, 201, "{}", created.body);
        created.json()["id"].as_i64().unwrap()
    };
    let term = create("categories", json!({"name": "Sea & coast", "slug": "sea"})).await;
    let filler = "Nothing of interest happens in this sentence. ".repeat(12);
    let rows = [
        ("posts", "Old harbours", "<p>Boats leave the <b>harbour</b> at noon.</p>", "publish", ""),
        ("pages", "Boats & ships", "<p>A list of boats &amp; <em>other</em> things &lt;script&gt;.</p>", "publish", ""),
        ("posts", "Weather", &format!("<p>{filler}</p><p>Old boats stay in the harbour today.</p>"), "publish", ""),
        ("posts", "Harbour kiwidraft", CANARY, "draft", ""),
        ("posts", "Harbour private", CANARY, "private", ""),
        ("posts", "Harbour kiwilocked", CANARY, "publish", "sesame"),
    ];
    for (n, (route, title, content, status, password)) in (1..).zip(rows) {
        let mut body = json!({"title": title, "content": content, "status": status, "password": password,
            "date": format!("2024-01-0{n}T10:00:00")});
        if route == "posts" && title != "Weather" {
            body["categories"] = json!([term]);
        }
        create(route, body).await;
    }
    create(
        "posts",
        json!({"title": "Harbour kiwilater", "content": CANARY, "status": "future", "date": "2099-01-01T10:00:00"}),
    )
    .await;
    Filled { site, admin, term }
}

impl Filled {
    async fn search(&self, query: &str, user: Option<&str>) -> HttpResponse {
        let authorization = user.map(basic);
        let headers: Vec<(&str, &str)> = authorization.iter().map(|value| ("Authorization", value.as_str())).collect();
        send(self.site.address, "GET", &format!("{API}/search?{query}"), &headers, "").await
    }

    #[track_caller]
    fn titles(found: &HttpResponse) -> Vec<String> {
        let found = found.json();
        let items = found.as_array().unwrap_or_else(|| panic!("{found}"));
        items.iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_are_ranked() {
    let filled = filled("svc").await;
    #[rustfmt::skip]
    let rows: &[(&str, &[&str])] = &[
        ("harbour", &["Old harbours", "Weather"]),
        ("HARBOURS ", &["Old harbours", "Weather"]),
        ("harb", &["Old harbours", "Weather"]),
        ("harbuor", &["Old harbours", "Weather"]),
        ("boat", &["Boats &#038; ships", "Old harbours", "Weather"]),
        ("\"old boats\"", &["Weather"]),
        ("\"boats old\"", &[]),
        // Tags and attributes are not text.
        ("strong", &[]),
        (CANARY, &[]),
    ];
    for (text, expected) in rows {
        let found = filled.search(&format!("q={}", encode(text)), None).await;
        assert_eq!(found.status, 200, "{text}: {}", found.body);
        assert_eq!(Filled::titles(&found), *expected, "{text}");
        assert_eq!(found.header("x-svc-total"), expected.len().to_string(), "{text}");
    }
    let found = filled.search("q=harbour&per_page=1&page=2&_fields=id,highlights", None).await.json();
    let highlights = &found[0]["highlights"];
    assert_eq!(highlights["title"], "Weather");
    let text = highlights["text"].as_str().unwrap();
    assert!(text.starts_with('…') && text.ends_with("stay in the <mark>harbour</mark> today."), "{text}");
    let found = filled.search("q=boats+script&subtype=page", None).await.json();
    assert_eq!(found[0]["highlights"]["title"], "<mark>Boats</mark> &amp; ships");
    assert_eq!(
        found[0]["highlights"]["text"],
        "A list of <mark>boats</mark> &amp; other things &lt;<mark>script</mark>&gt;."
    );
    for (query, expected) in [
        ("q=boat&subtype=page", vec!["Boats &#038; ships"]),
        ("q=boat&subtype=post,page", vec!["Boats &#038; ships", "Old harbours", "Weather"]),
        (&format!("q=boat&terms={}", filled.term), vec!["Old harbours"]),
        ("q=boat&terms=99999", vec![]),
    ] {
        assert_eq!(Filled::titles(&filled.search(query, None).await), expected, "{query}");
    }
    // A change is found at once.
    let body = json!({"title": "A lighthouse", "status": "publish"});
    assert_eq!(filled.site.post(&format!("{API}/posts"), &filled.admin, &body).await.status, 201);
    assert_eq!(Filled::titles(&filled.search("q=lighthouse", None).await), ["A lighthouse"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn facets_count_what_the_caller_may_read() {
    let filled = filled("svc").await;
    let facets = async |user: Option<&str>| {
        let authorization = user.map(basic);
        let headers: Vec<(&str, &str)> = authorization.iter().map(|value| ("Authorization", value.as_str())).collect();
        send(filled.site.address, "GET", &format!("{API}/search/facets?q=harbour"), &headers, "").await.json()
    };
    let sea = |count: i64| json!({"id": filled.term, "taxonomy": "category", "name": "Sea &amp; coast", "slug": "sea", "count": count});
    let of_visitor = facets(None).await;
    assert_eq!(of_visitor["types"], json!([{"name": "post", "count": 2}]));
    assert_eq!((&of_visitor["total"], &of_visitor["counted"]), (&json!(2), &json!(2)));
    assert_eq!(
        of_visitor["terms"].as_array().unwrap().iter().filter(|term| **term == sea(1)).count(),
        1,
        "{of_visitor}"
    );
    // Administrators read private posts, and nobody finds what has a password.
    let of_admin = facets(Some(&filled.admin)).await;
    assert_eq!((&of_admin["total"], &of_admin["terms"][0]), (&json!(3), &sea(2)));
}

/// Nothing of drafts, private, scheduled and protected posts is in what visitors and other users find.
#[tokio::test(flavor = "multi_thread")]
async fn only_readable_posts_are_found() {
    let filled = filled("svc").await;
    for text in [
        CANARY,
        "quokkas*",
        "quokkasecert",
        "\"quokkasecret\"",
        "harbour kiwidraft",
        "harbour kiwilocked",
        "harbour kiwilater",
    ] {
        let known = if text.starts_with("harbour") { 2 } else { 0 };
        for (who, expected) in [(None, known), (Some(filled.admin.as_str()), known.max(1))] {
            let found = filled.search(&format!("q={}", encode(text)), who).await;
            assert_eq!(found.status, 200, "{}", found.body);
            let n = Filled::titles(&found).len();
            if who.is_none() {
                assert_eq!((n, found.body.contains(CANARY)), (expected, false), "{text}: {}", found.body);
            }
            assert!(!found.body.contains("kiwi"), "{text}: {}", found.body);
        }
    }
    let private = filled.search(&format!("q={CANARY}"), Some(&filled.admin)).await;
    assert_eq!(Filled::titles(&private), ["Harbour private"]);
    // The response to an administrator is not that of visitors.
    assert_eq!(Filled::titles(&filled.search(&format!("q={CANARY}"), None).await), [] as [&str; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_are_bounded() {
    let filled = filled("svc").await;
    let many = "a+".repeat(17);
    let long = "a".repeat(201);
    #[rustfmt::skip]
    let rows: &[(String, &str)] = &[
        ("q=".to_owned(), "rest_search_no_words"),
        ("q=%22%2D%22".to_owned(), "rest_search_no_words"),
        (format!("q={many}"), "rest_search_too_many_words"),
        (format!("q={long}"), "rest_invalid_param"),
        ("q[]=a".to_owned(), "rest_invalid_param"),
        ("q=boat&search=boat".to_owned(), "rest_search_parameters"),
        ("q=boat&search=".to_owned(), "rest_search_parameters"),
        ("q=boat&include=1".to_owned(), "rest_search_parameters"),
        ("q=boat&type=term".to_owned(), "rest_search_parameters"),
        ("q=boat&terms=1,2,3,4,5,6".to_owned(), "rest_invalid_param"),
        ("q=boat&terms=x".to_owned(), "rest_invalid_param"),
        ("q=boat&per_page=101".to_owned(), "rest_invalid_param"),
        ("q=boat&page=0".to_owned(), "rest_invalid_param"),
        ("q=boat&page=99".to_owned(), "rest_search_invalid_page_number"),
        ("q=boat&page=9223372036854775807&per_page=100".to_owned(), "rest_search_invalid_page_number"),
    ];
    for (query, code) in rows {
        let refused = filled.search(query, None).await;
        assert_eq!((refused.status, refused.json()["code"].as_str()), (400, Some(*code)), "{query}: {}", refused.body);
    }
    for hostile in
        ["%00", "'%22)--", "%F0%9F%98%80", "*", "a*%20b*", "%25%5F", "<mark>harbour", "\u{202e}harbour", "-harbour"]
    {
        let found = filled
            .search(&format!("q={}", if hostile.contains('%') { hostile.to_owned() } else { encode(hostile) }), None)
            .await;
        assert!(matches!(found.status, 200 | 400), "{hostile}: {}", found.body);
    }
    // WordPress's search is as before.
    let plain = filled.search("search=harbour", None).await;
    assert_eq!(Filled::titles(&plain).len(), 2);
    assert!(plain.json()[0].get("highlights").is_none());
}

/// Clients compare the index and `OPTIONS` with WordPress's.
#[tokio::test(flavor = "multi_thread")]
async fn the_route_has_no_brand_and_is_not_listed() {
    for brand in ["svc", "wp"] {
        let filled = filled(brand).await;
        let (site, api) = (&filled.site, format!("/{brand}-json"));
        let found = site.get(&format!("{api}/svc/v2/search?q=harbour")).await;
        assert_eq!(Filled::titles(&found), ["Old harbours", "Weather"]);
        assert_eq!(site.get(&format!("{api}/svc/v2/search/facets?q=harbour")).await.json()["total"], 2);
        let index = site.get(&format!("{api}/")).await.json();
        let listed = &index["routes"][format!("/{brand}/v2/search")]["endpoints"][0]["args"];
        assert!(listed.get("search").is_some() && listed.get("q").is_none(), "{listed}");
        assert!(index["routes"].get("/svc/v2/search/facets").is_none());
        let described = send(site.address, "OPTIONS", &format!("{api}/{brand}/v2/search"), &[], "").await.json();
        assert!(described["schema"]["properties"].get("highlights").is_none(), "{described}");
        let document = site.get(&format!("{api}/openapi.json?namespace=svc/v2")).await.body;
        assert!(document.contains("match these words best"), "{brand}");
        if brand == "wp" {
            let required = site.get("/wp-json/svc/v2/search").await;
            assert_eq!(required.json()["code"], "rest_missing_callback_param");
            let other = site.get("/wp-json/wp/v2/search?q=nowhere-to-be-found").await;
            assert_eq!(other.status, 200);
            assert!(!Filled::titles(&other).is_empty(), "the parameter q is unknown to WordPress");
        }
    }
}
