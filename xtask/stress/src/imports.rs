//! A dump is imported into a site whose servers run: each request gets the old or the new site, and when the command has ended, all servers
//! have the new one.

use std::{
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use xtask_support::say;

use crate::{
    report::{Effort, Report},
    site::{Call, DatabaseKind, Site},
};

/// Titles of the posts before and after the import.
const OLD: &str = "old";
const NEW: &str = "new";

/// Number of posts of each.
const POSTS: usize = 30;

pub(crate) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let program = effort.program()?;
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let dump = folder.path().join("dump.sql");
    let credentials = export(&program, &dump)?;
    let kinds = [DatabaseKind::Replica { lag: Duration::from_millis(300) }, DatabaseKind::Galera];
    let n_kinds = if effort.long { kinds.len() } else { 1 };
    let mut reports = Vec::new();
    for kind in kinds.into_iter().take(n_kinds) {
        match Site::start(&program, kind)? {
            Some(site) => reports.push(import(&site, kind, &dump, &credentials)?),
            None => say(&format!("skipped: {} is not installed", kind.name()))?,
        }
    }
    Ok(reports)
}

/// Writes the dump of a new site. Returns the credentials of its administrator.
fn export(program: &Path, dump: &Path) -> Result<String> {
    let site = Site::start(program, DatabaseKind::Sqlite)?.context("SQLite is built in")?;
    fill(&site, NEW)?;
    let output = site.command(0).arg("export").arg(dump).output().context("cannot export")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(site.credentials().to_owned())
}

fn fill(site: &Site, title: &str) -> Result<()> {
    (0..POSTS).try_for_each(|_| site.new_published(title).map(drop))
}

/// Imports the dump while the servers are read.
fn import(site: &Site, kind: DatabaseKind, dump: &Path, new: &str) -> Result<Report> {
    fill(site, OLD)?;
    let (ends, n_reads) = (AtomicBool::new(false), AtomicU64::new(0));
    let (wrong, refused) = (Mutex::new(Vec::new()), AtomicU64::new(0));
    let list = Call::api("GET", &format!("posts&orderby=id&per_page={POSTS}&_fields=title")).by("");
    let n_servers = site.addresses().len();
    let output = thread::scope(|scope| {
        for server in 0..n_servers {
            let (ends, n_reads, wrong, refused, list) = (&ends, &n_reads, &wrong, &refused, &list);
            scope.spawn(move || {
                while !ends.load(Relaxed) {
                    n_reads.fetch_add(1, Relaxed);
                    match titles(site, server, list) {
                        Ok(Some(titles)) if titles.windows(2).all(|two| two[0] == two[1]) => {}
                        Ok(None) => drop(refused.fetch_add(1, Relaxed)),
                        Ok(Some(titles)) => {
                            wrong.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{titles:?}"))
                        }
                        Err(error) => wrong.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{error:#}")),
                    }
                    thread::sleep(Duration::from_millis(5));
                }
            });
        }
        let output = site.command(0).args(["import", "--overwrite"]).arg(dump).output();
        ends.store(true, Relaxed);
        output
    });
    let output = output.context("cannot import")?;
    let mut violations = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !output.status.success() {
        violations.push(format!("the import failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    // Callers with credentials get current data, on whichever server.
    for server in 0..n_servers {
        let found = titles(
            site,
            server,
            &Call::api("GET", &format!("posts&orderby=id&per_page={POSTS}&_fields=title")).by(new),
        )?;
        if found.as_ref().is_none_or(|titles| titles.len() != POSTS || titles.iter().any(|title| title != NEW)) {
            violations.push(format!("server {server} after the import: {found:?}"));
        }
        let old = site.send_to(server, &Call::api("GET", "users/me"))?.status;
        if old != 401 {
            violations.push(format!("server {server} accepts a password of the old site: {old}"));
        }
    }
    // And what is written is the new site.
    let written =
        site.send_to(1, &Call::post("posts", &serde_json::json!({"title": NEW, "status": "publish"})).by(new))?;
    let id = written.json()?["id"].as_i64().with_context(|| format!("not written: {:.300}", written.body))?;
    for server in 0..n_servers {
        let read = site.send_to(server, &Call::api("GET", &format!("posts/{id}")).by(new))?;
        if read.status != 200 {
            violations.push(format!("server {server} does not have a new post: {}", read.status));
        }
    }
    violations.truncate(20);
    say(&format!(
        "{} of {} reads during the import were refused with 503",
        refused.into_inner(),
        n_reads.load(Relaxed)
    ))?;
    Ok(Report {
        case: format!("imports {}", kind.name()),
        attempts: n_reads.into_inner(),
        violations,
        ..Report::default()
    })
}

/// The titles of a list; `None` if the server asks to try again.
fn titles(site: &Site, server: usize, list: &Call) -> Result<Option<Vec<String>>> {
    let response = site.send_to(server, list)?;
    if response.status == 503 {
        return Ok(None);
    }
    ensure!(response.status == 200, "{} {:.300}", response.status, response.body);
    let posts = response.json()?;
    let title = |post: &serde_json::Value| post["title"]["rendered"].as_str().unwrap_or_default().to_owned();
    Ok(Some(posts.as_array().into_iter().flatten().map(title).collect()))
}
