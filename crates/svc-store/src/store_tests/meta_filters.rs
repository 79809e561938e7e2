//! Lists that are filtered and sorted by meta keys with an index.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use svc_db::{ReadText as _, WriteText as _};
use svc_model::PostId;

use crate::meta::{self, MetaKind};
use crate::meta_indexes::{self, QueriedKey};
use crate::posts::{self, Clauses, MetaClause, MetaCompare, MetaType, PostOrderBy, PostQuery};
use crate::{Beyond, Dialect, Order, Store, StoredText, fixture};

const KEYS: [(&str, MetaType); 3] =
    [("it's a price?", MetaType::Number), ("isbn", MetaType::Text), ("stock", MetaType::Integer)];

fn queried() -> Vec<QueriedKey> {
    KEYS.iter().map(|(key, value_type)| QueriedKey { key: (*key).to_owned(), value_type: *value_type }).collect()
}

/// The first values of a key, and all values, by post.
type Values = BTreeMap<i64, Vec<&'static str>>;

/// Gives published posts values of each key, and of keys that differ from them in case or accents only.
fn fill(store: &Store) -> BTreeMap<&'static str, Values> {
    assert_eq!(meta_indexes::create(store, &queried()).unwrap(), is_sqlite(store));
    let ids = store.read_blocking(|db| posts::query(db, &list().limit(Some(40)))).unwrap().ids;
    let mut all = BTreeMap::new();
    let posts = ids.clone();
    store
        .write_blocking(move |tx| {
            for id in &posts {
                for (key, value) in [("IT'S A PRICE?", "5"), ("isbñ", "978-1"), ("Stock", "7")] {
                    meta::add(tx, MetaKind::Post, id.0, key, &StoredText::of(value))?;
                }
            }
            Ok(())
        })
        .unwrap();
    for (key, value_type) in KEYS {
        let some = match value_type {
            MetaType::Text => ["978-3", "978-1", "", "978-2", "Äb", "ab", "978-10", "x' OR 1=1"],
            _ => ["19.5", "5", "-3", "100", "5.0", "", "7", "0.1"],
        };
        let mut values = Values::new();
        for (at, id) in ids.iter().enumerate().filter(|(at, _)| at % 5 != 4) {
            let mut own = vec![some[at * 7 % 8]];
            if at % 3 == 0 {
                own.push(some[at % 8]);
            }
            values.insert(id.0, own);
        }
        let rows = values.clone();
        store
            .write_blocking(move |tx| {
                for (id, own) in &rows {
                    for value in own {
                        meta::add(tx, MetaKind::Post, *id, key, &StoredText::of(*value))?;
                    }
                }
                Ok(())
            })
            .unwrap();
        all.insert(key, values);
    }
    all
}

fn is_sqlite(store: &Store) -> bool {
    store.read_blocking(|db| Ok(db.dialect() == Dialect::Sqlite)).unwrap()
}

fn list() -> PostQuery {
    PostQuery::published("post", 100)
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_default()
}

fn compare(value_type: MetaType, a: &str, b: &str) -> Ordering {
    match value_type {
        MetaType::Text => a.to_lowercase().replace('ä', "a").cmp(&b.to_lowercase().replace('ä', "a")),
        MetaType::Integer => number(a).trunc().total_cmp(&number(b).trunc()),
        MetaType::Number => number(a).total_cmp(&number(b)),
    }
}

fn matches(clause: &MetaClause, values: &[&str]) -> bool {
    if let Some((by, end)) = &clause.other_end {
        let ends = [
            MetaClause { other_end: None, ..clause.clone() },
            MetaClause { other_end: None, compare: *by, values: vec![end.clone()], ..clause.clone() },
        ];
        return values.iter().any(|value| ends.iter().all(|end| matches(end, &[value])));
    }
    let any = |fits: &dyn Fn(Ordering) -> bool| {
        values.iter().any(|value| clause.values.iter().any(|wanted| fits(compare(clause.value_type, value, wanted))))
    };
    match clause.compare {
        MetaCompare::Exists => !values.is_empty(),
        MetaCompare::NotExists => values.is_empty(),
        MetaCompare::Gt => any(&Ordering::is_gt),
        MetaCompare::Gte => any(&Ordering::is_ge),
        MetaCompare::Lt => any(&Ordering::is_lt),
        MetaCompare::Lte => any(&Ordering::is_le),
        _ => any(&Ordering::is_eq),
    }
}

