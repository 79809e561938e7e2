//! The task that measures speed and memory. `cargo xtask` runs it.

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask_support::tasks::main(|call| xtask_bench::run(call.options()))
}
