//! Writes to a site, and which state of it has all that were acknowledged.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use svc_brand::Brand;
use svc_store::{Store, posts};
use xtask_support::server::{basic, exchange, send};

use super::disk::Random;
use crate::{MARK, content};

/// A write, with times in microseconds since 1970.
#[derive(Clone, Copy, Debug)]
struct Write {
    /// Which content the object got; `None` if it was deleted.
    n: Option<u64>,
    begun: u64,
    acknowledged: Option<u64>,
}

/// What was written to an object, in order.
#[derive(Clone, Debug, Default)]
struct History {
    is_upload: bool,
    writes: Vec<Write>,
}

/// All writes, by object.
#[derive(Default)]
pub(super) struct Log {
    objects: Mutex<BTreeMap<u64, History>>,
    next: AtomicU64,
}

/// The objects of a site with their content, if that is whole.
#[derive(Debug, Default)]
pub(super) struct Found {
    posts: BTreeMap<u64, Option<u64>>,
    /// `None` if they were not looked at.
    uploads: Option<BTreeMap<u64, Option<u64>>>,
}

impl Log {
    /// A log of further writes, whose objects have other numbers.
    pub(super) fn after(&self) -> Self {
        Log { objects: Mutex::default(), next: AtomicU64::new(self.next.load(Ordering::Relaxed)) }
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Number of acknowledged writes.
    pub(super) fn acknowledged(&self) -> usize {
        let objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        objects.values().flat_map(|history| &history.writes).filter(|write| write.acknowledged.is_some()).count()
    }

    /// Records a write while it is made.
    fn record<T>(&self, object: u64, is_upload: bool, n: Option<u64>, write: impl FnOnce() -> Result<T>) -> Result<T> {
        let with = |change: &dyn Fn(&mut History)| {
            change(self.objects.lock().unwrap_or_else(PoisonError::into_inner).entry(object).or_default());
        };
        let begun = now();
        with(&|history| {
            history.is_upload = is_upload;
            history.writes.push(Write { n, begun, acknowledged: None });
        });
        let done = write()?;
        let acknowledged = Some(now());
        with(&|history| {
            history.writes.iter_mut().last().into_iter().for_each(|write| write.acknowledged = acknowledged)
        });
        Ok(done)
    }

    /// What of the writes that were acknowledged by a time is missing.
    pub(super) fn missing(&self, found: &Found, time: u64) -> Vec<String> {
        let objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let is_wrong = |(object, history): (&u64, &History)| {
            let there = if history.is_upload { found.uploads.as_ref()? } else { &found.posts };
            let is_later = |write: &Write| write.acknowledged.is_none_or(|at| at > time);
            let last = history.writes.iter().rposition(|write| !is_later(write));
            let possible = history.writes.iter().skip(last.unwrap_or(0)).filter(|write| write.begun <= time);
            let mut possible: Vec<Option<u64>> = possible.map(|write| write.n).collect();
            if last.is_none() {
                possible.push(None);
            }
            let is_right = match there.get(object) {
                None => possible.contains(&None),
                Some(None) => false,
                Some(n) => possible.contains(n),
            };
            (!is_right).then(|| {
                let found = there.get(object);
                format!("object {object} at {time}: {found:?} instead of {possible:?}: {:?}", history.writes)
            })
        };
        objects.iter().filter_map(is_wrong).collect()
    }

    /// The time since the acknowledgement of the oldest post that is missing, in microseconds. Posts that were changed later do not count.
    pub(super) fn oldest_missing(&self, found: &Found, time: u64) -> u64 {
        let objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let creations = objects.iter().filter_map(|(object, history)| Some((object, history, history.writes.first()?)));
        let missing = creations.filter(|(object, history, _)| {
            history.writes.len() == 1 && !history.is_upload && !found.posts.contains_key(object)
        });
        missing.filter_map(|(.., write)| time.checked_sub(write.acknowledged?)).max().unwrap_or(0)
    }
}

/// A client that writes to objects of its own.
pub(super) struct Writer<'a> {
    pub(super) log: &'a Log,
    pub(super) address: &'a str,
    pub(super) credentials: &'a str,
    pub(super) random: Random,
    /// Objects that can be changed, with the ids of their posts.
    pub(super) posts: Vec<(u64, i64)>,
}

