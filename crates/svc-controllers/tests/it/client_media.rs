//! Uploads of clients that process images themselves: requests, responses, rows and files as recorded from WordPress 7.1.4
//! (`data/client_media`, `record.py`).

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::OnceLock,
};

use chrono::NaiveDateTime;
use indexmap::IndexMap;
use md5::{Digest as _, Md5};
use serde_json::{Map, Value, json};
use svc_media::Storage;
use svc_model::PostId;
use svc_routing::{File, FileData, Method, Request, Transport};
use svc_store::{MetaKind, StoredText, meta, posts};
use svc_versions::Context;

use crate::harness::{ADMIN, AUTHOR, CONTRIBUTOR, EDITOR, Harness, NOBODY, TestResponse};

/// Files that the recorded requests contain.
#[rustfmt::skip]
const ASSETS: &[(&str, &[u8])] = &[
    ("turned.jpg", include_bytes!("../data/turned.jpg")),
    ("wide.png", include_bytes!("../data/wide.png")),
    ("film.mp4", include_bytes!("../../../svc-media/tests/data/film.mp4")),
    ("150x150.jpg", include_bytes!("../data/client_media/150x150.jpg")),
    ("150x150.png", include_bytes!("../data/client_media/150x150.png")),
    ("188x300.jpg", include_bytes!("../data/client_media/188x300.jpg")),
    ("200x320.jpg", include_bytes!("../data/client_media/200x320.jpg")),
    ("100x160.jpg", include_bytes!("../data/client_media/100x160.jpg")),
    ("300x225.png", include_bytes!("../data/client_media/300x225.png")),
    ("32x16.jpg", include_bytes!("../data/client_media/32x16.jpg")),
    ("64x48.jpg", include_bytes!("../data/client_media/64x48.jpg")),
    ("moving.gif", include_bytes!("../data/client_media/moving.gif")),
    ("page.pdf", include_bytes!("../data/client_media/page.pdf")),
    ("record.py", include_bytes!("../data/client_media/record.py")),
    ("still.heic", include_bytes!("../data/client_media/still.heic")),
];

/// When the scenarios were recorded: the folder of new files depends on the month.
fn recorded_time() -> NaiveDateTime {
    static TIME: OnceLock<NaiveDateTime> = OnceLock::new();
    *TIME.get_or_init(|| {
        let scenario: Value = serde_json::from_str(include_str!("../data/client_media/jpeg.json")).unwrap();
        NaiveDateTime::parse_from_str(scenario["now"].as_str().unwrap(), "%Y-%m-%dT%H:%M:%SZ").unwrap()
    })
}

/// The fixture with an empty uploads folder, at the time of the recording.
fn harness() -> (Harness, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::folder(dir.path());
    (Harness::at(recorded_time, move |setup| setup.site.services.uploads = storage), dir)
}

fn asset(name: &str) -> &'static [u8] {
    ASSETS.iter().find(|(asset, _)| *asset == name).unwrap_or_else(|| panic!("no file {name}")).1
}

fn text<'v>(step: &'v Value, member: &str) -> &'v str {
    step[member].as_str().unwrap_or_default()
}

/// A recorded request, with the ids of this run in its path.
fn request(step: &Value, ids: &BTreeMap<String, i64>) -> Request {
    let mut path = text(step, "path").replace("/wp/", "/svc/");
    for (name, id) in ids {
        path = path.replace(&format!("{{{name}}}"), &id.to_string());
    }
    let method = Method::from_bytes(text(step, "method").as_bytes()).unwrap();
    let mut req = Request::new(method, path).with_query_string(text(step, "query"));
    if let Some(body) = step.get("json") {
        req = req.with_json(body);
    }
    let Some(upload) = step.get("upload") else { return req };
    let (bytes, name) = (asset(text(upload, "file")), text(upload, "name"));
    match upload.get("form") {
        Some(form) => req.with_file(File {
            field: "file".to_owned(),
            name: name.to_owned(),
            content_type: form.as_str().unwrap().to_owned(),
            size: bytes.len() as u64,
            data: FileData::Memory(bytes.into()),
        }),
        None => req
            .with_header("content-type", "application/octet-stream")
            .with_header("content-disposition", &format!("attachment; filename=\"{name}\""))
            .with_body(bytes),
    }
}

