//! Programs of other projects that checks run: versions, installation (`cargo xtask tools`), and what happens without them.
//!
//! No check of `cargo xtask test-all` needs them here: a check without its program is skipped. Where `SVC_NEED_TOOLS` is set, as
//! in continuous integration, it fails.

use std::{ffi::OsString, process::Command};

use anyhow::{Result, bail};
use xtask_support::{cargo, cargo_here, root, run as run_command, say};

/// A program that `cargo install` installs.
pub(crate) struct Tool {
    /// The program. A subcommand of cargo is run by cargo.
    program: &'static str,
    /// The package that has the program, and its version.
    package: &'static str,
    version: &'static str,
    /// The tasks that run it.
    tasks: &'static [&'static str],
}

pub(crate) const TYPOS: Tool =
    Tool { program: "typos", package: "typos-cli", version: "1.52.0", tasks: &["typos", "test-all"] };
pub(crate) const MACHETE: Tool =
    Tool { program: "cargo-machete", package: "cargo-machete", version: "0.9.2", tasks: &["machete", "test-all"] };
pub(crate) const MDBOOK: Tool =
    Tool { program: "mdbook", package: "mdbook", version: "0.5.4", tasks: &["docs", "book", "test-all"] };
pub(crate) const SEMVER: Tool =
    Tool { program: "cargo-semver-checks", package: "cargo-semver-checks", version: "0.49.0", tasks: &["semver"] };

const TOOLS: [&Tool; 4] = [&TYPOS, &MACHETE, &MDBOOK, &SEMVER];

/// Arguments of `cargo xtask tools`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the programs that these tasks run.
    #[arg(value_name = "TASK")]
    tasks: Vec<String>,
}

/// Installs the programs that are missing or have another version.
pub(crate) fn install(options: &Options) -> Result<()> {
    for tool in TOOLS {
        if options.tasks.is_empty() || options.tasks.iter().any(|task| tool.tasks.contains(&task.as_str())) {
            // In the version that is already installed, this does nothing.
            run_command(cargo()?.args(["install", "--locked", &tool.requirement()]))?;
        }
    }
    Ok(())
}

/// Arguments for a program.
#[derive(clap::Args)]
pub(crate) struct Passed {
    /// Arguments for the program.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Searches for misspelt words (`_typos.toml`). `cargo xtask typos --write-changes` corrects them.
pub(crate) fn typos(passed: &Passed) -> Result<()> {
    TYPOS
        .command("the search for misspelt words")?
        .map_or(Ok(()), |mut typos| run_command(typos.args(&passed.arguments)))
}

/// Searches for dependencies that no code uses. `cargo xtask machete --fix` removes them.
pub(crate) fn machete(passed: &Passed) -> Result<()> {
    let command = MACHETE.command("the search for unused dependencies")?;
    // With the names of libraries, which some packages do not share.
    command.map_or(Ok(()), |mut machete| run_command(machete.arg("--with-metadata").args(&passed.arguments)))
}

impl Tool {
    /// A command that runs the program in the root folder. If it is not installed, prints what is skipped and returns `None`.
    pub(crate) fn command(&self, skipped: &str) -> Result<Option<Command>> {
        let found = Command::new(self.program).arg("--version").output();
        if found.is_err() {
            let why = format!("{} is not installed: cargo install --locked {}", self.program, self.requirement());
            if std::env::var_os("SVC_NEED_TOOLS").is_some() {
                bail!("{why}");
            }
            say(&format!("skipped {skipped}: {why}"))?;
            return Ok(None);
        }
        let mut command = match self.program.strip_prefix("cargo-") {
            Some(subcommand) => {
                let mut command = cargo_here();
                command.arg(subcommand);
                command
            }
            None => Command::new(self.program),
        };
        command.current_dir(root()?);
        Ok(Some(command))
    }

    /// The package as `cargo install` takes it.
    fn requirement(&self) -> String {
        format!("{}@{}", self.package, self.version)
    }
}
