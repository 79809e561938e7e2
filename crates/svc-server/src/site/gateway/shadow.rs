//! Compares a share of the handled reads with WordPress afterwards, with the rights of their callers. A route with a difference is
//! handled by WordPress until the routes are compared again.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use http::request::Parts;
use tokio::sync::Semaphore;

use super::{ownership::Viewer, request::ApiRequest, sides::Sides};

/// Comparisons at the same time. Further reads are not compared.
const PARALLEL: usize = 2;

/// One share, in parts of a million.
const WHOLE: u64 = 1_000_000;

/// Shadow comparisons and their outcome. Cheap to clone.
#[derive(Clone)]
pub(super) struct Shadow(Arc<Inner>);

struct Inner {
    share: u64,
    reads: AtomicU64,
    compared: AtomicU64,
    slots: Arc<Semaphore>,
    /// Routes with a difference, by pattern.
    refuted: Mutex<BTreeMap<String, String>>,
    /// Number of entries of `refuted`, to avoid the lock in the usual case.
    n_refuted: AtomicU64,
}

impl Shadow {
    /// Compares `share` of a million reads.
    pub(super) fn new(share: u32) -> Self {
        Shadow(Arc::new(Inner {
            share: u64::from(share),
            reads: AtomicU64::new(0),
            compared: AtomicU64::new(0),
            slots: Arc::new(Semaphore::new(PARALLEL)),
            refuted: Mutex::default(),
            n_refuted: AtomicU64::new(0),
        }))
    }

    /// The difference that was found for a route.
    pub(super) fn refuted(&self, pattern: &str) -> Option<String> {
        if self.0.n_refuted.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.0.refuted.lock().unwrap_or_else(PoisonError::into_inner).get(pattern).cloned()
    }

    /// Forgets the differences, since the routes were compared again after a change of WordPress.
    pub(super) fn forget(&self) {
        let mut refuted = self.0.refuted.lock().unwrap_or_else(PoisonError::into_inner);
        refuted.clear();
        self.0.n_refuted.store(0, Ordering::Release);
    }

    /// Whether the next read is compared.
    fn is_chosen(&self) -> bool {
        let Inner { share, reads, .. } = &*self.0;
        // Evenly spread: the read at which the sum of the shares passes the next whole.
        let n = reads.fetch_add(1, Ordering::Relaxed);
        *share > 0 && (n * share) / WHOLE != ((n + 1) * share) / WHOLE
    }

    /// Compares a read that this server has handled, if it is in the share.
    pub(super) fn observe(&self, sides: &Sides, api: &ApiRequest, viewer: Viewer, parts: &Parts) {
        if !self.is_chosen() {
            return;
        }
        let Ok(slot) = Arc::clone(&self.0.slots).try_acquire_owned() else { return };
        let Some((entry, _)) = api.server.endpoint_for(&parts.method, &api.route) else { return };
        let (shadow, sides, route, pattern) =
            (self.clone(), sides.clone(), api.route.clone(), entry.pattern().to_owned());
        let target = parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string);
        let headers = parts.headers.clone();
        tokio::spawn(async move {
            let _slot = slot;
            // If WordPress is away, nothing is learned.
            let Ok((_, difference)) = sides.difference(&route, &target, &headers).await else { return };
            let compared = shadow.0.compared.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(difference) = difference {
                shadow.refute(&pattern, viewer, &route, &difference, compared);
            }
        });
    }

    fn refute(&self, pattern: &str, viewer: Viewer, route: &str, difference: &str, compared: u64) {
        let mut refuted = self.0.refuted.lock().unwrap_or_else(PoisonError::into_inner);
        if refuted.contains_key(pattern) {
            return;
        }
        tracing::warn!(
            route,
            pattern,
            viewer = viewer.name(),
            compared,
            "WordPress handles this route from now on, since a response differs: {difference}"
        );
        refuted.insert(pattern.to_owned(), format!("a response differs: {difference}"));
        self.0.n_refuted.store(refuted.len() as u64, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_reads_is_chosen() {
        for (share, n, expected) in
            [(0, 1_000, 0), (10_000, 1_000, 10), (1_000_000, 100, 100), (500_000, 9, 4), (333_333, 1_000, 333)]
        {
            let shadow = Shadow::new(share);
            assert_eq!((0..n).filter(|_| shadow.is_chosen()).count(), expected, "{share}");
        }
    }

    #[test]
    fn a_refuted_route_is_refused_until_it_is_compared_again() {
        let shadow = Shadow::new(0);
        assert_eq!(shadow.refuted("/a"), None);
        shadow.refute("/a", Viewer::Anonymous, "/a", "title: x", 1);
        shadow.refute("/a", Viewer::Anonymous, "/a", "another", 2);
        assert_eq!(shadow.refuted("/a").as_deref(), Some("a response differs: title: x"));
        assert_eq!(shadow.refuted("/b"), None);
        shadow.forget();
        assert_eq!(shadow.refuted("/a"), None);
    }
}
