//! What a site owner is told, and a client answered, when the database cannot do its part; and that nothing is lost.

use serde_json::json;
use svc_server::{
    SiteBuilder,
    config::{Config, SETTINGS, Sources},
};

use crate::site::{Site, config, execute, on_sqlite, store};

const POSTS: &str = "/svc-json/svc/v2/posts";

/// What opening a site with these settings says.
fn refused(config: &Config) -> String {
    let here = "http://127.0.0.1:1".parse().unwrap();
    SiteBuilder::new().open(config, &here).err().expect("it cannot be opened").to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_table_is_a_500_that_tells_nothing() {
    let site = Site::start().await;
    let admin = site.app_password();
    execute(&site.folder, "DROP TABLE wp_posts");
    let post = json!({"title": "x", "status": "publish"});
    for answer in [site.get(POSTS).await, site.post(POSTS, &admin, &post).await] {
        assert_eq!((answer.status, answer.json()["code"].as_str()), (500, Some("rest_internal_error")));
        assert!(!answer.body.contains("wp_posts") && !answer.body.contains("table"), "{}", answer.body);
    }
    assert_eq!(site.get("/svc-json/svc/v2/types").await.status, 200, "what needs no posts goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_is_told_at_start_without_the_password() {
    if on_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let url = crate::site::database(&folder);
    let with = |url: String| {
        let setting = SETTINGS.iter().find(|s| s.key == "database").unwrap();
        let sources = Sources { folder: folder.path().to_owned(), variables: vec![], flags: vec![(setting, url)] };
        refused(&Config::load(&sources).unwrap())
    };
    let (address, socket) = url.split_once('?').unwrap();
    let rows = [
        (url.replace("root@", "nobody:hunter2@"), "Access denied"),
        (format!("{address}_not?{socket}"), "Unknown database"),
        (format!("{address}?socket=/no/such/socket"), "cannot be reached"),
    ];
    for (url, message) in rows {
        let told = with(url);
        assert!(told.starts_with("cannot open the database: ") && told.contains(message), "{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_database_is_told_at_start_and_left_alone() {
    if !on_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("svc-data")).unwrap();
    let file = folder.path().join("svc-data/site.db");
    let bytes = b"SQLite format 3\0 it is not".repeat(500);
    std::fs::write(&file, &bytes).unwrap();
    let told = refused(&config(&folder, &[]));
    assert!(told.starts_with("cannot open the database: the database is damaged"), "{told}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_with_damaged_pages_is_told_at_start() {
    if !on_sqlite() {
        return;
    }
    let folder = Site::start().await.stop().await;
    let file = folder.path().join("svc-data/site.db");
    let mut bytes = std::fs::read(&file).unwrap();
    // All but the first page, which says what is where.
    bytes[4096..].fill(0x5a);
    std::fs::write(&file, bytes).unwrap();
    let told = refused(&config(&folder, &[]));
    assert!(told.contains("the database is damaged"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wp_config_of_an_empty_database_makes_no_site_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wp-config.php");
    std::fs::write(&file, "<?php $table_prefix = 'blog_';").unwrap();
    let setting = |key: &str, value: String| (SETTINGS.iter().find(|s| s.key == key).unwrap(), value);
    std::fs::create_dir(folder.path().join("svc-data")).unwrap();
    let sources = Sources {
        folder: folder.path().to_owned(),
        variables: vec![],
        flags: vec![
            setting("wp_config", file.display().to_string()),
            setting("database", crate::site::database(&folder)),
        ],
    };
    let config = Config::load(&sources).unwrap();
    assert_eq!((config.brand.word(), config.table_prefix.as_str()), ("wp", "blog_"));
    let told = refused(&config);
    assert!(told.ends_with("the database holds no site whose tables begin with `blog_`"), "{told}");
    assert!(!store(&folder).read(|db| db.table_exists("blog_posts")).unwrap());
}