impl Writer<'_> {
    /// Makes a write. Fails if it is not acknowledged.
    pub(super) fn write(&mut self) -> Result<()> {
        let n = self.log.number();
        let at = usize::try_from(self.random.below(self.posts.len() as u64))?;
        let chosen = self.posts.get(at).copied();
        match (self.random.below(20), chosen) {
            (0, _) => self.search(n),
            (1..3, _) => self.upload(n),
            (3..8, Some((object, id))) => {
                // What becomes of a write that fails is not known.
                self.posts.swap_remove(at);
                self.log
                    .record(object, false, Some(n), || self.send("POST", &format!("/posts/{id}"), 200, object, n))?;
                self.posts.push((object, id));
                Ok(())
            }
            (8..10, Some((object, id))) => {
                self.posts.swap_remove(at);
                let path = format!("/posts/{id}&force=true");
                self.log.record(object, false, None, || self.send("DELETE", &path, 200, object, n)).map(drop)
            }
            _ => {
                let id = self.log.record(n, false, Some(n), || self.send("POST", "/posts", 201, n, n))?;
                self.posts.push((n, id));
                Ok(())
            }
        }
    }

    /// The URL of a route.
    fn path(route: &str) -> String {
        format!("/?rest_route=/{}{route}", Brand::default().namespace())
    }

    /// Sends a post, and returns its id.
    fn send(&self, method: &str, route: &str, expected: u16, object: u64, n: u64) -> Result<i64> {
        let body = json!({"title": format!("{MARK} {object} {n}"), "content": content(n), "status": "publish"});
        let response = send(self.address, method, &Self::path(route), self.credentials, Some(&body))?;
        ensure!(response.status == expected, "{}: {:.300}", response.status, response.body);
        let response = response.json()?;
        response["id"].as_i64().or_else(|| response["previous"]["id"].as_i64()).context("no id")
    }

    fn upload(&self, n: u64) -> Result<()> {
        let headers = [
            ("Authorization", basic(self.credentials)),
            ("Content-Type", "text/plain".to_owned()),
            ("Content-Disposition", format!("attachment; filename=\"{MARK}-{n}-{n}.txt\"")),
        ];
        self.log.record(n, true, Some(n), || {
            let response = exchange(self.address, "POST", &Self::path("/media"), &headers, &content(n))?;
            ensure!(response.status == 201, "{}: {:.300}", response.status, response.body);
            Ok(())
        })
    }

    /// So that the search index is wanted.
    fn search(&self, n: u64) -> Result<()> {
        let path = format!("{}&search=post%20{n}", Self::path("/posts"));
        let response = send(self.address, "GET", &path, self.credentials, None)?;
        ensure!(response.status == 200, "{}: {:.300}", response.status, response.body);
        Ok(())
    }
}

impl Found {
    /// A site without posts and uploads.
    pub(super) fn nothing() -> Self {
        Found { posts: BTreeMap::new(), uploads: Some(BTreeMap::new()) }
    }

    /// Reads a site. Without a folder its uploads are not looked at.
    pub(super) fn read(store: &Store, uploads: Option<&Path>) -> Result<Self> {
        let query = |post_type: &str, status: &str| {
            posts::PostQuery::published(post_type, 1).statuses(vec![status.to_owned()]).limit(None)
        };
        let (written, attached) = store.read_blocking(|db| {
            let ids = posts::query(db, &query("post", "publish"))?.ids;
            let attachments = posts::query(db, &query("attachment", "inherit"))?.ids;
            Ok((posts::get_many(db, &ids)?, posts::get_many(db, &attachments)?))
        })?;
        let mut found = Found::default();
        for post in &written {
            let Some((object, n)) = numbers(&post.title, ' ') else { continue };
            let is_second = found.posts.insert(object, Some(n).filter(|n| post.content == content(*n))).is_some();
            ensure!(!is_second, "object {object} is there twice");
        }
        let Some(uploads) = uploads else { return Ok(found) };
        let files = files(uploads)?;
        let uploads = found.uploads.get_or_insert_default();
        for post in &attached {
            let Some((object, n)) = numbers(&post.title, '-') else { continue };
            let file = files.get(&format!("{}.txt", post.title));
            uploads.insert(object, file.filter(|text| **text == content(n).into_bytes()).map(|_| n));
        }
        Ok(found)
    }
}

/// Object and content of a title.
fn numbers(title: &str, between: char) -> Option<(u64, u64)> {
    let mut parts = title.strip_prefix(MARK)?.trim_start_matches(between).split(between);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The files of a folder and those in it, by name.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let (mut folders, mut files) = (vec![folder.to_owned()], BTreeMap::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "txt")
                && let Some(name) = path.file_name().and_then(|name| name.to_str())
            {
                files.insert(name.to_owned(), std::fs::read(&path)?);
            }
        }
    }
    Ok(files)
}

/// Microseconds since 1970.
pub(super) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}
