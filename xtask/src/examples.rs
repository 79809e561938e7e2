//! `cargo xtask examples`: installs and builds the front ends in `docs/examples`, and runs their checks against the server.
//!
//! Each has a script `check` in its `package.json`, which takes the server's program and a number of posts.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use xtask_support::{root, run as run_command, say, server, target};

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Number of posts of the server.
    #[arg(long, default_value_t = 300, value_name = "N")]
    posts: u32,
    /// The examples (default: all).
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// Checks the examples.
pub(crate) fn run(Options { posts, names }: &Options) -> Result<()> {
    let found = Command::new("npm").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        ensure!(std::env::var_os("SVC_NEED_CLIENTS").is_none(), "npm is not installed");
        return say("skipped: npm is not installed; install Node.js to check the examples of front ends");
    }
    let folder = root()?.join("docs/examples");
    let mut examples: Vec<PathBuf> = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let is_wanted = |path: &Path| {
        let is_named = |name: &String| path.file_name().is_some_and(|file| *file == **name);
        path.join("package.json").is_file() && (names.is_empty() || names.iter().any(is_named))
    };
    examples.retain(|path| is_wanted(path));
    examples.sort();
    ensure!(!examples.is_empty(), "there is no example {} in {}", names.join(", "), folder.display());
    let program = server::build(None, false)?;
    for example in &examples {
        let name = example.file_name().unwrap_or_default();
        let copy = target()?.join("examples-of-front-ends").join(name);
        check(example, &copy, &program, *posts).with_context(|| format!("the example `{}`", name.display()))?;
    }
    say(&format!("{} examples of front ends work", examples.len()))
}

/// Installs, builds and checks a copy of an example.
fn check(example: &Path, copy: &Path, program: &Path, posts: u32) -> Result<()> {
    copy_files(example, copy)?;
    let npm = |args: &[&str]| {
        let mut command = Command::new("npm");
        command.current_dir(copy).env("ASTRO_TELEMETRY_DISABLED", "1").env("NEXT_TELEMETRY_DISABLED", "1");
        run_command(command.args(args).stdout(Stdio::null()))
    };
    npm(&["ci", "--no-audit", "--no-fund"])?;
    npm(&["run", "build"])?;
    run_command(
        Command::new("node")
            .env_remove("SVC_NEED_CLIENTS")
            .current_dir(copy)
            .arg("check.mjs")
            .arg(program)
            .arg(posts.to_string()),
    )
}

/// Copies a folder. What an earlier run has left in the copy is removed, but for the installed packages, which `npm ci` replaces.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    const NOT_COPIED: [&str; 3] = ["node_modules", ".next", "dist"];
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(to)? {
        let path = entry?.path();
        match path.is_dir() {
            true if path.ends_with("node_modules") => {}
            true => fs::remove_dir_all(&path)?,
            false => fs::remove_file(&path)?,
        }
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true if NOT_COPIED.iter().any(|name| entry.file_name() == *name) => {}
            true => copy_files(&entry.path(), &copy)?,
            false => drop(fs::copy(entry.path(), copy)?),
        }
    }
    Ok(())
}
