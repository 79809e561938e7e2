//! Measures searches with and without the search index on a generated site of a given size.
//!
//! ```text
//! cargo run --release -p svc-store --example search -- DATABASE N_POSTS [indexed | ranked]
//! ```
//!
//! `DATABASE` is an SQLite file, or `mariadb`, which starts a private server. An existing site is replaced, unless it has the
//! requested number of posts from an earlier run. The words of the posts follow Zipf's law. Prints the time and size of the index, then a line per search: the
//! number of matches, and milliseconds without the index, with it for the first time, and repeated. With `indexed`, only
//! the searches with the index are measured; with `ranked`, only ranked searches.
#![expect(clippy::print_stdout, reason = "the output of this program is its result")]

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use svc_model::{Post, PostId};
use svc_store::import::ImportOptions;
use svc_store::posts::{self, PostOrderBy, PostQuery};
use svc_store::{DatabaseUrl, Order, SearchIndexConfig, Store, StoreConfig, StoreError, create_table_statements};
use svc_testkit::mariadb::MariaDb;

/// Options of a private MariaDB.
const OPTIONS: &[&str] = &[
    "--skip-networking",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=2G",
    "--innodb-log-file-size=512M",
];

/// Number of distinct words, in addition to the numbers that occur only once.
const N_WORDS: usize = 200_000;

/// The most frequent words.
const COMMON: [&str; 20] = [
    "the", "of", "and", "to", "in", "is", "that", "for", "it", "was", "with", "market", "water", "people", "history",
    "garden", "energy", "travel", "music", "science",
];

/// A generator of pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// The rank of a word: the probability is inversely proportional to the rank.
    fn rank(&mut self) -> usize {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((N_WORDS as f64).powf(unit) - 1.0) as usize
    }
}

fn words() -> Vec<String> {
    const SYLLABLES: [&str; 40] = [
        "ba", "con", "der", "el", "fi", "gra", "hal", "in", "jo", "kan", "lo", "men", "nor", "op", "pri", "qua", "ra",
        "ster", "ti", "un", "ver", "wi", "ex", "yo", "za", "ment", "tion", "ing", "al", "ous", "é", "mar", "pol",
        "sur", "tra", "di", "res", "ca", "pho", "lin",
    ];
    let mut random = Random(1);
    let mut all: Vec<String> = COMMON.iter().map(|w| (*w).to_owned()).collect();
    let mut seen: std::collections::HashSet<String> = all.iter().cloned().collect();
    while all.len() < N_WORDS {
        let mut word = String::new();
        for _ in 0..2 + random.below(3) {
            word += SYLLABLES[random.below(SYLLABLES.len() as u64) as usize];
        }
        if seen.insert(word.clone()) {
            all.push(word);
        }
    }
    all
}

/// A dump of a site with `n` posts, generated while it is read.
struct Dump {
    words: Vec<String>,
    random: Random,
    next: u64,
    n: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl Dump {
    fn new(n: u64) -> Self {
        let mut head = create_table_statements("wp_");
        head += "INSERT INTO `wp_users` (`ID`,`user_login`) VALUES (1,'admin');\n";
        head += "INSERT INTO `wp_options` VALUES (1,'siteurl','http://example.org','yes');\n";
        Dump { words: words(), random: Random(2), next: 1, n, buffer: head.into_bytes(), at: 0 }
    }

    fn text(&mut self, n_words: u64, out: &mut String) {
        for n in 0..n_words {
            if n > 0 {
                out.push_str(if n % 13 == 0 { ". " } else { " " });
            }
            if self.random.below(100) == 0 {
                let _ = write!(out, "{}", self.random.below(10_000_000));
            } else {
                let rank = self.random.rank();
                out.push_str(&self.words[rank]);
            }
        }
    }

    /// Generates a hundred posts.
    fn fill(&mut self) {
        let ids = self.next..=(self.next + 99).min(self.n);
        self.next += 100;
        let mut out = "INSERT INTO `wp_posts` (`ID`,`post_author`,`post_date`,`post_date_gmt`,`post_content`,`post_title`,`post_excerpt`,`post_status`,`post_name`,`to_ping`,`pinged`,`post_modified`,`post_modified_gmt`,`post_content_filtered`,`post_type`) VALUES ".to_owned();
        for id in ids.clone() {
            // Dates do not follow the order of ids.
            let minutes = (id * 7_919) % 5_000_000;
            let days = minutes / 1_440;
            let date = format!(
                "{:04}-{:02}-{:02} {:02}:{:02}:00",
                2014 + days / 336,
                days % 336 / 28 + 1,
                days % 28 + 1,
                minutes / 60 % 24,
                minutes % 60
            );
            let mut title = String::new();
            let length = 4 + self.random.below(6);
            self.text(length, &mut title);
            let mut content = String::new();
            for _ in 0..2 + self.random.below(5) {
                content += "<!-- wp:paragraph -->\\n<p>";
                let length = 40 + self.random.below(60);
                self.text(length, &mut content);
                content += "</p>\\n<!-- /wp:paragraph -->\\n\\n";
            }
            let status = if id % 20 == 0 { "draft" } else { "publish" };
            let end = if id == *ids.end() { ";\n" } else { "," };
            let _ = write!(
                out,
                "({id},1,'{date}','{date}','{content}','{title}','','{status}','post-{id}','','','{date}','{date}','','post'){end}"
            );
        }
        self.buffer = out.into_bytes();
        self.at = 0;
    }
}

impl Read for Dump {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.buffer.len() && self.next <= self.n {
            self.fill();
        }
        let rest = &self.buffer[self.at..];
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }
}

