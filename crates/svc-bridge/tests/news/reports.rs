//! Reports of the connector in a real database, and writes of other programs.

use std::time::{Duration, Instant, UNIX_EPOCH};

use mysql::prelude::Queryable as _;
use svc_bridge::{
    changes::Dependencies,
    feed::{Feed, counter::Counter, reports::Reports},
    names::Name,
};

use crate::server::Server;

/// Reports as the connector makes them.
fn report(server: &Server, rows: &[(u64, &str, &str)]) {
    let mut conn = server.connect();
    for (writer, kind, name) in rows {
        conn.exec_drop("INSERT INTO wp_svc_changes (writer, kind, name) VALUES (?, ?, ?)", (writer, kind, name))
            .unwrap();
    }
}

/// A response that reads these names and is rendered now.
async fn rendered(feed: &dyn Feed, names: &[&str]) -> Dependencies {
    let names: Vec<Name> = names.iter().map(|name| Name::parse(name)).collect();
    let since = feed.visible().await.unwrap();
    feed.changes().depend(&names, since).unwrap()
}

/// Whether a response is still the same for a request that begins now.
async fn is_same(feed: &dyn Feed, response: &Dependencies) -> bool {
    feed.catch_up().await.unwrap();
    response.check().is_ok()
}

/// Waits until a response has ended.
async fn ends(feed: &dyn Feed, response: &Dependencies, what: &str) {
    let start = Instant::now();
    while is_same(feed, response).await {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_of_a_read_ends_what_has_read_it_as_well() {
    let Some(server) = Server::start(&[]) else { return };
    let feed = Reports::start(&server.options(Some("wp"), "root").into(), "wp_").unwrap();
    let writer = server.connect();
    let id = u64::from(writer.connection_id());
    let (before, other) = (rendered(&feed, &["options/a"]).await, rendered(&feed, &["options/b"]).await);
    report(&server, &[(id, "r", "options/a")]);
    assert!(!is_same(&feed, &before).await);
    let during = rendered(&feed, &["options/a"]).await;
    assert!(!is_same(&feed, &during).await, "it may have been rendered before the write");
    report(&server, &[(id, "e", "")]);
    let after = rendered(&feed, &["options/a"]).await;
    assert!(is_same(&feed, &after).await && !is_same(&feed, &during).await && is_same(&feed, &other).await);
    // The process ends without a word: anything in the table may have changed.
    report(&server, &[(id, "r", "options/a")]);
    feed.catch_up().await.unwrap();
    drop(writer);
    ends(&feed, &other, "the writer is gone").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_option_with_a_time_changes_as_by_reads() {
    let Some(server) = Server::start(&[]) else { return };
    let feed = Reports::start(&server.options(Some("wp"), "root").into(), "wp_").unwrap();
    let writer = server.connect();
    let id = u64::from(writer.connection_id());
    let now = i64::try_from(UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap();
    let value = |rest: &str, time: i64| format!("options/a\noptions?off\n1f {rest} {time}");
    let set = |value: &str| report(&server, &[(id, "o", value), (id, "e", "")]);
    set(&value("2a", now + 3600));
    // Changes by reads are no errors here: whether they matter is known for a route.
    let response = rendered(&feed, &["options/a"]).await;
    set(&value("2a", now + 3601));
    assert!(!is_same(&feed, &response).await);
    assert_eq!(response.changed_by_reads(), Some(vec!["options/a".into()]), "the time has moved with the clock");
    set(&value("2a", now + 7200));
    assert!(!is_same(&feed, &response).await);
    assert_eq!(response.changed_by_reads(), None, "another time");
    for (rows, what) in [
        (&[(id, "b", "options/a"), (id, "e", "")][..], "another value in between"),
        (&[(id, "b", "options"), (id, "e", "")], "another value of any option in between"),
    ] {
        set(&value("2a", now + 7200));
        let response = rendered(&feed, &["options/a"]).await;
        set(&value("2a", now + 7201));
        feed.catch_up().await.unwrap();
        assert!(response.changed_by_reads().is_some(), "before {what}");
        report(&server, rows);
        let response = rendered(&feed, &["options/a"]).await;
        set(&value("2a", now + 7201));
        feed.catch_up().await.unwrap();
        assert_eq!(response.changed_by_reads(), None, "{what}");
    }
    // Somebody else writes it before the first one does.
    let other = server.connect();
    let of_other = u64::from(other.connection_id());
    set(&value("2a", now + 7200));
    report(&server, &[(id, "o", &value("2a", now + 7201)), (of_other, "o", &value("2b", now)), (of_other, "e", "")]);
    let during = rendered(&feed, &["options/a"]).await;
    assert!(!is_same(&feed, &during).await, "it is being written");
    report(&server, &[(id, "e", "")]);
    assert!(!is_same(&feed, &during).await);
    assert_eq!(during.changed_by_reads(), None, "it may have been written after the other one");
    drop((writer, other));
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_by_other_programs_and_tables_without_a_time_end_what_has_read_them() {
    let Some(server) = Server::start(&[]) else { return };
    for table in ["a", "b", "c"] {
        server.run(&format!("CREATE TABLE wp.wp_{table} (id INT PRIMARY KEY, n INT) ENGINE=InnoDB"));
        server.run(&format!("INSERT INTO wp.wp_{table} VALUES (1, 1)"));
    }
    let feed = Reports::start(&server.options(Some("wp"), "root").into(), "wp_").unwrap();
    for (statement, name) in [
        ("TRUNCATE wp.wp_a", "a"),
        ("ALTER TABLE wp.wp_b MODIFY n INT ZEROFILL", "b"),
        ("DROP TABLE wp.wp_c", "c"),
        ("CREATE TABLE wp.wp_d (id INT)", "d/"),
        ("CREATE TABLE wp.wp_m (id INT) ENGINE=MEMORY", "m"),
        ("INSERT INTO wp.wp_m VALUES (1)", "m"),
    ] {
        // Tables that were written just now end what has read them for some seconds.
        let start = Instant::now();
        let response = loop {
            let response = rendered(&feed, &[name]).await;
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            if is_same(&feed, &response).await || statement.contains("wp_m") {
                break response;
            }
            assert!(start.elapsed() < Duration::from_secs(30), "before {statement}");
        };
        server.run(statement);
        ends(&feed, &response, statement).await;
    }
    // A write through a view is one of tables that are not known.
    server.run("CREATE TABLE wp.wp_e (id INT) ENGINE=InnoDB");
    server.run("CREATE VIEW wp.wp_v AS SELECT * FROM wp.wp_e");
    let (start, writer) = (Instant::now(), server.connect());
    let id = u64::from(writer.connection_id());
    loop {
        let response = rendered(&feed, &["orders"]).await;
        report(&server, &[(id, "b", "v"), (id, "e", "")]);
        if !is_same(&feed, &response).await {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "the view is not known");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    drop(writer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reported_write_ends_what_has_read_it() {
    let Some(server) = Server::start(&[]) else { return };
    let feed = Reports::start(&server.options(Some("wp"), "root").into(), "wp_").unwrap();
    let writer = server.connect();
    let id = u64::from(writer.connection_id());
    let (post, other) = (rendered(&feed, &["posts/5"]).await, rendered(&feed, &["posts/6"]).await);
    report(&server, &[(id, "b", "posts/5"), (id, "b", "posts?post")]);
    assert!(!is_same(&feed, &post).await, "it is being written");
    let during = rendered(&feed, &["posts/5"]).await;
    assert!(!is_same(&feed, &during).await);
    report(&server, &[(id, "e", "")]);
    assert!(!is_same(&feed, &during).await, "it may have been rendered before the write");
    let after = rendered(&feed, &["posts/5"]).await;
    assert!(is_same(&feed, &after).await && is_same(&feed, &other).await);
    drop(writer);
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_that_are_gone_have_written_the_whole_table() {
    let Some(server) = Server::start(&[]) else { return };
    let feed = Reports::start(&server.options(Some("wp"), "root").into(), "wp_").unwrap();
    let other = rendered(&feed, &["posts/6"]).await;
    let writer = server.connect();
    report(&server, &[(u64::from(writer.connection_id()), "b", "posts/5")]);
    assert!(is_same(&feed, &other).await);
    drop(writer);
    ends(&feed, &other, "the writer is never missed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_other_programs_are_noticed() {
    let Some(server) = Server::start(&[]) else { return };
    let feed = Reports::start(&server.options(Some("wp"), "root").into(), "wp_").unwrap();
    // The first look at the times of the tables.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let (post, term) = (rendered(&feed, &["posts/5"]).await, rendered(&feed, &["terms/5"]).await);
    server.run("INSERT INTO wp_posts (post_type) VALUES ('post')");
    ends(&feed, &post, "a write without a report").await;
    assert!(is_same(&feed, &term).await, "another table");
    // A restored backup or an empty table of reports: anything may have changed.
    server.run("DELETE FROM wp_svc_changes");
    assert!(!is_same(&feed, &term).await);
    let term = rendered(&feed, &["terms/5"]).await;
    assert!(is_same(&feed, &term).await);
    server.run("DROP TABLE wp_svc_changes");
    let start = Instant::now();
    while feed.visible().await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "the table is not created again");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!is_same(&feed, &term).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_of_the_server_ends_everything() {
    let Some(mut server) = Server::start(&[]) else { return };
    let feed = Reports::start(&server.options(Some("wp"), "root").into(), "wp_").unwrap();
    let post = rendered(&feed, &["posts/5"]).await;
    assert!(is_same(&feed, &post).await);
    server.kill();
    server.restart();
    let start = Instant::now();
    while feed.catch_up().await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "it does not connect again");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(post.check().is_err(), "reports may have been lost");
    let post = rendered(&feed, &["posts/5"]).await;
    assert!(is_same(&feed, &post).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_counter_shows_that_something_was_written() {
    let Some(server) = Server::start(&[]) else { return };
    assert!(Counter::start(&server.options(Some("wp"), "root").into()).is_err(), "a table is not numbered");
    server.run("ALTER TABLE wp_old ENGINE = InnoDB");
    let feed = Counter::start(&server.options(Some("wp"), "root").into()).unwrap();
    let start = Instant::now();
    let since = loop {
        match feed.visible().await {
            Ok(since) => break since,
            Err(why) => assert!(start.elapsed() < Duration::from_secs(20), "{why}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let response = feed.changes().depend(&[Name::All], since).unwrap();
    assert!(is_same(&feed, &response).await);
    server.run("INSERT INTO wp_posts (post_type) VALUES ('post')");
    assert!(!is_same(&feed, &response).await, "the write was acknowledged");
    assert!(feed.visible().await.is_err(), "its rows may not be visible yet");
}
