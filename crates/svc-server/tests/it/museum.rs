//! Data folders and configurations of earlier versions, which this version opens: `tests/museum`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Map, Value, json};
use svc_server::config::{Config, Sources};
use tempfile::TempDir;

use crate::process::{POSTS, PROGRAM, SERVE, Server, command, run, stderr};

const MUSEUM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/museum");

/// The files of an exhibit: its data folder, its settings, and what the version has returned of it.
const DATA: &str = "svc-data.tar.gz";
const SETTINGS: &str = "svc.toml";
const EXPECTED: &str = "expected.json";

/// Maximum size of a packed data folder, in bytes.
const MAX_DATA: u64 = 150_000;

/// What is read of each exhibit. Fields that the version of an exhibit did not have are not compared.
#[rustfmt::skip]
const READS: &[&str] = &[
    "posts?context=edit&status=any&orderby=id&order=asc&_fields=id,date,slug,status,type,title,content,excerpt,author,categories,tags,comment_status,sticky,format,meta",
    "posts?search=Boats&_fields=id",
    "posts/5/revisions?context=edit&_fields=id,parent,date,slug,title,content",
    "pages?context=edit&orderby=id&order=asc&_fields=id,date,slug,status,title,content,parent,menu_order",
    "media?context=edit&orderby=id&order=asc&_fields=id,slug,title,alt_text,mime_type,source_url,media_details",
    "categories?context=edit&orderby=id&order=asc&_fields=id,name,slug,description,parent,count,meta",
    "tags?context=edit&orderby=id&order=asc&_fields=id,name,slug,count",
    "comments?context=edit&orderby=id&order=asc&status=all&_fields=id,post,parent,author_name,author_email,content,status,type,date",
    "users?context=edit&orderby=id&order=asc&_fields=id,username,name,email,roles,slug",
    "users/2/application-passwords?_fields=name,created",
    "menus?_fields=id,name,slug,locations",
    "menu-items?context=edit&orderby=id&order=asc&_fields=id,title,url,type,object,object_id,menus,menu_order",
    "settings?_fields=title,description,timezone,posts_per_page,start_of_week",
];

/// Of texts, what is stored; of media, what does not depend on the encoder of images.
const COMPARED: &[(&str, &[&str])] = &[
    ("title", &["raw"]),
    ("content", &["raw"]),
    ("excerpt", &["raw"]),
    ("media_details", &["width", "height", "file"]),
];

/// A one-pixel picture.
const PICTURE: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8,
    6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, b'I', b'D', b'A', b'T', 0x78, 0xda, 0x63, 0x64, 0xf8, 0xcf,
    0x50, 0x0f, 0, 0x03, 0x86, 0x01, 0x80, 0x5a, 0x34, 0x7d, 0x6b, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42,
    0x60, 0x82,
];

fn exhibits() -> Vec<PathBuf> {
    let entries = fs::read_dir(MUSEUM).unwrap().map(|entry| entry.unwrap().path());
    let mut exhibits: Vec<PathBuf> = entries.filter(|path| path.join(EXPECTED).exists()).collect();
    exhibits.sort();
    exhibits
}

fn tar(arguments: &[&str], folder: &Path) {
    assert!(Command::new("tar").args(arguments).current_dir(folder).status().unwrap().success(), "{arguments:?}");
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A copy of an exhibit in a folder of its own.
fn unpack(exhibit: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = exhibit.join(DATA);
    assert!(fs::metadata(&data).unwrap().len() <= MAX_DATA, "{}", data.display());
    tar(&["-xzf", data.to_str().unwrap()], folder.path());
    fs::copy(exhibit.join(SETTINGS), folder.path().join(SETTINGS)).unwrap();
    folder
}

/// The REST API of a server, as a user.
struct Api<'s> {
    server: &'s Server,
    credentials: &'s str,
}

impl Api<'_> {
    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        self.server.send(method, &format!("/svc-json/svc/v2/{path}"), self.credentials, body)
    }

    /// Everything that can be read.
    fn read(&self) -> Map<String, Value> {
        let read = |path: &&str| {
            let (status, found) = self.send("GET", path, None);
            (status == 200).then(|| ((*path).to_owned(), compared(found)))
        };
        READS.iter().filter_map(read).collect()
    }
}

