//! Large transactions.

use std::time::{Duration, Instant};

use mysql::prelude::Queryable as _;

use super::{changed, server::Server};

/// Memory of this process, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A transaction that writes this many rows, of different posts.
async fn large_transaction(rows: u64) {
    let Some(server) = Server::start(&["--innodb-buffer-pool-size=256M", "--innodb-flush-log-at-trx-commit=0"]) else {
        return;
    };
    let (feed, changes) = server.feed();
    super::caught_up(&feed).await;
    let since = feed.state().position;
    let before = memory();
    let mut writer = server.connect();
    let start = Instant::now();
    writer.exec_drop("INSERT INTO wp_postmeta (post_id, meta_key, meta_value) SELECT seq, 'k', 'value' FROM seq_1_to_1000000 WHERE seq <= ?", (rows,)).unwrap();
    let (committed, mut largest) = (Instant::now(), before);
    loop {
        largest = largest.max(memory());
        match feed.catch_up().await {
            Ok(()) => break,
            Err(error) => assert!(committed.elapsed() < Duration::from_secs(120), "{error} {:?}", feed.state()),
        }
    }
    let read = committed.elapsed();
    eprintln!(
        "{rows} rows: written in {:?}, read {read:?} after the commit ({:.0} rows/s), memory {} MiB more",
        committed - start,
        rows as f64 / read.as_secs_f64(),
        (largest - before) / 1024
    );
    assert_eq!(changed(&changes, "postmeta/1 postmeta/999999999 posts/1", since), "postmeta/1 postmeta/999999999");
    assert_eq!(feed.state().missed, 0);
    assert!(largest - before < 100 * 1024, "{} KiB", largest - before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_transaction_changes_the_table_in_bounded_memory() {
    large_transaction(100_000).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn a_transaction_of_a_million_rows() {
    large_transaction(1_000_000).await;
}

/// Times from the acknowledgement of a write until it is applied.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn delays_of_small_transactions() {
    let Some(server) = Server::start(&["--sync-binlog=1"]) else { return };
    let (feed, _) = server.feed();
    for (writers, rows) in [(1, 1), (4, 1), (4, 100)] {
        let runtime = tokio::runtime::Handle::current();
        let start = Instant::now();
        let mut delays: Vec<Duration> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..writers)
                .map(|writer| {
                    let (mut connection, feed, runtime) = (server.connect(), &feed, &runtime);
                    scope.spawn(move || {
                        let mut delays = Vec::new();
                        for round in 0..10_000 / writers {
                            let sql = "INSERT INTO wp_postmeta (post_id, meta_key) SELECT ? + seq, 'k' FROM seq_1_to_100 WHERE seq <= ?";
                            connection.exec_drop(sql, (writer * 1_000_000 + round * rows, rows)).unwrap();
                            let committed = Instant::now();
                            runtime.block_on(feed.catch_up()).unwrap();
                            delays.push(committed.elapsed());
                        }
                        delays
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        delays.sort();
        let at = |share: f64| delays[((delays.len() - 1) as f64 * share) as usize];
        eprintln!(
            "{writers} writers, {} transactions of {rows} rows in {:?}: p50 {:?}, p99 {:?}, most {:?}",
            delays.len(),
            start.elapsed(),
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
}
