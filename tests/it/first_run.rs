//! The first start creates a site, the second one does not.

use serde_json::json;
use svc_model::User;
use svc_server::SiteBuilder;

use crate::{
    site::{Site, on_sqlite, store},
    visitor::{PASSWORD, Visitor, logged_in},
};

#[tokio::test(flavor = "multi_thread")]
async fn the_first_start_creates_a_site_and_the_second_does_not() {
    let site = Site::start().await;
    let created = site.created.as_ref().expect("a new site");
    assert_eq!(created.login, "admin");
    let password = created.password.expose().to_owned();
    let data = site.folder.path().join("svc-data");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| std::fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(""), mode("keys.toml")), (0o700, 0o600));
        assert!(!on_sqlite() || mode("site.db") == 0o600, "the file contains password hashes");
    }
    let keys = std::fs::read(data.join("keys.toml")).unwrap();
    let before = site.get("/svc-json/svc/v2/posts?_fields=id,title,date").await;
    assert_eq!(before.json().as_array().unwrap().len(), 3);

    let again = Site::start_in(site.stop().await, &SiteBuilder::new(), &[]).await;
    assert!(again.created.is_none());
    assert_eq!(again.get("/svc-json/svc/v2/posts?_fields=id,title,date").await.body, before.body);
    assert_eq!(std::fs::read(data.join("keys.toml")).unwrap(), keys);

    let folder = again.stop().await;
    let admin = store(&folder).read_blocking(|db| svc_store::users::by_login(db, "admin")).unwrap().unwrap();
    assert!(svc_auth::password::verify(&admin.pass, password.as_bytes()), "the displayed password is valid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_site_can_have_another_brand() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start_in(folder, &SiteBuilder::new(), &[("brand", "wp")]).await;
    assert_eq!(site.get("/wp-json/wp/v2/posts").await.status, 200);
    assert_eq!(site.get("/svc-json/svc/v2/posts").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configured_url_takes_precedence_over_the_stored_one() {
    let first = Site::start().await.stop().await;
    let site = Site::start_in(first, &SiteBuilder::new(), &[("site_url", "https://example.org/blog")]).await;
    let index = site.get("/blog/svc-json/").await.json();
    assert_eq!(
        (index["home"].as_str(), index["url"].as_str()),
        (Some("https://example.org/blog"), Some("https://example.org/blog"))
    );
    let front = site.get("/blog/").await;
    assert_eq!(front.all("link"), ["<https://example.org/blog/svc-json/>; rel=\"https://api.w.org/\""]);
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_closes_the_listener() {
    let site = Site::start().await;
    let address = site.address;
    site.stop().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

const SET_UP: &str = "/wp-admin/install.php";

/// The key of a new link to set the site up.
fn offer(site: &Site) -> Option<String> {
    let token = svc_new_site::setup::offer(&store(&site.folder), chrono::Utc::now()).unwrap();
    token.map(|token| token.expose().to_owned())
}

fn answers<'a>(key: &'a str, login: &'a str) -> Vec<(&'static str, &'a str)> {
    vec![
        ("key", key),
        ("weblog_title", "Tea & Cake"),
        ("timezone_string", "Europe/Berlin"),
        ("user_name", login),
        ("admin_email", "ada@example.org"),
        ("admin_password", PASSWORD),
        ("admin_password2", PASSWORD),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_site_is_set_up_in_the_browser_once() {
    let site = Site::start().await;
    let (old, key) = (offer(&site).unwrap(), offer(&site).unwrap());
    let mut visitor = Visitor::new(&site);
    for wrong in ["", "wrong", &*old] {
        let page = visitor.get(&format!("{SET_UP}?key={wrong}")).await;
        assert_eq!(page.status, 403, "{wrong}");
        assert_eq!(visitor.submit(SET_UP, &answers(wrong, "ada")).await.status, 403, "{wrong}");
    }
    let page = visitor.get(&format!("{SET_UP}?key={key}")).await;
    assert!(page.status == 200 && page.body.contains("Europe/Berlin"), "{}", page.body);
    for (name, value) in [
        ("weblog_title", " "),
        ("timezone_string", "Europe/Nowhere"),
        ("user_name", "<b>"),
        ("admin_email", "ada"),
        ("admin_password", "short"),
    ] {
        let mut fields = answers(&key, "ada");
        fields.iter_mut().filter(|(n, _)| *n == name).for_each(|field| field.1 = value);
        assert_eq!(visitor.submit(SET_UP, &fields).await.status, 400, "{name}");
    }
    let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", "https://evil.example")];
    assert_eq!(visitor.request("POST", SET_UP, &headers, &format!("key={key}")).await.status, 403);

    let done = visitor.submit(SET_UP, &answers(&key, "ada")).await;
    assert_eq!((done.status, done.header("location").ends_with("/wp-admin/")), (302, true), "{}", done.body);
    assert_eq!(visitor.get("/wp-admin/").await.status, 200, "the user is logged in");
    let index = site.get("/svc-json/").await.json();
    assert_eq!((&index["name"], &index["timezone_string"]), (&json!("Tea &amp; Cake"), &json!("Europe/Berlin")));
    let (user, admin, email) = store(&site.folder)
        .read_blocking(|db| {
            let email = svc_store::options::get(db, "admin_email")?.unwrap().text().to_owned();
            Ok((svc_store::users::by_login(db, "ada")?, svc_store::users::by_login(db, "admin")?, email))
        })
        .unwrap();
    let user = user.unwrap();
    assert_eq!((user.id.0, user.email.as_str(), user.nicename.as_str()), (1, "ada@example.org", "ada"));
    assert!(admin.is_none() && email == "ada@example.org");
    assert_eq!(visitor.get(&format!("{SET_UP}?key={key}")).await.status, 403);
    assert_eq!(visitor.submit(SET_UP, &answers(&key, "eve")).await.status, 403);
    assert_eq!(offer(&site), None);
    assert_eq!(Visitor::new(&site).log_in("ada", PASSWORD).await.status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_set_ups_wins() {
    let site = Site::start().await;
    let key = offer(&site).unwrap();
    let names = ["ann", "bob", "cleo", "dora"];
    let mut visitors: Vec<Visitor<'_>> = names.iter().map(|_| Visitor::new(&site)).collect();
    let all: Vec<_> = names.iter().map(|name| answers(&key, name)).collect();
    let sent = visitors.iter_mut().zip(&all).map(|(visitor, fields)| visitor.submit(SET_UP, fields));
    let statuses: Vec<u16> = futures_util::future::join_all(sent).await.iter().map(|r| r.status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 302).count(), 1, "{statuses:?}");
    let winner = names[statuses.iter().position(|status| *status == 302).unwrap()];
    let login =
        store(&site.folder).read_blocking(|db| svc_store::users::get(db, svc_auth::UserId(1))).unwrap().unwrap().login;
    assert_eq!(login, winner);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_whose_account_was_used_is_not_set_up() {
    // By a log-in with the generated password, an application password, another user, another password.
    for used_by in ["log-in", "application password", "user", "password"] {
        let site = Site::start().await;
        let key = offer(&site).unwrap();
        match used_by {
            "log-in" => drop(logged_in(&site, "admin").await),
            "application password" => drop(site.app_password()),
            "user" => {
                let insert = |tx: &mut svc_store::Tx| {
                    let user = User { login: "ann".to_owned(), nicename: "ann".to_owned(), ..User::default() };
                    svc_store::users::insert(tx, &user).map(drop)
                };
                store(&site.folder).write_blocking(insert).unwrap();
            }
            _ => {
                let change = |tx: &mut svc_store::Tx| {
                    let mut user = svc_store::users::by_login(tx, "admin")?.unwrap();
                    user.pass = "another".to_owned();
                    svc_store::users::update(tx, &user).map(drop)
                };
                store(&site.folder).write_blocking(change).unwrap();
            }
        }
        assert_eq!(offer(&site), None, "{used_by}");
        assert_eq!(site.get(&format!("{SET_UP}?key={key}")).await.status, 403, "{used_by}");
        assert_eq!(Visitor::new(&site).submit(SET_UP, &answers(&key, "eve")).await.status, 403, "{used_by}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_to_set_up_a_site_expire() {
    let site = Site::start().await;
    let past = chrono::Utc::now() - chrono::TimeDelta::seconds(svc_new_site::setup::LIFETIME + 1);
    let token = svc_new_site::setup::offer(&store(&site.folder), past).unwrap().unwrap();
    assert_eq!(site.get(&format!("{SET_UP}?key={}", token.expose())).await.status, 403);
    let mut statuses = Vec::new();
    for _ in 0..14 {
        statuses.push(site.get(&format!("{SET_UP}?key=guess")).await.status);
    }
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
}
