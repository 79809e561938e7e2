//! Every hook has an effect on a served site. A hook without a row here fails the test.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};
use svc_server::{
    SiteBuilder,
    controllers::search::filter_handlers,
    routing::{BoxFuture, Dispatch, Registry, Request, Response, Result, Route, get, public},
};

use crate::{client::send, site::Site};

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
    let svc_discovery::Hooks {
        rest_url_prefix: _,
        rest_url: _,
        rest_route_for_post: _,
        rest_route_for_term: _,
        rest_queried_resource_route: _,
    } = svc_discovery::Hooks::default();
    vec!["rest_url_prefix", "rest_url", "rest_route_for_post", "rest_route_for_term", "rest_queried_resource_route"]
}

/// Extension points that are not methods of a hooks type.
const OTHERS: [&str; 2] = ["search_handlers", "avatar_sizes"];

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
        "pre_serve" => drop(hooks.pre_serve(10, |served, _| {
            served.headers.set("X-Acme", "pre_serve");
            None
        })),
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

/// A site with the hook of this name.
fn site_with(name: &'static str) -> SiteBuilder {
    let builder = SiteBuilder::new().register(move |registry, _| on_registry(name, registry));
    builder.prepare(move |site| {
        let hooks = &mut site.url_hooks;
        match name {
            "rest_url_prefix" => hooks.rest_url_prefix.add(10, Arc::new(|_| "api".to_owned())),
            "rest_url" => hooks.rest_url.add(
                10,
                Arc::new(|url, _, _| if url.contains('?') { format!("{url}&v=1") } else { format!("{url}?v=1") }),
            ),
            "rest_route_for_post" => {
                hooks.rest_route_for_post.add(10, Arc::new(|route, id, kind| format!("{route}?{kind}={id}")));
            }
            "rest_route_for_term" => {
                hooks.rest_route_for_term.add(10, Arc::new(|route, id, kind| format!("{route}?{kind}={id}")));
            }
            "rest_queried_resource_route" => {
                hooks.rest_queried_resource_route.add(10, Arc::new(|route| route.replace("/v2/", "/v3/")));
            }
            "avatar_sizes" => site.avatar_sizes = vec![32],
            _ => {}
        }
    })
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

/// The `alternate` link in the header of the page that `collection` lists first.
async fn alternate(site: &Site, collection: &str) -> String {
    let items = site.get(&format!("/svc-json/svc/v2/{collection}")).await.json();
    let link = items[0]["link"].as_str().unwrap();
    let path = link.splitn(4, '/').nth(3).unwrap();
    let page = site.get(&format!("/{path}")).await;
    page.all("link").into_iter().find(|link| link.contains("\"alternate\"")).unwrap_or_default().to_owned()
}

/// The `self` link of the first result of a search.
async fn found(site: &Site, kind: &str, subtype: &str) -> String {
    let results = site.get(&format!("/svc-json/svc/v2/search?type={kind}&subtype={subtype}")).await.json();
    results[0]["_links"]["self"][0]["href"].as_str().unwrap_or_default().to_owned()
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
        "avatar_sizes" => {
            let user = site.get("/svc-json/svc/v2/users/1").await.json();
            assert_eq!(user["avatar_urls"].as_object().unwrap().keys().collect::<Vec<_>>(), ["32"]);
        }
        "rest_url_prefix" => {
            links_have_form(site, "api", |path| path.starts_with("/api/")).await;
            assert_eq!(site.get("/svc-json/svc/v2/posts").await.status, 404);
            assert_eq!(site.get("/index.php/api/svc/v2/posts").await.status, 200);
            assert_eq!(site.get("/?rest_route=/svc/v2/posts").await.status, 200);
        }
        "rest_url" => links_have_form(site, "svc-json", |path| path.contains("v=1")).await,
        "rest_route_for_post" => {
            assert!(alternate(site, "posts").await.contains("?post="));
            assert!(found(site, "post", "post").await.contains("?post="));
            let comments = site.get("/svc-json/svc/v2/comments").await.json();
            assert!(comments[0]["_links"]["up"][0]["href"].as_str().unwrap().contains("?post="));
        }
        "rest_route_for_term" => {
            assert!(alternate(site, "categories").await.contains("?category="));
            assert!(found(site, "term", "category").await.contains("?category="));
        }
        "rest_queried_resource_route" => {
            assert!(alternate(site, "posts").await.contains("/v3/"));
            assert!(alternate(site, "categories").await.contains("/v3/"));
        }
        _ => panic!("no test of the effect of the hook `{name}`"),
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
