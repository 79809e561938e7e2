//! Pages for logged-in users and visitors with a post password: drafts, previews, private posts, comments. Content
//! for one visitor is never served to another.

use serde_json::{Value, json};
use svc_server::SiteBuilder;

use crate::{
    client::HttpResponse,
    site::Site,
    visitor::{Visitor, field, logged_in, user},
};

const UNCACHED: &str = "no-cache, must-revalidate, max-age=0, no-store, private";

async fn post(site: &Site, admin: &str, body: Value) -> Value {
    let created = site.post("/svc-json/svc/v2/posts", admin, &body).await;
    assert_eq!(created.status, 201, "{}", created.body);
    created.json()
}

/// The path and query of a URL of the site.
fn path_of(site: &Site, url: &str) -> String {
    url.split_once(&site.address.to_string()).map_or(url, |(_, path)| path).replace("&#038;", "&").replace("&amp;", "&")
}

/// Follows a redirect.
async fn follow(visitor: &mut Visitor<'_>, site: &Site, response: &HttpResponse) -> HttpResponse {
    assert!(matches!(response.status, 301 | 302), "{}: {}", response.status, response.body);
    let to = path_of(site, response.header("location"));
    visitor.get(to.split('#').next().unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn drafts_and_private_posts_are_shown_to_authorized_users() {
    let site = Site::start().await;
    let admin = site.app_password();
    let author = user(&site, &admin, "ann", "author").await;
    user(&site, &admin, "bob", "author").await;
    user(&site, &admin, "eve", "editor").await;
    let mut paths = Vec::new();
    for status in ["draft", "pending", "private", "future"] {
        let mut body = json!({
            "title": format!("Secret {status}"), "content": "canarytext <!-- wp:post-title /-->", "status": status,
            "author": author, "slug": format!("secret-{status}"),
        });
        if status == "future" {
            body["date"] = "2099-01-01T00:00:00".into();
        }
        let created = post(&site, &admin, body).await;
        paths.push((status, format!("/?p={}", created["id"])));
        paths.push((status, format!("/?p={}&preview=true", created["id"])));
    }
    let mut anonymous = Visitor::new(&site);
    let mut visitors = Vec::new();
    for login in ["ann", "bob", "eve", "admin"] {
        visitors.push((login, logged_in(&site, login).await));
    }
    for round in 0..2 {
        for (status, path) in &paths {
            for (login, visitor) in &mut visitors {
                let page = visitor.get(path).await;
                let is_allowed = *login != "bob";
                assert_eq!(page.status, if is_allowed { 200 } else { 404 }, "{round} {login} {path} ({status})");
                assert_eq!(page.body.contains("canarytext"), is_allowed, "{round} {login} {path} ({status})");
                assert_eq!(
                    page.body.contains(&format!("Secret {status}")),
                    is_allowed,
                    "{round} {login} {path} ({status})"
                );
                assert_eq!(page.header("cache-control"), UNCACHED, "{login} {path}");
                assert_eq!(page.header("etag"), "", "{login} {path}");
            }
            let page = anonymous.get(path).await;
            assert_eq!(page.status, 404, "{path}");
            assert!(!page.body.contains("canarytext") && !page.body.contains("Secret "), "{path}");
        }
        // Lists, feeds and searches do not include them for other users.
        for path in ["/", "/feed/", "/?s=canarytext", "/author/ann/"] {
            for page in [anonymous.get(path).await, visitors[1].1.get(path).await] {
                assert!(!page.body.contains("Secret "), "{path}");
            }
        }
    }
    // An invalid cookie does not authenticate.
    let cookies = visitors[0].1.cookie_header("/").replace("ann%7C", "admin%7C");
    let forged = crate::client::send(site.address, "GET", &paths[0].1, &[("Cookie", &cookies)], "").await;
    assert_eq!(forged.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_shows_the_autosave_to_users_who_may_edit() {
    let site = Site::start().await;
    let admin = site.app_password();
    let author = user(&site, &admin, "ann", "author").await;
    user(&site, &admin, "bob", "author").await;
    let created = post(
        &site,
        &admin,
        json!({"title": "Stored title", "content": "storedtext", "status": "publish", "author": author}),
    )
    .await;
    let mut ann = logged_in(&site, "ann").await;
    let nonce = ann.get("/wp-admin/admin-ajax.php?action=rest-nonce").await.body;
    let headers = [("X-SVC-Nonce", nonce.as_str()), ("Content-Type", "application/json")];
    let route = format!("/svc-json/svc/v2/posts/{}/autosaves", created["id"]);
    let body = json!({"title": "New title", "content": "newtext", "excerpt": "newexcerpt"}).to_string();
    let saved = ann.request("POST", &route, &headers, &body).await;
    assert_eq!(saved.status, 200, "{}", saved.body);
    let preview = path_of(&site, saved.json()["preview_link"].as_str().unwrap());
    assert!(preview.contains("preview_nonce="), "{preview}");
    let page = ann.get(&preview).await;
    assert_eq!((page.status, page.header("cache-control")), (200, UNCACHED), "{preview}");
    assert!(page.body.contains("newtext") && page.body.contains("New title"), "{}", page.body);
    assert!(!page.body.contains("storedtext"));
    // The post itself is unchanged, even for its author.
    let link = path_of(&site, created["link"].as_str().unwrap());
    for page in [ann.get(&link).await, site.get(&link).await] {
        assert!(page.body.contains("storedtext") && !page.body.contains("newtext"));
    }
    // The link is valid for this session only.
    let mut bob = logged_in(&site, "bob").await;
    let mut boss = logged_in(&site, "admin").await;
    for page in [site.get(&preview).await, bob.get(&preview).await, boss.get(&preview).await] {
        assert_eq!(page.status, 403);
        assert!(!page.body.contains("newtext"));
    }
    let wrong = preview.replace(&format!("preview_id={}", created["id"]), "preview_id=1");
    assert_eq!(ann.get(&wrong).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_password_unlocks_the_post_for_its_visitor() {
    let site = Site::start().await;
    let admin = site.app_password();
    let body = json!({
        "title": "Guarded", "content": "canarytext", "excerpt": "canaryexcerpt", "status": "publish", "password": "let me in",
    });
    let created = post(&site, &admin, body).await;
    let link = path_of(&site, created["link"].as_str().unwrap());
    let (mut visitor, mut other) = (Visitor::new(&site), Visitor::new(&site));
    let page = visitor.get(&link).await;
    assert!(page.body.contains("post_password") && !page.body.contains("canarytext"), "{}", page.body);
    assert_eq!(page.header("cache-control"), UNCACHED);
    let to = field(&page.body, "redirect_to");
    for (typed, opens) in [("wrong", false), ("let me in", true)] {
        let fields = [("post_password", typed), ("redirect_to", &*to)];
        let response = visitor.submit("/wp-login.php?action=postpass", &fields).await;
        let cookie =
            response.all("set-cookie").into_iter().find(|c| c.starts_with("svc-postpass_")).unwrap().to_owned();
        assert!(cookie.contains("=%24P%24B") && cookie.contains("Max-Age=864000") && cookie.contains("SameSite=Lax"));
        let page = follow(&mut visitor, &site, &response).await;
        assert_eq!(page.body.contains("canarytext"), opens, "{typed}");
        assert_eq!(page.body.contains("name=\"comment\""), opens, "comments are protected by the password");
        assert_eq!(page.header("cache-control"), UNCACHED);
        assert!(page.body.contains("Protected: Guarded"));
    }
    assert!(!other.get(&link).await.body.contains("canarytext"));
    assert!(!site.get("/feed/").await.body.contains("canarytext"));
    // Redirects lead only to this site.
    let fields = [("post_password", "x"), ("redirect_to", "https://evil.example/")];
    let away = other.submit("/wp-login.php?action=postpass", &fields).await;
    assert_eq!((away.status, away.header("location")), (302, &*format!("http://{}/", site.address)));
    let fields = [("comment_post_ID", created["id"].to_string()), ("comment", "x".to_owned())];
    let fields = fields.each_ref().map(|(n, v)| (*n, v.as_str()));
    let silent = other.submit("/wp-comments-post.php", &fields).await;
    assert_eq!((silent.status, silent.body.as_str()), (200, ""), "comments on a locked post are rejected");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_comment_form_creates_comments() {
    let site = Site::start().await;
    let admin = site.app_password();
    let created = post(&site, &admin, json!({"title": "Talk", "content": "text", "status": "publish"})).await;
    let closed = post(
        &site,
        &admin,
        json!({"title": "Quiet", "content": "text", "status": "publish", "comment_status": "closed"}),
    )
    .await;
    let draft = post(&site, &admin, json!({"title": "Not yet", "content": "text", "status": "draft"})).await;
    let link = path_of(&site, created["link"].as_str().unwrap());
    let id = created["id"].to_string();
    let mut guest = Visitor::new(&site);
    let page = guest.get(&link).await;
    assert!(page.body.contains("/wp-comments-post.php") && page.body.contains("name=\"comment\""), "{}", page.body);
    let (closed, draft) = (closed["id"].to_string(), draft["id"].to_string());
    #[rustfmt::skip]
    let rows: &[(&str, &[(&str, &str)], u16, &str)] = &[
        ("no text", &[("comment_post_ID", &id), ("author", "Ann"), ("email", "a@example.org"), ("comment", " ")], 200, "no text"),
        ("no name", &[("comment_post_ID", &id), ("email", "a@example.org"), ("comment", "c")], 200, "Your name and e-mail address are required"),
        ("no address", &[("comment_post_ID", &id), ("author", "Ann"), ("email", "nothing"), ("comment", "c")], 200, "is not valid"),
        ("closed", &[("comment_post_ID", &closed), ("author", "Ann"), ("email", "a@example.org"), ("comment", "c")], 403, "are closed"),
        ("a draft", &[("comment_post_ID", &draft), ("author", "Ann"), ("email", "a@example.org"), ("comment", "c")], 200, ""),
        ("no post", &[("comment_post_ID", "99999"), ("author", "Ann"), ("email", "a@example.org"), ("comment", "c")], 200, ""),
        ("a reply to nothing", &[("comment_post_ID", &id), ("comment_parent", "99999"), ("author", "Ann"), ("email", "a@example.org"), ("comment", "c")], 403, "cannot reply"),
    ];
    for (name, fields, status, text) in rows {
        let response = guest.submit("/wp-comments-post.php", fields).await;
        assert_eq!(response.status, *status, "{name}: {}", response.body);
        assert!(
            response.body.contains(text) && text.is_empty() == response.body.is_empty(),
            "{name}: {}",
            response.body
        );
    }
    assert_eq!(guest.get("/wp-comments-post.php").await.status, 405);

    // A guest's first comment is held for moderation; the URL identifies its author.
    let fields = [
        ("comment_post_ID", &*id),
        ("author", "<b>Ann</b>"),
        ("email", "a@example.org"),
        ("url", ""),
        ("comment", "Hello <script>x</script>"),
    ];
    let response = guest.submit("/wp-comments-post.php", &fields).await;
    let to = response.header("location").to_owned();
    assert_eq!(response.status, 302, "{}", response.body);
    assert!(to.contains("unapproved=") && to.contains("moderation-hash=") && to.contains("#comment-"), "{to}");
    assert!(!follow(&mut guest, &site, &response).await.body.contains("Hello"), "an unapproved comment is shown");
    // A duplicate comment, and another one too soon.
    assert_eq!(guest.submit("/wp-comments-post.php", &fields).await.status, 409);
    let soon = [("comment_post_ID", &*id), ("author", "Ann"), ("email", "a@example.org"), ("comment", "And again")];
    assert_eq!(guest.submit("/wp-comments-post.php", &soon).await.status, 429);

    // A user's comment has the user's name, even if the form has another.
    let mut boss = logged_in(&site, "admin").await;
    let fields =
        [("comment_post_ID", &*id), ("author", "Somebody"), ("comment", "From the owner <img src=x onerror=y>")];
    let response = boss.submit("/wp-comments-post.php", &fields).await;
    assert_eq!(response.status, 302, "{}", response.body);
    assert!(response.header("location").contains(&format!("{link}#comment-")), "{}", response.header("location"));
    assert!(response.all("set-cookie").is_empty());
    let page = follow(&mut guest, &site, &response).await;
    assert!(page.body.contains("From the owner") && !page.body.contains("onerror"), "{}", page.body);
    assert!(page.body.contains(">admin<") || page.body.contains("admin"), "the comment has the user's name");
    assert!(!page.body.contains("Somebody"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guests_name_is_stored_only_with_consent() {
    for consents in [true, false] {
        let site = Site::start().await;
        let mut guest = Visitor::new(&site);
        let mut fields = vec![
            ("comment_post_ID", "1"),
            ("author", "Kim"),
            ("email", "kim@example.org"),
            ("comment", "Something new"),
        ];
        if consents {
            fields.push(("wp-comment-cookies-consent", "yes"));
        }
        let response = guest.submit("/wp-comments-post.php", &fields).await;
        assert_eq!(response.status, 302, "{}", response.body);
        let cookies = response.all("set-cookie");
        assert!(cookies.len() == 3 && cookies[0].starts_with("comment_author_"), "{cookies:?}");
        assert_eq!(cookies[0].contains("=Kim;"), consents, "{cookies:?}");
        assert_eq!(guest.cookies.len(), if consents { 3 } else { 0 }, "{cookies:?}");
        assert_eq!(
            response.header("location").contains("moderation-hash"),
            !consents,
            "the cookie identifies the author"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_site_shows_login_and_logout_links() {
    let site = Site::start().await;
    let front = site.get("/").await;
    assert!(front.body.contains("wp-login.php?redirect_to=") && front.body.contains(">Log in</a>"), "{}", front.body);
    assert!(!front.header("cache-control").contains("no-store"));
    let mut boss = logged_in(&site, "admin").await;
    let front = boss.get("/").await;
    assert_eq!(front.header("cache-control"), UNCACHED);
    let link = front.body.split("href=\"").find(|l| l.contains("action=logout")).expect("a log-out link");
    let link = path_of(&site, link.split('"').next().unwrap());
    assert!(link.contains("_svcnonce="), "{link}");
    let out = boss.get(&link).await;
    assert_eq!(out.status, 302, "{}", out.body);
    assert!(boss.get("/").await.body.contains(">Log in</a>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_feeds_and_robots_have_security_headers() {
    let site = Site::start().await;
    for path in [
        "/",
        "/feed/",
        "/robots.txt",
        "/nosuch/",
        "/about/",
        "/about/embed/",
        "/favicon.ico",
        "/xmlrpc.php?rsd",
        "/?p=1",
    ] {
        let page = site.get(path).await;
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(page.header("referrer-policy"), "strict-origin-when-cross-origin", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_signed_in_users_link_to_their_profile_and_the_explorer() {
    for (settings, has_explorer) in [(&[][..], true), (&[("explorer", "false")], false)] {
        let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), settings).await;
        let mut admin = logged_in(&site, "admin").await;
        for path in ["/", "/?s=site", "/nothing-here/"] {
            let page = admin.get(path).await;
            assert!(page.body.contains("/wp-admin/profile.php\">Profile</a>"), "{path}: {}", page.body);
            assert_eq!(page.body.contains("<a href=\"/svc-explorer/\">API Explorer</a>"), has_explorer, "{path}");
            assert!(page.status != 200 || page.header("cache-control").contains("no-store"), "{path}");
            let public = site.get(path).await;
            assert!(!public.body.contains("profile.php") && !public.body.contains("API Explorer"), "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_editors_link_to_the_admin() {
    let site = Site::start().await;
    let admin = site.app_password();
    user(&site, &admin, "ann", "author").await;
    user(&site, &admin, "sue", "subscriber").await;
    let body = json!({"title": "Hers", "status": "publish"});
    let post = post(&site, &admin, body).await;
    let path = path_of(&site, post["link"].as_str().unwrap());
    let edit = format!("/wp-admin/post.php?post={}&#38;action=edit\">Edit</a>", post["id"]);
    for (login, may_edit, may_write) in [("admin", true, true), ("ann", false, true), ("sue", false, false)] {
        let mut visitor = logged_in(&site, login).await;
        let page = visitor.get(&path).await.body;
        assert_eq!((page.contains(&edit), page.contains("post-new.php")), (may_edit, may_write), "{login}: {page}");
        assert!(!visitor.get("/").await.body.contains(">Edit</a>"), "{login}");
    }
    assert!(!site.get(&path).await.body.contains("wp-admin/post"));
}
