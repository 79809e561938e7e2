//! Lists of the fixture site, compared with the ids that WordPress returns, and writes.

use svc_db::ReadText as _;
use svc_model::{Post, PostId, TermId, UserId};

use super::*;
use crate::fixture;
use crate::meta_indexes::{self, QueriedKey};
use crate::{Beyond, MetaKind, Order, Position, SortValue, meta, terms};

fn base() -> PostQuery {
    PostQuery { limit: Some(6), ..PostQuery::published("post", 6) }
}

fn by(order_by: PostOrderBy, order: Order) -> PostQuery {
    PostQuery { order_by: vec![(order_by, order)], ..base() }
}

fn pages(q: PostQuery) -> PostQuery {
    PostQuery { post_types: vec!["page".to_owned()], limit: Some(20), ..q }
}

fn ids(list: &[i64]) -> Vec<PostId> {
    list.iter().map(|id| PostId(*id)).collect()
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|t| (*t).to_owned()).collect()
}

fn search(text: &str) -> PostQuery {
    PostQuery { search: Some(text.to_owned()), without_password: true, ..base() }
}

fn tax(relation: Relation, clauses: &[(&str, &[i64], TaxOperator, bool)]) -> PostQuery {
    let clauses = clauses.iter().map(|(taxonomy, terms, operator, include_children)| TaxClause {
        taxonomy: (*taxonomy).to_owned(),
        terms: terms.iter().map(|t| TermId(*t)).collect(),
        operator: *operator,
        include_children: *include_children,
    });
    PostQuery { tax: Clauses { relation, clauses: clauses.collect() }, ..base() }
}

fn meta_is(key: &str, values: &[&str], compare: MetaCompare, value_type: MetaType) -> PostQuery {
    let clause =
        MetaClause { key: key.to_owned(), values: texts(values), compare, value_type, indexed: false, other_end: None };
    let meta = Clauses { relation: Relation::And, clauses: vec![clause] };
    PostQuery { meta, post_types: texts(&["post", "page", "book"]), ..base() }
}

