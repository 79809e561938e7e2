//! The change feed: who sees which events, as a list and as a stream.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_server::SiteBuilder;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::{
    client::send,
    site::{Site, basic, execute, on_sqlite},
};

const FEED: &str = "/svc-json/svc/v2/changes";
const API: &str = "/svc-json/svc/v2";

/// The log of changes is an option on servers.
async fn start(settings: &[(&str, &str)]) -> Site {
    let settings: Vec<_> = settings.iter().copied().chain([("change_log", "10000")]).collect();
    Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await
}

/// A request as a user (`NAME:APPLICATION PASSWORD`), or anonymous with an empty name.
async fn request(site: &Site, method: &str, path: &str, user: &str, body: &Value) -> (u16, Value) {
    let credentials = basic(user);
    let mut headers = vec![("Content-Type", "application/json")];
    if !user.is_empty() {
        headers.push(("Authorization", &credentials));
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let response = send(site.address, method, path, &headers, &body).await;
    (response.status, serde_json::from_str(&response.body).unwrap_or_default())
}

/// Creates an object; returns its id.
async fn create(site: &Site, user: &str, base: &str, body: Value) -> i64 {
    let (status, created) = request(site, "POST", &format!("{API}/{base}"), user, &body).await;
    assert_eq!(status, 201, "{base} {body}: {created}");
    created["id"].as_i64().unwrap()
}

async fn change(site: &Site, user: &str, method: &str, route: &str, body: Value) {
    let (status, changed) = request(site, method, &format!("{API}/{route}"), user, &body).await;
    assert_eq!(status, 200, "{method} {route}: {changed}");
}

/// The position of the feed.
async fn position(site: &Site) -> i64 {
    request(site, "GET", FEED, "", &Value::Null).await.1["last"].as_i64().unwrap()
}

/// All events after a position as a caller sees them, read a few at a time.
async fn events(site: &Site, user: &str, since: i64) -> Vec<Value> {
    let (mut since, mut all) = (since, Vec::new());
    loop {
        let (status, page) = request(site, "GET", &format!("{FEED}?since={since}&limit=7"), user, &Value::Null).await;
        assert_eq!(status, 200, "{page}");
        all.extend(page["events"].as_array().unwrap().clone());
        since = page["last"].as_i64().unwrap();
        if page["more"] == false {
            return all;
        }
    }
}

/// An event as a line.
fn line(event: &Value) -> String {
    let object = &event["object"];
    let name = object["id"].as_i64().map_or_else(|| object["name"].to_string(), |id| id.to_string());
    let status = |state: &Value| state["status"].as_str().unwrap_or("-").to_owned();
    let kind = event["kind"].as_str().unwrap();
    match kind {
        "gone" => format!("{} {name} gone", object["kind"].as_str().unwrap()),
        _ => format!(
            "{} {name} {kind} {}>{}",
            object["type"].as_str().or(object["kind"].as_str()).unwrap(),
            status(&event["before"]),
            status(&event["after"])
        ),
    }
}

/// A user with this role and an application password; returns the credentials and the id.
async fn user(site: &Site, admin: &str, role: &str) -> (String, i64) {
    let body = json!({"username": role, "email": format!("{role}@example.org"), "password": "a long pass phrase", "roles": [role]});
    let id = create(site, admin, "users", body).await;
    let path = format!("{API}/users/{id}/application-passwords");
    let (_, made) = request(site, "POST", &path, admin, &json!({"name": "tests"})).await;
    (format!("{role}:{}", made["password"].as_str().unwrap()), id)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_caller_sees_what_they_may_read() {
    let site = start(&[]).await;
    let admin = site.app_password();
    let mut callers = vec![(String::new(), 0), (admin.clone(), 1)];
    for role in ["subscriber", "contributor", "author", "editor"] {
        callers.push(user(&site, &admin, role).await);
    }
    let [author, contributor] = [4, 3].map(|at| callers[at].0.clone());
    let since = position(&site).await;

    let secret = "the secret title";
    let public = create(&site, &admin, "posts", json!({"title": "a", "status": "publish"})).await;
    let draft = create(&site, &author, "posts", json!({"title": secret})).await;
    let pending = create(&site, &contributor, "posts", json!({"title": secret, "status": "pending"})).await;
    let private = create(&site, &admin, "posts", json!({"title": secret, "status": "private"})).await;
    let locked = create(&site, &admin, "posts", json!({"title": "b", "status": "publish", "password": "x"})).await;
    let hidden = create(&site, &admin, "posts", json!({"title": secret, "status": "publish"})).await;
    let on_hidden = create(&site, &admin, "comments", json!({"post": hidden, "content": secret})).await;
    change(&site, &admin, "POST", &format!("posts/{hidden}"), json!({"status": "draft"})).await;
    let deleted = create(&site, &admin, "pages", json!({"title": secret, "status": "publish"})).await;
    change(&site, &admin, "DELETE", &format!("pages/{deleted}?force=true"), json!({})).await;
    let unseen = create(&site, &admin, "posts", json!({"title": secret})).await;
    change(&site, &admin, "DELETE", &format!("posts/{unseen}?force=true"), json!({})).await;
    let published = create(&site, &admin, "posts", json!({"title": "c"})).await;
    change(&site, &admin, "POST", &format!("posts/{published}"), json!({"status": "publish"})).await;
    change(&site, &admin, "DELETE", &format!("posts/{public}"), json!({})).await;
    let approved = create(&site, &admin, "comments", json!({"post": published, "content": "d"})).await;
    let held = create(&site, &admin, "comments", json!({"post": published, "content": secret, "status": "hold"})).await;
    let on_locked = create(&site, &admin, "comments", json!({"post": locked, "content": secret})).await;
    let term = create(&site, &admin, "tags", json!({"name": "e"})).await;
    let menu = create(&site, &admin, "menus", json!({"name": "f"})).await;
    let pattern = create(&site, &admin, "blocks", json!({"title": secret, "status": "publish"})).await;
    let someone = create(
        &site,
        &admin,
        "users",
        json!({"username": "someone", "email": "s@example.org", "password": "a long pass phrase"}),
    )
    .await;
    change(&site, &admin, "POST", "settings", json!({"title": "g"})).await;

    let seen = |lines: Vec<String>, id: i64, kind: &str| {
        let of = format!("{kind} {id} ");
        lines.iter().filter_map(|line| Some(line.strip_prefix(&of)?.to_owned())).collect::<Vec<_>>()
    };
    let mut ids_by_caller = Vec::new();
    for (caller, _) in &callers {
        let name = caller.split(':').next().unwrap();
        let all = events(&site, caller, since).await;
        let text = json!(all).to_string();
        assert!(!text.contains(secret), "{name}: {text}");
        // Everything that is shown can be read, and what is gone cannot.
        for event in &all {
            let object = &event["object"];
            let Some(href) = object["href"].as_str() else { continue };
            let path = href.split_once(&site.address.to_string()).unwrap().1;
            let (status, _) = request(&site, "GET", path, caller, &Value::Null).await;
            let was_deleted = status == 404 && ["", "subscriber", "contributor"].iter().all(|role| *role != name);
            let is_locked = object["kind"] == "comment" && status == 401;
            assert!(status == 200 || was_deleted, "{name} sees {event}, and {path} is {status} {is_locked}");
        }
        for event in all.iter().filter(|event| event["kind"] == "gone") {
            let keys: Vec<&String> = event["object"].as_object().unwrap().keys().collect();
            assert_eq!(
                (keys.len(), event.get("before"), event.get("after"), event.get("user")),
                (2, None, None, None),
                "{event}"
            );
        }
        let lines: Vec<String> = all.iter().map(line).collect();
        let (reads_all, is_anyone) = (["admin", "editor"].contains(&name), name.is_empty() || name == "subscriber");
        let of = |id, kind| seen(lines.clone(), id, kind);
        // What was public is gone, and what never was has never existed.
        if is_anyone {
            assert_eq!(of(public, "post"), ["gone", "gone"], "{name}");
            assert_eq!(of(hidden, "post"), ["gone", "gone"], "{name}");
            assert_eq!(of(deleted, "post"), ["gone", "gone"], "{name}");
            for id in [draft, pending, private, unseen] {
                assert!(!lines.iter().any(|line| line.contains(&format!("post {id} "))), "{name} {id}: {lines:#?}");
            }
            assert_eq!(of(published, "post"), ["published ->publish"], "{name}");
            assert_eq!(of(approved, "comment"), ["published ->approved"], "{name}");
            assert!([held, on_hidden, on_locked].iter().all(|id| of(*id, "comment").is_empty()), "{name}: {lines:#?}");
        }
        assert_eq!(of(locked, "post"), ["published ->publish"], "{name}");
        assert_eq!(of(term, "post_tag"), ["created ->-"], "{name}");
        assert_eq!(of(menu, "nav_menu").is_empty(), name != "admin", "{name}");
        assert_eq!(of(pattern, "wp_block").is_empty(), is_anyone, "{name}");
        assert_eq!(of(someone, "user").is_empty(), name != "admin", "{name}");
        assert_eq!(lines.iter().any(|line| line.starts_with("setting ")), name == "admin", "{name}");
        assert_eq!(of(draft, "post").is_empty(), !(reads_all || name == "author"), "{name}");
        assert_eq!(of(pending, "post").is_empty(), !(reads_all || name == "contributor"), "{name}");
        assert_eq!(of(private, "post").is_empty(), !reads_all, "{name}");
        if reads_all {
            assert_eq!(of(hidden, "post"), ["published ->publish", "unpublished publish>draft"], "{name}");
            assert_eq!(of(published, "post"), ["created ->draft", "published draft>publish"], "{name}");
            assert_eq!(of(public, "post"), ["published ->publish", "trashed publish>trash"], "{name}");
            assert_eq!(of(deleted, "page"), ["published ->publish", "deleted publish>-"], "{name}");
            assert_eq!(of(held, "comment"), ["created ->hold"], "{name}");
        }
        let ids: Vec<String> = all.iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect();
        let again: Vec<String> =
            events(&site, caller, since).await.iter().map(|e| e["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids, again, "{name}: ids are stable");
        ids_by_caller.push(ids);
    }
    assert!(
        ids_by_caller[0].iter().all(|id| ids_by_caller[1].contains(id)),
        "the event of a gone object has the same id"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_internal_is_no_event() {
    let site = start(&[]).await;
    let admin = site.app_password();
    let id = create(&site, &admin, "posts", json!({"title": "a", "status": "publish"})).await;
    let since = position(&site).await;
    // A lock, an autosave of another version, a comment count and a log-in.
    let (status, _) =
        request(&site, "POST", &format!("{API}/posts/{id}/autosaves"), &admin, &json!({"title": "b"})).await;
    assert_eq!(status, 200);
    for sql in [
        "INSERT INTO wp_options (option_name, option_value) VALUES ('_transient_a', '1')",
        "INSERT INTO wp_usermeta (user_id, meta_key, meta_value) VALUES (1, 'session_tokens', 'x')",
        "INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (1, '_edit_lock', 'x')",
    ] {
        execute(&site.folder, sql);
    }
    let all = events(&site, &admin, since).await;
    assert_eq!(all, [] as [Value; 0]);
    // One request is one event, whatever it changes.
    let body = json!({"title": "c", "tags": [create(&site, &admin, "tags", json!({"name": "t"})).await], "meta": {}});
    let since = position(&site).await;
    change(&site, &admin, "POST", &format!("posts/{id}"), body).await;
    let lines: Vec<String> = events(&site, &admin, since).await.iter().map(line).collect();
    assert_eq!(lines, [format!("post {id} updated publish>publish")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_route_is_described_and_not_listed() {
    let site = start(&[("brand", "wp")]).await;
    let index = site.get("/wp-json/").await.json();
    assert!(!index.to_string().contains("svc/v2"), "the index is that of WordPress");
    assert_eq!(site.get("/wp-json/svc/v2/changes").await.status, 200);
    let options = send(site.address, "OPTIONS", "/wp-json/svc/v2/changes", &[], "").await.json();
    assert_eq!(options["schema"]["title"], "changes");
    let document = site.get("/wp-json/openapi.json").await.json();
    assert!(document["paths"]["/svc/v2/changes"]["get"].is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_position_that_the_log_does_not_reach_is_a_reset() {
    let site = start(&[]).await;
    let admin = site.app_password();
    let last = position(&site).await;
    let reset = |page: &Value| page["events"][0]["kind"] == "reset";
    let (_, page) = request(&site, "GET", &format!("{FEED}?since={}", last + 1_000), "", &Value::Null).await;
    assert!(reset(&page) && page["last"] == last, "{page}");
    create(&site, &admin, "posts", json!({"title": "a", "status": "publish"})).await;
    execute(&site.folder, "UPDATE wp_svc_consumers SET seq = seq + 1 WHERE name = '#deleted'");
    let (_, page) = request(&site, "GET", &format!("{FEED}?since=0"), "", &Value::Null).await;
    assert!(reset(&page), "{page}");
}

/// A stream of events.
struct Stream {
    socket: TcpStream,
    received: String,
}

impl Stream {
    async fn open(site: &Site, user: &str, headers: &str) -> Self {
        let mut socket = TcpStream::connect(site.address).await.unwrap();
        let credentials = if user.is_empty() { String::new() } else { format!("Authorization: {}\r\n", basic(user)) };
        let head = format!(
            "GET {FEED} HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nAccept-Encoding: gzip, br\r\n{credentials}{headers}\r\n",
            site.address
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut stream = Stream { socket, received: String::new() };
        assert!(stream.wait_for("\r\n\r\n", 5).await, "no response: {}", stream.received);
        stream
    }

    /// Reads until this text was received. `false` if the stream ends, or nothing comes in time.
    async fn wait_for(&mut self, text: &str, seconds: u64) -> bool {
        let until = Instant::now() + Duration::from_secs(seconds);
        let mut buffer = vec![0; 16 << 10];
        while !self.received.contains(text) {
            let left = until.saturating_duration_since(Instant::now());
            match timeout(left, self.socket.read(&mut buffer)).await {
                Ok(Ok(n)) if n > 0 => self.received.push_str(&String::from_utf8_lossy(&buffer[..n])),
                _ => return false,
            }
        }
        true
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_send_what_happens_and_continue_where_they_ended() {
    let site = start(&[("limits.subscribers_per_network", "4")]).await;
    let admin = site.app_password();
    let mut anonymous = Stream::open(&site, "", "").await;
    let mut own = Stream::open(&site, &admin, "").await;
    assert!(anonymous.wait_for(": ready", 5).await && own.wait_for(": ready", 5).await);
    assert!(
        anonymous.received.to_ascii_lowercase().contains("content-type: text/event-stream"),
        "{}",
        anonymous.received
    );
    assert!(!anonymous.received.to_ascii_lowercase().contains("content-encoding"), "{}", anonymous.received);
    let before = position(&site).await;

    let draft = create(&site, &admin, "posts", json!({"title": "a"})).await;
    let public = create(&site, &admin, "posts", json!({"title": "a", "status": "publish"})).await;
    assert!(own.wait_for(&format!("\"id\":{draft},"), 2).await, "{}", own.received);
    assert!(own.wait_for(&format!("\"id\":{public},"), 2).await);
    assert!(anonymous.wait_for(&format!("\"id\":{public},"), 2).await, "{}", anonymous.received);
    assert!(!anonymous.received.contains(&format!("\"id\":{draft},")), "{}", anonymous.received);

    // Another stream begins with what the client has missed.
    let mut again = Stream::open(&site, "", &format!("Last-Event-ID: {before}\r\n")).await;
    assert!(again.wait_for(&format!("\"id\":{public},"), 2).await, "{}", again.received);

    if on_sqlite() {
        let began = Instant::now();
        execute(&site.folder, &format!("UPDATE wp_posts SET comment_count = 7 WHERE ID = {public}"));
        assert!(anonymous.wait_for("event: updated", 3).await, "{}", anonymous.received);
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }

    // The number of streams of a client is limited, and those that have ended do not count.
    let _fourth = Stream::open(&site, "", "").await;
    let fifth = Stream::open(&site, "", "").await;
    assert!(fifth.received.contains(" 503 "), "{}", fifth.received);
    drop((again, own));
    for _ in 0..100 {
        create(&site, &admin, "posts", json!({"title": "a", "status": "publish"})).await;
        if Stream::open(&site, "", "").await.received.contains(" 200 ") {
            return;
        }
    }
    panic!("streams that have ended still count");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_with_wrong_credentials_is_refused() {
    let site = start(&[]).await;
    let refused = Stream::open(&site, "admin:wrong", "").await;
    assert!(refused.received.contains(" 401 "), "{}", refused.received);
}
