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
    record::{HEADER, Recorder},
};
use xtask_support::{gateway::Gateway, server::exchange};

use super::measure::{Row, Value, median};

/// Reads, and their names.
const READS: [(&str, &str); 3] =
    [("types", "types"), ("a post", "posts?per_page=1"), ("a list of ten posts", "posts?per_page=10")];

/// Pairs of requests for each read, after some that fill caches.
const PAIRS: usize = 3000;
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
    let header = HEADER;
    let recorder = Recorder::new(secret.expose().as_bytes());
    let plugin = Plugin::install(wordpress)?;
    // PHP looks for changed files every two seconds.
    std::thread::sleep(Duration::from_secs(3));
    let mut n = 0;
    // Of each pair, the numbers of the requests with and without a record.
    let mut pairs = [const { Vec::new() }; READS.len()];
    for pair in 0..FIRST + PAIRS {
        for (read, (_, path)) in READS.iter().enumerate() {
            let mut numbers = [0; 2];
            // Which one is first alternates.
            for is_recorded in [pair % 2 == 0, pair % 2 == 1] {
                n += 1;
                let mark = if path.contains('?') { '&' } else { '?' };
                let path = format!("/wp-json/wp/v2/{path}{mark}measured={n}");
                let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
                let asked = recorder.ask(&Method::GET, &path, now, format!("{n:032}"));
                let value = asked.header.to_str()?.to_owned();
                let headers = if is_recorded { vec![(header.as_str(), value)] } else { Vec::new() };
                let response = exchange(&gateway.site, "GET", &path, &headers, "")?;
                ensure!(response.status == 200, "{path}: {}", response.status);
                let has_record = response.headers(header.as_str()).next().is_some();
                ensure!(has_record == is_recorded, "{path}: expected a record: {is_recorded}, got one: {has_record}");
                numbers[usize::from(!is_recorded)] = n;
            }
            if pair >= FIRST {
                pairs[read].push(numbers);
            }
        }
    }
    let times = plugin.times()?;
    let row = |(pairs, (name, _)): (&Vec<[usize; 2]>, &(&str, &str))| {
        let of_pair = |[with, without]: &[usize; 2]| Some((*times.get(with)?, *times.get(without)?));
        let (with, without): (Vec<f64>, Vec<f64>) = pairs.iter().filter_map(of_pair).unzip();
        let name = format!("gateway: PHP's time to record {name}");
        if with.len() < PAIRS / 2 {
            return Row::skipped(name, "PHP has not written its times");
        }
        // Of each pair, since the machine may be slower or faster for a while.
        let ratios: Vec<f64> =
            with.iter().zip(&without).map(|(with, without)| 100.0 * (with / without - 1.0)).collect();
        let (from, to) = interval(ratios.clone());
        let percent = median(ratios);
        let detail = format!(
            "{percent:.1} % ({from:.1} to {to:.1} with a confidence of 95 %): medians {:.0} µs over {:.0} µs",
            median(with),
            median(without)
        );
        Row::new(name, Value::Most(percent, TARGET, "%"), detail)
    };
    Ok(pairs.iter().zip(&READS).map(row).collect())
}

/// The interval that contains the true median with a confidence of 95 %: the values at the ranks that are 0.98 · √n away from the middle.
fn interval(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let distance = (0.98 * (n as f64).sqrt()).ceil() as usize;
    (values[(n / 2).saturating_sub(distance)], values[(n / 2 + distance).min(n - 1)])
}
