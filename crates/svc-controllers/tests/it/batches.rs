//! Batches that read, and batches that are transactions, on each engine.

use std::sync::Arc;

use chrono::NaiveDate;
use serde_json::{Value, json};
use svc_controllers::{RestSetup, mount, site_info};
use svc_model::PostId;
use svc_routing::{Context, Method, Registry, Request, Response, Route, Transport, get, on, public};
use svc_store::{StoredText, options, posts};

use crate::database::engines;
use crate::harness::{ADMIN, AUTHOR, EDITOR, Harness, NOBODY, TestResponse};

const TITLE: &str = "/svc/v2/posts/1000?_fields=title";

/// Sends a batch as a request over HTTP is handled, again while a slow machine does not finish it within its time limit.
async fn send(h: &Harness, user: i64, batch: Value) -> TestResponse {
    let mut n_tries = 0;
    loop {
        let cx = Context::request(Transport::Plain);
        let request = Request::new(Method::POST, "/batch/v1").with_cx(cx.clone()).with_json(&batch);
        let response = cx.run(h.send(user, request)).await;
        n_tries += 1;
        if !response.body.to_string().contains("rest_service_unavailable") || n_tries == 20 {
            return response;
        }
    }
}

fn part(method: &str, path: &str, body: Value) -> Value {
    json!({"method": method, "path": path, "body": body})
}

fn transaction(parts: &[Value]) -> Value {
    json!({"transaction": true, "requests": parts})
}

fn statuses(response: &TestResponse) -> Vec<u64> {
    response.body["responses"].as_array().unwrap().iter().map(|entry| entry["status"].as_u64().unwrap_or(0)).collect()
}

fn codes(response: &TestResponse) -> Vec<&str> {
    let entries = response.body["responses"].as_array().unwrap();
    entries.iter().map(|entry| entry["body"]["code"].as_str().unwrap_or("-")).collect()
}

/// Everything that the tests write, as stored.
async fn state(h: &Harness) -> Vec<Value> {
    let mut all = Vec::new();
    for (route, query) in [
        ("/svc/v2/posts", "context=edit&status=any&per_page=100&_fields=id,title,status,tags,meta"),
        ("/svc/v2/tags", "per_page=100"),
        ("/svc/v2/users", "context=edit&per_page=100"),
        ("/svc/v2/menus", "context=edit&per_page=100"),
        ("/svc/v2/menu-items", "context=edit&per_page=100"),
        ("/svc/v2/widgets", "context=edit"),
        ("/svc/v2/media", "context=edit&per_page=100&_fields=id"),
    ] {
        let response = h.get(ADMIN, route, query).await;
        assert_eq!(response.status, 200, "{route}: {:?}", response.body);
        all.push(response.body);
    }
    all
}

/// Writes of every family that batches allow, with several writes in one request.
fn all_families() -> Vec<Value> {
    let user = json!({"username": "batch", "email": "batch@example.org", "password": "a-long-pass-phrase", "roles": ["author"]});
    vec![
        part("POST", "/svc/v2/tags", json!({"name": "In a batch", "meta": {"fx_any_term": true}})),
        part("POST", "/svc/v2/posts", json!({"title": "New", "status": "publish", "meta": {"fx_strings": ["a", "b"]}})),
        part("PUT", "/svc/v2/posts/1000", json!({"title": "Changed", "sticky": true})),
        part("POST", "/svc/v2/users", user),
        part("DELETE", "/svc/v2/users/3?force=true&reassign=1", json!({})),
        part("POST", "/svc/v2/menus", json!({"name": "Menu of the batch"})),
        part(
            "POST",
            "/svc/v2/menu-items",
            json!({"title": "Item", "url": "https://example.org/", "status": "publish"}),
        ),
        part(
            "POST",
            "/svc/v2/widgets",
            json!({"id_base": "text", "sidebar": "sidebar-main", "instance": {"raw": {"text": "x"}}}),
        ),
        part("DELETE", "/svc/v2/posts/1000", json!({})),
    ]
}

