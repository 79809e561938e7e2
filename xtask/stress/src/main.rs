//! Tasks that attack, overload and kill the server. `cargo xtask` runs them.

mod body;
mod client;
mod connections;
mod crash;
mod gateway;
mod memory;
mod pages;
mod races;
mod report;
mod scenarios;

use std::process::ExitCode;

use anyhow::bail;

fn main() -> ExitCode {
    xtask_support::tasks::main(|call| match call.name() {
        "stress" => scenarios::run(&call.options()),
        "crash" => crash::run(&call.options()),
        name => bail!("{name} is a task of another package"),
    })
}
