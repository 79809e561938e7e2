//! The page of WordPress's block editor: whom it is offered, what it loads, and which files are served.

use std::path::PathBuf;

use svc_packages::block_editor::{FILES, FOLDER, install};

use super::*;

const PAGE: &str = "/wp-admin/block-editor.php";

fn content(site: &Site) -> PathBuf {
    site.folder.path().join("svc-data/content")
}

/// Installs files in place of an editor, whose content is this text after their names.
fn install_files(site: &Site, text: &str) {
    let built = tempfile::tempdir().unwrap();
    for name in FILES {
        std::fs::write(built.path().join(name), format!("{name} {text}")).unwrap();
    }
    install(&content(site), built.path(), "recipe", "1.0.0").unwrap();
}

/// The URLs of the script, the styles of the page, and those of the content.
fn files_of(page: &str) -> [String; 3] {
    let between = |before: &str, after: &str| {
        let rest = page.split_once(before).unwrap_or_else(|| panic!("no {before} in {page}")).1;
        rest.split_once(after).unwrap().0.to_owned()
    };
    let script = between("<script src=\"", "\"");
    [
        script,
        between("<link rel=\"stylesheet\" href=\"", "\""),
        config_of(page)["contentCss"].as_str().unwrap().to_owned(),
    ]
}

