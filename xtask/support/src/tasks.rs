//! The list of all tasks, and their arguments.
//!
//! `cargo xtask` prints the list. A task is part of `xtask` or of a package of its own, which `xtask` builds and runs; the first
//! argument of each of these programs is the name of the task.

use std::{ffi::OsString, process::ExitCode};

use anyhow::{Context, Result};
use clap::{Args, Command};

/// A task of `cargo xtask`.
#[derive(Debug)]
pub struct Task {
    /// The first argument.
    pub name: &'static str,
    /// What it does, without a period.
    pub about: &'static str,
    /// The package of the program that runs it.
    pub package: &'static str,
}

/// All tasks in groups with titles.
#[rustfmt::skip]
pub const GROUPS: &[(&str, &[Task])] = &[
    ("Checks", &[
        task("test-all", "xtask", "run all checks below in this order and stop at the first failure"),
        task("fmt", "xtask", "check the formatting"),
        task("tidy", "xtask", "check layers, dependencies, file sizes, documentation (links, code blocks)"),
        task("docs", "xtask", "render docs/ as a book in target/book"),
        task("clippy", "xtask", "run the lints, warnings denied"),
        task("test", "xtask", "run unit, integration and documentation tests"),
        task("readmes", "xtask", "compile the example of each README with only the dependencies that it names"),
        task("test-mysql", "xtask", "run the integration tests on a private MariaDB"),
        task("traces", "xtask-conformance", "replay recorded random requests on both engines, or compare new ones with a WordPress"),
        task("models", "xtask", "run concurrent code under many schedules with shuttle"),
        task("doc", "xtask", "build the documentation of the crates, warnings denied"),
        task("stress", "xtask-stress", "run attacks and parallel load against the real server"),
    ]),
    ("Compatibility", &[
        task("vectors", "xtask-vectors", "run recorded functions and print passed and failed per function"),
        task("conformance", "xtask-conformance", "run the recorded HTTP scenarios, or record them from a WordPress"),
        task("openapi", "xtask-conformance", "check the OpenAPI document with other projects' tools, and send generated requests"),
        task("live", "xtask-live", "serve the database of a running WordPress site and compare responses"),
        task("live-sign-in", "xtask-live", "use sessions of a running WordPress site on the server and the reverse"),
        task("live-editor", "xtask-live", "run the block editor of a WordPress site against the server, or through it as a gateway"),
        task("live-plugins", "xtask-live", "install public plugins on a WordPress site behind a gateway and compare responses"),
    ]),
    ("Reliability, speed, release", &[
        task("crash", "xtask-crash", "kill the server and its database during writes and count lost writes"),
        task("bench", "xtask-bench", "measure the targets of docs/performance.md, or run benchmarks of crates"),
        task("dist", "xtask", "build the server and pack it with its checksum into target/dist"),
    ]),
];

const fn task(name: &'static str, package: &'static str, about: &'static str) -> Task {
    Task { name, about, package }
}

/// Finds a task by name.
pub fn find(name: &str) -> Option<&'static Task> {
    GROUPS.iter().flat_map(|(_, tasks)| *tasks).find(|task| task.name == name)
}

/// A task with its arguments, which are not parsed yet.
#[derive(Debug)]
pub struct Call {
    task: &'static Task,
    args: Vec<OsString>,
}

impl Call {
    /// A call of a task with the arguments after its name.
    pub fn new(task: &'static Task, args: Vec<OsString>) -> Self {
        Call { task, args }
    }

    /// The name of the task.
    pub fn name(&self) -> &'static str {
        self.task.name
    }

    /// Parses the arguments. After `--help`, or a wrong argument, this prints help and ends the process.
    pub fn options<O: Args>(&self) -> O {
        let mut command = self.command::<O>();
        let matches = command.try_get_matches_from_mut(&self.args);
        let options = matches.and_then(|matches| O::from_arg_matches(&matches));
        options.unwrap_or_else(|error| error.format(&mut command).exit())
    }

    /// The description of the arguments.
    fn command<O: Args>(&self) -> Command {
        // The name of the program is not among the arguments. The last of several values counts.
        let command = O::augment_args(Command::new(self.task.name).bin_name(format!("cargo xtask {}", self.task.name)));
        // The comment of the type of the arguments is not for users. Of several values of an option the last counts.
        command.about(self.task.about).long_about(None).no_binary_name(true).args_override_self(true)
    }
}

/// The main function of a package of tasks: runs the task that the first argument of the program names.
pub fn main(run: impl FnOnce(&Call) -> Result<()>) -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let name = args.next().unwrap_or_default();
    let call = find(&name.to_string_lossy()).map(|task| Call::new(task, args.collect()));
    report(call.with_context(|| format!("there is no task `{}`", name.display())).and_then(|call| run(&call)))
}

/// Prints the error of a task. Returns the exit code of the program.
pub fn report(outcome: Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write;
            // A closed standard error cannot be reported anywhere.
            drop(writeln!(std::io::stderr(), "xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not shown.
    #[derive(Args, Debug, PartialEq)]
    struct Options {
        /// How often.
        #[arg(long, default_value_t = 3)]
        rounds: u64,
        names: Vec<String>,
    }

    #[test]
    fn the_last_value_of_an_option_counts() {
        let call =
            Call::new(find("bench").unwrap(), ["a", "--rounds", "1", "b", "--rounds", "2"].map(Into::into).into());
        assert_eq!(call.options::<Options>(), Options { rounds: 2, names: vec!["a".to_owned(), "b".to_owned()] });
    }

    #[test]
    fn help_names_the_command_and_the_task() {
        let call = Call::new(find("bench").unwrap(), Vec::new());
        let help = call.command::<Options>().render_help().to_string();
        for part in [call.task.about, "Usage: cargo xtask bench [OPTIONS] [NAMES]...", "How often"] {
            assert!(help.contains(part), "{help}");
        }
        assert!(!help.contains("Not shown"), "{help}");
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = GROUPS.iter().flat_map(|(_, tasks)| *tasks).map(|task| task.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
