//! Ranked searches find the same with and without the index, and rank better than SQLite's FTS5 and WordPress on a constructed
//! set of judgments.
//!
//! The set has 40 subjects of two English words each. For each of them there are articles of four grades among others: those about
//! both words, with one in another form in the title (3); those that mention both several times (2); those about one of them
//! (1); and long, newer ones that mention both once, far from each other (0). Searches are for both words, for other forms of
//! them, with a typing error, for a phrase, and for words of which the last is not complete.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use svc_model::{Post, PostId, UserId};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

use super::*;
use crate::{DatabaseUrl, Order, SearchIndexConfig, SearchIndexer, Store, StoreConfig, fixture, fixture::Random};

/// Words with another form of each.
const WORDS: [(&str, &str); 20] = [
    ("harbour", "harbours"),
    ("sailing", "sailed"),
    ("garden", "gardens"),
    ("planting", "planted"),
    ("kitchen", "kitchens"),
    ("cooking", "cooked"),
    ("bicycle", "bicycles"),
    ("repairing", "repaired"),
    ("library", "libraries"),
    ("reading", "reads"),
    ("mountain", "mountains"),
    ("climbing", "climbed"),
    ("festival", "festivals"),
    ("dancing", "danced"),
    ("market", "markets"),
    ("trading", "traded"),
    ("orchard", "orchards"),
    ("harvesting", "harvested"),
    ("railway", "railways"),
    ("travelling", "travelled"),
];

/// Words of texts about nothing.
const FILLER: [&str; 24] = [
    "the", "a", "of", "and", "with", "people", "often", "today", "city", "house", "weather", "morning", "children",
    "story", "paper", "window", "number", "letter", "minute", "answer", "colour", "village", "season", "question",
];

impl Random {
    /// Filler with some words in it, at even distances.
    fn filler(&mut self, length: usize, words: &[&str]) -> String {
        let mut text: Vec<&str> = (0..length).map(|_| FILLER[self.below(FILLER.len())]).collect();
        for (n, word) in words.iter().enumerate() {
            text[(2 * n + 1) * length / (2 * words.len())] = word;
        }
        text.join(" ")
    }
}

/// The words of a subject.
fn subject(n: usize) -> [(&'static str, &'static str); 2] {
    [WORDS[n % 20], WORDS[(n * 7 + 3 + n / 20) % 20]]
}

/// The articles: title, text, the subjects with their grades. The last ones are the newest.
fn articles(random: &mut Random) -> Vec<(String, String, Vec<(usize, u32)>)> {
    let mut articles = Vec::new();
    for n in 0..40 {
        let [(a, other_a), (b, other_b)] = subject(n);
        let title =
            |random: &mut Random, words: &[&str]| format!("{} {}", random.filler(3, words), FILLER[random.below(24)]);
        let about = [a, b, other_a, b, a, other_b];
        articles.push((title(random, &[other_a, b]), random.filler(80, &about), vec![(n, 3)]));
        articles.push((title(random, &[a]), random.filler(90, &[b, a, other_b, &format!("{a} {b}")]), vec![(n, 3)]));
        for _ in 0..3 {
            articles.push((random.filler(4, &[]), random.filler(120, &[a, b, other_b, a]), vec![(n, 2)]));
        }
        for (word, other) in [(a, other_a), (b, other_b)] {
            articles.push((title(random, &[word]), random.filler(60, &[word, other, word]), vec![(n, 1)]));
        }
    }
    for n in 0..40 {
        let [(a, _), (b, _)] = subject(n);
        for _ in 0..4 {
            articles.push((random.filler(4, &[]), random.filler(700, &[a, b]), vec![]));
        }
    }
    for _ in 0..300 {
        articles.push((random.filler(4, &[]), random.filler(100, &[]), vec![]));
    }
    articles
}

/// The kinds of searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SearchKind {
    Words,
    OtherForms,
    TypingError,
    Phrase,
    Beginning,
}

/// A search as users type it, and as FTS5 is asked for the same: with all parts, as by default, or with any of them.
fn texts(kind: SearchKind, n: usize) -> (String, [String; 2]) {
    let (text, of_fts5) = parts(kind, n);
    (text, [" ", " OR "].map(|joined| of_fts5.join(joined)))
}

fn parts(kind: SearchKind, n: usize) -> (String, Vec<String>) {
    let [(a, other_a), (b, other_b)] = subject(n);
    match kind {
        SearchKind::Words => (format!("{a} {b} "), vec![a.to_owned(), b.to_owned()]),
        SearchKind::OtherForms => (format!("{other_a} {other_b} "), vec![other_a.to_owned(), other_b.to_owned()]),
        SearchKind::TypingError => {
            let mut chars: Vec<char> = a.chars().collect();
            chars.swap(2, 3);
            let wrong: String = chars.into_iter().collect();
            (format!("{wrong} {b} "), vec![wrong, b.to_owned()])
        }
        SearchKind::Phrase => (format!("\"{a} {b}\""), vec![format!("\"{a} {b}\"")]),
        SearchKind::Beginning => {
            let start = &b[..b.len() - 3];
            (format!("{a} {start}"), vec![a.to_owned(), format!("{start}*")])
        }
    }
}

