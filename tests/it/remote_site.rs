//! Another site is read by its REST API: as an administrator everything, as a visitor what is public, and nothing of a site that misbehaves.

use std::{collections::HashMap, fs, sync::atomic::Ordering};

use serde_json::{Value, json};
use svc_server::SiteBuilder;
use svc_site::transfer::{
    export::ExportFilter,
    import::ImportReport,
    remote::{Download, RemoteSite, download},
};

use crate::{
    loopback::{CannedResponse, serve_counted, serve_with},
    site::Site,
    transfer::{API, comparable, create, empty_site, exported, fill, imported, items, open, terms_of},
};

/// What the REST API does not show, or shows in another way.
const NOT_SHOWN: [&str; 3] = ["_edit_last", "_wp_attachment_context", "_wp_old_date"];

/// An item without what the REST API does not show.
fn shown(item: &Value) -> Value {
    let mut item = item.clone();
    if let Some(rows) = item["meta"].as_array_mut() {
        rows.retain(|row| !NOT_SHOWN.contains(&row[0].as_str().unwrap_or_default()));
    }
    // A draft that was never changed has none. The API shows one.
    if item["modified"][1] == "0000-00-00 00:00:00" {
        item["modified"][1] = item["modified"][0].clone();
    }
    item
}

/// The entries of menus: menu, order, what they link to, and the order of the entry above.
fn menu(file: &[u8]) -> Vec<String> {
    let items = items(file);
    let text = |item: &svc_wxr::Item, key: &str| {
        item.meta.iter().find(|row| row.key == key).map_or("", |row| row.value.as_str()).to_owned()
    };
    let entry = |item: &svc_wxr::Item| {
        let above: i64 = text(item, "_menu_item_menu_item_parent").parse().unwrap_or(0);
        let above = items.iter().find(|other| other.id == above).map_or(0, |other| other.menu_order);
        let object: i64 = text(item, "_menu_item_object_id").parse().unwrap_or(0);
        let title = items.iter().find(|other| other.id == object).map_or("", |other| &other.title);
        let [kind, url] = ["_menu_item_object", "_menu_item_url"].map(|key| text(item, key));
        format!("{} {} {kind} {url} {title} {above}", item.terms[0].slug, item.menu_order)
    };
    let mut entries: Vec<String> = items.iter().filter(|item| item.post_type == "nav_menu_item").map(entry).collect();
    entries.sort();
    entries
}

async fn read(site: &svc_server::OpenSite, of: &Site, credentials: Option<&str>) -> Download {
    let (user, password) = credentials.and_then(|text| text.split_once(':')).unwrap_or_default();
    let remote = RemoteSite::new(&format!("http://{}", of.address), user, password).unwrap();
    download(site.site(), &remote, &|_| true).await.map_err(|error| error.message().to_owned()).unwrap()
}

