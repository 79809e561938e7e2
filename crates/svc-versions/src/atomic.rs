//! The atomic types of this crate: those of the standard library, or those that a model checker schedules (`models.rs`).

#[cfg(shuttle)]
pub(crate) use shuttle::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(shuttle))]
pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