#[test]
#[rustfmt::skip]
fn lists_match_wordpress() {
    fixture::on_each(|store| {
    use PostOrderBy as By;
    use Relation::{And, Or};
    use TaxOperator as Op;
    let date = |text: &str| crate::stamp::parse(text);
    let newest: &[i64] = &[1059, 1058, 1057, 1055, 1054, 1053];
    let rows: Vec<(&str, PostQuery, &[i64], u64)> = vec![
        ("default", base(), newest, 51),
        ("offset", PostQuery { offset: 4, ..base() }, &[1054, 1053, 1056, 1050, 1049, 1052], 51),
        ("offset behind the end", PostQuery { offset: 60, ..base() }, &[], 51),
        ("last page", PostQuery { offset: 50, ..base() }, &[1000], 51),
        ("asc", by(By::Date, Order::Asc), &[1000, 1001, 1002, 1003, 1004, 1005], 51),
        ("title", PostQuery { limit: Some(40), ..by(By::Title, Order::Asc) }, &[1023, 1009, 1028, 1029, 1012, 1006, 1034, 1027, 1010, 1000, 1033, 1008, 1032, 1025, 1031, 1004, 1024, 1026, 1013, 1035, 1011, 1036, 1037, 1038, 1039, 1040, 1041, 1042, 1043, 1044, 1045, 1046, 1047, 1048, 1049, 1050, 1051, 1052, 1053, 1054], 51),
        ("slug", PostQuery { limit: Some(20), ..by(By::Slug, Order::Asc) }, &[1009, 1028, 1029, 1012, 1006, 1034, 1027, 1010, 1000, 1033, 1008, 1032, 1025, 1031, 1004, 1024, 1023, 1026, 1013, 1035], 51),
        ("author", by(By::Author, Order::Asc), &[1000, 1004, 1007, 1008, 1012, 1013], 51),
        ("modified", by(By::Modified, Order::Desc), &[1025, 1059, 1058, 1057, 1055, 1054], 51),
        ("id", by(By::Id, Order::Asc), &[1000, 1001, 1002, 1003, 1004, 1005], 51),
        ("comment count", by(By::CommentCount, Order::Desc), &[1006, 1000, 1002, 1013, 1001, 1059], 51),
        ("menu order", pages(by(By::MenuOrder, Order::Asc)), &[1108, 1103, 1104, 1109, 1110, 1101, 1100, 1102], 8),
        ("parent", pages(by(By::Parent, Order::Asc)), &[1100, 1103, 1108, 1110, 1101, 1102, 1104, 1109], 8),
        ("include", PostQuery { include: ids(&[1003, 1000, 1001]), ..by(By::Include, Order::Desc) }, &[1003, 1000, 1001], 3),
        ("include beats exclude", PostQuery { include: ids(&[1003, 1000, 1001]), exclude: ids(&[1000]), ..base() }, &[1003, 1001, 1000], 3),
        ("exclude", PostQuery { exclude: ids(&[1000, 1003]), ..base() }, newest, 49),
        ("ids", PostQuery { ids: Some(ids(&[1003, 1007])), ..base() }, &[1007, 1003], 2),
        ("no ids", PostQuery { ids: Some(vec![]), ..base() }, &[], 0),
        ("not ids", PostQuery { not_ids: ids(&[1003, 1007]), ..base() }, newest, 49),
        ("slugs", PostQuery { slugs: texts(&["nope", "hello-world"]), ..base() }, &[1000], 1),
        ("slugs in order", PostQuery { slugs: texts(&["sticky-one", "hello-world"]), ..by(By::IncludeSlugs, Order::Asc) }, &[1003, 1000], 2),
        ("statuses", PostQuery { statuses: texts(&["publish", "draft", "pending", "private", "future"]), limit: Some(2), ..base() }, &[1020, 1059], 58),
        ("own private", PostQuery { own_statuses: Some((UserId(3), texts(&["private"]))), limit: Some(100), after: date("2024-02-21 00:00:00"), before: date("2024-03-01 00:00:00"), ..base() }, &[1015], 1),
        ("trash", PostQuery { statuses: texts(&["trash"]), ..base() }, &[1022, 1021], 2),
        ("author in", PostQuery { author_in: vec![UserId(3), UserId(4)], ..base() }, &[1059, 1058, 1055, 1054, 1050, 1051], 23),
        ("author not in", PostQuery { author_in: vec![UserId(1)], author_not_in: vec![UserId(1)], ..base() }, newest, 33),
        ("parent in", pages(PostQuery { parent_in: ids(&[1100]), ..base() }), &[1102, 1101], 2),
        ("parent not in", pages(PostQuery { parent_not_in: ids(&[0]), ..base() }), &[1109, 1104, 1102, 1101], 4),
        ("menu order is", pages(PostQuery { menu_order: Some(2), ..base() }), &[1100], 1),
        ("after is later", PostQuery { after: date("2024-01-05 09:00:00"), ..by(By::Date, Order::Asc) }, &[1001, 1002, 1003, 1004, 1005, 1006], 50),
        ("after inclusive", PostQuery { after: date("2024-01-05 09:00:00"), dates_inclusive: true, ..by(By::Date, Order::Asc) }, &[1000, 1001, 1002, 1003, 1004, 1005], 51),
        ("before", PostQuery { before: date("2024-01-05 10:00:00"), ..base() }, &[1000], 1),
        ("modified after", PostQuery { modified_after: date("2024-01-10 00:00:00"), ..base() }, newest, 50),
        ("search", search("fox"), newest, 27),
        ("search two", search("fox zebra"), &[1029, 1028], 2),
        ("search not", search("fox -beta"), newest, 26),
        ("search quoted", search("\"fox beta\""), &[1029], 1),
        ("search without accent", search("cafe"), &[1001], 1),
        ("search with accent and case", search("CAFÉ"), &[1001], 1),
        ("search in titles", PostQuery { search_columns: vec![SearchColumn::Title], ..search("fox") }, &[], 0),
        ("search in excerpts", PostQuery { search_columns: vec![SearchColumn::Excerpt], ..search("needle") }, &[1029], 1),
        ("relevance", PostQuery { order_by: vec![(By::Relevance, Order::Desc)], ..search("fox beta") }, &[1029], 1),
        ("term", tax(And, &[("category", &[2], Op::In, false)]), &[1055, 1050, 1045, 1040, 1036, 1035], 12),
        ("term and children", tax(And, &[("category", &[2], Op::In, true)]), &[1059, 1057, 1055, 1054, 1056, 1050], 32),
        ("all terms", tax(And, &[("post_tag", &[10, 11], Op::And, false)]), &[1029, 1003], 2),
        ("no term", tax(And, &[("category", &[1, 2], Op::NotIn, false)]), &[1059, 1058, 1057, 1054, 1053, 1056], 30),
        ("one condition of two", tax(Or, &[("category", &[3], Op::In, false), ("post_tag", &[12], Op::In, false)]), &[1058, 1054, 1056, 1050, 1051, 1046], 13),
        ("two conditions", tax(And, &[("category", &[2], Op::In, true), ("post_tag", &[10], Op::In, false)]), &[1056, 1052, 1044, 1040, 1036, 1029], 8),
        ("unknown term", tax(And, &[("category", &[9999], Op::In, false)]), &[], 0),
        ("all terms, one unknown", tax(And, &[("post_tag", &[10, 9999], Op::And, false)]), &[], 0),
        ("not an unknown term", tax(And, &[("category", &[9999], Op::NotIn, false)]), newest, 51),
        ("term of another taxonomy", tax(And, &[("post_tag", &[2], Op::In, false)]), &[], 0),
        ("media", PostQuery { post_types: texts(&["attachment"]), statuses: texts(&["inherit"]), limit: Some(20), ..base() }, &[1206, 1205, 1204, 1203, 1202, 1201, 1200], 7),
        ("images", PostQuery { post_types: texts(&["attachment"]), statuses: texts(&["inherit"]), mime_types: texts(&["image"]), ..base() }, &[1204, 1202, 1201, 1200], 4),
        ("file names", PostQuery { post_types: texts(&["attachment"]), statuses: texts(&["inherit"]), search: Some("NOTES.txt".to_owned()), search_file_names: true, ..base() }, &[1205], 1),
        ("unknown type", PostQuery { post_types: texts(&["nope"]), ..base() }, &[], 0),
        ("without password", PostQuery { without_password: true, ..base() }, newest, 49),
        ("meta is", meta_is("fx_string", &["HELLO"], MetaCompare::Eq, MetaType::Text), &[1000], 1),
        ("meta more", meta_is("pages", &["300"], MetaCompare::Gt, MetaType::Integer), &[1300], 1),
        ("meta order", PostQuery { order_by: vec![(By::IndexedMeta("pages".to_owned(), MetaType::Integer), Order::Asc)], ..meta_is("pages", &[], MetaCompare::Exists, MetaType::Text) }, &[1301, 1300], 2),
        ("meta missing", PostQuery { post_types: texts(&["book"]), ..meta_is("pages", &[], MetaCompare::NotExists, MetaType::Text) }, &[1302], 1),
    ];
    for (name, q, expected, total) in rows {
        let page = store.read_blocking(|db| query(db, &q)).unwrap();
        assert_eq!(page.ids, ids(expected), "{name}");
        assert_eq!(page.total, Some(total), "{name}");
        // The total is the same if it is counted separately.
        let recounted = store.read_blocking(|db| query(db, &PostQuery { limit: Some(1), ..q.clone() })).unwrap();
        assert_eq!(recounted.total, Some(total), "{name}");
        // Every page equals its part of the whole list, whichever end it is read from.
        let all = store.read_blocking(|db| query(db, &PostQuery { limit: None, offset: 0, total: false, ..q.clone() })).unwrap().ids;
        for offset in [total / 3, total / 2, total / 2 + 2, total.saturating_sub(1), total, total + 5] {
            let page = PostQuery { offset, limit: Some(4), ..q.clone() };
            let page = store.read_blocking(|db| query(db, &page)).unwrap();
            let expected: Vec<PostId> = all.iter().skip(usize::try_from(offset).unwrap()).take(4).copied().collect();
            assert_eq!((page.ids, page.total), (expected, Some(total)), "{name}, from {offset}");
        }
    }
    });
}

