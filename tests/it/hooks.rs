//! Every hook has an effect on a served site. A hook without a row here fails the test.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};
use svc_server::{
    Extension, Plugin, SiteBuilder,
    controllers::search::filter_handlers,
    routing::{BoxFuture, DependsOn, Dispatch, ExtraField, Registry, Request, Response, Result, Route, get, public},
};

use crate::{
    client::send,
    site::{Site, basic},
};

/// The names of the hooks on requests and responses, from the source of their methods.
fn request_hooks() -> Vec<&'static str> {
    let source = include_str!("../../crates/svc-routing/src/registry/hooks.rs");
    let functions = source.lines().filter_map(|line| line.strip_prefix("    pub fn ")?.split(['(', '<']).next());
    // Declares what a hook depends on.
    functions.filter(|name| *name != "depends_on").collect()
}

/// The names of the hooks on URLs.
fn url_hooks() -> Vec<&'static str> {
    // A new field does not compile until it is added to the list.
    let svc_permalinks::UrlHooks {
        rest_url_prefix: _,
        rest_url: _,
        rest_route_for_post: _,
        rest_route_for_term: _,
        rest_queried_resource_route: _,
        rest_avatar_sizes: _,
    } = svc_permalinks::UrlHooks::default();
    vec![
        "rest_url_prefix",
        "rest_url",
        "rest_route_for_post",
        "rest_route_for_term",
        "rest_queried_resource_route",
        "rest_avatar_sizes",
    ]
}

/// Extension points that are not methods of a hooks type.
const OTHERS: [&str; 1] = ["search_handlers"];

/// The only origin that the hook `pre_serve` allows.
const ALLOWED_ORIGIN: &str = "https://only.example";

struct Marked(Arc<dyn Dispatch>);

impl Dispatch for Marked {
    fn dispatch(&self, req: Request) -> BoxFuture<Response> {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { inner.dispatch(req).await.header("X-Acme", "server") })
    }
}

async fn ping(_: Request) -> Result {
    Ok(Response::new("pong"))
}

/// Registers the hook with this name.
fn on_registry(name: &str, registry: &mut Registry) {
    let hooks = &mut registry.hooks;
    match name {
        "init" => hooks.init(10, |registry| {
            registry.route("acme/v1", Route::new("/ping").endpoint(get(ping, public))).unwrap();
        }),
        "server" => drop(hooks.server(10, |inner| Arc::new(Marked(inner)))),
        "pre_dispatch" => drop(hooks.pre_dispatch(10, |req| {
            let is_tea = req.route() == "/tea";
            Box::pin(async move { is_tea.then(|| Ok(Response::new("short and stout").status(418))) })
        })),
        "post_dispatch" => drop(hooks.post_dispatch(10, |res, _| res.header("X-Acme", "post_dispatch"))),
        "pre_serve" => hooks
            .pre_serve(10, |served, _| {
                served.headers.set("X-Acme", "pre_serve");
                if served.headers.get("Access-Control-Allow-Origin").is_some_and(|origin| origin != ALLOWED_ORIGIN) {
                    served.headers.remove("Access-Control-Allow-Origin");
                    served.headers.remove("Access-Control-Allow-Credentials");
                }
                None
            })
            .depends_on(DependsOn::Nothing),
        "index" => drop(hooks.index(10, |mut res, _| async move {
            res.data["acme"] = true.into();
            res
        })),
        "search_handlers" => filter_handlers(registry, 10, |mut all| {
            all.retain(|handler| handler.kind() == "post");
            all
        }),
        _ => {}
    }
}

/// Adds the filter with this name.
fn on_urls(name: &str, hooks: &mut svc_permalinks::UrlHooks) {
    match name {
        "rest_url_prefix" => hooks.rest_url_prefix.add(10, Arc::new(|_| "api".to_owned())),
        "rest_url" => hooks.rest_url.add(
            10,
            Arc::new(|url, parts| {
                let separator = if url.contains('?') { '&' } else { '?' };
                format!("{url}{separator}v={}", parts.blog_id)
            }),
        ),
        "rest_route_for_post" => {
            hooks.rest_route_for_post.add(10, Arc::new(|route, id, kind| format!("{route}/x-{kind}-{id}")));
        }
        "rest_route_for_term" => {
            hooks.rest_route_for_term.add(10, Arc::new(|route, id, kind| format!("{route}/x-{kind}-{id}")));
        }
        "rest_queried_resource_route" => {
            hooks.rest_queried_resource_route.add(10, Arc::new(|route| route.replace("/v2/", "/v3/")));
        }
        "rest_avatar_sizes" => {
            // In order of priority: the last filter doubles what the first one has returned.
            hooks.rest_avatar_sizes.add(20, Arc::new(|sizes| sizes.iter().map(|size| size * 2).collect()));
            hooks.rest_avatar_sizes.add(10, Arc::new(|sizes| vec![sizes[0], 16]));
        }
        _ => {}
    }
}

