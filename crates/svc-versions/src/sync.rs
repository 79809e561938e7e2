//! The locks and atomic types of this crate: those of the standard library, or those that a model checker schedules (`models`).

#[cfg(all(test, feature = "models"))]
pub(crate) use shuttle::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};
#[cfg(not(all(test, feature = "models")))]
pub(crate) use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};