async fn import(site: &svc_server::OpenSite, read: &Download) -> ImportReport {
    imported(site.site(), &fs::read(&read.file).unwrap(), true).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_reads_everything() {
    let site = Site::start().await;
    let admin = site.app_password();
    fill(&site, &admin).await;
    for n in 0..120 {
        let body = json!({"title": format!("Filler {n}"), "status": "publish", "content": "x".repeat(500)});
        create(&site, &admin, "posts", body).await;
    }
    let first = exported(open(&site, &[]).site(), &ExportFilter::default());
    let allowed = [("outgoing.allow", &*site.address.to_string())];
    let other_site = empty_site(&allowed).await;
    let other = open(&other_site, &allowed);
    let download = read(&other, &site, Some(&admin)).await;
    assert_eq!(download.left_out, Vec::<String>::new());
    let report = import(&other, &download).await;
    assert_eq!((&report.problems, report.existing, report.without_file), (&Vec::new(), 0, 0));
    let second = exported(other.site(), &ExportFilter::default());
    let [host, other_host] = [&site, &other_site].map(|site| format!("http://{}", site.address));
    let (before, after) = (comparable(&first, &host), comparable(&second, &other_host));
    assert!(before.len() > 140, "{}", before.len());
    // Entries of menus have neither a GUID nor a date in the REST API.
    let is_named = |name: &&String| !name.starts_with("nav_menu_item");
    for name in before.keys().filter(is_named) {
        let item = &before[name];
        let found = after.get(name).map(shown);
        assert_eq!(Some(shown(item)), found, "{name}");
    }
    assert_eq!(before.len(), after.len());
    assert_eq!(menu(&first), menu(&second));
    assert_eq!(terms_of(&first), terms_of(&second));
    // Read again, nothing is new.
    let report = import(&other, &read(&other, &site, Some(&admin)).await).await;
    assert_eq!((report.created, report.comments, report.terms), (0, 0, 0), "{:?}", report.problems);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitor_reads_what_is_public() {
    let site = Site::start().await;
    let admin = site.app_password();
    fill(&site, &admin).await;
    let allowed = [("outgoing.allow", &*site.address.to_string())];
    let other_site = empty_site(&allowed).await;
    let other = open(&other_site, &allowed);
    let download = read(&other, &site, None).await;
    assert!(download.left_out.iter().any(|reason| reason.contains("needs a password")), "{:?}", download.left_out);
    let report = import(&other, &download).await;
    assert!(report.created > 5 && report.comments > 0, "{report:?}");
    let found = items(&exported(other.site(), &ExportFilter::default()));
    assert!(found.iter().all(|item| matches!(&*item.status, "publish" | "inherit")), "nothing else is public");
    assert!(found.iter().all(|item| item.password.is_empty() && !item.title.contains("A draft")));
    let child = found.iter().find(|item| item.title == "Child").unwrap();
    assert_eq!(child.parent, found.iter().find(|item| item.title == "Parent").unwrap().id);
    let post = found.iter().find(|item| item.is_sticky).unwrap();
    let comments = site.get(&format!("{API}/comments?post={}", post.id)).await.json();
    assert_eq!((&*post.creator, post.comments.len()), ("ann", comments.as_array().unwrap().len()));
    let slugs: Vec<&str> = post.terms.iter().map(|term| &*term.slug).collect();
    assert_eq!(slugs, ["down", "post-format-aside", "sea"]);
}

fn page(body: impl ToString) -> CannedResponse {
    (200, "Content-Type: application/json\r\n".to_owned(), body.to_string().into_bytes())
}

/// Reads a site with these responses. Returns the reason of the failure and the number of requests.
async fn refused(pages: &[(&str, CannedResponse)], user: &str) -> (String, usize) {
    let (address, n_requests) = serve_counted(|_| {
        pages.iter().map(|(path, page)| ((*path).to_owned(), page.clone())).collect::<HashMap<_, _>>()
    });
    let site = empty_site(&[("outgoing.allow", &address.to_string())]).await;
    let data = open(&site, &[("outgoing.allow", &address.to_string())]);
    let remote = RemoteSite::new(&format!("http://{address}"), user, user).unwrap();
    let error = download(data.site(), &remote, &|n| n < 1_000).await.unwrap_err();
    assert!(error.status() < 500, "{}", error.message());
    (error.message().to_owned(), n_requests.load(Ordering::SeqCst))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_is_none_or_misbehaves_is_refused() {
    let index = || page(json!({"name": "N", "namespaces": ["wp/v2"], "home": "http://x"}));
    let types = || page(json!({"post": {"rest_base": "posts"}}));
    let none = || page(json!({}));
    let other_host = (200, "Link: <http://127.0.0.2/wp-json/>; rel=\"https://api.w.org/\"\r\n".to_owned(), Vec::new());
    for (pages, user, expected) in [
        (vec![], "", "no REST API"),
        (vec![("/wp-json/", page("<html>"))], "", "no REST API"),
        (vec![("/wp-json/", page(json!({"namespaces": ["other/v1"]})))], "", "no REST API"),
        // It may not lead to another address of this network.
        (vec![("/", other_host)], "", "no REST API"),
        (vec![("/wp-json/", index())], "ann", "does not accept this user name"),
        (vec![("/wp-json/", index())], "", "does not show taxonomies"),
        (
            vec![
                ("/wp-json/", index()),
                ("/wp-json/wp/v2/taxonomies", none()),
                ("/wp-json/wp/v2/types", types()),
                ("/wp-json/wp/v2/posts", page(json!({"not": "a list"}))),
            ],
            "",
            "another form",
        ),
    ] {
        let (message, n_requests) = refused(&pages, user).await;
        assert!(message.contains(expected), "{expected}: {message}");
        assert!(n_requests < 20, "{expected}: {n_requests}");
    }
    // The same page for ever, and a list of nothing that never ends.
    for posts in [json!([]), json!([{"id": 5, "type": "post", "status": "publish", "title": {"rendered": "T"}}])] {
        let n = posts.as_array().map_or(0, Vec::len);
        let (status, lines, body) = page(posts);
        let endless = (status, format!("{lines}X-WP-Total: 99999999\r\n"), body);
        let (address, n_requests) = serve_counted(|_| {
            let pages = [
                ("/wp-json/", index()),
                ("/wp-json/wp/v2/taxonomies", none()),
                ("/wp-json/wp/v2/types", types()),
                ("/wp-json/wp/v2/posts", endless),
            ];
            pages.into_iter().map(|(path, page)| (path.to_owned(), page)).collect::<HashMap<_, _>>()
        });
        let allowed = [("outgoing.allow", &*address.to_string())];
        let site = empty_site(&allowed).await;
        let data = open(&site, &allowed);
        let remote = RemoteSite::new(&format!("http://{address}"), "", "").unwrap();
        let read = download(data.site(), &remote, &|_| true).await.map_err(|error| error.message().to_owned()).unwrap();
        assert_eq!(items(&fs::read(&read.file).unwrap()).len(), n);
        assert!(n_requests.load(Ordering::SeqCst) < 40, "{}", n_requests.load(Ordering::SeqCst));
    }
}

/// One post of ten cannot be shown, and the terms of a taxonomy neither.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_site_fails_to_show_is_left_out() {
    let post = |id: usize| json!({"id": id, "status": "publish", "title": {"rendered": format!("T{id}")}, "content": {"rendered": ""}});
    let posts = move |query: &str| -> CannedResponse {
        let number = |name: &str| query.split('&').find_map(|part| part.strip_prefix(name)?.parse().ok()).unwrap_or(0);
        let (offset, size): (usize, usize) = (number("offset="), number("per_page="));
        let ids = offset + 1..=(offset + size).min(10);
        if ids.contains(&7) {
            return (500, String::new(), Vec::new());
        }
        let (status, lines, body) = page(Value::from(ids.map(post).collect::<Vec<_>>()));
        (status, format!("{lines}X-WP-Total: 10\r\n"), body)
    };
    let address = serve_with(move |path| match path.split_once('?').unwrap_or((path, "")) {
        ("/wp-json/", _) => page(json!({"namespaces": ["wp/v2"]})),
        ("/wp-json/wp/v2/taxonomies", _) => page(json!({"category": {"rest_base": "categories"}})),
        ("/wp-json/wp/v2/types", _) => page(json!({"post": {"rest_base": "posts"}})),
        ("/wp-json/wp/v2/posts", query) => posts(query),
        ("/wp-json/wp/v2/categories", _) => (500, String::new(), Vec::new()),
        _ => (404, String::new(), Vec::new()),
    });
    let allowed = [("outgoing.allow", &*address.to_string())];
    let site = empty_site(&allowed).await;
    let data = open(&site, &allowed);
    let remote = RemoteSite::new(&format!("http://{address}"), "", "").unwrap();
    let read = download(data.site(), &remote, &|_| true).await.map_err(|error| error.message().to_owned()).unwrap();
    let ids: Vec<i64> = items(&fs::read(&read.file).unwrap()).iter().map(|item| item.id).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 8, 9, 10]);
    let expected = [
        "wp/v2/categories: the site fails with status 500.",
        "The terms of the taxonomy “category” may not be read.",
        "1 posts of the type “post”: the site fails to show them.",
    ];
    assert_eq!(read.left_out, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_of_this_network_are_not_requested() {
    let (address, n_requests) = serve_counted(|_| HashMap::new());
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &[]).await;
    let data = open(&site, &[]);
    let remote = RemoteSite::new(&format!("http://{address}"), "", "").unwrap();
    let error = download(data.site(), &remote, &|_| true).await.unwrap_err();
    assert!(error.message().contains("not allowed"), "{}", error.message());
    assert_eq!(n_requests.load(Ordering::SeqCst), 0);
    assert_eq!(site.get(&format!("{API}/posts")).await.status, 200);
}
