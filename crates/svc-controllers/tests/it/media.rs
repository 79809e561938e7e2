//! Media, in process, on the recorded fixture. Image 1200 (Landscape) is unattached; images 1201 and 1202 are attached to
//! post 1010, document 1203 to a private post, text 1205 to a page, and audio 1206 to a trashed post.

use std::path::Path;

use crate::harness::{ADMIN, AUTHOR, CONTRIBUTOR, EDITOR, Harness, NOBODY, TestResponse};
use serde_json::{Value, json};
use svc_media::Storage;
use svc_routing::{File, FileData, Method, Request};
use svc_schema::Schema;

const MEDIA: &str = "/svc/v2/media";
/// 400 by 300 pixels, the left half red.
const WIDE: &[u8] = include_bytes!("../data/wide.png");
/// 320 by 200 pixels, to be rotated clockwise, with the title "By the river".
const TURNED: &[u8] = include_bytes!("../data/turned.jpg");

/// An audio file with metadata and a cover image of 8 by 6 pixels.
const SONG: &[u8] = include_bytes!("../../../svc-media/tests/data/song.mp3");
const FILM: &[u8] = include_bytes!("../../../svc-media/tests/data/film.mp4");

/// The fixture with an empty uploads folder.
fn harness() -> (Harness, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::folder(dir.path());
    (Harness::with(move |setup| setup.site.services.uploads = storage), dir)
}

async fn upload(h: &Harness, user: i64, name: &str, bytes: &'static [u8], query: &str) -> TestResponse {
    let disposition = format!("attachment; filename=\"{name}\"");
    let req = Request::new(Method::POST, MEDIA).with_query_string(query).with_header("content-type", "image/png");
    h.send(user, req.with_header("content-disposition", &disposition).with_body(bytes)).await
}

async fn upload_form(h: &Harness, name: &str, mime: &str, bytes: &'static [u8]) -> TestResponse {
    let file = File {
        field: "file".to_owned(),
        name: name.to_owned(),
        content_type: mime.to_owned(),
        size: bytes.len() as u64,
        data: FileData::Memory(bytes.into()),
    };
    h.send(ADMIN, Request::new(Method::POST, MEDIA).with_file(file)).await
}

