//! `cargo xtask live-plugins`: installs public plugins and themes on a running WordPress site, one by one and all together, behind a gateway.
//!
//! After each change the gateway must compare the routes again automatically. Then reads are sent to it and to WordPress: no response that
//! the gateway gave itself may differ. Reads with credentials and writes must be forwarded. The plugins are
//! cloned from their public repositories and are deleted at the end. Before that, `fault.rs` injects a fault that only shadow comparisons
//! can find, and `texts.rs` checks texts that only PHP renders; the names `fault` and `texts` select these checks alone.

mod crawl;
mod fault;
mod plugins;
mod texts;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use crate::{
    gateway::{Gateway, get, is_forwarded},
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
    /// Names of plugins; all if empty.
    names: Vec<String>,
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options {
        site: server::wordpress_site(),
        from: "https://github.com".to_owned(),
        samples: 3,
        names: Vec::new(),
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--site" => options.site = args.next().context("--site needs a folder")?.into(),
            "--from" => options.from = args.next().context("--from needs a URL or a folder")?.clone(),
            "--sample" => options.samples = args.next().context("--sample needs a number")?.parse()?,
            name if !name.starts_with('-') => options.names.push(name.to_owned()),
            other => bail!("unknown argument `{other}`"),
        }
    }
    Ok(options)
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = options(args)?;
    let program = server::build(None, false)?;
    if options.names.is_empty() || options.names.iter().any(|name| name == "fault") {
        fault::check(&program, &options.site)?;
    }
    if options.names.is_empty() || options.names.iter().any(|name| name == "texts") {
        texts::check(&program, &options.site)?;
    }
    let Some(gateway) = Gateway::start(&program, &options.site, "shadow_percent = 0")? else {
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
    if installed.is_empty() {
        return say("no plugin is selected, or none can be fetched");
    }
    let theme = active_theme(&gateway)?;
    let site = Site { gateway: &gateway, content: &content, theme: &theme, samples: options.samples };
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
}

impl Site<'_> {
    /// Checks the site with each plugin, and with all that could be activated. Returns the number of failures.
    fn check(&self, plugins: &[&Plugin]) -> Result<usize> {
        self.gateway.wait_for_proof(0)?;
        let mut n_failed = self.compare("(as it is)")?;
        let mut active: Vec<&Plugin> = Vec::new();
        for plugin in plugins {
            let before = self.gateway.proofs();
            if let Some(last) = active.last() {
                self.activate(last, false)?;
            }
            if let Err(error) = self.activate(plugin, true) {
                say(&format!("{:24} skipped: cannot be activated: {error:#}", plugin.folder))?;
                drop(self.activate(plugin, false));
                plugin.remove(self.content);
                continue;
            }
            self.gateway.wait_for_proof(before)?;
            n_failed += self.compare(plugin.folder)?;
            active.push(*plugin);
        }
        let before = self.gateway.proofs();
        for plugin in &active {
            if let Err(error) = self.activate(plugin, true) {
                say(&format!("{:24} not with the others: {error:#}", plugin.folder))?;
            }
        }
        self.gateway.wait_for_proof(before)?;
        n_failed += self.compare(&format!("all {}", active.len()))?;
        Ok(n_failed)
    }

    fn activate(&self, plugin: &Plugin, wanted: bool) -> Result<()> {
        plugin.activate(self.gateway, self.content, self.theme, wanted)
    }

    /// Compares reads, and checks that requests with credentials and writes reach WordPress. Returns the number of failures.
    fn compare(&self, name: &str) -> Result<usize> {
        report(name, &compare(self.gateway, self.samples)?)
    }
}

fn compare(gateway: &Gateway, samples: usize) -> Result<Tally> {
    let mut tally = Tally::default();
    Crawl { ours: gateway.address(), theirs: &gateway.site, samples }.run(&mut tally)?;
    let response = get(gateway.address(), "/wp-json/wp/v2/posts", &gateway.credentials)?;
    if !is_forwarded(&response) {
        tally.failures.push("a read with credentials was not forwarded".to_owned());
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
        "{name:24} handled by the server: {:3} equal, {} different; forwarded: {:3}",
        tally.equal,
        tally.failures.len(),
        tally.forwarded
    ))?;
    Ok(tally.failures.len())
}
