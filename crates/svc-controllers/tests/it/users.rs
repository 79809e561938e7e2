//! Users, in process, on the recorded fixture.

use std::collections::BTreeSet;

use crate::harness::{ADMIN, AUTHOR, CONTRIBUTOR, Harness, NOBODY};
use serde_json::{Value, json};
use svc_auth::{Caller, roles::Roles};
use svc_routing::{Method, Request};
use svc_schema::Schema;
use svc_store::{MetaKind, StoredText, meta, options, posts, users};

const USERS: &str = "/svc/v2/users";
const EDITOR: i64 = 2;
const SUBSCRIBER: i64 = 6;

fn ids(body: &Value) -> Vec<i64> {
    body.as_array().into_iter().flatten().filter_map(|u| u["id"].as_i64()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn users_match_their_schema_in_every_context() {
    let h = Harness::new();
    let options = h.json(ADMIN, Method::OPTIONS, USERS, json!({})).await;
    let mut source = options.body["schema"].clone();
    for property in source["properties"].as_object_mut().unwrap().values_mut() {
        // Fields that are required to create a user are not in every context.
        property.as_object_mut().unwrap().shift_remove("required");
    }
    // A user of the fixture has a locale that is not installed.
    source["properties"]["locale"].as_object_mut().unwrap().shift_remove("enum");
    let schema = Schema::compile(source.clone());
    for context in ["view", "embed", "edit"] {
        let list = h.get(ADMIN, USERS, &format!("context={context}&per_page=100")).await;
        assert_eq!((list.status, ids(&list.body).len()), (200, 8), "{:?}", list.body);
        for user in list.body.as_array().unwrap() {
            let mut user = user.clone();
            user.as_object_mut().unwrap().shift_remove("_links");
            schema.validate(&user, "user").unwrap_or_else(|e| panic!("{context} {}: {e}", user["id"]));
            let seen =
                |name: &&String| source["properties"][*name]["context"].as_array().unwrap().contains(&json!(context));
            // The schema has another order than items.
            let expected: BTreeSet<&String> = source["properties"].as_object().unwrap().keys().filter(seen).collect();
            assert_eq!(user.as_object().unwrap().keys().collect::<BTreeSet<_>>(), expected, "{context}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn query_count_is_independent_of_the_number_of_users() {
    let h = Harness::new();
    for (user, query) in [(NOBODY, ""), (ADMIN, "&context=edit"), (ADMIN, "&roles=author,editor&search=e")] {
        let mut counts = Vec::new();
        for per_page in [1, 100] {
            let query = format!("per_page={per_page}{query}");
            h.get(user, USERS, &query).await;
            let before = h.statements();
            let list = h.get(user, USERS, &query).await;
            counts.push(h.statements() - before);
            assert_eq!(list.status, 200);
        }
        assert_eq!(counts[0], counts[1], "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn anonymous_callers_see_authors_without_private_fields() {
    let h = Harness::new();
    for (user, query, expected) in [
        (NOBODY, "", vec![1, 3, 4, 2]),
        (SUBSCRIBER, "", vec![1, 3, 4, 2]),
        (NOBODY, "has_published_posts=false", vec![1, 3, 4, 2]),
        (NOBODY, "include=6,7,3", vec![3]),
        (NOBODY, "slug=silent-user", vec![]),
        (NOBODY, "search=silent", vec![]),
        (NOBODY, "search=example.com", vec![]),
        (NOBODY, "search=example&search_columns=email", vec![]),
        (CONTRIBUTOR, "who=authors", vec![1, 3, 4, 5, 2]),
        (ADMIN, "search=example.net", vec![4]),
        (ADMIN, "capabilities=edit_posts,manage_options", vec![1, 3, 4, 5, 2]),
    ] {
        let list = h.get(user, USERS, query).await;
        assert_eq!((list.status, ids(&list.body)), (200, expected.clone()), "{query}");
        assert_eq!(list.header("X-SVC-Total"), Some(expected.len().to_string().as_str()), "{query}");
    }
    for id in 1..=8 {
        let seen = h.get(NOBODY, &format!("{USERS}/{id}"), "").await;
        assert_eq!(seen.status, if id <= 4 { 200 } else { 401 }, "{id}");
        let text = seen.body.to_string();
        for secret in ["@example", "capabilities", "roles", "username", "locale", "$wp$", "password"] {
            assert!(!text.contains(secret), "{id} shows {secret}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn authors_are_visible_through_posts_that_the_caller_may_read() {
    let h = Harness::new();
    let write = |user: i64, post_type: &'static str, status: &'static str| {
        let post = svc_model::Post {
            author: svc_model::UserId(user),
            post_type: post_type.to_owned(),
            status: status.to_owned(),
            ..svc_model::Post::default()
        };
        h.site.store.write_blocking(move |tx| posts::insert(tx, &post)).unwrap()
    };
    write(6, "wp_block", "publish");
    write(7, "nosuch", "publish");
    write(8, "post", "private");
    // Recorded from WordPress: caller, requested user, status.
    for (user, id, status) in [
        (NOBODY, 6, 200),
        (NOBODY, 7, 401),
        (NOBODY, 8, 401),
        (EDITOR, 6, 200),
        (EDITOR, 7, 403),
        (EDITOR, 8, 200),
        (CONTRIBUTOR, 8, 403),
        (7, 7, 200),
    ] {
        assert_eq!(h.get(user, &format!("{USERS}/{id}"), "").await.status, status, "{id} as {user}");
    }
    assert_eq!(ids(&h.get(NOBODY, USERS, "orderby=id").await.body), [1, 2, 3, 4, 6]);
}

#[tokio::test(flavor = "multi_thread")]
async fn email_hashes_are_not_exposed_if_avatars_are_disabled() {
    let h = Harness::new();
    let own = format!("{USERS}/3");
    let avatar_url = h.get(NOBODY, &own, "").await.body["avatar_urls"]["48"].as_str().unwrap().to_owned();
    assert!(avatar_url.ends_with("53ec1df?s=48&d=mm&r=g"), "{avatar_url}");
    h.site.store.write_blocking(|tx| options::set(tx, "show_avatars", &StoredText::of(0), true)).unwrap();
    for context in ["view", "edit"] {
        let user = h.get(ADMIN, &own, &format!("context={context}")).await.body;
        assert_eq!((&user["avatar_urls"], user.to_string().contains("gravatar")), (&Value::Null, false));
    }
    let options = h.json(ADMIN, Method::OPTIONS, USERS, json!({})).await;
    assert_eq!(options.body["schema"]["properties"].get("avatar_urls"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn create_update_and_delete() {
    let h = Harness::new();
    let created = h
        .json(
            ADMIN,
            Method::POST,
            USERS,
            json!({"username": "New.User", "email": "new@example.org", "password": "s3cret phrase", "first_name": "Ann",
                "roles": ["author"], "slug": "admin", "locale": "en_US",
                "meta": {"persisted_preferences": {"a": {"b": 1}}}}),
        )
        .await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    let id = created.body["id"].as_i64().unwrap();
    let own = format!("{USERS}/{id}");
    assert!(created.header("Location").unwrap().ends_with(&own));
    assert_eq!((&created.body["name"], &created.body["slug"]), (&json!("Ann"), &json!("admin-2")));
    assert_eq!(created.body["meta"]["persisted_preferences"], json!({"a": {"b": 1}}));
    assert!(!created.body.to_string().contains("s3cret"), "the password is never returned");
    let stored =
        |key: &'static str| h.site.store.read_blocking(|db| meta::get(db, MetaKind::User, id, key)).unwrap().unwrap();
    assert_eq!(
        (stored("wp_capabilities").as_stored(), stored("wp_user_level").as_stored()),
        (r#"a:1:{s:6:"author";b:1;}"#, "2")
    );
    let hash = || h.site.store.read_blocking(|db| users::get(db, svc_model::UserId(id))).unwrap().unwrap().pass;
    let first = hash();
    assert!(first.starts_with("$wp$2y$10$") && svc_auth::password::verify(&first, b"s3cret phrase"));

    let changed = h
        .json(
            ADMIN,
            Method::PATCH,
            &own,
            json!({"name": "B", "roles": ["editor"], "password": "other", "url": "x.example"}),
        )
        .await;
    assert_eq!(changed.status, 200, "{:?}", changed.body);
    assert_eq!((&changed.body["roles"], &changed.body["url"]), (&json!(["editor"]), &json!("http://x.example")));
    assert!(svc_auth::password::verify(&hash(), b"other"));
    assert_eq!(stored("wp_user_level").text(), "7");
    let cleared = h.json(ADMIN, Method::PATCH, &own, json!({"roles": []})).await;
    assert_eq!((&cleared.body["roles"], &cleared.body["capabilities"]), (&json!([]), &json!({})));
    assert_eq!(stored("wp_capabilities").as_stored(), "a:0:{}");

    let deleted = h.json(ADMIN, Method::DELETE, &own, json!({"force": true, "reassign": false})).await;
    assert_eq!((&deleted.body["deleted"], &deleted.body["previous"]["id"]), (&json!(true), &json!(id)));
    assert_eq!(h.get(ADMIN, &own, "").await.code(), "rest_user_invalid_id");
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_are_reassigned_or_deleted_with_their_author() {
    let statuses_of = |h: &Harness, user: i64, post_type: &'static str| {
        let list = |db: &mut svc_store::Db| {
            let ids = users::posts_of(db, svc_model::UserId(user), &[post_type])?;
            Ok(posts::get_many(db, &ids)?.into_iter().map(|p| p.status).collect::<Vec<_>>())
        };
        h.site.store.read_blocking(list).unwrap()
    };
    let own = format!("{USERS}/{AUTHOR}");
    let h = Harness::new();
    let n_before = statuses_of(&h, ADMIN, "post").len() + statuses_of(&h, AUTHOR, "post").len();
    let response = h.json(ADMIN, Method::DELETE, &own, json!({"force": true, "reassign": ADMIN})).await;
    assert_eq!(response.status, 200, "{:?}", response.body);
    assert_eq!((statuses_of(&h, AUTHOR, "post").len(), statuses_of(&h, ADMIN, "post").len()), (0, n_before));

    // Without `reassign`, posts are trashed; trashed posts and posts of types without trash are deleted; patterns stay.
    let h = Harness::new();
    let posts_before = statuses_of(&h, AUTHOR, "post");
    let response = h.json(ADMIN, Method::DELETE, &own, json!({"force": true, "reassign": ""})).await;
    assert_eq!(response.status, 200, "{:?}", response.body);
    let n_trashed = posts_before.iter().filter(|s| *s == "trash").count();
    assert!(n_trashed > 0);
    assert_eq!(statuses_of(&h, AUTHOR, "post"), vec!["trash".to_owned(); posts_before.len() - n_trashed]);
    assert_eq!((statuses_of(&h, AUTHOR, "attachment").len(), statuses_of(&h, AUTHOR, "book").len()), (0, 0));
    assert_eq!(statuses_of(&h, AUTHOR, "wp_block").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors() {
    let h = Harness::new();
    let new = |more: Value| {
        let mut body = json!({"username": "zz", "email": "zz@example.org", "password": "p"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let (three, me) = (format!("{USERS}/3"), format!("{USERS}/me"));
    let (post, patch, delete) = (Method::POST, Method::PATCH, Method::DELETE);
    #[rustfmt::skip]
    let rows = [
        (NOBODY, &post, USERS, new(json!({})), 401, "rest_cannot_create_user"),
        (EDITOR, &post, USERS, new(json!({})), 403, "rest_cannot_create_user"),
        (ADMIN, &post, USERS, new(json!({"username": "ADMIN"})), 500, "existing_user_login"),
        (ADMIN, &post, USERS, new(json!({"email": "Admin@example.com"})), 500, "existing_user_email"),
        (ADMIN, &post, USERS, new(json!({"username": "a".repeat(61)})), 500, "user_login_too_long"),
        (ADMIN, &post, USERS, new(json!({"username": "bad name!"})), 400, "rest_invalid_param"),
        (ADMIN, &post, USERS, new(json!({"password": "a\\b"})), 400, "rest_invalid_param"),
        (ADMIN, &post, USERS, new(json!({"password": "p".repeat(5000)})), 400, "rest_invalid_param"),
        (ADMIN, &post, USERS, new(json!({"roles": ["editor", "nosuch"]})), 400, "rest_user_invalid_role"),
        (ADMIN, &post, USERS, new(json!({"id": 7})), 400, "rest_user_exists"),
        (ADMIN, &post, USERS, new(json!({"name": "n".repeat(251)})), 400, "rest_invalid_param"),
        (ADMIN, &post, USERS, new(json!({"meta": {"persisted_preferences": 5}})), 400, "rest_invalid_type"),
        (NOBODY, &patch, &three, json!({"name": "x"}), 401, "rest_cannot_edit"),
        (EDITOR, &patch, &three, json!({"name": "x"}), 403, "rest_cannot_edit"),
        (AUTHOR, &patch, &three, json!({"roles": ["administrator"]}), 403, "rest_cannot_edit_roles"),
        (AUTHOR, &patch, &me, json!({"roles": ["author"]}), 403, "rest_cannot_edit_roles"),
        (ADMIN, &patch, &me, json!({"roles": ["editor"]}), 403, "rest_user_invalid_role"),
        (ADMIN, &patch, &three, json!({"email": "admin@example.com"}), 400, "rest_user_invalid_email"),
        (ADMIN, &patch, &three, json!({"slug": "EDITOR1"}), 400, "rest_user_invalid_slug"),
        (ADMIN, &patch, &three, json!({"username": "AUTHOR1"}), 400, "rest_user_invalid_argument"),
        (NOBODY, &patch, &me, json!({"name": "x"}), 404, "rest_user_invalid_id"),
        (NOBODY, &Method::GET, &me, json!({}), 401, "rest_not_logged_in"),
        (EDITOR, &delete, &three, json!({"force": true, "reassign": 1}), 403, "rest_user_cannot_delete"),
        (ADMIN, &delete, &three, json!({"force": true, "reassign": 3}), 400, "rest_user_invalid_reassign"),
        (ADMIN, &delete, &three, json!({"force": true, "reassign": 999}), 400, "rest_user_invalid_reassign"),
        (ADMIN, &delete, &three, json!({"force": true}), 400, "rest_missing_callback_param"),
        (ADMIN, &delete, &three, json!({"reassign": 1}), 501, "rest_trash_not_supported"),
    ];
    for (user, method, route, body, status, code) in rows {
        let response = h.json(user, method.clone(), route, body.clone()).await;
        assert_eq!((response.status, response.code()), (status, code), "{method} {route} {body} as {user}");
    }
    assert_eq!(
        ids(&h.get(ADMIN, USERS, "orderby=id").await.body),
        [1, 2, 3, 4, 5, 6, 7, 8],
        "no user was created or deleted"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn creating_users_does_not_allow_creating_administrators() {
    let h = Harness::new();
    let hirer = |more: &str| {
        let caps = Roles::default().caps_of(&json!({"editor": true, "create_users": true, more: true}));
        Caller::new(svc_model::UserId(EDITOR), caps)
    };
    let send = async |caller: Caller, body: &Value| {
        let served = h.server.serve(Request::new(Method::POST, USERS).with_json(body).with_caller(caller)).await;
        served.status.as_u16()
    };
    let mut body = json!({"username": "zz", "email": "zz@example.org", "password": "p", "roles": ["administrator"]});
    assert_eq!(send(hirer("read"), &body).await, 403);
    assert_eq!(send(hirer("promote_users"), &body).await, 201);
    body = json!({"username": "yy", "email": "yy@example.org", "password": "p"});
    assert_eq!(send(hirer("read"), &body).await, 201);
    let created = h.get(ADMIN, USERS, "slug=yy&context=edit&_fields=roles").await;
    assert_eq!(created.body, json!([{"roles": ["subscriber"]}]));
}

/// A list of authors has users without posts, whose own route is refused to the caller.
#[tokio::test(flavor = "multi_thread")]
async fn links_of_listed_authors_allow_what_the_caller_may_do() {
    let h = Harness::new();
    for (caller, query, hidden) in [(AUTHOR, "who=authors", true), (ADMIN, "who=authors", false), (ADMIN, "", false)] {
        let list = h.get(caller, USERS, query).await.body;
        let found = list.as_array().unwrap().iter().find(|user| user["id"] == 5).unwrap();
        let hints = &found["_links"]["self"][0]["targetHints"];
        assert_eq!(hints.is_null(), hidden, "{caller} {query}: {hints}");
    }
}
