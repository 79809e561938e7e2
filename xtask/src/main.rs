//! The project's tasks. `cargo xtask` lists them.

mod vectors;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask TASK

  vectors FILE…      run recorded functions, print passed and failed per function";

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let task = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    match task.as_str() {
        "vectors" => vectors::run(&rest),
        _ => bail!("{USAGE}"),
    }
}
