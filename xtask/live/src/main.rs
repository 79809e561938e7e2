//! Tasks that compare the server with a running WordPress. `cargo xtask` runs them.

mod differences;
mod live;
mod live_editor;
mod live_inputs;
mod live_phpunit;
mod live_phpunit_results;
mod live_plugins;
mod live_policies;
mod live_sign_in;
mod programs;
mod site;
mod users;

use std::process::ExitCode;

use anyhow::bail;

fn main() -> ExitCode {
    xtask_support::tasks::main(|call| match call.name() {
        "live" => live::run(&call.options()),
        "live-sign-in" => live_sign_in::run(&call.options()),
        "live-editor" => live_editor::run(call.options()),
        "live-inputs" => live_inputs::run(&call.options()),
        "live-phpunit" => live_phpunit::run(&call.options()),
        "live-plugins" => live_plugins::run(&call.options()),
        "live-policies" => live_policies::run(&call.options()),
        name => bail!("{name} is a task of another package"),
    })
}
