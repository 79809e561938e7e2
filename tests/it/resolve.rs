//! `resolve` finds what the site's own pages show, for the same visitor.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use svc_server::SiteBuilder;

use crate::{
    client::{HttpResponse, send},
    site::{Site, execute},
    visitor::{Visitor, encode, logged_in, user},
};

const RESOLVE: &str = "/svc-json/svc/v2/resolve";

async fn create(site: &Site, admin: &str, collection: &str, body: Value) -> Value {
    let created = site.post(&format!("/svc-json/svc/v2/{collection}"), admin, &body).await;
    assert_eq!(created.status, 201, "{}", created.body);
    created.json()
}

async fn update(site: &Site, admin: &str, path: &str, body: Value) {
    let updated = site.post(&format!("/svc-json/svc/v2/{path}"), admin, &body).await;
    assert_eq!(updated.status, 200, "{}", updated.body);
}

async fn resolve(site: &Site, url: &str) -> HttpResponse {
    site.get(&format!("{RESOLVE}?url={}", encode(url))).await
}

/// Posts and pages with unusual URLs; returns paths that lead to them, or nearly.
async fn fill(site: &Site, admin: &str) -> BTreeSet<String> {
    let mut paths: BTreeSet<String> = BTreeSet::new();
    let mut ids = Vec::new();
    for (status, date) in [("publish", "2024-03-05"), ("draft", "2024-03-06"), ("private", "2024-03-07")] {
        let slug = format!("known-{status}");
        let body = json!({"title": slug, "slug": slug, "status": status, "date": format!("{date}T10:20:30")});
        ids.push(create(site, admin, "posts", body).await["id"].clone());
        let day = date.replace('-', "/");
        for tail in ["", "/", "/2/", "/embed/", "/feed/", "/comment-page-2/", "/page/2/", "/nosuch/"] {
            paths.insert(format!("/{day}/{slug}{tail}"));
        }
        // Exact paths only: a beginning, another case, another date.
        paths.extend([format!("/{day}/{}/", &slug[..7]), format!("/{day}/{}/", slug.to_uppercase())]);
        paths.extend([format!("/2023/03/05/{slug}/"), format!("/{slug}/"), format!("/{day}/")]);
    }
    let locked = json!({"title": "Locked", "slug": "locked", "status": "publish", "password": "sesame"});
    ids.push(create(site, admin, "posts", locked).await["id"].clone());
    let parent = create(site, admin, "pages", json!({"title": "Parent", "slug": "parent", "status": "publish"})).await;
    let child = json!({"title": "Child", "slug": "child", "status": "publish", "parent": parent["id"]});
    ids.push(create(site, admin, "pages", child).await["id"].clone());
    ids.push(parent["id"].clone());
    create(site, admin, "pages", json!({"title": "Ünï", "slug": "ünï", "status": "publish"})).await;
    let top = create(site, admin, "categories", json!({"name": "Top", "slug": "top"})).await;
    let nested =
        create(site, admin, "categories", json!({"name": "Nested", "slug": "nested", "parent": top["id"]})).await;
    let filed =
        json!({"title": "Filed", "slug": "filed", "status": "publish", "categories": [nested["id"]], "sticky": true});
    ids.push(create(site, admin, "posts", filed).await["id"].clone());
    // A post with another slug and date than before.
    let body = json!({"title": "Moved", "slug": "old-name", "status": "publish", "date": "2022-02-02T00:00:00"});
    let moved = create(site, admin, "posts", body).await["id"].clone();
    update(site, admin, &format!("posts/{moved}"), json!({"slug": "new-name"})).await;
    update(site, admin, &format!("posts/{moved}"), json!({"date": "2023-03-03T00:00:00"})).await;
    for slug in ["old-name", "new-name", "old"] {
        for day in ["2022/02/02", "2023/03/03", "2021/01/01"] {
            paths.extend(["", "embed/", "feed/"].map(|tail| format!("/{day}/{slug}/{tail}")));
        }
    }
    ids.push(moved);
    // One that has been hidden since its slug was changed.
    let body = json!({"title": "Gone", "slug": "gone-name", "status": "publish", "date": "2022-02-02T00:00:00"});
    let gone = create(site, admin, "posts", body).await["id"].clone();
    update(site, admin, &format!("posts/{gone}"), json!({"slug": "secret-name"})).await;
    update(site, admin, &format!("posts/{gone}"), json!({"status": "private"})).await;
    paths.insert("/2022/02/02/gone-name/".to_owned());
    ids.push(gone);
    let file = [("Content-Disposition", "attachment; filename=\"dot.txt\""), ("Content-Type", "text/plain")];
    let basic = crate::site::basic(admin);
    let headers: Vec<_> = file.into_iter().chain([("Authorization", basic.as_str())]).collect();
    let uploaded = send(site.address, "POST", "/svc-json/svc/v2/media", &headers, "text").await;
    assert_eq!(uploaded.status, 201, "{}", uploaded.body);
    ids.push(uploaded.json()["id"].clone());
    paths.extend(["/dot-txt/", "/dot/", "/dot/embed/"].map(str::to_owned));
    for id in ids {
        for name in ["p", "page_id", "attachment_id"] {
            paths.extend([format!("/?{name}={id}"), format!("/?{name}={id}&preview=true"), format!("/x?{name}={id}")]);
        }
    }
    paths
}

