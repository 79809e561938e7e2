//! Registrations of a WordPress, taken over as entries of `svc.toml`.
//!
//! `rest.rs` reads them from its REST API as a report (`report.rs`), and `adoption.rs` converts that to entries (`entries.rs`).

pub(crate) mod adoption;
mod entries;
pub(crate) mod report;
pub(crate) mod rest;
