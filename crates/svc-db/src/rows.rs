//! The keys that readers of the database depend on and that writers change.
//!
//! Reads and writes of whole tables are recorded for every statement ([`crate::Db`]), so that nothing can be forgotten.
//! Frequent statements name the rows instead. Both sides use the same keys: a write of known rows changes those rows and
//! everything that depends on *any* row; a write of unknown rows also changes everything that depends on *a* row.

use svc_versions::{Context, Key, MAX_MEMBER, Versions};

/// Rows of a table, by the id of the object that they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
    name: &'static str,
    /// The family of their keys: a hash of the name.
    family: u16,
}

/// What a key of [`Rows`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The rows of the object with this id, modulo 2^48.
    Of(u64),
    /// Any rows: changes with all of them.
    Any,
    /// Changes when it is not known which rows change.
    Unknown,
}

/// The members of a family of keys that are not ids.
const ANY: u64 = MAX_MEMBER;
const UNKNOWN: u64 = MAX_MEMBER - 1;

impl Rows {
    /// The rows with this name. Rows with equal names are the same.
    pub const fn named(name: &'static str) -> Self {
        let hash = hash_of(name.as_bytes());
        let family = (hash ^ (hash >> 16) ^ (hash >> 32) ^ (hash >> 48)) as u16;
        // Zero is the family of other keys.
        Rows { name, family: if family == 0 { 1 } else { family } }
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The family of their keys.
    pub const fn family(self) -> u16 {
        self.family
    }

    /// What a key stands for; `None` if it is not one of these rows.
    pub fn part(self, key: Key) -> Option<Part> {
        let (_, member) = key.as_member().filter(|(family, _)| *family == self.family)?;
        Some(match member {
            ANY => Part::Any,
            UNKNOWN => Part::Unknown,
            id => Part::Of(id),
        })
    }

    fn row(self, id: i64) -> Key {
        Key::member(self.family, id.cast_unsigned())
    }

    /// The key of rows that belong to something with this name.
    pub fn with_name(self, name: &str) -> Key {
        Key::member(self.family, hash_of(name.as_bytes()))
    }

    /// The key of any of the rows, which changes with all of them.
    pub fn any(self) -> Key {
        Key::member(self.family, ANY)
    }

    /// A number that changes with any of the rows. `None` while they are changed.
    pub(crate) fn version(self, versions: &Versions) -> Option<i64> {
        versions.last_change(self.any()).map(|time| time.number().cast_signed())
    }

    fn unknown(self) -> Key {
        Key::member(self.family, UNKNOWN)
    }

    /// Records that the current computation depends on the rows of these objects, whether they exist or not.
    pub fn depend_on(self, cx: &Context, ids: impl IntoIterator<Item = i64>) {
        cx.depends_on_all(std::iter::once(self.unknown()).chain(ids.into_iter().map(|id| self.row(id))));
    }

    /// Records that the current computation depends on all rows.
    pub fn depend_on_all(self, cx: &Context) {
        cx.depends_on(self.any());
    }

    /// The keys that a write of the rows of these objects changes.
    pub fn changed(self, ids: &[i64]) -> impl Iterator<Item = Key> {
        ids.iter().map(move |id| self.row(*id)).chain([self.any()])
    }

    /// The keys that a write of unknown rows changes.
    pub fn all_changed(self) -> [Key; 2] {
        [self.any(), self.unknown()]
    }
}

/// FNV-1a, which is the same in all processes.
const fn hash_of(bytes: &[u8]) -> u64 {
    let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOATS: Rows = Rows::named("boats");

    #[test]
    fn keys_are_found_to_be_parts_of_their_rows() {
        let changed: Vec<_> = BOATS.changed(&[7]).map(|key| BOATS.part(key)).collect();
        assert_eq!(changed, [Some(Part::Of(7)), Some(Part::Any)]);
        assert_eq!(BOATS.all_changed().map(|key| BOATS.part(key)), [Some(Part::Any), Some(Part::Unknown)]);
        assert_eq!(Rows::named("flags").part(BOATS.any()), None);
        assert_eq!(BOATS.part(Key::of(&"boats")), None);
        assert_ne!(BOATS.with_name("a"), BOATS.with_name("b"));
    }
}
