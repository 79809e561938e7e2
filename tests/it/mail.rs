//! Mails, against a mail server on loopback: lost passwords, accounts and comments.

use std::time::{Duration, Instant};

use serde_json::json;
use svc_auth::reset_key;
use svc_server::SiteBuilder;
use svc_store::{StoredText, options, users};
use svc_testkit::smtp::SmtpServer;

use crate::{
    client::{HttpResponse, send},
    site::{Site, store},
    visitor::{PASSWORD, Visitor, encode, field, logged_in, user},
};

const LOST: &str = "/wp-login.php?action=lostpassword";
const RESET: &str = "/wp-login.php?action=resetpass";
const PROFILE: &str = "/wp-admin/profile.php";
const NEW: &str = "another-long-pass-phrase";
const ADMIN: &str = "admin@example.com";

/// A site that sends its mails to a server of the test; `None` if the test must be skipped.
async fn site() -> Option<(Site, SmtpServer)> {
    let smtp = SmtpServer::start().unwrap()?;
    let settings = [("mail.from", "Our Site <site@example.org>"), ("mail.smtp", &*smtp.url())];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    Some((site, smtp))
}

/// The path and query of a URL of the site.
fn path_of(url: &str) -> &str {
    let start = url.find("/wp-").expect("a URL of the site");
    &url[start..]
}

fn set_option(site: &Site, name: &'static str, value: &'static str) {
    store(&site.folder).write_blocking(move |tx| options::set(tx, name, &StoredText::of(value), true)).unwrap();
}

/// The key that is stored with a user.
fn stored_key(site: &Site, login: &'static str) -> String {
    store(&site.folder).read_blocking(|db| users::by_login(db, login)).unwrap().unwrap().activation_key
}

fn store_key(site: &Site, login: &'static str, stored: String) {
    let change = move |tx: &mut svc_store::Tx| {
        let mut user = users::by_login(tx, login)?.unwrap();
        user.activation_key.clone_from(&stored);
        users::update(tx, &user)
    };
    store(&site.folder).write_blocking(change).unwrap();
}

fn now() -> i64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64
}

/// Opens a link and returns the key in the form.
async fn open(visitor: &mut Visitor<'_>, link: &str) -> String {
    let first = visitor.get(path_of(link)).await;
    assert_eq!(first.status, 302, "{}", first.body);
    let to = first.header("location").to_owned();
    assert!(!to.contains("key="), "the key is not in the URL of the form: {to}");
    let cookie = first.all("set-cookie").into_iter().find(|line| line.contains("-resetpass-")).unwrap().to_owned();
    assert!(cookie.contains("; Path=/wp-login.php;") && cookie.contains("; HttpOnly"), "{cookie}");
    let form = visitor.get(path_of(&to)).await;
    assert_eq!(form.status, 200, "{}", form.body);
    field(&form.body, "rp_key")
}