fn timed<T>(f: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = f();
    (value, start.elapsed())
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|m| m.len()).sum()
}

fn search(text: &str, by: PostOrderBy) -> PostQuery {
    PostQuery::published("post", 10)
        .search(Some(text.to_owned()))
        .without_password(true)
        .order_by(vec![(by, Order::Desc)])
}

/// Prints a line per ranked search: the number of matches, and the milliseconds of the fastest, the median and the slowest of 21.
fn ranked(store: &Store, words: &[String]) -> Result<(), StoreError> {
    let beginning: String = words[2_000].chars().take(3).collect();
    let mut misspelled: Vec<char> = words[2_000].chars().collect();
    misspelled.swap(2, 3);
    let misspelled: String = misspelled.into_iter().collect();
    let rows = [
        ("in every post", "the ".to_owned()),
        ("common", format!("{} ", words[11])),
        ("medium", format!("{} ", words[2_000])),
        ("rare", format!("{} ", words[150_000])),
        ("none", "xyzzyx ".to_owned()),
        ("two common words", format!("{} {} ", words[11], words[12])),
        ("common and medium", format!("{} {} ", words[11], words[2_000])),
        ("a sentence", format!("the {} of {} in the {} ", words[40], words[500], words[2_000])),
        ("two letters, as a beginning", "co".to_owned()),
        ("three letters, as a beginning", beginning),
        ("typing error", format!("{misspelled} ")),
        ("phrase, common words", format!("\"{} {}\"", words[11], words[12])),
        ("phrase, very common words", "\"of the\"".to_owned()),
        ("phrase, medium words", format!("\"{} {}\"", words[300], words[400])),
    ];
    for (name, text) in rows {
        let search = posts::RankedSearch {
            text,
            classes: vec![("post".to_owned(), "publish".to_owned())],
            limit: 10,
            ..posts::RankedSearch::default()
        };
        let mut times = Vec::new();
        let mut total = 0;
        for _ in 0..21 {
            let (found, time) = timed(|| store.read_blocking(|db| posts::ranked_search(db, &search)));
            total = found?.map_or(0, |found| found.total);
            times.push(time.as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!("{name:30} {total:>8} matches  {:9.2} {:9.2} {:9.2} ms", times[0], times[10], times[20]);
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(database), Some(n)) = (args.next(), args.next()) else {
        return Err("usage: search DATABASE N_POSTS".into());
    };
    let n: u64 = n.parse()?;
    let server = if database == "mariadb" { MariaDb::start(OPTIONS)? } else { None };
    let url = match &server {
        Some(server) => DatabaseUrl::MySql(server.create("search")?),
        None => database.parse()?,
    };
    let private = tempfile::tempdir()?;
    let mut config = StoreConfig::new(url);
    config.read_timeout = None;
    config.durable = false;
    let store = Store::open(&config)?;
    let counted = store.read_blocking(|db| posts::query(db, &PostQuery::published("post", 1)));
    let is_loaded = counted.ok().and_then(|page| page.total) != Some(n - n / 20);
    if is_loaded {
        let (report, time) = timed(|| store.import(Dump::new(n), ImportOptions::default()));
        report?;
        println!("loaded in {:.1} s", time.as_secs_f64());
    }
    let words = words();
    let phrase = |a: usize, b: usize| format!("\"{} {}\"", words[a], words[b]);
    let searches = [
        ("in every post", "the".to_owned()),
        ("part of many words", "ing".to_owned()),
        ("common", words[11].clone()),
        ("medium", words[2_000].clone()),
        ("rare", words[150_000].clone()),
        ("none", "xyzzyx".to_owned()),
        ("two letters", "é".to_owned()),
        ("common and common", format!("{} {}", words[11], words[12])),
        ("common and medium", format!("{} {}", words[11], words[2_000])),
        ("common without common", format!("{} -{}", words[11], words[12])),
        ("phrase, common words", phrase(11, 12)),
        ("phrase, medium words", phrase(300, 400)),
        ("phrase, very common words", "\"of the\"".to_owned()),
    ];
    let run = |q: &PostQuery| timed(|| store.read_blocking(|db| posts::query(db, q)));
    let mut without = Vec::new();
    let mode = args.next();
    let (is_compared, is_ranked) = (mode.is_none(), mode.as_deref() == Some("ranked"));
    for (_, text) in &searches {
        for by in [PostOrderBy::Date, PostOrderBy::Relevance] {
            let found = if is_compared {
                let (page, time) = run(&search(text, by));
                Some((page?, time))
            } else {
                None
            };
            without.push(found);
        }
    }
    let folder = match &server {
        Some(_) => private.path().join("search").display().to_string(),
        None => format!("{database}.search"),
    };
    // The index of an earlier run serves for ranked searches.
    if is_loaded || !is_ranked {
        let _ = std::fs::remove_dir_all(&folder);
    }
    let start = Instant::now();
    let indexer = store.start_search_index(SearchIndexConfig::new(folder.clone().into())).ok_or("no index")?;
    while !indexer.is_ready() {
        std::thread::sleep(Duration::from_millis(20));
        if n < SearchIndexConfig::DEFAULT_MIN_POSTS || start.elapsed() > Duration::from_secs(3_600) {
            return Err("there is no index".into());
        }
    }
    println!("built in {:.1} s, {} MB", start.elapsed().as_secs_f64(), size(folder.as_ref()) >> 20);
    ranked(&store, &words)?;
    if is_ranked {
        return Ok(());
    }
    let mut expected = without.into_iter();
    for (name, text) in &searches {
        for by in [PostOrderBy::Date, PostOrderBy::Relevance] {
            let q = search(text, by.clone());
            let ((first, first_time), (again, again_time)) = (run(&q), run(&q));
            let (first, again) = (first?, again?);
            let (page, time) = expected.next().flatten().unwrap_or((again.clone(), Duration::ZERO));
            let is_equal = first == page && again == page;
            println!(
                "{name:26} {:10} {:>8} matches  {:9.1} {:9.2} {:9.2} ms{}",
                format!("{by:?}"),
                page.total.unwrap_or(0),
                time.as_secs_f64() * 1e3,
                first_time.as_secs_f64() * 1e3,
                again_time.as_secs_f64() * 1e3,
                if is_equal { "" } else { "  DIFFERENT" },
            );
        }
    }
    let create = |tx: &mut svc_store::Tx| -> Result<PostId, StoreError> {
        let post = Post {
            title: "A new post about the market".to_owned(),
            content: "Words of the market and the water. ".repeat(40),
            post_type: "post".to_owned(),
            status: "publish".to_owned(),
            date: svc_store::stamp::parse("2030-01-01 00:00:00"),
            ..Post::default()
        };
        posts::insert(tx, &post)
    };
    let create_many =
        || timed(|| (0..200).try_for_each(|_| store.write_blocking(create).map(drop))).1.as_secs_f64() * 5.0;
    println!("new posts: {:.3} ms each", create_many());
    let (_, time) = run(&search("the", PostOrderBy::Date));
    println!("word in every post, with 200 changed posts: {:.1} ms", time.as_secs_f64() * 1e3);
    drop(indexer);
    let (reopened, time) = timed(|| {
        let indexer = store.start_search_index(SearchIndexConfig::new(folder.clone().into()));
        while indexer.as_ref().is_some_and(|indexer| !indexer.is_ready()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        indexer
    });
    println!("opened again in {:.2} s", time.as_secs_f64());
    drop(reopened);
    if server.is_some() {
        let other = Store::open(&config)?;
        other.write_blocking(|tx| posts::set_guid(tx, PostId(1), "changed", None))?;
        let begun = Instant::now();
        let first = run(&search("the", PostOrderBy::Date)).1;
        while run(&search("the", PostOrderBy::Date)).1 > first / 10 {
            std::thread::sleep(Duration::from_millis(100));
        }
        println!(
            "after a change by another program: {:.1} ms, and the index again after {:.1} s",
            first.as_secs_f64() * 1e3,
            begun.elapsed().as_secs_f64()
        );
    }
    Ok(())
}