fn clause(key: &str, compare: MetaCompare, values: &[&str]) -> MetaClause {
    let value_type = KEYS.iter().find(|(name, _)| *name == key).unwrap().1;
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    MetaClause { key: key.to_owned(), values, compare, value_type, indexed: true, other_end: None }
}

fn range(key: &str, lower: (MetaCompare, &str), upper: (MetaCompare, &str)) -> MetaClause {
    MetaClause { other_end: Some((upper.0, upper.1.to_owned())), ..clause(key, lower.0, &[lower.1]) }
}

fn filtered(clauses: Vec<MetaClause>) -> PostQuery {
    list().meta(Clauses { clauses, ..Clauses::default() })
}

fn ids(store: &Store, q: &PostQuery) -> Vec<i64> {
    let page = store.read_blocking(|db| posts::query(db, q)).unwrap();
    assert_eq!(page.total, Some(page.ids.len() as u64), "{q:?}");
    let counted = store.read_blocking(|db| posts::query(db, &q.clone().limit(Some(1)))).unwrap();
    assert_eq!(counted.total, page.total, "{q:?}");
    page.ids.into_iter().map(|id| id.0).collect()
}

#[test]
fn filters_and_orders_are_those_of_the_values() {
    use MetaCompare as By;
    let (price, isbn, stock) = (KEYS[0].0, KEYS[1].0, KEYS[2].0);
    fixture::on_each(|store| {
        let values = fill(&store);
        let all = ids(&store, &list());
        let none = Vec::new();
        let of = |key: &str, id: i64| values[key].get(&id).unwrap_or(&none);
        fixture::with_random_statements(|| {
            for clauses in [
                vec![clause(price, By::Eq, &["5"])],
                vec![clause(price, By::Gte, &["5"])],
                vec![clause(price, By::Gt, &["5"]), clause(price, By::Lt, &["100"])],
                vec![range(price, (By::Gt, "5"), (By::Lt, "100"))],
                vec![range(price, (By::Gte, "5"), (By::Lte, "5"))],
                vec![range(isbn, (By::Gt, "978-1"), (By::Lte, "978-3"))],
                vec![clause(price, By::Lte, &["0"])],
                vec![clause(price, By::In, &["7", "19.50", "1e2"])],
                vec![clause(price, By::Exists, &[])],
                vec![clause(price, By::NotExists, &[])],
                vec![clause(isbn, By::Eq, &["978-1"])],
                vec![clause(isbn, By::Eq, &["AB"])],
                vec![clause(isbn, By::Eq, &["x' OR 1=1"])],
                vec![clause(isbn, By::In, &["978-2", "978-3", "none"])],
                vec![clause(isbn, By::Eq, &["none"])],
                vec![clause(stock, By::Gte, &["7"]), clause(isbn, By::Exists, &[])],
            ] {
                let fits = |id: &i64| clauses.iter().all(|clause| matches(clause, of(&clause.key, *id)));
                let expected: Vec<i64> = all.iter().copied().filter(fits).collect();
                assert_eq!(ids(&store, &filtered(clauses.clone())), expected, "{clauses:?}");
            }
            for (key, value_type) in KEYS {
                for order in [Order::Asc, Order::Desc] {
                    let mut expected: Vec<i64> = all.iter().copied().filter(|id| !of(key, *id).is_empty()).collect();
                    expected.sort_by(|a, b| {
                        let found = compare(value_type, of(key, *a)[0], of(key, *b)[0]).then(a.cmp(b));
                        if order == Order::Asc { found } else { found.reverse() }
                    });
                    let by = vec![(PostOrderBy::IndexedMeta(key.to_owned(), value_type), order)];
                    let sorted = list().order_by(by.clone());
                    assert_eq!(ids(&store, &sorted), expected, "{key} {order:?}");
                    let q = filtered(vec![clause(isbn, By::Eq, &["978-1"])]).order_by(by);
                    let some: Vec<i64> =
                        expected.iter().copied().filter(|id| of(isbn, *id).contains(&"978-1")).collect();
                    assert_eq!(ids(&store, &q), some, "{key} {order:?}");
                    // Page by page.
                    for backwards in [false, true] {
                        let (mut pages, mut beyond) = (Vec::new(), None);
                        loop {
                            let q = sorted.clone().limit(Some(3)).total(false).next(true);
                            let q = q.beyond(beyond).backwards(backwards);
                            let page = store.read_blocking(|db| posts::query(db, &q)).unwrap();
                            pages.push(page.ids);
                            let Some((_, next)) = page.next else { break };
                            beyond = Some(Beyond::Position(next));
                        }
                        if backwards {
                            pages.reverse();
                        }
                        let walked: Vec<i64> = pages.concat().iter().map(|id| id.0).collect();
                        assert_eq!(walked, expected, "{key} {order:?}, backwards: {backwards}");
                    }
                }
            }
        });
    });
}

