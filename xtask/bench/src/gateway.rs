//! The rows of a gateway in front of a WordPress.

use anyhow::Result;
use xtask_support::gateway::Gateway;

use super::{
    Options,
    load::Request,
    measure::{Load, Row, Value, compare},
    recording,
    rows::{N_CLIENTS, find, same},
    site::Site,
};

/// The list that is measured.
const LIST: &str = "posts";

/// A file of WordPress that PHP runs without loading WordPress, so that the cost of forwarding is visible.
const LIGHT: &str = "/wp-includes/version.php";

/// Reads through the gateway over the same server alone, and the time that forwarding adds.
pub(super) fn rows(options: &Options) -> Result<Vec<Row>> {
    let wordpress = match find(options)? {
        Ok(wordpress) => wordpress,
        Err(row) => return Ok(vec![row]),
    };
    let Some(gateway) = Gateway::start(&options.program, &options.wordpress, "check_percent = 0")? else {
        return Ok(vec![Row::skipped("rows of a gateway", "WordPress does not respond")]);
    };
    let svc = &wordpress.svc;
    let site = Site::new(gateway.address(), svc.site.brand.clone(), &gateway.credentials);
    let server = gateway.server();
    let mut rows = Vec::new();
    let cached = |site: &Site| same(site.get(LIST));
    let (through, alone, php) = (cached(&site), cached(&svc.site), cached(&wordpress.site));
    let ours = Load { clients: site.clients(N_CLIENTS, &through), server };
    let base = Load { clients: svc.site.clients(N_CLIENTS, &alone), server: Some(&svc.server) };
    let comparison = compare(options, &ours, &base, 1)?;
    rows.push(Row::ratio("gateway: replayed list, over svc's own cached list", &comparison, Some(0.9)));
    let light = same(Request::get(LIGHT));
    let forwarded = Load { clients: site.clients(1, &light), server };
    let direct = Load { clients: wordpress.site.clients(1, &light), server: None };
    let comparison = compare(options, &forwarded, &direct, 1)?;
    let value = Value::Most(comparison.added_ms(), 1.0, "ms");
    rows.push(Row::new("gateway: time added to a forwarded request", value, comparison.detail()));
    let theirs = Load { clients: wordpress.site.clients(N_CLIENTS, &php), server: None };
    let ours = Load { clients: site.clients(N_CLIENTS, &through), server };
    let comparison = compare(options, &ours, &theirs, 3)?;
    rows.push(Row::ratio("gateway: replayed list, over WordPress", &comparison, None));
    rows.extend(recording::rows(&gateway, &options.wordpress)?);
    Ok(rows)
}
