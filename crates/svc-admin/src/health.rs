//! Site health: the tests of the REST API, which an administrator runs on the status page, and their last results.
//!
//! The tests send requests to the site and to other servers, so no page runs them by itself.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use futures_util::future::join_all;
use serde_json::Value;
use svc_login::{Page, PrivateResponse};
use svc_schema::Error;
use svc_text::plain_text;

use crate::{
    layout::STATUS,
    request::{AdminRequest, text},
};

/// The tests, by the last part of their routes: all but the one of the header `Authorization`, which browsers do not send here.
const TESTS: [&str; 5] =
    ["loopback-requests", "https-status", "page-cache", "background-updates", "dotorg-communication"];

/// The last results; none until the tests have been run since the server was started.
#[derive(Debug, Default)]
pub(crate) struct LastHealth(Mutex<Option<Health>>);

/// What the tests have found.
#[derive(Clone, Debug)]
pub(crate) struct Health {
    at: Instant,
    /// The worst first.
    pub(crate) findings: Vec<Finding>,
}

/// The result of a test.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) status: Status,
    pub(crate) label: String,
    pub(crate) description: String,
    /// What to do; empty if nothing.
    pub(crate) advice: String,
}

/// How bad it is, from the worst on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Critical,
    Recommended,
    Good,
}

impl Status {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Status::Critical => "Critical",
            Status::Recommended => "Recommended",
            Status::Good => "Good",
        }
    }
}

impl Finding {
    /// The finding of a response, whose texts are HTML.
    fn of(test: &Value) -> Self {
        let status = match text(test, "/status") {
            "good" => Status::Good,
            "recommended" => Status::Recommended,
            _ => Status::Critical,
        };
        let plain = |pointer: &str| plain_text(text(test, pointer)).trim().to_owned();
        Finding {
            status,
            label: text(test, "/label").to_owned(),
            description: plain("/description"),
            advice: plain("/actions"),
        }
    }
}

impl Health {
    /// What the dashboard says: `1 critical issue, 2 recommendations`.
    pub(crate) fn summary(&self) -> String {
        let count = |status| self.findings.iter().filter(|finding| finding.status == status).count();
        let counted = |n: usize, one: &str| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {one}s")),
        };
        let parts = [(Status::Critical, "critical issue"), (Status::Recommended, "recommendation")];
        let parts: Vec<String> = parts.into_iter().filter_map(|(status, one)| counted(count(status), one)).collect();
        if parts.is_empty() { "All tests passed".to_owned() } else { parts.join(", ") }
    }

    /// Whether something must be done.
    pub(crate) fn is_critical(&self) -> bool {
        self.findings.first().is_some_and(|finding| finding.status == Status::Critical)
    }

    /// When the tests were run: `5 minutes ago`.
    pub(crate) fn age(&self) -> String {
        let minutes = self.at.elapsed().as_secs() / 60;
        match (minutes, minutes / 60, minutes / 1_440) {
            (0, ..) => "just now".to_owned(),
            (1, ..) => "a minute ago".to_owned(),
            (minutes, 0, _) => format!("{minutes} minutes ago"),
            (_, 1, _) => "an hour ago".to_owned(),
            (_, hours, 0) => format!("{hours} hours ago"),
            (_, _, 1) => "a day ago".to_owned(),
            (_, _, days) => format!("{days} days ago"),
        }
    }
}

impl LastHealth {
    pub(crate) fn get(&self) -> Option<Health> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, mut findings: Vec<Finding>) {
        findings.sort_by_key(|finding| finding.status);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Health { at: Instant::now(), findings });
    }
}

impl AdminRequest<'_> {
    /// Whether the user may run the tests, and see what they found.
    pub(crate) fn sees_health(&self) -> bool {
        self.admin.history.is_some() && self.can("view_site_health_checks")
    }

    /// Runs the tests, and shows the status page.
    pub(crate) async fn check_health(&self) -> Page {
        if !self.sees_health() {
            return Err(Error::new("admin_no_status", "You may not check the site's health.").with_status(403));
        }
        let namespace = self.admin.pages.identities.site.brand.side_namespace("site-health");
        let calls = TESTS.map(|test| self.get(format!("/{namespace}/tests/{test}")));
        let replies: Result<Vec<_>, Error> = join_all(calls.map(|call| call.send())).await.into_iter().collect();
        self.admin.health.set(replies?.iter().map(|reply| Finding::of(&reply.data)).collect());
        Ok(PrivateResponse::redirect(&self.url(STATUS, &[("done", "checked")])))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn the_worst_is_first_and_the_summary_counts() {
        let finding = |status: &str| {
            Finding::of(&json!({
                "label": "A test", "status": status, "description": "<p>a &lt;b&gt;</p>", "actions": "",
            }))
        };
        let last = LastHealth::default();
        assert!(last.get().is_none());
        for (statuses, summary, is_critical) in [
            (vec!["good", "good"], "All tests passed", false),
            (vec!["good", "recommended"], "1 recommendation", false),
            (vec!["good", "recommended", "critical", "recommended"], "1 critical issue, 2 recommendations", true),
            (vec!["unknown"], "1 critical issue", true),
        ] {
            last.set(statuses.into_iter().map(finding).collect());
            let health = last.get().unwrap();
            assert_eq!((health.summary().as_str(), health.is_critical()), (summary, is_critical));
            assert_eq!(health.findings[0].description, "a <b>");
        }
    }

    #[test]
    fn ages_are_words() {
        for (seconds, words) in [
            (5, "just now"),
            (70, "a minute ago"),
            (3_599, "59 minutes ago"),
            (3_600, "an hour ago"),
            (7_300, "2 hours ago"),
            (86_400, "a day ago"),
            (300_000, "3 days ago"),
        ] {
            let Some(at) = Instant::now().checked_sub(Duration::from_secs(seconds)) else { continue };
            assert_eq!(Health { at, findings: Vec::new() }.age(), words);
        }
    }
}
