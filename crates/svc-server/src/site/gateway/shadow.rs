//! Compares a share of the handled reads with WordPress afterwards. WordPress handles a route with
//! a difference until it is proven again (`refuted.rs`).

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use http::request::Parts;
use tokio::{sync::Semaphore, time::Instant};

use super::{
    refuted::{Outcome, Read, Refuted},
    request::ApiRequest,
    sides::{Comparison, Sides},
    texts::PhpTexts,
};

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
    refuted: Refuted,
    /// Without, in tests.
    texts: Option<PhpTexts>,
}

impl Shadow {
    /// Compares `share` of a million reads. If texts differ, WordPress renders them from then on.
    pub(super) fn new(share: u32, texts: PhpTexts) -> Self {
        Self::with(share, Some(texts))
    }

    fn with(share: u32, texts: Option<PhpTexts>) -> Self {
        Shadow(Arc::new(Inner {
            texts,
            share: u64::from(share),
            reads: AtomicU64::new(0),
            compared: AtomicU64::new(0),
            slots: Arc::new(Semaphore::new(PARALLEL)),
            refuted: Refuted::default(),
        }))
    }

    /// The difference that was found for a route.
    pub(super) fn refuted(&self, pattern: &str) -> Option<String> {
        self.0.refuted.reason(pattern)
    }

    /// Forgets the differences, since the routes were compared again after a change of WordPress.
    pub(super) fn forget(&self) {
        self.0.refuted.forget();
    }

    /// Whether the next read is compared.
    fn is_chosen(&self) -> bool {
        let Inner { share, reads, .. } = &*self.0;
        // Evenly spread: the read at which the sum of the shares passes the next whole.
        let n = reads.fetch_add(1, Ordering::Relaxed);
        *share > 0 && (n * share) / WHOLE != ((n + 1) * share) / WHOLE
    }

    /// Compares a read that this server has handled, or would handle if its route were not refuted, if it is in the share.
    pub(super) fn observe(&self, sides: &Sides, api: &ApiRequest, parts: &Parts) {
        if !self.is_chosen() {
            return;
        }
        let Ok(slot) = Arc::clone(&self.0.slots).try_acquire_owned() else { return };
        let Some((entry, _)) = api.server.endpoint_for(&parts.method, &api.route) else { return };
        let (shadow, sides, pattern) = (self.clone(), sides.clone(), entry.pattern().to_owned());
        let target = parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string);
        let read = Read { route: api.route.clone(), target, headers: parts.headers.clone() };
        tokio::spawn(async move {
            let _slot = slot;
            let outcome = compare(&sides, &read).await;
            let compared = shadow.0.compared.fetch_add(1, Ordering::Relaxed) + 1;
            if let Outcome::Different(difference) = outcome {
                let route = read.route.clone();
                if let Some(texts) = &shadow.0.texts {
                    texts.learn(&pattern, &difference);
                }
                if shadow.0.refuted.refute(&pattern, read, &difference, Instant::now()) {
                    tracing::warn!(
                        route,
                        pattern,
                        compared,
                        "WordPress handles this route and those below it, since a response differs: {difference}"
                    );
                }
            }
        });
    }

    /// Compares the reads of refuted routes whose time has come.
    pub(super) async fn prove_again(&self, sides: &Sides) {
        for (collection, read) in self.0.refuted.due(Instant::now()) {
            let outcome = compare(sides, &read).await;
            if self.0.refuted.compared(&collection, outcome, Instant::now()) {
                tracing::info!(collection, "this route is proven again");
            }
        }
    }
}

/// Sends a read to both servers.
async fn compare(sides: &Sides, read: &Read) -> Outcome {
    match sides.compare(&read.route, &read.target, &read.headers).await {
        Ok((_, Comparison::Different(difference))) => Outcome::Different(difference),
        Ok((_, Comparison::Forwarded)) => Outcome::Equal,
        Ok((wordpress, Comparison::Equal)) if wordpress.status.is_success() => Outcome::Equal,
        Ok(_) | Err(_) => Outcome::Unclear,
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
            let shadow = Shadow::with(share, None);
            assert_eq!((0..n).filter(|_| shadow.is_chosen()).count(), expected, "{share}");
        }
    }
}
