//! A gateway in front of a running WordPress, behind nginx with the documented configuration: the gateway is killed, then PHP, then
//! both, while clients read and write. No acknowledged write may be lost or stored twice, and no response may be wrong.
//!
//! Skipped without a WordPress site whose parent folder has `php-fpm.conf` and `run/php-fpm.pid`, and without nginx.

use std::{
    collections::BTreeMap,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{JoinHandle, sleep, spawn},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Options, Report};
use crate::{
    gateway::{Gateway, get, is_forwarded},
    say,
    server::{self, send},
};

/// Reads whose responses do not depend on the written posts.
const READS: [&str; 4] = [
    "/wp-json/wp/v2/media?per_page=5&_fields=id,slug,title",
    "/wp-json/wp/v2/categories?_fields=id,name,slug",
    "/wp-json/wp/v2/navigation?_fields=id,slug",
    "/wp-json/wp/v2/statuses?_fields=name",
];

/// Beginning of the titles of the posts.
const MARK: &str = "gatewaystress";

/// Parallel writers and readers.
const CLIENTS: (usize, usize) = (2, 3);

/// Names of the program of PHP's process manager.
const FPM: [&str; 5] = ["php-fpm8.4", "php-fpm8.3", "php-fpm8.2", "php-fpm8.1", "php-fpm"];

pub(super) fn run(options: &Options) -> Result<Vec<Report>> {
    let site = server::wordpress_site();
    let Some(php) = Php::find(&site) else {
        say("skipped: no running WordPress site with php-fpm")?;
        return Ok(Vec::new());
    };
    let program = server::build(None, false)?;
    let Some(mut gateway) = Gateway::start(&program, &site, "shadow_percent = 0")? else {
        say("skipped: the WordPress site does not respond")?;
        return Ok(Vec::new());
    };
    gateway.wait_for_proof(0)?;
    let Some(nginx) = Nginx::start(&gateway)? else {
        say("skipped: nginx is not installed")?;
        return Ok(Vec::new());
    };
    let kills = if options.long { 20 } else { 4 };
    let mut reports = Vec::new();
    for (name, kills_svc, kills_php) in [("svc", true, false), ("PHP", false, true), ("both", true, true)] {
        reports.push(case(name, (kills_svc, kills_php), kills, &mut gateway, &php, &nginx)?);
    }
    Ok(reports)
}

/// Kills one server or both several times under load.
fn case(
    name: &str,
    (kills_svc, kills_php): (bool, bool),
    kills: usize,
    gateway: &mut Gateway,
    php: &Php,
    nginx: &Nginx,
) -> Result<Report> {
    let expected = READS.iter().map(|path| get(&gateway.site, path, "")?.json()).collect::<Result<Vec<_>>>()?;
    let own = READS.iter().map(|path| Ok(!is_forwarded(&get(gateway.address(), path, "")?)));
    let owns_reads = own.collect::<Result<Vec<_>>>()?.contains(&true);
    let load = Arc::new(Load { expected, ..Load::new(name, &nginx.url, &gateway.credentials) });
    let clients = Load::start(&load);
    for _ in 0..kills {
        sleep(Duration::from_millis(700));
        if kills_svc {
            gateway.kill();
        }
        if kills_php {
            php.stop()?;
            load.is_php_away.store(true, Relaxed);
        }
        sleep(Duration::from_millis(700));
        if kills_php {
            load.is_php_away.store(false, Relaxed);
            php.start()?;
        }
        if kills_svc {
            gateway.restart()?;
        }
    }
    sleep(Duration::from_secs(1));
    load.stop.store(true, Relaxed);
    clients.into_iter().for_each(|client| drop(client.join()));
    let (lost, twice) = load.check(&gateway.site)?;
    let (reads, failed) = (load.reads.load(Relaxed), load.failed.load(Relaxed));
    let (written, away) = (load.written().len(), load.away.load(Relaxed));
    say(&format!(
        "    {name} killed {kills} times: {reads} reads ({away} while PHP was away), {written} writes acknowledged, {twice} stored twice, {failed} responses 502 to 504 or none"
    ))?;
    let mut violations = load.wrong.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if twice > 0 {
        violations.push(format!("{twice} posts were stored twice"));
    }
    if kills_php && !kills_svc && owns_reads && away == 0 {
        violations.push("no read was handled while PHP was away".to_owned());
    }
    ensure!(written > 0 && reads > 0, "nothing was read or written while {name} was killed");
    Ok(Report {
        case: format!("gateway: {name} killed"),
        attempts: reads + written as u64,
        lost,
        slowest: Some(*load.slowest.lock().unwrap_or_else(PoisonError::into_inner)),
        violations,
        ..Report::default()
    })
}

/// Clients and what they received.
struct Load {
    url: String,
    credentials: String,
    mark: String,
    expected: Vec<Value>,
    stop: AtomicBool,
    next: AtomicU64,
    reads: AtomicU64,
    failed: AtomicU64,
    is_php_away: AtomicBool,
    /// Reads while PHP was away.
    away: AtomicU64,
    /// Acknowledged posts: id and title.
    written: Mutex<BTreeMap<u64, String>>,
    wrong: Mutex<Vec<String>>,
    slowest: Mutex<Duration>,
}

