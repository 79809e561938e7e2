//! Measures the store's queries on generated sites of two sizes, and prints how the times grow.
//!
//! ```text
//! cargo run --release -p svc-store --example growth -- DATABASE SMALL LARGE
//! ```
//!
//! `SMALL` and `LARGE` are numbers of posts (`1000 1000000`). `DATABASE` is a [`DatabaseUrl`](svc_store::DatabaseUrl) that contains `{n}`,
//! which is replaced by the number of posts (`sqlite:/tmp/growth-{n}.db`), or `mariadb`, which starts a private server
//! and deletes it afterwards. Existing sites are replaced, unless they have the requested number of posts from an
//! earlier run. Prints medians in microseconds: of repeated reads, and of the first read after a write.
#![expect(clippy::print_stdout, reason = "the output of this program is its result")]

mod dump;
mod measured;

use std::time::{Duration, Instant};

use dump::{Dump, Sizes};
use measured::Measured;
use svc_model::TermTaxonomyId;
use svc_store::import::ImportOptions;
use svc_store::posts::{self, PostQuery};
use svc_store::{Store, StoreConfig, StoreError, term_counts};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Opens the site with this number of posts, and loads it first if necessary.
fn site(url: &str, sizes: Sizes) -> Result<Store> {
    let mut config = StoreConfig::new(url.parse()?);
    config.read_timeout = None;
    let store = Store::open(&config)?;
    let last = PostQuery::published("post", 1).offset(sizes.posts * 9 / 10);
    // Reuse a site of this size: a server is still busy after loading.
    if !store.read_blocking(|db| posts::query(db, &last)).is_ok_and(|page| !page.ids.is_empty()) {
        let start = Instant::now();
        let overwrite = ImportOptions { overwrite: true, ..ImportOptions::default() };
        let report = store.import(Dump::new(sizes), overwrite)?;
        println!("loaded {} rows in {:.1} s", report.rows(), start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    store.write_blocking(svc_store::schema::install)?;
    let mut after = Some(TermTaxonomyId(0));
    while let Some(term) = after {
        let step = store.read_blocking(|db| term_counts::wrong_counts(db, term))?;
        after = step.last;
        store.write_blocking(move |tx| term_counts::correct_counts(tx, &step.wrong))?;
    }
    println!("prepared in {:.1} s", start.elapsed().as_secs_f64());
    Ok(store)
}

/// The median of the durations that `run` returns, in microseconds.
fn median(mut run: impl FnMut() -> std::result::Result<Duration, StoreError>) -> Result<f64> {
    run()?;
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 3 || (times.len() < 100 && start.elapsed() < Duration::from_millis(300)) {
        times.push(run()?);
    }
    times.sort_unstable();
    Ok(times[times.len() / 2].as_secs_f64() * 1e6)
}

/// Times of one row: repeated, and after a write. Writes have no second time.
fn times(store: &Store, row: &Measured) -> Result<(f64, Option<f64>)> {
    let timed = || {
        let start = Instant::now();
        (row.run)(store).map(|()| start.elapsed())
    };
    let repeated = median(timed)?;
    if row.writes {
        return Ok((repeated, None));
    }
    let after_write = median(|| measured::write(store).and_then(|()| timed()))?;
    Ok((repeated, Some(after_write)))
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(url), Some(small), Some(large)) = (args.next(), args.next(), args.next()) else {
        return Err("growth DATABASE SMALL LARGE [ROW]".into());
    };
    let only = args.next();
    let options = [DISPOSABLE_OPTIONS, &["--innodb-buffer-pool-size=2G", "--innodb-log-file-size=512M"]].concat();
    let server = if url == "mariadb" { MariaDb::start(&options)? } else { None };
    let mut columns = Vec::new();
    for n in [&small, &large] {
        let sizes = Sizes::of(n.parse()?);
        let url = match &server {
            Some(server) => server.create(&format!("growth_{n}"))?,
            None => url.replace("{n}", n),
        };
        let store = site(&url, sizes)?;
        let rows = measured::rows(sizes).into_iter().filter(|row| only.as_ref().is_none_or(|o| row.name.contains(o)));
        let mut column = Vec::new();
        for row in rows {
            let measured = times(&store, &row)?;
            println!("{n} | {} | {:.0} | {:.0}", row.name, measured.0, measured.1.unwrap_or(0.0));
            column.push((row.name, measured));
        }
        columns.push(column);
    }
    println!("\n| | {small} | {large} | ratio | {small}, after a write | {large}, after a write | ratio |");
    println!("|---|---|---|---|---|---|---|");
    for ((name, small), (_, large)) in columns[0].iter().zip(&columns[1]) {
        let cells = |a: f64, b: f64| format!("{a:.0} | {b:.0} | {:.1}", b / a);
        let after = small.1.zip(large.1).map_or_else(|| " | | ".to_owned(), |(a, b)| cells(a, b));
        println!("| {name} | {} | {after} |", cells(small.0, large.0));
    }
    Ok(())
}
