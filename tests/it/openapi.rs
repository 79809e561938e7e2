//! The OpenAPI document and the explorer over real sockets.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use svc_server::{
    SiteBuilder,
    routing::{Request, Response, Result, Route, get, public},
    schema::{
        Args, Schema,
        build::{integer, object, string},
    },
};

use crate::{
    client::send,
    site::{Site, basic},
};

const DOCUMENT: &str = "/svc-json/openapi.json";

async fn fetch(req: Request) -> Result {
    let id: i64 = req.require("id")?;
    Ok(Response::new(json!({ "id": id })))
}

fn builder() -> SiteBuilder {
    SiteBuilder::new().register(|registry, _| {
        let book = object([("id", integer()), ("title", string())]).keyword("title", "book");
        let route = Route::new(r"/books/(?P<id>[\d]+)")
            .schema(Schema::compile(book.into()))
            .args(Args::new().with("id", integer().describe("The book.")))
            .endpoint(get(fetch, public));
        registry.route("acme/v1", route).expect("a valid route");
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn describes_core_routes_and_those_of_programs() {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder(), &[]).await;
    let response = site.get(DOCUMENT).await;
    assert_eq!((response.status, response.header("content-type")), (200, "application/json; charset=UTF-8"));
    let document = response.json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"][0]["url"], format!("http://{}/svc-json", site.address));
    assert_eq!(document.get("x-routes-without-template"), None);
    let books = &document["paths"]["/acme/v1/books/{id}"]["get"];
    assert_eq!(books["parameters"][0]["description"], "The book.");
    assert_eq!(
        books["responses"]["200"]["content"]["application/json"]["schema"],
        json!({"$ref": "#/components/schemas/Book"})
    );
    let posts = &document["paths"]["/svc/v2/posts"];
    assert_eq!(
        (&posts["get"]["operationId"], &posts["post"]["operationId"]),
        (&json!("listPosts"), &json!("createPosts"))
    );
    assert!(posts["get"]["responses"]["200"]["headers"].get("X-SVC-Total").is_some());
    let upload = &document["paths"]["/svc/v2/media"]["post"]["requestBody"]["content"];
    assert!(upload.get("multipart/form-data").is_some(), "{upload}");
    assert_eq!(document["components"]["securitySchemes"]["nonce"]["name"], "X-SVC-Nonce");

    // Every route of the index is described, and the index does not mention the document.
    let index = site.get("/svc-json/").await;
    assert!(!index.body.contains("openapi"));
    let described: Vec<&str> =
        document["paths"].as_object().unwrap().values().filter_map(|path| path["x-route"].as_str()).collect();
    for route in index.json()["routes"].as_object().unwrap().keys() {
        assert!(described.contains(&route.as_str()), "{route}");
    }

    // References lead to parts of the document, and ids are unique.
    for reference in response.body.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
    let mut ids: Vec<&str> =
        response.body.split("\"operationId\":\"").skip(1).filter_map(|id| id.split('"').next()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert!(count > 200 && ids.len() == count, "{count}");
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_cached_and_selected_by_namespace() {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder(), &[]).await;
    let tag = site.get(DOCUMENT).await.header("etag").to_owned();
    let again = send(site.address, "GET", DOCUMENT, &[("If-None-Match", &tag)], "").await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    let acme = site.get(&format!("{DOCUMENT}?namespace=acme/v1")).await.json();
    let paths: Vec<&String> = acme["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["/acme/v1", "/acme/v1/books/{id}"]);
    assert_eq!(site.get(&format!("{DOCUMENT}?namespace=nosuch")).await.status, 404);
    assert_eq!(send(site.address, "POST", DOCUMENT, &[], "").await.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_have_the_routes_that_exist_for_the_client() {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder(), &[]).await;
    let address = site.address.to_string();
    for (host, exists) in [("localhost:8080", true), (&*address, false), ("blog.localhost", true), (&*address, false)] {
        let get = async |path: &str| send(site.address, "GET", path, &[("Host", host)], "").await;
        let document = get(DOCUMENT).await.json();
        let sideload = &document["paths"]["/svc/v2/media/{id}/sideload"]["post"];
        assert_eq!(sideload["requestBody"]["content"].get("multipart/form-data").is_some(), exists, "{host}");
        let index = get("/svc-json/").await.json();
        for route in ["sideload", "finalize"] {
            let pattern = format!(r"/svc/v2/media/(?P<id>[\d]+)/{route}");
            assert_eq!(index["routes"].get(&pattern).is_some(), exists, "{host} {route}");
            let options =
                send(site.address, "OPTIONS", &format!("/svc-json/svc/v2/media/1/{route}"), &[("Host", host)], "")
                    .await;
            assert_eq!(options.json().get("endpoints").is_some(), exists, "{host} {route}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_explorer_is_for_local_sites_unless_set() {
    for (settings, status) in [
        (&[][..], 200),
        (&[("environment", "production")], 404),
        (&[("environment", "production"), ("explorer", "true")], 200),
        (&[("explorer", "false")], 404),
    ] {
        let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), settings).await;
        let page = site.get("/svc-explorer/").await;
        assert_eq!(page.status, status, "{settings:?}");
        if status == 200 {
            let policy = page.header("content-security-policy");
            assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe-eval"), "{policy}");
            assert!(page.header("cache-control").contains("no-store"), "the page has a nonce");
            assert!(page.body.contains("data-nonce=\"\""), "anonymous visitors have no nonce");
        }
    }
}

/// Operations whose requests cannot succeed on a new site.
const WITHOUT_EXAMPLE: &[(&str, &str)] = &[
    ("/batch/v1", "contains other operations"),
    (
        "/svc-abilities/v1/abilities/",
        "the input depends on the ability, and the abilities of a new site are read with GET",
    ),
    ("/svc/v2/media/{id}/edit", "needs the URL of an image of the site"),
    ("/svc/v2/plugins", "needs a plugin that is downloaded from elsewhere"),
];

/// The item of a template's parameter, by the path before it. Others are those that examples created.
async fn existing_items(site: &Site, admin: &str) -> HashMap<String, String> {
    let authorization = basic(admin);
    let path = "/svc-json/svc/v2/themes?status=active";
    let themes = send(site.address, "GET", path, &[("Authorization", &authorization)], "").await.json();
    let links = themes[0]["_links"].as_object().unwrap();
    let styles = links.iter().find(|(relation, _)| relation.ends_with("user-global-styles")).unwrap().1;
    let styles = styles[0]["href"].as_str().unwrap();
    let rows = [
        ("/svc/v2/global-styles", styles.rsplit('/').next().unwrap()),
        ("/svc/v2/sidebars", "wp_inactive_widgets"),
        ("/svc/v2/widget-types", "block"),
        ("/svc/v2/block-renderer", "core"),
        ("/svc/v2/block-renderer/{name_1}", "archives"),
    ];
    rows.into_iter().map(|(path, item)| (path.to_owned(), item.to_owned())).collect()
}

/// A path with items for its parameters; `None` if there is none for one of them.
fn filled(template: &str, items: &HashMap<String, String>) -> Option<String> {
    let (mut known, mut path) = (String::new(), String::new());
    for segment in template.split('/').skip(1) {
        let item = if segment.starts_with('{') { items.get(&known)?.as_str() } else { segment };
        path = format!("{path}/{item}");
        known = format!("{known}/{segment}");
    }
    Some(path)
}

/// The body of a request with a file: its fields, and its type.
fn multipart(fields: &Value) -> (String, String) {
    const BOUNDARY: &str = "part-of-the-test";
    let part = |name: &str, more: &str, text: &str| {
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n{text}\r\n")
    };
    let mut body: String =
        fields.as_object().unwrap().iter().map(|(name, text)| part(name, "", text.as_str().unwrap())).collect();
    body += &part("file", "; filename=\"notes.txt\"\r\nContent-Type: text/plain", "Notes.");
    (format!("{body}--{BOUNDARY}--\r\n"), format!("multipart/form-data; boundary={BOUNDARY}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn examples_of_all_writes_succeed_on_a_new_site() {
    // Webhooks need the log of changes, which is an option on servers.
    let builder = SiteBuilder::new();
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[("change_log", "10000")]).await;
    let admin = site.app_password();
    let authorization = basic(&admin);
    let document = site.get(DOCUMENT).await.json();
    let mut items = existing_items(&site, &admin).await;
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in ["post", "put", "patch"] {
            if let Some(body) = methods[method].get("requestBody") {
                operations.push((path.as_str(), method, &body["content"]));
            }
        }
    }
    // Items are created before those that belong to them, and before they are changed.
    operations.sort_by_key(|(path, ..)| path.matches('{').count());
    let mut failures = Vec::new();
    let mut n_sent = 0;
    for (path, method, content) in operations {
        if WITHOUT_EXAMPLE.iter().any(|(start, _)| path.starts_with(start)) {
            continue;
        }
        let (kind, form) = content.as_object().unwrap().iter().next().unwrap();
        let (Some(example), Some(target)) = (form.get("example"), filled(path, &items)) else {
            failures.push(format!("{method} {path}: no example, or no item to change"));
            continue;
        };
        let (body, kind) = match kind.as_str() {
            "multipart/form-data" => multipart(example),
            kind => (example.to_string(), kind.to_owned()),
        };
        let headers = [("Authorization", authorization.as_str()), ("Content-Type", &kind)];
        let url = format!("/svc-json{target}");
        let response = send(site.address, &method.to_uppercase(), &url, &headers, &body).await;
        if !matches!(response.status, 200 | 201) {
            failures.push(format!("{method} {url} {body}: {} {}", response.status, response.body));
            continue;
        }
        n_sent += 1;
        let created = response.json();
        let id = created.get("uuid").or_else(|| created.get("id")).filter(|_| response.status == 201);
        if let Some(id) = id {
            items.insert(path.to_owned(), id.as_str().map_or_else(|| id.to_string(), str::to_owned));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(n_sent > 90, "{n_sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_operations_are_distinct_and_texts_may_be_strings() {
    let site = Site::start().await;
    let document = site.get(DOCUMENT).await.json();
    let mut names = HashSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Some(summary) = operation["summary"].as_str() else { continue };
            assert!(names.insert((operation["tags"][0].as_str(), summary)), "{method} {path}: {summary}");
        }
    }
    for (pointer, name) in [
        ("/paths/~1svc~1v2~1posts/post", "Create a post"),
        ("/paths/~1svc~1v2~1posts~1{id}/patch", "Update a post with PATCH"),
        ("/paths/~1svc~1v2~1posts~1{id}~1autosaves/post", "Create an autosave of a post"),
        ("/paths/~1svc~1v2~1posts~1{parent}~1revisions~1{id}/get", "Fetch a revision of a post"),
    ] {
        assert_eq!(document.pointer(pointer).unwrap()["summary"], name, "{pointer}");
    }
    for (schema, fields) in [
        ("PostCreate", &["title", "content", "excerpt"][..]),
        ("PageUpdate", &["title", "content", "excerpt"]),
        ("AttachmentUpdate", &["title", "caption", "description"]),
        ("CommentCreate", &["content"]),
        ("WpBlockCreate", &["title", "content"]),
        ("NavMenuItemCreate", &["title"]),
        ("WpTemplateUpdate", &["title", "content"]),
        ("WpGlobalStylesUpdate", &["title"]),
    ] {
        for field in fields {
            let field = &document["components"]["schemas"][schema]["properties"][field];
            let types = field["anyOf"].to_string() + &field["type"].to_string();
            assert!(types.contains("\"string\"") && types.contains("\"object\""), "{schema}: {field}");
        }
    }
}
