//! Random reads by callers of all roles, while posts change their text, status and password and a user changes roles.
//!
//! Each version of a post has a word of its own in its content. A response is wrong if it contains the word of a version that
//! was replaced before the request began (stale), of one that the caller may not read (leaked), or none although the caller
//! may read every version that it can be of (lost).

use std::{
    path::Path,
    process::Command,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use svc_brand::Brand;
use svc_test_databases::mariadb::{DISPOSABLE_OPTIONS, MariaDb};
use xtask_support::{
    say,
    server::{self, Server, send},
};

use crate::report::{Effort, Report};

/// Requests of readers in each of the three cases of [`run`]: in a short run, and in a long one, which has more than 50,000 in all.
const READS: (u64, u64) = (1_500, 17_000);

/// Posts that change.
const POSTS: usize = 12;

/// Parallel readers and writers.
const READERS: usize = 6;
const WRITERS: usize = 2;

/// The longest time of a case.
const LIMIT: Duration = Duration::from_mins(10);

/// Values that follow each other. A request may see those that were current at some time while it was in progress.
struct Versions<T>(Mutex<AcknowledgedVersions<T>>);

struct AcknowledgedVersions<T> {
    all: Vec<T>,
    /// The last version whose write was acknowledged.
    acknowledged: usize,
}

impl<T: Clone> Versions<T> {
    fn new(first: T) -> Self {
        Versions(Mutex::new(AcknowledgedVersions { all: vec![first], acknowledged: 0 }))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, AcknowledgedVersions<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The oldest version that a request that begins now may see.
    fn oldest(&self) -> usize {
        self.lock().acknowledged
    }

    /// All versions since `oldest`, with their numbers.
    fn since(&self, oldest: usize) -> Vec<(usize, T)> {
        self.lock().all.iter().cloned().enumerate().skip(oldest).collect()
    }

    /// Adds a version, and returns its number. Its write begins.
    fn begin(&self, version: T) -> usize {
        let mut known = self.lock();
        known.all.push(version);
        known.all.len() - 1
    }

    fn acknowledge(&self, number: usize) {
        let mut known = self.lock();
        known.acknowledged = known.acknowledged.max(number);
    }
}

/// A version of a post.
#[derive(Clone, Debug)]
struct Version {
    status: &'static str,
    /// Empty without one.
    password: String,
}

/// A role of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Visitor,
    Subscriber,
    /// The author of the posts.
    Author,
    Editor,
}

impl Role {
    /// Whether the role may edit the posts, and reads drafts and private posts.
    fn edits(self) -> bool {
        matches!(self, Role::Author | Role::Editor)
    }
}

/// A user, or a visitor.
struct Caller {
    name: &'static str,
    credentials: String,
    roles: Versions<Role>,
}

struct Post {
    id: u64,
    /// The path of its page.
    page: String,
    versions: Versions<Version>,
}

/// What is requested of a post.
#[derive(Clone, Copy, Debug)]
enum View {
    /// The item.
    Item,
    /// The item with a password.
    WithPassword,
    /// The item for editors.
    Edit,
    /// The list of published posts.
    List,
    /// The page.
    Page,
    /// The feed, which may omit the content.
    Feed,
}

impl View {
    const ALL: [View; 6] = [View::Item, View::WithPassword, View::Edit, View::List, View::Page, View::Feed];

    fn path(self, rest: &str, post: &Post, password: &str) -> String {
        let id = post.id;
        match self {
            View::Item => format!("{rest}/posts/{id}"),
            View::WithPassword => format!("{rest}/posts/{id}&password={password}"),
            View::Edit => format!("{rest}/posts/{id}&context=edit"),
            View::List => format!("{rest}/posts&per_page=100"),
            View::Page => post.page.clone(),
            View::Feed => "/feed/".to_owned(),
        }
    }

    /// Whether the content of a version is shown to a role. `sent` is the password in the URL.
    fn shows(self, version: &Version, role: Role, sent: &str) -> bool {
        let is_public = version.status == "publish";
        let (is_open, may_read) = (version.password.is_empty(), is_public || role.edits());
        match self {
            View::Item => may_read && is_open,
            // A wrong password is an error, also for a post without one.
            View::WithPassword => may_read && sent == version.password,
            View::Edit => role.edits(),
            View::List | View::Feed => is_public && is_open,
            // Credentials of the REST API are none of pages.
            View::Page => is_public && is_open,
        }
    }
}

/// The word in the content of a version.
fn word(post: u64, number: usize) -> String {
    format!("word{post}x{number}x")
}

/// The number of the version whose word is in a text.
fn number_in(text: &str, post: u64) -> Option<usize> {
    let start = format!("word{post}x");
    let at = text.find(&start)? + start.len();
    text[at..].split('x').next()?.parse().ok()
}

/// A small generator of random numbers, whose seed is printed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % n
    }

    fn choose<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }
}