#[test]
fn rows_slugs_and_paths() {
    fixture::on_each(|store| {
        store
            .read_blocking(|db| {
                let posts = get_many(db, &ids(&[1003, 9999, 1000, 1003]))?;
                assert_eq!(posts.iter().map(|p| p.id.0).collect::<Vec<_>>(), [1003, 1000]);
                assert_eq!(posts[1].title, "Hello world");
                assert_eq!(crate::stamp::format(posts[1].date), "2024-01-05 09:00:00");
                assert_eq!(get(db, PostId(1016))?.unwrap().date_gmt, None, "drafts have no UTC date");
                assert_eq!(by_slug(db, "Hello-World", &["post"])?[0].id.0, 1000);
                assert!(by_slug(db, "hello-world", &["page"])?.is_empty());
                let child = get(db, PostId(1101))?.unwrap();
                let parent = get(db, child.parent)?.unwrap();
                let path = format!("/{}/{}/", parent.slug, child.slug);
                assert_eq!(by_path(db, &path, "page")?.unwrap().id, child.id);
                for invalid in [child.slug.as_str(), "", "/", "x/y", &format!("x/{}/{}", parent.slug, child.slug)] {
                    assert!(by_path(db, invalid, "page")?.is_none(), "{invalid}");
                }
                assert_eq!(ancestors(db, &child)?.iter().map(|p| p.id).collect::<Vec<_>>(), [parent.id]);
                assert_eq!(counts(db, "post")?["publish"], 51);
                Ok(())
            })
            .unwrap();
    });
}