async fn send(h: &Harness, step: &Value, ids: &BTreeMap<String, i64>) -> TestResponse {
    let user = match text(step, "as") {
        "none" => NOBODY,
        "admin" => ADMIN,
        "editor1" => EDITOR,
        "author1" => AUTHOR,
        "author2" => 4,
        "contributor1" => CONTRIBUTOR,
        "subscriber1" => 6,
        other => panic!("unknown user {other}"),
    };
    let transport = match step["transport"].as_str() {
        Some("plain") => Transport::Plain,
        Some("localhost") => Transport::Localhost,
        _ => Transport::Tls,
    };
    let req = request(step, ids).with_cx(Context::request(transport));
    h.send(user, req).await
}

/// Removes what differs between two runs or two brands: times, sentences, links, and the scheme of the site's URLs, which
/// follows the request.
fn comparable(value: &Value) -> Value {
    const CHANGING: [&str; 8] =
        ["date", "date_gmt", "modified", "modified_gmt", "_links", "message", "params", "fx_words"];
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !CHANGING.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), comparable(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(comparable).collect(),
        Value::String(text) => text.replace("https://127.0.0.1:8801", "http://127.0.0.1:8801").into(),
        other => other.clone(),
    }
}

/// The rows of an attachment as recorded: the columns of the post, and its meta with the values of a key together.
fn rows(h: &Harness, id: i64) -> Option<Value> {
    h.site
        .read(&Context::background(), |db| {
            let Some(post) = posts::get(db, PostId(id))? else { return Ok(None) };
            let meta = meta::load_one(db, MetaKind::Post, id)?;
            let meta = meta.iter().flat_map(|(key, values)| values.iter().map(move |value| (key, value.as_stored())));
            Ok(Some(json!({
                "ID": id, "post_author": post.author.0, "post_content": post.content, "post_title": post.title,
                "post_excerpt": post.excerpt, "post_status": post.status, "comment_status": post.comment_status,
                "ping_status": post.ping_status, "post_name": post.slug, "post_parent": post.parent.0, "guid": post.guid,
                "menu_order": post.menu_order, "post_type": post.post_type, "post_mime_type": post.mime_type,
                "comment_count": post.comment_count, "meta": meta.map(|(key, value)| json!([key, value])).collect::<Vec<_>>(),
            })))
        })
        .unwrap()
}

/// A recorded post with the values of each meta key together, as [`rows`] returns them.
fn grouped(post: &Value) -> Value {
    let mut by_key: IndexMap<&str, Vec<&Value>> = IndexMap::new();
    for row in post["meta"].as_array().unwrap() {
        by_key.entry(row[0].as_str().unwrap()).or_default().push(row);
    }
    let mut post = post.clone();
    post["meta"] = by_key.into_values().flatten().cloned().collect();
    post
}

/// MD5 hashes of the files in a folder, by relative path.
fn files(folder: &Path) -> Map<String, Value> {
    let mut found = Map::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(inner, hash)| (format!("{name}/{inner}"), hash)));
        } else {
            let hash: String = Md5::digest(std::fs::read(&path).unwrap()).iter().map(|b| format!("{b:02x}")).collect();
            found.insert(name, hash.into());
        }
    }
    found.sort_keys();
    found
}

