//! The web page of the tutorial in a browser, with the settings of the tutorial.

use axum::{Router, response::Html, routing::get};
use serde_json::{Value, json};
use svc_server::SiteBuilder;
use svc_testkit::markdown::blocks;

use super::{assert_accessible, browser, save_screenshot};
use crate::{
    client::raw,
    clients::DOT,
    site::{Site, basic},
};

const TUTORIAL: &str = include_str!("../../../docs/tutorial.md");

/// The content of a file of the tutorial.
fn file(name: &str) -> String {
    let blocks = blocks(TUTORIAL);
    blocks.into_iter().find(|block| block.attribute("file") == Some(name)).expect("a file of the tutorial").code
}

/// Uploads an image; returns its id.
async fn upload(site: &Site, user: &str) -> Value {
    let mut request = format!(
        "POST /svc-json/svc/v2/media?alt_text=A+red+square HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: {}\r\n\
         Content-Type: image/png\r\nContent-Disposition: attachment; filename=cover.png\r\nContent-Length: {}\r\n\r\n",
        site.address,
        basic(user),
        DOT.len()
    )
    .into_bytes();
    request.extend_from_slice(DOT);
    let response = raw(site.address, &request, false).await;
    let text = String::from_utf8_lossy(&response);
    let body = text.split_once("\r\n\r\n").expect("a response").1;
    let id = serde_json::from_str::<Value>(body).unwrap_or_default()["id"].clone();
    assert!(id.is_u64(), "{text}");
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn shows_the_books_of_the_tutorial() {
    let Some(mut browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("svc.toml"), file("svc.toml")).unwrap();
    let site = Site::start_in(folder, &SiteBuilder::new(), &[]).await;
    let user = site.app_password();
    let cover = upload(&site, &user).await;
    let book = json!({
        "title": "The hedgehog", "content": "<p>A story.</p>", "status": "publish", "featured_media": cover,
        "meta": {"pages": 120}
    });
    let created = site.post("/svc-json/svc/v2/books", &user, &book).await;
    assert_eq!(created.status, 201, "{}", created.body);

    // Another origin than the site's, as in the tutorial.
    let page = file("front/index.html").replace("127.0.0.1:8080", &site.address.to_string());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let home = format!("http://{}/", listener.local_addr().unwrap());
    let app = Router::new().route("/", get(move || async move { Html(page) }));
    let server = tokio::spawn(async move { axum::serve(listener, app).await });

    let mut tab = browser.tab();
    tab.open(&home);
    tab.wait_for("document.querySelectorAll('#books li').length == 1");
    let text = tab.text();
    assert_eq!(tab.eval("document.querySelector('#books img').alt"), "A red square");
    assert!(text.contains("The hedgehog") && text.contains("120 pages"), "{text}");
    assert_accessible(&mut tab, "front end of the tutorial");
    save_screenshot(&mut tab, "tutorial-front-end");
    server.abort();
}