/// A site with the hook of this name.
fn site_with(name: &'static str) -> SiteBuilder {
    let builder = SiteBuilder::new().register(move |registry, _| on_registry(name, registry));
    builder.prepare(move |setup| on_urls(name, &mut setup.registries.url_hooks))
}

/// An extension with the hook of this name.
struct Acme(&'static str);

impl Extension for Acme {
    fn about(&self) -> Plugin {
        Plugin { file: "acme".to_owned(), name: "Acme".to_owned(), ..Plugin::default() }
    }

    fn register(&self, registry: &mut Registry, _: &Arc<svc_server::Site>) {
        on_registry(self.0, registry);
    }

    fn filters(&self, hooks: &mut svc_permalinks::UrlHooks) {
        on_urls(self.0, hooks);
    }
}

/// All `href`s of the REST API in a value. Links to other pages are omitted.
fn hrefs<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                match value.as_str() {
                    Some(href) if name == "href" && !href.contains("{rel}") && !href.contains("developer.") => {
                        found.push(href);
                    }
                    _ => hrefs(value, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| hrefs(value, found)),
        _ => {}
    }
}

/// The URLs of the API in links of items, embeds, descriptions, the index, headers and documents all have this form.
async fn links_have_form(site: &Site, prefix: &str, is_of_form: impl Fn(&str) -> bool) {
    let index = site.get(&format!("/{prefix}/")).await;
    assert_eq!(index.status, 200, "{}", index.body);
    let home = index.json()["home"].as_str().unwrap().to_owned();
    let posts = site.get(&format!("/{prefix}/svc/v2/posts?_embed")).await;
    let described = send(site.address, "OPTIONS", &format!("/{prefix}/svc/v2/posts"), &[], "").await;
    assert_eq!(posts.json()[0]["_embedded"]["author"][0]["id"], 1, "{}", posts.body);
    assert_eq!(posts.json()[0]["_links"]["self"][0]["targetHints"]["allow"], json!(["GET"]));
    let mut n_checked = 0;
    for response in [&index, &posts, &described] {
        let body = response.json();
        let mut found = Vec::new();
        hrefs(&body, &mut found);
        for href in found.iter().filter(|href| href.starts_with(&home) && !href.contains("/wp-content/")) {
            assert!(is_of_form(href.strip_prefix(&home).unwrap()), "{href}");
            n_checked += 1;
        }
    }
    assert!(n_checked > 20, "{n_checked}");
    let page = site.get(posts.json()[0]["link"].as_str().unwrap().strip_prefix(&home).unwrap()).await;
    let announced = page.all("link").into_iter().chain(index.all("link"));
    let announced: Vec<&str> = announced.filter_map(|link| link.strip_prefix('<')?.split('>').next()).collect();
    assert!(announced.len() >= 3, "{announced:?}");
    for link in announced.iter().filter(|link| !link.contains("?p=")) {
        assert!(is_of_form(link.strip_prefix(&home).unwrap()), "{link}");
    }
    let rsd = site.get("/xmlrpc.php?rsd").await.body;
    let root = rsd.split("apiLink=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(is_of_form(root.strip_prefix(&home).unwrap()), "{root}");
}

/// The `alternate` link in the header of the page of an object, or of the first one in a list.
async fn alternate(site: &Site, collection: &str) -> String {
    let items = site.get(&format!("/svc-json/svc/v2/{collection}")).await.json();
    let item = if items.is_array() { &items[0] } else { &items };
    let link = item["link"].as_str().unwrap();
    let path = link.splitn(4, '/').nth(3).unwrap();
    let page = site.get(&format!("/{path}")).await;
    page.all("link").into_iter().find(|link| link.contains("\"alternate\"")).unwrap_or_default().to_owned()
}

/// The `self` link of the first result of a search.
async fn found(site: &Site, kind: &str, subtype: &str) -> String {
    let results = site.get(&format!("/svc-json/svc/v2/search?type={kind}&subtype={subtype}")).await.json();
    results[0]["_links"]["self"][0]["href"].as_str().unwrap_or_default().to_owned()
}

/// Creates an object as the administrator; returns its id and the header `Location`.
async fn create(site: &Site, user: &str, collection: &str, body: Value) -> (Value, String) {
    let response = site.post(&format!("/svc-json/svc/v2/{collection}"), user, &body).await;
    assert_eq!(response.status, 201, "{}", response.body);
    (response.json()["id"].clone(), response.header("location").to_owned())
}

/// The links of an object as the administrator reads it: relation and URL below the API root.
async fn links_of(site: &Site, user: &str, path: &str) -> Vec<(String, String)> {
    let authorization = basic(user);
    let path = format!("/svc-json/svc/v2/{path}");
    let response = send(site.address, "GET", &path, &[("Authorization", &authorization)], "").await;
    assert_eq!(response.status, 200, "{path}: {}", response.body);
    let (body, root) = (response.json(), format!("http://{}/svc-json/svc/v2/", site.address));
    let object = if body.is_array() { &body[0] } else { &body };
    let relations = object["_links"].as_object().unwrap().iter().filter(|(name, _)| *name != "curies");
    let all =
        relations.flat_map(|(name, links)| links.as_array().unwrap().iter().map(move |link| (name.clone(), link)));
    all.map(|(name, link)| (name, link["href"].as_str().unwrap().strip_prefix(&root).unwrap().to_owned())).collect()
}

#[track_caller]
fn has_link(links: &[(String, String)], relation: &str, path: &str) {
    let found: Vec<_> = links.iter().filter(|(name, _)| name == relation).map(|(_, path)| path.as_str()).collect();
    assert_eq!(found, [path], "{relation}: {links:?}");
}

/// Every link to a post has the route that the filter returns.
async fn routes_of_posts(site: &Site) {
    let (user, root) = (site.app_password(), format!("http://{}/svc-json/svc/v2", site.address));
    let (media, media_location) = {
        let image = crate::tls::upload(site, &user).await;
        (image["id"].clone(), format!("{root}/media/{0}/x-attachment-{0}", image["id"]))
    };
    let (parent, _) = create(site, &user, "pages", json!({"title": "Parent", "status": "publish"})).await;
    let (page, location) = create(
        site,
        &user,
        "pages",
        json!({"title": "Child", "status": "publish", "parent": parent, "featured_media": media}),
    )
    .await;
    assert_eq!(location, format!("{root}/pages/{page}/x-page-{page}"));
    let own = links_of(site, &user, &format!("pages/{page}?context=edit")).await;
    has_link(&own, "self", &format!("pages/{page}/x-page-{page}"));
    has_link(&own, "svc:action-publish", &format!("pages/{page}/x-page-{page}"));
    has_link(&own, "up", &format!("pages/{parent}/x-page-{parent}"));
    has_link(&own, "svc:featuredmedia", &media_location[root.len() + 1..]);
    has_link(&own, "collection", "pages");
    has_link(&own, "version-history", &format!("pages/{page}/revisions"));
    let (attached, _) = create(site, &user, "pages", json!({"title": "Holder", "status": "publish"})).await;
    let moved = site.post(&format!("/svc-json/svc/v2/media/{media}"), &user, &json!({"post": attached})).await;
    assert_eq!(moved.status, 200, "{}", moved.body);
    let attachment = links_of(site, &user, &format!("media/{media}")).await;
    has_link(&attachment, "svc:attached-to", &format!("pages/{attached}/x-page-{attached}"));
    let changed = site.post(&format!("/svc-json/svc/v2/pages/{page}"), &user, &json!({"content": "Changed"})).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    let revision = links_of(site, &user, &format!("pages/{page}/revisions")).await;
    has_link(&revision, "parent", &format!("pages/{page}/x-page-{page}"));
    has_link(&links_of(site, &user, "comments/1").await, "up", "posts/1/x-post-1");
    let item = json!({"title": "Item", "object": "page", "object_id": page, "type": "post_type", "status": "publish"});
    let (item, location) = create(site, &user, "menu-items", item).await;
    assert_eq!(location, format!("{root}/menu-items/{item}"));
    let item_links = links_of(site, &user, &format!("menu-items/{item}")).await;
    has_link(&item_links, "self", &format!("menu-items/{item}/x-nav_menu_item-{item}"));
    has_link(&item_links, "svc:menu-item-object", &format!("pages/{page}/x-page-{page}"));
    let announced = format!("<{root}/posts/1/x-post-1>; rel=\"alternate\"; title=\"JSON\"; type=\"application/json\"");
    assert_eq!(alternate(site, "posts/1").await, announced);
    assert_eq!(found(site, "post", "post").await, format!("{root}/posts/1/x-post-1"));
}

/// Every link to a term has the route that the filter returns.
async fn routes_of_terms(site: &Site) {
    let (user, root) = (site.app_password(), format!("http://{}/svc-json/svc/v2", site.address));
    let (child, location) = create(site, &user, "categories", json!({"name": "Child", "parent": 1})).await;
    assert_eq!(location, format!("{root}/categories/{child}"));
    let own = links_of(site, &user, &format!("categories/{child}")).await;
    has_link(&own, "self", &format!("categories/{child}/x-category-{child}"));
    has_link(&own, "up", "categories/1/x-category-1");
    has_link(&own, "collection", "categories");
    let item =
        json!({"title": "Item", "object": "category", "object_id": child, "type": "taxonomy", "status": "publish"});
    let (item, _) = create(site, &user, "menu-items", item).await;
    let object = format!("categories/{child}/x-category-{child}");
    has_link(&links_of(site, &user, &format!("menu-items/{item}")).await, "svc:menu-item-object", &object);
    let announced =
        format!("<{root}/categories/1/x-category-1>; rel=\"alternate\"; title=\"JSON\"; type=\"application/json\"");
    assert_eq!(alternate(site, "categories/1").await, announced);
    // Terms are listed by name.
    assert_eq!(found(site, "term", "category").await, format!("{root}/{object}"));
}

/// The whole URL of an API path is changed, and only once: each link is the link without the filter, with a further parameter.
#[tokio::test(flavor = "multi_thread")]
async fn the_url_filter_changes_the_url_of_each_path() {
    let settings = [("environment", "local"), ("site_url", "http://site.example")];
    let start = async |builder: &SiteBuilder| {
        let site = Site::start_in(tempfile::tempdir().unwrap(), builder, &settings).await;
        let user = site.app_password();
        let (parent, _) = create(&site, &user, "pages", json!({"title": "Parent", "status": "publish"})).await;
        create(&site, &user, "pages", json!({"title": "Child", "status": "publish", "parent": parent})).await;
        create(&site, &user, "categories", json!({"name": "Child", "parent": 1})).await;
        create(&site, &user, "posts", json!({"title": "Second", "status": "publish"})).await;
        (site, user)
    };
    let ((plain, plain_user), (filtered, filtered_user)) =
        (start(&SiteBuilder::new()).await, start(&site_with("rest_url")).await);
    let expected = |url: &str| match url.split_once('?') {
        Some((url, query)) => format!("{url}?v=1&{query}"),
        None => format!("{url}?v=1"),
    };
    let mut n_checked = 0;
    #[rustfmt::skip]
    let routes = [
        "/posts?context=edit", "/posts/1?context=edit", "/posts?per_page=1&page=1", "/pages", "/categories", "/tags", "/users",
        "/users/1", "/comments", "/comments/1", "/media", "/types", "/types/post", "/taxonomies", "/taxonomies/category",
        "/statuses", "/themes", "/templates", "/search", "/search?type=term", "/block-types?namespace=core", "/widget-types",
        "/sidebars", "/font-collections?_fields=_links", "/menu-locations", "/block-directory", "/navigation-fallback",
        "/posts/1/revisions", "/global-styles/themes/svc", "/icons?per_page=1", "/plugins",
    ];
    for method in ["GET", "OPTIONS"] {
        for route in routes {
            let get = async |site: &Site, user: &str| {
                let path = format!("/svc-json/svc/v2{route}");
                send(site.address, method, &path, &[("Authorization", &basic(user))], "").await
            };
            let (without, with) = (get(&plain, &plain_user).await, get(&filtered, &filtered_user).await);
            assert_eq!(without.status, with.status, "{method} {route}: {}", with.body);
            let (without_body, with_body) = (without.json(), with.json());
            let (mut urls, mut found) = (Vec::new(), Vec::new());
            hrefs(&without_body, &mut urls);
            hrefs(&with_body, &mut found);
            // The path of font faces is a pattern.
            let api = |url: &&str| url.starts_with("http://site.example/svc-json/") && !url.contains("(?");
            let urls: Vec<String> = urls.into_iter().filter(api).map(expected).collect();
            let found: Vec<&str> = found.into_iter().filter(api).collect();
            assert_eq!(found, urls, "{method} {route}");
            n_checked += urls.len();
            for (name, value) in without.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("link")) {
                let entries = value.split(", <").map(|entry| {
                    let (url, rest) = entry.trim_start_matches('<').split_once('>').unwrap();
                    let url = if api(&url) { expected(url) } else { url.to_owned() };
                    format!("<{url}>{rest}")
                });
                let entries: Vec<String> = entries.collect();
                assert!(with.all(name).contains(&entries.join(", ").as_str()), "{method} {route}: {with:?}");
            }
        }
    }
    assert!(n_checked > 300, "{n_checked}");
}

