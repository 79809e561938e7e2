//! A gateway in front of a running WordPress, behind nginx, Caddy and Apache with the configurations of the guide.
//!
//! Under load, the gateway is killed, then PHP, then both. No acknowledged write may be lost or stored twice, and no response may be
//! wrong.
//!
//! Skipped without a WordPress site whose parent folder has `php-fpm.conf` and `run/php-fpm.pid`. Proxies that are not installed are
//! skipped.

mod load;
mod php;
mod proxies;

use std::{
    sync::{Arc, PoisonError, atomic::Ordering::Relaxed},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};

use crate::report::{Effort, Report};
use load::Load;
use php::Php;
use proxies::{PROXIES, Proxy};
use xtask_support::{
    gateway::{Gateway, get, is_forwarded},
    say, server,
};

/// The collection that is written.
const WRITES: &str = "/wp-json/wp/v2/pages";

/// Reads whose responses do not depend on the written pages.
const READS: [&str; 4] = [
    "/wp-json/wp/v2/media?per_page=5&_fields=id,slug,title",
    "/wp-json/wp/v2/categories?_fields=id,name,slug",
    "/wp-json/wp/v2/navigation?_fields=id,slug",
    "/wp-json/wp/v2/statuses?_fields=name",
];

/// A page of WordPress, and a resource whose id has two slashes.
const OTHERS: [&str; 2] = ["/?p=1", "/wp-json/wp/v2/templates/none//%C3%A9%2F%2Fx"];

/// The longest time until a proxy uses a gateway that has returned.
const RETURN: Duration = Duration::from_secs(20);

/// Which servers are killed: the name, and whether these are the gateway and PHP.
const CASES: [(&str, bool, bool); 3] = [("svc", true, false), ("PHP", false, true), ("both", true, true)];

pub(super) fn run(effort: &Effort) -> Result<Vec<Report>> {
    let site = server::wordpress_site();
    let Some(php) = Php::find(&site) else {
        say("skipped: no running WordPress site with php-fpm")?;
        return Ok(Vec::new());
    };
    let program = server::build(None, false)?;
    let settings = "check_percent = 0\n[limits]\nrequest_seconds = 10";
    let Some(mut gateway) = Gateway::start(&program, &site, settings)? else {
        say("skipped: the WordPress site does not respond")?;
        return Ok(Vec::new());
    };
    let mut reports = Vec::new();
    for proxy in PROXIES {
        reports.extend(falls_back(*proxy, &mut gateway)?);
    }
    let kills = if effort.long { 20 } else { 4 };
    for (name, kills_svc, kills_php) in CASES {
        let case = Case { name, kills_svc, kills_php, kills };
        reports.extend(case.run(&mut gateway, &php)?);
    }
    Ok(reports)
}

/// Kills the gateway behind a proxy: the proxy must send requests to PHP, and to the gateway again when it is back.
fn falls_back(proxy: Proxy, gateway: &mut Gateway) -> Result<Option<Report>> {
    let Some(running) = proxy.start(gateway)? else {
        say(&format!("skipped: {} is not installed", proxy.name))?;
        return Ok(None);
    };
    let (name, site) = (proxy.name, gateway.site.clone());
    let (mut attempts, mut violations) = (0, Vec::new());
    let mut read = |path: &str, by_gateway: bool, when: &str| -> Result<()> {
        attempts += 1;
        let expected = get(&site, path, "")?;
        let response = get(&running.url, path, "")?;
        if (response.status, &response.body) != (expected.status, &expected.body) && !path.starts_with("/?") {
            violations.push(format!("{path} {when}: {} {:.200}", response.status, response.body));
        }
        if response.status != expected.status {
            violations.push(format!("{path} {when}: {} and not {}", response.status, expected.status));
        }
        if path == OTHERS[0] && is_forwarded(&response) != by_gateway {
            violations.push(format!("{path} {when}: the gateway has forwarded it: {}", !by_gateway));
        }
        Ok(())
    };
    let paths = || READS.iter().chain(&OTHERS);
    paths().try_for_each(|path| read(path, true, "with the gateway"))?;
    gateway.kill();
    paths().try_for_each(|path| read(path, false, "without the gateway"))?;
    gateway.restart()?;
    let begun = Instant::now();
    while begun.elapsed() < RETURN && !is_forwarded(&get(&running.url, OTHERS[0], "")?) {
        sleep(Duration::from_millis(100));
    }
    paths().try_for_each(|path| read(path, true, "when the gateway is back"))?;
    say(&format!("    {name}: PHP responds while the gateway is away"))?;
    Ok(Some(Report { case: format!("gateway: behind {name}"), attempts, violations, ..Report::default() }))
}

/// Kills of one server or both under load, behind nginx.
struct Case {
    name: &'static str,
    kills_svc: bool,
    kills_php: bool,
    kills: usize,
}

impl Case {
    /// `None` if nginx is not installed.
    fn run(&self, gateway: &mut Gateway, php: &Php) -> Result<Option<Report>> {
        let Some(nginx) = PROXIES[0].start(gateway)? else { return Ok(None) };
        let expected = READS.iter().map(|path| get(&gateway.site, path, "")?.json()).collect::<Result<Vec<_>>>()?;
        let load = Arc::new(Load::new(self.name, &nginx.url, &gateway.credentials, expected));
        let clients = Load::start(&load);
        for _ in 0..self.kills {
            sleep(Duration::from_millis(700));
            if self.kills_svc {
                gateway.kill();
            }
            if self.kills_php {
                php.stop()?;
                load.is_php_away.store(true, Relaxed);
            }
            sleep(Duration::from_millis(700));
            if self.kills_php {
                load.is_php_away.store(false, Relaxed);
                php.start()?;
            }
            if self.kills_svc {
                gateway.restart()?;
                sleep(Duration::from_millis(700));
            }
        }
        sleep(Duration::from_secs(1));
        load.stop.store(true, Relaxed);
        clients.into_iter().for_each(|client| drop(client.join()));
        let mut violations = load.wrong.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (lost, twice) = load.check(&gateway.site)?;
        let (reads, failed) = (load.reads.load(Relaxed), load.failed.load(Relaxed));
        let (written, away) = (load.written().len(), load.away.load(Relaxed));
        let (name, kills) = (self.name, self.kills);
        say(&format!(
            "    {name} killed {kills} times: {reads} reads ({away} while PHP was away), {written} writes acknowledged, {twice} stored twice, {failed} responses 502 to 504 or none"
        ))?;
        if twice > 0 {
            violations.push(format!("{twice} pages were stored twice"));
        }
        if self.kills_php && !self.kills_svc && away == 0 {
            violations.push("no read was handled while PHP was away".to_owned());
        }
        ensure!(written > 0 && reads > 0, "nothing was read or written while {name} was killed");
        Ok(Some(Report {
            case: format!("gateway: {name} killed"),
            attempts: reads + written as u64,
            lost,
            slowest: Some(*load.slowest.lock().unwrap_or_else(PoisonError::into_inner)),
            violations,
            ..Report::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::proxies::PROXIES;

    #[test]
    fn the_guide_has_a_configuration_for_each_proxy() {
        for proxy in PROXIES {
            let text = proxy.config("127.0.0.1:1", "127.0.0.1:2", 3, std::path::Path::new("/tmp/x")).unwrap();
            assert!(text.contains("127.0.0.1:1") && text.contains("127.0.0.1:2"), "{}: {text}", proxy.name);
            assert!(!text.contains("443") && !text.contains(":808"), "{}: {text}", proxy.name);
        }
    }
}
