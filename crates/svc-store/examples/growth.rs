//! Measures the store's most frequent queries on a generated site of a given size.
//!
//! ```text
//! cargo run --release -p svc-store --example growth -- DATABASE N_POSTS
//! ```
//!
//! `DATABASE` is a [`DatabaseUrl`]. An existing site is replaced, unless it has the requested number of posts from an
//! earlier run. Prints the loading time, then one line of medians in microseconds.
#![expect(clippy::print_stdout, reason = "the output of this program is its result")]

use std::fmt::Write as _;
use std::io::Read;
use std::time::{Duration, Instant};

use svc_model::{Post, PostId, TermId};
use svc_store::import::ImportOptions;
use svc_store::posts::{self, Clauses, PostQuery, TaxClause};
use svc_store::{MetaKind, Store, StoreConfig, StoreError, create_table_statements, meta, terms};

/// Number of categories: the first contains half of all posts, the second a quarter, and so on; the last has ten.
const N_CATEGORIES: u64 = 10;

/// A dump of a site with `n` posts, generated while it is read.
struct Dump {
    next: u64,
    n: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl Dump {
    fn new(n: u64) -> Self {
        let mut head = create_table_statements("wp_");
        head += "INSERT INTO `wp_users` (`ID`,`user_login`) VALUES (1,'admin');\n";
        for c in 1..=N_CATEGORIES {
            let count = n >> c;
            writeln!(head, "INSERT INTO `wp_terms` VALUES ({c},'Category {c}','category-{c}',0);").unwrap_or_default();
            writeln!(head, "INSERT INTO `wp_term_taxonomy` VALUES ({c},{c},'category','',0,{count});")
                .unwrap_or_default();
        }
        Dump { next: 1, n, buffer: head.into_bytes(), at: 0 }
    }

    /// Generates a hundred posts with their meta and terms.
    fn fill(&mut self) {
        let ids = self.next..=(self.next + 99).min(self.n);
        self.next += 100;
        let mut out = String::new();
        let mut rows = |table: &str, row: &dyn Fn(u64) -> Option<String>| {
            let rows: Vec<String> = ids.clone().filter_map(row).collect();
            if !rows.is_empty() {
                writeln!(out, "INSERT INTO `wp_{table} VALUES {};", rows.join(",")).unwrap_or_default();
            }
        };
        let text = "A sentence of ordinary words for the body of a generated post. ".repeat(16);
        let columns = "posts` (`ID`,`post_author`,`post_date`,`post_date_gmt`,`post_content`,`post_title`,`post_excerpt`,`post_status`,`post_name`,`to_ping`,`pinged`,`post_modified`,`post_modified_gmt`,`post_content_filtered`,`post_type`)";
        rows("options`", &|id| (id == 1).then(|| "(1,'siteurl','http://example.org','yes')".to_owned()));
        rows(columns, &|id| {
            // Dates do not follow the order of ids.
            let minutes = (id * 7_919) % 5_000_000;
            let date = chrono::DateTime::from_timestamp(1_300_000_000 + (minutes * 60).cast_signed(), 0)?;
            let date = date.format("%Y-%m-%d %H:%M:%S");
            Some(format!(
                "({id},1,'{date}','{date}','{text}','Title {id}','','publish','slug-{id}','','','{date}','{date}','','post')"
            ))
        });
        rows("postmeta`", &|id| Some(format!("({id},{id},'note','{id}')")));
        rows("term_relationships`", &|id| {
            let c = u64::from(id.trailing_zeros()) + 1;
            (c <= N_CATEGORIES).then(|| format!("({id},{c},0)"))
        });
        self.buffer = out.into_bytes();
        self.at = 0;
    }
}

impl Read for Dump {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.buffer.len() {
            if self.next > self.n {
                return Ok(0);
            }
            self.fill();
        }
        let n = into.len().min(self.buffer.len() - self.at);
        into[..n].copy_from_slice(&self.buffer[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// The median duration of several runs, in microseconds.
fn median(mut f: impl FnMut() -> Result<(), StoreError>) -> Result<f64, StoreError> {
    f()?;
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 5 || (times.len() < 200 && start.elapsed() < Duration::from_secs(2)) {
        let one = Instant::now();
        f()?;
        times.push(one.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2].as_secs_f64() * 1e6)
}

/// Reads a page of posts like a request: ids, total, rows, meta, terms.
fn page(store: &Store, q: &PostQuery) -> Result<(), StoreError> {
    store.read(|db| {
        let page = posts::query(db, q)?;
        let rows = posts::get_many(db, &page.ids)?;
        let ids: Vec<i64> = rows.iter().map(|p| p.id.0).collect();
        meta::load(db, MetaKind::Post, &ids)?;
        terms::of_objects(db, &page.ids)?;
        Ok(())
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(url), Some(n)) = (args.next(), args.next()) else { return Err("growth DATABASE N_POSTS".into()) };
    let n: u64 = n.parse()?;
    let mut config = StoreConfig::new(url.parse()?);
    config.read_timeout = None;
    let store = Store::open(&config)?;
    let list = PostQuery::published("post", 10);
    let last = list.clone().offset(n.saturating_sub(1));
    // Reuse a site of this size: a server is still busy after loading.
    if !store.read(|db| posts::query(db, &last)).is_ok_and(|page| !page.ids.is_empty()) {
        let start = Instant::now();
        let overwrite = ImportOptions { overwrite: true, ..ImportOptions::default() };
        let report = store.import(Dump::new(n), overwrite)?;
        println!("loaded {} rows in {:.1} s", report.rows(), start.elapsed().as_secs_f64());
    }

    let category = |id: i64, offset: u64| {
        list.clone()
            .tax(Clauses {
                clauses: vec![TaxClause {
                    taxonomy: "category".to_owned(),
                    terms: vec![TermId(id)],
                    ..TaxClause::default()
                }],
                ..Clauses::default()
            })
            .offset(offset)
    };
    let middle = n / 2;
    let new = Post {
        post_type: "post".to_owned(),
        status: "publish".to_owned(),
        title: "New".to_owned(),
        slug: "new".to_owned(),
        date: svc_store::stamp::parse("2024-01-01 00:00:00"),
        ..Post::default()
    };
    let create = || {
        store.write_blocking({
            let new = new.clone();
            move |tx| posts::insert(tx, &new).map(drop)
        })
    };
    let slug = format!("slug-{middle}");
    let measured = [
        ("list", median(|| page(&store, &list))?),
        ("list, half of all in category", median(|| page(&store, &category(1, 0)))?),
        ("list, few in category", median(|| page(&store, &category(N_CATEGORIES.cast_signed(), 0)))?),
        ("by id", median(|| store.read(|db| posts::get(db, PostId(middle.cast_signed())).map(drop)))?),
        ("by slug", median(|| store.read(|db| posts::by_slug(db, &slug, &["post"]).map(drop)))?),
        ("deep page", median(|| page(&store, &list.clone().offset(middle)))?),
        ("last page", median(|| page(&store, &list.clone().offset(n - 20)))?),
        ("search", median(|| page(&store, &list.clone().search(Some("Title 77".to_owned()))))?),
        ("create", median(create)?),
        ("create, then list", median(|| create().and_then(|()| page(&store, &list)))?),
    ];
    for (what, time) in measured {
        println!("{n} posts | {what} | {time:.0} µs");
    }
    Ok(())
}
