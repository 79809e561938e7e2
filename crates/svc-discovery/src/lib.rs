#![doc = include_str!("../README.md")]

mod announce;
mod queried;

pub use announce::{Announcement, rsd_document};
pub use queried::Queried;
