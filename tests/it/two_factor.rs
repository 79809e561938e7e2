//! Two-factor log-in: how it is turned on and off, the second page of the log-in, and attempts to go around it.

use std::time::{SystemTime, UNIX_EPOCH};

use svc_auth::two_factor::META_KEY;
use svc_server::SiteBuilder;
use svc_store::{MetaKind, meta, users};
use svc_testkit::smtp::SmtpServer;
use totp_rs::{Builder, Secret, Totp};

use crate::{
    client::{HttpResponse, send},
    site::{Site, basic, store},
    visitor::{PASSWORD, Visitor, field, logged_in, user},
};

const LOGIN: &str = "/wp-login.php";
const PAGE: &str = "/wp-admin/two-factor.php";
const PROFILE: &str = "/wp-admin/profile.php";
const NONCE: &str = "/wp-admin/admin-ajax.php?action=rest-nonce";
const ME: &str = "/svc-json/svc/v2/users/me";

/// The authenticator app of a user.
pub(crate) struct App {
    totp: Totp,
    last_step: u64,
}

impl App {
    pub(crate) fn new(secret: &str) -> Self {
        let secret = Secret::try_from_base32(secret.replace(' ', "")).unwrap();
        App { totp: Builder::new().with_secret(secret).build().unwrap(), last_step: 0 }
    }

    /// A code that was not used before. It is valid for 30 seconds or more, if no more than one was used in this half minute.
    pub(crate) fn code(&mut self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 30;
        self.last_step = now.max(self.last_step + 1);
        self.totp.generate(self.last_step * 30).to_string()
    }

    /// A code that is not valid now.
    fn wrong(&self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let near = (0..6).map(|n| self.totp.generate(now - 60 + n * 30).to_string()).collect::<Vec<_>>();
        (0..).map(|n| format!("{n:06}")).find(|code| !near.contains(code)).unwrap()
    }
}

/// Texts of the `code` elements of a page.
fn codes(page: &str) -> Vec<String> {
    page.split("<code>").skip(1).map(|rest| rest.split("</code>").next().unwrap().to_owned()).collect()
}

fn password(site: &Site) -> String {
    site.created.as_ref().unwrap().password.expose().to_owned()
}

/// Turns two-factor log-in on; returns the app and the recovery codes.
async fn turn_on(visitor: &mut Visitor<'_>, password: &str) -> (App, Vec<String>) {
    let page = visitor.get(PAGE).await;
    assert_eq!(page.status, 200, "{}", page.body);
    let mut app = App::new(&codes(&page.body)[0]);
    let (nonce, offer, code) = (field(&page.body, "_svcnonce"), field(&page.body, "offer"), app.code());
    let on = submit(visitor, "turn-on", &nonce, &offer, &code, password).await;
    (app, recovery_codes(visitor, &on).await)
}

/// The recovery codes on the page to which a form leads. A reload of the page does not show them again.
pub(crate) async fn recovery_codes(visitor: &mut Visitor<'_>, response: &HttpResponse) -> Vec<String> {
    let page = visitor.follow(response).await;
    let shown = codes(&page.body);
    assert_eq!((page.status, shown.len()), (200, 10), "{}", page.body);
    let again = visitor.follow(response).await;
    assert_eq!((again.status, again.body.contains(&shown[0])), (200, false), "{}", again.body);
    shown
}

/// Submits a form of the page.
async fn submit(
    visitor: &mut Visitor<'_>,
    action: &str,
    nonce: &str,
    offer: &str,
    code: &str,
    password: &str,
) -> HttpResponse {
    let fields =
        [("action", action), ("_svcnonce", nonce), ("offer", offer), ("code", code), ("current_password", password)];
    visitor.submit(PAGE, &fields).await
}

/// The second page of the log-in.
async fn enter(visitor: &mut Visitor<'_>, code: &str) -> HttpResponse {
    visitor.submit(LOGIN, &[("action", "two-factor"), ("code", code)]).await
}

fn has_session(visitor: &Visitor<'_>) -> bool {
    visitor.cookies.iter().any(|(name, ..)| name.contains("logged_in"))
}

fn is_waiting(visitor: &Visitor<'_>) -> bool {
    visitor.cookies.iter().any(|(name, ..)| name.contains("-two-factor-"))
}

