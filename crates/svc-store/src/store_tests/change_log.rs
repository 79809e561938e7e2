//! The log of changes: every row that a write changes is in it, on both engines.

use std::collections::BTreeSet;

use svc_db::ReadText as _;
use svc_db::schema::{ObjectColumn, Table};
use svc_model::{Comment, CommentId, Post, PostId, TermId, TermTaxonomyId, UserId};
use svc_versions::Context;

use super::dependencies::{WRITES, Write};
use crate::tables::TABLES;
use crate::{
    DatabaseUrl, Db, LoggedChange, MetaKind, Object, Store, StoreConfig, StoredText, Tx, authors, comments, fixture,
    meta, options, posts, term_counts, terms, users,
};

/// More writes: those that change many rows, and rows of other objects.
const MORE_WRITES: &[(&str, Write)] = &[
    ("trash", |tx| {
        let now = svc_db::stamp::parse("2026-01-01 00:00:00").unwrap();
        posts::trash(tx, PostId(1000), (now, now)).map(drop)
    }),
    ("revision", |tx| {
        let revision = Post { post_type: "revision".to_owned(), parent: PostId(1001), ..Post::default() };
        let id = posts::insert(tx, &revision)?;
        posts::update(tx, &Post { id, title: "Another".to_owned(), ..revision }).map(drop)
    }),
    ("no revisions", |tx| posts::trim_revisions(tx, PostId(1000), 0)),
    ("new author", |tx| users::delete(tx, UserId(2), Some(UserId(1))).map(drop)),
    ("new user", |tx| {
        let user = svc_model::User { login: "another".to_owned(), ..svc_model::User::default() };
        let id = users::insert(tx, &user)?;
        meta::update(tx, MetaKind::User, id.0, "k", &StoredText::of("v")).map(drop)
    }),
    ("no links", |tx| authors::delete_links(tx, UserId(1)).map(drop)),
    ("no category", |tx| {
        let term = terms::get(tx, TermId(2), Some("category"))?.or(terms::get(tx, TermId(3), None)?).unwrap();
        terms::delete(tx, &term, None).map(drop)
    }),
    ("key of all", |tx| meta::delete_everywhere(tx, MetaKind::Post, "_edit_last", None).map(drop)),
    ("no comment", |tx| {
        let comment = Comment { post: PostId(1001), approved: "1".to_owned(), ..Comment::default() };
        let parent = comments::insert(tx, &comment)?;
        comments::insert(tx, &Comment { parent, ..comment })?;
        comments::delete(tx, parent).map(drop)
    }),
    ("first comment", |tx| comments::delete(tx, CommentId(1)).map(drop)),
    ("counts", |tx| {
        let check = term_counts::wrong_counts(tx, TermTaxonomyId(0))?;
        term_counts::correct_counts(tx, &check.wrong).map(drop)
    }),
    ("option twice", |tx| {
        options::set(tx, "new_option", &StoredText::of("1"), true)?;
        options::set(tx, "blogname", &StoredText::of("Another"), true)?;
        options::delete(tx, "blogdescription").map(drop)
    }),
];

/// All rows of a table, each as the texts of its columns.
fn rows(db: &mut Db, table: &Table) -> BTreeSet<Vec<String>> {
    let columns: Vec<String> = table.columns.iter().map(|column| format!("`{}`", column.name)).collect();
    let sql = format!("SELECT {} FROM `{}{}`", columns.join(", "), db.prefix(), table.name);
    let mut rows = BTreeSet::new();
    db.query_text(&sql, &[], &mut |row| {
        rows.insert((0..columns.len()).map(|i| row.text(i)).collect::<Result<_, _>>()?);
        Ok(())
    })
    .unwrap();
    rows
}

fn all_rows(store: &Store) -> Vec<BTreeSet<Vec<String>>> {
    store.read_blocking(|db| Ok(TABLES.iter().map(|table| rows(db, table)).collect())).unwrap()
}

/// Whether a logged change is one of this row.
fn is_of(change: &LoggedChange, table: &Table, row: &[String]) -> bool {
    table.rows.iter().filter(|rows| rows.rows.name() == change.kind).any(|rows| {
        let value = |name: &str| &row[table.columns.iter().position(|column| column.name == name).unwrap()];
        match (rows.object, &change.object) {
            (_, None) => true,
            (ObjectColumn::Id(column), Some(Object::Id(id))) => *value(column) == id.to_string(),
            (ObjectColumn::Name(column), Some(Object::Name(name))) => value(column) == name,
            _ => false,
        }
    })
}

/// A store that logs changes, on each engine.
fn on_each(test: impl Fn(Store)) {
    let (sqlite, _folder) = fixture::store();
    test(sqlite);
    if let Some(mut config) = fixture::server().map(fixture::database) {
        config.change_log = Some(100_000);
        let mysql = fixture::open(&config).unwrap();
        mysql.import(&fixture::dump()[..], crate::import::ImportOptions::default()).unwrap();
        test(mysql);
    }
}

