//! Webhooks: what receivers get, whether they can trust it, and what becomes of deliveries that fail.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc_server::SiteBuilder;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::{
    client::send,
    site::{Site, basic},
};

const API: &str = "/svc-json/svc/v2";

/// A request that a receiver got.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    headers: Vec<(String, String)>,
    body: String,
    at: Instant,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(of, _)| of.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Checks a delivery as a receiver does, by the text of the standard: an HMAC (RFC 2104) with SHA-256 of `id.timestamp.body`, with the
/// bytes of the secret, and a time that is not too old.
fn is_genuine(secret: &str, id: &str, timestamp: &str, signatures: &str, body: &str, now: u64) -> bool {
    let Ok(sent) = timestamp.parse::<u64>() else { return false };
    if now.abs_diff(sent) > 300 {
        return false;
    }
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    assert!((24..=64).contains(&key.len()), "the length of secrets in the standard");
    let mut block = [0_u8; 64];
    block[..key.len()].copy_from_slice(&key);
    let hash = |pad: u8, rest: &[u8]| {
        let mut hasher = Sha256::new();
        hasher.update(block.map(|byte| byte ^ pad));
        hasher.update(rest);
        hasher.finalize()
    };
    let inner = hash(0x36, format!("{id}.{timestamp}.{body}").as_bytes());
    let expected = format!("v1,{}", STANDARD.encode(hash(0x5c, &inner)));
    signatures.split(' ').any(|signature| signature == expected)
}

fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

