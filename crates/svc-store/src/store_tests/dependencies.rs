//! The dependencies of reads, and their invalidation by writes of this process and of others.

use svc_model::{Comment, Post, PostId, TermId, UserId};
use svc_versions::{Context, Dependencies, Transport};

use crate::posts::{PostOrderBy, PostQuery};
use crate::terms::TermQuery;
use crate::{
    DatabaseUrl, Db, MetaKind, Order, Result, Store, StoreConfig, StoredText, Tx, authors, comments, fixture, meta,
    options, posts, terms, users,
};

type Read = fn(&mut Db) -> Result<()>;
pub(super) type Write = fn(&mut Tx) -> Result<()>;

const POST: PostId = PostId(1001);

fn change_post(tx: &mut Tx, change: fn(&mut Post)) -> Result<()> {
    let mut post = posts::get(tx, POST)?.unwrap();
    change(&mut post);
    posts::update(tx, &post).map(drop)
}

/// Reads, and the writes that change what they return.
const READS: &[(&str, Read, &[&str])] = &[
    ("the post", |db| posts::get(db, POST).map(drop), &["title", "status", "comment", "delete", "guid"]),
    ("another post", |db| posts::get(db, PostId(1000)).map(drop), &[]),
    ("a post that does not exist", |db| posts::get(db, PostId(100_001)).map(drop), &["create", "page"]),
    ("its meta", |db| meta::load_one(db, MetaKind::Post, POST.0).map(drop), &["meta"]),
    ("one key of its meta", |db| meta::get(db, MetaKind::Post, POST.0, "k").map(drop), &["meta"]),
    ("its terms", |db| terms::of_objects(db, &[POST]).map(drop), &["terms", "delete", "term name"]),
    (
        "newest posts",
        |db| posts::query(db, &PostQuery::published("post", 2)).map(drop),
        &["status", "create", "delete"],
    ),
    ("posts by title", |db| by_title(db), &["title", "status", "create", "delete", "comment", "guid", "page"]),
    ("posts of a category", |db| of_category(db), &["status", "create", "delete", "terms", "term name"]),
    ("pages", |db| posts::query(db, &PostQuery::published("page", 2)).map(drop), &["page"]),
    ("a category", |db| terms::get(db, TermId(1), None).map(drop), &["term name", "terms"]),
    ("terms", |db| terms::get_many(db, &[TermId(1)]).map(drop), &["term name", "terms"]),
    ("terms without counts", |db| terms::without_counts(db, &[TermId(1)]).map(drop), &["term name"]),
    ("categories", |db| categories(db, TermQuery::default()), &["term name"]),
    (
        "categories with posts",
        |db| categories(db, TermQuery { hide_empty: true, ..TermQuery::default() }),
        &["term name", "terms", "status", "delete"],
    ),
    (
        "its categories",
        |db| categories(db, TermQuery { posts: vec![POST], ..TermQuery::default() }),
        &["term name", "terms", "delete"],
    ),
    ("an author", |db| authors::post_of(db, UserId(1), &["post"], &[]).map(drop), &[]),
    ("nobody", |db| authors::post_of(db, UserId(100_001), &["post"], &[]).map(drop), &["status", "create", "delete"]),
    ("a user", |db| users::get(db, UserId(1)).map(drop), &["user"]),
    ("options", |db| options::autoloaded(db).map(drop), &["option"]),
    ("an option that does not exist", |db| options::get(db, "none").map(drop), &["option"]),
    ("comments", |db| comments::counts(db, None).map(drop), &["comment", "delete"]),
];

