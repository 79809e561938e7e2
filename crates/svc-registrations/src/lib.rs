#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod adopt;
mod entries;

pub use entries::{InvalidEntry, Registrations, TABLES};
