//! Varnish in front of the server, with the configuration in `deploy/varnish`: readers through it, while posts change.
//!
//! Every title has a version. A response is stale if it shows a version although a later one was acknowledged more than [`FRESH`]
//! before the request was sent. Only zero such responses pass.

use std::{
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use svc_brand::Brand;
use xtask_support::{
    root, say,
    server::{self, Server, exchange, send},
};

use crate::report::{Effort, Report};

/// Time after which no cache may have an earlier version.
const FRESH: Duration = Duration::from_secs(1);

/// How long and how fast posts are read and written.
struct Pace {
    duration: Duration,
    /// Pause of each reader between two reads.
    between_reads: Duration,
    between_writes: Duration,
}

/// As fast as possible, for CI.
const SHORT: Pace = Pace {
    duration: Duration::from_secs(15),
    between_reads: Duration::ZERO,
    between_writes: Duration::from_millis(500),
};

/// About 140,000 reads and 700 writes.
const LONG: Pace = Pace {
    duration: Duration::from_hours(1),
    between_reads: Duration::from_millis(100),
    between_writes: Duration::from_secs(5),
};

/// Number of posts.
const POSTS: usize = 40;

/// Parallel readers.
const READERS: usize = 4;

/// A process that is killed on drop.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _ended = self.0.wait();
    }
}

/// The versions of a post that were acknowledged, each with the time.
#[derive(Default)]
struct Versions(Mutex<Vec<(u64, Instant)>>);

impl Versions {
    fn add(&self, version: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((version, Instant::now()));
    }

    /// The earliest version that a response to a request of this time may show.
    fn earliest(&self, sent: Instant) -> u64 {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().rev().find(|(_, at)| *at + FRESH <= sent).map_or(0, |(version, _)| *version)
    }
}

struct Load {
    /// The URL of Varnish.
    varnish: String,
    /// The URL of the server.
    server: String,
    credentials: String,
    posts: Vec<i64>,
    /// The paths of their pages.
    paths: Vec<String>,
    versions: Vec<Versions>,
    ends: AtomicBool,
    reads: AtomicU64,
    hits: AtomicU64,
    stale: AtomicU64,
    slowest: Mutex<Duration>,
    violations: Mutex<Vec<String>>,
}

pub(crate) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let [origin, front] = [free_port()?, free_port()?];
    let vcl = folder.path().join("svc.vcl");
    let text = std::fs::read_to_string(root()?.join("crates/svc-server/deploy/varnish/svc.vcl"))?;
    ensure!(text.contains("\"8080\""), "the configuration names the server's port");
    std::fs::write(&vcl, text.replace("\"8080\"", &format!("\"{origin}\"")))?;
    let checked = Command::new("varnishd").args(["-C", "-f"]).arg(&vcl).output();
    if !checked.is_ok_and(|output| output.status.success()) {
        say("skipped: varnishd with the module xkey is not installed")?;
        return Ok(Vec::new());
    }
    let program = effort.program()?;
    let (_server, credentials) = start_server(&program, folder.path(), origin, front)?;
    let mut varnish = Command::new("varnishd");
    varnish.args(["-F", "-j", "none", "-s", "malloc,64m", "-a", &format!("127.0.0.1:{front}")]);
    varnish.arg("-n").arg(folder.path().join("varnish")).arg("-f").arg(&vcl);
    let _varnish = Killed(varnish.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    let [server, varnish] = [origin, front].map(|port| format!("http://127.0.0.1:{port}"));
    wait_for(&varnish)?;
    let (mut posts, mut paths) = (Vec::new(), Vec::new());
    for n in 0..POSTS {
        let body = json!({"title": "version 0", "slug": format!("post-{n}"), "status": "publish"});
        let created = send(&server, "POST", &format!("{}/posts", rest()), &credentials, Some(&body))?;
        let link = created.json()?["link"].as_str().unwrap_or_default().to_owned();
        paths.push(link.trim_start_matches(&varnish).to_owned());
        posts.push(created.json()?["id"].as_i64().with_context(|| format!("not created: {:.300}", created.body))?);
    }
    let load = Load {
        varnish,
        server,
        credentials,
        versions: posts.iter().map(|_| Versions::default()).collect(),
        posts,
        paths,
        ends: AtomicBool::default(),
        reads: AtomicU64::default(),
        hits: AtomicU64::default(),
        stale: AtomicU64::default(),
        slowest: Mutex::default(),
        violations: Mutex::default(),
    };
    let mut purges = load.run(if effort.long { &LONG } else { &SHORT });
    purges.sort_unstable();
    let (reads, hits) = (load.reads.load(Relaxed), load.hits.load(Relaxed));
    let at = |percent: usize| purges.get((purges.len() * percent / 100).min(purges.len().saturating_sub(1))).copied();
    let mut report = Report {
        case: format!("varnish: {} writes", purges.len()),
        attempts: reads,
        lost: load.stale.load(Relaxed),
        slowest: Some(*load.slowest.lock().unwrap_or_else(PoisonError::into_inner)),
        violations: load.violations.into_inner().unwrap_or_else(PoisonError::into_inner),
        ..Report::default()
    };
    say(&format!(
        "    {:.1} % hits; write to purge: median {} ms, 99 % {} ms",
        100.0 * hits as f64 / reads.max(1) as f64,
        at(50).unwrap_or_default().as_millis(),
        at(99).unwrap_or_default().as_millis()
    ))?;
    if at(99).is_none_or(|time| time > FRESH) {
        report.violations.push("purges take too long".to_owned());
    }
    if hits * 2 < reads {
        report.violations.push("less than half of the reads are hits".to_owned());
    }
    Ok(vec![report])
}