pub(super) const WRITES: &[(&str, Write)] = &[
    ("title", |tx| change_post(tx, |post| post.title = "Another".to_owned())),
    ("status", |tx| change_post(tx, |post| post.status = "draft".to_owned())),
    ("guid", |tx| posts::set_guid(tx, POST, "https://example.org/?p=1001", None)),
    ("create", |tx| posts::insert(tx, &Post { post_type: "post".to_owned(), ..Post::default() }).map(drop)),
    ("page", |tx| posts::insert(tx, &Post { post_type: "page".to_owned(), ..Post::default() }).map(drop)),
    ("delete", |tx| posts::delete(tx, POST).map(drop)),
    ("meta", |tx| meta::update(tx, MetaKind::Post, POST.0, "k", &StoredText::of("v")).map(drop)),
    ("terms", |tx| terms::set_object_terms(tx, POST, "category", &[TermId(1)])),
    ("term name", |tx| {
        let mut term = terms::get(tx, TermId(1), None)?.unwrap();
        term.name = "Another".to_owned();
        terms::update(tx, &term)?;
        let mut others: Vec<_> = terms::of_objects(tx, &[POST])?.remove(&POST).unwrap_or_default();
        others.iter_mut().try_for_each(|term| {
            term.name.push('x');
            terms::update(tx, term).map(drop)
        })
    }),
    ("user", |tx| {
        let mut user = users::get(tx, UserId(1))?.unwrap();
        user.display_name = "Another".to_owned();
        users::update(tx, &user).map(drop)
    }),
    ("option", |tx| options::set(tx, "another", &StoredText::of("1"), true)),
    ("comment", |tx| {
        let comment =
            Comment { post: POST, approved: "1".to_owned(), comment_type: "comment".to_owned(), ..Comment::default() };
        comments::insert(tx, &comment).map(drop)
    }),
    ("nothing", |tx| options::delete(tx, "none").map(drop)),
];

fn by_title(db: &mut Db) -> Result<()> {
    let query = PostQuery { order_by: vec![(PostOrderBy::Title, Order::Asc)], ..PostQuery::published("post", 2) };
    posts::query(db, &query).map(drop)
}

fn of_category(db: &mut Db) -> Result<()> {
    let clause = posts::TaxClause { taxonomy: "category".to_owned(), terms: vec![TermId(1)], ..Default::default() };
    let tax = posts::Clauses { clauses: vec![clause], ..Default::default() };
    posts::query(db, &PostQuery { tax, ..PostQuery::published("post", 2) }).map(drop)
}

/// What a read returns, and what it depends on.
fn captured<T>(store: &Store, read: impl FnOnce(&mut Db) -> Result<T>) -> (T, Dependencies) {
    let cx = Context::background();
    cx.capture(|| store.read(&cx, read).unwrap())
}

fn categories(db: &mut Db, query: TermQuery) -> Result<()> {
    terms::query(db, &TermQuery { taxonomies: vec!["category".to_owned()], ..query }).map(drop)
}

