//! Caches in front of the server: tags on responses, purges for changes, and what such caches must never get.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use svc_server::SiteBuilder;
use svc_store::{StoredText, cache_tags::TagNames, options};

use crate::{
    cached_responses::{API, PAGES, READS, WRITES_OF_OTHERS, compared, writes},
    client::{HttpResponse, send},
    site::{Site, basic, on_sqlite, store},
    webhooks::Receiver,
};

const SETTINGS: [(&str, &str); 3] = [("change_log", "10000"), ("cache_tags", "xkey"), ("shared_max_age", "3600")];

/// A cache that keeps what it may, until it is purged.
#[derive(Default)]
struct Cache {
    kept: BTreeMap<String, HttpResponse>,
    /// The URL of a post's page.
    page: String,
}

fn tags(response: &HttpResponse) -> BTreeSet<String> {
    response.header("xkey").split(' ').filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// Whether a cache may keep a response.
fn is_kept(response: &HttpResponse) -> bool {
    let control = response.header("cache-control");
    control.contains("s-maxage=") && !control.contains("s-maxage=0") && !tags(response).is_empty()
}

/// What readers see of a response.
fn seen(response: &HttpResponse) -> (u16, String, Vec<(String, String)>) {
    let (status, body, headers) = compared(response);
    let headers = headers
        .into_iter()
        .filter(|(name, _)| !["xkey", "cache-control"].contains(&name.to_ascii_lowercase().as_str()));
    (status, body.to_owned(), headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

impl Cache {
    fn urls(&self) -> Vec<String> {
        let api = READS.iter().map(|path| format!("{API}{path}").replace("/svc-json/svc/v2/../..", "/svc-json/"));
        let of_page = ["", "feed/", "embed/"].map(|form| format!("{}{form}", self.page));
        api.chain(PAGES.iter().map(|path| (*path).to_owned())).chain(of_page).collect()
    }

    /// Drops what was purged, and checks that the rest is as the server has it. Returns the numbers of responses that were purged,
    /// and of those among them that had not changed.
    async fn check(&mut self, site: &Site, purged: &BTreeSet<String>, after: &str) -> (usize, usize) {
        let (mut n_purged, mut n_same) = (0, 0);
        for url in self.urls() {
            let now = send(site.address, "GET", &url, &[], "").await;
            if let Some(kept) = self.kept.remove(&url) {
                let is_same = seen(&kept) == seen(&now);
                if tags(&kept).is_disjoint(purged) {
                    assert!(is_same, "{url} after {after}: {purged:?} has none of {:?}", tags(&kept));
                    self.kept.insert(url, kept);
                    continue;
                }
                n_purged += 1;
                n_same += usize::from(is_same);
            }
            if is_kept(&now) {
                self.kept.insert(url, now);
            }
        }
        (n_purged, n_same)
    }
}

/// The number of the last entry of the log.
fn position(site: &Site) -> i64 {
    store(&site.folder).read_blocking(|db| db.log_bounds()).unwrap().expect("a log").last
}

/// The tags of the changes after an entry.
fn purged_since(site: &Site, position: i64) -> BTreeSet<String> {
    let names =
        TagNames::new(["post", "page", "attachment", "revision", "nav_menu_item", "wp_template", "wp_navigation"]);
    let changes = store(&site.folder).read_blocking(move |db| db.logged_after(position, 10_000)).unwrap();
    changes.iter().flat_map(|change| names.of_change(change)).collect()
}

/// Whether a sequence of numbers that looks random says yes, once in `n`.
fn once_in(state: &mut u64, n: u64) -> bool {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33).is_multiple_of(n)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_has_changed_had_a_tag_that_is_purged() {
    if !on_sqlite() {
        return; // Tags have the same names on a server, but the log of the site is not open to the store of this test.
    }
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &SETTINGS).await;
    let admin = site.app_password();
    let (mut cache, mut seed) = (Cache::default(), 32);
    let link = site.get(&format!("{API}/posts/1")).await.json()["link"].as_str().unwrap().to_owned();
    cache.page = link.split_once("://").map(|(_, rest)| rest[rest.find('/').unwrap()..].to_owned()).unwrap();
    cache.check(&site, &BTreeSet::new(), "nothing").await;
    let kept: Vec<&String> = cache.kept.keys().collect();
    assert!(kept.contains(&&cache.page), "{} is not among {kept:?}", cache.page);
    for url in
        ["/", "/author/admin/", "/feed/", "/wp-sitemap.xml", "/svc-json/svc/v2/posts", "/svc-json/svc/v2/posts/1"]
    {
        assert!(kept.iter().any(|kept| *kept == url), "{url} is not among {kept:?}");
    }
    let (mut id, mut purged, mut same) = (Value::Null, 0, 0);
    for (method, path, body) in writes() {
        // Each write once, and some of them later again, with the changes between them.
        for round in 0..2 {
            if round == 1 && (method == "DELETE" || path == "/users" || !once_in(&mut seed, 3)) {
                continue;
            }
            let path = path.replace("{id}", &id.to_string());
            let before = position(&site);
            let written = {
                let authorization = basic(&admin);
                let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
                let mut body = body.clone();
                if round == 1
                    && let Some(title) = body.get_mut("title")
                {
                    *title = json!("Once more");
                }
                send(site.address, method, &format!("{API}{path}"), &headers, &body.to_string()).await
            };
            if id.is_null() {
                id = written.json()["id"].clone();
            }
            let tags = purged_since(&site, before);
            let (n, n_same) = cache.check(&site, &tags, &format!("{method} {path} {body}")).await;
            (purged, same) = (purged + n, same + n_same);
        }
    }
    let before = position(&site);
    let other = store(&site.folder);
    for (n, write) in WRITES_OF_OTHERS.iter().enumerate() {
        other.write_blocking(*write).unwrap();
        let tags = purged_since(&site, before);
        cache.check(&site, &tags, &format!("write {n} of another program")).await;
    }
    assert!(purged > same && purged > 50, "{purged} purged, {same} of them unchanged");
    eprintln!("{purged} responses purged, {same} of them unchanged");
}

#[tokio::test(flavor = "multi_thread")]
async fn caches_are_told_of_changes_until_they_have_answered() {
    let receiver = Receiver::start(&["200 OK", "503 Busy", "200 OK"]).await;
    let (url, secret) = (receiver.url(), "a secret of the cache");
    let mut settings = SETTINGS.to_vec();
    settings.extend([("purge.service", "varnish"), ("purge.url", &*url), ("purge.token", secret)]);
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let admin = site.app_password();
    // What has changed before is not known.
    let first = receiver.wait_for(1).await.remove(0);
    assert!(first.header("xkey-purge").split(' ').any(|tag| tag == "posts"));
    assert_eq!(first.header("authorization"), format!("Bearer {secret}"));
    let tags_of = |n: usize| receiver.all().get(n).map(|request| request.header("xkey-purge").to_owned());
    let written = Instant::now();
    let post = site.post(&format!("{API}/posts/1"), &admin, &json!({"title": "Changed"})).await;
    assert_eq!(post.status, 200);
    // The second is refused, and the third repeats it.
    receiver.wait_for(3).await;
    assert_eq!(tags_of(1), tags_of(2));
    let tags = tags_of(2).unwrap();
    let has = |tag: &str| tags.split(' ').any(|of| of == tag);
    assert!(has("post-1") && has("posts") && has("list-post") && !has("options"), "{tags}");
    assert!(written.elapsed() < Duration::from_secs(5));
    if !on_sqlite() {
        return; // The log of a server has only what this program writes.
    }
    // A change of which no visitor sees a trace; then one that all see.
    let n = receiver.all().len();
    let other = store(&site.folder);
    other.write_blocking(|tx| options::set(tx, "_transient_x", &StoredText::of("1"), false)).unwrap();
    other.write_blocking(|tx| options::set(tx, "blogname", &StoredText::of("Another"), true)).unwrap();
    for _ in 0..1_500 {
        if receiver.all()[n..].iter().any(|request| request.header("xkey-purge") == "option-0 options") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no purge of another program's change: {:?}", &receiver.all()[n..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_is_for_one_caller_may_be_kept() {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &SETTINGS).await;
    let admin = site.app_password();
    let protected = json!({"title": "Protected", "status": "publish", "password": "secret"});
    let id = site.post(&format!("{API}/posts"), &admin, &protected).await.json()["id"].to_string();
    let (authorization, api) = (basic(&admin), format!("{API}/posts"));
    let (item, by_password) = (format!("{API}/posts/{id}"), format!("{API}/posts/{id}?password=secret"));
    let (page, missing) = (format!("/?p={id}"), format!("{API}/posts/999999"));
    for (url, headers) in [
        (&*api, &[("Authorization", &*authorization)][..]),
        (&*api, &[("Authorization", "Basic d3Jvbmc6d3Jvbmc=")]),
        (&*api, &[("Cookie", "svc_logged_in_0=1")]),
        (&*api, &[("X-SVC-Nonce", "wrong")]),
        (&*item, &[("Authorization", &*authorization)]),
        ("/", &[("Cookie", "svc_logged_in_0=1")]),
        ("/hello-world/", &[("Cookie", "svc-postpass_0=1")]),
        ("/wp-login.php", &[]),
        ("/no-such-page/", &[]),
        (&*missing, &[]),
        ("/hello-world/?preview_token=wrong", &[]),
        (&*page, &[]),
    ] {
        let response = send(site.address, "GET", url, headers, "").await;
        let control = response.header("cache-control");
        assert!(!control.contains("public") && response.header("xkey").is_empty(), "{url} {headers:?}: {control}");
    }
    // With the password in the URL, the URL is the key of the cache.
    let with = send(site.address, "GET", &by_password, &[], "").await;
    assert!(with.status == 200 && tags(&with).contains(&format!("post-{id}")));
    let written = send(site.address, "POST", &api, &[("Authorization", &*authorization)], "").await;
    assert!(!written.header("cache-control").contains("public"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_are_bounded_and_say_what_they_depend_on() {
    let mut settings = SETTINGS.to_vec();
    settings[1] = ("cache_tags", "Cache-Tag");
    settings.push(("stale_while_revalidate", "60"));
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let admin = site.app_password();
    for n in 0..60 {
        let title = format!("Post {n}");
        let post = json!({"title": title, "status": "publish"});
        assert_eq!(site.post(&format!("{API}/posts"), &admin, &post).await.status, 201);
        let comment = json!({"post": 1, "content": title, "author_name": "Guest", "author_email": "guest@example.org"});
        assert_eq!(site.post(&format!("{API}/comments"), &admin, &comment).await.status, 201);
    }
    let list = site.get(&format!("{API}/posts?per_page=100&_embed")).await;
    let of_list: Vec<&str> = list.header("cache-tag").split(',').collect();
    assert!(of_list.len() <= 100 && of_list.contains(&"list-post"), "{of_list:?}");
    let item = site.get(&format!("{API}/posts/1")).await;
    let of_item: Vec<&str> = item.header("cache-tag").split(',').collect();
    assert!(of_item.contains(&"post-1") && of_item.contains(&"options"), "{of_item:?}");
    assert_eq!(item.header("cache-control"), "public, max-age=0, s-maxage=3600, stale-while-revalidate=60");
    // Without the settings, nothing is added.
    let plain = Site::start().await;
    let item = plain.get(&format!("{API}/posts/1")).await;
    assert!(item.header("cache-tag").is_empty() && item.header("cache-control").is_empty());
    assert!(plain.get("/").await.header("cache-control").is_empty());
}
