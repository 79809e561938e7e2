//! Integration tests of the workspace: real servers on real sockets, each on a folder of its own.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod browser;
mod bucket;
mod bytes;
mod client;
mod clients;
mod elsewhere;
mod export;
mod failures;
mod first_run;
mod fuzz;
mod import;
mod interface;
mod log;
mod loopback;
mod pages;
mod parallel;
mod plugins;
mod s3;
mod sign_in;
mod site;
mod viewers;
mod visitor;
