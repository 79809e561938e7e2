//! Cache of external feeds.

use std::{
    collections::{BTreeSet, hash_map::RandomState},
    hash::BuildHasher,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::NaiveDateTime;
use svc_site::TtlCache;
use svc_versions::Context;
use tokio::sync::Notify;

/// How long a feed, or the failure to read one, is cached.
const CACHE_TTL: Duration = Duration::from_secs(12 * 60 * 60);
const FAILURE_TTL: Duration = Duration::from_secs(5 * 60);

/// Maximum number of cached feeds.
const MAX_FEEDS: usize = 200;

/// Header of the server's own requests for feeds. Its value is a secret of this process.
pub const FETCH_HEADER: &str = "x-feed-fetch";

/// An entry of a feed. All texts are plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedEntry {
    /// The entry's title.
    pub title: String,
    /// The entry's URL.
    pub link: String,
    /// Publication date in UTC.
    pub date: Option<NaiveDateTime>,
    /// The author's name.
    pub author: String,
    /// The entry's summary, or its content without a summary.
    pub text: String,
}

/// The entries of a feed, newest first; `None` if it could not be read.
pub type FeedEntries = Option<Arc<Vec<FeedEntry>>>;

/// The external feeds of a site.
pub struct FeedCache {
    feeds: TtlCache<String, FeedEntries>,
    /// The URLs of feeds that are to be fetched in the background.
    wanted: Mutex<BTreeSet<String>>,
    /// Notified when there are some.
    wake: Notify,
    /// The value of [`FETCH_HEADER`].
    token: String,
}

impl Default for FeedCache {
    fn default() -> Self {
        // Hashed with random keys, so that clients cannot guess it.
        let [high, low] = [RandomState::new(), RandomState::new()].map(|keys| keys.hash_one(FETCH_HEADER));
        let (wanted, wake) = (Mutex::default(), Notify::new());
        FeedCache { feeds: TtlCache::new(MAX_FEEDS), wanted, wake, token: format!("{high:016x}{low:016x}") }
    }
}

impl FeedCache {
    /// A feed, if it is cached and has not expired.
    pub fn get(&self, cx: &Context, url: &str) -> Option<FeedEntries> {
        self.feeds.get(cx, url)
    }

    /// Whether a value of [`FETCH_HEADER`] is this process's secret.
    pub fn is_own_fetch(&self, value: &[u8]) -> bool {
        value == self.token.as_bytes()
    }

    /// The value of [`FETCH_HEADER`].
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Requests feeds, which the job [`FetchFeeds`](crate::feeds::FetchFeeds) fetches. Those above the maximum number of cached feeds
    /// are left out: pages fetch what they need.
    pub(crate) fn request(&self, urls: BTreeSet<String>) {
        let mut wanted = self.wanted();
        let room = MAX_FEEDS.saturating_sub(wanted.len());
        wanted.extend(urls.into_iter().take(room));
        self.wake.notify_one();
    }

    /// Takes at most `n` requested feeds.
    pub(crate) fn take_requested(&self, n: usize) -> BTreeSet<String> {
        let mut wanted = self.wanted();
        let others = wanted.iter().nth(n).cloned().map(|first| wanted.split_off(&first)).unwrap_or_default();
        std::mem::replace(&mut wanted, others)
    }

    /// Notified when feeds are requested.
    pub(crate) fn wake(&self) -> &Notify {
        &self.wake
    }

    fn wanted(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches a feed unless it is cached, or waits for a fetch in progress.
    pub(crate) async fn fetch_once(&self, url: String, fetch: impl Future<Output = FeedEntries>) {
        let fetch = async {
            let read = fetch.await;
            let ttl = if read.is_some() { CACHE_TTL } else { FAILURE_TTL };
            (read, ttl)
        };
        self.feeds.load_once(url, fetch).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn feeds_and_failures_are_cached() {
        let cache = FeedCache::default();
        for entries in [Some(Arc::default()), None] {
            let url = format!("http://a.example/{}", entries.is_some());
            cache.fetch_once(url.clone(), async { entries.clone() }).await;
            assert_eq!(cache.get(&Context::background(), &url), Some(entries));
        }
    }

    #[test]
    fn requested_feeds_are_taken_once_in_parts() {
        let cache = FeedCache::default();
        let urls = |names: &str| names.chars().map(String::from).collect::<BTreeSet<_>>();
        cache.request(urls("cab"));
        cache.request(urls("bd"));
        assert_eq!([2, 2, 2].map(|n| cache.take_requested(n)), [urls("ab"), urls("cd"), urls("")]);
        cache.request((0..MAX_FEEDS + 5).map(|n| n.to_string()).collect());
        assert_eq!(cache.take_requested(usize::MAX).len(), MAX_FEEDS);
    }

    #[test]
    fn own_fetches_are_identified_by_their_token() {
        let (one, other) = (FeedCache::default(), FeedCache::default());
        assert!(one.is_own_fetch(one.token.as_bytes()) && one.token.len() == 32);
        assert!(!one.is_own_fetch(other.token.as_bytes()) && !one.is_own_fetch(b""));
    }
}
