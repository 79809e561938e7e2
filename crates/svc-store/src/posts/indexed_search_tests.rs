//! Searches with the index return the same pages and totals as searches without it.

use std::path::Path;
use std::time::{Duration, Instant};

use svc_db::{Tx, WriteText as _};
use svc_model::{Post, PostId, UserId};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

use super::*;
use crate::{
    Beyond, DatabaseUrl, Order, Page, SearchIndexConfig, SearchIndexer, Store, StoreConfig, fixture, fixture::Random,
};

fn run(tx: &mut Tx, sql: &str) -> Result<()> {
    tx.execute_text(sql, &[]).map(drop)
}

/// Parts of texts and searches: cases, accents, wildcards, escapes, markup, several scripts, short words.
const PARTS: [&str; 34] = [
    "fox",
    "Fox",
    "FOXES",
    "afoxb",
    "beta",
    "alphabet",
    "café",
    "CAFE",
    "cafe\u{301}",
    "straße",
    "STRASSE",
    "ss",
    "ß",
    "50%",
    "a_b",
    "axb",
    "a\\b",
    "&amp;",
    "<p>",
    "😀",
    "中文",
    "中",
    "文",
    "é",
    "x",
    "the",
    "O'Neil",
    "ł",
    "L",
    "Привет",
    "ПРИВЕТ",
    "ﬁ",
    "ａ",
    "x1",
];

impl Random {
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn text(&mut self, most: usize) -> String {
        let n = self.below(most + 1);
        (0..n).map(|_| format!("{}{}", self.pick(&PARTS), self.pick(&[" ", " ", " ", "", "-", "\n", ". "]))).collect()
    }

    fn post(&mut self) -> Post {
        let minute = self.below(30);
        Post {
            title: self.text(3),
            excerpt: self.text(1),
            content: self.text(8),
            post_type: self.pick(&["post", "post", "post", "page", "revision"]).to_owned(),
            status: self.pick(&["publish", "publish", "draft"]).to_owned(),
            password: self.pick(&["", "", "", "secret"]).to_owned(),
            author: UserId(1 + self.below(2) as i64),
            date: crate::stamp::parse(&format!("2024-01-01 00:{minute:02}:00")),
            ..Post::default()
        }
    }

    /// A search text of one or two terms.
    fn search(&mut self) -> String {
        let mut term = || match self.below(8) {
            0 => format!("\"{} {}\"", self.pick(&PARTS), self.pick(&PARTS)),
            1 => format!("{}{}", self.pick(&PARTS), self.pick(&PARTS)),
            2 => self.pick(&["o", "fo", "ox", "e", "%", "_", "\\", "zzz", "ohabe", "fé"]).to_owned(),
            _ => self.pick(&PARTS).to_owned(),
        };
        let (first, second) = (term(), term());
        match self.below(6) {
            0 => format!("{first} {second}"),
            1 => format!("{first} -{second}"),
            2 => format!("-{first}"),
            _ => first,
        }
    }

    fn query(&mut self) -> PostQuery {
        let order = [Order::Asc, Order::Desc][self.below(2)];
        let by = match self.below(4) {
            0 => PostOrderBy::Date,
            1 => PostOrderBy::Id,
            _ => PostOrderBy::Relevance,
        };
        let mut q = PostQuery::published("post", 1 + self.below(12) as u64).search(Some(self.search()));
        q.order_by = vec![(by, order)];
        q.offset = [0, 0, 0, 7, 40][self.below(5)];
        q.without_password = self.below(2) == 0;
        q.backwards = self.below(3) == 0;
        match self.below(6) {
            0 => q.search_columns = vec![SearchColumn::Title],
            1 => q.order_by = vec![(PostOrderBy::Title, order)],
            2 => q.exclude = vec![PostId(1000), PostId(1007)],
            3 => q.own_statuses = Some((UserId(1), vec!["draft".to_owned()])),
            _ => {}
        }
        q
    }
}