/// Paths that do not depend on the content of [`fill`].
#[rustfmt::skip]
const PATHS: &[&str] = &[
    "/", "/index.php", "/page/2/", "/page/2", "/page/999/", "/?paged=2", "/feed/", "/feed", "/feed/atom/", "/?feed=rss2", "/comments/feed/",
    "/about", "/about/", "/about/feed/", "/about/page/2/", "/about/2/", "/About/", "/abou/", "/about/team/",
    "/parent", "/parent/", "/parent/child", "/parent/child/", "/child/", "/child", "/parent/child/child/", "/%C3%BCn%C3%AF", "/ünï/",
    "/category/top/", "/category/top", "/category/nested/", "/category/top/nested/", "/category/top/nested", "/category/nosuch/", "/category/",
    "/category/top/feed/", "/category/top/page/2/", "/tag/rest-api", "/tag/rest-api/", "/?tag=rest-api", "/?cat=1", "/?cat=99999", "/?tag=rest-api&author=1",
    "/author/admin", "/author/admin/", "/author/admin/page/1/", "/author/nosuch/", "/?author=1", "/?author=999",
    "/2024/", "/2024", "/2024/03/", "/2024/13/", "/1999/", "/?m=202403", "/?s=filed", "/?s=", "/search/filed/", "/search/filed", "/?s=nothinghasthis",
    "/robots.txt", "/favicon.ico", "/wp-sitemap.xml", "/sitemap.xml", "/wp-sitemap-posts-post-1.xml", "/wp-sitemap-posts-post-2.xml", "/wp-sitemap-nosuch-1.xml",
    "/nosuch/", "/nosuch", "/a/b/c/d/", "/?post_type=page", "/?post_type=nosuch", "/?p=0", "/?p=99999999999999999999", "/%00/", "/%ff/", "//about/", "/about//", "/./about/",
];