#[test]
fn writes_of_other_programs_are_found() {
    fixture::on_each(|store| {
        fill(&store);
        let isbn = |value: &str| filtered(vec![clause("isbn", MetaCompare::Eq, &[value])]);
        let before = ids(&store, &isbn("978-1"));
        assert!(!before.is_empty() && ids(&store, &isbn("written elsewhere")).is_empty());
        let update =
            "UPDATE wp_postmeta SET meta_value = 'written elsewhere' WHERE meta_key = 'isbn' AND meta_value = '978-1'";
        let prefix = store.read_blocking(|db| Ok(db.prefix().to_owned())).unwrap();
        let update = update.replace("wp_", &prefix);
        store.write_blocking(move |tx| tx.execute_text(&update, &[]).map(drop)).unwrap();
        assert_eq!(ids(&store, &isbn("written elsewhere")), before);
        assert_eq!(ids(&store, &isbn("978-1")), [0_i64; 0]);
        let gone = PostId(before[0]);
        store.write_blocking(move |tx| posts::delete(tx, gone)).unwrap();
        assert_eq!(ids(&store, &isbn("written elsewhere")), before[1..]);
    });
}

/// The names of the indexes of meta values on SQLite.
fn indexes(store: &Store) -> HashSet<String> {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE '%svc_meta_%'";
    let mut names = HashSet::new();
    store.read_blocking(|db| db.query_text(sql, &[], &mut |row| row.text(0).map(|name| names.extend([name])))).unwrap();
    names
}

#[test]
fn indexes_are_those_of_the_registered_keys() {
    let (store, _folder) = fixture::store();
    assert!(indexes(&store).is_empty());
    fill(&store);
    let all = indexes(&store);
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(meta_indexes::create(&store, &queried()).unwrap());
    assert_eq!(indexes(&store), all);
    let changed = [QueriedKey { key: "isbn".to_owned(), value_type: MetaType::Integer }, queried().remove(0)];
    assert!(meta_indexes::create(&store, &changed).unwrap());
    assert_eq!((indexes(&store).len(), indexes(&store).intersection(&all).count()), (2, 1));
    assert!(meta_indexes::create(&store, &[]).unwrap());
    assert!(indexes(&store).is_empty());
    assert_eq!(store.read_blocking(meta_indexes::missing).unwrap(), None);
}

#[test]
fn servers_name_the_missing_index() {
    let Some(config) = fixture::server().map(fixture::database) else { return };
    let store = fixture::open(&config).unwrap();
    store.import(&fixture::dump()[..], crate::import::ImportOptions::default()).unwrap();
    assert!(!meta_indexes::create(&store, &queried()).unwrap());
    let statement = store.read_blocking(meta_indexes::missing).unwrap().unwrap();
    store.write_blocking(move |tx| tx.execute_text(&statement, &[]).map(drop)).unwrap();
    assert_eq!(store.read_blocking(meta_indexes::missing).unwrap(), None);
}
