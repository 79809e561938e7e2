//! Tests on two nodes of a Galera cluster. Skipped if it is not installed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sea_query::{Expr, ExprTrait as _, Query};
use svc_testkit::galera::Galera;

use crate::{DatabaseUrl, Store, StoreConfig, StoredText, options};

fn set(store: &Store, name: &'static str, value: &'static str) {
    store.write_blocking(move |tx| options::set(tx, name, &StoredText::of(value), true)).unwrap();
}

fn value(store: &Store, name: &str) -> Option<String> {
    store.read_blocking(|db| options::get(db, name)).unwrap().map(|value| value.text().to_owned())
}

/// A node reports that it has aborted a transaction in the response to the next command, which must have one.
#[test]
fn a_transaction_that_another_node_aborts_between_two_statements_is_run_again() {
    let Some(cluster) = Galera::start(2).unwrap() else { return };
    let [node, other_node] = cluster.nodes() else { unreachable!() };
    node.create("site").unwrap();
    cluster.settle().unwrap();
    let open = |url| Store::open(&StoreConfig::new(DatabaseUrl::MySql(url))).unwrap();
    let store = open(node.url("site"));
    store.write_blocking(crate::schema::install).unwrap();
    cluster.settle().unwrap();
    let other = open(other_node.url("site"));
    set(&store, "a", "0");
    cluster.settle().unwrap();

    let (runs, reader) = (Arc::new(AtomicUsize::new(0)), store.clone());
    let counted = Arc::clone(&runs);
    store
        .write_blocking(move |tx| {
            options::set(tx, "a", &StoredText::of("1"), true)?;
            let mut select = Query::select();
            select.column("option_id").from(tx.table("options")).and_where(Expr::col("option_name").eq("a"));
            tx.all_once(&select, |_| {
                if counted.fetch_add(1, Ordering::Relaxed) == 0 {
                    set(&other, "b", "1");
                    // The node has aborted this transaction when it has what the other node has committed.
                    let begun = Instant::now();
                    while value(&reader, "b").is_none() {
                        assert!(begun.elapsed() < Duration::from_mins(1), "the nodes are not connected");
                    }
                }
                Ok(())
            })?;
            options::set(tx, "c", &StoredText::of("1"), true)
        })
        .unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 2);
    let found = ["a", "b", "c"].map(|name| value(&store, name));
    assert_eq!(found.map(Option::unwrap_or_default), ["1", "1", "1"]);
}
