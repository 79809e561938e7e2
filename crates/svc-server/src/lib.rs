//! A content server: configuration, composition, pages.

pub mod config;
pub mod error;
mod logs;
mod pages;
pub mod serving;
pub mod uploads;
