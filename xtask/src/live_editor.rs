//! `cargo xtask live-editor`: runs the unmodified block editor of a running WordPress site in a browser. Its REST API requests go to
//! the server, on the same database.
//!
//! With `--media`, `live_media.cjs` uploads images over TLS instead, where the editor makes their sizes itself.
//!
//! `live_editor.cjs` drives the browser and compares the responses with those of the site. It writes to the site.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::{
    gateway::Gateway,
    root, say,
    server::{self, Server, send},
};

/// The npm package that drives the browser.
const PLAYWRIGHT: &str = "playwright-core@1.65.1";
/// Names of the browser's binary.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Images to upload, below the test data of `svc-controllers`.
const MEDIA: [&str; 4] = ["turned.jpg", "wide.png", "client_media/moving.gif", "client_media/still.heic"];

struct Options {
    /// Folder of the WordPress site.
    site: PathBuf,
    /// Login and password of an administrator, as `LOGIN:PASSWORD`.
    user: String,
    /// Words in the names of the steps to run; all steps if empty.
    steps: Vec<String>,
    /// Whether the server is a gateway in front of the site, which receives requests for pages as well.
    gateway: bool,
    /// Whether to upload images over TLS, where the editor makes their sizes.
    media: bool,
}

fn options(args: &[String]) -> Result<Options> {
    // An account of the recorded site.
    let mut options = Options {
        site: server::wordpress_site(),
        user: "admin:password".to_owned(),
        steps: Vec::new(),
        gateway: false,
        media: false,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--gateway" => options.gateway = true,
            "--media" => options.media = true,
            "--site" => options.site = args.next().context("--site needs a folder")?.into(),
            "--user" => options.user = args.next().context("--user needs LOGIN:PASSWORD")?.clone(),
            step if !step.starts_with('-') => options.steps.push(step.to_owned()),
            other => bail!("unknown argument `{other}`"),
        }
    }
    Ok(options)
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let Options { site, user, steps, gateway, media } = options(args)?;
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
    let playwright = fetched(&root()?.join("target/clients"))?;
    let script = root()?.join(if media { "xtask/src/live_media.cjs" } else { "xtask/src/live_editor.cjs" });
    let mut node = Command::new("node");
    node.arg(script).arg(playwright).arg(location(browser)?);
    if gateway {
        let program = server::build(None, false)?;
        let Some(gateway) = Gateway::start(&program, &site, "check_percent = 100")? else {
            return say("skipped: the site does not respond");
        };
        node.env("SVC_EDITOR_GATEWAY", "1").args([&*gateway.site, gateway.address(), &user]).args(steps);
        return crate::run(&mut node);
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
        crate::run(openssl.arg(&key).arg("-out").arg(&certificate)).context("cannot make a certificate")?;
        let data = root()?.join("crates/svc-controllers/tests/data");
        node.args([key, certificate]).args(MEDIA.map(|file| data.join(file))).arg("large.jpg");
    }
    crate::run(node.args(steps))
}

fn is_installed(program: &str) -> bool {
    location(program).is_ok()
}

/// The path of a program.
fn location(program: &str) -> Result<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|path| path.join(program)).find(|path| path.is_file());
    found.with_context(|| format!("{program} is not installed"))
}

/// The folder of the npm package, which is installed once.
fn fetched(work: &Path) -> Result<PathBuf> {
    let folder = work.join("node_modules/playwright-core");
    if !folder.join("package.json").is_file() {
        std::fs::create_dir_all(work).context("cannot create a folder")?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
        crate::run(npm.arg(work).arg(PLAYWRIGHT))?;
    }
    Ok(folder)
}
