//! The rows of a gateway in front of a WordPress.

use anyhow::{Context as _, Result};

use super::{
    Options,
    load::Request,
    measure::{Load, Row, Value, compare},
    rows::{N_CLIENTS, find, same},
    site::Site,
};
use crate::gateway::{Gateway, get, is_forwarded};

/// Lists of which the first is measured that the gateway handles. Plugins of the site decide which.
const LISTS: [&str; 5] = ["posts", "pages", "categories", "tags", "media"];

/// A file of WordPress that PHP runs without loading WordPress, so that the cost of forwarding is visible.
const LIGHT: &str = "/wp-includes/version.php";

/// Reads through the gateway over the same server alone, and the time that forwarding adds.
pub(super) fn rows(options: &Options) -> Result<Vec<Row>> {
    let wordpress = match find(options)? {
        Ok(wordpress) => wordpress,
        Err(row) => return Ok(vec![row]),
    };
    let Some(gateway) = Gateway::start(&options.program, &options.wordpress, "shadow_percent = 0")? else {
        return Ok(vec![Row::skipped("rows of a gateway", "WordPress does not respond")]);
    };
    gateway.wait_for_proof(0)?;
    let svc = &wordpress.svc;
    let site = Site::new(gateway.address(), svc.site.brand.clone(), &gateway.credentials);
    let mut list = None;
    for name in LISTS {
        if !is_forwarded(&get(gateway.address(), &site.path(name), "")?) {
            list = Some(name);
            break;
        }
    }
    let list = list.context("the gateway handles no list")?;
    let server = gateway.server();
    let mut rows = Vec::new();
    let cached = |site: &Site| same(site.get(list));
    let uncached = |site: &Site| {
        let path = site.path(list);
        // No object has such an id.
        move |n: u64| Request::get(format!("{path}?exclude={}", 1_000_000_000 + n))
    };
    let mut row = |name: &str, ours: &dyn Fn(u64) -> Request, base: &dyn Fn(u64) -> Request| -> Result<()> {
        let ours = Load { clients: site.clients(N_CLIENTS, ours), server };
        let base = Load { clients: svc.site.clients(N_CLIENTS, base), server: Some(&svc.server) };
        let comparison = compare(options, &ours, &base, 1)?;
        rows.push(Row::ratio(format!("gateway: {list}, {name}, over svc alone"), &comparison, Some(0.9)));
        Ok(())
    };
    row("cached", &cached(&site), &cached(&svc.site))?;
    row("uncached", &uncached(&site), &uncached(&svc.site))?;
    let light = same(Request::get(LIGHT));
    let through = Load { clients: site.clients(1, &light), server };
    let direct = Load { clients: wordpress.site.clients(1, &light), server: None };
    let comparison = compare(options, &through, &direct, 1)?;
    let value = Value::Most(comparison.added_ms(), 1.0, "ms");
    rows.push(Row::new("gateway: time added to a forwarded request", value, comparison.detail()));
    let index = same(Request::get(site.index()));
    let ours = Load { clients: site.clients(N_CLIENTS, &index), server };
    let theirs = Load { clients: wordpress.site.clients(N_CLIENTS, &index), server: None };
    let comparison = compare(options, &ours, &theirs, 3)?;
    rows.push(Row::ratio("gateway: index of WordPress, cached, over WordPress", &comparison, None));
    Ok(rows)
}