fn rest() -> String {
    format!("/?rest_route=/{}", Brand::default().namespace())
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Starts a server whose site has the URL of Varnish.
fn start_server(program: &Path, folder: &Path, origin: u16, front: u16) -> Result<(Server, String)> {
    let url = format!("http://127.0.0.1:{front}/");
    let command = || {
        let mut command = Command::new(program);
        command.current_dir(folder).env_clear().env("SVC_SITE_URL", url.trim_end_matches('/'));
        command
            .env("SVC_CACHE_TAGS", "xkey")
            .env("SVC_SHARED_MAX_AGE", "86400")
            .env("SVC_TRUSTED_PROXIES", "127.0.0.1");
        command.env("SVC_PURGE_SERVICE", "varnish").env("SVC_PURGE_URL", &url);
        command
    };
    let mut serve = command();
    serve.args(["--listen", &format!("127.0.0.1:{origin}"), "--log", "warn", "serve"]);
    let server = Server::start(serve, &folder.join("server.log"))?;
    Ok((server, server::credentials(command())?))
}

fn wait_for(address: &str) -> Result<()> {
    let began = Instant::now();
    while exchange(address, "GET", "/", &[], "").map_or(0, |response| response.status) != 200 {
        ensure!(began.elapsed() < Duration::from_secs(20), "Varnish does not respond");
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

impl Load {
    /// Runs readers and a writer. Returns the times from the acknowledgement of a write until Varnish has the new version.
    fn run(&self, pace: &Pace) -> Vec<Duration> {
        thread::scope(|scope| {
            for reader in 0..READERS {
                scope.spawn(move || {
                    let mut n = reader;
                    while !self.ends.load(Relaxed) {
                        // A step that reaches every post and every kind of URL.
                        n += 7;
                        self.read(n);
                        thread::sleep(pace.between_reads);
                    }
                });
            }
            let (began, mut purges) = (Instant::now(), Vec::new());
            for n in 1.. {
                if began.elapsed() >= pace.duration {
                    break;
                }
                match self.write(n) {
                    Ok(time) => purges.push(time),
                    Err(error) => self.violation(format!("write {n}: {error}")),
                }
                thread::sleep(pace.between_writes);
            }
            self.ends.store(true, Relaxed);
            purges
        })
    }

    fn violation(&self, text: String) {
        let mut violations = self.violations.lock().unwrap_or_else(PoisonError::into_inner);
        if violations.len() < 10 {
            violations.push(text);
        }
    }

    /// Changes a title, and waits until Varnish has it.
    fn write(&self, n: u64) -> Result<Duration> {
        let at = usize::try_from(n)? * 11 % self.posts.len();
        let path = format!("{}/posts/{}", rest(), self.posts[at]);
        let body = json!({ "title": format!("version {n}") });
        let written = send(&self.server, "POST", &path, &self.credentials, Some(&body))?;
        ensure!(written.status == 200, "{}", written.status);
        self.versions[at].add(n);
        let acknowledged = Instant::now();
        while version(&exchange(&self.varnish, "GET", &path, &[], "")?.body) != Some(n) {
            ensure!(acknowledged.elapsed() < Duration::from_secs(10), "not purged within ten seconds");
            thread::sleep(Duration::from_millis(5));
        }
        Ok(acknowledged.elapsed())
    }

    /// Reads a post, its page, or a list.
    fn read(&self, n: usize) {
        let at = n % self.posts.len();
        let id = self.posts[at];
        let path = match n / self.posts.len() % 4 {
            0 | 1 => format!("{}/posts/{id}", rest()),
            2 => self.paths[at].clone(),
            _ => format!("{}/posts&include={id}&_fields=id,title", rest()),
        };
        let sent = Instant::now();
        let earliest = self.versions[at].earliest(sent);
        let Ok(response) = exchange(&self.varnish, "GET", &path, &[], "") else {
            return self.violation(format!("{path}: no response"));
        };
        let took = sent.elapsed();
        let mut slowest = self.slowest.lock().unwrap_or_else(PoisonError::into_inner);
        *slowest = took.max(*slowest);
        drop(slowest);
        self.reads.fetch_add(1, Relaxed);
        self.hits.fetch_add(u64::from(response.header("x-cache") == Some("hit")), Relaxed);
        if response.header("xkey").is_some() {
            self.violation(format!("{path}: tags leave the cache"));
        }
        match (response.status, version(&response.body)) {
            (200, Some(shown)) if shown < earliest => {
                self.stale.fetch_add(1, Relaxed);
                self.violation(format!("{path}: version {shown} instead of {earliest}, {:?}", response.header("age")));
            }
            (200, Some(_)) => {}
            (status, _) => self.violation(format!("{path}: {status} {:.100}", response.body)),
        }
    }
}

/// The version of the first title in a body.
fn version(body: &str) -> Option<u64> {
    let rest = &body[body.find("version ")? + "version ".len()..];
    rest[..rest.find(|c: char| !c.is_ascii_digit())?].parse().ok()
}
