//! `cargo xtask live-plugins`: installs public plugins and themes on a running WordPress site, one by one and all together, behind a gateway.
//!
//! After each change, reads of a visitor and of an administrator are sent to it and to WordPress: no replayed response may differ. Writes must
//! be forwarded. Then `mixed.rs` reads and writes at random for a while. The plugins are cloned from their public repositories and are
//! deleted at the end.

mod crawl;
mod mixed;
mod plugins;
mod traffic;
mod writes;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crawl::{Crawl, Tally};
use plugins::{PLUGINS, Plugin, active_theme};
use xtask_support::{
    gateway::{Gateway, is_forwarded},
    say,
    server::send,
};

use crate::site;

/// URLs that are printed because they were not replayed.
const SHOWN: usize = 40;

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    site: site::Arguments,
    /// Where repositories are cloned from: a URL or a path, with {owner} and {name} in place of those of each repository.
    #[arg(long, value_name = "URL", env = "SVC_LIVE_PLUGINS", default_value = "https://github.com/{owner}/{name}")]
    from: String,
    /// URLs per collection.
    #[arg(long = "sample", value_name = "N", default_value_t = 3)]
    samples: usize,
    /// Maximum number of URLs for each caller.
    #[arg(long, value_name = "N", default_value_t = 300)]
    urls: usize,
    /// Time of each phase of reads and writes, in seconds.
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// Reads per second in these.
    #[arg(long, value_name = "N", default_value_t = 100)]
    rate: u64,
    /// Seed of the reads and writes (default: the time).
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Check the site only with all plugins together.
    #[arg(long)]
    together: bool,
    /// A drop-in for the object cache, such as that of a plugin for Redis, which the site uses meanwhile.
    #[arg(long, value_name = "FILE")]
    object_cache: Option<PathBuf>,
    /// Plugins to install (default: all), or `none`.
    #[arg(value_name = "PLUGIN")]
    names: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let Some(file) = &options.object_cache else { return check(options) };
    let target = options.site.site.join("wp-content/object-cache.php");
    ensure!(!target.exists(), "{} exists", target.display());
    std::fs::copy(file, &target).with_context(|| format!("cannot copy {}", file.display()))?;
    let outcome = check(options);
    std::fs::remove_file(&target).context("cannot remove the object cache")?;
    outcome
}

/// Checks the site as it is.
fn check(options: &Options) -> Result<()> {
    let Some(gateway) = options.site.start("")? else { return Ok(()) };
    let work = tempfile::tempdir().context("cannot create a temporary folder")?;
    let content = options.site.site.join("wp-content");
    let mut installed = Vec::new();
    for plugin in PLUGINS.iter().filter(|p| options.names.is_empty() || options.names.iter().any(|n| n == p.folder)) {
        match plugin.install(&options.from, work.path(), &content) {
            Ok(()) => installed.push(plugin),
            Err(error) => say(&format!("{:24} skipped: {error:#}", plugin.folder))?,
        }
    }
    let theme = active_theme(&gateway)?;
    let site = Site { gateway: &gateway, content: &content, theme: &theme, options };
    let outcome = site.check(&installed);
    for plugin in &installed {
        drop(site.activate(plugin, false));
        plugin.remove(&content);
    }
    let n_failed = outcome?;
    ensure!(n_failed == 0, "{n_failed} differences or lost values");
    Ok(())
}

/// The site behind the gateway.
struct Site<'a> {
    gateway: &'a Gateway,
    /// The folder `wp-content`.
    content: &'a Path,
    /// The theme of the site, before another was installed.
    theme: &'a str,
    options: &'a Options,
}

impl Site<'_> {
    /// Checks the site with each plugin, and with all that could be activated. Returns the number of failures.
    fn check(&self, plugins: &[&Plugin]) -> Result<usize> {
        let is_together = self.options.together && !plugins.is_empty();
        let (mut n_failed, mut targets) = if is_together { (0, Vec::new()) } else { self.compare("(as it is)")? };
        let mut active: Vec<&Plugin> = Vec::new();
        for plugin in plugins {
            if let Some(last) = active.last().filter(|_| !is_together) {
                self.activate(last, false)?;
            }
            if let Err(error) = self.activate(plugin, true) {
                say(&format!("{:24} skipped: cannot be activated: {error:#}", plugin.folder))?;
                drop(self.activate(plugin, false));
                plugin.remove(self.content);
                continue;
            }
            if !is_together {
                n_failed += self.compare(plugin.folder)?.0;
            }
            active.push(*plugin);
        }
        for plugin in active.iter().filter(|_| !is_together) {
            if let Err(error) = self.activate(plugin, true) {
                say(&format!("{:24} not with the others: {error:#}", plugin.folder))?;
            }
        }
        if !active.is_empty() {
            let all = self.compare(&format!("all {}", active.len()))?;
            n_failed += all.0;
            targets = all.1;
        }
        let options = self.options;
        let seed = options.seed.unwrap_or_else(|| std::time::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_secs()));
        n_failed += mixed::run(self.gateway, &targets, options.seconds, options.rate, seed)?;
        Ok(n_failed)
    }

    fn activate(&self, plugin: &Plugin, wanted: bool) -> Result<()> {
        plugin.activate(self.gateway, self.content, self.theme, wanted)
    }

    /// Compares reads, and checks that writes reach WordPress. Returns the number of failures, and the URLs.
    fn compare(&self, name: &str) -> Result<(usize, Vec<String>)> {
        let tally = compare(self.gateway, self.options)?;
        Ok((report(name, &tally)?, tally.targets))
    }
}

fn compare(gateway: &Gateway, options: &Options) -> Result<Tally> {
    let mut tally = Tally::default();
    for credentials in ["", &gateway.credentials] {
        let (ours, theirs) = (gateway.address(), &*gateway.site);
        Crawl { ours, theirs, credentials, samples: options.samples, urls: options.urls }.run(&mut tally)?;
    }
    for body in
        [json!({"title": "x", "status": "draft", "value_of_a_plugin": 1}), json!({"meta": {"key_of_a_plugin": "x"}})]
    {
        let response = send(gateway.address(), "POST", "/wp-json/wp/v2/posts", &gateway.credentials, Some(&body))?;
        if !is_forwarded(&response) {
            tally.failures.push(format!("POST /wp/v2/posts {body}: not forwarded ({})", response.status));
        }
        if let Some(id) = response.json()?["id"].as_u64() {
            send(
                &gateway.site,
                "DELETE",
                &format!("/wp-json/wp/v2/posts/{id}?force=true"),
                &gateway.credentials,
                None,
            )?;
        }
    }
    Ok(tally)
}

fn report(name: &str, tally: &Tally) -> Result<usize> {
    for failure in &tally.failures {
        say(&format!("    {failure}"))?;
    }
    say(&format!(
        "{name:24} replayed: {:3} equal, {} different; not replayed: {:3}",
        tally.equal,
        tally.failures.len(),
        tally.forwarded
    ))?;
    for what in &tally.varying {
        say(&format!("    varies in WordPress: {what}"))?;
    }
    for what in tally.not_replayed.iter().take(SHOWN) {
        say(&format!("    not replayed: {what}"))?;
    }
    Ok(tally.failures.len())
}
