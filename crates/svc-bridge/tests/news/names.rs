//! Which names a write changes.

use mysql::prelude::Queryable as _;

use svc_bridge::names::Name;

use super::{caught_up, changed, server::Server};

/// Names of which the expected ones change.
const NAMES: &str = "posts/1 posts/2 posts/3 posts/999 posts?post posts?page posts?x posts?revision/2 posts?revision/9 postmeta/1 postmeta/2 postmeta/999 \
    comments/1 comments/999 comments?1 comments?2 comments?999 commentmeta/1 commentmeta/999 terms/1 terms/999 termmeta/1 termmeta/999 \
    term_taxonomy/1 term_taxonomy/999 term_taxonomy?category term_taxonomy?x term_relationships/1 term_relationships/2 term_relationships/999 \
    term_relationships?1 term_relationships?2 term_relationships?999 users/1 users/999 usermeta/1 usermeta/2 usermeta/999 sessions/1 sessions/999 \
    options/siteurl options/_transient_e options/x options?yes options?off options?jobs options^site options^z orders items old plugin new";

/// Those of the table with the taxonomies of terms.
const TAXONOMIES: &str = "term_taxonomy/1 term_taxonomy/999 term_taxonomy?category term_taxonomy?x";

/// Statements, each a transaction of its own unless it begins one, with the names that they change.
const WRITES: [(&str, &str); 61] = [
    ("INSERT INTO wp_posts (ID) VALUES (1)", "posts/1 posts?post"),
    ("INSERT INTO wp_posts (ID, post_type, post_content) VALUES (2, 'page', REPEAT('é', 70000))", "posts/2 posts?page"),
    ("INSERT INTO wp_posts (ID) VALUES (18446744073709551615)", "posts?post"),
    ("UPDATE wp_posts SET post_type = 'page' WHERE ID = 1", "posts/1 posts?post posts?page"),
    ("UPDATE wp_posts SET ID = 3 WHERE ID = 1", "posts/1 posts/3 posts?page"),
    ("UPDATE wp_posts SET post_content = 'b' WHERE ID IN (2, 3)", "posts/2 posts/3 posts?page"),
    ("UPDATE wp_posts SET post_content = 'b' WHERE ID IN (2, 3)", ""),
    ("DELETE FROM wp_posts WHERE ID = 3", "posts/3 posts?page"),
    ("REPLACE INTO wp_posts (ID) VALUES (2)", "posts/2 posts?post posts?page"),
    ("INSERT INTO wp_posts (ID) VALUES (2) ON DUPLICATE KEY UPDATE post_type = 'x'", "posts/2 posts?post posts?x"),
    ("INSERT INTO wp_posts (ID, post_type, post_parent) VALUES (5, 'Revision', 2)", "posts?revision/2"),
    ("UPDATE wp_posts SET post_parent = 9 WHERE ID = 5", "posts?revision/2 posts?revision/9"),
    ("DELETE FROM wp_posts WHERE ID = 5", "posts?revision/9"),
    ("INSERT INTO wp_postmeta VALUES (9, 1, 'a', NULL), (10, 2, NULL, 'b')", "postmeta/1 postmeta/2"),
    ("UPDATE wp_postmeta SET post_id = 2 WHERE meta_id = 9", "postmeta/1 postmeta/2"),
    ("DELETE FROM wp_postmeta", "postmeta/2"),
    ("INSERT INTO wp_comments VALUES (1, 1, 'A', -5)", "comments/1 comments?1"),
    ("UPDATE wp_comments SET comment_post_ID = 2", "comments/1 comments?1 comments?2"),
    ("DELETE FROM wp_comments", "comments/1 comments?2"),
    ("INSERT INTO wp_commentmeta VALUES (7, 1, 'a', 'b')", "commentmeta/1"),
    ("INSERT INTO wp_terms VALUES (1, 'a')", "terms/1 terms/999"),
    ("INSERT INTO wp_termmeta VALUES (7, 1, 'a', 'b')", "termmeta/1"),
    ("INSERT INTO wp_term_taxonomy VALUES (1, 5, 'category', '')", TAXONOMIES),
    ("UPDATE wp_term_taxonomy SET description = 'x'", "term_taxonomy/1 term_taxonomy?category"),
    ("UPDATE wp_term_taxonomy SET taxonomy = 'x'", TAXONOMIES),
    (
        "INSERT INTO wp_term_relationships VALUES (1, 1, 0), (2, 2, 0)",
        "term_relationships/1 term_relationships/2 term_relationships?1 term_relationships?2",
    ),
    ("DELETE FROM wp_term_relationships WHERE object_id = 1", "term_relationships/1 term_relationships?1"),
    ("INSERT INTO wp_users VALUES (1, 'a')", "users/1"),
    ("INSERT INTO wp_usermeta VALUES (1, 1, 'session_tokens', 'a'), (2, 1, NULL, 'a')", "usermeta/1 sessions/1"),
    ("UPDATE wp_usermeta SET meta_value = 'b' WHERE umeta_id = 1", "sessions/1"),
    ("UPDATE wp_usermeta SET meta_key = 'c', user_id = 2 WHERE umeta_id = 1", "usermeta/2 sessions/1"),
    ("INSERT INTO wp_options VALUES (1, 'siteurl', 'a', 'yes')", "options/siteurl options?yes options^site"),
    (
        "UPDATE wp_options SET option_name = '_transient_e'",
        "options/siteurl options/_transient_e options?yes options^site",
    ),
    ("UPDATE wp_options SET autoload = 'off'", "options/_transient_e options?yes options?off"),
    (
        "INSERT INTO wp_orders VALUES (1, 1.5, 3, 'a', '2026-01-01', POINT(1, 1), 'c'), (2, NULL, NULL, NULL, NULL, NULL, NULL)",
        "orders",
    ),
    ("INSERT INTO wp_items VALUES (1, 1)", "items"),
    // The server deletes the row of `wp_items` without an event.
    ("DELETE FROM wp_orders WHERE id = 1", "orders items"),
    ("INSERT INTO wp_old VALUES (1)", "old"),
    ("INSERT INTO plugin VALUES (1)", "plugin"),
    ("INSERT INTO other.wp_posts VALUES (1)", ""),
    ("USE other; TRUNCATE wp_posts", ""),
    ("BEGIN; INSERT INTO wp_terms VALUES (2, 'b'); ROLLBACK", ""),
    (
        "BEGIN; UPDATE wp_terms SET name = 'c' WHERE term_id = 1; SAVEPOINT s; INSERT INTO plugin VALUES (2); ROLLBACK TO s; COMMIT",
        "terms/1",
    ),
    ("BEGIN; INSERT INTO wp_old VALUES (2); INSERT INTO plugin VALUES (3); ROLLBACK", "old"),
    ("XA START 'a'; UPDATE wp_users SET user_login = 'b'; XA END 'a'; XA COMMIT 'a' ONE PHASE", "users/1"),
    ("CREATE TEMPORARY TABLE t (a int); INSERT INTO t VALUES (1); DROP TEMPORARY TABLE t", ""),
    ("CREATE TABLE wp_new (a int) AS SELECT 1 AS a", "new"),
    ("USE other; RENAME TABLE wp.wp_new TO wp.wp_newer, wp.plugin TO wp.wp_plugin", "plugin new"),
    (
        "ALTER TABLE wp_posts MODIFY post_type varchar(300) NOT NULL DEFAULT 'post' AFTER ID",
        "posts/1 posts/2 posts/3 posts/999 posts?post posts?page posts?x posts?revision/2 posts?revision/9",
    ),
    ("INSERT INTO wp_posts (ID, post_type) VALUES (3, 'page')", "posts/3 posts?page"),
    (
        "ALTER TABLE wp_usermeta ADD COLUMN z decimal(30,10) FIRST",
        "usermeta/1 usermeta/2 usermeta/999 sessions/1 sessions/999",
    ),
    ("INSERT INTO wp_usermeta VALUES (1.5, 7, 1, 'a', 'b')", "usermeta/1"),
    ("ANALYZE TABLE wp_terms; OPTIMIZE TABLE wp_terms; CREATE USER u; GRANT SELECT ON wp.* TO u; DROP USER u", ""),
    // A key of a table in another schema.
    ("CREATE TABLE other.parents (id int PRIMARY KEY) ENGINE=InnoDB", ""),
    (
        "ALTER TABLE wp_items ADD COLUMN parent int, ADD FOREIGN KEY (parent) REFERENCES other.parents (id) ON DELETE CASCADE",
        "items",
    ),
    ("INSERT INTO other.parents VALUES (1)", ""),
    ("INSERT INTO wp_items VALUES (2, NULL, 1)", "items"),
    ("DELETE FROM other.parents", "items"),
    (
        "TRUNCATE wp_options",
        "options/siteurl options/_transient_e options/x options?yes options?off options?jobs options^site options^z",
    ),
    ("INSERT INTO wp_options VALUES (2, 'cron', 'a', 'yes')", "options?jobs"),
    ("SET binlog_format = 'STATEMENT'; INSERT INTO wp_users VALUES (2, 'b')", NAMES),
];