pub(crate) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let program = effort.program()?;
    let mut reports = Vec::new();
    for pool in ["1", "0"] {
        reports.push(on(&program, None, pool, effort)?);
    }
    match MariaDb::start(DISPOSABLE_OPTIONS)? {
        Some(mariadb) => reports.push(on(&program, Some(mariadb.create("rights")?), "0", effort)?),
        None => say("skipped on MariaDB: mariadbd is not installed")?,
    }
    Ok(reports)
}

fn on(program: &Path, database: Option<String>, pool: &str, effort: &Effort) -> Result<Report> {
    let engine = if database.is_some() { "mariadb" } else { "sqlite" };
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let command = || {
        let mut command = Command::new(program);
        command.current_dir(folder.path()).env_clear().env("SVC_READERS", pool);
        if let Some(url) = &database {
            command.env("SVC_DATABASE", url);
        }
        command
    };
    let server = server::serve(command(), folder.path())?;
    let seed = std::time::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_secs());
    let site = Site::fill(&server, server::credentials(command())?, seed)?;
    let reads = if effort.long { READS.1 } else { READS.0 };
    let mut report = site.load(reads);
    let pool = if pool == "1" { "one connection" } else { "default pool" };
    report.case = format!("rights {engine}, {pool}, seed {seed}");
    report.peak_memory = server.peak_memory();
    Ok(report)
}

struct Site<'s> {
    address: &'s str,
    rest: String,
    admin: String,
    callers: Vec<Caller>,
    /// The id of the user whose role changes, the last of the callers.
    shifting: u64,
    posts: Vec<Post>,
    seed: u64,
    n_reads: AtomicU64,
    is_over: AtomicBool,
    report: Mutex<Report>,
}

impl<'s> Site<'s> {
    /// Creates users and posts.
    fn fill(server: &'s Server, admin: String, seed: u64) -> Result<Self> {
        let address = server.address();
        let rest = format!("/?rest_route=/{}", Brand::default().namespace());
        let make = |path: &str, credentials: &str, body: &Value| -> Result<Value> {
            let response = send(address, "POST", &format!("{rest}/{path}"), credentials, Some(body))?;
            if response.status >= 400 {
                bail!("POST {path}: {} {:.300}", response.status, response.body);
            }
            response.json()
        };
        let id = |value: &Value| value["id"].as_u64().context("an object without an id");
        let mut callers =
            vec![Caller { name: "visitor", credentials: String::new(), roles: Versions::new(Role::Visitor) }];
        let mut ids = Vec::new();
        for (name, role, kind) in [
            ("subscriber", "subscriber", Role::Subscriber),
            ("author", "author", Role::Author),
            ("editor", "editor", Role::Editor),
            ("shifting", "subscriber", Role::Subscriber),
        ] {
            let user = json!({"username": name, "email": format!("{name}@example.com"), "password": "A long password 1",
                "roles": [role]});
            let user = id(&make("users", &admin, &user)?)?;
            let password = make(&format!("users/{user}/application-passwords"), &admin, &json!({"name": "stress"}))?;
            let password = password["password"].as_str().context("no application password")?;
            callers.push(Caller { name, credentials: format!("{name}:{password}"), roles: Versions::new(kind) });
            ids.push(user);
        }
        let mut posts = Vec::new();
        for _ in 0..POSTS {
            let published = make("posts", &admin, &json!({"title": "A post", "author": ids[1], "status": "publish"}))?;
            let (post, link) = (id(&published)?, published["link"].as_str().context("a post without a link")?);
            let page = link.trim_start_matches(address).to_owned();
            let first = Version { status: "draft", password: String::new() };
            let content = json!({"content": format!("<p>{}</p>", word(post, 0)), "status": "draft"});
            make(&format!("posts/{post}"), &admin, &content)?;
            posts.push(Post { id: post, page, versions: Versions::new(first) });
        }
        Ok(Site {
            address,
            rest,
            admin,
            callers,
            shifting: ids[3],
            posts,
            seed,
            n_reads: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            report: Mutex::default(),
        })
    }

