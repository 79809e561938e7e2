//! `cargo xtask live-editor`: the block editor of a running WordPress site, unmodified and in a real browser, whose
//! requests to the interface are answered by the server on the same database.
//!
//! `live_editor.cjs` beside this drives it and compares the answers with the site's own. It writes to the site.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::{
    root, say,
    server::{self, Server, send},
};

/// What drives the browser, from the npm registry.
const PLAYWRIGHT: &str = "playwright-core@1.65.1";
/// Names that the browser has in packages.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

struct Options {
    /// The folder of the WordPress site.
    site: PathBuf,
    /// An administrator's login and password.
    user: String,
    /// Words of the names of the steps to take; all of them, unless given.
    steps: Vec<String>,
}

fn options(args: &[String]) -> Result<Options> {
    let peer = std::env::var_os("PEER_DIR").map_or(std::env::temp_dir().join("svc-peer"), PathBuf::from);
    // Those of the recorded fixture.
    let mut options = Options { site: peer.join("wordpress"), user: "admin:password".to_owned(), steps: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--site" => options.site = args.next().context("--site needs a folder")?.into(),
            "--user" => options.user = args.next().context("--user needs LOGIN:PASSWORD")?.clone(),
            step if !step.starts_with('-') => options.steps.push(step.to_owned()),
            other => bail!("{other} is not known"),
        }
    }
    Ok(options)
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let Options { site, user, steps } = options(args)?;
    let file = site.join("wp-config.php");
    if !file.is_file() {
        return say(&format!("skipped: there is no WordPress site at {}", site.display()));
    }
    let Some(browser) = BROWSERS.into_iter().find(|name| is_installed(name)) else {
        return say("skipped: no Chromium is installed");
    };
    if !is_installed("node") || !is_installed("npm") {
        return say("skipped: Node and npm are not installed");
    }
    let program = server::build(Some("demo"), false)?;
    let playwright = fetched(&root()?.join("target/clients"))?;
    let work = tempfile::tempdir().context("cannot make a temporary folder")?;
    let mut command = Command::new(program);
    command.current_dir(work.path()).env_clear().arg("--wp-config").arg(&file);
    command.args(["--listen", "127.0.0.1:0", "--environment", "local", "--log", "warn", "serve"]);
    let server = Server::start(command, &work.path().join("server.log"))?;
    let index = send(server.address(), "GET", "/?rest_route=/", "", None)?.json()?;
    let address = index["url"].as_str().context("the site has an address")?;
    if send(address, "GET", "/?rest_route=/", "", None).is_err() {
        return say(&format!("skipped: nobody answers at {address}, where the site says that it is"));
    }
    let mut node = Command::new("node");
    node.arg(root()?.join("xtask/src/live_editor.cjs")).arg(playwright).arg(location(browser)?);
    crate::run(node.args([address, server.address(), &user]).args(steps))
}

fn is_installed(program: &str) -> bool {
    location(program).is_ok()
}

/// Where the program lies.
fn location(program: &str) -> Result<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|path| path.join(program)).find(|path| path.is_file());
    found.with_context(|| format!("{program} is not installed"))
}

/// The folder of the library, installed once.
fn fetched(work: &Path) -> Result<PathBuf> {
    let folder = work.join("node_modules/playwright-core");
    if !folder.join("package.json").is_file() {
        std::fs::create_dir_all(work).context("cannot make a folder")?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
        crate::run(npm.arg(work).arg(PLAYWRIGHT))?;
    }
    Ok(folder)
}
