//! What a bridge saves: numbers of requests by route and reason.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
};

use serde::{Deserialize, Serialize};

use crate::routes::Routes;

/// Numbers of requests since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What is used to learn of writes.
    pub news: Option<String>,
    /// Why changes of PHP files are not noticed; `None` if they are.
    #[serde(default)]
    pub unseen_code: Option<String>,
    /// Requests that were answered with a stored response.
    pub replayed: u64,
    /// Requests that WordPress has answered.
    pub forwarded: u64,
    /// Numbers of these by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Parts of the database whose changes by reads have turned out not to matter, for some routes.
    #[serde(default)]
    pub tolerated: BTreeSet<String>,
    /// Stored responses.
    pub stored: u64,
    /// Their approximate size, in bytes.
    pub bytes: u64,
    /// The routes on which WordPress has spent most time, first.
    pub routes: Vec<RouteReport>,
}

/// Numbers of a route.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RouteReport {
    /// The route.
    pub route: String,
    /// Requests that were answered with a stored response.
    pub replayed: u64,
    /// Requests that WordPress has answered.
    pub forwarded: u64,
    /// Time that WordPress has spent on them, in milliseconds.
    pub milliseconds: u64,
    /// The most frequent reason for that.
    pub reason: String,
    /// Why its responses are not stored now, if they vary.
    pub varies: Option<String>,
}

impl RouteReport {
    /// Names of [`RouteReport::columns`].
    pub const COLUMNS: [&str; 5] = ["route", "replayed", "by WordPress", "ms", "most frequent reason"];

    /// The numbers as a row of a table.
    pub fn columns(&self) -> Vec<String> {
        let numbers = [self.replayed, self.forwarded, self.milliseconds].map(|n| n.to_string());
        let reason = self.varies.clone().unwrap_or_else(|| self.reason.clone());
        [vec![self.route.clone()], numbers.to_vec(), vec![reason]].concat()
    }
}

impl Report {
    /// The reasons for which WordPress has answered, the most frequent first.
    pub fn reasons_by_number(&self) -> Vec<(&str, u64)> {
        let mut reasons: Vec<(&str, u64)> = self.reasons.iter().map(|(why, n)| (why.as_str(), *n)).collect();
        reasons.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        reasons
    }

    /// A report with the numbers of these routes.
    pub(crate) fn with_routes(mut self, routes: &Routes) -> Self {
        let report = &mut self;
        for route in routes.all() {
            let load = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed);
            let (replayed, forwarded) = (load(&route.counts.replayed), load(&route.counts.forwarded));
            report.replayed += replayed;
            report.forwarded += forwarded;
            report.tolerated.extend(route.tolerance.tolerated());
            let reasons = route.reasons();
            for (why, n) in &reasons {
                *report.reasons.entry(why.clone()).or_default() += n;
            }
            let most = reasons.into_iter().max_by_key(|(_, n)| *n).map(|(why, _)| why);
            report.routes.push(RouteReport {
                route: route.name.to_string(),
                replayed,
                forwarded,
                milliseconds: load(&route.counts.micros) / 1_000,
                reason: most.unwrap_or_default(),
                varies: route.varies().map(str::to_owned),
            });
        }
        report.routes.sort_by(|a, b| b.milliseconds.cmp(&a.milliseconds).then_with(|| a.route.cmp(&b.route)));
        self
    }

    /// The share of requests that were answered with a stored response, from 0 to 1.
    pub fn share(&self) -> f64 {
        let all = self.replayed + self.forwarded;
        if all == 0 { 0.0 } else { self.replayed as f64 / all as f64 }
    }
}
