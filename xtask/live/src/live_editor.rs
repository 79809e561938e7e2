//! `cargo xtask live-editor`: runs the unmodified block editor of a running WordPress site in a browser. Its REST API requests go to
//! the server, on the same database.
//!
//! With `--media`, `live_media.cjs` uploads images over TLS instead, where the editor makes their sizes itself.
//!
//! With `--installed`, the editor is the one that `svc-server editor install` builds, on a new site, without any WordPress.
//!
//! `live_editor.cjs` drives the browser and compares the responses with those of the site. It writes to the site.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use xtask_support::{
    block_editor,
    gateway::Gateway,
    root, say,
    server::{self, Server, send},
};

use crate::programs::{is_installed, location, php};

/// The npm package that drives the browser.
const PLAYWRIGHT: &str = "playwright-core@1.65.1";
/// Names of the browser's binary.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Images to upload, below the test data of `svc-controllers`.
const MEDIA: [&str; 4] = ["turned.jpg", "wide.png", "client_media/moving.gif", "client_media/still.heic"];

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Use the server as a gateway in front of the site, which receives requests for pages as well.
    #[arg(long, conflicts_with = "media")]
    gateway: bool,
    /// Upload images over TLS, where the editor makes their sizes.
    #[arg(long)]
    media: bool,
    /// Install the editor with npm on a new site, and use that one.
    #[arg(long, conflicts_with_all = ["gateway", "media"])]
    installed: bool,
    /// Folder of the WordPress site.
    #[arg(long, value_name = "DIR", default_value_os_t = server::wordpress_site())]
    site: PathBuf,
    /// Login and password of an administrator.
    #[arg(long, value_name = "LOGIN:PASSWORD", default_value = "admin:password")]
    user: String,
    /// Words in the names of the steps to run (default: all steps).
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
}

pub(crate) fn run(Options { gateway, media, installed, site, user, steps }: Options) -> Result<()> {
    let file = site.join("wp-config.php");
    if !installed && !file.is_file() {
        return say(&format!("skipped: there is no WordPress site at {}", site.display()));
    }
    let Some(browser) = BROWSERS.into_iter().find(|name| is_installed(name)) else {
        return say("skipped: no Chromium is installed");
    };
    if !is_installed("node") || !is_installed("npm") {
        return say("skipped: Node and npm are not installed");
    }
    let playwright = fetched(&root()?.join("target/clients"))?;
    let script = root()?.join(if media { "xtask/live/src/live_media.cjs" } else { "xtask/live/src/live_editor.cjs" });
    let mut node = Command::new("node");
    node.arg(script).arg(playwright).arg(location(browser)?);
    if installed {
        return with_installed_editor(node, &steps);
    }
    if gateway {
        let program = server::build(None, false)?;
        let Some(gateway) = Gateway::start(&program, &site, "check_percent = 100")? else {
            return say("skipped: the site does not respond");
        };
        node.env("SVC_EDITOR_GATEWAY", "1").args([&*gateway.site, gateway.address(), &user]).args(steps);
        return xtask_support::run(&mut node);
    }
    let program = server::build(Some("demo"), false)?;
    let work = tempfile::tempdir().context("cannot create a temporary folder")?;
    let mut command = Command::new(program);
    command.current_dir(work.path()).env_clear().arg("--wp-config").arg(&file);
    if media {
        command.args(["--trusted-proxies", "127.0.0.1"]);
    }
    command.args(["--listen", "127.0.0.1:0", "--environment", "local", "--log", "warn", "serve"]);
    let server = Server::start(command, &work.path().join("server.log"))?;
    let index = send(server.address(), "GET", "/?rest_route=/", "", None)?.json()?;
    let address = index["url"].as_str().context("the index has no URL")?;
    if send(address, "GET", "/?rest_route=/", "", None).is_err() {
        return say(&format!("skipped: the site does not respond at its URL, {address}"));
    }
    node.args([address, server.address(), &user]);
    if media {
        let (key, certificate) = (work.path().join("key.pem"), work.path().join("certificate.pem"));
        let mut openssl = Command::new("openssl");
        openssl.args("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout".split(' '));
        xtask_support::run(openssl.arg(&key).arg("-out").arg(&certificate)).context("cannot make a certificate")?;
        let data = root()?.join("crates/svc-controllers/tests/data");
        let Some(php) = php() else {
            return say("skipped: PHP's command line is not installed");
        };
        node.args([key, certificate, php]).arg(site).args(MEDIA.map(|file| data.join(file))).arg("large.jpg");
    }
    xtask_support::run(node.args(steps))
}

/// Installs the editor on a new site, and runs the steps there.
fn with_installed_editor(mut node: Command, steps: &[String]) -> Result<()> {
    let program = server::build(Some("demo"), false)?;
    let work = tempfile::tempdir().context("cannot create a temporary folder")?;
    let command = |args: &[&str]| {
        let mut command = Command::new(&program);
        command
            .current_dir(work.path())
            .args(["--data", "data", "--listen", "127.0.0.1:0", "--log", "warn"])
            .args(args);
        command
    };
    let server = Server::start(command(&["serve"]), &work.path().join("server.log"))?;
    let installed = command(&["editor", "install"]).output().context("cannot run the server")?;
    let errors = String::from_utf8_lossy(&installed.stderr);
    if errors.contains("cannot reach its registry") {
        return say("skipped: npm cannot reach its registry");
    }
    anyhow::ensure!(installed.status.success(), "the editor was not installed: {errors}");
    require_texts(&work.path().join("data/content/block-editor"))?;
    block_editor::require_none(&program)?;
    let created = command(&["user", "create", "writer", "writer@example.org", "--role", "administrator"]).output()?;
    let printed = String::from_utf8_lossy(&created.stdout);
    let password = printed.trim().rsplit(": ").next().filter(|_| created.status.success()).context("no password")?;
    node.env("SVC_EDITOR_INSTALLED", "1").args([server.address(), server.address(), &format!("writer:{password}")]);
    xtask_support::run(node.args(steps))
}

/// Requires that the script of an installed editor has the texts by which releases are searched for parts of it.
fn require_texts(folder: &Path) -> Result<()> {
    let files: Vec<PathBuf> = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let script = files.iter().find(|path| path.to_string_lossy().ends_with(".editor.js.gz")).context("no script")?;
    let found = block_editor::texts_in(&std::fs::read(script)?);
    let missing = block_editor::TEXTS.iter().find(|known| !found.contains(known));
    anyhow::ensure!(missing.is_none(), "the editor does not have the text {missing:?}: name another one");
    Ok(())
}

/// The folder of the npm package, which is installed once.
fn fetched(work: &Path) -> Result<PathBuf> {
    let folder = work.join("node_modules/playwright-core");
    if !folder.join("package.json").is_file() {
        std::fs::create_dir_all(work).context("cannot create a folder")?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
        xtask_support::run(npm.arg(work).arg(PLAYWRIGHT))?;
    }
    Ok(folder)
}
