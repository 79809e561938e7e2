//! The tasks of the project. `cargo xtask` lists them.
//!
//! This package has checks (`tidy`, `docs`), the book and releases. All other tasks are in packages below it, which `packages` builds and
//! runs:
//!
//! - `conformance/`: recorded HTTP scenarios, random sequences of requests, the OpenAPI document.
//! - `vectors/`: recorded functions.
//! - `live/`: comparisons with a running WordPress.
//! - `stress/`: load and attacks.
//! - `crash/`: lost writes after crashes.
//! - `bench/`: targets for speed and memory. `stress/` uses its measurement of memory.
//! - `support/`: the list of all tasks and the parsing of their arguments; starts servers and gateways, and sends requests.
//!
//! This package and `support` depend on no crate of the site, so that a check such as `cargo xtask fmt` does not compile it. The others
//! start the built server and do not depend on its crates, except for `svc-brand`, `vectors/` and `crash/`, which checks the database
//! with `svc-store`.

mod book;
mod checks;
mod cycles;
mod deb;
mod deps;
mod dist;
mod docs;
mod examples;
mod families;
mod image;
mod imports;
mod packages;
mod publish;
mod readmes;
mod release_notes;
mod test_mysql;
mod tidy;
mod tools;

use std::{ffi::OsString, process::ExitCode};

use anyhow::{Context, Result, bail};
use xtask_support::{
    cargo, run as run_command, say,
    tasks::{self, Action, Call, GROUPS, Task},
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
    match tasks::find(&name) {
        Some(task) => run(task, args.collect()),
        None if ["help", "--help", "-h"].contains(&&*name) => say(&list()).map(|()| ExitCode::SUCCESS),
        None => bail!("there is no task `{name}`\n\n{}", list()),
    }
}

/// Runs a task with its arguments. Returns the exit code.
fn run(task: &'static Task, args: Vec<OsString>) -> Result<ExitCode> {
    if task.package != env!("CARGO_PKG_NAME") {
        return packages::run(task, &args);
    }
    let call = Call::new(task, args);
    match task.action {
        Action::Cargo(args, variables) => {
            let NoOptions {} = call.options();
            run_command(cargo()?.args(args).envs(variables.iter().copied()))?;
        }
        Action::Program => own(task.name).with_context(|| format!("`{}` has no code", task.name))?(&call)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The code of a task of this package.
fn own(name: &str) -> Option<fn(&Call) -> Result<()>> {
    Some(match name {
        "test-all" => |call| {
            let NoOptions {} = call.options();
            checks::run_all()
        },
        "tidy" => |call| {
            let NoOptions {} = call.options();
            tidy::check()
        },
        "typos" => |call| tools::typos(&call.options()),
        "machete" => |call| tools::machete(&call.options()),
        "tools" => |call| tools::install(&call.options()),
        "docs" => |call| docs::run(&call.options()),
        "book" => |call| book::run(&call.options()),
        "examples" => |call| examples::run(&call.options()),
        "readmes" => |call| readmes::run(&call.options()),
        "release-notes" => |call| release_notes::run(&call.options()),
        "test-mysql" => |call| test_mysql::run(&call.options()),
        "semver" => |call| publish::semver(&call.options()),
        "publish" => |call| publish::run(&call.options()),
        "dist" => |call| dist::run(&call.options()),
        "deb" => |call| deb::run(&call.options()),
        "image" => |call| image::run(&call.options()),
        _ => return None,
    })
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
    fn tasks_of_this_package_have_code() {
        for task in GROUPS.iter().flat_map(|(_, tasks)| *tasks).filter(|task| task.package == "xtask") {
            let is_own = matches!(task.action, Action::Program);
            assert_eq!(own(task.name).is_some(), is_own, "{}", task.name);
        }
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