/// A receiver that answers requests with statuses in turn, the last one forever.
pub(crate) struct Receiver {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    pub(crate) async fn start(statuses: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let all = Arc::clone(&received);
        tokio::spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let all = Arc::clone(&all);
                tokio::spawn(async move {
                    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
                    let request = loop {
                        let n = socket.read(&mut buffer).await.unwrap_or(0);
                        bytes.extend_from_slice(&buffer[..n]);
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                        let headers: Vec<(String, String)> = head
                            .lines()
                            .skip(1)
                            .filter_map(|line| line.split_once(": "))
                            .map(|(name, value)| (name.to_owned(), value.to_owned()))
                            .collect();
                        let of = |(name, value): &(String, String)| {
                            name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().unwrap())
                        };
                        if n == 0 || body.len() >= headers.iter().find_map(of).unwrap_or(0) {
                            break Received { headers, body: body.to_owned(), at: Instant::now() };
                        }
                    };
                    let n = {
                        let mut all = all.lock().unwrap();
                        all.push(request);
                        all.len()
                    };
                    let status = statuses.get(n - 1).or(statuses.last()).unwrap();
                    if *status == "hang" {
                        tokio::time::sleep(Duration::from_secs(60)).await;
                    }
                    let response = format!(
                        "HTTP/1.1 {status}\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
                    );
                    let _sent = socket.write_all(response.as_bytes()).await;
                });
            }
        });
        Receiver { address, received }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub(crate) fn all(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits for this number of requests.
    pub(crate) async fn wait_for(&self, n: usize) -> Vec<Received> {
        for _ in 0..1_500 {
            if self.all().len() >= n {
                return self.all();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{n} requests expected: {:#?}", self.all());
    }
}

async fn start() -> (Site, String) {
    let settings = [("change_log", "10000"), ("outgoing.allow", "127.0.0.0/8")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let admin = site.app_password();
    (site, admin)
}

async fn call(site: &Site, method: &str, route: &str, user: &str, body: Value) -> (u16, Value) {
    let credentials = basic(user);
    let mut headers = vec![("Content-Type", "application/json")];
    if !user.is_empty() {
        headers.push(("Authorization", &credentials));
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let response = send(site.address, method, &format!("{API}/{route}"), &headers, &body).await;
    (response.status, serde_json::from_str(&response.body).unwrap_or_default())
}

async fn create(site: &Site, admin: &str, body: Value) -> (String, String) {
    let (status, hook) = call(site, "POST", "webhooks", admin, body).await;
    assert_eq!(status, 201, "{hook}");
    (hook["id"].as_str().unwrap().to_owned(), hook["secret"].as_str().unwrap().to_owned())
}

async fn publish(site: &Site, admin: &str, title: &str) -> i64 {
    let (status, post) = call(site, "POST", "posts", admin, json!({"title": title, "status": "publish"})).await;
    assert_eq!(status, 201, "{post}");
    post["id"].as_i64().unwrap()
}

/// Waits until a webhook has this number of deliveries in a state.
async fn in_state(site: &Site, admin: &str, hook: &str, state: &str, n: usize) -> Vec<Value> {
    for _ in 0..1_500 {
        let (status, found) =
            call(site, "GET", &format!("webhooks/{hook}/deliveries?state={state}"), admin, Value::Null).await;
        assert_eq!(status, 200, "{found}");
        let found = found.as_array().unwrap().clone();
        if found.len() == n {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{n} deliveries expected: {state}");
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_signed_and_repeated_until_they_are_accepted() {
    let (site, admin) = start().await;
    let receiver = Receiver::start(&["500 No", "204 Yes"]).await;
    let (id, secret) = create(&site, &admin, json!({"url": receiver.url(), "events": ["post.published"]})).await;
    let draft = call(&site, "POST", "posts", &admin, json!({"title": "a draft"})).await.1["id"].as_i64().unwrap();
    let post = publish(&site, &admin, "a title").await;
    let [first, second] = &receiver.wait_for(2).await[..] else { panic!("two attempts") };

    let body = first.json();
    assert_eq!((&body["type"], &body["data"]["object"]["id"]), (&json!("post.published"), &json!(post)));
    assert_eq!(body["data"]["after"], json!({"status": "publish"}));
    assert!(!first.body.contains("a title"), "what an object contains is not sent: {}", first.body);
    let signed = |r: &Received, secret: &str, now: u64| {
        let [id, time, code] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| r.header(name));
        is_genuine(secret, id, time, code, &r.body, now)
    };
    assert!(signed(first, &secret, now()) && signed(second, &secret, now()));
    // The attempts are the same message, with the same bytes.
    assert_eq!((first.header("webhook-id"), &first.body), (second.header("webhook-id"), &second.body));
    let pause = second.at - first.at;
    assert!(Duration::from_millis(4_000) < pause && pause < Duration::from_secs(9), "{pause:?}");

    // A forged, changed or old message is none of this server's.
    let [id_of, time, code] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| first.header(name));
    for (id, time, body, at) in [
        ("msg_other", time, first.body.as_str(), now()),
        (id_of, "1700000000", &first.body, 1_700_000_000),
        (id_of, time, &first.body.replace("publish", "private"), now()),
        (id_of, time, &first.body, now() + 301),
    ] {
        assert!(!is_genuine(&secret, id, time, code, body, at), "{id} {time} {at}");
    }
    assert!(!signed(first, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", now()), "another secret");

    let delivered = in_state(&site, &admin, &id, "delivered", 1).await;
    let delivery = &delivered[0];
    assert_eq!((&delivery["attempts"], &delivery["request"]), (&json!(2), &json!(first.body)));
    assert!(delivery["response"].as_str().unwrap().starts_with("204 in "), "{delivery}");
    assert!(!format!("{:?}", receiver.all()).contains(&format!("\"id\":{draft},")), "drafts were not asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_rotate_and_are_shown_once() {
    let (site, admin) = start().await;
    let receiver = Receiver::start(&["200 OK"]).await;
    let (id, old) = create(&site, &admin, json!({"url": receiver.url()})).await;
    let (_, rotated) = call(&site, "POST", &format!("webhooks/{id}/secret"), &admin, json!({})).await;
    let new = rotated["secret"].as_str().unwrap().to_owned();
    for (method, route, body) in [
        ("GET", "webhooks".to_owned(), Value::Null),
        ("GET", format!("webhooks/{id}?context=edit"), Value::Null),
        ("POST", format!("webhooks/{id}"), json!({"name": "a"})),
        ("GET", format!("webhooks/{id}/deliveries"), Value::Null),
    ] {
        let (status, text) = call(&site, method, &route, &admin, body).await;
        assert!(status == 200 && !text.to_string().contains("whsec_"), "{method} {route}: {text}");
    }
    assert_eq!(call(&site, "POST", &format!("webhooks/{id}/test"), &admin, json!({})).await.0, 202);
    let test = receiver.wait_for(1).await.remove(0);
    assert_eq!(test.json()["type"], "test");
    let signed = |r: &Received, secret: &str| {
        is_genuine(
            secret,
            r.header("webhook-id"),
            r.header("webhook-timestamp"),
            r.header("webhook-signature"),
            &r.body,
            now(),
        )
    };
    assert!(signed(&test, &old) && signed(&test, &new));

    let (_, rotated) = call(&site, "POST", &format!("webhooks/{id}/secret"), &admin, json!({"only_new": true})).await;
    let newest = rotated["secret"].as_str().unwrap();
    call(&site, "POST", &format!("webhooks/{id}/test"), &admin, json!({})).await;
    let test = receiver.wait_for(2).await.remove(1);
    assert!(signed(&test, newest) && !signed(&test, &old) && !signed(&test, &new));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_is_a_new_message_of_the_same_event_and_switches_nothing_on() {
    let (site, admin) = start().await;
    let receiver = Receiver::start(&["410 Gone", "200 OK"]).await;
    let (id, _) = create(&site, &admin, json!({"url": receiver.url(), "events": ["post.*"]})).await;
    publish(&site, &admin, "a").await;
    let dead = in_state(&site, &admin, &id, "dead", 1).await;
    let (_, hook) = call(&site, "GET", &format!("webhooks/{id}"), &admin, Value::Null).await;
    assert_eq!(hook["active"], false);
    assert!(hook["switched_off"].as_str().unwrap().contains("410"), "{hook}");

    let replay = format!("webhooks/{id}/deliveries/{}/replay", dead[0]["id"]);
    assert_eq!(call(&site, "POST", &replay, &admin, json!({})).await.0, 202);
    in_state(&site, &admin, &id, "dead", 2).await;
    let (_, hook) = call(&site, "GET", &format!("webhooks/{id}"), &admin, Value::Null).await;
    assert_eq!((&hook["active"], receiver.all().len()), (&json!(false), 1), "a replay switches nothing on");

    let (_, hook) = call(&site, "POST", &format!("webhooks/{id}"), &admin, json!({"active": true})).await;
    assert_eq!((&hook["active"], &hook["switched_off"]), (&json!(true), &json!("")));
    assert_eq!(call(&site, "POST", &replay, &admin, json!({})).await.0, 202);
    let [first, second] = &receiver.wait_for(2).await[..] else { panic!("two deliveries") };
    assert_ne!(first.header("webhook-id"), second.header("webhook-id"));
    assert_eq!(first.json()["data"]["id"], second.json()["data"]["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_not_followed_and_private_networks_are_refused() {
    let (site, admin) = start().await;
    let receiver = Receiver::start(&["302 Found", "200 OK"]).await;
    let (id, _) = create(&site, &admin, json!({"url": receiver.url(), "events": ["post.*"]})).await;
    publish(&site, &admin, "a").await;
    receiver.wait_for(2).await;
    let delivered = in_state(&site, &admin, &id, "delivered", 1).await;
    assert_eq!(delivered[0]["attempts"], 2, "the redirect was a failure");

    let folder = site.stop().await;
    let site = Site::start_in(folder, &SiteBuilder::new(), &[("change_log", "10000")]).await;
    publish(&site, &admin, "b").await;
    let dead = in_state(&site, &admin, &id, "dead", 1).await;
    assert!(dead[0]["response"].as_str().unwrap().contains("not allowed"), "{}", dead[0]);
    assert_eq!(receiver.all().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_hangs_delays_no_other() {
    let (site, admin) = start().await;
    let (slow, quick) = (Receiver::start(&["hang"]).await, Receiver::start(&["200 OK"]).await);
    create(&site, &admin, json!({"url": slow.url(), "events": ["post.published"]})).await;
    create(&site, &admin, json!({"url": quick.url(), "events": ["post.published"]})).await;
    let began = Instant::now();
    for title in ["a", "b", "c", "d", "e", "f"] {
        publish(&site, &admin, title).await;
    }
    let received = quick.wait_for(6).await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(slow.all().len() <= 4, "a receiver gets a few deliveries at a time");
    let events: std::collections::BTreeSet<String> =
        received.iter().map(|r| r.json()["data"]["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(events.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_administrators_manage_webhooks() {
    let (site, admin) = start().await;
    let (id, _) = create(&site, &admin, json!({"url": "https://example.org/"})).await;
    let body =
        json!({"username": "ed", "email": "ed@example.org", "password": "a long pass phrase", "roles": ["editor"]});
    let user = call(&site, "POST", "users", &admin, body).await.1["id"].as_i64().unwrap();
    let route = format!("users/{user}/application-passwords");
    let password = call(&site, "POST", &route, &admin, json!({"name": "t"})).await.1;
    let editor = format!("ed:{}", password["password"].as_str().unwrap());
    for (method, route) in [
        ("GET", "webhooks".to_owned()),
        ("POST", "webhooks".to_owned()),
        ("GET", format!("webhooks/{id}")),
        ("POST", format!("webhooks/{id}")),
        ("DELETE", format!("webhooks/{id}")),
        ("POST", format!("webhooks/{id}/secret")),
        ("POST", format!("webhooks/{id}/test")),
        ("GET", format!("webhooks/{id}/deliveries")),
        ("POST", format!("webhooks/{id}/deliveries/1/replay")),
    ] {
        let body = || if method == "GET" { Value::Null } else { json!({"url": "https://example.org/"}) };
        assert_eq!(call(&site, method, &route, "", body()).await.0, 401, "{method} {route}");
        assert_eq!(call(&site, method, &route, &editor, body()).await.0, 403, "{method} {route}");
    }
    for wrong in [
        json!({"url": "ftp://example.org/"}),
        json!({"url": "https://example.org/", "events": ["post.gone"]}),
        json!({"url": "https://example.org/", "events": []}),
        json!({"events": ["*"]}),
    ] {
        assert_eq!(call(&site, "POST", "webhooks", &admin, wrong.clone()).await.0, 400, "{wrong}");
    }
    for _ in 1..50 {
        create(&site, &admin, json!({"url": "https://example.org/"})).await;
    }
    assert_eq!(
        call(&site, "POST", "webhooks", &admin, json!({"url": "https://example.org/"})).await.0,
        400,
        "too many"
    );
    assert_eq!(call(&site, "DELETE", &format!("webhooks/{id}"), &admin, Value::Null).await.0, 200);
    assert_eq!(call(&site, "GET", &format!("webhooks/{id}"), &admin, Value::Null).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_log_of_changes_there_are_no_webhooks() {
    if crate::site::on_sqlite() {
        return; // SQLite always has the log.
    }
    let site = Site::start().await;
    let admin = site.app_password();
    let (status, error) = call(&site, "POST", "webhooks", &admin, json!({"url": "https://example.org/"})).await;
    assert_eq!(status, 501);
    assert!(error["message"].as_str().unwrap().contains("`change_log`"), "{error}");
    assert_eq!(call(&site, "GET", "changes", "", Value::Null).await.0, 501);
    assert_eq!(call(&site, "GET", "webhooks", &admin, Value::Null).await.0, 200);
}
