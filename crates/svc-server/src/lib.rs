//! A content server: configuration, composition, pages.

mod accounts;
mod cli;
pub mod config;
pub mod error;
pub mod first_run;
mod logs;
//mod pages;
pub mod serving;
mod site;
pub mod uploads;
