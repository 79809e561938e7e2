//! Plugins over real sockets: activating and deactivating extensions, packages of a directory on loopback, and
//! malicious packages.

use std::{
    collections::HashMap,
    io::{Cursor, Write},
};

use serde_json::{Value, json};
use svc_server::SiteBuilder;
use zip::{ZipWriter, write::SimpleFileOptions};

use reading_time::ReadingTime;

use crate::{
    client::{HttpResponse, send},
    loopback::{CannedResponse, serve},
    site::Site,
};

#[path = "../../crates/svc-server/examples/reading_time/extension.rs"]
mod reading_time;

const PLUGINS: &str = "/svc-json/svc/v2/plugins";

fn package(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        writer.start_file(*name, SimpleFileOptions::default()).expect("a name");
        writer.write_all(text.as_bytes()).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}

fn json_page(value: &Value) -> CannedResponse {
    (200, "Content-Type: application/json\r\n".to_owned(), value.to_string().into_bytes())
}

/// The path of a request for a plugin's data.
fn plugin_info_path(slug: &str) -> String {
    format!(
        "/plugins/info/1.2/?action=plugin_information&request%5Bslug%5D={slug}&request%5Bfields%5D%5Bsections%5D=0\
         &request%5Bfields%5D%5Blanguage_packs%5D=1"
    )
}

async fn site_with(settings: &[(&str, &str)]) -> (Site, String) {
    let builder = SiteBuilder::new().extension(ReadingTime);
    let site = Site::start_in(tempfile::tempdir().expect("a folder"), &builder, settings).await;
    let admin = site.app_password();
    (site, admin)
}

