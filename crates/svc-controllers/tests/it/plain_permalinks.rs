//! A site with plain permalinks: REST URLs have their route in a query parameter, and URLs of pages are queries.

use crate::harness::{ADMIN, Harness};
use serde_json::{Value, json};
use svc_controllers::RestSetup;
use svc_model::{PostType, Taxonomy};
use svc_routing::Method;
use svc_site::widgets::sidebar::Sidebar;
use svc_store::options;
use svc_versions::Context;

/// The fixture with this permalink structure and custom post types.
fn site(structure: &'static str) -> Harness {
    Harness::with(move |setup: &mut RestSetup| {
        setup
            .site
            .store
            .write_blocking(move |tx| {
                options::set(tx, "permalink_structure", &svc_store::StoredText::of(structure), true)
            })
            .unwrap();
        let features = ["title", "editor", "author"];
        let public = |name: &str| PostType::new(name).public().rest(&format!("{name}s")).supporting(&features);
        setup.registries.types.register(PostType::new("hidden").rest("hiddens").supporting(&features));
        let mut nested = public("nested").supporting(&["title", "editor", "page-attributes"]);
        nested.hierarchical = true;
        setup.registries.types.register(nested);
        let mut pathless = public("pathless");
        pathless.rewrite_slug = None;
        setup.registries.types.register(pathless);
        let mut library = Taxonomy::new("library", &["book"]).rest("libraries");
        (library.public, library.publicly_queryable, library.query_var) = (false, false, None);
        setup.registries.taxonomies.register(library);
        setup.registries.register_sidebar(Sidebar::new("sidebar-main", "Main"));
    })
}

