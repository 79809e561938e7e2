//! When data last changed.

use std::fmt;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::OnceLock;

use crate::Dependencies;
use crate::sync::{AtomicU64, Ordering};

/// The number of slots as a power of two.
const SLOT_BITS: u32 = 17;

/// Number of slots. Keys that share a slot are invalidated together, which only costs time.
const SLOTS: usize = 1 << SLOT_BITS;

/// A change in progress is counted in the upper bits of a slot; the lower bits are the time of the last change.
const IN_PROGRESS: u64 = 1 << 48;

/// Number of bits of a key that name the member of a family.
const MEMBER_BITS: u32 = 48;

/// The highest number of a member of a family of keys.
pub const MAX_MEMBER: u64 = (1 << MEMBER_BITS) - 1;

/// Something that data can be read from or written to, such as a row or a list.
///
/// A key is either a hash of a value, or that of a [member](Self::member) of a family, which can be named outside of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(u64);

impl Key {
    /// The key of a value. Equal values have equal keys. Different values may share a key, so that a change of one
    /// also invalidates what depends on the other.
    pub fn of(value: &impl Hash) -> Self {
        // Random, so that clients cannot construct colliding values.
        static HASHER: OnceLock<RandomState> = OnceLock::new();
        let hash = HASHER.get_or_init(RandomState::new).hash_one(value);
        Key(hash & MAX_MEMBER)
    }

    /// The key of a member of a family, such as a row of a table: the same in all processes. Members are numbered up to
    /// [`MAX_MEMBER`]; of higher numbers, the upper bits are ignored. The family zero is that of [`Key::of`].
    pub const fn member(family: u16, member: u64) -> Self {
        Key((family as u64) << MEMBER_BITS | member & MAX_MEMBER)
    }

    /// The family and the number of the member; `None` if the key is a hash.
    pub fn as_member(self) -> Option<(u16, u64)> {
        let family = u16::try_from(self.0 >> MEMBER_BITS).unwrap_or_default();
        (family != 0).then_some((family, self.0 & MAX_MEMBER))
    }
}

/// A time on the clock of [`Versions`], which advances with each change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VersionStamp(u64);

impl VersionStamp {
    /// The time as a number, which is higher for later times.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The time of the last change of each key. Shared by everything that reads and writes the same data.
pub struct Versions {
    /// The time of the last change.
    clock: AtomicU64,
    /// Number of changes that were begun or ended. Nothing has changed while it is the same.
    activity: AtomicU64,
    /// The last change of everything.
    all: AtomicU64,
    slots: Box<[AtomicU64]>,
    /// Odd and random, so that clients cannot choose numbers of rows that share a slot.
    multiplier: u64,
}

impl Default for Versions {
    fn default() -> Self {
        Versions::with_slots(SLOTS)
    }
}

impl fmt::Debug for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Versions").field("clock", &self.clock).finish_non_exhaustive()
    }
}

impl Versions {
    /// Fewer slots need less memory, and more keys share one.
    pub(crate) fn with_slots(slots: usize) -> Self {
        Versions {
            clock: AtomicU64::new(0),
            activity: AtomicU64::new(0),
            all: AtomicU64::new(0),
            slots: (0..slots).map(|_| AtomicU64::new(0)).collect(),
            multiplier: RandomState::new().hash_one(slots) | 1,
        }
    }

    fn slot(&self, key: Key) -> &AtomicU64 {
        // The highest bits of the product depend on all bits of the key.
        let mixed = key.0.wrapping_mul(self.multiplier) >> (u64::BITS - SLOT_BITS);
        &self.slots[mixed as usize % self.slots.len()]
    }

    /// The current time. Take it before reading the data of a value that is to be cached.
    pub fn stamp(&self) -> VersionStamp {
        VersionStamp(self.clock.load(Ordering::SeqCst))
    }

    /// Begins a change of these keys. Values that depend on them are not valid until the change has
    /// [ended](Change::end), so begin it before the new data can be read.
    pub fn change(&self, keys: impl IntoIterator<Item = Key>) -> Change<'_> {
        let mut keys: Vec<Key> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        for key in &keys {
            self.slot(*key).fetch_add(IN_PROGRESS, Ordering::SeqCst);
        }
        self.activity.fetch_add(1, Ordering::SeqCst);
        Change { versions: self, keys }
    }

    /// Invalidates all values, after changes of which nothing is known.
    pub fn change_all(&self) {
        let now = self.clock.fetch_add(1, Ordering::SeqCst) + 1;
        self.all.fetch_max(now, Ordering::SeqCst);
        self.activity.fetch_add(1, Ordering::SeqCst);
    }

    /// When this key, or everything, was last changed: the version of what the key stands for. `None` during a change.
    pub fn last_change(&self, key: Key) -> Option<VersionStamp> {
        let slot = self.slot(key).load(Ordering::SeqCst);
        (slot < IN_PROGRESS).then(|| VersionStamp(slot.max(self.all.load(Ordering::SeqCst))))
    }

    /// Number of changes that were begun or ended; see [`is_current`](Self::is_current).
    pub(crate) fn activity(&self) -> u64 {
        self.activity.load(Ordering::SeqCst)
    }

    /// Whether nothing that these dependencies name has changed since `stamp`, or is being changed. Dependencies on
    /// time are not considered.
    pub fn is_current(&self, dependencies: &Dependencies, stamp: VersionStamp) -> bool {
        let unchanged = |slot: &AtomicU64| slot.load(Ordering::SeqCst) <= stamp.0;
        unchanged(&self.all) && dependencies.keys().iter().all(|key| unchanged(self.slot(*key)))
    }
}

