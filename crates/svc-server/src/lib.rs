//! A content server: configuration, composition, pages.

mod cli;
pub mod config;
pub mod error;
mod logs;
mod pages;
pub mod serving;
pub mod uploads;
