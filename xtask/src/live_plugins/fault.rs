//! A fault that only shadow comparisons can find: a filter of PHP that begins to change titles, without a change of files, plugins or
//! descriptions.

use std::{
    fs,
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    gateway::{Gateway, get, is_forwarded},
    say,
};

/// A plugin whose filter is active as long as a file exists.
const PLUGIN: &str = "<?php
add_filter( 'the_title', static function ( $title ) {
\tclearstatcache();
\treturn file_exists( WP_CONTENT_DIR . '/svc-fault' ) ? \"$title (changed)\" : $title;
} );
";

/// Lists of which the first is read that the gateway handles and that has items.
const LISTS: [&str; 3] = ["posts", "pages", "media"];

/// Percentage of the reads that are compared.
const SHARE: u32 = 20;

/// Reads until the fault must have been found: the chance that none of them is compared is below one in a billion.
const MAX_READS: u32 = 100;

/// The longest time until the route is proven again.
const PROVEN_AGAIN: Duration = Duration::from_secs(60);

/// The plugin and its file. Both are removed on drop.
struct Fault {
    plugin: PathBuf,
    switch: PathBuf,
}

impl Drop for Fault {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.plugin));
        drop(fs::remove_file(&self.switch));
    }
}

/// Injects the fault: the gateway must find it and forward the route, and handle it again when the fault is gone.
pub(super) fn check(program: &Path, site: &Path) -> Result<()> {
    let content = site.join("wp-content");
    let fault = Fault { plugin: content.join("mu-plugins/svc-fault.php"), switch: content.join("svc-fault") };
    fs::write(&fault.plugin, PLUGIN).context("cannot install the plugin")?;
    let Some(gateway) = Gateway::start(program, site, &format!("shadow_percent = {SHARE}"))? else {
        return say("skipped: the WordPress site does not respond");
    };
    gateway.wait_for_proof(0)?;
    let mut path = None;
    for list in LISTS {
        let candidate = format!("/wp-json/wp/v2/{list}?per_page=2");
        let response = get(gateway.address(), &candidate, "")?;
        if !is_forwarded(&response) && response.json()?[0]["title"]["rendered"].is_string() {
            path = Some(candidate);
            break;
        }
    }
    let path = path.context("the gateway handles no list with titles")?;
    fs::write(&fault.switch, "").context("cannot switch the fault on")?;
    let found = (1..=MAX_READS).find(|_| {
        sleep(Duration::from_millis(50));
        get(gateway.address(), &path, "").is_ok_and(|response| is_forwarded(&response))
    });
    let Some(found) = found else { bail!("no comparison of {MAX_READS} reads of {path} has found the fault") };
    let log = gateway.log();
    ensure!(log.contains("title"), "the log does not name the difference: {log}");
    let response = get(gateway.address(), &path, "")?;
    ensure!(response.body.contains("(changed)"), "the response is not WordPress's: {:.300}", response.body);
    fs::remove_file(&fault.switch).context("cannot switch the fault off")?;
    let begun = Instant::now();
    while is_forwarded(&get(gateway.address(), &path, "")?) {
        ensure!(begun.elapsed() < PROVEN_AGAIN, "{path} is not proven again: {}", gateway.log());
        sleep(Duration::from_millis(500));
    }
    say(&format!(
        "{:24} found after {found} reads of which {SHARE} % are compared; handled again {} s after its end",
        "(a changed title)",
        begun.elapsed().as_secs()
    ))
}
