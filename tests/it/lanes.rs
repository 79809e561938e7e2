//! Requests that take long have threads of their own.

use std::{collections::BTreeSet, sync::Mutex, thread};

use chrono::{NaiveDateTime, Utc};
use svc_server::SiteBuilder;

use crate::{
    site::Site,
    visitor::{encode, logged_in},
};

/// The names of the lanes whose threads have asked for the time, or have responded to a request to the REST API.
static USED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn record() {
    let thread = thread::current();
    // Background jobs ask for the time as well.
    let lane = thread.name().filter(|name| name.starts_with("svc-"));
    USED.lock().unwrap().extend(lane.map(str::to_owned));
}

fn clock() -> NaiveDateTime {
    record();
    Utc::now().naive_utc()
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_and_deep_pages_have_threads_of_their_own() {
    let builder = SiteBuilder::new().clock(clock).register(|registry, _| {
        registry.hooks.post_dispatch(10, |res, _| {
            record();
            res
        });
    });
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[]).await;
    let mut admin = logged_in(&site, "admin").await;
    let resolve = |url: &str| format!("/svc-json/svc/v2/resolve?url={}", encode(url));
    for (url, is_heavy) in [
        ("/".to_owned(), false),
        ("/?s=hello".to_owned(), true),
        ("/search/hello/".to_owned(), true),
        ("/feed/?s=hello".to_owned(), true),
        ("/feed/".to_owned(), false),
        ("/?p=1&s=hello".to_owned(), false),
        ("/wp-admin/edit.php".to_owned(), false),
        ("/wp-admin/edit.php?s=hello".to_owned(), true),
        ("/wp-admin/edit.php?paged=9999".to_owned(), true),
        ("/wp-admin/index.php?s=hello".to_owned(), false),
        ("/wp-admin/profile.php?s=hello".to_owned(), false),
        ("/svc-json/svc/v2/posts".to_owned(), false),
        ("/svc-json/svc/v2/posts?search=hello".to_owned(), true),
        (resolve("/"), false),
        (resolve("/?s=hello"), true),
        (resolve("/page/9999/"), true),
        (resolve("/posts/search/hello/"), false),
    ] {
        USED.lock().unwrap().clear();
        admin.get(&url).await;
        let expected = if is_heavy { "svc-heavy" } else { "svc-light" };
        assert_eq!(*USED.lock().unwrap(), BTreeSet::from([expected.to_owned()]), "{url}");
    }
}