/// The fixture site with more posts, and several read connections.
fn site(random: &mut Random, n_posts: usize) -> (Store, tempfile::TempDir) {
    let (store, folder) = fixture::store();
    drop(store);
    let store = open(folder.path());
    for _ in 0..n_posts {
        change(&store, random, true);
    }
    (store, folder)
}

fn open(folder: &Path) -> Store {
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(folder.join("site.db")));
    config.durable = false;
    config.readers = 4;
    config.read_timeout = None;
    fixture::open(&config).unwrap()
}

fn index(store: &Store, folder: &Path) -> SearchIndexer {
    let mut config = SearchIndexConfig::new(folder.join("search"));
    config.min_posts = 1;
    store.start_search_index(config).unwrap()
}

#[track_caller]
fn wait(mut what: impl FnMut() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Inserts, changes or deletes a post.
fn change(store: &Store, random: &mut Random, is_new: bool) {
    let post = random.post();
    let which = random.below(90);
    let kind = if is_new { 0 } else { random.below(4) };
    store
        .write_blocking(move |tx| {
            let other = published(tx).get(which).copied();
            match (kind, other) {
                (1, Some(id)) => delete(tx, id).map(drop),
                (2, Some(id)) => update(tx, &Post { id, ..post.clone() }).map(drop),
                _ => insert(tx, &post).map(drop),
            }
        })
        .unwrap();
}

fn published(db: &mut Db) -> Vec<PostId> {
    query(db, &PostQuery::published("post", 100)).unwrap().ids
}

/// Compares random searches. Returns how many of them used the index.
#[track_caller]
fn compare(db: &mut Db, random: &mut Random, n: usize) -> usize {
    let mut n_indexed = 0;
    for _ in 0..n {
        let mut q = random.query();
        let (expected, indexed): (Page<PostId>, Option<Page<PostId>>) = fixture::with_random_statements(|| {
            if random.below(3) == 0 {
                let all = query::all(db, &q).unwrap();
                if !all.is_empty() {
                    let place = query::position_of(db, &q, all[random.below(all.len())].0).unwrap();
                    (q.beyond, q.offset, q.total) = (place.map(Beyond::Position), 0, false);
                }
            }
            (query::list(db, &q).unwrap(), indexed_search::page(db, &q).unwrap())
        });
        n_indexed += usize::from(indexed.is_some());
        if let Some(indexed) = indexed {
            assert_eq!(indexed.ids, expected.ids, "{q:?}");
            assert_eq!(indexed.total, expected.total, "{q:?}");
        }
    }
    n_indexed
}

#[track_caller]
fn check(store: &Store, random: &mut Random, n: usize) -> usize {
    store.read_blocking(|db| Ok(compare(db, random, n))).unwrap()
}

#[test]
fn indexed_searches_equal_scans() {
    let mut random = Random(1);
    let (store, folder) = site(&mut random, 150);
    let indexer = index(&store, folder.path());
    wait(|| indexer.is_ready());
    let n = check(&store, &mut random, 600);
    assert!(n > 400, "{n} of 600 used the index");
}

#[test]
fn changed_posts_are_found_at_once() {
    let mut random = Random(2);
    let (store, folder) = site(&mut random, 60);
    let indexer = index(&store, folder.path());
    wait(|| indexer.is_ready());
    let mut n = 0;
    for _ in 0..150 {
        change(&store, &mut random, false);
        n += check(&store, &mut random, 4);
    }
    assert!(n > 300, "{n} of 600 used the index");
}

#[test]
fn old_snapshots_do_not_see_newer_posts() {
    let mut random = Random(3);
    let (store, folder) = site(&mut random, 60);
    let indexer = index(&store, folder.path());
    wait(|| indexer.is_ready());
    let mark = || store.caches().search.index.current().map_or(0, |generation| generation.mark().seq);
    for _ in 0..10 {
        let before = mark();
        let n = store.read_blocking(|db| {
            published(db);
            std::thread::scope(|threads| {
                threads.spawn(|| (0..9).for_each(|_| change(&store, &mut random, true))).join().unwrap();
            });
            wait(|| mark() > before);
            Ok(compare(db, &mut random, 20))
        });
        assert!(n.unwrap() > 0);
    }
}

#[test]
fn searches_are_right_while_posts_change() {
    let mut random = Random(4);
    let (store, folder) = site(&mut random, 40);
    let indexer = index(&store, folder.path());
    wait(|| indexer.is_ready());
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            let mut random = Random(5);
            (0..300).for_each(|_| change(&store, &mut random, false));
        });
        while !writer.is_finished() {
            check(&store, &mut random, 5);
        }
    });
    check(&store, &mut random, 50);
}

