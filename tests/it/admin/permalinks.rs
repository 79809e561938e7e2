//! The permalinks: a change reaches pages, the REST API, feeds and other servers at once; bad values change nothing.

use svc_server::listen::{Running, bind};
use svc_store::options;

use super::*;
use crate::site::{basic, config, store};

const PAGE: &str = "/wp-admin/options-permalink.php";
const ROUTE: &str = "/svc-json/svc/v2/permalinks";

async fn change(visitor: &mut Visitor<'_>, changes: &[(&str, &str)]) -> HttpResponse {
    submit(visitor, PAGE, &[&[("category_base", ""), ("tag_base", "")], changes].concat(), false).await
}

/// The value of an option, as text.
fn option(site: &Site, name: &'static str) -> String {
    let stored = store(&site.folder).read_blocking(|db| options::get(db, name)).unwrap();
    stored.unwrap_or_default().text().to_owned()
}

fn path_of<'a>(site: &Site, url: &'a str) -> &'a str {
    url.split_once(&site.address.to_string()).unwrap().1
}

/// The permalinks as an administrator reads them.
async fn read(site: &Site, admin: &str) -> Value {
    let headers = [("Authorization", &*basic(admin))];
    crate::client::send(site.address, "GET", ROUTE, &headers, "").await.json()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_reaches_all_urls_and_servers_at_once() {
    let site = Site::start().await;
    let admin = site.app_password();
    let [category, tag] = ["categories", "tags"].map(|base| format!("/svc-json/svc/v2/{base}"));
    let category = site.post(&category, &admin, &json!({"name": "Boats", "slug": "boats"})).await.json();
    let tag = site.post(&tag, &admin, &json!({"name": "Blue", "slug": "blue"})).await.json();
    let body = json!({"title": "Seal", "slug": "seal", "status": "publish", "date": "2024-03-05T10:20:30",
                      "categories": [category["id"]], "tags": [tag["id"]]});
    let id = create(&site, &admin, body).await["id"].as_i64().unwrap();
    // A second server on the same database, which has served the old URLs.
    let listener = bind("127.0.0.1:0").await.unwrap();
    let here = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let other_config = config(&site.folder, &[]);
    let other = SiteBuilder::new().open(&other_config, &here).unwrap();
    let other = Running::start(listener, other.app(), other_config.limits.clone()).unwrap();
    let other_get = |path: String| {
        let address = other.address();
        async move { crate::client::send(address, "GET", &path, &[], "").await }
    };
    let old = "/2024/03/05/seal/";
    assert_eq!((site.get(old).await.status, other_get(old.to_owned()).await.status), (200, 200));
    let mut visitor = logged_in(&site, "admin").await;
    for (changes, path, category_path, tag_path) in [
        (&[("selection", "/%postname%/")][..], "/seal/", "/category/boats/", "/tag/blue/"),
        (
            &[("selection", "custom"), ("structure", "blog/%category%/%post_id%"), ("category_base", "/topics/")],
            "/blog/boats/{id}",
            "/topics/boats",
            "/blog/tag/blue",
        ),
        (
            &[("selection", "/%year%/%monthnum%/%postname%/"), ("tag_base", "label")],
            "/2024/03/seal/",
            "/category/boats/",
            "/label/blue/",
        ),
        (&[("selection", "plain")], "/?p={id}", "/?cat={category}", "/?tag=blue"),
        (&[("selection", "/archives/%post_id%")], "/archives/{id}", "/archives/category/boats", "/archives/tag/blue"),
    ] {
        let stored = svc_store::StoredText::of("rules of WordPress");
        store(&site.folder).write_blocking(move |tx| options::set(tx, "rewrite_rules", &stored, true)).unwrap();
        let saved = change(&mut visitor, changes).await;
        assert_eq!(saved.status, 302, "{changes:?}: {}", saved.body);
        assert_eq!(option(&site, "rewrite_rules"), "", "WordPress computes them again");
        let filled =
            |path: &str| path.replace("{id}", &id.to_string()).replace("{category}", &category["id"].to_string());
        let [path, category_path, tag_path] = [path, category_path, tag_path].map(filled);
        // The REST API, on both servers.
        let route = format!("{}{POSTS}/{id}", if path.contains('?') { "/?rest_route=" } else { "" });
        let route = route.replace("rest_route=/svc-json", "rest_route=");
        for post in [site.get(&route).await.json(), other_get(route.clone()).await.json()] {
            assert_eq!(path_of(&site, post["link"].as_str().unwrap()), path, "{changes:?}");
        }
        // Pages, redirects to them, feeds, and what URLs lead to.
        for response in [site.get(&path).await, other_get(path.clone()).await] {
            assert!(response.status == 200 && response.body.contains("Seal"), "{changes:?}: {}", response.status);
        }
        if !path.contains('?') {
            for response in [site.get(&format!("/?p={id}")).await, other_get(format!("/?p={id}")).await] {
                assert_eq!(path_of(&site, response.header("location")), path, "{changes:?}");
            }
        }
        for archive in [&category_path, &tag_path] {
            let response = site.get(archive).await;
            assert!(response.status == 200 && response.body.contains("Seal"), "{archive}: {}", response.status);
        }
        let feed = site.get("/?feed=rss2").await;
        let feed = if feed.status == 301 { site.get(path_of(&site, feed.header("location"))).await } else { feed };
        assert!(feed.body.contains(&format!("<link>http://{}{path}</link>", site.address)), "{}", feed.body);
        let resolve =
            if path.contains('?') { "/?rest_route=/svc/v2/resolve&url=" } else { "/svc-json/svc/v2/resolve?url=" };
        let found = site.get(&format!("{resolve}{}", encode(&path))).await.json();
        assert_eq!(found["id"], id, "{changes:?}: {found}");
    }
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_permalinks_are_shown_and_change_nothing() {
    let site = Site::start().await;
    let admin = site.app_password();
    let before = read(&site, &admin).await;
    let mut visitor = logged_in(&site, "admin").await;
    for (name, value) in [
        ("structure", "/no-tag/"),
        ("structure", "/%title%/<script>alert(1)</script>"),
        ("structure", "/?a=%postname%"),
        ("structure", "/wp-admin/%postname%"),
        ("structure", "/svc-json/%postname%"),
        ("structure", "/../%postname%/"),
        ("category_base", "tag"),
        ("category_base", "\"><img src=x onerror=alert(1)>/../"),
        ("tag_base", "author"),
        ("tag_base", "%postname%"),
        ("tag_base", "?x=1"),
    ] {
        let mut changes = vec![("selection", "custom"), ("structure", "/%postname%/")];
        changes.retain(|(known, _)| *known != name);
        changes.push((name, value));
        let refused = change(&mut visitor, &changes).await;
        assert_eq!(refused.status, 400, "{value}: {}", refused.body);
        assert_eq!(field(&refused.body, name), value, "what was typed stays");
        assert!(refused.body.contains("aria-invalid=\"true\"") && refused.body.contains("role=\"alert\""), "{value}");
        assert!(!refused.body.contains("<script>alert") && !refused.body.contains("<img src=x"), "{}", refused.body);
        assert_eq!(read(&site, &admin).await, before, "{value}");
    }
    assert_eq!(change(&mut visitor, &[("selection", "nonsense")]).await.status, 400);
    // What can be stored is a path, and appears as text.
    for value in
        ["a\"b'c", "<b>&amp;", "x y", "ünï", "日本", "..a", "%E3%81%82", "&#39;", "a;b", "[a](b)", "${a}", "a\u{202e}b"]
    {
        let structure = format!("/{value}/%postname%");
        let saved = change(&mut visitor, &[("selection", "custom"), ("structure", &structure)]).await;
        assert_eq!(saved.status, 302, "{value}: {}", saved.body);
        let stored = read(&site, &admin).await["structure"].as_str().unwrap().to_owned();
        let page = visitor.get(PAGE).await;
        assert_eq!((page.status, field(&page.body, "structure")), (200, stored.clone()), "{value}");
        assert!(!page.body.contains("<b>&amp;"), "{}", page.body);
        // Saved again, it stays as it is.
        let again = change(&mut visitor, &[("selection", "custom"), ("structure", &stored)]).await;
        assert_eq!((again.status, option(&site, "permalink_structure")), (302, stored), "{value}");
        assert_eq!(site.get("/").await.status, 200, "{value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn permalinks_that_were_changed_elsewhere_are_not_overwritten_unseen() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut visitor = logged_in(&site, "admin").await;
    let page = visitor.get(PAGE).await.body;
    assert_eq!(site.post(ROUTE, &admin, &json!({"structure": "/theirs/%postname%/"})).await.status, 200);
    let mine = [("selection", "/%postname%/"), ("category_base", ""), ("tag_base", "")];
    let refused = send_form(&mut visitor, PAGE, &page, &mine, false).await;
    assert!(refused.status == 412 && refused.body.contains("Somebody else"), "{}", refused.body);
    assert_eq!(option(&site, "permalink_structure"), "/theirs/%postname%/");
    assert_eq!(send_form(&mut visitor, PAGE, &refused.body, &mine, false).await.status, 302);
    assert_eq!(option(&site, "permalink_structure"), "/%postname%/");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_administrators_see_and_change_permalinks() {
    let site = Site::start().await;
    let admin = site.app_password();
    assert_eq!(site.get(ROUTE).await.status, 401);
    for role in ROLES {
        user(&site, &admin, role, role).await;
        let mut visitor = logged_in(&site, role).await;
        let nonce = visitor.get("/wp-admin/admin-ajax.php?action=rest-nonce").await.body;
        let headers = [("X-SVC-Nonce", &*nonce), ("Content-Type", "application/json")];
        let expected = if role == "administrator" { 200 } else { 403 };
        assert_eq!(visitor.request("GET", ROUTE, &headers[..1], "").await.status, expected, "{role}");
        let body = json!({"structure": "/%postname%/"}).to_string();
        assert_eq!(visitor.request("POST", ROUTE, &headers, &body).await.status, expected, "{role}");
    }
}
