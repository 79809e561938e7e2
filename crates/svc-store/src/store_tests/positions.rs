//! Lists that continue from positions: whatever is inserted and deleted between the pages, no item is returned twice, and
//! none that existed all the time is left out.

use std::collections::HashSet;

use svc_model::{Comment, CommentId, Post, PostId, Term, User};

use crate::comments::{self, CommentOrderBy, CommentQuery};
use crate::posts::{self, PostOrderBy, PostQuery};
use crate::terms::{self, TermOrderBy, TermQuery};
use crate::users::{self, UserOrderBy, UserQuery};
use crate::{Beyond, Order, Page, Position, SortValue, Store, StoreError, fixture, fixture::Random, stamp};

impl Random {
    fn word(&mut self) -> String {
        ["alpha", "Alpha", "älpha", "beta", "", "Zeta", "0", "10", "9", "中文"][self.below(10)].to_owned()
    }

    fn date(&mut self) -> svc_model::Timestamp {
        stamp::parse(&format!("2024-0{}-01 00:00:0{}", 1 + self.below(9), self.below(3)))
    }
}

/// A page of a list, and where the list goes on.
type Found = (Vec<i64>, Option<(i64, Position)>);

/// A kind of list: how it is read, and how items come and go.
struct ListKind<'a> {
    /// The page that begins behind an item or, read backwards, ends with it. Its limit is 4.
    page: &'a dyn Fn(Option<Beyond>, bool) -> Result<Found, StoreError>,
    insert: &'a dyn Fn(&mut Random),
    delete: &'a dyn Fn(i64),
}

impl ListKind<'_> {
    #[track_caller]
    fn read(&self, name: &str, beyond: Option<Beyond>, backwards: bool) -> Found {
        let found = (self.page)(beyond, backwards).unwrap();
        assert!(found.0.len() <= 4, "{name}");
        found
    }

    /// The pages of the list, and where each begins.
    #[track_caller]
    fn pages(&self, name: &str) -> (Vec<Vec<i64>>, Vec<Option<(i64, Position)>>) {
        let (mut pages, mut places) = (Vec::new(), vec![None]);
        loop {
            let (ids, next) = self.read(name, places.last().unwrap().clone().map(beyond), false);
            pages.push(ids);
            match next {
                Some(next) => places.push(Some(next)),
                None => return (pages, places),
            }
        }
    }

    /// Walks to the end of the list and back: the pages are the same.
    #[track_caller]
    fn walk_there_and_back(&self, name: &str) {
        let (pages, places) = self.pages(name);
        for (at, place) in places.iter().enumerate().skip(1) {
            let expected = (pages[at - 1].clone(), places[at - 1].clone());
            let (id, position) = place.clone().unwrap();
            for beyond in [Beyond::Position(position), Beyond::Item(id)] {
                assert_eq!(self.read(name, Some(beyond), true), expected, "{name}");
            }
        }
        let all = pages.concat();
        assert_eq!(self.read(name, None, true).0, all[all.len().saturating_sub(4)..], "{name}: the end");
    }

    /// Walks through a list while items come and go. `by_item` continues from an item instead of its position; items that are
    /// continued from are not deleted then.
    #[track_caller]
    fn walk(&self, name: &str, random: &mut Random, by_item: bool, backwards: bool) {
        let name = &format!("{name}, by item: {by_item}, backwards: {backwards}");
        let before = self.pages(name).0.concat();
        let (mut seen, mut place): (Vec<i64>, _) = (Vec::new(), None);
        let mut deleted = HashSet::new();
        loop {
            let (mut found, next) = self.read(name, place, backwards);
            if backwards {
                found.reverse();
            }
            seen.extend(found);
            let Some((last, position)) = next else { break };
            // As many as are deleted, so that the list does not grow from one walk to the next.
            if random.below(2) == 0 {
                (self.insert)(random);
            }
            let gone = before[random.below(before.len())];
            if random.below(2) == 0 && !(by_item && gone == last) && deleted.insert(gone) {
                (self.delete)(gone);
            }
            place = Some(if by_item { Beyond::Item(last) } else { Beyond::Position(position) });
        }
        if backwards {
            seen.reverse();
        }
        let distinct: HashSet<i64> = seen.iter().copied().collect();
        assert_eq!(distinct.len(), seen.len(), "{name}: an item was returned twice: {seen:?}");
        let left_out: Vec<&i64> = before.iter().filter(|id| !deleted.contains(id) && !distinct.contains(id)).collect();
        assert!(left_out.is_empty(), "{name}: {left_out:?} of {before:?} were left out: {seen:?}");
        let position = |list: &[i64], id: &i64| list.iter().position(|other| other == id);
        let stayed: Vec<usize> = seen.iter().filter_map(|id| position(&before, id)).collect();
        assert!(stayed.is_sorted(), "{name}: {seen:?} is not in the order of {before:?}");
    }

    #[track_caller]
    fn walk_both_ways(&self, name: &str, random: &mut Random) {
        self.walk_there_and_back(name);
        self.walk(name, random, false, false);
        self.walk(name, random, false, true);
    }
}

