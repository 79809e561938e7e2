//! Concurrent read-modify-write requests of eight clients. No acknowledged write is lost, and a request that loses a race
//! gets the same response as if it had been sent later. On SQLite, and on MariaDB with one and with two servers.

use std::future::Future;
use std::sync::Arc;

use serde_json::{Value, json};
use svc_media::RegisteredSize;
use svc_model::{PostId, UserId};
use svc_routing::{Method, Request, Transport};
use svc_store::{MetaKind, meta, posts, terms, users};
use svc_versions::Context;

use super::engines::{self, Shared};
use crate::harness::{ADMIN, AUTHOR, Harness, TestResponse};

const CLIENTS: usize = 8;

/// Sends a request of each client concurrently, distributed over the servers.
async fn concurrently<F, R>(site: &Shared, request: F) -> Vec<TestResponse>
where
    F: Fn(Arc<Harness>, usize) -> R,
    R: Future<Output = TestResponse> + Send + 'static,
{
    let tasks: Vec<_> =
        (0..CLIENTS).map(|n| tokio::spawn(request(Arc::clone(&site.servers[n % site.servers.len()]), n))).collect();
    let mut responses = Vec::new();
    for task in tasks {
        responses.push(task.await.unwrap());
    }
    // A cluster node may see writes of other nodes with a delay. A write on each node waits for them.
    for server in &site.servers {
        server.site.write(&Context::background(), |_| Ok(())).await.unwrap();
    }
    responses
}

/// Sends a POST request of each client concurrently, with its own route and body.
async fn post_all(site: &Shared, user: i64, bodies: impl Fn(usize) -> (String, Value)) -> Vec<TestResponse> {
    concurrently(site, |h, n| {
        let (route, body) = bodies(n);
        async move { h.json(user, Method::POST, &route, body).await }
    })
    .await
}

#[track_caller]
fn all_have(responses: &[TestResponse], status: u16, context: &str) {
    for response in responses {
        assert_eq!(response.status, status, "{context}: {:?}", response.body);
    }
}

/// Asserts that exactly one response has the status `won` and that all others have the status and code `lost`.
#[track_caller]
fn one_wins(responses: &[TestResponse], won: u16, lost: (u16, &str), context: &str) {
    let found: Vec<(u16, &str)> = responses.iter().map(|r| (r.status, r.code())).collect();
    assert_eq!(found.iter().filter(|(status, _)| *status == won).count(), 1, "{context}: {found:?}");
    assert_eq!(found.iter().filter(|found| **found == lost).count(), CLIENTS - 1, "{context}: {found:?}");
}

fn id(response: &TestResponse) -> i64 {
    response.body["id"].as_i64().unwrap()
}

fn sorted<T: Ord>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = all.into_iter().collect();
    all.sort();
    all.dedup();
    all
}

