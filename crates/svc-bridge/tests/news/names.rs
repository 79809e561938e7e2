//! Which names a write changes.

use mysql::prelude::Queryable as _;

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
const WRITES: [(&str, &str); 56] = [
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
