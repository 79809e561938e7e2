//! The statements of requests: no row, meta or term is loaded twice. The row that a transaction adds to the log of changes is not
//! counted.

use serde_json::{Value, json};

use crate::process::{POSTS, SERVE, Server, command, credentials};

/// The statements of each request in a log, shortened to their verb and tables. Requests follow each other.
fn requests(log: &str) -> Vec<Vec<String>> {
    let (mut statements, mut requests) = (Vec::new(), Vec::new());
    for line in log.lines() {
        if let Some((_, sql)) = line.split_once("sql=\"") {
            let statement = short(&sql.replace("\\\"", "\""));
            // Jobs look into their own tables at any time.
            if !statement.contains(" svc_") {
                statements.push(statement);
            }
        } else if line.contains(" response method=") {
            requests.push(std::mem::take(&mut statements));
        }
    }
    requests
}

/// `SELECT posts` of a statement.
fn short(sql: &str) -> String {
    let verb = sql.split(' ').next().unwrap();
    let tables = sql.split(['"', '`']).filter_map(|name| name.strip_prefix("wp_"));
    format!("{verb} {}", tables.collect::<Vec<_>>().join(", "))
}

/// The joined tables of a post's terms.
const TERMS_OF_POST: &str = "SELECT terms, term_taxonomy, term_relationships";

/// What a response with a post reads: its row, meta and terms, and then whether its slug is free or the number of its revisions.
const SHOW_POST: [&str; 4] = ["SELECT posts", "SELECT postmeta", TERMS_OF_POST, "SELECT posts"];

#[test]
fn requests_load_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut serve = command(folder.path(), None, &SERVE);
    serve.args(["--log", "info,svc_store::statement=trace"]);
    let server = Server::spawn(serve).unwrap();
    let admin = credentials(folder.path(), None);
    let family = |path: &str| format!("{}{path}", POSTS.trim_end_matches("posts"));
    let draft = json!({"title": "A title", "status": "draft", "meta": {"footnotes": "[]"}});
    let in_category = json!({"title": "A title", "status": "publish", "categories": [2]});

    let caller = ["SELECT users", "SELECT usermeta"];
    let category = ["SELECT terms, term_taxonomy", "INSERT term_relationships"];
    // The response has the meta that was inserted.
    let [row, _, terms, slug] = SHOW_POST;
    let create = [&["INSERT posts"], &category[..], &["UPDATE posts", "INSERT postmeta", row, terms, slug]].concat();
    let update = [
        // The post for the permission and again in the transaction, whether its slug is free, and its last revision.
        &["SELECT posts"; 4][..],
        &["UPDATE posts", TERMS_OF_POST, "SELECT posts", "SELECT postmeta", "INSERT posts", "UPDATE posts"],
        &["SELECT posts"; 3],
    ]
    .concat();
    let publish = [
        // The permission.
        &["SELECT terms, term_taxonomy"][..],
        // Three slugs that are taken or free, with the statement that asks for each kind of post.
        &["SELECT posts"; 3],
        &["INSERT posts", "UPDATE posts"],
        &category,
        // The category's count, the list of months, and the response.
        &["SELECT posts", "UPDATE term_taxonomy", "SELECT options"],
        &["SELECT posts", TERMS_OF_POST, "SELECT posts", "SELECT posts"],
        // `Allow`, because the count of the category has changed.
        &["SELECT terms, term_taxonomy"],
    ]
    .concat();
    #[rustfmt::skip]
    let rows: [(&str, String, Option<Value>, Vec<&str>); 10] = [
        ("POST", POSTS.to_owned(), Some(draft.clone()), [&["SELECT options"], &caller[..], &["UPDATE usermeta"], &create].concat()),
        // The use of the password was stored.
        ("POST", POSTS.to_owned(), Some(draft.clone()), [&caller[..], &create].concat()),
        ("POST", POSTS.to_owned(), Some(draft), create),
        ("POST", format!("{POSTS}/1"), Some(json!({"title": "Changed"})), update),
        ("GET", format!("{POSTS}/1"), None, SHOW_POST.to_vec()),
        // The first post of a month.
        ("POST", POSTS.to_owned(), Some(in_category.clone()), vec![]),
        ("POST", POSTS.to_owned(), Some(in_category), publish),
        ("GET", family("categories/1"), None, vec!["SELECT terms, term_taxonomy", "SELECT termmeta"]),
        ("GET", family("users/1"), None, vec!["SELECT users", "SELECT usermeta", "SELECT posts"]),
        ("GET", family("comments/1"), None, vec!["SELECT comments", "SELECT commentmeta", "SELECT posts", "SELECT comments"]),
    ];
    assert_eq!(server.send("GET", "/healthz", "", None).0, 200);
    for (method, path, body, _) in &rows {
        let who = if *method == "GET" { "" } else { &admin };
        assert!(server.send(method, path, who, body.as_ref()).0 < 300, "{method} {path}");
    }
    let log = server.stop();
    let requests = requests(&log);
    assert_eq!(requests.len(), 1 + rows.len(), "{log}");
    for ((method, path, _, expected), statements) in rows.iter().zip(&requests[1..]) {
        assert!(expected.is_empty() || statements == expected, "{method} {path}: {statements:#?}");
    }
}
