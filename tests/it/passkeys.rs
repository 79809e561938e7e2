//! Passkeys: how they are added and used, and attempts to log in with what is none.

use std::collections::HashSet;

use serde_json::Value;
use svc_auth::{UserId, passkey::user_handle, two_factor::META_KEY};
use svc_server::SiteBuilder;
use svc_store::{MetaKind, StoredText, meta, options, users};

use crate::{
    authenticator::Authenticator,
    client::HttpResponse,
    site::{Site, store},
    two_factor::recovery_codes,
    visitor::{PASSWORD, Visitor, field, logged_in, user},
};

const LOGIN: &str = "/wp-login.php";
const PAGE: &str = "/wp-admin/two-factor.php";
const PROFILE: &str = "/wp-admin/profile.php";
const ME: &str = "/svc-json/svc/v2/users/me?context=edit";

/// Moves a site to the host name `localhost`, on which browsers allow passkeys. Returns its URL.
pub(crate) fn move_to_localhost(site: &Site) -> String {
    let url = format!("http://localhost:{}", site.address.port());
    let value = StoredText::of(url.clone());
    store(&site.folder)
        .write_blocking(move |tx| {
            options::set(tx, "siteurl", &value, true)?;
            options::set(tx, "home", &value, true)
        })
        .unwrap();
    url
}

async fn start() -> (Site, String) {
    let site = Site::start().await;
    let url = move_to_localhost(&site);
    (site, url)
}

fn password(site: &Site) -> String {
    site.created.as_ref().unwrap().password.expose().to_owned()
}

/// What the page has for the script.
#[track_caller]
fn options_of(page: &str) -> Value {
    let text = page.split_once("data-options=\"").expect("the page has a passkey").1.split_once('"').unwrap().0;
    serde_json::from_str(&text.replace("&#34;", "\"")).unwrap()
}

#[track_caller]
fn challenge(page: &str) -> String {
    options_of(page)["challenge"].as_str().unwrap().to_owned()
}

/// The first half of adding a passkey, with the page that it leads to. `code` is the proof of those who have a second factor.
async fn ask(visitor: &mut Visitor<'_>, password: &str, code: &str) -> HttpResponse {
    let asked = submit_name(visitor, password, code).await;
    if asked.status == 302 { visitor.follow(&asked).await } else { asked }
}

/// Sends the form that leads to the page.
async fn submit_name(visitor: &mut Visitor<'_>, password: &str, code: &str) -> HttpResponse {
    let nonce = field(&visitor.get(PAGE).await.body, "_svcnonce");
    let fields = [
        ("action", "add-passkey"),
        ("_svcnonce", &*nonce),
        ("current_password", password),
        ("passkey_name", "Phone <1>"),
        ("code", code),
    ];
    visitor.submit(PAGE, &fields).await
}

/// The second half.
async fn save(visitor: &mut Visitor<'_>, page: &str, response: &Value) -> HttpResponse {
    let nonce = field(page, "_svcnonce");
    let fields = [
        ("action", "save-passkey"),
        ("_svcnonce", &*nonce),
        ("passkey_name", "Phone <1>"),
        ("passkey", &*response.to_string()),
    ];
    visitor.submit(PAGE, &fields).await
}

/// Adds the passkey of an authenticator as the first second factor; returns the recovery codes.
async fn add(visitor: &mut Visitor<'_>, authenticator: &mut Authenticator, password: &str) -> Vec<String> {
    let page = ask(visitor, password, "").await;
    assert_eq!(page.status, 200, "{}", page.body);
    let saved = save(visitor, &page.body, &authenticator.create(&challenge(&page.body))).await;
    recovery_codes(visitor, &saved).await
}

fn has_session(visitor: &Visitor<'_>) -> bool {
    visitor.cookies.iter().any(|(name, ..)| name.contains("logged_in"))
}

/// The log-in with a passkey alone.
async fn log_in(visitor: &mut Visitor<'_>, response: &Value) -> HttpResponse {
    visitor.submit(LOGIN, &[("action", "passkey"), ("passkey", &*response.to_string())]).await
}

