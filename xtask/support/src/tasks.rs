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
    /// How it runs.
    pub action: Action,
    /// Of a check: minutes on two free cores, after a first build of everything, which takes about ten.
    pub minutes: &'static str,
}

/// How a task runs.
#[derive(Debug)]
pub enum Action {
    /// By the program of its package.
    Program,
    /// By cargo, with these arguments and environment variables.
    Cargo(&'static [&'static str], &'static [(&'static str, &'static str)]),
}

/// The checks that every change must pass, in the order in which `test-all` runs them, quick ones first.
#[rustfmt::skip]
pub const CHECKS: &[Task] = &[
    task("fmt", "xtask", "check the formatting").minutes("<1").cargo(&["fmt", "--all", "--check"], &[]),
    task("typos", "xtask", "search for misspelt words with typos").minutes("<1"),
    task("tidy", "xtask", "check layers, imports, manifests and file sizes").minutes("<1"),
    task("machete", "xtask", "search for unused dependencies with cargo-machete").minutes("<1"),
    task("docs", "xtask", "check links, code blocks and the list of pages of the documentation, and render the book").minutes("<1"),
    task("clippy", "xtask", "run the lints, warnings denied").minutes("3")
        .cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]),
    task("test", "xtask", "run unit, integration and documentation tests").minutes("8")
        .cargo(&["test", "--workspace"], &[]),
    task("readmes", "xtask", "compile the example of each README with only the dependencies that it names").minutes("1"),
    // The integration tests again, on the other engine. Tests of the store always run on both.
    task("test-mysql", "xtask", "run the integration tests on a private MariaDB").minutes("4"),
    task("traces", "xtask-conformance", "replay recorded random requests on both engines, or compare new ones with a WordPress").minutes("1"),
    task("models", "xtask", "run concurrent code under many schedules with shuttle").minutes("2")
        .cargo(&["test", "--package", "svc-versions", "--package", "svc-bridge", "--package", "svc-events", "--lib",
                 "--features", "svc-versions/models,svc-bridge/models,svc-events/models", "models::"], &[]),
    task("doc", "xtask", "build the documentation of the crates, warnings denied").minutes("3")
        .cargo(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]),
    task("stress", "xtask-stress", "run attacks and parallel load against the real server").minutes("2"),
    task("examples", "xtask", "build the examples of front ends with npm, and check that they render again only what has changed").minutes("3"),
    // Only with optimization the compiler works out all code, and refuses some that development builds accept. Other people's crates are
    // those of the development build, with the features of all tests.
    task("optimized", "xtask", "build the server's own crates with optimization").minutes("3")
        .cargo(&["build", "--workspace", "--bin", "svc-server", "--example", "demo",
                 "--config", "profile.dev.opt-level=1", "--config", "profile.dev.package.'*'.opt-level=0"], &[]),
];

/// All tasks in groups with titles.
#[rustfmt::skip]
pub const GROUPS: &[(&str, &[Task])] = &[
    ("All checks", &[
        task("test-all", "xtask", "run the checks below in this order and stop at the first failure"),
    ]),
    ("Checks", CHECKS),
    ("Compatibility", &[
        task("vectors", "xtask-vectors", "run recorded functions and print passed and failed per function"),
        task("conformance", "xtask-conformance", "run the recorded HTTP scenarios, or record them from a WordPress"),
        task("openapi", "xtask-conformance", "check the OpenAPI document with other projects' tools, and send generated requests"),
        task("live", "xtask-live", "serve the database of a running WordPress site and compare responses"),
        task("live-sign-in", "xtask-live", "use sessions of a running WordPress site on the server and the reverse"),
        task("live-editor", "xtask-live", "run the block editor of a WordPress site against the server, or through it as a gateway"),
        task("live-phpunit", "xtask-live", "run WordPress's own PHPUnit tests of its REST API against a WordPress and the server"),
        task("live-plugins", "xtask-live", "install public plugins on a WordPress site behind a gateway and compare responses"),
        task("live-policies", "xtask-live", "change what each caller may do on a WordPress site behind a gateway and compare responses"),
        task("live-inputs", "xtask-live", "read what depends on clocks, files and headers through a gateway and compare responses"),
    ]),
    ("Reliability and speed", &[
        task("crash", "xtask-crash", "kill the server and its database during writes and count lost writes"),
        task("cluster", "xtask-stress", "run three servers on a Galera cluster behind nginx while every process fails in turn"),
        task("bench", "xtask-bench", "measure the targets of docs/performance.md, or run benchmarks of crates"),
    ]),
    ("Book, release, tools", &[
        task("book", "xtask", "render docs/ as a book in target/book with mdBook"),
        task("semver", "xtask", "check with cargo-semver-checks that the version permits the changes since the last release"),
        task("release-notes", "xtask", "print the section of a version in CHANGELOG.md"),
        task("publish", "xtask", "publish the crates in the order of their dependencies, or try to with --dry-run"),
        task("dist", "xtask", "build the server and pack it with its checksum into target/dist"),
        task("deb", "xtask", "build the server and write a Debian package into target/dist"),
        task("image", "xtask", "build the server and write an image for containers into target/dist"),
        task("tools", "xtask", "install the programs of other projects that checks run"),
    ]),
];

const fn task(name: &'static str, package: &'static str, about: &'static str) -> Task {
    Task { name, about, package, action: Action::Program, minutes: "" }
}

impl Task {
    const fn minutes(mut self, minutes: &'static str) -> Self {
        self.minutes = minutes;
        self
    }

    const fn cargo(
        mut self,
        args: &'static [&'static str],
        variables: &'static [(&'static str, &'static str)],
    ) -> Self {
        self.action = Action::Cargo(args, variables);
        self
    }
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
