//! `cargo xtask crash`: acknowledged writes must survive crashes.
//!
//! Clients create posts. On SQLite the server is killed repeatedly, and its database is checked for damage after each kill. On MySQL
//! the database server is killed; the server must respond with 503 and `Retry-After` meanwhile and resume automatically. At the
//! end every acknowledged write must be stored completely, and no other write partially. A server that backs up continuously is killed,
//! and its backup is restored. The backup of a large site is restored in time ([`restore`]). And the power fails at every moment of
//! some writes ([`power`]).

mod backup;
mod power;
mod restore;
mod target;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::json;
use svc_brand::Brand;
use svc_model::Post;
use svc_store::{DatabaseUrl, Store, StoreConfig, posts, terms};
use svc_test_databases::mariadb::MariaDb;
use xtask_support::{
    say,
    server::{self, Server, send},
};

use target::Target;

/// Number of parallel clients.
const WRITERS: u64 = 4;

/// Prefix of the titles of the posts.
const MARK: &str = "crash";

/// A tag that every new site has.
const TAG: i64 = 4;

/// The longest time to resume after the database is back.
const RECOVERY: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    xtask_support::tasks::main(|call| run(&call.options()))
}

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Sqlite,
    Mysql,
    Backup,
    Restore,
    Power,
}

/// Arguments of the task.
#[derive(clap::Args)]
struct Options {
    /// What is killed [default: everything].
    #[arg(value_name = "PART")]
    part: Option<Part>,
    /// How often the server is killed.
    #[arg(long, value_name = "N", default_value_t = 100)]
    kills: usize,
    /// How often the database server is killed.
    #[arg(long, value_name = "N", default_value_t = 20)]
    database_kills: usize,
    /// How often a server that backs up continuously is killed.
    #[arg(long, value_name = "N", default_value_t = 5)]
    backup_kills: usize,
    /// Back up to a bucket of moto_server instead of a folder. The server needs the feature s3.
    #[arg(long)]
    bucket: bool,
    /// How many points in time are restored.
    #[arg(long, value_name = "N", default_value_t = 50)]
    points: usize,
    /// Size of the site that is restored in time.
    #[arg(long, value_name = "MEGABYTES", default_value_t = 100)]
    size: u64,
    /// Run this server instead of building one.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// During how many writes the power fails, before and after each sync.
    #[arg(long, value_name = "N", default_value_t = 30)]
    power_writes: usize,
    /// About how many failures of the power are tried, at random among all of these moments [default: all].
    #[arg(long, value_name = "N")]
    power_failures: Option<u64>,
}

fn run(options: &Options) -> Result<()> {
    let program = match &options.program {
        // Servers run in folders of their own.
        Some(program) => program.canonicalize().with_context(|| format!("{}", program.display()))?,
        None if options.bucket => server::build_with(None, false, &["s3"])?,
        None => server::build(None, false)?,
    };
    let is_wanted = |part| options.part.is_none_or(|wanted| wanted == part);
    let mut failures = 0;
    if is_wanted(Part::Sqlite) {
        failures += on_sqlite(&program, options.kills)?;
    }
    if is_wanted(Part::Mysql) {
        match MariaDb::start(&["--skip-networking"])? {
            Some(mysql) => failures += on_mysql(&program, mysql, options.database_kills)?,
            None => say("skipped: mariadbd is not installed")?,
        }
    }
    if is_wanted(Part::Backup) {
        let (kills, points) = (options.backup_kills, options.points);
        if options.bucket {
            match Target::bucket()? {
                Some(bucket) => failures += backup::on_backup(&program, &bucket, kills, points)?,
                None => say("skipped: moto_server is not installed")?,
            }
        } else {
            failures += backup::on_backup(&program, &Target::folder(), kills, points)?;
            failures += backup::with_others(kills, points)?;
        }
    }
    if is_wanted(Part::Restore) {
        failures += restore::on_large_site(&program, options.size)?;
    }
    if is_wanted(Part::Power) {
        failures += power::on_power_failure(&program, options.power_writes, options.power_failures)?;
    }
    if failures == 0 { Ok(()) } else { bail!("writes were lost, restored wrongly, or restored too slowly") }
}