fn config_of(page: &str) -> Value {
    let rest = page.split_once("id=\"block-editor-config\">").unwrap().1;
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_offered_while_it_is_installed() {
    let site = Site::start().await;
    let admin = site.app_password();
    let id = create(&site, &admin, json!({"title": "Seal", "status": "publish"})).await["id"].as_i64().unwrap();
    let mut visitor = logged_in(&site, "admin").await;
    let link = format!("{PAGE}?post={id}");
    for installed in [false, true, false] {
        if installed {
            install_files(&site, "one");
        } else {
            svc_packages::block_editor::remove(&content(&site)).unwrap();
        }
        assert_eq!(visitor.get(&link).await.status, if installed { 200 } else { 404 });
        for path in ["/wp-admin/edit.php", &edit(id)] {
            assert_eq!(visitor.get(path).await.body.contains(&link), installed, "{path}");
        }
        let list = visitor.get("/wp-admin/edit.php?post_type=page").await.body;
        assert_eq!(list.contains("New in the block editor"), installed);
    }
    // A damaged editor is as good as none.
    install_files(&site, "one");
    for file in std::fs::read_dir(content(&site).join(FOLDER)).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            std::fs::write(path, "alert(1)").unwrap();
        }
    }
    assert_eq!(visitor.get(&link).await.status, 404);
    // The next installation is used at once.
    install_files(&site, "longer than before");
    assert_eq!(visitor.get(&link).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_may_edit_the_post_gets_the_page() {
    let site = Site::start().await;
    install_files(&site, "one");
    let admin = site.app_password();
    let mut ids = Vec::new();
    for status in ["publish", "draft", "trash"] {
        let title = "</script><script>alert(1)</script>";
        let body = json!({"title": title, "status": if status == "trash" { "draft" } else { status }});
        let id = create(&site, &admin, body).await["id"].as_i64().unwrap();
        if status == "trash" {
            let basic = crate::site::basic(&admin);
            let headers = [("Authorization", &*basic)];
            crate::client::send(site.address, "DELETE", &format!("{POSTS}/{id}"), &headers, "").await;
        }
        ids.push((id, status));
    }
    for (rank, role) in ROLES.into_iter().enumerate() {
        user(&site, &admin, role, role).await;
        let mut visitor = logged_in(&site, role).await;
        for (id, status) in &ids {
            let page = visitor.get(&format!("{PAGE}?post={id}")).await;
            let expected = match (rank >= 3, *status) {
                (true, "trash") => &[400][..],
                (true, _) => &[200],
                (false, _) => &[403, 404],
            };
            assert!(expected.contains(&page.status), "{role} {status}: {} {}", page.status, page.body);
            if page.status == 200 {
                assert!(!page.body.contains("<script>"), "{}", page.body);
                let policy = page.header("content-security-policy");
                assert!(policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"), "{policy}");
                let config = config_of(&page.body);
                assert_eq!(
                    (&config["post"], &config["type"], &config["root"]),
                    (&json!(id), &json!("post"), &json!("/svc-json/"))
                );
            }
        }
        // Own posts, and new ones.
        let new = format!("{PAGE}?post_type=post");
        let created = submit_new(&mut visitor, &new).await;
        assert_eq!(created.status, if rank >= 1 { 302 } else { 403 }, "{role}: {}", created.body);
        if rank >= 1 {
            let page = visitor.get(created.header("location")).await;
            assert_eq!((page.status, config_of(&page.body)["isNew"] == true), (200, true), "{role}");
        }
    }
    assert_eq!(site.get(&format!("{PAGE}?post={}", ids[0].0)).await.status, 302);
    let mut visitor = logged_in(&site, "admin").await;
    for bad in ["", "?post=0", "?post=-1", "?post=x", "?post=999999", "?post=1&post=2"] {
        let status = visitor.get(&format!("{PAGE}{bad}")).await.status;
        assert!(status == 404 || bad == "?post=1&post=2" && status == 200, "{bad}: {status}");
    }
    // Nothing is created without a nonce.
    let before = site.get(POSTS).await.header("x-svc-total").to_owned();
    let refused = visitor.request("POST", &format!("{PAGE}?post_type=post"), &[FORM], "").await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert_eq!(site.get(POSTS).await.header("x-svc-total"), before);
}

/// Sends the form that creates a post, with the nonce of the user's pages.
async fn submit_new(visitor: &mut Visitor<'_>, path: &str) -> HttpResponse {
    let page = visitor.get("/wp-admin/profile.php").await.body;
    let list = visitor.get("/wp-admin/edit.php").await;
    let page = if list.status == 200 { list.body } else { page };
    send_form(visitor, path, &page, &[], false).await
}

#[tokio::test(flavor = "multi_thread")]
async fn only_its_own_files_are_served() {
    let site = Site::start().await;
    install_files(&site, "one");
    let admin = site.app_password();
    let id = create(&site, &admin, json!({"title": "Seal", "status": "draft"})).await["id"].as_i64().unwrap();
    let mut visitor = logged_in(&site, "admin").await;
    let page = visitor.get(&format!("{PAGE}?post={id}")).await.body;
    let urls = files_of(&page);
    for (url, name) in urls.iter().zip(FILES) {
        let file = site.get(url).await;
        assert_eq!((file.status, file.body.as_str()), (200, &*format!("{name} one")), "{url}");
        assert_eq!(file.header("content-encoding"), "gzip");
        assert_eq!(file.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(file.header("x-content-type-options"), "nosniff");
    }
    let (script, version) = urls[0].split_once('?').unwrap();
    let folder = script.strip_suffix("/editor.js").unwrap();
    let hash = version.strip_prefix("v=").unwrap();
    std::fs::write(content(&site).join(FOLDER).join("secret.js"), "secret").unwrap();
    for path in [
        script.to_owned(),
        format!("{script}?v="),
        format!("{script}?v={}", "0".repeat(64)),
        format!("{folder}/?{version}"),
        format!("{folder}/manifest.json?{version}"),
        format!("{folder}/secret.js?{version}"),
        format!("{folder}/{hash}.editor.js.gz?{version}"),
        format!("{folder}/editor.js.gz?{version}"),
        format!("{folder}/..%2fmanifest.json?{version}"),
        format!("{folder}/..%2f..%2f..%2fsite.db?{version}"),
        format!("{folder}/%2e%2e/editor.js%00?{version}"),
    ] {
        let file = site.get(&path).await;
        assert!(file.status == 404 || file.status == 302 && file.header("location").contains("wp-login.php"), "{path}");
    }
    // A page that was opened before an update keeps working, but gets no other version's file.
    install_files(&site, "two");
    assert_eq!(site.get(&urls[0]).await.status, 404);
    let page = visitor.get(&format!("{PAGE}?post={id}")).await.body;
    assert_eq!(site.get(&files_of(&page)[0]).await.body, "editor.js.gz two");
}

#[tokio::test(flavor = "multi_thread")]
async fn its_settings_are_those_of_the_theme() {
    let site = Site::start().await;
    let admin = site.app_password();
    let path = "/svc-json/svc-block-editor/v1/settings";
    assert_eq!(site.get(path).await.status, 401);
    user(&site, &admin, "reader", "subscriber").await;
    let mut reader = logged_in(&site, "reader").await;
    let nonce = reader.get("/wp-admin/admin-ajax.php?action=rest-nonce").await.body;
    assert_eq!(reader.request("GET", path, &[("X-SVC-Nonce", &nonce)], "").await.status, 403);
    let basic = crate::site::basic(&admin);
    let headers = [("Authorization", &*basic)];
    let get = |query: &str| {
        let path = format!("{path}{query}");
        async move { crate::client::send(site.address, "GET", &path, &headers, "").await }
    };
    let settings = get("").await.json();
    assert_eq!(
        (&settings["allowedBlockTypes"], &settings["__unstableIsBlockBasedTheme"]),
        (&json!(true), &json!(true))
    );
    assert!(settings["styles"][0]["css"].as_str().unwrap().contains("--wp--preset--color"), "{settings}");
    assert!(settings["__experimentalFeatures"]["color"]["palette"]["default"].is_array());
    assert_eq!(settings["colors"], settings["__experimentalFeatures"]["color"]["palette"]["theme"]);
    assert!(settings.get("__experimentalStyles").is_none());
    let mobile = get("?context=mobile").await.json();
    assert!(mobile["__experimentalStyles"].is_object() && mobile.get("styles").is_none(), "{mobile}");
    assert_eq!(get("?context=edit").await.status, 400);
    // WordPress itself does not have the route, so that the index does not list it.
    assert!(!site.get("/svc-json/").await.body.contains("block-editor/v1/settings"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_has_what_the_api_responds_to_its_user() {
    let site = Site::start().await;
    install_files(&site, "one");
    let admin = site.app_password();
    for (role, may_change_settings) in [("administrator", true), ("contributor", false)] {
        user(&site, &admin, role, role).await;
        let mut visitor = logged_in(&site, role).await;
        let created = submit_new(&mut visitor, &format!("{PAGE}?post_type=post")).await;
        let page = visitor.get(created.header("location")).await.body;
        let config = config_of(&page);
        let nonce = config["nonce"].as_str().unwrap().to_owned();
        let preload = config["preload"].as_object().unwrap();
        let reads =
            preload.iter().filter(|(path, _)| *path != "OPTIONS").map(|(path, response)| ("GET", path, response));
        let options = preload["OPTIONS"].as_object().unwrap().iter();
        let all: Vec<_> = reads.chain(options.map(|(path, response)| ("OPTIONS", path, response))).collect();
        let has = |wanted: &str| all.iter().any(|(method, path, _)| *method == "GET" && path.starts_with(wanted));
        for path in
            ["/svc-block-editor/v1/settings", "/svc/v2/posts/", "/svc/v2/types/post?", "/svc/v2/templates/lookup"]
        {
            assert!(has(path), "{role} {path}");
        }
        assert_eq!(has("/svc/v2/settings"), may_change_settings, "{role}");
        for (method, path, response) in all {
            let served = visitor.request(method, &format!("/svc-json{path}"), &[("X-SVC-Nonce", &nonce)], "").await;
            assert_eq!(served.status, 200, "{role} {method} {path}");
            assert_eq!(response["body"], served.json(), "{role} {method} {path}");
            let allow = response["headers"]["Allow"].as_str().unwrap_or_default();
            assert_eq!(allow, served.header("allow"), "{role} {method} {path}");
        }
    }
}