/// The links of a route come first and the API root last, in one line; or they replace it, if it is set so.
#[tokio::test(flavor = "multi_thread")]
async fn the_api_root_is_appended_to_links() {
    let root = "<http://site.example/svc-json/>; rel=\"https://api.w.org/\"";
    for appended in [true, false] {
        let value = if appended { "true" } else { "false" };
        let settings = [("append_root_link", value), ("environment", "local"), ("site_url", "http://site.example")];
        let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
        let user = site.app_password();
        for tag in ["a", "b"] {
            let body = json!({ "name": tag }).to_string();
            let headers = [("Authorization", basic(&user)), ("Content-Type", "application/json".to_owned())];
            let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            assert_eq!(send(site.address, "POST", "/svc-json/svc/v2/tags", &headers, &body).await.status, 201);
        }
        let next = "<http://site.example/svc-json/svc/v2/tags?per_page=1&page=2>; rel=\"next\"";
        let post = site.get("/svc-json/svc/v2/posts/1").await.json()["link"].as_str().unwrap().to_owned();
        let alternate = format!("<{post}>; rel=\"alternate\"; type=text/html");
        for (path, own) in [
            ("/svc-json/svc/v2/types", None),
            ("/svc-json/svc/v2/tags", None),
            ("/svc-json/nosuch", None),
            ("/svc-json/svc/v2/tags?per_page=1", Some(next)),
            ("/svc-json/svc/v2/posts/1", Some(&alternate)),
        ] {
            let expected = match own {
                Some(own) if appended => format!("{own}, {root}"),
                Some(own) => own.to_owned(),
                None => root.to_owned(),
            };
            assert_eq!(site.get(path).await.all("link"), [expected.as_str()], "{path}");
            // From the cache of responses as well.
            assert_eq!(site.get(path).await.all("link"), [expected.as_str()], "{path}");
        }
    }
}