    fn load(self, n_reads: u64) -> Report {
        let begun = Instant::now();
        std::thread::scope(|threads| {
            let site = &self;
            for writer in 0..WRITERS {
                threads.spawn(move || site.write(writer));
            }
            threads.spawn(|| site.shift());
            for reader in 0..READERS {
                threads.spawn(move || {
                    let mut random = Random(site.seed + 100 + reader as u64);
                    while site.n_reads.fetch_add(1, Ordering::Relaxed) < n_reads && begun.elapsed() < LIMIT {
                        site.read(&mut random);
                    }
                    site.is_over.store(true, Ordering::Relaxed);
                });
            }
        });
        let mut report = self.report.into_inner().unwrap_or_else(PoisonError::into_inner);
        if report.attempts < n_reads {
            report.violations.push(format!("{} requests in {:?}", report.attempts, begun.elapsed()));
        }
        report
    }

    fn wrong(&self, what: String) {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.lost += 1;
        if report.violations.len() < 5 {
            report.violations.push(what);
        }
    }

    /// Changes posts: each writer has its own.
    fn write(&self, writer: usize) {
        let mut random = Random(self.seed + writer as u64);
        let own: Vec<&Post> = self.posts.iter().skip(writer).step_by(WRITERS).collect();
        while !self.is_over.load(Ordering::Relaxed) {
            let post = *random.choose(&own);
            let status = *random.choose(&["publish", "publish", "publish", "draft", "private"]);
            let password = if status == "publish" && random.below(3) == 0 {
                format!("secret{}", random.below(3))
            } else {
                String::new()
            };
            let number = post.versions.begin(Version { status, password: password.clone() });
            let content = format!("<p>{}</p>", word(post.id, number));
            let body = json!({"content": content, "status": status, "password": password});
            let path = format!("{}/posts/{}", self.rest, post.id);
            match send(self.address, "POST", &path, &self.admin, Some(&body)) {
                Ok(response) if response.status == 200 => post.versions.acknowledge(number),
                Ok(response) => self.wrong(format!("a write: {} {:.200}", response.status, response.body)),
                Err(error) => self.wrong(format!("a write: {error:#}")),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Changes the role of a user.
    fn shift(&self) {
        let (roles, path) = (&self.callers[4].roles, format!("{}/users/{}", self.rest, self.shifting));
        for (name, role) in [("editor", Role::Editor), ("subscriber", Role::Subscriber)].into_iter().cycle() {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let number = roles.begin(role);
            match send(self.address, "POST", &path, &self.admin, Some(&json!({ "roles": [name] }))) {
                Ok(response) if response.status == 200 => roles.acknowledge(number),
                Ok(response) => self.wrong(format!("a role: {} {:.200}", response.status, response.body)),
                Err(error) => self.wrong(format!("a role: {error:#}")),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a read and checks its response.
    fn read(&self, random: &mut Random) {
        let (caller, post, view) =
            (random.choose(&self.callers), random.choose(&self.posts), *random.choose(&View::ALL));
        let sent = format!("secret{}", random.below(3));
        let path = view.path(&self.rest, post, &sent);
        let (oldest, oldest_role) = (post.versions.oldest(), caller.roles.oldest());
        let begun = Instant::now();
        let response = match send(self.address, "GET", &path, &caller.credentials, None) {
            Ok(response) if response.status < 500 => response,
            Ok(response) => return self.wrong(format!("{path} as {}: {}", caller.name, response.status)),
            Err(error) => return self.wrong(format!("{path} as {}: {error:#}", caller.name)),
        };
        let took = begun.elapsed();
        let (versions, roles) = (post.versions.since(oldest), caller.roles.since(oldest_role));
        let shown =
            |version: &Version| roles.iter().map(|(_, role)| view.shows(version, *role, &sent)).collect::<Vec<_>>();
        let found = number_in(&response.body, post.id);
        let problem = match found {
            Some(number) => match versions.iter().find(|(known, _)| *known == number) {
                None => Some("stale"),
                Some((_, version)) => (!shown(version).contains(&true)).then_some("leaked"),
            },
            // A feed has the latest posts, which may have no room for this one.
            None if matches!(view, View::Feed) => None,
            None => versions.iter().all(|(_, version)| !shown(version).contains(&false)).then_some("lost"),
        };
        if let Some(problem) = problem {
            self.wrong(format!(
                "{problem}: {view:?} of post {} as {}: {} with version {found:?} of {versions:?}, roles {roles:?}",
                post.id, caller.name, response.status
            ));
        }
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.attempts += 1;
        report.slowest = Some(report.slowest.map_or(took, |slowest| slowest.max(took)));
    }
}
