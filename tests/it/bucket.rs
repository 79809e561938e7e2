//! Uploads to a bucket: uploading, resizing, serving, editing and deleting.

use serde_json::{Value, json};
use svc_server::SiteBuilder;

use crate::{
    client::{HttpResponse, raw, send},
    s3::{BUCKET, KEY, S3},
    site::{Site, basic},
};

const IMAGE: &[u8] = include_bytes!("../../crates/svc-controllers/tests/data/wide.png");
const MEDIA: &str = "/svc-json/svc/v2/media";

async fn start(s3: &S3, key: &str) -> Site {
    let endpoint = format!("http://{}", s3.address);
    let settings = [
        ("uploads.bucket", BUCKET),
        ("uploads.endpoint", endpoint.as_str()),
        ("uploads.prefix", "one/site"),
        ("uploads.access_key", key),
        ("uploads.secret_key", "secret"),
    ];
    Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await
}

/// Uploads a file; returns the response's status and body.
async fn upload(site: &Site, user: &str, name: &str, file: &[u8]) -> (u16, Value) {
    let head = format!(
        "POST {MEDIA} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: {}\r\n\
         Content-Disposition: attachment; filename={name}\r\nContent-Length: {}\r\n\r\n",
        site.address,
        basic(user),
        file.len()
    );
    let response = raw(site.address, &[head.as_bytes(), file].concat(), false).await;
    let text = String::from_utf8_lossy(&response);
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
}

async fn get(site: &Site, url: &Value, headers: &[(&str, &str)]) -> HttpResponse {
    let path = url.as_str().unwrap().split_once("/wp-content").map(|(_, rest)| format!("/wp-content{rest}")).unwrap();
    send(site.address, "GET", &path, headers, "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_are_stored_in_a_bucket() {
    let s3 = S3::start().await;
    let site = start(&s3, KEY).await;
    let user = site.app_password();

    let (status, image) = upload(&site, &user, "wide.png", IMAGE).await;
    assert_eq!(status, 201, "{image}");
    let names = s3.names();
    assert!(names.iter().all(|name| name.starts_with("one/site/20")), "{names:?}");
    let has = |ending: &str| names.iter().any(|name| name.ends_with(ending));
    assert!(has("/wide.png") && has("/wide-150x150.png") && has("/wide-300x225.png"), "{names:?}");
    assert!(!site.folder.path().join("svc-data/content/uploads").exists());

    let url = &image["source_url"];
    let whole = get(&site, url, &[]).await;
    let length = IMAGE.len().to_string();
    assert_eq!((whole.status, whole.header("Content-Type")), (200, "image/png"));
    assert_eq!(whole.header("Content-Length"), length);
    let part = get(&site, url, &[("Range", "bytes=1-3")]).await;
    assert_eq!((part.status, part.body.as_str()), (206, "PNG"));
    assert_eq!(part.header("Content-Range"), format!("bytes 1-3/{length}"));
    assert_eq!(get(&site, url, &[("Range", "bytes=999999-")]).await.status, 416);
    for unchanged in [("If-None-Match", whole.header("ETag")), ("If-Modified-Since", whole.header("Last-Modified"))] {
        assert_eq!(get(&site, url, &[unchanged]).await.status, 304, "{unchanged:?}");
    }
    let small = &image["media_details"]["sizes"]["thumbnail"]["source_url"];
    assert_eq!(get(&site, small, &[]).await.status, 200);

    for _ in 0..2 {
        let path = format!("/svc-json/svc/v2/images/{}?w=320&format=webp", image["id"]);
        let resized = send(site.address, "GET", &path, &[], "").await;
        assert_eq!((resized.status, resized.header("Content-Type")), (200, "image/webp"), "{}", resized.body);
    }

    let (_, again) = upload(&site, &user, "wide.png", IMAGE).await;
    assert!(again["source_url"].as_str().unwrap().ends_with("/wide-1.png"), "{again}");

    let turn = json!({"src": url, "modifiers": [{"type": "rotate", "args": {"angle": 90}}]});
    let edited = site.post(&format!("{MEDIA}/{}/edit", image["id"]), &user, &turn).await;
    assert_eq!(edited.status, 201, "{}", edited.body);
    let edited = edited.json();
    assert_eq!(edited["media_details"]["width"], 300);
    assert_eq!(get(&site, &edited["source_url"], &[]).await.status, 200);

    // An upload in several parts.
    let (status, large) = upload(&site, &user, "large.txt", &vec![b'a'; 9 << 20]).await;
    assert_eq!((status, s3.uploads()), (201, (0, 2)), "{large}");
    let end = get(&site, &large["source_url"], &[("Range", "bytes=-2")]).await;
    assert_eq!((end.status, end.body.as_str()), (206, "aa"));

    for item in [&image, &again, &edited, &large] {
        let path = format!("{MEDIA}/{}?force=true", item["id"]);
        let response = send(site.address, "DELETE", &path, &[("Authorization", &basic(&user))], "").await;
        assert_eq!(response.status, 200, "{}", response.body);
    }
    assert_eq!(s3.names().len(), 0, "{:?}", s3.names());
    assert_eq!(get(&site, url, &[]).await.status, 404);
    site.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_bucket_key_stores_nothing() {
    let s3 = S3::start().await;
    let site = start(&s3, "another-key").await;
    let (status, response) = upload(&site, &site.app_password(), "wide.png", IMAGE).await;
    assert_eq!(status, 500);
    assert!(!response.to_string().contains(&s3.address.to_string()), "{response}");
    let listed = site.get(MEDIA).await.json();
    assert_eq!((listed, s3.names().len()), (json!([]), 0));
    site.stop().await;
}