fn beyond((_, position): (i64, Position)) -> Beyond {
    Beyond::Position(position)
}

fn split<Id: Copy + Into<i64>>(page: Page<Id>) -> Found {
    (page.ids.into_iter().map(Into::into).collect(), page.next.map(|(id, position)| (id.into(), position)))
}

fn walk_posts(store: &Store, random: &mut Random) {
    use PostOrderBy as By;
    let statuses = || vec!["publish".to_owned(), "draft".to_owned()];
    let base =
        || PostQuery::default().post_types(vec!["post".to_owned()]).statuses(statuses()).limit(Some(4)).next(true);
    let some: Vec<PostId> = store.read_blocking(|db| posts::query(db, &base().limit(Some(9)))).unwrap().ids;
    let lists = [
        // First, because its posts are not replaced.
        ("include", base().include(some.into_iter().rev().collect()).order_by(vec![(By::Include, Order::Desc)])),
        ("author", base().order_by(vec![(By::Author, Order::Asc)])),
        ("date", base()),
        ("date ascending", base().order_by(vec![(By::Date, Order::Asc)])),
        ("id", base().order_by(vec![(By::Id, Order::Desc)])),
        ("modified", base().order_by(vec![(By::Modified, Order::Desc)])),
        ("slug", base().order_by(vec![(By::Slug, Order::Asc)])),
        ("title", base().order_by(vec![(By::Title, Order::Desc)])),
        ("menu order", base().order_by(vec![(By::MenuOrder, Order::Asc), (By::Title, Order::Desc)])),
        ("relevance", base().search(Some("a e".to_owned())).order_by(vec![(By::Relevance, Order::Desc)])),
        (
            "own",
            base()
                .statuses(vec!["publish".to_owned()])
                .own_statuses(Some((svc_model::UserId(2), vec!["draft".to_owned()]))),
        ),
    ];
    for (name, q) in lists {
        let page = |beyond, backwards| {
            let q = q.clone().beyond(beyond).backwards(backwards);
            store.read_blocking(|db| posts::query(db, &q)).map(split)
        };
        let insert = |random: &mut Random| {
            let post = Post {
                title: random.word(),
                slug: random.word(),
                content: "a e".to_owned(),
                date: random.date(),
                modified: random.date(),
                author: svc_model::UserId(1 + random.below(3) as i64),
                menu_order: random.below(3) as i64,
                post_type: "post".to_owned(),
                status: statuses()[random.below(2)].clone(),
                ..Post::default()
            };
            store.write_blocking(move |tx| posts::insert(tx, &post)).unwrap();
        };
        let delete = |id| drop(store.write_blocking(move |tx| posts::delete(tx, PostId(id))).unwrap());
        let kind = ListKind { page: &page, insert: &insert, delete: &delete };
        kind.walk_both_ways(&format!("posts by {name}"), random);
        for backwards in [false, true] {
            kind.walk(&format!("posts by {name}"), random, true, backwards);
        }
    }
}

fn walk_terms(store: &Store, random: &mut Random) {
    use TermOrderBy as By;
    let base = || TermQuery::default().taxonomies(vec!["post_tag".to_owned()]).limit(Some(4)).next(true);
    for by in [By::Id, By::Name, By::Slug, By::Group, By::Description, By::Count, By::Parent] {
        for order in [Order::Asc, Order::Desc] {
            let q = base().order_by(by).order(order);
            let page = |beyond, backwards| {
                let q = q.clone().beyond(beyond).backwards(backwards);
                store.read_blocking(|db| terms::query(db, &q)).map(split)
            };
            let insert = |random: &mut Random| {
                let (name, slug, description) = (random.word(), random.word(), random.word());
                let term = Term { name, slug, description, taxonomy: "post_tag".to_owned(), ..Term::default() };
                store.write_blocking(move |tx| terms::insert(tx, &term)).unwrap();
            };
            let delete = |id| {
                let delete = move |tx: &mut crate::Tx| {
                    let term = terms::get(tx, svc_model::TermId(id), Some("post_tag"))?;
                    term.map(|term| terms::delete(tx, &term, None)).transpose()
                };
                store.write_blocking(delete).unwrap();
            };
            ListKind { page: &page, insert: &insert, delete: &delete }
                .walk_both_ways(&format!("terms by {by:?}"), random);
        }
    }
}

