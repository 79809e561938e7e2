//! What is known of each route: whether its responses vary by something that cannot be seen, and how its requests went.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use crate::tolerance::Tolerance;

/// Maximum number of routes that are told apart.
const MAX_ROUTES: usize = 2_000;

/// Number of entries that further routes share.
const SHARED: u64 = 500;

/// Maximum number of reasons that are counted for a route.
const MAX_REASONS: usize = 30;

/// Time for which a route that varies is not stored, at first. It doubles each time.
const VARYING: Duration = Duration::from_secs(600);

/// Maximum of that time.
const MAX_VARYING: Duration = Duration::from_secs(86_400);

/// Number of responses in a row that are not stored, after which requests do not wait for each other.
const UNSTORED: u32 = 4;

/// Number of renderings for other clients that must be equal before a route is replayed for any client.
const OTHER_CLIENTS: u32 = 2;

/// A route with what is known of it.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) name: Box<str>,
    varying: Mutex<Option<Varying>>,
    /// Equal renderings for other clients than that of the stored response.
    others: AtomicU32,
    /// Whether a replay was compared.
    compared: AtomicU32,
    pub(crate) counts: Counts,
    reasons: Mutex<HashMap<String, u64>>,
    /// Changes by reads that do not matter.
    pub(crate) tolerance: Arc<Tolerance>,
    /// When a response was last not stored, and how many in a row were not.
    unstored: Mutex<Option<(Instant, u32)>>,
}

#[derive(Debug)]
struct Varying {
    until: Instant,
    pause: Duration,
    why: &'static str,
}

/// Numbers of requests.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Replayed.
    pub(crate) replayed: AtomicU64,
    /// Sent to WordPress.
    pub(crate) forwarded: AtomicU64,
    /// Time that WordPress took for these, in microseconds.
    pub(crate) micros: AtomicU64,
}

impl Route {
    fn new(name: &str) -> Self {
        Route {
            name: name.into(),
            varying: Mutex::default(),
            others: AtomicU32::new(0),
            compared: AtomicU32::new(0),
            counts: Counts::default(),
            reasons: Mutex::default(),
            tolerance: Arc::default(),
            unstored: Mutex::default(),
        }
    }

    /// Why responses are not stored now.
    pub(crate) fn varies(&self) -> Option<&'static str> {
        lock(&self.varying).as_ref().filter(|varying| varying.until > Instant::now()).map(|varying| varying.why)
    }

    /// Stops storing for a while.
    pub(crate) fn set_varying(&self, why: &'static str) {
        let mut varying = lock(&self.varying);
        let pause = varying.as_ref().map_or(VARYING, |before| (before.pause * 2).min(MAX_VARYING));
        *varying = Some(Varying { until: Instant::now() + pause, pause, why });
        self.others.store(0, Ordering::Relaxed);
        self.compared.store(0, Ordering::Relaxed);
        tracing::warn!(
            route = &*self.name,
            why,
            seconds = pause.as_secs(),
            "responses vary and are not stored for a while"
        );
    }

    /// Whether responses are known to be the same for other clients.
    pub(crate) fn is_same_for_others(&self) -> bool {
        self.others.load(Ordering::Relaxed) >= OTHER_CLIENTS
    }

    /// Records that a rendering for another client was equal.
    pub(crate) fn same_for_other(&self) {
        self.others.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether no replay was compared yet. True once.
    pub(crate) fn is_first_replay(&self) -> bool {
        self.compared.load(Ordering::Relaxed) == 0 && self.compared.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// Counts a request that WordPress has responded to.
    pub(crate) fn forwarded(&self, why: &str, took: Duration) {
        self.counts.forwarded.fetch_add(1, Ordering::Relaxed);
        self.counts.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let mut reasons = lock(&self.reasons);
        let name = if reasons.len() < MAX_REASONS || reasons.contains_key(why) { why } else { "other" };
        *reasons.entry(name.to_owned()).or_default() += 1;
    }

    /// Numbers of requests by reason.
    pub(crate) fn reasons(&self) -> Vec<(String, u64)> {
        lock(&self.reasons).iter().map(|(why, n)| (why.clone(), *n)).collect()
    }

    /// Records that a response could not be stored, so that requests need not wait for each other.
    pub(crate) fn not_stored(&self) {
        let mut unstored = lock(&self.unstored);
        let before = unstored.map_or(0, |(_, n)| n);
        *unstored = Some((Instant::now(), before.saturating_add(1)));
    }

    /// Records that a response was stored.
    pub(crate) fn stored(&self) {
        *lock(&self.unstored) = None;
    }

    /// Whether several responses in a row could not be stored, recently. A single one may have met a write.
    pub(crate) fn is_rarely_stored(&self) -> bool {
        lock(&self.unstored).is_some_and(|(at, n)| n >= UNSTORED && at.elapsed() < Duration::from_secs(5))
    }
}

/// All routes.
#[derive(Debug, Default)]
pub(crate) struct Routes(Mutex<HashMap<Box<str>, Arc<Route>>>);

impl Routes {
    /// The route of this name.
    pub(crate) fn get(&self, name: &str) -> Arc<Route> {
        let mut routes = lock(&self.0);
        if let Some(route) = routes.get(name) {
            return Arc::clone(route);
        }
        let shared = || {
            let hash = name
                .bytes()
                .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            format!("(other {})", hash % SHARED)
        };
        let name = if routes.len() < MAX_ROUTES { name.to_owned() } else { shared() };
        let route = routes.entry(name.as_str().into()).or_insert_with(|| Arc::new(Route::new(&name)));
        Arc::clone(route)
    }

    /// All routes.
    pub(crate) fn all(&self) -> Vec<Arc<Route>> {
        lock(&self.0).values().map(Arc::clone).collect()
    }
}

/// The name of the route of a path, for responses without a record: numbers are replaced.
pub(crate) fn name_of(path: &str) -> String {
    let parts = path
        .split('/')
        .map(|part| if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) { "{n}" } else { part });
    let name: String = parts.collect::<Vec<_>>().join("/");
    name.chars().take(200).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_bounded_and_pause_longer_each_time() {
        assert_eq!(name_of("/wp-json/wp/v2/posts/12/revisions/3"), "/wp-json/wp/v2/posts/{n}/revisions/{n}");
        let routes = Routes::default();
        for n in 0..MAX_ROUTES * 3 {
            routes.get(&format!("/{n}"));
        }
        assert!(routes.all().len() <= MAX_ROUTES + SHARED as usize);
        let route = routes.get("/0");
        assert!(route.varies().is_none() && route.is_first_replay() && !route.is_first_replay());
        route.set_varying("random");
        route.set_varying("random");
        assert_eq!(route.varies(), Some("random"));
        (1..UNSTORED).for_each(|_| route.not_stored());
        assert!(!route.is_rarely_stored());
        route.not_stored();
        assert!(route.is_rarely_stored());
        route.stored();
        assert!(!route.is_rarely_stored());
        assert_eq!(lock(&route.varying).as_ref().unwrap().pause, VARYING * 2);
    }
}
