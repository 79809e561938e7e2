//! Metrics of requests by route.

use std::fmt;

use svc_metrics::RequestCounts;

use crate::{Families, Source, families::number};

impl Source for RequestCounts {
    fn write(&self, families: &mut Families<'_>) -> fmt::Result {
        let report = self.report();
        let mut counts = Vec::new();
        let mut durations = Vec::new();
        for of in &report {
            for by in &of.methods {
                let labels = [("route", &*of.route), ("method", by.method)];
                durations.push((labels, &by.durations));
                counts.extend(
                    by.statuses.iter().map(|(status, n)| ([labels[0], labels[1], ("status", *status)], number(*n))),
                );
            }
        }
        families.counter(
            "svc_http_requests",
            "Responses by pattern of the route, method and class of the status.",
            counts.iter().map(|(labels, n)| (&labels[..], *n)),
        )?;
        families.histogram(
            "svc_http_request_duration_seconds",
            "Time from a request to its response, without sending the body.",
            durations.iter().map(|(labels, report)| (&labels[..], *report)),
        )
    }
}
