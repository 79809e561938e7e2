//! The log changes its file, the connection ends, the server restarts, a new log begins.

use std::time::Duration;

use mysql::prelude::Queryable as _;
use svc_bridge::feed::{
    Feed as _,
    binlog::{Binlog, UnknownReason},
};

use super::{caught_up, changed, server::Server, until, visible};

const READ: &str = "posts/1 posts/999 terms/1";

#[tokio::test(flavor = "multi_thread")]
async fn the_log_continues_in_other_files() {
    let Some(server) = Server::start(&[]) else { return };
    let (feed, changes) = server.feed();
    let mut since = caught_up(&feed).await;
    for round in 0..20 {
        server.run(&format!("REPLACE INTO wp_posts (ID, menu_order) VALUES (1, {round})"));
        server.run("FLUSH BINARY LOGS");
        if round % 5 == 0 {
            server.run("PURGE BINARY LOGS BEFORE NOW()");
        }
        let position = caught_up(&feed).await;
        assert!(position > since);
        assert_eq!(changed(&changes, READ, since), "posts/1");
        since = position;
    }
    // The last change of the file came after the last transaction.
    until(&feed, |_| feed.state().file == "bin.000021").await;
    assert_eq!(feed.state().missed, 0);
    // Without a transaction in the new file it takes some time until a position is sure.
    assert!(visible(&feed).await >= since - 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_log_ends_everything_before() {
    let Some(server) = Server::start(&[]) else { return };
    let (feed, changes) = server.feed();
    server.run("FLUSH BINARY LOGS; FLUSH BINARY LOGS");
    server.run("INSERT INTO wp_posts (ID, post_content) VALUES (7, REPEAT('a', 20000))");
    let mut since = caught_up(&feed).await;
    // With fewer bytes than the previous log had, and with more.
    for (missed, size) in [(1, 10), (2, 30_000), (3, 10)] {
        server.run("RESET MASTER");
        server.run(&format!("REPLACE INTO wp_posts (ID, post_content) VALUES (1, REPEAT('a', {size}))"));
        let first = feed.catch_up().await;
        assert!(first.is_err() || changed(&changes, READ, since) == READ, "{first:?} {:?}", feed.state());
        caught_up(&feed).await;
        assert_eq!(changed(&changes, READ, since), READ);
        let position = caught_up(&feed).await;
        assert!(position > since && feed.state().missed == missed, "{:?}", feed.state());
        server.run("REPLACE INTO wp_posts (ID) VALUES (1)");
        caught_up(&feed).await;
        assert_eq!(changed(&changes, READ, position), "posts/1");
        assert!(visible(&feed).await > position);
        since = caught_up(&feed).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_when_the_connection_ends() {
    let Some(server) = Server::start(&[]) else { return };
    let (feed, changes) = server.feed();
    for round in 1..=5 {
        let since = caught_up(&feed).await;
        let threads: Vec<u64> = server
            .connect()
            .query("SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()")
            .unwrap();
        assert!(round > 1 || threads.len() == 2, "{threads:?}");
        for thread in threads {
            // It may have ended already.
            let _ = server.connect().query_drop(format!("KILL {thread}"));
        }
        server.run(&format!("REPLACE INTO wp_posts (ID, menu_order) VALUES (1, {round})"));
        if round == 3 {
            server.run("FLUSH BINARY LOGS");
        }
        let first = feed.catch_up().await;
        assert!(first.is_err() || changed(&changes, READ, since) == "posts/1", "{first:?}");
        caught_up(&feed).await;
        assert_eq!(changed(&changes, READ, since), "posts/1");
    }
    assert_eq!((feed.state().missed, feed.state().error), (0, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_when_the_server_restarts() {
    let Some(mut server) = Server::start(&[]) else { return };
    let (feed, changes) = server.feed();
    let since = caught_up(&feed).await;
    server.run("INSERT INTO wp_terms VALUES (1, 'a')");
    server.shut_down();
    assert_eq!(
        (feed.catch_up().await, feed.visible().await),
        (Err(UnknownReason::Disconnected), Err(UnknownReason::Disconnected))
    );
    server.restart();
    server.run("INSERT INTO wp_posts (ID) VALUES (1)");
    let position = caught_up(&feed).await;
    assert!(position > since);
    assert_eq!(changed(&changes, "posts/1 posts/2 terms/1 users/1", since), "posts/1 terms/1");
    assert_eq!(feed.state().missed, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_crashed_may_have_lost_transactions() {
    let Some(mut server) = Server::start(&[]) else { return };
    let (feed, changes) = server.feed();
    server.run("INSERT INTO wp_posts (ID) VALUES (2)");
    let since = caught_up(&feed).await;
    server.kill();
    until(&feed, |outcome| *outcome == Err(UnknownReason::Disconnected)).await;
    server.restart();
    let position = caught_up(&feed).await;
    assert!(position > since && feed.state().missed == 1, "{:?}", feed.state());
    assert_eq!(changed(&changes, READ, since), READ);
    server.run("INSERT INTO wp_posts (ID) VALUES (1)");
    caught_up(&feed).await;
    assert_eq!(changed(&changes, READ, position), "posts/1");
}

/// A replica is promoted: the address of the database leads to it, while connections to the former server stay open.
#[tokio::test(flavor = "multi_thread")]
async fn a_promoted_replica_ends_everything_before() {
    let Some(former) = Server::start(&[]) else { return };
    let Some(replica) = Server::start(&["--server-id=8"]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let address = folder.path().join("address");
    former.take_over(&address);
    let (feed, changes) = former.feed_at(&address);
    let since = caught_up(&feed).await;
    // As planned: the former server is read-only first. Nothing is replayed until the other one is there.
    former.run("SET GLOBAL read_only = 1");
    // So long the size of the log's file is enough.
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    assert_eq!(feed.catch_up().await, Err(UnknownReason::Disconnected));
    replica.take_over(&address);
    replica.run("INSERT INTO wp_posts (ID) VALUES (1)");
    let position = caught_up(&feed).await;
    assert!(position > since && feed.state().missed == 1, "{:?}", feed.state());
    assert_eq!(changed(&changes, READ, since), READ);
    replica.run("UPDATE wp_posts SET menu_order = 2");
    caught_up(&feed).await;
    assert_eq!(changed(&changes, READ, position), "posts/1");
    // Without a word, and back again: it is noticed when the connection is renewed.
    former.run("SET GLOBAL read_only = 0");
    former.take_over(&address);
    let start = std::time::Instant::now();
    while feed.state().missed == 1 {
        // The outcome may be that of the other server.
        let _ = feed.catch_up().await;
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", feed.state());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    caught_up(&feed).await;
    assert_eq!(changed(&changes, READ, position), READ);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_was_removed_meanwhile_ends_everything_before() {
    let Some(mut server) = Server::start(&[]) else { return };
    let (feed, changes) = server.feed();
    let since = caught_up(&feed).await;
    server.shut_down();
    until(&feed, |outcome| outcome.is_err()).await;
    server.restart_without_first_files();
    let position = caught_up(&feed).await;
    assert!(position > since && feed.state().missed == 1, "{:?}", feed.state());
    assert_eq!(changed(&changes, READ, since), READ);
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_and_connections_end_with_the_feed() {
    let Some(server) = Server::start(&[]) else { return };
    let (feed, _) = server.feed();
    caught_up(&feed).await;
    drop(feed);
    let mut connection = server.connect();
    for _ in 0..100 {
        let others: Vec<u64> =
            connection.query("SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()").unwrap();
        if others.is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("connections are still open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_process_continues_where_the_last_one_stopped() {
    let Some(server) = Server::start(&[]) else { return };
    let stopped = |feed: Binlog| feed.resume_point().expect("a point");
    let (feed, _) = server.feed();
    server.run("REPLACE INTO wp_posts (ID, menu_order) VALUES (999, 1)");
    caught_up(&feed).await;
    let from = stopped(feed);
    server.run("REPLACE INTO wp_posts (ID, menu_order) VALUES (1, 1)");
    server.run("FLUSH BINARY LOGS");
    let (feed, changes) = server.feed_from(&from);
    caught_up(&feed).await;
    let since = feed.position_of(&from).expect("a position");
    assert_eq!((&*changed(&changes, READ, since), feed.state().missed), ("posts/1", 0));
    assert!(visible(&feed).await > since);
    // Another log, which may have a file of this name.
    for size in [10, 30_000] {
        let (feed, _) = server.feed();
        caught_up(&feed).await;
        let from = stopped(feed);
        server.run("RESET MASTER");
        server.run(&format!("REPLACE INTO wp_posts (ID, post_content) VALUES (2, REPEAT('a', {size}))"));
        let (feed, changes) = server.feed_from(&from);
        caught_up(&feed).await;
        let since = feed.position_of(&from).expect("a position");
        assert_eq!(changed(&changes, READ, since), READ, "{size}");
    }
}