/// A change in progress. It ends when this is dropped, whether the data has changed or not.
#[derive(Debug)]
#[must_use]
pub struct Change<'v> {
    versions: &'v Versions,
    keys: Vec<Key>,
}

impl Change<'_> {
    /// Ends the change: from now on, values that are computed from the new data are valid.
    pub fn end(self) {
        drop(self);
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        let now = self.versions.clock.fetch_add(1, Ordering::SeqCst) + 1;
        for key in &self.keys {
            let slot = self.versions.slot(*key);
            let ended = |slot: u64| {
                let pending = slot - IN_PROGRESS;
                Some(pending & !(IN_PROGRESS - 1) | now.max(pending & (IN_PROGRESS - 1)))
            };
            // The closure never refuses.
            let _ = slot.fetch_update(Ordering::SeqCst, Ordering::SeqCst, ended);
        }
        self.versions.activity.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;

    fn on(key: Key) -> Dependencies {
        let cx = Context::background();
        cx.capture(|| cx.depends_on(key)).1
    }

    #[test]
    fn values_are_current_until_their_key_changes() {
        let versions = Versions::default();
        let (one, two) = (Key(1), Key(2));
        let before = versions.stamp();
        assert!(versions.is_current(&on(one), before));
        let change = versions.change([two, two]);
        assert!(versions.is_current(&on(one), before));
        assert!(!versions.is_current(&on(two), before), "in progress");
        assert!(!versions.is_current(&on(two), versions.stamp()), "in progress");
        change.end();
        assert!(!versions.is_current(&on(two), before));
        assert!(versions.is_current(&on(two), versions.stamp()));
        assert!(versions.is_current(&on(one), before));
        versions.change_all();
        assert!(!versions.is_current(&on(one), before));
        assert!(!versions.is_current(&Dependencies::default(), before));
        assert!(versions.is_current(&on(one), versions.stamp()));
    }

    #[test]
    fn each_change_of_a_key_has_another_time() {
        let versions = Versions::default();
        let (one, two) = (Key(1), Key(2));
        let time = |key| versions.last_change(key).map(VersionStamp::number);
        let change = versions.change([one]);
        assert_eq!((time(one), time(two)), (None, Some(0)));
        change.end();
        assert_eq!((time(one), time(two)), (Some(1), Some(0)));
        versions.change([two]).end();
        assert_eq!((time(one), time(two)), (Some(1), Some(2)));
        versions.change_all();
        assert_eq!((time(one), time(two)), (Some(3), Some(3)));
    }

    #[test]
    fn members_are_found_in_their_keys() {
        assert_eq!(Key::member(7, 12).as_member(), Some((7, 12)));
        assert_eq!(Key::member(u16::MAX, u64::MAX).as_member(), Some((u16::MAX, MAX_MEMBER)));
        assert_eq!(Key::of(&"a value").as_member(), None);
        assert_eq!(Key::of(&"a value"), Key::of(&"a value"));
    }

    #[test]
    fn few_keys_share_a_slot() {
        let versions = Versions::default();
        let slot = |key| std::ptr::from_ref(versions.slot(key)) as usize;
        let families = (1..100).map(|family| Key::member(family * 601, MAX_MEMBER));
        let rows = (0..10_000).map(|id| Key::member(7, id));
        let hashes = (0..1_000).map(|n| Key::of(&n));
        let slots: std::collections::HashSet<usize> = families.chain(rows).chain(hashes).map(slot).collect();
        assert!(slots.len() > 9_000, "{} slots of 11,099 keys", slots.len());
    }

    #[test]
    fn overlapping_changes_end_separately() {
        let versions = Versions::default();
        let (one, two) = (versions.change([Key(7)]), versions.change([Key(7), Key(8)]));
        one.end();
        assert!(!versions.is_current(&on(Key(7)), versions.stamp()), "the second is in progress");
        two.end();
        assert!(versions.is_current(&on(Key(7)), versions.stamp()));
    }
}