/// An API whose filter returns no root is not announced.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_root_is_not_announced() {
    let without_root = SiteBuilder::new().prepare(|setup| {
        let filter =
            |url: String, parts: &svc_permalinks::HookedUrl<'_>| if parts.path == "/" { String::new() } else { url };
        setup.registries.url_hooks.rest_url.add(10, Arc::new(filter));
    });
    let site = Site::start_in(tempfile::tempdir().unwrap(), &without_root, &[]).await;
    for path in ["/", "/?p=1", "/svc-json/", "/svc-json/svc/v2/types", "/svc-json/svc/v2/posts/1", "/svc-json/nosuch"] {
        let response = site.get(path).await;
        let announced: Vec<_> = response.all("link").into_iter().filter(|link| link.contains("api.w.org")).collect();
        assert_eq!(announced, [""; 0], "{path}");
        assert!(!response.body.contains("rel=\"https://api.w.org/\""), "{path}");
    }
}

/// Checks the effect of the hook with this name.
async fn has_effect(name: &str, site: &Site) {
    match name {
        "init" => assert_eq!(site.get("/svc-json/acme/v1/ping").await.body, "\"pong\""),
        "server" | "post_dispatch" | "pre_serve" => {
            assert_eq!(site.get("/svc-json/svc/v2/posts").await.header("x-acme"), name)
        }
        "pre_dispatch" => assert_eq!(site.get("/svc-json/tea").await.status, 418),
        "index" => assert_eq!(site.get("/svc-json/").await.json()["acme"], true),
        "search_handlers" => {
            assert_eq!(site.get("/svc-json/svc/v2/search?type=post").await.status, 200);
            assert_eq!(site.get("/svc-json/svc/v2/search?type=term").await.status, 400);
        }
        "rest_avatar_sizes" => {
            let user = site.get("/svc-json/svc/v2/users/1").await.json();
            let comments = site.get("/svc-json/svc/v2/comments").await.json();
            for urls in [&user["avatar_urls"], &comments[0]["author_avatar_urls"]] {
                let urls = urls.as_object().unwrap();
                assert_eq!(urls.keys().collect::<Vec<_>>(), ["48", "32"], "{urls:?}");
                for (size, url) in urls {
                    let url = url.as_str().unwrap();
                    assert!(url.starts_with("https://") && url.contains(&format!("?s={size}&")), "{url}");
                }
            }
        }
        "rest_url_prefix" => {
            links_have_form(site, "api", |path| path.starts_with("/api/")).await;
            assert_eq!(site.get("/svc-json/svc/v2/posts").await.status, 404);
            assert_eq!(site.get("/index.php/api/svc/v2/posts").await.status, 200);
            assert_eq!(site.get("/?rest_route=/svc/v2/posts").await.status, 200);
        }
        "rest_url" => links_have_form(site, "svc-json", |path| path.contains("?v=1") || path.contains("&v=1")).await,
        "rest_route_for_post" => routes_of_posts(site).await,
        "rest_route_for_term" => routes_of_terms(site).await,
        "rest_queried_resource_route" => {
            assert!(alternate(site, "posts").await.contains("/v3/"));
            assert!(alternate(site, "categories").await.contains("/v3/"));
        }
        _ => panic!("no test of the effect of the hook `{name}`"),
    }
}