fn logged(store: &Store, after: i64) -> Vec<LoggedChange> {
    store.logged_changes(&Context::background(), Some(after), 10_000).unwrap().unwrap()
}

#[test]
fn every_changed_row_is_logged() {
    on_each(|store| {
        for (name, write) in WRITES.iter().chain(MORE_WRITES) {
            let after = logged(&store, 0).last().map_or(0, |change| change.seq);
            let before = all_rows(&store);
            let write = *write;
            store.write_blocking(move |tx: &mut Tx| fixture::with_random_statements(|| write(tx))).unwrap();
            let (now, changes) = (all_rows(&store), logged(&store, after));
            let mut n_changed = 0;
            for (table, (before, now)) in TABLES.iter().zip(before.iter().zip(&now)) {
                for row in before.symmetric_difference(now) {
                    n_changed += 1;
                    assert!(
                        changes.iter().any(|change| is_of(change, table, row)),
                        "{name} changed a row of {} that is not logged: {row:?}, {changes:#?}",
                        table.name
                    );
                }
            }
            assert_eq!(n_changed == 0, changes.is_empty(), "{name}: {changes:#?}");
            assert!(changes.iter().all(|change| change.object.is_some()), "{name}: {changes:#?}");
        }
    });
}

#[test]
fn posts_are_logged_with_what_they_were_and_are() {
    on_each(|store| {
        let after = logged(&store, 0).last().map_or(0, |change| change.seq);
        let id = store
            .write_blocking(|tx| {
                let mut post = Post { post_type: "post".to_owned(), status: "draft".to_owned(), ..Post::default() };
                post.author = UserId(3);
                post.id = posts::insert(tx, &post)?;
                Ok(post.id)
            })
            .unwrap();
        store
            .write_blocking(move |tx| {
                let mut post = posts::get(tx, id)?.unwrap();
                post.status = "publish".to_owned();
                posts::update(tx, &post)
            })
            .unwrap();
        store.write_blocking(move |tx| posts::delete(tx, id).map(drop)).unwrap();
        let of_post = logged(&store, after).into_iter().filter(|change| change.kind == "posts");
        let line = |c: LoggedChange| format!("{} {:?} {:?}", c.operation.name(), c.before, c.after);
        let lines: Vec<String> = of_post.map(line).collect();
        assert_eq!(
            lines,
            [
                r#"insert None Some("3,draft,post,0")"#,
                r#"update Some("3,draft,post,0") Some("3,publish,post,0")"#,
                r#"delete Some("3,publish,post,0") None"#,
            ]
        );
    });
}