/// How good the order of ten results is, from 0 to 1 (nDCG@10 with exponential gains).
fn quality(found: &[PostId], grade: impl Fn(PostId) -> u32, mut ideal: Vec<u32>) -> f64 {
    let gain = |grades: &mut dyn Iterator<Item = u32>| -> f64 {
        (2_u32..).zip(grades.take(10)).map(|(at, grade)| f64::from((1 << grade) - 1) / f64::from(at).log2()).sum()
    };
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    gain(&mut found.iter().map(|id| grade(*id))) / gain(&mut ideal.into_iter())
}

#[test]
fn results_are_ranked_better_than_those_of_fts5_and_wordpress() {
    let mut random = Random(1);
    let articles = articles(&mut random);
    let (store, _folder) = fixture::store();
    let fts5 = rusqlite::Connection::open_in_memory().unwrap();
    fts5.execute_batch("CREATE VIRTUAL TABLE articles USING fts5(title, content, tokenize = 'porter unicode61')")
        .unwrap();
    let mut grades: HashMap<PostId, Vec<(usize, u32)>> = HashMap::new();
    for (n, (title, text, of_subjects)) in articles.iter().enumerate() {
        let post = Post {
            title: title.clone(),
            content: format!("<p>{text}</p>"),
            post_type: "page".to_owned(),
            status: "publish".to_owned(),
            author: UserId(1),
            date: crate::stamp::parse(&format!("2024-{:02}-{:02} 10:00:00", n / 28 % 12 + 1, n % 28 + 1)),
            ..Post::default()
        };
        let id = store.write_blocking(move |tx| insert(tx, &post)).unwrap();
        fts5.execute("INSERT INTO articles (rowid, title, content) VALUES (?, ?, ?)", (id.0, title, text)).unwrap();
        grades.insert(id, of_subjects.clone());
    }
    let (mut sums, mut n) = (HashMap::<SearchKind, [f64; 4]>::new(), 0);
    for kind in
        [SearchKind::Words, SearchKind::OtherForms, SearchKind::TypingError, SearchKind::Phrase, SearchKind::Beginning]
    {
        let mut sum = [0.0; 4];
        for subject in 0..40 {
            let (text, of_fts5) = texts(kind, subject);
            // Only the second article of a subject has the phrase.
            let grade_in = |id: &PostId| {
                let grade = grades.get(id)?.iter().find(|(of, _)| *of == subject)?.1;
                let at = usize::try_from(id.0 - grades.keys().map(|id| id.0).min()?).ok()?;
                (kind != SearchKind::Phrase || at % 7 == 1).then_some(grade)
            };
            let ideal: Vec<u32> = grades.keys().filter_map(grade_in).collect();
            let search = RankedSearch {
                text: text.clone(),
                classes: vec![("page".to_owned(), "publish".to_owned())],
                limit: 10,
                ..RankedSearch::default()
            };
            let ours = store.read_blocking(|db| ranked_search(db, &search)).unwrap().unwrap().ids;
            let mut statement = fts5
                .prepare_cached(
                    "SELECT rowid FROM articles WHERE articles MATCH ? ORDER BY bm25(articles, 4.0, 1.0) LIMIT 10",
                )
                .unwrap();
            let [with_all, with_any] = of_fts5.map(|text| -> Vec<PostId> {
                statement.query_map([text], |row| row.get(0).map(PostId)).unwrap().map(Result::unwrap).collect()
            });
            let mut q = PostQuery::published("page", 10).search(Some(text.trim().to_owned()));
            q.order_by = vec![(PostOrderBy::Relevance, Order::Desc)];
            let of_wordpress = fixture::with_random_statements(|| store.read_blocking(|db| query(db, &q)).unwrap().ids);
            for (sum, found) in sum.iter_mut().zip([ours, with_all, of_wordpress, with_any]) {
                *sum += quality(&found, |id| grade_in(&id).unwrap_or(0), ideal.clone()) / 40.0;
            }
        }
        println!(
            "{kind:?}: ranked {:.3}, FTS5 {:.3}, WordPress {:.3}, FTS5 with any word {:.3}",
            sum[0], sum[1], sum[2], sum[3]
        );
        sums.insert(kind, sum);
        n += 1;
    }
    for (kind, [ours, of_fts5, of_wordpress, _]) in &sums {
        assert!(ours >= of_fts5 && ours >= of_wordpress, "{kind:?}");
        assert!(*ours > 0.85, "{kind:?}: {ours}");
    }
    assert_eq!(n, sums.len());
}

/// All words that are searched for below.
const SEARCHES: [&str; 10] = [
    "harbour sailing",
    "sailed ",
    "\"harbour sailing\"",
    "gard",
    "habrour ",
    "kitchens cooked festival ",
    "the ",
    "marekt ",
    "\"reading the\"",
    "zzz ",
];

/// The ids of the first results, the totals and the types.
type Results = Vec<(Vec<PostId>, u64, Vec<(String, u64)>)>;

