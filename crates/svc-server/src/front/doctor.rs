//! What `doctor` says of a server in front of a WordPress.

use svc_bridge::{Findings, connector::install::Files};

use super::{Front, report_file, upstream_of};
use crate::config::{Config, WordPress};

/// Asks WordPress, the connector, and the last report of the running server.
pub(crate) async fn examine(front: &Front, config: &Config, wordpress: &WordPress) -> Findings {
    let mut found = Findings::default();
    found.row("upstream", upstream_of(wordpress));
    if let Some(address) = &config.monitoring {
        found.row("monitoring listener", address.to_string());
    }
    if let Some(wp_config) = &config.wp_config {
        let installed = Files::new(wp_config, &config.content_dir).installed();
        found.row(
            "connector",
            installed.map_or_else(|error| error.to_string(), |installed| installed.describe().to_owned()),
        );
    }
    found.ask(front.connector(), wordpress.connector).await;
    found.look_for_exposed_pages(front.bridge(), front.home().authority()).await;
    let report = std::fs::read(report_file(config)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    found.add_report(report.as_ref());
    found
}
