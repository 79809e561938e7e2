//! The tasks that attack and overload the server, and a cluster of servers. `cargo xtask` runs them.

mod body;
mod client;
mod cluster;
mod connections;
mod gateway;
mod imports;
mod memory;
mod nginx;
mod own_reads;
mod pages;
mod races;
mod report;
#[cfg(unix)]
mod restarts;
mod rights;
mod scenarios;
mod site;
mod varnish;

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask_support::tasks::main(|call| match call.name() {
        "cluster" => cluster::run(&call.options()),
        _ => scenarios::run(&call.options()),
    })
}