#[test]
fn builds_continue_after_a_stop() {
    let mut random = Random(6);
    let (store, folder) = site(&mut random, 200);
    for n in 0..12 {
        let indexer = index(&store, folder.path());
        std::thread::sleep(Duration::from_millis(n));
        drop(indexer);
        // Files that a crash has left incomplete.
        let search = folder.path().join("search");
        std::fs::create_dir_all(&search).unwrap();
        std::fs::write(search.join("index.unfinished"), "{").unwrap();
        for number in 1..40 {
            let path = search.join(format!("{number}.segment"));
            if !path.exists() {
                std::fs::write(path, "svcseg1\nincomplete").unwrap();
            }
        }
        change(&store, &mut random, false);
        assert_eq!(check(&store, &mut random, 2), 0, "a stopped indexer leaves no index");
    }
    let indexer = index(&store, folder.path());
    wait(|| indexer.is_ready());
    assert!(check(&store, &mut random, 100) > 50);
}

fn segments(folder: &Path) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(folder.join("search")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "segment")).collect()
}

#[test]
fn damaged_files_are_not_used() {
    let mut random = Random(7);
    let (store, folder) = site(&mut random, 80);
    let damages: [&dyn Fn(); 5] = [
        &|| std::fs::write(folder.path().join("search/index.json"), "{").unwrap(),
        &|| std::fs::remove_file(folder.path().join("search/index.json")).unwrap(),
        &|| std::fs::remove_file(&segments(folder.path())[0]).unwrap(),
        &|| std::fs::write(&segments(folder.path())[0], "svcseg1\n").unwrap(),
        &|| {
            let path = &segments(folder.path())[0];
            let mut bytes = std::fs::read(path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(path, bytes).unwrap();
        },
    ];
    for damage in damages {
        let indexer = index(&store, folder.path());
        wait(|| indexer.is_ready());
        drop(indexer);
        damage();
        let indexer = index(&store, folder.path());
        check(&store, &mut random, 5);
        wait(|| indexer.is_ready());
        assert!(check(&store, &mut random, 20) > 5);
    }
    // Damage to an open file is noticed by the search that reads it.
    let indexer = index(&store, folder.path());
    wait(|| indexer.is_ready());
    segments(folder.path()).iter().for_each(|path| std::fs::File::create(path).map(drop).unwrap());
    check(&store, &mut random, 30);
    wait(|| indexer.is_ready());
    assert!(check(&store, &mut random, 20) > 5);
}

#[test]
fn a_log_without_triggers_is_not_trusted() {
    let mut random = Random(8);
    let (store, folder) = site(&mut random, 40);
    let indexer = index(&store, folder.path());
    wait(|| indexer.is_ready());
    store.write_blocking(|tx| run(tx, "DROP TRIGGER wp_svc_changes_posts_0_update")).unwrap();
    assert_eq!(check(&store, &mut random, 5), 0);
    change(&store, &mut random, false);
    wait(|| check(&store, &mut random, 5) > 0);
}

#[test]
fn an_older_copy_of_the_database_is_recognized() {
    let mut random = Random(9);
    let (store, folder) = site(&mut random, 40);
    let indexer = index(&store, folder.path());
    wait(|| indexer.is_ready());
    let copy = folder.path().join("copy.db");
    store.backup(&copy).unwrap();
    (0..12).for_each(|_| change(&store, &mut random, true));
    indexer.update();
    drop((indexer, store));
    std::fs::rename(&copy, folder.path().join("site.db")).unwrap();
    let store = open(folder.path());
    (0..12).for_each(|_| change(&store, &mut random, true));
    let indexer = index(&store, folder.path());
    wait(|| indexer.is_ready());
    assert!(check(&store, &mut random, 50) > 20);
}

#[test]
fn a_site_below_the_minimum_has_no_index() {
    let mut random = Random(10);
    let (store, folder) = site(&mut random, 5);
    let mut config = SearchIndexConfig::new(folder.path().join("search"));
    config.min_posts = 100_000;
    let indexer = store.start_search_index(config).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert!(!indexer.is_ready());
}

#[test]
fn changes_of_one_post_do_not_hide_those_of_another() {
    let mut random = Random(12);
    let (store, folder) = site(&mut random, 40);
    let indexer = index(&store, folder.path());
    wait(|| indexer.is_ready());
    let write = |at: usize, content: &'static str| {
        let changed = store.write_blocking(move |tx| {
            let id = published(tx)[at];
            let mut post = crate::posts::get(tx, id)?.unwrap();
            post.content = content.to_owned();
            update(tx, &post)
        });
        assert!(changed.unwrap());
    };
    (0..70).for_each(|_| write(0, "again"));
    write(1, "zebrafish");
    let query = PostQuery::published("post", 10).search(Some("zebrafish".to_owned())).total(true);
    let found = fixture::with_random_statements(|| store.read_blocking(|db| crate::posts::query(db, &query)));
    assert_eq!(found.unwrap().total, Some(1));
}

