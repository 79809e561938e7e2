//! The clients, all of which use the proxy.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, Scope},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use svc_brand::Brand;
use xtask_support::server::{Response, basic, exchange};

use super::fleet::Fleet;

/// How long a client repeats a request that gets no useful response.
const PATIENCE: Duration = Duration::from_secs(60);

/// Pause between two requests of a client.
const PAUSE: Duration = Duration::from_millis(20);

/// How far in the future posts are scheduled, in seconds.
const SCHEDULED: i64 = 3;

/// The time within which a post must be published: that of a takeover, and of a fault before it.
const PUBLISHED: Duration = Duration::from_mins(3);

/// The header with the address of the server that has responded.
pub(super) const UPSTREAM: &str = "X-Upstream";

/// What was counted.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) requests: AtomicU64,
    /// Requests that were refused or not answered.
    pub(super) failed: AtomicU64,
    pub(super) slowest_ms: AtomicU64,
    pub(super) writes: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) own_reads: AtomicU64,
    pub(super) own_stale: AtomicU64,
    pub(super) revoked: AtomicU64,
    pub(super) revoked_stale: AtomicU64,
    pub(super) minority: AtomicU64,
    pub(super) minority_wrong: AtomicU64,
    pub(super) scheduled: AtomicU64,
    pub(super) unpublished: AtomicU64,
}

/// The load, and what it has found.
pub(super) struct Load<'f> {
    fleet: &'f Fleet,
    pub(super) ends: AtomicBool,
    pub(super) counts: Counts,
    /// The acknowledged titles of posts.
    posts: Mutex<BTreeMap<i64, String>>,
    /// Scheduled posts.
    scheduled: Mutex<Vec<i64>>,
    violations: Mutex<Vec<String>>,
    /// The latest fault, for the description of a violation.
    pub(super) fault: Mutex<String>,
}

