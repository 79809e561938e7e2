//! Integration tests of the workspace: real servers on real sockets, each in a temporary folder.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod browser;
mod bucket;
mod bytes;
mod client;
mod clients;
mod export;
mod failures;
mod first_run;
mod fuzz;
mod import;
mod log;
mod login;
mod loopback;
mod pages;
mod parallel;
mod plugins;
mod remote_content;
mod rest_api;
mod s3;
mod site;
mod viewers;
mod visitor;