/// Sends the requests of a scenario and compares everything.
async fn replay(scenario: &str) {
    let scenario: Value = serde_json::from_str(scenario).unwrap();
    let (h, dir) = harness();
    let mut ids = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let (mut expected_posts, mut expected_files) = (json!([]), json!({}));
    for step in scenario["steps"].as_array().unwrap() {
        let name = text(step, "name");
        let res = send(&h, step, &ids).await;
        assert_eq!(json!(res.status), step["status"], "{name}: {}", res.body);
        if let (Some(variable), 201) = (step["capture"].as_str(), res.status) {
            let id = res.body["id"].as_i64().unwrap();
            ids.insert(variable.to_owned(), id);
            seen.insert(id);
        }
        if let Some(allow) = step.get("allow") {
            assert_eq!(res.header("allow"), allow.as_str(), "{name}");
        }
        if let Some(routes) = step.get("routes") {
            let found = res.body["routes"].as_object().unwrap().keys().filter(|route| route.contains("/media"));
            let found: BTreeSet<String> = found.map(|route| route.replace("/svc/", "/wp/")).collect();
            assert_eq!(json!(found), *routes, "{name}");
            let members = res.body.as_object().unwrap().keys().filter(|member| member.starts_with("image_"));
            assert_eq!(json!(members.collect::<BTreeSet<_>>()), step["members"], "{name}");
        }
        if let Some(args) = step.get("args") {
            assert_eq!(without_descriptions(&res.body["endpoints"][0]["args"]), *args, "{name}");
        }
        if let Some(body) = step.get("body").filter(|body| !body.is_null()) {
            let (mut found, mut body) = (comparable(&res.body), comparable(body));
            if let (Value::Object(found), Value::Object(body)) = (&mut found, &mut body) {
                // The recorded site has namespaces and fields of its own.
                found.shift_remove("namespaces");
                body.retain(|name, _| name != "namespaces" && !name.starts_with("fx_"));
            }
            assert_eq!(found, body, "{name}");
        }
        if step.get("unknown_rows").is_some() {
            continue;
        }
        if let Some(posts) = step.get("posts") {
            expected_posts = posts.as_array().unwrap().iter().map(grouped).collect();
        }
        let found: Vec<Value> = seen.iter().filter_map(|id| rows(&h, *id)).collect();
        assert_eq!(Value::from(found), expected_posts, "{name}");
        if let Some(files) = step.get("files") {
            expected_files = files.clone();
        }
        let (found, mut expected) = (files(dir.path()), expected_files.as_object().unwrap().clone());
        if text(step, "method") == "DELETE" {
            // WordPress leaves sideloaded files that were never finalized.
            expected.retain(|path, _| found.contains_key(path));
        }
        assert_eq!(found, expected, "{name}");
    }
}

fn without_descriptions(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != "description");
            kept.map(|(name, value)| (name.clone(), without_descriptions(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(without_descriptions).collect(),
        other => other.clone(),
    }
}

macro_rules! scenarios {
    ($($name:ident $file:literal)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                replay(include_str!(concat!("../data/client_media/", $file, ".json"))).await;
            }
        )*
    };
}

scenarios! {
    a_jpeg_photo_is_rotated_by_the_client "jpeg"
    a_jpeg_photo_is_scaled_by_the_client "jpeg-scaled"
    a_png_image_has_sizes_that_share_a_file "png"
    a_heic_photo_is_kept_beside_its_jpeg "heic"
    a_heic_photo_is_replaced_by_its_jpeg "heic-upload"
    a_moving_gif_has_a_video_and_a_poster "gif"
    a_document_has_previews "pdf"
    requests_that_are_refused_leave_nothing "refused"
    routes_and_settings_exist_for_secure_origins "index"
}

/// A request that stores an image size.
fn sideload(id: i64, size: &str, file: &str, name: &str) -> Request {
    let disposition = format!("attachment; filename=\"{name}\"");
    Request::new(Method::POST, format!("/svc/v2/media/{id}/sideload"))
        .with_cx(Context::request(Transport::Tls))
        .with_query_string(&format!("image_size={size}"))
        .with_header("content-disposition", &disposition)
        .with_body(asset(file))
}

