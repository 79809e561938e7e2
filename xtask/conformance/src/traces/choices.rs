//! Random choices that follow from a seed.

use anyhow::{Result, anyhow};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

/// A source of random choices.
pub(super) struct Choices {
    runner: TestRunner,
}

impl Choices {
    /// The choices of this seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        Choices { runner: TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng) }
    }

    /// A value of a strategy.
    pub(super) fn value<S: Strategy>(&mut self, strategy: &S) -> Result<S::Value> {
        let tree = strategy.new_tree(&mut self.runner).map_err(|reason| anyhow!("no value: {reason}"))?;
        Ok(tree.current())
    }

    /// A number below `end`, which must not be 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.value(&(0..end.max(1))).unwrap_or_default()
    }

    /// One of these, which must not be empty.
    pub(super) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// True in this many of 100 cases.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
