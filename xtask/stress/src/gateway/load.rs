//! Clients that read and write through a proxy while servers are killed.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{JoinHandle, sleep, spawn},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use xtask_support::{gateway::get, server::send};

use super::{READS, WRITES};

/// Beginning of the titles of the pages.
const MARK: &str = "gatewaystress";

/// Time between two writes of a client.
const PAUSE: Duration = Duration::from_millis(20);

/// Parallel writers and readers.
const CLIENTS: (usize, usize) = (2, 3);

/// Clients and what they received.
pub(super) struct Load {
    url: String,
    credentials: String,
    mark: String,
    expected: Vec<Value>,
    pub(super) stop: AtomicBool,
    next: AtomicU64,
    pub(super) reads: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) is_php_away: AtomicBool,
    /// Reads while PHP was away.
    pub(super) away: AtomicU64,
    /// Acknowledged pages: id and title.
    written: Mutex<BTreeMap<u64, String>>,
    pub(super) wrong: Mutex<Vec<String>>,
    pub(super) slowest: Mutex<Duration>,
}

impl Load {
    pub(super) fn new(name: &str, url: &str, credentials: &str, expected: Vec<Value>) -> Self {
        let since = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_millis());
        Load {
            url: url.to_owned(),
            credentials: credentials.to_owned(),
            mark: format!("{MARK}{}{since}", name.to_ascii_lowercase()),
            expected,
            stop: AtomicBool::new(false),
            next: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            is_php_away: AtomicBool::new(false),
            away: AtomicU64::new(0),
            written: Mutex::default(),
            wrong: Mutex::default(),
            slowest: Mutex::default(),
        }
    }

    pub(super) fn written(&self) -> MutexGuard<'_, BTreeMap<u64, String>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn start(this: &Arc<Self>) -> Vec<JoinHandle<()>> {
        let client = |is_writer| {
            let load = Arc::clone(this);
            spawn(move || {
                while !load.stop.load(Relaxed) {
                    let begun = Instant::now();
                    let sent = if is_writer { load.write() } else { load.read() };
                    if sent.is_err() {
                        load.failed.fetch_add(1, Relaxed);
                        sleep(Duration::from_millis(10));
                    }
                    let mut slowest = load.slowest.lock().unwrap_or_else(PoisonError::into_inner);
                    *slowest = slowest.max(begun.elapsed());
                }
            })
        };
        let writers = (0..CLIENTS.0).map(|_| client(true));
        let readers = (0..CLIENTS.1).map(|_| client(false));
        writers.chain(readers).collect()
    }

    /// Creates a page after a pause. Fails without a response, or with an error of a proxy.
    fn write(&self) -> Result<()> {
        sleep(PAUSE);
        let title = format!("{} {}", self.mark, self.next.fetch_add(1, Relaxed));
        let body = json!({"title": title, "content": title.repeat(50), "status": "publish"});
        let response = send(&self.url, "POST", WRITES, &self.credentials, Some(&body))?;
        match response.status {
            201 => {
                let id = response.json()?["id"].as_u64().context("the page has no id")?;
                self.written().insert(id, title);
            }
            status => {
                ensure!(!matches!(status, 502..=504), "{status}");
                self.report(format!("POST: {status} {:.200}", response.body));
            }
        }
        Ok(())
    }

    /// Reads something that does not change. Fails like [`Self::write`].
    fn read(&self) -> Result<()> {
        let n = self.next.fetch_add(1, Relaxed) as usize % READS.len();
        let is_away = self.is_php_away.load(Relaxed);
        let response = get(&self.url, READS[n], "")?;
        ensure!(!matches!(response.status, 502..=504), "{}", response.status);
        if response.status != 200 || response.json().ok().as_ref() != Some(&self.expected[n]) {
            self.report(format!("{}: {} {:.200}", READS[n], response.status, response.body));
        }
        self.reads.fetch_add(1, Relaxed);
        self.away.fetch_add(u64::from(is_away), Relaxed);
        Ok(())
    }

    /// Records a wrong response, up to a number.
    fn report(&self, wrong: String) {
        let mut all = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < 10 {
            all.push(wrong);
        }
    }

    /// Counts acknowledged pages that WordPress does not have, and titles that it has twice. Deletes the pages.
    pub(super) fn check(&self, site: &str) -> Result<(u64, u64)> {
        let mut stored: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for page in 1.. {
            let path =
                format!("{WRITES}?search={}&per_page=100&page={page}&context=edit&_fields=id,title,content", self.mark);
            let list = get(site, &path, &self.credentials)?.json()?;
            let list = list.as_array().cloned().unwrap_or_default();
            for post in &list {
                let (title, id) = (post["title"]["raw"].as_str(), post["id"].as_u64());
                let (Some(title), Some(id)) = (title, id) else { continue };
                if post["content"]["raw"] == title.repeat(50) {
                    stored.entry(title.to_owned()).or_default().push(id);
                }
            }
            if list.len() < 100 {
                break;
            }
        }
        let written = self.written();
        let is_stored = |(id, title): (&u64, &String)| stored.get(title).is_some_and(|ids| ids.contains(id));
        let lost = written.iter().filter(|entry| !is_stored(*entry)).count();
        let twice = stored.values().filter(|ids| ids.len() > 1).count();
        for id in stored.values().flatten() {
            send(site, "DELETE", &format!("{WRITES}/{id}?force=true"), &self.credentials, None)?;
        }
        Ok((lost as u64, twice as u64))
    }
}
