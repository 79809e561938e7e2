//! `cargo xtask openapi`: checks the OpenAPI document with other projects' tools.
//!
//! The tools come from PyPI and npm and are installed below `target/`: openapi-spec-validator, redocly with its strict rules,
//! openapi-typescript and the TypeScript compiler, and, with `--attack SECONDS`, schemathesis, which sends generated requests to a
//! server without and with credentials.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::{root, run as run_command, say, server};

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

/// Checks of schemathesis that WordPress's API fails by design: unknown methods are 404 with `rest_no_route`, and values of other
/// types are converted where possible.
const UNCHECKED: &str =
    "unsupported_method,negative_data_rejection,response_schema_conformance,positive_data_acceptance";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let seconds = match args {
        [] => None,
        [flag, seconds] if flag == "--attack" => Some(seconds.parse::<u64>().context("--attack needs seconds")?),
        _ => bail!("usage: cargo xtask openapi [--attack SECONDS]"),
    };
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
    match seconds {
        Some(seconds) => attack(&program, work.path(), &python, seconds),
        None => Ok(()),
    }
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

/// Sends generated requests to a new site, first anonymously, then as an administrator, half of the time each.
fn attack(program: &Path, work: &Path, python: &Path, seconds: u64) -> Result<()> {
    let data = work.join("data");
    let mut command = Command::new(program);
    // The server sends requests to nobody else.
    command.current_dir(work).env("SVC_OUTGOING_PUBLIC", "false").arg("--data").arg(&data);
    command.args(["--listen", "127.0.0.1:0"]);
    let server = server::Server::start(command, &work.join("log"))?;
    let mut create = Command::new(program);
    create.arg("--data").arg(&data).args(["app-password", "create", "admin", "schemathesis"]);
    let output = create.output().context("cannot create an application password")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let password = application_password(&text).context("no application password")?;
    let url = format!("{}/svc-json/openapi.json", server.address());
    for credentials in [None, Some(format!("admin:{password}"))] {
        let mut command = Command::new(python.join("schemathesis"));
        command.args(["run", &url, "--checks", "all", "--exclude-checks", UNCHECKED, "--workers", "1"]);
        command.args(["--max-time", &(seconds / 2).max(1).to_string(), "--suppress-health-check", "all"]);
        if let Some(credentials) = credentials {
            command.args(["--auth", &credentials]);
        }
        run_command(&mut command)?;
    }
    Ok(())
}

/// The password in the output of `app-password create`: six groups of four characters.
fn application_password(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_group = |word: &&str| word.len() == 4 && word.bytes().all(|b| b.is_ascii_alphanumeric());
    words.windows(6).find(|groups| groups.iter().all(is_group)).map(<[&str]>::concat)
}

#[cfg(test)]
mod tests {
    #[test]
    fn passwords_are_found_in_output() {
        let text = "Password of admin for tests:\n\n    abcd EFGH 1234 ijkl MNOP 5678\n";
        assert_eq!(super::application_password(text).as_deref(), Some("abcdEFGH1234ijklMNOP5678"));
        assert_eq!(super::application_password("none here"), None);
    }
}
