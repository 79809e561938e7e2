//! The setting `users`: to whom the site shows its users, on all routes and pages.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc_server::SiteBuilder;

use crate::{
    cached_responses::{API, PAGES, READS},
    client::{HttpResponse, send},
    site::{Site, basic, execute},
};

/// The user: nothing else on the site contains these texts.
const ID: i64 = 987_654;
const LOGIN: &str = "zqlogin";
const SLUG: &str = "zqslug";
const NAME: &str = "Zqname Display";
const EMAIL: &str = "zqmail@example.test";

/// A site on which a user has written everything, and the credentials of its administrator.
async fn site(users: &str) -> (Site, String) {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &[("users", users)]).await;
    let admin = site.app_password();
    let user = json!({"username": LOGIN, "name": NAME, "slug": SLUG, "email": EMAIL, "password": "a long password",
        "roles": ["author"], "description": "Zqname's biography"});
    let created = site.post(&format!("{API}/users"), &admin, &user).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let silent = json!({"username": "zqsilent", "name": "Zqsilent", "email": "zqsilent@example.test", "password": "a long password"});
    assert_eq!(site.post(&format!("{API}/users"), &admin, &silent).await.status, 201);
    let comment =
        json!({"post": 1, "content": "A comment", "author_name": "Guest", "author_email": "guest@example.org"});
    assert_eq!(site.post(&format!("{API}/comments"), &admin, &comment).await.status, 201);
    let blocks = "<!-- wp:post-author /--><!-- wp:post-author-name {\"isLink\":true} /--><!-- wp:post-author-biography /-->\
        <!-- wp:avatar {\"isLink\":true} /--><!-- wp:latest-posts {\"displayAuthor\":true} /--><!-- wp:latest-comments /-->\
        <!-- wp:comments --><!-- wp:comment-template --><!-- wp:comment-author-name /--><!-- wp:avatar /-->\
        <!-- /wp:comment-template --><!-- /wp:comments -->";
    for kind in ["posts", "pages"] {
        let post = json!({"title": "By somebody", "slug": "by-somebody", "content": blocks, "status": "publish", "comment_status": "open"});
        assert_eq!(site.post(&format!("{API}/{kind}"), &admin, &post).await.status, 201);
    }
    let old = created.json()["id"].as_i64().unwrap();
    execute(
        &site.folder,
        &format!(
            "UPDATE wp_users SET ID = {ID} WHERE ID = {old}; UPDATE wp_usermeta SET user_id = {ID} WHERE user_id = {old}; \
             UPDATE wp_posts SET post_author = {ID}; \
             UPDATE wp_comments SET user_id = {ID}, comment_author = '{NAME}', comment_author_email = '{EMAIL}', \
             comment_author_url = 'https://{SLUG}.example/'"
        ),
    );
    (site, admin)
}

/// The URLs that visitors may request: all operations that read, and pages.
async fn urls(site: &Site) -> BTreeSet<String> {
    let document = send(site.address, "GET", "/svc-json/openapi.json", &[], "").await.json();
    let mut urls: BTreeSet<String> = PAGES.iter().map(|page| (*page).to_owned()).collect();
    for (path, operations) in document["paths"].as_object().unwrap() {
        if operations.get("get").is_none() {
            continue;
        }
        for id in ["1", "2", &ID.to_string()] {
            let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
            for part in parts.iter_mut().filter(|part| part.contains('{')) {
                *part = id.to_owned();
            }
            urls.insert(format!("/svc-json{}", parts.join("/").trim_start_matches("/svc-json")));
        }
    }
    urls.extend(READS.iter().map(|path| format!("{API}{path}").replace("/svc-json/svc/v2/../..", "/svc-json/")));
    let posts = site.get(&format!("{API}/posts")).await.json();
    for post in posts.as_array().unwrap() {
        let link = post["link"].as_str().unwrap();
        let path = &link[link.find("://").unwrap() + 3..];
        let path = &path[path.find('/').unwrap()..];
        urls.extend(["", "feed/", "embed/"].map(|form| format!("{path}{form}")));
        let encoded = link.replace(':', "%3A").replace('/', "%2F");
        urls.insert(format!("/svc-json/oembed/1.0/embed?url={encoded}"));
        urls.insert(format!("/svc-json/oembed/1.0/embed?format=xml&url={encoded}"));
        urls.insert(format!("{API}/resolve?url={encoded}"));
    }
    for path in [
        format!("{API}/posts?_embed"),
        format!("{API}/posts?author={ID}"),
        format!("{API}/posts?author_exclude={ID}"),
        format!("{API}/posts?orderby=author"),
        format!("{API}/comments?_embed"),
        format!("{API}/comments?search={LOGIN}"),
        format!("{API}/comments?author={ID}"),
        format!("{API}/users?slug={SLUG}"),
        format!("{API}/users?search={LOGIN}"),
        format!("{API}/users?include={ID}"),
        format!("{API}/users/{ID}/application-passwords"),
        format!("{API}/search?search=somebody&_embed"),
        format!("{API}/resolve?url=%2Fauthor%2F{SLUG}%2F"),
        format!("{API}/resolve?url=%2F%3Fauthor%3D{ID}"),
        format!("{API}/changes?since=0"),
        format!("/?author={ID}"),
        format!("/author/{SLUG}/"),
        format!("/author/{SLUG}/feed/"),
        format!("/?author_name={SLUG}"),
        "/?s=somebody".to_owned(),
        "/?feed=atom".to_owned(),
        "/by-somebody/".to_owned(),
        "/wp-sitemap-users-1.xml".to_owned(),
    ] {
        urls.insert(path);
    }
    urls
}

