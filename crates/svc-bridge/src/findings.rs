//! What an administrator is told about a bridge: WordPress, the connector, the share of replayed requests and the reasons for the others.

use crate::{Bridge, Report, RouteReport, connector::Connector, exposed_pages};

/// Routes that are listed.
const ROUTES: usize = 12;

/// Reasons that are listed.
const REASONS: usize = 12;

/// Findings, to be printed.
#[derive(Debug, Default)]
pub struct Findings {
    /// Names and texts.
    pub rows: Vec<[String; 2]>,
    /// Routes on which WordPress spends most time, with the columns of [`RouteReport::COLUMNS`].
    pub routes: Vec<Vec<String>>,
    /// What should be changed.
    pub warnings: Vec<String>,
}

impl Findings {
    /// Adds a row.
    pub fn row(&mut self, name: &str, text: impl Into<String>) {
        self.rows.push([name.to_owned(), text.into()]);
    }

    /// Asks the connector about WordPress. Without one, warns if the settings allow its use.
    pub async fn ask(&mut self, connector: Option<&Connector>, is_wanted: bool) {
        match connector {
            None if is_wanted => self.warnings.push(
                "without the connector, only responses to visitors are replayed, and each write to the database ends all of them: \
                 run `svc-server connector install`"
                    .to_owned(),
            ),
            None => {}
            Some(connector) => match connector.status().await {
                Ok(status) => {
                    self.row("WordPress", format!("{}, PHP {}", status.wordpress, status.php));
                    let none = || "none".to_owned();
                    self.row("active plugins", if status.plugins.is_empty() { none() } else { status.plugins.join(", ") });
                    self.row("object cache", status.object_cache.clone());
                    if let Some(why) = status.cannot_report() {
                        self.warnings.push(format!("the connector cannot report writes: {why}"));
                    }
                }
                Err(error) => self.warnings.push(format!("the connector cannot be used: {error}")),
            },
        }
    }

    /// Looks for pages that the web server of WordPress shows to local clients only. `host` is the site's host with its port.
    pub async fn look_for_exposed_pages(&mut self, bridge: &Bridge, host: &str) {
        let exposed = exposed_pages(bridge.proxy(), host).await;
        if !exposed.is_empty() {
            self.warnings.push(format!(
                "everybody can see {}: the web server of WordPress takes this server for the client. Let it take the address from \
                 X-Forwarded-For (set_real_ip_from, or RemoteIPInternalProxy; docs/beside-wordpress.md, step 1)",
                exposed.join(" and ")
            ));
        }
    }

    /// Adds the last report of a running bridge; `None` if it has not run yet.
    pub fn add_report(&mut self, report: Option<&Report>) {
        let Some(report) = report else { return self.row("replayed", "the server has not run yet") };
        self.row("news of writes", report.news.as_deref().unwrap_or("none: nothing is replayed"));
        let files = match &report.unseen_code {
            None => "changes are noticed at once".to_owned(),
            Some(why) => format!("changes are noticed when responses reach their age: {why}"),
        };
        self.row("PHP files of the site", files);
        let all = report.replayed + report.forwarded;
        self.row("replayed", format!("{} of {all} requests ({:.1} %)", report.replayed, report.share() * 100.0));
        self.row("stored", format!("{} responses, {} KB", report.stored, report.bytes / 1024));
        for (why, n) in report.reasons_by_number().into_iter().take(REASONS) {
            self.row(&format!("WordPress: {why}"), n.to_string());
        }
        if !report.tolerated.is_empty() {
            let names: Vec<&str> = report.tolerated.iter().map(String::as_str).collect();
            self.row("written by reads, without effect on them", names.join(", "));
        }
        let routes = report.routes.iter().filter(|route| route.forwarded > 0).take(ROUTES);
        self.routes.extend(routes.map(RouteReport::columns));
    }
}
