//! Images on demand: sizes, formats, signatures, caching and rights.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use svc_media::{Blob, DecodedImage, Focus, Format, Variant, dimensions};
use svc_server::SiteBuilder;

use crate::{
    client::{raw, send},
    site::{Site, basic},
    visitor::user,
};

const API: &str = "/svc-json/svc/v2";

/// 400 × 300 pixels.
const WIDE: &[u8] = include_bytes!("../../crates/svc-controllers/tests/data/wide.png");

/// 320 × 200 pixels, with an EXIF orientation that makes it 200 × 320.
const TURNED: &[u8] = include_bytes!("../../crates/svc-controllers/tests/data/turned.jpg");

/// A response with a binary body.
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value).next().unwrap_or_default()
    }

    fn vary(&self) -> String {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .filter(|(name, _)| name.eq_ignore_ascii_case("vary"))
            .map(|(_, value)| value)
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn size(&self) -> Option<(u32, u32)> {
        dimensions(&Blob::Memory(self.body.clone().into()))
    }

    /// The code of the error.
    fn code(&self) -> String {
        let error: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        error["code"].as_str().unwrap_or_default().to_owned()
    }
}

async fn request(site: &Site, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", site.address);
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    let response = raw(site.address, &[head.as_bytes(), body].concat(), false).await;
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(response[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head, body: response[end + 4..].to_vec() }
}

async fn get(site: &Site, path: &str) -> Answer {
    request(site, "GET", path, &[], b"").await
}

/// Uploads an image and returns the attachment.
async fn upload(site: &Site, user: &str, name: &str, bytes: &[u8], query: &str) -> Value {
    let disposition = format!("attachment; filename={name}");
    let headers = [("Authorization", &*basic(user)), ("Content-Disposition", &disposition)];
    let created = request(site, "POST", &format!("{API}/media{query}"), &headers, bytes).await;
    let text = String::from_utf8_lossy(&created.body);
    assert_eq!(created.status, 201, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The path of a signed URL.
async fn signed(site: &Site, user: &str, id: &Value, query: &str) -> String {
    let headers = [("Authorization", &*basic(user))];
    let response = send(site.address, "GET", &format!("{API}/images/{id}/signed-url?{query}"), &headers, "").await;
    assert_eq!(response.status, 200, "{}", response.body);
    let url = response.json()["url"].as_str().unwrap().to_owned();
    url.strip_prefix(&format!("http://{}", site.address)).unwrap().to_owned()
}

fn file_of(site: &Site, image: &Value) -> PathBuf {
    let url = image["source_url"].as_str().unwrap();
    let path = url.split_once("/wp-content/").unwrap().1;
    site.folder.path().join("svc-data/content").join(path)
}

#[tokio::test(flavor = "multi_thread")]
async fn images_have_the_requested_size_and_format() {
    let settings = [("images.sizes", "100,200,800,120x120,300x100,0800")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let admin = site.app_password();
    let png = upload(&site, &admin, "wide.png", WIDE, "").await["id"].clone();
    let jpeg = upload(&site, &admin, "turned.jpg", TURNED, "").await["id"].clone();
    let browser = "image/avif,image/webp,image/apng,*/*;q=0.8";
    #[rustfmt::skip]
    let rows = [
        // image, query, Accept, type, size
        (&png, "w=100", "", "image/png", (100, 75)), (&png, "w=100", "*/*", "image/png", (100, 75)),
        (&png, "w=100", browser, "image/webp", (100, 75)), (&png, "w=100&format=png", browser, "image/png", (100, 75)),
        (&png, "w=100&format=jpeg", browser, "image/jpeg", (100, 75)), (&png, "w=100&format=webp", "", "image/webp", (100, 75)),
        (&png, "w=120&h=120", "", "image/png", (120, 120)), (&png, "w=300&h=100&format=webp", "", "image/webp", (300, 100)),
        (&jpeg, "w=200", "", "image/jpeg", (200, 320)), (&jpeg, "w=100", browser, "image/webp", (100, 160)),
        // Never enlarged.
        (&png, "w=800", "", "image/png", (400, 300)), (&jpeg, "w=0800&fit=cover", "", "image/jpeg", (200, 320)),
    ];
    for (id, query, accept, mime, size) in rows {
        for round in 0..2 {
            let path = format!("{API}/images/{id}?{query}");
            let image = request(&site, "GET", &path, &[("Accept", accept)], b"").await;
            let row = format!("{query} for {accept}, round {round}: {}", image.head);
            assert_eq!((image.status, image.header("content-type"), image.size()), (200, mime, Some(size)), "{row}");
            let is_decodable = DecodedImage::decode(&Blob::Memory(image.body.into()), Format::of_mime(mime).unwrap());
            assert!(is_decodable.is_ok(), "{row}");
        }
    }
    let auto = get(&site, &format!("{API}/images/{png}?w=100")).await;
    let fixed = get(&site, &format!("{API}/images/{png}?w=100&format=webp")).await;
    assert!(auto.vary().contains("Accept") && !fixed.vary().contains("Accept"), "{} {}", auto.head, fixed.head);
    assert_eq!((auto.header("x-content-type-options"), auto.header("x-robots-tag")), ("nosniff", "all"));
    let head = request(&site, "HEAD", &format!("{API}/images/{png}?w=100"), &[], b"").await;
    assert_eq!((head.status, head.header("etag"), head.body.len()), (200, auto.header("etag"), 0));

    // The part of the focus, as the unit that makes it cuts it.
    for focus in ["0,0", "1,0.5", "0.3,0.7"] {
        let path = signed(&site, &admin, &png, &format!("w=50&h=150&format=png&focus={focus}")).await;
        let image = get(&site, &path).await;
        let crop = Some(focus.parse::<Focus>().unwrap());
        let expected = Variant { width: 50, height: 150, crop, format: Format::Png, quality: 82 };
        let expected = expected.make(&Blob::Memory(WIDE.into()), Format::Png).unwrap();
        assert!(image.status == 200 && image.body == expected, "{focus}: {}", image.head);
    }
    // The EXIF orientation is applied to a file that was stored as it is, too.
    let raw = upload(&site, &admin, "turned-raw.jpg", TURNED, "?generate_sub_sizes=false").await["id"].clone();
    let [upright, sized] = [&raw, &jpeg].map(|id| format!("{API}/images/{id}?w=800&format=png"));
    let (upright, sized) = (get(&site, &upright).await, get(&site, &sized).await);
    assert_eq!((upright.status, upright.size()), (200, Some((200, 320))));
    assert_eq!(sized.size(), upright.size());
    site.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn caches_can_keep_what_is_signed() {
    let site = Site::start().await;
    let admin = site.app_password();
    let image = upload(&site, &admin, "wide.png", WIDE, "").await;
    let id = &image["id"];
    let url = signed(&site, &admin, id, "w=77&q=40&format=webp").await;
    let first = get(&site, &url).await;
    assert_eq!((first.status, first.size()), (200, Some((77, 58))));
    assert_eq!(first.header("cache-control"), "public, max-age=31536000, immutable");
    let etag = first.header("etag").to_owned();
    let unchanged = request(&site, "GET", &url, &[("If-None-Match", &etag)], b"").await;
    assert_eq!((unchanged.status, unchanged.body.len()), (304, 0));
    // The signature does not cover the state of the file.
    let (without, _) = url.split_once("&v=").unwrap();
    let signature = url.split_once("&sig=").unwrap().1;
    for version in ["", "&v=", "&v=0000"] {
        let other = get(&site, &format!("{without}{version}&sig={signature}")).await;
        assert_eq!((other.status, other.header("etag")), (200, &*etag));
        assert_eq!(other.header("cache-control"), "public, max-age=3600");
    }
    // An image of a listed size is made once, and is in the folder.
    let folder = site.folder.path().join("svc-data/image-cache");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    let listed = format!("{API}/images/{id}?w=320");
    let before = get(&site, &listed).await;
    assert_eq!((before.status, fs::read_dir(&folder).unwrap().count()), (200, 2));

    // The file is replaced by the one on its side.
    let turned = DecodedImage::decode(&Blob::Memory(WIDE.into()), Format::Png).unwrap().rotated(90.0).unwrap();
    fs::write(file_of(&site, &image), turned.encode(Format::Png, 80).unwrap()).unwrap();
    let after = get(&site, &url).await;
    assert_eq!((after.status, after.size()), (200, Some((77, 103))));
    assert_eq!(after.header("cache-control"), "public, max-age=3600", "the URL names the former state");
    let after = request(&site, "GET", &listed, &[("If-None-Match", before.header("etag"))], b"").await;
    assert_eq!((after.status, after.size()), (200, Some((300, 400))));

    // The file is missing, and then the attachment.
    fs::remove_file(file_of(&site, &image)).unwrap();
    for path in [&url, &listed] {
        let missing = get(&site, path).await;
        assert_eq!((missing.status, missing.code()), (404, "rest_image_not_found".to_owned()));
        assert!(missing.header("etag").is_empty() && missing.header("cache-control").is_empty(), "{}", missing.head);
    }
    let image = upload(&site, &admin, "wide.png", WIDE, "").await;
    let url = signed(&site, &admin, &image["id"], "w=78").await;
    assert_eq!(get(&site, &url).await.status, 200);
    let path = format!("{API}/media/{}?force=true", image["id"]);
    let deleted = send(site.address, "DELETE", &path, &[("Authorization", &basic(&admin))], "").await;
    assert_eq!(deleted.status, 200, "{}", deleted.body);
    for path in [url, format!("{API}/images/{}?w=320", image["id"])] {
        assert_eq!(get(&site, &path).await.status, 404);
    }
    site.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_sizes_must_be_signed() {
    let site = Site::start().await;
    let admin = site.app_password();
    let first = upload(&site, &admin, "wide.png", WIDE, "").await["id"].clone();
    let second = upload(&site, &admin, "wide.png", WIDE, "").await["id"].clone();
    let url = signed(&site, &admin, &first, "w=123&h=45&fit=contain&format=png").await;
    let (start, signature) = url.split_once("&sig=").unwrap();
    let path = format!("{API}/images/{first}?");
    let cover = signed(&site, &admin, &first, "w=123&h=45&fit=cover&focus=0.50,0.5&format=png").await;
    assert_eq!(get(&site, &cover).await.size(), Some((123, 45)));
    let same = format!("{path}h=0045&format=png&w=123&fit=contain&focus=0.1,0.1&sig={signature}");
    assert_eq!(get(&site, &same).await.size(), Some((60, 45)), "the same image");
    let upper = signature.to_uppercase();
    let (not_signed, invalid) = ("rest_image_not_signed", "rest_invalid_image_signature");
    #[rustfmt::skip]
    let rows = [
        (start.to_owned(), 403, not_signed), (format!("{start}&sig="), 403, invalid), (format!("{start}&sig={upper}"), 403, invalid),
        (format!("{start}&sig={}", &signature[..63]), 403, invalid), (format!("{start}&sig={signature}0"), 403, invalid),
        (format!("{start}&sig={}", "0".repeat(64)), 403, invalid), (format!("{start}&sig={}", "0".repeat(129)), 400, "rest_invalid_param"), (format!("{start}&sig[]={signature}"), 400, "rest_invalid_param"),
        (url.replace("w=123", "w=124"), 403, invalid), (url.replace("h=45", "h=46"), 403, invalid), (url.replace("&fit=contain", ""), 403, invalid),
        (url.replace("png", "webp"), 403, invalid), (format!("{url}&q=81"), 403, invalid), (url.replace("contain", "cover"), 403, invalid),
        (cover.replace("h=45", "h=45&focus=0.5,0.51"), 403, invalid),
        (url.replace(&format!("images/{first}"), &format!("images/{second}")), 403, invalid),
        (format!("{path}w=320&q=82"), 403, not_signed), (format!("{path}w=320&h=320"), 403, not_signed), (format!("{path}h=320"), 403, not_signed),
        (format!("{path}w=320&sig=x"), 403, invalid), (format!("{path}w=321"), 403, not_signed),
        (path.clone(), 400, "rest_invalid_param"), (format!("{path}w="), 400, "rest_invalid_param"), (format!("{path}w=0"), 400, "rest_invalid_param"),
        (format!("{path}w=-320"), 400, "rest_invalid_param"), (format!("{path}w=4097"), 400, "rest_invalid_param"),
        (format!("{path}w=99999999999999999999"), 400, "rest_invalid_param"), (format!("{path}w=320.5"), 400, "rest_invalid_param"),
        (format!("{path}w[]=320"), 400, "rest_invalid_param"), (format!("{path}w=1e2"), 403, not_signed),
        (format!("{path}w=320&format=avif"), 400, "rest_invalid_param"), (format!("{path}w=320&format=gif"), 400, "rest_invalid_param"),
        (format!("{path}w=320&fit=fill"), 400, "rest_invalid_param"), (format!("{path}w=320&focus=2,2"), 400, "rest_invalid_param"),
        (format!("{path}w=320&q=0"), 400, "rest_invalid_param"), (format!("{path}w=320&q=101"), 400, "rest_invalid_param"),
        (format!("{API}/images/0?w=320"), 404, "rest_image_not_found"), (format!("{API}/images/99999?w=320"), 404, "rest_image_not_found"),
        (format!("{API}/images/99999999999999999999?w=320"), 404, "rest_image_not_found"), (format!("{API}/images/1?w=320"), 404, "rest_image_not_found"),
        (format!("{API}/images/-1?w=320"), 404, "rest_no_route"), (format!("{API}/images/..%2F1?w=320"), 404, "rest_no_route"),
    ];
    for (path, status, code) in rows {
        let refused = get(&site, &path).await;
        assert_eq!((refused.status, &*refused.code()), (status, code), "{path}");
        assert!(!refused.header("cache-control").contains("public"), "{path}");
    }
    // Nothing else was made.
    assert_eq!(fs::read_dir(site.folder.path().join("svc-data/image-cache")).unwrap().count(), 2);

    // Who may sign.
    let id = user(&site, &admin, "ann", "author").await;
    let subscriber = user(&site, &admin, "sub", "subscriber").await;
    let mut credentials = Vec::new();
    for (login, id) in [("ann", id), ("sub", subscriber)] {
        let path = format!("{API}/users/{id}/application-passwords");
        let password = site.post(&path, &admin, &json!({"name": "tests"})).await.json();
        credentials.push(format!("{login}:{}", password["password"].as_str().unwrap()));
    }
    let path = format!("{API}/images/{first}/signed-url?w=99");
    for (user, status) in [(Some(&admin), 200), (credentials.first(), 200), (credentials.get(1), 403), (None, 401)] {
        let headers: Vec<(&str, String)> = user.map(|user| ("Authorization", basic(user))).into_iter().collect();
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let response = send(site.address, "GET", &path, &headers, "").await;
        assert_eq!(response.status, status, "{user:?}: {}", response.body);
        assert!(response.status == 200 || !response.body.contains("sig="), "{}", response.body);
    }
    site.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn images_of_drafts_are_for_those_who_may_read_them() {
    let site = Site::start().await;
    let admin = site.app_password();
    let draft = site.post(&format!("{API}/posts"), &admin, &json!({"title": "Draft"})).await.json()["id"].clone();
    let image = upload(&site, &admin, "wide.png", WIDE, &format!("?post={draft}")).await["id"].clone();
    let path = format!("{API}/images/{image}?w=320");
    let refused = get(&site, &path).await;
    assert_eq!((refused.status, refused.code()), (401, "rest_forbidden".to_owned()));
    let own = request(&site, "GET", &path, &[("Authorization", &basic(&admin))], b"").await;
    assert_eq!((own.status, own.size()), (200, Some((320, 240))));
    assert!(own.header("cache-control").contains("no-store"), "{}", own.head);
    let url = signed(&site, &admin, &image, "w=320").await;
    let shared = get(&site, &url).await;
    assert_eq!((shared.status, shared.size()), (200, Some((320, 240))));
    assert_eq!(shared.header("cache-control"), "private, max-age=31536000, immutable");
    let published = site.post(&format!("{API}/posts/{draft}"), &admin, &json!({"status": "publish"})).await;
    assert_eq!(published.status, 200);
    let public = get(&site, &path).await;
    assert_eq!((public.status, public.header("cache-control")), (200, "public, max-age=3600"));
    site.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_cannot_be_resized() {
    let site = Site::start().await;
    let admin = site.app_password();
    let gif =
        b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
    let gif = upload(&site, &admin, "a.gif", gif, "").await;
    let redirect = get(&site, &format!("{API}/images/{}?w=320", gif["id"])).await;
    assert_eq!((redirect.status, redirect.header("location")), (302, gif["source_url"].as_str().unwrap()));
    let text = upload(&site, &admin, "a.txt", b"text", "").await;
    assert_eq!(get(&site, &format!("{API}/images/{}?w=320", text["id"])).await.code(), "rest_image_not_found");
    // A header that declares four billion pixels.
    let mut bomb = WIDE.to_vec();
    bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let bomb = upload(&site, &admin, "bomb.png", &bomb, "").await;
    let refused = get(&site, &format!("{API}/images/{}?w=320", bomb["id"])).await;
    assert_eq!((refused.status, &*refused.code()), (422, "rest_image_unusable"));
    assert!(refused.header("content-type").starts_with("application/json") && refused.header("etag").is_empty());
    // A batch has no place for files.
    let image = upload(&site, &admin, "wide.png", WIDE, "").await["id"].clone();
    let part = json!({"path": format!("/svc/v2/images/{image}?w=320"), "method": "GET"});
    let batch = site.post("/svc-json/batch/v1", &admin, &json!({"reads": true, "requests": [part]})).await.json();
    assert_eq!(batch["responses"][0]["body"]["code"], "rest_batch_not_allowed", "{batch}");
    // The route is described, and not in the index.
    let described = request(&site, "OPTIONS", &format!("{API}/images/{image}"), &[], b"").await;
    let described: Value = serde_json::from_slice(&described.body).unwrap();
    assert_eq!(described["endpoints"][0]["args"]["format"]["enum"], json!(["auto", "jpeg", "png", "webp"]));
    assert!(!site.get("/svc-json/").await.body.contains("/images/"));
    site.stop().await;

    let settings = [("images.on_demand", "false")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    assert_eq!(get(&site, &format!("{API}/images/1?w=320")).await.code(), "rest_no_route");
    site.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cache_stays_within_its_bound() {
    let settings = [("images.cache_size", "100KB")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let admin = site.app_password();
    let id = upload(&site, &admin, "wide.png", WIDE, "").await["id"].clone();
    let folder = site.folder.path().join("svc-data/image-cache");
    for width in 300..330 {
        let url = signed(&site, &admin, &id, &format!("w={width}&format=png")).await;
        assert_eq!(get(&site, &url).await.size().unwrap().0, width);
        let sizes = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
        let total: u64 = sizes.sum();
        assert!((1..=100 << 10).contains(&total), "{total}");
    }
    site.stop().await;
}