async fn check(options: &[&str]) {
    let Some(server) = Server::start(options) else { return };
    let (feed, changes) = server.feed();
    for (sql, expected) in WRITES {
        let since = caught_up(&feed).await;
        let mut writer = server.connect();
        for statement in sql.split("; ") {
            writer.query_drop(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        let position = caught_up(&feed).await;
        assert!(position >= since);
        let expected = expected.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(changed(&changes, NAMES, since), expected, "{sql} {:?}", feed.state());
    }
    assert_eq!((feed.state().missed, feed.state().error), (0, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_write_changes_its_names() {
    check(&[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_events_without_checksums_change_the_same_names() {
    check(&[
        "--log-bin-compress=ON",
        "--log-bin-compress-min-len=10",
        "--binlog-checksum=NONE",
        "--binlog-row-metadata=FULL",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_without_the_columns_that_name_them_change_the_table() {
    let Some(server) = Server::start(&[]) else { return };
    server.run("INSERT INTO wp_posts (ID) VALUES (1), (2)");
    let (feed, changes) = server.feed();
    let since = caught_up(&feed).await;
    let mut writer = server.connect();
    writer.query_drop("SET binlog_row_image = 'MINIMAL'").unwrap();
    writer.query_drop("INSERT INTO wp_posts (ID) VALUES (3)").unwrap();
    let inserted = caught_up(&feed).await;
    assert_eq!(changed(&changes, "posts/3 posts/999 terms/1", since), "posts/3 posts/999", "without the type");
    writer.query_drop("UPDATE wp_posts SET post_content = 'c' WHERE ID = 1").unwrap();
    caught_up(&feed).await;
    assert_eq!(changed(&changes, "posts/1 posts/999 posts?x terms/1", inserted), "posts/1 posts/999 posts?x");
}

/// Conditions of reads.
const CONDITIONS: &str = "orders#id:1 orders#id:2 orders#code=a orders#code=b&id:1 orders#code:7 orders#kind=a orders#missing=x \
    posts#post_type=page posts#post_type=post&post_status=publish|draft usermeta#meta_key=a sessions#meta_key=session_tokens orders";

/// Statements with those that they concern.
const CONDITIONED: [(&str, &str); 12] = [
    // The value of `kind` is not known, nor that of a column that is missing.
    (
        "INSERT INTO wp_orders (id, code) VALUES (2, 'A ')",
        "orders#id:2 orders#code=a orders#code:7 orders#kind=a orders#missing=x orders",
    ),
    ("INSERT INTO wp_orders (id, code) VALUES (1, NULL)", "orders#id:1 orders#kind=a orders#missing=x orders"),
    (
        "UPDATE wp_orders SET code = 'b' WHERE id = 1",
        "orders#id:1 orders#code=b&id:1 orders#code:7 orders#kind=a orders#missing=x orders",
    ),
    ("UPDATE wp_orders SET code = 'b' WHERE id = 1", ""),
    (
        "UPDATE wp_orders SET price = 3 WHERE id = 2",
        "orders#id:2 orders#code=a orders#code:7 orders#kind=a orders#missing=x orders",
    ),
    // It may be equal to `a` or `b`.
    (
        "UPDATE wp_orders SET code = 'ä' WHERE id = 2",
        "orders#id:2 orders#code=a orders#code:7 orders#kind=a orders#missing=x orders",
    ),
    (
        "DELETE FROM wp_orders WHERE id = 2",
        "orders#id:2 orders#code=a orders#code:7 orders#kind=a orders#missing=x orders",
    ),
    ("INSERT INTO wp_posts (post_type) VALUES ('page')", "posts#post_type=page"),
    ("INSERT INTO wp_posts (post_status) VALUES ('draft')", "posts#post_type=post&post_status=publish|draft"),
    ("INSERT INTO wp_posts (post_status, post_mime_type) VALUES ('trash', 'e')", ""),
    ("INSERT INTO wp_usermeta VALUES (1, 1, 'session_tokens', 'a')", "sessions#meta_key=session_tokens"),
    ("INSERT INTO wp_usermeta VALUES (2, 1, 'A', 'a')", "usermeta#meta_key=a"),
];

#[tokio::test(flavor = "multi_thread")]
async fn columns_that_are_neither_named_nor_indexed_do_not_matter() {
    const READS: &str = "orders#@price orders#@code|x orders#id:1&@code orders#id:1";
    let Some(server) = Server::start(&[]) else { return };
    server.run("ALTER TABLE wp_orders ADD KEY by_time (at)");
    let (feed, changes) = server.feed();
    let since = caught_up(&feed).await;
    assert_eq!(changed(&changes, READS, since), "");
    server.run("INSERT INTO wp_old VALUES (1)");
    for (sql, expected) in [
        ("INSERT INTO wp_orders (id) VALUES (1)", READS),
        ("UPDATE wp_orders SET price = 3", "orders#@price orders#id:1"),
        ("UPDATE wp_orders SET code = 'a'", "orders#@code|x orders#id:1&@code orders#id:1"),
        ("UPDATE wp_orders SET kind = 'b'", "orders#id:1"),
        // The order of rows may be that of the index.
        ("UPDATE wp_orders SET at = '2026-01-02'", READS),
        ("UPDATE wp_orders SET id = 2", READS),
        ("UPDATE wp_orders SET code = 'b'", "orders#@code|x"),
        ("DELETE FROM wp_orders", "orders#@price orders#@code|x"),
    ] {
        let since = caught_up(&feed).await;
        server.run(sql);
        caught_up(&feed).await;
        assert_eq!(changed(&changes, READS, since), expected, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_known_by_their_values() {
    let Some(server) = Server::start(&[]) else { return };
    let (feed, changes) = server.feed();
    let since = caught_up(&feed).await;
    // The columns are known when something has read them, and once those of the tables were read.
    assert_eq!(changed(&changes, CONDITIONS, since), "");
    server.run("INSERT INTO wp_old VALUES (1)");
    for (sql, expected) in CONDITIONED {
        let since = caught_up(&feed).await;
        server.run(sql);
        caught_up(&feed).await;
        assert_eq!(changed(&changes, CONDITIONS, since), expected, "{sql}");
    }
    let since = caught_up(&feed).await;
    server.run("ALTER TABLE wp_orders CHANGE code note char(80), ADD COLUMN code int DEFAULT 7");
    caught_up(&feed).await;
    assert_eq!(changed(&changes, "orders#id:9 posts#post_type=page", since), "orders#id:9", "it was altered");
    server.run("INSERT INTO wp_orders (id, note) VALUES (8, 'a')");
    let since = caught_up(&feed).await;
    server.run("INSERT INTO wp_orders (id, note) VALUES (9, 'a')");
    caught_up(&feed).await;
    assert_eq!(
        changed(&changes, "orders#id:9 orders#code=a orders#code:7 orders#code:8", since),
        "orders#id:9 orders#code=a orders#code:7"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_renderings_are_told_apart() {
    let Some(server) = Server::start(&[]) else { return };
    let (feed, changes) = server.feed();
    let since = caught_up(&feed).await;
    let all = "users/1 users/2 users/3 users/4 users/5 users/6 plugin";
    // Changes by reads are no error of `depend`, but show afterwards.
    let by_others = |since| {
        let is_same = |name: &&str| changes.depend(&[Name::parse(name)], since).is_ok();
        all.split(' ').filter(|name| !is_same(name)).collect::<Vec<_>>().join(" ")
    };
    let mark = "SET skip_parallel_replication = 1";
    let mut rendering = Some(changes.rendering());
    for (sql, expected, others) in [
        (&*format!("{mark}; INSERT INTO wp_users VALUES (1, 'a')"), "users/1", ""),
        ("INSERT INTO wp_users VALUES (2, 'a')", "users/2", "users/2"),
        (
            &format!(
                "{mark}; INSERT INTO wp_users VALUES (3, 'a'); SET skip_parallel_replication = 0; DELETE FROM wp_users WHERE ID = 1"
            ),
            "users/1 users/3",
            "users/1",
        ),
        (
            &format!(
                "{mark}; BEGIN; UPDATE wp_users SET user_login = 'b'; INSERT INTO wp_users VALUES (4, 'a'); COMMIT"
            ),
            "users/2 users/3 users/4",
            "",
        ),
        (&format!("{mark}; INSERT INTO plugin VALUES (1)"), "plugin", ""),
        (&format!("{mark}; TRUNCATE plugin"), "plugin", "plugin"),
        // By nobody whom this server has asked.
        (&format!("{mark}; INSERT INTO wp_users VALUES (5, 'a')"), "users/5", "users/5"),
    ] {
        let since = caught_up(&feed).await.max(since);
        if others == "users/5" {
            rendering = None;
            tokio::time::sleep(std::time::Duration::from_millis(2_200)).await;
        }
        let mut writer = server.connect();
        sql.split("; ").for_each(|statement| writer.query_drop(statement).unwrap());
        caught_up(&feed).await;
        assert_eq!((&*changed(&changes, all, since), &*by_others(since)), (expected, others), "{sql}");
    }
    drop(rendering);
}

#[tokio::test(flavor = "multi_thread")]
async fn options_that_each_request_writes_are_changed_as_by_renderings() {
    let Some(server) = Server::start(&[]) else { return };
    server.run("INSERT INTO wp_options VALUES (1, 'seen', 'at 10:20', 'off'), (2, 'other', '1', 'off')");
    let (feed, changes) = server.feed();
    let _rendering = changes.rendering();
    let by_others = |since| changes.depend(&[Name::parse("options/seen")], since).is_err();
    for (sql, expected) in [
        ("UPDATE wp_options SET option_value = 'at 10:21' WHERE option_id = 1", true),
        (
            "SET skip_parallel_replication = 1; UPDATE wp_options SET option_value = 'at 10:22' WHERE option_id = 1",
            false,
        ),
        ("UPDATE wp_options SET option_value = 'at 10:234' WHERE option_id = 1", false),
        ("UPDATE wp_options SET option_value = 'on 1' WHERE option_id = 1", true),
        ("UPDATE wp_options SET option_value = 'on 2' WHERE option_id = 1", true),
        ("UPDATE wp_options SET option_value = 'at 1:2' WHERE option_id = 1", true),
        ("UPDATE wp_options SET option_value = 'at 1:3' WHERE option_id = 1", false),
        ("UPDATE wp_options SET option_value = 'at 1:4', autoload = 'on' WHERE option_id = 1", true),
        ("UPDATE wp_options SET option_value = CONCAT('next ', UNIX_TIMESTAMP() + 100) WHERE option_id = 1", true),
        (
            "DO SLEEP(3); UPDATE wp_options SET option_value = CONCAT('next ', UNIX_TIMESTAMP() + 100) WHERE option_id = 1",
            false,
        ),
        ("UPDATE wp_options SET option_value = CONCAT('next ', UNIX_TIMESTAMP() + 3600) WHERE option_id = 1", true),
        ("DELETE FROM wp_options WHERE option_id = 1", true),
        ("INSERT INTO wp_options VALUES (1, 'seen', 'at 10:20', 'off')", true),
    ] {
        let since = caught_up(&feed).await;
        let mut writer = server.connect();
        sql.split("; ").for_each(|statement| writer.query_drop(statement).unwrap());
        caught_up(&feed).await;
        assert_eq!(by_others(since), expected, "{sql}");
        assert_eq!(changed(&changes, "options/seen options/other", since), "options/seen", "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_is_applied_as_a_whole() {
    let Some(server) = Server::start(&[]) else { return };
    let (feed, changes) = server.feed();
    let since = caught_up(&feed).await;
    let mut writer = server.connect();
    writer.query_drop("BEGIN").unwrap();
    for id in 1..100 {
        writer.exec_drop("INSERT INTO wp_posts (ID) VALUES (?)", (id,)).unwrap();
    }
    assert_eq!(caught_up(&feed).await, since);
    let before = feed.state().transactions;
    writer.query_drop("COMMIT").unwrap();
    caught_up(&feed).await;
    assert_eq!(feed.state().transactions, before + 1);
    assert_eq!(changed(&changes, "posts/1 posts/99 posts/100", since), "posts/1 posts/99");
}
