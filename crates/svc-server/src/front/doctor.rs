//! What `doctor` says of a server in front of a WordPress.

use svc_bridge::{Report, connector::install::Files, exposed_pages};

use super::{Front, report_file, upstream_of};
use crate::config::{Config, WordPress};

/// Routes that are listed.
const ROUTES: usize = 12;

/// Reasons that are listed.
const REASONS: usize = 12;

/// A finding: a name and a text.
pub(crate) type Row = [String; 2];

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) rows: Vec<Row>,
    /// Routes on which WordPress spends most time.
    pub(crate) routes: Vec<Vec<String>>,
    pub(crate) warnings: Vec<String>,
}

/// Asks WordPress, the connector, and the last report of the running server.
pub(crate) async fn examine(front: &Front, config: &Config, wordpress: &WordPress) -> Findings {
    let mut found = Findings::default();
    let mut row = |name: &str, text: String| found.rows.push([name.to_owned(), text]);
    row("upstream", upstream_of(wordpress));
    if let Some(wp_config) = &config.wp_config {
        let installed = Files::new(wp_config, &config.content_dir).installed();
        row("connector", installed.map_or_else(|error| error.to_string(), |installed| installed.describe().to_owned()));
    }
    match front.connector() {
        None if wordpress.connector => found.warnings.push(
            "without the connector, only responses to visitors are replayed, and each write to the database ends all of them: \
             run `svc-server connector install`"
                .to_owned(),
        ),
        None => {}
        Some(connector) => match connector.status().await {
            Ok(status) => {
                row("WordPress", format!("{}, PHP {}", status.wordpress, status.php));
                row("active plugins", if status.plugins.is_empty() { "none".to_owned() } else { status.plugins.join(", ") });
                row("object cache", status.object_cache.clone());
                if !status.can_report() {
                    found.warnings.push(format!("the connector cannot report writes: {}", status.reports));
                }
            }
            Err(error) => found.warnings.push(format!("the connector cannot be used: {error}")),
        },
    }
    let exposed = exposed_pages(front.bridge().proxy(), front.home().authority()).await;
    if !exposed.is_empty() {
        found.warnings.push(format!(
            "everybody can see {}: the web server of WordPress takes this server for the client. Let it take the address from \
             X-Forwarded-For (set_real_ip_from, or RemoteIPInternalProxy; docs/beside-wordpress.md, step 1)",
            exposed.join(" and ")
        ));
    }
    let report = std::fs::read(report_file(config)).ok().and_then(|text| serde_json::from_slice::<Report>(&text).ok());
    match report {
        Some(report) => describe(&report, &mut found),
        None => found.rows.push(["replayed".to_owned(), "the server has not run yet".to_owned()]),
    }
    found
}

/// Adds a report.
fn describe(report: &Report, found: &mut Findings) {
    let news = report.news.clone().unwrap_or_else(|| "none: nothing is replayed".to_owned());
    found.rows.push(["news of writes".to_owned(), news]);
    let all = report.replayed + report.forwarded;
    found.rows.push([
        "replayed".to_owned(),
        format!("{} of {all} requests ({:.1} %)", report.replayed, report.share() * 100.0),
    ]);
    found.rows.push(["stored".to_owned(), format!("{} responses, {} KB", report.stored, report.bytes / 1024)]);
    let mut reasons: Vec<_> = report.reasons.iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    for (why, n) in reasons.into_iter().take(REASONS) {
        found.rows.push([format!("WordPress: {why}"), n.to_string()]);
    }
    if !report.tolerated.is_empty() {
        let names: Vec<&str> = report.tolerated.iter().map(String::as_str).collect();
        found.rows.push(["written by reads, without effect on them".to_owned(), names.join(", ")]);
    }
    let routes = report.routes.iter().filter(|route| route.forwarded > 0).take(ROUTES);
    found.routes.extend(routes.map(|route| {
        let reason = route.varies.clone().unwrap_or_else(|| route.reason.clone());
        let numbers = [route.replayed, route.forwarded, route.milliseconds].map(|n| n.to_string());
        [vec![route.route.clone()], numbers.to_vec(), vec![reason]].concat()
    }));
}
