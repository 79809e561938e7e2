//! `cargo xtask crash`: what is acknowledged stays, whatever dies.
//!
//! Writers post through a running server. On SQLite the server itself is killed, over and over, and after each time its
//! database is looked through for damage; on MySQL the database server is killed under the running server, which must
//! say "later" meanwhile and go on by itself afterwards. In the end every write that was acknowledged must be there,
//! whole, and no other write by halves.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
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
use svc_testkit::mariadb::MariaDb;

use crate::{
    say,
    server::{self, Server, send},
};

/// Kills of the server, and of the database server, unless told otherwise.
const KILLS: (usize, usize) = (100, 20);

/// Writers at once.
const WRITERS: u64 = 4;

/// What the titles of the posts begin with.
const MARK: &str = "crash";

/// A tag that every new site has.
const TAG: i64 = 4;

/// The longest that the server may need to go on after its database is back.
const RECOVERY: Duration = Duration::from_secs(30);

pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut kills = KILLS;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let number = || args.as_slice().first().and_then(|n| n.parse().ok()).context("a number of kills was expected");
        match arg.as_str() {
            "--kills" => kills.0 = number()?,
            "--database-kills" => kills.1 = number()?,
            other => bail!("{other} is not known"),
        }
        args.next();
    }
    let program = server::build(None, false)?;
    let sqlite = on_sqlite(&program, kills.0)?;
    let mysql = match MariaDb::start(&["--skip-networking"])? {
        Some(mysql) => on_mysql(&program, mysql, kills.1)?,
        None => {
            say("skipped: no mariadbd is installed")?;
            0
        }
    };
    if sqlite + mysql == 0 { Ok(()) } else { bail!("writes were lost") }
}

/// A site in a folder of its own, and what is written to it.
struct Run {
    program: PathBuf,
    folder: tempfile::TempDir,
    database: Option<String>,
    credentials: String,
    tally: Arc<Tally>,
}

/// What the writers have seen.
#[derive(Default)]
struct Tally {
    /// Acknowledged posts: the number that all of a post follows from.
    written: Mutex<BTreeMap<i64, u64>>,
    next: AtomicU64,
    /// Answers that say "later", with the time to wait.
    later: AtomicU64,
    /// Other answers than these two, of which one is kept.
    wrong: AtomicU64,
    one_wrong: Mutex<String>,
}

impl Run {
    fn new(program: &Path, database: Option<String>) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let mut run =
            Run { program: program.to_owned(), folder, database, credentials: String::new(), tally: Arc::default() };
        // The first start makes the site.
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

    /// Starts writers, who go on until they are told to stop or nobody listens any more.
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

    /// The acknowledged posts that are not there whole, and those that nobody acknowledged and are there by halves.
    fn lost(&self) -> Result<(usize, usize)> {
        let store = self.store()?;
        store.check()?;
        let written = self.tally.written().clone();
        let query = posts::PostQuery { limit: None, ..posts::PostQuery::published("post", 1) };
        let (rows, of_posts) = store.read(|db| {
            let ids = posts::query(db, &query)?.ids;
            Ok((posts::get_many(db, &ids)?, terms::of_objects(db, &ids)?))
        })?;
        // The tag that was asked for, and the category that every post gets.
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

/// The text of a post, from a line to some tens of kilobytes.
fn content(n: u64) -> String {
    let length = if n.is_multiple_of(20) { 1_000 } else { 1 + n % 50 };
    let lines: Vec<String> = (0..length).map(|i| format!("line {i} of post {n}")).collect();
    lines.join(" and ")
}

impl Tally {
    fn written(&self) -> std::sync::MutexGuard<'_, BTreeMap<i64, u64>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts once; an error when there was no answer.
    fn write(&self, address: &str, credentials: &str) -> Result<()> {
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        let body = json!({"title": format!("{MARK} {n}"), "content": content(n), "status": "publish", "tags": [TAG]});
        let path = format!("/?rest_route=/{}/posts", Brand::default().namespace());
        let answer = send(address, "POST", &path, credentials, Some(&body))?;
        match answer.status {
            201 => {
                let id = answer.json()?["id"].as_i64().context("a post has an id")?;
                self.written().insert(id, n);
            }
            503 if answer.header("retry-after").is_some() => {
                self.later.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
            status => {
                self.wrong.fetch_add(1, Ordering::Relaxed);
                let told = format!("{status}: {:.300}", answer.body);
                *self.one_wrong.lock().unwrap_or_else(PoisonError::into_inner) = told;
            }
        }
        Ok(())
    }

    /// Says how it went; how many writes are not as they must be.
    fn told(&self, what: &str, kills: usize, (lost, torn): (usize, usize)) -> Result<usize> {
        let (later, wrong) = (self.later.load(Ordering::Relaxed), self.wrong.load(Ordering::Relaxed));
        say(&format!(
            "{what}: {kills} kills, {} writes acknowledged, {lost} lost, {torn} there by halves; answered \"later\": \
             {later}, otherwise: {wrong}",
            self.written().len()
        ))?;
        if wrong > 0 {
            say(&format!("    one of them: {}", self.one_wrong.lock().unwrap_or_else(PoisonError::into_inner)))?;
        }
        Ok(lost + torn + usize::try_from(wrong).unwrap_or(usize::MAX))
    }
}

/// Times between kills: irregular, and the same in every run.
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
        // Nothing is learned from a server that has not come to write yet.
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
    run.tally.told("SQLite, the server killed", kills, sum)
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
                bail!("after kill {} the server does not go on by itself", round + 1);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        slowest = slowest.max(back.elapsed());
    }
    stop.store(true, Ordering::Relaxed);
    writers.into_iter().for_each(|w| drop(w.join()));
    let sum = run.lost()?;
    say(&format!("MySQL: went on at most {} ms after the database was back", slowest.as_millis()))?;
    run.tally.told("MySQL, the database killed", kills, sum)
}
