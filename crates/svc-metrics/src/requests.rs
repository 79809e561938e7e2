//! Numbers of requests by route, method and class of status.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{Histogram, HistogramReport};

/// The methods that are told apart. All others count as the last one, so that clients cannot create further numbers.
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"];

/// The classes of status codes.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Maximum number of routes that are told apart. Further ones count as [`UNKNOWN_ROUTE`].
const MAX_ROUTES: usize = 2_000;

/// The name of requests that no route handles.
pub const UNKNOWN_ROUTE: &str = "other";

/// Numbers of requests by the pattern of their route. They outlive the routes: a server that registers its routes again continues to
/// count.
#[derive(Debug, Default)]
pub struct RequestCounts(Mutex<BTreeMap<Arc<str>, Arc<RouteCounts>>>);

/// Numbers of the requests of one route.
#[derive(Debug, Default)]
pub struct RouteCounts {
    route: Arc<str>,
    methods: [MethodCounts; METHODS.len()],
}

#[derive(Debug, Default)]
struct MethodCounts {
    classes: [AtomicU64; CLASSES.len()],
    durations: Histogram,
}

/// The numbers of a route at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteRequests {
    /// The pattern.
    pub route: Arc<str>,
    /// The methods with which the route was requested.
    pub methods: Vec<MethodRequests>,
}

/// The numbers of a route and a method.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodRequests {
    /// The method, or `other`.
    pub method: &'static str,
    /// Numbers of responses by class of status, such as `2xx`, without those that are zero.
    pub statuses: Vec<(&'static str, u64)>,
    /// The time from the request to its response, without sending the body.
    pub durations: HistogramReport,
}

impl RequestCounts {
    /// The numbers of a route. Call this when the route is registered, since it takes a lock.
    pub fn of(&self, route: &str) -> Arc<RouteCounts> {
        let mut routes = self.lock();
        let route = if routes.len() < MAX_ROUTES || routes.contains_key(route) { route } else { UNKNOWN_ROUTE };
        if let Some(counts) = routes.get(route) {
            return Arc::clone(counts);
        }
        let route: Arc<str> = route.into();
        let counts = Arc::new(RouteCounts { route: Arc::clone(&route), methods: Default::default() });
        routes.insert(route, Arc::clone(&counts));
        counts
    }

    /// The numbers of all routes that were requested, by route.
    pub fn report(&self) -> Vec<RouteRequests> {
        let routes: Vec<_> =
            self.lock().iter().map(|(route, counts)| (Arc::clone(route), Arc::clone(counts))).collect();
        let reports = routes.into_iter().map(|(route, counts)| RouteRequests { route, methods: counts.report() });
        reports.filter(|report| !report.methods.is_empty()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Arc<RouteCounts>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RouteCounts {
    /// The pattern of the route. `None` if the requests are those that no route handles, or of one of too many routes.
    pub fn route(&self) -> Option<&str> {
        Some(&*self.route).filter(|route| !route.is_empty() && *route != UNKNOWN_ROUTE)
    }

    /// Counts a response. `took` is the time since the request arrived.
    pub fn record(&self, method: &str, status: u16, took: Duration) {
        let method = METHODS.iter().position(|known| *known == method).unwrap_or(METHODS.len() - 1);
        let class = usize::from(status / 100).clamp(1, CLASSES.len()) - 1;
        let counts = &self.methods[method];
        counts.classes[class].fetch_add(1, Ordering::Relaxed);
        counts.durations.record(took);
    }

    /// The numbers by method.
    fn report(&self) -> Vec<MethodRequests> {
        let by_method = METHODS.iter().zip(&self.methods).map(|(method, counts)| {
            let classes = counts.classes.iter().map(|n| n.load(Ordering::Relaxed));
            let statuses = CLASSES.iter().copied().zip(classes).filter(|(_, n)| *n > 0).collect();
            MethodRequests { method, statuses, durations: counts.durations.report() }
        });
        by_method.filter(|report| !report.statuses.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_statuses_are_bounded() {
        let requests = RequestCounts::default();
        let posts = requests.of("/posts");
        for n in 0..1_000 {
            posts.record(&format!("M{n}"), n, Duration::ZERO);
        }
        posts.record("GET", 304, Duration::from_millis(2));
        let report = requests.report();
        let methods: Vec<_> = report[0].methods.iter().map(|of| (of.method, of.statuses.len())).collect();
        assert_eq!(methods, [("GET", 1), ("other", 5)]);
        assert_eq!(report[0].methods[0].statuses, [("3xx", 1)]);
        assert_eq!(report[0].methods[0].durations.count, 1);
        assert_eq!((posts.route(), requests.of(UNKNOWN_ROUTE).route()), (Some("/posts"), None));
    }

    #[test]
    fn a_route_that_is_registered_again_continues_to_count() {
        let requests = RequestCounts::default();
        requests.of("/a").record("GET", 200, Duration::ZERO);
        requests.of("/b");
        requests.of("/a").record("GET", 200, Duration::ZERO);
        let report = requests.report();
        assert_eq!(report.len(), 1, "routes without requests are left out");
        assert_eq!(report[0].methods[0].statuses, [("2xx", 2)]);
    }

    #[test]
    fn routes_are_bounded() {
        let requests = RequestCounts::default();
        for n in 0..=MAX_ROUTES {
            requests.of(&format!("/{n}")).record("GET", 200, Duration::ZERO);
        }
        let report = requests.report();
        assert_eq!(report.len(), MAX_ROUTES + 1);
        assert_eq!(report.last().map(|last| &*last.route), Some(UNKNOWN_ROUTE));
    }
}