/// The part of a response that is compared.
fn compared(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(compared).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| {
                let kept = COMPARED.iter().find(|(field, _)| *field == name).map(|(_, kept)| *kept);
                let value = match (kept, value) {
                    (Some(kept), Value::Object(parts)) => {
                        parts.into_iter().filter(|(part, _)| kept.contains(&part.as_str())).collect()
                    }
                    (_, value) => value,
                };
                (name, value)
            };
            fields.into_iter().filter(|(name, _)| name != "_links").map(field).collect()
        }
        value => value,
    }
}

/// Fails unless `found` has everything that `expected` has.
#[track_caller]
fn assert_has(found: &Value, expected: &Value, place: &str) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            for (name, value) in expected {
                let found = found.get(name).unwrap_or_else(|| panic!("{place}: {name} is missing: {found:?}"));
                assert_has(found, value, &format!("{place}.{name}"));
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{place}: {found:?}");
            for (n, (found, expected)) in found.iter().zip(expected).enumerate() {
                assert_has(found, expected, &format!("{place}[{n}]"));
            }
        }
        _ => assert_eq!(found, expected, "{place}"),
    }
}

#[track_caller]
fn assert_reads(server: &Server, expected: &Value, what: &str) {
    let credentials = expected["credentials"].as_str().unwrap();
    let found = Value::Object(Api { server, credentials }.read());
    assert_has(&found, &expected["reads"], what);
    for path in expected["files"].as_array().unwrap() {
        let (status, _) = server.send("GET", path.as_str().unwrap(), "", None);
        assert_eq!(status, 200, "{what}: {path}");
    }
}

/// The copies of the database in a data folder.
fn copies(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder.join("svc-data/before-upgrade")) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Whether a file contains the name of the table in which this version logs changes.
fn logs_changes(database: &Path) -> bool {
    fs::read(database).unwrap().windows(11).any(|part| part == b"svc_changes")
}

#[test]
fn every_exhibit_opens() {
    let exhibits = exhibits();
    assert!(exhibits.len() >= 6, "{exhibits:?}");
    for exhibit in exhibits {
        let name = exhibit.file_name().unwrap().to_str().unwrap();
        println!("exhibit {name}");
        let (folder, expected) = (unpack(&exhibit), read_json(&exhibit.join(EXPECTED)));
        assert!(expected["reads"].as_object().is_some_and(|reads| reads.len() >= 2), "{name} has contents");
        let database = folder.path().join("svc-data/site.db");
        let record = || fs::read_to_string(database.with_file_name("site.db.version")).ok();
        let former = record();
        let logged = logs_changes(&database);

        let server = Server::start(folder.path(), None);
        assert_reads(&server, &expected, name);
        // A write, and what follows from it.
        let credentials = expected["credentials"].as_str().unwrap();
        let api = Api { server: &server, credentials };
        let (status, post) = api.send("POST", "posts", Some(&json!({"title": "Lighthouse", "status": "publish"})));
        assert_eq!(status, 201, "{name}: {post}");
        let (status, found) = api.send("GET", "posts?search=Lighthouse&_fields=id", None);
        assert_eq!((status, &found), (200, &json!([{"id": post["id"]}])), "{name}");
        let change = json!({"content": "<!-- wp:paragraph -->\n<p>It shines.</p>\n<!-- /wp:paragraph -->"});
        for path in [format!("posts/{}", post["id"]), "posts/1".to_owned()] {
            let (status, changed) = api.send("POST", &path, Some(&change));
            assert_eq!((status, &changed["content"]["raw"]), (200, &change["content"]), "{name}: {changed}");
        }
        drop(server.stop());

        let copies = copies(folder.path());
        assert_eq!(copies.len(), usize::from(former != record()), "{name}: {copies:?}");
        let Some(copy) = copies.first() else { continue };
        let version = former.as_deref().and_then(|line| line.split(' ').next()).unwrap_or("unknown");
        let copy_name = copy.file_name().unwrap().to_str().unwrap();
        assert!(copy_name.starts_with(&format!("{version}-")), "{name}: {copy_name}");
        assert!(logs_changes(&database), "{name}: this version logs changes");
        // A log of the server that was not written to the database when it was packed may have them as well.
        assert!(logged || !logs_changes(copy), "{name}: the copy is from before this version wrote");
        let copy = copy.to_str().unwrap();
        let restored = run(folder.path(), None, &["restore", copy, "--overwrite"]);
        assert!(restored.status.success(), "{name}: {}", stderr(&restored));
        let server = Server::start(folder.path(), None);
        assert_reads(&server, &expected, &format!("{name}, restored"));
        let (status, found) = server.send("GET", &format!("{POSTS}?search=Lighthouse"), "", None);
        assert_eq!((status, found), (200, json!([])), "{name}: the write was later");
    }
}

