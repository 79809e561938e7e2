//! Database failures: messages for the site owner and responses for clients. No data is lost.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::time::Duration;

use serde_json::json;
use svc_server::{
    SiteBuilder,
    config::{Config, SETTINGS, Sources},
};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};
use tempfile::TempDir;

use crate::client::{HttpResponse, send};
use crate::site::{Site, app_password, config, execute, on_sqlite, store};

const POSTS: &str = "/svc-json/svc/v2/posts";

/// The error message of opening a site with these settings.
fn open_error(config: &Config) -> String {
    let here = "http://127.0.0.1:1".parse().unwrap();
    let error = SiteBuilder::new().open(config, &here).err().expect("opening fails");
    let causes = std::iter::successors(std::error::Error::source(&error), |cause| cause.source());
    causes.fold(error.to_string(), |message, cause| format!("{message}: {cause}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_table_is_a_500_without_details() {
    let site = Site::start().await;
    let admin = site.app_password();
    execute(&site.folder, "DROP TABLE wp_posts");
    let post = json!({"title": "x", "status": "publish"});
    for response in [site.get(POSTS).await, site.post(POSTS, &admin, &post).await] {
        assert_eq!((response.status, response.json()["code"].as_str()), (500, Some("rest_internal_error")));
        assert!(!response.body.contains("wp_posts") && !response.body.contains("table"), "{}", response.body);
    }
    assert_eq!(site.get("/svc-json/svc/v2/types").await.status, 200, "other routes still work");
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_errors_at_start_do_not_reveal_the_password() {
    if on_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let url = crate::site::database(&folder);
    let error_with_url = |url: String| {
        let setting = SETTINGS.iter().find(|s| s.key == "database").unwrap();
        let sources = Sources { folder: folder.path().to_owned(), variables: vec![], flags: vec![(setting, url)] };
        open_error(&Config::load(&sources).unwrap())
    };
    let (address, socket) = url.split_once('?').unwrap();
    let rows = [
        (url.replace("root@", "nobody:hunter2@"), "Access denied"),
        (format!("{address}_not?{socket}"), "Unknown database"),
        (format!("{address}?socket=/no/such/socket"), "cannot be reached"),
    ];
    for (url, expected) in rows {
        let message = error_with_url(url);
        assert!(message.starts_with("cannot open the database: ") && message.contains(expected), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_not_a_database_is_reported_and_unchanged() {
    if !on_sqlite() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("svc-data")).unwrap();
    let file = folder.path().join("svc-data/site.db");
    let bytes = b"SQLite format 3\0 it is not".repeat(500);
    std::fs::write(&file, &bytes).unwrap();
    let message = open_error(&config(&folder, &[]));
    assert!(message.starts_with("cannot open the database: the database is damaged"), "{message}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

/// A directory with the SQLite database of a new site, which is not open.
async fn closed_site() -> TempDir {
    let site = Site::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("svc-data")).unwrap();
    store(&site.folder).backup(&folder.path().join("svc-data/site.db")).unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_with_damaged_pages_is_reported_at_start() {
    if !on_sqlite() {
        return;
    }
    let folder = closed_site().await;
    let file = folder.path().join("svc-data/site.db");
    let mut bytes = std::fs::read(&file).unwrap();
    // All pages except the first one, which has the schema.
    bytes[4096..].fill(0x5a);
    std::fs::write(&file, bytes).unwrap();
    let message = open_error(&config(&folder, &[]));
    assert!(message.contains("the database is damaged"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wp_config_with_an_empty_database_does_not_create_a_site() {
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
    let message = open_error(&config);
    assert!(message.ends_with("the database holds no site whose tables begin with `blog_`"), "{message}");
    assert!(!store(&folder).read_blocking(|db| db.table_exists("blog_posts")).unwrap());
}

/// The response has no internal details.
#[track_caller]
fn assert_no_details(response: &HttpResponse) {
    assert_eq!(
        (response.status, response.json()["code"].as_str()),
        (500, Some("rest_internal_error")),
        "{}",
        response.body
    );
    for word in ["wp_", "table", "database", "disk", "full", "read-only", "malformed"] {
        assert!(!response.body.contains(word), "{}", response.body);
    }
}

/// Overwrites bytes of the database file, which must not be open.
fn damage(folder: &TempDir, at: u64, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().write(true).open(folder.path().join("svc-data/site.db")).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_table_is_a_500_and_other_routes_still_work() {
    if !on_sqlite() {
        return;
    }
    let folder = closed_site().await;
    let raw = rusqlite::Connection::open(folder.path().join("svc-data/site.db")).unwrap();
    let number = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap().cast_unsigned();
    let size = number("PRAGMA page_size");
    let page = number("SELECT rootpage FROM sqlite_master WHERE name = 'wp_comments'");
    drop(raw);
    damage(&folder, (page - 1) * size, &vec![0x5a; usize::try_from(size).unwrap()]);
    let site = Site::start_in(folder, &SiteBuilder::new(), &[]).await;
    assert_no_details(&site.get("/svc-json/svc/v2/comments").await);
    assert_eq!(site.get(POSTS).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_database_file_is_served() {
    if !on_sqlite() {
        return;
    }
    let folder = closed_site().await;
    let admin = app_password(&crate::site::database(&folder));
    let post = json!({"title": "x", "status": "publish"});
    // The write version of the file format: with an unknown one, SQLite opens the file read-only.
    damage(&folder, 18, &[9]);
    let site = Site::start_in(folder, &SiteBuilder::new(), &[]).await;
    assert_eq!(site.get(POSTS).await.status, 200);
    assert_no_details(&site.post(POSTS, &admin, &post).await);
    let folder = site.stop().await;
    damage(&folder, 18, &[2]);
    let site = Site::start_in(folder, &SiteBuilder::new(), &[]).await;
    assert_eq!(site.post(POSTS, &admin, &post).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_database_server_is_served() {
    if on_sqlite() {
        return;
    }
    let folder = Site::start().await.stop().await;
    // The setting does not apply to root.
    execute(&folder, "CREATE OR REPLACE USER limited IDENTIFIED BY 'p'");
    execute(&folder, "GRANT SELECT, INSERT, UPDATE, DELETE ON *.* TO limited");
    let url = crate::site::database(&folder).replace("root@", "limited:p@");
    let site = Site::start_in(folder, &SiteBuilder::new(), &[("database", &url)]).await;
    let admin = site.app_password();
    execute(&site.folder, "SET GLOBAL read_only = 1");
    let rejected = site.post(POSTS, &admin, &json!({"title": "x", "status": "publish"})).await;
    let read = site.get(POSTS).await;
    execute(&site.folder, "SET GLOBAL read_only = 0");
    assert_no_details(&rejected);
    assert_eq!(read.status, 200);
    let written = site.post(POSTS, &admin, &json!({"title": "x", "status": "publish"})).await;
    assert_eq!(written.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_database_loses_nothing_and_accepts_writes_when_there_is_space() {
    if on_sqlite() {
        return;
    }
    // All tables are in one file of limited size.
    let options = ["--innodb-file-per-table=0", "--innodb-data-file-path=ibdata1:12M:autoextend:max:24M"];
    let server = MariaDb::start(&[DISPOSABLE_OPTIONS, &options[..]].concat()).unwrap().expect("MariaDB is installed");
    let url = server.create("small").unwrap();
    let run = |sql: &str| server.client(&format!("USE small; {sql}")).unwrap();
    run("CREATE TABLE ballast (b LONGBLOB); INSERT INTO ballast VALUES (REPEAT('b', 3000000)), (REPEAT('b', 3000000))");
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &[("database", &url)]).await;
    let admin = app_password(&url);
    let before: u64 = site.get(POSTS).await.header("X-SVC-Total").parse().unwrap();
    let post = json!({"title": "x", "status": "publish", "content": "word ".repeat(60_000)});
    let mut n_written = 0;
    let full = loop {
        let response = site.post(POSTS, &admin, &post).await;
        if response.status != 201 {
            break response;
        }
        n_written += 1;
        assert!(n_written < 100, "the database does not fill up");
    };
    assert_no_details(&full);
    let total = async || {
        site.get(&format!("{POSTS}?per_page=1&_fields=id")).await.header("X-SVC-Total").parse::<u64>().unwrap()
    };
    assert_eq!(total().await, before + n_written);
    run("DROP TABLE ballast");
    // The space is free after the server has purged the table.
    for _ in 0..150 {
        if site.post(POSTS, &admin, &post).await.status == 201 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(total().await, before + n_written + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn health_checks_respond_while_the_database_hangs() {
    const LIMIT: Duration = Duration::from_secs(2);
    let Some(server) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() else { return };
    let url = server.create("hangs").unwrap();
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &[("database", &url)]).await;
    assert_eq!(site.get("/readyz").await.status, 200);
    server.pause().unwrap();
    let address = site.address;
    let wait_for = |path: String| tokio::spawn(async move { send(address, "GET", &path, &[], "").await });
    // Requests that wait for the database occupy the threads of requests.
    let waiting: Vec<_> = (0..40).map(|n| wait_for(format!("{POSTS}?page={n}"))).collect();
    let mut responses = Vec::new();
    for path in ["/readyz", "/healthz", "/readyz"] {
        let checked = tokio::time::timeout(LIMIT, site.get(path)).await;
        responses.push(checked.map(|response| (response.status, response.body)).map_err(|_| path));
    }
    server.resume().unwrap();
    let silent = Ok((503, "the database does not respond\n".to_owned()));
    assert_eq!(responses, [silent.clone(), Ok((200, "ok\n".to_owned())), silent]);
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
    let recovered = async {
        while site.get("/readyz").await.status != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), recovered).await.expect("the site recovers");
}
