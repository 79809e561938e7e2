//! The guarantees for callers, with several writers at once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use mysql::{Conn, prelude::Queryable as _};
use svc_bridge::{
    changes::{Changes, Position},
    names::Name,
};

use super::{caught_up, changed, server::Server, visible};

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_writes_are_seen_by_whoever_catches_up() {
    const WRITERS: u32 = 6;
    const ROUNDS: u32 = 400;
    let Some(server) = Server::start(&["--sync-binlog=1"]) else { return };
    let (feed, changes) = server.feed();
    let feed = Arc::new(feed);
    // A new term may be one of any relationship, so that it changes more than its row.
    for writer in 0..WRITERS {
        server.run(&format!("INSERT INTO wp_terms VALUES ({}, '')", writer + 1));
    }
    caught_up(&feed).await;
    let runtime = tokio::runtime::Handle::current();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (feed, changes, runtime, mut connection) = (&feed, &changes, &runtime, server.connect());
            scope.spawn(move || {
                let name = [Name::row("terms", writer + 1)];
                for round in 0..ROUNDS {
                    runtime.block_on(feed.catch_up()).unwrap();
                    let known = changes.depend(&name, feed.state().position).unwrap();
                    assert!(known.check().is_ok());
                    connection
                        .exec_drop("UPDATE wp_terms SET name = ? WHERE term_id = ?", (round, writer + 1))
                        .unwrap();
                    runtime.block_on(feed.catch_up()).unwrap();
                    assert!(known.check().is_err(), "round {round} of writer {writer}");
                }
            });
        }
    });
    assert_eq!(feed.state().missed, 0);
}

/// Writers that count in a row each, and write an option with the number in the same transaction.
struct Counters {
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

const COUNTERS: usize = 4;

impl Counters {
    fn start(server: &Server) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (1..=COUNTERS).map(|counter| {
            let (mut connection, stop) = (server.connect(), Arc::clone(&stop));
            connection.exec_drop("INSERT INTO wp_terms VALUES (?, '0')", (counter,)).unwrap();
            std::thread::spawn(move || {
                let mut number = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    number += 1;
                    connection.query_drop("BEGIN").unwrap();
                    connection.exec_drop("UPDATE wp_terms SET name = ? WHERE term_id = ?", (number, counter)).unwrap();
                    let name = format!("{counter}-{number}");
                    connection
                        .exec_drop("INSERT INTO wp_options (option_name, option_value) VALUES (?, '')", (name,))
                        .unwrap();
                    connection.query_drop("COMMIT").unwrap();
                    std::thread::sleep(Duration::from_millis(1));
                }
            })
        });
        Counters { threads: threads.collect(), stop }
    }

    fn read(connection: &mut Conn) -> Vec<u64> {
        let names: Vec<String> = connection.query("SELECT name FROM wp_terms ORDER BY term_id").unwrap();
        names.iter().map(|name| name.parse().unwrap()).collect()
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

/// The result of a reader: a position, and then the numbers of the counters.
type Reading = (Position, Vec<u64>);

/// The readings that have not seen a transaction up to their position.
async fn wrong(
    feed: &svc_bridge::feed::binlog::Binlog,
    changes: &Changes,
    connection: &mut Conn,
    readings: &[Reading],
) -> usize {
    let last = &readings.last().unwrap().1;
    while Counters::read(connection).iter().zip(last).any(|(now, then)| now <= then) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    caught_up(feed).await;
    // The next transaction of each counter, which the reader has not seen, must be after the position.
    let is_wrong = |(position, numbers): &&Reading| {
        numbers.iter().enumerate().any(|(at, number)| {
            let next = Name::row("options", format!("{}-{}", at + 1, number + 1));
            changes.depend(&[next], *position).is_ok_and(|known| known.check().is_ok())
        })
    };
    readings.iter().filter(is_wrong).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_visible_is_seen_by_whoever_begins_afterwards() {
    read_counters(1_000).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute"]
async fn what_is_visible_is_seen_in_many_rounds() {
    read_counters(20_000).await;
}

async fn read_counters(rounds: usize) {
    let Some(server) = Server::start(&["--sync-binlog=1", "--max-binlog-size=300000"]) else { return };
    let (feed, changes) = server.feed();
    let counters = Counters::start(&server);
    let mut connection = server.connect();
    visible(&feed).await;
    let mut readings = Vec::new();
    let (mut checked, mut unknown, start) = (0, 0, Instant::now());
    while checked < rounds {
        match feed.visible().await {
            Ok(position) => readings.push((position, Counters::read(&mut connection))),
            Err(_) => unknown += 1,
        }
        if readings.len() == 200 {
            assert_eq!(wrong(&feed, &changes, &mut connection, &readings).await, 0);
            checked += readings.len();
            readings.clear();
        }
    }
    let transactions = feed.state().transactions;
    eprintln!(
        "{checked} readings, {unknown} unknown, {transactions} transactions, {:?}, {}",
        start.elapsed(),
        feed.state().file
    );
    assert!(unknown < rounds / 100, "{unknown}");
    drop(counters);
}

/// A server that waits a second between the log and the storage engine, for a replica that does not exist.
const WAITS: &str = "SET GLOBAL rpl_semi_sync_master_wait_point = 'AFTER_SYNC', GLOBAL rpl_semi_sync_master_timeout = 1000, \
                     GLOBAL rpl_semi_sync_master_wait_no_slave = ON, GLOBAL rpl_semi_sync_master_enabled = ON";

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_in_the_log_is_not_visible_before_the_engine_has_committed_it() {
    for options in [&[][..], &["--max-binlog-size=4096"]] {
        let Some(server) = Server::start(options) else { return };
        server.run("INSERT INTO wp_posts (ID, post_content) VALUES (2, REPEAT('a', 3000))");
        let (feed, changes) = server.feed();
        let before = visible(&feed).await;
        server.run(WAITS);
        let mut writer = server.connect();
        let written = std::thread::spawn(move || {
            writer.query_drop("INSERT INTO wp_posts (ID, post_content) VALUES (1, REPEAT('a', 5000))").unwrap();
        });
        let start = Instant::now();
        while changed(&changes, "posts/1", before).is_empty() {
            assert!(start.elapsed() < Duration::from_millis(900));
            caught_up(&feed).await;
        }
        // In the log, and applied.
        let mut reader = server.connect();
        let mut count = || reader.query_first::<u64, _>("SELECT COUNT(*) FROM wp_posts WHERE ID = 1").unwrap().unwrap();
        let mut rounds = 0;
        while !written.is_finished() {
            let position = feed.visible().await.unwrap();
            if count() == 0 {
                rounds += 1;
                assert_eq!(
                    changed(&changes, "posts/1", position),
                    "posts/1",
                    "a rendering now does not contain the post"
                );
            }
        }
        assert!(rounds > 10, "{rounds}");
        written.join().unwrap();
        assert_eq!(count(), 1);
        // Afterwards it is, at the latest after some seconds.
        let start = Instant::now();
        while changed(&changes, "posts/1", visible(&feed).await) == "posts/1" {
            assert!(start.elapsed() < Duration::from_secs(10));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
