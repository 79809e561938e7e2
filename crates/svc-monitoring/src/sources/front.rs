//! Metrics of a server in front of a running WordPress.

use std::{collections::BTreeMap, fmt};

use svc_bridge::Bridge;
use svc_listen::InFlight;
use svc_site::jobs::JobStates;

use super::site::{write_connections, write_jobs};
use crate::{Families, Source, families::number};

/// The parts of a server in front of a WordPress that have numbers.
pub struct FrontUsage {
    /// Requests in progress, and connections.
    pub in_flight: InFlight,
    /// The bridge to WordPress.
    pub bridge: Bridge,
    /// Background jobs.
    pub jobs: JobStates,
}

impl Source for FrontUsage {
    fn write(&self, families: &mut Families<'_>) -> fmt::Result {
        write_connections(&self.in_flight, families)?;
        write_jobs(&self.jobs, families)?;
        let report = self.bridge.report();
        let requests = [("replayed", report.replayed), ("forwarded", report.forwarded)];
        let requests = requests.map(|(result, n)| ([("result", result)], number(n)));
        families.counter(
            "svc_bridge_requests",
            "Requests that were answered with a stored response, and those that WordPress has answered.",
            requests.iter().map(|(label, n)| (&label[..], *n)),
        )?;
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for (reason, n) in &report.reasons {
            *reasons.entry(label_of(reason)).or_default() += n;
        }
        let reasons: Vec<_> = reasons.into_iter().map(|(reason, n)| ([("reason", reason)], number(n))).collect();
        families.counter(
            "svc_bridge_forwarded",
            "Requests that WordPress has answered, by reason.",
            reasons.iter().map(|(label, n)| (&label[..], *n)),
        )?;
        let seconds = number(report.routes.iter().map(|route| route.milliseconds).sum::<u64>()) / 1_000.0;
        families.counter("svc_bridge_wordpress_seconds", "Time of WordPress's responses.", [(&[][..], seconds)])?;
        families.gauge("svc_bridge_stored_responses", "Stored responses.", [(&[][..], number(report.stored))])?;
        families.gauge("svc_bridge_stored_bytes", "Their approximate size.", [(&[][..], number(report.bytes))])?;
        let has_news = if report.news.is_some() { 1.0 } else { 0.0 };
        families.gauge(
            "svc_bridge_has_news",
            "Whether writes are noticed, and responses replayed.",
            [(&[][..], has_news)],
        )
    }
}

/// The reason without the name of the table that has changed, of which there may be many.
fn label_of(reason: &str) -> &str {
    reason.split_once(':').map_or(reason, |(kind, rest)| if kind == "changed" { kind } else { rest.trim_start() })
}

#[cfg(test)]
mod tests {
    use super::label_of;

    #[test]
    fn labels_have_no_tables() {
        for (reason, label) in [
            ("changed: wp_posts", "changed"),
            ("changed: anything", "changed"),
            ("not stored: a write", "a write"),
            ("age", "age"),
            ("other", "other"),
        ] {
            assert_eq!(label_of(reason), label);
        }
    }
}
