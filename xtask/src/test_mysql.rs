//! `cargo xtask test-mysql`: runs the integration tests on MariaDB.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;
use xtask_support::{cargo, root, run as run_command};

/// The package of the integration tests, its folder, and their program.
const PACKAGE: &str = "svc-tests";
const FOLDER: &str = "tests";
const PROGRAM: &str = "it";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Arguments of the test program, such as a part of a test's name
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Runs the program that `cargo test --workspace` runs: cargo would compile most crates again for this package alone, which uses fewer
/// of their features.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut build = cargo()?;
    build.args(["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"]);
    let output =
        build.stderr(std::process::Stdio::inherit()).output().with_context(|| format!("cannot run {build:?}"))?;
    anyhow::ensure!(output.status.success(), "{build:?}: {}", output.status);
    let messages = String::from_utf8(output.stdout).context("cargo's output is not UTF-8")?;
    let program = program(&messages).with_context(|| format!("cargo has built no test `{PROGRAM}` of {PACKAGE}"))?;
    run_command(
        Command::new(program)
            .args(&options.arguments)
            .current_dir(root()?.join(FOLDER))
            .env("SVC_TEST_DATABASE", "mysql"),
    )
}

/// The path of the program in cargo's messages.
fn program(messages: &str) -> Option<String> {
    messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
        let target = &message["target"];
        let is_test = target["kind"][0] == "test" && target["name"] == PROGRAM;
        let manifest = message["manifest_path"].as_str()?.replace('\\', "/");
        let is_own = manifest.ends_with(&format!("/{FOLDER}/Cargo.toml"));
        message["executable"].as_str().filter(|_| is_test && is_own).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_in_messages() {
        let message = |manifest: &str, kind: &str, name: &str, executable: Value| {
            serde_json::json!({"reason": "compiler-artifact", "manifest_path": manifest,
                "target": {"kind": [kind], "name": name}, "executable": executable})
            .to_string()
        };
        let own = message("/p/tests/Cargo.toml", "test", "it", "/t/own".into());
        let others = [
            message("/p/crates/svc-http/Cargo.toml", "test", "it", "/t/other".into()),
            message("/p/tests/Cargo.toml", "lib", "svc_tests", "/t/lib".into()),
            message("/p/tests/Cargo.toml", "test", "it", Value::Null),
            "not JSON".to_owned(),
        ];
        assert_eq!(program(&format!("{}\n{own}\n", others.join("\n"))).as_deref(), Some("/t/own"));
        assert_eq!(program(&others.join("\n")), None);
    }
}