/// A visitor whose password was right.
async fn waiting<'a>(site: &'a Site, login: &str, password: &str) -> Visitor<'a> {
    let mut visitor = Visitor::new(site);
    let response = visitor.log_in(login, password).await;
    assert!(response.status == 302 && response.header("location").contains("action=two-factor"), "{response:?}");
    assert!(!has_session(&visitor) && is_waiting(&visitor));
    visitor
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_in_asks_for_a_code_which_works_once() {
    let site = Site::start().await;
    let (mut owner, mut other) = (logged_in(&site, "admin").await, logged_in(&site, "admin").await);
    let (mut app, recovery) = turn_on(&mut owner, &password(&site)).await;
    assert_eq!(owner.get(PROFILE).await.status, 200, "this browser stays logged in");
    assert_eq!(other.get(PROFILE).await.status, 302, "other sessions have ended");
    let page = owner.get(PAGE).await.body;
    assert!(page.contains("10 recovery codes are left") && codes(&page).is_empty(), "{page}");

    let mut visitor = Visitor::new(&site);
    visitor.get(LOGIN).await;
    let to = format!("{PROFILE}?a=b&c");
    let fields = [
        ("log", "admin"),
        ("pwd", &*password(&site)),
        ("testcookie", "1"),
        ("rememberme", "forever"),
        ("redirect_to", &*to),
    ];
    let first = visitor.submit(LOGIN, &fields).await;
    assert_eq!((first.status, has_session(&visitor)), (302, false));
    let line = first.all("set-cookie").into_iter().find(|line| line.contains("-two-factor-")).unwrap().to_owned();
    assert!(line.contains("; Path=/wp-login.php;") && line.contains("; HttpOnly; SameSite=Lax"), "{line}");
    let second = visitor.get(first.header("location").split_once(&site.address.to_string()).unwrap().1).await;
    assert_eq!((second.status, second.header("cache-control").contains("no-store")), (200, true));
    let back = field(&second.body, "redirect_to");
    for wrong in [app.wrong(), String::new(), "x".repeat(10_000), recovery[0].replace('-', "x")] {
        let refused = visitor.submit(LOGIN, &[("action", "two-factor"), ("code", &*wrong)]).await;
        assert_eq!((refused.status, has_session(&visitor)), (200, false), "{wrong}");
    }
    let code = app.code();
    let fields = [("action", "two-factor"), ("code", &*code), ("redirect_to", &*back)];
    let right = visitor.submit(LOGIN, &fields).await;
    assert_eq!((right.status, right.header("location")), (302, &*format!("{}{to}", visitor.home())), "{}", right.body);
    assert!(has_session(&visitor) && !is_waiting(&visitor));
    let session = right.all("set-cookie").into_iter().find(|line| line.contains("logged_in")).unwrap().to_owned();
    assert!(session.contains("; Max-Age=1252800;"), "remembered: {session}");
    assert_eq!(visitor.get(PROFILE).await.status, 200);

    let mut again = waiting(&site, "admin", &password(&site)).await;
    assert_eq!((enter(&mut again, &code).await.status, has_session(&again)), (200, false), "a used code");
    assert_eq!(enter(&mut again, &recovery[3].to_uppercase().replace('-', " ")).await.status, 302);
    let mut again = waiting(&site, "admin", &password(&site)).await;
    assert_eq!((enter(&mut again, &recovery[3]).await.status, has_session(&again)), (200, false), "a used code");
    assert!(owner.get(PAGE).await.body.contains("9 recovery codes are left"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_code_only_application_passwords_authenticate() {
    let site = Site::start().await;
    let application = site.app_password();
    let mut owner = logged_in(&site, "admin").await;
    turn_on(&mut owner, &password(&site)).await;
    let mut visitor = waiting(&site, "admin", &password(&site)).await;
    for path in [NONCE, PROFILE, PAGE, "/wp-admin/", ME] {
        assert!(matches!(visitor.get(path).await.status, 302 | 400 | 401), "{path}");
    }
    let nonce = owner.get(NONCE).await.body;
    assert_eq!(nonce.len(), 10);
    assert_eq!(visitor.request("GET", ME, &[("X-SVC-Nonce", &nonce)], "").await.status, 403, "a nonce of a session");
    assert_eq!(owner.request("GET", ME, &[("X-SVC-Nonce", &nonce)], "").await.status, 200);
    let by_password = basic(&application);
    let me = send(site.address, "GET", &format!("{ME}?context=edit"), &[("Authorization", &*by_password)], "").await;
    assert_eq!(me.status, 200, "application passwords go on working");
    assert!(!me.body.contains("two_factor"), "{}", me.body);
    let by_log_in = basic(&format!("admin:{}", password(&site)));
    assert_eq!(send(site.address, "GET", ME, &[("Authorization", &*by_log_in)], "").await.status, 401);
    // A wrong password looks the same as before.
    let wrong = Visitor::new(&site).log_in("admin", "wrong").await;
    let unknown = Visitor::new(&site).log_in("nobody", "wrong").await;
    assert_eq!((wrong.status, wrong.body.replace("admin\"", "nobody\"")), (unknown.status, unknown.body));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_in_that_waits_belongs_to_one_user_and_password() {
    let site = Site::start().await;
    let admin = site.app_password();
    let jo = user(&site, &admin, "jo", "author").await;
    let mut owner = logged_in(&site, "admin").await;
    let (_, recovery) = turn_on(&mut owner, &password(&site)).await;
    let (_, own) = turn_on(&mut logged_in(&site, "jo").await, PASSWORD).await;

    // A user with a valid code of their own.
    for change in [
        |value: &str, _: i64| value.replacen(&value[..value.find('%').unwrap()], "1", 1),
        |value: &str, _: i64| value.replacen("%7C0%7C", "%7C1%7C", 1),
        |value: &str, _: i64| value[..value.len() - 1].to_owned(),
        |_: &str, id: i64| format!("{id}%7C9999999999%7C0%7C{}", "0".repeat(64)),
        |_: &str, _: i64| "%00%7C%7C%7C".to_owned(),
    ] {
        let mut visitor = waiting(&site, "jo", PASSWORD).await;
        let cookie = visitor.cookies.iter_mut().find(|(name, ..)| name.contains("-two-factor-")).unwrap();
        let forged = change(&cookie.2, jo);
        assert_ne!(forged, cookie.2);
        cookie.2.clone_from(&forged);
        for code in [&own[0], &recovery[0]] {
            let response = enter(&mut visitor, code).await;
            assert!(response.status == 200 && response.body.contains("has expired"), "{forged}: {}", response.body);
        }
        assert!(!has_session(&visitor) && !is_waiting(&visitor), "{forged}");
    }
    let mut visitor = waiting(&site, "jo", PASSWORD).await;
    assert_eq!((enter(&mut visitor, &recovery[0]).await.status, has_session(&visitor)), (200, false));
    assert_eq!(Visitor::new(&site).get("/wp-login.php?action=two-factor").await.status, 200);

    // The new password ends the log-in that waits, and does not turn the second factor off.
    let mut visitor = waiting(&site, "jo", PASSWORD).await;
    let body = serde_json::json!({"password": "another-pass-phrase"});
    assert_eq!(site.post(&format!("/svc-json/svc/v2/users/{jo}"), &admin, &body).await.status, 200);
    assert!(enter(&mut visitor, &own[0]).await.body.contains("has expired") && !has_session(&visitor));
    let mut visitor = waiting(&site, "jo", "another-pass-phrase").await;
    assert_eq!(enter(&mut visitor, &own[0]).await.status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_is_used_in_parallel_starts_one_session() {
    let site = Site::start().await;
    let (mut app, recovery) = turn_on(&mut logged_in(&site, "admin").await, &password(&site)).await;
    for code in [app.code(), recovery[0].clone()] {
        let mut visitors = Vec::new();
        for _ in 0..4 {
            visitors.push(waiting(&site, "admin", &password(&site)).await);
        }
        let responses = futures_util::future::join_all(visitors.iter_mut().map(|v| enter(v, &code))).await;
        let n_sessions = responses.iter().filter(|response| response.status == 302).count();
        assert_eq!(n_sessions, 1, "{code}");
        assert_eq!(visitors.iter().filter(|visitor| has_session(visitor)).count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_of_codes_are_limited_over_all_networks() {
    let settings = [("trusted_proxies", "127.0.0.1")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let (app, recovery) = turn_on(&mut logged_in(&site, "admin").await, &password(&site)).await;
    let mut visitor = waiting(&site, "admin", &password(&site)).await;
    let mut guess = async |network: &str, code: &str| {
        let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("X-Forwarded-For", network)];
        let body = format!("action=two-factor&code={code}");
        visitor.request("POST", LOGIN, &headers, &body).await
    };
    let mut n_checked = 0;
    for network in 0..8 {
        for _ in 0..6 {
            let response = guess(&format!("203.0.113.{network}"), &app.wrong()).await;
            n_checked += usize::from(response.status == 200);
            assert!(response.status == 200 || !response.header("retry-after").is_empty(), "{}", response.status);
        }
    }
    assert_eq!(n_checked, 20, "guesses of all networks");
    assert_eq!(guess("203.0.113.99", &recovery[0]).await.status, 429, "right codes are limited as well");
    // The network in which the owner has logged in before.
    assert_eq!(enter(&mut visitor, &recovery[0]).await.status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_of_a_session_are_limited_over_all_networks() {
    let settings = [("trusted_proxies", "127.0.0.1")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let password = password(&site);
    let mut owner = logged_in(&site, "admin").await;
    let (app, _) = turn_on(&mut owner, &password).await;
    let nonce = field(&owner.get(PAGE).await.body, "_svcnonce");
    let mut n_checked = 0;
    for network in 0..8 {
        let network = format!("203.0.113.{network}");
        let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("X-Forwarded-For", &*network)];
        for _ in 0..6 {
            let code = app.wrong();
            let body = format!("action=turn-off&_svcnonce={nonce}&code={code}&current_password={password}");
            let response = owner.request("POST", PAGE, &headers, &body).await;
            assert!(matches!(response.status, 400 | 429), "{}", response.status);
            n_checked += usize::from(response.status == 400);
        }
    }
    assert_eq!(n_checked, 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_require_the_password_a_code_and_a_nonce() {
    let site = Site::start().await;
    let mut owner = logged_in(&site, "admin").await;
    let password = password(&site);
    let page = owner.get(PAGE).await.body;
    let (nonce, offer) = (field(&page, "_svcnonce"), field(&page, "offer"));
    assert!(page.contains("<svg ") && page.contains("aria-label=\"QR code\""), "{page}");
    let mut app = App::new(&codes(&page)[0]);
    let stored = || {
        let read = |db: &mut svc_store::Db| {
            let admin = users::by_login(db, "admin")?.unwrap().id;
            meta::get(db, MetaKind::User, admin.0, META_KEY)
        };
        store(&site.folder).read_blocking(read).unwrap()
    };
    let admin = site.app_password();
    user(&site, &admin, "jo", "author").await;
    let own = field(&logged_in(&site, "jo").await.get(PAGE).await.body, "offer");
    for (nonce, offer, code, typed, status) in [
        ("", &*offer, app.wrong(), &*password, 403),
        (&*nonce, &*offer, app.wrong(), "wrong", 400),
        (&*nonce, &*offer, app.wrong(), &*password, 400),
        (&*nonce, "", app.wrong(), &*password, 400),
        // The secret of another user.
        (&*nonce, &*own, app.wrong(), &*password, 400),
    ] {
        let response = submit(&mut owner, "turn-on", nonce, offer, &code, typed).await;
        assert_eq!(response.status, status, "{}", response.body);
        assert!(stored().is_none());
        // The app need not be set up again.
        assert!(status == 403 || offer.is_empty() || offer == own || field(&response.body, "offer") == offer);
    }
    let on = submit(&mut owner, "turn-on", &nonce, &offer, &app.code(), &password).await;
    let recovery = recovery_codes(&mut owner, &on).await;
    let text = stored().unwrap().text().to_owned();
    assert!(recovery.iter().all(|code| !text.contains(&**code)) && text.contains("secret"), "{text}");
    assert_eq!(submit(&mut owner, "turn-on", &nonce, &offer, &recovery[0], &password).await.status, 400);

    for (action, code, typed) in [
        ("new-codes", app.wrong(), &*password),
        ("turn-off", app.wrong(), &*password),
        ("turn-off", recovery[0].clone(), "wrong"),
        ("other", recovery[0].clone(), &*password),
    ] {
        assert_eq!(submit(&mut owner, action, &nonce, "", &code, typed).await.status, 400, "{action}");
        assert_eq!(stored().unwrap().text(), text, "{action}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn users_of_some_roles_can_do_nothing_before_it_is_on() {
    let site = Site::start().await;
    let admin = site.app_password();
    for (login, role) in [("ed", "editor"), ("jo", "author")] {
        user(&site, &admin, login, role).await;
    }
    let mut editor = logged_in(&site, "ed").await;
    let nonce = editor.get(NONCE).await.body;
    let cookies = editor.cookies.clone();
    let settings = [("two_factor_roles", "administrator, editor")];
    let site = Site::start_in(site.stop().await, &SiteBuilder::new(), &settings).await;
    let mut editor = Visitor::new(&site);
    editor.cookies = cookies;
    let with_nonce = [("X-SVC-Nonce", &*nonce)];
    let refused = editor.request("GET", ME, &with_nonce, "").await;
    assert_eq!((refused.status, refused.json()["code"].as_str()), (403, Some("rest_two_factor_required")));
    let sent = editor.request("POST", "/svc-json/svc/v2/posts", &with_nonce, "").await;
    assert_eq!(sent.status, 403, "{}", sent.body);
    assert_eq!(editor.get(ME).await.status, 401, "without a nonce, as an anonymous caller");
    for path in ["/wp-admin/", PROFILE, "/wp-admin/edit.php", "/wp-admin/authorize-application.php?app_name=x"] {
        let response = editor.get(path).await;
        assert!(response.status == 302 && response.header("location").contains(PAGE), "{path}: {response:?}");
    }
    assert_eq!(editor.get(NONCE).await.status, 400);
    assert!(!editor.get("/").await.body.contains("wp-admin/profile.php"), "pages are those of anonymous visitors");
    // A log-in leads there, and from there to where the user wanted to go.
    let mut editor = Visitor::new(&site);
    let fields = [("log", "ed"), ("pwd", PASSWORD), ("redirect_to", "/wp-admin/edit.php")];
    let response = editor.submit(LOGIN, &fields).await;
    assert!(response.header("location").contains(&format!("{PAGE}?redirect_to=")), "{response:?}");
    let to = response.header("location");
    let page = editor.get(&to[to.find("/wp-admin").unwrap()..]).await;
    assert!(page.body.contains("Your role requires two-factor log-in."), "{}", page.body);
    assert!(field(&page.body, "redirect_to").ends_with("/wp-admin/edit.php"));
    turn_on(&mut editor, PASSWORD).await;
    assert_eq!(editor.get("/wp-admin/edit.php").await.status, 200);
    assert_eq!(editor.get(NONCE).await.status, 200);
    assert_eq!(logged_in(&site, "jo").await.get("/wp-admin/edit.php").await.status, 200, "another role");
    let by_password = basic(&admin);
    let response = send(site.address, "GET", ME, &[("Authorization", &*by_password)], "").await;
    assert_eq!(response.status, 200, "application passwords go on working");
}

#[tokio::test(flavor = "multi_thread")]
async fn mails_tell_what_has_happened() {
    let Some(smtp) = SmtpServer::start().unwrap() else { return };
    let settings = [("mail.from", "Our Site <site@example.org>"), ("mail.smtp", &*smtp.url())];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let admin = site.app_password();
    user(&site, &admin, "jo", "author").await;
    let mut jo = logged_in(&site, "jo").await;
    let (_, recovery) = turn_on(&mut jo, PASSWORD).await;
    let mut visitor = waiting(&site, "jo", PASSWORD).await;
    assert_eq!(enter(&mut visitor, &recovery[0]).await.status, 302);
    let nonce = field(&visitor.get(PAGE).await.body, "_svcnonce");
    let changed = submit(&mut visitor, "new-codes", &nonce, "", &recovery[1], PASSWORD).await;
    let renewed = recovery_codes(&mut visitor, &changed).await;
    assert_eq!(submit(&mut visitor, "turn-off", &nonce, "", &recovery[2], PASSWORD).await.status, 400, "an old code");
    let off = submit(&mut visitor, "turn-off", &nonce, "", &renewed[0], PASSWORD).await;
    assert!(off.status == 302 && off.header("location").contains("done=two-factor-off"), "{off:?}");
    assert!(has_session(&logged_in(&site, "jo").await), "the password is enough");
    let mails = smtp.wait_for("jo@example.org", 4);
    for expected in ["was turned on", "Recovery codes left: 9", "New recovery codes", "was turned off"] {
        assert_eq!(mails.iter().filter(|mail| mail.text.contains(expected)).count(), 1, "{expected}: {mails:?}");
    }
    assert!(recovery.iter().chain(&renewed).all(|code| mails.iter().all(|mail| !mail.text.contains(&**code))));
}