/// URLs of an item's links with a relation.
fn hrefs(item: &Value, relation: &str) -> Vec<String> {
    let links = item["_links"].as_object().into_iter().flatten();
    let found = links.filter(|(name, _)| name.rsplit([':', '/']).next() == Some(relation));
    found.flat_map(|(_, links)| links.as_array().unwrap()).map(|l| l["href"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_with_query_parameters_is_encoded() {
    let h = site("");
    let root = h.site.settings(&Context::background()).unwrap().urls.rest("");
    let root = root.strip_suffix("?rest_route=/").unwrap();
    let rows = [
        ("posts/1059", "self", "?rest_route=/svc/v2/posts/1059"),
        ("posts/1059", "collection", "?rest_route=/svc/v2/posts"),
        ("posts/1059", "replies", "?rest_route=%2Fsvc%2Fv2%2Fcomments&post=1059"),
        ("posts/1059", "attachment", "?rest_route=%2Fsvc%2Fv2%2Fmedia&parent=1059"),
        ("posts/1059", "term", "?rest_route=%2Fsvc%2Fv2%2Fcategories&post=1059"),
        ("categories/2", "post_type", "?rest_route=%2Fsvc%2Fv2%2Fposts&categories=2"),
        ("statuses/private", "archives", "?rest_route=%2Fsvc%2Fv2%2Fposts&status=private"),
        ("sidebars/sidebar-main", "widget", "?rest_route=%2Fsvc%2Fv2%2Fwidgets&sidebar=sidebar-main"),
        ("menus/30", "post_type", "?rest_route=%2Fsvc%2Fv2%2Fmenu-items&menus=30"),
    ];
    for (route, relation, expected) in rows {
        let response = h.get(ADMIN, &format!("/svc/v2/{route}"), "").await;
        let found = hrefs(&response.body, relation);
        let found = found.first().map(|href| href.strip_prefix(root).unwrap_or(href));
        assert_eq!(found, Some(expected), "{route} {relation}: {}", response.body["_links"]);
    }
    let pages = [
        (
            "/svc/v2/posts",
            "per_page=1&_fields=id,link",
            "?rest_route=%2Fsvc%2Fv2%2Fposts&per_page=1&_fields=id%2Clink&page=2",
        ),
        ("/svc/v2/categories", "per_page=1", "?rest_route=%2Fsvc%2Fv2%2Fcategories&per_page=1&page=2"),
        (
            "/svc-abilities/v1/abilities",
            "per_page=1",
            "?rest_route=%2Fsvc-abilities%2Fv1%2Fabilities&per_page=1&page=2",
        ),
    ];
    for (route, query, expected) in pages {
        let response = h.get(ADMIN, route, query).await;
        let expected = format!("<{root}{expected}>; rel=\"next\"");
        let links: Vec<&str> =
            response.headers.iter().filter(|(name, _)| name == "Link").map(|(_, v)| v.as_str()).collect();
        assert!(links.iter().any(|link| link.contains(&expected)), "{route}: {links:?}");
    }
    // Linked resources can be embedded.
    let embedded = h.get(ADMIN, "/svc/v2/posts/1059", "_embed=replies").await;
    assert_eq!(embedded.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_and_templates_of_custom_types() {
    // Post type, status, then link and permalink template with plain and with pretty permalinks; `{id}` is the post's id.
    type Row = (&'static str, &'static str, [Option<&'static str>; 4]);
    #[rustfmt::skip]
    let rows: [Row; 14] = [
        ("book", "publish", [Some("?book=t"), Some("?book=t"), Some("book/t/"), Some("book/%pagename%/")]),
        ("book", "private", [Some("?book=t"), Some("?book=t"), Some("book/t/"), Some("book/%pagename%/")]),
        ("book", "draft", [Some("?post_type=book&p={id}"), Some("?post_type=book&p={id}"), Some("?post_type=book&p={id}"), Some("book/%pagename%/")]),
        ("book", "pending", [Some("?post_type=book&p={id}"), Some("?post_type=book&p={id}"), Some("?post_type=book&p={id}"), Some("book/%pagename%/")]),
        ("pathless", "publish", [Some("?pathless=t"), Some("?pathless=t"), Some("?pathless=t"), Some("?pathless=t")]),
        ("pathless", "draft", [Some("?post_type=pathless&p={id}"), Some("?post_type=pathless&p={id}"), Some("?post_type=pathless&p={id}"), Some("?post_type=pathless&p={id}")]),
        ("hidden", "publish", [Some("?hidden=t"), None, Some("hidden/t/"), None]),
        ("hidden", "draft", [Some("?post_type=hidden&p={id}"), None, Some("?post_type=hidden&p={id}"), None]),
        ("nested", "publish", [Some("?nested=t"), Some("?nested=t"), Some("nested/t/"), Some("nested/%pagename%/")]),
        ("nested", "child", [Some("?nested=t/child"), Some("?nested=t/child"), Some("nested/t/child/"), Some("nested/t/%pagename%/")]),
        ("post", "publish", [Some("?p={id}"), Some("?p={id}"), Some("t/"), Some("%postname%/")]),
        ("post", "draft", [Some("?p={id}"), Some("?p={id}"), Some("?p={id}"), Some("%postname%/")]),
        ("page", "publish", [Some("?page_id={id}"), Some("?page_id={id}"), Some("t/"), Some("%pagename%/")]),
        ("block", "publish", [Some("?p={id}"), None, Some("t/"), None]),
    ];
    for (structure, at) in [("", 0), ("/%postname%/", 2)] {
        let h = site(structure);
        let home = h.site.settings(&Context::background()).unwrap().urls.site.home_url("/");
        for (name, status, expected) in rows {
            let collection = format!("/svc/v2/{name}s");
            let make = |body: Value| h.json(ADMIN, Method::POST, &collection, body);
            let created = if status == "child" {
                let parent = make(json!({"title": "T", "slug": "t", "status": "publish"})).await.body["id"].clone();
                make(json!({"title": "T", "slug": "child", "status": "publish", "parent": parent})).await
            } else {
                make(json!({"title": "T", "slug": "t", "status": status})).await
            };
            assert_eq!(created.status, 201, "{name} {status}: {:?}", created.body);
            for (field, expected) in ["link", "permalink_template"].into_iter().zip(&expected[at..at + 2]) {
                let id = created.body["id"].to_string();
                let expected = expected.map(|path| format!("{home}{}", path.replace("{id}", &id)));
                assert_eq!(created.body[field].as_str(), expected.as_deref(), "{structure:?} {name} {status} {field}");
            }
            // Deletes the post, so that the next row can use the same slug.
            let deleted = h
                .json(ADMIN, Method::DELETE, &format!("{collection}/{}", created.body["id"]), json!({"force": true}))
                .await;
            assert_eq!(deleted.status, 200);
            if status == "child" {
                h.json(
                    ADMIN,
                    Method::DELETE,
                    &format!("{collection}/{}", created.body["parent"]),
                    json!({"force": true}),
                )
                .await;
            }
        }
        let term = h.json(ADMIN, Method::POST, "/svc/v2/libraries", json!({"name": "aa"})).await.body;
        let expected = if structure.is_empty() { "?taxonomy=library&term=aa" } else { "library/aa/" };
        assert_eq!(term["link"], format!("{home}{expected}"));
    }
}