#[test]
fn every_setting_of_earlier_versions_is_known_or_refused_with_advice() {
    let keys = fs::read_to_string(Path::new(MUSEUM).join("settings.txt")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut n_known, mut n_removed) = (0, 0);
    for key in keys.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        fs::write(folder.path().join(SETTINGS), format!("{key} = ' '\n")).unwrap();
        let loaded = Config::load(&Sources { folder: folder.path().to_owned(), ..Sources::default() });
        // A known setting has a value that may be wrong.
        let refused = loaded.err().map(|error| error.to_string()).unwrap_or_default();
        if refused.contains(&format!("there is no setting `{key}` any more: ")) {
            n_removed += 1;
        } else {
            assert!(!refused.contains("is not a setting"), "{key}: {refused}");
            n_known += 1;
        }
    }
    assert!(n_known > 80 && n_removed >= 7, "{n_known} {n_removed}");
}

/// Makes an exhibit. `tests/museum/README.md` has the command.
#[test]
#[ignore = "writes an exhibit"]
fn add_exhibit() {
    let variable = |name: &str| std::env::var(name).ok();
    let name = variable("SVC_MUSEUM_ADD").expect("SVC_MUSEUM_ADD is the name of the exhibit");
    let program = variable("SVC_MUSEUM_PROGRAM").unwrap_or_else(|| PROGRAM.to_owned());
    let exhibit = Path::new(MUSEUM).join(&name);
    fs::create_dir(&exhibit).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = exhibit.join(SETTINGS);
    let template = variable("SVC_MUSEUM_SETTINGS").map_or_else(|| Path::new(MUSEUM).join(SETTINGS), PathBuf::from);
    fs::copy(template, &settings).unwrap();
    fs::copy(&settings, folder.path().join(SETTINGS)).unwrap();
    let of_program = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(folder.path()).env_clear().stdin(Stdio::null());
        command
    };
    let server = Server::spawn(of_program(&SERVE)).unwrap();
    let made = of_program(&["app-password", "create", "admin", "museum"]).output().unwrap();
    let password = String::from_utf8(made.stdout).unwrap();
    let credentials = format!("admin:{}", password.trim().rsplit(": ").next().unwrap());
    let api = Api { server: &server, credentials: &credentials };
    fill(&api);
    let reads = api.read();
    let sources = reads.iter().filter(|(path, _)| path.starts_with("media?"));
    let url =
        |item: &Value| Some(format!("/wp-content/{}", item["source_url"].as_str()?.split_once("/wp-content/")?.1));
    let files: Vec<String> = sources.flat_map(|(_, items)| items.as_array().unwrap()).filter_map(url).collect();
    drop(server.stop());
    let expected = json!({"credentials": credentials, "files": files, "reads": reads});
    fs::write(exhibit.join(EXPECTED), format!("{expected:#}\n")).unwrap();
    let data = exhibit.join(DATA);
    tar(&["--sort=name", "--owner=0", "--group=0", "-czf", data.to_str().unwrap(), "svc-data"], folder.path());
    println!(
        "{}: {} bytes, {} reads",
        name,
        fs::metadata(&data).unwrap().len(),
        expected["reads"].as_object().unwrap().len()
    );
}