#[test]
fn a_transaction_finds_what_it_has_written() {
    let mut random = Random(11);
    let (store, folder) = site(&mut random, 40);
    let indexer = index(&store, folder.path());
    wait(|| indexer.is_ready());
    let found = store.write_blocking(|tx| {
        let id = published(tx)[0];
        let mut post = crate::posts::get(tx, id)?.unwrap();
        post.content = "zebrafish".to_owned();
        update(tx, &post)?;
        let query = PostQuery::published("post", 10).search(Some("zebrafish".to_owned())).total(true);
        fixture::with_random_statements(|| Ok(crate::posts::query(tx, &query)?.total))
    });
    assert_eq!(found.unwrap(), Some(1));
    assert!(check(&store, &mut random, 20) > 5, "the index is used again, without being built again");
}

/// A site with more posts on a MariaDB of its own, to which no other test writes.
struct MariaDbSite {
    store: Store,
    config: StoreConfig,
    folder: tempfile::TempDir,
    _server: MariaDb,
}

/// The fixture site with more posts on MariaDB. `None` if it is not installed.
fn mariadb_site(random: &mut Random, n_posts: usize) -> Option<MariaDbSite> {
    let server = MariaDb::start(DISPOSABLE_OPTIONS).unwrap()?;
    let mut config = fixture::database(&server);
    config.readers = 4;
    let store = fixture::open(&config).unwrap();
    store.import(&fixture::dump()[..], crate::import::ImportOptions::default()).unwrap();
    for _ in 0..n_posts {
        change(&store, random, true);
    }
    Some(MariaDbSite { store, config, folder: tempfile::tempdir().unwrap(), _server: server })
}

/// Waits until searches use the index.
#[track_caller]
fn wait_for_index(store: &Store, random: &mut Random) {
    wait(|| check(store, random, 3) > 0);
}