/// A site in a temporary folder, and the writes to it.
struct Run {
    program: PathBuf,
    folder: tempfile::TempDir,
    database: Option<String>,
    credentials: String,
    tally: Arc<Tally>,
}

/// Results of the writers.
#[derive(Default)]
struct Tally {
    /// Acknowledged posts: id, and the number that title and content derive from.
    written: Mutex<BTreeMap<i64, u64>>,
    next: AtomicU64,
    /// Responses with 503 and `Retry-After`.
    later: AtomicU64,
    /// Other responses, and an example.
    wrong: AtomicU64,
    example: Mutex<String>,
}

impl Run {
    fn new(program: &Path, database: Option<String>) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let mut run =
            Run { program: program.to_owned(), folder, database, credentials: String::new(), tally: Arc::default() };
        // The first start creates the site.
        drop(run.start()?);
        run.credentials = server::credentials(run.command())?;
        Ok(run)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.folder.path()).env_clear();
        if let Some(url) = &self.database {
            command.env("SVC_DATABASE", url);
        }
        command
    }

    fn start(&self) -> Result<Server> {
        server::serve(self.command(), self.folder.path())
    }

    /// Starts the writers. They run until `stop` is set.
    fn writers(&self, address: &str, stop: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
        let writer = || {
            let (address, credentials) = (address.to_owned(), self.credentials.clone());
            let (tally, stop) = (self.tally.clone(), stop.clone());
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    if tally.write(&address, &credentials).is_err() {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                }
            })
        };
        (0..WRITERS).map(|_| writer()).collect()
    }

    fn store(&self) -> Result<Store> {
        let url = match &self.database {
            Some(url) => url.parse()?,
            None => DatabaseUrl::Sqlite(self.folder.path().join("svc-data/site.db")),
        };
        Ok(Store::open(&StoreConfig::new(url))?)
    }

    /// Counts acknowledged posts that are not completely stored, and unacknowledged posts that are partially stored.
    fn lost(&self) -> Result<(usize, usize)> {
        let store = self.store()?;
        store.check()?;
        let written = self.tally.written().clone();
        let query = posts::PostQuery::published("post", 1).limit(None);
        let (rows, of_posts) = store.read_blocking(|db| {
            let ids = posts::query(db, &query)?.ids;
            Ok((posts::get_many(db, &ids)?, terms::of_objects(db, &ids)?))
        })?;
        // The requested tag, and the default category.
        let classified = |post: &Post| of_posts.get(&post.id).is_some_and(|terms| terms.len() == 2);
        let whole = |post: &Post| {
            let n: Option<u64> = post.title.strip_prefix(MARK).and_then(|n| n.trim().parse().ok());
            n.filter(|n| post.content == content(*n) && classified(post))
        };
        let found: BTreeMap<i64, Option<u64>> = rows.iter().map(|p| (p.id.0, whole(p))).collect();
        let lost = written.iter().filter(|(id, n)| found.get(id).copied().flatten() != Some(**n)).count();
        let ours = rows.iter().filter(|p| p.title.starts_with(MARK));
        let torn = ours.filter(|p| !written.contains_key(&p.id.0) && whole(p).is_none()).count();
        Ok((lost, torn))
    }
}

/// The content of a post, from one line to some tens of kilobytes.
fn content(n: u64) -> String {
    let length = if n.is_multiple_of(20) { 1_000 } else { 1 + n % 50 };
    let lines: Vec<String> = (0..length).map(|i| format!("line {i} of post {n}")).collect();
    lines.join(" and ")
}

