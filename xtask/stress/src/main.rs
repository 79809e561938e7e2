//! The task that attacks and overloads the server. `cargo xtask` runs it.

mod body;
mod client;
mod connections;
mod gateway;
mod memory;
mod pages;
mod races;
mod report;
mod rights;
mod scenarios;
mod varnish;

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask_support::tasks::main(|call| scenarios::run(&call.options()))
}
