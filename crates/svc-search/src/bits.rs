//! A set of documents of one segment.

/// Maximum number of documents of a segment, so that a document's position fits into 16 bits.
pub(crate) const MAX_DOCS: usize = 65_536;

/// Number of words of a set.
const WORDS: usize = MAX_DOCS / 64;

/// A set of document positions, as a bitmap of 8 KB.
#[derive(Clone, PartialEq, Eq)]
pub struct Bits(Box<[u64]>);

impl Bits {
    /// Size of the bitmap in bytes.
    pub(crate) const BYTES: usize = WORDS * 8;

    /// The empty set.
    pub fn none() -> Self {
        Bits(vec![0; WORDS].into())
    }

    /// The set of the first `n` positions.
    pub(crate) fn first(n: usize) -> Self {
        let mut all = Bits::none();
        for (at, word) in all.0.iter_mut().enumerate() {
            *word = match n.saturating_sub(at * 64) {
                0 => 0,
                left @ 1..=63 => (1 << left) - 1,
                _ => u64::MAX,
            };
        }
        all
    }

    /// Adds a position.
    pub fn insert(&mut self, position: u16) {
        if let Some(word) = self.0.get_mut(usize::from(position) / 64) {
            *word |= 1 << (position % 64);
        }
    }

    /// Removes a position.
    pub fn remove(&mut self, position: u16) {
        if let Some(word) = self.0.get_mut(usize::from(position) / 64) {
            *word &= !(1 << (position % 64));
        }
    }

    /// Whether the set has a position.
    pub(crate) fn contains(&self, position: u16) -> bool {
        self.0.get(usize::from(position) / 64).is_some_and(|word| word & (1 << (position % 64)) != 0)
    }

    /// Adds the positions of a bitmap in little-endian bytes.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) {
        for (word, chunk) in self.0.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word |= u64::from_le_bytes(*chunk);
        }
    }

    /// Adds the positions of another set.
    pub fn add(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    /// Retains the positions that are also in another set.
    pub fn retain(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    /// Removes the positions of another set.
    pub fn subtract(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= !other);
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The positions in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.0.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                u16::try_from(at * 64 + bit).ok()
            })
        })
    }

    /// The bitmap in little-endian bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

impl FromIterator<u16> for Bits {
    fn from_iter<I: IntoIterator<Item = u16>>(positions: I) -> Self {
        let mut bits = Bits::none();
        positions.into_iter().for_each(|position| bits.insert(position));
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets() {
        let positions = [0, 1, 63, 64, 4_000, 65_535];
        let set: Bits = positions.into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), positions);
        assert_eq!((set.len(), set.is_empty()), (6, false));
        let mut read = Bits::none();
        read.add_bytes(&set.bytes());
        assert!(read == set && set.bytes().len() == Bits::BYTES);
        read.retain(&Bits::first(64));
        assert_eq!(read.iter().collect::<Vec<_>>(), [0, 1, 63]);
        read.subtract(&[1].into_iter().collect());
        read.remove(63);
        assert_eq!(read.iter().collect::<Vec<_>>(), [0]);
        for n in [0, 1, 63, 64, 65, 65_535, 65_536] {
            assert_eq!(Bits::first(n).len(), n);
        }
    }
}
