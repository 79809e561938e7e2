//! Random reads and writes: after each acknowledged write, no response may be older, whoever wrote.
//!
//! Reads are sent to the gateway and then to WordPress. They count if nothing was written in between: then the responses must be equal.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    thread::{scope, sleep},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::{
    gateway::{Gateway, get, is_forwarded},
    say,
    server::send,
};

/// Parallel readers.
const READERS: u64 = 4;

/// Time between two writes.
const PAUSE: Duration = Duration::from_secs(1);

/// Lists from which items are read and written.
const COLLECTIONS: [&str; 6] = ["posts", "pages", "categories", "tags", "comments", "media"];

/// Other reads.
const READS: [&str; 14] = [
    "/wp-json/",
    "/wp-json/wp/v2/types",
    "/wp-json/wp/v2/taxonomies",
    "/wp-json/wp/v2/posts?_embed&per_page=5",
    "/wp-json/wp/v2/posts?per_page=100",
    "/wp-json/wp/v2/posts?search=a",
    "/wp-json/wp/v2/posts?orderby=title&order=asc",
    "/wp-json/wp/v2/posts?context=edit",
    "/wp-json/wp/v2/posts/99999999",
    "/wp-json/wp/v2/users",
    "/wp-json/wp/v2/users/me",
    "/wp-json/wp/v2/search?search=a",
    "/wp-json/wp/v2/settings",
    "/wp-json/wp/v2/menu-items",
];

/// A sequence of pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 16) % n.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// What the threads share.
struct Shared<'a> {
    gateway: &'a Gateway,
    reads: Vec<String>,
    items: Vec<(&'static str, u64)>,
    stop: AtomicBool,
    writing: AtomicUsize,
    /// Number of writes that have ended.
    written: AtomicU64,
    compared: AtomicU64,
    replayed: AtomicU64,
    all: AtomicU64,
    failures: Mutex<Vec<String>>,
}

/// Reads and writes for a time. Returns the number of wrong responses.
pub(super) fn run(gateway: &Gateway, seconds: u64, seed: u64) -> Result<usize> {
    if seconds == 0 {
        return Ok(0);
    }
    let (mut reads, mut items) = (READS.map(str::to_owned).to_vec(), Vec::new());
    for name in COLLECTIONS {
        let path = format!("/wp-json/wp/v2/{name}");
        let list = get(&gateway.site, &format!("{path}?per_page=10&_fields=id"), "")?.json()?;
        for id in list.as_array().into_iter().flatten().filter_map(|item| item["id"].as_u64()) {
            reads.push(format!("{path}/{id}"));
            items.push((name, id));
        }
        reads.push(path);
    }
    let shared = Shared {
        gateway,
        reads,
        items,
        stop: AtomicBool::new(false),
        writing: AtomicUsize::new(0),
        written: AtomicU64::new(0),
        compared: AtomicU64::new(0),
        replayed: AtomicU64::new(0),
        all: AtomicU64::new(0),
        failures: Mutex::default(),
    };
    let start = Instant::now();
    scope(|threads| -> Result<()> {
        let shared = &shared;
        let random = |n| Random(seed ^ ((n + 1) << 32));
        let readers: Vec<_> = (0..READERS).map(|n| threads.spawn(move || shared.read_all(random(n)))).collect();
        let mut random = Random(seed);
        while start.elapsed() < Duration::from_secs(seconds) {
            shared.write(&mut random)?;
            sleep(PAUSE);
        }
        shared.stop.store(true, SeqCst);
        readers.into_iter().try_for_each(|reader| reader.join().unwrap_or(Ok(())))
    })?;
    let failures = shared.failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    for failure in &failures {
        say(&format!("    {failure}"))?;
    }
    let (all, replayed) = (shared.all.load(SeqCst), shared.replayed.load(SeqCst));
    say(&format!(
        "mixed, seed {seed}: {all} reads, {:.1} % replayed, {} compared with WordPress, {} wrong, {} writes",
        replayed as f64 * 100.0 / all.max(1) as f64,
        shared.compared.load(SeqCst),
        failures.len(),
        shared.written.load(SeqCst),
    ))?;
    Ok(failures.len())
}

impl Shared<'_> {
    fn read_all(&self, mut random: Random) -> Result<()> {
        while !self.stop.load(SeqCst) {
            let path = random.of(&self.reads);
            let credentials = if random.below(2) == 0 { "" } else { &self.gateway.credentials };
            let before = self.written.load(SeqCst);
            let is_quiet = self.writing.load(SeqCst) == 0;
            let ours = get(self.gateway.address(), path, credentials)?;
            self.all.fetch_add(1, SeqCst);
            if is_forwarded(&ours) {
                continue;
            }
            self.replayed.fetch_add(1, SeqCst);
            // Each comparison occupies WordPress.
            if random.below(4) > 0 {
                continue;
            }
            let theirs = get(&self.gateway.site, path, credentials)?;
            if !is_quiet || self.writing.load(SeqCst) > 0 || self.written.load(SeqCst) != before {
                continue;
            }
            self.compared.fetch_add(1, SeqCst);
            if (ours.status, &ours.body) != (theirs.status, &theirs.body) {
                let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
                failures.push(format!("{path} ({}): {} and not {}", credentials.len(), ours.status, theirs.status));
            }
        }
        Ok(())
    }

    /// Writes through the gateway, or on WordPress itself.
    fn write(&self, random: &mut Random) -> Result<()> {
        let text = format!("Text {}", random.below(1_000_000));
        let (name, id) = *random.of(&self.items);
        let item = format!("/wp-json/wp/v2/{name}/{id}");
        let (path, body): (String, Value) = match (random.below(6), name) {
            (0, _) => ("/wp-json/wp/v2/settings".to_owned(), json!({"title": text})),
            (1, _) => ("/wp-json/wp/v2/users/me".to_owned(), json!({"description": text})),
            (2, "posts") => (item, json!({"status": *random.of(&["publish", "draft", "private"])})),
            (3, "posts") => (item, json!({"sticky": random.below(2) == 0})),
            (4, _) => ("/wp-json/wp/v2/posts".to_owned(), json!({"title": text, "status": "draft"})),
            (_, "posts" | "pages") => (item, json!({"title": text})),
            (_, "comments") => (item, json!({"content": text})),
            (_, "media") => (item, json!({"alt_text": text})),
            _ => (item, json!({"description": text})),
        };
        let to = if random.below(2) == 0 { self.gateway.address() } else { &self.gateway.site };
        self.writing.fetch_add(1, SeqCst);
        let sent = send(to, "POST", &path, &self.gateway.credentials, Some(&body));
        self.written.fetch_add(1, SeqCst);
        self.writing.fetch_sub(1, SeqCst);
        let response = sent.context("a write failed")?;
        if response.status == 201 {
            let id = response.json()?["id"].as_u64().context("the post has no id")?;
            let path = format!("/wp-json/wp/v2/posts/{id}?force=true");
            send(&self.gateway.site, "DELETE", &path, &self.gateway.credentials, None)?;
            self.written.fetch_add(1, SeqCst);
        }
        Ok(())
    }
}