impl Load {
    fn new(name: &str, url: &str, credentials: &str) -> Self {
        let since = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_millis());
        Load {
            url: url.to_owned(),
            credentials: credentials.to_owned(),
            mark: format!("{MARK}{}{since}", name.to_ascii_lowercase()),
            expected: Vec::new(),
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

    fn written(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, String>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(this: &Arc<Self>) -> Vec<JoinHandle<()>> {
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

    /// Creates a post. Fails without a response, or with an error of a proxy.
    fn write(&self) -> Result<()> {
        let title = format!("{} {}", self.mark, self.next.fetch_add(1, Relaxed));
        let body = json!({"title": title, "content": title.repeat(50), "status": "publish"});
        let response = send(&self.url, "POST", "/wp-json/wp/v2/posts", &self.credentials, Some(&body))?;
        match response.status {
            201 => {
                let id = response.json()?["id"].as_u64().context("the post has no id")?;
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

    /// Counts acknowledged posts that WordPress does not have, and titles that it has twice. Deletes the posts.
    fn check(&self, site: &str) -> Result<(u64, u64)> {
        let mut stored: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for page in 1.. {
            let path = format!(
                "/wp-json/wp/v2/posts?search={}&per_page=100&page={page}&context=edit&_fields=id,title,content",
                self.mark
            );
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
            send(site, "DELETE", &format!("/wp-json/wp/v2/posts/{id}?force=true"), &self.credentials, None)?;
        }
        Ok((lost as u64, twice as u64))
    }
}

/// PHP's process manager of a site.
struct Php {
    program: &'static str,
    config: PathBuf,
    pid: PathBuf,
}

impl Php {
    fn find(site: &Path) -> Option<Self> {
        let folder = site.parent()?;
        let (config, pid) = (folder.join("php-fpm.conf"), folder.join("run/php-fpm.pid"));
        let is_installed =
            |name: &&str| Command::new(name).arg("-v").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
        (config.is_file() && pid.is_file()).then_some(())?;
        Some(Php { program: FPM.into_iter().find(|name| is_installed(name))?, config, pid })
    }

    /// Ends all processes without waiting for requests.
    fn stop(&self) -> Result<()> {
        let pid = std::fs::read_to_string(&self.pid).context("PHP has no pid file")?;
        crate::run(Command::new("kill").args(["-TERM", pid.trim()]))?;
        let begun = Instant::now();
        while self.pid.exists() && begun.elapsed() < Duration::from_secs(5) {
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn start(&self) -> Result<()> {
        crate::run(Command::new(self.program).args(["--allow-to-run-as-root", "-y"]).arg(&self.config))
    }
}

/// nginx in front of the gateway, with PHP's web server as its backup.
struct Nginx {
    child: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Nginx {
    /// `None` if it is not installed.
    fn start(gateway: &Gateway) -> Result<Option<Self>> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let path = folder.path().display();
        let host = |url: &str| url.trim_start_matches("http://").to_owned();
        let (svc, php) = (host(gateway.address()), host(&gateway.site));
        let config = format!(
            "daemon off; pid {path}/nginx.pid; error_log {path}/error.log; worker_processes 1;\n\
             events {{ worker_connections 256; }}\n\
             http {{\n  access_log off;\n  client_body_temp_path {path}/b; proxy_temp_path {path}/p; fastcgi_temp_path {path}/f;\n\
             \x20 uwsgi_temp_path {path}/u; scgi_temp_path {path}/s;\n\
             \x20 upstream site {{ server {svc} fail_timeout=1s; server {php} backup; keepalive 16; }}\n\
             \x20 server {{\n    listen 127.0.0.1:{port}; client_max_body_size 64m;\n    location / {{\n\
             \x20     proxy_pass http://site; proxy_http_version 1.1; proxy_set_header Connection \"\";\n\
             \x20     proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n\
             \x20     proxy_set_header X-Forwarded-Proto $scheme; proxy_next_upstream error timeout; proxy_connect_timeout 2s;\n\
             \x20   }}\n  }}\n}}\n"
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, config)?;
        let spawned = Command::new("nginx").arg("-c").arg(&file).stderr(Stdio::null()).spawn();
        let Ok(child) = spawned else { return Ok(None) };
        let nginx = Nginx { child, url: format!("http://127.0.0.1:{port}"), _folder: folder };
        let begun = Instant::now();
        while get(&nginx.url, READS[0], "").is_err() {
            ensure!(begun.elapsed() < Duration::from_secs(10), "nginx does not respond");
            sleep(Duration::from_millis(50));
        }
        Ok(Some(nginx))
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The main process ends its workers.
        drop(Command::new("kill").arg(self.child.id().to_string()).status());
        drop(self.child.wait());
    }
}
