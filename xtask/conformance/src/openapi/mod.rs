//! `cargo xtask openapi`: checks the OpenAPI document with other projects' tools.
//!
//! The tools come from PyPI and npm and are installed below `target/`: openapi-spec-validator, redocly with its strict rules,
//! openapi-typescript and the TypeScript compiler, and, with `--attack SECONDS [ROLE…]`, schemathesis, which sends generated requests
//! to a server for this time as a caller of each role.

mod attack;
mod explained;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use attack::{Attack, ROLES};
use xtask_support::{root, run as run_command, say, server};

/// Packages from PyPI.
const PYTHON: &[&str] = &["openapi-spec-validator==0.9.0", "schemathesis==4.32.5"];

/// Packages from npm.
const NODE: &[&str] = &["@redocly/cli@2.77.0", "openapi-typescript@7.13.0", "typescript@5.9.3"];

/// Rules of the linter. The two that are off: the site's API has no licence of its own, and paths such as
/// `/global-styles/{parent}/revisions` and `/global-styles/themes/{stylesheet}` are WordPress's.
const LINT: &str = "extends: [recommended-strict]\nrules:\n  info-license: off\n  no-ambiguous-paths: off\n";

/// Settings of the TypeScript compiler.
const TYPESCRIPT: &str = r#"{
  "compilerOptions": { "strict": true, "noEmit": true, "target": "es2022", "types": [] },
  "files": ["svc.d.ts", "generated.d.ts"]
}"#;

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Send generated requests to a server for this time as a caller of each role.
    #[arg(long, value_name = "SECONDS")]
    attack: Option<u64>,
    /// The roles of the callers (default: all).
    #[arg(value_name = "ROLE", requires = "attack", value_parser = ROLES)]
    roles: Vec<String>,
}

pub(crate) fn run(Options { attack, roles }: &Options) -> Result<()> {
    let tools = root()?.join("target/openapi-tools");
    std::fs::create_dir_all(&tools).context("cannot create the folder of the tools")?;
    let python = install_python(&tools)?;
    install_node(&tools)?;
    let program = server::build(None, false)?;
    let work = tempfile::tempdir().context("cannot create a temporary folder")?;
    let document = tools.join("openapi.json");
    for (name, to) in [("openapi", &document), ("types", &tools.join("svc.d.ts"))] {
        let output = Command::new(&program).current_dir(work.path()).arg(name).output()?;
        if !output.status.success() {
            bail!("svc-server {name}: {}", String::from_utf8_lossy(&output.stderr));
        }
        std::fs::write(to, output.stdout).with_context(|| format!("cannot write {}", to.display()))?;
    }
    std::fs::write(tools.join("redocly.yaml"), LINT).context("cannot write the linter's rules")?;
    run_command(Command::new(python.join("python")).args(["-m", "openapi_spec_validator"]).arg(&document))?;
    run_command(node(&tools, "redocly").args([
        "lint",
        "openapi.json",
        "--config",
        "redocly.yaml",
        "--format",
        "summary",
    ]))?;
    run_command(node(&tools, "openapi-typescript").args(["openapi.json", "-o", "generated.d.ts"]))?;
    std::fs::write(tools.join("tsconfig.json"), TYPESCRIPT).context("cannot write the compiler's settings")?;
    run_command(node(&tools, "tsc").args(["--project", "tsconfig.json"]))?;
    say("the document is valid, and both declarations compile")?;
    let Some(seconds) = *attack else { return Ok(()) };
    let attack = Attack { program: &program, python: &python, seconds };
    let is_selected = |role: &&&str| roles.is_empty() || roles.iter().any(|name| name == **role);
    ROLES.iter().filter(is_selected).try_for_each(|role| attack.run(role))
}

fn install_python(tools: &Path) -> Result<PathBuf> {
    let folder = tools.join("python");
    let programs = folder.join("bin");
    if !programs.join("schemathesis").is_file() {
        run_command(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        run_command(Command::new(programs.join("pip")).args(["install", "--quiet"]).args(PYTHON))?;
    }
    Ok(programs)
}

fn install_node(tools: &Path) -> Result<()> {
    if tools.join("node_modules/.bin/tsc").is_file() {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]).arg(tools).args(NODE);
    run_command(&mut npm)
}

/// A program of the installed npm packages, to be run in their folder.
fn node(tools: &Path, name: &str) -> Command {
    let mut command = Command::new(tools.join("node_modules/.bin").join(name));
    command.current_dir(tools);
    command
}
