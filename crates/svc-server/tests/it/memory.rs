//! Memory that one request takes: bodies that grow many times when they are split.

use std::fmt::Write as _;

use crate::process::{Server, credentials, send};

/// Memory that a request may take. A body of 8 MB is read, decoded and copied.
const ALLOWED_KB: u64 = 100 << 10;

/// Size of the bodies, in bytes. Larger ones, up to 8 MB, are refused in the same way, but take long in a debug build.
const SIZE: usize = 2 << 20;

const JSON: &str = "Content-Type: application/json\r\n";
const JSON_READ: &str = "Content-Type: application/json\r\nX-HTTP-Method-Override: GET\r\n";
const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";
const MULTIPART: &str = "Content-Type: multipart/form-data; boundary=XX\r\n";

/// A field of `/proc/PID/status`, in KiB.
fn status(pid: u32, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The text, repeated up to the size of the largest body.
fn many(part: &str) -> String {
    part.repeat(SIZE / part.len())
}

/// A JSON object with one property.
fn property(name: &str, text: &str) -> String {
    serde_json::json!({ name: text }).to_string()
}

/// 25 requests in one, each with as long a list as is allowed.
fn batch() -> String {
    let list = "1,".repeat(100_000);
    let part = serde_json::json!({"method": "POST", "path": "/svc/v2/posts", "body": {"tags": list}}).to_string();
    format!(r#"{{"requests":[{}]}}"#, vec![part; 25].join(","))
}

/// Properties that are lists, each shorter than one list may be.
fn several_lists() -> String {
    let names =
        ["include", "exclude", "author", "author_exclude", "categories_exclude", "tags_exclude", "parent", "tags"];
    let list = |name: &&str| format!(r#""{name}":"{}""#, "1,".repeat(90_000));
    format!("{{{}}}", names.iter().map(list).collect::<Vec<_>>().join(","))
}

/// A property with distinct names.
fn distinct(name: &str) -> String {
    let mut list = String::new();
    for n in 0.. {
        if list.len() > SIZE - 100 {
            break;
        }
        let _written = write!(list, "s{n},");
    }
    property(name, &list)
}

#[test]
#[cfg(target_os = "linux")]
fn a_request_takes_at_most_a_hundred_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    drop(Server::start(folder.path(), None));
    let admin = credentials(folder.path(), None);
    let server = Server::start(folder.path(), None);

    let posts = "/svc-json/svc/v2/posts";
    let family = |list: &str| {
        let settings = serde_json::json!({"name": "a", "slug": "a", "fontFamily": list}).to_string();
        property("font_family_settings", &settings)
    };
    let part =
        |list: &str| format!("--XX\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\n{list}\r\n--XX--\r\n");
    #[rustfmt::skip]
    let rows: Vec<(&str, &str, &str, String, &[u16])> = vec![
        ("ids", posts, JSON_READ, property("include", &many("1,")), &[413]),
        ("ids and spaces", posts, JSON_READ, property("include", &many("1 ")), &[413]),
        ("ids of a write", posts, JSON, property("tags", &many("1,")), &[413]),
        ("ids in a form", posts, FORM, format!("categories={}", many("1,")), &[413]),
        ("ids in a part", posts, MULTIPART, part(&"1,".repeat(500_000)), &[413]),
        ("slugs", posts, JSON_READ, distinct("slug"), &[413]),
        ("statuses", posts, JSON_READ, property("status", &many("a,")), &[413]),
        ("statuses of files", "/svc-json/svc/v2/media", JSON_READ, property("status", &many("a,")), &[413]),
        ("several lists", posts, JSON_READ, several_lists(), &[413]),
        ("commas only", posts, JSON_READ, property("include", &many(",")), &[200]),
        ("fields", posts, JSON_READ, property("_fields", &many("a,")), &[413]),
        ("distinct fields", posts, JSON_READ, distinct("_fields"), &[413]),
        ("fields of a description", posts, "Content-Type: application/json\r\nX-HTTP-Method-Override: OPTIONS\r\n", property("_fields", &many("a,")), &[413]),
        ("fields of the index", "/svc-json/", JSON_READ, property("_fields", &many("a,")), &[413]),
        ("fields of a wrong URL", "/svc-json/x", JSON_READ, property("_fields", &many("a,")), &[413]),
        ("search words", posts, JSON_READ, property("search", &many("a ")), &[200, 400]),
        ("search subtypes", "/svc-json/svc/v2/search", JSON_READ, property("subtype", &many("a,")), &[413]),
        ("theme statuses", "/svc-json/svc/v2/themes", JSON_READ, property("status", &many("a,")), &[413]),
        ("user roles", "/svc-json/svc/v2/users", JSON_READ, property("roles", &many("a,")), &[413]),
        ("comments", "/svc-json/svc/v2/comments", JSON_READ, property("post", &many("1,")), &[413]),
        ("patterns", "/svc-json/svc/v2/pattern-directory/patterns", JSON_READ, property("slug", &many("a,")), &[413]),
        ("classes", "/svc-json/svc/v2/menu-items", JSON, property("classes", &many("a,")), &[413]),
        ("font family", "/svc-json/svc/v2/font-families", JSON, family(&many("a,")), &[400, 401]),
        ("batch", "/svc-json/batch/v1", JSON, batch(), &[207]),
        ("log-in form", "/wp-login.php", FORM, many("a&"), &[200, 400, 413]),
        ("comment form", "/wp-comments-post.php", FORM, format!("comment_post_ID=1&author=a&email=a@example.org&comment={}", many("a+")), &[200, 400, 403, 409, 413]),
        ("comment", "/svc-json/svc/v2/comments", JSON, property("content", &many("<b a a>")), &[400, 401, 413]),
    ];
    let (mut table, mut bad) = (String::new(), 0);
    let mut check = |what: &str, path: &str, headers: &str, body: &str, who: &str, expected: &[u16]| {
        let pid = server.child.id();
        let before = status(pid, "VmRSS");
        std::fs::write(format!("/proc/{pid}/clear_refs"), "5").unwrap();
        let (code, _) = send(&server.address, "POST", path, who, headers, body.as_bytes());
        let grown = status(pid, "VmHWM").saturating_sub(before);
        let is_bad = grown > ALLOWED_KB || !expected.contains(&code);
        bad += usize::from(is_bad);
        let mark = if is_bad { " <<<" } else { "" };
        writeln!(table, "{what}: {code}, {} MB{mark}", grown >> 10).unwrap();
    };
    for (what, path, headers, body, expected) in &rows {
        assert!(body.len() <= 8 << 20, "{what}");
        check(what, path, headers, body, "", expected);
    }
    // Texts of authors are parsed and filtered.
    for (what, part) in
        [("tags", "<b>"), ("attributes", "<b a a a a>"), ("blocks", "<!-- wp:a /-->"), ("shortcodes", "[a] ")]
    {
        let body = serde_json::json!({"title": what, "content": many(part), "status": "draft"}).to_string();
        check(what, posts, JSON, &body[..], &admin, &[201, 413]);
    }
    for (what, attributes) in [("an element of many attributes", many("a ")), ("a style of many rules", many("a:b;"))] {
        let attribute = if what.contains("style") { format!("style='{attributes}'") } else { attributes };
        let content = format!("<b {attribute}>");
        let body = serde_json::json!({"title": what, "content": content, "status": "draft"}).to_string();
        check(what, posts, JSON, &body[..], &admin, &[201, 413]);
    }
    assert!(bad == 0, "{bad} requests\n{table}");
    eprintln!("{table}");
}