/// The handle of a user.
fn handle(site: &Site, url: &str, login: &str) -> String {
    let login = login.to_owned();
    let id = store(&site.folder).read_blocking(move |db| users::by_login(db, &login)).unwrap().unwrap().id;
    user_handle(&format!("{url}/"), UserId(id.0))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_alone_logs_in_and_is_the_second_factor_after_the_password() {
    let (site, url) = start().await;
    let mut owner = logged_in(&site, "admin").await;
    let mut other = logged_in(&site, "admin").await;
    let mut phone = Authenticator::new(&url, b"phone", true);
    assert!(ask(&mut owner, "wrong", "").await.body.contains("The current password is wrong."));
    add(&mut owner, &mut phone, &password(&site)).await;
    assert_eq!(other.get(PROFILE).await.status, 302, "other sessions have ended");
    let page = owner.get(PAGE).await.body;
    assert!(page.contains("Phone &#60;1&#62;") && page.contains("10 recovery codes are left"), "{page}");
    let me = owner.get(ME).await;
    assert!(!me.body.contains("passkey") && !me.body.contains("two_factor"), "{}", me.body);

    // Alone.
    let handle = handle(&site, &url, "admin");
    let mut visitor = Visitor::new(&site);
    let page = visitor.get(LOGIN).await;
    assert!(page.header("content-security-policy").contains("script-src 'self'"), "{page:?}");
    let line = page.all("set-cookie").into_iter().find(|line| line.contains("-passkey-")).unwrap().to_owned();
    assert!(line.contains("; Path=/wp-login.php; HttpOnly; SameSite=Lax"), "{line}");
    assert_eq!(options_of(&page.body)["verification"], "required");
    let response = phone.get(&challenge(&page.body), Some(&handle));
    let logged_in = log_in(&mut visitor, &response).await;
    assert_eq!((logged_in.status, has_session(&visitor)), (302, true), "{}", logged_in.body);
    assert_eq!(visitor.get(PROFILE).await.status, 200);
    let again = log_in(&mut visitor, &response).await;
    assert_eq!(again.status, 200, "a response that was used");

    // After the password, by a device that has not verified the user.
    let mut visitor = Visitor::new(&site);
    assert!(visitor.log_in("admin", &password(&site)).await.header("location").contains("action=two-factor"));
    let page = visitor.get("/wp-login.php?action=two-factor").await.body;
    assert!(!page.contains("name=\"code\"") && page.contains("Use a recovery code"), "{page}");
    assert_eq!(options_of(&page)["passkeys"].as_array().unwrap().len(), 1);
    phone.flags = 0x01;
    let response = phone.get(&challenge(&page), None).to_string();
    let second = visitor.submit(LOGIN, &[("action", "two-factor"), ("passkey", &response)]).await;
    assert_eq!((second.status, has_session(&visitor)), (302, true), "{}", second.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_confirmed_with_a_passkey_or_a_recovery_code() {
    let (site, url) = start().await;
    let password = password(&site);
    let mut owner = logged_in(&site, "admin").await;
    let (mut phone, mut key) = (Authenticator::new(&url, b"phone", true), Authenticator::new(&url, b"key", false));
    let recovery = add(&mut owner, &mut phone, &password).await;
    // A second passkey needs the second factor; the page of the first half is the only one with such challenges.
    assert!(ask(&mut owner, &password, "").await.body.contains("The code is wrong"));
    let confirm = owner.get(PAGE).await.body;
    let refused = save(&mut owner, &confirm, &key.create(&challenge(&confirm))).await;
    assert!(refused.status == 400 && refused.body.contains("This page has expired"), "{}", refused.body);
    let page = ask(&mut owner, &password, &recovery[0]).await.body;
    assert_eq!(options_of(&page)["passkeys"].as_array().unwrap().len(), 1, "not twice on one device");
    let response = key.create(&challenge(&page));
    let saved = save(&mut owner, &page, &response).await;
    assert!(saved.status == 302 && saved.header("location").contains("done=passkey-added"), "{saved:?}");
    assert!(save(&mut owner, &page, &response).await.body.contains("This page has expired"), "used before");

    let act = async |owner: &mut Visitor<'_>, action: &str, device: Option<&mut Authenticator>, code: &str| {
        let page = owner.get(PAGE).await.body;
        let passkey = device.map(|device| device.get(&challenge(&page), None).to_string()).unwrap_or_default();
        let nonce = field(&page, "_svcnonce");
        let fields = [
            ("action", action),
            ("_svcnonce", &*nonce),
            ("current_password", &*password),
            ("code", code),
            ("passkey", &*passkey),
        ];
        owner.submit(PAGE, &fields).await
    };
    let ids = |page: &str| {
        let ids = page.split("remove-passkey ").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
        ids.collect::<HashSet<_>>()
    };
    let page = owner.get(PAGE).await.body;
    let all = ids(&page);
    assert_eq!(all.len(), 2);
    let renewed = act(&mut owner, "new-codes", Some(&mut key), "").await;
    let recovery = recovery_codes(&mut owner, &renewed).await;
    let first = phone_id(&all, "phone");
    let removed = act(&mut owner, &format!("remove-passkey {first}"), Some(&mut phone), "").await;
    assert!(removed.status == 302 && removed.header("location").contains("done=changed"), "{removed:?}");
    let gone = act(&mut owner, "new-codes", Some(&mut phone), "").await;
    assert!(gone.status == 400 && gone.body.contains("not one of this account"), "{}", gone.body);
    let last = phone_id(&all, "key");
    let refused = act(&mut owner, &format!("remove-passkey {last}"), None, &recovery[0]).await;
    assert!(refused.status == 400 && refused.body.contains("your only second factor"), "{}", refused.body);
    let off = act(&mut owner, "turn-off", None, &recovery[0]).await;
    assert!(off.header("location").contains("done=two-factor-off"), "{off:?}");
    assert!(has_session(&logged_in(&site, "admin").await), "the password is enough");
}

/// The ID of the passkey that an authenticator has made with this name.
fn phone_id(all: &HashSet<String>, name: &str) -> String {
    use base64::Engine as _;
    let id = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(name);
    assert!(all.contains(&id), "{all:?}");
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_the_users_own_passkey_here_and_now_is_rejected() {
    let (site, url) = start().await;
    let admin = site.app_password();
    user(&site, &admin, "jo", "author").await;
    let (mut own, mut jos) = (Authenticator::new(&url, b"own", true), Authenticator::new(&url, b"jo's", true));
    add(&mut logged_in(&site, "admin").await, &mut own, &password(&site)).await;
    add(&mut logged_in(&site, "jo").await, &mut jos, PASSWORD).await;
    let (admin_handle, jo_handle) = (handle(&site, &url, "admin"), handle(&site, &url, "jo"));
    let mut visitor = Visitor::new(&site);
    let page = visitor.get(LOGIN).await.body;
    let fresh = challenge(&page);
    let other_browser = challenge(&Visitor::new(&site).get(LOGIN).await.body);
    let mut waiting = Visitor::new(&site);
    waiting.log_in("admin", &password(&site)).await;
    let second = challenge(&waiting.get("/wp-login.php?action=two-factor").await.body);

    let mut phished = Authenticator::new("http://localhost.evil.example", b"own", true);
    let mut thief = Authenticator::new(&url, b"own", true);
    // As many as one address may make at once.
    let rows = [
        ("another site", phished.get(&fresh, Some(&admin_handle)), "used on another site"),
        ("a challenge of another browser", own.get(&other_browser, Some(&admin_handle)), "page has expired"),
        ("a challenge for the second factor", own.get(&second, Some(&admin_handle)), "page has expired"),
        ("the passkey of another user", jos.get(&fresh, Some(&admin_handle)), "not one of this account"),
        ("the handle of another user", own.get(&fresh, Some(&jo_handle)), "not one of this account"),
        ("nobody's handle", own.get(&fresh, Some(&user_handle(&url, UserId(999)))), "not one of this account"),
        ("no handle", own.get(&fresh, None), "not one of this account"),
        ("another key", thief.get(&fresh, Some(&admin_handle)), "signature of the passkey is wrong"),
    ];
    for (name, response, text) in rows {
        let refused = log_in(&mut visitor, &response).await;
        assert!(refused.status == 200 && refused.body.contains(text), "{name}: {}", refused.body);
        assert!(!has_session(&visitor), "{name}");
    }
    for text in ["", "{}", "null", &"x".repeat(60_000)] {
        let refused = visitor.submit(LOGIN, &[("action", "passkey"), ("passkey", text)]).await;
        assert_eq!((refused.status, has_session(&visitor)), (400, false), "{text:.20}");
    }
    let cross = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", "https://evil.example")];
    let response = own.get(&fresh, Some(&admin_handle)).to_string();
    let body = format!("action=passkey&passkey={}", crate::visitor::encode(&response));
    assert_eq!(visitor.request("POST", LOGIN, &cross, &body).await.status, 403);
    // None of that has used the challenge.
    let logged_in = log_in(&mut visitor, &serde_json::from_str(&response).unwrap()).await;
    assert_eq!(logged_in.status, 302, "{}", logged_in.body);
    // A copy of the device is behind.
    let mut visitor = Visitor::new(&site);
    own.counter = 1;
    let page = visitor.get(LOGIN).await.body;
    let behind = log_in(&mut visitor, &own.get(&challenge(&page), Some(&admin_handle))).await;
    assert!(behind.body.contains("seems to have been copied") && !has_session(&visitor), "{}", behind.body);
}

/// The page was open before two-factor log-in was on, so nothing but the password was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_from_before_another_factor_adds_no_passkey() {
    let (site, url) = start().await;
    let mut owner = logged_in(&site, "admin").await;
    let password = password(&site);
    let early = ask(&mut owner, &password, "").await.body;
    assert!(!owner.get(PAGE).await.body.contains("data-passkey=\"add\""), "the page is shown once");
    // What leads to the page, but was not followed.
    let asked = submit_name(&mut owner, &password, "").await;
    let unused = owner.cookies.iter().find(|(name, ..)| name.contains("once")).unwrap().clone();
    assert!(asked.status == 302 && !asked.header("location").contains("Phone"), "{asked:?}");
    add(&mut owner, &mut Authenticator::new(&url, b"own", true), &password).await;
    let response = Authenticator::new(&url, b"other", true).create(&challenge(&early));
    let refused = save(&mut owner, &early, &response).await;
    assert!(refused.status == 400 && refused.body.contains("page has expired"), "{}", refused.body);
    owner.cookies.push(unused);
    let page = owner.get(PAGE).await.body;
    assert!(page.contains("recovery codes are left") && !page.contains("data-passkey=\"add\""), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_challenges_stores_nothing_and_attempts_are_limited() {
    let (site, url) = start().await;
    let mut own = Authenticator::new(&url, b"own", true);
    add(&mut logged_in(&site, "admin").await, &mut own, &password(&site)).await;
    let handle = handle(&site, &url, "admin");
    let stored = || {
        let read = |db: &mut svc_store::Db| {
            let id = users::by_login(db, "admin")?.unwrap().id.0;
            meta::get(db, MetaKind::User, id, META_KEY)
        };
        store(&site.folder).read_blocking(read).unwrap().unwrap().json()
    };
    let before = stored();
    let mut visitor = Visitor::new(&site);
    let mut challenges = HashSet::new();
    for _ in 0..200 {
        challenges.insert(challenge(&visitor.get(LOGIN).await.body));
    }
    assert_eq!(challenges.len(), 200);
    let mut thief = Authenticator::new(&url, b"own", true);
    let mut statuses = Vec::new();
    for challenge in challenges.iter().take(15) {
        statuses.push(log_in(&mut visitor, &thief.get(challenge, Some(&handle))).await.status);
    }
    // Two attempts were made when the passkey was added.
    assert_eq!((&statuses[..8], statuses[8]), (&[200; 8][..], 429), "{statuses:?}");
    assert_eq!(stored(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn passkeys_need_a_host_name_and_meet_the_requirement_of_roles() {
    let site = Site::start().await;
    let mut owner = logged_in(&site, "admin").await;
    let page = owner.get(PAGE).await.body;
    assert!(page.contains("Passkeys require TLS and a host name on this site."), "{page}");
    assert!(!Visitor::new(&site).get(LOGIN).await.body.contains("data-passkey"));
    let refused = ask(&mut owner, &password(&site), "").await;
    assert!(refused.status == 400 && refused.body.contains("require TLS"), "{}", refused.body);

    let password = password(&site);
    let settings = [("two_factor_roles", "administrator")];
    let site = Site::start_in(site.stop().await, &SiteBuilder::new(), &settings).await;
    let url = move_to_localhost(&site);
    let mut owner = Visitor::new(&site);
    owner.submit(LOGIN, &[("log", "admin"), ("pwd", &*password)]).await;
    assert_eq!(owner.get(PROFILE).await.status, 302, "two-factor log-in is required");
    add(&mut owner, &mut Authenticator::new(&url, b"own", true), &password).await;
    assert_eq!(owner.get(PROFILE).await.status, 200);
}
