//! Cache of external feeds.

use std::{collections::hash_map::RandomState, hash::BuildHasher, sync::Arc, time::Duration};

use chrono::NaiveDateTime;
use svc_site::TtlCache;
use svc_versions::Context;

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
    /// The value of [`FETCH_HEADER`].
    token: String,
}

impl Default for FeedCache {
    fn default() -> Self {
        // Hashed with random keys, so that clients cannot guess it.
        let [high, low] = [RandomState::new(), RandomState::new()].map(|keys| keys.hash_one(FETCH_HEADER));
        FeedCache { feeds: TtlCache::new(MAX_FEEDS), token: format!("{high:016x}{low:016x}") }
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
    fn own_fetches_are_identified_by_their_token() {
        let (one, other) = (FeedCache::default(), FeedCache::default());
        assert!(one.is_own_fetch(one.token.as_bytes()) && one.token.len() == 32);
        assert!(!one.is_own_fetch(other.token.as_bytes()) && !one.is_own_fetch(b""));
    }
}
