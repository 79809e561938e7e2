//! External feeds that a response needs and that are not cached yet.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Maximum number of feeds fetched per rendering.
const MAX_FETCHES: usize = 8;

/// Maximum length of a feed's URL, in bytes.
const MAX_URL: usize = 2_000;

/// URLs of external feeds that are not cached yet. Collected while a response is rendered. Cheap to clone.
///
/// Feeds that stay missing are left out.
#[derive(Clone, Debug, Default)]
pub struct MissingFeeds(Arc<Mutex<BTreeSet<String>>>);

impl MissingFeeds {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the URL of a feed. Ignored if it is too long, or if too many are recorded.
    pub fn record(&self, url: &str) {
        let mut urls = self.lock();
        if urls.len() < MAX_FETCHES && url.len() <= MAX_URL {
            urls.insert(url.to_owned());
        }
    }

    /// Removes and returns the recorded URLs.
    pub(crate) fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.lock())
    }
}