#[test]
fn too_many_values_are_rejected() {
    fixture::on_each(|store| {
        let q = PostQuery { include: (0..40_000).map(PostId).collect(), ..base() };
        assert!(matches!(store.read_blocking(|db| query(db, &q)), Err(crate::StoreError::TooMany)));
    });
}

#[test]
fn totals_follow_writes() {
    let (store, folder) = fixture::store();
    let total = |status: &str| {
        let q = PostQuery { statuses: texts(&[status]), limit: Some(1), ..base() };
        store.read_blocking(|db| query(db, &q)).unwrap().total.unwrap()
    };
    assert_eq!((total("publish"), total("draft")), (51, 3));
    store
        .write_blocking(|tx| {
            let mut post = get(tx, PostId(1000))?.unwrap();
            post.status = "draft".to_owned();
            update(tx, &post).map(drop)
        })
        .unwrap();
    assert_eq!((total("publish"), total("draft")), (50, 4));
    store
        .write_blocking(|tx| {
            delete(tx, PostId(1002))?;
            let mut post = get(tx, PostId(1003))?.unwrap();
            post.title = "only the title".to_owned();
            update(tx, &post)?;
            post.status = "publish".to_owned();
            insert(tx, &post)
        })
        .unwrap();
    assert_eq!((total("publish"), total("draft"), total("nope")), (50, 4, 0));
    let by_status = store.read_blocking(|db| counts(db, "post")).unwrap();
    assert_eq!((by_status["publish"], by_status["draft"]), (50, 4));
    // Writes of another process are noticed as well.
    let other = rusqlite::Connection::open(folder.path().join("site.db")).unwrap();
    other.create_collation("PEOPLE", svc_db::collation::compare).unwrap();
    other.execute("UPDATE wp_posts SET post_status = 'draft' WHERE ID = 1001", []).unwrap();
    assert_eq!((total("publish"), total("draft")), (49, 5));
}