#[test]
fn indexed_searches_equal_scans_on_mariadb() {
    let mut random = Random(12);
    let Some(MariaDbSite { store, config, folder, _server }) = mariadb_site(&mut random, 150) else { return };
    let indexer = index(&store, folder.path());
    wait(|| check(&store, &mut random, 300) > 200);
    // Own writes need no comparison, unless the server itself writes statistics in between.
    let mut n_compared = 0;
    for _ in 0..60 {
        change(&store, &mut random, false);
        if check(&store, &mut random, 8) == 0 {
            n_compared += 1;
            wait_for_index(&store, &mut random);
        }
    }
    assert!(n_compared < 10, "{n_compared} of 60 needed a comparison");
    // After a restart, the index of the files is compared with the posts.
    drop(indexer);
    change(&store, &mut random, false);
    drop(store);
    let store = fixture::open(&config).unwrap();
    change(&store, &mut random, true);
    let _indexer = index(&store, folder.path());
    wait(|| check(&store, &mut random, 50) > 20);
}

#[test]
fn changes_of_other_programs_are_found_on_mariadb() {
    let mut random = Random(13);
    let Some(MariaDbSite { store, config, folder, _server }) = mariadb_site(&mut random, 60) else { return };
    let other = fixture::open(&config).unwrap();
    let _indexer = index(&store, folder.path());
    wait_for_index(&store, &mut random);
    for _ in 0..4 {
        // Neither the modification date nor the number of posts changes.
        other
            .write_blocking(|tx| {
                run(tx, "UPDATE wp_posts SET post_content = CONCAT(post_content, ' fox') WHERE ID % 7 = 1")?;
                run(tx, "UPDATE wp_posts SET post_title = REPLACE(post_title, 'fox', 'zzz') WHERE ID % 5 = 1")?;
                run(tx, "DELETE FROM wp_posts WHERE ID = (SELECT * FROM (SELECT MAX(ID) FROM wp_posts) last)")
            })
            .unwrap();
        // Searches are right at once, and use the index again later.
        check(&store, &mut random, 20);
        wait(|| check(&store, &mut random, 40) > 20);
    }
}

#[test]
fn searches_are_right_while_posts_change_on_mariadb() {
    let mut random = Random(14);
    let Some(MariaDbSite { store, config, folder, _server }) = mariadb_site(&mut random, 40) else { return };
    let other = fixture::open(&config).unwrap();
    let _indexer = index(&store, folder.path());
    wait_for_index(&store, &mut random);
    std::thread::scope(|threads| {
        let writers = [&store, &other].map(|store| {
            threads.spawn(move || {
                let mut random = Random(15);
                (0..100).for_each(|_| change(store, &mut random, false));
            })
        });
        while !writers.iter().all(|writer| writer.is_finished()) {
            check(&store, &mut random, 5);
        }
    });
    wait(|| check(&store, &mut random, 50) > 20);
}

#[test]
fn other_tables_do_not_end_the_use_of_the_index_on_mariadb() {
    let mut random = Random(16);
    let Some(MariaDbSite { store, config, folder, _server }) = mariadb_site(&mut random, 60) else { return };
    let other = fixture::open(&config).unwrap();
    let _indexer = index(&store, folder.path());
    wait_for_index(&store, &mut random);
    let is_writing = std::sync::atomic::AtomicBool::new(true);
    let relaxed = std::sync::atomic::Ordering::Relaxed;
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while is_writing.load(relaxed) {
                other
                    .write_blocking(|tx| {
                        run(tx, "UPDATE wp_options SET option_value = UUID() WHERE option_name = 'blogname'")
                    })
                    .unwrap();
            }
        });
        // The server never rests, but the table of posts does.
        let seen = store.database().read_unlimited(|db| Ok(db.version(crate::rows::POSTS))).unwrap();
        assert_eq!(seen, None, "nothing can be cached");
        wait_for_index(&store, &mut random);
        wait(|| check(&store, &mut random, 40) > 20);
        is_writing.store(false, relaxed);
    });
}
