//! Counters with a fixed list of names.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters with these names, such as the reasons of refusals.
#[derive(Debug)]
pub struct Outcomes<const N: usize> {
    names: [&'static str; N],
    counts: [AtomicU64; N],
}

impl<const N: usize> Outcomes<N> {
    /// Counters that are zero.
    pub const fn new(names: [&'static str; N]) -> Self {
        Outcomes { names, counts: [const { AtomicU64::new(0) }; N] }
    }

    /// Counts an occurrence of a name. Names that are not in the list count as the last one.
    pub fn record(&self, name: &str) {
        let idx = self.names.iter().position(|known| *known == name).unwrap_or(N.saturating_sub(1));
        if let Some(count) = self.counts.get(idx) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Each name with its number.
    pub fn report(&self) -> Vec<(&'static str, u64)> {
        self.names.iter().copied().zip(self.counts.iter().map(|n| n.load(Ordering::Relaxed))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_count_as_the_last_one() {
        let outcomes = Outcomes::new(["ok", "refused", "failed"]);
        for name in ["ok", "refused", "ok", "exploded"] {
            outcomes.record(name);
        }
        assert_eq!(outcomes.report(), [("ok", 2), ("refused", 1), ("failed", 1)]);
    }
}
