//! Models that shuttle runs under many schedules: `cargo xtask models`.
//!
//! The guarantee that is checked: a response to a request that begins after a write was acknowledged is not older than that write, whether
//! the news of the write come afterwards, as those of the binary log, or before it, as the connector's.

use std::sync::Arc;

use shuttle::{
    Config, Runner,
    scheduler::DfsScheduler,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use crate::{
    changes::{Changes, Dependencies, Position},
    names::Name,
};

/// Schedules of a model that is too large to be explored exhaustively.
const RANDOM: usize = 10_000;

/// More schedules than the small models have.
const LIMIT: usize = 200_000;

/// A database with one row, the news of its writes, and one stored response.
#[derive(Default)]
struct Site {
    changes: Changes,
    row: Mutex<u64>,
    /// The last position of the news, and the one up to which they are applied.
    news: Mutex<(Position, Position)>,
    response: Mutex<Option<Arc<(u64, Dependencies)>>>,
    /// The last value whose write was acknowledged.
    acknowledged: AtomicU64,
}

impl Site {
    fn names() -> [Name; 1] {
        [Name::row("posts", 1)]
    }

    /// Writes a row. The news follow.
    fn write(&self) {
        let mut row = self.row.lock().unwrap();
        *row += 1;
        let written = *row;
        self.news.lock().unwrap().0 += 1;
        drop(row);
        self.acknowledged.fetch_max(written, Ordering::SeqCst);
    }

    /// Announces a write, writes a row, and reports the end.
    fn write_announced(&self, writer: u64) {
        self.announce(|changes, at| changes.begun(writer, &Self::names(), at));
        let written = {
            let mut row = self.row.lock().unwrap();
            *row += 1;
            *row
        };
        self.announce(|changes, at| changes.ended(writer, at));
        self.acknowledged.fetch_max(written, Ordering::SeqCst);
    }

    /// Applies the news of a writer at the next position.
    fn announce(&self, apply: impl FnOnce(&Changes, Position)) {
        let mut news = self.news.lock().unwrap();
        *news = (news.0 + 1, news.0 + 1);
        apply(&self.changes, news.0);
    }

    /// Applies all news, and returns their position.
    fn catch_up(&self) -> Position {
        let mut news = self.news.lock().unwrap();
        while news.1 < news.0 {
            news.1 += 1;
            self.changes.changed(&Self::names(), news.1);
        }
        news.1
    }

    /// Replays the stored response, or renders one and stores it.
    fn read(&self) {
        let before = self.acknowledged.load(Ordering::SeqCst);
        let stored = self.response.lock().unwrap().clone();
        let at = self.catch_up();
        let value = match stored.filter(|stored| stored.1.check().is_ok()) {
            Some(stored) => stored.0,
            None => {
                let value = *self.row.lock().unwrap();
                let new = self.changes.depend(&Self::names(), at).ok().map(|known| Arc::new((value, known)));
                *self.response.lock().unwrap() = new;
                value
            }
        };
        assert!(value >= before, "{value} was read after {before} was acknowledged");
    }
}

/// Runs each function on a thread of its own.
fn in_parallel(threads: &[fn(&Site)]) {
    let site = Arc::new(Site::default());
    let run = |thread: &fn(&Site)| {
        let (site, thread) = (Arc::clone(&site), *thread);
        thread::spawn(move || thread(&site))
    };
    let threads: Vec<_> = threads.iter().map(run).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn reads(site: &Site) {
    site.read();
    site.read();
}

/// Runs a model in each schedule.
fn in_all_schedules(model: impl Fn() + Send + Sync + 'static) {
    let n = Runner::new(DfsScheduler::new(Some(LIMIT), false), Config::default()).run(model);
    assert!(n < LIMIT, "there are more schedules");
}

#[test]
fn news_after_the_write_in_all_schedules() {
    in_all_schedules(|| in_parallel(&[Site::write, Site::read]));
}

#[test]
fn announced_writes_in_all_schedules() {
    in_all_schedules(|| in_parallel(&[|site| site.write_announced(1), Site::read]));
}

#[test]
fn writers_of_both_kinds_in_random_schedules() {
    let announced: [fn(&Site); 2] = [|site| site.write_announced(1), |site| site.write_announced(2)];
    shuttle::check_random(move || in_parallel(&[announced[0], announced[1], reads, reads]), RANDOM);
    shuttle::check_random(|| in_parallel(&[Site::write, Site::write, reads, reads]), RANDOM);
}