#[test]
fn a_database_of_an_earlier_version_is_upgraded() {
    let (store, folder) = fixture::store();
    drop(store);
    let path = folder.path().join("site.db");
    let earlier = rusqlite::Connection::open(&path).unwrap();
    // What version 3 of the layout had instead of the log of changes.
    earlier
        .execute_batch(
            "CREATE TABLE wp_svc_epoch (family TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID; \
             INSERT INTO wp_svc_epoch VALUES ('posts', 7), ('layout', 3), ('collation', \
             (SELECT n FROM wp_svc_layout WHERE name = 'collation')); \
             CREATE TABLE wp_svc_search_log (seq INTEGER PRIMARY KEY, id INTEGER, nonce INTEGER); \
             DROP TABLE wp_svc_layout; DROP TABLE wp_svc_changes;",
        )
        .unwrap();
    let triggers = |db: &rusqlite::Connection| -> Vec<String> {
        let mut s = db.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name").unwrap();
        s.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let current = triggers(&earlier);
    for name in current.iter().filter(|name| name.starts_with("wp_svc_changes")) {
        earlier.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    earlier
        .execute_batch(
            "CREATE TRIGGER wp_svc_posts_update AFTER update ON wp_posts BEGIN \
             UPDATE wp_svc_epoch SET n = n + 1 WHERE family = 'posts'; END",
        )
        .unwrap();
    let store = fixture::open(&StoreConfig::new(DatabaseUrl::Sqlite(path))).unwrap();
    assert_eq!(triggers(&earlier), current);
    let tables = "SELECT COUNT(*) FROM sqlite_master WHERE name IN ('wp_svc_epoch', 'wp_svc_search_log')";
    assert_eq!(earlier.query_row(tables, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    store.write_blocking(|tx| options::set(tx, "a", &StoredText::of("1"), true)).unwrap();
    assert_eq!(logged(&store, 0).last().unwrap().object, Some(Object::Name("a".to_owned())));
}

/// The changes after a number that have a description, each as a line.
fn described(store: &Store, after: i64) -> Vec<String> {
    let line = |c: LoggedChange| {
        let id = match c.object {
            Some(Object::Id(id)) => id,
            _ => 0,
        };
        let text = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        format!("{} {id} {}>{}", c.kind, text(c.before), text(c.after))
    };
    let changes = logged(store, after).into_iter().filter(|c| c.before.is_some() || c.after.is_some());
    changes.map(line).collect()
}

fn last(store: &Store) -> i64 {
    logged(store, 0).last().map_or(0, |change| change.seq)
}

#[test]
fn comments_terms_and_meta_are_logged_with_what_they_were_and_are() {
    on_each(|store| {
        let after = last(&store);
        let comment = Comment { post: PostId(1001), user: UserId(2), approved: "0".to_owned(), ..Comment::default() };
        let id = store.write_blocking(move |tx| comments::insert(tx, &comment)).unwrap();
        store
            .write_blocking(move |tx| {
                let comment = comments::get(tx, id)?.unwrap();
                comments::update(tx, &Comment { approved: "1".to_owned(), ..comment })?;
                meta::update(tx, MetaKind::Comment, id.0, "k", &StoredText::of("v")).map(drop)
            })
            .unwrap();
        store.write_blocking(move |tx| comments::delete(tx, id).map(drop)).unwrap();
        let kept: Vec<String> =
            described(&store, after).into_iter().filter(|line| line.starts_with("comment")).collect();
        let id = id.0;
        assert_eq!(
            kept,
            [
                format!("comments {id} ->1001,2,0,"),
                format!("comments {id} 1001,2,0,>1001,2,1,"),
                // The meta is a part of the change of the comment.
                format!("comment meta {id} ->"),
                format!("comment meta {id} ->"),
                format!("comments {id} 1001,2,1,>-"),
            ]
        );

        let after = last(&store);
        store
            .write_blocking(|tx| {
                meta::add(tx, MetaKind::Post, 1001, "a", &StoredText::of("1"))?;
                meta::update(tx, MetaKind::Post, 1001, "_edit_lock", &StoredText::of("2"))?;
                meta::delete(tx, MetaKind::Post, 1001, "a", None).map(drop)
            })
            .unwrap();
        assert_eq!(described(&store, after), ["post meta 1001 ->a\n_edit_lock\n"]);

        let after = last(&store);
        let term = svc_model::Term { taxonomy: "category".to_owned(), name: "New".to_owned(), ..Default::default() };
        let term = store.write_blocking(move |tx| terms::insert(tx, &term)).unwrap();
        let id = term.id.0;
        let renamed = svc_model::Term { name: "Newer".to_owned(), ..term.clone() };
        store.write_blocking(move |tx| terms::update(tx, &renamed).map(drop)).unwrap();
        store.write_blocking(move |tx| terms::delete(tx, &term, None).map(drop)).unwrap();
        let kept: Vec<String> = described(&store, after).into_iter().filter(|line| line.starts_with("terms")).collect();
        let lines = ["->category", "category>category", "category>-"].map(|text| format!("terms {id} {text}"));
        assert_eq!(kept, lines);
    });
}

/// A store that keeps few changes, on each engine.
fn on_each_with(max: u32, test: impl Fn(&Store)) {
    let mut configs = vec![StoreConfig::new(DatabaseUrl::Temporary)];
    configs.extend(fixture::server().map(fixture::database));
    for mut config in configs {
        config.change_log = Some(max);
        let store = fixture::open(&config).unwrap();
        store.write_blocking(crate::schema::install).unwrap();
        test(&store);
    }
}

/// Changes this number of posts in one transaction.
fn change_posts(store: &Store, n: i64) {
    let ids: Vec<i64> = (1..=n).collect();
    let change = move |tx: &mut Tx| {
        tx.record(crate::rows::POSTS, &ids);
        // A transaction must change something to be one.
        options::set(tx, "changed", &StoredText::of("1"), true)
    };
    store.write_blocking(change).unwrap();
}

#[test]
fn entries_are_kept_for_a_consumer_up_to_a_bound() {
    let bounds = |store: &Store| store.read_blocking(|db| db.log_bounds()).unwrap().unwrap();
    on_each_with(1_000, |store| {
        let first = bounds(store).last;
        store.write_blocking(move |tx| tx.set_consumer_position("a", first)).unwrap();
        (0..3).for_each(|_| change_posts(store, 1_100));
        assert!(bounds(store).reach(first), "nothing is deleted before the consumer has handled it");
        let second = first + 1_000;
        store.write_blocking(move |tx| tx.set_consumer_position("a", second)).unwrap();
        change_posts(store, 1_100);
        let now = bounds(store);
        assert_eq!((now.deleted, now.reach(second), now.reach(second - 1)), (second, true, false));
        store.write_blocking(|tx| tx.remove_consumer("a")).unwrap();
        change_posts(store, 1_100);
        assert!(bounds(store).deleted > second, "without a consumer the usual number is kept");
        assert!(!bounds(store).reach(bounds(store).last + 1), "a number of another database");
    });
    on_each_with(100, |store| {
        let first = bounds(store).last;
        store.write_blocking(move |tx| tx.set_consumer_position("a", first)).unwrap();
        (0..3).for_each(|_| change_posts(store, 1_100));
        let now = bounds(store);
        assert!(!now.reach(first) && now.last - now.deleted >= 1_000, "{now:?}");
    });
}