#[test]
fn slugs_are_made_unique() {
    fixture::on_each(|store| {
        let scope = SlugScope::Type("post".to_owned());
        let slug_request = |slug: &str, post: i64| UniqueSlug {
            slug: slug.to_owned(),
            post: PostId(post),
            scope: scope.clone(),
            reserved: false,
        };
        store
            .write_blocking({
                let post = Post { slug: "hello-world-2".to_owned(), post_type: "post".to_owned(), ..Post::default() };
                move |tx| insert(tx, &post).map(drop)
            })
            .unwrap();
        let rows = [
            (slug_request("fresh", 0), "fresh"),
            (slug_request("hello-world", 1000), "hello-world"),
            (slug_request("hello-world", 0), "hello-world-3"),
            (slug_request("Hello-World", 0), "Hello-World-3"),
            (slug_request("feed", 0), "feed-2"),
            (UniqueSlug { reserved: true, ..slug_request("2024", 0) }, "2024-2"),
            (UniqueSlug { scope: SlugScope::All, ..slug_request("about", 0) }, "about-2"),
            (
                UniqueSlug {
                    scope: SlugScope::Siblings { post_types: texts(&["page", "attachment"]), parent: PostId(7) },
                    ..slug_request("hello-world", 0)
                },
                "hello-world",
            ),
        ];
        let (requests, expected): (Vec<UniqueSlug>, Vec<&str>) = rows.into_iter().unzip();
        for (request, expected) in requests.iter().zip(&expected) {
            assert_eq!(store.read_blocking(|db| unique_slug(db, request)).unwrap(), *expected, "{request:?}");
        }
        let all = |db: &mut crate::Db| {
            let before = db.statement_count();
            Ok((unique_slugs(db, &requests)?, db.statement_count() - before))
        };
        let (slugs, statements) = store.read_blocking(all).unwrap();
        assert_eq!((slugs, statements), (expected.iter().map(|s| (*s).to_owned()).collect(), 2));
    });
}

#[test]
fn deletes_posts_with_dependent_rows() {
    fixture::on_each(|store| {
        let count = |id: i64| store.read_blocking(|db| Ok(terms::get(db, TermId(id), None)?.unwrap().count)).unwrap();
        let with_terms = store
            .read_blocking(|db| Ok(terms::of_objects(db, &[PostId(1003)])?.remove(&PostId(1003)).unwrap()))
            .unwrap();
        let before: Vec<i64> = with_terms.iter().map(|t| count(t.id.0)).collect();
        let deleted = store.write_blocking(|tx| delete(tx, PostId(1003))).unwrap();
        assert_eq!(deleted.unwrap().id.0, 1003);
        let after: Vec<i64> = with_terms.iter().map(|t| count(t.id.0)).collect();
        assert_eq!(after, before.iter().map(|n| n - 1).collect::<Vec<_>>());
        store.write_blocking(|tx| delete(tx, PostId(1000))).unwrap();
        store
            .read_blocking(|db| {
                assert!(get(db, PostId(1000))?.is_none());
                assert!(meta::load_one(db, MetaKind::Post, 1000)?.0.is_empty());
                assert!(crate::comments::get(db, svc_model::CommentId(500))?.is_none());
                assert!(meta::load_one(db, MetaKind::Comment, 500)?.0.is_empty());
                Ok(())
            })
            .unwrap();
        // Children are attached to the parent.
        store.write_blocking(|tx| delete(tx, PostId(1100))).unwrap();
        assert_eq!(store.read_blocking(|db| get(db, PostId(1101))).unwrap().unwrap().parent.0, 0);
        assert!(store.write_blocking(|tx| delete(tx, PostId(9999))).unwrap().is_none());
    });
}