impl Tally {
    fn written(&self) -> std::sync::MutexGuard<'_, BTreeMap<i64, u64>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates one post. Without a response it fails.
    fn write(&self, address: &str, credentials: &str) -> Result<()> {
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        let body = json!({"title": format!("{MARK} {n}"), "content": content(n), "status": "publish", "tags": [TAG]});
        let path = format!("/?rest_route=/{}/posts", Brand::default().namespace());
        let response = send(address, "POST", &path, credentials, Some(&body))?;
        match response.status {
            201 => {
                let id = response.json()?["id"].as_i64().context("the post has no id")?;
                self.written().insert(id, n);
            }
            503 if response.header("retry-after").is_some() => {
                self.later.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
            status => {
                self.wrong.fetch_add(1, Ordering::Relaxed);
                let example = format!("{status}: {:.300}", response.body);
                *self.example.lock().unwrap_or_else(PoisonError::into_inner) = example;
            }
        }
        Ok(())
    }

    /// Prints the result; returns the number of failures.
    fn report(&self, what: &str, kills: usize, (lost, torn): (usize, usize)) -> Result<usize> {
        let (later, wrong) = (self.later.load(Ordering::Relaxed), self.wrong.load(Ordering::Relaxed));
        say(&format!(
            "{what}: {kills} kills, {} writes acknowledged, {lost} lost, {torn} partial; {later} responses 503 with \
             Retry-After, {wrong} other errors",
            self.written().len()
        ))?;
        if wrong > 0 {
            say(&format!("    for example: {}", self.example.lock().unwrap_or_else(PoisonError::into_inner)))?;
        }
        Ok(lost + torn + usize::try_from(wrong).unwrap_or(usize::MAX))
    }
}

/// The time before a kill: irregular, and the same in every run.
fn pause(round: usize) -> Duration {
    let n = (round as u64 + 1).wrapping_mul(6_364_136_223_846_793_005) >> 33;
    Duration::from_millis(10 + n % 490)
}

fn on_sqlite(program: &Path, kills: usize) -> Result<usize> {
    let run = Run::new(program, None)?;
    let mut sum = (0, 0);
    for round in 0..kills {
        let mut server = run.start()?;
        let stop = Arc::new(AtomicBool::new(false));
        let writers = run.writers(server.address(), &stop);
        // Wait for the first write, so that each kill interrupts writes.
        let (start, before) = (Instant::now(), run.tally.written().len());
        while run.tally.written().len() == before && start.elapsed() < RECOVERY {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(pause(round));
        server.kill();
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().for_each(|w| drop(w.join()));
        let (lost, torn) = run.lost().with_context(|| format!("after kill {}", round + 1))?;
        sum = (sum.0.max(lost), sum.1.max(torn));
    }
    run.tally.report("SQLite, the server killed", kills, sum)
}

fn on_mysql(program: &Path, mysql: MariaDb, kills: usize) -> Result<usize> {
    let run = Run::new(program, Some(mysql.create("site")?))?;
    let server = run.start()?;
    let stop = Arc::new(AtomicBool::new(false));
    let writers = run.writers(server.address(), &stop);
    let mut slowest = Duration::ZERO;
    for round in 0..kills {
        std::thread::sleep(pause(round));
        mysql.kill()?;
        std::thread::sleep(pause(round + kills));
        mysql.run()?;
        let back = Instant::now();
        let before = run.tally.written().len();
        while run.tally.written().len() == before {
            if back.elapsed() > RECOVERY {
                bail!("after kill {} the server does not resume", round + 1);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        slowest = slowest.max(back.elapsed());
    }
    stop.store(true, Ordering::Relaxed);
    writers.into_iter().for_each(|w| drop(w.join()));
    let sum = run.lost()?;
    say(&format!("MySQL: resumed at most {} ms after the database was back", slowest.as_millis()))?;
    run.tally.report("MySQL, the database killed", kills, sum)
}
