//! Changes that reads make, and that have turned out not to matter.
//!
//! Some plugins write something each time they run: a counter, a log, the time of the last request. If each response also reads that, every
//! rendering would end all stored responses. So changes by renderings of reads are told apart from all others, and for each route it is
//! observed whether they matter: if responses are rendered again after such a change, and several in a row are the same, it is tolerated
//! from then on. One response that differs ends that. Other changes are never tolerated.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Renderings that must be the same before a change is tolerated.
const PROOFS: u32 = 3;

/// Maximum number of labels that are observed for a route.
const MAX_LABELS: usize = 200;

/// A label whose changes matter.
const MATTERS: u32 = u32::MAX;

/// What is known of the changes by reads, for the responses of a route.
#[derive(Debug, Default)]
pub struct Tolerance(Mutex<HashMap<Box<str>, u32>>);

impl Tolerance {
    /// Whether changes of a part of the database, made by reads, do not matter.
    pub(crate) fn tolerates(&self, label: &str) -> bool {
        self.lock().get(label).is_some_and(|proofs| (PROOFS..MATTERS).contains(proofs))
    }

    /// Records that a response was the same after these changes.
    pub(crate) fn same_after(&self, labels: &[Box<str>]) {
        let mut proofs = self.lock();
        for label in labels {
            if proofs.len() < MAX_LABELS || proofs.contains_key(label) {
                let n = proofs.entry(label.clone()).or_default();
                *n = n.saturating_add(1).min(PROOFS).max(*n);
            }
        }
    }

    /// Records that a response was another after these changes.
    pub(crate) fn other_after(&self, labels: &[Box<str>]) {
        let mut proofs = self.lock();
        for label in labels {
            proofs.insert(label.clone(), MATTERS);
        }
    }

    /// The parts of the database whose changes by reads do not matter.
    pub(crate) fn tolerated(&self) -> Vec<String> {
        let proofs = self.lock();
        proofs.iter().filter(|(_, n)| (PROOFS..MATTERS).contains(n)).map(|(label, _)| label.to_string()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_tolerated_after_some_proofs_until_it_matters() {
        let tolerance = Tolerance::default();
        let labels = [Box::from("options/a")];
        for _ in 0..PROOFS {
            assert!(!tolerance.tolerates("options/a"));
            tolerance.same_after(&labels);
        }
        tolerance.same_after(&labels);
        assert!(tolerance.tolerates("options/a") && !tolerance.tolerates("options/b"));
        tolerance.other_after(&labels);
        tolerance.same_after(&labels);
        assert!(!tolerance.tolerates("options/a") && tolerance.tolerated().is_empty());
    }
}