async fn set(visitor: &mut Visitor<'_>, key: &str, new: &str, again: &str) -> HttpResponse {
    visitor.submit(RESET, &[("rp_key", key), ("pass1", new), ("pass2", again)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_password_is_replaced_with_a_link_that_works_once() {
    let Some((site, smtp)) = site().await else { return };
    let admin = site.app_password();
    user(&site, &admin, "jo", "author").await;
    let mut session = logged_in(&site, "jo").await;
    let body = json!({"name": "Phone"});
    let created = session.get("/wp-admin/admin-ajax.php?action=rest-nonce").await.body;
    let headers = [("X-SVC-Nonce", created.as_str()), ("Content-Type", "application/json")];
    let passwords = "/svc-json/svc/v2/users/me/application-passwords";
    let made = session.request("POST", passwords, &headers, &body.to_string()).await;
    let app_password = format!("jo:{}", made.json()["password"].as_str().unwrap());

    let mut visitor = Visitor::new(&site);
    assert!(visitor.get("/wp-login.php").await.body.contains("action=lostpassword"));
    assert!(visitor.get(LOST).await.body.contains("name=\"user_login\""));
    let sent = visitor.submit(LOST, &[("user_login", "jo@example.org")]).await;
    assert_eq!((sent.status, path_of(sent.header("location"))), (302, "/wp-login.php?checkemail=confirm"));
    assert!(visitor.get(path_of(sent.header("location"))).await.body.contains("is on its way"));
    let mail = smtp.wait_for("jo@example.org", 1).remove(0);
    assert_eq!(mail.header("from"), "Our Site <site@example.org>");
    assert_eq!(mail.header("subject"), "[A fresh site] Set a new password");
    let link = mail.link("wp-login.php").expect("a link").to_owned();
    assert!(link.contains("?login=jo&key=") && link.ends_with("&action=rp"), "{link}");
    assert!(mail.html.contains(&link.replace('&', "&#38;")) && !mail.html.contains("<img"), "{}", mail.html);
    // Whoever reads the database cannot use the link: what is stored of it is not the key.
    let key = link.split("key=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let queued = store(&site.folder).read_blocking(payloads).unwrap();
    assert!(!queued.is_empty() && queued.iter().all(|payload| !payload.contains(&key)));
    assert_eq!(reset_key::check(&stored_key(&site, "jo"), &key, now()), Ok(()));

    let form_key = open(&mut visitor, &link).await;
    assert_eq!(form_key, key);
    for (new, again) in [("one password", "another one"), ("short", "short"), (" with space", " with space")] {
        let refused = set(&mut visitor, &key, new, again).await;
        assert_eq!(refused.status, 400, "{new}: {}", refused.body);
    }
    let done = set(&mut visitor, &key, NEW, NEW).await;
    assert_eq!((done.status, path_of(done.header("location"))), (302, "/wp-login.php?passwordset=1"), "{}", done.body);
    assert!(visitor.get("/wp-login.php?passwordset=1").await.body.contains("new password has been set"));
    assert!(visitor.cookies.iter().all(|(name, ..)| !name.contains("resetpass")));
    assert_eq!(stored_key(&site, "jo"), "");

    assert_eq!(session.get(PROFILE).await.status, 302, "sessions end");
    assert_eq!(Visitor::new(&site).log_in("jo", NEW).await.status, 302);
    assert_eq!(Visitor::new(&site).log_in("jo", PASSWORD).await.status, 200, "the old password is wrong");
    let basic = crate::site::basic(&app_password);
    let me = send(site.address, "GET", "/svc-json/svc/v2/users/me", &[("Authorization", &basic)], "").await;
    assert_eq!(me.status, 200, "application passwords stay");
    let notice = smtp.wait_for(ADMIN, 1).remove(0);
    assert!(notice.header("subject").contains("A password was reset") && notice.text.contains("Username: jo"));

    let again = Visitor::new(&site).get(path_of(&link)).await;
    assert_eq!(again.status, 302);
    let mut other = Visitor::new(&site);
    other.get(path_of(&link)).await;
    let used = other.get("/wp-login.php?action=rp").await;
    assert!(used.header("location").ends_with("?action=lostpassword&error=invalidkey"), "{used:?}");
    assert!(other.get(path_of(used.header("location"))).await.body.contains("not valid"));
    assert_eq!(smtp.wait_for("jo@example.org", 1).len(), 1, "each mail is sent once");
}

/// The payloads of all mails in the queue.
fn payloads(db: &mut svc_store::Db) -> svc_store::Result<Vec<String>> {
    let page = svc_outbox::Page { limit: 100, ..svc_outbox::Page::default() };
    Ok(svc_outbox::list(db, "mail", &page)?.into_iter().map(|message| message.payload).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_does_not_tell_whether_the_account_exists() {
    let Some((site, smtp)) = site().await else { return };
    let admin = site.app_password();
    user(&site, &admin, "jo", "author").await;
    let mut seen = Vec::new();
    for name in ["jo", "nosuch", "jo@example.org", "nosuch@example.org"] {
        let start = Instant::now();
        let response = Visitor::new(&site).submit(LOST, &[("user_login", name)]).await;
        let took = start.elapsed();
        let headers: Vec<_> = response.headers.into_iter().filter(|(name, _)| !is_of_request(name)).collect();
        assert!(took >= Duration::from_millis(480), "{name}: {took:?}");
        seen.push((response.status, headers, response.body, took.as_millis() / 400));
    }
    assert!(seen.iter().all(|response| *response == seen[0]), "{seen:?}");
    assert_eq!(smtp.wait_for("jo@example.org", 2).len(), 2);
    assert_eq!(smtp.mails().unwrap().len(), 2);
}

/// Whether a header differs between equal responses.
fn is_of_request(name: &str) -> bool {
    ["date", "x-request-id"].iter().any(|own| name.eq_ignore_ascii_case(own))
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_limited_per_account_and_network() {
    let Some((site, smtp)) = site().await else { return };
    let admin = site.app_password();
    user(&site, &admin, "jo", "author").await;
    let mut statuses = Vec::new();
    for n in 0..12 {
        let name = if n < 5 { "JO" } else { "nosuch" };
        statuses.push(Visitor::new(&site).submit(LOST, &[("user_login", name)]).await.status);
    }
    assert_eq!(statuses.iter().filter(|status| **status == 302).count(), 10, "{statuses:?}");
    assert!(statuses.iter().skip(10).all(|status| *status == 429), "{statuses:?}");
    assert_eq!(smtp.wait_for("jo@example.org", 3).len(), 3);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(smtp.mails().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_current_keys_of_the_account_are_accepted() {
    let Some((site, _smtp)) = site().await else { return };
    let admin = site.app_password();
    for login in ["jo", "flo"] {
        user(&site, &admin, login, "author").await;
    }
    let (key, old, of_flo) = ("aVeryLongKeyOfLetters", "anOldKeyOfManyLetters", "theKeyOfAnotherAccount");
    let link = |login: &str, key: &str| format!("/wp-login.php?login={login}&key={key}&action=rp");
    store_key(&site, "flo", reset_key::stored(of_flo, now()));
    for (stored, sent, expected) in [
        (reset_key::stored(key, now()), key, Ok(())),
        (reset_key::stored(key, now()), of_flo, Err("invalidkey")),
        (reset_key::stored(key, now()), "", Err("invalidkey")),
        (reset_key::stored(old, now() - reset_key::LIFETIME - 1), old, Err("expiredkey")),
        (key.to_owned(), key, Err("invalidkey")),
        (String::new(), key, Err("invalidkey")),
    ] {
        store_key(&site, "jo", stored.clone());
        let mut visitor = Visitor::new(&site);
        visitor.get(&link("jo", sent)).await;
        let response = visitor.get("/wp-login.php?action=rp").await;
        match expected {
            Ok(()) => assert_eq!(response.status, 200, "{stored} {sent}"),
            Err(error) => assert!(response.header("location").ends_with(error), "{stored} {sent}: {response:?}"),
        }
    }
    // The form of one account does not set the password of another one.
    store_key(&site, "jo", reset_key::stored(key, now()));
    let mut visitor = Visitor::new(&site);
    open(&mut visitor, &link("jo", key)).await;
    let refused = set(&mut visitor, of_flo, NEW, NEW).await;
    assert!(refused.header("location").ends_with("invalidkey"), "{refused:?}");
    // A form of another site is refused.
    open(&mut visitor, &link("jo", key)).await;
    let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", "https://evil.example")];
    let body = format!("rp_key={key}&pass1={}&pass2={}", encode(NEW), encode(NEW));
    assert_eq!(visitor.request("POST", RESET, &headers, &body).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_uses_of_a_link_wins() {
    let Some((site, _smtp)) = site().await else { return };
    let admin = site.app_password();
    user(&site, &admin, "jo", "author").await;
    store_key(&site, "jo", reset_key::stored("aVeryLongKeyOfLetters", now()));
    let mut visitors: Vec<Visitor<'_>> = (0..4).map(|_| Visitor::new(&site)).collect();
    for visitor in &mut visitors {
        open(visitor, "/wp-login.php?login=jo&key=aVeryLongKeyOfLetters&action=rp").await;
    }
    let passwords: Vec<String> = (0..4).map(|n| format!("{NEW}-{n}")).collect();
    let uses = visitors.iter_mut().zip(&passwords).map(|(v, new)| set(v, "aVeryLongKeyOfLetters", new, new));
    let responses = futures_util::future::join_all(uses).await;
    let winners: Vec<usize> = (0..4).filter(|n| responses[*n].header("location").contains("passwordset=1")).collect();
    assert_eq!(winners.len(), 1, "{responses:?}");
    assert_eq!(Visitor::new(&site).log_in("jo", &passwords[winners[0]]).await.status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_without_mail_says_how_to_get_a_link() {
    let site = Site::start().await;
    let mut visitor = Visitor::new(&site);
    for page in [visitor.get(LOST).await, visitor.submit(LOST, &[("user_login", "admin")]).await] {
        assert!(page.status == 200 && page.body.contains("svc-server user reset-link"), "{}", page.body);
    }
    assert_eq!(stored_key(&site, "admin"), "");
    // A link of the command line works there.
    store_key(&site, "admin", reset_key::stored("aVeryLongKeyOfLetters", now()));
    let key = open(&mut visitor, "/wp-login.php?login=admin&key=aVeryLongKeyOfLetters&action=rp").await;
    assert_eq!(set(&mut visitor, &key, NEW, NEW).await.status, 302);
    assert_eq!(Visitor::new(&site).log_in("admin", NEW).await.status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_cannot_add_headers_or_recipients() {
    let Some((site, smtp)) = site().await else { return };
    let admin = site.app_password();
    set_option(&site, "blogname", "Tea\r\nBcc: evil@example.net\r\n\r\n<b>Body</b>");
    user(&site, &admin, "jo", "author").await;
    for name in ["jo\r\nBcc: evil@example.net", "jo%0d%0aBcc: evil@example.net", "jo@example.org\nevil@example.net"] {
        Visitor::new(&site).submit(LOST, &[("user_login", name)]).await;
    }
    Visitor::new(&site).submit(LOST, &[("user_login", "jo")]).await;
    let mails = smtp.wait_for("jo@example.org", 1);
    for mail in smtp.mails().unwrap() {
        assert_eq!(mail.recipients, ["jo@example.org"], "{mail:?}");
        assert!(mail.headers.iter().all(|(name, _)| !name.eq_ignore_ascii_case("bcc")), "{mail:?}");
    }
    let subject = "[Tea Bcc: evil@example.net <b>Body</b>] Set a new password";
    assert!(mails.iter().all(|mail| mail.header("subject") == subject && !mail.html.contains("<b>Body")), "{mails:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_user_sets_a_password_with_a_link() {
    let Some((site, smtp)) = site().await else { return };
    let mut admin = logged_in(&site, "admin").await;
    let form = admin.get("/wp-admin/user-new.php").await;
    let nonce = field(&form.body, "_svcnonce");
    let opened = field(&form.body, "opened");
    for (login, notified) in [("ann", "1"), ("bob", "")] {
        let email = format!("{login}@example.org");
        let mut fields = vec![("_svcnonce", &*nonce), ("opened", &*opened), ("username", login), ("email", &*email)];
        fields.extend([("roles", "author"), ("send_user_notification", notified)]);
        fields.push(("password", if notified.is_empty() { PASSWORD } else { "" }));
        let created = admin.submit("/wp-admin/user-new.php", &fields).await;
        assert_eq!(created.status, 302, "{}", created.body);
    }
    let mail = smtp.wait_for("ann@example.org", 1).remove(0);
    let key = open(&mut Visitor::new(&site), mail.link("action=rp").unwrap()).await;
    let mut ann = Visitor::new(&site);
    ann.get(path_of(mail.link("action=rp").unwrap())).await;
    assert_eq!(set(&mut ann, &key, NEW, NEW).await.status, 302);
    assert_eq!(Visitor::new(&site).log_in("ann", NEW).await.status, 302);
    let notices = smtp.wait_for(ADMIN, 3);
    let of = |login: &str| {
        notices.iter().any(|m| m.text.contains(&format!("Username: {login}")) && m.text.contains("new user"))
    };
    assert!(of("ann") && of("bob"), "{notices:?}");
    assert!(smtp.mails().unwrap().iter().all(|mail| mail.recipients != ["bob@example.org"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_address_is_confirmed_and_the_old_one_is_told() {
    let Some((site, smtp)) = site().await else { return };
    let admin = site.app_password();
    user(&site, &admin, "jo", "author").await;
    let mut jo = logged_in(&site, "jo").await;
    let page = jo.get(PROFILE).await;
    let nonce = field(&page.body, "_svcnonce");
    let change = |email: &'static str| [("action", "details"), ("display_name", "Jo"), ("email", email)];
    let with_nonce = |fields: &[(&'static str, &'static str)], nonce: &str| {
        let mut all: Vec<(String, String)> = fields.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        all.push(("_svcnonce".to_owned(), nonce.to_owned()));
        all
    };
    async fn post(visitor: &mut Visitor<'_>, fields: Vec<(String, String)>) -> HttpResponse {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        visitor.submit(PROFILE, &fields).await
    }
    assert_eq!(post(&mut jo, with_nonce(&change("admin@example.com"), &nonce)).await.status, 400, "of another user");
    assert_eq!(post(&mut jo, with_nonce(&change("new@example.org"), &nonce)).await.status, 302);
    let email = || store(&site.folder).read_blocking(|db| users::by_login(db, "jo")).unwrap().unwrap().email;
    assert_eq!(email(), "jo@example.org");
    let link = smtp.wait_for("new@example.org", 1)[0].link("newuseremail").unwrap().to_owned();
    // Nothing changes by opening the link, and nothing for another user.
    let mut admin = logged_in(&site, "admin").await;
    assert!(!admin.get(path_of(&link)).await.body.contains("confirm-email"));
    let page = jo.get(path_of(&link)).await;
    assert_eq!(email(), "jo@example.org");
    let confirmation = field(&page.body, "newuseremail");
    let fields = [("action", "confirm-email"), ("newuseremail", &*confirmation), ("_svcnonce", &*nonce)];
    assert_eq!(jo.submit(PROFILE, &fields).await.status, 302);
    assert_eq!(email(), "new@example.org");
    let notice = smtp.wait_for("jo@example.org", 1).remove(0);
    assert!(
        notice.text.contains("New email address: new@example.org") && notice.text.contains(ADMIN),
        "{}",
        notice.text
    );
    assert_eq!(jo.submit(PROFILE, &fields).await.status, 400, "the link works once");

    let fields = [
        ("action", "password"),
        ("current_password", PASSWORD),
        ("new_password", NEW),
        ("new_password_again", NEW),
        ("_svcnonce", &*nonce),
    ];
    assert_eq!(jo.submit(PROFILE, &fields).await.status, 302);
    let notice = smtp.wait_for("new@example.org", 2).remove(1);
    assert!(notice.header("subject").ends_with("Your password was changed"), "{notice:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn moderators_and_authors_are_told_about_comments() {
    let Some((site, smtp)) = site().await else { return };
    let admin = site.app_password();
    user(&site, &admin, "jo", "author").await;
    let body = json!({"title": "Of Jo", "status": "publish", "author": 2, "content": "x"});
    let post = site.post("/svc-json/svc/v2/posts", &admin, &body).await.json()["id"].to_string();
    let fields = |email: &'static str| {
        [
            ("comment_post_ID", post.clone()),
            ("author", "A \"guest\"".to_owned()),
            ("email", email.to_owned()),
            ("comment", "Some <script>text</script> of a guest".to_owned()),
        ]
    };
    let submit = async |email: &'static str| {
        let fields = fields(email);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let response = Visitor::new(&site).submit("/wp-comments-post.php", &fields).await;
        assert_eq!(response.status, 302, "{}", response.body);
    };
    submit("guest@example.org").await;
    // The author may not decide about comments, unless they may edit the published post: then they are told as well.
    let waits = smtp.wait_for(ADMIN, 1).remove(0);
    assert!(waits.header("subject").contains("Please moderate: Of Jo"), "{waits:?}");
    assert!(waits.text.contains("Author: A \"guest\"") && !waits.html.contains("<script"), "{}", waits.text);
    let manage = waits.link("edit-comments.php").unwrap();
    assert!(manage.contains(&format!("p={post}")) && manage.contains("comment_status=moderated"), "{manage}");
    let mut visitor = logged_in(&site, "admin").await;
    let page = visitor.get(path_of(manage)).await;
    assert!(page.status == 200 && page.body.contains("of a guest"), "{}", page.body);
    assert_eq!(smtp.wait_for("jo@example.org", 1).len(), 1, "authors may edit the comments of their posts");

    let comment = site.post("/svc-json/svc/v2/comments/2", &admin, &json!({"status": "approve"})).await;
    assert_eq!(comment.status, 200, "{}", comment.body);
    let told = smtp.wait_for("jo@example.org", 2).remove(1);
    assert!(told.header("subject").contains("New comment: Of Jo"), "{told:?}");
    assert_eq!(told.header("reply-to"), "guest@example.org");
    assert!(told.link("#comment-2").is_some(), "{}", told.text);

    // Neither is told if the options say so.
    set_option(&site, "moderation_notify", "0");
    set_option(&site, "comments_notify", "0");
    let site_again = site.post("/svc-json/svc/v2/comments/2", &admin, &json!({"status": "hold"})).await;
    assert_eq!(site_again.status, 200);
    site.post("/svc-json/svc/v2/comments/2", &admin, &json!({"status": "approve"})).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(smtp.mails().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_mails_are_given_up_and_others_wait() {
    let Some((site, smtp)) = site().await else { return };
    let admin = site.app_password();
    let states = || {
        let page = svc_outbox::Page { limit: 100, ..svc_outbox::Page::default() };
        let list = store(&site.folder).read_blocking(|db| svc_outbox::list(db, "mail", &page)).unwrap();
        list.into_iter().map(|m| (m.state.name(), m.attempts, m.result)).collect::<Vec<_>>()
    };
    let wait = async |expected: &dyn Fn(&[(&'static str, u32, String)]) -> bool| {
        let start = Instant::now();
        while !expected(&states()) {
            assert!(start.elapsed() < Duration::from_secs(40), "{:?}", states());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let change = async |login: &str, email: &str| {
        let body = json!({"email": email});
        assert_eq!(site.post(&format!("/svc-json/svc/v2/users/{login}"), &admin, &body).await.status, 200);
    };
    let jo = user(&site, &admin, "jo", "author").await.to_string();
    change(&jo, "nobody@example.org").await;
    change(&jo, "other@example.org").await;
    wait(&|all| all.iter().any(|(state, n, result)| *state == "dead" && *n == 1 && result.contains("no such user")))
        .await;
    smtp.set("busy", true).unwrap();
    change(&jo, "third@example.org").await;
    wait(&|all| all.iter().any(|(state, n, result)| *state == "waiting" && *n == 1 && result.contains("try again")))
        .await;
    smtp.set("busy", false).unwrap();
    let mail = smtp.wait_for("other@example.org", 1).remove(0);
    assert!(mail.header("message-id").ends_with("@example.org>"), "{mail:?}");
    assert_eq!(smtp.wait_for("jo@example.org", 1).len(), 1);
}
