//! Identifies callers who share cached data.

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::OnceLock;

/// Identifies a caller with everything that responses depend on, with 128 bits of random hashes. Data of callers with equal keys
/// is shared. A request extension that the authenticator sets; without it, nothing is cached for authenticated callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallerKey([u64; 2]);

impl CallerKey {
    /// The key of all anonymous callers.
    pub const ANONYMOUS: Self = CallerKey([0, 0]);

    /// The key of a caller with this identity, such as an id with capabilities. It is the same until the process ends.
    pub fn of(identity: &impl Hash) -> Self {
        static KEYS: OnceLock<[RandomState; 2]> = OnceLock::new();
        CallerKey(KEYS.get_or_init(Default::default).each_ref().map(|key| key.hash_one(identity)))
    }
}