fn walk_users(store: &Store, random: &mut Random) {
    use UserOrderBy as By;
    for by in [By::Id, By::Name, By::Login, By::Registered, By::Slug, By::Email, By::Url] {
        let q = UserQuery::default().order_by(by).order(Order::Asc).limit(Some(4)).next(true);
        let page = |beyond, backwards| {
            let q = q.clone().beyond(beyond).backwards(backwards);
            store.read_blocking(|db| users::query(db, &q)).map(split)
        };
        let insert = |random: &mut Random| {
            let [login, nicename, email, display_name] = [(); 4].map(|()| random.word());
            let user = User { login, nicename, email, display_name, registered: random.date(), ..User::default() };
            store.write_blocking(move |tx| users::insert(tx, &user)).unwrap();
        };
        let delete =
            |id| assert!(store.write_blocking(move |tx| users::delete(tx, svc_model::UserId(id), None)).unwrap());
        ListKind { page: &page, insert: &insert, delete: &delete }.walk_both_ways(&format!("users by {by:?}"), random);
    }
}

fn walk_comments(store: &Store, random: &mut Random) {
    use CommentOrderBy as By;
    for by in [By::Id, By::Date, By::DateGmt, By::Post, By::Parent, By::Type] {
        let q = CommentQuery::default()
            .approved(vec!["1".to_owned(), "0".to_owned()])
            .order_by(by)
            .limit(Some(4))
            .next(true);
        let page = |beyond, backwards| {
            let q = q.clone().beyond(beyond).backwards(backwards);
            store.read_blocking(|db| comments::query(db, &q)).map(split)
        };
        let insert = |random: &mut Random| {
            let comment = Comment {
                post: PostId(1000 + random.below(5) as i64),
                date: random.date(),
                date_gmt: random.date(),
                approved: random.below(2).to_string(),
                comment_type: ["comment", "pingback", ""][random.below(3)].to_owned(),
                ..Comment::default()
            };
            store.write_blocking(move |tx| comments::insert(tx, &comment)).unwrap();
        };
        let delete = |id| drop(store.write_blocking(move |tx| comments::delete(tx, CommentId(id))).unwrap());
        ListKind { page: &page, insert: &insert, delete: &delete }
            .walk_both_ways(&format!("comments by {by:?}"), random);
    }
}

#[test]
fn items_are_returned_once_while_others_come_and_go() {
    fixture::on_each(|store| {
        fixture::with_random_statements(|| {
            let mut random = Random(1);
            walk_posts(&store, &mut random);
            walk_terms(&store, &mut random);
            walk_users(&store, &mut random);
            walk_comments(&store, &mut random);
        });
    });
}

#[test]
fn totals_are_those_of_the_whole_list() {
    fixture::on_each(|store| {
        let q = PostQuery::published("post", 4).next(true);
        let first = store.read_blocking(|db| posts::query(db, &q)).unwrap();
        assert_eq!((first.ids.len(), first.total), (4, Some(51)));
        let place = first.next.map(|(_, position)| Beyond::Position(position));
        let back = q.clone().beyond(place.clone()).backwards(true);
        let back = store.read_blocking(|db| posts::query(db, &back)).unwrap();
        assert_eq!((back.ids, back.total, back.next), (first.ids, Some(51), None));
        let end = store.read_blocking(|db| posts::query(db, &q.clone().backwards(true))).unwrap();
        assert_eq!((end.ids.len(), end.total, end.next.is_some()), (4, Some(51), true));
        let second = q.clone().beyond(place);
        let second = store.read_blocking(|db| posts::query(db, &second)).unwrap();
        assert_eq!((second.ids.len(), second.total), (4, Some(51)));
        let by_offset = store.read_blocking(|db| posts::query(db, &q.clone().offset(4))).unwrap();
        assert_eq!(second.ids, by_offset.ids);
        let all = store.read_blocking(|db| posts::query(db, &q.limit(Some(51)))).unwrap();
        assert_eq!((all.ids.len(), all.next), (51, None), "nothing follows");
    });
}

#[test]
fn positions_of_other_lists_are_refused() {
    fixture::on_each(|store| {
        let positions = [
            Position(vec![]),
            Position(vec![SortValue::Int(5)]),
            Position(vec![SortValue::Int(5), SortValue::Int(5)]),
            Position(vec![SortValue::Text("2024".to_owned()), SortValue::Int(5), SortValue::Int(5)]),
        ];
        for beyond in positions.map(Beyond::Position).into_iter().chain([Beyond::Item(i64::MAX)]) {
            let q = PostQuery::published("post", 4).beyond(Some(beyond));
            let found = store.read_blocking(|db| posts::query(db, &q));
            assert!(matches!(found, Err(StoreError::NoPosition)), "{q:?}: {found:?}");
        }
    });
}