/// What a response tells of the user that its URL does not.
fn told(url: &str, response: &HttpResponse) -> Vec<String> {
    let hash =
        |text: &str| Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let headers: String = response.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let text = format!("{headers}{}", response.body);
    let texts = [ID.to_string(), LOGIN.to_owned(), SLUG.to_owned(), "Zqname".to_owned(), EMAIL.to_owned(), hash(EMAIL)];
    texts.into_iter().filter(|of_user| !url.contains(of_user.as_str()) && text.contains(of_user.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_site_tells_visitors_nothing_of_its_users() {
    let (site, admin) = site("private").await;
    let urls = urls(&site).await;
    assert!(urls.len() > 200, "{}", urls.len());
    let mut wrong = Vec::new();
    for url in &urls {
        let response = site.get(url).await;
        assert_ne!(response.status, 500, "{url}: {}", response.body);
        let told = told(url, &response);
        if !told.is_empty() {
            let at = response.body.find(told[0].as_str()).unwrap_or(0);
            let around: String = response.body.chars().skip(at.saturating_sub(80)).take(160).collect();
            wrong.push(format!("{url} ({}): {told:?} in {around}", response.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Users who exist cannot be told from others, whatever the method is.
    for method in ["GET", "POST", "DELETE", "OPTIONS"] {
        for route in ["users/{id}", "users/{id}/application-passwords"] {
            let of = async |id: i64| {
                let path = format!("{API}/{}", route.replace("{id}", &id.to_string()));
                let response = send(site.address, method, &path, &[], "").await;
                (response.status, response.body.replace(&id.to_string(), "ID"), response.header("allow").to_owned())
            };
            assert_eq!(of(ID).await, of(ID + 1).await, "{method} {route}");
        }
    }
    for path in [format!("/?author={ID}"), format!("/author/{SLUG}/"), format!("/author/{SLUG}/feed/")] {
        assert_eq!(site.get(&path).await.status, 404, "{path}");
    }
    // Those who are logged in see authors.
    let authorization = basic(&admin);
    let headers = [("Authorization", authorization.as_str())];
    let post = send(site.address, "GET", &format!("{API}/posts/1?_embed=author"), &headers, "").await.json();
    assert_eq!((&post["author"], &post["_embedded"]["author"][0]["name"]), (&json!(ID), &json!(NAME)));
    let users = send(site.address, "GET", &format!("{API}/users?per_page=100"), &headers, "").await.json();
    assert_eq!(users.as_array().map(Vec::len), Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_sites_show_authors_or_everybody() {
    for (setting, n, silent) in [("authors", 1, 401), ("public", 3, 200)] {
        let (site, admin) = site(setting).await;
        let authorization = basic(&admin);
        let all =
            send(site.address, "GET", &format!("{API}/users"), &[("Authorization", &authorization)], "").await.json();
        let all = all.as_array().unwrap().clone();
        let silent_id = all.iter().find(|user| user["slug"] == "zqsilent").unwrap()["id"].clone();
        let users = site.get(&format!("{API}/users")).await.json();
        assert_eq!(users.as_array().map(Vec::len), Some(n), "{setting}: {users}");
        assert_eq!(site.get(&format!("{API}/users/{silent_id}")).await.status, silent, "{setting}");
        // An address is for nobody.
        assert!(!users.to_string().contains("example.test"));
        assert!(users[0].get("email").is_none_or(Value::is_null));
        // What the other test looks for is there.
        let urls = urls(&site).await;
        let mut telling = 0;
        for url in &urls {
            telling += usize::from(!told(url, &site.get(url).await).is_empty());
        }
        assert!(telling > 25, "{setting}: {telling} of {}", urls.len());
    }
}