fn results(store: &Store) -> Results {
    let search = |text: &&str| {
        let classes = ["post", "page"].map(|name| (name.to_owned(), "publish".to_owned())).to_vec();
        let search = RankedSearch { text: (*text).to_owned(), classes, limit: 50, ..RankedSearch::default() };
        let found = store.read_blocking(|db| ranked_search(db, &search)).unwrap().unwrap();
        (found.ids, found.total, found.types)
    };
    SEARCHES.iter().map(search).collect()
}

#[track_caller]
fn wait(mut what: impl FnMut() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Writes posts with and without passwords, of several types and statuses, and changes and deletes some.
fn change(store: &Store, random: &mut Random) {
    let words: Vec<&str> = (0..6)
        .map(|_| {
            let (a, b) = WORDS[random.below(20)];
            [a, b][random.below(2)]
        })
        .collect();
    let post = Post {
        title: random.filler(4, &words[..1]),
        content: format!("<p>{}</p>", random.filler(40, &words)),
        post_type: ["post", "post", "page", "revision"][random.below(4)].to_owned(),
        status: ["publish", "publish", "draft", "private"][random.below(4)].to_owned(),
        password: ["", "", "", "secret"][random.below(4)].to_owned(),
        author: UserId(1),
        date: crate::stamp::parse(&format!("2024-01-01 00:{:02}:00", random.below(60))),
        ..Post::default()
    };
    let (kind, which) = (random.below(5), random.below(90));
    store
        .write_blocking(move |tx| {
            let others = query(tx, &PostQuery::published("post", 100))?.ids;
            match (kind, others.get(which)) {
                (0, Some(id)) => delete(tx, *id).map(drop),
                (1, Some(id)) => update(tx, &Post { id: *id, ..post.clone() }).map(drop),
                _ => insert(tx, &post).map(drop),
            }
        })
        .unwrap();
}

fn index(store: &Store, folder: &std::path::Path) -> SearchIndexer {
    let mut config = SearchIndexConfig::new(folder.join("search"));
    config.min_posts = 1;
    store.start_search_index(config).unwrap()
}

/// Compares results with the index with those of another store of the same database, which reads all posts.
fn compare(store: &Store, plain: &Store, folder: &std::path::Path) {
    let mut random = Random(7);
    fixture::with_random_statements(|| {
        (0..120).for_each(|_| change(store, &mut random));
        let indexer = index(store, folder);
        wait(|| indexer.is_ready());
        for n in 0..30 {
            let (found, expected) = (results(store), results(plain));
            for ((text, found), expected) in SEARCHES.iter().zip(&found).zip(&expected) {
                assert_eq!(found, expected, "{text:?} after {n} changes");
            }
            assert!(found.iter().filter(|(ids, ..)| !ids.is_empty()).count() > 5, "{found:?}");
            change(store, &mut random);
            if n % 8 == 0 {
                indexer.update();
            }
        }
    });
}

#[test]
fn results_do_not_depend_on_the_index() {
    let (store, folder) = fixture::store();
    drop(store);
    let open = || {
        let mut config = StoreConfig::new(DatabaseUrl::Sqlite(folder.path().join("site.db")));
        config.durable = false;
        fixture::open(&config).unwrap()
    };
    compare(&open(), &open(), folder.path());
}

#[test]
fn results_do_not_depend_on_the_index_on_mariadb() {
    let Some(server) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() else { return };
    let config = fixture::database(&server);
    let store = fixture::open(&config).unwrap();
    store.import(&fixture::dump()[..], crate::import::ImportOptions::default()).unwrap();
    compare(&store, &fixture::open(&config).unwrap(), tempfile::tempdir().unwrap().path());
}

/// The index is built again with the stems of another language.
#[test]
fn the_language_of_the_site_can_change() {
    let (store, folder) = fixture::store();
    let post = Post {
        title: "Häuser".to_owned(),
        post_type: "post".to_owned(),
        status: "publish".to_owned(),
        date: crate::stamp::parse("2024-01-01 00:00:00"),
        ..Post::default()
    };
    let total = |text: &str| {
        let classes = vec![("post".to_owned(), "publish".to_owned())];
        let search = RankedSearch { text: text.to_owned(), classes, limit: 5, ..RankedSearch::default() };
        store.read_blocking(|db| ranked_search(db, &search)).unwrap().map(|found| found.total)
    };
    let set = |locale: &'static str| {
        store
            .write_blocking(move |tx| crate::options::set(tx, "WPLANG", &crate::StoredText::of(locale), true))
            .unwrap();
    };
    fixture::with_random_statements(|| {
        store.write_blocking(move |tx| insert(tx, &post)).unwrap();
        assert_eq!(total("haus "), Ok(0));
        let indexer = index(&store, folder.path());
        wait(|| indexer.is_ready());
        assert_eq!(total("haus "), Ok(0));
        set("de_DE");
        wait(|| {
            indexer.update();
            total("haus ") == Ok(1)
        });
        set("");
        wait(|| {
            indexer.update();
            total("haus ") == Ok(0)
        });
    });
}
