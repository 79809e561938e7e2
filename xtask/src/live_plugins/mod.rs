//! `cargo xtask live-plugins`: installs public plugins and themes on a running WordPress site, one by one and all together, behind a gateway.
//!
//! After each change, reads of a visitor and of an administrator are sent to it and to WordPress: no replayed response may differ. Writes must
//! be forwarded. Then `mixed.rs` reads and writes at random for a while. The plugins are cloned from their public repositories and are
//! deleted at the end.

mod crawl;
mod mixed;
mod plugins;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use crate::{
    gateway::{Gateway, is_forwarded},
    say,
    server::{self, send},
};
use crawl::{Crawl, Tally};
use plugins::{PLUGINS, Plugin, active_theme};

struct Options {
    /// Folder of the WordPress site.
    site: PathBuf,
    /// Where repositories are cloned from: a URL, or a folder with repositories named `OWNER+NAME/repo`.
    from: String,
    /// URLs per collection.
    samples: usize,
    /// Time for random reads and writes, in seconds.
    seconds: u64,
    seed: u64,
    /// Names of plugins; all if empty, none for `none`.
    names: Vec<String>,
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options {
        site: server::wordpress_site(),
        from: "https://github.com".to_owned(),
        samples: 3,
        seconds: 60,
        seed: std::time::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_secs()),
        names: Vec::new(),
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--site" => options.site = args.next().context("--site needs a folder")?.into(),
            "--from" => options.from = args.next().context("--from needs a URL or a folder")?.clone(),
            "--sample" => options.samples = args.next().context("--sample needs a number")?.parse()?,
            "--seconds" => options.seconds = args.next().context("--seconds needs a number")?.parse()?,
            "--seed" => options.seed = args.next().context("--seed needs a number")?.parse()?,
            name if !name.starts_with('-') => options.names.push(name.to_owned()),
            other => bail!("unknown argument `{other}`"),
        }
    }
    Ok(options)
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = options(args)?;
    let program = server::build(None, false)?;
    let Some(gateway) = Gateway::start(&program, &options.site, "")? else {
        return say(&format!("skipped: there is no running WordPress site in {}", options.site.display()));
    };
    let work = tempfile::tempdir().context("cannot create a temporary folder")?;
    let content = options.site.join("wp-content");
    let mut installed = Vec::new();
    for plugin in PLUGINS.iter().filter(|p| options.names.is_empty() || options.names.iter().any(|n| n == p.folder)) {
        match plugin.install(&options.from, work.path(), &content) {
            Ok(()) => installed.push(plugin),
            Err(error) => say(&format!("{:24} skipped: {error:#}", plugin.folder))?,
        }
    }
    let theme = active_theme(&gateway)?;
    let site = Site {
        gateway: &gateway,
        content: &content,
        theme: &theme,
        samples: options.samples,
        seconds: options.seconds,
        seed: options.seed,
    };
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
    /// URLs per collection.
    samples: usize,
    /// Time for random reads and writes, in seconds.
    seconds: u64,
    seed: u64,
}

impl Site<'_> {
    /// Checks the site with each plugin, and with all that could be activated. Returns the number of failures.
    fn check(&self, plugins: &[&Plugin]) -> Result<usize> {
        let mut n_failed = self.compare("(as it is)")?;
        let mut active: Vec<&Plugin> = Vec::new();
        for plugin in plugins {
            if let Some(last) = active.last() {
                self.activate(last, false)?;
            }
            if let Err(error) = self.activate(plugin, true) {
                say(&format!("{:24} skipped: cannot be activated: {error:#}", plugin.folder))?;
                drop(self.activate(plugin, false));
                plugin.remove(self.content);
                continue;
            }
            n_failed += self.compare(plugin.folder)?;
            active.push(*plugin);
        }
        for plugin in &active {
            if let Err(error) = self.activate(plugin, true) {
                say(&format!("{:24} not with the others: {error:#}", plugin.folder))?;
            }
        }
        n_failed += self.compare(&format!("all {}", active.len()))?;
        n_failed += mixed::run(self.gateway, self.seconds, self.seed)?;
        Ok(n_failed)
    }

    fn activate(&self, plugin: &Plugin, wanted: bool) -> Result<()> {
        plugin.activate(self.gateway, self.content, self.theme, wanted)
    }

    /// Compares reads, and checks that writes reach WordPress. Returns the number of failures.
    fn compare(&self, name: &str) -> Result<usize> {
        report(name, &compare(self.gateway, self.samples)?)
    }
}

fn compare(gateway: &Gateway, samples: usize) -> Result<Tally> {
    let mut tally = Tally::default();
    for credentials in ["", &gateway.credentials] {
        Crawl { ours: gateway.address(), theirs: &gateway.site, credentials, samples }.run(&mut tally)?;
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
    Ok(tally.failures.len())
}