/// Relative paths of all files in a folder.
fn files(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match path.is_dir() {
            true => found.extend(files(&path).into_iter().map(|inner| format!("{name}/{inner}"))),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

/// The file name in a URL.
fn base(url: &Value) -> &str {
    url.as_str().and_then(|a| a.rsplit('/').next()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn items_match_their_schema() {
    let (h, _dir) = harness();
    let source = h.json(ADMIN, Method::OPTIONS, MEDIA, json!({})).await.body["schema"].clone();
    let schema = Schema::compile(source.clone());
    for context in ["view", "embed", "edit"] {
        let list = h.get(ADMIN, MEDIA, &format!("context={context}")).await;
        assert_eq!(list.body.as_array().unwrap().len(), 7);
        for item in list.body.as_array().unwrap() {
            let mut item = item.clone();
            item.as_object_mut().unwrap().shift_remove("_links");
            // WordPress's schema lacks null as the post of unattached media, and the status `inherit`.
            item.as_object_mut()
                .unwrap()
                .retain(|name, value| name != "status" && !(name == "post" && value.is_null()));
            schema.validate(&item, "item").unwrap_or_else(|e| panic!("{context} {}: {e}", item["id"]));
            for name in item.as_object().unwrap().keys() {
                let contexts = &source["properties"][name]["context"];
                assert!(contexts.as_array().unwrap().contains(&json!(context)), "{context} {name}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn audio_metadata_is_read_and_equal_cover_images_are_stored_once() {
    let (h, dir) = harness();
    let first = upload(&h, AUTHOR, "song.mp3", SONG, "").await.body;
    let details = &first["media_details"];
    assert_eq!((&first["title"]["raw"], &first["media_type"]), (&json!("song"), &json!("file")));
    for (name, value) in [
        ("dataformat", json!("mp3")),
        ("fileformat", json!("mp3")),
        ("mime_type", json!("audio/mpeg")),
        ("channels", json!(2)),
        ("channelmode", json!("joint stereo")),
        ("sample_rate", json!(22050)),
        ("bitrate", json!(32000.0)),
        ("length", json!(1)),
        ("length_formatted", json!("0:01")),
        ("filesize", json!(SONG.len())),
        ("artist", json!("Somebody")),
        ("image", json!({"mime": "image/jpeg", "width": 8, "height": 6})),
    ] {
        assert_eq!(details[name], value, "{name}");
    }
    let cover = h.get(ADMIN, &format!("{MEDIA}/{}", first["featured_media"]), "context=edit").await.body;
    assert_eq!(base(&cover["source_url"]), "song-mp3-image.jpg");
    assert_eq!((&cover["title"]["raw"], &cover["slug"]), (&json!(""), &json!(cover["id"].to_string())));
    assert_eq!((&cover["author"], &cover["media_details"]["width"]), (&json!(AUTHOR), &json!(8)));

    let second = upload(&h, AUTHOR, "song.mp3", SONG, "").await.body;
    assert_eq!(second["featured_media"], first["featured_media"]);
    assert_eq!(files(dir.path()).len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn video_metadata_is_read() {
    let (h, _dir) = harness();
    let details = upload(&h, ADMIN, "film.mp4", FILM, "").await.body["media_details"].take();
    assert_eq!((&details["width"], &details["height"]), (&json!(32), &json!(16)));
    assert_eq!((&details["codec"], &details["length_formatted"]), (&json!("H.264/MPEG-4 AVC"), &json!("0:01")));
    assert_eq!(details["audio"]["codec"], "ISO/IEC 14496-3 AAC");
    assert_eq!(details["created_timestamp"], 1_580_702_706);
}

#[tokio::test(flavor = "multi_thread")]
async fn alt_text_is_read_from_image_metadata() {
    let (h, _dir) = harness();
    let packet = "<x:xmpmeta><Iptc4xmpCore:AltTextAccessibility><rdf:Alt><rdf:li xml:lang='x-default'>A <b>red</b> \
                  half<script></script></rdf:li></rdf:Alt></Iptc4xmpCore:AltTextAccessibility></x:xmpmeta>";
    let image: &'static [u8] = [WIDE, packet.as_bytes()].concat().leak();
    for (query, alt) in [("", "A <b>red</b> half"), ("alt_text=own", "own")] {
        let created = upload(&h, ADMIN, "wide.png", image, query).await.body;
        assert_eq!(created["media_details"]["image_meta"]["alt"], "A <b>red</b> half");
        assert_eq!(created["alt_text"], alt);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn query_count_is_independent_of_the_number_of_items() {
    let (h, _dir) = harness();
    for query in ["", "&context=edit"] {
        let mut counts = Vec::new();
        for per_page in [2, 100] {
            let query = format!("per_page={per_page}{query}");
            h.get(ADMIN, MEDIA, &query).await;
            let before = h.statements();
            assert_eq!(h.get(ADMIN, MEDIA, &query).await.status, 200);
            counts.push(h.statements() - before);
        }
        assert!(counts[1] <= counts[0] + 1, "{query}: {counts:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn images_are_stored_and_deleted_with_their_sizes() {
    let (h, dir) = harness();
    let created = upload(&h, AUTHOR, "Wide view.PNG", WIDE, "post=1002&alt_text=a%20%3Cb%3Eb").await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    let expected = ["2024/01/Wide-view-150x150.png", "2024/01/Wide-view-300x225.png", "2024/01/Wide-view.png"];
    assert_eq!(files(dir.path()), expected);
    let details = &created.body["media_details"];
    assert_eq!((&details["width"], &details["height"]), (&json!(400), &json!(300)));
    assert_eq!(details["sizes"]["medium"]["mime_type"], "image/png");
    assert_eq!(base(&details["sizes"]["full"]["source_url"]), "Wide-view.png");
    assert_eq!((&created.body["alt_text"], &created.body["post"]), (&json!("a b"), &json!(1002)));
    assert_eq!(
        (&created.body["title"]["raw"], &created.body["missing_image_sizes"]),
        (&json!("Wide-view"), &json!([]))
    );
    let id = created.body["id"].as_i64().unwrap();
    assert_eq!(created.header("x-svc-upload-attachment-id"), Some(id.to_string().as_str()));

    let route = format!("{MEDIA}/{id}");
    h.json(ADMIN, Method::POST, "/svc/v2/posts/1002", json!({"featured_media": id})).await;
    assert_eq!(h.json(AUTHOR, Method::DELETE, &route, json!({})).await.code(), "rest_trash_not_supported");
    assert_eq!(h.json(AUTHOR, Method::DELETE, &route, json!({"force": true})).await.status, 200);
    assert!(files(dir.path()).is_empty());
    assert_eq!(h.get(ADMIN, "/svc/v2/posts/1002", "").await.body["featured_media"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_are_rotated_and_their_title_is_read() {
    let (h, dir) = harness();
    let created = upload_form(&h, "photo.jpg", "image/jpeg", TURNED).await.body;
    assert_eq!(
        (&created["title"]["raw"], &created["caption"]["raw"]),
        (&json!("By the river"), &json!("By the river"))
    );
    assert_eq!((base(&created["source_url"]), &created["filename"]), ("photo-rotated.jpg", &json!("photo.jpg")));
    let details = &created["media_details"];
    assert_eq!((&details["width"], &details["height"]), (&json!(200), &json!(320)));
    assert_eq!((&details["image_meta"]["orientation"], &created["exif_orientation"]), (&json!(1), &json!(1)));
    assert_eq!(base(&details["sizes"]["medium"]["source_url"]), "photo-188x300.jpg");

    // Without sub-sizes the file is unchanged until they are requested.
    let plain = upload(&h, ADMIN, "photo.jpg", TURNED, "generate_sub_sizes=false").await.body;
    assert_eq!((base(&plain["source_url"]), &plain["exif_orientation"]), ("photo-1.jpg", &json!(6)));
    assert_eq!(plain["missing_image_sizes"], json!(["thumbnail", "medium"]));
    let route = format!("{MEDIA}/{}/post-process", plain["id"]);
    let done = h.json(ADMIN, Method::POST, &route, json!({"action": "create-image-subsizes"})).await.body;
    assert_eq!(done["missing_image_sizes"], json!([]), "{done:?}");
    assert_eq!(base(&done["media_details"]["sizes"]["thumbnail"]["source_url"]), "photo-1-150x150.jpg");
    assert_eq!(files(dir.path()).len(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_uploads_leave_no_files() {
    let (h, dir) = harness();
    #[rustfmt::skip]
    let rows: [(&str, &'static [u8], &str); 6] = [
        ("a.php", b"<?php", "rest_upload_sideload_error"), ("a.png", b"not an image", "rest_upload_sideload_error"),
        ("a.svg", b"<svg/>", "rest_upload_sideload_error"), ("a.png.php", WIDE, "rest_upload_sideload_error"),
        ("", WIDE, "rest_upload_sideload_error"), ("a.png", b"", "rest_upload_no_data"),
    ];
    for (name, bytes, code) in rows {
        assert_eq!(upload(&h, ADMIN, name, bytes, "").await.code(), code, "{name}");
    }
    for (query, code) in [
        ("post=1203", "rest_invalid_param"),
        ("post=999999", "rest_cannot_edit"),
        ("template=none", "rest_invalid_param"),
        ("author=99999", "rest_invalid_author"),
    ] {
        assert_eq!(upload(&h, ADMIN, "a.png", WIDE, query).await.code(), code, "{query}");
    }
    for user in [NOBODY, CONTRIBUTOR] {
        assert_eq!(upload(&h, user, "a.png", WIDE, "").await.code(), "rest_cannot_create");
    }
    let bitmap = upload_form(&h, "a.bmp", "image/bmp", b"BM").await;
    assert_eq!(bitmap.code(), "rest_upload_image_type_not_supported");
    let sum = Request::new(Method::POST, MEDIA).with_header("content-disposition", "x; filename=a.png");
    let sum = sum.with_header("content-md5", "0").with_body(WIDE);
    assert_eq!(h.send(ADMIN, sum).await.code(), "rest_upload_hash_mismatch");
    assert!(files(dir.path()).is_empty(), "{:?}", files(dir.path()));
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_create_a_copy() {
    let (h, dir) = harness();
    let created = upload(&h, EDITOR, "wide.png", WIDE, "caption=C&description=D&alt_text=A").await.body;
    let route = format!("{MEDIA}/{}/edit", created["id"]);
    let change = |modifiers: Value| json!({"src": created["media_details"]["sizes"]["medium"]["source_url"], "modifiers": modifiers});
    let rotate = json!({"type": "rotate", "args": {"angle": 90}});
    let crop = json!({"type": "crop", "args": {"left": 50, "top": 0, "width": 75, "height": 50}});
    let copy = h.json(EDITOR, Method::POST, &route, change(json!([rotate, crop]))).await;
    assert_eq!(copy.status, 201, "{:?}", copy.body);
    let details = &copy.body["media_details"];
    assert_eq!((&details["width"], &details["height"]), (&json!(150), &json!(200)));
    assert_eq!(base(&copy.body["source_url"]), "wide-edited.png");
    assert_eq!(details["parent_image"]["attachment_id"], created["id"].to_string());
    assert_eq!((&copy.body["alt_text"], &copy.body["caption"]["rendered"]), (&json!("A"), &json!("<p>C</p>\n")));

    // As in WordPress, texts without a value to store leave those of the original.
    let texts = json!({"title": 5, "caption": {"rendered": "x"}, "description": "", "alt_text": "B", "status": ["x"]});
    let mut body = change(json!([rotate]));
    body.as_object_mut().unwrap().extend(texts.as_object().unwrap().clone());
    let copy = h.json(EDITOR, Method::POST, &route, body).await;
    assert_eq!(copy.status, 201, "{:?}", copy.body);
    let stored = h.get(EDITOR, &format!("{MEDIA}/{}", copy.body["id"]), "context=edit").await.body;
    let raw = ["title", "caption", "description"].map(|name| stored[name]["raw"].clone());
    assert_eq!((raw, &stored["alt_text"]), ([json!("wide"), json!("C"), json!("")], &json!("B")));

    // Other fields of media are not stored, whether or not their values can be converted.
    let others =
        json!({"title": "Copy", "author": 3, "slug": "other", "date": "2001-02-03T04:05:06", "comment_status": 1});
    let mut body = change(json!([rotate]));
    body.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
    let copy = h.json(EDITOR, Method::POST, &route, body).await.body;
    let stored = h.get(EDITOR, &format!("{MEDIA}/{}", copy["id"]), "context=edit").await.body;
    assert_eq!((&stored["title"]["raw"], &stored["author"]), (&json!("Copy"), &json!(EDITOR)));
    assert_eq!((&stored["slug"], &stored["comment_status"]), (&json!("copy"), &json!("open")));
    assert!(!stored["date"].as_str().unwrap().starts_with("2001"), "{stored}");

    let before = files(dir.path());
    let empty = json!({"type": "crop", "args": {"left": 100, "top": 0, "width": 10, "height": 10}});
    #[rustfmt::skip]
    let rows = [
        (change(json!([empty])), "rest_image_crop_failed"), (json!({"src": created["source_url"]}), "rest_image_not_edited"),
        (json!({"src": "http://e.org/x.png", "rotation": 90}), "rest_unknown_attachment"),
        (json!({"src": "http://e.org/../../secret", "rotation": 90}), "rest_unknown_attachment"),
    ];
    for (body, code) in rows {
        assert_eq!(h.json(EDITOR, Method::POST, &route, body.clone()).await.code(), code, "{body}");
    }
    assert_eq!(
        h.json(CONTRIBUTOR, Method::POST, &route, change(json!([rotate]))).await.code(),
        "rest_cannot_edit_image"
    );
    assert_eq!(files(dir.path()), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn images_and_galleries_in_posts() {
    let (h, _dir) = harness();
    let content = "<img class=\"wp-image-1200\" src=\"http://127.0.0.1:8801/wp-content/uploads/2024/03/landscape.jpg\"/>\n\
                   [gallery ids=\"1202,1200,1203,999\" link=\"file\"]";
    let body = json!({"content": content, "status": "publish"});
    let id = h.json(ADMIN, Method::POST, "/svc/v2/posts", body).await.body["id"].clone();
    let post = h.get(NOBODY, &format!("/svc/v2/posts/{id}"), "").await.body;
    let html = post["content"]["rendered"].as_str().unwrap();
    for part in [
        "width=\"1600\" height=\"1200\"",
        "landscape-300x225.jpg 300w",
        &format!("<div id='gallery-1' class='gallery galleryid-{id} gallery-columns-3 gallery-size-thumbnail'>"),
        "id='gallery-1-1200'>\n\t\t\t\tThe caption",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert_eq!(html.matches("gallery-item").count(), 2, "documents and deleted media are not images");
    assert!(html.find("tiny.jpg") < html.find("landscape-150x150.jpg"), "{html}");
}

#[tokio::test(flavor = "multi_thread")]
async fn private_addresses_are_not_fetched() {
    let (h, dir) = harness();
    #[rustfmt::skip]
    let rows = [
        ("http://10.0.0.1/a.png", "rest_invalid_param"), ("http://127.0.0.2/a.png", "rest_invalid_param"),
        ("http://[::1]/a.png", "rest_invalid_param"),
        ("file:///a.png", "rest_invalid_param"), ("a.png", "rest_invalid_param"), ("", "rest_invalid_param"),
        ("http://10.0.0.1/a.txt", "rest_invalid_param"), ("http://10.0.0.1/", "rest_invalid_param"),
    ];
    for (url, code) in rows {
        let response = h.json(ADMIN, Method::POST, MEDIA, json!({"url": url})).await;
        assert_eq!((response.status, response.code()), (400, code), "{url}");
    }
    let none = h.json(ADMIN, Method::POST, MEDIA, json!({"url": null})).await;
    assert_eq!((none.status, none.code()), (400, "rest_upload_no_content_disposition"));
    assert!(files(dir.path()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn dynamic_blocks_in_descriptions_follow_the_file() {
    let h = Harness::new();
    let change = json!({"description": "<!-- wp:latest-posts /-->"});
    let response = h.json(ADMIN, Method::POST, &format!("{MEDIA}/1203"), change).await;
    let rendered = response.body["description"]["rendered"].as_str().unwrap();
    assert!(rendered.starts_with("<p class=\"attachment\">"), "{rendered}");
    assert!(rendered.contains("<ul class=\"wp-block-latest-posts__list"), "{rendered}");
}

/// Who sees a private post may see the pages of its attachments.
#[tokio::test(flavor = "multi_thread")]
async fn galleries_of_private_posts_link_to_the_pages_of_attachments() {
    let h = Harness::new();
    let change = json!({"status": "private"});
    let response = h.json(ADMIN, Method::POST, "/svc/v2/posts/1010", change).await;
    let rendered = response.body["content"]["rendered"].as_str().unwrap();
    assert!(rendered.contains("/gallery-format/small/"), "{rendered}");
    assert!(!rendered.contains("attachment_id="), "{rendered}");
}

/// The image 1201 is attached to the post 1010, and featured by the page 1108.
#[tokio::test(flavor = "multi_thread")]
async fn featured_images_of_trashed_posts_are_linked_as_before() {
    let h = Harness::new();
    let links = async || h.get(NOBODY, "/svc/v2/pages/1108", "").await.body["_links"].clone();
    let before = links().await;
    assert!(!before["svc:featuredmedia"].is_null(), "{before}");
    let trashed = h.json(ADMIN, Method::DELETE, "/svc/v2/posts/1010", json!({})).await;
    assert_eq!(trashed.status, 200);
    assert_eq!(links().await, before);
    let restored = h.json(ADMIN, Method::PUT, "/svc/v2/posts/1010", json!({"status": "private"})).await;
    assert_eq!(restored.status, 200);
    assert!(links().await["svc:featuredmedia"].is_null());
}
