//! Login over plain HTTP: cookies, nonces, sessions, application passwords, and rejected requests.

use svc_server::SiteBuilder;

use crate::{
    client::{HttpResponse, send},
    site::{Site, basic, store},
    visitor::{Visitor, encode, field},
};

const POSTS: &str = "/svc-json/svc/v2/posts";
const ME: &str = "/svc-json/svc/v2/users/me";
const AUTHORIZE: &str = "/wp-admin/authorize-application.php";
const PROFILE: &str = "/wp-admin/profile.php";
const NONCE: &str = "/wp-admin/admin-ajax.php?action=rest-nonce";

fn password(site: &Site) -> String {
    site.created.as_ref().expect("a new site").password.expose().to_owned()
}

async fn admin(site: &Site) -> Visitor<'_> {
    let mut visitor = Visitor::new(site);
    let response = visitor.log_in("admin", &password(site)).await;
    assert_eq!(response.status, 302, "{}", response.body);
    visitor
}

async fn with_basic(site: &Site, user: &str, path: &str) -> HttpResponse {
    send(site.address, "GET", path, &[("Authorization", &basic(user))], "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_sets_the_cookies_of_wordpress() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start_in(folder, &SiteBuilder::new(), &[("brand", "wp")]).await;
    let mut visitor = Visitor::new(&site);
    visitor.get("/wp-login.php").await;
    let fields = [("log", "admin"), ("pwd", &*password(&site)), ("rememberme", "forever"), ("testcookie", "1")];
    let response = visitor.submit("/wp-login.php", &fields).await;
    assert_eq!((response.status, response.header("location")), (302, &*format!("{}/wp-admin/", visitor.home())));
    let mut set: Vec<(String, String)> = Vec::new();
    for line in response.all("set-cookie") {
        let name = line.split('=').next().unwrap().trim_end_matches(|c: char| c.is_ascii_hexdigit()).to_owned();
        let path = line.split("Path=").nth(1).unwrap().split(';').next().unwrap().to_owned();
        assert!(line.ends_with("; HttpOnly; SameSite=Lax") && line.contains("; Max-Age=1252800;"), "{line}");
        set.push((name, path));
    }
    let expected = [("wordpress_", "/wp-content/plugins"), ("wordpress_", "/wp-admin"), ("wordpress_logged_in_", "/")];
    assert_eq!(set, expected.map(|(name, path)| (name.to_owned(), path.to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_logins_store_all_sessions() {
    let site = Site::start().await;
    let password = password(&site);
    let mut visitors: Vec<Visitor<'_>> = (0..8).map(|_| Visitor::new(&site)).collect();
    for response in futures_util::future::join_all(visitors.iter_mut().map(|v| v.log_in("admin", &password))).await {
        assert_eq!(response.status, 302, "{}", response.body);
    }
    for visitor in &mut visitors {
        assert_eq!(visitor.get("/wp-admin/profile.php").await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_of_https_sites_are_secure() {
    let site = Site::start().await;
    let password = password(&site);
    let site = Site::start_in(site.stop().await, &SiteBuilder::new(), &[("site_url", "https://example.org")]).await;
    let mut visitor = Visitor::new(&site);
    let response = visitor.log_in("admin", &password).await;
    let lines = response.all("set-cookie");
    assert!(lines.len() == 3 && lines.iter().all(|l| l.contains("; Secure;") && !l.contains("Max-Age")), "{lines:?}");
    assert!(lines[0].starts_with("svc_sec_") && lines[2].starts_with("svc_logged_in_"), "{lines:?}");
    assert_eq!(visitor.get("/wp-admin/profile.php").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_logins_do_not_reveal_which_users_exist() {
    let site = Site::start().await;
    let message = |response: &HttpResponse| {
        let text = response.body.split("id=\"problem\"").nth(1)?;
        Some((response.status, text.split(['<', '>']).nth(1)?.to_owned()))
    };
    let mut seen = Vec::new();
    for name in ["admin", "nobody", "nobody@example.org"] {
        let response = Visitor::new(&site).log_in(name, "wrong").await;
        assert!(response.all("set-cookie").iter().all(|c| c.contains("test_cookie")));
        seen.push(message(&response).expect("a message"));
    }
    assert!(seen.iter().all(|m| *m == seen[0]), "{seen:?}");
    // Without cookies, the login fails with a message about cookies.
    let fields = [("log", "admin"), ("pwd", "x"), ("testcookie", "1")];
    let response = Visitor::new(&site).submit("/wp-login.php", &fields).await;
    assert!(message(&response).unwrap().1.contains("cookies"));
}

#[tokio::test(flavor = "multi_thread")]
async fn login_attempts_are_limited() {
    let site = Site::start().await;
    let mut visitor = Visitor::new(&site);
    let mut rejected = None;
    for n in 0..12 {
        let response = visitor.submit("/wp-login.php", &[("log", "admin"), ("pwd", "wrong")]).await;
        if response.status == 429 {
            rejected = Some((n, response));
            break;
        }
    }
    let (n, response) = rejected.expect("a limit");
    assert_eq!(n, 10);
    assert!((1..=16).contains(&response.header("retry-after").parse::<u64>().unwrap()));
    let right = visitor.submit("/wp-login.php", &[("log", "ADMIN"), ("pwd", &password(&site))]).await;
    assert_eq!(right.status, 429, "the limit also applies to the right password and ignores case");
    assert_eq!(visitor.submit("/wp-login.php", &[("log", "other"), ("pwd", "wrong")]).await.status, 200);
}

/// A wrong application password is an error on every route, but not for a user with a valid cookie.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_application_password_is_an_error() {
    for (setting, is_error) in [(None, true), (Some("error"), true), (Some("anonymous"), false)] {
        let settings: Vec<_> = setting.into_iter().map(|value| ("wrong_application_password", value)).collect();
        let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
        let mut visitor = admin(&site).await;
        for is_in_use in [false, true] {
            let right = is_in_use.then(|| site.app_password());
            for (user, code) in [
                ("admin:wrong", "incorrect_password"),
                ("nobody:wrong", "invalid_username"),
                ("nobody@example.org:wrong", "invalid_email"),
            ] {
                for path in
                    [POSTS, "/svc-json/", "/svc-json/svc/v2/types", "/svc-json/nosuch", "/?rest_route=/svc/v2/posts"]
                {
                    let response = with_basic(&site, user, path).await;
                    let without = site.get(path).await;
                    let found = response.json()["code"].as_str().map(str::to_owned);
                    if is_error {
                        assert_eq!((response.status, found.as_deref()), (401, Some(code)), "{setting:?} {user} {path}");
                        assert_eq!(response.json()["data"]["status"], 401);
                        assert!(response.header("cache-control").contains("no-store"), "{response:?}");
                    } else {
                        assert_eq!((response.status, response.body), (without.status, without.body), "{user} {path}");
                    }
                }
            }
            if let Some(right) = right {
                assert_eq!(with_basic(&site, &right, ME).await.status, 200);
            }
        }
        // Browsers also send the password of a proxy in front of the site.
        let nonce = visitor.get(NONCE).await.body;
        let wrong = basic("staging:password");
        let headers = [("Authorization", wrong.as_str()), ("X-SVC-Nonce", nonce.as_str())];
        assert_eq!(visitor.request("GET", ME, &headers, "").await.json()["id"], 1, "{setting:?}");
        let forged = visitor.cookie_header(ME).replace("admin%7C", "admin%7C1");
        let headers = [("Authorization", wrong.as_str()), ("Cookie", forged.as_str())];
        assert_eq!(send(site.address, "GET", ME, &headers, "").await.status, 401);
        let expected = if is_error { 401 } else { 200 };
        assert_eq!(send(site.address, "GET", POSTS, &headers, "").await.status, expected, "{setting:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_application_passwords_are_limited() {
    let site = Site::start().await;
    let right = site.app_password();
    // The limit allows one more attempt per second, so a slow machine may need several rounds.
    let mut response = None;
    for _ in 0..20 {
        let wrong = (0..64).map(|_| with_basic(&site, "admin:wrong", ME));
        for rejected in futures_util::future::join_all(wrong).await {
            assert!(matches!(rejected.status, 401 | 429), "{}", rejected.status);
            response = Some(rejected).filter(|r| r.status == 429).or(response);
        }
        if response.is_some() {
            break;
        }
    }
    let response = response.expect("a limit");
    assert_eq!(response.json()["code"].as_str(), Some("rest_too_many_attempts"));
    assert!(!response.header("retry-after").is_empty());
    assert_eq!(with_basic(&site, &right, ME).await.status, 200, "a valid password is still accepted");
    assert_eq!(site.get(POSTS).await.status, 200, "requests without a password are not limited");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_with_a_nonce_authenticates_until_logout() {
    let site = Site::start().await;
    let mut visitor = Visitor::new(&site);
    assert_eq!((visitor.get(NONCE).await.status, visitor.get(NONCE).await.body.as_str()), (400, "0"));
    // Users can also log in with their e-mail address.
    change_admin(&site, |admin| admin.email = "owner@example.org".to_owned());
    assert_eq!(visitor.log_in("owner@example.org", &password(&site)).await.status, 302);
    assert_eq!(visitor.get(ME).await.status, 401, "a cookie without a nonce does not authenticate");
    let nonce = visitor.get(NONCE).await;
    assert_eq!((nonce.status, nonce.body.len()), (200, 10));
    assert!(nonce.header("cache-control").contains("no-store"));
    let me = visitor.request("GET", ME, &[("X-SVC-Nonce", &nonce.body)], "").await;
    assert_eq!((me.status, me.json()["name"].as_str()), (200, Some("admin")));
    assert_eq!(me.header("x-svc-nonce"), nonce.body);
    assert_eq!(visitor.request("GET", ME, &[("X-SVC-Nonce", "0123456789")], "").await.status, 403);

    // Without a nonce, logging out requires confirmation.
    let response = visitor.get("/wp-login.php?action=logout").await;
    assert_eq!(response.status, 403);
    let own = visitor.cookies.clone();
    let fields = [("action", "logout"), ("_svcnonce", &*field(&response.body, "_svcnonce"))];
    let out = visitor.submit("/wp-login.php", &fields).await;
    assert_eq!(out.status, 302);
    assert!(out.header("location").ends_with("/wp-login.php?loggedout=true"));
    assert!(visitor.cookies.iter().all(|(name, ..)| name.contains("test_cookie")), "{:?}", visitor.cookies);
    // The old cookies are no longer valid.
    visitor.cookies = own;
    assert_eq!(visitor.get(NONCE).await.status, 400);
    assert_eq!(visitor.get("/wp-admin/profile.php").await.status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn login_redirects_only_to_this_site() {
    let site = Site::start().await;
    let home = format!("http://{}", site.address);
    for (redirect_to, expected) in [
        (format!("{home}/about/"), format!("{home}/about/")),
        ("/wp-admin/profile.php?a=b".to_owned(), format!("{home}/wp-admin/profile.php?a=b")),
        ("https://evil.example/".to_owned(), format!("{home}/wp-admin/")),
        ("//evil.example/".to_owned(), format!("{home}/wp-admin/")),
        ("javascript:alert(1)".to_owned(), format!("{home}/wp-admin/")),
    ] {
        let fields = [("log", "admin"), ("pwd", &*password(&site)), ("redirect_to", &redirect_to)];
        let response = Visitor::new(&site).submit("/wp-login.php", &fields).await;
        assert_eq!((response.status, response.header("location")), (302, expected.as_str()), "{redirect_to}");
    }
    assert_eq!(admin(&site).await.get("/wp-admin/").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_sites_cannot_post_or_frame() {
    let site = Site::start().await;
    let mut visitor = admin(&site).await;
    let form = visitor.get(&format!("{AUTHORIZE}?app_name=x")).await;
    for (path, body) in [
        ("/wp-login.php", format!("log=admin&pwd={}", password(&site))),
        (AUTHORIZE, format!("app_name=x&approve=1&_svcnonce={}", field(&form.body, "_svcnonce"))),
    ] {
        for (header, value) in
            [("Origin", "https://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")]
        {
            let headers = [("Content-Type", "application/x-www-form-urlencoded"), (header, value)];
            assert_eq!(visitor.request("POST", path, &headers, &body).await.status, 403, "{path} {header}: {value}");
        }
    }
    for path in ["/wp-login.php", AUTHORIZE, "/wp-admin/profile.php", "/wp-admin/nosuch.php"] {
        let page = visitor.get(path).await;
        assert_eq!(page.header("x-frame-options"), "DENY", "{path}");
        assert!(page.header("content-security-policy").contains("frame-ancestors 'none'"), "{path}");
        assert!(page.header("cache-control").contains("no-store"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_is_approved_and_revoked() {
    let site = Site::start().await;
    let query = "?app_name=My+App&app_id=e2a4b0c4-7a0e-4d7c-8f5f-3f1f0b8b2f10&success_url=https%3A%2F%2Fapp.example%2Fdone%3Fx%3D1";
    let authorize_url = format!("{AUTHORIZE}{query}");
    let response = site.get(&authorize_url).await;
    let back =
        format!("/wp-login.php?redirect_to={}&reauth=1", encode(&format!("http://{}{authorize_url}", site.address)));
    assert_eq!(response.status, 302);
    let plain = |text: &str| text.replace("%2D", "-").replace("%2E", ".").replace("%5F", "_").replace("%7E", "~");
    assert_eq!(response.header("location"), format!("http://{}{}", site.address, plain(&back)));

    let mut visitor = admin(&site).await;
    let page = visitor.get(&authorize_url).await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-security-policy").contains("form-action 'self' https://app.example"));
    let value = |name| field(&page.body, name);
    let (nonce, success, reject) = (value("_svcnonce"), value("success_url"), value("reject_url"));
    assert_eq!(reject, "https://app.example/done?x=1&success=false");
    let fields =
        [("app_name", "My App"), ("app_id", &value("app_id")), ("success_url", &success), ("reject_url", &reject)];
    let with = |nonce: &str, button: &str| {
        let mut all: Vec<(String, String)> = fields.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        all.extend([("_svcnonce".to_owned(), nonce.to_owned()), (button.to_owned(), "1".to_owned())]);
        all
    };
    async fn submit(visitor: &mut Visitor<'_>, fields: Vec<(String, String)>) -> HttpResponse {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        visitor.submit(AUTHORIZE, &fields).await
    }
    assert_eq!(submit(&mut visitor, with("", "approve")).await.status, 403);
    let rejected = submit(&mut visitor, with(&nonce, "reject")).await;
    assert_eq!((rejected.status, rejected.header("location")), (302, reject.as_str()));
    let approved = submit(&mut visitor, with(&nonce, "approve")).await;
    assert_eq!(approved.status, 302);
    let (to, secret) = approved.header("location").split_once("&password=").expect("a password");
    let own = encode(&format!("http://{}", site.address)).replace("%2E", ".");
    assert_eq!(to, format!("https://app.example/done?x=1&site_url={own}&user_login=admin"));
    assert_eq!(secret.len(), 24);

    let user = format!("admin:{secret}");
    assert_eq!(with_basic(&site, &user, ME).await.status, 200);
    let profile = visitor.get("/wp-admin/profile.php").await;
    assert!(profile.body.contains("My App") && profile.body.contains("last used on"));
    let (uuid, nonce) = (field(&profile.body, "uuid"), field(&profile.body, "_svcnonce"));
    let revoke = [("action", "revoke"), ("uuid", uuid.as_str()), ("_svcnonce", &nonce)];
    let revoked = visitor.submit("/wp-admin/profile.php", &revoke).await;
    assert_eq!(revoked.header("location"), format!("http://{}/wp-admin/profile.php?done=revoked", site.address));
    assert_eq!(with_basic(&site, &user, ME).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_without_an_application_is_shown_once() {
    let site = Site::start().await;
    let mut visitor = admin(&site).await;
    let name = "<b>Notebook</b> & ".to_owned() + &"x".repeat(6_000);
    let form = visitor.get(&format!("{AUTHORIZE}?app_name=Notebook")).await;
    let nonce = field(&form.body, "_svcnonce");
    let approve = [("app_name", &*name), ("approve", "1"), ("_svcnonce", &*nonce)];
    let approved = visitor.submit(AUTHORIZE, &approve).await;
    let shown = visitor.follow(&approved).await;
    let secret = shown.body.split("id=\"new-password\">").nth(1).expect("a password").split('<').next().unwrap();
    assert_eq!(with_basic(&site, &format!("admin:{}", secret.replace(' ', "")), ME).await.status, 200);
    assert!(!format!("{approved:?}").contains(secret));
    // A reload leads to the list, which has one password.
    let again = visitor.follow(&approved).await;
    let list = visitor.follow(&again).await;
    assert_eq!(list.body.matches("name=\"uuid\"").count(), 1, "{}", list.body);
    assert!(!list.body.contains(secret));
}

#[tokio::test(flavor = "multi_thread")]
async fn unsafe_redirect_urls_of_applications_are_rejected() {
    let site = Site::start().await;
    let mut visitor = admin(&site).await;
    for (query, status) in [
        ("success_url=javascript%3A%2F%2Fa.b%2F%250aalert(1)", 400),
        ("success_url=https%3A%2F%2Fa.b%2F&reject_url=data%3A%2F%2Fx%2F", 400),
        ("success_url=%2F%2Fa.b", 400),
        ("app_id=7", 400),
        ("success_url=wordpress%3A%2F%2Fapp-login", 200),
        ("success_url=http%3A%2F%2Fa.b%2F", 200),
    ] {
        assert_eq!(visitor.get(&format!("{AUTHORIZE}?app_name=x&{query}")).await.status, status, "{query}");
    }
    let script = visitor.get(&format!("{AUTHORIZE}?app_name=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")).await;
    assert!(!script.body.contains("<script"), "{}", script.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_listed_and_ended() {
    let site = Site::start().await;
    let (mut first, mut second) = (admin(&site).await, admin(&site).await);
    let profile = first.get("/wp-admin/profile.php").await;
    let (session, nonce) = (field(&profile.body, "session"), field(&profile.body, "_svcnonce"));
    assert_eq!(profile.body.matches("name=\"session\"").count(), 1, "the current session is not listed");
    let end = [("action", "end-session"), ("session", session.as_str()), ("_svcnonce", &nonce)];
    assert_eq!(first.submit("/wp-admin/profile.php", &end).await.status, 302);
    assert_eq!(second.get("/wp-admin/profile.php").await.status, 302, "redirected to the login page");
    assert_eq!(first.get("/wp-admin/profile.php").await.status, 200);

    let mut third = admin(&site).await;
    let others = [("action", "end-others"), ("_svcnonce", nonce.as_str())];
    assert_eq!(first.submit("/wp-admin/profile.php", &others).await.status, 302);
    assert_eq!(third.get("/wp-admin/profile.php").await.status, 302);
    assert_eq!(first.get("/wp-admin/profile.php").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn users_change_their_name_and_email_address() {
    let site = Site::start().await;
    let mut visitor = admin(&site).await;
    let nonce = field(&visitor.get(PROFILE).await.body, "_svcnonce");
    let form = |name, email| [("action", "details"), ("display_name", name), ("email", email)];
    let with_nonce = |form: [(&'static str, &'static str); 3]| [&form[..], &[("_svcnonce", &*nonce)]].concat();

    let forged = visitor.submit(PROFILE, &form("Forged", "a@example.org")).await;
    assert_eq!(forged.status, 403, "a form without a nonce");
    for (name, email, problem) in
        [("", "a@example.org", "The display name is required."), ("Ada", "nowhere", "The email address is not valid.")]
    {
        let rejected = visitor.submit(PROFILE, &with_nonce(form(name, email))).await;
        assert_eq!(rejected.status, 400);
        assert!(rejected.body.contains(problem), "{}", rejected.body);
        assert_eq!(field(&rejected.body, "email"), email, "the form keeps what was typed");
    }
    let saved = visitor.submit(PROFILE, &with_nonce(form("Ada & Co", "ada@example.org"))).await;
    assert_eq!((saved.status, saved.header("location")), (302, &*format!("{}{PROFILE}?done=details", visitor.home())));
    let page = visitor.get(&format!("{PROFILE}?done=details")).await;
    assert!(page.body.contains("Your account has been updated."), "{}", page.body);
    assert_eq!(field(&page.body, "display_name"), "Ada & Co");
    assert_eq!(
        visitor.submit(PROFILE, &with_nonce(form("Ada & Co", "ada@example.org"))).await.status,
        302,
        "no change"
    );
    assert_eq!(Visitor::new(&site).log_in("ada@example.org", &password(&site)).await.status, 302);

    let about = [
        ("first_name", "Ada <b>"),
        ("last_name", "King & Noel"),
        ("nickname", "ada"),
        ("user_url", "https://ada.example/?a=1&b=2"),
        ("description", "\"Notes\" & more\r\nof 1843"),
    ];
    let sent = [&[("action", "details"), ("_svcnonce", &*nonce)], &about[..]].concat();
    assert_eq!(visitor.submit(PROFILE, &sent).await.status, 302);
    let page = visitor.get(PROFILE).await.body;
    for (name, value) in [("display_name", "Ada & Co"), ("first_name", "Ada"), about[1], about[2], about[3]] {
        assert_eq!(field(&page, name), value, "{name}");
    }
    assert!(page.contains("\n&#34;Notes&#34; &#38; more\nof 1843</textarea>"), "{page}");
    let user = visitor.get("/svc-json/svc/v2/users/1").await.json();
    assert_eq!(
        (&user["name"], &user["url"]),
        (&serde_json::json!("Ada &amp; Co"), &serde_json::json!("https://ada.example/?a=1&amp;b=2"))
    );
    let rejected = visitor.submit(PROFILE, &[&sent[..2], &[("nickname", ""), ("last_name", "<kept>")]].concat()).await;
    assert_eq!((rejected.status, &*field(&rejected.body, "last_name")), (400, "<kept>"));
    assert!(rejected.body.contains("The nickname is required."), "{}", rejected.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn users_change_their_password() {
    let site = Site::start().await;
    let (mut visitor, mut other) = (admin(&site).await, admin(&site).await);
    let old = password(&site);
    let nonce = field(&visitor.get(PROFILE).await.body, "_svcnonce");
    let form = |current, new, again| {
        let fields = [("action", "password"), ("_svcnonce", &*nonce), ("current_password", current)];
        [&fields[..], &[("new_password", new), ("new_password_again", again)]].concat()
    };
    for (current, new, again, problem) in [
        ("wrong", "correct horse", "correct horse", "The current password is wrong."),
        (&*old, "correct horse", "correct cow", "The two new passwords are different."),
        (&*old, "short", "short", "8 characters or more"),
        (&*old, " with spaces ", " with spaces ", "begin or end with a space"),
    ] {
        let rejected = visitor.submit(PROFILE, &form(current, new, again)).await;
        assert_eq!(rejected.status, 400, "{problem}");
        assert!(rejected.body.contains(problem), "{}", rejected.body);
    }
    let refused = visitor.submit(PROFILE, &form(&old, "back\\slash", "back\\slash")).await;
    assert_eq!(refused.status, 400, "a password that the REST API rejects: {}", refused.body);
    assert_eq!(other.get(PROFILE).await.status, 200, "nothing has changed so far");

    let changed = visitor.submit(PROFILE, &form(&old, "correct \"horse\"", "correct \"horse\"")).await;
    assert_eq!(
        (changed.status, changed.header("location")),
        (302, &*format!("{}{PROFILE}?done=password", visitor.home()))
    );
    let page = visitor.get(&format!("{PROFILE}?done=password")).await;
    assert_eq!(page.status, 200, "this browser stays logged in");
    assert!(
        page.body.contains("Your password has been changed.") && !page.body.contains("name=\"session\""),
        "{}",
        page.body
    );
    assert_eq!(other.get(PROFILE).await.status, 302, "other sessions have ended");
    assert_eq!(Visitor::new(&site).log_in("admin", &old).await.status, 200, "the old password is wrong");
    assert_eq!(Visitor::new(&site).log_in("admin", "correct \"horse\"").await.status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_of_the_current_password_are_limited() {
    let site = Site::start().await;
    let mut visitor = admin(&site).await;
    let nonce = field(&visitor.get(PROFILE).await.body, "_svcnonce");
    let guess = [
        ("action", "password"),
        ("_svcnonce", &*nonce),
        ("current_password", "guess"),
        ("new_password", "correct horse"),
        ("new_password_again", "correct horse"),
    ];
    for _ in 0..20 {
        let response = visitor.submit(PROFILE, &guess).await;
        if response.status == 429 {
            assert!((1..=16).contains(&response.header("retry-after").parse::<u64>().unwrap()));
            return;
        }
        assert_eq!(response.status, 400);
    }
    panic!("20 guesses were checked");
}

#[tokio::test(flavor = "multi_thread")]
async fn outdated_password_hashes_are_replaced() {
    let site = Site::start().await;
    // `secret`, as a legacy hash.
    change_admin(&site, |admin| admin.pass = "$H$Bjtx9eiKCPqIU.5JD/jShkTMycJqi71".to_owned());
    let mut visitor = Visitor::new(&site);
    assert_eq!(visitor.log_in("admin", "secret").await.status, 302);
    let stored = store(&site.folder).read_blocking(|db| svc_store::users::by_login(db, "admin")).unwrap().unwrap().pass;
    assert!(stored.starts_with("$wp$2y$10$"), "{stored}");
    assert_eq!(visitor.get("/wp-admin/profile.php").await.status, 200, "the cookie is valid for the new hash");
    assert_eq!(Visitor::new(&site).log_in("admin", "secret").await.status, 302);
}

fn change_admin(site: &Site, change: fn(&mut svc_server::model::User)) {
    store(&site.folder)
        .write_blocking(move |tx| {
            let mut admin = svc_store::users::by_login(tx, "admin")?.expect("the first user");
            change(&mut admin);
            svc_store::users::update(tx, &admin).map(drop)
        })
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_do_not_reveal_names_of_users_without_posts() {
    let site = Site::start().await;
    let owner = site.app_password();
    let new =
        serde_json::json!({"username": "hidden-name", "email": "h@example.org", "password": "x", "roles": ["editor"]});
    let id = site.post("/svc-json/svc/v2/users", &owner, &new).await.json()["id"].clone();
    for path in [format!("/?author={id}"), "/author/hidden-name/".to_owned(), format!("/svc-json/svc/v2/users/{id}")] {
        let response = site.get(&path).await;
        assert!(matches!(response.status, 401 | 404), "{path}: {}", response.status);
        // The login link contains the requested URL.
        let body = response.body.replace("%2Fauthor%2Fhidden-name%2F", "");
        assert!(!body.contains("hidden-name") && !response.header("location").contains("hidden-name"), "{path}");
    }
    assert_eq!(site.get("/?author=1").await.status, 301, "authors of posts are public");
}

#[tokio::test(flavor = "multi_thread")]
async fn applications_discover_the_authorization_page() {
    let site = Site::start().await;
    // Mobile applications use the front page's header, the index, and the authorization page.
    let front = send(site.address, "HEAD", "/", &[], "").await;
    let root = front.all("link")[0].split(['<', '>']).nth(1).unwrap().to_owned();
    let path = |url: &str| url.split_once(&site.address.to_string()).unwrap().1.to_owned();
    let index = site.get(&path(&root)).await.json();
    let page = index["authentication"]["application-passwords"]["endpoints"]["authorization"].as_str().unwrap();
    let response = admin(&site).await.get(&format!("{}?app_name=x", path(page))).await;
    assert_eq!(response.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_logged() {
    crate::log::capture();
    let folder = tempfile::tempdir().unwrap();
    let keys = ["wordpress_api_key", "connectors_mail_x_api_key"];
    let settings = keys.map(|key| format!("[[settings]]\noption = \"{key}\"\ntype = \"string\"\ndefault = \"\"\n"));
    std::fs::write(folder.path().join("svc.toml"), settings.concat()).unwrap();
    let site = Site::start_in(folder, &SiteBuilder::new(), &[]).await;
    let mut visitor = Visitor::new(&site);
    let mistyped = "m1styped-passw0rd";
    visitor.log_in("admin", mistyped).await;
    visitor.log_in("admin", &password(&site)).await;
    let cookie = visitor.cookies.iter().find(|(name, ..)| name.contains("logged_in")).unwrap().2.clone();
    let token = cookie.split("%7C").nth(2).unwrap().to_owned();
    let nonce = visitor.get(NONCE).await.body;
    visitor.request("GET", &format!("{ME}?_svcnonce={nonce}"), &[], "").await;
    let new = r#"{"password":"n3w-passw0rd-by-json"}"#;
    let headers = [("X-SVC-Nonce", &*nonce), ("Content-Type", "application/json")];
    assert_eq!(visitor.request("POST", ME, &headers, new).await.status, 200);
    let credentials = site.app_password();
    let plain = credentials.strip_prefix("admin:").unwrap();
    assert_eq!(with_basic(&site, &credentials, ME).await.status, 200);
    with_basic(&site, "admin:wr0ng-application", ME).await;
    for (key, value) in keys.into_iter().zip(["k3y-of-a-service", "k3y-of-a-connector"]) {
        let changed = serde_json::json!({ key: value });
        let response = site.post("/svc-json/svc/v2/settings", &credentials, &changed).await.json();
        let masked = response[key].as_str().unwrap();
        assert!(masked != value && masked.ends_with(&value[value.len() - 4..]), "{response}");
        let refused = site.post("/svc-json/svc/v2/settings?posts_per_page=x", &credentials, &changed).await;
        assert_eq!(refused.status, 400, "{}", refused.body);
    }
    visitor.get(&format!("/wp-login.php?pwd={mistyped}")).await;
    let log = crate::log::captured();
    assert!(log.contains("/wp-login.php"), "requests are logged");
    let basic = basic(&credentials);
    let secrets = [
        mistyped,
        &password(&site),
        &cookie,
        &token,
        &nonce,
        "n3w-passw0rd-by-json",
        plain,
        basic.trim_start_matches("Basic "),
        "wr0ng-application",
        "k3y-of-a-service",
        "k3y-of-a-connector",
    ]
    .map(str::to_owned);
    for secret in secrets {
        let line = log.lines().find(|line| line.contains(&secret));
        assert!(line.is_none(), "{line:?}");
    }
}