/// The CORS headers of a response to a request from this origin, and the caches that they vary by.
async fn cors(site: &Site, path: &str, origin: &str) -> [String; 4] {
    let response = send(site.address, "GET", path, &[("Origin", origin)], "").await;
    ["access-control-allow-origin", "access-control-allow-credentials", "access-control-allow-methods", "vary"]
        .map(|name| response.all(name).join(", "))
}

#[tokio::test(flavor = "multi_thread")]
async fn pre_serve_can_restrict_the_origins() {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &site_with("pre_serve"), &[]).await;
    let methods = "OPTIONS, GET, POST, PUT, PATCH, DELETE";
    // Several times, since the response is cached.
    for _ in 0..3 {
        for path in ["/svc-json/svc/v2/posts", "/svc-json/no/such/route", "/svc-json/svc/v2/posts?_jsonp=a.b"] {
            let [origin, credentials, allowed, vary] = cors(&site, path, ALLOWED_ORIGIN).await;
            assert_eq!([&*origin, &*credentials, &*allowed], [ALLOWED_ORIGIN, "true", methods], "{path}");
            assert!(vary.contains("Origin"), "{path}: {vary}");
            let [origin, credentials, allowed, vary] = cors(&site, path, "https://other.example").await;
            assert_eq!([&*origin, &*credentials, &*allowed], ["", "", methods], "{path}");
            assert!(vary.contains("Origin"), "{path}: {vary}");
            let without = site.get(path).await;
            assert_eq!(without.header("access-control-allow-origin"), "");
            assert!(without.all("vary").join(", ").contains("Origin"), "{path}");
        }
    }
    // The entity tag is that of the data, for all origins.
    let tag = |origin| {
        let headers = [("Origin", origin)];
        let address = site.address;
        async move { send(address, "GET", "/svc-json/svc/v2/posts", &headers, "").await.header("etag").to_owned() }
    };
    let tags = [tag(ALLOWED_ORIGIN).await, tag("https://other.example").await];
    assert!(!tags[0].is_empty() && tags[0] == tags[1], "{tags:?}");
}

