//! The locks and atomic types of this crate: those of the standard library, or those that a model checker schedules (`models`).

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};
