//! Tasks that compare the server with recordings of WordPress. `cargo xtask` runs them.

mod accounts;
#[cfg(test)]
mod alterations;
mod brand;
mod check;
mod client;
mod compare;
mod described;
mod differences;
mod folders;
mod form;
mod ids;
mod normalize;
mod openapi;
mod options;
mod order;
mod pointer;
mod prose;
mod record;
mod remote;
mod request;
mod response;
mod runner;
mod scenario;
mod site;
mod traces;
mod variables;

use std::process::ExitCode;

use anyhow::bail;

/// Name of the server's example that registers what the recorded site registers.
const EXAMPLE: &str = "demo";

fn main() -> ExitCode {
    xtask_support::tasks::main(|call| match call.name() {
        "conformance" => check::run(&call.options()),
        "traces" => traces::run(&call.options()),
        "openapi" => openapi::run(&call.options()),
        name => bail!("{name} is a task of another package"),
    })
}
