//! The statements of requests: no row, meta or term is loaded twice.

use serde_json::json;

use crate::process::{POSTS, SERVE, Server, command, credentials};

/// The statements of each request in a log, shortened to their verb and tables. Requests follow each other.
fn requests(log: &str) -> Vec<Vec<String>> {
    let (mut statements, mut requests) = (Vec::new(), Vec::new());
    for line in log.lines() {
        if let Some((_, sql)) = line.split_once("sql=\"") {
            statements.push(short(&sql.replace("\\\"", "\"")));
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

#[test]
fn requests_load_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut serve = command(folder.path(), None, &SERVE);
    serve.args(["--log", "info,svc_store::statement=trace"]);
    let server = Server::spawn(serve).unwrap();
    let admin = credentials(folder.path(), None);
    let post = json!({"title": "A title", "status": "draft", "meta": {"footnotes": "[]"}});
    for _ in 0..3 {
        assert_eq!(server.send("POST", POSTS, &admin, Some(&post)).0, 201);
    }
    let one = format!("{POSTS}/1");
    assert_eq!(server.send("POST", &one, &admin, Some(&json!({"title": "Changed"}))).0, 200);
    assert_eq!(server.send("GET", &one, "", None).0, 200);
    let log = server.stop();
    let requests = requests(&log);
    let [cold, _, warm, update, read] = &requests[..] else { panic!("{log}") };
    let joined = "SELECT terms, term_taxonomy, term_relationships";
    assert_eq!(
        read,
        &["SELECT posts", "SELECT postmeta", joined, "SELECT posts"],
        "a post and the number of its revisions"
    );
    let create = [
        "INSERT posts",
        // The default category.
        "SELECT terms, term_taxonomy",
        "INSERT term_relationships",
        "UPDATE posts",
        "INSERT postmeta",
        // The response.
        "SELECT posts",
        "SELECT postmeta",
        joined,
        // Whether the slug of the title is free.
        "SELECT posts",
    ];
    assert_eq!(warm, &create);
    // Before it, jobs of the start have read, and options were.
    let first = ["SELECT users", "SELECT usermeta", "UPDATE usermeta"];
    let expected = [&first[..], &create].concat();
    let cold = &cold[cold.len().saturating_sub(expected.len())..];
    assert_eq!(cold, expected, "the user, and that the password was used");
    assert!(update.len() <= 15, "{update:#?}");
}