fn fixed_time(setup: &mut RestSetup) {
    setup.site.clock = || NaiveDate::from_ymd_opt(2026, 3, 1).unwrap().and_hms_opt(12, 0, 0).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_respond_as_other_batches_do() {
    for (plain, whole) in engines::pairs(fixed_time) {
        let parts = all_families();
        let expected = send(&plain, ADMIN, json!({"requests": parts})).await;
        let got = send(&whole, ADMIN, transaction(&parts)).await;
        assert!(statuses(&got).iter().all(|status| [200, 201].contains(status)), "{:?}", got.body);
        assert_eq!(without_secrets(&got.body), without_secrets(&expected.body));
        assert_eq!(state(&whole).await, state(&plain).await);
    }
}

/// The responses without what is random.
fn without_secrets(body: &Value) -> Value {
    let mut body = body.clone();
    for entry in body["responses"].as_array_mut().unwrap() {
        if let Some(instance) = entry["body"].get_mut("instance") {
            instance["hash"].take();
        }
    }
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_anywhere_undoes_everything() {
    for (engine, h) in engines::each() {
        let before = state(&h).await;
        let failing = [
            (part("POST", "/svc/v2/posts/999999", json!({"title": "x"})), 404, "rest_post_invalid_id"),
            (part("POST", "/svc/v2/tags", json!({"name": "In a batch"})), 400, "term_exists"),
            (
                part("DELETE", "/svc/v2/users/1?force=true&reassign=999999", json!({})),
                400,
                "rest_user_invalid_reassign",
            ),
            (
                part(
                    "POST",
                    "/svc/v2/users",
                    json!({"username": "admin", "email": "x@example.org", "password": "a-long-pass-phrase"}),
                ),
                500,
                "existing_user_login",
            ),
        ];
        for (failing, status, code) in failing {
            for at in [1, all_families().len()] {
                let mut parts = all_families();
                parts.insert(at, failing.clone());
                let response = send(&h, ADMIN, transaction(&parts)).await;
                let (got, codes) = (statuses(&response), codes(&response));
                assert_eq!((got[at], codes[at]), (status, code), "{engine}: {:?}", response.body);
                assert_eq!(response.body["failed"], "transaction", "{engine}");
                let others = (0..parts.len()).filter(|n| *n != at);
                assert!(
                    others.clone().all(|n| got[n] == 424 && codes[n] == "rest_batch_rolled_back"),
                    "{engine}: {codes:?}"
                );
                assert_eq!(state(&h).await, before, "{engine} {code} at {at}");
            }
        }
        // The database takes writes as before.
        let response = send(&h, ADMIN, transaction(&all_families())).await;
        assert!(response.body.get("failed").is_none(), "{engine}: {:?}", response.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_a_transaction_have_the_rights_of_its_caller() {
    for (engine, h) in engines::each() {
        let before = state(&h).await;
        let own = part("POST", "/svc/v2/posts", json!({"title": "Mine"}));
        let of_others = part("PUT", "/svc/v2/posts/1000", json!({"title": "Not mine"}));
        let anonymous = send(&h, NOBODY, transaction(std::slice::from_ref(&own))).await;
        assert_eq!((anonymous.status, anonymous.code()), (401, "rest_cannot_batch"), "{engine}");
        let response = send(&h, AUTHOR, transaction(&[own, of_others])).await;
        assert_eq!(
            (statuses(&response), codes(&response)),
            (vec![424, 403], vec!["rest_batch_rolled_back", "rest_cannot_edit"])
        );
        assert_eq!(state(&h).await, before, "{engine}");
        // Later requests see what earlier ones have written.
        let assigned = [
            part("PUT", "/svc/v2/posts/1000", json!({"author": AUTHOR})),
            part("PUT", "/svc/v2/posts/1000", json!({"title": "Of another author"})),
        ];
        let response = send(&h, EDITOR, transaction(&assigned)).await;
        assert_eq!(statuses(&response), [200, 200], "{engine}: {:?}", response.body);
        assert_eq!(response.body["responses"][1]["body"]["author"], AUTHOR);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn preconditions_are_those_of_the_transaction() {
    for (engine, h) in engines::each() {
        let stale = json!({"method": "PUT", "path": "/svc/v2/posts/1000", "body": {"title": "x"}, "headers": {"If-Match": "\"stale\""}});
        let parts = [part("POST", "/svc/v2/tags", json!({"name": "Undone"})), stale];
        let response = send(&h, ADMIN, transaction(&parts)).await;
        assert_eq!(statuses(&response), [424, 412], "{engine}: {:?}", response.body);
    }
}

/// Adds a route that renames post 1 from outside of the request, and waits for it.
fn with_interruption(mut h: Harness) -> Harness {
    let cx = Context::background();
    let mut registry = Registry::for_site(site_info(&cx, &h.site).unwrap());
    mount(&cx, &mut registry, &h.rest).unwrap();
    let site = Arc::clone(&h.site);
    let interrupt = move |_: Request| {
        let site = Arc::clone(&site);
        async move {
            let others = Context::background();
            let write = site.write(&others, |tx| {
                options::set(tx, "blogname", &StoredText::of("Renamed meanwhile"), true)?;
                let mut post = posts::get(tx, PostId(1000))?.unwrap();
                post.title = "Renamed meanwhile".to_owned();
                Ok(posts::update(tx, &post)?)
            });
            write.await?;
            tokio::task::yield_now().await;
            Ok(Response::new("done"))
        }
    };
    let route = Route::new("/interrupt").allow_batch();
    let route = route.endpoint(get(interrupt.clone(), public)).endpoint(on("POST", interrupt, public));
    registry.route("test/v1", route).unwrap();
    h.server = registry.build();
    h
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_of_a_batch_see_one_snapshot() {
    for (engine, h) in engines::each() {
        let h = with_interruption(h);
        let read = part("GET", TITLE, json!({}));
        let index = part("GET", "/?_fields=name", json!({}));
        let interrupt = part("GET", "/test/v1/interrupt", json!({}));
        let parts = [read.clone(), index.clone(), interrupt, read.clone(), index];
        let response = send(&h, NOBODY, json!({"reads": true, "requests": parts})).await;
        let bodies: Vec<&Value> = (0..5).map(|n| &response.body["responses"][n]["body"]).collect();
        assert_eq!(bodies[2], "done", "{engine}: {:?}", response.body);
        assert!(bodies[0]["title"]["rendered"].is_string(), "{engine}: {:?}", response.body);
        assert_eq!((bodies[0], bodies[1]), (bodies[3], bodies[4]), "{engine}");
        let later = h.get(NOBODY, "/svc/v2/posts/1000", "_fields=title").await;
        assert_eq!(later.body["title"]["rendered"], "Renamed meanwhile", "{engine}");

        // Reads after a write see it.
        let write = part("PUT", "/svc/v2/posts/1000", json!({"title": "Written"}));
        let response = send(&h, ADMIN, json!({"reads": true, "requests": [read.clone(), write, read.clone()]})).await;
        let title = |n: usize| &response.body["responses"][n]["body"]["title"]["rendered"];
        assert_eq!((title(0), title(2)), (&json!("Renamed meanwhile"), &json!("Written")), "{engine}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_tell_callers_what_single_requests_tell_them() {
    let h = Harness::new();
    let paths = [
        "/svc/v2/posts?per_page=3&_embed&_fields=id,title,_links,_embedded",
        "/svc/v2/posts?context=edit",
        "/svc/v2/posts?status=draft",
        "/svc/v2/users",
        "/svc/v2/settings",
        "/svc/v2/posts/999999",
        "/svc/v2/search?search=a",
        "/svc/v2/types",
        "/?_fields=name,namespaces",
    ];
    for user in [NOBODY, AUTHOR, ADMIN] {
        let parts: Vec<Value> = paths.iter().map(|path| part("GET", path, json!({}))).collect();
        let response = send(&h, user, json!({"reads": true, "requests": parts})).await;
        assert_eq!(response.status, 207);
        for (n, path) in paths.iter().enumerate() {
            let (route, query) = path.split_once('?').unwrap_or((path, ""));
            let single = h.get(user, route, query).await;
            let entry = &response.body["responses"][n];
            assert_eq!(
                (entry["status"].as_u64(), &entry["body"]),
                (Some(single.status.into()), &single.body),
                "{user} {path}"
            );
            for (name, value) in &single.headers {
                let got = &entry["headers"][name];
                let text = got.as_str().map_or_else(|| got.to_string(), str::to_owned);
                assert_eq!(text, *value, "{user} {path} {name}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_transactions_are_never_seen_half() {
    for shared in engines::shared() {
        let mut tasks = Vec::new();
        for n in 0..8_usize {
            let h = Arc::clone(&shared.servers[n % shared.servers.len()]);
            tasks.push(tokio::spawn(async move {
                for round in 0..4 {
                    let title = json!({"title": format!("{n} {round}")});
                    let mut parts = vec![
                        part("PUT", "/svc/v2/posts/1000", title.clone()),
                        part("PUT", "/svc/v2/pages/1108", title),
                    ];
                    if (n + round) % 3 == 0 {
                        parts.push(part("PUT", "/svc/v2/posts/999999", json!({})));
                    }
                    let response = send(&h, ADMIN, transaction(&parts)).await;
                    assert_eq!(response.status, 207, "{:?}", response.body);
                    let reads =
                        [part("GET", TITLE, json!({})), part("GET", "/svc/v2/pages/1108?_fields=title", json!({}))];
                    let seen = send(&h, NOBODY, json!({"reads": true, "requests": reads})).await;
                    let title = |n: usize| &seen.body["responses"][n]["body"]["title"]["rendered"];
                    assert!(title(0).is_string() && title(0) == title(1) || round == 0, "{:?}", seen.body);
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    }
}
