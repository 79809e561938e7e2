//! Lists with random conditions, orders and offsets, compared with filtering and sorting in memory: every query plan
//! must return the same ids in the same order, and the same total. Rows are changed in between, so that maintained
//! counts are tested as well. Runs on SQLite, and on a private MariaDB if it is installed.

#![expect(clippy::unwrap_used, reason = "a failing helper fails the test")]

use chrono::{NaiveDateTime, TimeDelta};
use svc_model::{Comment, Post, PostId, Term, TermId, UserId};
use svc_store::comments::{self, CommentOrderBy, CommentQuery};
use svc_store::posts::{self, Clauses, PostOrderBy, PostQuery, Relation, TaxClause, TaxOperator};
use svc_store::{DatabaseUrl, Order, Store, StoreConfig, stamp, terms};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

const N_POSTS: u64 = 2_500;
const N_COMMENTS: u64 = 2_500;
const N_TERMS: u64 = 12;
const LAST_TERM: i64 = N_TERMS.cast_signed();
const N_QUERIES: u64 = 400;

/// A generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn id(&mut self, n: u64) -> i64 {
        self.below(n).cast_signed() + 1
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.below(list.len() as u64)).unwrap()].clone()
    }

    /// A time within a hundred days, often the same as others.
    fn date(&mut self) -> NaiveDateTime {
        stamp::parse("2024-01-01 00:00:00").unwrap() + TimeDelta::hours(self.below(2_400).cast_signed())
    }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

/// A post with the ids of its terms.
type Row = (Post, Vec<TermId>);

fn random_post(r: &mut Random) -> Post {
    // Half of the posts have one author.
    let author = if r.one_in(2) { 1 } else { 2 + r.below(20) };
    let title = r.below(800);
    Post {
        post_type: r.pick(&texts(&["post", "post", "post", "page"])),
        status: r.pick(&texts(&["publish", "publish", "publish", "draft", "private"])),
        author: UserId(author.cast_signed()),
        date: Some(r.date()),
        modified: Some(r.date()),
        title: format!("title {title:03}"),
        slug: format!("slug-{:03}", r.below(900)),
        parent: PostId(if r.one_in(3) { r.below(50).cast_signed() } else { 0 }),
        menu_order: r.below(5).cast_signed(),
        ..Post::default()
    }
}

