//! The tasks of the project. `cargo xtask` lists them.
//!
//! This package has checks, the book and releases. Tasks that need the site are in packages of their own, which it builds and runs.

mod book;
mod checks;
mod cycles;
mod deps;
mod dist;
mod families;
mod imports;
mod markdown;
mod packages;
mod readmes;
mod rust_source;
mod snippets;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};
use xtask_support::{
    say,
    tasks::{self, Call, GROUPS},
};

fn main() -> ExitCode {
    match task() {
        Ok(code) => code,
        Err(error) => tasks::report(Err(error)),
    }
}

fn task() -> Result<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let name = args.next().unwrap_or_else(|| "help".into()).to_string_lossy().into_owned();
    let args = args.collect();
    match tasks::find(&name) {
        Some(task) if task.package == env!("CARGO_PKG_NAME") => own(&Call::new(task, args))?,
        Some(task) => return packages::run(task, &args),
        None if ["help", "--help", "-h"].contains(&&*name) => say(&list())?,
        None => bail!("there is no task `{name}`\n\n{}", list()),
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a task of this package.
fn own(call: &Call) -> Result<()> {
    match call.name() {
        "docs" => book::run(&call.options()),
        "readmes" => readmes::run(&call.options()),
        "dist" => dist::run(&call.options()),
        name => {
            let NoOptions {} = call.options();
            if name == "test-all" { checks::run_all() } else { checks::run(name) }
        }
    }
}

/// Arguments of a task without any.
#[derive(clap::Args)]
struct NoOptions {}

/// The list of all tasks.
fn list() -> String {
    let mut text = "usage: cargo xtask TASK".to_owned();
    for (title, tasks) in GROUPS {
        text += &format!("\n\n{title}:");
        for task in *tasks {
            text += &format!("\n  {:14} {}", task.name, task.about);
        }
    }
    text + "\n\n`cargo xtask TASK --help` describes the arguments of a task."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_listed_in_the_order_in_which_they_run() {
        let (_, listed) = GROUPS[0];
        let listed: Vec<&str> = listed.iter().map(|task| task.name).collect();
        assert_eq!(listed.split_first(), Some((&"test-all", &*checks::names())));
    }

    #[test]
    fn tasks_of_other_packages_have_a_folder() {
        let root = xtask_support::root().unwrap();
        for task in GROUPS.iter().flat_map(|(_, tasks)| *tasks) {
            let manifest = root.join(task.package.replace('-', "/")).join("Cargo.toml");
            assert!(manifest.exists(), "{}: {}", task.name, manifest.display());
        }
    }
}