async fn create(h: &Harness) -> i64 {
    let req = Request::new(Method::POST, "/svc/v2/media").with_query_string("generate_sub_sizes=false");
    let req =
        req.with_header("content-disposition", "attachment; filename=\"photo.jpg\"").with_body(asset("turned.jpg"));
    h.send(AUTHOR, req).await.body["id"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_files_that_are_not_finalized_is_limited() {
    let (h, dir) = harness();
    let id = create(&h).await;
    let full = |tx: &mut svc_store::Tx, id: i64, n: usize| {
        let name = StoredText::of("x.jpg");
        meta::add_many(tx, MetaKind::Post, id, &vec![("_wp_sideloaded_file", &name); n])
    };
    h.site.write(&Context::background(), move |tx| Ok(full(tx, id, 199)?)).await.unwrap();
    let thumbnail = || sideload(id, "thumbnail", "150x150.jpg", "photo-150x150.jpg");
    // A new main file has two names.
    let main = h.send(AUTHOR, sideload(id, "scaled", "100x160.jpg", "photo-scaled.jpg")).await;
    assert_eq!((main.status, main.code()), (400, "rest_too_many_sideloaded_files"));
    assert_eq!(h.send(AUTHOR, thumbnail()).await.status, 200);
    let before = files(dir.path());
    assert_eq!(h.send(AUTHOR, thumbnail()).await.code(), "rest_too_many_sideloaded_files");
    assert_eq!(files(dir.path()), before, "the file of a rejected request is deleted");
    let attached = h.get(AUTHOR, &format!("/svc/v2/media/{id}"), "").await.body;
    assert!(attached["source_url"].as_str().unwrap().ends_with("/photo.jpg"), "{attached}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_can_only_be_added_in_the_uploads_folder() {
    let (h, _dir) = harness();
    let id = create(&h).await;
    for path in ["/srv/photo.jpg", "../photo.jpg", "2024/../../photo.jpg"] {
        let set = move |tx: &mut svc_store::Tx| {
            Ok(meta::update(tx, MetaKind::Post, id, "_wp_attached_file", &StoredText::of(path))?)
        };
        h.site.write(&Context::background(), set).await.unwrap();
        let res = h.send(AUTHOR, sideload(id, "thumbnail", "150x150.jpg", "photo-150x150.jpg")).await;
        assert_eq!((res.status, res.code()), (403, "rest_sideload_attachment_not_in_uploads"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_interrupted_requests_are_recognized() {
    let (h, _dir) = harness();
    let id = create(&h).await;
    let name = h.send(AUTHOR, sideload(id, "thumbnail", "150x150.jpg", "photo-150x150.jpg")).await.body["file"].clone();
    let folder = recorded_time().format("%Y/%m").to_string();
    let is_used = |path: String| {
        h.site.read(&Context::background(), |db| Ok(posts::is_attached_file(db, std::slice::from_ref(&path))?)).unwrap()
    };
    let path = format!("{folder}/{}", name.as_str().unwrap());
    assert!(is_used(path.clone()), "its row");
    assert!(!is_used(path.replace("-150x150", "-300x200")));
    assert!(!is_used("1999/01/photo-150x150.jpg".to_owned()));
    let body = json!({"sub_sizes": [{"image_size": "thumbnail", "file": name}]});
    let finalize =
        Request::new(Method::POST, format!("/svc/v2/media/{id}/finalize")).with_cx(Context::request(Transport::Tls));
    assert_eq!(h.send(AUTHOR, finalize.with_json(&body)).await.status, 200);
    assert!(is_used(path), "the metadata");
}

#[tokio::test(flavor = "multi_thread")]
async fn images_that_only_clients_can_process_need_a_secure_origin() {
    for (transport, generate, expected) in [
        (Transport::Tls, "false", 201),
        (Transport::Localhost, "false", 201),
        (Transport::Plain, "false", 400),
        (Transport::Tls, "true", 400),
    ] {
        let (h, dir) = harness();
        let step = json!({"path": "/wp/v2/media", "method": "POST", "query": format!("generate_sub_sizes={generate}"),
            "upload": {"file": "150x150.png", "name": "a.tiff", "form": "image/tiff"}});
        let res = h.send(ADMIN, request(&step, &BTreeMap::new()).with_cx(Context::request(transport))).await;
        assert_eq!(res.status, expected, "{transport:?} {generate}: {}", res.body);
        assert_eq!(files(dir.path()).is_empty(), expected == 400);
    }
}
