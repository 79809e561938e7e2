//! The first start creates a site, the second one does not.

use svc_server::SiteBuilder;

use crate::site::{Site, on_sqlite, store};

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