#[test]
fn new_ids_continue_after_the_dump() {
    fixture::on_each(|store| {
        let post = Post { post_type: "post".to_owned(), title: "Ünïcode 😀".to_owned(), ..Post::default() };
        let id = store.write_blocking(move |tx| insert(tx, &post)).unwrap();
        assert_eq!(id.0, 100_001);
        let stored = store.read_blocking(|db| get(db, id)).unwrap().unwrap();
        assert_eq!((stored.title.as_str(), stored.date), ("Ünïcode 😀", None));
    });
}

/// SQLite's query plan of a statement.
fn plan(sql_of: impl Fn(&mut crate::Db) -> (String, sea_query::Values)) -> String {
    let (store, _folder) = fixture::store();
    plan_in(&store, sql_of)
}

fn plan_in(store: &crate::Store, sql_of: impl Fn(&mut crate::Db) -> (String, sea_query::Values)) -> String {
    store
        .read_blocking(|db| {
            let (sql, values) = sql_of(db);
            let mut plan = String::new();
            db.query_text(&format!("EXPLAIN QUERY PLAN {sql}"), &values.0, &mut |row| {
                plan += &row.text(3)?;
                plan.push('\n');
                Ok(())
            })?;
            Ok(plan)
        })
        .unwrap()
}

#[test]
fn lists_and_lookups_use_indexes() {
    use svc_db::Build as _;
    let lists = [
        base(),
        PostQuery { statuses: texts(&["publish", "private"]), ..base() },
        tax(Relation::And, &[("category", &[2], TaxOperator::In, true)]),
        PostQuery { slugs: texts(&["hello-world"]), ..base() },
        PostQuery { include: ids(&[1000, 1001]), ..base() },
        PostQuery { author_in: vec![UserId(3)], ..base() },
        pages(PostQuery { parent_in: ids(&[1100]), ..base() }),
    ];
    for q in lists {
        let plan = plan(|db| query::page_statement(db, &q).unwrap().text(db.sql()));
        assert!(!plan.contains("SCAN p") && plan.contains("USING"), "{q:?}\n{plan}");
    }
    // The plain list is read in index order.
    let list = plan(|db| query::page_statement(db, &base()).unwrap().text(db.sql()));
    assert!(list.contains("type_status_date") && !list.contains("TEMP B-TREE"), "{list}");
    // So are pages that begin or end at a position.
    let position = Position(vec![SortValue::Text("2024-01-01 00:00:00".to_owned()), SortValue::Int(1005)]);
    for statuses in [&["publish"][..], &["publish", "private"]] {
        for (backwards, range) in [(false, "post_date<?"), (true, "post_date>?")] {
            let q = PostQuery { statuses: texts(statuses), ..base() };
            let q = q.beyond(Some(Beyond::Position(position.clone()))).backwards(backwards);
            let list = plan(|db| query::page_statement(db, &q).unwrap().text(db.sql()));
            assert!(
                list.contains("type_status_date") && list.contains(range) && !list.contains("TEMP B-TREE"),
                "{list}"
            );
        }
    }
    let slug = plan(|db| select(db).and_where(Expr::col("post_name").eq("x")).text(db.sql()));
    assert!(slug.contains("wp_posts_post_name"), "{slug}");
    let id = plan(|db| select(db).and_where(Expr::col("ID").is_in([1, 2])).text(db.sql()));
    assert!(id.contains("INTEGER PRIMARY KEY"), "{id}");
}

