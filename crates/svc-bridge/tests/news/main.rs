//! The feed of the binary log, against a MariaDB server of each test's own.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

mod guarantee;
mod interruptions;
mod names;
mod refusals;
mod reports;
mod server;
mod statements;
mod volume;
mod writes;

use std::time::{Duration, Instant};

use svc_bridge::{
    changes::{Changes, Position},
    feed::binlog::{Binlog, UnknownReason},
    names::Name,
};

/// Which of the parts `read` have changed since a position.
fn changed(changes: &Changes, read: &str, since: Position) -> String {
    let same = |name: &str| changes.depend(&[Name::parse(name)], since).is_ok_and(|known| known.check().is_ok());
    read.split_whitespace().filter(|name| !same(name)).collect::<Vec<_>>().join(" ")
}

/// Waits until the feed is connected and has read the log.
async fn caught_up(feed: &Binlog) -> Position {
    until(feed, |caught_up| caught_up.is_ok()).await;
    feed.state().position
}

/// Calls `catch_up` until it has an outcome.
async fn until(feed: &Binlog, expected: impl Fn(&Result<(), UnknownReason>) -> bool) {
    let start = Instant::now();
    loop {
        let outcome = feed.catch_up().await;
        if expected(&outcome) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{outcome:?} {:?}", feed.state());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A position that is visible, for which the caller may have to wait some seconds.
async fn visible(feed: &Binlog) -> Position {
    let start = Instant::now();
    loop {
        match feed.visible().await {
            Ok(position) => return position,
            Err(error) => assert!(start.elapsed() < Duration::from_secs(30), "{error} {:?}", feed.state()),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