/// Terms of a post: the first one is frequent, the last one rare.
fn random_terms(r: &mut Random) -> Vec<TermId> {
    let mut ids: Vec<TermId> =
        (0..r.below(3)).map(|_| TermId(r.below(N_TERMS).min(r.below(N_TERMS)).cast_signed() + 1)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn random_query(r: &mut Random) -> PostQuery {
    let id = |r: &mut Random| PostId(r.id(N_POSTS + 20));
    let ids = |r: &mut Random| (0..=r.below(6)).map(|_| id(r)).collect::<Vec<PostId>>();
    let authors = |r: &mut Random| (0..=r.below(2)).map(|_| UserId(r.id(24))).collect::<Vec<UserId>>();
    let mut q = PostQuery::default()
        .post_types(r.pick(&[texts(&["post"]), texts(&["page"]), texts(&["post", "page"]), texts(&["post", "nope"])]))
        .statuses(r.pick(&[
            texts(&["publish"]),
            texts(&["publish"]),
            texts(&["draft"]),
            texts(&["publish", "private"]),
            texts(&["publish", "draft", "private", "pending"]),
        ]))
        .total(r.below(5) > 0)
        .limit(r.pick(&[Some(1), Some(5), Some(10), Some(100), None]))
        .offset(r.pick(&[0, 0, 0, 3, 40, 1_000, 1_400]));
    if r.one_in(8) {
        q = q.own_statuses(Some((UserId(r.id(4)), texts(&["private", "draft"]))));
    }
    // Lists without other conditions have plans of their own.
    if r.one_in(5) {
        return q.order_by(r.pick(&[vec![], vec![(PostOrderBy::Date, Order::Asc)]]));
    }
    if r.one_in(4) {
        q = q.author_in(authors(r));
    }
    if r.one_in(8) {
        q = q.author_not_in(authors(r));
    }
    if r.one_in(10) {
        q = q.include((0..=r.below(80)).map(|_| id(r)).collect());
    }
    if r.one_in(6) {
        q = q.exclude(ids(r));
    }
    if r.one_in(8) {
        q = q.ids(Some(ids(r)));
    }
    if r.one_in(6) {
        q = q.not_ids(ids(r));
    }
    if r.one_in(8) {
        q = q.slugs((0..=r.below(3)).map(|_| format!("slug-{:03}", r.below(900))).collect());
    }
    if r.one_in(10) {
        q = q.title(Some(format!("title {:03}", r.below(800))));
    }
    if r.one_in(8) {
        q = q.parent_in((0..=r.below(3)).map(|_| PostId(r.below(50).cast_signed())).collect());
    }
    if r.one_in(10) {
        q = q.menu_order(Some(r.below(5).cast_signed()));
    }
    if r.one_in(5) {
        q = q.after(Some(r.date())).dates_inclusive(r.one_in(2));
    }
    if r.one_in(5) {
        q = q.before(Some(r.date()));
    }
    if r.one_in(6) {
        q = q.modified_after(Some(r.date()));
    }
    if r.one_in(6) {
        q = q.modified_before(Some(r.date())).dates_inclusive(r.one_in(2));
    }
    let clauses: Vec<TaxClause> = (0..r.pick(&[0, 0, 1, 1, 2]))
        .map(|_| TaxClause {
            taxonomy: "category".to_owned(),
            terms: (0..=r.below(2)).map(|_| TermId(r.id(N_TERMS + 1))).collect(),
            operator: r.pick(&[TaxOperator::In, TaxOperator::In, TaxOperator::NotIn, TaxOperator::And]),
            include_children: r.one_in(2),
        })
        .collect();
    q = q.tax(Clauses { clauses, relation: r.pick(&[Relation::And, Relation::And, Relation::Or]) });
    let by = [
        PostOrderBy::Date,
        PostOrderBy::Author,
        PostOrderBy::Id,
        PostOrderBy::Modified,
        PostOrderBy::Parent,
        PostOrderBy::Slug,
        PostOrderBy::Title,
        PostOrderBy::MenuOrder,
    ];
    let order = |r: &mut Random| r.pick(&[Order::Asc, Order::Desc]);
    match r.below(4) {
        0 => q,
        1 => q.order_by(vec![(PostOrderBy::MenuOrder, order(r)), (PostOrderBy::Title, order(r))]),
        _ => q.order_by(vec![(r.pick(&by), order(r))]),
    }
}

fn matches(q: &PostQuery, (post, terms): &Row) -> bool {
    let within = |date: Option<NaiveDateTime>, after: Option<NaiveDateTime>, before: Option<NaiveDateTime>| {
        let date = date.unwrap();
        after.is_none_or(|t| date > t || q.dates_inclusive && date == t)
            && before.is_none_or(|t| date < t || q.dates_inclusive && date == t)
    };
    let own = q.own_statuses.as_ref().is_some_and(|(user, list)| post.author == *user && list.contains(&post.status));
    let clause = |clause: &TaxClause| match clause.operator {
        TaxOperator::In => clause.terms.iter().any(|t| terms.contains(t)),
        TaxOperator::NotIn => !clause.terms.iter().any(|t| terms.contains(t)),
        TaxOperator::And => clause.terms.iter().all(|t| terms.contains(t)),
    };
    let in_list = |list: &[PostId]| list.contains(&post.id);
    q.post_types.contains(&post.post_type)
        && (q.statuses.contains(&post.status) || own)
        && if q.author_not_in.is_empty() {
            q.author_in.is_empty() || q.author_in.contains(&post.author)
        } else {
            !q.author_not_in.contains(&post.author)
        }
        && if q.include.is_empty() { !in_list(&q.exclude) } else { in_list(&q.include) }
        && q.ids.as_ref().is_none_or(|list| in_list(list))
        && !in_list(&q.not_ids)
        && (q.slugs.is_empty() || q.slugs.contains(&post.slug))
        && q.title.as_ref().is_none_or(|title| *title == post.title)
        && (q.parent_in.is_empty() || q.parent_in.contains(&post.parent))
        && q.menu_order.is_none_or(|n| n == post.menu_order)
        && within(post.date, q.after, q.before)
        && within(post.modified, q.modified_after, q.modified_before)
        && match (&q.tax.clauses[..], q.tax.relation) {
            ([], _) => true,
            (clauses, Relation::And) => clauses.iter().all(clause),
            // A negative condition without known terms is no condition.
            (clauses, Relation::Or) => {
                let is_known =
                    |c: &&TaxClause| c.operator != TaxOperator::NotIn || c.terms.iter().any(|t| t.0 <= LAST_TERM);
                let mut known = clauses.iter().filter(is_known).peekable();
                known.peek().is_none() || known.any(clause)
            }
        }
}

/// The ids of the page, and the total.
fn expected(rows: &[Row], q: &PostQuery) -> (Vec<PostId>, u64) {
    let mut found: Vec<&Post> = rows.iter().filter(|row| matches(q, row)).map(|(post, _)| post).collect();
    let default = [(PostOrderBy::Date, Order::Desc)];
    let orders = if q.order_by.is_empty() { &default[..] } else { &q.order_by };
    found.sort_by(|a, b| {
        let mut ordering = std::cmp::Ordering::Equal;
        // Ties are in the direction of the last key.
        let tie = (PostOrderBy::Id, orders.last().unwrap().1);
        for (by, order) in orders.iter().chain([&tie]) {
            let one = match by {
                PostOrderBy::Author => a.author.cmp(&b.author),
                PostOrderBy::Id => a.id.cmp(&b.id),
                PostOrderBy::Modified => a.modified.cmp(&b.modified),
                PostOrderBy::Parent => a.parent.cmp(&b.parent),
                PostOrderBy::Slug => a.slug.cmp(&b.slug),
                PostOrderBy::Title => a.title.cmp(&b.title),
                PostOrderBy::MenuOrder => a.menu_order.cmp(&b.menu_order),
                _ => a.date.cmp(&b.date),
            };
            ordering = ordering.then(if *order == Order::Asc { one } else { one.reverse() });
        }
        ordering
    });
    let total = found.len() as u64;
    let (offset, limit) = (usize::try_from(q.offset).unwrap(), usize::try_from(q.limit.unwrap_or(u64::MAX)).unwrap());
    (found.into_iter().skip(offset).take(limit).map(|post| post.id).collect(), total)
}

/// Creates the posts in the empty store.
fn create(store: &Store, r: &mut Random) -> Vec<Row> {
    let drafts: Vec<(Post, Vec<TermId>)> = (0..N_POSTS).map(|_| (random_post(r), random_terms(r))).collect();
    store.write_blocking(svc_store::schema::install).unwrap();
    store
        .write_blocking(move |tx| {
            for n in 1..=N_TERMS {
                let text = format!("term-{n}");
                let term = Term { name: text.clone(), slug: text, taxonomy: "category".to_owned(), ..Term::default() };
                assert_eq!(terms::insert(tx, &term)?.id, TermId(n.cast_signed()));
            }
            let mut rows = Vec::new();
            for (post, of_post) in &drafts {
                let id = posts::insert(tx, post)?;
                terms::set_object_terms(tx, id, "category", of_post)?;
                rows.push((Post { id, ..post.clone() }, of_post.clone()));
            }
            Ok(rows)
        })
        .unwrap()
}

/// Changes or deletes some posts.
fn change(store: &Store, rows: &mut Vec<Row>, r: &mut Random) {
    for _ in 0..5 {
        let at = usize::try_from(r.below(rows.len() as u64)).unwrap();
        if r.one_in(4) {
            let (post, _) = rows.remove(at);
            store.write_blocking(move |tx| posts::delete(tx, post.id)).unwrap();
            // Children are attached to the parent.
            for (child, _) in rows.iter_mut().filter(|(child, _)| child.parent == post.id) {
                let changes = [post.post_type.as_str(), "attachment"].contains(&child.post_type.as_str());
                child.parent = if changes { post.parent } else { child.parent };
            }
        } else {
            let row = (Post { id: rows[at].0.id, ..random_post(r) }, random_terms(r));
            rows[at] = row.clone();
            store
                .write_blocking(move |tx| {
                    posts::update(tx, &row.0)?;
                    terms::set_object_terms(tx, row.0.id, "category", &row.1)
                })
                .unwrap();
        }
    }
}

fn on_each(test: impl Fn(Store)) {
    let folder = tempfile::tempdir().unwrap();
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(folder.path().join("site.db")));
    config.durable = false;
    test(Store::open(&config).unwrap());
    if let Some(server) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() {
        let url = server.create("plans").unwrap();
        test(Store::open(&StoreConfig::new(DatabaseUrl::MySql(url))).unwrap());
    }
}

#[test]
fn all_plans_return_the_same_posts() {
    on_each(|store| {
        let mut r = Random(0x5EED);
        let mut rows = create(&store, &mut r);
        for n in 0..N_QUERIES {
            if n % 40 == 39 {
                change(&store, &mut rows, &mut r);
            }
            let q = random_query(&mut r);
            let (ids, total) = expected(&rows, &q);
            let page = store.read_blocking(|db| posts::query(db, &q)).unwrap();
            assert_eq!(page.ids, ids, "query {n}: {q:?}");
            assert_eq!(page.total, q.total.then_some(total), "query {n}: {q:?}");
        }
    });
}

fn random_comment(r: &mut Random) -> Comment {
    Comment {
        post: PostId(r.id(40)),
        approved: r.pick(&texts(&["1", "1", "1", "0", "spam"])),
        comment_type: r.pick(&texts(&["comment", "comment", "", "pingback", "note"])),
        date: Some(r.date()),
        date_gmt: Some(r.date()),
        ..Comment::default()
    }
}

#[test]
fn all_plans_return_the_same_comments() {
    on_each(|store| {
        let mut r = Random(0xC0FFEE);
        let drafts: Vec<Comment> = (0..N_COMMENTS).map(|_| random_comment(&mut r)).collect();
        store.write_blocking(svc_store::schema::install).unwrap();
        let mut rows = store
            .write_blocking(move |tx| {
                let insert = |comment: &Comment| Ok(Comment { id: comments::insert(tx, comment)?, ..comment.clone() });
                drafts.iter().map(insert).collect::<svc_store::Result<Vec<Comment>>>()
            })
            .unwrap();
        for n in 0..N_QUERIES {
            let at = usize::try_from(r.below(rows.len() as u64)).unwrap();
            if n % 40 == 38 {
                let id = rows.remove(at).id;
                store.write_blocking(move |tx| comments::delete(tx, id)).unwrap();
            } else if n % 40 == 39 {
                let comment = Comment { id: rows[at].id, ..random_comment(&mut r) };
                rows[at] = comment.clone();
                store.write_blocking(move |tx| comments::update(tx, &comment)).unwrap();
            }
            let by = r.pick(&[CommentOrderBy::DateGmt, CommentOrderBy::Date, CommentOrderBy::Id, CommentOrderBy::Post]);
            let q = CommentQuery::default()
                .approved(r.pick(&[texts(&["1"]), texts(&["0"]), texts(&["0", "1"]), vec![]]))
                .types(r.pick(&[texts(&["comment"]), texts(&["pingback", "trackback"]), vec![]]))
                .types_exclude(r.pick(&[texts(&["note"]), vec![]]))
                .posts(if r.one_in(4) { vec![PostId(r.id(40))] } else { vec![] })
                .after(r.one_in(5).then(|| r.date()))
                .order_by(by)
                .order(r.pick(&[Order::Asc, Order::Desc]))
                .limit(r.pick(&[Some(1), Some(10), None]))
                .offset(r.pick(&[0, 0, 3, 1_000, 1_300]))
                .total(true);
            let has = |list: &[String], value: &String| list.is_empty() || list.contains(value);
            let mut found: Vec<&Comment> = rows
                .iter()
                .filter(|c| has(&q.approved, &c.approved))
                .filter(|c| {
                    has(&q.types, &c.comment_type)
                        || q.types.contains(&"comment".to_owned()) && c.comment_type.is_empty()
                })
                .filter(|c| !q.types_exclude.contains(&c.comment_type))
                .filter(|c| q.posts.is_empty() || q.posts.contains(&c.post))
                .filter(|c| q.after.is_none_or(|t| c.date.unwrap() > t))
                .collect();
            found.sort_by(|a, b| {
                let (key, tie_follows) = match by {
                    CommentOrderBy::Date => (a.date.cmp(&b.date), true),
                    CommentOrderBy::Id => (std::cmp::Ordering::Equal, true),
                    CommentOrderBy::Post => (a.post.cmp(&b.post), false),
                    _ => (a.date_gmt.cmp(&b.date_gmt), true),
                };
                let is_asc = q.order == Order::Asc;
                let turned = |o: std::cmp::Ordering, asc: bool| if asc { o } else { o.reverse() };
                turned(key, is_asc).then(turned(a.id.cmp(&b.id), is_asc && tie_follows))
            });
            let (offset, limit) =
                (usize::try_from(q.offset).unwrap(), usize::try_from(q.limit.unwrap_or(u64::MAX)).unwrap());
            let ids: Vec<_> = found.iter().skip(offset).take(limit).map(|c| c.id).collect();
            let page = store.read_blocking(|db| comments::query(db, &q)).unwrap();
            assert_eq!((page.ids, page.total), (ids, Some(found.len() as u64)), "query {n}: {q:?}");
        }
    });
}