#[test]
fn lists_by_meta_use_the_indexes_of_their_keys() {
    use svc_db::Build as _;
    let (store, _folder) = fixture::store();
    let keys = [("isbn", MetaType::Text), ("stock", MetaType::Integer), ("price", MetaType::Number)];
    let queried = keys.map(|(key, value_type)| QueriedKey { key: key.to_owned(), value_type });
    assert!(meta_indexes::create(&store, &queried).unwrap());
    let plan = |q: &PostQuery| plan_in(&store, |db| query::page_statement(db, q).unwrap().text(db.sql()));
    for (key, value_type) in keys {
        for compare in [MetaCompare::Eq, MetaCompare::Gte, MetaCompare::In, MetaCompare::Exists] {
            let mut q = meta_is(key, &["5"], compare, value_type);
            q.meta.clauses[0].indexed = true;
            let plan = plan(&q);
            assert!(plan.contains("svc_meta_") && !plan.contains("SCAN p"), "{key} {compare:?}\n{plan}");
            let by_value = plan.contains("(meta_key=? AND ");
            assert_eq!(by_value, compare != MetaCompare::Exists, "{key} {compare:?}\n{plan}");
        }
        for order in [Order::Asc, Order::Desc] {
            let plan = plan(&by(PostOrderBy::IndexedMeta(key.to_owned(), value_type), order));
            assert!(plan.contains("svc_meta_") && !plan.contains("TEMP B-TREE"), "{key} {order:?}\n{plan}");
        }
    }
}

#[test]
fn latest_and_excess_revisions() {
    fixture::on_each(|store| {
        // 1036 has the revisions 1500 to 1502, and the administrator's autosave 1503.
        let id = PostId(1036);
        let found = store.read_blocking(|db| {
            let latest = latest_revision(db, id)?.map(|p| p.id);
            let mut autosave = |editor| Ok(latest_autosave(db, id, editor)?.map(|p| p.id));
            Ok((latest, autosave(None)?, autosave(Some(UserId(1)))?, autosave(Some(UserId(3)))?))
        });
        let expected = (Some(PostId(1502)), Some(PostId(1503)), Some(PostId(1503)), None);
        assert_eq!(found.unwrap(), expected);
        let left = |most: u64| {
            store.write_blocking(move |tx| trim_revisions(tx, id, most)).unwrap();
            let q = PostQuery {
                post_types: texts(&["revision"]),
                statuses: texts(&["inherit"]),
                parent_in: vec![id],
                order_by: vec![(PostOrderBy::Id, Order::Asc)],
                ..PostQuery::default()
            };
            store.read_blocking(|db| query(db, &q)).unwrap().ids
        };
        assert_eq!(left(4), ids(&[1500, 1501, 1502, 1503]));
        assert_eq!(left(2), ids(&[1502, 1503]));
        assert_eq!(left(0), ids(&[1503]), "autosaves are not deleted");
    });
}

#[test]
fn scheduled_posts_are_published_once() {
    fixture::on_each(|store| {
        let at = crate::stamp::parse;
        let soon = Post {
            status: "future".to_owned(),
            post_type: "post".to_owned(),
            date: at("2030-01-01 00:00:00"),
            date_gmt: at("2030-01-01 05:00:00"),
            ..Post::default()
        };
        let undated = Post { date_gmt: None, ..soon.clone() };
        let id = store.write_blocking(move |tx| insert(tx, &undated).and_then(|_| insert(tx, &soon))).unwrap();
        let types = ["post", "page"];
        assert_eq!(store.read_blocking(|db| next_due(db, &types)).unwrap(), at("2030-01-01 05:00:00"));
        let [early, late] = ["2030-01-01 04:59:59", "2030-01-01 05:00:00"].map(|text| at(text).unwrap());
        let due = |now| store.read_blocking(|db| due(db, &types, now, 9)).unwrap();
        assert_eq!((due(early), due(late)), (vec![], vec![id]));
        let publish = |now| store.write_blocking(move |tx| publish_due(tx, id, now)).unwrap();
        assert_eq!([publish(early), publish(late), publish(late)], [false, true, false]);
        assert_eq!(store.read_blocking(|db| get(db, id)).unwrap().unwrap().status, "publish");
        assert_eq!(due(late), vec![]);
    });
}