#[test]
fn writes_invalidate_exactly_what_they_change() {
    let mut wrong = Vec::new();
    for (write, change) in WRITES {
        let (store, _folder) = fixture::store();
        for (name, read, _) in READS {
            // Cached statements and options must not hide what a read depends on.
            store.read_blocking(read).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let stamp = store.stamp(&Context::background()).unwrap();
        let recorded: Vec<_> = READS.iter().map(|(_, read, _)| captured(&store, read).1).collect();
        store.write_blocking(*change).unwrap();
        assert!(store.stamp(&Context::background()).unwrap() > stamp);
        for ((name, _, writes), dependencies) in READS.iter().zip(&recorded) {
            let is_current = store.versions().is_current(dependencies, stamp);
            if is_current == writes.contains(write) {
                wrong.push(format!("{name} after {write}: {is_current}"));
            }
        }
    }
    assert!(wrong.is_empty(), "valid or not, against expectation: {wrong:#?}");
}

#[test]
fn writes_of_other_programs_invalidate_the_tables_that_they_change() {
    let (store, folder) = fixture::store();
    let other = fixture::open(&StoreConfig::new(DatabaseUrl::Sqlite(folder.path().join("site.db")))).unwrap();
    let capture = |read: Read| captured(&store, read).1;
    let post = capture(|db| posts::get(db, PostId(1000)).map(drop));
    let user = capture(|db| users::get(db, UserId(1)).map(drop));
    let is_current = |stamp| {
        store.stamp(&Context::background()).unwrap();
        (store.versions().is_current(&post, stamp), store.versions().is_current(&user, stamp))
    };
    let revision = Post { post_type: "revision".to_owned(), ..Post::default() };
    let insert_revision = move |tx: &mut Tx| posts::insert(tx, &revision).map(drop);
    let set = |tx: &mut Tx| options::set(tx, "another", &StoredText::of("1"), true);
    for round in 0..3 {
        let stamp = store.stamp(&Context::background()).unwrap();
        assert_eq!(is_current(stamp), (true, true), "{round}: nothing was written");
        other.write_blocking(|tx| change_post(tx, |post| post.title.push('x'))).unwrap();
        assert_eq!(is_current(stamp), (false, true), "{round}: another program changed another post");
        let stamp = store.stamp(&Context::background()).unwrap();
        store.write_blocking(set).unwrap();
        assert_eq!(is_current(stamp), (true, true), "{round}: an option");
        other.write_blocking(insert_revision.clone()).unwrap();
        store.write_blocking(move |tx| options::set(tx, "another", &StoredText::of(round), true)).unwrap();
        assert_eq!(is_current(stamp), (false, true), "{round}: noticed by the next own write");
        let stamp = store.stamp(&Context::background()).unwrap();
        other.write_blocking(insert_revision.clone()).unwrap();
        assert_eq!(is_current(stamp), (false, true), "{round}: a revision");
    }
}

#[test]
fn changes_in_parallel_are_never_missed() {
    let (store, folder) = fixture::store();
    let other = fixture::open(&StoreConfig::new(DatabaseUrl::Sqlite(folder.path().join("site.db")))).unwrap();
    let cache = svc_versions::VersionedCache::<(), i64>::new(1 << 20);
    let read = || {
        let stamp = store.stamp(&Context::background()).unwrap();
        cache.get(&Context::background(), store.versions(), &(), stamp).unwrap_or_else(|| {
            let number = |db: &mut Db| Ok(options::get(db, "n")?.map_or(0, |n| n.text().parse().unwrap()));
            let (count, dependencies) = captured(&store, number);
            cache.insert(Transport::Plain, (), count, 8, dependencies, stamp);
            count
        })
    };
    let acknowledged = std::sync::atomic::AtomicI64::new(0);
    let next = std::sync::Mutex::new(0);
    std::thread::scope(|threads| {
        for writer in [&store, &other] {
            threads.spawn(|| {
                for _ in 0..200 {
                    let mut next = next.lock().unwrap();
                    *next += 1;
                    let n = *next;
                    writer.write_blocking(move |tx| options::set(tx, "n", &StoredText::of(n), true)).unwrap();
                    acknowledged.store(n, std::sync::atomic::Ordering::SeqCst);
                }
            });
        }
        for _ in 0..2 {
            threads.spawn(|| {
                loop {
                    let at_least = acknowledged.load(std::sync::atomic::Ordering::SeqCst);
                    let found = read();
                    assert!(found >= at_least, "{found} after {at_least} was acknowledged");
                    if at_least == 400 {
                        break;
                    }
                }
            });
        }
    });
    assert_eq!(read(), 400);
}

#[test]
fn a_reopened_database_is_observed() {
    let (store, folder) = fixture::store();
    let set = |store: &Store, value: &'static str| {
        store.write_blocking(move |tx| options::set(tx, "siteurl", &StoredText::of(value), true)).unwrap();
    };
    set(&store, "a");
    drop(store);
    let store = fixture::open(&StoreConfig::new(DatabaseUrl::Sqlite(folder.path().join("site.db")))).unwrap();
    let url = |db: &mut Db| Ok(options::autoloaded(db)?["siteurl"].text().to_owned());
    let read = || store.read_blocking(url).unwrap();
    assert_eq!(read(), "a");
    for value in ["b", "c"] {
        let stamp = store.stamp(&Context::background()).unwrap();
        let (_, recorded) = captured(&store, url);
        set(&store, value);
        assert_eq!(read(), value);
        assert!(!store.versions().is_current(&recorded, stamp), "{value}");
        assert!(store.stamp(&Context::background()).unwrap() > stamp, "{value}");
    }
}