async fn new_post(site: &Shared) -> i64 {
    let body = json!({"title": "one", "status": "publish"});
    id(&site.servers[0].json(ADMIN, Method::POST, "/svc/v2/posts", body).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn concurrent_changes_of_application_passwords_are_not_lost() {
    const OWN: &str = "/svc/v2/users/me/application-passwords";
    for site in engines::shared() {
        let created = post_all(&site, AUTHOR, |n| (OWN.to_owned(), json!({"name": format!("n{n}")}))).await;
        all_have(&created, 201, site.name);
        let uuids: Vec<String> = created.iter().map(|r| r.body["uuid"].as_str().unwrap().to_owned()).collect();
        let listed = site.servers[0].get(AUTHOR, OWN, "").await.body;
        for uuid in &uuids {
            assert!(listed.to_string().contains(uuid), "{}: {uuid} was lost", site.name);
        }
        let revoked = concurrently(&site, |h, n| {
            let route = format!("{OWN}/{}", uuids[n]);
            async move { h.json(AUTHOR, Method::DELETE, &route, json!({})).await }
        })
        .await;
        all_have(&revoked, 200, site.name);
        let listed = site.servers[0].get(AUTHOR, OWN, "").await.body;
        for uuid in &uuids {
            assert!(!listed.to_string().contains(uuid), "{}: {uuid} is still valid", site.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn concurrent_files_of_an_attachment_are_not_lost() {
    const SMALL: &[u8] = include_bytes!("../../data/client_media/150x150.png");
    let folder = tempfile::tempdir().unwrap();
    let storage = svc_media::Storage::folder(folder.path());
    let sizes: Vec<_> = (0..CLIENTS)
        .map(|n| RegisteredSize { name: format!("size-{n}"), width: 200, height: 200, crop: false })
        .collect();
    let upload = |path: String, name: String| {
        Request::new(Method::POST, path)
            .with_cx(Context::request(Transport::Tls))
            .with_header("content-disposition", &format!("attachment; filename=\"{name}\""))
            .with_body(SMALL)
    };
    let shared = engines::shared_with(|setup| {
        (setup.site.services.uploads, setup.registries.image_sizes) = (storage.clone(), sizes.clone())
    });
    for site in shared {
        let create = upload("/svc/v2/media".to_owned(), "shared.png".to_owned());
        let create = create.with_query_string("generate_sub_sizes=false");
        let id = id(&site.servers[0].send(AUTHOR, create).await);
        // All clients send the same name at once.
        let stored = concurrently(&site, |h, n| {
            let req = upload(format!("/svc/v2/media/{id}/sideload"), "shared-150x150.png".to_owned());
            async move { h.send(AUTHOR, req.with_query_string(&format!("image_size=size-{n}"))).await }
        })
        .await;
        all_have(&stored, 200, site.name);
        let names = sorted(stored.iter().map(|r| r.body["file"].as_str().unwrap().to_owned()));
        assert_eq!(names.len(), CLIENTS, "{}: {names:?}", site.name);

        // Each client finalizes its own file.
        let finalized = concurrently(&site, |h, n| {
            let body = json!({"sub_sizes": [stored[n].body]});
            let req = Request::new(Method::POST, format!("/svc/v2/media/{id}/finalize")).with_json(&body);
            async move { h.send(AUTHOR, req.with_cx(Context::request(Transport::Tls))).await }
        })
        .await;
        all_have(&finalized, 200, site.name);
        let details =
            site.servers[0].get(AUTHOR, &format!("/svc/v2/media/{id}"), "").await.body["media_details"].take();
        for (n, response) in stored.iter().enumerate() {
            assert_eq!(details["sizes"][format!("size-{n}")]["file"], response.body["file"], "{}", site.name);
        }
        let meta = site.servers[0]
            .site
            .read(&Context::background(), |db| Ok(meta::load_one(db, MetaKind::Post, id)?))
            .unwrap();
        assert!(!meta.has("_wp_sideloaded_file"), "{}: {meta:?}", site.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn concurrently_created_slugs_terms_logins_and_widgets_are_unique() {
    for site in engines::shared() {
        let body = json!({"title": "The same title", "status": "publish"});
        let created = post_all(&site, ADMIN, |_| ("/svc/v2/posts".to_owned(), body.clone())).await;
        all_have(&created, 201, site.name);
        let slugs = sorted(created.iter().map(|r| r.body["slug"].as_str().unwrap()));
        assert_eq!(slugs.len(), CLIENTS, "{}: {slugs:?}", site.name);

        let created = post_all(&site, ADMIN, |_| ("/svc/v2/tags".to_owned(), json!({"name": "The same tag"}))).await;
        one_wins(&created, 201, (400, "term_exists"), site.name);
        let rows =
            site.servers[0].site.store.read_blocking(|db| terms::by_name(db, "The same tag", "post_tag")).unwrap();
        assert_eq!(rows.len(), 1, "{}", site.name);

        let created = post_all(&site, ADMIN, |n| {
            let user =
                json!({"username": "thesame", "email": format!("{n}@example.org"), "password": "a long password"});
            ("/svc/v2/users".to_owned(), user)
        })
        .await;
        one_wins(&created, 201, (500, "existing_user_login"), site.name);

        let widget = json!({"id_base": "text", "instance": {"raw": {"title": "", "text": "w"}}});
        let created = post_all(&site, ADMIN, |_| ("/svc/v2/widgets".to_owned(), widget.clone())).await;
        all_have(&created, 201, site.name);
        let ids = sorted(created.iter().map(|r| r.body["id"].as_str().unwrap().to_owned()));
        assert_eq!(ids.len(), CLIENTS, "{}: {ids:?}", site.name);
        for id in ids {
            let found = site.servers[0].get(ADMIN, &format!("/svc/v2/widgets/{id}"), "").await;
            assert_eq!(found.status, 200, "{}: {id} was lost", site.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn concurrent_changes_of_different_fields_are_all_stored() {
    for site in engines::shared() {
        let post = new_post(&site).await;
        let fields = [
            json!({"title": "changed"}),
            json!({"content": "changed"}),
            json!({"excerpt": "changed"}),
            json!({"slug": "changed"}),
            json!({"comment_status": "closed"}),
            json!({"ping_status": "closed"}),
            json!({"sticky": true}),
            json!({"author": AUTHOR}),
        ];
        let route = format!("/svc/v2/posts/{post}");
        all_have(&post_all(&site, ADMIN, |n| (route.clone(), fields[n].clone())).await, 200, site.name);
        let row = site.servers[0].site.store.read_blocking(|db| posts::get(db, PostId(post))).unwrap().unwrap();
        let texts = [&*row.title, &*row.content, &*row.excerpt, &*row.slug];
        assert_eq!(texts, ["changed"; 4], "{}", site.name);
        assert_eq!((&*row.comment_status, &*row.ping_status, row.author), ("closed", "closed", UserId(AUTHOR)));
        assert_eq!(site.servers[0].get(ADMIN, &route, "").await.body["sticky"], true, "{}", site.name);

        let fields = ["first_name", "last_name", "nickname", "description", "name", "url", "email", "slug"];
        let value = |field: &str| match field {
            "url" => "http://changed.example",
            "email" => "changed@example.org",
            _ => "changed",
        };
        let changed =
            post_all(&site, ADMIN, |n| ("/svc/v2/users/6".to_owned(), json!({fields[n]: value(fields[n])}))).await;
        all_have(&changed, 200, site.name);
        let (user, stored) = site.servers[0]
            .site
            .store
            .read_blocking(|db| Ok((users::get(db, UserId(6))?.unwrap(), meta::load_one(db, MetaKind::User, 6)?)))
            .unwrap();
        for field in &fields[..4] {
            assert_eq!(stored.text(field), "changed", "{}: {field}", site.name);
        }
        let row = [&*user.display_name, &*user.url, &*user.email, &*user.nicename];
        assert_eq!(row, ["changed", value("url"), value("email"), "changed"], "{}", site.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn sticky_posts_and_first_meta_values_are_stored_once_each() {
    for site in engines::shared() {
        let mut ids = Vec::new();
        for _ in 0..CLIENTS {
            ids.push(new_post(&site).await);
        }
        let route = |n: usize| format!("/svc/v2/posts/{}", ids[n]);
        all_have(&post_all(&site, ADMIN, |n| (route(n), json!({"sticky": true}))).await, 200, site.name);
        for n in 0..CLIENTS {
            assert_eq!(site.servers[0].get(ADMIN, &route(n), "").await.body["sticky"], true, "{}", site.name);
        }
        let values = |n: usize| (route(0), json!({"meta": {"fx_string": format!("value {n}")}}));
        all_have(&post_all(&site, ADMIN, values).await, 200, site.name);
        let stored = site.servers[0].site.store.read_blocking(|db| meta::load_one(db, MetaKind::Post, ids[0])).unwrap();
        assert_eq!(stored.all("fx_string").len(), 1, "{}", site.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn only_one_of_several_concurrent_deletes_succeeds() {
    for site in engines::shared() {
        let h = &site.servers[0];
        let post = new_post(&site).await;
        let tag = id(&h.json(ADMIN, Method::POST, "/svc/v2/tags", json!({"name": "gone"})).await);
        let body = json!({"post": new_post(&site).await, "content": "gone"});
        let comment = id(&h.json(ADMIN, Method::POST, "/svc/v2/comments", body).await);
        let user = json!({"username": "gone", "email": "gone@example.org", "password": "a long password"});
        let user = id(&h.json(ADMIN, Method::POST, "/svc/v2/users", user).await);
        for (route, lost) in [
            (format!("/svc/v2/posts/{post}"), "rest_post_invalid_id"),
            (format!("/svc/v2/tags/{tag}"), "rest_term_invalid"),
            (format!("/svc/v2/comments/{comment}"), "rest_comment_invalid_id"),
            (format!("/svc/v2/users/{user}"), "rest_user_invalid_id"),
            ("/svc/v2/media/1200".to_owned(), "rest_post_invalid_id"),
        ] {
            let deleted = concurrently(&site, |h, _| {
                let route = route.clone();
                async move { h.json(ADMIN, Method::DELETE, &route, json!({"force": true, "reassign": 1})).await }
            })
            .await;
            one_wins(&deleted, 200, (404, lost), &format!("{}: {route}", site.name));
        }
        let post = new_post(&site).await;
        let trashed = concurrently(&site, |h, _| async move {
            h.json(ADMIN, Method::DELETE, &format!("/svc/v2/posts/{post}"), json!({})).await
        })
        .await;
        one_wins(&trashed, 200, (410, "rest_already_trashed"), site.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn deleting_a_category_while_posts_are_assigned_leaves_no_orphaned_rows() {
    for site in engines::shared() {
        for round in 0..4 {
            let body = json!({"name": format!("round {round}")});
            let category = id(&site.servers[0].json(ADMIN, Method::POST, "/svc/v2/categories", body).await);
            let responses = concurrently(&site, |h, n| async move {
                if n == 3 {
                    let route = format!("/svc/v2/categories/{category}");
                    return h.json(ADMIN, Method::DELETE, &route, json!({"force": true})).await;
                }
                let post = json!({"title": "t", "status": "publish", "categories": [category]});
                h.json(ADMIN, Method::POST, "/svc/v2/posts", post).await
            })
            .await;
            assert!(responses.iter().all(|r| r.status < 300), "{}: {responses:?}", site.name);
            let orphans = site.count(
                "wp_term_relationships r LEFT JOIN wp_term_taxonomy t USING (term_taxonomy_id) WHERE t.term_id IS NULL",
            );
            assert_eq!(orphans, site.orphans, "{}", site.name);
        }
    }
}
