//! `cargo xtask live-hooks`: compares WordPress's actions after writes through PHP with those after the same writes of the server.
//!
//! A plugin logs the actions with their arguments. Each write is sent to WordPress, then to a gateway with the connector, and the logs
//! are compared.

mod writes;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    gateway::{Gateway, is_forwarded},
    say,
    server::{self, send},
};
use writes::{SEQUENCES, Sequence};

/// The plugin that logs actions.
const PLUGIN: &str = include_str!("log.php");

/// The longest time until the actions of a write have run.
const DELIVERY: Duration = Duration::from_secs(30);

/// Actions that the connector does not run, or not as often as WordPress. The guide has the reasons.
const NOT_RUN: [&str; 10] = [
    "pre_post_insert",
    "pre_post_update",
    "added_post_meta",
    "updated_post_meta",
    "set_object_terms",
    "post_stuck",
    "post_unstuck",
    "trash_post_comments",
    "edit_term_taxonomy",
    "edited_term_taxonomy",
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let site = match args {
        [] => server::wordpress_site(),
        [flag, folder] if flag == "--site" => PathBuf::from(folder),
        _ => bail!("unknown arguments"),
    };
    let wp_config = site.join("wp-config.php");
    if !wp_config.is_file() {
        return say(&format!("skipped: there is no WordPress site in {}", site.display()));
    }
    let program = server::build(None, false)?;
    let log = install(&program, &site)?;
    let n_failed = compare(&program, &site, &log)?;
    ensure!(n_failed == 0, "the actions of {n_failed} writes differ");
    Ok(())
}

/// The connector and a plugin that logs actions, on a WordPress site. Both are removed on drop.
pub(crate) struct LogOfActions {
    program: PathBuf,
    site: PathBuf,
}

/// Installs the connector and the plugin that logs actions.
pub(crate) fn install(program: &Path, site: &Path) -> Result<LogOfActions> {
    let log = LogOfActions { program: program.to_owned(), site: site.to_owned() };
    fs::write(log.plugin(), PLUGIN).context("cannot install the plugin that logs actions")?;
    connector(program, &site.join("wp-config.php"), "install")?;
    log.clear();
    Ok(log)
}

impl LogOfActions {
    fn plugin(&self) -> PathBuf {
        self.site.join("wp-content/mu-plugins/svc-log-of-actions.php")
    }

    fn file(&self) -> PathBuf {
        self.site.join("wp-content/svc-hooks.log")
    }

    /// The actions since the start, one per line.
    pub(crate) fn read(&self) -> String {
        fs::read_to_string(self.file()).unwrap_or_default()
    }

    fn clear(&self) {
        drop(fs::remove_file(self.file()));
    }
}

impl Drop for LogOfActions {
    fn drop(&mut self) {
        drop(fs::remove_file(self.plugin()));
        self.clear();
        drop(connector(&self.program, &self.site.join("wp-config.php"), "remove"));
    }
}

fn connector(program: &Path, wp_config: &Path, subcommand: &str) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let mut command = Command::new(program);
    command.current_dir(folder.path()).env_clear().arg("--wp-config").arg(wp_config);
    let out = command.args(["connector", subcommand]).output()?;
    ensure!(out.status.success(), "connector {subcommand}: {}", String::from_utf8_lossy(&out.stderr));
    Ok(())
}

/// Runs all writes. Returns how many have other actions.
fn compare(program: &Path, site: &Path, log: &LogOfActions) -> Result<usize> {
    // The routes need no proof: their actions are compared.
    let settings = "writes = \"svc\"\nshadow_percent = 0\nsvc_routes = [\"/wp/v2/posts\", \"/wp/v2/pages\", \"/wp/v2/categories\", \"/wp/v2/comments\"]";
    let Some(gateway) = Gateway::start(program, site, settings)? else {
        say("skipped: the server of WordPress does not respond")?;
        return Ok(0);
    };
    let mut n_failed = 0;
    for sequence in SEQUENCES {
        let theirs = actions(&gateway, log, sequence, false)?;
        let ours = actions(&gateway, log, sequence, true)?;
        for ((write, theirs), ours) in sequence.writes.iter().zip(theirs).zip(ours) {
            let is_equal = theirs == ours && !theirs.is_empty();
            say(&format!(
                "{:10} {:12} {:2} actions {}",
                sequence.name,
                write.name,
                theirs.len(),
                if is_equal { "equal" } else { "DIFFERENT" }
            ))?;
            if !is_equal {
                n_failed += 1;
                theirs.iter().filter(|line| !ours.contains(line)).try_for_each(|line| say(&format!("    - {line}")))?;
                ours.iter().filter(|line| !theirs.contains(line)).try_for_each(|line| say(&format!("    + {line}")))?;
                if theirs.len() == ours.len() {
                    say(&format!("    order in WordPress: {theirs:#?}\n    order here: {ours:#?}"))?;
                }
            }
        }
    }
    Ok(n_failed)
}

/// The actions of each write of a sequence, sent to one of both servers.
fn actions(gateway: &Gateway, log: &LogOfActions, sequence: &Sequence, is_ours: bool) -> Result<Vec<Vec<String>>> {
    let address = if is_ours { gateway.address() } else { gateway.site.as_str() };
    let published = send(&gateway.site, "GET", "/wp-json/wp/v2/posts?per_page=1", "", None)?.json()?;
    let post = published[0]["id"].as_u64().context("the site has no published post")?;
    let (mut id, mut all) = (0, Vec::new());
    for write in sequence.writes {
        log.clear();
        let path = write.path.replace("{id}", &id.to_string());
        let body =
            serde_json::from_str(&write.body.replace("{post}", &post.to_string())).context("the body of a write")?;
        let response = send(address, write.method, &path, &gateway.credentials, Some(&body))?;
        ensure!(response.status < 300, "{} {path}: {} {:.300}", write.method, response.status, response.body);
        ensure!(!is_ours || !is_forwarded(&response), "{} {path} was forwarded: {}", write.method, gateway.log());
        if let Some(new) = response.json()?["id"].as_u64() {
            id = new;
        }
        if is_ours {
            gateway.wait_for_actions(DELIVERY)?;
        }
        let logged = log.read();
        // Revisions have no actions of their own here.
        let is_run = |line: &&str| {
            !line.contains(" post(revision,") && line.split(' ').next().is_some_and(|name| !NOT_RUN.contains(&name))
        };
        all.push(logged.lines().filter(is_run).map(str::to_owned).collect());
    }
    Ok(all)
}

impl Gateway {
    /// Waits until no entry of the outbox waits, as long as their number changes at least once in this time.
    pub(crate) fn wait_for_actions(&self, limit: Duration) -> Result<()> {
        let (mut since, mut before) = (Instant::now(), usize::MAX);
        loop {
            // The outcome of the last write is recorded after its response, before its entry can be removed.
            let files = fs::read_dir(self.actions_folder())?.filter_map(Result::ok);
            let waiting = files.filter(|file| file.file_name().to_string_lossy().contains(".json")).count();
            if waiting == 0 {
                return Ok(());
            }
            if waiting != before {
                (since, before) = (Instant::now(), waiting);
            }
            ensure!(since.elapsed() < limit, "{waiting} actions were not delivered: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