async fn get_as(site: &Site, user: &str, path: &str) -> HttpResponse {
    let basic = crate::site::basic(user);
    send(site.address, "GET", path, &[("Authorization", &basic)], "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extension_is_activated_and_deactivated_without_a_restart() {
    let (site, admin) = site_with(&[]).await;
    let listed = get_as(&site, &admin, &format!("{PLUGINS}?_fields=plugin,status")).await;
    assert_eq!(listed.json(), json!([{"plugin": "reading-time", "status": "inactive"}]));
    let first = site.get("/svc-json/svc/v2/posts?per_page=1").await.json()[0].clone();
    let id = first["id"].as_i64().unwrap();
    let route = format!("/svc-json/reading-time/v1/posts/{id}");
    let is_active = async || {
        let has_field = site.get(&format!("/svc-json/svc/v2/posts/{id}")).await.json().get("reading_time").is_some();
        let has_schema =
            send(site.address, "OPTIONS", "/svc-json/svc/v2/posts", &[], "").await.json()["schema"]["properties"]
                .get("reading_time")
                .is_some();
        let has_route = site.get(&route).await.status == 200;
        let has_hook = site.get("/svc-json/").await.json().get("reading_time").is_some();
        [has_field, has_schema, has_route, has_hook]
    };
    assert_eq!(is_active().await, [false; 4]);
    for round in 0..2 {
        let on = site.post(&format!("{PLUGINS}/reading-time"), &admin, &json!({"status": "active"})).await;
        assert_eq!((on.status, &on.json()["status"]), (200, &json!("active")), "{}", on.body);
        assert_eq!(is_active().await, [true; 4], "round {round}");
        let off = site.post(&format!("{PLUGINS}/reading-time"), &admin, &json!({"status": "inactive"})).await;
        assert_eq!((off.status, &off.json()["status"]), (200, &json!("inactive")));
        assert_eq!(is_active().await, [false; 4], "round {round}");
    }
    // An active extension is still active after a restart. Extensions cannot be deleted.
    site.post(&format!("{PLUGINS}/reading-time"), &admin, &json!({"status": "active"})).await;
    let builder = SiteBuilder::new().extension(ReadingTime);
    let site = Site::start_in(site.stop().await, &builder, &[]).await;
    assert_eq!(site.get(&route).await.status, 200);
    let off = site.post(&format!("{PLUGINS}/reading-time"), &admin, &json!({"status": "inactive"})).await;
    assert_eq!((off.status, &off.json()["status"]), (200, &json!("inactive")), "{}", off.body);
    let basic = crate::site::basic(&admin);
    let path = format!("{PLUGINS}/reading-time");
    let deleted = send(site.address, "DELETE", &path, &[("Authorization", &basic)], "").await;
    assert_eq!(deleted.json()["code"], "rest_cannot_delete_extension");
    // The site works even if the program no longer has the extension.
    let site = Site::start_in(site.stop().await, &SiteBuilder::new(), &[]).await;
    assert_eq!(site.get(&route).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn packages_of_the_directory_are_checked_and_installed() {
    const MAIN: &str = "<?php\n/* Plugin Name: Good Blocks */";
    let good = package(&[("good/good.php", MAIN), ("good/readme.txt", "read me")]);
    let escape = {
        let mut bytes = package(&[("bad/bad.php", "<?php // Plugin Name: Bad"), ("bad/nn/nnnn", "x")]);
        for at in 0..bytes.len() - 11 {
            if bytes[at..].starts_with(b"bad/nn/nnnn") {
                bytes[at..at + 11].copy_from_slice(b"../../evil!");
            }
        }
        bytes
    };
    let link = {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.add_symlink("link/link.php", "/etc/passwd", SimpleFileOptions::default()).unwrap();
        writer.finish().unwrap().into_inner()
    };
    let listed = json!({"files": {
        "good.php": {"sha256": SHA_MAIN},
        "readme.txt": {"sha256": ["0000", SHA_README]},
    }});
    let server = serve(|address| {
        let mut pages = HashMap::new();
        let mut add_package = |slug: &str, bytes: Vec<u8>, sums: Option<Value>, link: String| {
            let link = if link.is_empty() { format!("http://{address}/{slug}.zip") } else { link };
            let info = json!({"slug": slug, "version": "1.0", "name": slug, "download_link": link});
            pages.insert(plugin_info_path(slug), json_page(&info));
            pages.insert(format!("/{slug}.zip"), (200, String::new(), bytes));
            if let Some(sums) = sums {
                pages.insert(format!("/plugin-checksums/{slug}/1.0.json"), json_page(&sums));
            }
        };
        add_package("good", good.clone(), Some(listed.clone()), String::new());
        add_package("unverified", good.clone(), None, String::new());
        add_package(
            "changed",
            package(&[("good/good.php", MAIN), ("good/readme.txt", "Read me")]),
            Some(listed.clone()),
            String::new(),
        );
        add_package(
            "more",
            package(&[("good/good.php", MAIN), ("good/readme.txt", "read me"), ("good/x", "")]),
            Some(listed),
            String::new(),
        );
        add_package("escape", escape, Some(json!({"files": {}})), String::new());
        add_package("link", link, Some(json!({"files": {}})), String::new());
        add_package("elsewhere", good, None, "http://127.0.0.1:9/x.zip".to_owned());
        add_package("inside", Vec::new(), None, "http://169.254.169.254/x.zip".to_owned());
        let away = (302, "Location: http://10.0.0.1/x.zip\r\n".to_owned(), Vec::new());
        pages.insert("/away.zip".to_owned(), away);
        let info = json!({"slug": "away", "version": "1.0", "download_link": format!("http://{address}/away.zip")});
        pages.insert(plugin_info_path("away"), json_page(&info));
        let block =
            json!({"slug": "good", "name": "Good", "blocks": {"a/b": {"name": "a/b", "title": "Box"}}, "rating": 80});
        pages.insert(
            "/plugins/info/1.2/?action=query_plugins&request%5Bblock%5D=box&request%5Bper_page%5D=10&request%5Bpage%5D=1".to_owned(),
            json_page(&json!({"plugins": [block]})),
        );
        pages
    });
    let (site, admin) = site_with(&[("directory", &format!("http://{server}"))]).await;
    let search = "/svc-json/svc/v2/block-directory/search?term=box";
    let found = get_as(&site, &admin, search).await.json();
    assert_eq!((&found[0]["id"], &found[0]["title"], &found[0]["rating"]), (&json!("good"), &json!("Box"), &json!(4)));
    assert!(found[0]["_links"]["svc:install-plugin"].is_array() && found[0]["_links"].get("svc:plugin").is_none());

    #[rustfmt::skip]
    let rejected = [
        ("nosuch", 404, "plugins_api_failed"), ("unverified", 500, "package_unverified"),
        ("changed", 500, "package_checksum_mismatch"), ("more", 500, "package_checksum_mismatch"),
        ("escape", 500, "incompatible_archive"), ("link", 500, "incompatible_archive"),
        ("elsewhere", 500, "download_failed"), ("inside", 500, "download_failed"), ("away", 500, "download_failed"),
    ];
    for (slug, status, code) in rejected {
        let response = site.post(PLUGINS, &admin, &json!({"slug": slug})).await;
        assert_eq!((response.status, &response.json()["code"]), (status, &json!(code)), "{slug}: {}", response.body);
    }
    let plugins = site.folder.path().join("svc-data/content/plugins");
    let left: Vec<_> = std::fs::read_dir(&plugins).map(|dir| dir.flatten().collect()).unwrap_or_default();
    assert!(left.is_empty(), "rejected packages left files behind: {left:?}");

    let created = site.post(PLUGINS, &admin, &json!({"slug": "good", "status": "active"})).await;
    assert_eq!(created.status, 201, "{}", created.body);
    assert_eq!((&created.json()["plugin"], &created.json()["status"]), (&json!("good/good"), &json!("active")));
    assert!(created.header("location").ends_with("/svc/v2/plugins/good/good"));
    assert_eq!(std::fs::read_to_string(plugins.join("good/readme.txt")).unwrap(), "read me");
    let active =
        crate::site::store(&site.folder).read_blocking(|db| svc_store::options::get(db, "active_plugins")).unwrap();
    assert_eq!(active.unwrap().as_stored(), "a:1:{i:0;s:13:\"good/good.php\";}", "serialized as PHP expects");
    let again = site.post(PLUGINS, &admin, &json!({"slug": "good"})).await;
    assert_eq!(again.json()["code"], "folder_exists");
    let found = get_as(&site, &admin, search).await.json();
    assert!(found[0]["_links"]["svc:plugin"].is_array(), "{found}");
}

/// SHA-256 hashes from `sha256sum`.
const SHA_MAIN: &str = "e75b60271487f891fc467a48db6ad7de870e4b1dcb2bf0ffe4e24f418deeddc6";
const SHA_README: &str = "3f22095641508576e91dc7c6c7f7e08a093985d53ea998043c6619ad240dc92c";

#[tokio::test(flavor = "multi_thread")]
async fn without_a_directory_nothing_is_installed() {
    let (site, admin) = site_with(&[]).await;
    for response in [
        site.post(PLUGINS, &admin, &json!({"slug": "x"})).await,
        get_as(&site, &admin, "/svc-json/svc/v2/block-directory/search?term=x").await,
    ] {
        let body = response.json();
        assert_eq!((response.status, &body["code"]), (501, &json!("plugins_api_failed")));
        assert!(body["message"].as_str().unwrap().contains("no plugin directory"), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn link_previews_reach_the_site_itself_but_no_private_addresses() {
    let secret = serve(|_| HashMap::from([("/".to_owned(), (200, String::new(), b"<title>secret</title>".to_vec()))]));
    let (site, admin) = site_with(&[]).await;
    let details = async |site: &Site, url: &str| {
        let url = url.replace(':', "%3A").replace('/', "%2F");
        get_as(site, &admin, &format!("/svc-json/svc-block-editor/v1/url-details?url={url}")).await
    };
    let own = details(&site, &format!("http://{}/", site.address)).await;
    assert_eq!(own.status, 200, "{}", own.body);
    assert!(!own.json()["title"].as_str().unwrap().is_empty());
    let missing = details(&site, &format!("http://{}/nosuch/", site.address)).await;
    assert_eq!((missing.status, &missing.json()["code"]), (404, &json!("no_response")));
    let port = secret.port();
    for url in [
        format!("http://{secret}/"),
        format!("http://localhost:{port}/"),
        "http://[::1]/".to_owned(),
        "http://10.0.0.1/".to_owned(),
    ] {
        let rejected = details(&site, &url).await;
        assert_eq!(
            (rejected.status, &rejected.json()["code"]),
            (400, &json!("rest_invalid_param")),
            "{url}: {}",
            rejected.body
        );
    }
    // Addresses in the `outgoing.allow` setting are allowed.
    let builder = SiteBuilder::new();
    let site = Site::start_in(site.stop().await, &builder, &[("outgoing.allow", "127.0.0.0/8")]).await;
    assert_eq!(details(&site, &format!("http://{secret}/")).await.json()["title"], "secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn site_health_tests_reflect_the_site() {
    let (site, admin) = site_with(&[]).await;
    // The site was created with the URL of this test's server, so requests to the stored URL reach it.
    let test =
        async |name: &str| get_as(&site, &admin, &format!("/svc-json/svc-site-health/v1/tests/{name}")).await.json();
    assert_eq!(test("loopback-requests").await["status"], "good");
    assert_eq!(test("https-status").await["status"], "recommended");
    assert_eq!(test("dotorg-communication").await["status"], "recommended");
    assert_eq!(test("background-updates").await["status"], "recommended");
    assert!(test("page-cache").await["description"].as_str().unwrap().contains("milliseconds"));
    let sizes = get_as(&site, &admin, "/svc-json/svc-site-health/v1/directory-sizes").await.json();
    let raw = |name: &str| sizes[name]["raw"].as_u64().unwrap();
    let parts = ["wordpress_size", "themes_size", "plugins_size", "uploads_size", "fonts_size", "database_size"];
    assert_eq!(parts.iter().map(|name| raw(name)).sum::<u64>(), raw("total_size"));
    assert!(raw("database_size") > 0 && raw("wordpress_size") > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_can_be_embedded_and_can_embed_other_pages() {
    let foreign = serve(|address| {
        let page =
            format!("<head><link rel=alternate type='application/json+oembed' href='http://{address}/o?x=1'></head>");
        let html = "<script>x</script><iframe src=\"https://a.example/e\" onload=\"x\"></iframe>";
        let info = json!({"type": "rich", "version": "1.0", "title": "Thing", "html": html});
        HashMap::from([
            ("/thing".to_owned(), (200, String::new(), page.into_bytes())),
            ("/o".to_owned(), json_page(&info)),
        ])
    });
    let (site, admin) = site_with(&[("outgoing.allow", &foreign.to_string())]).await;
    let post = site.get("/svc-json/svc/v2/posts?per_page=1").await.json()[0].clone();
    let link = post["link"].as_str().unwrap();
    let page = site.get(link.split_once(&site.address.to_string()).unwrap().1).await;
    let head = page.body.split_once("application/json+oembed\" href=\"").unwrap().1;
    let described = head.split_once('"').unwrap().0.replace("&#038;", "&");
    let data = site.get(described.split_once(&site.address.to_string()).unwrap().1).await.json();
    assert_eq!((&data["type"], &data["title"]), (&json!("rich"), &post["title"]["rendered"]));
    let html = data["html"].as_str().unwrap();
    let frame = html.split_once(" src=\"").unwrap().1.split_once('#').unwrap().0;
    let shown = site.get(frame.split_once(&site.address.to_string()).unwrap().1).await;
    assert_eq!(shown.status, 200, "{frame}");
    let policy = shown.header("content-security-policy");
    assert!(policy.contains("frame-ancestors *") && policy.contains("script-src 'sha256-"), "{policy}");
    assert!(shown.body.contains(post["title"]["rendered"].as_str().unwrap()));

    let proxy = async |url: String| {
        let url = url.replace(':', "%3A").replace('/', "%2F");
        get_as(&site, &admin, &format!("/svc-json/oembed/1.0/proxy?url={url}")).await
    };
    let data = proxy(format!("http://{foreign}/thing")).await.json();
    assert_eq!(data["title"], "Thing");
    let html = data["html"].as_str().unwrap();
    assert!(
        html.starts_with("<iframe") && html.contains("sandbox=\"allow-scripts\"") && !html.contains("onload"),
        "{html}"
    );
    for url in [format!("http://{foreign}/nosuch"), "http://10.0.0.1/x".to_owned(), "http://127.0.0.1:9/x".to_owned()] {
        assert_eq!(proxy(url.clone()).await.json()["code"], "oembed_invalid_url", "{url}");
    }
}