pub(super) fn rest() -> String {
    format!("/?rest_route=/{}", Brand::default().namespace())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'f> Load<'f> {
    pub(super) fn new(fleet: &'f Fleet) -> Result<Self> {
        let (posts, scheduled, violations) = (Mutex::default(), Mutex::default(), Mutex::default());
        let load = Load {
            fleet,
            ends: AtomicBool::default(),
            counts: Counts::default(),
            posts,
            scheduled,
            violations,
            fault: Mutex::default(),
        };
        let user = json!({"username": "writer", "email": "writer@example.org", "password": "correct-horse", "roles": ["editor"]});
        let created =
            load.send("POST", "users", &fleet.credentials, Some(&user)).context("the first write is refused")?;
        if created.status != 201 {
            bail!("no user: {} {:.300}", created.status, created.body);
        }
        Ok(load)
    }

    /// Starts the clients.
    pub(super) fn start<'s>(&'s self, scope: &'s Scope<'s, '_>) {
        let repeat = |client: fn(&Self, u64)| {
            scope.spawn(move || {
                let mut n = 0;
                while !self.ends.load(Relaxed) {
                    client(self, n);
                    n += 1;
                    thread::sleep(PAUSE);
                }
            });
        };
        for _ in 0..2 {
            repeat(Self::write_and_read);
        }
        repeat(Self::read);
        repeat(Self::upload);
        repeat(Self::hide);
        repeat(Self::revoke);
        repeat(Self::schedule);
    }

    pub(super) fn violation(&self, text: String) {
        let mut violations = lock(&self.violations);
        if violations.len() < 20 {
            violations.push(text);
        }
    }

    pub(super) fn violations(&self) -> Vec<String> {
        lock(&self.violations).clone()
    }

    /// Sends a request once. `None` without a response, or with one that is the proxy's or asks to try again.
    fn send(&self, method: &str, route: &str, credentials: &str, json: Option<&Value>) -> Option<Response> {
        let mut headers = Vec::new();
        if !credentials.is_empty() {
            headers.push(("Authorization", basic(credentials)));
        }
        if json.is_some() {
            headers.push(("Content-Type", "application/json".to_owned()));
        }
        let body = json.map(ToString::to_string).unwrap_or_default();
        self.request(method, &format!("{}/{route}", rest()), &headers, &body)
    }

    fn request(&self, method: &str, path: &str, headers: &[(&str, String)], body: &str) -> Option<Response> {
        let begun = Instant::now();
        let response = exchange(self.fleet.front(), method, path, headers, body);
        self.counts.requests.fetch_add(1, Relaxed);
        let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.counts.slowest_ms.fetch_max(took, Relaxed);
        match response {
            Ok(response) if !matches!(response.status, 500 | 502 | 503 | 504) => Some(response),
            Ok(response) => {
                self.counts.failed.fetch_add(1, Relaxed);
                if response.status == 500 {
                    self.violation(format!("{method} {path}: 500 {:.200}", response.body));
                }
                None
            }
            Err(_) => {
                self.counts.failed.fetch_add(1, Relaxed);
                None
            }
        }
    }

    /// Reads until there is a useful response.
    fn read_surely(&self, route: &str, credentials: &str) -> Option<Response> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(response) = self.send("GET", route, credentials, None) {
                return Some(response);
            }
            thread::sleep(Duration::from_millis(100));
        }
        self.violation(format!("no response in {} s: {route}", PATIENCE.as_secs()));
        None
    }

    /// Creates a post. `None` if that was not acknowledged.
    fn create(&self, title: &str, status: &str) -> Option<i64> {
        let post = json!({"title": title, "status": status, "content": "a cluster of words"});
        let created = self.send("POST", "posts", &self.fleet.credentials, Some(&post)).filter(|r| r.status == 201)?;
        let id = created.json().ok()?["id"].as_i64()?;
        lock(&self.posts).insert(id, title.to_owned());
        self.counts.writes.fetch_add(1, Relaxed);
        Some(id)
    }

    /// Writes a post, changes it, and reads each at once, on whichever server.
    fn write_and_read(&self, n: u64) {
        let title = format!("written {n} {:?}", thread::current().id());
        let Some(id) = self.create(&title, "publish") else { return };
        self.must_read(id, &title);
        let changed = format!("changed {n}");
        // A change whose outcome is unknown leaves the title unknown.
        lock(&self.posts).remove(&id);
        let change = json!({ "title": changed });
        let done = self.send("POST", &format!("posts/{id}"), &self.fleet.credentials, Some(&change));
        if done.is_some_and(|response| response.status == 200) {
            lock(&self.posts).insert(id, changed.clone());
            self.counts.writes.fetch_add(1, Relaxed);
            self.must_read(id, &changed);
        }
    }

    fn must_read(&self, id: i64, title: &str) {
        let route = format!("posts/{id}&context=edit&_fields=title");
        let Some(response) = self.read_surely(&route, &self.fleet.credentials) else { return };
        self.counts.own_reads.fetch_add(1, Relaxed);
        let found = response.json().ok().and_then(|post| post["title"]["raw"].as_str().map(str::to_owned));
        if response.status != 200 || found.as_deref() != Some(title) {
            self.counts.own_stale.fetch_add(1, Relaxed);
            self.violation(format!("post {id}: {} {found:?} instead of {title}", response.status));
        }
    }

    /// Anonymous lists and searches.
    fn read(&self, n: u64) {
        let route = match n % 3 {
            0 => "posts&per_page=5".to_owned(),
            1 => format!("posts&search=cluster&page={}", n % 4 + 1),
            _ => "search&search=words".to_owned(),
        };
        drop(self.send("GET", &route, "", None));
    }

    /// Uploads a file, and reads it at once.
    fn upload(&self, n: u64) {
        let (name, text) = (format!("file-{n}.txt"), format!("the text of the file {n}"));
        let headers = [
            ("Authorization", basic(&self.fleet.credentials)),
            ("Content-Type", "text/plain".to_owned()),
            ("Content-Disposition", format!("attachment; filename=\"{name}\"")),
        ];
        let path = format!("{}/media", rest());
        let Some(created) = self.request("POST", &path, &headers, &text).filter(|r| r.status == 201) else { return };
        self.counts.writes.fetch_add(1, Relaxed);
        let url = created.json().ok().and_then(|media| media["source_url"].as_str().map(str::to_owned));
        let url = url.unwrap_or_default();
        let begun = Instant::now();
        let found = loop {
            let path = url.strip_prefix(self.fleet.front()).unwrap_or(&url);
            match self.request("GET", path, &[], "") {
                Some(found) => break Some(found),
                None if begun.elapsed() > PATIENCE => break None,
                None => thread::sleep(Duration::from_millis(100)),
            }
        };
        if found.as_ref().is_none_or(|found| found.status != 200 || found.body != text) {
            self.counts.lost.fetch_add(1, Relaxed);
            self.violation(format!("{url}: {:?}", found.map(|found| found.status)));
        }
        thread::sleep(10 * PAUSE);
    }

    /// Hides a post, which nobody else may read from then on.
    fn hide(&self, n: u64) {
        let Some(id) = self.create(&format!("hidden {n}"), "publish") else { return };
        drop(self.read_surely(&format!("posts/{id}"), ""));
        let hidden =
            self.send("POST", &format!("posts/{id}"), &self.fleet.credentials, Some(&json!({"status": "private"})));
        if let Some(hidden) = hidden.filter(|response| response.status == 200) {
            let post = hidden.json().unwrap_or_default();
            let by = hidden.header(UPSTREAM).unwrap_or_default();
            let response = format!("{} {} by {by}", post["status"], post["modified_gmt"]);
            self.must_be_refused(&format!("posts/{id}"), "", &response);
        }
        thread::sleep(5 * PAUSE);
    }

    /// Revokes an application password, which is refused from then on.
    fn revoke(&self, n: u64) {
        let admin = &self.fleet.credentials;
        let route = "users/me/application-passwords";
        let Some(created) = self.send("POST", route, admin, Some(&json!({"name": format!("revoked {n}")}))) else {
            return;
        };
        let Ok(created) = created.json() else { return };
        let (Some(password), Some(uuid)) = (created["password"].as_str(), created["uuid"].as_str()) else { return };
        let credentials = format!("{}:{password}", admin.split(':').next().unwrap_or_default());
        drop(self.read_surely("users/me&_fields=id", &credentials));
        let revoked = self.send("DELETE", &format!("{route}/{uuid}"), admin, None);
        if revoked.is_some_and(|response| response.status == 200) {
            self.must_be_refused("users/me&_fields=id", &credentials, "revoked");
        }
        // Otherwise wrong passwords from this address are refused before they are checked.
        thread::sleep(75 * PAUSE);
    }

    /// Reads what was refused to everybody by a request with this response.
    fn must_be_refused(&self, route: &str, credentials: &str, refused: &str) {
        let Some(response) = self.read_surely(route, credentials) else { return };
        self.counts.revoked.fetch_add(1, Relaxed);
        if !matches!(response.status, 401 | 403 | 404) {
            self.counts.revoked_stale.fetch_add(1, Relaxed);
            let by = response.header(UPSTREAM).unwrap_or_default().to_owned();
            let later = self.read_surely(route, credentials).map(|later| later.status);
            let fault = lock(&self.fault).clone();
            let rows = self.rows_of(route);
            self.violation(format!(
                "{route}: {} by {by} after the right was revoked ({refused}), then {later:?}, on the nodes {rows:?}; during {fault}",
                response.status
            ));
        }
    }

    /// What the nodes have stored of the post that this route reads.
    fn rows_of(&self, route: &str) -> Vec<String> {
        let Some(id) = route.strip_prefix("posts/").and_then(|id| id.parse::<i64>().ok()) else { return Vec::new() };
        let sql = format!("USE site; SELECT post_status, post_modified_gmt FROM wp_posts WHERE ID = {id}");
        let nodes = self.fleet.cluster.nodes().iter();
        nodes
            .map(|node| node.client(&sql).map_or_else(|error| error.to_string(), |row| row.trim().to_owned()))
            .collect()
    }

    /// Schedules a post.
    fn schedule(&self, n: u64) {
        let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or_default());
        let post = json!({"title": format!("scheduled {n}"), "status": "future", "date_gmt": date(now + SCHEDULED)});
        let created = self.send("POST", "posts", &self.fleet.credentials, Some(&post)).filter(|r| r.status == 201);
        if let Some(id) = created.and_then(|created| created.json().ok()?["id"].as_i64()) {
            lock(&self.scheduled).push(id);
            self.counts.scheduled.fetch_add(1, Relaxed);
        }
        thread::sleep(50 * PAUSE);
    }

    /// Compares what was acknowledged with each node.
    pub(super) fn check_all(&self) -> Result<()> {
        self.fleet.cluster.settle()?;
        for (n, node) in self.fleet.cluster.nodes().iter().enumerate() {
            let rows = node.client("USE site; SELECT ID, post_title FROM wp_posts WHERE post_type = 'post'")?;
            let found: BTreeMap<i64, &str> = rows
                .lines()
                .filter_map(|row| row.split_once('\t'))
                .filter_map(|(id, title)| Some((id.parse().ok()?, title)))
                .collect();
            for (id, title) in lock(&self.posts).iter() {
                if found.get(id).is_none_or(|found| found != title) {
                    self.counts.lost.fetch_add(1, Relaxed);
                    self.violation(format!("node {n}: post {id} is {:?} instead of {title}", found.get(id)));
                }
            }
        }
        let begun = Instant::now();
        let node = self.fleet.cluster.nodes().first().context("the cluster has no nodes")?;
        loop {
            let waiting = node.client("USE site; SELECT COUNT(*) FROM wp_posts WHERE post_status = 'future'")?;
            let waiting: u64 = waiting.trim().parse()?;
            if waiting == 0 || begun.elapsed() > PUBLISHED {
                self.counts.unpublished.store(waiting, Relaxed);
                return Ok(());
            }
            thread::sleep(Duration::from_millis(200));
        }
    }
}

/// A time in seconds since the epoch as the REST API writes it.
fn date(seconds: i64) -> String {
    let (days, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // The civil date of a number of days, by Howard Hinnant's algorithm.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", time / 3_600, time / 60 % 60, time % 60)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_399, "2000-02-28T23:59:59"),
            (951_782_400, "2000-02-29T00:00:00"),
            (1_795_804_983, "2026-11-27T18:43:03"),
        ] {
            assert_eq!(date(seconds), expected);
        }
    }
}
