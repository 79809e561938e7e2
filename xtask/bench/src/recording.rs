//! What it costs PHP to record what a response depends on.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, ensure};
use axum::http::Method;
use svc_bridge::{
    connector::install::{read_secret, secret_path},
    record::Recorder,
};
use xtask_support::{gateway::Gateway, server::exchange};

use super::measure::{Row, Value, median};

/// Reads, and their names.
const READS: [(&str, &str); 3] =
    [("types", "types"), ("a post", "posts?per_page=1"), ("a list of ten posts", "posts?per_page=10")];

/// The header with which a record is asked for.
const HEADER: &str = "x-svc-record";

/// Pairs of requests for each read, after some that fill caches.
const PAIRS: usize = 1000;
const FIRST: usize = 10;

/// The largest part of PHP's time that recording may take, in percent.
const TARGET: f64 = 3.0;

/// Name of the plugin that is installed meanwhile.
const PLUGIN: &str = "mu-plugins/svc-bench.php";

/// Writes the CPU time of PHP's process at the end of each request, behind everything else that runs at the end.
const CODE: &str = r#"<?php
register_shutdown_function(static function () {
    register_shutdown_function(static function () {
        $used = getrusage();
        $micros = 1000000 * ($used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']) + $used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec'];
        file_put_contents('TIMES', getmypid() . ' ' . ($_GET['measured'] ?? '-') . " $micros\n", FILE_APPEND | LOCK_EX);
    });
});
"#;

/// The plugin of WordPress that measures. It is removed on drop.
struct Plugin<'w> {
    wordpress: &'w Path,
    folder: tempfile::TempDir,
}

impl Drop for Plugin<'_> {
    fn drop(&mut self) {
        let _gone = fs::remove_file(self.wordpress.join("wp-content").join(PLUGIN));
    }
}

impl<'w> Plugin<'w> {
    fn install(wordpress: &'w Path) -> Result<Self> {
        let plugin = Plugin { wordpress, folder: tempfile::tempdir().context("cannot create a temporary folder")? };
        // PHP may run as another user.
        fs::write(plugin.file(), "")?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(plugin.folder.path(), fs::Permissions::from_mode(0o755))?;
            fs::set_permissions(plugin.file(), fs::Permissions::from_mode(0o666))?;
        }
        let path = wordpress.join("wp-content").join(PLUGIN);
        fs::create_dir_all(path.parent().context("no folder for plugins")?)?;
        fs::write(path, CODE.replace("TIMES", &plugin.file().display().to_string()))?;
        Ok(plugin)
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("times")
    }

    /// The CPU time of each measured request, in microseconds, by its number.
    fn times(&self) -> Result<HashMap<usize, f64>> {
        let (mut before, mut times) = (HashMap::new(), HashMap::new());
        for line in fs::read_to_string(self.file())?.lines() {
            let [process, request, micros] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
            let micros: u64 = micros.parse().context("no time")?;
            let used = before.insert(process.to_owned(), micros).and_then(|before| micros.checked_sub(before));
            if let (Some(used), Ok(request)) = (used, request.parse::<usize>()) {
                times.insert(request, used as f64);
            }
        }
        Ok(times)
    }
}

/// Sends each read in turn with the header with which the gateway asks for a record, and without it. Both go to WordPress itself: what the gateway
/// does with a record at the same time would slow PHP down on machines with few cores, and is no work of PHP.
pub(super) fn rows(gateway: &Gateway, wordpress: &Path) -> Result<Vec<Row>> {
    let secret = read_secret(&secret_path(&wordpress.join("wp-config.php")))?.context("the connector has no secret")?;
    let recorder = Recorder::new(secret.expose().as_bytes());
    let plugin = Plugin::install(wordpress)?;
    // PHP looks for changed files every two seconds.
    std::thread::sleep(Duration::from_secs(3));
    let mut n = 0;
    let mut requests: Vec<(usize, usize, bool)> = Vec::new();
    for pair in 0..FIRST + PAIRS {
        for (read, (_, path)) in READS.iter().enumerate() {
            // Which one is first alternates.
            for is_recorded in [pair % 2 == 0, pair % 2 == 1] {
                n += 1;
                let mark = if path.contains('?') { '&' } else { '?' };
                let path = format!("/wp-json/wp/v2/{path}{mark}measured={n}");
                let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
                let asked = recorder.ask(&Method::GET, &path, now, format!("{n:032}"));
                let value = asked.header.to_str()?.to_owned();
                let headers = if is_recorded { vec![(HEADER, value)] } else { Vec::new() };
                let response = exchange(&gateway.site, "GET", &path, &headers, "")?;
                ensure!(response.status == 200, "{path}: {}", response.status);
                let has_record = response.headers(HEADER).next().is_some();
                ensure!(has_record == is_recorded, "{path}: expected a record: {is_recorded}, got one: {has_record}");
                if pair >= FIRST {
                    requests.push((n, read, is_recorded));
                }
            }
        }
    }
    let times = plugin.times()?;
    let row = |(read, (name, _)): (usize, &(&str, &str))| {
        let of = |recorded: bool| -> Vec<f64> {
            let of = requests.iter().filter(|(_, r, is_recorded)| *r == read && *is_recorded == recorded);
            of.filter_map(|(n, ..)| times.get(n).copied()).collect()
        };
        let (with, without) = (of(true), of(false));
        let name = format!("gateway: PHP's time to record {name}");
        if with.len().min(without.len()) < PAIRS / 2 {
            return Row::skipped(name, "PHP has not written its times");
        }
        let percent = |with: f64, without: f64| 100.0 * (with / without - 1.0);
        let middle = [&with, &without].map(|times| median(times.clone()));
        let lower = [with, without].map(lower_quartile);
        let detail = format!(
            "{:.1} %: medians {:.0} µs over {:.0} µs; lower quartiles {:.1} %",
            percent(middle[0], middle[1]),
            middle[0],
            middle[1],
            percent(lower[0], lower[1])
        );
        Row::new(name, Value::Most(percent(middle[0], middle[1]), TARGET, "%"), detail)
    };
    Ok(READS.iter().enumerate().map(row).collect())
}

fn lower_quartile(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 4).copied().unwrap_or_default()
}
