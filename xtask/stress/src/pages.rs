//! Parallel reads of pages, feeds and the REST API, while other clients use the store's connections.
//!
//! A server with nested reads would deadlock with as many clients as the pool has connections. A case passes without responses
//! of status 500 or above.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use serde_json::json;
use svc_brand::Brand;
use svc_test_databases::mariadb::{DISPOSABLE_OPTIONS, MariaDb};
use xtask_support::{
    say,
    server::{self, Server, send},
};

use crate::report::{Effort, Report};

/// Parallel clients of each case.
const CLIENTS: [usize; 3] = [2, 8, 32];

/// Requests per client: short and long run.
const REQUESTS: (usize, usize) = (24, 240);

/// Posts in addition to the sample content.
const POSTS: usize = 12;

/// Blocks that query the store while a page is rendered.
const BLOCKS: &str = "<!-- wp:latest-posts {\"postsToShow\":5,\"displayPostContent\":true} /-->\n\
    <!-- wp:query {\"query\":{\"perPage\":5,\"postType\":\"post\"}} --><!-- wp:post-template --><!-- wp:post-title /-->\
    <!-- wp:post-excerpt /--><!-- wp:post-terms {\"term\":\"category\"} /--><!-- /wp:post-template --><!-- /wp:query -->\n\
    <!-- wp:categories /-->\n<!-- wp:archives /-->\n<!-- wp:latest-comments /-->\n<!-- wp:navigation /-->\n\
    <!-- wp:template-part {\"slug\":\"footer\"} /-->\n<!-- wp:page-list /-->\n<!-- wp:tag-cloud /-->";

pub(crate) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let program = effort.program()?;
    let mut reports = Vec::new();
    for pool in ["1", "0"] {
        reports.extend(on(&program, None, pool, effort)?);
    }
    match MariaDb::start(DISPOSABLE_OPTIONS)? {
        Some(mariadb) => {
            for pool in ["1", "0"] {
                reports.extend(on(&program, Some(mariadb.create(&format!("pool{pool}"))?), pool, effort)?);
            }
        }
        None => say("skipped on MariaDB: mariadbd is not installed")?,
    }
    Ok(reports)
}

/// A site, and the command that starts its server.
struct Run {
    program: PathBuf,
    folder: tempfile::TempDir,
    database: Option<String>,
    pool: &'static str,
}

impl Run {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.folder.path()).env_clear().env("SVC_READERS", self.pool);
        if let Some(url) = &self.database {
            command.env("SVC_DATABASE", url);
        }
        command
    }

    fn start(&self) -> Result<Server> {
        server::serve(self.command(), self.folder.path())
    }
}

/// Runs all cases on one engine with one pool size.
fn on(program: &Path, database: Option<String>, pool: &'static str, effort: &Effort) -> Result<Vec<Report>> {
    let engine = if database.is_some() { "mariadb" } else { "sqlite" };
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let run = Run { program: program.to_owned(), folder, database, pool };
    let server = run.start()?;
    let paths = fill(server.address(), &server::credentials(run.command())?)?;
    let requests = if effort.long { REQUESTS.1 } else { REQUESTS.0 };
    let pool = if pool == "1" { "one connection" } else { "default pool" };
    let case = |clients| {
        let mut report = load(server.address(), &paths, clients, requests);
        report.case = format!("pages {engine}, {pool}: {clients} clients");
        report.peak_memory = server.peak_memory();
        report
    };
    Ok(CLIENTS.into_iter().map(case).collect())
}

/// Creates posts and a page with dynamic blocks. Returns the paths to request.
fn fill(address: &str, credentials: &str) -> Result<Vec<String>> {
    let brand = Brand::default();
    let rest = format!("/?rest_route=/{}", brand.namespace());
    let mut paths: Vec<String> =
        ["/", "/page/2/", "/feed/", "/blocks/", "/?s=post", "/author/admin/", "/nosuch/"].map(str::to_owned).to_vec();
    let make = |kind: &str, body: serde_json::Value| -> Result<String> {
        let response = send(address, "POST", &format!("{rest}/{kind}"), credentials, Some(&body))?;
        let link = response.json()?["link"].as_str().map(str::to_owned);
        let link = link.with_context(|| format!("not created: {}: {:.300}", response.status, response.body))?;
        Ok(link.trim_start_matches(address).to_owned())
    };
    make("pages", json!({"title": "Blocks", "slug": "blocks", "status": "publish", "content": BLOCKS}))?;
    for n in 0..POSTS {
        let content = if n % 3 == 0 { BLOCKS.to_owned() } else { format!("<p>Text of post {n}.</p>") };
        let link = make("posts", json!({"title": format!("Post {n}"), "status": "publish", "content": content}))?;
        if n % 3 == 0 {
            paths.push(format!("{link}embed/"));
            paths.push(format!("{link}feed/"));
            paths.push(link);
        }
    }
    paths.push(format!("{rest}/posts&_embed=1&per_page=20"));
    paths.push(format!("{rest}/pages&search=blocks"));
    paths.push(format!("{rest}/search&search=post"));
    Ok(paths)
}

/// Sends requests from this number of parallel clients.
fn load(address: &str, paths: &[String], clients: usize, requests: usize) -> Report {
    let report = Mutex::new(Report::default());
    let start = Instant::now();
    std::thread::scope(|threads| {
        for client in 0..clients {
            let report = &report;
            threads.spawn(move || {
                for n in 0..requests {
                    // Clients begin at different paths; every other request bypasses the response cache.
                    let path = &paths[(client * 7 + n) % paths.len()];
                    let mark = if path.contains('?') { '&' } else { '?' };
                    let path = if client % 2 == 0 { path.clone() } else { format!("{path}{mark}n={client}-{n}") };
                    let sent = Instant::now();
                    let response = send(address, "GET", &path, "", None);
                    let took = sent.elapsed();
                    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
                    report.attempts += 1;
                    report.slowest = Some(report.slowest.map_or(took, |slowest| slowest.max(took)));
                    let failed = match response {
                        Ok(response) if response.status < 500 => None,
                        Ok(response) => Some(format!("{path}: {}", response.status)),
                        Err(error) => Some(format!("{path}: {error:#}")),
                    };
                    if let Some(failed) = failed {
                        report.lost += 1;
                        if report.violations.len() < 5 {
                            report.violations.push(failed);
                        }
                    }
                }
            });
        }
    });
    let mut report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    if report.attempts == 0 || start.elapsed() > Duration::from_secs(600) {
        report.violations.push(format!("{} requests in {:?}", report.attempts, start.elapsed()));
    }
    report
}
