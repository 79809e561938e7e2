//! Terms, in process, on the recorded fixture. Its categories: News (2) is the parent of World (3) and archives (8), World
//! of Europe (4) and Asia (7); Uncategorized (1) is the default category.

use crate::harness::{ADMIN, AUTHOR, CONTRIBUTOR, EDITOR, Harness, NOBODY};
use serde_json::{Value, json};
use svc_routing::Method;
use svc_schema::Schema;

const CATEGORIES: &str = "/svc/v2/categories";
const TAGS: &str = "/svc/v2/tags";

fn ids(body: &Value) -> Vec<i64> {
    body.as_array().into_iter().flatten().filter_map(|t| t["id"].as_i64()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn items_match_their_schema_in_every_context() {
    let h = Harness::new();
    for (base, title) in [("categories", "category"), ("tags", "tag"), ("genres", "genre")] {
        let route = format!("/svc/v2/{base}");
        let source = h.json(ADMIN, Method::OPTIONS, &route, json!({})).await.body["schema"].clone();
        assert_eq!(source["title"], title);
        let schema = Schema::compile(source.clone());
        for context in ["view", "embed", "edit"] {
            let list = h.get(ADMIN, &route, &format!("context={context}&per_page=100")).await;
            assert!(list.status == 200 && !ids(&list.body).is_empty(), "{:?}", list.body);
            for item in list.body.as_array().unwrap() {
                let mut item = item.clone();
                item.as_object_mut().unwrap().shift_remove("_links");
                schema.validate(&item, "item").unwrap_or_else(|e| panic!("{base} {context} {}: {e}", item["id"]));
                let fields: Vec<&String> = item.as_object().unwrap().keys().collect();
                for (name, member) in source["properties"].as_object().unwrap() {
                    let visible = member["context"].as_array().unwrap().contains(&json!(context));
                    assert_eq!(fields.contains(&name), visible, "{base} {context} {name}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn query_count_is_independent_of_the_number_of_terms() {
    let h = Harness::new();
    for (user, query) in
        [(NOBODY, ""), (ADMIN, "&context=edit"), (NOBODY, "&hide_empty=1"), (NOBODY, "&orderby=id&order=desc")]
    {
        let mut counts = Vec::new();
        for per_page in [2, 100] {
            let query = format!("per_page={per_page}{query}");
            h.get(user, CATEGORIES, &query).await;
            let before = h.statements();
            let list = h.get(user, CATEGORIES, &query).await;
            counts.push(h.statements() - before);
            assert_eq!(list.status, 200);
        }
        assert_eq!(counts[0], counts[1], "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_equal_those_of_wordpress() {
    let h = Harness::new();
    /// Route, query; ids, total, relations in the Link header.
    type Row = (&'static str, &'static str, &'static [i64], &'static str, &'static [&'static str]);
    #[rustfmt::skip]
    let rows: [Row; 20] = [
        (CATEGORIES, "", &[8, 7, 5, 6, 4, 2, 1, 3], "8", &[]),
        (CATEGORIES, "per_page=3&page=2", &[6, 4, 2], "8", &["prev", "next"]),
        // A page after the last one is empty, not an error.
        (CATEGORIES, "page=9", &[], "8", &["prev"]),
        (CATEGORIES, "search=o", &[4, 1, 3], "3", &[]),
        (CATEGORIES, "search=Caf%C3%A9", &[5], "1", &[]),
        (CATEGORIES, "search=%26", &[5], "1", &[]),
        (CATEGORIES, "search=+", &[8, 7, 5, 6, 4, 2, 1, 3], "8", &[]),
        (CATEGORIES, "include=3,2,3&orderby=include", &[3, 2], "2", &[]),
        (CATEGORIES, "include=2,3&exclude=2", &[2, 3], "2", &[]),
        (CATEGORIES, "include=10", &[], "0", &[]),
        (CATEGORIES, "parent=0", &[5, 6, 2, 1], "4", &[]),
        (CATEGORIES, "parent=3&post=1025", &[4], "1", &[]),
        (CATEGORIES, "post=1002&per_page=1&page=2", &[3], "2", &["prev"]),
        (CATEGORIES, "slug=world,alpha,news&orderby=include_slugs&order=asc", &[3, 2], "2", &[]),
        (CATEGORIES, "slug=W%C3%B6rld", &[3], "1", &[]),
        (CATEGORIES, "hide_empty=true", &[7, 5, 6, 4, 2, 1, 3], "7", &[]),
        (CATEGORIES, "orderby=term_group&order=desc&offset=2", &[8, 7, 6, 5, 4, 3, 2, 1], "8", &[]),
        (TAGS, "offset=2&per_page=2", &[11, 14], "8", &["prev", "next"]),
        (TAGS, "offset=-1", &[10, 11, 14, 12, 15, 17, 13], "8", &[]),
        (TAGS, "parent=5&orderby=count&order=desc&per_page=4", &[10, 11, 12, 14], "8", &["next"]),
    ];
    for (route, query, expected, total, relations) in rows {
        let list = h.get(NOBODY, route, query).await;
        assert_eq!((list.status, ids(&list.body)), (200, expected.to_vec()), "{query}");
        assert_eq!(list.header("X-SVC-Total"), Some(total), "{query}");
        let link = list.header("Link").unwrap_or_default();
        for relation in ["prev", "next"] {
            assert_eq!(link.contains(&format!("rel=\"{relation}\"")), relations.contains(&relation), "{query}: {link}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_ancestors_are_listed_but_not_counted() {
    let h = Harness::new();
    let moved = h.json(ADMIN, Method::PATCH, &format!("{CATEGORIES}/7"), json!({"parent": 8})).await;
    assert_eq!(moved.body["parent"], 8);
    for (query, expected, total) in [
        ("", &[8, 7, 5, 6, 4, 2, 1, 3][..], "7"),
        ("&per_page=3&page=3", &[1, 3], "7"),
        ("&parent=2", &[8, 3], "1"),
        ("&exclude=7", &[8, 5, 6, 4, 2, 1, 3], "6"),
        ("&slug=archives-2", &[8], "0"),
    ] {
        let list = h.get(NOBODY, CATEGORIES, &format!("hide_empty=1{query}")).await;
        assert_eq!((ids(&list.body).as_slice(), list.header("X-SVC-Total")), (expected, Some(total)), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_by_role() {
    let h = Harness::new();
    let (news, alpha) = (format!("{CATEGORIES}/2"), format!("{TAGS}/10"));
    let (name, force) = (json!({"name": "N"}), json!({"force": true}));
    // Method, route, body; error codes for an anonymous caller, a contributor and an editor ("" is success).
    #[rustfmt::skip]
    let rows = [
        (Method::GET, CATEGORIES, json!({"context": "edit"}), ["rest_forbidden_context", "rest_forbidden_context", ""]),
        (Method::GET, &news, json!({"context": "edit"}), ["rest_forbidden_context", "rest_forbidden_context", ""]),
        (Method::GET, &news, json!({}), ["", "", ""]),
        (Method::POST, CATEGORIES, name.clone(), ["rest_cannot_create", "rest_cannot_create", ""]),
        // Users who may assign tags may create them.
        (Method::POST, TAGS, name.clone(), ["rest_cannot_create", "", "term_exists"]),
        (Method::PATCH, &alpha, json!({}), ["rest_cannot_update", "rest_cannot_update", ""]),
        (Method::DELETE, &news, json!({}), ["rest_cannot_delete", "rest_cannot_delete", "rest_trash_not_supported"]),
        (Method::DELETE, &news, force.clone(), ["rest_cannot_delete", "rest_cannot_delete", ""]),
        (Method::GET, &news, json!({}), ["rest_term_invalid", "rest_term_invalid", "rest_term_invalid"]),
        (Method::DELETE, "/svc/v2/categories/1", force.clone(), ["rest_cannot_delete", "rest_cannot_delete", "rest_cannot_delete"]),
        // A term of another taxonomy, and an id that does not exist.
        (Method::GET, "/svc/v2/categories/10", json!({}), ["rest_term_invalid", "rest_term_invalid", "rest_term_invalid"]),
        (Method::PATCH, "/svc/v2/categories/0", json!({}), ["rest_term_invalid", "rest_term_invalid", "rest_term_invalid"]),
        // Listing a post's terms requires access to the post: a missing post, a draft, a page.
        (Method::GET, TAGS, json!({"post": 999_999}), ["rest_post_invalid_id", "rest_post_invalid_id", "rest_post_invalid_id"]),
        (Method::GET, TAGS, json!({"post": 1016}), ["rest_forbidden_context", "rest_forbidden_context", ""]),
        (Method::GET, TAGS, json!({"post": 1100}), ["rest_forbidden_context", "rest_forbidden_context", "rest_forbidden_context"]),
    ];
    for (method, route, body, codes) in rows {
        for (user, code) in [NOBODY, CONTRIBUTOR, EDITOR].into_iter().zip(codes) {
            let query: String = body.as_object().unwrap().iter().map(|(k, v)| format!("&{k}={v}")).collect();
            let response = match method {
                Method::GET => h.get(user, route, &query.replace('"', "")).await,
                _ => h.json(user, method.clone(), route, body.clone()).await,
            };
            assert_eq!(response.code(), code, "{user} {method} {route} {body}: {:?}", response.body);
            if response.code().starts_with("rest_cannot") || response.code() == "rest_forbidden_context" {
                assert_eq!(response.status, if user == NOBODY { 401 } else { 403 }, "{user} {method} {route}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_slugs_of_new_terms() {
    let h = Harness::new();
    let exists =
        |id: i64| json!({"code": "term_exists", "data": {"status": 400, "term_id": id}, "additional_data": [id, id]});
    let created = |name: &str, slug: &str| json!({"name": name, "slug": slug});
    let long = "x".repeat(201);
    // Requests in sequence on one site; name and slug, or the error. Recorded from WordPress.
    #[rustfmt::skip]
    let rows = [
        (CATEGORIES, json!({"name": "News"}), exists(2)),
        (CATEGORIES, json!({"name": "news"}), exists(2)),
        (CATEGORIES, json!({"name": "News", "slug": "other-news"}), created("News", "other-news")),
        (CATEGORIES, json!({"name": "N\u{c9}WS"}), created("N\u{c9}WS", "news-2")),
        (CATEGORIES, json!({"name": "News", "parent": 3}), created("News", "news-world")),
        (CATEGORIES, json!({"name": "World"}), created("World", "world-2")),
        (CATEGORIES, json!({"name": "World", "parent": 2}), exists(3)),
        (CATEGORIES, json!({"name": "World", "slug": "zzz", "parent": 2}), created("World", "zzz")),
        (CATEGORIES, json!({"name": "Neu", "slug": "world", "parent": 2}), created("Neu", "world-news")),
        (CATEGORIES, json!({"name": "Caf\u{e9} & Th\u{e9}"}), exists(5)),
        // A slug may be used by another taxonomy.
        (CATEGORIES, json!({"name": "A", "slug": "alpha"}), created("A", "alpha")),
        (CATEGORIES, json!({"name": "S", "slug": "Bad Slug!"}), created("S", "bad-slug")),
        (CATEGORIES, json!({"name": "0"}), created("0", "0")),
        (CATEGORIES, json!({"name": "   "}), json!({"code": "empty_term_name", "data": null})),
        (CATEGORIES, json!({"name": "<b></b>"}), json!({"code": "empty_term_name", "data": null})),
        (CATEGORIES, json!({"name": long}), json!({"code": "db_insert_error"})),
        (CATEGORIES, json!({"name": null}), json!({"code": "rest_missing_callback_param"})),
        (CATEGORIES, json!({"name": "P", "parent": 999}), json!({"code": "rest_term_invalid", "data": {"status": 400}})),
        (CATEGORIES, json!({"name": "P", "parent": -2}), json!({"code": "rest_term_invalid", "data": {"status": 400}})),
        (CATEGORIES, json!({"name": "P", "parent": 10}), json!({"code": "rest_term_invalid", "data": {"status": 400}})),
        (CATEGORIES, json!({"name": "P", "parent": null}), created("P", "p")),
        (TAGS, json!({"name": "ALPHA"}), exists(10)),
        (TAGS, json!({"name": "alpha", "slug": "world"}), exists(10)),
        (TAGS, json!({"name": "alpha", "slug": "0"}), exists(10)),
        (TAGS, json!({"name": "alpha", "slug": "other"}), created("alpha", "other")),
        (TAGS, json!({"name": "Neu", "slug": "alpha"}), created("Neu", "alpha-2")),
        (TAGS, json!({"name": "P", "parent": 0}), json!({"code": "rest_taxonomy_not_hierarchical", "data": {"status": 400}})),
        (TAGS, json!({"name": "P", "parent": "x"}), json!({"code": "rest_taxonomy_not_hierarchical", "data": {"status": 400}})),
    ];
    for (route, body, expected) in rows {
        let response = h.json(ADMIN, Method::POST, route, body.clone()).await;
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&response.body[name], value, "{body} {name}: {:?}", response.body);
        }
        let is_made = expected.get("slug").is_some();
        assert_eq!((response.status == 201, response.header("Location").is_some()), (is_made, is_made), "{body}");
    }
    // A name without letters has no slug of its own, so the slug is the id.
    let numbered = h.json(ADMIN, Method::POST, CATEGORIES, json!({"name": "!!!"})).await;
    assert_eq!(numbered.body["slug"], numbered.body["id"].to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_differ_only_in_case_require_different_slugs() {
    let h = Harness::new();
    let post = async |body: Value| h.json(ADMIN, Method::POST, CATEGORIES, body).await.body;
    let first = post(json!({"name": "Foo", "slug": "bar"})).await["id"].clone();
    assert_eq!(post(json!({"name": "foo"})).await["slug"], "foo");
    assert_eq!(post(json!({"name": "FOO", "slug": "bar"})).await["data"]["term_id"], first);
    assert_eq!(post(json!({"name": "FOO", "slug": "news"})).await["data"]["term_id"], 2);
    // The slug is taken, but not among the new term's siblings.
    assert_eq!(post(json!({"name": "Foo", "slug": "asia"})).await["slug"], "asia-2");
}

#[tokio::test(flavor = "multi_thread")]
async fn term_updates() {
    let h = Harness::new();
    // Updates in sequence on one site: term, request body, expected response.
    #[rustfmt::skip]
    let rows = [
        ("categories/5", json!({"name": "World"}), json!({"name": "World", "slug": "cafe-the"})),
        ("categories/5", json!({"slug": "world"}), json!({"code": "duplicate_term_slug", "data": null})),
        // A new parent may change the slug.
        ("categories/5", json!({"slug": "asia", "parent": 3}), json!({"slug": "asia-world", "parent": 3})),
        ("categories/5", json!({"slug": ""}), json!({"slug": "world-world"})),
        ("categories/5", json!({"parent": null, "description": null}), json!({"parent": 0, "description": ""})),
        ("categories/5", json!({"name": "<b></b>"}), json!({"code": "empty_term_name"})),
        ("categories/5", json!({"name": "y".repeat(201), "slug": "zz", "description": "d"}), json!({"name": "World", "slug": "world-world", "description": "d"})),
        ("categories/5", json!({"name": "0"}), json!({"name": "0"})),
        // A term cannot be its own ancestor.
        ("categories/2", json!({"parent": 2}), json!({"parent": 0})),
        ("categories/3", json!({"parent": 4}), json!({"parent": 0})),
        ("categories/4", json!({"parent": 7}), json!({"parent": 7})),
        ("categories/4", json!({"parent": 999}), json!({"code": "rest_term_invalid", "data": {"status": 400}})),
        // Read-only fields are ignored.
        ("categories/4", json!({"taxonomy": "post_tag", "count": 9, "link": "x"}), json!({"taxonomy": "category", "count": 7})),
        ("tags/16", json!({"slug": "", "name": "!!!"}), json!({"slug": "16", "name": "!!!"})),
        ("tags/16", json!({"slug": "alpha"}), json!({"code": "duplicate_term_slug"})),
        ("tags/16", json!({"slug": "", "name": "alpha"}), json!({"slug": "alpha-2"})),
        ("tags/16", json!({"parent": null}), json!({"id": 16})),
        ("tags/16", json!({"parent": 0}), json!({"code": "rest_taxonomy_not_hierarchical"})),
    ];
    for (term, body, expected) in rows {
        let response = h.json(ADMIN, Method::PATCH, &format!("/svc/v2/{term}"), body.clone()).await;
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&response.body[name], value, "{term} {body} {name}: {:?}", response.body);
        }
    }
}

/// PHP takes the slug 0 for none, whether it is stored or in the request.
#[tokio::test(flavor = "multi_thread")]
async fn an_update_makes_the_slug_0_anew_from_the_name() {
    let h = Harness::new();
    let created = h.json(ADMIN, Method::POST, TAGS, json!({"name": "0"})).await.body;
    assert_eq!(created["slug"], "0");
    let route = format!("{TAGS}/{}", created["id"]);
    for (change, slug) in [(json!({"name": "Zed's café"}), "zeds-cafe"), (json!({"slug": "0", "name": "New"}), "new")]
    {
        assert_eq!(h.json(ADMIN, Method::PUT, &route, change.clone()).await.body["slug"], slug, "{change}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn meta_is_stored_after_its_term() {
    let h = Harness::new();
    let created = h.json(ADMIN, Method::POST, CATEGORIES, json!({"name": "M", "meta": {"fx_rank": "x"}})).await;
    assert_eq!((created.status, created.code()), (400, "rest_invalid_type"), "{:?}", created.body);
    assert_eq!(created.body["additional_data"], json!([{"param": "meta.fx_rank"}]));
    // The term was created, as in WordPress.
    let list = h.get(NOBODY, CATEGORIES, "slug=m").await;
    assert_eq!((list.body[0]["name"].as_str(), &list.body[0]["meta"]["fx_rank"]), (Some("M"), &json!(0)));

    let own = format!("{CATEGORIES}/{}", list.body[0]["id"]);
    #[rustfmt::skip]
    let rows = [
        (json!({"fx_rank": 4, "fx_any_term": true, "unknown": 1}), 200, json!({"fx_any_term": true, "fx_rank": 4})),
        (json!({"fx_rank": null}), 200, json!({"fx_any_term": true, "fx_rank": 0})),
        // No value is stored any more, and a missing value is not a number.
        (json!({"fx_rank": null}), 500, json!("rest_invalid_stored_value")),
        (json!("x"), 400, json!("rest_invalid_param")),
        (json!([]), 200, json!({"fx_any_term": true, "fx_rank": 0})),
    ];
    for (meta, status, expected) in rows {
        let response = h.json(ADMIN, Method::PATCH, &own, json!({"meta": meta})).await;
        let found = if status == 200 { &response.body["meta"] } else { &response.body["code"] };
        assert_eq!((response.status, found), (status, &expected), "{meta}");
    }
    // Users who may create a tag need the permission to edit it to set its meta.
    let tag = h.json(CONTRIBUTOR, Method::POST, TAGS, json!({"name": "T", "meta": {"fx_any_term": true}})).await;
    assert_eq!((tag.status, tag.code(), &tag.body["data"]["key"]), (403, "rest_cannot_update", &json!("fx_any_term")));
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_category_moves_children_up_and_posts_to_the_default() {
    let h = Harness::new();
    let posts = |category: i64| format!("categories={category}&per_page=100&_fields=id");
    let had = ids(&h.get(ADMIN, "/svc/v2/posts", &posts(2)).await.body);
    let deleted = h.json(EDITOR, Method::DELETE, &format!("{CATEGORIES}/2"), json!({"force": true})).await;
    assert_eq!((deleted.status, &deleted.body["deleted"]), (200, &json!(true)));
    assert_eq!((&deleted.body["previous"]["name"], deleted.body["previous"].get("_links")), (&json!("News"), None));
    assert_eq!(deleted.header("Allow"), None, "a deleted term allows no methods");

    let world = h.get(NOBODY, &format!("{CATEGORIES}/3"), "").await;
    assert_eq!(world.body["parent"], 0);
    assert!(world.body["link"].as_str().unwrap().ends_with("/category/world/"), "{}", world.body["link"]);
    let default = h.get(NOBODY, &format!("{CATEGORIES}/1"), "").await;
    let left = ids(&h.get(ADMIN, "/svc/v2/posts", &posts(1)).await.body);
    assert_eq!((default.body["count"].as_i64(), left.len()), (Some(20), 20));
    assert!(had.iter().any(|id| left.contains(id)));
}

#[tokio::test(flavor = "multi_thread")]
async fn links_of_terms_depend_on_hierarchy_and_permissions() {
    let h = Harness::new();
    let hrefs = |body: &Value, relation: &str| -> Vec<String> {
        let links = body["_links"][relation].as_array().cloned().unwrap_or_default();
        links.iter().filter_map(|l| Some(l["href"].as_str()?.split_once("/svc-json")?.1.to_owned())).collect()
    };
    let all = json!(["GET", "POST", "PUT", "PATCH", "DELETE"]);
    for (user, id, allow) in [
        (NOBODY, 3, json!(["GET"])),
        (AUTHOR, 3, json!(["GET"])),
        (EDITOR, 3, all.clone()),
        // The default category cannot be deleted.
        (EDITOR, 1, json!(["GET", "POST", "PUT", "PATCH"])),
    ] {
        let term = h.get(user, &format!("{CATEGORIES}/{id}"), "").await.body;
        assert_eq!(term["_links"]["self"][0]["targetHints"]["allow"], allow, "{user} {id}");
        assert_eq!(hrefs(&term, "collection"), [CATEGORIES]);
        assert_eq!(hrefs(&term, "about"), ["/svc/v2/taxonomies/category"]);
        assert_eq!(hrefs(&term, "svc:post_type"), [format!("/svc/v2/posts?categories={id}")]);
        let up: Vec<String> = if id == 3 { vec![format!("{CATEGORIES}/2")] } else { Vec::new() };
        assert_eq!(hrefs(&term, "up"), up);
    }
    let embedded = h.get(NOBODY, &format!("{CATEGORIES}/4"), "_embed=up&_fields=id,link,_links,_embedded").await.body;
    assert_eq!(embedded["_embedded"]["up"][0]["slug"], "world");
    assert!(embedded["link"].as_str().unwrap().ends_with("/category/news/world/europe/"), "{}", embedded["link"]);
    // Responses to writes use the edit context, so Allow lacks GET for users who may not edit.
    let tag = h.json(CONTRIBUTOR, Method::POST, TAGS, json!({"name": "T"})).await;
    assert_eq!((tag.status, tag.header("Allow")), (201, Some("POST")));
    assert_eq!(tag.body["_links"]["self"][0]["targetHints"]["allow"], json!(["GET"]));
    let tag = h.json(EDITOR, Method::POST, TAGS, json!({"name": "T2"})).await;
    assert_eq!(tag.header("Allow"), Some("GET, POST"));
}
