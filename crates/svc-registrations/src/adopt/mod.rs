//! Registrations of a WordPress, converted to entries of `svc.toml`.
//!
//! [`RestSource`] reads them from its REST API as a [`Report`], and [`Adoption`] converts that to entries.

mod adoption;
mod entries;
mod report;
mod rest;

pub use adoption::Adoption;
pub use report::Report;
pub use rest::{ASSUMPTIONS, RestSource};
