//! `cargo xtask live-plugins`: installs public plugins on a running WordPress site, one by one and all together, behind a gateway.
//!
//! After each change the gateway must compare the routes again automatically. Then reads are sent to it and to WordPress: no response that
//! the gateway gave itself may differ. Writes that name a value which only a plugin may know must be forwarded. The plugins are
//! cloned from their public repositories and are deleted at the end.

mod crawl;
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
use plugins::{PLUGINS, Plugin};

struct Options {
    /// Folder of the WordPress site.
    site: PathBuf,
    /// Where repositories are cloned from: a URL, or a folder with repositories named `OWNER+NAME/repo`.
    from: String,
    /// URLs per collection and viewer.
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
    // Writes are svc's where the descriptions allow it, so that a lost value would be found.
    let Some(gateway) = Gateway::start(&program, &options.site, "writes = \"svc\"\nshadow_percent = 0")? else {
        return say(&format!("skipped: there is no running WordPress site in {}", options.site.display()));
    };
    let work = tempfile::tempdir().context("cannot create a temporary folder")?;
    let folder = options.site.join("wp-content/plugins");
    let mut installed = Vec::new();
    for plugin in PLUGINS.iter().filter(|p| options.names.is_empty() || options.names.iter().any(|n| n == p.folder)) {
        match plugin.install(&options.from, work.path(), &folder) {
            Ok(()) => installed.push(plugin),
            Err(error) => say(&format!("{:24} skipped: {error:#}", plugin.folder))?,
        }
    }
    if installed.is_empty() {
        return say("skipped: no plugin can be fetched");
    }
    let outcome = check(&gateway, &installed, &folder, options.samples);
    for plugin in &installed {
        drop(activate(&gateway, plugin, false));
        drop(std::fs::remove_dir_all(folder.join(plugin.folder)));
    }
    let n_failed = outcome?;
    ensure!(n_failed == 0, "{n_failed} differences or lost values");
    Ok(())
}

/// Checks the site with each plugin, and with all that could be activated. Returns the number of failures.
fn check(gateway: &Gateway, plugins: &[&Plugin], folder: &Path, samples: usize) -> Result<usize> {
    gateway.wait_for_proof(0)?;
    let mut n_failed = report("(as it is)", &compare(gateway, samples)?)?;
    let mut active: Vec<&Plugin> = Vec::new();
    for plugin in plugins {
        let before = gateway.proofs();
        if let Some(last) = active.last() {
            activate(gateway, last, false)?;
        }
        if let Err(error) = activate(gateway, plugin, true) {
            say(&format!("{:24} skipped: cannot be activated: {error:#}", plugin.folder))?;
            // WordPress ignores active plugins without files.
            std::fs::remove_dir_all(folder.join(plugin.folder)).context("cannot remove the plugin")?;
            continue;
        }
        gateway.wait_for_proof(before)?;
        n_failed += report(plugin.folder, &compare(gateway, samples)?)?;
        active.push(*plugin);
    }
    let before = gateway.proofs();
    for plugin in &active {
        if let Err(error) = activate(gateway, plugin, true) {
            say(&format!("{:24} not with the others: {error:#}", plugin.folder))?;
        }
    }
    gateway.wait_for_proof(before)?;
    n_failed += report(&format!("all {}", active.len()), &compare(gateway, samples)?)?;
    Ok(n_failed)
}

/// Activates or deactivates a plugin through the gateway; the request must reach WordPress.
fn activate(gateway: &Gateway, plugin: &Plugin, wanted: bool) -> Result<()> {
    let path = format!("/wp-json/wp/v2/plugins/{}", plugin.file.trim_end_matches(".php"));
    let status = if wanted { "active" } else { "inactive" };
    let body = json!({ "status": status });
    let response = send(gateway.address(), "PUT", &path, &gateway.credentials, Some(&body))?;
    ensure!(is_forwarded(&response), "the gateway did not forward the request");
    ensure!(response.status == 200, "{}: {:.160}", response.status, response.body);
    ensure!(response.json()?["status"] == status, "the status is not {status}: {:.160}", response.body);
    // A plugin that breaks the site is not a difference.
    let index = send(&gateway.site, "GET", "/wp-json/?_fields=name", "", None)?;
    ensure!(index.status == 200, "WordPress fails with it: {:.160}", index.body);
    Ok(())
}

fn compare(gateway: &Gateway, samples: usize) -> Result<Tally> {
    let mut tally = Tally::default();
    for credentials in ["", &gateway.credentials] {
        let crawl = Crawl { ours: gateway.address(), theirs: &gateway.site, credentials, samples };
        crawl.run(&mut tally)?;
    }
    // A value that only a plugin may know must reach WordPress.
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