/// Compares what `resolve` finds with the page at the same path.
async fn compare(visitor: &mut Visitor<'_>, nonce: &str, path: &str, what: &str) {
    let page = visitor.get(path).await;
    // A path that begins with two slashes is a URL without a scheme.
    let url = if path.starts_with("//") { format!("{}{path}", visitor.home()) } else { path.to_owned() };
    let route = format!("{RESOLVE}?url={}", encode(&url));
    let headers = [("X-SVC-Nonce", nonce)];
    let found = visitor.request("GET", &route, if nonce.is_empty() { &[] } else { &headers }, "").await;
    let what = format!("{what} {path}: {}", found.body);
    if page.status == 404 {
        assert_eq!((found.status, found.json()["code"].as_str()), (404, Some("rest_no_page")), "{what}");
        return;
    }
    assert_eq!(found.status, 200, "{what}, the page has {}", page.status);
    let found = found.json();
    assert_eq!(found["status"], page.status, "{what}");
    assert_eq!(found["redirect"].as_str().unwrap_or_default(), page.header("location"), "{what}");
    // The resource that the page names is the one that is found, and its canonical link too.
    if page.status == 200 && found["embed"] == false && found["feed"].is_null() {
        let named = page.all("link").into_iter().find(|link| link.contains("rel=\"alternate\""));
        let named = named.and_then(|link| link.strip_prefix('<')?.split('>').next());
        assert_eq!(found["rest_url"].as_str(), named, "{what}");
        let canonical = page.body.split("<link rel=\"canonical\" href=\"").nth(1);
        if let Some(url) = canonical.and_then(|rest| rest.split('"').next()) {
            assert_eq!(found["canonical"].as_str(), Some(url.replace("&#38;", "&").as_str()), "{what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_url_resolves_as_its_page_responds() {
    let site = Site::start().await;
    let admin = site.app_password();
    user(&site, &admin, "eve", "editor").await;
    user(&site, &admin, "sam", "subscriber").await;
    let mut paths = fill(&site, &admin).await;
    paths.extend(PATHS.iter().map(|path| (*path).to_owned()));
    // All URLs that the site announces.
    let index = site.get("/wp-sitemap.xml").await.body;
    let home = format!("http://{}", site.address);
    let locations = |xml: &str| {
        let all = xml.split("<loc>").skip(1).filter_map(|rest| rest.split("</loc>").next());
        all.map(|url| url.strip_prefix(&home).unwrap().to_owned()).collect::<Vec<_>>()
    };
    for sitemap in locations(&index) {
        paths.extend(locations(&site.get(&sitemap).await.body));
        paths.insert(sitemap);
    }
    let mut visitors = vec![("anonymous", Visitor::new(&site), String::new())];
    for login in ["eve", "sam"] {
        let mut visitor = logged_in(&site, login).await;
        let nonce = visitor.get("/wp-admin/admin-ajax.php?action=rest-nonce").await.body;
        visitors.push((login, visitor, nonce));
    }
    let pages = site.get("/svc-json/svc/v2/pages?slug=about,parent&_fields=id&orderby=slug&order=asc").await.json();
    let static_front = format!(
        "UPDATE wp_options SET option_value = 'page' WHERE option_name = 'show_on_front';
         UPDATE wp_options SET option_value = '{}' WHERE option_name = 'page_on_front';
         UPDATE wp_options SET option_value = '{}' WHERE option_name = 'page_for_posts';",
        pages[0]["id"], pages[1]["id"]
    );
    let structure = |structure: &str| {
        format!("UPDATE wp_options SET option_value = '{structure}' WHERE option_name = 'permalink_structure';")
    };
    let stages = [
        ("dates".to_owned(), String::new()),
        ("static front page".to_owned(), static_front),
        ("names".to_owned(), structure("/%postname%/")),
        ("categories".to_owned(), structure("/%category%/%postname%")),
        ("plain".to_owned(), structure("")),
    ];
    for (stage, change) in stages {
        if !change.is_empty() {
            execute(&site.folder, &change);
        }
        // Drafts and private posts are found in the same way at each stage.
        let n_visitors = if stage == "dates" { 3 } else { 1 };
        for (name, visitor, nonce) in visitors.iter_mut().take(n_visitors) {
            for path in &paths {
                // Without pretty permalinks, the API's paths are those of the query.
                if stage == "plain" && !path.contains('?') {
                    continue;
                }
                compare(visitor, nonce, path, &format!("{stage} {name}")).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_resolve_to_objects_and_queries() {
    let site = Site::start().await;
    let admin = site.app_password();
    fill(&site, &admin).await;
    let home = format!("http://{}", site.address);
    let id = async |path: &str| site.get(&format!("/svc-json/svc/v2/{path}")).await.json()[0]["id"].clone();
    let (post, page) = (id("posts?slug=known-publish").await, id("pages?slug=child").await);
    let (moved, category) = (id("posts?slug=new-name").await, id("categories?slug=nested").await);
    let rest = |route: &str, id: &Value| json!(format!("{home}/svc-json/svc/v2/{route}/{id}"));
    #[rustfmt::skip]
    let rows = [
        ("/2024/03/05/known-publish/", json!({"status": 200, "kind": "single", "type": "post", "subtype": "post", "id": post, "rest_url": rest("posts", &post), "canonical": format!("{home}/2024/03/05/known-publish/"), "redirect": null, "page": 1, "pages": null})),
        ("/2024/03/05/known-publish", json!({"status": 301, "redirect": format!("{home}/2024/03/05/known-publish/"), "id": post})),
        ("/2024/03/05/known-publish/2/", json!({"status": 200, "page": 2})),
        ("/2024/03/05/known-publish/embed/", json!({"status": 200, "embed": true, "id": post})),
        ("/2022/02/02/old-name/", json!({"status": 301, "redirect": format!("{home}/2023/03/03/new-name/"), "id": moved, "rest_url": rest("posts", &moved)})),
        ("/parent/child/", json!({"subtype": "page", "id": page, "rest_url": rest("pages", &page)})),
        ("/", json!({"kind": "blog", "type": null, "id": null, "rest_url": null, "canonical": format!("{home}/"), "query": {}})),
        ("/feed/", json!({"kind": "blog", "feed": "rss2"})),
        ("/category/top/nested/", json!({"kind": "term-archive", "type": "term", "subtype": "category", "id": category, "rest_url": rest("categories", &category), "query": {"terms": [{"taxonomy": "category", "id": category}]}, "pages": 1, "posts": 1})),
        ("/author/admin/", json!({"kind": "author-archive", "type": "user", "subtype": null, "id": 1, "query": {"author": 1}})),
        ("/2024/03/", json!({"kind": "date-archive", "query": {"year": 2024, "month": 3}})),
        ("/?s=filed", json!({"kind": "search", "query": {"search": "filed"}, "canonical": format!("{home}/?s=filed")})),
        ("/wp-sitemap.xml", json!({"kind": "sitemap", "status": 200})),
        ("/robots.txt", json!({"kind": "robots"})),
    ];
    for (path, expected) in rows {
        for url in
            [path.to_owned(), format!("{home}{path}"), format!("{home}{path}#top"), format!("//{}{path}", site.address)]
        {
            let found = resolve(&site, &url).await;
            assert_eq!(found.status, 200, "{url}: {}", found.body);
            for (name, value) in expected.as_object().unwrap() {
                assert_eq!(found.json()[name], *value, "{url} {name}");
            }
        }
    }
    let few = site.get(&format!("{RESOLVE}?url=/2024/03/05/known-publish/&_fields=id,kind")).await;
    assert_eq!(few.json(), json!({"kind": "single", "id": post}));
    // A stored answer ends with the post's slug.
    update(&site, &admin, &format!("posts/{post}"), json!({"slug": "known-later"})).await;
    let found = resolve(&site, "/2024/03/05/known-publish/").await.json();
    assert_eq!(found["redirect"], format!("{home}/2024/03/05/known-later/"));
    let trashed = send(
        site.address,
        "DELETE",
        &format!("/svc-json/svc/v2/posts/{post}"),
        &[("Authorization", &crate::site::basic(&admin))],
        "",
    )
    .await;
    assert_eq!(trashed.status, 200);
    assert_eq!(resolve(&site, "/2024/03/05/known-later/").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_urls_of_the_site_are_resolved() {
    let site = Site::start().await;
    for url in [
        "https://evil.example/about/",
        "//evil.example/about/",
        "http://127.0.0.1/about/",
        "http://user@evil.example/",
        "about/",
        "",
        "javascript:alert(1)",
        "http:///about/",
    ] {
        let refused = resolve(&site, url).await;
        assert_eq!((refused.status, refused.json()["code"].as_str()), (400, Some("rest_invalid_url")), "{url}");
    }
    assert_eq!(site.get(RESOLVE).await.json()["code"], "rest_missing_callback_param");
    assert_eq!(resolve(&site, &format!("/{}", "a".repeat(8_200))).await.status, 400);
    for hostile in
        ["/'--/", "/%27%20or%201=1/", "/\u{0}/", "/\u{202e}/", "/%e2%80%ae/", "/../../etc/passwd", "/?p[]=1&p=x"]
    {
        let found = resolve(&site, hostile).await;
        assert!(matches!(found.status, 200 | 404), "{hostile}: {}", found.body);
    }
}

/// Clients compare the index with WordPress's.
#[tokio::test(flavor = "multi_thread")]
async fn own_routes_are_not_in_the_index() {
    for (brand, api) in [("svc", "/svc-json"), ("wp", "/wp-json")] {
        let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &[("brand", brand)]).await;
        let index = site.get(&format!("{api}/")).await.json();
        assert!(index["routes"].get("/svc/v2/resolve").is_none() && index["routes"].as_object().unwrap().len() > 100);
        let listed = index["namespaces"].as_array().unwrap().contains(&json!("svc/v2"));
        assert_eq!(listed, brand == "svc");
        assert_eq!(site.get(&format!("{api}/svc/v2")).await.status, if listed { 200 } else { 404 });
        let route = format!("{api}/svc/v2/resolve");
        let described = send(site.address, "OPTIONS", &route, &[], "").await;
        assert_eq!(described.header("allow"), "GET");
        let described = described.json();
        assert_eq!(described["endpoints"][0]["args"]["url"]["required"], true, "{described}");
        assert_eq!(described["schema"]["title"], "resolution");
        for document in ["openapi.json", "openapi.json?namespace=svc/v2"] {
            let document = site.get(&format!("{api}/{document}")).await.json();
            assert!(document["paths"]["/svc/v2/resolve"].get("get").is_some(), "{brand}");
        }
        let found = site.get(&format!("{route}?url=/about/")).await.json();
        assert_eq!(found["rest_url"], format!("http://{}{api}/{brand}/v2/pages/4", site.address));
    }
}