/// Writes the contents of an exhibit. Prints what its version cannot do.
fn fill(api: &Api<'_>) {
    let send = |path: &str, body: &Value| -> Value {
        let (mut status, mut response) = api.send("POST", path, Some(body));
        if status == 400 {
            (status, response) = api.send("POST", path, Some(&as_first_version(body)));
        }
        if !(200..300).contains(&status) {
            eprintln!("POST {path}: {status} {response}");
        }
        response
    };
    let paragraph = |text: &str| format!("<!-- wp:paragraph -->\n<p>{text}</p>\n<!-- /wp:paragraph -->");
    send(
        "settings",
        &json!({"title": "Museum of Boats", "description": "Älter als neu", "posts_per_page": 7, "timezone": "Europe/Berlin"}),
    );
    let harbours = send("categories", &json!({"name": "Häfen", "description": "Where boats are"}));
    send("categories", &json!({"name": "Small harbours", "parent": harbours["id"]}));
    let tag = send("tags", &json!({"name": "wood"}));
    let boats = json!({
        "title": "Boats", "content": paragraph("Made of wood & tar"), "excerpt": "Short", "status": "publish",
        "categories": [harbours["id"]], "tags": [tag["id"]], "date": "2025-03-01T10:00:00", "meta": {"length_m": 12},
    });
    let post = send("posts", &boats);
    let post = format!("posts/{}", post["id"]);
    // Two revisions.
    send(&post, &json!({"content": paragraph("Made of oak")}));
    send(&post, &json!({"title": "Boats of oak", "content": paragraph("Made of oak, Boats remain")}));
    send(
        "posts",
        &json!({"title": "Later", "content": paragraph("Not yet"), "status": "future", "date": "2999-01-02T03:04:05"}),
    );
    send(
        "posts",
        &json!({"title": "Draft", "content": "Plain\n\ntext 'quoted' \\ 🛥", "status": "draft", "date": "2025-03-02T10:00:00"}),
    );
    send(
        "pages",
        &json!({"title": "About", "content": paragraph("A page"), "status": "publish", "date": "2025-03-03T10:00:00"}),
    );
    let id: u64 = post.trim_start_matches("posts/").parse().unwrap_or(1);
    let comment = send(
        "comments",
        &json!({"post": id, "content": "A comment", "author_name": "Ann", "author_email": "ann@example.org"}),
    );
    send("comments", &json!({"post": id, "parent": comment["id"], "content": "A reply"}));
    let headers = "Content-Type: image/png\r\nContent-Disposition: attachment; filename=\"boat.png\"\r\n";
    let path = "/svc-json/svc/v2/media";
    let (status, upload) = crate::process::send(&api.server.address, "POST", path, api.credentials, headers, PICTURE);
    eprintln!("POST media: {status}");
    send(&format!("media/{}", upload["id"]), &json!({"alt_text": "A boat", "title": "Boat"}));
    let menu = send("menus", &json!({"name": "Main"}));
    send(
        "menu-items",
        &json!({"title": "Harbour", "url": "https://harbour.example/", "status": "publish", "menus": menu["id"], "menu_order": 1}),
    );
    let user = json!({"username": "jo", "email": "jo@museum.example", "password": "for the museum", "roles": ["author"], "first_name": "Jo"});
    let user = send("users", &user);
    send(&format!("users/{}/application-passwords", user["id"]), &json!({"name": "Telephone"}));
}

/// The part of a post that the first version could write.
fn as_first_version(body: &Value) -> Value {
    let fields = body.as_object().into_iter().flatten();
    let kept = fields.filter(|(name, _)| !["categories", "tags", "meta"].contains(&name.as_str()));
    kept.map(|(name, value)| match name.as_str() {
        "title" | "content" | "excerpt" => (name.clone(), json!({"raw": value})),
        _ => (name.clone(), value.clone()),
    })
    .collect()
}

#[test]
fn settings_of_exhibits_are_accepted() {
    for exhibit in exhibits() {
        let folder = unpack(&exhibit);
        let checked = command(folder.path(), None, &["config", "check"]).output().unwrap();
        assert!(checked.status.success(), "{}: {}", exhibit.display(), stderr(&checked));
    }
}