/// An extension that is activated at run time has the same hooks as the program.
#[tokio::test(flavor = "multi_thread")]
async fn every_hook_of_an_extension_follows_its_activation() {
    for name in [request_hooks(), url_hooks(), OTHERS.to_vec()].concat() {
        let builder = SiteBuilder::new().extension(Acme(name));
        let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[]).await;
        let admin = site.app_password();
        let before = site.get("/svc-json/svc/v2/posts?_embed").await;
        assert_eq!(before.status, 200, "{name}");
        let route = "/svc-json/svc/v2/plugins/acme";
        let on = site.post(route, &admin, &json!({"status": "active"})).await;
        assert_eq!(on.status, 200, "{name}: {}", on.body);
        has_effect(name, &site).await;

        // The check may have replaced the password.
        let admin = site.app_password();
        let route = if name == "rest_url_prefix" { "/api/svc/v2/plugins/acme" } else { route };
        let off = site.post(route, &admin, &json!({"status": "inactive"})).await;
        assert_eq!(off.status, 200, "{name}: {}", off.body);
        let after = site.get("/svc-json/svc/v2/posts?_embed").await;
        assert_eq!((after.status, after.header("x-acme")), (200, ""), "{name}");
        assert_eq!(after.json(), before.json(), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_hook_has_an_effect_on_a_served_site() {
    let names = [request_hooks(), url_hooks(), OTHERS.to_vec()].concat();
    assert_eq!(names.len(), 13, "{names:?}");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    for name in names {
        let site = Site::start_in(tempfile::tempdir().unwrap(), &site_with(name), &[]).await;
        has_effect(name, &site).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_follow_the_brand_without_hooks() {
    let site = Site::start().await;
    links_have_form(&site, "svc-json", |path| path.starts_with("/svc-json/")).await;
}

/// A field of posts with the number of letters of the content.
fn letters(registry: &mut Registry) {
    let count = |post: svc_server::routing::Map, _| {
        let rendered = post.get("content").and_then(|content| content["rendered"].as_str()).map(str::to_owned);
        let read: Vec<String> = post.keys().cloned().collect();
        let n_letters = rendered.map(|text| text.chars().filter(|c| c.is_alphabetic()).count());
        async move { Ok(json!({"letters": n_letters, "from": read})) }
    };
    let field = ExtraField::without_schema().get(count).needs(&["content.rendered"]).depends_on(DependsOn::Object);
    registry.field(&["post"], "letters", field);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_gets_the_fields_that_it_needs() {
    let builder = SiteBuilder::new().register(|registry, _| letters(registry));
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[]).await;
    let whole = site.get("/svc-json/svc/v2/posts/1").await.json();
    let expected = whole["letters"]["letters"].clone();
    assert!(expected.as_u64().is_some_and(|n| n > 10), "{whole}");
    for query in ["id,letters", "letters", "id,title.rendered,letters"] {
        for path in ["/posts", "/posts/1"] {
            // The second response is from the cache.
            for _ in 0..2 {
                let response = site.get(&format!("/svc-json/svc/v2{path}?_fields={query}")).await.json();
                let list = response.as_array().cloned();
                let post = list.map_or(response, |posts| {
                    posts.into_iter().find(|p| p["letters"]["letters"] == expected).unwrap_or_default()
                });
                assert_eq!(post["letters"]["letters"], expected, "{path} {query}");
                assert_eq!(
                    (post.get("content").is_none(), post.get("id").is_some()),
                    (true, query.starts_with("id")),
                    "{post}"
                );
            }
        }
    }
    let nothing = site.get("/svc-json/svc/v2/posts/1?_fields=id").await.json();
    assert_eq!(nothing, json!({"id": 1}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_without_declared_dependencies_is_named_in_the_log() {
    let field = |declares: bool| {
        SiteBuilder::new().register(move |registry, _| {
            let field = ExtraField::without_schema().get(|_, _| async { Ok(json!(1)) });
            let (name, field) = match declares {
                true => ("declared_length", field.depends_on(DependsOn::Object)),
                false => ("undeclared_length", field),
            };
            registry.field(&["post"], name, field);
        })
    };
    crate::log::capture();
    for declares in [true, false] {
        Site::start_in(tempfile::tempdir().unwrap(), &field(declares), &[]).await.stop().await;
    }
    let log = crate::log::captured();
    let line = log.lines().find(|line| line.contains("are not cached") && line.contains("undeclared_length"));
    let line = line.unwrap_or_else(|| panic!("no line in {log}"));
    assert!(line.contains("WARN") && line.contains("`undeclared_length` of `post`"), "{line}");
    assert!(!log.contains("`declared_length` of"), "what declares its dependencies is not named");
}
